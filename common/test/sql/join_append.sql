-- Hash joins whose probe side is an Append: UNION ALL, partitions, children by
-- inheritance. The same results as heap's.
SET max_parallel_workers_per_gather = 0;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET extra_float_digits = -3;

-- TBL in a query: ja_heap; its rows in partitions (of one with columns in another order), in children, in arms
CREATE TABLE ja_heap (id int, k int, t text, d date, n numeric, f float8, doc jsonb, big text);
INSERT INTO ja_heap SELECT i, CASE WHEN i % 11 <> 0 THEN i % 700 END, CASE WHEN i % 13 <> 0 THEN 'k' || i % 90 END, date '2024-01-01' + i % 120,
	CASE i % 5 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN NULL WHEN 2 THEN 1.0 WHEN 3 THEN 1.00 ELSE i % 30 END, i * 0.5,
	jsonb_build_object('a', i % 10, 'b', 'x' || i % 7), CASE WHEN i % 500 = 0 THEN repeat(md5(i::text), 400) ELSE 'b' || i % 3 END
FROM generate_series(1, 12000) i;
CREATE TABLE ja (LIKE ja_heap) PARTITION BY RANGE (d);
CREATE TABLE ja1 PARTITION OF ja FOR VALUES FROM ('2024-01-01') TO ('2024-02-01') USING @am@;
CREATE TABLE ja2 (big text, gone int, doc jsonb, f float8, n numeric, d date, t text, k int, id int) USING @am@;
ALTER TABLE ja2 DROP COLUMN gone;
ALTER TABLE ja ATTACH PARTITION ja2 FOR VALUES FROM ('2024-02-01') TO ('2024-03-01');
CREATE TABLE ja3 PARTITION OF ja FOR VALUES FROM ('2024-03-01') TO ('2024-06-01') PARTITION BY LIST (t);
CREATE TABLE ja3a PARTITION OF ja3 FOR VALUES IN ('k1', 'k2', 'k3') USING @am@;
CREATE TABLE ja3b PARTITION OF ja3 DEFAULT USING @am@;
CREATE TABLE jai (LIKE ja_heap) USING @am@;
CREATE TABLE jai1 () INHERITS (jai) USING @am@;
CREATE TABLE jai2 (more text) INHERITS (jai1) USING @am@;
INSERT INTO ja SELECT * FROM ja_heap;
INSERT INTO jai SELECT * FROM ja_heap WHERE id % 3 = 0;
INSERT INTO jai1 SELECT * FROM ja_heap WHERE id % 3 = 1;
INSERT INTO jai2 SELECT * FROM ja_heap WHERE id % 3 = 2;
DELETE FROM ja_heap WHERE id % 40 = 3;
DELETE FROM ja WHERE id % 40 = 3;
DELETE FROM jai WHERE id % 40 = 3;
CREATE TABLE jad (d date) USING @am@;
INSERT INTO jad SELECT DISTINCT d FROM ja_heap;
-- arms: a table as it is, another with conditions and expressions, a join
CREATE VIEW jau AS SELECT id, k, t, d, n, f, doc, big FROM ja1 UNION ALL SELECT id + 0, k, t || '', d, n, f + 0, doc, big FROM ja2
	UNION ALL SELECT id, k, t, d, n, f, doc, big FROM ja3a WHERE id >= 0
	UNION ALL SELECT a.id, a.k, a.t, a.d, a.n, a.f, a.doc, a.big FROM ja3b a WHERE a.f IS NOT NULL;
CREATE VIEW jaj AS SELECT id, k, t, d, n, f, doc, big FROM ja1 UNION ALL SELECT a.id, a.k, a.t, d, a.n, a.f, a.doc, a.big FROM ja a JOIN jad b USING (d) WHERE d >= '2024-02-01';
-- the other side: duplicates, nulls, keys that the one lacks; b is unique
CREATE TABLE jao_heap AS SELECT i AS b, CASE WHEN i % 9 <> 0 THEN i % 250 * 3 END AS k, 'k' || i % 100 AS t, date '2024-01-20' + i % 130 AS d,
	CASE i % 4 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN NULL WHEN 2 THEN 1 ELSE i % 25 END AS n,
	CASE WHEN i % 8 <> 0 THEN 'label ' || i % 30 END AS label, i * 1.5 AS amount
