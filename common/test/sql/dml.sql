-- UPDATE and DELETE of delta rows and row-group rows, as heap does them.
CREATE TABLE dm (id int, g int, t text, v numeric) USING @am@;
CREATE TABLE dm_heap (LIKE dm) USING heap;
SELECT @am@.set_options('dm', row_group_rows => 4096);
SELECT twin_do('dm', 'dm_heap', $$INSERT INTO TBL SELECT i, i % 10, 'row ' || i, i * 1.5
	FROM generate_series(1, 20000) i$$);
SELECT twin_do('dm', 'dm_heap', $$INSERT INTO TBL SELECT i, i % 10, 'delta ' || i, i
	FROM generate_series(20001, 20100) i$$);
SELECT count(*) > 1 AS groups FROM @am@.row_groups('dm');

-- one row, many rows, no row, every way to find them
SELECT twin_do('dm', 'dm_heap', 'DELETE FROM TBL WHERE id = 17');
SELECT twin_do('dm', 'dm_heap', 'DELETE FROM TBL WHERE id = 17');
SELECT twin_do('dm', 'dm_heap', 'DELETE FROM TBL WHERE id = 20050');
SELECT twin_do('dm', 'dm_heap', 'DELETE FROM TBL WHERE g = 3');
SELECT twin_do('dm', 'dm_heap', 'UPDATE TBL SET v = v + 1 WHERE id = 18');
SELECT twin_do('dm', 'dm_heap', 'UPDATE TBL SET v = v + 1 WHERE id = 18');
SELECT twin_do('dm', 'dm_heap', $$UPDATE TBL SET t = t || ' again', g = 0 WHERE g = 4$$);
SELECT twin_do('dm', 'dm_heap', 'UPDATE TBL SET v = NULL WHERE id BETWEEN 4000 AND 4200');
SELECT twin_do('dm', 'dm_heap', 'DELETE FROM TBL WHERE v IS NULL');
SELECT twin_do('dm', 'dm_heap', 'UPDATE TBL SET id = -id WHERE id % 1000 = 5');
SELECT sum(deleted_rows) > 0 AS tombstones FROM @am@.row_groups('dm');
SELECT row_group, column_name, problem FROM @am@.verify('dm');

-- joins and subqueries
SELECT twin_do('dm', 'dm_heap', 'DELETE FROM TBL d USING (SELECT i FROM generate_series(6000, 6100) i) s WHERE d.id = s.i');
SELECT twin_do('dm', 'dm_heap', 'UPDATE TBL d SET v = s.i FROM (SELECT i FROM generate_series(7000, 7100) i) s WHERE d.id = s.i');
-- two candidates for a row: one of them wins, once
WITH u AS (UPDATE dm d SET v = -1 FROM (VALUES (7200), (7200), (20060), (20060)) s (i) WHERE d.id = s.i RETURNING d.*)
SELECT * FROM u ORDER BY id;
UPDATE dm_heap SET v = -1 WHERE id IN (7200, 20060);
SELECT twin_diff('dm', 'dm_heap');
SELECT twin_do('dm', 'dm_heap', $$MERGE INTO TBL d USING (SELECT i FROM generate_series(19990, 20010) i) s ON d.id = s.i
	WHEN MATCHED AND s.i % 3 = 0 THEN DELETE
	WHEN MATCHED THEN UPDATE SET t = 'merged'
	WHEN NOT MATCHED THEN INSERT VALUES (s.i, 1, 'merged in', 0)$$);
WITH d AS (DELETE FROM dm WHERE id IN (8, 5009, 20002) RETURNING *, xmax = pg_current_xact_id()::xid AS deleted_here) SELECT * FROM d ORDER BY id;
DELETE FROM dm_heap WHERE id IN (8, 5009, 20002);
SELECT twin_diff('dm', 'dm_heap');

