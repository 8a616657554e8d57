-- What VACUUM reclaims of row groups: index entries of deleted rows, groups
-- with no row left, their extents and those of aborted loads.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS amcheck;
RESET client_min_messages;
CREATE TABLE am_v (id int, k int) USING @am@;
SELECT @am@.set_options('am_v', auto_compact => false);
CREATE INDEX am_v_id ON am_v (id);
CREATE INDEX am_v_hash ON am_v USING hash (k);
CREATE INDEX am_v_gin ON am_v USING gin ((ARRAY[k]));

-- entries in the TOAST relation: 1 descriptors, 2 tombstones and pieces,
-- 4 vacuum state, 5 free extents
DO $$ BEGIN
	EXECUTE format('CREATE VIEW am_entries AS SELECT chunk_id::bigint / 1000 AS kind, count(*) FROM %s GROUP BY 1 ORDER BY 1',
				   (SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'am_v'::regclass));
END $$;
CREATE FUNCTION index_tuples() RETURNS bigint LANGUAGE sql
AS 'SELECT reltuples::bigint FROM pg_class WHERE relname = ''am_v_id''';

INSERT INTO am_v SELECT i, i % 100 FROM generate_series(1, 50000) i;
INSERT INTO am_v SELECT i, i % 100 FROM generate_series(50001, 100000) i;
SELECT * FROM am_entries;
CREATE TABLE am_size AS SELECT pg_relation_size('am_v') AS bytes;

-- a few dead rows are not worth a scan of the indexes, unless asked for
SET @am@.enable_bulk_delete = off;
DELETE FROM am_v WHERE id BETWEEN 2000 AND 2009;
RESET @am@.enable_bulk_delete;
VACUUM am_v;
SELECT * FROM am_entries;
VACUUM (INDEX_CLEANUP on) am_v;
SELECT index_tuples(), * FROM am_entries;

-- most of a group: entries go, the group stays
DELETE FROM am_v WHERE id BETWEEN 2000 AND 49000;
VACUUM am_v;
SELECT index_tuples() = (SELECT count(*) FROM am_v) AS exact;
SELECT bt_index_check('am_v_id', true);

-- the rest of it: the group goes, and the next one takes its place
DELETE FROM am_v WHERE id <= 50000;
VACUUM (INDEX_CLEANUP off) am_v;
SELECT kind FROM am_entries;
VACUUM am_v;
SELECT kind FROM am_entries;
SELECT index_tuples() = (SELECT count(*) FROM am_v) AS exact;
VACUUM am_v;
INSERT INTO am_v SELECT i, i % 100 FROM generate_series(200001, 240000) i;
SELECT pg_relation_size('am_v') = bytes AS reused FROM am_size;
SELECT bt_index_check('am_v_id', true);
SELECT count(*), sum(id) FROM am_v;

-- a load that was rolled back after its group was written
BEGIN;
INSERT INTO am_v SELECT i, i % 100 FROM generate_series(300001, 350000) i;
SELECT count(*) FROM am_v;
ROLLBACK;
VACUUM am_v;
SELECT coalesce(sum(count), 0) AS free_extents FROM am_entries WHERE kind = 5;
SELECT pg_relation_size('am_v') = bytes AS cut_off FROM am_size;
SELECT index_tuples() = (SELECT count(*) FROM am_v) AS exact;
-- taken, given back by a rollback, taken again
BEGIN;
INSERT INTO am_v SELECT i, i % 100 FROM generate_series(300001, 350000) i;
SELECT count(*) FROM am_v;
ROLLBACK;
INSERT INTO am_v SELECT i, i % 100 FROM generate_series(300001, 340000) i;
SELECT count(*), sum(id) FROM am_v;
VACUUM am_v;
SET enable_seqscan = off;
SELECT count(*) FROM am_v WHERE k = 5;
SELECT count(*) FROM am_v WHERE ARRAY[k] @> ARRAY[5];
SELECT count(*) FROM am_v WHERE id BETWEEN 290000 AND 310000;
RESET enable_seqscan;
SELECT bt_index_check('am_v_id', true);
SELECT row_group, column_name, problem FROM @am@.verify('am_v');
DROP VIEW am_entries;
DROP TABLE am_v, am_size;
DROP FUNCTION index_tuples;

-- anchors of rows that were locked go (kind 3); rows, locks and counts stay
CREATE TABLE am_lock (id int PRIMARY KEY, k int) USING @am@ WITH (autovacuum_enabled = off);
INSERT INTO am_lock SELECT i, i FROM generate_series(1, 12000) i;
CREATE TABLE am_lock_child (id int REFERENCES am_lock);
DO $$ BEGIN
	EXECUTE format('CREATE VIEW am_anchors AS SELECT count(*) FROM %s WHERE chunk_id::bigint / 1000 = 3',
				   (SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'am_lock'::regclass));
END $$;
INSERT INTO am_lock_child SELECT id FROM am_lock WHERE id > 11000;
SELECT count(*) FROM (SELECT FROM am_lock WHERE id BETWEEN 10501 AND 10600 FOR UPDATE) x;
UPDATE am_lock SET k = k + 1 WHERE id BETWEEN 11001 AND 11010;
SELECT * FROM am_anchors;
SELECT pg_stat_force_next_flush();
VACUUM am_lock;
SELECT * FROM am_anchors;
SELECT n_live_tup, n_dead_tup < 20 AS few_dead FROM pg_stat_user_tables WHERE relname = 'am_lock';
SELECT count(*), sum(k - id) FROM am_lock;
SELECT id FROM am_lock WHERE id = 10400 FOR UPDATE;
DELETE FROM am_lock WHERE id = 10400;
DELETE FROM am_lock WHERE id = 10500;
SELECT * FROM am_anchors;
VACUUM am_lock;
SELECT * FROM am_anchors;
DROP VIEW am_anchors;
DROP TABLE am_lock_child, am_lock;
