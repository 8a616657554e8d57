-- Zones skip row groups and vectors, and never a row that passes.
-- sp holds 1,000 rows of delta and four row groups of ten vectors, by k.
CREATE TABLE sp (k int, b bigint, s smallint, o oid, d date, ts timestamp, tz timestamptz,
	n numeric(12,2), f float8, r real, t text COLLATE "C", u text, c char(8), v varchar,
	y bytea, flag bool, mostly_null int, e numeric) USING colcompress;
CREATE TABLE sp_heap (LIKE sp) USING heap;
SELECT colcompress.set_options('sp', row_group_rows => 10240);
SELECT twin_do('sp', 'sp_heap', $$INSERT INTO TBL SELECT i, i * 10000000000, i / 10, i, date '2020-01-01' + i / 100,
	timestamp '2020-01-01' + i * interval '1 minute', timestamptz '2020-01-01 00:00+00' + i * interval '1 minute',
	i / 100.0, i / 3.0, i / 7.0, 'key' || lpad(i::text, 8, '0'), 'key' || lpad(i::text, 8, '0'),
	lpad((i / 100)::text, 6, '0'), 'v' || lpad((i / 10)::text, 8, '0'), decode(lpad(to_hex(i), 8, '0'), 'hex'),
	i > 30000, CASE WHEN i BETWEEN 20000 AND 20100 THEN i END, (i / 3)::numeric * 10 ^ 20
	FROM generate_series(1, 41960) i$$);

-- What a scan of sp read: row groups and vectors.
CREATE FUNCTION sp_read(query text, OUT groups text, OUT vectors text, OUT delta text)
LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	plan := jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == "ColcompressScan")');
	groups := format('%s of %s', plan->'Row Groups'->'Read', plan->'Row Groups'->'Total');
	vectors := format('%s of %s', plan->'Vectors'->'Read', plan->'Vectors'->'Total');
	delta := plan->>'Delta Rows';
	IF (plan->'Vectors'->'Read')::int + (plan->'Vectors'->'Pruned')::int <> (plan->'Vectors'->'Total')::int OR
		(plan->'Row Groups'->'Read')::int + (plan->'Row Groups'->'Pruned')::int <> (plan->'Row Groups'->'Total')::int THEN
		RAISE 'counts do not add up: %', plan;
	END IF;
END $$;

-- The same, and whether heap has the same rows, for one condition.
CREATE FUNCTION sp_where(condition text, OUT rows text, OUT groups text, OUT vectors text)
LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	heap text;
BEGIN
	EXECUTE 'SELECT count(*) || '' rows, '' || coalesce(sum(k), 0) FROM sp WHERE ' || condition INTO ours;
	EXECUTE 'SELECT count(*) || '' rows, '' || coalesce(sum(k), 0) FROM sp_heap WHERE ' || condition INTO heap;
	rows := CASE WHEN ours = heap THEN split_part(ours, ',', 1) ELSE format('%s, heap %s', ours, heap) END;
	SELECT r.groups, r.vectors INTO groups, vectors FROM sp_read('SELECT k FROM sp WHERE ' || condition) r;
END $$;

-- integers: every operator, both ways round, other types' constants
SELECT * FROM sp_where('k = 12345');
SELECT * FROM sp_where('k < 12345');
SELECT * FROM sp_where('k <= 11240');
SELECT * FROM sp_where('k >= 31721');
SELECT * FROM sp_where('k > 41959');
SELECT * FROM sp_where('k <> 12345');
SELECT * FROM sp_where('12345 = k');
SELECT * FROM sp_where('12345 > k');
SELECT * FROM sp_where('100 > k');
SELECT * FROM sp_where('k = 12345::bigint');
SELECT * FROM sp_where('k = 5000000000');
SELECT * FROM sp_where('k < -5000000000');
SELECT * FROM sp_where('k > 12000::smallint AND k < 12100::bigint');
SELECT * FROM sp_where('b = 123450000000000');
SELECT * FROM sp_where('s BETWEEN 1200 AND 1201');
SELECT * FROM sp_where('o = 12345');
SELECT * FROM sp_where('k BETWEEN SYMMETRIC 12100 AND 12000');
SELECT * FROM sp_where('k = 12345 AND k > 23456');

