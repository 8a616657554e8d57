-- Many groups in parallel plans: participants share partitions of groups, or take shares of a key.
CREATE TABLE sh_heap AS SELECT i, i * 7919 % 20011 AS k, CASE WHEN i % 17 <> 0 THEN i * 31 % 9001 END AS i4, (i % 13000)::int8 * 4000000000000 AS i8,
	CASE WHEN i % 13 <> 0 THEN 'text ' || i * 7 % 11003 END AS t, ('b' || i % 9000)::char(8) AS bp, (i % 15013)::numeric(12,2) / 4 AS n,
	CASE i % 40 WHEN 0 THEN NULL WHEN 1 THEN i::numeric * 1e30 ELSE (i % 12000)::numeric / 8 END AS nx, i % 9001 * 0.5::float8 AS f8,
	(i % 11 * 0.25)::float4 AS f4, DATE '2000-01-01' + i % 8000 AS d, i % 3 = 0 AS b, md5((i % 9000)::text)::uuid AS u
FROM generate_series(1, 30000) i;
CREATE TABLE sh (LIKE sh_heap) USING @am@;
SELECT @am@.set_options('sh', row_group_rows => 4096);
INSERT INTO sh SELECT * FROM sh_heap WHERE i <= 29000;
INSERT INTO sh SELECT * FROM sh_heap WHERE i > 29000 AND i <= 29500;
INSERT INTO sh SELECT * FROM sh_heap WHERE i > 29500;
DELETE FROM sh WHERE i % 10 = 3 OR i BETWEEN 9000 AND 9900;
DELETE FROM sh_heap WHERE i % 10 = 3 OR i BETWEEN 9000 AND 9900;
VACUUM ANALYZE sh, sh_heap;

SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET cpu_operator_cost = 0;
SET min_parallel_table_scan_size = 0;
SET work_mem = '32MB';
SET sh.plan = 'by partitions';

-- Rows that one query gives and the other does not; what was planned for ours.  Heap is asked once.
CREATE FUNCTION sh_compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	theirs text := 'sh_' || md5(query);
	differences bigint;
	line text;
	plan text := 'serial';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(query, 'TBL', 'sh') LOOP
		plan := coalesce(substring(line FROM 'Aggregation: (by partitions|by shares of a key|final)'), plan);
	END LOOP;
	EXECUTE 'CREATE TEMP TABLE sh_ours AS ' || replace(query, 'TBL', 'sh');
	IF to_regclass(theirs) IS NULL THEN
		EXECUTE format('CREATE TEMP TABLE %I AS ', theirs) || replace(query, 'TBL', 'sh_heap');
	END IF;
	EXECUTE format('SELECT count(*) FROM (SELECT r FROM (SELECT o::text AS r, 1 AS n FROM sh_ours o
			 UNION ALL SELECT h::text, -1 FROM %I h) c GROUP BY r HAVING sum(n) <> 0) d', theirs) INTO differences;
	DROP TABLE sh_ours;
	RETURN CASE plan WHEN current_setting('sh.plan') THEN '' ELSE plan || ', ' END || CASE differences WHEN 0 THEN 'same' ELSE differences || ' differences' END;
END $$;

EXPLAIN (COSTS OFF) SELECT k, count(*), sum(n) FROM sh GROUP BY k;
EXPLAIN (COSTS OFF) SELECT t, count(*) FROM sh GROUP BY t ORDER BY count(*) DESC, t LIMIT 5;
SET @am@.enable_partitioned_aggregate = off;
SELECT sh_compare('SELECT k, count(*) FROM TBL GROUP BY k');
RESET @am@.enable_partitioned_aggregate;

