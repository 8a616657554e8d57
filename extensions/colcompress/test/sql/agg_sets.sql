-- GROUPING SETS, ROLLUP, CUBE out of the groups of all keys: as heap's.
SET max_parallel_workers_per_gather = 0;
SET jit = off;
CREATE TABLE as_heap AS SELECT i, i % 7 AS a, CASE WHEN i % 5 > 0 THEN i % 5 END AS b, CASE WHEN i % 3 > 0 THEN 'x' || i % 3 END AS t, CASE WHEN i % 17 > 0 THEN (i % 11) / 10.0::numeric(8,3) ELSE 'NaN' END AS n,
	(i % 13)::float8 AS f, date '2024-01-01' + i % 4 AS d, i::bigint * 400000000000000 AS h, i % 4 = 0 AS o FROM generate_series(1, 2500) i;
INSERT INTO as_heap SELECT i, 8, NULL, 'z', (i / 7.0)::numeric(10,5), NULL, NULL, i, true FROM generate_series(1, 300) i;
CREATE TABLE ours (LIKE as_heap) USING colcompress;
SELECT colcompress.set_options('ours', row_group_rows => 1024);
INSERT INTO ours SELECT * FROM as_heap;
DELETE FROM ours WHERE i % 50 = 3;
DELETE FROM as_heap WHERE i % 50 = 3;
INSERT INTO ours VALUES (-1, 1, 1, 'delta', 1, 1, '2024-01-01', 1, true);
INSERT INTO as_heap VALUES (-1, 1, 1, 'delta', 1, 1, '2024-01-01', 1, true);
ANALYZE ours, as_heap;
EXPLAIN (COSTS OFF) SELECT a, t, count(*), grouping(a, t) FROM ours GROUP BY CUBE (a, t) HAVING count(*) > 5;
CREATE TABLE as_queries (n serial, query text);
INSERT INTO as_queries (query) SELECT format('SELECT %s, count(*), count(b), sum(n), avg(n), min(n), max(n), sum(a), sum(a * 2 - 7), avg(i), sum(h), avg(h + 1), min(d), max(h), sum(f), min(f), max(f), count(*) FILTER (WHERE o), bool_and(o), grouping(%1$s) FROM TBL WHERE %s GROUP BY %s', k, w, replace(s, 'KEYS', k))
FROM unnest(ARRAY['t', 'a, b', 'b, d, o', 'i, t', 'a + 1, upper(t)']) k,
	unnest(ARRAY['true', 'i < -1', 'a > 3']) w,
	unnest(ARRAY['ROLLUP (KEYS)', 'CUBE (KEYS)', 'GROUPING SETS ((KEYS), (KEYS), (), ())', 'CUBE (KEYS), ROLLUP (KEYS)', 'DISTINCT ROLLUP (KEYS), CUBE (KEYS)']) s;
INSERT INTO as_queries (query) VALUES
	('SELECT a, b, sum(n) FROM TBL GROUP BY GROUPING SETS ((a), (b))'),
	('SELECT a, a, b, count(*) FROM TBL GROUP BY ROLLUP (1, 2, 3)'),
	('SELECT a, ''k'' AS k, count(*) FROM TBL GROUP BY ROLLUP (1, 2)'),
	('SELECT a + 1, a + 1 + 2, coalesce(b, -1), count(*) FROM TBL GROUP BY ROLLUP (a + 1, b)'),
	('SELECT a, grouping(a), grouping(b, a), count(*) FROM TBL GROUP BY CUBE (a, b) HAVING grouping(b) = 1 OR count(*) > 300'),
	('SELECT a, b, count(DISTINCT t), min(t) FROM TBL GROUP BY ROLLUP (a, b)'),
	('SELECT DISTINCT a, grouping(b) FROM TBL GROUP BY CUBE (a, b)'),
	('SELECT a, b, count(*), sum(count(*)) OVER (PARTITION BY grouping(a), grouping(b)) FROM TBL GROUP BY CUBE (a, b)'),
	('SELECT v, (SELECT sum(c) FROM (SELECT a, b, count(*) AS c FROM TBL WHERE i > v * 300 GROUP BY ROLLUP (a, b) HAVING count(*) > v * 10) x) FROM generate_series(1, 4) v'),
	('SELECT a, t, count(*) AS c, sum(h) FROM TBL GROUP BY CUBE (a, t) ORDER BY c DESC, a, t LIMIT 4'),
	('SELECT i, t, count(*) AS c FROM TBL GROUP BY GROUPING SETS ((t), (i)) ORDER BY i DESC NULLS LAST, c, t LIMIT 4'),
	('SELECT a, a * 2, sum(a), max(a + b) FROM TBL GROUP BY ROLLUP (a), b'),
	('SELECT count(*) FROM TBL GROUP BY ()');
