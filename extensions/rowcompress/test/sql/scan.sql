-- plans of the custom scan, what it prunes, and that switches change no result
CREATE TABLE sc (id int, ts timestamptz, k int, t text COLLATE "C", n numeric, f float8, iv interval, ip inet, u uuid, nil int)
	USING rowcompress;
CREATE TABLE sc_heap (LIKE sc);
SELECT rowcompress.set_options('sc', batch_bytes => 16384, row_group_rows => 4000);
INSERT INTO sc_heap SELECT g, timestamptz '2024-01-01 00:00+00' + g * interval '1 minute', g % 97,
	'key ' || lpad((g / 10)::text, 5, '0'), g / 3.0, CASE WHEN g % 501 = 0 THEN 'NaN' ELSE g / 7.0 END, g * interval '1 hour',
	('10.' || g / 65536 || '.' || g / 256 % 256 || '.' || g % 256)::inet, md5(g::text)::uuid, CASE WHEN g % 4000 = 1 THEN g END
FROM generate_series(1, 10000) g;
INSERT INTO sc SELECT * FROM sc_heap ORDER BY id;
INSERT INTO sc SELECT id + 10000, ts, k, t, n, f, iv, ip, u, nil FROM sc_heap WHERE id <= 100;
INSERT INTO sc_heap SELECT id + 10000, ts, k, t, n, f, iv, ip, u, nil FROM sc_heap WHERE id <= 100;
DELETE FROM sc WHERE id % 33 = 0;
DELETE FROM sc_heap WHERE id % 33 = 0;
UPDATE sc SET k = -1 WHERE id % 57 = 0;
UPDATE sc_heap SET k = -1 WHERE id % 57 = 0;
ANALYZE sc;
SELECT twin_diff('sc', 'sc_heap');

SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT k FROM sc WHERE id < 100 AND t LIKE 'key 0000%' AND k + 1 > 5;
EXPLAIN (COSTS OFF, VERBOSE) SELECT n FROM sc WHERE f > 3;
EXPLAIN (COSTS OFF) SELECT xmin FROM sc WHERE id = 3;
SET rowcompress.enable_custom_scan = off;
EXPLAIN (COSTS OFF) SELECT k FROM sc WHERE id < 100;
RESET rowcompress.enable_custom_scan;

