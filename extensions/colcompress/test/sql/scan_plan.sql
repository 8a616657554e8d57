-- Which plans the custom scan takes part in, and that rows come out right.
CREATE TABLE sc (k int, grp int, t text, n numeric(10,2)) USING colcompress;
CREATE TABLE sc_heap (LIKE sc) USING heap;
SELECT colcompress.set_options('sc', row_group_rows => 10240);
SELECT twin_do('sc', 'sc_heap', $$INSERT INTO TBL SELECT i, i % 7, 'text ' || i % 100, i / 4.0 FROM generate_series(1, 21480) i$$);
ANALYZE sc;
ANALYZE sc_heap;
SET max_parallel_workers_per_gather = 0;

-- shapes
EXPLAIN (COSTS OFF) SELECT * FROM sc;
EXPLAIN (COSTS OFF) SELECT count(*) FROM sc;
EXPLAIN (COSTS OFF, VERBOSE) SELECT n FROM sc WHERE k < 10 AND t LIKE '%5' AND random() < 2;
-- EXPLAIN ANALYZE in the words of every server version
CREATE FUNCTION sc_explain(query text, options text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF %s) %s', options, query) LOOP
		line := regexp_replace(line, 'Actual Rows: (\d+)\.\d+', 'Actual Rows: \1');
		line := regexp_replace(line, 'actual rows=(\d+)\.\d+', 'actual rows=\1');
		line := regexp_replace(line, '(Decoded"?:) [1-9]\d*', '\1 N');
		CONTINUE WHEN line ~ '^ *Disabled';
		RETURN NEXT line;
	END LOOP;
END $$;
SELECT * FROM sc_explain('SELECT n FROM sc WHERE k BETWEEN 5000 AND 5009');
SELECT * FROM sc_explain('SELECT count(*) FROM sc');
SELECT * FROM sc_explain('SELECT n FROM sc WHERE k < 5010 AND k > 5000 AND lower(t) = ''text 3'' AND n::text <> ''x''', ', VERBOSE');
SELECT jsonb_path_query(string_agg(line, E'\n')::jsonb, '$.**."Row Groups"') FROM sc_explain('SELECT n FROM sc WHERE k < 10', ', FORMAT JSON') line;

-- switched off, or asked for what a vector does not know: the server's scan
SET colcompress.enable_custom_scan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM sc;
RESET colcompress.enable_custom_scan;
EXPLAIN (COSTS OFF) SELECT xmin FROM sc;
EXPLAIN (COSTS OFF) SELECT k FROM sc WHERE cmax::text = '1';
EXPLAIN (COSTS OFF) SELECT count(*) FROM sc TABLESAMPLE SYSTEM (100);
EXPLAIN (COSTS OFF) SELECT ctid, tableoid FROM sc;

-- ctid, tableoid, whole rows
SELECT count(DISTINCT ctid), count(DISTINCT tableoid) FROM sc;
SELECT k FROM sc WHERE ctid = (SELECT ctid FROM sc WHERE k = 15000);
SELECT sc, sc.tableoid::regclass FROM sc WHERE k IN (1, 15000);
SELECT count(*) FROM sc WHERE sc IS NOT NULL;
SELECT count(*) FROM sc WHERE (sc).k % 1000 = 0;
SELECT count(*) FROM sc JOIN sc_heap h ON sc = h;
SELECT row_to_json(sc) FROM sc WHERE k = 20000;

-- rows that are kept stay what they were
SELECT array_agg(n ORDER BY k) FROM sc WHERE k BETWEEN 5000 AND 5003;
SELECT DISTINCT ON (grp) grp, k, n, t FROM sc ORDER BY grp, k DESC;
SELECT a.k, a.n, b.n FROM sc a JOIN sc b ON a.k = b.k - 1 WHERE a.k IN (999, 1000, 1001) ORDER BY 1;
SELECT lag(n) OVER (ORDER BY k) AS before, n, t FROM sc WHERE k BETWEEN 11238 AND 11242;

