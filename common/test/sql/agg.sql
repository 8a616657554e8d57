-- Aggregation over vectors: the same results as heap's.
SET max_parallel_workers_per_gather = 0;
SET extra_float_digits = -3;

-- One row per type of column; nulls, special values, two scales of numerics.
CREATE TABLE ag_heap (id int, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8,
	n4 numeric(12,4), nx numeric, b bool, d date, tm time, ts timestamp, tz timestamptz,
	m money, o oid, t text, v varchar(10), bp char(6), by bytea, u uuid, iv interval,
	j jsonb, a int[], ch "char");
INSERT INTO ag_heap
SELECT i, i % 7, CASE WHEN i % 5 <> 0 THEN i * 31 - 7000 END, i::int8 * 4000000000000, i % 100 * 0.25,
	CASE WHEN i % 11 <> 0 THEN i * 0.5 END, (i * 1.0625)::numeric(12,4) - 5000,
	CASE i % 40 WHEN 0 THEN NULL WHEN 1 THEN i::numeric * 1e30 ELSE i::numeric / 8 END,
	CASE WHEN i % 9 <> 0 THEN i % 2 = 0 END, DATE '2020-02-28' + i % 400,
	TIME '00:00' + i % 86400 * INTERVAL '1 s', TIMESTAMP '2020-01-01' + i * INTERVAL '7 min',
	TIMESTAMPTZ '2020-01-01 00:00Z' + i * INTERVAL '1 h', (i % 500)::int8::money, i % 1000 + 4294960000,
	CASE WHEN i % 13 <> 0 THEN 'text ' || i % 17 END, 'v' || i, 'bp' || i % 3, decode(md5((i % 4)::text), 'hex'),
	md5((i % 5)::text)::uuid, (i % 10) * INTERVAL '1 day', jsonb_build_object('k', i % 6),
	ARRAY[i % 2, 1], chr(65 + i % 26)::"char"
FROM generate_series(1, 13000) i;

-- ag_groups: row groups only; ag_delta: heap pages only; ag_mixed: both, and deleted rows
CREATE TABLE ag_groups (LIKE ag_heap) USING @am@;
CREATE TABLE ag_delta (LIKE ag_heap) USING @am@;
CREATE TABLE ag_mixed (LIKE ag_heap) USING @am@;
SELECT @am@.set_options('ag_groups', row_group_rows => 10240);
SELECT @am@.set_options('ag_mixed', row_group_rows => 10240);
INSERT INTO ag_groups SELECT * FROM ag_heap;
DO $$
BEGIN
	FOR i IN 0 .. 12 LOOP
		INSERT INTO ag_delta SELECT * FROM ag_heap WHERE id BETWEEN i * 1000 + 1 AND i * 1000 + 1000;
	END LOOP;
END $$;
INSERT INTO ag_mixed SELECT * FROM ag_heap WHERE id <= 11500;
INSERT INTO ag_mixed SELECT * FROM ag_heap WHERE id > 11500 AND id <= 12500;
INSERT INTO ag_mixed SELECT * FROM ag_heap WHERE id > 12500;
DELETE FROM ag_mixed WHERE id % 10 = 3 OR id BETWEEN 9000 AND 9900;
CREATE TABLE ag_mixed_heap AS SELECT * FROM ag_heap WHERE NOT (id % 10 = 3 OR id BETWEEN 9000 AND 9900);
ANALYZE;

-- Rows of a query on one table that it does not give on the other; TBL stands for the table.
CREATE FUNCTION ag_compare(query text, ours text, heap text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	differences bigint;
	plan text;
	line text;
	q text := format('SELECT r::text FROM (%s) r', query);
BEGIN
	plan := '';
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(query, 'TBL', ours) LOOP
		plan := plan || line;
	END LOOP;
	IF plan NOT LIKE '%@Am@Aggregate%' THEN
		RETURN 'not aggregated in vectors';
	END IF;
	EXECUTE format('SELECT count(*) FROM (SELECT r FROM (SELECT r, 1 AS n FROM (%s) a (r)
				   UNION ALL SELECT r, -1 FROM (%s) b (r)) c GROUP BY r HAVING sum(n) <> 0) d',
				   replace(q, 'TBL', ours), replace(q, 'TBL', heap)) INTO differences;
	RETURN CASE differences WHEN 0 THEN 'same' ELSE differences || ' differences' END;
