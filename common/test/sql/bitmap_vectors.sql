-- Bitmaps of indexes say which rows of vectors a scan reads: heap's results,
-- with the bitmap and without it, exact and lossy, over row groups and delta.
SET max_parallel_workers_per_gather = 0;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_seqscan = off;
SET cpu_tuple_cost = 0;	-- or the server's bitmap scans win now and then

CREATE TABLE bv_heap (id int, u int, g int, n numeric(12,2), f float8, t text, tags text[], doc jsonb);
INSERT INTO bv_heap SELECT i, CASE WHEN i % 13 <> 0 THEN i * 7919 % 5000 END, i % 5, i * 0.37, i / 8.0, 'x' || i % 300,
	ARRAY['a' || i % 20, 'b' || i % 8], jsonb_build_object('os', 'o' || i % 20, 'k', i % 3)
FROM generate_series(1, 9000) i;
CREATE TABLE bv (LIKE bv_heap) USING @am@;
SELECT @am@.set_options('bv', row_group_rows => 4096);
INSERT INTO bv SELECT * FROM bv_heap;
CREATE INDEX bv_u ON bv (u);
CREATE INDEX bv_partial ON bv (id) WHERE g = 3;
CREATE INDEX bv_t ON bv (upper(t));
CREATE INDEX bv_tags ON bv USING gin (tags);
CREATE INDEX bv_doc ON bv USING gin (doc jsonb_path_ops);
-- rows of the delta with entries, updated and deleted ones
SELECT twin_do('bv', 'bv_heap', 'INSERT INTO TBL SELECT id + 10000, u, g, n, f, t, tags, doc FROM TBL WHERE id % 12 = 5');
SELECT twin_do('bv', 'bv_heap', 'DELETE FROM TBL WHERE id % 41 = 3 OR id BETWEEN 4200 AND 4400');
SELECT twin_do('bv', 'bv_heap', 'UPDATE TBL SET n = n + 1 WHERE id % 97 = 1');
SELECT twin_do('bv', 'bv_heap', 'UPDATE TBL SET u = 4999, tags = ''{a5,new}'' WHERE id % 200 = 7');
ANALYZE bv;

