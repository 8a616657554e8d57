-- colcompress.uint8: unsigned integers of 64 bits.
SET search_path = public, colcompress;
SELECT '0'::uint8, ' 18446744073709551615 '::uint8, '+42'::uint8, '-0'::uint8, '007'::uint8;
SELECT '18446744073709551616'::uint8;
SELECT '-1'::uint8;
SELECT '99999999999999999999999'::uint8;
SELECT ''::uint8;
SELECT '12x'::uint8;
SELECT '1 2'::uint8;
SELECT uint8_send('18446744073709551615'), uint8_send('258');

-- arithmetic: exact, or an error
SELECT '18446744073709551614'::uint8 + 1, 5::uint8 - 3::bigint, 3 - 3::uint8, 10::smallint * 7::uint8, '18446744073709551615'::uint8 / 2, '18446744073709551615'::uint8 % 10, -7 + 10::uint8;
SELECT '18446744073709551615'::uint8 + 1;
SELECT 0::uint8 - 1;
SELECT 3::uint8 - '4'::uint8;
SELECT '4294967296'::uint8 * '4294967296'::uint8;
SELECT '18446744073709551615'::uint8 * '18446744073709551615'::uint8;
SELECT 5::uint8 * -1;
SELECT 5::uint8 / 0;
SELECT 5 % 0::uint8;
SELECT 7::uint8 / -2;
SELECT 12::uint8 & 10::uint8, 12::uint8 | 3::uint8, 12::uint8 # 10::uint8, ~ 0::uint8, 1::uint8 << 63, '18446744073709551615'::uint8 >> 60;

-- comparison with signed integers
SELECT '18446744073709551615'::uint8 > -1, '9223372036854775808'::uint8 > 9223372036854775807, -1::smallint < 0::uint8, 5::uint8 = 5, 5 <> 5::uint8, 5::bigint >= 6::uint8;
SELECT bool_and((a < b) = (a::numeric < b::numeric) AND (a = b) = (a::numeric = b::numeric) AND (a >= b) = (a::numeric >= b::numeric)) AS same
	FROM unnest('{0,1,9223372036854775807,9223372036854775808,18446744073709551615}'::uint8[]) a, unnest('{-9223372036854775808,-1,0,1,9223372036854775807}'::bigint[]) b;

-- casts
SELECT 5::smallint::uint8, 5::uint8, 5::bigint::uint8, 4.5::uint8, 4.5::float8::uint8, '18446744073709551615'::numeric::uint8, '7'::text::uint8;
SELECT '18446744073709551615'::uint8::numeric, '18446744073709551615'::uint8::float8, 5::uint8::int2, 5::uint8::int4, '9223372036854775807'::uint8::bigint, 5::uint8::text, 5::uint8 + 0.5;
SELECT (-1)::uint8;
SELECT 1e20::numeric::uint8;
SELECT 'NaN'::numeric::uint8;
SELECT 'NaN'::float8::uint8;
SELECT 1e20::float8::uint8;
SELECT '9223372036854775808'::uint8::bigint;
SELECT '2147483648'::uint8::int;
SELECT '32768'::uint8::smallint;

-- the operator classes
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'uint8_ops';
SELECT count(*) AS different FROM generate_series(0, 100000, 77) g WHERE uint8_hash(g::bigint::uint8) <> hashint8(g) OR uint8_hash_extended(g::bigint::uint8, 5) <> hashint8extended(g, 5);

-- in a table
CREATE TABLE u8 (k int, u uint8, v uint8, i int, b bigint) USING colcompress;
CREATE TABLE u8_heap (LIKE u8) USING heap;
SELECT twin_do('u8', 'u8_heap', $$INSERT INTO TBL SELECT k, CASE WHEN k % 10 = 0 THEN NULL WHEN k % 3 = 0 THEN '18446744073709550000'::uint8 + k % 1000 ELSE k::uint8 END,
	(k % 50)::uint8, k % 100 - 20, k * 1000003::bigint FROM generate_series(1, 6000) k$$);
SELECT twin_do('u8', 'u8_heap', 'DELETE FROM TBL WHERE k % 9 = 1');
COPY u8 (k, u) FROM stdin;
10001	18446744073709551615
10002	0
10003	\N
\.
INSERT INTO u8_heap SELECT * FROM u8 WHERE k > 10000;
CREATE FUNCTION u8_diff() RETURNS TABLE (cond text) LANGUAGE plpgsql AS $$
DECLARE
	same bool;
