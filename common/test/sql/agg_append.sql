-- Vectors where rows come from several tables: partitions of several access
-- methods and column orders, inheritance, UNION ALL, joins; and wherever
-- queries stand: prepared, cursors, views, policies. The same results as heap's.
SET max_parallel_workers_per_gather = 0;
SET extra_float_digits = -3;

CREATE TABLE ap_heap (id int, d date, k text, v numeric(12,2), f float8, x int);
CREATE TABLE ap (LIKE ap_heap) PARTITION BY RANGE (d);
CREATE TABLE ap1 PARTITION OF ap FOR VALUES FROM ('2024-01-01') TO ('2024-02-01') USING @am@;
-- columns in another order, and one dropped
CREATE TABLE ap2 (x int, gone int, f float8, v numeric(12,2), k text, d date, id int) USING @am@;
ALTER TABLE ap2 DROP COLUMN gone;
ALTER TABLE ap ATTACH PARTITION ap2 FOR VALUES FROM ('2024-02-01') TO ('2024-03-01');
CREATE TABLE ap3 PARTITION OF ap FOR VALUES FROM ('2024-03-01') TO ('2024-04-01') USING heap;
CREATE TABLE ap4 PARTITION OF ap FOR VALUES FROM ('2024-04-01') TO ('2024-06-01') PARTITION BY LIST (k);
CREATE TABLE ap4a PARTITION OF ap4 FOR VALUES IN ('k1', 'k2') USING @am@;
CREATE TABLE ap4b PARTITION OF ap4 DEFAULT USING @am@;
CREATE TABLE ap5 PARTITION OF ap DEFAULT USING @am@;
CREATE TABLE inh (LIKE ap_heap) USING @am@;
CREATE TABLE inh1 () INHERITS (inh) USING @am@;
CREATE TABLE inh2 (more text) INHERITS (inh1) USING heap;
CREATE TABLE inh3 (more text) INHERITS (inh) USING @am@;
CREATE VIEW un AS SELECT id, d, k, v, f, x FROM ap1 UNION ALL SELECT id, d, k, v, f, x FROM ap2
	UNION ALL SELECT id, d, k, v, f, x FROM ap3 UNION ALL SELECT * FROM ap4 UNION ALL SELECT * FROM ap5;

INSERT INTO ap_heap
SELECT i, date '2024-01-01' + i % 150, CASE WHEN i % 17 <> 0 THEN 'k' || i % 7 END,
	CASE WHEN i % 19 <> 0 THEN i * 0.25 END, i * 0.5, CASE WHEN i % 3 <> 0 THEN i % 100 END
FROM generate_series(1, 12000) i;
INSERT INTO ap SELECT * FROM ap_heap;
INSERT INTO inh SELECT * FROM ap_heap WHERE id % 4 = 0;
INSERT INTO inh1 SELECT * FROM ap_heap WHERE id % 4 = 1;
INSERT INTO inh2 SELECT * FROM ap_heap WHERE id % 4 = 2;
INSERT INTO inh3 SELECT * FROM ap_heap WHERE id % 4 = 3;
DELETE FROM ap WHERE id % 50 = 7;
DELETE FROM inh WHERE id % 50 = 7;
DELETE FROM ap_heap WHERE id % 50 = 7;
ANALYZE;

-- Whether a query gives the same on another table (TBL), and has such a plan.
CREATE FUNCTION ap_compare(query text, ours text, plan_like text, heap text DEFAULT 'ap_heap')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	differences bigint;
	plan text := '';
	line text;
	q text := format('SELECT r::text FROM (%s) r', query);
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(query, 'TBL', ours) LOOP
		plan := plan || line || E'\n';
	END LOOP;
	IF plan NOT LIKE plan_like THEN
		RETURN plan;
	END IF;
	EXECUTE format('SELECT count(*) FROM (SELECT r FROM (SELECT r, 1 AS n FROM (%s) a (r)
				   UNION ALL SELECT r, -1 FROM (%s) b (r)) c GROUP BY r HAVING sum(n) <> 0) d',
				   replace(q, 'TBL', ours), replace(q, 'TBL', heap)) INTO differences;
	RETURN CASE differences WHEN 0 THEN 'same' ELSE differences || ' differences' END;
END $$;

