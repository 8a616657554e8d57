-- Vector expressions: the server's values, and its errors for exactly the
-- rows for which it would raise them.
SET timezone = 'Europe/Berlin';
CREATE TABLE ex (k int, i int, j int, b bigint, s smallint, f float8, r real, n numeric(12,2), w numeric, t text, d date, ts timestamp, tz timestamptz, o bool, u text)
	USING @am@;
CREATE TABLE ex_heap (LIKE ex) USING heap;
SELECT twin_do('ex', 'ex_heap', $$INSERT INTO TBL SELECT k, CASE WHEN k % 13 = 0 THEN NULL ELSE k % 200 - 20 END, k % 7, k * 1000003::bigint, k % 300, k / 7.0, k / 8.0,
	k % 1000 / 100.0, CASE WHEN k % 5 = 0 THEN k ELSE k / 10.0 END, 'word ' || k % 50, date '2020-02-20' + k % 700,
	timestamp '2020-03-28' + k * interval '7 min', timestamptz '2020-03-28 00:00+00' + k * interval '5 min', k % 3 = 0,
	CASE k % 4 WHEN 0 THEN 'äöü' WHEN 1 THEN 'ö7' ELSE '' END || k FROM generate_series(1, 9000) k$$);
SELECT twin_do('ex', 'ex_heap', 'DELETE FROM TBL WHERE k % 40 = 7');