-- lists
SELECT * FROM sp_where('k IN (12345, 23456)');
SELECT * FROM sp_where('k IN (12345, NULL, 100000)');
SELECT * FROM sp_where('k = ANY (ARRAY[]::int[])');
SELECT * FROM sp_where('k = ANY (NULL::int[])');
SELECT * FROM sp_where('k = ANY (ARRAY[12345, 12346]::bigint[])');
SELECT * FROM sp_where('k < ANY (ARRAY[1200, 1100])');
SELECT * FROM sp_where('k < ALL (ARRAY[1200, 1100])');
SELECT * FROM sp_where('k >= ANY (ARRAY[41900, 50000])');
SELECT * FROM sp_where('k >= ALL (ARRAY[41900, 50000])');
SELECT * FROM sp_where('k NOT IN (12345, 23456)');
SELECT * FROM sp_where('k NOT IN (12345, NULL)');
SELECT * FROM sp_where('k <> ALL (ARRAY[]::int[])');
SELECT * FROM sp_where('flag <> ALL (ARRAY[true])');
SELECT * FROM sp_where('t IN (''key00012345'', ''key00000001'')');

-- dates and times, between their types too
SELECT * FROM sp_where($$d = '2020-05-01'$$);
SELECT * FROM sp_where($$d BETWEEN '2020-05-01' AND '2020-05-03'$$);
SELECT * FROM sp_where($$d >= timestamp '2021-02-01'$$);
SELECT * FROM sp_where($$d < timestamptz '2020-02-01'$$);
SELECT * FROM sp_where($$ts < '2020-01-10'$$);
SELECT * FROM sp_where($$ts >= date '2020-01-30'$$);
SELECT * FROM sp_where($$tz >= '2020-01-30 00:00+00'$$);
SELECT * FROM sp_where($$d > 'infinity'$$);
SELECT * FROM sp_where($$d < 'infinity' AND ts > '-infinity'$$);
SELECT * FROM sp_where($$d = 'epoch'$$);

-- numeric, floats
SELECT * FROM sp_where('n = 123.45');
SELECT * FROM sp_where('n < 20.000001');
SELECT * FROM sp_where('n >= 419.591');
SELECT * FROM sp_where('n = 123.456');
SELECT * FROM sp_where('n <> 123.456 AND n < 21');
SELECT * FROM sp_where($$n = 'NaN'$$);
SELECT * FROM sp_where($$n < 'NaN' AND n > 'Infinity'$$);
SELECT * FROM sp_where('n < 1e40 AND n > -1e100');
SELECT * FROM sp_where('n IN (123.45, 123.456, 1e50)');
SELECT * FROM sp_where('e > 1386 * 10::numeric ^ 21');
SELECT * FROM sp_where('f < 500');
SELECT * FROM sp_where('f = 4115');
SELECT * FROM sp_where($$f = 'NaN'$$);
SELECT * FROM sp_where($$f > 'Infinity'$$);
SELECT * FROM sp_where('r < 200');
SELECT * FROM sp_where('r < 200::float8');
SELECT * FROM sp_where('r = 1000::float8');
SELECT * FROM sp_where('f < 500::real');

-- strings: ranges in byte order only, equality under any deterministic collation
SELECT * FROM sp_where($$t = 'key00012345'$$);
SELECT * FROM sp_where($$t < 'key00001200'$$);
SELECT * FROM sp_where($$t BETWEEN 'key00012000' AND 'key00012100'$$);
SELECT * FROM sp_where($$t > 'key0004195'$$);
SELECT * FROM sp_where($$t LIKE 'key0004195%'$$);
SELECT * FROM sp_where($$t LIKE 'key0001234_'$$);
SELECT * FROM sp_where($$t LIKE '%12345'$$);
SELECT * FROM sp_where($$t LIKE 'key\_%'$$);
SELECT * FROM sp_where($$t LIKE 'x%'$$);
SELECT * FROM sp_where($$t LIKE 'key00012345'$$);
SELECT * FROM sp_where($$t LIKE NULL$$);
SELECT * FROM sp_where($$t ^@ 'key0001234'$$);
SELECT * FROM sp_where($$starts_with(t, 'key0001234')$$);
SELECT * FROM sp_where($$t ~<~ 'key00001200'$$);
SELECT * FROM sp_where($$u = 'key00012345'$$);
SELECT * FROM sp_where($$u < 'key00001200' COLLATE "POSIX"$$);
SELECT * FROM sp_where($$u LIKE 'key0001234%'$$);
SELECT * FROM sp_where($$c = '000123'$$);
SELECT * FROM sp_where($$c = '000123     '$$);
SELECT * FROM sp_where($$c < '000012'$$);
SELECT * FROM sp_where($$c >= '000419'$$);
SELECT * FROM sp_where($$v = 'v00001234'$$);
SELECT * FROM sp_where($$v IN ('v00001234', 'w')$$);
SELECT * FROM sp_where($$y = '\x00003039'$$);
SELECT * FROM sp_where($$y < '\x000004b0'$$);