FROM generate_series(1, 900) i;
CREATE TABLE jao (LIKE jao_heap) USING @am@;
INSERT INTO jao SELECT * FROM jao_heap;
VACUUM ANALYZE ja, jai, ja_heap, jao, jao_heap;
ANALYZE;

-- Rows that one query gives and the other does not (TBL, OTH); whether the plan has a join of vectors above an Append of vectors.
CREATE FUNCTION ja_compare(query text, ours text DEFAULT 'ja', other text DEFAULT 'jao') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
	nrows bigint;
	differences bigint;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(replace(query, 'OTH', other), 'TBL', ours) LOOP
		plan := plan || line;
	END LOOP;
	EXECUTE 'CREATE TEMP TABLE ja_ours AS ' || replace(replace(query, 'OTH', other), 'TBL', ours);
	GET DIAGNOSTICS nrows = ROW_COUNT;
	EXECUTE 'CREATE TEMP TABLE ja_theirs AS ' || replace(replace(query, 'OTH', coalesce(to_regclass(other || '_heap')::text, 'jao_heap')),
		'TBL', coalesce(to_regclass(ours || '_heap')::text, 'ja_heap'));
	EXECUTE 'SELECT count(*) FROM (SELECT r FROM (SELECT o::text AS r, 1 AS n FROM ja_ours o
			 UNION ALL SELECT h::text, -1 FROM ja_theirs h) c GROUP BY r HAVING sum(n) <> 0) d' INTO differences;
	DROP TABLE ja_ours, ja_theirs;
	RETURN format('%s rows, %s%s', nrows, CASE differences WHEN 0 THEN 'same' ELSE differences || ' differences' END,
				  CASE WHEN plan LIKE '%(@Am@Join)%(@Am@Append)%' THEN ': vectors' END);
END $$;

-- no rows are made between the scans and the aggregate
EXPLAIN (COSTS OFF) SELECT o.label, count(*), sum(u.f) FROM (SELECT k, f FROM ja1 UNION ALL SELECT k + 1, f * 2 FROM ja2) u JOIN jao o ON o.b = u.k GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT o.label, count(*) FROM ja u LEFT JOIN jao o ON o.b = u.k AND o.t <> u.t WHERE u.d < '2024-03-20' GROUP BY 1;

-- kinds of joins, of sources, and of keys
SELECT ours, kind, ja_compare(format('SELECT a.id, a.t, a.n, b.label, b.amount FROM TBL a %s JOIN OTH b ON a.k = b.k WHERE a.id < 900', kind), ours)
FROM (VALUES ('ja'), ('jai'), ('jau')) s (ours), (VALUES ('INNER'), ('LEFT')) j (kind) ORDER BY 1, 2;
SELECT other, kind, ja_compare(format('SELECT a.id, a.t, a.n, b.b, b.label, b.n AS m FROM TBL a %s JOIN OTH b ON a.k = b.k AND a.t <> b.t', kind), other => other)
FROM (VALUES ('INNER'), ('LEFT'), ('RIGHT'), ('FULL')) j (kind), (VALUES ('jao'), ('jao_heap')) o (other) ORDER BY 1, 2;
SELECT key, ja_compare(format('SELECT a.id, a.k, b.b FROM TBL a JOIN OTH b ON %s', key))
FROM (VALUES ('a.t = b.t'), ('a.d = b.d'), ('a.n = b.n'), ('a.k + 1 = b.b'), ('a.k = b.b AND a.d = b.d'), ('a.t || ''0'' = b.t'), ('(a.doc->>''a'')::int = b.b')) k (key);
SELECT ja_compare('SELECT a.id, a.big FROM TBL a JOIN OTH b ON a.k = b.b', ours) FROM (VALUES ('ja'), ('jau')) s (ours);
SELECT ja_compare('SELECT a.id, a.doc, a.doc->>''b'' FROM TBL a JOIN OTH b ON a.k = b.b WHERE a.doc @> ''{"a": 3}''', ours) FROM (VALUES ('ja'), ('jau')) s (ours);
SELECT ja_compare('SELECT a.id FROM TBL a WHERE EXISTS (SELECT FROM OTH b WHERE b.k = a.k AND b.t <> a.t)'),
	ja_compare('SELECT a.id FROM TBL a WHERE NOT EXISTS (SELECT FROM OTH b WHERE b.k = a.k)'),
	ja_compare('SELECT b.b FROM OTH b WHERE EXISTS (SELECT FROM TBL a WHERE b.b = a.k AND b.t <> a.t)'),
	ja_compare('SELECT b.b FROM OTH b WHERE NOT EXISTS (SELECT FROM TBL a WHERE b.b = a.k AND a.id > 100)');