-- every kind of key with every kind of state; with little memory, too, and without the leader
CREATE TABLE sh_keys (key text);
INSERT INTO sh_keys VALUES ('k'), ('i4'), ('i8'), ('t'), ('bp'), ('n'), ('nx'), ('f8'), ('d'), ('t, b'), ('i4, t, bp'), ('k, f4'), ('upper(t)'), ('u, d');
CREATE FUNCTION sh_compare_keys() RETURNS TABLE (queries bigint, wrong text) LANGUAGE sql AS $$
	SELECT count(*), string_agg(key || ': ' || r, ', ') FILTER (WHERE r <> 'same')
	FROM sh_keys, sh_compare(format('SELECT %s, ROW(count(*), count(t), sum(i4), sum(i4 + 1), avg(i8), min(d), max(d), min(f4), max(f8), sum(f4),
		bool_or(b), sum(n), avg(n), min(n), sum(nx), max(nx), min(nx), count(*) FILTER (WHERE b))::text AS r FROM TBL GROUP BY %1$s', key)) r $$;
SET extra_float_digits = -3;
SELECT * FROM sh_compare_keys();
-- values of DISTINCT and percentiles go on their way, too
SELECT key, sh_compare(format('SELECT ROW(count(DISTINCT i4), count(DISTINCT t), count(DISTINCT n), count(DISTINCT nx) FILTER (WHERE b), count(DISTINCT bp),
		count(DISTINCT u), count(DISTINCT f8), count(DISTINCT i8), sum(n), percentile_disc(0.3) WITHIN GROUP (ORDER BY i8), percentile_cont(0.5) WITHIN GROUP (ORDER BY f8),
		mode() WITHIN GROUP (ORDER BY f4), count(*))::text AS r%s', key))
FROM (VALUES (' FROM TBL'), (', b FROM TBL GROUP BY b'), (', f4, b FROM TBL GROUP BY f4, b'), (', k FROM TBL GROUP BY k'), (', t FROM TBL GROUP BY t'),
	(' FROM TBL WHERE i4 > i + 100000')) v (key);
SELECT key, sh_compare(format('SELECT %s, count(DISTINCT t) AS c FROM TBL GROUP BY %1$s ORDER BY c DESC, 1 LIMIT 10', key)) FROM (VALUES ('k'), ('d')) v (key);
SELECT sh_compare('SELECT sum(DISTINCT i4) FROM TBL');
SELECT sh_compare('SELECT k % 2000 AS m, count(DISTINCT CASE WHEN i % 3 = 0 THEN hashint4(i) ELSE -(k % 7) END) AS c1, count(DISTINCT hashint4(i % 5000)::oid) AS c2 FROM TBL GROUP BY 1');
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT * FROM sh_compare_keys();
SET parallel_leader_participation = off;
SELECT sh_compare('SELECT t, bp, sum(nx) FROM TBL GROUP BY t, bp');
RESET parallel_leader_participation;
RESET work_mem;
RESET hash_mem_multiplier;

-- HAVING, expressions, conditions; no rows at all
SELECT sh_compare('SELECT k * 2, count(*) + 1 AS c FROM TBL WHERE i4 > 500 AND b GROUP BY k HAVING count(*) > 1 AND max(i8) > 0');
SELECT sh_compare('SELECT k, count(*) FROM TBL WHERE i4 > i + 100000 GROUP BY k');
-- the first groups alone
SELECT sh_compare('SELECT k, count(*) AS c FROM TBL GROUP BY k ORDER BY c DESC, k LIMIT 10');
SELECT sh_compare('SELECT t, sum(i4) AS s FROM TBL GROUP BY t ORDER BY s DESC NULLS LAST, t LIMIT 10 OFFSET 3');
SELECT count(*), min(c) FROM (SELECT k, count(*) AS c FROM sh GROUP BY k ORDER BY count(*) DESC LIMIT 12) s;
SELECT count(*) FROM (SELECT k FROM sh GROUP BY k LIMIT 100) s;
-- again and again: partitions are made anew
SET enable_material = off;
EXPLAIN (COSTS OFF) SELECT x, count(*), sum(c) FROM generate_series(1, 3) x LEFT JOIN (SELECT k, count(*) AS c FROM sh GROUP BY k) s ON true GROUP BY x;
SELECT x, count(*), sum(c) FROM generate_series(1, 3) x LEFT JOIN (SELECT k, count(*) AS c FROM sh GROUP BY k) s ON true GROUP BY x ORDER BY x;
SET work_mem = '64kB';
SELECT x, count(*), sum(c) FROM generate_series(1, 3) x LEFT JOIN (SELECT k, count(*) AS c FROM sh GROUP BY k) s ON true GROUP BY x ORDER BY x;
RESET work_mem;
RESET enable_material;
-- a cursor, which no workers help
BEGIN;
DECLARE sh_cursor CURSOR FOR SELECT k, count(*) FROM sh GROUP BY k;
MOVE FORWARD ALL IN sh_cursor;
COMMIT;
-- errors come out of workers
\set VERBOSITY terse
SELECT k, sum(10 / (i4 - 100)) FROM sh GROUP BY k;
\set VERBOSITY default

-- Each participant reads all rows, and groups those of its share of a key: where states of groups cost much.
SET cpu_operator_cost = 1;
SET sh.plan = 'by shares of a key';
EXPLAIN (COSTS OFF) SELECT k, count(*), sum(n) FROM sh GROUP BY k;
EXPLAIN (COSTS OFF) SELECT t, count(*) FROM sh GROUP BY t ORDER BY count(*) DESC, t LIMIT 5;
-- an expression is no such key: it would be computed by all for all rows
EXPLAIN (COSTS OFF) SELECT upper(t), count(*) FROM sh GROUP BY 1;
DELETE FROM sh_keys WHERE key = 'upper(t)';
SELECT * FROM sh_compare_keys();
SET parallel_leader_participation = off;
SELECT * FROM sh_compare_keys();
RESET parallel_leader_participation;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT * FROM sh_compare_keys();
RESET work_mem;
RESET hash_mem_multiplier;
-- states need not be put together, so any aggregate will do, and columns that the keys determine
SELECT key, sh_compare(format('SELECT %s, ROW(array_length(array_agg(i4), 1), min(t), max(bp), count(DISTINCT n), sum(DISTINCT i4))::text AS r FROM TBL GROUP BY %1$s', key))
FROM (VALUES ('k'), ('t, b'), ('bp')) v (key);
SELECT sh_compare('SELECT k, ROW(min(t), max(t COLLATE "C"), max(u::text), min(bp), bool_and(b), bit_or(i4))::text AS r FROM TBL GROUP BY k');
SELECT sh_compare('SELECT k * 2, count(*) + 1 AS c FROM TBL WHERE i4 > 500 AND b GROUP BY k HAVING count(*) > 1 AND max(i8) > 0');
SELECT sh_compare('SELECT k, count(*) FROM TBL WHERE i4 > i + 100000 GROUP BY k');
SELECT sh_compare('SELECT k, count(*) AS c FROM TBL GROUP BY k ORDER BY c DESC, k LIMIT 10');
SELECT sh_compare('SELECT t, sum(i4) AS s FROM TBL GROUP BY t ORDER BY s DESC NULLS LAST, t LIMIT 10 OFFSET 3');
SELECT count(*) FROM (SELECT k FROM sh GROUP BY k LIMIT 100) s;
ALTER TABLE sh ADD PRIMARY KEY (i);
ALTER TABLE sh_heap ADD PRIMARY KEY (i);
SELECT sh_compare('SELECT i, t, n, bp, count(*) FROM TBL GROUP BY i');
-- without workers there is one share of all rows; again and again
SET max_parallel_workers = 0;
SELECT sh_compare('SELECT t, bp, sum(nx) FROM TBL GROUP BY t, bp');
RESET max_parallel_workers;
SET enable_material = off;
SELECT x, count(*), sum(c) FROM generate_series(1, 3) x LEFT JOIN (SELECT k, count(*) AS c FROM sh GROUP BY k) s ON true GROUP BY x ORDER BY x;
RESET enable_material;
BEGIN;
DECLARE sh_cursor CURSOR FOR SELECT k, count(*) FROM sh GROUP BY k;
MOVE FORWARD ALL IN sh_cursor;
COMMIT;
\set VERBOSITY terse
SELECT k, sum(10 / (i4 - 100)) FROM sh GROUP BY k;
\set VERBOSITY default
-- states of the server's aggregates are combined, where they are values
SET cpu_operator_cost = 0;
SET sh.plan = 'final';
SELECT sh_compare('SELECT f4, ROW(min(t), max(t COLLATE "C"), max(u::text), min(bp), bool_and(b), max(t) FILTER (WHERE i < 0))::text AS r FROM TBL GROUP BY f4');
SELECT sh_compare('SELECT ROW(min(t), max(u::text), min(bp), max(t) FILTER (WHERE i < 0))::text AS r FROM TBL');
SET sh.plan = 'by partitions';
SET work_mem = '64kB';
SELECT sh_compare('SELECT k, ROW(min(t), max(u::text), min(bp), max(t) FILTER (WHERE b))::text AS r FROM TBL GROUP BY k');
RESET work_mem;

DROP TABLE sh, sh_heap, sh_keys;
DROP FUNCTION sh_compare, sh_compare_keys;
