-- Sorts and windows over vectors: plans, and the same results as heap's.
SET max_parallel_workers_per_gather = 0;
SET work_mem = '64MB';
LOAD '@am@';

CREATE COLLATION wv_nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE wv_mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE wv_pair AS (a int, b text);
CREATE DOMAIN wv_small AS int CHECK (VALUE < 1000000);
CREATE TABLE wv_heap (id int, k int, k2 smallint, k8 bigint, t text, ci text COLLATE wv_nocase, bp char(6), d date,
	n numeric, f float8, g real, u uuid, v numeric(12,2), doc jsonb, a int[], mood wv_mood, p wv_pair, s wv_small,
	cash money, b bool, ts timestamptz, iv interval);
INSERT INTO wv_heap
SELECT i, CASE WHEN i % 11 <> 0 THEN i % 70 END, i % 10, i % 300 - 100, CASE WHEN i % 13 <> 0 THEN 'k' || i % 90 END,
	CASE i % 3 WHEN 0 THEN 'ab' ELSE 'AB' END || i % 40, 'k' || i % 9, date '2024-01-01' + i % 60,
	CASE i % 6 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN NULL WHEN 2 THEN 1.0 WHEN 3 THEN 1.00 WHEN 4 THEN '-Infinity' ELSE i % 30 END,
	CASE i % 6 WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN NULL WHEN 2 THEN '-0' WHEN 3 THEN 0 WHEN 4 THEN '-Infinity' ELSE i % 30 - 15 END,
	(i % 33 - 16) / 4.0, md5((i % 20)::text)::uuid, (i * 7919 % 1000) * 0.25, jsonb_build_object('a', i % 10), ARRAY[i % 5, -i % 3],
	(ARRAY['sad', 'happy', 'ok', NULL])[i % 4 + 1]::wv_mood, ROW(i % 4, CASE WHEN i % 5 > 0 THEN 'x' || i % 3 END)::wv_pair, i % 17,
	(i % 25)::money, CASE WHEN i % 7 > 0 THEN i % 2 = 0 END, timestamptz '2024-01-01 00:00+00' - i % 50 * interval '7 hours',
	CASE i % 3 WHEN 0 THEN interval '24 hours' WHEN 1 THEN interval '1 day' ELSE i % 40 * interval '1 hour' END
FROM generate_series(1, 1500) i;
CREATE TABLE wv (LIKE wv_heap) USING @am@;
INSERT INTO wv SELECT * FROM wv_heap WHERE id <= 1400;
INSERT INTO wv SELECT * FROM wv_heap WHERE id > 1400;
DELETE FROM wv WHERE id % 40 = 3;
DELETE FROM wv_heap WHERE id % 40 = 3;
ANALYZE;

-- Whether a query gives the same on the heap table (TBL), and has a sort of vectors.
CREATE FUNCTION wv_compare(query text) RETURNS text LANGUAGE sql AS $$
	SELECT result || CASE WHEN plan LIKE '%Sort)%' THEN ': vectors' ELSE '' END
	FROM twin_query('wv', 'wv_heap', query);
$$;
-- A plan without what differs from server to server.
CREATE FUNCTION wv_plan(query text, options text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF, TIMING OFF, SUMMARY OFF %s) ', options) || query LOOP
		CONTINUE WHEN line ~ 'Memory|Row Groups|Vectors|Delta Rows|Deleted Rows|Buffers|Batches|Window:|Output';
		RETURN NEXT regexp_replace(line, 'rows=(\d+)\.00', 'rows=\1');
	END LOOP;
END $$;

