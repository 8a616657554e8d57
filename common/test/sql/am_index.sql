-- Index builds, index scans, bitmap scans, samples and TID ranges over row
-- groups and delta together, against a heap twin.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS amcheck;
RESET client_min_messages;
CREATE TABLE am_i (id int, k int, t text, j int[], p point, ts timestamp) USING @am@;
CREATE TABLE am_h (LIKE am_i) USING heap;
INSERT INTO am_i SELECT i, i % 1000, 'text ' || i % 777, ARRAY[i % 10, i % 7], point(i, i % 13),
	timestamp '2020-01-01' + i * interval '1 s' FROM generate_series(1, 60000) i;
INSERT INTO am_h SELECT * FROM am_i;
SELECT twin_do('am_i', 'am_h', 'DELETE FROM TBL WHERE id % 7 = 0');
SELECT twin_do('am_i', 'am_h', 'UPDATE TBL SET k = k + 1, t = t || ''x'' WHERE id % 11 = 0');
SELECT twin_do('am_i', 'am_h', 'INSERT INTO TBL SELECT i, i % 1000, ''late'', NULL, NULL, NULL FROM generate_series(60001, 60050) i');

-- every kind of index that there is
CREATE INDEX am_i_k ON am_i (k);
CREATE INDEX am_i_hash ON am_i USING hash (k);
CREATE INDEX am_i_gin ON am_i USING gin (j);
CREATE INDEX am_i_gist ON am_i USING gist (p);
CREATE INDEX am_i_spgist ON am_i USING spgist (t);
CREATE INDEX am_i_expr ON am_i (lower(t), (k + 1));
CREATE INDEX am_i_part ON am_i (k) INCLUDE (id) WHERE id % 5 = 0;
CREATE UNIQUE INDEX am_i_id ON am_i (id);
CREATE INDEX CONCURRENTLY am_i_cic ON am_i (k, id);
REINDEX TABLE CONCURRENTLY am_i;
REINDEX INDEX am_i_hash;
SELECT c.relname, bt_index_parent_check(c.oid, true)
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_am a ON a.oid = c.relam
WHERE i.indrelid = 'am_i'::regclass AND amname = 'btree' ORDER BY 1;

-- refused, with the reason
CREATE INDEX ON am_i USING brin (id);
\set VERBOSITY terse
CREATE UNIQUE INDEX ON am_i (k);
CREATE UNIQUE INDEX CONCURRENTLY am_i_bad ON am_i (k);
DROP INDEX am_i_bad;
SELECT twin_do('am_i', 'am_h', 'DELETE FROM TBL WHERE id > 990');
CREATE UNIQUE INDEX am_i_uk ON am_i (t, id);
INSERT INTO am_i (id, k) VALUES (1, 5000);
ALTER TABLE am_i ADD CONSTRAINT am_ex EXCLUDE USING gist (p WITH ~=);

-- a build with parallel workers
CREATE TABLE am_p (id int, k int) USING @am@;
INSERT INTO am_p SELECT i, i % 100 FROM generate_series(1, 400000) i;
SET min_parallel_table_scan_size = 0;
SET maintenance_work_mem = '256MB';
SET max_parallel_maintenance_workers = 2;
CREATE INDEX am_p_i ON am_p (k, id);
CREATE INDEX CONCURRENTLY am_p_c ON am_p (id);
SELECT bt_index_check('am_p_i', true), bt_index_check('am_p_c', true);
RESET min_parallel_table_scan_size;
RESET maintenance_work_mem;
RESET max_parallel_maintenance_workers;

-- plans by index and by bitmap, exact and lossy
CREATE FUNCTION am_sums(tab regclass) RETURNS TABLE (what text, n bigint, s numeric)
LANGUAGE plpgsql AS $$
DECLARE
	q text;
BEGIN
	FOREACH q IN ARRAY ARRAY['k BETWEEN 10 AND 400', 'k = 77', 'j @> ''{3}''', 't = ''text 5''',
		'p <@ box(''(0,0),(300,5)'')', 'lower(t) LIKE ''text 10%''', 'k = 5 OR id IN (3, 4, 5)'] LOOP
		what := q;
		EXECUTE format('SELECT count(*), sum(id) FROM %s WHERE %s', tab, q) INTO n, s;
		RETURN NEXT;
	END LOOP;
END $$;
CREATE TABLE am_expected AS SELECT * FROM am_sums('am_h');
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM (SELECT * FROM am_sums('am_i') EXCEPT ALL SELECT * FROM am_expected) d;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT count(*) FROM (SELECT * FROM am_sums('am_i') EXCEPT ALL SELECT * FROM am_expected) d;
SET work_mem = '64kB';
SELECT count(*), sum(id) FROM am_p WHERE id BETWEEN 1000 AND 399000;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SELECT count(*), sum(id) FROM am_p WHERE id BETWEEN 1000 AND 399000;
RESET ALL;

-- samples: all, none, a share that repeats
SELECT count(*) = (SELECT count(*) FROM am_p) FROM am_p TABLESAMPLE bernoulli (100);
SELECT count(*) = (SELECT count(*) FROM am_p) FROM am_p TABLESAMPLE system (100);
SELECT count(*) FROM am_p TABLESAMPLE system (0);
SELECT count(*) BETWEEN 35000 AND 45000 FROM am_p TABLESAMPLE bernoulli (10);
SELECT count(*) BETWEEN 10000 AND 80000, count(*) = count(DISTINCT id) FROM am_p TABLESAMPLE system (10);
SELECT (SELECT sum(id) FROM am_p TABLESAMPLE bernoulli (1) REPEATABLE (5)) =
	(SELECT sum(id) FROM am_p TABLESAMPLE bernoulli (1) REPEATABLE (5)) AS repeats;

-- TID ranges
SET enable_seqscan = off;
SELECT count(*) FROM am_p WHERE ctid >= '(0,0)';
SELECT count(*) FROM am_p WHERE ctid >= '(2147483648,0)' AND ctid < '(2147483650,0)';
SELECT min(id), max(id), count(*) FROM am_p WHERE ctid > '(2147483700,5)' AND ctid <= '(2147483702,3)';
SELECT count(*) FROM am_p WHERE ctid < '(2147483648,0)' OR ctid >= '(2147483648,0)';
SELECT count(*) FROM am_p WHERE ctid > '(2147483700,300)' AND ctid < '(2147483701,1)';
RESET enable_seqscan;

DROP TABLE am_i, am_h, am_p, am_expected;
DROP FUNCTION am_sums;