-- which quals zones rule groups and batches out by
CREATE FUNCTION pruned(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	node json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
	node := plan -> 0 -> 'Plan';
	RETURN format('groups %s of %s pruned, batches %s',
				  node -> 'Row Groups' ->> 'Pruned', node -> 'Row Groups' ->> 'Total',
				  CASE WHEN (node -> 'Batches' ->> 'Pruned')::int > 5 * (node -> 'Batches' ->> 'Read')::int THEN 'nearly all pruned'
					   WHEN (node -> 'Batches' ->> 'Pruned')::int > 0 THEN 'some pruned' ELSE 'none pruned' END);
END $$;
SELECT q, pruned('SELECT id FROM sc WHERE ' || q) FROM (VALUES
	('id = 5000'), ('id < 50'), ('9990 < id'), ('id BETWEEN 4990 AND 5010'), ('id IN (17, 23)'), ('id <> 5'), ('id = 5 OR id = 6'),
	('ts = ''2024-01-02 00:00+00'''), ('t = ''key 00500'''), ('t LIKE ''key 0004%'''), ('t > ''key 0098'''), ('n = 100'), ('f < 5'),
	('iv > ''9990 hours'''), ('ip = ''10.0.0.77'''), ('ip <<= ''10.0.0.0/24'''), ('u = md5(''1'')::uuid'), ('nil IS NOT NULL'), ('nil IS NULL'), ('k = 1000'),
	('id = (SELECT 77)'), ('id = NULL'), ('false')) v(q);
SET rowcompress.enable_pruning = off;
SELECT pruned('SELECT id FROM sc WHERE id = 5000');
RESET rowcompress.enable_pruning;

-- the same answers as heap's, with and without
CREATE FUNCTION differences(switches text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	q text;
	ours text;
	heap text;
BEGIN
	FOREACH q IN ARRAY ARRAY['id = 5000', 'id < 50', '9990 < id', 'id BETWEEN 4990 AND 5010', 'id IN (17, 23, 10050)', 'id <> 5', 'id = 5 OR k = 6',
		't = ''key 00500''', 't LIKE ''key 0004%''', 't > ''key 0098''', 'n = 100', 'n > 3000', 'f < 5', 'f >= ''NaN''', 'f <> ''NaN''',
		'iv > ''9990 hours''', 'ip = ''10.0.0.77''', 'ip <<= ''10.0.0.0/24''', 'u = md5(''1'')::uuid', 'nil IS NOT NULL', 'nil IS NULL', 'nil > 4000', 'k = -1', 'k < 0 AND id > 9000',
		'id % 7 = 3 AND k > 90', 'sc IS NOT NULL', 'id = (SELECT 77)', 'id = NULL', 'false', 'id > 9990 AND 100 / (id - 5) > 0',
		'ctid IS NOT NULL AND id < 3', 'id < 100::int8', 'id::int8 < 100', 'id > 9999::int2', 'ts < ''2024-01-01 01:00+00''', 'ts::date = ''2024-01-03''']
	LOOP
		EXECUTE format('SELECT md5(string_agg(sc::text, '','' ORDER BY id)) FROM sc WHERE %s', q) INTO ours;
		EXECUTE format('SELECT md5(string_agg(sc::text, '','' ORDER BY id)) FROM sc_heap sc WHERE %s', q) INTO heap;
		IF ours IS DISTINCT FROM heap THEN
			RETURN NEXT switches || ': ' || q;
		END IF;
	END LOOP;
END $$;
SELECT differences('default');
SET rowcompress.enable_vector_filter = off;
SELECT differences('no vector filter');
SET rowcompress.enable_pruning = off;
SELECT differences('no pruning');
RESET rowcompress.enable_vector_filter;
SELECT differences('vector filter alone');
RESET rowcompress.enable_pruning;
SET rowcompress.enable_custom_scan = off;
SELECT differences('no custom scan');
RESET rowcompress.enable_custom_scan;

-- parameters: generic plans, rescans
SET plan_cache_mode = force_generic_plan;
PREPARE p(int) AS SELECT count(*), sum(k) FROM sc WHERE id < $1;
EXECUTE p(100);
EXECUTE p(7000);
EXECUTE p(NULL);
RESET plan_cache_mode;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT v, (SELECT sum(k) FROM sc WHERE id BETWEEN v AND v + 10) FROM generate_series(1, 10000, 3333) v;
SELECT count(*), sum(s.k) FROM generate_series(1, 9000, 3000) v, LATERAL (SELECT k FROM sc WHERE id > v AND id < v + 20 LIMIT 5) s;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- a qual that fails sees no row that LIMIT or an earlier qual spares it
SELECT id FROM sc WHERE 10 / (id - 200) IS NOT NULL LIMIT 3;
SELECT id FROM sc WHERE 10 / (id - 200) IS NOT NULL AND id < 1000 ORDER BY id LIMIT 3;

-- workers share batches
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT sum(k), count(f) FROM sc WHERE n > 10;
SELECT sum(k), count(f), sum(n) FROM sc WHERE n > 10;
SELECT sum(k), count(f), sum(n) FROM sc_heap WHERE n > 10;
RESET ALL;

-- all of many columns: never the server's own scan, which takes rows one by one
SELECT format('CREATE TABLE sw (%s) USING rowcompress', string_agg('c' || i || ' int', ', ')) FROM generate_series(1, 24) i \gexec
SELECT format('INSERT INTO sw SELECT %s FROM generate_series(1, 5000) g', string_agg('g % ' || i, ', ')) FROM generate_series(1, 24) i \gexec
ANALYZE sw;
EXPLAIN (COSTS OFF) SELECT * FROM sw;
EXPLAIN (COSTS OFF) SELECT * FROM sw WHERE c8 = 3;
DROP TABLE sw;

-- cursors
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM sc WHERE id < 8;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
COMMIT;
DROP TABLE sc, sc_heap;
DROP FUNCTION pruned, differences;