-- whichever way an arm that is a join goes
SELECT q, split_part(ja_compare(q, 'jaj'), ':', 1)
FROM (VALUES ('SELECT a.id, a.t, a.doc, b.label FROM TBL a LEFT JOIN OTH b ON a.k = b.b AND a.t <> b.t'),
	('SELECT b.label, count(*), sum(a.f), max(a.t) FROM TBL a JOIN OTH b ON a.k = b.b GROUP BY 1')) q (q);
-- below aggregation, grouping sets, windows; two of them; joins above joins; as build side
SELECT ja_compare('SELECT b.label, a.t, count(*), sum(a.f), max(a.d), count(DISTINCT a.k) AS different FROM TBL a JOIN OTH b ON a.k = b.b GROUP BY 1, 2', ours)
FROM (VALUES ('ja'), ('jai'), ('jau')) s (ours);
SELECT ja_compare('SELECT b.label, a.t, count(*), sum(a.f) FROM TBL a JOIN OTH b ON a.k = b.b GROUP BY ROLLUP (1, 2)'),
	ja_compare('SELECT a.id, sum(a.f) OVER (PARTITION BY b.label ORDER BY a.id) FROM TBL a JOIN OTH b ON a.k = b.b WHERE a.id < 3000'),
	ja_compare('SELECT c.b, count(*), sum(a.f) FROM TBL a JOIN OTH b ON a.k = b.b LEFT JOIN OTH c ON c.d = a.d AND c.b < 100 GROUP BY 1'),
	ja_compare('SELECT x.t, count(*), sum(y.f) FROM TBL x JOIN TBL y ON x.id = y.k GROUP BY 1');
SELECT ja_compare('SELECT s, b.label, count(*), sum(a.f) FROM (SELECT ''one'' AS s, k, f, 0.00 AS n FROM TBL WHERE id < 3000 UNION ALL SELECT ''two'', k, 0::float8, n FROM TBL WHERE id > 2000
	UNION ALL SELECT NULL, id, f, 1.5 FROM TBL) a JOIN OTH b ON a.k = b.b GROUP BY ROLLUP (1, 2)', ours) FROM (VALUES ('ja'), ('jau')) s (ours);

-- on disk
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT ours, kind, ja_compare(format('SELECT a.id, a.big, y.id AS other, y.doc FROM TBL a %s JOIN TBL y ON a.id = y.k + 300 AND y.id > 50', kind), ours)
FROM (VALUES ('ja'), ('jau')) s (ours), (VALUES ('INNER'), ('LEFT'), ('FULL')) j (kind) ORDER BY 1, 2;
RESET work_mem;
RESET hash_mem_multiplier;

-- again and again: parameters from outside, of conditions and of pruning; prepared; a cursor
SELECT ja_compare('SELECT b.b, (SELECT sum(a.f + o.amount) FROM TBL a JOIN OTH o ON a.k = o.b WHERE a.d = b.d AND o.b > b.b) FROM OTH b WHERE b.b < 60', ours) FROM (VALUES ('ja'), ('jau')) s (ours);
SELECT ja_compare('SELECT b.b, l.* FROM OTH b, LATERAL (SELECT a.id, o.label FROM TBL a JOIN OTH o ON a.k = o.b WHERE a.id = b.b * 7 OFFSET 0) l');
SELECT ja_compare('SELECT b.b, (SELECT count(*) FROM TBL a JOIN OTH o ON a.k = o.b) FROM OTH b WHERE b.b < 4');
SET plan_cache_mode = force_generic_plan;
PREPARE jap (date, int) AS SELECT count(*), sum(a.f) FROM ja a JOIN jao o ON a.k = o.b WHERE a.d = $1 AND a.id < $2;
EXPLAIN (COSTS OFF) EXECUTE jap ('2024-02-10', 9000);
EXECUTE jap ('2024-02-10', 9000);
EXECUTE jap ('2024-04-10', 5000);
EXECUTE jap ('2030-04-10', 5000);
SELECT count(*), sum(a.f) FROM ja_heap a JOIN jao o ON a.k = o.b WHERE a.d = '2024-02-10' AND a.id < 9000;
SELECT count(*), sum(a.f) FROM ja_heap a JOIN jao o ON a.k = o.b WHERE a.d = '2024-04-10' AND a.id < 5000;
RESET plan_cache_mode;
BEGIN;
DECLARE jac SCROLL CURSOR FOR SELECT a.id, o.label FROM ja a JOIN jao o ON a.k = o.b WHERE a.id < 200 ORDER BY 1;
FETCH 2 FROM jac;
FETCH BACKWARD 1 FROM jac;
FETCH LAST FROM jac;
COMMIT;

