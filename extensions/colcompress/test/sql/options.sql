-- Options of a table: setting, showing, inheriting, errors.
CREATE EXTENSION IF NOT EXISTS colcompress;
\pset null '(null)'

CREATE TABLE opt (id int, "User Id" int, d date, j json, p point) USING colcompress;
SELECT name, value, source, default_value FROM colcompress.table_options('opt');

-- NULL leaves an option alone
SELECT colcompress.set_options('opt', compression => 'lz4', level => 9);
SELECT colcompress.set_options('opt', orderby => 'd DESC, "User Id" nulls first , ID');
SELECT name, value, source FROM colcompress.table_options('opt');
SELECT provider, label FROM pg_seclabels WHERE objoid = 'opt'::regclass;

-- back to the defaults
SELECT colcompress.set_options('opt', row_group_rows => 2048, reset => '{level,compression}');
SELECT label FROM pg_seclabels WHERE objoid = 'opt'::regclass;
SELECT colcompress.set_options('opt', reset => '{all}');
SELECT count(*) FROM pg_seclabels WHERE objoid = 'opt'::regclass;
SELECT colcompress.set_options('opt', reset => '{all}', level => 5);
SELECT name, value FROM colcompress.options
WHERE relation = 'opt'::regclass AND source = 'table';

-- values that are no good
SELECT colcompress.set_options('opt', compression => 'gzip');
SELECT colcompress.set_options('opt', level => 23);
SELECT colcompress.set_options('opt', level => 0);
SELECT colcompress.set_options('opt', level => -1);
SELECT colcompress.set_options('opt', compression => 'lz4', level => 13);
SELECT colcompress.set_options('opt', compression => 'none');
SELECT colcompress.set_options('opt', compression => 'none', reset => '{level}');
SELECT colcompress.set_options('opt', row_group_rows => 1023);
SELECT colcompress.set_options('opt', row_group_rows => 1048577);
SELECT colcompress.set_options('opt', row_group_bytes => 65535);
SELECT colcompress.set_options('opt', row_group_bytes => 2000000000);
SELECT colcompress.set_options('opt', row_group_bytes => 3000000000);
SELECT colcompress.set_options('opt', orderby => 'nosuch');
SELECT colcompress.set_options('opt', orderby => 'ctid');
SELECT colcompress.set_options('opt', orderby => 'id, d, id DESC');
SELECT colcompress.set_options('opt', orderby => 'j');
SELECT colcompress.set_options('opt', orderby => 'p');
SELECT colcompress.set_options('opt', orderby => 'id desc asc');
SELECT colcompress.set_options('opt', orderby => 'id,');
SELECT colcompress.set_options('opt', orderby => 'id nulls');
SELECT colcompress.set_options('opt', orderby => '"id');
SELECT colcompress.set_options('opt', orderby => 'id + ');
SELECT colcompress.set_options('opt', reset => '{nosuch}');
SELECT colcompress.set_options('opt', reset => '{NULL}');
SELECT colcompress.set_options(NULL, level => 1);
SELECT colcompress.set_options(0, level => 1);
-- what the server says besides differs by major
\set VERBOSITY terse
SELECT colcompress.set_options('opt', nosuch => 1);
\set VERBOSITY default
SELECT label FROM pg_seclabels WHERE objoid = 'opt'::regclass;

-- relations that take none
CREATE VIEW opt_view AS SELECT 1 AS one;
CREATE INDEX opt_id ON opt (id);
CREATE SEQUENCE opt_seq;
SELECT colcompress.set_options('opt_view', level => 1);
SELECT colcompress.set_options('opt_id', level => 1);
SELECT colcompress.set_options('opt_seq', level => 1);
SELECT colcompress.set_options('pg_class', level => 1);

-- the label itself, as pg_dump emits it
SECURITY LABEL FOR colcompress ON TABLE opt IS 'level=7 orderby=''d DESC, "User Id"''';
SELECT name, value FROM colcompress.table_options('opt') WHERE source = 'table';
SECURITY LABEL FOR colcompress ON TABLE opt IS 'row_group_bytes=''16 MB''';
SELECT name, value FROM colcompress.table_options('opt') WHERE source = 'table';
SECURITY LABEL FOR colcompress ON TABLE opt IS 'level=70';
SECURITY LABEL FOR colcompress ON TABLE opt IS 'nosuch=1';
SECURITY LABEL FOR colcompress ON TABLE opt IS 'level';
SECURITY LABEL FOR colcompress ON TABLE opt IS 'level=';
SECURITY LABEL FOR colcompress ON TABLE opt IS 'orderby=''id';
SECURITY LABEL FOR colcompress ON TABLE opt IS 'level=1,compression=lz4';
SECURITY LABEL FOR colcompress ON TABLE opt IS 'orderby=nosuch';
SECURITY LABEL FOR colcompress ON TABLE opt IS 'auto_compact=perhaps';
SECURITY LABEL FOR colcompress ON COLUMN opt.id IS 'level=1';
SECURITY LABEL FOR colcompress ON VIEW opt_view IS 'level=1';
SECURITY LABEL FOR colcompress ON TABLE opt IS NULL;
SELECT count(*) FROM pg_seclabels WHERE objoid = 'opt'::regclass;

