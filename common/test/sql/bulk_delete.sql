--
-- DELETE of many rows at once: what is deleted, who sees it, and when it is
-- not done.  Table mow has the rows, twin is heap.
--
CREATE TABLE mow (id int PRIMARY KEY, v int, t text) USING @am@;
CREATE TABLE twin (id int PRIMARY KEY, v int, t text) USING heap;
INSERT INTO mow SELECT i, i % 7, 'x' || i % 50 FROM generate_series(1, 12000) i;
INSERT INTO twin SELECT * FROM mow;
ANALYZE mow;

-- Runs a statement on both tables and compares rows, and what is left.
CREATE FUNCTION in_both(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	nmow bigint;
	ntwin bigint;
	differ bigint;
BEGIN
	EXECUTE statement;
	GET DIAGNOSTICS nmow = ROW_COUNT;
	EXECUTE regexp_replace(statement, '\mmow\M', 'twin', 'g');
	GET DIAGNOSTICS ntwin = ROW_COUNT;
	SELECT count(*) INTO differ FROM mow FULL JOIN twin USING (id, v, t)
		WHERE mow.id IS NULL OR twin.id IS NULL;
	RETURN format('%s rows, %s in heap, %s differ', nmow, ntwin, differ);
END $$;

-- How many rows of a DELETE were deleted at once, if any.
CREATE FUNCTION at_once(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text := 'none';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || statement LOOP
		IF line ~ 'Rows Deleted at Once' THEN
			result := trim(line);
		END IF;
	END LOOP;
	RAISE EXCEPTION USING message = 'undo';
EXCEPTION WHEN raise_exception THEN
	RETURN result;
END $$;

-- ranges, scattered rows, rows of the delta (ids up to 1000), none
SELECT at_once('DELETE FROM mow WHERE id BETWEEN 1500 AND 3500');
SELECT at_once('DELETE FROM mow WHERE id % 3 = 0');
SELECT at_once('DELETE FROM mow WHERE id < 1000');
-- not with RETURNING: who gets the rows may want a few of them only
SELECT at_once('DELETE FROM mow WHERE id BETWEEN 1500 AND 3500 RETURNING id');
SET @am@.enable_bulk_delete = off;
SELECT at_once('DELETE FROM mow WHERE id BETWEEN 1500 AND 3500');
RESET @am@.enable_bulk_delete;

SELECT in_both('DELETE FROM mow WHERE id BETWEEN 900 AND 3500 AND v = 3');
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 2000 AND 2100');
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 2000 AND 2100');
SELECT in_both('DELETE FROM mow WHERE id % 5 = 0 AND t LIKE ''x1%''');

-- through the index, and as single rows
SET enable_seqscan = off;
SET @am@.enable_custom_scan = off;
SELECT count(*), sum(v) FROM mow WHERE id BETWEEN 1900 AND 2200;
SELECT id FROM mow WHERE id IN (1999, 2000, 2100, 2101);
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 2000 AND 2110');
SELECT in_both('UPDATE mow SET v = 8 WHERE id BETWEEN 2095 AND 2120');
RESET enable_seqscan;
RESET @am@.enable_custom_scan;

-- savepoints, later commands, cursors, the same key again
BEGIN;
SELECT in_both('DELETE FROM mow WHERE v = 1');
SAVEPOINT s;
SELECT in_both('DELETE FROM mow WHERE v = 2');
SELECT in_both('DELETE FROM mow WHERE v = 2');
ROLLBACK TO s;
SELECT in_both('DELETE FROM mow WHERE v < 3');
DECLARE before CURSOR FOR SELECT count(*), min(id) FROM mow;
SELECT in_both('DELETE FROM mow WHERE id > 6000');
SELECT in_both('INSERT INTO mow SELECT i, 9, ''new'' FROM generate_series(7000, 7100) i');
FETCH before;
SELECT in_both('DELETE FROM mow WHERE v = 9');
ROLLBACK;
SELECT in_both('UPDATE mow SET v = v WHERE id = 0');

-- system columns of what is deleted
BEGIN;
DELETE FROM mow WHERE id BETWEEN 5001 AND 5010 AND v <> 6
	RETURNING id, tableoid::regclass, xmax = pg_current_xact_id()::xid AS mine;
ROLLBACK;

-- who could tell the difference: functions that look at the table ...
CREATE FUNCTION left_over(lower int) RETURNS bigint LANGUAGE sql VOLATILE AS
	'SELECT count(*) FROM mow WHERE id BETWEEN lower AND lower + 9';
CREATE FUNCTION left_of(lower int) RETURNS bigint LANGUAGE sql STABLE AS
	'SELECT count(*) FROM mow WHERE id BETWEEN lower AND lower + 9';
BEGIN;
DELETE FROM mow WHERE id BETWEEN 5010 AND 5019 RETURNING id, left_over(5010);
DELETE FROM mow WHERE id BETWEEN 5020 AND 5029 RETURNING id, left_of(5020);
DELETE FROM mow WHERE id BETWEEN 5030 AND 5039 AND left_over(5030) > 4 RETURNING id;
ROLLBACK;
SELECT at_once('DELETE FROM mow WHERE id BETWEEN 5000 AND 5999 RETURNING left_over(id)');
SELECT at_once('DELETE FROM mow WHERE id BETWEEN 5000 AND 5999 RETURNING left_of(id)');
SELECT at_once('DELETE FROM mow WHERE id BETWEEN 5000 AND 5999 AND random() >= 0');

-- ... commands beside it, which may delete the same rows
SELECT in_both('WITH other AS (DELETE FROM mow WHERE id BETWEEN 5500 AND 5600 RETURNING id)
	DELETE FROM mow WHERE id BETWEEN 5590 AND 5650');
SELECT at_once('WITH other AS (DELETE FROM mow WHERE id BETWEEN 6500 AND 6600 RETURNING id)
	DELETE FROM mow WHERE id BETWEEN 6590 AND 6650');

-- ... and triggers
CREATE FUNCTION keep_some() RETURNS trigger LANGUAGE plpgsql AS
	'BEGIN RETURN CASE WHEN old.id % 4 = 0 THEN NULL ELSE old END; END';
CREATE TRIGGER keep BEFORE DELETE ON mow FOR EACH ROW EXECUTE FUNCTION keep_some();
CREATE TRIGGER keep BEFORE DELETE ON twin FOR EACH ROW EXECUTE FUNCTION keep_some();
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 6000 AND 6100');
SELECT at_once('DELETE FROM mow WHERE id BETWEEN 6000 AND 6100');
DROP TRIGGER keep ON mow;
DROP TRIGGER keep ON twin;

CREATE TABLE log (what text, id int, n bigint) USING heap;
CREATE FUNCTION log_row() RETURNS trigger LANGUAGE plpgsql AS
	'BEGIN INSERT INTO log VALUES (''row'', old.id, old.v); RETURN NULL; END';
CREATE FUNCTION log_table() RETURNS trigger LANGUAGE plpgsql AS
	'BEGIN INSERT INTO log SELECT ''table'', sum(id), count(*) FROM gone; RETURN NULL; END';
CREATE TRIGGER log_row AFTER DELETE ON mow FOR EACH ROW EXECUTE FUNCTION log_row();
SELECT at_once('DELETE FROM mow WHERE id BETWEEN 6200 AND 6300');
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 6200 AND 6300');
DROP TRIGGER log_row ON mow;
-- the condition of one is evaluated row by row
CREATE FUNCTION left_when(lower int) RETURNS boolean LANGUAGE plpgsql VOLATILE AS
	'BEGIN INSERT INTO log VALUES (''when'', lower, left_over(lower)); RETURN true; END';
CREATE TRIGGER log_row AFTER DELETE ON mow FOR EACH ROW
	WHEN (left_when(old.id - old.id % 10)) EXECUTE FUNCTION log_row();
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 6420 AND 6439');
SELECT * FROM log WHERE what = 'when' ORDER BY id, n DESC;
DROP TRIGGER log_row ON mow;
DROP FUNCTION left_when;
CREATE TRIGGER log_table AFTER DELETE ON mow REFERENCING OLD TABLE AS gone
	FOR EACH STATEMENT EXECUTE FUNCTION log_table();
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 6300 AND 6400');
DROP TRIGGER log_table ON mow;
SELECT what, count(*), sum(id), sum(n) FROM log GROUP BY what ORDER BY what;

-- foreign keys; rows that were locked by their checks
CREATE TABLE child (id int REFERENCES mow ON DELETE CASCADE) USING @am@;
INSERT INTO child SELECT id FROM mow WHERE id BETWEEN 7000 AND 7999;
SELECT at_once('DELETE FROM mow WHERE id BETWEEN 7000 AND 7499');
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 7000 AND 7499');
SELECT count(*), min(id) FROM child;
DROP TABLE child;

-- partitions
CREATE TABLE parts (id int, v int) PARTITION BY RANGE (id);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (5000) USING @am@;
CREATE TABLE parts2 PARTITION OF parts FOR VALUES FROM (5000) TO (10000) USING @am@;
INSERT INTO parts SELECT i, i % 3 FROM generate_series(0, 9999) i;
ANALYZE parts;
SELECT at_once('DELETE FROM parts WHERE v = 1');
WITH x AS (SELECT 1) DELETE FROM parts WHERE v = 1;
SELECT tableoid::regclass, count(*), sum(v) FROM parts GROUP BY 1 ORDER BY 1;
DROP TABLE parts;

-- a transaction of one snapshot, and one that checks for conflicts
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 8000 AND 8100');
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 8050 AND 8200');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT at_once('DELETE FROM mow WHERE id BETWEEN 8300 AND 8400');
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 8300 AND 8400');
COMMIT;

-- VACUUM, compaction, rewrites
SELECT count(*) AS problems FROM @am@.verify('mow');
VACUUM mow;
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 9000 AND 9100');
SELECT count(*) AS problems FROM @am@.verify('mow');
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 9000 AND 9300 AND v = 4');
CALL @am@.compact('mow');
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 10000 AND 10100');
SELECT count(*) AS problems FROM @am@.verify('mow');
CLUSTER mow USING mow_pkey;
SELECT in_both('DELETE FROM mow WHERE id BETWEEN 10200 AND 10300');
VACUUM FULL mow;
SELECT in_both('DELETE FROM mow');
VACUUM mow;
SELECT in_both('INSERT INTO mow SELECT i, 1, ''again'' FROM generate_series(1, 3000) i');
SELECT count(*) AS problems FROM @am@.verify('mow');

DROP TABLE mow, twin, log;
DROP FUNCTION in_both, at_once, left_over, left_of, keep_some, log_row, log_table;
