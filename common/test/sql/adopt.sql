-- adopt(): its surface, and what it refuses before anything is changed.
CREATE ROLE regress_adopt_other;
CREATE VIEW adopt_methods AS
SELECT c.relname, a.amname, EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
		AND d.refclassid = 'pg_am'::regclass) AS depends, c.reltoastrelid <> 0 AS has_toast
FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE c.relname LIKE 'ad\_%' AND c.relkind IN ('r', 'm');
SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = '@am@'::regnamespace AND proname IN ('adopt', 'fingerprint', 'release') ORDER BY 1;

CREATE TABLE ad_t (id int PRIMARY KEY, v int) USING heap;
INSERT INTO ad_t SELECT i, i % 7 FROM generate_series(1, 3000) i;
TABLE adopt_methods;
SELECT @am@.adopt('ad_t');
TABLE adopt_methods;
SELECT count(*), sum(v) FROM ad_t;
SELECT row_groups, delta_bytes, total_bytes FROM @am@.table_info('ad_t');
CALL @am@.merge('ad_t');
SELECT count(*), sum(v) FROM ad_t;
SELECT row_groups, row_group_rows, deleted_rows FROM @am@.table_info('ad_t');
SELECT count(*) FROM @am@.verify('ad_t');

-- again: nothing to do; NULL: nothing
SELECT @am@.adopt('ad_t');
SELECT @am@.adopt(NULL);

-- rolled back; a view of the server's own plans
CREATE TABLE ad_back (id int, v text) USING heap;
INSERT INTO ad_back SELECT i, 'row ' || i FROM generate_series(1, 500) i;
BEGIN;
SELECT @am@.adopt('ad_back');
SELECT count(*) FROM ad_back;
ROLLBACK;
SELECT * FROM adopt_methods WHERE relname = 'ad_back';
SELECT count(*) FROM ad_back;

-- materialized views; options afterwards
CREATE MATERIALIZED VIEW ad_mat USING heap AS SELECT * FROM ad_back;
SELECT @am@.adopt('ad_mat');
REFRESH MATERIALIZED VIEW ad_mat;
SELECT count(*) FROM ad_mat;
SELECT @am@.set_options('ad_t', level => 3);
SELECT value FROM @am@.table_options('ad_t') WHERE name = 'level';

-- refused
CREATE VIEW ad_view AS SELECT 1;
CREATE TABLE ad_part (id int) PARTITION BY RANGE (id);
CREATE TABLE ad_brin (id int) USING heap;
CREATE INDEX ad_brin_i ON ad_brin USING brin (id);
SELECT @am@.adopt('ad_view');
\echo :LAST_ERROR_SQLSTATE
SELECT @am@.adopt('ad_part');
\echo :LAST_ERROR_SQLSTATE
SELECT @am@.adopt('ad_t_pkey');
\echo :LAST_ERROR_SQLSTATE
SELECT @am@.adopt('ad_brin');
\echo :LAST_ERROR_SQLSTATE
SELECT @am@.adopt('pg_class');
\echo :LAST_ERROR_SQLSTATE
SELECT @am@.adopt(0);
\echo :LAST_ERROR_SQLSTATE
DROP INDEX ad_brin_i;
SELECT @am@.adopt('ad_brin');

-- in use by this session
CREATE TABLE ad_used AS SELECT 1 AS id;
ALTER TABLE ad_used SET ACCESS METHOD heap;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM ad_used;
FETCH c;
SELECT @am@.adopt('ad_used');
ROLLBACK;

-- not the owner's; read only
SET ROLE regress_adopt_other;
SELECT @am@.adopt('ad_back');
RESET ROLE;
BEGIN READ ONLY;
SELECT @am@.adopt('ad_back');
ROLLBACK;

-- tables of an extension
ALTER EXTENSION @am@ ADD TABLE ad_back;
SELECT @am@.adopt('ad_back');
\echo :LAST_ERROR_SQLSTATE
ALTER EXTENSION @am@ DROP TABLE ad_back;

