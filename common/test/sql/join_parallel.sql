-- Hash joins of vectors in parallel plans: each participant joins its share of
-- the probe side's rows to a table of its own.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET enable_parallel_hash = off;
SET work_mem = '32MB';

CREATE TABLE jp_heap AS SELECT i AS id, CASE WHEN i % 11 <> 0 THEN i % 700 END AS k, (i % 100)::smallint AS k2,
	CASE WHEN i % 13 <> 0 THEN 'k' || i % 90 END AS t, CASE i % 5 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN NULL WHEN 2 THEN 1.0 WHEN 3 THEN 1.00 ELSE i % 30 END AS n,
	date '2024-01-01' + i % 60 AS d, i * 0.25 AS v
FROM generate_series(1, 20000) i;
CREATE TABLE jp (LIKE jp_heap) USING @am@;
SELECT @am@.set_options('jp', row_group_rows => 2048);
INSERT INTO jp SELECT * FROM jp_heap WHERE id <= 19500;
INSERT INTO jp SELECT * FROM jp_heap WHERE id > 19500;
DELETE FROM jp WHERE id % 40 = 3;
DELETE FROM jp_heap WHERE id % 40 = 3;
-- the other side; duplicates, nulls, keys that jp lacks; b is unique
CREATE TABLE jo_heap AS SELECT i AS b, CASE WHEN i % 9 <> 0 THEN i % 250 * 3 END AS k, i % 120 AS k2, 'k' || i % 100 AS t,
	CASE i % 4 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN NULL WHEN 2 THEN 1 ELSE i % 25 END AS n, date '2024-01-20' + i % 70 AS d,
	CASE WHEN i % 8 <> 0 THEN 'label ' || i % 30 END AS label, i * 1.5 AS amount
FROM generate_series(1, 900) i;
CREATE TABLE jo (LIKE jo_heap) USING @am@;
INSERT INTO jo SELECT * FROM jo_heap;
VACUUM ANALYZE jp, jp_heap, jo, jo_heap;

-- Rows that one query gives and the other does not (TBL, OTH); which joins (builds: and which shared builds) and which aggregation were planned for ours.
CREATE FUNCTION jp_compare(query text, other text DEFAULT 'jo_heap', builds bool DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	aggregation text := '';
	kinds text[] := '{}';
	nrows bigint;
	differences bigint;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(replace(query, 'OTH', other), 'TBL', 'jp') LOOP
		aggregation := coalesce(', ' || substring(line FROM 'Aggregation: (by partitions|final)'), aggregation);
		kinds := kinds || CASE WHEN line ~ 'Parallel.*\(@Am@Join\)' THEN 'parallel' WHEN builds AND line ~ 'Build: shared' THEN 'shared' WHEN line ~ '\(@Am@Join\)' THEN 'serial' WHEN line ~ 'Hash.*Join$' THEN 'rows' END;
	END LOOP;
	EXECUTE 'CREATE TEMP TABLE jp_ours AS ' || replace(replace(query, 'OTH', other), 'TBL', 'jp');
	GET DIAGNOSTICS nrows = ROW_COUNT;
	EXECUTE 'CREATE TEMP TABLE jp_theirs AS ' || replace(replace(query, 'OTH', CASE WHEN other LIKE 'js%' THEN 'js_heap' ELSE 'jo_heap' END), 'TBL', 'jp_heap');
	EXECUTE 'SELECT count(*) FROM (SELECT r FROM (SELECT o::text AS r, 1 AS n FROM jp_ours o
			 UNION ALL SELECT h::text, -1 FROM jp_theirs h) c GROUP BY r HAVING sum(n) <> 0) d' INTO differences;
	DROP TABLE jp_ours, jp_theirs;
	RETURN format('%s rows, %s: %s%s', nrows, CASE differences WHEN 0 THEN 'same' ELSE differences || ' differences' END,
				  array_to_string(array_remove(kinds, NULL), ' '), aggregation);