-- policies hold, and what may tell runs behind them
CREATE ROLE ja_user;
-- an arm's results by value become more from batch to batch: what is computed of them follows
CREATE TABLE jl_heap AS SELECT i AS id, i AS k, CASE WHEN i % 50 <> 0 THEN 'v' || least(i / 20, 2000) END AS t, i * 0.5 AS n FROM generate_series(1, 20000) i;
CREATE TABLE jl (LIKE jl_heap) USING @am@;
INSERT INTO jl SELECT * FROM jl_heap;
CREATE TABLE jlo_heap AS SELECT i AS b, CASE WHEN i % 30 <> 0 THEN 'v' || i END AS t FROM generate_series(1, 600) i;
CREATE TABLE jlo (LIKE jlo_heap) USING @am@;
INSERT INTO jlo SELECT * FROM jlo_heap;
VACUUM ANALYZE jl, jl_heap, jlo, jlo_heap;
SELECT kind, ja_compare(format('SELECT a.id, a.t, b.b FROM (SELECT id, t || '''' AS t FROM TBL UNION ALL SELECT id, upper(t) FROM TBL WHERE id < 10) a %s JOIN OTH b ON a.t || '''' = b.t', kind), 'jl', 'jlo')
FROM (VALUES ('INNER'), ('LEFT'), ('RIGHT'), ('FULL')) j (kind) ORDER BY 1;
SELECT ja_compare('SELECT lower(a.t) AS t, count(*), max(upper(a.t)) AS top, count(DISTINCT a.t || ''x'') AS different FROM (SELECT id, upper(t) AS t FROM TBL UNION ALL SELECT id, t FROM TBL WHERE id < 10) a JOIN OTH b ON lower(a.t) = b.t AND lower(a.t) || '''' <> ''v3'' WHERE right(a.t, 1) <> ''7'' GROUP BY 1', 'jl', 'jlo');
DROP TABLE jl, jl_heap, jlo, jlo_heap;
CREATE FUNCTION ja_tell(int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN IF $1 % 2 = 1 THEN RAISE 'seen'; END IF; RETURN true; END $$;
ALTER TABLE jai ENABLE ROW LEVEL SECURITY;
CREATE POLICY jai_even ON jai USING (k % 2 = 0);
GRANT SELECT ON jai, jao, ja1 TO ja_user;
SET ROLE ja_user;
SELECT count(*) FROM (SELECT k, f FROM jai UNION ALL SELECT k, f FROM jai) u JOIN jao o ON o.b = u.k WHERE ja_tell(u.k);
SELECT count(*) FROM (SELECT k, f FROM jai UNION ALL SELECT k, f FROM ja1 WHERE k % 2 = 0) u JOIN jao o ON o.b = u.k AND ja_tell(u.k + o.b - o.b);
RESET ROLE;
SELECT (SELECT count(*) FROM jai u JOIN jao o ON o.b = u.k AND u.k % 2 = 0) * 2 AS policies;

-- the server's: a child of heap, volatile functions, rows that are locked or changed, a child's error that LIMIT would not come to
CREATE TABLE ja_more (LIKE ja_heap);
INSERT INTO ja_more SELECT * FROM ja_heap WHERE id < 100;
SET @am@.explain_fallback = on;
CREATE FUNCTION ja_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF, VERBOSE) ' || query LOOP
		IF line ~ '(Join|Append)|Not In Vectors' AND line !~ 'Filter' THEN
			RETURN NEXT regexp_replace(line, ' on \w+\.\w+', '');
		END IF;
	END LOOP;
END $$;
SELECT ja_plan('SELECT o.label, count(*) FROM (SELECT k, f FROM ja1 UNION ALL SELECT k, f FROM ja_more) u JOIN jao_heap o ON o.b = u.k GROUP BY 1');
SELECT ja_plan('SELECT o.label, count(*) FROM (SELECT k, f FROM ja1 UNION ALL SELECT k, sum(f) FROM ja2 GROUP BY k) u JOIN jao_heap o ON o.b = u.k GROUP BY 1');
SELECT ja_plan('SELECT o.label, count(*) FROM (SELECT k, f FROM ja1 UNION ALL SELECT k, f + random() FROM ja2) u JOIN jao_heap o ON o.b = u.k GROUP BY 1');
SELECT ja_plan('SELECT o.label, count(*) FROM (SELECT k, f FROM ja1 UNION ALL SELECT k, f FROM ja2) u JOIN jao_heap o ON o.b = u.k GROUP BY 1');
SELECT ja_plan('SELECT o.label FROM ja u JOIN jao_heap o ON o.b = u.k FOR UPDATE OF u');
SELECT ja_plan('SELECT o.label, count(*) FROM (SELECT k, f FROM ja1 UNION ALL SELECT generate_series(k, k + 1), f FROM ja2) u JOIN jao_heap o ON o.b = u.k GROUP BY 1');
SELECT ja_plan('SELECT o.label, count(*) FROM (SELECT k, f FROM ja1 UNION ALL (SELECT k, f FROM ja2 LIMIT 5)) u JOIN jao_heap o ON o.b = u.k GROUP BY 1');
RESET @am@.explain_fallback;
SELECT count(*) FROM (SELECT u.q FROM (SELECT k, 0 AS q FROM ja1 WHERE id < 900 UNION ALL SELECT k, 1 / (k - k) FROM ja2) u JOIN jao o ON o.b = u.k LIMIT 5) l;

SELECT ja_compare('SELECT b.b, count(*), sum(a.f) FROM (SELECT k, f FROM TBL UNION ALL SELECT generate_series(k, k + 1), f FROM TBL) a JOIN OTH b ON a.k = b.b GROUP BY 1');
-- in parallel: participants share each child, or take one
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_parallel_hash = off;
EXPLAIN (COSTS OFF) SELECT o.label, count(*), sum(u.f) FROM (SELECT k, f FROM ja1 UNION ALL SELECT k, f FROM ja2) u JOIN jao o ON o.b = u.k GROUP BY 1;
SELECT ours, kind, ja_compare(format('SELECT a.id, a.t, a.n, b.label, b.amount FROM TBL a %s JOIN OTH b ON a.k = b.b AND a.t <> b.t', kind), ours)
FROM (VALUES ('ja'), ('jai'), ('jau')) s (ours), (VALUES ('INNER'), ('LEFT')) j (kind) ORDER BY 1, 2;
SELECT ja_compare('SELECT b.label, a.t, count(*), sum(a.f), max(a.d) FROM TBL a JOIN OTH b ON a.k = b.b GROUP BY 1, 2', ours) FROM (VALUES ('ja'), ('jau')) s (ours);
SELECT ja_compare('SELECT x.t, count(*), sum(y.f) FROM TBL x JOIN TBL y ON x.id = y.k GROUP BY 1');
SELECT ja_compare('SELECT b.b, (SELECT sum(a.f + o.amount) FROM TBL a JOIN OTH o ON a.k = o.b WHERE a.d = b.d AND o.b > b.b) FROM OTH b WHERE b.b < 20');
SET enable_parallel_append = off;
SELECT split_part(ja_compare('SELECT b.label, a.t, count(*), sum(a.f), max(a.d) FROM TBL a JOIN OTH b ON a.k = b.b GROUP BY 1, 2', ours), ':', 1) AS r FROM (VALUES ('ja'), ('jau')) s (ours);

DROP OWNED BY ja_user;
DROP ROLE ja_user;
