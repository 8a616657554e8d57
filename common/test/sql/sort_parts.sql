-- Sorts and windows that have no room in memory: parts on disk, by ranges of the first key.
CREATE TABLE sp_heap AS SELECT i::int AS id, CASE WHEN i % 37 <> 0 THEN (i * 7919 % 1501)::int END AS k, (i % 150)::int AS g, i % 2 = 0 AS b, (i * 104729 % 100000 - 50000) / 100.0 AS n,
	CASE i % 3 WHEN 0 THEN i * 31 % 977 WHEN 1 THEN (i * 31 % 977) / 7.0 END AS mixed, CASE WHEN i % 41 <> 0 THEN 'key ' || i * 7919 % 1201 END AS t,
	(CASE i * 31 % 1009 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 'Infinity' WHEN 3 THEN NULL ELSE (i * 31 % 1009) / 3.0 - 100 END)::float8 AS f,
	date '2024-01-01' + (i * 7919 % 4001)::int AS d, repeat(i || 'w', (1 + i * 31 % 60)::int) AS w, CASE WHEN i % 300 = 1 THEN repeat('large' || i, 300) END AS large
FROM generate_series(1, 12000::bigint) i;
CREATE TABLE sp (LIKE sp_heap) USING @am@;
SELECT @am@.set_options('sp', row_group_rows => 4096);
INSERT INTO sp SELECT * FROM sp_heap;
VACUUM ANALYZE sp, sp_heap;
SET max_parallel_workers_per_gather = 0;

-- What became of a query's sort, and how many differences there are to heap's rows, order included.
CREATE FUNCTION sp_compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
	node jsonb;
	ours text;
	theirs text;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || replace(query, 'TBL', 'sp') INTO plan;
	node := jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == "@Am@Sort")');
	EXECUTE format('SELECT count(*) || md5(string_agg(q::text, E''\n'')) FROM (%s) q', replace(query, 'TBL', 'sp')) INTO ours;
	EXECUTE format('SELECT count(*) || md5(string_agg(q::text, E''\n'')) FROM (%s) q', replace(query, 'TBL', 'sp_heap')) INTO theirs;
	RETURN CASE WHEN node IS NULL THEN 'server, ' WHEN (node ->> 'Left To Server')::bool THEN 'left to server, ' WHEN (node ->> 'Parts On Disk')::int > 3 THEN 'parts, '
		ELSE 'memory, ' END || CASE WHEN ours IS NOT DISTINCT FROM theirs THEN 'same' ELSE 'different' END;
END $$;

CREATE TABLE sp_query (query text);
INSERT INTO sp_query SELECT format('SELECT id, k, t, n, d, f, mixed%s FROM TBL ORDER BY %s', CASE WHEN keys ~ 'w|g' THEN ', w, large, g' ELSE '' END, keys) FROM unnest(ARRAY['k, id', 'k DESC, id', 'k NULLS FIRST, id DESC', 'n, id', 'mixed DESC, id', 't, id', 't COLLATE "C" DESC NULLS LAST, id',
	'f, id', 'f DESC, id', 'd, k, id', 'id', 'id DESC', '-id', 'w, id', 'upper(t), id', 'abs(n), f, id', 'g, d DESC, id', 'large NULLS FIRST, id']) keys;
INSERT INTO sp_query VALUES ('SELECT id, k FROM TBL WHERE n > 0 ORDER BY k, id OFFSET 3000'), ('SELECT DISTINCT ON (k) k, id, n FROM TBL ORDER BY k, d DESC, id'), ('SELECT DISTINCT ON (t, b) t, b, id FROM TBL ORDER BY t, b, id');
INSERT INTO sp_query SELECT format('SELECT id, %s FROM TBL ORDER BY 1', functions) FROM unnest(ARRAY[
	'row_number() OVER (PARTITION BY k ORDER BY id), lag(n) OVER (PARTITION BY k ORDER BY id), ntile(3) OVER (PARTITION BY k ORDER BY id)',
	'sum(n) OVER (PARTITION BY k ORDER BY id), avg(g) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING), min(d) OVER (PARTITION BY k ORDER BY id)',
	'rank() OVER (PARTITION BY t ORDER BY d), dense_rank() OVER (PARTITION BY t ORDER BY d), cume_dist() OVER (PARTITION BY t ORDER BY d), count(k) OVER (PARTITION BY t ORDER BY d)',
	'first_value(w) OVER (PARTITION BY k ORDER BY id DESC), last_value(t) OVER (PARTITION BY k ORDER BY id DESC), max(f) OVER (PARTITION BY k ORDER BY id DESC)',
	'sum(mixed) OVER (PARTITION BY k ORDER BY id), max(mixed) OVER (PARTITION BY k)', 'sum(n) OVER (PARTITION BY k, b ORDER BY id), row_number() OVER (PARTITION BY k ORDER BY b, id)']) functions;
INSERT INTO sp_query VALUES ('SELECT * FROM (SELECT id, k, n, row_number() OVER (PARTITION BY k ORDER BY d, id) AS r FROM TBL) s WHERE r <= 2 ORDER BY id'),
	('SELECT r, count(*), sum(n), min(s) FROM (SELECT n, row_number() OVER (PARTITION BY t ORDER BY id) AS r, sum(g) OVER (PARTITION BY t ORDER BY id) AS s FROM TBL) s GROUP BY r ORDER BY r');
