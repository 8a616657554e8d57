-- zonemap: creation, options, what is refused, plans, and rows found by them.

-- ---- operator classes ----

SELECT count(*) > 35 AS many FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'zonemap';
SELECT opcname FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
	WHERE amname = 'zonemap' AND NOT amvalidate(c.oid);
-- every type that btree orders by default is ordered here
SELECT b.opcintype::regtype FROM pg_opclass b JOIN pg_am a ON a.oid = b.opcmethod
	WHERE a.amname = 'btree' AND b.opcdefault AND b.opcnamespace = 'pg_catalog'::regnamespace
	AND NOT EXISTS (SELECT FROM pg_opclass z JOIN pg_am za ON za.oid = z.opcmethod
		WHERE za.amname = 'zonemap' AND z.opcdefault AND z.opcintype = b.opcintype);

-- ---- creation ----

CREATE TABLE z (id bigint, grp int, name text, pad text);
INSERT INTO z SELECT g, g / 1000, 'n' || g % 777, repeat('p', 50) FROM generate_series(1, 20000) g;
CREATE INDEX z_id ON z USING zonemap (id) WITH (fillfactor = 100);
CREATE INDEX z_two ON z USING zonemap (grp, name DESC NULLS LAST);
CREATE INDEX CONCURRENTLY z_name ON z USING zonemap (name COLLATE "C");
SELECT * FROM sorted_heap.zonemap_verify('z_id');
SELECT * FROM sorted_heap.zonemap_verify('z_two');
SELECT * FROM sorted_heap.zonemap_verify('z_name');
-- an entry per page
SELECT pg_relation_size('z_id') <= 4 * 8192 AS small;
\d z_two
VACUUM ANALYZE z;

-- ---- refused ----

CREATE INDEX ON z USING zonemap ((id + 1));
CREATE INDEX ON z USING zonemap (id) WHERE grp > 3;
CREATE INDEX ON z USING zonemap (id) INCLUDE (grp);
CREATE INDEX ON z USING zonemap (id) WITH (fillfactor = 5);
CREATE INDEX ON z USING zonemap (id) WITH (pages_per_range = 5);
CREATE INDEX ON z USING zonemap (ctid);
CREATE TABLE z_point (p point);
CREATE INDEX ON z_point USING zonemap (p);
SELECT sorted_heap.create_zonemap_opclass('point');
CREATE TABLE z_big (t text);
CREATE INDEX z_big_t ON z_big USING zonemap (t);
INSERT INTO z_big SELECT string_agg(md5(g::text), '') FROM generate_series(1, 200) g;
SELECT * FROM sorted_heap.zonemap_verify('pg_class_oid_index');
SELECT * FROM sorted_heap.zonemap_verify('z');
DROP TABLE z_point, z_big;

-- ---- plans ----

SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM z WHERE id = 77;
EXPLAIN (COSTS OFF) SELECT * FROM z WHERE id BETWEEN 77 AND 99::int ORDER BY id DESC;
EXPLAIN (COSTS OFF) SELECT id FROM z ORDER BY id DESC LIMIT 1;
EXPLAIN (COSTS OFF) SELECT * FROM z ORDER BY grp, name DESC NULLS LAST LIMIT 3;
EXPLAIN (COSTS OFF) SELECT * FROM z WHERE id IN (5, 7, 9);
EXPLAIN (COSTS OFF) SELECT * FROM z WHERE grp = 3 AND name > 'n5';
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM generate_series(1, 3) g JOIN z ON z.id = g;
RESET ALL;

-- ---- rows ----

