-- adopt() and release(): heap to sorted_heap and back, without a row written.
CREATE ROLE regress_sorted_other;
CREATE TABLE sa (id int, v text) USING heap;
INSERT INTO sa SELECT hashint4(g) % 100000, 'row ' || g FROM generate_series(1, 5000) g;
CREATE INDEX sa_zone ON sa USING zonemap (id);
CREATE INDEX sa_v ON sa (v);
CREATE VIEW sa_method AS
SELECT a.amname, EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
		AND d.refclassid = 'pg_am'::regclass AND d.refobjid = a.oid) AS depends
FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE c.oid = 'sa'::regclass;
SELECT pg_relation_filenode('sa') AS file, md5(string_agg(ctid::text || sa::text, ' ' ORDER BY ctid)) AS rows FROM sa \gset

BEGIN;
SELECT sorted_heap.adopt('sa');
TABLE sa_method;
ROLLBACK;
TABLE sa_method;
SELECT sorted_heap.adopt('sa');
TABLE sa_method;
SELECT pg_relation_filenode('sa') = :file AS same_file,
	md5(string_agg(ctid::text || sa::text, ' ' ORDER BY ctid)) = :'rows' AS same_rows FROM sa;
SELECT sorted_heap.adopt('sa');
SELECT * FROM sorted_heap.zonemap_verify('sa_zone');

-- what sorted_heap does beyond heap works from here on
INSERT INTO sa SELECT g, 'new ' || g FROM generate_series(1, 100) g;
CALL sorted_heap.compact('sa');
SELECT count(*) AS rows, count(*) FILTER (WHERE id < before) < 10 AS in_order
FROM (SELECT id, lag(id) OVER (ORDER BY ctid) AS before FROM sa) s;
SELECT * FROM sorted_heap.zonemap_verify('sa_zone');
SELECT pg_relation_filenode('sa') AS file, md5(string_agg(ctid::text || sa::text, ' ' ORDER BY ctid)) AS rows FROM sa \gset

BEGIN;
CALL sorted_heap.release('sa');
TABLE sa_method;
ROLLBACK;
CALL sorted_heap.release('sa');
TABLE sa_method;
SELECT count(*) FROM pg_depend WHERE objid = 'sa'::regclass AND refclassid = 'pg_am'::regclass;
SELECT pg_relation_filenode('sa') = :file AS same_file,
	md5(string_agg(ctid::text || sa::text, ' ' ORDER BY ctid)) = :'rows' AS same_rows FROM sa;
CALL sorted_heap.release('sa');
INSERT INTO sa SELECT g, 'newer ' || g FROM generate_series(1, 100) g;
SELECT * FROM sorted_heap.zonemap_verify('sa_zone');

-- refused
CREATE VIEW sa_view AS SELECT 1;
CREATE TABLE sa_part (id int) PARTITION BY RANGE (id);
SELECT sorted_heap.adopt('sa_view');
\echo :LAST_ERROR_SQLSTATE
SELECT sorted_heap.adopt('sa_part');
\echo :LAST_ERROR_SQLSTATE
SELECT sorted_heap.adopt('pg_class');
\echo :LAST_ERROR_SQLSTATE
SELECT sorted_heap.adopt(NULL);
CALL sorted_heap.release(NULL);
\echo :LAST_ERROR_SQLSTATE
CALL sorted_heap.release('sa_view');
\echo :LAST_ERROR_SQLSTATE
SET ROLE regress_sorted_other;
SELECT sorted_heap.adopt('sa');
\echo :LAST_ERROR_SQLSTATE
CALL sorted_heap.release('sa');
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;

DROP TABLE sa, sa_part CASCADE;
DROP VIEW sa_view;
DROP ROLE regress_sorted_other;