END $$;
-- Every aggregate with every kind of key and condition; lists what differs.
CREATE TABLE ag_list (agg text);
INSERT INTO ag_list VALUES
	('count(*), count(i4), count(t), count(nx)'),
	('sum(i2), sum(i4), sum(i8), avg(i2), avg(i4), avg(i8)'),
	('sum(f4), sum(f8), avg(f4), avg(f8)'),
	('sum(n4), avg(n4), min(n4), max(n4)'),
	('sum(nx), avg(nx), min(nx), max(nx)'),
	('min(i2), max(i2), min(i4), max(i4), min(i8), max(i8), min(o), max(o)'),
	('min(f4), max(f4), min(f8), max(f8)'),
	('min(d), max(d), min(tm), max(tm), min(ts), max(ts), min(tz), max(tz), min(m), max(m), sum(m)'),
	('bool_and(b), bool_or(b), every(i4 > 0), bool_or(f8 IS NULL)'),
	('min(t), max(t), min(bp), max(bp), min(iv), max(iv), sum(iv), min(a), max(a)'),
	('stddev(i4), variance(i8), stddev_pop(n4), round(var_samp(f8)::numeric, 3), stddev(i2)'),
	('bit_and(i4), bit_or(i8), bit_xor(i2), corr(i2, i2), regr_count(f8, i4)'),
	('sum(i4) FILTER (WHERE b), count(*) FILTER (WHERE f8 > 100), min(t) FILTER (WHERE i2 = 3), avg(n4) FILTER (WHERE false)'),
	('sum(i4 + i2), avg(f8 * i2), sum(CASE WHEN t = ''text 3'' THEN n4 END), max(length(t)), count(nullif(i2, 3))'),
	('count(DISTINCT i4), count(DISTINCT t), count(DISTINCT f8), count(DISTINCT n4), count(DISTINCT nx), count(DISTINCT j), count(DISTINCT i8)'),
	('count(DISTINCT hashint4(id)), count(DISTINCT hashint4(id % 300)::oid), count(DISTINCT (id % 300 - 100)::int8 * 4000000000000), count(DISTINCT CASE WHEN id % 3 <> 0 THEN t ELSE '''' END)'),
	('count(DISTINCT bp), count(DISTINCT b), sum(DISTINCT i2), avg(DISTINCT n4), count(DISTINCT i4 % 10) FILTER (WHERE b), max(DISTINCT d)'),
	('percentile_disc(0.3) WITHIN GROUP (ORDER BY i4), percentile_disc(0.95) WITHIN GROUP (ORDER BY f8 DESC), mode() WITHIN GROUP (ORDER BY i2)'),
	('percentile_cont(0.5) WITHIN GROUP (ORDER BY f8), percentile_cont(0.31) WITHIN GROUP (ORDER BY i4 DESC), percentile_disc(1) WITHIN GROUP (ORDER BY ts)'),
	('percentile_disc(0) WITHIN GROUP (ORDER BY f4), mode() WITHIN GROUP (ORDER BY d DESC), percentile_disc(NULL) WITHIN GROUP (ORDER BY i2)'),
	('sum(i4) + count(*), avg(i4) / 2, max(d) - min(d), coalesce(sum(i2), 0)');
CREATE TABLE ag_keys (key text);
INSERT INTO ag_keys VALUES (NULL), ('i2'), ('i4'), ('t'), ('bp'), ('b'), ('d'), ('n4'), ('nx'), ('f4'), ('by'), ('u'), ('iv'),
	('j'), ('a'), ('ch'), ('o'), ('extract(minute FROM ts)'), ('CASE id % 4 WHEN 0 THEN '''' WHEN 1 THEN t ELSE ''t'' || id % 100 END'), ('t, b'), ('i2, t, bp'), ('f8, i4'), ('i4 % 10'), ('lower(t)'), ('i2, b, ch, u, t');
