-- A grid of columns, operators and constants: every combination gives heap's
-- rows, with every optimisation switched on and off.
CREATE TABLE sg (k int, i2 smallint, i4 int, i8 bigint, o oid, b bool, q "char", f4 real, f8 float8,
	n numeric, n2 numeric(10,2), t text, v varchar(20), c char(6), nm name, d date, tm time, ts timestamp, tz timestamptz,
	iv interval, u uuid, y bytea, ia int[], j jsonb, m money) USING @am@;
CREATE TABLE sg_heap (LIKE sg) USING heap;
SELECT @am@.set_options('sg', row_group_rows => 4096);
SELECT setseed(0.42);
-- values come in runs, so that some vectors have one value, few, many or none
CREATE TABLE sg_data AS SELECT k, x, CASE WHEN k / 500 % 5 = 4 OR k % 11 = 0 THEN NULL ELSE x END AS nx
	FROM (SELECT k, CASE k / 700 % 4 WHEN 0 THEN k WHEN 1 THEN k % 5 WHEN 2 THEN 42 ELSE (random() * 10000)::int END AS x
		FROM generate_series(1, 12000) k) r;
SELECT twin_do('sg', 'sg_heap', $$INSERT INTO TBL SELECT k, nx % 1000, nx, nx * 1000003::bigint, x, x % 2 = 0, chr(33 + x % 90)::"char", nx / 8.0, nx / 3.0,
	CASE WHEN x % 100 = 3 THEN 'NaN' WHEN x % 7 = 0 THEN x / 7 ELSE x / 10.0 END, nx / 100.0, 'str' || nx % 300, 'v' || x, x % 50, 'n' || x, CASE nx % 100 WHEN 8 THEN '-infinity' WHEN 9 THEN 'infinity' ELSE date '2000-01-01' + nx END,
	time '00:00' + x * interval '7 seconds', CASE x % 100 WHEN 8 THEN '-infinity' WHEN 9 THEN 'infinity' ELSE timestamp '2000-01-01' + x * interval '1 hour' END,
	CASE nx % 100 WHEN 8 THEN '-infinity' WHEN 9 THEN 'infinity' ELSE timestamptz '2000-01-01 00:00+00' + nx * interval '1 hour' END,
	x * interval '1 day', md5(nx::text)::uuid, decode(md5((x % 1000)::text), 'hex'), ARRAY[x % 10, nx], jsonb_build_object('a', nx % 20), x
	FROM sg_data$$);
SELECT twin_do('sg', 'sg_heap', 'DELETE FROM TBL WHERE k % 37 = 5');
SELECT twin_do('sg', 'sg_heap', 'UPDATE TBL SET i4 = i4 + 1, t = t || ''x'' WHERE k % 101 = 5');

