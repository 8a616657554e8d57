-- Old deletions of row groups become bitmaps: VACUUM folds tombstones and
-- swaths into pieces of 8,192 rows. No reader, check or writer can tell the difference.
CREATE TABLE fold (id int, k int, t text) USING @am@ WITH (autovacuum_enabled = off);
SELECT @am@.set_options('fold', auto_compact => false, row_group_rows => 20000);
DO $$ BEGIN
	EXECUTE format('CREATE VIEW fold_entries AS SELECT CASE WHEN chunk_id BETWEEN 2500 AND 2999'
				   ' THEN ''pieces'' WHEN chunk_id BETWEEN 2000 AND 2499 THEN ''tombstones'' ELSE ''swaths'' END AS kind,'
				   ' CASE WHEN min(chunk_id) >= 2000 THEN count(*) END AS count'
				   ' FROM %s WHERE chunk_id BETWEEN 1500 AND 2999 GROUP BY 1 ORDER BY 1',
				   (SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'fold'::regclass));
END $$;
CREATE VIEW fold_deleted AS SELECT rows, deleted_rows FROM @am@.row_groups('fold') ORDER BY first_row;
-- the rows there are, found in every way
CREATE FUNCTION fold_check() RETURNS TABLE (way text, rows bigint, sum numeric) LANGUAGE plpgsql AS $$
DECLARE
	ways text[] := ARRAY['seqscan', 'indexscan', 'bitmapscan', 'tidscan'];
	chosen text;
BEGIN
	FOREACH way IN ARRAY ways LOOP
		FOREACH chosen IN ARRAY ways LOOP
			PERFORM set_config('enable_' || chosen, CASE WHEN chosen = way THEN 'on' ELSE 'off' END, true);
		END LOOP;
		RETURN QUERY EXECUTE CASE way
			WHEN 'tidscan' THEN 'SELECT $1, count(*), sum(id::numeric) FROM fold WHERE ctid >= ''(0,0)'''
			WHEN 'seqscan' THEN 'SELECT $1, count(*), sum(id::numeric) FROM fold'
			ELSE 'SELECT $1, count(*), sum(id::numeric) FROM fold WHERE id > 0' END USING way;
	END LOOP;
END $$;

-- groups of 20,000 rows: two whole pieces and a part
INSERT INTO fold SELECT i, i % 100, 'row ' || i FROM generate_series(1, 50000) i;
DELETE FROM fold WHERE id <= 1000;	-- the delta's share
CREATE UNIQUE INDEX fold_id ON fold (id);
CREATE INDEX fold_k ON fold USING hash (k);
SELECT ctid AS gone FROM fold WHERE id = 7777 \gset
SELECT * FROM fold_deleted;

-- a rolled back deletion leaves nothing to fold
BEGIN;
DELETE FROM fold WHERE id % 3 = 0;
ROLLBACK;
VACUUM (INDEX_CLEANUP on) fold;
SELECT * FROM fold_entries;

DELETE FROM fold WHERE id % 7 = 0;
UPDATE fold SET t = 'new' WHERE id % 70 = 1;
SELECT * FROM fold_entries;
SELECT * FROM fold_deleted;
SELECT * FROM fold_check();
SET @am@.enable_deletion_bitmaps = off;
VACUUM fold;
SELECT * FROM fold_entries;
RESET @am@.enable_deletion_bitmaps;
VACUUM fold;
SELECT * FROM fold_entries;
SELECT * FROM fold_deleted;
SELECT * FROM fold_check();

-- folded rows cannot be reached by their TIDs
SELECT * FROM fold WHERE ctid = :'gone';
SELECT * FROM fold WHERE ctid = :'gone' FOR UPDATE;
UPDATE fold SET k = 0 WHERE ctid = :'gone' RETURNING *;
DELETE FROM fold WHERE ctid = :'gone' RETURNING *;
SELECT count(*) FROM fold TABLESAMPLE system (100);
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM fold WHERE id BETWEEN 7770 AND 7785 ORDER BY ctid;
MOVE FORWARD ALL IN c;
FETCH BACKWARD 4 FROM c;
COMMIT;

-- keys of folded rows are free, others are not
INSERT INTO fold VALUES (7777, 1, 'back again');
INSERT INTO fold VALUES (7778, 1, 'there already');
INSERT INTO fold VALUES (14, 1, 'upsert') ON CONFLICT (id) DO UPDATE SET t = 'wrong';
INSERT INTO fold VALUES (7778, 1, 'upsert') ON CONFLICT (id) DO UPDATE SET t = excluded.t;
SELECT * FROM fold WHERE id IN (14, 7777, 7778) ORDER BY id;
CREATE TABLE fold_child (id int);
ALTER TABLE fold ADD PRIMARY KEY USING INDEX fold_id;
ALTER TABLE fold_child ADD FOREIGN KEY (id) REFERENCES fold;
INSERT INTO fold_child VALUES (7784);
INSERT INTO fold_child VALUES (7785);
DELETE FROM fold WHERE id = 7785;
DROP TABLE fold_child;

