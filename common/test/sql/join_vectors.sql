-- Hash joins whose probe side hands out vectors: plans, and the same results as
-- heap's, in memory and on disk.
SET max_parallel_workers_per_gather = 0;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET @am@.enable_join_filter = off;

CREATE COLLATION jv_nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE jv_heap (id int, k int, k2 smallint, k8 bigint, t text, ci text COLLATE jv_nocase, bp char(6),
	vc varchar(20), d date, n numeric, f float8, u uuid, v numeric(12,2), doc jsonb);
INSERT INTO jv_heap
SELECT i, CASE WHEN i % 11 <> 0 THEN i % 700 END, i % 100, i % 700 + 1, CASE WHEN i % 13 <> 0 THEN 'k' || i % 90 END,
	CASE i % 3 WHEN 0 THEN 'ab' ELSE 'AB' END || i % 40, 'k' || i % 9, 'k' || i % 50, date '2024-01-01' + i % 60,
	CASE i % 5 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN NULL WHEN 2 THEN 1.0 WHEN 3 THEN 1.00 ELSE i % 30 END,
	CASE i % 5 WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN NULL WHEN 2 THEN '-0' ELSE i % 30 END,
	md5((i % 20)::text)::uuid, i * 0.25, jsonb_build_object('a', i % 10)
FROM generate_series(1, 9000) i;
CREATE TABLE jv (LIKE jv_heap) USING @am@;
INSERT INTO jv SELECT * FROM jv_heap WHERE id <= 8500;
INSERT INTO jv SELECT * FROM jv_heap WHERE id > 8500;
DELETE FROM jv WHERE id % 40 = 3;
DELETE FROM jv_heap WHERE id % 40 = 3;
-- other side: of heap and of ours; duplicates, nulls, values that jv lacks; a key that is unique
CREATE TABLE jb_heap (b int, k bigint, k2 int, t varchar(10), ci text COLLATE jv_nocase, bp char(9), d date, n numeric,
	f float8, u uuid, label text, amount numeric, note text);
INSERT INTO jb_heap SELECT i, CASE WHEN i % 9 <> 0 THEN i % 250 * 3 END, i % 120, 'k' || i % 100,
	CASE i % 2 WHEN 0 THEN 'Ab' ELSE 'aB' END || i % 50, 'k' || i % 12, date '2024-01-20' + i % 70,
	CASE i % 4 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN NULL WHEN 2 THEN 1 ELSE i % 25 END,
	CASE i % 4 WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN NULL WHEN 2 THEN 0 ELSE i % 25 END,
	md5((i % 25)::text)::uuid, CASE WHEN i % 8 <> 0 THEN 'label ' || i % 30 END, i * 1.5, repeat('x', i % 300)
FROM generate_series(1, 900) i;
CREATE TABLE jb (LIKE jb_heap) USING @am@;
INSERT INTO jb SELECT * FROM jb_heap;
ANALYZE;

-- Whether a query gives the same on heap tables (TBL, OTH for the build side), and has a join of vectors.
CREATE FUNCTION jv_compare(query text, other text DEFAULT 'jb_heap') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	differences bigint;
	nrows bigint;
	plan text := '';
	line text;
	q text := format('SELECT r::text FROM (%s) r', replace(query, 'OTH', other));
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(replace(query, 'OTH', other), 'TBL', 'jv') LOOP
		plan := plan || line || E'\n';
	END LOOP;
	EXECUTE format('SELECT count(*), sum(abs(n)) FROM (SELECT r, sum(m) AS n FROM (SELECT r, 1 AS m FROM (%s) a (r)
				   UNION ALL SELECT r, -1 FROM (%s) b (r)) c GROUP BY r HAVING sum(m) <> 0) d',
				   replace(q, 'TBL', 'jv'), replace(q, 'TBL', 'jv_heap')) INTO differences;
	EXECUTE format('SELECT count(*) FROM (%s) r', replace(q, 'TBL', 'jv')) INTO nrows;
	RETURN format('%s rows, %s%s', nrows, CASE differences WHEN 0 THEN 'same' ELSE differences || ' differences' END,
				  CASE WHEN plan LIKE '%Join)%' THEN ': vectors' ELSE '' END);
END $$;
-- Lines of a plan that say what the join is, and what EXPLAIN ANALYZE counts.
CREATE FUNCTION jv_plan(query text, options text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF, TIMING OFF, SUMMARY OFF %s) ', options) || query LOOP
		IF line ~ 'Join|Aggregate|Hash Cond|Filter:|Scan|Rows:|Without|Parts|Run On Vectors.*SubPlan' AND line !~ 'Removed|Delta' THEN
			RETURN NEXT rtrim(regexp_replace(regexp_replace(line, '\(actual.*\)', ''), 'Parts On Disk: \d+', 'Parts On Disk: n'));
		END IF;
	END LOOP;