-- The plan's nodes; what EXPLAIN says of the bitmap.
CREATE FUNCTION bv_explain(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Custom Scan|Bitmap|Rows From' THEN
			RETURN NEXT regexp_replace(btrim(line, ' ->'), '( \(actual|: \d).*', '');
		END IF;
	END LOOP;
END $$;
SELECT bv_explain('SELECT count(*), sum(n) FROM bv WHERE tags @> ''{a5}''');
SELECT bv_explain('SELECT g, count(*), sum(n) FROM bv WHERE u < 400 OR tags @> ''{a5}'' GROUP BY g');
SELECT bv_explain('SELECT count(*), sum(n) FROM bv WHERE doc @> ''{"os": "o7"}''');
SELECT bv_explain('SELECT id, n FROM bv WHERE u BETWEEN 10 AND 1500');
-- not without bitmap scans, nor when they are switched off
SET enable_bitmapscan = off;
SELECT bv_explain('SELECT count(*), sum(n) FROM bv WHERE tags @> ''{a5}''');
RESET enable_bitmapscan;
SET @am@.enable_bitmap_vectors = off;
SELECT bv_explain('SELECT count(*), sum(n) FROM bv WHERE tags @> ''{a5}''');
RESET @am@.enable_bitmap_vectors;

CREATE FUNCTION bv_diff() RETURNS TABLE (query text) LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	heap text;
BEGIN
	FOR query IN
		SELECT format('SELECT %s FROM TBL WHERE %s%s', what, cond, rest)
		FROM unnest(ARRAY['u BETWEEN 10 AND 400', 'u = 4999', 'u IS NULL', 'u IN (1, 77, 4999)', 'u < 0',
			'tags @> ''{a5}''', 'tags && ''{a5,b3}''', 'tags @> ''{a5}'' AND u > 2500', 'u < 900 OR tags @> ''{new}''',
			'doc @> ''{"os": "o7"}''', 'doc @> ''{"os": "o7", "k": 1}'' AND f < 700', 'g = 3 AND id < 4300',
			'upper(t) = ''X17''', '(u < 300 OR upper(t) = ''X17'') AND tags @> ''{b1}''']) cond,
			(VALUES ('id, n, tags, doc', ''), ('g, count(*), sum(n), avg(n), min(t), count(DISTINCT u)', ' GROUP BY g'),
				('count(*), sum(n), max(id)', ''), ('id, f', ' ORDER BY f DESC, id LIMIT 7'), ('count(*)', '')) s (what, rest)
	LOOP
		EXECUTE format('SELECT string_agg(q::text, '','' ORDER BY q::text) FROM (%s) q', replace(query, 'TBL', 'bv')) INTO ours;
		EXECUTE format('SELECT string_agg(q::text, '','' ORDER BY q::text) FROM (%s) q', replace(query, 'TBL', 'bv_heap')) INTO heap;
		IF ours IS DISTINCT FROM heap THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM bv_diff();
SET @am@.enable_vector_filter = off;
SELECT * FROM bv_diff();
RESET @am@.enable_vector_filter;

-- no expression sees a row that the index, another condition or a DELETE takes away
SELECT count(*), sum(1 / (id - 4300)) FROM bv WHERE u < 4000;
SELECT count(*), sum(1 / (g - 2)) FROM bv WHERE u < 400 AND g <> 2;
SELECT count(*), sum(1 / (u - 4999)) FROM bv WHERE tags @> '{new}';
-- over and over, a cached plan
SELECT count(*) FROM generate_series(1, 40) x, LATERAL (SELECT sum(n) s FROM bv WHERE tags @> '{a5}' AND g = x % 5 OFFSET 0) a,
	LATERAL (SELECT sum(n) s FROM bv_heap WHERE tags @> '{a5}' AND g = x % 5 OFFSET 0) b WHERE a.s IS DISTINCT FROM b.s;
SET plan_cache_mode = force_generic_plan;
PREPARE bv_p(text[]) AS SELECT count(*), sum(n) FROM bv WHERE tags @> $1;
EXECUTE bv_p('{a5}');
EXECUTE bv_p('{b3,a11}');
EXECUTE bv_p('{none}');
RESET plan_cache_mode;
-- a cursor both ways, rows of this transaction, a row that is locked and changed
BEGIN;
DECLARE bv_c SCROLL CURSOR FOR SELECT id, u FROM bv WHERE u BETWEEN 100 AND 120 AND tags && '{a1,a2,a3,a4,a5}';
MOVE FORWARD ALL IN bv_c;
FETCH BACKWARD 2 FROM bv_c;
FETCH FORWARD 1 FROM bv_c;
CLOSE bv_c;
SELECT twin_do('bv', 'bv_heap', 'INSERT INTO TBL SELECT id + 30000, 4999, g, n, f, t, ''{mine}'', doc FROM TBL WHERE id <= 3000');
SELECT * FROM bv_diff();
UPDATE bv SET n = -1 WHERE tags @> '{mine}' AND g = 1;
SELECT count(*), sum(n) FROM bv WHERE tags @> '{mine}';
ROLLBACK;
-- moved by compaction
CALL @am@.compact('bv');
SELECT * FROM bv_diff();

-- pages that a small bitmap forgets the rows of
CREATE TABLE bv_wide (id int, k int) USING @am@;
INSERT INTO bv_wide SELECT i, i * 31 % 1000 FROM generate_series(1, 330000) i;
CREATE INDEX bv_wide_k ON bv_wide (k);
ANALYZE bv_wide;
SET work_mem = '64kB';
SELECT count(*), sum(id), min(k), max(k) FROM bv_wide WHERE k BETWEEN 20 AND 99;
SET enable_bitmapscan = off;
SELECT count(*), sum(id), min(k), max(k) FROM bv_wide WHERE k BETWEEN 20 AND 99;
RESET enable_bitmapscan;
SELECT bv_explain('SELECT count(*), sum(id) FROM bv_wide WHERE k BETWEEN 20 AND 99');
-- Each pass reads the delta first, then vectors of the row group that is open:
-- codes of an expression are not those of the other's.
CREATE TABLE bv_rescan (k int, t text) USING @am@;
SELECT @am@.set_options('bv_rescan', row_group_rows => 4096);
INSERT INTO bv_rescan SELECT i % 40, 'a' || i % 3 FROM generate_series(1, 4096) i;
CREATE INDEX ON bv_rescan (k);
INSERT INTO bv_rescan SELECT k, 'z' || k FROM generate_series(1, 3) k;
ANALYZE bv_rescan;
SET enable_sort = off;
SELECT bv_explain('SELECT upper(t), count(*), count(DISTINCT upper(t) || ''q'') FROM bv_rescan WHERE k = 1 GROUP BY 1');
SELECT x, s.* FROM generate_series(1, 3) x,
	LATERAL (SELECT upper(t), count(*), count(DISTINCT upper(t) || 'q')
		FROM bv_rescan WHERE k = x GROUP BY 1 OFFSET 0) s
ORDER BY 1, 2;
RESET enable_sort;
DROP TABLE bv, bv_heap, bv_wide, bv_rescan;