-- later deletions join the same pieces, until nothing is left of a group
DELETE FROM fold WHERE id % 7 = 2;
VACUUM fold;
SELECT * FROM fold_entries;
SELECT * FROM fold_deleted;
SELECT * FROM fold_check();
DELETE FROM fold WHERE id <= 30000 AND id % 7 = 3;
BEGIN;
DELETE FROM fold WHERE id <= 30000;
SELECT count(*) FROM fold;
ROLLBACK;
DELETE FROM fold WHERE id <= 23000;
SELECT * FROM fold_deleted;
VACUUM fold;
SELECT * FROM fold_deleted;
SELECT * FROM fold_check();
SELECT row_group, column_name, problem FROM @am@.verify('fold');

-- indexes made afterwards, also concurrently, know nothing of folded rows
CREATE INDEX fold_t ON fold (t);
CREATE INDEX CONCURRENTLY fold_kt ON fold (k, id);
SET enable_seqscan = off;
SELECT count(*) FROM fold WHERE t LIKE 'row 35%' AND t > 'row 3' AND t < 'row 4';
SELECT count(*) FROM fold WHERE k = 20;
RESET enable_seqscan;
SELECT bt_index_check('fold_kt', true);
ANALYZE fold;
SELECT reltuples = (SELECT count(*) FROM fold) AS exact FROM pg_class WHERE relname = 'fold';

-- compaction leaves folded rows behind, VACUUM the pieces of replaced groups
CALL @am@.compact('fold');
SELECT * FROM fold_check();
DELETE FROM fold WHERE id % 5 = 0;
VACUUM fold;
SELECT * FROM fold_check();
CALL @am@.merge('fold');
VACUUM fold;
SELECT * FROM fold_entries;
SELECT * FROM fold_check();
DELETE FROM fold WHERE id % 11 = 0;
VACUUM fold;
SELECT * FROM fold_check();
CLUSTER fold USING fold_kt;
SELECT * FROM fold_check();
DROP VIEW fold_entries;
DELETE FROM fold WHERE id % 13 = 0;
VACUUM fold;
ALTER TABLE fold ALTER k TYPE bigint;
SELECT * FROM fold_check();
DELETE FROM fold WHERE id % 17 = 0;
VACUUM (FREEZE) fold;
VACUUM FULL fold;
SELECT * FROM fold_check();
SELECT row_group, column_name, problem FROM @am@.verify('fold');
DELETE FROM fold WHERE id % 19 = 0;
VACUUM fold;
TRUNCATE fold;
INSERT INTO fold SELECT i, i, 'row ' || i FROM generate_series(1, 30000) i;
SELECT * FROM fold_check();
DROP VIEW fold_deleted;
DROP FUNCTION fold_check();
DROP TABLE fold;

-- an exclusion constraint, whose checks look with a dirty snapshot
CREATE TABLE fold_ex (r int4range, EXCLUDE USING gist (r WITH &&)) USING @am@
	WITH (autovacuum_enabled = off);
SELECT @am@.set_options('fold_ex', auto_compact => false);
INSERT INTO fold_ex SELECT int4range(i * 2, i * 2 + 1) FROM generate_series(1, 5000) i;
CALL @am@.merge('fold_ex');
DELETE FROM fold_ex WHERE lower(r) % 20 = 0;
VACUUM (INDEX_CLEANUP on) fold_ex;
SELECT rows, deleted_rows FROM @am@.row_groups('fold_ex');
INSERT INTO fold_ex VALUES (int4range(20, 21));
INSERT INTO fold_ex VALUES (int4range(22, 23));
SELECT count(*) FROM fold_ex;
DROP TABLE fold_ex;

-- a bitmap that has forgotten rows leads to all of a page, which no entry of
-- an index does
CREATE TABLE fold_big (id int, k int) USING @am@ WITH (autovacuum_enabled = off);
SELECT @am@.set_options('fold_big', auto_compact => false);
INSERT INTO fold_big SELECT i, i % 50 FROM generate_series(1, 400000) i;
CREATE INDEX ON fold_big (k);
DELETE FROM fold_big WHERE id % 20 = 7;
VACUUM fold_big;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET work_mem = '64kB';
SELECT count(*), sum(id::bigint) FROM fold_big WHERE k BETWEEN 6 AND 8;
SELECT count(*) FROM (SELECT id, k, ctid FROM fold_big WHERE k BETWEEN 6 AND 8 FOR UPDATE) x;
RESET work_mem;
RESET enable_indexscan;
RESET enable_seqscan;
DROP TABLE fold_big;