-- DML with a condition, a join, a lock
BEGIN;
SELECT twin_do('sc', 'sc_heap', $$UPDATE TBL SET n = n + 1, t = 'new' WHERE k BETWEEN 900 AND 1100 AND grp = 3$$);
SELECT twin_do('sc', 'sc_heap', $$DELETE FROM TBL WHERE k % 1000 = 7$$);
SELECT twin_do('sc', 'sc_heap', $$UPDATE TBL SET n = x.n FROM (VALUES (500, -1), (12000, -2)) x (k, n) WHERE TBL.k = x.k$$);
SELECT twin_do('sc', 'sc_heap', $$MERGE INTO TBL USING (VALUES (501, 'a'), (12001, 'b'), (50000, 'c')) x (k, t) ON TBL.k = x.k
	WHEN MATCHED THEN UPDATE SET t = x.t WHEN NOT MATCHED THEN INSERT (k, t) VALUES (x.k, x.t)$$);
SELECT twin_do('sc', 'sc_heap', $$INSERT INTO TBL SELECT k + 100000, grp, t, n FROM TBL WHERE grp = 1$$);
SELECT k, n FROM sc WHERE k IN (3, 10, 15000) ORDER BY k FOR UPDATE;
SELECT sc.k, h.k FROM sc JOIN sc_heap h USING (k) WHERE k IN (3, 15000) ORDER BY 1 FOR SHARE OF sc;
EXPLAIN (COSTS OFF) UPDATE sc SET n = 0 WHERE k = 5;
SELECT * FROM sc_explain('SELECT count(*) FROM sc');
ROLLBACK;
SELECT twin_diff('sc', 'sc_heap');

-- cursors: forward, backward, current row
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, t, n FROM sc WHERE k BETWEEN 998 AND 1003 ORDER BY k;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH LAST FROM c;
CLOSE c;
DECLARE c SCROLL CURSOR FOR SELECT k FROM sc WHERE k IN (2000, 2001);
FETCH ALL FROM c;
FETCH BACKWARD ALL FROM c;
CLOSE c;
DECLARE c CURSOR FOR SELECT k, n FROM sc WHERE k IN (990, 15000);
FETCH 1 FROM c;
UPDATE sc SET n = -1 WHERE CURRENT OF c;
FETCH 1 FROM c;
DELETE FROM sc WHERE CURRENT OF c;
FETCH 1 FROM c;
COMMIT;
SELECT k, n FROM sc WHERE k IN (990, 15000);
UPDATE sc_heap SET n = -1 WHERE k = 15000;
DELETE FROM sc_heap WHERE k = 990;
SELECT twin_diff('sc', 'sc_heap');

-- subplans, correlated and not, in quals and in the output
SELECT count(*) FROM sc WHERE n > (SELECT avg(n) FROM sc_heap);
SELECT count(*) FROM sc WHERE k NOT IN (SELECT k FROM sc_heap WHERE grp = 3);
SELECT x.g, (SELECT count(*) FROM sc WHERE grp = x.g AND k < x.g * 5000) FROM generate_series(0, 3) x (g);
SELECT count(*) FROM sc WHERE EXISTS (SELECT FROM sc_heap h WHERE h.k = sc.k AND h.k < 1500);
SELECT count(*) FROM sc WHERE CASE WHEN grp = 1 THEN (SELECT max(k) FROM sc_heap) > k ELSE false END;
WITH x AS MATERIALIZED (SELECT * FROM sc WHERE k > 21000) SELECT count(*) FROM x JOIN x y USING (k);

