-- What the build side of a hash join tells scans on its probe side: the same
-- results as heap's, with the filter and without it.
SET max_parallel_workers_per_gather = 0;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET colcompress.enable_vector_join = off;

CREATE TABLE jf_heap (id int, k int, k2 smallint, k8 bigint, t text, vc varchar(20), bp char(6), d date,
	ts timestamptz, b bool, by bytea, u uuid, n numeric, f float8, o oid);
INSERT INTO jf_heap
SELECT i, CASE WHEN i % 11 <> 0 THEN i % 1000 END, i % 100, i % 1000 * 4000000000,
	CASE WHEN i % 13 <> 0 THEN 'k' || i % 70 END, 'v' || i, 'k' || i % 7, date '2024-01-01' + i / 100,
	timestamptz '2024-01-01 00:00Z' + i % 50 * interval '1 h', i % 2 = 0, decode(md5((i % 9)::text), 'hex'),
	md5((i % 9)::text)::uuid, i % 20, i % 20, i % 500 + 4294960000
FROM generate_series(1, 9000) i;
CREATE TABLE jf (LIKE jf_heap) USING colcompress;
INSERT INTO jf SELECT * FROM jf_heap WHERE id <= 8500;
INSERT INTO jf SELECT * FROM jf_heap WHERE id > 8500;
DELETE FROM jf WHERE id % 40 = 3;
DELETE FROM jf_heap WHERE id % 40 = 3;
-- partitions: one of ours, one of heap
CREATE TABLE jp (LIKE jf_heap) PARTITION BY RANGE (id);
CREATE TABLE jp1 PARTITION OF jp FOR VALUES FROM (MINVALUE) TO (5000) USING colcompress;
CREATE TABLE jp2 PARTITION OF jp FOR VALUES FROM (5000) TO (MAXVALUE) USING heap;
INSERT INTO jp SELECT * FROM jf_heap;
-- few rows on the build side; nulls, duplicates, values that the others lack
CREATE TABLE jd (x int, k int, k2 smallint, k8 bigint, t text, vc varchar(20), bp char(8), d date, ts timestamptz,
	b bool, by bytea, u uuid, n numeric, f float8, o oid);
INSERT INTO jd SELECT i, CASE WHEN i % 5 <> 0 THEN i % 20 * 7 - 21 END, i % 9 - 2, i % 12 * 4000000000 - 8000000000,
	CASE WHEN i % 7 <> 0 THEN 'k' || i * 2 END, 'v' || i * 100, 'k' || i % 3, date '2024-01-15' + i % 8,
	timestamptz '2024-01-01 03:00Z' + i % 3 * interval '1 h', CASE WHEN i % 2 = 0 THEN true END,
	decode(md5((i % 3)::text), 'hex'), md5((i % 3)::text)::uuid, i % 4, i % 4, i % 10 + 4294960000
FROM generate_series(1, 40) i;
ANALYZE;

CREATE TABLE jf_queries (n serial, query text);
INSERT INTO jf_queries (query)
SELECT format('SELECT count(*), sum(l.id), sum(jd.x) FROM TBL l %s JOIN jd ON %s', j, c)
FROM unnest(ARRAY['INNER', 'LEFT', 'RIGHT', 'FULL']) j,
	unnest(ARRAY['l.k = jd.k', 'l.k = jd.k8', 'l.k2 = jd.k', 'l.k8 = jd.k8', 'l.k8 = jd.k2', 'l.t = jd.t', 'l.t = jd.vc', 'l.vc = jd.vc',
		'l.vc = jd.t', 'l.bp = jd.bp', 'l.t = jd.bp', 'l.d = jd.d', 'l.ts = jd.ts', 'l.by = jd.by', 'l.u = jd.u', 'l.n = jd.n', 'l.f = jd.f', 'l.o = jd.o',
		'l.k = jd.k AND l.d = jd.d', 'l.k2 = jd.k2 AND l.t = jd.t AND l.id > jd.x', 'l.k + 1 = jd.k', 'l.d = jd.ts::date', 'l.b = jd.b AND l.k2 = jd.k2']) c