-- all aggregates in one query per key; for keys of many groups, those with kernels
SELECT count(*) AS queries, string_agg(key || ': ' || r, ', ') FILTER (WHERE r <> 'same') AS wrong
FROM ag_keys,
	LATERAL (SELECT string_agg(agg, ', ') AS aggs FROM ag_list
			 WHERE key IS NULL OR key !~ 'i4|n4|nx|^d|^o|ch, u' OR agg !~ 'percentile|DISTINCT|stddev|corr|iv') l,
	LATERAL (SELECT ag_compare(format('SELECT %s%s FROM TBL%s', key || ', ', aggs, ' GROUP BY ' || key),
							   'ag_mixed', 'ag_mixed_heap') AS r) x;
-- one by one, without keys
SELECT agg, tbl, r
FROM ag_list, (VALUES ('ag_mixed', 'ag_mixed_heap'), ('ag_groups', 'ag_heap'), ('ag_delta', 'ag_heap')) v (tbl, heap),
	LATERAL (SELECT ag_compare(format('SELECT %s FROM TBL', agg), tbl, heap) AS r) x
WHERE r <> 'same';
-- under conditions; no rows at all
SELECT count(*) AS queries, string_agg(concat_ws(' ', key, condition, tbl, r), ', ') FILTER (WHERE r <> 'same') AS wrong
FROM (VALUES (NULL), ('t'), ('i2, b')) k (key),
	(VALUES ('i4 > 100000'), ('t = ''text 5'' AND b'), ('id % 10 = 77'), ('j @> ''{"k": 2}''')) c (condition),
	(VALUES ('ag_mixed', 'ag_mixed_heap')) v (tbl, heap),
	(SELECT string_agg(agg, ', ') AS aggs FROM ag_list) l,
	LATERAL (SELECT ag_compare(format('SELECT %s%s FROM TBL WHERE %s%s', key || ', ', aggs, condition, ' GROUP BY ' || key),
							   tbl, heap) AS r) x;
-- the comparison itself sees a difference
SELECT ag_compare('SELECT sum(i8) FROM TBL', 'ag_groups', 'ag_mixed_heap');

-- HAVING, expressions over aggregates, ORDER BY, LIMIT
SELECT ag_compare('SELECT t, count(*) * 2 + 1 AS x FROM TBL GROUP BY t HAVING count(*) > 700 AND max(i2) = 6', 'ag_groups', 'ag_heap');
SELECT t, sum(i4) FROM ag_groups GROUP BY t ORDER BY 2 DESC LIMIT 3;
SELECT count(*) FROM ag_groups HAVING count(*) > 100000;
SELECT count(*), sum(i4) FROM ag_groups WHERE id < 0;
SELECT i2, count(*) FROM ag_groups WHERE id < 0 GROUP BY i2;

-- only rows that count are evaluated
SELECT sum(1 / i2) FROM ag_groups;
SELECT sum(10 / i2) FILTER (WHERE i2 <> 0), sum(CASE WHEN i2 > 0 THEN 10 / i2 END) FROM ag_groups;
SELECT sum(10 / i2) FROM ag_groups WHERE i2 <> 0;

-- more groups than memory: rows go to disk, and come back in parts
CREATE FUNCTION ag_spills(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result bool := false;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF) ' || query LOOP
		result := result OR line LIKE '%Rows On Disk%';
	END LOOP;
	RETURN result;
END $$;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET enable_sort = off;
SELECT key, ag_compare(format('SELECT %s, count(*), sum(nx), avg(f8), min(t), stddev(i4) FROM TBL GROUP BY %1$s', key),
					   'ag_mixed', 'ag_mixed_heap'),
	ag_spills(format('SELECT %s, sum(nx) FROM ag_mixed GROUP BY %1$s', key))
FROM (VALUES ('id'), ('n4'), ('v'), ('lower(v), i4'), ('f8, t'), ('b')) k (key);
RESET work_mem;
RESET hash_mem_multiplier;
RESET enable_sort;