SET work_mem = '256kB';
SELECT query, r FROM sp_query, sp_compare(query) r WHERE r NOT LIKE '%, same';
-- how many are left to the server depends on what memory its version takes
SELECT count(*), count(*) FILTER (WHERE r LIKE 'parts, %') > 15 AS parts FROM sp_query, sp_compare(query) r;
-- more parts, cut more than once; and no room at all
SET work_mem = '192kB';
SELECT count(*), count(*) FILTER (WHERE r LIKE '%, same') AS same FROM sp_query, sp_compare(query) r;
SET work_mem = '64kB';
SELECT count(*), count(*) FILTER (WHERE r LIKE '%, same') AS same FROM sp_query, sp_compare(query) r;
SET work_mem = '256kB';
-- fewer rows are expected than come; and a key of most rows, which statistics do not know
SELECT sp_compare('SELECT id, k, n FROM TBL WHERE k % 1501 = k AND n + 0 = n ORDER BY k, id');
SELECT sp_compare('SELECT id, sum(g) OVER (PARTITION BY k ORDER BY id) FROM TBL WHERE k % 1501 = k AND n + 0 = n ORDER BY id');
SELECT sp_compare('SELECT id, k FROM TBL ORDER BY CASE WHEN id % 20 = 0 THEN id ELSE 7 END, id');
SELECT sp_compare('SELECT id, count(*) OVER (PARTITION BY CASE WHEN id % 20 = 0 THEN id ELSE 7 END) FROM TBL ORDER BY id');
-- keys that are too long for a sample
SELECT sp_compare('SELECT id, max(g) OVER (PARTITION BY key), sum(n) OVER (PARTITION BY key) FROM (SELECT *, repeat(''x'', 260) || k AS key FROM TBL WHERE k % 1501 = k AND n + 0 = n) s ORDER BY id') LIKE '%, same' AS same;
SELECT sp_compare('SELECT id, sum(g) OVER (PARTITION BY key) FROM (SELECT *, repeat(''x'', 260) || k % 150 AS key FROM TBL WHERE k % 1501 = k AND n + 0 = n) s ORDER BY id') LIKE '%, same' AS same;
SELECT sp_compare('SELECT DISTINCT ON (key) id, key FROM (SELECT *, repeat(''x'', 260) || k AS key FROM TBL WHERE k % 1501 = k AND n + 0 = n) s ORDER BY key, id') LIKE '%, same' AS same;
-- windows of all rows are the server's
SELECT sp_compare('SELECT id, row_number() OVER (ORDER BY k, id) FROM TBL');
SELECT sp_compare('SELECT id, row_number() OVER (PARTITION BY k ORDER BY id), sum(g) OVER (ORDER BY id) FROM TBL ORDER BY id');
EXPLAIN (COSTS OFF) SELECT id, k FROM sp ORDER BY k, id;
-- again and again, with rows below that change
SET enable_material = off;
SELECT sp_compare('SELECT x, s.* FROM generate_series(1, 3) x, LATERAL (SELECT id, k, n FROM TBL WHERE g <> x ORDER BY k, id OFFSET 100) s ORDER BY x, k, id');
SELECT sp_compare('SELECT x, s.* FROM generate_series(1, 3) x LEFT JOIN (SELECT id, sum(n) OVER (PARTITION BY k ORDER BY id) AS r FROM TBL OFFSET 0) s ON s.id % 3 = x ORDER BY x, id');
RESET enable_material;

-- forth and back
CREATE FUNCTION sp_walk(tab text, query text) RETURNS TABLE (step int, id int) LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	r record;
	place bigint;
BEGIN
	OPEN c SCROLL FOR EXECUTE replace(query, 'TBL', tab);
	FOR i IN 1 .. 60 LOOP
		place := i * 7919 % 12100 - 50;
		FETCH ABSOLUTE place FROM c INTO r;
		step := i;
		id := CASE WHEN FOUND THEN r.id END;
		RETURN NEXT;
		FETCH PRIOR FROM c INTO r;
		id := CASE WHEN FOUND THEN r.id END;
		RETURN NEXT;
	END LOOP;
	MOVE LAST FROM c;
	FOR i IN 1 .. 4000 LOOP
		FETCH PRIOR FROM c INTO r;
		step := -i;
		id := CASE WHEN FOUND THEN r.id END;
		RETURN NEXT;
	END LOOP;
	CLOSE c;
END $$;
SELECT query, count(*), count(o.id), count(*) FILTER (WHERE o.id IS DISTINCT FROM h.id) AS different
FROM unnest(ARRAY['SELECT id FROM TBL ORDER BY k, id', 'SELECT id FROM TBL ORDER BY t DESC, id', 'SELECT id, rank() OVER (PARTITION BY k ORDER BY id) FROM TBL ORDER BY k, id']) query,
	ROWS FROM (sp_walk('sp', query), sp_walk('sp_heap', query)) AS w (step, id, hstep, hid), LATERAL (SELECT w.id) o, LATERAL (SELECT w.hid AS id) h GROUP BY query ORDER BY query;

-- errors while parts are written and read leave no file
CREATE FUNCTION sp_error(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;
SELECT sp_error('SELECT count(*) FROM (SELECT id FROM sp ORDER BY k / (id - 11000), id OFFSET 10) s');
SELECT sp_error('SELECT 1 / (id - 11000) FROM (SELECT id FROM sp ORDER BY k, id OFFSET 10) s');
SET temp_file_limit = '300kB';
SELECT sp_error('SELECT count(*) FROM (SELECT id, k, n, d FROM sp ORDER BY k, id OFFSET 10) s');
RESET temp_file_limit;
SELECT count(*) FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%';
SELECT sp_compare('SELECT id, k FROM TBL ORDER BY k, id');
RESET work_mem;
DROP FUNCTION sp_compare(text), sp_walk(text, text), sp_error(text);
DROP TABLE sp, sp_heap, sp_query;