UNION ALL
SELECT format('SELECT count(*), sum(l.id) FROM TBL l WHERE l.k2 < 50 AND %s (SELECT 1 FROM jd WHERE %s)', e, c)
FROM unnest(ARRAY['EXISTS', 'NOT EXISTS']) e, unnest(ARRAY['l.k = jd.k', 'l.t = jd.t', 'l.k = jd.k AND l.k2 > jd.x']) c;
INSERT INTO jf_queries (query) VALUES
	('SELECT count(*) FROM TBL l JOIN jd ON l.k = jd.k WHERE jd.x < 0'),
	('SELECT count(*) FROM TBL l JOIN jd ON l.k = jd.k WHERE jd.k IS NULL'),
	('SELECT count(*), sum(a.x), sum(b.x) FROM TBL l JOIN jd a ON l.k = a.k JOIN jd b ON l.t = b.t LEFT JOIN jd c ON c.d = l.d'),
	('SELECT a.x, sum(l.n) FROM TBL l JOIN jd a ON l.k = a.k AND a.x < 20 WHERE l.t <> ''k4'' GROUP BY 1'),
	('SELECT count(*) FROM (SELECT k, id FROM TBL OFFSET 0) l JOIN jd ON l.k = jd.k'),
	('SELECT count(*) FROM (SELECT k, id FROM TBL ORDER BY id LIMIT 500) l JOIN jd ON l.k = jd.k'),
	('SELECT count(*) FROM (SELECT k, count(*) FROM TBL GROUP BY k) l JOIN jd ON l.k = jd.k'),
	('SELECT count(*) FROM TBL l WHERE k IN (SELECT k FROM jd WHERE x > 3) AND id IN (SELECT id FROM TBL WHERE k2 = 3)'),
	-- another hash table for every row outside
	('SELECT x, (SELECT count(*) FROM TBL l JOIN jd b ON l.k = b.k AND b.x < a.x) FROM jd a WHERE x < 15'),
	('SELECT x, (SELECT count(*) FROM TBL l JOIN jd b ON l.k = b.k WHERE l.k2 > a.x) FROM jd a WHERE x < 15'),
	('SELECT a.x, s.n FROM jd a, LATERAL (SELECT count(*) AS n FROM TBL l LEFT JOIN jd c ON l.t = c.t JOIN jd b ON l.k = b.k AND b.k2 <> a.k2) s');

