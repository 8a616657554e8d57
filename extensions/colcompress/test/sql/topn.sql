-- ORDER BY ... LIMIT: heap's rows, from as few vectors as possible.
CREATE TABLE tn (k int, i2 smallint, i int, b bigint, f float8, r real, n numeric(12,2), w numeric, t text COLLATE "C", x text COLLATE "POSIX", u uuid, y bytea, d date, ts timestamp, o bool, m money)
	USING colcompress;
CREATE TABLE tn_heap (LIKE tn) USING heap;
SELECT colcompress.set_options('tn', row_group_rows => 4096);
SELECT twin_do('tn', 'tn_heap', $$INSERT INTO TBL SELECT k, hashint4(k) % 100, CASE WHEN k % 9 <> 0 THEN hashint4(k) END, hashint4(k)::bigint * 4000000007,
	CASE k % 1000 WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN -0.0 WHEN 4 THEN NULL ELSE hashint4(k) / 3e5 END, hashint4(k) / 1e6, hashint4(k) % 100000 / 100.0,
	CASE k % 500 WHEN 1 THEN 'NaN' WHEN 2 THEN 1e30 WHEN 3 THEN -1e30 WHEN 4 THEN 1 / 3.0::numeric(60,50) WHEN 5 THEN NULL ELSE hashint4(k) / 1e3::numeric END,
	md5(k::text), repeat('a', k % 12) || hashint4(k), md5((k % 3000)::text)::uuid, decode(md5(k::text), 'hex'), date '2020-01-01' + k / 20, timestamp '2020-01-01' + hashint4(k) * interval '1 s', k % 3 = 0, k
	FROM generate_series(1, 14000) k$$);
SELECT twin_do('tn', 'tn_heap', 'DELETE FROM TBL WHERE k % 17 = 3 OR k > 13900');
SELECT twin_do('tn', 'tn_heap', 'UPDATE TBL SET i = i / 2 WHERE k % 1000 = 7');