END $$;

-- an aggregate over a join over a join: no rows are made
SELECT jv_plan('SELECT b.label, c.n, sum(a.v * b.amount) FROM jv a JOIN jb_heap b ON a.k = b.k LEFT JOIN jb c ON a.d = c.d AND a.k > c.k2
	WHERE b.amount > 5 GROUP BY 1, 2', ', ANALYZE, BUFFERS OFF');
SELECT jv_plan('SELECT * FROM jv a WHERE EXISTS (SELECT FROM jb b WHERE b.k = a.k AND b.t <> a.t)');
SELECT jv_plan('SELECT id FROM jv a WHERE NOT EXISTS (SELECT FROM jb b WHERE b.k = a.k8)');

-- kinds of joins, of keys, and of conditions beside
SELECT kind, key, more, jv_compare(format('SELECT a.id, a.t, a.n, b.label, b.amount, b.f FROM TBL a %s JOIN OTH b ON %s %s WHERE a.id < 600',
		kind, key, more), other)
FROM (VALUES ('INNER'), ('LEFT'), ('RIGHT'), ('FULL')) j (kind),
	(VALUES ('a.k = b.k'), ('a.k8 = b.k AND a.k2 = b.k2'), ('a.t = b.t'), ('a.ci = b.ci'), ('a.bp = b.bp'), ('a.n = b.n AND a.k2 = b.k2'),
		('a.f = b.f AND a.d = b.d'), ('a.u = b.u AND a.vc = b.t'), ('a.k + 1 = b.k - 2'), ('lower(a.t) = b.t AND a.d = b.d')) k (key),
	(VALUES (''), ('AND a.d < b.d')) m (more), (VALUES ('jb')) o (other)
WHERE kind IN ('INNER', 'LEFT') OR (more = '' AND key < 'a.d') ORDER BY 1, 2, 3;
SELECT neg, key, more, jv_compare(format('SELECT a.id, a.t FROM TBL a WHERE %s EXISTS (SELECT FROM OTH b WHERE %s %s)', neg, key, more))
FROM (VALUES (''), ('NOT')) j (neg), (VALUES ('a.k = b.k'), ('a.t = b.t AND a.d = b.d'), ('a.n = b.n'), ('a.ci = b.ci')) k (key),
	(VALUES (''), ('AND a.d < b.d'), ('AND a.k2 > b.k2')) m (more) ORDER BY 1, 2, 3;

-- turned: the build side's rows come out, those that the probe side has met or those that it has not
SELECT jv_plan('SELECT count(*) FROM jb b WHERE EXISTS (SELECT FROM jv a WHERE a.k = b.k AND a.t <> b.t)', ', ANALYZE, BUFFERS OFF');
SELECT jv_plan('SELECT b.b, a.t FROM jb b LEFT JOIN jv a ON a.k8 = b.k AND a.d > b.d WHERE a.k8 IS NULL', ', ANALYZE, BUFFERS OFF');
SELECT neg, key, more, jv_compare(format('SELECT b.b, b.t, b.f FROM OTH b WHERE %s EXISTS (SELECT FROM TBL a WHERE %s %s)', neg, key, more), 'jb')
FROM (VALUES (''), ('NOT')) j (neg), (VALUES ('a.k = b.k'), ('a.t = b.t AND a.d = b.d'), ('a.n = b.n'), ('a.ci = b.ci'), ('a.id = b.b - 30')) k (key),
	(VALUES (''), ('AND a.d < b.d'), ('AND a.k2 > b.k2')) m (more) ORDER BY 1, 2, 3;
SELECT jv_compare('SELECT b.b, a.t, a.n FROM OTH b LEFT JOIN TBL a ON a.id = b.k AND a.d > b.d WHERE a.id IS NULL AND coalesce(a.k2, 1) + b.b < 700', 'jb');
SELECT jv_compare('SELECT b.label, count(*), sum(c.amount) FROM OTH b JOIN OTH c ON c.b = b.k2 WHERE EXISTS (SELECT FROM TBL a WHERE a.k = b.k AND a.k2 < c.k2) GROUP BY 1', 'jb');
SELECT jv_compare('SELECT a.id, b.b FROM TBL a JOIN OTH b ON a.id = b.b WHERE NOT EXISTS (SELECT FROM TBL c WHERE c.k = b.k AND c.k2 <> b.k2)', 'jb');
SELECT jv_compare('SELECT b.b FROM (SELECT * FROM OTH WHERE b < 0) b WHERE EXISTS (SELECT FROM TBL a WHERE a.k = b.k)', 'jb');
SELECT neg, jv_compare(format('SELECT b.b FROM OTH b WHERE %s EXISTS (SELECT FROM TBL a WHERE a.k = b.k AND a.id < 0)', neg), 'jb') FROM (VALUES (''), ('NOT')) j (neg);
SELECT neg, jv_compare(format('SELECT g, (SELECT sum(b.amount) FROM OTH b WHERE b.k2 > g AND %s EXISTS (SELECT FROM TBL a WHERE a.k = b.k AND a.k2 <> g)) FROM generate_series(1, 4) g', neg), 'jb')
FROM (VALUES (''), ('NOT')) j (neg);
SELECT neg, jv_compare(format('SELECT g, (SELECT sum(b.amount) FROM OTH b WHERE %s EXISTS (SELECT FROM TBL a WHERE a.k = b.k AND a.k2 = g)) FROM generate_series(1, 4) g', neg), 'jb')
FROM (VALUES (''), ('NOT')) j (neg);
-- not where the key of the probe side is asked for above
SELECT jv_compare('SELECT count(*), sum(s.amount), sum(c.v) FROM (SELECT * FROM OTH x WHERE EXISTS (SELECT FROM TBL a WHERE a.id = x.b)) s JOIN TBL c ON s.b = c.id', 'jb');

-- rows of the build side, or of both sides, that nothing meets
SELECT kind, key, more, jv_compare(format('SELECT a.id, a.t, a.n, a.d, a.doc, b.label, b.amount, b.f FROM (SELECT * FROM TBL WHERE id < 600) a %s JOIN OTH b ON %s %s',
		kind, key, more), 'jb')
FROM (VALUES ('RIGHT'), ('FULL')) j (kind), (VALUES ('a.k = b.k'), ('a.k8 = b.k AND a.k2 = b.k2'), ('a.t = b.t'), ('a.ci = b.ci'), ('a.n = b.n AND a.k2 = b.k2'),
		('a.f = b.f AND a.d = b.d'), ('a.k + 1 = b.b - 2'), ('lower(a.t) = b.t AND a.d = b.d')) k (key), (VALUES (''), ('AND a.d < b.d')) m (more) ORDER BY 1, 2, 3;
SELECT jv_compare('SELECT a.id, b.b FROM (SELECT * FROM TBL WHERE id < 0) a RIGHT JOIN OTH b ON a.k = b.k');
SELECT jv_compare('SELECT a.id, b.b FROM (SELECT * FROM TBL WHERE id < 90) a FULL JOIN (SELECT * FROM OTH WHERE b < 0) b ON a.k = b.k');
SELECT jv_compare('SELECT a.id, b.b FROM TBL a RIGHT JOIN OTH b ON a.k = b.k WHERE coalesce(a.id, 7) + b.b < 300');
SELECT jv_compare('SELECT b.label, count(*), count(a.id), sum(a.v), max(a.t), sum(c.amount) FROM TBL a RIGHT JOIN OTH b ON a.k = b.b FULL JOIN OTH c ON c.b = a.id GROUP BY 1');
SELECT jv_compare('SELECT count(*), sum(a.v) FROM (TBL a RIGHT JOIN OTH b ON a.k = b.b) JOIN (SELECT * FROM OTH WHERE b < 40) c ON c.k2 = a.k');
SELECT count(*) AS full_joins FROM jv_plan('SELECT count(*) FROM (SELECT * FROM jv WHERE id < 600) a FULL JOIN jb b ON a.k = b.k') p WHERE p LIKE '%Join Type: Full';

-- the build side as vectors: dictionaries that change, values that fit a column no more, large ones
CREATE TABLE jw_heap (k int, t text, u text, n numeric, r real, big text);
INSERT INTO jw_heap SELECT i % 3000, 't' || i / 2000 || '_' || i % 3, CASE WHEN i < 6000 THEN 'u' || i % 5 ELSE 'u' || i END,
	CASE WHEN i < 7000 THEN i % 50 / 4.0 ELSE i / 8.0 END, i % 7 / 2.0, CASE WHEN i % 500 = 0 THEN repeat(md5(i::text), 4000) END FROM generate_series(1, 9000) i;
CREATE TABLE jw (LIKE jw_heap) USING @am@;
SELECT @am@.set_options('jw', row_group_rows => 2048);
INSERT INTO jw SELECT * FROM jw_heap;
ANALYZE jw, jw_heap;
SELECT kind, jv_compare(format('SELECT a.id, w.* FROM TBL a %s JOIN OTH w ON a.id = w.k', kind), 'jw') FROM (VALUES ('INNER'), ('LEFT'), ('RIGHT'), ('FULL')) j (kind);
SELECT kind, jv_compare(format('SELECT a.id, w.* FROM TBL a %s JOIN OTH w ON replace(a.t, ''k'', ''u'') = w.u AND a.id %% 50 = 0', kind), 'jw') FROM (VALUES ('INNER'), ('RIGHT')) j (kind);
SELECT kind, jv_compare(format('SELECT a.id, w.* FROM (SELECT *, ''t'' || k2 %% 4 || ''_'' || k2 %% 3 AS w FROM TBL WHERE id < 30) a %s JOIN OTH w ON a.w = lower(w.t)', kind), 'jw')
FROM (VALUES ('INNER'), ('FULL')) j (kind);
SELECT jv_compare('SELECT w.t, w.u, count(*), sum(w.n), sum(w.r), sum(length(w.big)) FROM TBL a JOIN OTH w ON a.id - 1 = w.k + 1 GROUP BY 1, 2', 'jw');
SELECT jv_compare('SELECT w.t, x.u, count(*), sum(w.n) FROM TBL a JOIN (OTH w JOIN OTH x ON w.k = x.k AND x.k < 70) ON a.id = w.k GROUP BY 1, 2', 'jw');

-- NOT IN by a hash table of the subquery, with nulls on either side, on none, without rows
SELECT x, rest, jv_compare(format('SELECT a.id, a.t FROM TBL a WHERE a.%s NOT IN (SELECT b.%s FROM OTH b%s)', x,
		CASE x WHEN 'k8' THEN 'k' ELSE x END, rest))
FROM (VALUES ('k'), ('k8'), ('t'), ('ci'), ('bp'), ('n'), ('f'), ('d')) x (x),
	(VALUES (''), (' WHERE b.k IS NOT NULL AND b.n IS NOT NULL AND b.f IS NOT NULL'), (' WHERE b.b < 0')) r (rest) ORDER BY 1, 2;
SELECT count(*) AS on_vectors FROM jv_plan('SELECT count(*) FROM jv WHERE k8 NOT IN (SELECT b FROM jb) AND k2 NOT IN (SELECT k2 FROM jb)', ', ANALYZE, VERBOSE, BUFFERS OFF') p WHERE p LIKE '%Run On Vectors%';
SELECT jv_compare('SELECT a.id FROM TBL a WHERE (a.k IN (SELECT b FROM OTH)) IS NOT TRUE AND a.k8 NOT IN (SELECT b FROM OTH WHERE b % 2 = 0)');
SELECT jv_compare('SELECT g, (SELECT count(*) FROM TBL a WHERE a.k8 NOT IN (SELECT b FROM OTH WHERE b < g * 100)) FROM generate_series(1, 4) g');
SELECT jv_compare('SELECT a.id, c.b FROM TBL a JOIN OTH c ON a.k = c.b AND a.k2 NOT IN (SELECT k2 FROM OTH WHERE b < 40)');
SELECT jv_compare('SELECT a.id, c.b FROM TBL a LEFT JOIN OTH c ON a.k = c.b WHERE c.k2 NOT IN (SELECT k2 FROM OTH WHERE b < 40)');

-- aggregates over both sides
SELECT jv_compare('SELECT b.label, count(*), sum(a.v), sum(b.amount), avg(a.v * b.amount), max(a.id), min(b.b), count(DISTINCT a.t)
	FROM TBL a JOIN OTH b ON a.k = b.k GROUP BY 1');
SELECT jv_compare('SELECT a.t, b.t, sum(a.k), sum(b.amount) FILTER (WHERE b.amount > 100) FROM TBL a LEFT JOIN OTH b ON a.k = b.b GROUP BY 1, 2');
SELECT jv_compare('SELECT count(*), sum(a.v), sum(length(b.note)) FROM TBL a JOIN OTH b ON a.k = b.b JOIN OTH c ON c.b = b.k2 JOIN OTH d ON d.t = c.t', 'jb');
SELECT jv_compare('SELECT a.doc ->> ''a'', count(*), sum(b.amount) FROM TBL a JOIN OTH b ON a.k = b.b GROUP BY 1 HAVING count(*) > 3');
SELECT jv_compare('SELECT count(*) FROM TBL a LEFT JOIN OTH b ON a.k = b.k WHERE b.k IS NULL');
SELECT jv_compare('SELECT a.id, b.b FROM TBL a LEFT JOIN OTH b ON a.k = b.b WHERE coalesce(b.amount, 1) < 300');
SELECT jv_compare('SELECT s.x, b.label FROM (SELECT k, count(*) AS x FROM TBL GROUP BY k) s JOIN OTH b ON s.k = b.k');
SELECT jv_compare('SELECT a.id, e.id AS id2 FROM TBL a JOIN TBL e ON a.id = e.id + 1 JOIN OTH b ON b.b = e.k');
-- nothing on one side
SELECT jv_compare('SELECT a.id, b.b FROM TBL a JOIN (SELECT * FROM OTH WHERE b < 0) b ON a.k = b.k');
SELECT jv_compare('SELECT a.id, b.b FROM TBL a LEFT JOIN (SELECT * FROM OTH WHERE b < 0) b ON a.k = b.k');
SELECT jv_compare('SELECT count(*), sum(a.v) FROM (SELECT * FROM TBL WHERE id < 0) a JOIN OTH b ON a.k = b.k');

-- the filter of such a join is another way to say the same
SET @am@.enable_join_filter = on;
SELECT jv_compare('SELECT b.label, count(*), sum(a.v) FROM TBL a JOIN (SELECT * FROM OTH WHERE b BETWEEN 100 AND 120) b ON a.k = b.b GROUP BY 1');
SELECT jv_compare('SELECT b.label, c.label, count(*) FROM TBL a JOIN (SELECT * FROM OTH WHERE b < 70) b ON a.k = b.b
	JOIN (SELECT * FROM OTH WHERE b < 30) c ON a.t = c.t GROUP BY 1, 2');

-- on disk: in parts, and parts of parts; and equal keys, which no bits of a hash divide
-- (functions whose number of rows the planner takes for ten)
CREATE FUNCTION jl(k OUT int, t OUT text, w OUT text) RETURNS SETOF record ROWS 10 LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT CASE WHEN i % 50 <> 0 THEN i % 3000 END, 'k' || i % 90, repeat('w', i % 50) FROM generate_series(1, 6000) i;
END $$;
CREATE FUNCTION jsame(k OUT int, t OUT text, w OUT text) RETURNS SETOF record ROWS 10 LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT 7, 'k' || i % 90, repeat('w', i % 50) FROM generate_series(1, 3000) i;
END $$;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT jv_plan('SELECT count(*) FROM jv a JOIN jl() b ON a.id = b.k', ', ANALYZE, BUFFERS OFF');
SELECT kind, jv_compare(format('SELECT a.id, a.t, b.w, b.t AS bt FROM TBL a %s JOIN OTH b ON a.id = b.k', kind), 'jl()')
FROM (VALUES ('INNER'), ('LEFT'), ('RIGHT'), ('FULL')) j (kind) ORDER BY 1;
SELECT kind, jv_compare(format('SELECT a.id, w.t, w.n, w.r, length(w.big) FROM TBL a %s JOIN OTH w ON a.id = w.k AND a.k2 < 90', kind), 'jw')
FROM (VALUES ('INNER'), ('LEFT'), ('RIGHT'), ('FULL')) j (kind) ORDER BY 1;
SELECT count(*) AS on_disk FROM jv_plan('SELECT count(*) FROM jv a FULL JOIN jw w ON a.id = w.k', ', ANALYZE, BUFFERS OFF') p WHERE p LIKE '%Parts On Disk: n';
SELECT jv_compare('SELECT a.id FROM TBL a WHERE EXISTS (SELECT FROM OTH b WHERE a.id = b.k AND a.t <> b.t)', 'jl()');
SELECT jv_compare('SELECT a.id, a.n, a.f FROM TBL a WHERE NOT EXISTS (SELECT FROM OTH b WHERE a.id = b.k)', 'jl()');
-- turned
SELECT neg, more, jv_compare(format('SELECT b.k, b.t, b.w FROM OTH b WHERE %s EXISTS (SELECT FROM TBL a WHERE a.id = b.k %s)', neg, more), 'jl()')
FROM (VALUES (''), ('NOT')) j (neg), (VALUES (''), ('AND a.t <> b.t')) m (more) ORDER BY 1, 2;
SELECT neg, jv_compare(format('SELECT w.k, w.t, w.n, length(w.big) FROM OTH w WHERE w.k + 0 = w.k AND %s EXISTS (SELECT FROM TBL a WHERE a.id = w.k AND a.k2 < 50)', neg), 'jw')
FROM (VALUES (''), ('NOT')) j (neg);
SELECT jv_plan('SELECT w.k, w.t, w.u FROM jw w WHERE w.k + 0 = w.k AND NOT EXISTS (SELECT FROM jv a WHERE a.id = w.k)', ', ANALYZE, BUFFERS OFF');
SELECT jv_compare('SELECT a.t, count(*), sum(length(b.w)) FROM TBL a JOIN OTH b ON a.t = b.t WHERE a.id < 500 GROUP BY 1', 'jl()');
SELECT jv_compare('SELECT a.id, c.label, b.w FROM TBL a JOIN jb_heap c ON a.k = c.b JOIN OTH b ON a.id = b.k', 'jl()');
-- the same key in all rows
SELECT jv_compare('SELECT a.k2, count(*), sum(length(b.w)) FROM TBL a JOIN OTH b ON a.k = b.k GROUP BY 1', 'jsame()');
-- rows that meet nothing are not written: all of these are 20 MB
CREATE TABLE jm_heap AS SELECT i * 7 AS id, repeat('x', 200) || i AS t FROM generate_series(1, 100000) i;
CREATE TABLE jm (LIKE jm_heap) USING @am@;
INSERT INTO jm SELECT * FROM jm_heap;
ANALYZE jm, jm_heap;
SELECT jv_compare('SELECT a.id, a.t, b.w FROM OTH a JOIN jl() b ON a.id = b.k', 'jm');
SELECT jv_compare('SELECT a.id, a.t FROM OTH a WHERE EXISTS (SELECT FROM jl() b WHERE a.id = b.k AND b.t <> a.t)', 'jm');
SELECT count(*) AS on_disk FROM jv_plan('SELECT count(a.t) FROM jm a JOIN jl() b ON a.id = b.k', ', ANALYZE, BUFFERS OFF') p WHERE p LIKE '%Parts On Disk: n';
SET temp_file_limit = '8MB';
SELECT count(*), sum(length(a.t)), sum(length(b.w)) FROM jm a JOIN jl() b ON a.id = b.k;
RESET temp_file_limit;
DROP TABLE jm, jm_heap;
RESET work_mem;
RESET hash_mem_multiplier;

-- once per row of an outer query, with a parameter on either side or on none
SELECT jv_compare('SELECT g, (SELECT sum(a.v + b.amount) FROM TBL a JOIN OTH b ON a.k = b.b WHERE a.k2 = g) FROM generate_series(1, 5) g');
SELECT jv_compare('SELECT g, (SELECT sum(a.v + b.amount) FROM TBL a JOIN OTH b ON a.k = b.b WHERE b.k2 = g) FROM generate_series(1, 5) g');
SELECT jv_compare('SELECT g, (SELECT sum(a.v + b.amount) FROM TBL a JOIN OTH b ON a.k = b.b + g) FROM generate_series(1, 5) g');
SELECT jv_compare('SELECT g, s.* FROM generate_series(1, 4) g, LATERAL (SELECT a.id, b.label FROM TBL a LEFT JOIN OTH b ON a.k = b.b AND b.k2 > g
	WHERE a.k2 < g ORDER BY 1, 2 LIMIT 20) s');
SELECT jv_compare('SELECT g, s.* FROM generate_series(1, 4) g, LATERAL (SELECT count(*), sum(a.k2 + g) FROM TBL a JOIN OTH b ON a.k = b.b) s');

-- rows that are locked or changed: the server's joins
SELECT count(*) FILTER (WHERE p LIKE '%Join)%') AS vectors FROM jv_plan('SELECT a.id FROM jv a JOIN jb_heap b ON a.k = b.b FOR UPDATE OF b') p;
SELECT count(*) FILTER (WHERE p LIKE '%Join)%') AS vectors FROM jv_plan('UPDATE jb_heap b SET note = a.t FROM jv a WHERE a.k = b.b') p;
SET @am@.enable_vector_join = off;
SELECT count(*) FILTER (WHERE p LIKE '%Join)%') AS vectors FROM jv_plan('SELECT a.id FROM jv a JOIN jb_heap b ON a.k = b.b') p;
RESET @am@.enable_vector_join;

-- an error of a condition is raised where the server would come to it
SELECT count(*) FROM jv a JOIN jb b ON a.k = b.k AND b.b / (a.k - 300) >= 0 WHERE a.k <> 300;
SELECT count(*) FROM jv a JOIN jb b ON a.k = b.k AND b.b / (a.k - 300) >= 0;

-- the key of a semi join's build side, which equals the other one, is asked for above
SELECT jv_compare('SELECT count(*), sum(s.v) FROM (SELECT * FROM TBL x WHERE EXISTS (SELECT FROM OTH b WHERE b.b = x.id)) s JOIN (SELECT b FROM OTH WHERE b < 300) c ON s.id = c.b');
SELECT jv_compare('SELECT count(*), sum(s.v) FROM (SELECT * FROM TBL x WHERE EXISTS (SELECT FROM OTH b WHERE b.b = x.id AND b.d > x.d)) s JOIN (SELECT b FROM OTH WHERE b < 300) c ON s.id = c.b');
-- keys that are another type than their column, on either side: signs, trailing blanks
CREATE TABLE jv_heapr (i int, o oid, vc varchar, bp bpchar);
INSERT INTO jv_heapr SELECT CASE WHEN x % 3 = 0 THEN -x ELSE x END, CASE WHEN x % 3 = 0 THEN 4294967296 - x ELSE x END, 'v' || x % 5 || ' ', 'v' || x % 5
FROM generate_series(1, 1200) x;
CREATE TABLE jvr (LIKE jv_heapr) USING @am@;
INSERT INTO jvr SELECT * FROM jv_heapr;
CREATE TABLE jr_few AS SELECT * FROM jv_heapr WHERE abs(i) <= 40;
ANALYZE jvr, jv_heapr, jr_few;
SELECT key, replace(jv_compare(format('SELECT count(*) FROM TBLr a JOIN OTH b ON %s', key), 'jr_few'), '1 rows, ', '')
FROM (VALUES ('a.o = b.i::oid'), ('a.i::oid = b.o'), ('a.o = b.i::oid AND a.vc = b.vc'), ('a.i::oid = b.o AND a.vc = b.vc'), ('a.vc::bpchar = b.bp'),
	('a.bp = b.vc::bpchar'), ('a.vc = b.bp::text'), ('a.vc::bpchar = b.vc::bpchar AND a.i = b.i')) k (key);
DROP TABLE jvr, jv_heapr, jr_few;
-- more keys than a row of the table has room for
SELECT jv_compare('SELECT count(*) FROM TBL a JOIN OTH b ON a.k = b.k' || string_agg(format(' AND a.k + %s = b.k + %s', i, i), '')) FROM generate_series(1, 70) i;
-- conditions in the server's order
CREATE FUNCTION jv_slow(int) RETURNS bool IMMUTABLE COST 100 LANGUAGE plpgsql AS 'BEGIN RETURN 10 / $1 > -100; END';
SELECT jv_compare('SELECT count(*) FROM TBL a JOIN OTH b ON a.k = b.k AND jv_slow(a.k2 - b.k2) AND a.k2 <> b.k2', 'jb');
SELECT jv_compare('SELECT count(*) FROM TBL a LEFT JOIN OTH b ON a.k = b.k WHERE coalesce(jv_slow(a.k2 - b.k2), true) AND coalesce(a.k2 <> b.k2, true)');
-- what may raise an error is not asked of rows behind a limit, and what is volatile of none
SELECT count(*) FILTER (WHERE p LIKE '%Join)%') AS vectors FROM jv_plan('SELECT a.id FROM jv a JOIN jb b ON a.k = b.b AND 10 / a.id < 100 LIMIT 1') p;
SELECT count(*) FILTER (WHERE p LIKE '%Join)%') AS vectors FROM jv_plan('SELECT a.id FROM jv a JOIN jb b ON a.k = b.b WHERE 10 / a.id < 100 LIMIT 1') p;
SELECT count(*) FILTER (WHERE p LIKE '%Join)%') AS vectors FROM jv_plan('SELECT a.t, count(*) FROM jv a JOIN jb b ON a.k = b.b AND 10 / a.id < 100 GROUP BY 1 LIMIT 1') p;
SELECT count(*) FILTER (WHERE p LIKE '%Join)%') AS vectors FROM jv_plan('SELECT a.id FROM jv a JOIN jb b ON a.k = b.b AND random() >= a.k - b.k') p;

-- full joins of what hands out no vectors: aggregations, windows, heap beside; nulls, rows without a match on either side
SET cpu_tuple_cost = 0.0001;
CREATE VIEW jva AS SELECT k, sum(v) AS v, count(*) AS n FROM jv GROUP BY k;
SELECT other, q, jv_compare('SELECT ' || q, other)
FROM (VALUES ('jb'), ('jb_heap')) o (other), (VALUES
	('a.k, a.v, a.n, b.label, b.s FROM (SELECT k, sum(v) AS v, count(*) AS n FROM TBL GROUP BY k) a FULL JOIN (SELECT k, max(label) AS label, sum(amount) AS s FROM OTH GROUP BY k) b ON a.k = b.k'),
	('k, a.v, b.s FROM (SELECT k, sum(v) AS v FROM TBL GROUP BY k) a FULL JOIN (SELECT k, sum(amount) AS s FROM OTH GROUP BY k) b USING (k)'),
	('coalesce(k % 7, -1) AS m, count(*), sum(a.v), sum(b.s), count(a.v) FROM (SELECT k, sum(v) AS v FROM TBL GROUP BY k) a FULL JOIN (SELECT k, sum(amount) AS s FROM OTH GROUP BY k) b USING (k) GROUP BY 1'),
	('k, label, sum(a.v), count(*) FROM (SELECT k, k2, sum(v) AS v FROM TBL GROUP BY 1, 2) a FULL JOIN (SELECT k, label, count(*) AS n FROM OTH GROUP BY 1, 2) b USING (k) GROUP BY ROLLUP (1, 2)'),
	('a.k, a.v, b.s FROM (SELECT k, sum(v) AS v FROM TBL GROUP BY k) a FULL JOIN (SELECT k, sum(amount) AS s FROM OTH GROUP BY k) b ON a.k = b.k AND a.v > b.s'),
	('a.t, a.v, b.s FROM (SELECT t, sum(v) AS v FROM TBL GROUP BY t) a FULL JOIN (SELECT t, sum(amount) AS s FROM OTH GROUP BY t) b ON a.t = b.t WHERE a.v IS NULL OR b.s IS NULL OR a.v > b.s'),
	('a.n, b.n AS m, a.c, b.c AS d FROM (SELECT n, count(*) AS c FROM TBL GROUP BY n) a FULL JOIN (SELECT n, count(*) AS c FROM OTH GROUP BY n) b ON a.n = b.n'),
	('a.id, a.r, b.b, b.r AS s FROM (SELECT id, k, sum(v) OVER (PARTITION BY k ORDER BY id) AS r FROM TBL WHERE id < 900) a FULL JOIN (SELECT b, k, rank() OVER (PARTITION BY k ORDER BY b) AS r FROM OTH) b ON a.k = b.k AND a.id = b.b'),
	('count(*), sum(x.v) FROM (SELECT k, sum(v) AS v FROM TBL GROUP BY k) x FULL JOIN (SELECT k FROM OTH GROUP BY k) y ON x.k = y.k FULL JOIN (SELECT k2, max(d) FROM OTH GROUP BY k2) z ON z.k2 = x.k')) q (q) ORDER BY 1, 2;
SELECT p FROM jv_plan('SELECT count(*), sum(coalesce(a.v, 0)) FROM jva a FULL JOIN (SELECT k, sum(amount) AS s FROM jb GROUP BY k) b ON a.k = b.k') p WHERE p LIKE '%Join%';
-- on disk; again and again; of rows that cannot be read ahead, and behind a limit
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT jv_compare('SELECT a.id, a.n, w.k, w.n AS m FROM (SELECT id, count(*) AS n FROM TBL GROUP BY id) a FULL JOIN (SELECT k, count(*) AS n FROM OTH GROUP BY k) w ON a.id = w.k', 'jw');
RESET work_mem;
RESET hash_mem_multiplier;
SELECT jv_compare('SELECT c.b, (SELECT sum(coalesce(a.v, 1) + coalesce(b.s, c.b)) FROM (SELECT k, sum(v) AS v FROM TBL WHERE k2 < c.b GROUP BY k) a FULL JOIN (SELECT k, sum(amount) AS s FROM OTH GROUP BY k) b ON a.k = b.k) AS x FROM OTH c WHERE c.b < 30', 'jb');
SELECT jv_compare('SELECT count(*) FROM (SELECT k, sum(v) AS v, random() AS r FROM TBL GROUP BY k) a FULL JOIN (SELECT k, random() AS r FROM OTH GROUP BY k) b ON a.k = b.k');
SELECT count(*) FILTER (WHERE p LIKE '%Join)%') AS vectors FROM jv_plan('SELECT a.k FROM jva a FULL JOIN (SELECT k FROM jb GROUP BY k) b ON a.k = b.k LIMIT 1') p;
RESET cpu_tuple_cost;
DROP VIEW jva;

-- a role sees nothing of rows that a policy hides from it, by an operator that tells either
CREATE ROLE jv_reader;
CREATE FUNCTION jv_leak(text, text) RETURNS bool IMMUTABLE COST 0.0001 LANGUAGE plpgsql AS $$
BEGIN RAISE NOTICE 'leaked %', $1; RETURN true; END $$;
ALTER TABLE jv ENABLE ROW LEVEL SECURITY;
CREATE POLICY jv_some ON jv USING (id IN (99, 102));
GRANT SELECT ON jv, jb TO jv_reader;
SET ROLE jv_reader;
SELECT count(*) FROM jv a JOIN jb b ON a.k = b.k AND jv_leak(a.t, b.t);
RESET ROLE;

DROP TABLE jv, jv_heap, jb, jb_heap, jw, jw_heap;
DROP FUNCTION jv_compare, jv_plan, jv_leak, jv_slow, jl, jsame;
DROP COLLATION jv_nocase;
DROP ROLE jv_reader;