END $$;

-- an aggregate over a join over a join, on all cores; rows; partitions of many groups
EXPLAIN (COSTS OFF) SELECT b.label, c.n, sum(a.v * b.amount) FROM jp a JOIN jo_heap b ON a.k = b.k LEFT JOIN jo c ON a.d = c.d AND a.k > c.k2
	WHERE b.amount > 5 GROUP BY 1, 2;
EXPLAIN (COSTS OFF) SELECT a.id, b.label FROM jp a JOIN jo b ON a.k = b.b;
SET cpu_operator_cost = 0;
EXPLAIN (COSTS OFF) SELECT a.id, count(*), sum(b.amount) FROM jp a JOIN jo b ON a.k = b.b GROUP BY 1;
RESET cpu_operator_cost;

-- kinds of joins, of keys, and of conditions beside; RIGHT and FULL would return rows of the build side more than once
SELECT kind, key, more, jp_compare(format('SELECT a.id, a.t, a.n, b.label, b.amount, b.d FROM TBL a %s JOIN OTH b ON %s %s', kind, key, more), other)
FROM (VALUES ('INNER'), ('LEFT')) j (kind), (VALUES ('a.k = b.k'), ('a.k = b.b'), ('a.t = b.t AND a.k2 = b.k2'), ('a.n = b.n AND a.k2 = b.k2'), ('a.k + 1 = b.k - 2')) k (key),
	(VALUES (''), ('AND a.d < b.d')) m (more), (VALUES ('jo'), ('jo_heap')) o (other)
WHERE other = 'jo' OR more = '' ORDER BY 1, 2, 3, other;
SELECT neg, key, more, jp_compare(format('SELECT a.id, a.t FROM TBL a WHERE %s EXISTS (SELECT FROM OTH b WHERE %s %s)', neg, key, more))
FROM (VALUES (''), ('NOT')) j (neg), (VALUES ('a.k = b.k'), ('a.t = b.t AND a.k2 = b.k2'), ('a.n = b.n')) k (key),
	(VALUES (''), ('AND a.d < b.d')) m (more) ORDER BY 1, 2, 3;
SELECT kind, r LIKE '%same%' AS same, r LIKE '%parallel%' AS parallel
FROM (VALUES ('RIGHT'), ('FULL')) j (kind), jp_compare(format('SELECT a.id, b.label, b.b FROM TBL a %s JOIN (SELECT * FROM OTH WHERE b %% 3 = 0) b ON a.k = b.k AND a.k2 > 90', kind), 'jo') r ORDER BY 1;