CREATE TABLE sg_cond (cond text, id serial);
-- a column, an operator, one of the column's own values or a border
INSERT INTO sg_cond (cond)
	SELECT format('%I %s %L%s', col, op, val, coalesce('::' || typ, ''))
	FROM (VALUES ('i2', NULL, '{0,42,-1,999,32767}'::text[]), ('i4', NULL, '{0,42,5000,-2147483648,2147483647}'), ('i8', NULL, '{0,42000126,9223372036854775807}'),
		('i4', 'bigint', '{42,4294967338}'), ('i8', 'int', '{42,0}'), ('i2', 'int', '{42,70000}'), ('i4', 'numeric', '{42,42.5}'),
		('o', NULL, '{42,4294967295}'), ('q', NULL, '{a,!,z}'), ('f4', NULL, '{5.25,NaN,-Infinity}'), ('f4', 'float8', '{5.25,0.1}'),
		('f8', NULL, '{14,0.3333333333333333,NaN,Infinity}'), ('n', NULL, '{4.2,4.20,4.25,NaN,-1,1e30}'), ('n2', NULL, '{0.42,0.425,100,-Infinity}'),
		('t', NULL, '{str42,str,"",zzz,str4}'), ('v', NULL, '{v42,v5000}'), ('c', NULL, '{42,"42  ",9}'), ('nm', NULL, '{n42,n5}'),
		('d', NULL, '{2000-02-12,infinity,-infinity}'), ('d', 'timestamp', '{2000-02-12 00:00,2000-02-12 01:00,1999-12-31 23:00,infinity,-infinity,294276-12-31}'), ('d', 'timestamptz', '{2000-02-12 00:00,2000-02-12 01:00}'), ('tm', NULL, '{00:04:54}'),
		('ts', NULL, '{2000-01-02 18:00,infinity}'), ('ts', 'date', '{2000-01-03,infinity,-infinity,5874897-12-31}'), ('ts', 'timestamptz', '{2000-01-03}'),
		('tz', 'date', '{2000-01-03,2000-04-02,infinity,-infinity,5874897-12-31}'), ('tz', 'timestamp', '{2000-01-02 18:00,2000-04-02 02:30,2000-10-29 01:30,infinity,-infinity}'), ('tz', NULL, '{2000-01-02 18:00+00}'), ('iv', NULL, '{42 days,1 mon}'),
		('u', NULL, '{a1d0c6e8-3f02-7327-d846-1063f4ac58a6,00000000-0000-0000-0000-000000000000}'), ('y', NULL, '{\\xa1d0c6e83f027327d8461063f4ac58a6,\\x}'),
		('ia', NULL, '{"{2,42}","{}"}'), ('m', NULL, '{42}'), ('b', NULL, '{t,f}')) c (col, typ, vals),
		unnest(vals) val, unnest(ARRAY['<', '<=', '=', '>=', '>', '<>']) op;
INSERT INTO sg_cond (cond)
	SELECT format('%s %s', col, test) FROM unnest(ARRAY['i4', 'n', 't', 'b', 'ia', 'j', 'f8', 'u']) col, unnest(ARRAY['IS NULL', 'IS NOT NULL']) test;
INSERT INTO sg_cond (cond) VALUES ('b'), ('NOT b'), ('b IS NOT TRUE'), ('b IS UNKNOWN'), ('NULL'), ('i4 = NULL'), ('i4 IN (1, 2, 42, NULL)'), ('i4 NOT IN (1, 2, 42)'),
	('i4 NOT IN (42, NULL)'), ('i4 IN (42, 3, 42, 3, 2)'), ('i4 NOT IN (42, 3, 42, 1)'), ('i4 IN (0, 1, 2, 3, 4, 5, 6, 42)'), ('i4 NOT IN (0, 1, 2, 3, 4, 5, 6, 42, 43)'),
	('n2 IN (0.42, 0.421, 1)'), ('n IN (4.2, ''NaN'')'), ('t IN (''str1'', ''str42'', ''none'')'), ('t NOT IN (''str1'', ''str42'')'),
	('i8 = ANY (ARRAY(SELECT g * 1000003::bigint FROM generate_series(1, 500) g))'), ('f8 = ANY (''{14,NaN}'')'), ('d = ANY (''{2000-02-12,2001-01-01}'')'),
	('i4 > ANY (''{9000,9500}'')'), ('i4 > ALL (''{9000,9500}'')'), ('t LIKE ''str4%'''), ('t LIKE ''%4'''), ('t LIKE ''str_2'''), ('t NOT LIKE ''str4%'''),
	('v LIKE ''v4%'''), ('c LIKE ''4%'''), ('c LIKE ''4 %'''), ('t ~ ''^str[12]'''), ('upper(t) = ''STR42'''), ('length(t) = 5'), ('t || v > ''str42'''),
	('j @> ''{"a": 5}'''), ('(j->>''a'')::int > 17'), ('ia[1] = 3'), ('ia @> ARRAY[42]'), ('i4 = i2'), ('i4 + i2 > 100 AND f8 < 1000'), ('abs(i4) = 42'),
	('coalesce(i4, -1) = -1'), ('CASE WHEN b THEN i4 ELSE i2 END > 500'), ('(i4, t) < (42, ''str42'')'), ('(i4, i8) = (42, 42000126)'),
	('i4 = 42 OR t = ''str7'''), ('i4 = 42 OR t IS NULL'), ('(i4 > 9000 AND n2 < 95) OR (d < ''2000-01-05'' AND b)'), ('i4 IS DISTINCT FROM 42'),
	('i4 IS NOT DISTINCT FROM NULL'), ('NOT (i4 > 42 AND t < ''str5'')'), ('extract(year from d) = 2001'), ('ctid IS NOT NULL AND i4 < 3'), ('sg IS NULL'),
	('t = ''str42'' AND i4 = 42 AND length(t) = 5 AND j IS NOT NULL'), ('t = ''str42'' AND t <> ''str43'' AND random() >= 0'), ('i4 < (SELECT 42)'), ('i4 < 42 AND 1 / nullif(i4, 0) = 0');