-- what runs where
CREATE FUNCTION ex_where(condition text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT k FROM ex WHERE ' || condition LOOP
		IF line ~ 'Run On' THEN
			RETURN NEXT btrim(line);
		END IF;
	END LOOP;
END $$;
SELECT ex_where($$n * i > 100 AND extract(year FROM d) = 2020 AND date_trunc('month', tz) < '2020-04-10' AND k % 100 = 3$$);
SET @am@.enable_vector_expressions = off;
SELECT ex_where($$n * i > 100 AND extract(year FROM d) = 2020 AND date_trunc('month', tz) < '2020-04-10' AND k % 100 = 3$$);
RESET @am@.enable_vector_expressions;
-- a row that raises an error does so when it is asked for; for the others nothing changes
SELECT ex_where('100 / (j + 1) > 20');
SELECT ex_where('i / 3 > 5 AND sqrt(k) > 3');
SELECT ex_where('u LIKE ''%7%'' AND length(u) > 6');

-- a grid of expressions, each compared with some of its own values
CREATE TABLE ex_list (e text, typ text, id serial);
INSERT INTO ex_list (e, typ) VALUES
	('i + j', 'int'), ('i - s', 'int'), ('i * j', 'int'), ('i % 7', 'int'), ('i / 3', 'int'), ('-i', 'int'), ('abs(i)', 'int'), ('i + b', 'bigint'), ('b * j', 'bigint'),
	('b - i * b', 'bigint'), ('s + s', 'smallint'), ('i::bigint', 'bigint'), ('b::float8', 'float8'), ('f::int', 'int'), ('n::int', 'int'), ('n::bigint', 'bigint'), ('n::float8', 'float8'),
	('w::float8', 'float8'), ('f + r', 'float8'), ('f * 2', 'float8'), ('r / 3', 'real'), ('f - f', 'float8'), ('f::real', 'real'), ('n + i', 'numeric'), ('n * n', 'numeric'),
	('n * i', 'numeric'), ('n - 0.125', 'numeric'), ('w + n', 'numeric'), ('w * n', 'numeric'), ('-n', 'numeric'), ('abs(n - 5)', 'numeric'), ('round(n, 1)', 'numeric'), ('trunc(w)', 'numeric'),
	('ceil(n)', 'numeric'), ('floor(-n)', 'numeric'), ('n::numeric(20,6)', 'numeric'), ('(n / 3)::numeric(10,1)', 'numeric'), ('i::numeric', 'numeric'), ('n % 3', 'numeric'),
	('d + j', 'date'), ('d - 30', 'date'), ('d - date ''2020-06-01''', 'int'), ('extract(year FROM d)', 'numeric'), ('extract(dow FROM d)', 'numeric'), ('extract(week FROM ts)', 'numeric'),
	('extract(hour FROM ts)', 'numeric'), ('extract(hour FROM tz)', 'numeric'), ('extract(epoch FROM ts)', 'numeric'), ('date_part(''minute'', tz)', 'float8'), ('date_trunc(''month'', ts)', 'timestamp'),
	('date_trunc(''day'', tz)', 'timestamptz'), ('date_trunc(''hour'', tz)', 'timestamptz'), ('ts::date', 'date'), ('tz::date', 'date'), ('d::timestamp', 'timestamp'), ('d::timestamptz', 'timestamptz'),
	('ts + interval ''90 min''', 'timestamp'), ('ts - interval ''1 day 1 min''', 'timestamp'), ('tz + interval ''1 day''', 'timestamptz'), ('tz + interval ''1 month''', 'timestamptz'),
	('ts + interval ''1 microsecond'' * b', 'timestamp'), ('tz - interval ''90 s'' * f', 'timestamptz'), ('ts + interval ''1 day'' * j', 'timestamp'), ('interval ''-7 ms'' * f', 'interval'),
	('to_timestamp(b)', 'timestamptz'), ('to_timestamp(f * 1000)', 'timestamptz'), ('to_timestamp(-f / 3)', 'timestamptz'),
	('CASE WHEN o THEN n END', 'numeric'), ('CASE WHEN i > 50 THEN n ELSE 0 END', 'numeric'), ('CASE j WHEN 1 THEN i WHEN 2 THEN s ELSE k END', 'int'),
	('CASE WHEN t = ''word 7'' THEN ''seven'' WHEN j = 3 THEN t END', 'text'), ('coalesce(i, k)', 'int'), ('coalesce(n * i, w)', 'numeric'), ('nullif(j, 3)', 'int'), ('nullif(i, j)', 'int'),
	('o AND i > 5', 'bool'), ('i > 5 OR j = 2', 'bool'), ('NOT (i > 5 AND j < 4)', 'bool'), ('i IS NULL OR o', 'bool'), ('i + j IN (3, 7, 100)', 'bool'), ('i + j NOT IN (3, 7, NULL)', 'bool'),
	('i IS DISTINCT FROM j', 'bool'), ('(i > j) IS NOT TRUE', 'bool'), ('upper(t) || k % 3', 'text'), ('length(t) + j', 'int'), ('left(t, 6)', 'text'),
	('md5(k::text)', 'text'), ('u LIKE ''%5''', 'bool'), ('u LIKE ''ä%''', 'bool'), ('u NOT LIKE ''%ö7%''', 'bool'), ('u LIKE ''äöü%_5''', 'bool'), ('u LIKE ''äöü100''', 'bool'), ('u LIKE ''%''', 'bool'),
	('u LIKE ''''', 'bool'), ('starts_with(u, ''äö'')', 'bool'), ('length(u)', 'int'), ('octet_length(u)', 'int'), ('u || t LIKE ''%1w%''', 'bool'), ('u ILIKE ''%Ü1%''', 'bool');

-- of every n-th of them
CREATE FUNCTION ex_diff(n int) RETURNS TABLE (cond text, ours text, heap text) LANGUAGE plpgsql AS $$
DECLARE
	l ex_list;
	val text;
	op text;
BEGIN
	FOR l IN SELECT * FROM ex_list WHERE id % n = 0 ORDER BY id LOOP
		FOR val IN EXECUTE format('SELECT (%s)::text FROM ex_heap WHERE (%s) IS NOT NULL AND k IN (500, 4203)', l.e, l.e) LOOP
			FOREACH op IN ARRAY ARRAY['<', 'IS DISTINCT FROM'] LOOP
				cond := format('(%s) %s %L::%s', l.e, op, val, l.typ);
				EXECUTE 'SELECT format(''%s rows, %s'', count(*), sum(k)) FROM ex WHERE ' || cond INTO ours;
				EXECUTE 'SELECT format(''%s rows, %s'', count(*), sum(k)) FROM ex_heap WHERE ' || cond INTO heap;
				IF ours <> heap THEN
					RETURN NEXT;
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT count(*) > 70 AS many FROM ex_list;
SELECT * FROM ex_diff(1);

-- the same with other instructions, as far as the machine has them
SET @am@.simd = none;
SELECT * FROM ex_diff(3);
SET @am@.simd = avx2;
SELECT * FROM ex_diff(4);
RESET @am@.simd;
-- an expression of great depth
DO $$ BEGIN
	EXECUTE 'CREATE TABLE ex_deep AS SELECT count(*) FROM ex WHERE k' || repeat(' + j', 1500) || ' > 5000';
	EXECUTE 'INSERT INTO ex_deep SELECT count(*) FROM ex_heap WHERE k' || repeat(' + j', 1500) || ' > 5000';
END $$;
SELECT count(DISTINCT count) FROM ex_deep;
DROP TABLE ex_deep;

-- constants where a filter leaves no row of a batch; sums of groups with scales of their own
SELECT j, count(1.5::float4) FILTER (WHERE k IN (17, 5000, 8999)), sum(2.50) FILTER (WHERE k = 8999), sum(w), sum(CASE WHEN k % 2 = 0 THEN n ELSE 0 END), avg(coalesce(w, 0.5)) FILTER (WHERE k % 7 < 5)
	FROM ex GROUP BY j ORDER BY j;
SELECT count(*) AS different FROM
	((SELECT k % 300, count(1) FILTER (WHERE k > 8000), sum(w)::text, sum(CASE WHEN i > 50 THEN n ELSE 0 END)::text, avg(CASE WHEN k % 5 = 0 THEN w END)::text FROM ex GROUP BY 1)
	EXCEPT (SELECT k % 300, count(1) FILTER (WHERE k > 8000), sum(w)::text, sum(CASE WHEN i > 50 THEN n ELSE 0 END)::text, avg(CASE WHEN k % 5 = 0 THEN w END)::text FROM ex_heap GROUP BY 1)) d;

-- errors are the server's
SELECT count(*) FROM ex WHERE b * b > 0;
SELECT count(*) FROM ex WHERE i + 2147483600 > 0;
SELECT count(*) FROM ex WHERE s * 200::smallint > 0;
SELECT count(*) FROM ex WHERE 100 / j > 5;
SELECT count(*) FROM ex WHERE f / (j - 1) > 5;
SELECT count(*) FROM ex WHERE b::int > 5;
SELECT count(*) FROM ex WHERE (w * 100)::numeric(4,1) > 5;
SELECT count(*) FROM ex WHERE f * 1e308 > 5;
SELECT count(*) FROM ex WHERE extract('nothing' FROM ts) > 5;
-- and not for rows that are kept from the expression
SELECT count(*) FROM ex WHERE j <> 0 AND 100 / j > 5;
SELECT count(*) FROM ex WHERE j = 0 OR 100 / j > 5;
SELECT count(*) FROM ex WHERE CASE WHEN j = 0 THEN false ELSE 100 / j > 5 END;
SELECT count(*) FROM ex WHERE CASE WHEN j > 0 THEN 100 / j END > 5;
SELECT count(*) FROM ex WHERE coalesce(nullif(j, 0), 1 / nullif(j, 0)) > 5;
-- nor before a row is asked for
SELECT count(*) FROM (SELECT k FROM ex WHERE 100 / (j - 6) < 0 LIMIT 2) x;

-- 1/x where 0 stands only in deleted, filtered, hidden rows
CREATE TABLE ex_zero (k int, x int, n numeric) USING @am@;
INSERT INTO ex_zero SELECT k, CASE WHEN k % 100 = 50 THEN 0 ELSE k % 5 + 1 END, 1 FROM generate_series(1, 5000) k;
SELECT count(*) FROM ex_zero WHERE 1 / x > 0;
SELECT count(*) FROM ex_zero WHERE k % 100 <> 50 AND 1 / x > 0;
CREATE ROLE regress_@am@_zero;
GRANT SELECT ON ex_zero TO regress_@am@_zero;
ALTER TABLE ex_zero ENABLE ROW LEVEL SECURITY;
CREATE POLICY ex_visible ON ex_zero USING (x + 0 > 0);
SET ROLE regress_@am@_zero;
SELECT count(*) FROM ex_zero WHERE 1 / x > 0;
SELECT count(*) FROM ex_zero WHERE n / x > 0.3;
RESET ROLE;
DELETE FROM ex_zero WHERE x = 0;
SELECT count(*) FROM ex_zero WHERE 1 / x > 0;

-- parameters change between executions and rescans
PREPARE ex_p (int) AS SELECT count(*) FROM ex WHERE i * $1 > 300 + $1;
EXECUTE ex_p (2);
EXECUTE ex_p (5);
SET plan_cache_mode = force_generic_plan;
EXECUTE ex_p (2);
EXECUTE ex_p (NULL);
RESET plan_cache_mode;
SELECT g, (SELECT count(*) FROM ex WHERE i + j * g > 150 AND length(t) > g) FROM generate_series(1, 3) g;
-- the time zone matters
SELECT count(*) FROM ex WHERE extract(hour FROM tz) = 2;
SET timezone = 'Asia/Kathmandu';
SELECT count(*) FROM ex WHERE extract(hour FROM tz) = 2;
SELECT count(*) FROM ex_heap WHERE extract(hour FROM tz) = 2;
RESET timezone;
-- a function that must not be called
CREATE FUNCTION ex_private(int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT $1 + 1 $$;
REVOKE EXECUTE ON FUNCTION ex_private FROM PUBLIC;
ALTER TABLE ex_zero DISABLE ROW LEVEL SECURITY;
SET ROLE regress_@am@_zero;
SELECT count(*) FROM ex_zero WHERE ex_private(x) > 2;
RESET ROLE;
DROP FUNCTION ex_private;
DROP TABLE ex, ex_heap, ex_list, ex_zero;
DROP ROLE regress_@am@_zero;
DROP FUNCTION ex_diff, ex_where;