-- nested loops: rescans with and without parameters
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT count(*), sum(a.k) FROM sc a JOIN sc_heap h ON a.k = h.k + 1 WHERE h.k IN (500, 12000, 21000) AND a.n > 10;
SELECT x.a, s.* FROM (VALUES (1000), (1001), (1002)) x (a) LEFT JOIN LATERAL (SELECT k, n, t FROM sc WHERE k = x.a LIMIT 1) s ON true ORDER BY 1;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- a volatile qual sees the rows that a plain scan would show it, and no more
CREATE SEQUENCE sc_calls;
CREATE FUNCTION sc_seen(int) RETURNS bool LANGUAGE plpgsql VOLATILE AS $$ BEGIN PERFORM nextval('sc_calls'); RETURN true; END $$;
SELECT count(*) FROM (SELECT k FROM sc WHERE k > 5000 AND sc_seen(k) LIMIT 3) x;
SELECT last_value FROM sc_calls;
-- a stable one is called once per distinct value of a row group
CREATE FUNCTION sc_stable(text) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE NOTICE 'called for %', $1; RETURN true; END $$;
SELECT count(*) FROM sc WHERE k BETWEEN 10000 AND 11000 AND t IN ('text 1', 'text 2') AND sc_stable(t);

-- never for a value of rows that are deleted, or filtered before
CREATE TABLE sc_div (k int, t text) USING colcompress;
INSERT INTO sc_div SELECT i, CASE WHEN i % 50 = 0 THEN 'bad' ELSE (i % 10 + 1)::text END FROM generate_series(1, 5000) i;
SELECT count(*) FROM sc_div WHERE 1 / t::int > 0;
DELETE FROM sc_div WHERE t = 'bad' AND k > 2500;
SELECT count(*) FROM sc_div WHERE k > 2500 AND 1 / t::int > 0;
SELECT count(*) FROM sc_div WHERE t <> 'bad' AND 1 / t::int > 0;

-- row security: a function that tells what it sees never sees hidden rows
CREATE FUNCTION sc_leak(text) RETURNS bool LANGUAGE plpgsql COST 0.0001 STABLE AS $$ BEGIN RAISE NOTICE 'saw %', $1; RETURN true; END $$;
CREATE ROLE regress_colcompress_reader;
GRANT SELECT ON sc_div TO regress_colcompress_reader;
ALTER TABLE sc_div ENABLE ROW LEVEL SECURITY;
CREATE POLICY sc_visible ON sc_div USING (lower(t) = '3');
SET ROLE regress_colcompress_reader;
EXPLAIN (COSTS OFF) SELECT count(*) FROM sc_div WHERE sc_leak(t) AND k > 3000;
SELECT count(*) FROM sc_div WHERE sc_leak(t) AND k > 3000;
RESET ROLE;
DROP TABLE sc_div;
DROP ROLE regress_colcompress_reader;
CREATE VIEW sc_barrier WITH (security_barrier) AS SELECT * FROM sc WHERE t = 'text 3' AND k < 5000;
SELECT count(*) FROM sc_barrier WHERE sc_leak(t);

-- partitions and inheritance, of mixed access methods
CREATE TABLE sc_part (k int, d date, t text) PARTITION BY RANGE (k);
CREATE TABLE sc_part1 PARTITION OF sc_part FOR VALUES FROM (1) TO (10000) USING colcompress;
CREATE TABLE sc_part2 PARTITION OF sc_part FOR VALUES FROM (10000) TO (20000) USING heap;
CREATE TABLE sc_part3 (t text, junk int, d date, k int) USING colcompress;
ALTER TABLE sc_part3 DROP COLUMN junk;
ALTER TABLE sc_part ATTACH PARTITION sc_part3 FOR VALUES FROM (20000) TO (30000);
INSERT INTO sc_part SELECT i, date '2020-01-01' + i, 'p ' || i % 10 FROM generate_series(1, 29999) i;
EXPLAIN (COSTS OFF) SELECT count(*) FROM sc_part WHERE d > '2020-02-01';
SELECT tableoid::regclass, count(*), min(k), max(k), min(d) FROM sc_part WHERE d > '2020-02-01' GROUP BY 1 ORDER BY 1;
SELECT sc_part FROM sc_part WHERE k IN (1, 15000, 25000) ORDER BY 1;
UPDATE sc_part SET k = k + 1, t = 'moved' WHERE k IN (9999, 19999, 25000);
DELETE FROM sc_part WHERE k IN (100, 25002);
SELECT tableoid::regclass, count(*), count(*) FILTER (WHERE t = 'moved') FROM sc_part GROUP BY 1 ORDER BY 1;
SET enable_partitionwise_join = on;
SELECT count(*) FROM sc_part a JOIN sc_part b ON a.k = b.k WHERE a.t = 'p 1';
RESET enable_partitionwise_join;
PREPARE sc_part_of (int) AS SELECT count(*), min(t) FROM sc_part WHERE k = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE sc_part_of (5);
EXECUTE sc_part_of (25005);
RESET plan_cache_mode;
CREATE TABLE sc_parent (k int, t text) USING colcompress;
CREATE TABLE sc_child (extra int) INHERITS (sc_parent) USING colcompress;
INSERT INTO sc_parent SELECT i, 'parent' FROM generate_series(1, 3000) i;
INSERT INTO sc_child SELECT i, 'child', i FROM generate_series(1, 3000) i;
SELECT t, count(*), sum(k) FROM sc_parent WHERE k > 2000 GROUP BY t ORDER BY t;
SELECT count(*) FROM ONLY sc_parent;
UPDATE sc_parent SET t = t || '!' WHERE k = 2500;
SELECT sc_parent FROM sc_parent WHERE k = 2500 ORDER BY 1;

