-- Values of all built-in types come back as heap gives them back.
SET datestyle = iso, ymd;
SET timezone = 'UTC';
CREATE TYPE ty_enum AS ENUM ('low', 'middle', 'high');
CREATE TYPE ty_pair AS (a int, b text);
CREATE DOMAIN ty_domain AS varchar(20) CHECK (value <> 'bad');
CREATE DOMAIN ty_domain_of AS ty_domain;
CREATE COLLATION IF NOT EXISTS ty_c (locale = 'C');

-- One column per type; row i has value, null or an extreme.
CREATE TABLE ty_heap USING heap AS
SELECT i,
	CASE WHEN i % 7 = 0 THEN NULL ELSE i % 3 = 0 END AS bool_,
	(ARRAY[NULL, -32768, 32767, 0, i % 1000])[i % 5 + 1]::int2 AS int2_,
	(ARRAY[NULL, -2147483648, 2147483647, 0, i])[i % 5 + 1]::int4 AS int4_,
	(ARRAY[NULL, -9223372036854775808, 9223372036854775807, 0, i])[i % 5 + 1]::int8 AS int8_,
	(ARRAY['NaN', 'Infinity', '-Infinity', '-0', '0', NULL, '1e-40', '3.4e38', (i / 8.0)::text])[i % 9 + 1]::float4 AS float4_,
	(ARRAY['NaN', 'Infinity', '-Infinity', '-0', '0', NULL, '5e-324', '1.7e308', (i / 100.0)::text])[i % 9 + 1]::float8 AS float8_,
	(i / 100.0)::numeric(12,2) AS numeric_fixed,
	(ARRAY['NaN', 'Infinity', '-Infinity', '0.000', '-0.5', NULL, '1e100', '1e-100', (i / 8.0)::text])[i % 9 + 1]::numeric AS numeric_any,
	((i::numeric * 10000000000000000000) + i / 1000.0)::numeric(30,5) AS numeric_wide,
	(i * 12.34)::numeric::money AS money_,
	chr(65 + i % 26)::"char" AS char1,
	('n' || i % 40)::name AS name_,
	CASE i % 6 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'text ' || i % 500 END AS text_,
	md5(i::text) AS hex_,
	('v' || i % 30)::varchar(10) AS varchar_,
	('b' || i % 30)::char(8) AS bpchar_,
	('x' || i % 9)::text COLLATE ty_c AS text_c,
	('d' || i % 30)::ty_domain_of AS domain_,
	decode(md5(i::text), 'hex') AS bytea_,
	(ARRAY['-infinity', 'infinity', '4713-01-01 BC', '5874897-12-31', NULL, (date '2000-01-01' + i)::text])[i % 6 + 1]::date AS date_,
	time '00:00' + i * interval '7 seconds' AS time_,
	(time '00:00' + i * interval '7 seconds')::timetz AS timetz_,
	(ARRAY['-infinity', 'infinity', NULL, (timestamp '2000-01-01' + i * interval '1 hour')::text])[i % 4 + 1]::timestamp AS timestamp_,
	timestamptz '2000-01-01' + i * interval '1 minute 1 microsecond' AS timestamptz_,
	i * interval '1 month 2 days 3 seconds' AS interval_,
	md5(i::text)::uuid AS uuid_,
	('10.' || i % 200 || '.0.0/16')::cidr AS cidr_,
	('10.0.' || i % 200 || '.7')::inet AS inet_,
	lpad(to_hex(i), 12, '0')::macaddr AS macaddr_,
	lpad(to_hex(i), 16, '0')::macaddr8 AS macaddr8_,
	(i % 16)::bit(4) AS bit_,
	(i % 1000)::bit(10)::varbit AS varbit_,
	point(i, -i) AS point_,
	box(point(0, 0), point(i, i)) AS box_,
	circle(point(0, 0), i) AS circle_,
	lseg(point(0, 0), point(i, i)) AS lseg_,
	line(point(0, 0), point(1, i)) AS line_,
	path(polygon(box(point(0, 0), point(i, i)))) AS path_,
	polygon(box(point(0, 0), point(i, i))) AS polygon_,
	json_build_object('k', i, 'l', i % 3) AS json_,
	jsonb_build_object('k', i % 20, 'l', repeat('z', i % 5), 'n', null, 'f', i / 4.0) AS jsonb_,
	('$.a[' || i % 9 || ']')::jsonpath AS jsonpath_,
	to_tsvector('simple', 'word ' || i) AS tsvector_,
	to_tsquery('simple', 'word' || i) AS tsquery_,
	ARRAY[i, NULL, i % 3] AS int_array,
	ARRAY[ARRAY['a', 'b'], ARRAY['c' || i % 5, NULL]] AS text_array2,
	'{}'::int[] AS empty_array,
	ROW(i % 4, 'pair')::ty_pair AS pair_,
	ARRAY[ROW(i % 4, NULL)::ty_pair] AS pair_array,
	int4range(i, i + 10) AS int4range_,
	CASE WHEN i % 2 = 0 THEN 'empty' ELSE numrange(i, NULL) END AS numrange_,
	tstzrange(timestamptz '2000-01-01', timestamptz '2000-01-01' + i * interval '1 day') AS tstzrange_,
	int4multirange(int4range(i, i + 2), int4range(i + 5, i + 7)) AS int4multirange_,
	(ARRAY['low', 'middle', 'high', NULL])[i % 4 + 1]::ty_enum AS enum_,
	('(0,' || i % 3 + 1 || ')')::tid AS tid_,
	i::text::xid AS xid_,
	i::text::xid8 AS xid8_,
	i::oid AS oid_,
	'pg_class'::regclass AS regclass_,
	('0/' || to_hex(i))::pg_lsn AS pg_lsn_,
	NULL::int AS null_int,
	NULL::text AS null_text,
	42 AS constant_int,
	'always'::text AS constant_text,
	CASE WHEN i = 1500 THEN 1 END AS one_value