-- the statement does not see its own rows
SELECT twin_do('dm', 'dm_heap', 'INSERT INTO TBL SELECT id + 100000, g, t, v FROM TBL WHERE id < 3000');
SELECT twin_do('dm', 'dm_heap', 'UPDATE TBL SET id = id + 1 WHERE id > 100000');
SELECT twin_do('dm', 'dm_heap', 'WITH gone AS (DELETE FROM TBL WHERE id BETWEEN 100100 AND 100200 RETURNING *)
	INSERT INTO TBL SELECT id + 50000, g, t, v FROM gone');

-- savepoints, rollback
BEGIN;
SELECT twin_do('dm', 'dm_heap', 'DELETE FROM TBL WHERE id BETWEEN 9000 AND 9100');
SAVEPOINT a;
SELECT twin_do('dm', 'dm_heap', 'DELETE FROM TBL WHERE id BETWEEN 9050 AND 9200');
SELECT twin_do('dm', 'dm_heap', $$UPDATE TBL SET t = 'in a' WHERE id BETWEEN 9300 AND 9400$$);
SAVEPOINT b;
SELECT twin_do('dm', 'dm_heap', $$UPDATE TBL SET t = 'in b' WHERE id BETWEEN 9350 AND 9450$$);
SELECT twin_do('dm', 'dm_heap', 'DELETE FROM TBL WHERE id BETWEEN 9360 AND 9370');
ROLLBACK TO b;
SELECT twin_diff('dm', 'dm_heap');
SELECT twin_do('dm', 'dm_heap', 'DELETE FROM TBL WHERE id BETWEEN 9360 AND 9370');
RELEASE a;
SELECT twin_diff('dm', 'dm_heap');
SAVEPOINT c;
SELECT twin_do('dm', 'dm_heap', 'DELETE FROM TBL');
SELECT count(*) FROM dm;
ROLLBACK TO c;
SELECT twin_diff('dm', 'dm_heap');
COMMIT;
SELECT twin_diff('dm', 'dm_heap');
BEGIN;
SELECT twin_do('dm', 'dm_heap', 'DELETE FROM TBL WHERE g = 5');
SELECT twin_do('dm', 'dm_heap', $$INSERT INTO TBL SELECT i, 5, 'new', i FROM generate_series(1, 6000) i$$);
SELECT twin_do('dm', 'dm_heap', $$DELETE FROM TBL WHERE t = 'new' AND id % 2 = 0$$);
SELECT twin_do('dm', 'dm_heap', $$UPDATE TBL SET t = 'newer' WHERE t = 'new'$$);
ROLLBACK;
SELECT twin_diff('dm', 'dm_heap');

-- exceptions are subtransactions
DO $$
DECLARE
	tab text;
BEGIN
	FOREACH tab IN ARRAY '{dm,dm_heap}'::text[] LOOP
		FOR i IN 10000..10020 LOOP
			BEGIN
				EXECUTE format('DELETE FROM %I WHERE id = $1', tab) USING i;
				EXECUTE format('INSERT INTO %I VALUES ($1, 1, ''loop'', 1 / ($1 %% 3))', tab) USING i;
			EXCEPTION WHEN division_by_zero THEN
				NULL;
			END;
		END LOOP;
	END LOOP;
END $$;
SELECT twin_diff('dm', 'dm_heap');

-- cursors see what was there when they were opened
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM dm;
DECLARE d CURSOR FOR SELECT id FROM dm WHERE id BETWEEN 11000 AND 11003 ORDER BY id;
FETCH 1 FROM d;
DELETE FROM dm WHERE id BETWEEN 11001 AND 11002;
FETCH ALL FROM d;
SELECT (SELECT count(*) FROM dm) - (SELECT count(*) FROM dm_heap) AS deleted;
ROLLBACK;
BEGIN;
DECLARE w CURSOR FOR SELECT id FROM dm WHERE id = 11010 FOR UPDATE;
FETCH w;
UPDATE dm SET t = 'current' WHERE CURRENT OF w;
SELECT t FROM dm WHERE id = 11010;
ROLLBACK;

-- row triggers see old and new rows
CREATE FUNCTION dm_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE NOTICE '% %: % -> %', tg_when, tg_op, old, new;
	RETURN coalesce(new, old);
END $$;
CREATE TRIGGER dm_before BEFORE UPDATE OR DELETE ON dm FOR EACH ROW EXECUTE FUNCTION dm_trigger();
CREATE TRIGGER dm_after AFTER UPDATE OR DELETE ON dm FOR EACH ROW EXECUTE FUNCTION dm_trigger();
UPDATE dm SET v = 0 WHERE id = 12001;
DELETE FROM dm WHERE id = 12002;
DROP TRIGGER dm_before ON dm;
DROP TRIGGER dm_after ON dm;
UPDATE dm_heap SET v = 0 WHERE id = 12001;
DELETE FROM dm_heap WHERE id = 12002;
SELECT twin_diff('dm', 'dm_heap');

-- tableoid and ctid
SELECT DISTINCT tableoid::regclass FROM dm;
SELECT count(*) = count(DISTINCT ctid) AS distinct_ctids FROM dm;
SELECT count(*) FROM dm a JOIN dm b ON a.ctid = b.ctid WHERE a.id = b.id AND a.id BETWEEN 13000 AND 13004;

SELECT twin_do('dm', 'dm_heap', 'DELETE FROM TBL');
SELECT count(*) FROM dm;
DROP TABLE dm, dm_heap;
DROP FUNCTION dm_trigger();

-- Rows deleted in a subtransaction that is rolled back are there again, for
-- unique checks and for what shows xmax; those deleted before it stay deleted.
CREATE TABLE again (id int PRIMARY KEY, v int) USING @am@;
INSERT INTO again SELECT i, i FROM generate_series(1, 2000) i;
BEGIN;
DELETE FROM again WHERE id = 1 RETURNING id, xmax::text <> '0' AS deleted;
SAVEPOINT s;
DELETE FROM again WHERE id IN (2, 3) RETURNING id, xmax::text <> '0' AS deleted;
UPDATE again SET v = -4 WHERE id = 4 RETURNING id, v, xmax::text <> '0' AS deleted;
ROLLBACK TO s;
INSERT INTO again VALUES (1, -1) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO again VALUES (2, -2) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO again VALUES (4, -4) ON CONFLICT (id) DO UPDATE SET v = again.v + 1000 RETURNING id, v;
SAVEPOINT s;
INSERT INTO again VALUES (3, -3);
ROLLBACK TO s;
UPDATE again SET v = v + 1 WHERE id <= 5;
DELETE FROM again WHERE id = 5 RETURNING id, v, xmax::text <> '0' AS deleted;
INSERT INTO again VALUES (5, -5);
COMMIT;
SELECT id, v FROM again WHERE id <= 6 ORDER BY id;
SELECT count(*), sum(v) FROM again;
DROP TABLE again;