BEGIN
	FOREACH cond IN ARRAY ARRAY['u > 5000', 'u < ''9223372036854775808''', 'u >= b', 'i < u', 'i = v', 'v + i > 30::uint8', 'u <> v * 2', 'v * i::bigint > 5', 'b - v > ''5000000''::uint8', 'u IN (5::uint8, 7::uint8, ''18446744073709550003'')',
		'CASE WHEN i > 0 THEN v - v + i ELSE v END = 7', 'v - i > 10', 'u BETWEEN 100::uint8 AND 200::uint8', 'u IS NULL', 'u & 255::uint8 = 17', 'u::numeric > 1e19', 'u % 7 = 3'] LOOP
		BEGIN
			EXECUTE format('SELECT (SELECT (count(*), sum(k), sum(u), min(u), max(v), avg(u)) FROM u8 WHERE %1$s) IS NOT DISTINCT FROM
				(SELECT (count(*), sum(k), sum(u), min(u), max(v), avg(u)) FROM u8_heap WHERE %1$s)', cond) INTO same;
		EXCEPTION WHEN numeric_value_out_of_range THEN
			cond := cond || ': ' || sqlerrm;
			same := false;
		END;
		IF NOT same THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM u8_diff();
SELECT v, count(*), sum(u) FROM u8 GROUP BY v ORDER BY v LIMIT 3;
SELECT v, count(*), sum(u) FROM u8_heap GROUP BY v ORDER BY v LIMIT 3;
SELECT count(DISTINCT u), sum(u), avg(u), min(u), max(u) FROM u8;
SELECT count(DISTINCT u), sum(u), avg(u), min(u), max(u) FROM u8_heap;
SELECT k, sum(u) OVER (ORDER BY k ROWS 1 PRECEDING) FROM u8 WHERE k < 8 ORDER BY k;
SELECT sum(u), avg(u), min(u) FROM u8 WHERE false;
SELECT count(*) FROM u8 a JOIN u8_heap h ON a.u = h.k JOIN u8_heap g ON g.u = a.u;
SET enable_hashjoin = off;
SELECT count(*) FROM u8 a JOIN u8_heap h ON a.u = h.k JOIN u8_heap g ON g.u = a.u;
RESET enable_hashjoin;
CREATE INDEX u8_u ON u8 (u);
CREATE INDEX u8_hash ON u8 USING hash (v);
SET enable_seqscan = off;
SET colcompress.enable_custom_scan = off;
SELECT k, u FROM u8 WHERE u = 17;
SELECT k, u FROM u8 WHERE u > '18446744073709550990' ORDER BY u, k LIMIT 3;
SELECT count(*) FROM u8 WHERE v = 7::uint8;
RESET enable_seqscan;
RESET colcompress.enable_custom_scan;
-- partial sums of workers
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT sum(u), avg(u), max(u) FROM u8;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- statistics know the range
ANALYZE u8;
SELECT n_distinct < 0, null_frac > 0.05, histogram_bounds IS NOT NULL FROM pg_stats WHERE tablename = 'u8' AND attname = 'u';
-- a partial index whose predicate follows from a bound of another integer type
CREATE INDEX u8_partial ON u8 (k) WHERE u > 5::smallint;
SET enable_seqscan = off;
SET colcompress.enable_custom_scan = off;
DO $$ DECLARE line text; found bool := false; BEGIN
	FOR line IN EXPLAIN SELECT k FROM u8 WHERE u > 10::bigint LOOP found := found OR line LIKE '%u8_partial%'; END LOOP;
	RAISE NOTICE 'partial index used: %', found;
END $$;
RESET enable_seqscan;
RESET colcompress.enable_custom_scan;
-- the planner's idea of other integers is not ours to change; and the classes are whole
SELECT count(*) FROM pg_amop a JOIN pg_opfamily f ON f.oid = a.amopfamily
	WHERE f.opfnamespace = 'colcompress'::regnamespace AND a.amopopr IN (SELECT oid FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace);
SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcnamespace = 'colcompress'::regnamespace ORDER BY opcname, opcmethod;
DROP TABLE u8, u8_heap;
DROP FUNCTION u8_diff;
RESET search_path;
