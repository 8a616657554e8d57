-- Row groups that are written in the middle of a transaction.
CREATE TABLE sf (id int, t text) USING @am@;
CREATE TABLE sf_heap (LIKE sf) USING heap;

-- an extent that a flush reuses inside of a savepoint stays taken when the
-- savepoint is rolled back: its rows belong to the outer transaction
SELECT twin_do('sf', 'sf_heap', $$INSERT INTO TBL SELECT i, 'old ' || i FROM generate_series(1, 20000) i$$);
SELECT twin_do('sf', 'sf_heap', $$DELETE FROM TBL$$);
VACUUM sf;
BEGIN;
SELECT twin_do('sf', 'sf_heap', $$INSERT INTO TBL SELECT i, 'kept ' || i FROM generate_series(1, 20000) i$$);
SAVEPOINT s;
SELECT count(*) FROM sf;
SELECT twin_do('sf', 'sf_heap', $$INSERT INTO TBL SELECT i, 'undone ' || i FROM generate_series(1, 20000) i$$);
SELECT count(*) FROM sf;
ROLLBACK TO s;
SELECT count(*) FROM sf;
COMMIT;
SELECT twin_do('sf', 'sf_heap', $$INSERT INTO TBL SELECT i, 'new ' || i FROM generate_series(20001, 40000) i$$);
SELECT twin_do('sf', 'sf_heap', $$INSERT INTO TBL SELECT i, 'newer ' || i FROM generate_series(40001, 60000) i$$);
SELECT twin_diff('sf', 'sf_heap');
SELECT row_group, column_name, problem FROM @am@.verify('sf');

-- parallel workers see rows that the leader had in memory, also where only a
-- function names the table
CREATE FUNCTION sf_twice(i int) RETURNS bigint LANGUAGE plpgsql STABLE PARALLEL SAFE AS 'BEGIN RETURN (SELECT count(*) FROM sf) * 2; END';
CREATE TABLE sf_big AS SELECT i FROM generate_series(1, 20) i;
ALTER TABLE sf_big SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
BEGIN;
SELECT twin_do('sf', 'sf_heap', $$INSERT INTO TBL SELECT i, 'more ' || i FROM generate_series(60001, 70000) i$$);
SELECT DISTINCT sf_twice(i) FROM sf_big;
COMMIT;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET parallel_leader_participation;

-- a row of the same command conflicts: heap's error
TRUNCATE sf, sf_heap;
CREATE UNIQUE INDEX sf_id ON sf (id);
CREATE UNIQUE INDEX sf_heap_id ON sf_heap (id);
\set VERBOSITY terse
WITH a AS (INSERT INTO sf SELECT i, 'a' FROM generate_series(1, 5000) i RETURNING id)
INSERT INTO sf SELECT id, 'b' FROM a WHERE id > 2000 ON CONFLICT (id) DO UPDATE SET t = 'c';
WITH a AS (INSERT INTO sf_heap SELECT i, 'a' FROM generate_series(1, 5000) i RETURNING id)
INSERT INTO sf_heap SELECT id, 'b' FROM a WHERE id > 2000 ON CONFLICT (id) DO UPDATE SET t = 'c';
SELECT twin_diff('sf', 'sf_heap');

-- row numbers start again after a truncation in the transaction of the load
BEGIN;
CREATE TABLE sf_new (id int, t text) USING @am@;
INSERT INTO sf_new SELECT i, 'first' FROM generate_series(1, 3000) i;
DELETE FROM sf_new WHERE id = 2500;
TRUNCATE sf_new;
INSERT INTO sf_new SELECT i, 'second' FROM generate_series(1, 3000) i;
DELETE FROM sf_new WHERE id > 2000;
COMMIT;
SELECT count(*), min(t) FROM sf_new;

DROP TABLE sf, sf_heap, sf_big, sf_new;
DROP FUNCTION sf_twice(int);