-- null tests, booleans
SELECT * FROM sp_where('mostly_null IS NOT NULL');
SELECT * FROM sp_where('mostly_null IS NULL AND k < 1100');
SELECT * FROM sp_where('k IS NULL');
SELECT * FROM sp_where('mostly_null > 0');
SELECT * FROM sp_where('mostly_null = 20050');
SELECT * FROM sp_where('k = NULL');
SELECT * FROM sp_where('flag');
SELECT * FROM sp_where('NOT flag');
SELECT * FROM sp_where('flag IS TRUE');
SELECT * FROM sp_where('flag IS NOT TRUE');
SELECT * FROM sp_where('flag IS FALSE');
SELECT * FROM sp_where('flag IS NOT FALSE');
SELECT * FROM sp_where('flag IS UNKNOWN');
SELECT * FROM sp_where('flag = false');

-- trees
SELECT * FROM sp_where('k < 1100 OR k > 41900');
SELECT * FROM sp_where('(k < 1100 AND flag) OR k = 12345');
SELECT * FROM sp_where('k < 1100 OR k % 1000 = 7');
SELECT * FROM sp_where('(k < 1100 OR k = 12345) AND (k % 2 = 1 OR k = 0)');
SELECT * FROM sp_where('NOT (k > 1100)');
SELECT * FROM sp_where('NOT (k > 1100 OR k < 1050)');
SELECT * FROM sp_where('(k, b) < (1100, 0)');
SELECT * FROM sp_where('(k, b) >= (12345, 123450000000000) AND (k, b) <= (12345, 123450000000000)');

-- stable expressions and parameters are evaluated when the scan starts
SELECT * FROM sp_where($$d < date '2020-01-15' + interval '1 day'$$);
SELECT * FROM sp_where($$tz < '2020-01-01 20:00+00'::text::timestamptz$$);
SELECT * FROM sp_where('k < length(current_setting(''server_version'')) * 0 + 1100');
SELECT * FROM sp_where('k < (SELECT 1100)');
SELECT * FROM sp_where('k = ANY (SELECT 12345)');
-- a volatile one is not
SELECT * FROM sp_where('k < 1100 + floor(random())::int');

-- an argument of OR that does not matter raises nothing
PREPARE sp_or (text) AS SELECT count(*) FROM sp WHERE $1 = 'all' OR k = $1::int;
SET plan_cache_mode = force_generic_plan;
EXECUTE sp_or ('all');
EXECUTE sp_or ('12345');
EXECUTE sp_or (NULL);
EXECUTE sp_or ('some');

-- generic plans prune by each execution's own values
PREPARE sp_param (int, int) AS SELECT k FROM sp WHERE k BETWEEN $1 AND $2;
SELECT * FROM sp_read('EXECUTE sp_param (1100, 1101)');
SELECT * FROM sp_read('EXECUTE sp_param (1, 41960)');
SELECT * FROM sp_read('EXECUTE sp_param (NULL, 1)');
SELECT * FROM sp_read('EXECUTE sp_param (41960, 50000)');
RESET plan_cache_mode;
-- and one that was planned for other data sees today's
INSERT INTO sp SELECT * FROM (SELECT * FROM sp_heap WHERE k = 1100) r;
EXECUTE sp_param (1100, 1100);
DELETE FROM sp WHERE k = 1100;
EXECUTE sp_param (1100, 1100);
DELETE FROM sp_heap WHERE k = 1100;
SELECT twin_diff('sp', 'sp_heap');