-- parallel: workers share row groups, vectors and the delta
RESET max_parallel_workers_per_gather;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET colcompress.enable_vector_aggregate = off;
EXPLAIN (COSTS OFF) SELECT count(*), sum(n) FROM sc;
SELECT count(*), sum(n), count(DISTINCT k) FROM sc;
SELECT count(*), sum(n) FROM sc_heap;
SELECT count(*), sum(k) FROM sc WHERE k BETWEEN 15000 AND 15999 AND t <> 'text 5';
SELECT count(*), sum(k) FROM sc_heap WHERE k BETWEEN 15000 AND 15999 AND t <> 'text 5';
SELECT a.grp, count(*) FROM sc a JOIN sc b USING (k) GROUP BY a.grp ORDER BY a.grp;
DO $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) SELECT sum(n) FROM sc WHERE k BETWEEN 15000 AND 15999' INTO plan;
	plan := jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == "ColcompressScan")');
	RAISE NOTICE 'row groups % vectors % delta rows % parallel %', plan->'Row Groups', plan->'Vectors', plan->'Delta Rows', plan->'Parallel Aware';
END $$;
-- rescans of a Gather
SET enable_material = off;
SELECT x.a, (SELECT count(*) FROM sc WHERE k > x.a * 5000) FROM generate_series(1, 4) x (a);
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM sc WHERE t = 'text 7';
FETCH 1 FROM c;
COMMIT;
-- a limit stops workers in the middle
SELECT count(*) FROM (SELECT k FROM sc LIMIT 5000) x;
-- rows that this transaction wrote
BEGIN;
INSERT INTO sc SELECT i, 0, 'mine', 0 FROM generate_series(100001, 105000) i;
SELECT count(*), count(DISTINCT k) FROM sc WHERE t = 'mine';
ROLLBACK;
RESET colcompress.enable_vector_aggregate;
RESET enable_material;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- tables without rows, without columns, with all columns dropped
CREATE TABLE sc_empty (a int) USING colcompress;
SELECT count(*), sum(a) FROM sc_empty WHERE a > 0;
CREATE TABLE sc_nothing () USING colcompress;
INSERT INTO sc_nothing SELECT FROM generate_series(1, 3000);
SELECT count(*) FROM sc_nothing;
SELECT count(*) FROM sc_nothing x, sc_nothing y WHERE x IS NULL;
ALTER TABLE sc_empty DROP COLUMN a;
SELECT count(*) FROM sc_empty;

DROP VIEW sc_barrier;
DROP TABLE sc, sc_heap, sc_part, sc_parent, sc_child, sc_empty, sc_nothing;
DROP SEQUENCE sc_calls;
DROP FUNCTION sc_explain, sc_seen, sc_stable, sc_leak;
