-- Many groups in parallel plans: participants share partitions of groups, or take shares of a key.
CREATE TABLE sh_heap AS SELECT i, i * 7919 % 20011 AS k, CASE WHEN i % 17 <> 0 THEN i * 31 % 9001 END AS i4, (i % 13000)::int8 * 4000000000000 AS i8,
	CASE WHEN i % 13 <> 0 THEN 'text ' || i * 7 % 11003 END AS t, ('b' || i % 9000)::char(8) AS bp, (i % 15013)::numeric(12,2) / 4 AS n,
	CASE i % 40 WHEN 0 THEN NULL WHEN 1 THEN i::numeric * 1e30 ELSE (i % 12000)::numeric / 8 END AS nx, i % 9001 * 0.5::float8 AS f8,
	(i % 11 * 0.25)::float4 AS f4, 's' || i * 7 % 900 + i / 4096 * 300 AS s, CASE WHEN i % 10 <> 0 THEN 0 ELSE i END AS z, DATE '2000-01-01' + i % 8000 AS d, i % 3 = 0 AS b, md5((i % 9000)::text)::uuid AS u
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
INSERT INTO sh_keys VALUES ('k'), ('i4'), ('i8'), ('t'), ('bp'), ('n'), ('nx'), ('f8'), ('d'), ('t, b'), ('i4, t, bp'), ('k, f4'), ('upper(t)'), ('u, d'), ('s');
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

-- HAVING, expressions, conditions; no rows at all; the first groups alone
CREATE TABLE sh_queries (query text);
INSERT INTO sh_queries VALUES ('SELECT k * 2, count(*) + 1 AS c FROM TBL WHERE i4 > 500 AND b GROUP BY k HAVING count(*) > 1 AND max(i8) > 0'),
	('SELECT k, count(*) FROM TBL WHERE i4 > i + 100000 GROUP BY k'),
	('SELECT k, count(*) AS c FROM TBL GROUP BY k ORDER BY c DESC, k LIMIT 10'),
	('SELECT t, sum(i4) AS s FROM TBL GROUP BY t ORDER BY s DESC NULLS LAST, t LIMIT 10 OFFSET 3');
CREATE FUNCTION sh_compare_queries() RETURNS TABLE (queries bigint, wrong text) LANGUAGE sql AS $$
	SELECT count(*), string_agg(query || ': ' || r, ', ') FILTER (WHERE r <> 'same') FROM sh_queries, sh_compare(query) r $$;