SELECT min(id), max(id) FROM z;
SELECT id FROM z ORDER BY id DESC LIMIT 3;
SELECT id FROM z ORDER BY grp DESC, name ASC NULLS FIRST LIMIT 3;
SELECT scans_agree('SELECT * FROM z WHERE id = 77');
SELECT scans_agree('SELECT * FROM z WHERE id = 0');
SELECT scans_agree('SELECT * FROM z WHERE id BETWEEN 100 AND 4000');
SELECT scans_agree('SELECT * FROM z WHERE id > 19990::smallint');
SELECT scans_agree('SELECT * FROM z WHERE id < 4::numeric');
SELECT scans_agree('SELECT * FROM z WHERE id = ANY (''{5,3,NULL,5,20001,9}'')');
SELECT scans_agree('SELECT * FROM z WHERE id = ANY (''{}'')');
SELECT scans_agree('SELECT * FROM z WHERE id = NULL');
SELECT scans_agree('SELECT * FROM z WHERE id > 5 AND id > 7 AND id < 100 AND id < 90');
SELECT scans_agree('SELECT * FROM z WHERE grp = 3 AND name = ''n7''');
SELECT scans_agree('SELECT * FROM z WHERE grp IN (3, 5) AND name IN (''n7'', ''n8'')');
SELECT scans_agree('SELECT * FROM z WHERE grp > 17 AND name < ''n2''');
SELECT scans_agree('SELECT * FROM z WHERE name COLLATE "C" >= ''n77''');
-- no column at all; a condition without columns, and one that is false
SELECT scans_agree('SELECT count(*) FROM z');
SELECT scans_agree('SELECT * FROM z WHERE id BETWEEN 100 AND 4000 AND (SELECT count(*) FROM z) > 5');
SELECT scans_agree('SELECT * FROM z WHERE id BETWEEN 100 AND 4000 AND (SELECT count(*) FROM z) < 5');
SELECT scans_agree('SELECT z.* FROM generate_series(1, 50) g JOIN LATERAL (SELECT * FROM z WHERE id BETWEEN g * 100 AND g * 100 + 20 AND name <> ''n7'') z ON true');

-- rows that come out of order, go, and move
INSERT INTO z SELECT 20001 - g * 7, 3, 'late', NULL FROM generate_series(1, 2000) g;
UPDATE z SET id = -id WHERE id % 501 = 0;
UPDATE z SET pad = 'hot' WHERE id % 77 = 0;
DELETE FROM z WHERE id BETWEEN 5000 AND 5500;
INSERT INTO z (grp) VALUES (NULL), (1), (2);
SELECT scans_agree('SELECT * FROM z WHERE id BETWEEN -600 AND 9000');
SELECT scans_agree('SELECT * FROM z WHERE id IS NULL');
SELECT scans_agree('SELECT * FROM z WHERE id IS NOT NULL');
SELECT scans_agree('SELECT * FROM z WHERE grp IS NULL AND name IS NULL');
SELECT * FROM sorted_heap.zonemap_verify('z_id');
SELECT * FROM sorted_heap.zonemap_verify('z_two');
VACUUM z;
SELECT scans_agree('SELECT * FROM z WHERE id BETWEEN -600 AND 9000');
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM z WHERE id > 19996 ORDER BY id;
FETCH 2 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
FETCH BACKWARD ALL FROM c;
COMMIT;

-- truncated pages are not looked for
DELETE FROM z WHERE id > 300 OR id IS NULL;
VACUUM z;
SELECT scans_agree('SELECT * FROM z WHERE id > 0');
INSERT INTO z SELECT 40000 - g FROM generate_series(1, 20000) g;
SELECT scans_agree('SELECT * FROM z WHERE id > 100');
SELECT * FROM sorted_heap.zonemap_verify('z_id');
CLUSTER z USING z_two;
SELECT scans_agree('SELECT * FROM z WHERE id > 100');
SELECT * FROM sorted_heap.zonemap_verify('z_id');
TRUNCATE z;
SELECT scans_agree('SELECT * FROM z WHERE id > 100');
INSERT INTO z (id) VALUES (1), (0);
SELECT scans_agree('SELECT * FROM z WHERE id >= 0');
DROP TABLE z;

