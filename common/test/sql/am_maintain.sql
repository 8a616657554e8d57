-- ANALYZE, VACUUM, VACUUM FULL, CLUSTER, rewrites and truncations of tables
-- with row groups and delta, against a heap twin.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS amcheck;
RESET client_min_messages;
CREATE TABLE am_m (id int, k int, t text) USING @am@;
CREATE TABLE am_n (LIKE am_m) USING heap;

-- reltuples is right from an empty table up
ANALYZE am_m;
SELECT reltuples FROM pg_class WHERE relname = 'am_m';
SELECT twin_do('am_m', 'am_n', 'INSERT INTO TBL VALUES (0, 0, ''one'')');
ANALYZE am_m;
SELECT reltuples FROM pg_class WHERE relname = 'am_m';
SELECT twin_do('am_m', 'am_n', 'INSERT INTO TBL SELECT i, i % 50, ''note '' || i % 300 FROM generate_series(1, 100000) i');
ANALYZE am_m;
SELECT reltuples FROM pg_class WHERE relname = 'am_m';
SELECT attname, CASE WHEN n_distinct < 0 THEN round(n_distinct::numeric, 1) ELSE round(n_distinct::numeric, -1) END
FROM pg_stats WHERE tablename = 'am_m' ORDER BY 1;
SELECT twin_do('am_m', 'am_n', 'DELETE FROM TBL WHERE id % 5 = 0');
SELECT twin_do('am_m', 'am_n', 'UPDATE TBL SET t = ''new'' WHERE id % 9 = 0');
ANALYZE am_m;
SELECT reltuples FROM pg_class WHERE relname = 'am_m';
BEGIN;
SELECT twin_do('am_m', 'am_n', 'INSERT INTO TBL SELECT i, 1, ''own'' FROM generate_series(200001, 220000) i');
ANALYZE am_m;
SELECT reltuples FROM pg_class WHERE relname = 'am_m';
COMMIT;
CREATE INDEX am_m_id ON am_m (id);
SELECT reltuples FROM pg_class WHERE relname = 'am_m_id';

-- VACUUM knows all rows and truncates nothing
VACUUM am_m;
SELECT reltuples = (SELECT count(*) FROM am_n) AS exact FROM pg_class WHERE relname = 'am_m';
SELECT twin_do('am_m', 'am_n', 'DELETE FROM TBL WHERE id BETWEEN 30000 AND 40000');
VACUUM (FREEZE, TRUNCATE, INDEX_CLEANUP on) am_m;
SELECT reltuples = (SELECT count(*) FROM am_n) AS exact FROM pg_class WHERE relname = 'am_m';
SELECT twin_diff('am_m', 'am_n'), bt_index_check('am_m_id', true);
SET enable_seqscan = off;
SELECT count(*) FROM am_m WHERE id BETWEEN 29990 AND 40010;
RESET enable_seqscan;

-- rewrites
VACUUM FULL am_m;
SELECT twin_diff('am_m', 'am_n'), bt_index_check('am_m_id', true);
SELECT reltuples = (SELECT count(*) FROM am_n) AS exact FROM pg_class WHERE relname = 'am_m';
SELECT twin_do('am_m', 'am_n', 'UPDATE TBL SET k = -k WHERE id < 1000');
CREATE INDEX am_m_k ON am_m (k DESC, id);
CLUSTER am_m USING am_m_k;
SELECT twin_diff('am_m', 'am_n'), bt_index_check('am_m_k', true);
SELECT bool_and(k <= before) FROM (SELECT k, lag(k) OVER (ORDER BY ctid) AS before FROM am_m) s;
CREATE INDEX am_m_gist ON am_m USING gist (point(id, k));
CLUSTER am_m USING am_m_gist;
SELECT twin_diff('am_m', 'am_n');
BEGIN;
SELECT twin_do('am_m', 'am_n', 'INSERT INTO TBL SELECT i, 2, ''xact'' FROM generate_series(300001, 310000) i');
SELECT twin_do('am_m', 'am_n', 'DELETE FROM TBL WHERE id BETWEEN 300100 AND 300200');
SAVEPOINT s;
SELECT twin_do('am_m', 'am_n', 'DELETE FROM TBL WHERE id BETWEEN 300300 AND 300400');
ROLLBACK TO s;
SELECT twin_do('am_m', 'am_n', 'UPDATE TBL SET k = 3 WHERE id BETWEEN 300500 AND 300510');
CLUSTER am_m USING am_m_k;
SELECT twin_diff('am_m', 'am_n'), bt_index_check('am_m_k', true);
SELECT twin_do('am_m', 'am_n', 'UPDATE TBL SET k = 4 WHERE id BETWEEN 300505 AND 300520');
COMMIT;
SELECT twin_diff('am_m', 'am_n');

-- other access methods and types
ALTER TABLE am_m SET ACCESS METHOD heap;
SELECT twin_diff('am_m', 'am_n');
ALTER TABLE am_m SET ACCESS METHOD @am@;
SELECT twin_diff('am_m', 'am_n'), bt_index_check('am_m_id', true);
SELECT pg_relation_size('am_m') < pg_relation_size('am_n') / 2 AS compressed;
ALTER TABLE am_m ALTER k TYPE bigint, ADD c int DEFAULT 7;
ALTER TABLE am_m DROP t;
VACUUM FULL am_m;
SELECT sum(m.c) = 7 * count(*), sum(m.k) = (SELECT sum(k) FROM am_n) FROM am_m m;

-- TRUNCATE, undone and not; indexes are rebuilt from the right rows
BEGIN;
TRUNCATE am_m;
INSERT INTO am_m (id, k) SELECT i, i FROM generate_series(1, 20000) i;
CREATE INDEX am_m_new ON am_m (k, id);
SELECT count(*) FROM am_m;
SELECT bt_index_check('am_m_new', true);
ROLLBACK;
SELECT count(*) = (SELECT count(*) FROM am_n) FROM am_m;
TRUNCATE am_m;
SELECT count(*) FROM am_m;
CREATE TEMP TABLE am_tmp (a int) USING @am@ ON COMMIT DELETE ROWS;
CREATE INDEX am_tmp_i ON am_tmp (a);
BEGIN;
INSERT INTO am_tmp SELECT generate_series(1, 20000);
COMMIT;
BEGIN;
INSERT INTO am_tmp SELECT generate_series(501, 20500);
SET LOCAL enable_seqscan = off;
SELECT count(*), min(a), max(a) FROM am_tmp WHERE a BETWEEN 1 AND 1100;
COMMIT;
DROP TABLE am_m, am_n, am_tmp;

-- rows that this transaction loaded just before are counted, too
BEGIN;
CREATE TABLE am_new (a int) USING @am@;
INSERT INTO am_new SELECT generate_series(1, 1100);
ANALYZE am_new;
SELECT reltuples FROM pg_class WHERE relname = 'am_new';
ROLLBACK;