-- parallel workers aggregate their share; a final node puts the groups together
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT t, sum(n4) FROM ag_mixed GROUP BY t HAVING count(*) > 1;
EXPLAIN (COSTS OFF) SELECT count(DISTINCT i4) FROM ag_mixed;
SELECT key, ag_compare(format('SELECT %s%s FROM TBL%s', key || ', ', aggs, ' GROUP BY ' || key), 'ag_mixed', 'ag_mixed_heap')
FROM (SELECT string_agg(agg, ', ') AS aggs FROM ag_list WHERE agg !~ 'stddev|corr|percentile|DISTINCT|max.t|min.t') l,
	(VALUES (NULL), ('t, b'), ('nx, i4')) k (key);
SELECT count(*), sum(i4), max(d) FROM ag_mixed WHERE id < 0;
SELECT x, s FROM generate_series(0, 2) x, LATERAL (SELECT sum(i4 + x) AS s FROM ag_groups WHERE id > x * 5000) l;
SET max_parallel_workers_per_gather = 0;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- overflow, NaN and infinities
CREATE TABLE ag_big (k int, i8 int8, f8 float8, f4 float4, n numeric) USING @am@;
INSERT INTO ag_big SELECT i % 3, 9223372036854775807, 1e308, 1e38, 1e40 FROM generate_series(1, 20000) i;
SELECT sum(i8), avg(i8), sum(n), max(n) FROM ag_big;
SELECT k, sum(i8), avg(n) FROM ag_big GROUP BY k ORDER BY k;
SELECT sum(f8) FROM ag_big;
SELECT sum(f4) FROM ag_big;
SELECT k, avg(f8) FROM ag_big GROUP BY k;
INSERT INTO ag_big VALUES (1, NULL, 'Infinity', 'NaN', 'NaN'), (2, NULL, 'Infinity', '-Infinity', 'Infinity'), (2, NULL, '-Infinity', 'Infinity', '-Infinity');
SELECT k, sum(f8) FILTER (WHERE i8 IS NULL), min(f4), max(f4), sum(f4) FILTER (WHERE i8 IS NULL), sum(n), min(n), max(n), min(f8), max(f8)
FROM ag_big GROUP BY k ORDER BY k;

SELECT k, percentile_disc(ARRAY[0.5]) WITHIN GROUP (ORDER BY f8), count(DISTINCT f8), count(DISTINCT n), mode() WITHIN GROUP (ORDER BY f4) FROM ag_big GROUP BY k ORDER BY k;
SELECT percentile_disc(1) WITHIN GROUP (ORDER BY f4), percentile_disc(1) WITHIN GROUP (ORDER BY f4 DESC) FROM ag_big WHERE k = 1;
SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY f8) FROM ag_big;

-- columns added later, and dropped ones
ALTER TABLE ag_big DROP COLUMN i8, ADD COLUMN a int DEFAULT 7, ADD COLUMN t text DEFAULT 'x', ADD COLUMN f float4 DEFAULT 1.5, ADD COLUMN z text,
	ADD COLUMN c "char" DEFAULT 'c';
INSERT INTO ag_big (k, a, t, f, c) VALUES (1, -7, 'y', 2, 'd');
SELECT k, sum(a), max(t), sum(f), count(z), min(f), max(c::text) FROM ag_big GROUP BY k ORDER BY k;
SELECT a, t, f, z, c, count(*) FROM ag_big GROUP BY a, t, f, z, c ORDER BY a;

-- rescans with other parameters; prepared statements; a subplan in HAVING
SELECT x, (SELECT count(*) FROM ag_groups g WHERE g.i2 = x) FROM generate_series(0, 8, 4) x;
SELECT x, s FROM generate_series(0, 2) x, LATERAL (SELECT sum(i4 + x) AS s FROM ag_groups WHERE id > x * 5000) l;
PREPARE ag_prepared (int) AS SELECT count(*), sum(i4 * $1) FROM ag_groups WHERE i2 = $1 HAVING count(*) > $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE ag_prepared (2);
EXECUTE ag_prepared (9);
RESET plan_cache_mode;
SELECT t, count(*) FROM ag_groups GROUP BY t HAVING count(*) > (SELECT count(*) FROM ag_groups WHERE t = 'text 1') ORDER BY t;