-- an index on the outer side: each rescan prunes for itself
SELECT * FROM sp_read('SELECT s.k FROM (VALUES (12345), (12346), (30000)) x (a), LATERAL (SELECT k FROM sp WHERE k = x.a OFFSET 0) s');
SELECT x.a, s.n FROM (VALUES (12345), (30000), (NULL), (50000)) x (a), LATERAL (SELECT count(*) AS n FROM sp WHERE k BETWEEN x.a AND x.a + 10) s;

-- without pruning: the same rows, all vectors
SET colcompress.enable_pruning = off;
SELECT * FROM sp_where('k = 12345');
SELECT * FROM sp_where('k = NULL');
SET colcompress.enable_vector_filter = off;
SELECT * FROM sp_where('k = 12345');
SELECT * FROM sp_where($$t LIKE 'key0004195%' AND flag$$);
RESET colcompress.enable_pruning;
SELECT * FROM sp_where('k = 12345');
RESET colcompress.enable_vector_filter;

-- What a query gives on heap, which is asked once.
CREATE TABLE sp_asked (query text PRIMARY KEY, answer text);
CREATE FUNCTION sp_on_heap(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	SELECT answer INTO result FROM sp_asked WHERE query = q;
	IF NOT FOUND THEN
		EXECUTE q INTO result;
		INSERT INTO sp_asked VALUES (q, result);
	END IF;
	RETURN result;
END $$;
-- NaN, infinities, zeros
CREATE TABLE sp_float (k int, f float8, r real, n numeric) USING colcompress;
CREATE TABLE sp_float_heap (LIKE sp_float) USING heap;
SELECT twin_do('sp_float', 'sp_float_heap', $$INSERT INTO TBL SELECT i, v, v, v::numeric
	FROM generate_series(1, 6000) i, LATERAL (SELECT CASE i / 1000 WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN '-Infinity'
		WHEN 4 THEN CASE i % 2 WHEN 0 THEN '0' ELSE '-0' END WHEN 5 THEN CASE i % 3 WHEN 0 THEN 'NaN' WHEN 1 THEN '1' END ELSE '2.5' END::float8) x (v)$$);
CREATE FUNCTION sp_float_diff() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	c text;
	o text;
	v text;
	ours text;
	heap text;
	q text;
BEGIN
	FOREACH c IN ARRAY ARRAY['f', 'r', 'n'] LOOP
		FOREACH o IN ARRAY ARRAY['<', '<=', '=', '>=', '>', '<>'] LOOP
			FOREACH v IN ARRAY ARRAY['NaN', 'Infinity', '-Infinity', '0', '-0', '1', '2.5', '-3', '1e30'] LOOP
				q := format('SELECT count(*), sum(k), min(k), max(k) FROM sp_float%%s WHERE %s %s %L', c, o, v);
				EXECUTE 'SELECT x::text FROM (' || format(q, '') || ') x' INTO ours;
				heap := sp_on_heap('SELECT x::text FROM (' || format(q, '_heap') || ') x');
				IF ours <> heap THEN
					RETURN NEXT format('%s %s %s: %s, heap %s', c, o, v, ours, heap);
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT * FROM sp_float_diff();
SET colcompress.enable_pruning = off;
SELECT * FROM sp_float_diff();
RESET colcompress.enable_pruning;

-- strings whose zones are cut, blanks at the end, bytes below a blank
CREATE TABLE sp_str (k int, t text COLLATE "C", c bpchar COLLATE "C", c8 char(8) COLLATE "C") USING colcompress;
CREATE TABLE sp_str_heap (LIKE sp_str) USING heap;
SELECT twin_do('sp_str', 'sp_str_heap', $$INSERT INTO TBL SELECT i, x, x, left(x, 8) FROM generate_series(1, 9000) i,
	LATERAL (SELECT CASE i / 1000 WHEN 1 THEN repeat('a', 100) || i WHEN 2 THEN 'ab' || repeat(' ', i % 5) WHEN 3 THEN E'ab\x01'
		WHEN 4 THEN E'ab \x01' || i % 2 WHEN 5 THEN '' WHEN 6 THEN repeat(chr(255), 30) WHEN 7 THEN repeat('a', 24) WHEN 8 THEN 'zebra ' || i END) v (x)$$);
CREATE FUNCTION sp_str_diff() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	c text;
	o text;
	v text;
	ours text;
	heap text;
	q text;
BEGIN
	FOREACH c IN ARRAY ARRAY['t', 'c', 'c8', 't::bpchar'] LOOP
		FOREACH o IN ARRAY ARRAY['<', '<=', '=', '>=', '>', '<>', 'LIKE', '~<~', '~>=~'] LOOP
			FOREACH v IN ARRAY ARRAY['', ' ', 'a', 'ab', 'ab ', E'ab\x01', E'ab \x01', repeat('a', 24), repeat('a', 25), repeat('a', 100), repeat('b', 30),
				repeat(chr(255), 30), repeat(chr(255), 10), chr(256), 'zebra', 'zebra 8', 'a%', 'ab %', 'ab_', repeat('a', 24) || '%', repeat('a', 26) || '%', '%'] LOOP
				q := format('SELECT count(*), sum(k), min(k), max(k) FROM sp_str%%s WHERE %s %s %L', c, o, replace(v, '%', '%%'));
				EXECUTE 'SELECT x::text FROM (' || format(q, '') || ') x' INTO ours;
				heap := sp_on_heap('SELECT x::text FROM (' || format(q, '_heap') || ') x');
				IF ours <> heap THEN
					RETURN NEXT format('%s %s %L: %s, heap %s', c, o, v, ours, heap);
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT * FROM sp_str_diff();
SET colcompress.enable_pruning = off;
SELECT * FROM sp_str_diff();
SET colcompress.enable_vector_filter = off;
SELECT * FROM sp_str_diff();
RESET colcompress.enable_pruning;
SELECT * FROM sp_str_diff();
RESET colcompress.enable_vector_filter;

-- domains are looked through; a column added later has no zones of its own
CREATE DOMAIN sp_domain AS int CHECK (VALUE > 0);
CREATE TABLE sp_dom (k sp_domain) USING colcompress;
INSERT INTO sp_dom SELECT i FROM generate_series(1, 41960) i;
SELECT * FROM sp_read('SELECT k FROM sp_dom WHERE k = 12345');
ALTER TABLE sp_dom ADD COLUMN later int DEFAULT 5;
SELECT count(*) FROM sp_dom WHERE later = 5;
SELECT count(*) FROM sp_dom WHERE later = 6;
SELECT count(*) FROM sp_dom WHERE later IS NULL;
ALTER TABLE sp_dom ADD COLUMN empty int;
SELECT count(*) FROM sp_dom WHERE empty IS NULL;
SELECT count(*) FROM sp_dom WHERE empty > 0;

-- expressions of orderby have zones once rows are sorted by them
CREATE TABLE sp_doc (id int, doc jsonb) USING colcompress;
SELECT colcompress.set_options('sp_doc', row_group_rows => 2048,
	orderby => '(doc->>''kind''), ((doc->>''n'')::bigint)');
INSERT INTO sp_doc SELECT i, jsonb_build_object('kind', 'kind ' || i % 4, 'n', i)
	FROM generate_series(1, 16384) i;
SELECT count(*) FROM sp_doc WHERE doc->>'kind' = 'kind 2';
SELECT groups FROM sp_read($$SELECT id FROM sp_doc WHERE doc->>'kind' = 'kind 2'$$);
CALL colcompress.merge('sp_doc');
SELECT groups, vectors FROM sp_read($$SELECT id FROM sp_doc WHERE doc->>'kind' = 'kind 2'$$);
SELECT groups, vectors FROM sp_read($$SELECT id FROM sp_doc
	WHERE doc->>'kind' = 'kind 2' AND (doc->>'n')::bigint BETWEEN 100 AND 200$$);
SELECT count(*) FROM sp_doc WHERE doc->>'kind' = 'kind 2' AND (doc->>'n')::bigint BETWEEN 100 AND 200;
SELECT groups FROM sp_read($$SELECT id FROM sp_doc WHERE doc->>'kind' = 'no kind'$$);
SELECT groups FROM sp_read($$SELECT id FROM sp_doc WHERE doc->>'n' = '7'$$);
SELECT count(*) FROM colcompress.verify('sp_doc');

DROP TABLE sp, sp_heap, sp_asked, sp_doc, sp_float, sp_float_heap, sp_str, sp_str_heap, sp_dom;
DROP DOMAIN sp_domain;
