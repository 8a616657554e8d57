-- unnest() of arrays below aggregation over vectors: the same results as heap's.
SET max_parallel_workers_per_gather = 0;
LOAD '@am@';

CREATE DOMAIN un_tag AS text;
CREATE TABLE un_heap (id int, k int, c text, tags text[], many text[], i int[], i8 bigint[], n numeric[], f float8[],
	d date[], u uuid[], b bool[], grid int[], dom un_tag[], url text);
INSERT INTO un_heap
SELECT i, i % 7, 'c' || i % 5,
	CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN ARRAY['tag_' || i % 20, NULL] ELSE ARRAY['tag_' || i % 20, 'cat_' || i % 8, 'x'] END,
	ARRAY[md5(i::text), md5((i * 7)::text), 'v' || i % 3], ARRAY[i % 10, NULL, -i], ARRAY[i * 1000000007::bigint],
	CASE i % 4 WHEN 0 THEN ARRAY[i / 4.0, 1.0, 1.00] WHEN 1 THEN ARRAY['NaN'::numeric, i] ELSE ARRAY[i % 50 * 0.01] END,
	ARRAY[i % 13 / 4.0, 'NaN', '-0'], ARRAY[date '2024-01-01' + i % 40], ARRAY[md5((i % 9)::text)::uuid, NULL],
	ARRAY[i % 2 = 0, NULL], ARRAY[[i % 3, 5], [7, i % 4]], ARRAY['d' || i % 6]::un_tag[], '/a' || i % 12 || '/b/' || i
FROM generate_series(1, 4000) i;
-- longer than a vector; strings too long for a dictionary
INSERT INTO un_heap (id, k, c, tags, i)
SELECT 4000 + g, g, 'long', array_agg('e' || e % 300 || CASE WHEN g = 2 THEN repeat('y', 400) ELSE '' END), array_agg(e)
FROM generate_series(1, 2) g, generate_series(1, 3000) e GROUP BY g;
CREATE TABLE un (LIKE un_heap) USING @am@;
SELECT @am@.set_options('un', row_group_rows => 1024);
INSERT INTO un SELECT * FROM un_heap WHERE id NOT BETWEEN 3900 AND 4000;
INSERT INTO un SELECT * FROM un_heap WHERE id BETWEEN 3900 AND 4000;
DELETE FROM un WHERE id % 40 = 3;
DELETE FROM un_heap WHERE id % 40 = 3;
ANALYZE;

CREATE FUNCTION un_compare(query text) RETURNS text LANGUAGE sql AS $$
	SELECT result || CASE WHEN plan LIKE '%Unnest: on vectors%' THEN ': vectors' ELSE '' END
	FROM twin_query('un', 'un_heap', query);
$$;

-- In FROM, in the target list, in a subquery
SELECT un_compare('SELECT x, count(*) FROM TBL, unnest(tags) x GROUP BY x');
SELECT un_compare('SELECT unnest(tags) x, count(*) FROM TBL GROUP BY 1');
SELECT un_compare('SELECT x, count(*), sum(k), max(c) FROM (SELECT unnest(tags) x, k, c FROM TBL WHERE k > 1) s GROUP BY x');
SELECT un_compare('SELECT upper(x), c, sum(k) FROM (SELECT unnest(tags) x, k, c FROM TBL) s WHERE x <> ''x'' GROUP BY 1, 2');
SELECT un_compare('SELECT DISTINCT x FROM TBL, unnest(tags) x');
SELECT un_compare('SELECT count(*) FROM TBL, unnest(i) x WHERE x > 5 OR id = 3');
SELECT un_compare('SELECT count(*) FROM TBL, unnest(tags)');
SELECT un_compare('SELECT count(x), count(DISTINCT x), count(*), sum(length(x)) FROM TBL, unnest(tags) x');