-- plans: what is offered, what is not
EXPLAIN (COSTS OFF, VERBOSE) SELECT t, b, count(*), sum(n4), stddev(i4) FROM ag_groups WHERE id > 100 GROUP BY t, b HAVING count(*) > 1;
-- (some versions sort below the aggregate)
DO $$
DECLARE
	line text;
BEGIN
	FOR line IN EXPLAIN (COSTS OFF) SELECT string_agg(t, ',' ORDER BY id) FROM ag_groups LOOP
		RAISE NOTICE '%', line;
		EXIT;
	END LOOP;
END $$;
EXPLAIN (COSTS OFF) SELECT sum(random()) FROM ag_groups;
SET @am@.enable_vector_aggregate = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM ag_groups;
RESET @am@.enable_vector_aggregate;
-- a condition that is the same for all rows
SELECT count(*) FROM ag_groups WHERE (SELECT false);
SELECT count(*) FROM ag_groups WHERE false;
PREPARE ag_constant (bool) AS SELECT count(*) FROM ag_groups WHERE $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE ag_constant (false);
EXECUTE ag_constant (true);
RESET plan_cache_mode;

-- min and max of strings: a group takes each code of a row group's dictionary once
CREATE TABLE ag_strings_heap AS SELECT i, i % 7 AS g, CASE WHEN i % 11 <> 0 THEN 'w' || i * 37 % 90 END AS t, ('c' || i % 60)::char(6) AS c, md5((i % 200)::text) COLLATE "C" AS m
	FROM generate_series(1, 9000) i;
CREATE TABLE ag_strings (LIKE ag_strings_heap) USING @am@;
SELECT @am@.set_options('ag_strings', row_group_rows => 2048);
INSERT INTO ag_strings SELECT * FROM ag_strings_heap ORDER BY i;
DELETE FROM ag_strings WHERE t IN ('w89', 'w0') OR i % 500 = 3;
DELETE FROM ag_strings_heap WHERE t IN ('w89', 'w0') OR i % 500 = 3;
SELECT min(t), max(t), min(c), max(c), min(m), max(m), max(t) FILTER (WHERE g = 2) FROM ag_strings;
(SELECT g, min(t), max(t), min(c), max(c), min(m), max(m), max(t) FILTER (WHERE i < 900) FROM ag_strings GROUP BY g)
EXCEPT SELECT g, min(t), max(t), min(c), max(c), min(m), max(m), max(t) FILTER (WHERE i < 900) FROM ag_strings_heap GROUP BY g;
(SELECT i / 9, min(t), max(c), max(m) FROM ag_strings GROUP BY 1) EXCEPT SELECT i / 9, min(t), max(c), max(m) FROM ag_strings_heap GROUP BY 1;
-- again and again in one row group
SELECT v, (SELECT max(t) || min(m) FROM ag_strings WHERE i < v) = (SELECT max(t) || min(m) FROM ag_strings_heap WHERE i < v) AS same FROM unnest(ARRAY[2000, 1500, 1900, 1100]) v;
DROP TABLE ag_strings, ag_strings_heap;

-- rights
CREATE ROLE ag_user;
GRANT SELECT ON ag_groups TO ag_user;
CREATE FUNCTION ag_add(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, 0) + coalesce($2, 0)';
CREATE AGGREGATE ag_sum(int) (SFUNC = ag_add, STYPE = int);
REVOKE EXECUTE ON FUNCTION ag_sum(int) FROM public;
SELECT ag_sum(i4) = sum(i4) AS same FROM ag_groups;
SET ROLE ag_user;
SELECT ag_sum(i4) FROM ag_groups;
RESET ROLE;

DROP TABLE ag_heap, ag_groups, ag_delta, ag_mixed, ag_mixed_heap, ag_big, ag_list, ag_keys;
DROP AGGREGATE ag_sum(int);
DROP FUNCTION ag_add, ag_compare, ag_spills;
DROP ROLE ag_user;
