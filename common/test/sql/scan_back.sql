-- Cursors over a table whose scan walks vectors turn round, and change the
-- row that they stand on, as over a heap.
CREATE TABLE sb (k int, t text, n numeric) USING @am@;
CREATE TABLE sb_heap (LIKE sb) USING heap;
SELECT @am@.set_options('sb', row_group_rows => 10240);
-- A load's first thousand rows stay in the delta, which is scanned last.
INSERT INTO sb SELECT i, 'text ' || i, i / 4.0 FROM generate_series(1, 12000) i;
INSERT INTO sb_heap SELECT i, 'text ' || i, i / 4.0 FROM generate_series(1001, 12000) i;
INSERT INTO sb_heap SELECT i, 'text ' || i, i / 4.0 FROM generate_series(1, 1000) i;
SELECT twin_do('sb', 'sb_heap', $$INSERT INTO TBL SELECT i, 'delta', NULL FROM generate_series(12001, 12010) i$$);
SELECT twin_do('sb', 'sb_heap', $$DELETE FROM TBL WHERE k % 1000 = 5$$);
SELECT twin_do('sb', 'sb_heap', $$UPDATE TBL SET t = 'new' WHERE k % 4000 = 7$$);
ANALYZE sb;
ANALYZE sb_heap;

-- Walks the same way over both, and says where they differ.
-- Updated rows are left out: ours move to the end.
CREATE FUNCTION sb_walk(query text, moves text[], options text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours refcursor := 'sb_ours';
	heap refcursor := 'sb_theirs';
	a text;
	b text;
	move text;
	rows int := 0;
BEGIN
	EXECUTE format('DECLARE sb_ours %s CURSOR FOR %s', options, replace(query, 'TBL', 'sb'));
	EXECUTE format('DECLARE sb_theirs %s CURSOR FOR %s', options, replace(query, 'TBL', 'sb_heap'));
	FOREACH move IN ARRAY moves LOOP
		FOR i IN 1 .. coalesce(substring(move FROM ' x(\d+)')::int, 1) LOOP
			EXECUTE 'FETCH ' || split_part(move, ' x', 1) || ' FROM sb_ours' INTO a;
			EXECUTE 'FETCH ' || split_part(move, ' x', 1) || ' FROM sb_theirs' INTO b;
			IF a IS DISTINCT FROM b THEN
				CLOSE ours;
				CLOSE heap;
				RETURN format('%s (%s): %s against %s', move, i, a, b);
			END IF;
			rows := rows + (a IS NOT NULL)::int;
		END LOOP;
	END LOOP;
	CLOSE ours;
	CLOSE heap;
	RETURN rows || ' rows, same';
END $$;
SELECT sb_walk('SELECT TBL::text FROM TBL WHERE t <> ''new''', '{NEXT x2000,PRIOR x1500,NEXT x1700,PRIOR x2300,PRIOR x3,NEXT x20}');
SELECT sb_walk('SELECT t FROM TBL WHERE k > 11900 AND t <> ''new''', '{NEXT x200,PRIOR x200,NEXT,PRIOR,PRIOR,NEXT,NEXT,LAST,FIRST,PRIOR,NEXT x5,ABSOLUTE 3,RELATIVE 4,RELATIVE -2,ABSOLUTE -1,PRIOR x4,NEXT x9}');
SELECT sb_walk('SELECT n FROM TBL WHERE k < 2000 AND t <> ''new''', '{NEXT x1500,PRIOR x700,LAST,PRIOR x1500,NEXT}', 'SCROLL');
SELECT sb_walk('SELECT n FROM TBL WHERE k < 100', '{NEXT x60,PRIOR x30,LAST,PRIOR x10}', 'SCROLL');
SELECT sb_walk('SELECT n + k FROM TBL WHERE k < 0', '{NEXT,PRIOR,NEXT,LAST,FIRST}');
SELECT sb_walk('SELECT k FROM TBL WHERE k = 3000', '{NEXT,NEXT,NEXT,PRIOR,PRIOR,PRIOR,NEXT}');

BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, t FROM sb WHERE k BETWEEN 100 AND 104;
FETCH 4 FROM c;
FETCH BACKWARD 2 FROM c;
UPDATE sb SET t = 'here' WHERE CURRENT OF c;
FETCH NEXT FROM c;
DELETE FROM sb WHERE CURRENT OF c;
-- the cursor's snapshot is older
FETCH FIRST FROM c;
FETCH 9 FROM c;
FETCH BACKWARD ALL FROM c;
SELECT k, t FROM sb WHERE k BETWEEN 100 AND 104 ORDER BY k;
COMMIT;
BEGIN;
DECLARE c CURSOR WITH HOLD FOR SELECT k FROM sb WHERE k BETWEEN 200 AND 205;
FETCH 3 FROM c;
COMMIT;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
CLOSE c;
BEGIN;
DECLARE c NO SCROLL CURSOR FOR SELECT k FROM sb WHERE k BETWEEN 200 AND 205;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
ROLLBACK;
DROP TABLE sb, sb_heap;
DROP FUNCTION sb_walk;