-- Plans
SELECT wv_plan('SELECT * FROM (SELECT id, k, row_number() OVER (PARTITION BY k ORDER BY id DESC) AS r FROM wv) x WHERE r <= 2');
SELECT wv_plan('SELECT id, sum(v) OVER w, rank() OVER (PARTITION BY k), row_number() OVER (ORDER BY t NULLS FIRST)
	FROM wv WINDOW w AS (PARTITION BY k ORDER BY id)');
SELECT wv_plan('SELECT k, t, id FROM wv ORDER BY k DESC NULLS LAST, t COLLATE "C", id OFFSET 1000');
SELECT wv_plan('SELECT DISTINCT ON (k) k, id FROM wv ORDER BY k, v, id');
SELECT wv_plan('SELECT max(r) FROM (SELECT rank() OVER (ORDER BY v) AS r FROM wv) x', ', ANALYZE, BUFFERS OFF');
SELECT wv_plan('SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY k2 ORDER BY id) AS r FROM wv) x WHERE r = 1',
	', ANALYZE, BUFFERS OFF');
-- what is not for vectors: by window, or as a whole
SELECT wv_plan('SELECT id, rank() OVER (PARTITION BY k ORDER BY v), string_agg(t, '','') OVER (PARTITION BY t ORDER BY id) FROM wv');
SELECT wv_plan('SELECT id, rank() OVER (ORDER BY v), random() FROM wv');
SET @am@.enable_vector_sort = off;
SELECT wv_plan('SELECT id, rank() OVER (ORDER BY v) FROM wv');
RESET @am@.enable_vector_sort;
SET work_mem = '64kB';
SELECT wv_plan('SELECT id, rank() OVER (ORDER BY v) FROM wv');
SET work_mem = '64MB';

-- every type as a key of partitions and of order, either way
SELECT key, wv_compare(format('SELECT id, rank() OVER (PARTITION BY k2 ORDER BY %1$s), dense_rank() OVER (ORDER BY %1$s DESC),
	count(*) OVER (PARTITION BY %1$s), cume_dist() OVER (ORDER BY %1$s NULLS FIRST) FROM TBL', key))
FROM unnest('{id,k,k2,k8,t,"t COLLATE \"C\"",ci,bp,d,n,f,g,u,v,doc,a,mood,p,s,cash,b,ts,iv,lower(t),-k8,k+k2}'::text[]) key;
SELECT key, wv_compare(format('SELECT * FROM (SELECT id, %1$s, rank() OVER (PARTITION BY %1$s ORDER BY v DESC) AS r FROM TBL) x
	WHERE r <= 3', key)) FROM unnest('{k,t,ci,bp,d,n,f,doc,mood,b,"k, t"}'::text[]) key;
SELECT key, wv_compare(format('SELECT id, row_number() OVER (ORDER BY %s, id) FROM (SELECT * FROM TBL ORDER BY %1$s, id OFFSET 100) x', key))
FROM unnest('{k DESC,"k NULLS FIRST",t,ci,n DESC NULLS LAST,f,p,"b, k DESC, t NULLS FIRST"}'::text[]) key;

-- functions
SELECT f, wv_compare(format('SELECT id, %s OVER (PARTITION BY k2, b ORDER BY v, id) FROM TBL', f))
FROM unnest(ARRAY['row_number()', 'rank()', 'dense_rank()', 'percent_rank()', 'cume_dist()', 'ntile(1)', 'ntile(7)', 'ntile(100000)',
	'lag(t)', 'lag(n, 2)', 'lead(f, 3, 1.5)', 'lead(v, -1, k)', 'lag(k, 0)', 'lag(t, NULL)', 'lag(k, k)', 'first_value(doc)',
	'last_value(p)', 'nth_value(t, 3)', 'nth_value(t, k2 + 1)', 'count(*)', 'count(t)', 'sum(k)', 'sum(k8)', 'sum(k2)', 'sum(v)',
	'sum(n)', 'sum(f)', 'sum(g)', 'avg(k)', 'avg(k8)', 'avg(v)', 'avg(n)', 'avg(f)', 'min(v)', 'max(f)', 'min(n)', 'max(t)', 'min(d)',
	'max(cash)', 'min(g)', 'sum(v) FILTER (WHERE k > 30)', 'count(*) FILTER (WHERE t IS NULL)', 'array_agg(k2)', 'bool_or(b)']) f;
-- arguments that fail for rows for which the server does not compute them
SELECT f, wv_compare(format('SELECT id, %s FROM TBL WINDOW w AS (ORDER BY id), k AS (PARTITION BY k2, b ORDER BY v, id)', f))
FROM unnest(ARRAY['sum(100 / k2) FILTER (WHERE k2 <> 0) OVER k', 'max(1000 / v) FILTER (WHERE v > 0) OVER k, min(v) FILTER (WHERE v > 0) OVER k',
	'first_value(100 / (1500 - id)) OVER w', 'lag(id, 1, 100 / (1500 - id)) OVER w', 'lag(id, 1, -id) OVER w', 'lead(v * 2, 1, v + 1) OVER w',
	'sum(100 / (1500 - id)) OVER (w ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)',
	'count(*) FILTER (WHERE 100 / (1500 - id) > 0) OVER (w ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)']) f;
SELECT wv_compare('SELECT k, lag(sum(k2 * k)) OVER (ORDER BY k), first_value(k + 1) OVER (ORDER BY k) FROM TBL GROUP BY k, k + 1');
SELECT wv_compare('SELECT * FROM (SELECT id, row_number() OVER w AS r, sum(100 / (1500 - id)) OVER w FROM TBL WINDOW w AS (ORDER BY id)) x WHERE r < 6');
SELECT id, sum(100 / k2) OVER (PARTITION BY b) FROM wv;
-- frames
SELECT mode, start, stop, excluded, wv_compare(format('SELECT id, sum(v) OVER w, count(k) OVER w, avg(k8) OVER w, min(v) OVER (%1$s), max(g) OVER (%1$s),
	first_value(id) OVER (%1$s), last_value(id) OVER (%1$s), nth_value(id, 2) OVER (%1$s)
	FROM TBL WINDOW w AS (%1$s %2$s)', format('PARTITION BY k2 ORDER BY d%s %s BETWEEN %s AND %s',
	CASE mode WHEN 'ROWS' THEN ', id' ELSE ', ts, id / 50' END, mode, start, stop), excluded))
FROM unnest('{ROWS,GROUPS,RANGE}'::text[]) mode,
	unnest('{UNBOUNDED PRECEDING,2 PRECEDING,CURRENT ROW,1 FOLLOWING}'::text[]) WITH ORDINALITY s (start, sn),
	unnest('{3 PRECEDING,CURRENT ROW,4 FOLLOWING,UNBOUNDED FOLLOWING}'::text[]) WITH ORDINALITY e (stop, en),
	unnest('{"",EXCLUDE CURRENT ROW,EXCLUDE GROUP,EXCLUDE TIES}'::text[]) excluded
WHERE (mode <> 'RANGE' OR (start !~ '\d' AND stop !~ '\d')) AND NOT (start ~ 'CURRENT|FOLLOWING' AND stop ~ 'PREC')
	AND NOT (start ~ 'FOLLOWING' AND stop ~ 'CURRENT') AND (excluded <> '' OR (mode <> 'ROWS' AND sn <= 2))
	AND NOT (excluded = '' AND mode = 'RANGE' AND sn = 4);
SELECT wv_compare('SELECT id, sum(k8) OVER (ORDER BY k8 RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING) FROM TBL');
SELECT wv_compare('SELECT id, count(*) OVER (), sum(k) OVER (), rank() OVER () FROM TBL');

-- above joins, aggregates and subqueries; below aggregates
SELECT wv_compare('SELECT k, sum(v), rank() OVER (ORDER BY sum(v) DESC), sum(sum(v)) OVER (ORDER BY k) FROM TBL GROUP BY k');
SELECT wv_compare('SELECT x.id, row_number() OVER (PARTITION BY x.k ORDER BY x.id, y.id) FROM TBL x JOIN TBL y ON x.k8 = y.id');
SELECT wv_compare('SELECT x.id, y.t, count(y.t) OVER (PARTITION BY x.k ORDER BY y.id) FROM TBL x LEFT JOIN TBL y ON x.k8 = y.id');
SELECT wv_compare('SELECT k2, sum(s), max(r) FROM (SELECT k2, sum(v) OVER (PARTITION BY k ORDER BY id) AS s, rank() OVER (ORDER BY v) AS r FROM TBL) x GROUP BY k2');
SELECT wv_compare('SELECT k, r FROM (SELECT k, row_number() OVER (PARTITION BY k ORDER BY id) + 1 AS r FROM TBL) x WHERE r < 4');
SELECT wv_compare('SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY k ORDER BY id) AS r, row_number() OVER (ORDER BY id DESC) AS q FROM TBL) x
	WHERE r <= 2 AND q < 900');
SELECT wv_compare('SELECT o.i, x.* FROM generate_series(1, 4) o (i), LATERAL (SELECT id, rank() OVER (ORDER BY v DESC) FROM TBL WHERE k2 = o.i) x');
SELECT wv_compare('SELECT id, k, sum(v) OVER (PARTITION BY k) FROM TBL WHERE false');
SELECT wv_compare('SELECT DISTINCT ON (k, t) k, t, id FROM TBL ORDER BY t, k DESC, v DESC, id');
SELECT wv_compare('SELECT DISTINCT ON (mood) mood, id FROM TBL ORDER BY mood NULLS FIRST, id DESC');
SELECT wv_compare('SELECT count(*), sum(id) FROM (SELECT DISTINCT ON (k8) id FROM TBL ORDER BY k8, n DESC, id) x');
-- rows in order
SELECT string_agg(id::text, ',') FROM (SELECT id FROM wv WHERE id < 100 ORDER BY k DESC NULLS LAST, v, id DESC OFFSET 85) x;

-- a cursor goes both ways over a sort, which has no window
BEGIN;
DECLARE wv_cursor CURSOR FOR SELECT id, k FROM wv ORDER BY k DESC NULLS LAST, v, id;
FETCH 2 FROM wv_cursor;
FETCH BACKWARD 2 FROM wv_cursor;
FETCH BACKWARD 1 FROM wv_cursor;
MOVE 1200 FROM wv_cursor;
FETCH BACKWARD 1 FROM wv_cursor;
FETCH BACKWARD 1 FROM wv_cursor;
MOVE FORWARD ALL IN wv_cursor;
FETCH BACKWARD 1 FROM wv_cursor;
FETCH FORWARD 1 FROM wv_cursor;
FETCH LAST FROM wv_cursor;
COMMIT;
-- paths that must not become plans twice
SELECT wv_compare('SELECT k2, sum(v), rank() OVER (ORDER BY sum(v)) FROM TBL GROUP BY ROLLUP (k2)');
SELECT wv_compare('SELECT s, rank() OVER (ORDER BY s) FROM (SELECT k2, sum(v) AS s FROM TBL GROUP BY CUBE (k2, b)) x');
SELECT wv_compare('SELECT max(v), row_number() OVER () FROM TBL');
SELECT wv_compare('SELECT id FROM TBL WHERE v > (SELECT avg(v) FROM TBL) ORDER BY id');
SELECT wv_compare('SELECT k, (SELECT max(v) FROM TBL y WHERE y.k = x.k), rank() OVER (ORDER BY k) FROM TBL x WHERE k < 3');
SELECT wv_compare('SELECT k FROM TBL INTERSECT SELECT k2 FROM TBL ORDER BY 1');

-- no room when rows come: the server's plan takes over, for rows and for vectors
SET plan_cache_mode = force_generic_plan;
PREPARE wv_rows AS SELECT id, sum(v) OVER (PARTITION BY k ORDER BY id) + 1 AS s FROM wv ORDER BY k, id OFFSET 1460;
PREPARE wv_vectors AS SELECT sum(s), max(r) FROM (SELECT sum(v) OVER w AS s, rank() OVER w AS r FROM wv WINDOW w AS (PARTITION BY k ORDER BY id)) x;
PREPARE wv_distinct AS SELECT count(*), sum(id) FROM (SELECT DISTINCT ON (k8) k8, id, t FROM wv ORDER BY k8, id, t) x;
EXECUTE wv_rows;
EXECUTE wv_vectors;
EXECUTE wv_distinct;
SET work_mem = '64kB';
EXECUTE wv_rows;
EXECUTE wv_vectors;
EXECUTE wv_distinct;
SELECT line FROM wv_plan('EXECUTE wv_vectors', ', ANALYZE, BUFFERS OFF') line WHERE line ~ 'Left To Server|WindowAgg';
SET work_mem = '64MB';
RESET plan_cache_mode;

-- rights to call a function
CREATE ROLE wv_role;
GRANT SELECT ON wv TO wv_role;
REVOKE EXECUTE ON FUNCTION rank() FROM PUBLIC;
SET ROLE wv_role;
SELECT max(r) FROM (SELECT rank() OVER (ORDER BY v) AS r FROM wv) x;
RESET ROLE;
GRANT EXECUTE ON FUNCTION rank() TO PUBLIC;
DROP OWNED BY wv_role;
DROP ROLE wv_role;