-- unlogged, temporary, partitioned tables
CREATE UNLOGGED TABLE zu (a int);
CREATE INDEX ON zu USING zonemap (a);
INSERT INTO zu SELECT generate_series(1, 1000);
SELECT scans_agree('SELECT * FROM zu WHERE a > 990');
DROP TABLE zu;
CREATE TEMP TABLE zt (a int);
CREATE INDEX ON zt USING zonemap (a DESC);
INSERT INTO zt SELECT generate_series(1, 1000);
SELECT scans_agree('SELECT * FROM zt WHERE a > 990');
DROP TABLE zt;
CREATE TABLE zp (a int, b text) PARTITION BY RANGE (a);
CREATE TABLE zp1 PARTITION OF zp FOR VALUES FROM (0) TO (1000);
CREATE INDEX ON zp USING zonemap (a);
CREATE TABLE zp2 PARTITION OF zp FOR VALUES FROM (1000) TO (2000);
INSERT INTO zp SELECT g, g FROM generate_series(1, 1999) g;
SELECT scans_agree('SELECT * FROM zp WHERE a BETWEEN 990 AND 1010');
DROP TABLE zp;

-- an opclass for a type of one's own
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN small AS int CHECK (VALUE < 100);
CREATE TABLE zm (m mood, s small, r int4range, v varchar(10), c char(5));
CREATE INDEX ON zm USING zonemap (m, s, r, v, c);
INSERT INTO zm SELECT ('{sad,ok,happy}'::mood[])[g % 3 + 1], g % 50, int4range(g, g + 5), g, g FROM generate_series(1, 300) g;
SELECT scans_agree('SELECT * FROM zm WHERE m = ''ok'' AND s > 40');
DROP TABLE zm;
DROP DOMAIN small;
DROP TYPE mood;

-- verify: not of an index without storage
CREATE TABLE parted (a int) PARTITION BY RANGE (a);
CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE INDEX parted_a ON parted USING zonemap (a);
SELECT * FROM sorted_heap.zonemap_verify('parted_a');
SELECT * FROM sorted_heap.zonemap_verify('part_a_idx');
DROP TABLE parted;

-- a dead row's key that was stored out of line is gone before the row
CREATE TABLE outside (k text, v text)
	WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off);
ALTER TABLE outside ALTER k SET STORAGE EXTERNAL, ALTER v SET STORAGE PLAIN;
INSERT INTO outside
	SELECT to_char(g, '000') || (SELECT string_agg(md5(g::text || i), '') FROM generate_series(1, 47) i),
		repeat(md5(g::text), 20)
	FROM generate_series(1, 40) g;
CREATE INDEX outside_k ON outside USING zonemap (k);
DELETE FROM outside WHERE k > ' 039';
\set ECHO none
SELECT format('VACUUM %s', reltoastrelid::regclass) FROM pg_class WHERE relname = 'outside' \gexec
\set ECHO all
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM outside WHERE k > ' 02';
SET sorted_heap.enable_page_scan = off;
SELECT count(*) FROM outside WHERE k > ' 02';
RESET sorted_heap.enable_page_scan;
DROP TABLE outside;

-- a subplan in a key of a scan of pages, which depends on two levels outside
CREATE TABLE outer_level (o int);
INSERT INTO outer_level VALUES (1), (2), (3);
CREATE TABLE inner_level (g int);
INSERT INTO inner_level VALUES (1), (2), (3);
CREATE TABLE found (o int, g int, k int);
INSERT INTO found SELECT o, g, o * 100 + g * 10 FROM outer_level, inner_level;
CREATE TABLE keyed (k int, v text);
INSERT INTO keyed SELECT g / 500 * 10, 'value' FROM generate_series(0, 30000) g;
CREATE INDEX keyed_k ON keyed USING zonemap (k);
VACUUM ANALYZE outer_level, inner_level, found, keyed;
RESET enable_seqscan;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
SET enable_material = off;
SET enable_sort = off;
EXPLAIN (COSTS OFF)
SELECT o, (SELECT sum(keyed.k) FROM inner_level i, keyed WHERE keyed.k =
	(SELECT max(k) FROM (SELECT DISTINCT k, g FROM found f WHERE f.o = l.o OFFSET 0) s WHERE s.g = i.g))
FROM outer_level l;
SELECT o, (SELECT sum(keyed.k) FROM inner_level i, keyed WHERE keyed.k =
	(SELECT max(k) FROM (SELECT DISTINCT k, g FROM found f WHERE f.o = l.o OFFSET 0) s WHERE s.g = i.g))
FROM outer_level l;
DROP TABLE outer_level, inner_level, found, keyed;
RESET ALL;
