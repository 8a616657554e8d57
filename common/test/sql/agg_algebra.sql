-- Sums of x + c, x * c and the like come from the sum of x, and raise what the
-- server raises for a row.
CREATE TABLE al (k int, s smallint, i int, b bigint, c int NOT NULL, t text, o bool) USING @am@;
CREATE TABLE al_heap (LIKE al) USING heap;
SELECT twin_do('al', 'al_heap', $$INSERT INTO TBL SELECT k, CASE WHEN k % 11 = 0 THEN NULL ELSE k % 60000 - 30000 END,
	CASE WHEN k % 13 = 0 THEN NULL ELSE k * 37 % 2000003 - 1000000 END, k * 1000000007::bigint,
	CASE WHEN k % 4096 = 77 THEN 2147483647 - k % 3 ELSE k % 100 END, repeat('x', k % 20), k % 3 = 0
	FROM generate_series(1, 20000) k$$);
-- Deleted rows of both kinds, and rows of the delta.
SELECT twin_do('al', 'al_heap', 'DELETE FROM TBL WHERE k % 4096 = 77 AND k < 9000 OR k = 5');
SELECT twin_do('al', 'al_heap', $$INSERT INTO TBL SELECT 30000 + k, k, -k, k, k, 'delta', k = 3 FROM generate_series(1, 30) k$$);
VACUUM ANALYZE al;
ANALYZE al_heap;
SET max_parallel_workers_per_gather = 0;

-- Every list of aggregates, under every condition and key: only differences are shown.
CREATE TABLE al_list (a text);
INSERT INTO al_list VALUES
	('sum(s), sum(s + 1), sum(s - 1), sum(1 - s), sum(s * 3), avg(s + 7), avg(s), count(s)'),
	('sum(s + 1::int2)'), ('sum(s * 1000000)'), ('sum(s * 1000000 + 2000000000)'), ('avg(-s)'), ('sum(s::int8 + 1)'),
	('sum(i), sum(i + 1), sum(i * 2 - 3), sum((i + 1) * 2), sum(-(i - 5)), avg(10 - i * 100)'),
	('sum(i * 2147)'), ('sum(i * 2148)'), ('sum(i + 2147000000)'), ('sum((i + 2147000000) - 2147000000)'),
	('sum(i::int8 * 2148), avg(i::int8 + 9223372036854000000), sum(1 - i::int8)'), ('sum(i::int2)'), ('sum((i::int8 * 1000)::int4)'),
	('sum(b), sum(b + 1), avg(b * 3), sum(5 - b), avg(-b), sum(b + 4611686018427387904)'), ('sum(b * 900000000)'), ('sum(b * 461168)'),
	('sum(c + 1)'), ('sum(c)'), ('sum(c - 1)'), ('sum(c * 0), avg(0 * c + 4)'), ('sum(c) FILTER (WHERE o), sum(c + 5) FILTER (WHERE o AND c < 1000)'),
	('sum(length(t) + 1), sum(length(t)), avg(length(t) * 2)'), ('sum(DISTINCT i % 7 + 1), sum(i % 7 + 1)'), ('sum(i + NULL::int), sum(1 + 2)'),
	('sum(CASE WHEN o THEN c ELSE 1 END + 1)'), ('sum(s + i), sum(s + 1 + i)'), ('sum(i / 2 + 1), sum(i + 1.5)'), ('sum(o::int + 1)');
CREATE FUNCTION al_run(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'SELECT string_agg(x::text, E''\n'' ORDER BY x::text) FROM (' || query || ') x' INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;
-- Heap is asked once, ours with every setting.
CREATE TABLE al_expected AS
	SELECT a, q, al_run(format(q, a, 'al_heap')) AS heap
	FROM al_list, unnest(ARRAY['SELECT %s FROM %s', 'SELECT %s FROM %s WHERE c < 2147000000', 'SELECT %s FROM %s WHERE k < 4000',
		'SELECT %s FROM %s WHERE k > 30000', 'SELECT %s FROM %s WHERE k < 0', 'SELECT o, %s FROM %s GROUP BY o', 'SELECT k %% 500, %s FROM %s WHERE c < 500 GROUP BY 1',
		'SELECT o, %s FROM %s GROUP BY o HAVING sum(s + 3) > 0']) q;
CREATE VIEW al_differences AS
	SELECT a, q, al_run(format(q, a, 'al')) AS ours, heap FROM al_expected;
SELECT * FROM al_differences WHERE ours IS DISTINCT FROM heap;
SELECT count(*) AS queries, count(*) FILTER (WHERE heap LIKE '%out of range%') > 20 AS errors FROM al_expected;

-- How many of the sums are derived; the switch.
CREATE FUNCTION al_derived(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS off) ' || query LOOP
		IF line LIKE '%Derived%' THEN
			RETURN NEXT trim(line);
		END IF;
	END LOOP;
END $$;
SELECT al_derived('SELECT sum(s), sum(s + 1), avg(2 * s - 1), sum(s + i) FROM al');
SELECT al_derived('SELECT sum(DISTINCT s + 1), sum(s), sum(s + k), sum(i / 2), sum(f * 2) FROM al, (VALUES (1.5)) v(f) GROUP BY o');
SET @am@.enable_aggregate_algebra = off;
SELECT al_derived('SELECT sum(s), sum(s + 1) FROM al');
SELECT * FROM al_differences WHERE ours IS DISTINCT FROM heap;
RESET @am@.enable_aggregate_algebra;

-- Parallel plans, little memory, without footers.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM al_differences WHERE ours IS DISTINCT FROM heap;
RESET max_parallel_workers_per_gather;
SET work_mem = '64kB';
SELECT * FROM al_differences WHERE ours IS DISTINCT FROM heap;
RESET work_mem;

-- A plan that was made with the setting on, run with it off.
PREPARE al_plan AS SELECT sum(i), sum(i + 1), avg(i * 2) FROM al;
EXECUTE al_plan;
SET @am@.enable_aggregate_algebra = off;
EXECUTE al_plan;
DROP VIEW al_differences;
DROP TABLE al, al_heap, al_list, al_expected;