CREATE TABLE ap_queries (query text, plan_like text);
INSERT INTO ap_queries VALUES
	('SELECT count(*) FROM TBL', '%final%Append%partial%'),
	('SELECT count(*) FROM TBL WHERE d = ''2030-01-01''', '%'),
	('SELECT k, count(*), sum(v), avg(v), avg(x), min(f), max(d) FROM TBL GROUP BY k', '%final%Append%partial%'),
	('SELECT d, k, sum(x) FILTER (WHERE f > 100), count(v) FROM TBL WHERE x > 3 GROUP BY d, k', '%final%Append%partial%'),
	('SELECT sum(x + 1) FILTER (WHERE x > 5) FROM TBL', '%'),
	('SELECT sum(100 / x) FILTER (WHERE x <> 0) FROM TBL', '%'),
	('SELECT x % 5 AS m, sum(f * x), sum(CASE WHEN k = ''k1'' THEN v END) FROM TBL GROUP BY 1 HAVING count(*) > 10', '%final%Append%partial%'),
	('SELECT k, count(DISTINCT x), percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM TBL GROUP BY k', '%@Am@Aggregate%Append%@Am@Scan%'),
	('SELECT stddev(x), max(k), sum(v) FROM TBL WHERE d < ''2024-04-15''', '%@Am@Aggregate%Append%@Am@Scan%'),
	('SELECT tableoid <> 0 AS o, count(*), count(t) FROM TBL t GROUP BY 1', '%final%Append%partial%'),
	('SELECT DISTINCT k, x % 3 FROM TBL', '%final%Append%partial%'),
	('SELECT DISTINCT d FROM TBL WHERE d BETWEEN ''2024-02-20'' AND ''2024-04-10''', '%@Am@Aggregate%'),
	('SELECT id, k, v * 2 FROM TBL ORDER BY v DESC NULLS LAST, id LIMIT 7', '%Append%Top N Key%'),
	('SELECT id FROM TBL WHERE k = ''k2'' ORDER BY id + 1 LIMIT 5 OFFSET 3', '%Append%Top N Key%'),
	('SELECT * FROM TBL WHERE id % 97 = 5', '%Append%@Am@Scan%'),
	('SELECT h.k, count(*), sum(t.v) FROM TBL t JOIN ap_heap h USING (id) GROUP BY 1', '%'),
	('SELECT t.k, count(DISTINCT h.x), sum(t.f) FROM TBL t LEFT JOIN ap_heap h ON h.id = t.id AND h.x > 50 GROUP BY 1', '%'),
	('SELECT (SELECT count(*) FROM TBL t WHERE t.d = h.d) AS n FROM ap_heap h WHERE h.id < 20', '%@Am@Aggregate%');
SELECT tbl, query, r FROM (VALUES ('ap'), ('inh'), ('un')) t (tbl), ap_queries,
	LATERAL ap_compare(query, tbl, plan_like) r WHERE r <> 'same' AND (tbl <> 'un' OR query NOT LIKE '%tableoid%');
-- the comparison sees a difference, and a plan that is not as it should be
-- grouping sets of all that comes
CREATE TABLE ap_sets (query text, plan_like text);
INSERT INTO ap_sets VALUES
	('SELECT k, x, grouping(k, x), count(*), sum(v), count(*) FILTER (WHERE v > 100), avg(f) FROM TBL GROUP BY ROLLUP (k, x)', '%@Am@Aggregate%Group Key%Group Key%'),
	('SELECT d, k, count(*), min(v), max(k) FROM TBL GROUP BY CUBE (d, k) HAVING count(*) > 3 AND grouping(k) < 1', '%'),
	('SELECT upper(k), x % 7, sum(v), grouping(x % 7) FROM TBL GROUP BY GROUPING SETS ((upper(k)), (x % 7, upper(k)), (), ())', '%'),
	('SELECT a.k, b.x, grouping(a.k), count(*), sum(a.v * b.x) FROM TBL a JOIN ap1 b ON a.id = b.id GROUP BY ROLLUP (a.k, b.x)', '%@Am@Aggregate%Group Key%Group Key%'),
	('SELECT b.k, a.x % 3, count(b.id), min(b.d), grouping(b.k) FROM TBL a LEFT JOIN ap1 b ON a.id = b.id + 1 GROUP BY CUBE (b.k, a.x % 3)', '%@Am@Aggregate%Group Key%Group Key%'),
	('SELECT s.k, s.x, sum(s.n), grouping(s.k, s.x) FROM (SELECT k, x, count(*) AS n FROM TBL GROUP BY k, x) s JOIN ap1 b ON s.x = b.x GROUP BY ROLLUP (s.k, s.x)', '%@Am@Aggregate%Group Key%Group Key%');
SELECT tbl, query, r FROM (VALUES ('ap'), ('inh'), ('un')) t (tbl), ap_sets, LATERAL ap_compare(query, tbl, plan_like) r WHERE r <> 'same';
SELECT ap_compare('SELECT sum(x) FROM TBL WHERE id <> 5', 'ap', '%final%', '(SELECT * FROM ap_heap WHERE id <> 8) h');
SELECT ap_compare('SELECT sum(x) FROM TBL', 'ap', '%no such node%') LIKE '%@Am@Aggregate%' AS plan;

-- the server's own partition-wise aggregation, over groups of ours
SET enable_partitionwise_aggregate = on;
SELECT query, r FROM ap_queries, LATERAL ap_compare(query, 'ap', '%') r WHERE r <> 'same';
RESET enable_partitionwise_aggregate;

-- workers share partitions and what is in them
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT tbl, query, r FROM (VALUES ('ap'), ('inh')) t (tbl), ap_queries,
	LATERAL ap_compare(query, tbl, CASE WHEN query LIKE '%GROUP BY k' AND plan_like LIKE '%partial%' THEN '%final%Gather%Parallel Append%partial%' ELSE '%' END) r
