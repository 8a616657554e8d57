-- What ALTER TABLE and friends do to a table of row groups and delta.
CREATE TABLE dl (id int, t text, n numeric) USING @am@;
CREATE TABLE dl_heap (LIKE dl) USING heap;
SELECT twin_do('dl', 'dl_heap', $$INSERT INTO TBL SELECT i, 'row ' || i % 50, i / 2.0 FROM generate_series(1, 15000) i$$);
SELECT twin_do('dl', 'dl_heap', $$INSERT INTO TBL VALUES (15001, 'delta', NULL)$$);
CREATE FUNCTION dl_both(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE replace(statement, 'TBL', 'dl');
	EXECUTE replace(statement, 'TBL', 'dl_heap');
	RETURN twin_diff('dl', 'dl_heap');
END $$;

-- columns come, with and without defaults, and go
SELECT dl_both('ALTER TABLE TBL ADD COLUMN a int');
SELECT dl_both('ALTER TABLE TBL ADD COLUMN b text DEFAULT ''missing''');
SELECT dl_both('ALTER TABLE TBL ADD COLUMN c timestamptz DEFAULT now()');
SELECT twin_do('dl', 'dl_heap', $$INSERT INTO TBL SELECT i, 'later', i, -i, 'given', '2020-01-01' FROM generate_series(20001, 32000) i$$);
SELECT twin_do('dl', 'dl_heap', $$INSERT INTO TBL (id) VALUES (40000)$$);
SELECT dl_both('ALTER TABLE TBL ALTER COLUMN b SET DEFAULT ''other''');
SELECT dl_both('ALTER TABLE TBL DROP COLUMN t');
SELECT twin_do('dl', 'dl_heap', $$UPDATE TBL SET b = b || '!' WHERE id % 100 = 0$$);
SELECT dl_both('ALTER TABLE TBL ADD COLUMN t int DEFAULT 7');
SELECT count(*) FROM dl WHERE b = 'missing' AND t = 7;
SELECT count(*) FROM dl_heap WHERE b = 'missing' AND t = 7;
SELECT dl_both('ALTER TABLE TBL RENAME COLUMN b TO bb');
SELECT row_group, column_name, problem FROM @am@.verify('dl');

-- in one transaction, between two loads
BEGIN;
SELECT twin_do('dl', 'dl_heap', 'INSERT INTO TBL SELECT i FROM generate_series(50001, 60000) i');
SELECT dl_both('ALTER TABLE TBL ADD COLUMN z int DEFAULT 1');
SELECT twin_do('dl', 'dl_heap', 'INSERT INTO TBL SELECT i FROM generate_series(60001, 70000) i');
SELECT dl_both('ALTER TABLE TBL DROP COLUMN z');
SELECT twin_do('dl', 'dl_heap', 'INSERT INTO TBL SELECT i FROM generate_series(70001, 80000) i');
ROLLBACK;
SELECT twin_diff('dl', 'dl_heap');

-- rewrites
SELECT dl_both('ALTER TABLE TBL ALTER COLUMN id TYPE bigint');
SELECT dl_both('ALTER TABLE TBL ALTER COLUMN n TYPE text');
SELECT dl_both('ALTER TABLE TBL ADD COLUMN r float8 DEFAULT random() * 0');
VACUUM FULL dl;
SELECT twin_diff('dl', 'dl_heap');
SELECT row_group, column_name, problem FROM @am@.verify('dl');

-- constraints are checked against all rows
ALTER TABLE dl ADD CONSTRAINT dl_id CHECK (id <> 14999);
ALTER TABLE dl ADD CONSTRAINT dl_id CHECK (id <> 40000);
ALTER TABLE dl ADD CONSTRAINT dl_id CHECK (id > 0);
ALTER TABLE dl ALTER COLUMN a SET NOT NULL;
ALTER TABLE dl ALTER COLUMN id SET NOT NULL;
INSERT INTO dl (id, c) VALUES (0, '2020-01-01');
INSERT INTO dl (id, c) SELECT 5000 - i, '2020-01-01' FROM generate_series(1, 20000) i;
SELECT twin_diff('dl', 'dl_heap');

-- TRUNCATE and its rollback, more than once
BEGIN;
TRUNCATE dl;
SELECT count(*) FROM dl;
INSERT INTO dl (id) SELECT i FROM generate_series(1, 12000) i;
SELECT count(*), sum(id) FROM dl;
TRUNCATE dl;
SELECT count(*) FROM dl;
ROLLBACK;
SELECT twin_diff('dl', 'dl_heap');
SELECT dl_both('TRUNCATE TBL');
SELECT count(*) FROM @am@.row_groups('dl');
SELECT twin_do('dl', 'dl_heap', 'INSERT INTO TBL SELECT i FROM generate_series(1, 12000) i');

-- from heap and to heap, a table without anything to toast too
SELECT dl_both('ALTER TABLE TBL SET ACCESS METHOD heap');
SELECT count(*) FROM @am@.row_groups('dl');
ALTER TABLE dl SET ACCESS METHOD @am@;
SELECT twin_diff('dl', 'dl_heap');
CREATE TABLE dl_int (i int) USING heap;
INSERT INTO dl_int SELECT generate_series(1, 12000);
ALTER TABLE dl_int SET ACCESS METHOD @am@;
SELECT count(*), sum(i) FROM dl_int;
SELECT count(*) > 0 AS some FROM @am@.row_groups('dl_int');
BEGIN;
ALTER TABLE dl_int SET ACCESS METHOD heap;
ROLLBACK;
SELECT count(*), sum(i) FROM dl_int;
ALTER TABLE dl_int SET UNLOGGED;
SELECT count(*), sum(i) FROM dl_int;
ALTER TABLE dl_int SET LOGGED;
SELECT count(*), sum(i) FROM dl_int;

-- temporary tables
CREATE TEMP TABLE dl_temp (i int) USING @am@ ON COMMIT DELETE ROWS;
BEGIN;
INSERT INTO dl_temp SELECT generate_series(1, 12000);
SELECT count(*), sum(i) FROM dl_temp;
COMMIT;
SELECT count(*) FROM dl_temp;
BEGIN;
INSERT INTO dl_temp SELECT generate_series(501, 12500);
SELECT count(*), sum(i) FROM dl_temp WHERE i BETWEEN 100 AND 1000;
COMMIT;
CREATE TEMP TABLE dl_drop USING @am@ ON COMMIT DROP AS SELECT generate_series(1, 12000) AS i;

-- partitions of several access methods; rows that move between them
CREATE TABLE dl_part (k int, t text) PARTITION BY RANGE (k);
CREATE TABLE dl_part1 PARTITION OF dl_part FOR VALUES FROM (0) TO (10000) USING @am@;
CREATE TABLE dl_part2 PARTITION OF dl_part FOR VALUES FROM (10000) TO (20000) USING heap;
CREATE TABLE dl_part3 PARTITION OF dl_part DEFAULT USING @am@;
INSERT INTO dl_part SELECT i, 'p' || i % 10 FROM generate_series(0, 39999) i;
SELECT tableoid::regclass, count(*), sum(k) FROM dl_part GROUP BY 1 ORDER BY 1;
UPDATE dl_part SET k = k + 10000 WHERE k % 1000 = 1;
SELECT tableoid::regclass, count(*), sum(k) FROM dl_part GROUP BY 1 ORDER BY 1;
ALTER TABLE dl_part2 SET ACCESS METHOD @am@;
SELECT tableoid::regclass, count(*), sum(k) FROM dl_part GROUP BY 1 ORDER BY 1;

-- inheritance
CREATE TABLE dl_parent (i int, t text) USING @am@;
CREATE TABLE dl_child (extra int) INHERITS (dl_parent) USING @am@;
INSERT INTO dl_parent SELECT i, 'parent' FROM generate_series(1, 11000) i;
INSERT INTO dl_child SELECT i, 'child', -i FROM generate_series(1, 11000) i;
ALTER TABLE dl_parent ADD COLUMN more int DEFAULT 3;
SELECT t, count(*), sum(more) FROM dl_parent GROUP BY t ORDER BY t;
UPDATE dl_parent SET more = 4 WHERE i = 10;
DELETE FROM dl_parent WHERE i = 11;
SELECT t, count(*), sum(more) FROM dl_parent GROUP BY t ORDER BY t;

-- generated and identity columns
CREATE TABLE dl_gen (id int GENERATED ALWAYS AS IDENTITY, a int, b int GENERATED ALWAYS AS (a * 2) STORED) USING @am@;
INSERT INTO dl_gen (a) SELECT i FROM generate_series(1, 11000) i;
SELECT count(*), sum(id), sum(b) FROM dl_gen;
UPDATE dl_gen SET a = a + 1 WHERE id <= 10;
SELECT count(*), sum(id), sum(b) FROM dl_gen;

DROP TABLE dl, dl_heap, dl_int, dl_temp, dl_part, dl_parent, dl_child, dl_gen;
DROP FUNCTION dl_both(text);