-- rollback
BEGIN;
SELECT colcompress.set_options('opt', level => 2);
SAVEPOINT s;
SELECT colcompress.set_options('opt', level => 4);
SELECT value FROM colcompress.table_options('opt') WHERE name = 'level';
ROLLBACK TO s;
SELECT value FROM colcompress.table_options('opt') WHERE name = 'level';
ROLLBACK;
SELECT value, source FROM colcompress.table_options('opt') WHERE name = 'level';

-- columns: the order follows a rename and ends at a dropped column
SELECT colcompress.set_options('opt', orderby => 'd DESC, "User Id", id');
ALTER TABLE opt RENAME COLUMN "User Id" TO user_id;
SELECT value FROM colcompress.table_options('opt') WHERE name = 'orderby';
ALTER TABLE opt RENAME COLUMN d TO "select";
SELECT value FROM colcompress.table_options('opt') WHERE name = 'orderby';
BEGIN;
ALTER TABLE opt DROP COLUMN user_id;
SELECT value FROM colcompress.table_options('opt') WHERE name = 'orderby';
ROLLBACK;
SELECT value FROM colcompress.table_options('opt') WHERE name = 'orderby';
ALTER TABLE opt DROP COLUMN user_id, DROP COLUMN "select";
SELECT value, source FROM colcompress.table_options('opt') WHERE name = 'orderby';
SELECT count(*) FROM pg_seclabels WHERE objoid = 'opt'::regclass;

-- a column of a dropped type
CREATE DOMAIN opt_domain AS int;
ALTER TABLE opt ADD COLUMN od opt_domain;
SELECT colcompress.set_options('opt', orderby => 'id, od');
SET client_min_messages = warning;
DROP DOMAIN opt_domain CASCADE;
RESET client_min_messages;
SELECT value FROM colcompress.table_options('opt') WHERE name = 'orderby';
-- a column that can no longer be ordered
ALTER TABLE opt ADD COLUMN x text DEFAULT '{}';
SELECT colcompress.set_options('opt', orderby => 'x');
ALTER TABLE opt ALTER COLUMN x DROP DEFAULT;
ALTER TABLE opt ALTER COLUMN x TYPE json USING x::json;
SELECT value FROM colcompress.table_options('opt') WHERE name = 'orderby';

-- options survive rewrites and renames
SELECT colcompress.set_options('opt', level => 6, reset => '{orderby}');
VACUUM FULL opt;
ALTER TABLE opt RENAME TO opt2;
ALTER TABLE opt2 ALTER COLUMN id TYPE bigint;
TRUNCATE opt2;
SELECT value FROM colcompress.table_options('opt2') WHERE name = 'level';
DROP TABLE opt2;
SELECT count(*) FROM pg_seclabels WHERE provider = 'colcompress';

-- partitions take what they do not set themselves, now and later
CREATE TABLE opt_part (k int, t text) PARTITION BY RANGE (k);
CREATE TABLE opt_part1 PARTITION OF opt_part FOR VALUES FROM (0) TO (10) USING colcompress;
SELECT name, value, source FROM colcompress.table_options('opt_part1') WHERE source <> 'default';
SELECT colcompress.set_options('opt_part', compression => 'zstd', level => 12, orderby => 'k');
SELECT name, value, source FROM colcompress.table_options('opt_part1') WHERE source <> 'default';
SELECT colcompress.set_options('opt_part1', level => 2, orderby => '');
SELECT name, value, source FROM colcompress.table_options('opt_part1') WHERE source <> 'default';
-- a level that the partition's own codec does not have
SELECT colcompress.set_options('opt_part1', compression => 'lz4', reset => '{level,orderby}');
SELECT colcompress.set_options('opt_part', level => 20);
SELECT name, value, source FROM colcompress.table_options('opt_part1') WHERE source <> 'default';
CREATE TABLE opt_part2 PARTITION OF opt_part FOR VALUES FROM (10) TO (20)
	PARTITION BY RANGE (k);
CREATE TABLE opt_part21 PARTITION OF opt_part2 FOR VALUES FROM (10) TO (15) USING colcompress;
SELECT name, value, source FROM colcompress.table_options('opt_part21') WHERE source <> 'default';
SELECT colcompress.set_options('opt_part2', level => 3);
SELECT name, value, source FROM colcompress.table_options('opt_part21') WHERE source <> 'default';
ALTER TABLE opt_part RENAME COLUMN k TO key;
SELECT value FROM colcompress.table_options('opt_part21') WHERE name = 'orderby';
ALTER TABLE opt_part2 DETACH PARTITION opt_part21;
SELECT name, value, source FROM colcompress.table_options('opt_part21') WHERE source <> 'default';
SELECT relation, name, value, source FROM colcompress.options
WHERE source <> 'default' ORDER BY relation::text, name;
DROP TABLE opt_part, opt_part21;

-- only the owner
CREATE ROLE regress_cc_other;
CREATE TABLE opt_owned (id int) USING colcompress;
GRANT ALL ON opt_owned TO regress_cc_other;
SET ROLE regress_cc_other;
SELECT colcompress.set_options('opt_owned', level => 1);
SECURITY LABEL FOR colcompress ON TABLE opt_owned IS 'level=1';
SELECT count(*) FROM colcompress.options WHERE relation = 'opt_owned'::regclass;
RESET ROLE;
DROP TABLE opt_owned;
DROP ROLE regress_cc_other;

-- unknown settings
SET colcompress.nosuch = 1;

DROP VIEW opt_view;
DROP SEQUENCE opt_seq;
