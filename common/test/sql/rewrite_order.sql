-- Rewrites sort by orderby, or by the index of CLUSTER, and lose nothing.
CREATE TABLE ro (a int, b text, c numeric) USING @am@;
CREATE TABLE ro_heap (LIKE ro) USING heap;
SELECT @am@.set_options('ro', orderby => 'b DESC, a', row_group_rows => 10000);
SELECT twin_do('ro', 'ro_heap', $$INSERT INTO TBL
	SELECT i * 7919 % 30011, 'b' || i % 7, i / 8.0 FROM generate_series(1, 30000) i$$);
SELECT twin_do('ro', 'ro_heap', $$INSERT INTO TBL
	SELECT i, 'b' || i % 7, NULL FROM generate_series(1, 100) i$$);
SELECT twin_do('ro', 'ro_heap', $$DELETE FROM TBL WHERE a % 10 = 0$$);

-- rows out of order, in the order of a scan
CREATE FUNCTION ro_disorder(descending text, ascending text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
	EXECUTE format('WITH s AS (SELECT a, b, row_number() OVER () AS r FROM ro),
		p AS (SELECT a, b, lag(a) OVER (ORDER BY r) AS pa, lag(b) OVER (ORDER BY r) AS pb FROM s)
		SELECT count(*) FROM p WHERE %s', descending || ascending) INTO n;
	RETURN n;
END $$;
SELECT ro_disorder('pb < b', ' OR (pb = b AND pa > a)') > 0 AS disorder;

VACUUM FULL ro;
SELECT ro_disorder('pb < b', ' OR (pb = b AND pa > a)');
SELECT twin_diff('ro', 'ro_heap');
SELECT row_group, min, max FROM @am@.column_chunks('ro') WHERE column_name = 'b';

-- CLUSTER goes by its index
CREATE INDEX ro_a ON ro (a);
CLUSTER ro USING ro_a;
SELECT ro_disorder('pa > a', '');
SELECT twin_diff('ro', 'ro_heap');
SELECT row_group, column_name, problem FROM @am@.verify('ro');

-- rows that only this transaction sees, too: of row groups and of the delta,
-- with versions that it has itself made obsolete
BEGIN;
SELECT twin_do('ro', 'ro_heap', $$INSERT INTO TBL
	SELECT 50000 + i * 7919 % 3001, 'new', 0 FROM generate_series(1, 3000) i$$);
SELECT twin_do('ro', 'ro_heap', $$UPDATE TBL SET a = a + 10000 WHERE a > 50000 AND a % 3 = 0$$);
SELECT twin_do('ro', 'ro_heap', $$DELETE FROM TBL WHERE a > 50000 AND a % 7 = 0$$);
CLUSTER ro USING ro_a;
SELECT ro_disorder('pa > a', '');
SELECT twin_diff('ro', 'ro_heap');
SELECT twin_do('ro', 'ro_heap', $$UPDATE TBL SET c = 1 WHERE a > 50000 AND a % 5 = 0$$);
COMMIT;
SELECT twin_diff('ro', 'ro_heap');

-- a delete that was rolled back deletes nothing
BEGIN;
DELETE FROM ro WHERE a < 100;
ROLLBACK;
VACUUM FULL ro;
SELECT twin_diff('ro', 'ro_heap');
DROP TABLE ro, ro_heap;
DROP FUNCTION ro_disorder;