-- Whether a query gives other rows than on heap, which is asked once, with the first settings.
CREATE TABLE tn_expected (query text PRIMARY KEY, rows text);
CREATE FUNCTION tn_differs(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	as_text text := format('SELECT string_agg(q::text, '','') FROM (%s) q', query);
	ours text;
	heap text;
BEGIN
	EXECUTE replace(as_text, 'TBL', 'tn') INTO ours;
	SELECT e.rows INTO heap FROM tn_expected e WHERE e.query = as_text;
	IF NOT FOUND THEN
		EXECUTE replace(as_text, 'TBL', 'tn_heap') INTO heap;
		INSERT INTO tn_expected VALUES (as_text, heap);
	END IF;
	RETURN ours IS DISTINCT FROM heap;
END $$;
-- every type, direction, place of nulls and a few limits
CREATE FUNCTION tn_diff() RETURNS TABLE (query text) LANGUAGE plpgsql AS $$
BEGIN
	FOR query IN
		SELECT format('SELECT k, %s FROM TBL%s ORDER BY 2%s, k LIMIT %s', key, cond, dir, lim)
		FROM unnest(ARRAY['i2', 'i', 'b', 'f', 'r', 'n', 'w', 't', 'x', 'u', 'y', 'd', 'ts', 'o', 'm', 'i + k', '-f', 'n * 2 + w', 'upper(x)', '(repeat(''a'', 8) || i2 % 5) COLLATE "C"', 'CASE WHEN o THEN n ELSE w END']) key,
			unnest(ARRAY['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST']) dir,
			(VALUES ('3', ' WHERE i2 > 0 AND d < ''2021-06-01'''), ('400 OFFSET 20', '')) l (lim, cond)
	LOOP
		IF tn_differs(query) THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM tn_diff();
-- equal keys stay together
SELECT count(*), min(i2), max(i2) FROM (SELECT i2 FROM tn ORDER BY i2 FETCH FIRST 5 ROWS WITH TIES) q;
SELECT count(*), min(i2), max(i2) FROM (SELECT i2 FROM tn_heap ORDER BY i2 FETCH FIRST 5 ROWS WITH TIES) q;

-- what it saves: rows that come out of the scan, vectors that are read
CREATE FUNCTION tn_explain(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Top N Key|Groups Removed|Row Groups|Vectors' THEN
			RETURN NEXT btrim(line);
		END IF;
	END LOOP;
END $$;
SELECT tn_explain('SELECT * FROM tn ORDER BY k LIMIT 10');
SELECT tn_explain('SELECT * FROM tn ORDER BY d DESC, k LIMIT 10');
SELECT tn_explain('SELECT * FROM tn WHERE i2 = 7 ORDER BY k DESC LIMIT 2 OFFSET 2');
SET colcompress.enable_pruning = off;
SELECT tn_explain('SELECT * FROM tn ORDER BY k LIMIT 10');
RESET colcompress.enable_pruning;
SET colcompress.enable_topn = off;
SELECT tn_explain('SELECT * FROM tn ORDER BY k LIMIT 10');
RESET colcompress.enable_topn;
-- not for volatile keys, other collations, locked rows
SELECT tn_explain('SELECT * FROM tn ORDER BY random() LIMIT 10');
SELECT tn_explain('SELECT * FROM tn ORDER BY jsonb_build_object(''k'', k) LIMIT 10');
SELECT tn_explain('SELECT * FROM tn ORDER BY k LIMIT 10 FOR UPDATE');

-- the limit may change
SET plan_cache_mode = force_generic_plan;
PREPARE tn_p (bigint, bigint) AS SELECT k, n FROM tn WHERE i IS NOT NULL ORDER BY b, k LIMIT $1 OFFSET $2;
EXECUTE tn_p (2, 0);
EXECUTE tn_p (1, 2);
EXECUTE tn_p (0, 2);
EXECUTE tn_p (-1, 0);
SELECT count(*) FROM (SELECT * FROM tn ORDER BY k LIMIT NULL) q;
RESET plan_cache_mode;
SELECT g, q.k, q.i FROM generate_series(1, 3) g, LATERAL (SELECT k, i FROM tn WHERE i2 = g ORDER BY i LIMIT 1 + 1) q ORDER BY g, q.i;
SELECT g, q.k, q.i FROM generate_series(1, 3) g, LATERAL (SELECT k, i FROM tn_heap WHERE i2 = g ORDER BY i LIMIT 1 + 1) q ORDER BY g, q.i;
-- an error in the key is raised
SELECT k FROM tn ORDER BY 100 / (k - 50) LIMIT 1;

-- DISTINCT: groups without aggregates
EXPLAIN (COSTS OFF) SELECT DISTINCT i2, o FROM tn WHERE k > 5;
SELECT count(*), count(i2), sum(i2) FROM (SELECT DISTINCT i2, o, d - k / 100 FROM tn WHERE k > 5) q;
SELECT count(*), count(i2), sum(i2) FROM (SELECT DISTINCT i2, o, d - k / 100 FROM tn_heap WHERE k > 5) q;
SELECT DISTINCT o, NULL::int AS n, 1 AS one FROM tn ORDER BY o LIMIT 5;
SELECT DISTINCT ON (o) o, k FROM tn ORDER BY o, k;
SELECT DISTINCT o FROM tn WHERE false;

-- groups: rows are made of the first ones only
SELECT tn_explain('SELECT i2, count(*), sum(k) FROM tn GROUP BY i2 ORDER BY 3 DESC, 1 LIMIT 5');
CREATE FUNCTION tn_group_diff() RETURNS TABLE (query text) LANGUAGE plpgsql AS $$
BEGIN
	FOR query IN
		SELECT format('SELECT %s, count(*) AS c, count(i) AS ci, sum(i2) AS s, sum(b) AS sb, min(i) AS lo, max(d) AS hi, min(t), avg(i2) AS a, sum(f), sum(i2 - 900) AS sl, sum(-3 * i2) FROM TBL GROUP BY %1$s ORDER BY %2$s%3$s, %1$s LIMIT %4$s', key, sort, dir, lim)
		FROM unnest(ARRAY['i2', 'u, o', 'i, x']) key, unnest(ARRAY['c', 'ci', 's', 'sb', 'sl', 'lo', 'a', '1']) sort,
			unnest(ARRAY['', ' DESC NULLS LAST']) dir, unnest(ARRAY['40 OFFSET 20']) lim
	LOOP
		IF tn_differs(query) THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SET extra_float_digits = -3;
SELECT * FROM tn_group_diff();
SET work_mem = '64kB';
SELECT * FROM tn_group_diff() LIMIT 5;
RESET work_mem;
RESET extra_float_digits;
-- of equal groups any will do if nothing else sorts them, but n of them come; ties all of them
SELECT count(*), min(c), max(c) FROM (SELECT k, count(*) AS c FROM tn GROUP BY k ORDER BY c DESC LIMIT 7 OFFSET 3) q;
SELECT count(*), min(c), max(c) FROM (SELECT k % 100 AS m, count(*) AS c FROM tn GROUP BY 1 ORDER BY c DESC FETCH FIRST 3 ROWS WITH TIES) q;
SELECT count(*), min(c), max(c) FROM (SELECT k % 100 AS m, count(*) AS c FROM tn_heap GROUP BY 1 ORDER BY c DESC FETCH FIRST 3 ROWS WITH TIES) q;
-- not where HAVING drops groups, or the order is not an integer's
SELECT tn_explain('SELECT i2, count(*) FROM tn GROUP BY i2 HAVING count(*) < 9 ORDER BY 2 DESC LIMIT 5');
SELECT tn_explain('SELECT i2, avg(i) FROM tn GROUP BY i2 ORDER BY 2 DESC LIMIT 5');
-- the limit may change, and rescans start over
SET plan_cache_mode = force_generic_plan;
PREPARE tn_g (bigint, bigint) AS SELECT i2, sum(k) FROM tn GROUP BY i2 ORDER BY 2 DESC LIMIT $1 OFFSET $2;
EXECUTE tn_g (2, 0);
EXECUTE tn_g (1, 2);
RESET plan_cache_mode;
SELECT g, q.* FROM generate_series(1, 3) g, LATERAL (SELECT i2, max(k) FROM tn WHERE i2 > g * 20 GROUP BY i2 ORDER BY 2 DESC LIMIT 2) q;

-- workers share the worst key that may be among the first
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*) FROM tn_explain('SELECT k, f FROM tn ORDER BY f, k LIMIT 10') line WHERE line ~ 'Top N Key';
EXPLAIN (COSTS OFF) SELECT k, f FROM tn WHERE i2 >= 0 ORDER BY f, k LIMIT 10;
SELECT * FROM tn_diff();
SELECT g, (SELECT array_agg(k) FROM (SELECT k FROM tn WHERE i2 <> g ORDER BY b, k LIMIT 3) q) FROM generate_series(1, 2) g;
SELECT g, (SELECT array_agg(k) FROM (SELECT k FROM tn_heap WHERE i2 <> g ORDER BY b, k LIMIT 3) q) FROM generate_series(1, 2) g;
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP TABLE tn, tn_heap, tn_expected;
DROP FUNCTION tn_diff, tn_group_diff, tn_differs, tn_explain;

-- without zones vectors are taken so that keys in the order of rows, up or down, do not make each vector better than all before it
CREATE TABLE tn_up (d jsonb) USING colcompress;
INSERT INTO tn_up SELECT jsonb_build_object('k', k, 's', md5(k::text)) FROM generate_series(1, 60000) k;
CREATE FUNCTION tn_handed_out(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'ColcompressScan' THEN
			RETURN substring(line FROM 'rows=(\d+)');
		END IF;
	END LOOP;
END $$;
SELECT tn_handed_out(format('SELECT d FROM tn_up ORDER BY (d->>''k'')::int %s LIMIT 10', dir)) < 150 AS few FROM unnest(ARRAY['', 'DESC']) dir;
SELECT d->'k' FROM tn_up ORDER BY (d->>'k')::int LIMIT 2;
SELECT d->'k' FROM tn_up ORDER BY (d->>'k')::int DESC LIMIT 2 OFFSET 3;
SET colcompress.enable_pruning = off;
SELECT tn_handed_out(format('SELECT d FROM tn_up ORDER BY (d->>''k'')::int %s LIMIT 10', dir)) < 150 AS few FROM unnest(ARRAY['', 'DESC']) dir;
RESET colcompress.enable_pruning;
DROP TABLE tn_up;
-- strings that begin alike
CREATE TABLE tn_alike (t text COLLATE "C") USING colcompress;
INSERT INTO tn_alike SELECT 'https://a.b/' || md5(i::text) FROM generate_series(1, 5000) i;
SELECT tn_handed_out(format('SELECT t FROM tn_alike ORDER BY t %s LIMIT 5', dir)) < 200 AS few FROM unnest(ARRAY['', 'DESC']) dir;
DROP TABLE tn_alike;
DROP FUNCTION tn_handed_out;