-- values of TOAST with a number of ours, which the server never gives
CREATE TABLE ad_toast USING heap AS SELECT 1 AS id;
SELECT @am@.adopt('ad_toast');
SET allow_system_table_mods = on;
UPDATE pg_class SET relam = (SELECT oid FROM pg_am WHERE amname = 'heap') WHERE oid = 'ad_toast'::regclass;
SELECT @am@.adopt('ad_toast');
\echo :LAST_ERROR_SQLSTATE
UPDATE pg_class SET relam = (SELECT oid FROM pg_am WHERE amname = '@am@') WHERE oid = 'ad_toast'::regclass;
RESET allow_system_table_mods;
TABLE ad_toast;

-- fingerprints: the same whatever stores the rows, and in whatever order
CREATE TABLE ad_fp (id int, gone int, v text, n numeric, j jsonb, a text[]) USING heap;
INSERT INTO ad_fp SELECT i, 1, repeat('x', i), i / 8.0, jsonb_build_object('i', i), ARRAY['a', i::text] FROM generate_series(1, 2500) i;
ALTER TABLE ad_fp DROP COLUMN gone;
CREATE TABLE ad_fp2 USING @am@ AS SELECT * FROM ad_fp ORDER BY id DESC;
SELECT * FROM @am@.fingerprint('ad_fp');
SELECT f.column_name, f.fingerprint = g.fingerprint AS equal
FROM @am@.fingerprint('ad_fp') WITH ORDINALITY f JOIN @am@.fingerprint('ad_fp2') WITH ORDINALITY g USING (ordinality);
SELECT @am@.adopt('ad_fp', verify => true);
CALL @am@.merge('ad_fp');
SELECT f.fingerprint = g.fingerprint AS equal
FROM @am@.fingerprint('ad_fp') f, @am@.fingerprint('ad_fp2') g WHERE f.column_name IS NULL AND g.column_name IS NULL;
-- two values change rows: only the last line tells
UPDATE ad_fp2 SET n = CASE id WHEN 1 THEN 2 / 8.0 ELSE 1 / 8.0 END WHERE id IN (1, 2);
SELECT f.column_name, f.fingerprint = g.fingerprint AS equal
FROM @am@.fingerprint('ad_fp') WITH ORDINALITY f JOIN @am@.fingerprint('ad_fp2') WITH ORDINALITY g USING (ordinality);
-- nothing, nulls, no columns
TRUNCATE ad_fp2;
SELECT * FROM @am@.fingerprint('ad_fp2');
INSERT INTO ad_fp2 DEFAULT VALUES;
SELECT * FROM @am@.fingerprint('ad_fp2');
SELECT @am@.fingerprint_of(NULL::ad_fp);
\set SHOW_CONTEXT never
SET ROLE regress_adopt_other;
SELECT * FROM @am@.fingerprint('ad_fp2');
RESET ROLE;

-- release(): back to heap, with row groups and without
SELECT * FROM adopt_methods WHERE relname IN ('ad_t', 'ad_brin') ORDER BY 1;
BEGIN;
CALL @am@.release('ad_t');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
BEGIN;
CALL @am@.release('ad_brin');
SELECT * FROM adopt_methods WHERE relname = 'ad_brin';
ROLLBACK;
CALL @am@.release('ad_t', verify => true);
CALL @am@.release('ad_brin');
SELECT * FROM adopt_methods WHERE relname IN ('ad_t', 'ad_brin') ORDER BY 1;
SELECT count(*), sum(v) FROM ad_t;
SET enable_seqscan = off;
SELECT * FROM ad_t WHERE id = 2000;
RESET enable_seqscan;
SELECT count(*) FROM pg_seclabels WHERE objoid = 'ad_t'::regclass;
CALL @am@.release('ad_t');
\echo :LAST_ERROR_SQLSTATE
CALL @am@.release('ad_part');
\echo :LAST_ERROR_SQLSTATE
CALL @am@.release(NULL);
\echo :LAST_ERROR_SQLSTATE
SET ROLE regress_adopt_other;
CALL @am@.release('ad_fp');
RESET ROLE;
DO $$ BEGIN CALL @am@.release('ad_fp'); END $$;
\echo :LAST_ERROR_SQLSTATE

DROP MATERIALIZED VIEW ad_mat;
DROP TABLE ad_t, ad_back, ad_part, ad_brin, ad_used, ad_toast, ad_fp, ad_fp2;
DROP VIEW ad_view, adopt_methods;
DROP ROLE regress_adopt_other;