-- Every type
SELECT col, un_compare(format('SELECT x, c, count(*), min(k) FROM TBL, unnest(%s) x GROUP BY x, c', col))
FROM unnest(ARRAY['many', 'i', 'i8', 'd', 'u', 'b', 'grid', 'dom']) col;
SELECT col, un_compare(format('SELECT c, count(x), count(DISTINCT x), sum(x), min(x), max(x) FROM TBL, unnest(%s) x GROUP BY c', col))
FROM unnest(ARRAY['n', 'f', 'i', 'i8']) col;

-- Conditions on elements and rows, expressions of both, other arrays
SELECT un_compare('SELECT x, count(*) FROM TBL, unnest(tags) x WHERE x LIKE ''cat%'' AND k < 5 GROUP BY x');
SELECT un_compare('SELECT x || c, count(*) FROM TBL e, unnest(tags) x WHERE x > ''t'' || e.k GROUP BY 1');
SELECT un_compare('SELECT x, k, count(*) FROM TBL JOIN unnest(tags) x ON right(x, 1) >= k::text GROUP BY 1, 2');
SELECT un_compare('SELECT x, count(*) FROM TBL, unnest(string_to_array(url, ''/'')) x GROUP BY x');
SELECT un_compare('SELECT x, sum(id) FROM TBL, unnest(ARRAY[k, id % 3]) x GROUP BY x');
SELECT un_compare('SELECT sum(10 / x) FROM TBL, unnest(i) x WHERE x <> 0');
SELECT sum(10 / x) FROM un, unnest(i) x;

-- Above a join, beside others, in other queries
SELECT un_compare('SELECT x, count(*) FROM TBL a JOIN TBL b USING (id), unnest(a.tags) x GROUP BY x');
SELECT un_compare('SELECT h.id, (SELECT count(*) FROM TBL t, unnest(t.tags) x WHERE t.k = h.k AND x = h.c) FROM un_heap h WHERE h.id < 9');
SELECT un_compare('SELECT h.id, s.* FROM un_heap h CROSS JOIN LATERAL (SELECT x, count(*) FROM TBL t, unnest(t.tags) x WHERE t.k = h.k GROUP BY x) s WHERE h.id < 4');

-- Left to the server
SELECT un_compare('SELECT x, o, count(*) FROM TBL, unnest(tags) WITH ORDINALITY u (x, o) GROUP BY x, o');
SELECT un_compare('SELECT x, count(*) FROM TBL LEFT JOIN unnest(tags) x ON true GROUP BY x');
SELECT un_compare('SELECT x, y, count(*) FROM TBL, unnest(tags, i) u (x, y) WHERE id < 100 GROUP BY x, y');
SELECT un_compare('SELECT x, count(*) FROM (SELECT unnest(tags) x, unnest(i) y FROM TBL) s GROUP BY x');
SELECT un_compare('SELECT x, random() < 2 AS y, count(*) FROM TBL, unnest(tags) x GROUP BY 1, 2');

CREATE SEQUENCE un_seq;
SELECT un_compare('SELECT x, count(*) FROM (SELECT unnest(tags) x, nextval(''un_seq'') FROM TBL) s GROUP BY x');
SELECT last_value > 10000 AS called FROM un_seq;

-- On disk, and in parallel
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT un_compare('SELECT x, id % 50, count(*) FROM TBL, unnest(many) x GROUP BY 1, 2');
RESET work_mem;
RESET hash_mem_multiplier;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT un_compare('SELECT x, count(*) FROM TBL, unnest(tags) x GROUP BY x');
SELECT un_compare('SELECT unnest(many) x, count(*) FROM TBL GROUP BY 1');

-- The right to call the function
CREATE ROLE regress_un_reader;
GRANT SELECT ON un TO regress_un_reader;
REVOKE EXECUTE ON FUNCTION unnest(anyarray) FROM public;
SET ROLE regress_un_reader;
SELECT x, count(*) FROM un, unnest(tags) x GROUP BY x;
RESET ROLE;
GRANT EXECUTE ON FUNCTION unnest(anyarray) TO public;

DROP TABLE un, un_heap;
DROP SEQUENCE un_seq;
DROP ROLE regress_un_reader;
DROP FUNCTION un_compare;
DROP DOMAIN un_tag;