CREATE FUNCTION sg_rows(tbl text, cond text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'SELECT format(''%s rows, %s, %s, %s'', count(*), sum(k), sum(n2), count(t)) FROM ' || tbl || ' sg WHERE ' || cond INTO result;
	RETURN result;
END $$;
-- Of every n-th condition, those that give other rows than heap, which is asked once.
CREATE TABLE sg_expected AS SELECT id, cond, sg_rows('sg_heap', cond) AS heap FROM sg_cond;
CREATE FUNCTION sg_diff(n int) RETURNS TABLE (cond text, ours text, heap text) LANGUAGE plpgsql AS $$
BEGIN
	FOR cond, heap IN SELECT e.cond, e.heap FROM sg_expected e WHERE e.id % n = 0 LOOP
		ours := sg_rows('sg', cond);
		IF ours <> heap THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT count(*) > 500 AS many FROM sg_cond;
SELECT * FROM sg_diff(1);
SET @am@.enable_pruning = off;
SELECT * FROM sg_diff(2);
SET @am@.enable_vector_filter = off;
SELECT * FROM sg_diff(3);
RESET @am@.enable_pruning;
SELECT * FROM sg_diff(3);
SET @am@.enable_custom_scan = off;
SELECT * FROM sg_diff(7);
RESET ALL;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM sg_diff(12);
RESET ALL;
DROP TABLE sg, sg_heap, sg_data, sg_cond, sg_expected;
DROP FUNCTION sg_diff, sg_rows;

-- name shares its operator family with text, but not its representation
CREATE TABLE gn (k int, n name, t text) USING @am@;
CREATE TABLE gn_heap (LIKE gn) USING heap;
SELECT twin_do('gn', 'gn_heap', $$INSERT INTO TBL SELECT i, 'name ' || i % 50, 'name ' || i % 70 FROM generate_series(1, 5000) i$$);
CREATE FUNCTION gn_count(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a bigint;
	b bigint;
BEGIN
	EXECUTE 'SELECT count(*) FROM gn WHERE ' || condition INTO a;
	EXECUTE 'SELECT count(*) FROM gn_heap WHERE ' || condition INTO b;
	RETURN CASE WHEN a = b THEN a || ' rows, same' ELSE a || ' against ' || b END;
END $$;
SELECT c, gn_count(c) FROM unnest(ARRAY[
	$$n = 'name 7'$$, $$n = 'name 7'::text$$, $$'name 7'::text = n$$, $$n >= 'name 7'::text$$, $$n < 'name 30'$$,
	$$n <> 'name 7'::text$$, $$n IN ('name 7'::text, 'name 8'::text)$$, $$k = 3 OR n = 'name 7'::text$$,
	$$n LIKE 'name 1%'$$, $$n = t$$, $$n < t$$, $$n::text = 'name 7'$$, $$t = 'name 7'::name$$, $$t > 'name 7'::name$$,
	$$n IS DISTINCT FROM t$$]) c;
SELECT n, t FROM gn ORDER BY n DESC, t, k LIMIT 3;
DROP TABLE gn, gn_heap;
DROP FUNCTION gn_count;