SELECT * FROM sh_compare_queries();
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
-- the key whose most common value has least of the rows; not one that conditions leave out
CREATE FUNCTION sh_share_key(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		IF line ~ 'Share Key' THEN
			RETURN substring(line FROM 'Share Key: (.*)');
		END IF;
	END LOOP;
	RETURN 'none';
END $$;
SELECT key, sh_share_key(format('SELECT b, z, count(*), sum(n), avg(i8), sum(nx), count(DISTINCT i) FROM sh WHERE %s GROUP BY b, z', key)) FROM (VALUES ('true'), ('z <> 0')) v (key);
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
ALTER TABLE sh ADD PRIMARY KEY (i);
ALTER TABLE sh_heap ADD PRIMARY KEY (i);
INSERT INTO sh_queries VALUES ('SELECT i, t, n, bp, count(*) FROM TBL GROUP BY i');
SELECT * FROM sh_compare_queries();
SELECT count(*) FROM (SELECT k FROM sh GROUP BY k LIMIT 100) s;
-- without workers the leader takes one share after another, and reads all rows for each
SET max_parallel_workers = 0;
SELECT * FROM sh_compare_keys();
SELECT * FROM sh_compare_queries();
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT * FROM sh_compare_keys();
RESET work_mem;
RESET hash_mem_multiplier;
CREATE FUNCTION sh_shares(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	nrows bigint;
	loops text;
	found bigint;
BEGIN
	EXECUTE 'SELECT count(*) FROM sh' INTO nrows;
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		loops := coalesce(substring(line FROM 'Scan\) on sh .*loops=(\d+)'), loops);
		found := coalesce(substring(line FROM 'Rows Of Largest Share: (\d+)')::bigint, found);
	END LOOP;
	RETURN loops || ' shares, the largest of ' || CASE WHEN found BETWEEN nrows / 3 AND nrows * 0.4 THEN 'a third' ELSE found || ' rows' END;
END $$;
SELECT key, sh_shares(format('SELECT %s, count(*), sum(n), avg(i8), sum(nx), count(DISTINCT i) FROM sh GROUP BY %1$s', key)) FROM (VALUES ('k'), ('t'), ('s'), ('n')) v (key);
RESET max_parallel_workers;
SET enable_material = off;
SELECT x, count(*), sum(c) FROM generate_series(1, 3) x LEFT JOIN (SELECT k, count(*) AS c FROM sh GROUP BY k) s ON true GROUP BY x ORDER BY x;
RESET enable_material;
-- in a loop over its rows there are no workers, and one share of all rows
CREATE FUNCTION sh_loop() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record;
	ngroups bigint := 0;
	nrows bigint := 0;
BEGIN
	FOR r IN SELECT k, count(*) AS c FROM sh GROUP BY k LOOP
		ngroups := ngroups + 1;
		nrows := nrows + r.c;
	END LOOP;
	RETURN ngroups || ' groups of ' || nrows;
END $$;
SELECT sh_loop() = (SELECT count(DISTINCT k) || ' groups of ' || count(*) FROM sh_heap) AS same;
\set VERBOSITY terse
SELECT k, sum(10 / (i4 - 100)) FROM sh GROUP BY k;
\set VERBOSITY default
-- of partitions, too
CREATE TABLE sh_parts (LIKE sh_heap) PARTITION BY HASH (k);
CREATE TABLE sh_part0 PARTITION OF sh_parts FOR VALUES WITH (MODULUS 2, REMAINDER 0) USING @am@;
CREATE TABLE sh_part1 PARTITION OF sh_parts FOR VALUES WITH (MODULUS 2, REMAINDER 1) USING @am@;
INSERT INTO sh_parts SELECT * FROM sh_heap;
ANALYZE sh_parts;
SET enable_partitionwise_aggregate = on;
EXPLAIN (COSTS OFF) SELECT k, array_agg(i) FROM sh_parts GROUP BY k;
(SELECT k, cardinality(array_agg(i)), min(t) FROM sh_parts GROUP BY k) EXCEPT ALL SELECT k, cardinality(array_agg(i)), min(t) FROM sh_heap GROUP BY k;
SELECT count(*) = (SELECT count(DISTINCT k) FROM sh_heap) AS same FROM (SELECT k, array_agg(i) FROM sh_parts GROUP BY k) s;
RESET enable_partitionwise_aggregate;
DROP TABLE sh_parts;
-- workers cost four times what the setting says: a quarter of the serial cost is too much, a fiftieth is not
CREATE FUNCTION sh_is_parallel(share float8) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	SET LOCAL cpu_operator_cost = 0.0025;
	SET LOCAL max_parallel_workers_per_gather = 0;
	EXECUTE 'EXPLAIN (FORMAT JSON) SELECT count(*) FROM sh WHERE i4 > 500' INTO plan;
	PERFORM set_config('parallel_setup_cost', ((plan->0->'Plan'->>'Total Cost')::float8 * share)::text, true);
	SET LOCAL max_parallel_workers_per_gather = 2;
	EXECUTE 'EXPLAIN (FORMAT JSON) SELECT count(*) FROM sh WHERE i4 > 500' INTO plan;
	RETURN plan::text ~ 'Gather';
END $$;
SELECT sh_is_parallel(0.25), sh_is_parallel(0.02);
-- states of the server's aggregates are combined, where they are values
SET cpu_operator_cost = 0;
SET sh.plan = 'final';
CREATE FUNCTION sh_add(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT coalesce($1, 0) + coalesce($2, 0)';
CREATE AGGREGATE sh_number("any") (SFUNC = int8inc_any, STYPE = bigint, INITCOND = '0', COMBINEFUNC = sh_add, PARALLEL = SAFE);
CREATE AGGREGATE sh_last(text) (SFUNC = text_larger, STYPE = text, COMBINEFUNC = text_larger, PARALLEL = SAFE);
SELECT sh_compare('SELECT f4, ROW(sh_number(t), sh_number(i4) FILTER (WHERE b), sh_last(t), bit_or(i4), max(d - DATE ''2000-01-01'' + 1), max((d - DATE ''2000-01-01'') * interval ''1 hour''))::text AS r FROM TBL GROUP BY f4');
SELECT sh_compare('SELECT ROW(sh_number(t), sh_last(t), sh_number(t) FILTER (WHERE i < 0), max(i4 * interval ''1 s''))::text AS r FROM TBL');
-- the owner of an aggregate needs the right to its functions; to that which combines, where it is called
CREATE ROLE sh_owner;
GRANT CREATE ON SCHEMA public TO sh_owner;
ALTER AGGREGATE sh_number("any") OWNER TO sh_owner;
REVOKE EXECUTE ON FUNCTION sh_add FROM public;
SELECT sh_number(t) FROM sh;
SET max_parallel_workers_per_gather = 0;
SELECT sh_number(t) = count(t) AS same FROM sh;
SET max_parallel_workers_per_gather = 2;
DROP AGGREGATE sh_number("any"), sh_last(text);
DROP FUNCTION sh_add;
REVOKE CREATE ON SCHEMA public FROM sh_owner;
DROP ROLE sh_owner;
SELECT sh_compare('SELECT f4, ROW(min(t), max(t COLLATE "C"), max(u::text), min(bp), bool_and(b), max(t) FILTER (WHERE i < 0))::text AS r FROM TBL GROUP BY f4');
SELECT sh_compare('SELECT ROW(min(t), max(u::text), min(bp), max(t) FILTER (WHERE i < 0))::text AS r FROM TBL');
SET sh.plan = 'by partitions';
SET work_mem = '64kB';
SELECT sh_compare('SELECT k, ROW(min(t), max(u::text), min(bp), max(t) FILTER (WHERE b))::text AS r FROM TBL GROUP BY k');
RESET work_mem;

DROP TABLE sh, sh_heap, sh_keys, sh_queries;
DROP FUNCTION sh_compare, sh_compare_keys, sh_compare_queries, sh_share_key, sh_shares, sh_loop, sh_is_parallel;