-- aggregation above
SELECT jp_compare('SELECT b.label, count(*), sum(a.v), avg(a.v * b.amount), max(a.id), min(b.b) FROM TBL a JOIN OTH b ON a.k = b.k GROUP BY 1');
SELECT jp_compare('SELECT count(*), sum(a.v), max(b.amount) FILTER (WHERE b.amount > 100) FROM TBL a LEFT JOIN OTH b ON a.k = b.b');
SELECT jp_compare('SELECT a.t, b.t AS u, sum(a.k), count(c.b) FROM TBL a JOIN OTH b ON a.k = b.b LEFT JOIN OTH c ON c.b = a.id AND c.k2 < 50 GROUP BY 1, 2 HAVING count(*) > 10', 'jo');
SELECT jp_compare('SELECT DISTINCT a.k2, b.label FROM TBL a JOIN OTH b ON a.k = b.k');
SELECT jp_compare('SELECT b.label, count(DISTINCT a.t), string_agg(a.t, '','' ORDER BY a.id) FROM TBL a JOIN OTH b ON a.k = b.b GROUP BY 1');
SELECT jp_compare('SELECT s.x, b.label FROM (SELECT k, count(*) AS x FROM TBL GROUP BY k) s JOIN OTH b ON s.k = b.k');
SELECT jp_compare('SELECT count(*) FROM TBL a LEFT JOIN OTH b ON a.k = b.k WHERE b.k IS NULL');
SELECT jp_compare('SELECT a.id, b.b FROM TBL a LEFT JOIN OTH b ON a.k = b.b WHERE coalesce(b.amount, 1) < 300');
SELECT jp_compare('SELECT count(*), sum(e.v) FROM TBL a JOIN TBL e ON a.id = e.id + 1 JOIN OTH b ON b.b = e.k');
SELECT jp_compare('SELECT a.k2, sum(a.v) FROM TBL a WHERE a.k2 NOT IN (SELECT k2 FROM OTH WHERE b < 40) AND EXISTS (SELECT FROM OTH b WHERE b.b = a.k) GROUP BY 1');
SET cpu_operator_cost = 0;
SELECT jp_compare('SELECT a.id, b.label, count(*), sum(a.v + b.amount) FROM TBL a LEFT JOIN OTH b ON a.k = b.k GROUP BY 1, 2');
SELECT jp_compare('SELECT a.id, count(*) AS c, sum(b.b) FROM TBL a JOIN OTH b ON a.k = b.k GROUP BY 1 ORDER BY c DESC, a.id LIMIT 10');
RESET cpu_operator_cost;
-- nothing on one side
SELECT jp_compare('SELECT a.id, b.b FROM TBL a JOIN (SELECT * FROM OTH WHERE b < 0) b ON a.k = b.k');
SELECT jp_compare('SELECT a.id, b.b FROM TBL a LEFT JOIN (SELECT * FROM OTH WHERE b < 0) b ON a.k = b.k');
SELECT jp_compare('SELECT count(*), sum(a.v) FROM (SELECT * FROM TBL WHERE id < 0) a JOIN OTH b ON a.k = b.k');

-- what EXPLAIN ANALYZE counts, of all participants; the build side's rows by participant, or where they share them of all
CREATE FUNCTION jp_counts(query text) RETURNS TABLE (launched bigint, shared bool, build bigint, probe bigint, unmatched bigint, on_disk bool) LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
	node jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
	launched := jsonb_path_query_first(plan, '$.**."Workers Launched"');
	node := jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == "@Am@Join")');
	shared := node ? 'Build';
	build := (node ->> 'Build Rows')::bigint / CASE WHEN shared THEN 1 ELSE launched + current_setting('parallel_leader_participation')::bool::int END;
	probe := node -> 'Probe Rows';
	unmatched := node -> 'Probe Rows Without Match';
	on_disk := (node ->> 'Parts On Disk')::int > 0;
	RETURN NEXT;
END $$;
SET @am@.enable_join_filter = off;
SELECT count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT FROM jo_heap b WHERE b.k = a.k)) FROM jp_heap a;
SELECT * FROM jp_counts('SELECT count(*), sum(b.amount) FROM jp a JOIN jo_heap b ON a.k = b.k');
SELECT * FROM jp_counts('SELECT a.id, b.amount FROM jp a JOIN jo b ON a.k = b.k');
SET parallel_leader_participation = off;
SELECT * FROM jp_counts('SELECT count(*), sum(b.amount) FROM jp a JOIN jo_heap b ON a.k = b.k');
RESET @am@.enable_join_filter;
-- without the leader
SELECT kind, jp_compare(format('SELECT a.id, a.t, b.label FROM TBL a %s JOIN OTH b ON a.k = b.k AND a.d < b.d', kind), 'jo') FROM (VALUES ('INNER'), ('LEFT')) j (kind) ORDER BY 1;
SELECT jp_compare('SELECT b.label, count(*), sum(a.v) FROM TBL a JOIN OTH b ON a.k = b.k WHERE NOT EXISTS (SELECT FROM OTH c WHERE c.b = a.id) GROUP BY 1');
RESET parallel_leader_participation;

