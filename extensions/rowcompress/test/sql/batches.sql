-- where batches end: at the end of a page, if that is not too far away
CREATE FUNCTION shape(relation regclass, OUT batches bigint, OUT on_one_page numeric, OUT filled numeric, OUT many_rows boolean)
	LANGUAGE sql AS $$
	SELECT count(*), round(avg((pages = 1)::int), 1), round(avg(least(bytes / 8100.0, 1)), 1), max(rows) = 1024
	FROM rowcompress.batches(relation) $$;

-- rows of usual size: pages are full, and no batch lies on two
CREATE TABLE ba (id int, ts timestamptz, t text, n numeric, doc jsonb) USING rowcompress;
CREATE TABLE ba_heap (LIKE ba);
INSERT INTO ba_heap SELECT g, timestamptz '2024-01-01 00:00+00' + g * interval '7 s', md5(g::text), g % 1000 / 8.0,
	jsonb_build_object('number', g % 77, 'of', md5((g % 5)::text), 'name', repeat(chr(97 + g % 13), g % 31)) FROM generate_series(1, 20000) g;
INSERT INTO ba SELECT * FROM ba_heap ORDER BY id;
SELECT on_one_page, filled FROM shape('ba');
SELECT count(*) = max(batch) + 1 AS numbered, sum(rows), count(*) FILTER (WHERE bytes > 9000) AS long FROM rowcompress.batches('ba');
SELECT twin_diff('ba', 'ba_heap');
-- first and last rows of batches, one by one
CREATE UNIQUE INDEX ba_id ON ba (id);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET rowcompress.enable_custom_scan = off;
SELECT count(*) = (SELECT 2 * count(*) FROM rowcompress.batches('ba')) AS found, count(*) FILTER (WHERE f IS DISTINCT FROM h) AS different
FROM (SELECT first_row AS r, rows FROM rowcompress.batches('ba')) b, LATERAL unnest(ARRAY[r, r + rows - 1]) row,
	LATERAL (SELECT ba FROM ba WHERE id = row - (SELECT min(first_row) FROM rowcompress.batches('ba')) + 1001) f(f),
	LATERAL (SELECT ba_heap FROM ba_heap WHERE id = (f.f).id) h(h);
RESET ALL;
SELECT * FROM rowcompress.verify('ba');
-- batch_bytes is what a batch has at most: then several share a page
SELECT rowcompress.set_options('ba', batch_bytes => 16384);
VACUUM FULL ba;
SELECT max(rows) < 170 AS short, round(avg((pages = 1)::int), 1) AS on_one_page FROM rowcompress.batches('ba');
SELECT twin_diff('ba', 'ba_heap');
DROP TABLE ba, ba_heap;

-- rows that nearly vanish: 1,024 a batch, many batches on a page
CREATE TABLE ba (id int, k int, t text) USING rowcompress;
INSERT INTO ba SELECT g, 5, 'the same' FROM generate_series(1, 40000) g;
SELECT many_rows, filled, on_one_page FROM shape('ba');
SELECT count(*), sum(id), min(t), sum(k) FROM ba;
SELECT rowcompress.set_options('ba', batch_bytes => 1048576);
TRUNCATE ba;
INSERT INTO ba SELECT NULL FROM generate_series(1, 3000) g;
SELECT batches, many_rows, on_one_page FROM shape('ba');
SELECT count(*), count(id), count(t) FROM ba;
DROP TABLE ba;

-- rows that are longer than a page, and rows that leave much of it empty
CREATE TABLE ba (id int, a text, b text, c text) USING rowcompress;
CREATE TABLE ba_heap (LIKE ba);
INSERT INTO ba_heap SELECT g, x, reverse(x), CASE WHEN g % 3 = 0 THEN md5(x) || x END
FROM generate_series(1, 1500) g, LATERAL (SELECT string_agg(md5(g || '/' || i), '') FROM generate_series(1, 60 + g % 50) i) s(x);
INSERT INTO ba SELECT * FROM ba_heap ORDER BY id;
SELECT max(pages) > 1 AS long_ones, sum(rows) FROM rowcompress.batches('ba');
SELECT twin_diff('ba', 'ba_heap');
-- little of the file is empty
SELECT sum(b.bytes) > 0.8 * (SELECT sum(pages) * 8192 FROM rowcompress.row_groups('ba')) AS dense FROM rowcompress.batches('ba') b;
SELECT * FROM rowcompress.verify('ba');
DROP TABLE ba, ba_heap;

-- more pages than a row group may have batches: then some lie on two
CREATE TABLE ba (id int, a bytea, b bytea) USING rowcompress;
SELECT rowcompress.set_options('ba', row_group_rows => 70000);
INSERT INTO ba SELECT g, sha512(g::text::bytea), sha512((-g)::text::bytea) FROM generate_series(1, 80000) g;
SELECT row_group, max(batch) < 1024 AS few, max(batch) > 500 AS many, max(pages) FROM rowcompress.batches('ba') GROUP BY 1 ORDER BY 1;
SELECT count(*), sum(id), bool_and(a = sha512(id::text::bytea) AND b = sha512((-id)::text::bytea)) FROM ba;
-- as many batches as there may be, each by its rows' bytes
SELECT rowcompress.set_options('ba', batch_bytes => 4096, row_group_bytes => 1073741824);
TRUNCATE ba;
INSERT INTO ba SELECT g, sha512(g::text::bytea), sha512((-g)::text::bytea) FROM generate_series(1, 30000) g;
SELECT row_group, count(*) = 1024 AS all_batches, max(rows) < 30 AS short FROM rowcompress.batches('ba') GROUP BY 1 ORDER BY 1;
SELECT count(*), sum(id), bool_and(a = sha512(id::text::bytea) AND b = sha512((-id)::text::bytea)) FROM ba;
DROP TABLE ba;
DROP FUNCTION shape;
