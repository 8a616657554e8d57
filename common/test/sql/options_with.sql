-- Options in CREATE TABLE and ALTER TABLE: sugar where the library is loaded.
LOAD '@am@';

CREATE TABLE ow (id int, d date) USING @am@
	WITH (fillfactor = 90, @am@.orderby = 'd DESC', @am@.compression = lz4,
		  @am@.row_group_bytes = '1MB', @am@.auto_compact = off);
SELECT name, value FROM @am@.table_options('ow') WHERE source = 'table';
SELECT reloptions FROM pg_class WHERE oid = 'ow'::regclass;

-- identity columns make a sequence on the way
CREATE TABLE ow_serial (id serial, i int GENERATED ALWAYS AS IDENTITY, t text) USING @am@
	WITH (@am@.level = 8);
SELECT name, value FROM @am@.table_options('ow_serial') WHERE source = 'table';

CREATE TABLE IF NOT EXISTS ow (id int) WITH (@am@.level = 4);
SELECT name, value FROM @am@.table_options('ow') WHERE source = 'table';

CREATE TABLE ow_as USING @am@ WITH (@am@.row_group_rows = 5000) AS
	SELECT i AS id FROM generate_series(1, 10) i;
SELECT name, value FROM @am@.table_options('ow_as') WHERE source = 'table';
CREATE MATERIALIZED VIEW ow_mv USING @am@ WITH (@am@.orderby = id) AS
	SELECT i AS id FROM generate_series(1, 10) i;
SELECT name, value FROM @am@.table_options('ow_mv') WHERE source = 'table';
CREATE TABLE ow_part (k int) PARTITION BY LIST (k) WITH (@am@.level = 2);
SELECT name, value FROM @am@.table_options('ow_part') WHERE source = 'table';

-- errors leave nothing behind
\set VERBOSITY terse
CREATE TABLE ow_bad (id int) USING @am@ WITH (@am@.nosuch = 1);
\set VERBOSITY default
CREATE TABLE ow_bad (id int) USING @am@ WITH (@am@.level = 99);
CREATE TABLE ow_bad (id int) USING @am@ WITH (@am@.orderby = 'nosuch');
CREATE TABLE ow_bad USING @am@ WITH (@am@.orderby = 'nosuch') AS SELECT 1 AS id;
CREATE TABLE ow_bad (id int) USING @am@ WITH (@am@.level);
CREATE TABLE ow_bad (id int) WITH (nosuch.level = 1);
CREATE TABLE ow_bad (id nosuch) WITH (@am@.level = 1);
SELECT to_regclass('ow_bad');
CREATE TABLE ow_plain (id int) USING @am@;
SELECT name, value FROM @am@.table_options('ow_plain') WHERE source = 'table';

ALTER TABLE ow SET (@am@.level = 11, fillfactor = 80), RESET (@am@.auto_compact);
SELECT name, value FROM @am@.table_options('ow') WHERE source = 'table';
SELECT reloptions FROM pg_class WHERE oid = 'ow'::regclass;
ALTER TABLE ow RESET (@am@.orderby, @am@.row_group_bytes);
SELECT name, value FROM @am@.table_options('ow') WHERE source = 'table';
ALTER TABLE ow SET (@am@.level = 13);
\set VERBOSITY terse
ALTER TABLE ow SET (@am@.nosuch = 13);
\set VERBOSITY default
\set VERBOSITY terse
ALTER TABLE ow RESET (@am@.nosuch);
\set VERBOSITY default
ALTER TABLE ow SET (@am@.level = 1, nosuch = 2);
SELECT name, value FROM @am@.table_options('ow') WHERE source = 'table';
ALTER TABLE IF EXISTS ow_nosuch SET (@am@.level = 1);
ALTER TABLE ow_nosuch SET (@am@.level = 1);
ALTER TABLE ow SET (@am@.auto_compact);
SELECT value FROM @am@.table_options('ow') WHERE name = 'auto_compact';

-- the same statement again, from a plan cache
CREATE FUNCTION ow_twice() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE ow_again (id int) USING @am@ WITH (@am@.level = 4);
	RAISE NOTICE 'level %', (SELECT value FROM @am@.table_options('ow_again') WHERE name = 'level');
	DROP TABLE ow_again;
END $$;
SELECT ow_twice();
SELECT ow_twice();

-- a heap table that becomes one of ours
CREATE TABLE ow_heap (id int) USING heap WITH (@am@.level = 5);
ALTER TABLE ow_heap SET ACCESS METHOD @am@, SET (@am@.level = 4);
SELECT name, value FROM @am@.table_options('ow_heap') WHERE source = 'table';

CREATE ROLE regress_cc_other;
SET ROLE regress_cc_other;
ALTER TABLE ow SET (@am@.level = 1);
RESET ROLE;
DROP ROLE regress_cc_other;

DROP FUNCTION ow_twice();
DROP MATERIALIZED VIEW ow_mv;
DROP TABLE ow, ow_serial, ow_as, ow_part, ow_plain, ow_heap;
