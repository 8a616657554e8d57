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

-- keys of many types are compared as one string of bytes
CREATE TABLE rk (i int, b bool, i2 int2, i8 int8, o oid, d date, ts timestamp, tz timestamptz, f4 float4, f8 float8, u uuid, t text COLLATE "C", v varchar COLLATE "C", n numeric) USING @am@;
SELECT setseed(0.5);
INSERT INTO rk SELECT (random() * 8 - 4)::int, random() < 0.5, (random() * 6 - 3)::int,
	((random() * 8)::int - 4)::int8 * 1152921504606846975, (random() * 4)::int8 * 1073741823,
	CASE (random() * 8)::int WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' ELSE date '2000-01-01' + (random() * 6 - 3)::int END,
	CASE (random() * 8)::int WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' ELSE timestamp '2000-01-01' + interval '1 us' * (random() * 6 - 3)::int END,
	timestamptz '2000-01-01' + interval '1 hour' * (random() * 6 - 3)::int,
	(ARRAY['NaN', '-0', '0', '-1.5', '1.5', 'Infinity', '-Infinity', '1e-40'])[1 + (random() * 7)::int]::float4,
	(ARRAY['NaN', '-0', '0', '-1.5', '1.5', 'Infinity', '-Infinity', '1e-310'])[1 + (random() * 7)::int]::float8,
	md5(((random() * 5)::int)::text)::uuid,
	(ARRAY['', 'a', 'ab', 'a b', 'b', E'a\x01', chr(233), repeat('x', 3000)])[1 + (random() * 7)::int],
	(ARRAY['', 'a', 'ab', 'aa', NULL])[1 + (random() * 4)::int], random()
	FROM generate_series(1, 3000);
UPDATE rk SET i = NULL WHERE random() < 0.1;
UPDATE rk SET f8 = NULL, t = NULL, d = NULL WHERE random() < 0.1;
-- NaN with a sign
UPDATE rk SET f8 = float8 'Infinity' - float8 'Infinity' WHERE random() < 0.1;
-- the keys in the order of a scan, and as they should stand
CREATE FUNCTION rk_same(orderby text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	keys text := regexp_replace(regexp_replace(orderby, ' (DESC|NULLS FIRST|NULLS LAST)', '', 'g'), 'f(4|8)', 'f\1 + 0', 'g');
	same bool;
BEGIN
	EXECUTE format('SELECT (SELECT md5(string_agg(ROW(%s)::text, '';'')) FROM rk) = '
		'(SELECT md5(string_agg(k, '';'')) FROM (SELECT ROW(%s)::text AS k FROM rk ORDER BY %s) s)', keys, keys, orderby) INTO same;
	RETURN same;
END $$;
SELECT unnest(ARRAY[format($$DO 'BEGIN PERFORM @am@.set_options(''rk'', orderby => ''%s''); END'$$, orderby), 'VACUUM FULL rk',
	format('SELECT rk_same(%L)', orderby)])
FROM unnest(ARRAY['i, b DESC', 'i DESC, i2', 'i NULLS FIRST, i8 DESC', 'i DESC NULLS LAST, o', 'b, d, ts DESC', 'd DESC NULLS FIRST, tz',
	'f4, f8', 'f8 DESC, f4 DESC', 'u, t', 't, v', 't DESC, v DESC', 't DESC NULLS LAST, v NULLS FIRST, u DESC',
	'lower(t), (i + 1) DESC', 'i2, n']) AS orderby \gexec
DROP TABLE rk;
DROP FUNCTION rk_same;