CREATE FUNCTION jf_run(query text, tbl text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(r::text, '' '' ORDER BY r::text) FROM (%s) r', replace(query, 'TBL', tbl)) INTO result;
	RETURN result;
END $$;
CREATE TABLE jf_expected AS SELECT n, query, jf_run(query, 'jf_heap') AS result FROM jf_queries;
CREATE VIEW jf_wrong AS
	SELECT tbl, n, query, r, result FROM (VALUES ('jf'), ('jp')) t (tbl), jf_expected,
		LATERAL (SELECT jf_run(query, tbl) AS r) x WHERE r IS DISTINCT FROM result;
SELECT count(*) AS queries, count(DISTINCT result) > 20 AS various FROM jf_expected;
SELECT * FROM jf_wrong WHERE tbl = 'jf' OR n % 3 = 0;
SET colcompress.enable_join_filter = off;
SELECT * FROM jf_wrong WHERE tbl = 'jf' AND n % 5 = 0;
RESET colcompress.enable_join_filter;
SET colcompress.enable_pruning = off;
SELECT * FROM jf_wrong WHERE tbl = 'jf' AND n % 5 = 1;
RESET colcompress.enable_pruning;

-- the build side in several batches
CREATE TABLE jbig AS SELECT i AS k, repeat('x', 100) AS filler FROM generate_series(1, 20000, 3) i;
ANALYZE jbig;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT count(*), sum(length(filler)) FROM jf l JOIN jbig USING (k);
SELECT count(*), sum(length(filler)) FROM jf_heap l JOIN jbig USING (k);
SELECT count(*) FROM jf l WHERE id IN (SELECT k FROM jbig);
SELECT count(*) FROM jf_heap l WHERE id IN (SELECT k FROM jbig);
RESET work_mem;
RESET hash_mem_multiplier;
SELECT count(*), sum(length(filler)) FROM jf l JOIN jbig USING (k);

-- workers: a table that they share, and one each
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT * FROM jf_wrong WHERE tbl = 'jf' AND n % 7 = 0;
SELECT * FROM jf_wrong WHERE tbl = 'jp' AND n % 9 = 0;
SET enable_parallel_hash = off;
SELECT * FROM jf_wrong WHERE tbl = 'jf' AND n % 7 = 1;
RESET enable_parallel_hash;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;

-- what it does
CREATE FUNCTION jf_lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Hash Join Filter|Vectors|Hash.*Join|Colcompress' THEN
			RETURN NEXT regexp_replace(regexp_replace(line, '\(actual.*|Filter: \d+$|total=\d+ | read=\d+', '', 'g'), 'pruned=[1-9]', 'pruned=some');
		END IF;
	END LOOP;
END $$;
SELECT jf_lines('SELECT sum(id) FROM jf JOIN jd USING (k) WHERE jd.x < 10');
SELECT jf_lines('SELECT sum(id) FROM jf JOIN jd USING (d) WHERE jd.x < 10');
SELECT jf_lines('SELECT sum(id) FROM jf LEFT JOIN jd USING (t) WHERE jf.k2 = 1');
SELECT jf_lines('SELECT sum(id) FROM jp l JOIN jd USING (bp)');
SET colcompress.enable_join_filter = off;
SELECT jf_lines('SELECT sum(id) FROM jf JOIN jd USING (k) WHERE jd.x < 10');
RESET colcompress.enable_join_filter;
-- a filter that lets much less through than the scan's conditions goes before them
CREATE TABLE jl (id int, k int, s text, h int) USING colcompress;
INSERT INTO jl SELECT i, CASE WHEN i % 7 <> 0 THEN i % 3000 - 1500 END, 's' || i % 3000, i % 2 FROM generate_series(1, 200000) i;
INSERT INTO jl VALUES (0, NULL, 's9', 0), (0, 2000000000, NULL, 0);
CREATE TABLE jl_heap AS SELECT * FROM jl;
CREATE TABLE js AS SELECT k, 's' || k AS s FROM unnest(ARRAY[-1500, 31, 0, NULL, 1499, 5000000]) k;
ANALYZE jl, jl_heap, js;
CREATE FUNCTION jl_removed(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Removed by Filter' THEN
			RETURN CASE WHEN substring(line, '\d+')::int < 50000 THEN 'few' ELSE 'many' END;
		END IF;
	END LOOP;
END $$;
SELECT jl_removed('SELECT sum(id) FROM jl JOIN js USING (k) WHERE h = 0');
SELECT jl_removed('SELECT sum(id) FROM jl JOIN js USING (s) WHERE h = 0');
-- conditions that leave less than the filter
SELECT jl_removed('SELECT sum(id) FROM jl JOIN (SELECT DISTINCT k FROM jl_heap WHERE k < 300) d USING (k) WHERE h = 0');
SELECT count(*), sum(id), count(k) FROM jl JOIN js USING (k) WHERE h = 0;
SELECT count(*), sum(id), count(k) FROM jl_heap JOIN js USING (k) WHERE h = 0;
SELECT count(*), sum(id) FROM jl JOIN js USING (s) WHERE h = 0;
SELECT count(*), sum(id) FROM jl_heap JOIN js USING (s) WHERE h = 0;
-- another hash table for every row outside: what was known of the filter is forgotten
SELECT x, (SELECT count(*) FROM jl JOIN js ON js.k BETWEEN x AND jl.k AND jl.k = js.k WHERE h = 0) FROM unnest(ARRAY[31, -1500]) x;
SELECT x, (SELECT count(*) FROM jl_heap jl JOIN js ON js.k BETWEEN x AND jl.k AND jl.k = js.k WHERE h = 0) FROM unnest(ARRAY[31, -1500]) x;
-- not where conditions hide rows from a role, which EXPLAIN would tell how many there are
CREATE VIEW jl_even WITH (security_barrier) AS SELECT * FROM jl WHERE h = 0;
SELECT jl_removed('SELECT sum(id) FROM jl_even JOIN js USING (k)');
CREATE ROLE jl_reader;
ALTER TABLE jl ENABLE ROW LEVEL SECURITY;
CREATE POLICY jl_some ON jl USING (h = 0);
GRANT SELECT ON jl, js TO jl_reader;
SET ROLE jl_reader;
SELECT jl_removed('SELECT sum(id) FROM jl JOIN js USING (k)');
SELECT jl_removed('SELECT sum(id) FROM (SELECT k, id FROM jl OFFSET 0) l JOIN js USING (k)');
RESET ROLE;
DROP VIEW jl_even;
DROP TABLE jl, jl_heap, js;
DROP ROLE jl_reader;
DROP FUNCTION jl_removed;
-- a function that is to see every row
CREATE SEQUENCE jf_seq;
SELECT count(*) FROM jf JOIN jd USING (k) WHERE nextval('jf_seq') > jf.k2 - 1000;
SELECT last_value FROM jf_seq;
DROP SEQUENCE jf_seq;
DROP VIEW jf_wrong;
DROP TABLE jf, jf_heap, jp, jd, jbig, jf_queries, jf_expected;
DROP FUNCTION jf_run, jf_lines;