WHERE r <> 'same';
SELECT tbl, query, r FROM (VALUES ('ap'), ('inh'), ('un')) t (tbl), ap_sets, LATERAL ap_compare(query, tbl, '%') r WHERE r <> 'same';
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;

-- partitions are pruned at run time, below an aggregation, too
CREATE FUNCTION ap_scans(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Subplans Removed|never executed| on ap[0-9]' THEN
			found := concat_ws(', ', nullif(found, ''), trim(regexp_replace(line, '->|\(actual.*|Custom Scan|\(@Am@\w+\)|Seq Scan|\(?never executed\)?', '', 'g')) ||
							   CASE WHEN line LIKE '%never executed%' THEN ' never' ELSE '' END);
		END IF;
	END LOOP;
	RETURN found;
END $$;
SET plan_cache_mode = force_generic_plan;
PREPARE ap_generic (date, text) AS SELECT count(*), sum(v) FROM ap WHERE d < $1 AND k = $2;
SELECT ap_scans('EXECUTE ap_generic (''2024-02-10'', ''k3'')');
EXECUTE ap_generic ('2024-02-10', 'k3');
EXECUTE ap_generic ('2024-04-10', 'k1');
SELECT count(*), sum(v) FROM ap_heap WHERE d < '2024-04-10' AND k = 'k1';
SET plan_cache_mode = force_custom_plan;
EXECUTE ap_generic ('2024-04-10', 'k1');
EXECUTE ap_generic ('2024-04-10', NULL);
RESET plan_cache_mode;
DEALLOCATE ap_generic;

-- views, security barriers, policies, CTEs, subplans, cursors
CREATE VIEW ap_view AS SELECT *, v * x AS vx FROM ap WHERE x > 10;
CREATE VIEW ap_barrier WITH (security_barrier) AS SELECT * FROM ap1 WHERE x > 10;
CREATE VIEW ap_heap_view AS SELECT *, v * x AS vx FROM ap_heap WHERE x > 10;
SELECT ap_compare('SELECT k, sum(vx) FROM TBL GROUP BY k', 'ap_view', '%final%Append%partial%', 'ap_heap_view');
SELECT ap_compare('SELECT k, sum(v) FROM TBL WHERE id <> 5 GROUP BY k', 'ap_barrier', '%@Am@Aggregate%', '(SELECT * FROM ap_heap WHERE x > 10 AND d < ''2024-02-01'') h');
SELECT ap_compare('WITH c AS MATERIALIZED (SELECT k, sum(v) AS s FROM TBL GROUP BY k) SELECT * FROM c WHERE s > (SELECT avg(s) FROM c)', 'ap', '%CTE%@Am@Aggregate%');
SELECT ap_compare('SELECT * FROM ap_heap WHERE x > (SELECT avg(x) FROM TBL) AND id < 100', 'ap', '%InitPlan%@Am@Aggregate%');
SELECT ap_compare('SELECT id, (SELECT sum(x) FROM TBL t WHERE t.id < ap_heap.id) FROM ap_heap WHERE id < 40', 'ap1', '%SubPlan%@Am@Aggregate%', '(SELECT * FROM ap_heap WHERE d < ''2024-02-01'')');
ALTER TABLE ap1 ENABLE ROW LEVEL SECURITY;
CREATE POLICY ap_policy ON ap1 USING (x < 50);
CREATE ROLE ap_reader;
GRANT SELECT ON ap1, ap_heap TO ap_reader;
SET ROLE ap_reader;
SELECT ap_compare('SELECT k, count(*), sum(v) FROM TBL GROUP BY k', 'ap1', '%@Am@Aggregate%@Am@Scan%', '(SELECT * FROM ap_heap WHERE x < 50 AND d < ''2024-02-01'') h');
RESET ROLE;
ALTER TABLE ap1 DISABLE ROW LEVEL SECURITY;
REVOKE ALL ON ap1, ap_heap FROM ap_reader;
DROP ROLE ap_reader;
BEGIN;
DECLARE ap_cursor CURSOR FOR SELECT d, count(*) FROM ap GROUP BY d ORDER BY d;
EXPLAIN (COSTS OFF) DECLARE c2 CURSOR FOR SELECT count(*) FROM ap1;
FETCH 2 FROM ap_cursor;
MOVE 100 IN ap_cursor;
FETCH 1 FROM ap_cursor;
COMMIT;

-- rows keep their right to be locked, changed and moved
SELECT count(*) FROM (SELECT * FROM ap WHERE id < 100 ORDER BY id LIMIT 10 FOR UPDATE) s;
UPDATE ap SET d = '2024-01-15', v = v + 1 WHERE id IN (SELECT max(id) FROM ap GROUP BY k);
UPDATE ap_heap SET d = '2024-01-15', v = v + 1 WHERE id IN (SELECT max(id) FROM ap_heap GROUP BY k);
SELECT query, r FROM ap_queries, LATERAL ap_compare(query, 'ap', '%') r WHERE r <> 'same';
DROP VIEW un, ap_view, ap_barrier, ap_heap_view;
DROP TABLE ap, inh, ap_heap, ap_queries CASCADE;
DROP FUNCTION ap_compare, ap_scans;
DROP TABLE ap_sets;