-- each worker's table says what its scan need not read
SELECT jp_compare('SELECT b.label, count(*), sum(a.v) FROM TBL a JOIN (SELECT * FROM OTH WHERE b BETWEEN 100 AND 120) b ON a.id = b.b GROUP BY 1');
SELECT jp_compare('SELECT b.label, c.label AS l, count(*) FROM TBL a JOIN (SELECT * FROM OTH WHERE b < 70) b ON a.k = b.b
	JOIN (SELECT * FROM OTH WHERE b < 30) c ON a.t = c.t GROUP BY 1, 2', 'jo');
SELECT probe FROM jp_counts('SELECT sum(a.v) FROM jp a JOIN (SELECT * FROM jo WHERE b BETWEEN 100 AND 120) b ON a.id = b.b');

-- on disk: every participant has parts of its own (a function whose rows the planner takes for ten)
CREATE FUNCTION jl(b OUT int, t OUT text, w OUT text) RETURNS SETOF record ROWS 10 STABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT CASE WHEN i % 50 <> 0 THEN i % 6000 END, 'k' || i % 90, repeat('w', i % 50) FROM generate_series(1, 9000) i;
END $$;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT on_disk FROM jp_counts('SELECT count(*), sum(length(b.w)) FROM jp a JOIN jl() b ON a.id = b.b');
SELECT kind, jp_compare(format('SELECT a.id, a.t, b.w, b.t AS bt FROM TBL a %s JOIN jl() b ON a.id = b.b', kind)) FROM (VALUES ('INNER'), ('LEFT')) j (kind) ORDER BY 1;
SELECT neg, jp_compare(format('SELECT a.id, a.n FROM TBL a WHERE %s EXISTS (SELECT FROM jl() b WHERE a.id = b.b AND a.t <> b.t)', neg)) FROM (VALUES (''), ('NOT')) j (neg) ORDER BY 1;
SELECT jp_compare('SELECT a.t, count(*), sum(length(b.w)) FROM TBL a JOIN jl() b ON a.id = b.b JOIN OTH c ON c.b = a.k GROUP BY 1', 'jo');
SET parallel_leader_participation = off;
SELECT jp_compare('SELECT a.t, count(*), sum(length(b.w)) FROM TBL a LEFT JOIN jl() b ON a.id = b.b GROUP BY 1');
RESET parallel_leader_participation;

-- again and again, on disk and in memory
SET enable_material = off;
SELECT jp_compare('SELECT x, s.* FROM generate_series(1, 3) x LEFT JOIN (SELECT a.t, b.t AS u, count(*), sum(length(b.w)) FROM TBL a JOIN jl() b ON a.id = b.b
	WHERE a.id < 5000 GROUP BY 1, 2) s ON true');
SELECT jp_compare('SELECT x, s.* FROM generate_series(1, 3) x LEFT JOIN (SELECT a.id, b.w FROM TBL a JOIN jl() b ON a.id = b.b WHERE a.id < 900) s ON true');
SELECT jp_compare('SELECT x, s.* FROM generate_series(1, 3) x LEFT JOIN (SELECT count(*), sum(length(b.w)), max(a.v) FROM TBL a JOIN jl() b ON a.id = b.b) s ON true');
SET work_mem = '32MB';
SELECT jp_compare('SELECT x, s.* FROM generate_series(1, 3) x LEFT JOIN (SELECT a.t, b.t AS u, count(*), sum(length(b.w)) FROM TBL a JOIN jl() b ON a.id = b.b
	WHERE a.id < 5000 GROUP BY 1, 2) s ON true');
SELECT jp_compare('SELECT x, s.* FROM generate_series(1, 3) x LEFT JOIN (SELECT a.id, b.w FROM TBL a JOIN jl() b ON a.id = b.b WHERE a.id < 900) s ON true');
SELECT jp_compare('SELECT x, s.* FROM generate_series(1, 3) x LEFT JOIN (SELECT count(*), sum(length(b.w)), max(a.v) FROM TBL a JOIN jl() b ON a.id = b.b) s ON true');
RESET enable_material;
RESET hash_mem_multiplier;
-- parameters that are known before workers start, and those of an outer row
SELECT jp_compare('SELECT count(*), sum(a.v) FROM TBL a JOIN OTH b ON a.k = b.b + (SELECT min(b) FROM jo_heap) AND a.k2 < (SELECT max(k2) - 100 FROM jo_heap) + b.k2
	WHERE a.id > (SELECT min(b) + 10 FROM jo_heap) AND b.k2 <> (SELECT min(k2) FROM jo_heap)');
SELECT jp_compare('SELECT g, (SELECT sum(a.v + b.amount) FROM TBL a JOIN OTH b ON a.k = b.b WHERE b.k2 = g) FROM generate_series(1, 5) g');
SELECT jp_compare('SELECT g, s.* FROM generate_series(1, 4) g, LATERAL (SELECT count(*), sum(a.k2 + g) FROM TBL a JOIN OTH b ON a.k = b.b) s');
PREPARE jp_below (int) AS SELECT count(*), sum(b.amount) FROM jp a JOIN jo b ON a.k = b.k AND b.k2 < $1 WHERE a.k2 < $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE jp_below (50);
SELECT count(*), sum(b.amount) FROM jp_heap a JOIN jo_heap b ON a.k = b.k AND b.k2 < 50 WHERE a.k2 < 50;
EXECUTE jp_below (3);
SELECT count(*), sum(b.amount) FROM jp_heap a JOIN jo_heap b ON a.k = b.k AND b.k2 < 3 WHERE a.k2 < 3;
RESET plan_cache_mode;
DEALLOCATE jp_below;
-- an early end; a cursor, which no workers help
SELECT count(*) FROM (SELECT a.id, b.label FROM jp a JOIN jo b ON a.k = b.k LIMIT 100) s;
BEGIN;
DECLARE jp_cursor CURSOR FOR SELECT count(*), sum(a.v) FROM jp a JOIN jo b ON a.k = b.b;
FETCH jp_cursor;
SELECT count(*), sum(a.v) FROM jp_heap a JOIN jo_heap b ON a.k = b.b;
COMMIT;
-- a function that workers must not call; an error in a worker
CREATE FUNCTION jp_leader(int) RETURNS int IMMUTABLE PARALLEL RESTRICTED LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
SELECT jp_compare('SELECT count(*), sum(a.v) FROM TBL a JOIN OTH b ON a.k = b.b AND jp_leader(a.k2) < b.k2');
SELECT jp_compare('SELECT count(*), sum(jp_leader(a.k2)) FROM TBL a JOIN OTH b ON a.k = b.b');
CREATE FUNCTION jp_error(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;
SET parallel_leader_participation = off;
SELECT jp_error('SELECT count(*) FROM jp a JOIN jo b ON a.k = b.k AND b.b / (a.k - 300) >= 0');
RESET parallel_leader_participation;
-- Shared builds: each participant reads its share of the build side, where a condition makes reading it dear.
-- Values of all forms; mixed scales and a few long values only in some rows.
CREATE COLLATION jp_nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE js_heap AS SELECT i AS b, CASE WHEN i % 9 <> 0 THEN i % 250 * 3 END AS k, (i % 120)::bigint AS k2, CASE WHEN i % 17 <> 0 THEN 'k' || i % 100 END AS t,
	(CASE WHEN i % 2 = 0 THEN 'k' ELSE 'K' END || i % 100)::text COLLATE jp_nocase AS c, CASE i % 4 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN NULL WHEN 2 THEN 1 ELSE i % 25 END AS n,
	date '2024-01-20' + i % 70 AS d, CASE WHEN i % 8 <> 0 THEN 'label ' || i % 30 END AS label, i * 1.50 AS amount,
	CASE WHEN i < 1000 THEN i / 4.0 WHEN i % 3 = 0 THEN 1e30 + i END AS mixed, (CASE i % 5 WHEN 0 THEN '-0' WHEN 1 THEN 'NaN' WHEN 2 THEN NULL ELSE i * 1.25 END)::real AS f,
	(CASE i % 5 WHEN 3 THEN '-0' WHEN 1 THEN '-Infinity' WHEN 2 THEN NULL ELSE i / 7.0 END)::float8 AS g, i % 3 = 0 AS flag, repeat(i || 'w', 1 + i % 40) AS w,
	('n' || i % 7)::name AS name, i * interval '1 hour' AS span, CASE WHEN i % 6 <> 0 THEN ARRAY[i, i % 5] END AS list, NULL::int AS nothing,
	CASE WHEN i % 400 = 1 THEN repeat('large' || i, 2000) END AS large
FROM generate_series(1, 2000) i;
CREATE TABLE js (LIKE js_heap) USING @am@;
SELECT @am@.set_options('js', row_group_rows => 1024);
INSERT INTO js SELECT * FROM js_heap WHERE b <= 1900;
INSERT INTO js SELECT * FROM js_heap WHERE b > 1900;
VACUUM ANALYZE js, js_heap;
SET cpu_operator_cost = 1;
CREATE FUNCTION js_compare(query text, other text) RETURNS text LANGUAGE sql AS 'SELECT jp_compare(query, other, true)';
EXPLAIN (COSTS OFF) SELECT a.id, b.label FROM jp a JOIN js b ON a.k = b.k WHERE b.b % 10 <> 7;
EXPLAIN (COSTS OFF) SELECT a.id, b.label FROM jp a LEFT JOIN (SELECT b.k, c.label FROM js_heap b JOIN js c ON b.b = c.b WHERE b.b % 10 <> 7) b ON a.k = b.k;
SELECT kind, key, other, js_compare(format('SELECT a.id, a.t AS at, a.n AS an, b.* FROM TBL a %s JOIN (SELECT * FROM OTH WHERE b %% 10 <> 7) b ON %s', kind, key), other)
FROM (VALUES ('INNER'), ('LEFT')) j (kind), (VALUES ('js'), ('js_heap')) o (other), (VALUES ('a.id = b.b'), ('a.k = b.k AND a.k2 = b.k2'), ('a.t = b.t AND a.k2 = b.k2 AND a.d < b.d'), ('a.n = b.n AND a.id = b.k'),
	('a.k + 1 = b.k - 2 AND a.d = b.d AND a.t <> b.t'), ('a.t = b.c AND a.k2 = b.k2')) k (key) ORDER BY 1, 2, 3;
SELECT neg, key, js_compare(format('SELECT a.id, a.t FROM TBL a WHERE %s EXISTS (SELECT FROM OTH b WHERE %s AND b.b %% 10 <> 7)', neg, key), 'js')
FROM (VALUES (''), ('NOT')) j (neg), (VALUES ('a.k = b.k'), ('a.t = b.t AND a.k2 = b.k2 AND a.d < b.d'), ('a.n = b.n'), ('a.t = b.c AND a.k2 = b.k2')) k (key) ORDER BY 1, 2;
-- of few rows and columns, and of none
SELECT js_compare('SELECT count(*), sum(a.v) FROM TBL a JOIN (SELECT * FROM OTH WHERE b % 1000 = 7) b ON a.k = b.b', 'js');
SELECT js_compare('SELECT count(*), sum(a.v) FROM TBL a LEFT JOIN (SELECT * FROM OTH WHERE b % 10 = 11) b ON a.k = b.b', other) FROM (VALUES ('js'), ('js_heap')) o (other);
SELECT js_compare('SELECT count(*), sum(a.v) FROM TBL a JOIN (SELECT * FROM OTH WHERE b % 10 = 11) b ON a.k = b.b', 'js');
-- joins on both sides, filters of scans, aggregation and an end above
CREATE VIEW jp_shared AS SELECT 'SELECT b.label, c.name, count(*), sum(a.v * c.amount), max(c.large) FROM TBL a JOIN (SELECT b.k, b.b, c.label FROM OTH b JOIN OTH c ON b.b = c.b WHERE b.b % 10 <> 7 AND c.b % 9 <> 2) b ON a.k = b.k
	JOIN (SELECT * FROM OTH WHERE b % 11 <> 3) c ON a.id = c.b GROUP BY 1, 2' AS query;
SELECT js_compare(query, 'js'), js_compare(query, 'js_heap') FROM jp_shared;
SELECT js_compare('SELECT sum(a.v), count(b.w) FROM TBL a JOIN (SELECT * FROM OTH WHERE b BETWEEN 100 AND 120 AND b % 10 <> 7) b ON a.id = b.b', 'js');
SELECT js_compare('SELECT a.id, b.label, count(*), sum(b.amount) FROM TBL a LEFT JOIN (SELECT * FROM OTH WHERE b % 10 <> 7) b ON a.k = b.k GROUP BY 1, 2', 'js');
SELECT count(*) FROM (SELECT a.id, b.label FROM jp a JOIN (SELECT * FROM js WHERE b % 10 <> 7) b ON a.k = b.k LIMIT 100) s;
SELECT * FROM jp_counts('SELECT a.id, b.amount FROM jp a JOIN (SELECT * FROM js WHERE b % 10 <> 7) b ON a.k = b.k');
SELECT * FROM jp_counts('SELECT a.id, b.amount FROM jp a JOIN (SELECT * FROM js_heap WHERE b % 10 <> 7) b ON a.k = b.k');
-- on disk: what goes from one participant to another, and parts of each
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT shared, build, on_disk FROM jp_counts('SELECT a.id, b.* FROM jp a JOIN (SELECT * FROM js WHERE b % 10 <> 7) b ON a.id = b.b');
SELECT kind, other, js_compare(format('SELECT a.id, a.t AS at, b.* FROM TBL a %s JOIN (SELECT * FROM OTH WHERE b %% 10 <> 7) b ON a.id = b.b', kind), other)
FROM (VALUES ('INNER'), ('LEFT')) j (kind), (VALUES ('js'), ('js_heap')) o (other) ORDER BY 1, 2;
SELECT neg, js_compare(format('SELECT a.id, a.n FROM TBL a WHERE %s EXISTS (SELECT FROM OTH b WHERE a.id = b.b AND a.t <> b.t AND b.b %% 10 <> 7 AND b.w <> ''x'')', neg), 'js') FROM (VALUES (''), ('NOT')) j (neg) ORDER BY 1;
SELECT js_compare(query, 'js'), js_compare(query, 'js_heap') FROM jp_shared;
SET enable_material = off;
SELECT js_compare('SELECT x, s.* FROM generate_series(1, 3) x LEFT JOIN (SELECT count(*), sum(length(b.w)), max(a.v) FROM TBL a JOIN (SELECT * FROM OTH WHERE b % 10 <> 7) b ON a.id = b.b) s ON true', 'js');
SELECT split_part(js_compare('SELECT g, s.* FROM generate_series(1, 4) g, LATERAL (SELECT count(*), max(length(b.w)), sum(a.k2 + g) FROM TBL a JOIN (SELECT * FROM OTH WHERE b % 10 <> g) b ON a.id = b.b) s', 'js'), ':', 1);
RESET hash_mem_multiplier;
SET work_mem = '32MB';
-- again and again, with other parameters, too (15 has no parallel plans with those of LATERAL)
SELECT js_compare('SELECT x, s.* FROM generate_series(1, 3) x LEFT JOIN (SELECT count(*), sum(length(b.w)), max(a.v) FROM TBL a JOIN (SELECT * FROM OTH WHERE b % 10 <> 7) b ON a.id = b.b) s ON true', 'js');
SELECT js_compare('SELECT x, s.* FROM generate_series(1, 3) x LEFT JOIN (SELECT a.id, b.w FROM TBL a JOIN (SELECT * FROM OTH WHERE b % 10 <> 7) b ON a.id = b.b) s ON true', 'js_heap');
SELECT split_part(js_compare('SELECT x, s.* FROM generate_series(1, 4) x, LATERAL (SELECT a.id, b.w FROM TBL a JOIN (SELECT * FROM OTH WHERE b % 10 <> x) b ON a.id = b.b) s', 'js'), ':', 1);
SELECT js_compare('SELECT g, (SELECT sum(a.v + b.amount) FROM TBL a JOIN OTH b ON a.k = b.b + g WHERE b.b % 10 <> g) FROM generate_series(1, 5) g', 'js');
RESET enable_material;
-- without the leader, with fewer workers than planned, and without any
SET parallel_leader_participation = off;
SELECT js_compare(query, 'js'), js_compare(query, 'js_heap') FROM jp_shared;
SELECT * FROM jp_counts('SELECT a.id, b.amount FROM jp a JOIN (SELECT * FROM js WHERE b % 10 <> 7) b ON a.k = b.k');
SET max_parallel_workers = 1;
SELECT js_compare(query, 'js') FROM jp_shared;
SET max_parallel_workers = 0;
SELECT js_compare(query, 'js') FROM jp_shared;
RESET parallel_leader_participation;
SELECT js_compare(query, 'js'), js_compare(query, 'js_heap') FROM jp_shared;
SELECT launched, shared, build FROM jp_counts('SELECT a.id, b.amount FROM jp a JOIN (SELECT * FROM js WHERE b % 10 <> 7) b ON a.k = b.k');
SET max_parallel_workers = 1;
SELECT js_compare(query, 'js'), js_compare(query, 'js_heap') FROM jp_shared;
RESET max_parallel_workers;
BEGIN;
DECLARE jp_cursor CURSOR FOR SELECT count(*), sum(a.v) FROM jp a JOIN (SELECT * FROM js WHERE b % 10 <> 7) b ON a.k = b.k;
FETCH jp_cursor;
SELECT count(*), sum(a.v) FROM jp_heap a JOIN (SELECT * FROM js_heap WHERE b % 10 <> 7) b ON a.k = b.k;
COMMIT;
-- an error while others wait
SELECT jp_error('SELECT count(*), sum(b.amount) FROM jp a JOIN js b ON a.k = b.k AND b.b / (b.b - 1700) >= 0');
SELECT jp_error('SELECT count(*), sum(b.amount) FROM jp a JOIN js_heap b ON a.k = b.k AND b.b / (b.b - 1700) >= 0');
RESET cpu_operator_cost;
-- a large build side of rows is better shared by the server's Parallel Hash
CREATE TABLE jbig_heap AS SELECT i AS b, i % 1000 AS x FROM generate_series(1, 200000) i;
ANALYZE jbig_heap;
SET enable_parallel_hash = on;
SELECT jp_compare('SELECT count(*), sum(b.x) FROM TBL a LEFT JOIN jbig_heap b ON a.id = b.b');
-- the server's parallel join, whose rows are aggregated as vectors
SET @am@.enable_vector_join = off;
SELECT jp_compare('SELECT b.label, count(*), sum(a.v) FROM TBL a JOIN OTH b ON a.k = b.k GROUP BY 1', 'jo');
RESET @am@.enable_vector_join;

DROP TABLE jp, jp_heap, jo, jo_heap, js, js_heap, jbig_heap;
DROP VIEW jp_shared;
DROP COLLATION jp_nocase;
DROP FUNCTION jp_compare, jp_counts, js_compare, jp_leader, jp_error, jl;