FROM generate_series(1, 3000) i;

-- through row groups, through the delta, and each column alone
CREATE TABLE ty USING @am@ AS SELECT * FROM ty_heap;
SELECT sum(rows) FROM @am@.row_groups('ty');
SELECT twin_diff('ty', 'ty_heap');
SELECT row_group, column_name, problem FROM @am@.verify('ty');
DO $$
DECLARE
	col name;
	n bigint;
BEGIN
	FOR col IN SELECT attname FROM pg_attribute WHERE attrelid = 'ty'::regclass AND attnum > 1 LOOP
		EXECUTE format('SELECT count(*) FROM ty a JOIN ty_heap b USING (i)
			WHERE a.%1$I::text IS DISTINCT FROM b.%1$I::text
				OR pg_column_size(a.%1$I) IS NULL AND b.%1$I IS NOT NULL', col) INTO n;
		IF n > 0 THEN
			RAISE NOTICE 'column %: % rows differ', col, n;
		END IF;
	END LOOP;
END $$;
CREATE TABLE ty_delta (LIKE ty_heap) USING @am@;
INSERT INTO ty_delta SELECT * FROM ty_heap WHERE i <= 30;
CREATE VIEW ty_heap30 AS SELECT * FROM ty_heap WHERE i <= 30;
SELECT count(*) FROM @am@.row_groups('ty_delta');
SELECT twin_diff('ty_delta', 'ty_heap30');

-- bit for bit: -0 and NaN, display scale, trailing blanks
SELECT count(*) FROM ty a JOIN ty_heap b USING (i)
WHERE a.float8_::text <> b.float8_::text OR float8send(a.float8_) <> float8send(b.float8_)
	OR float4send(a.float4_) <> float4send(b.float4_)
	OR scale(a.numeric_any) <> scale(b.numeric_any)
	OR numeric_send(a.numeric_any) <> numeric_send(b.numeric_any)
	OR numeric_send(a.numeric_wide) <> numeric_send(b.numeric_wide)
	OR octet_length(a.bpchar_) <> octet_length(b.bpchar_)
	OR jsonb_send(a.jsonb_) <> jsonb_send(b.jsonb_);

-- rows updated one by one move to the delta unchanged
UPDATE ty SET i = i + 10000 WHERE i % 3 = 0;
UPDATE ty_heap SET i = i + 10000 WHERE i % 3 = 0;
SELECT twin_diff('ty', 'ty_heap');

-- each codec
DO $$
DECLARE
	codec text;
BEGIN
	FOREACH codec IN ARRAY '{none,lz4,zstd}'::text[] LOOP
		CREATE TABLE ty_codec (LIKE ty_heap) USING @am@;
		PERFORM @am@.set_options('ty_codec', compression => codec);
		INSERT INTO ty_codec SELECT * FROM ty_heap;
		RAISE NOTICE '%: %, %', codec, twin_diff('ty_codec', 'ty_heap'),
			(SELECT count(*) FROM @am@.verify('ty_codec'));
		DROP TABLE ty_codec;
	END LOOP;
END $$;

-- row groups of nothing but nulls, and tables without columns
CREATE TABLE ty_null (a int, b text, c jsonb, d float8, e numeric) USING @am@;
INSERT INTO ty_null SELECT FROM generate_series(1, 12000);
SELECT count(*), count(a), count(b), count(c), count(d), count(e) FROM ty_null;
CREATE TABLE ty_none () USING @am@;
INSERT INTO ty_none SELECT FROM generate_series(1, 12000);
INSERT INTO ty_none DEFAULT VALUES;
SELECT count(*) FROM ty_none;

DROP VIEW ty_heap30;
DROP TABLE ty, ty_heap, ty_delta, ty_null, ty_none;
DROP TYPE ty_enum, ty_pair;
DROP DOMAIN ty_domain_of, ty_domain;
DROP COLLATION ty_c;