CREATE FUNCTION as_run(query text, tbl text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(r::text, '' '' ORDER BY r::text) FROM (%s) r', replace(query, 'TBL', tbl)) INTO result;
	RETURN result;
END $$;
CREATE VIEW as_wrong AS SELECT n, query FROM as_queries WHERE as_run(query, 'ours') IS DISTINCT FROM as_run(query, 'as_heap');
SELECT count(*) FROM as_queries;
SELECT * FROM as_wrong;
-- rows of many groups go to disk: sets are complete only when all are back
SET work_mem = '64kB';
CREATE FUNCTION as_lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Group Key|On Disk|Aggregate' THEN
			RETURN NEXT regexp_replace(regexp_replace(line, 'rows=(\d+)\.00', 'rows=\1'), 'Disk: \d+', 'Disk: n');
		END IF;
	END LOOP;
END $$;
SET enable_hashagg = off;
SET enable_sort = off;
ALTER TABLE ours ALTER i SET (n_distinct = 20);
ANALYZE ours;
SELECT as_lines('SELECT i, t, count(*) FROM ours GROUP BY CUBE (i, t)');
SELECT * FROM as_wrong WHERE query ~ 'BY [A-Z ]+\(i, t\)$|\(i\)';
RESET enable_hashagg;
RESET enable_sort;
RESET work_mem;
-- workers aggregate, the final node makes the sets
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT a, t, count(*), grouping(t) FROM ours GROUP BY ROLLUP (a, t);
SELECT * FROM as_wrong WHERE n % 4 = 0;
-- groups that the final node has no room for go to disk as states
SET work_mem = '64kB';
SELECT count(*) FROM as_lines('SELECT i, t, count(*), sum(n) FROM ours GROUP BY i, t') line WHERE line ~ 'Groups On Disk';
TRUNCATE as_queries;
INSERT INTO as_queries (query) VALUES
	('SELECT i, t, count(*), count(b), sum(n), avg(n), min(n), max(n), sum(a), avg(i), sum(h), min(d), max(h), sum(f), min(f), bool_and(o) FROM TBL GROUP BY i, t'),
	('SELECT t || i % 1500 AS k, sum(n), count(*) FROM TBL GROUP BY 1'),
	('SELECT i % 2000 AS k, max(n), count(*) AS c FROM TBL GROUP BY 1 ORDER BY c DESC, k LIMIT 9'),
	('SELECT DISTINCT i, t FROM TBL'),
	('SELECT i, t, count(*), sum(n), grouping(t) FROM TBL GROUP BY CUBE (i, t)'),
	('SELECT count(*), sum(c) FROM (SELECT i, count(*) AS c FROM TBL GROUP BY i HAVING count(*) > 1) x'),
	('SELECT v, (SELECT count(*) FROM (SELECT i, t FROM TBL WHERE i > v GROUP BY i, t) x) FROM generate_series(1, 3) v');
SELECT * FROM as_wrong;
DROP VIEW as_wrong;
DROP TABLE ours, as_heap, as_queries;
DROP FUNCTION as_run, as_lines;
