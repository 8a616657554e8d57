-- Expressions in orderby: checks, the stored text, changes of columns, rows in order.
SET timezone = 'UTC';
CREATE FUNCTION oe_own(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT $1';
CREATE TABLE oe (id int, email text, n int, "Doc ""x""" jsonb, doc jsonb, ts timestamptz, p point) USING @am@;

-- what is refused
SELECT @am@.set_options('oe', orderby => 'n + ');
SELECT @am@.set_options('oe', orderby => 'n; DROP TABLE oe');
SELECT @am@.set_options('oe', orderby => 'n LIMIT 1');
SELECT @am@.set_options('oe', orderby => 'n UNION SELECT 1');
SELECT @am@.set_options('oe', orderby => 'n USING <');
SELECT @am@.set_options('oe', orderby => 'lower(nosuch)');
-- what the server says besides differs by major
\set VERBOSITY terse
SELECT @am@.set_options('oe', orderby => 'nosuch(n)');
\set VERBOSITY default
SELECT @am@.set_options('oe', orderby => 'sum(n)');
SELECT @am@.set_options('oe', orderby => 'row_number() OVER ()');
SELECT @am@.set_options('oe', orderby => '(SELECT n)');
SELECT @am@.set_options('oe', orderby => 'generate_series(1, n)');
SELECT @am@.set_options('oe', orderby => 'n + random()');
SELECT @am@.set_options('oe', orderby => 'ts::date');
SELECT @am@.set_options('oe', orderby => 'oe_own(email)');
CREATE TYPE oe_mood AS ENUM ('sad', 'ok');
ALTER TABLE oe ADD COLUMN moods oe_mood[];
SELECT @am@.set_options('oe', orderby => 'moods = ''{}''');
ALTER TABLE oe DROP COLUMN moods;
SELECT @am@.set_options('oe', orderby => 'p + p');
SELECT @am@.set_options('oe', orderby => '(doc->''a'')::json');
SELECT @am@.set_options('oe', orderby => 'ctid || email');
SELECT @am@.set_options('oe', orderby => 'oe::text');
SELECT @am@.set_options('oe', orderby => '1 + 1');
SELECT @am@.set_options('oe', orderby => '(n, id)');
\set VERBOSITY terse
SECURITY LABEL FOR @am@ ON TABLE oe IS 'orderby=''(nosuch(n))''';
\set VERBOSITY default
SECURITY LABEL FOR @am@ ON TABLE oe IS 'orderby=''(lower(email)''';

-- what is stored
SELECT @am@.set_options('oe', orderby => '(n)::bigint desc nulls last, "Doc ""x"""->>''it''''s (a) "b"'', lower(email) || E''\\('', (((doc->''a'')->>''n'')::bigint) DESC, oe.id');
SELECT value FROM @am@.table_options('oe') WHERE name = 'orderby';
SET search_path = pg_temp, public;
-- 19 has no other strings
DO $$ BEGIN
	SET standard_conforming_strings = off;
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$;
ALTER TABLE public.oe RENAME COLUMN n TO m;
ALTER TABLE public.oe RENAME COLUMN m TO n;
SELECT value FROM @am@.table_options('oe') WHERE name = 'orderby';
RESET search_path;
RESET standard_conforming_strings;

-- as a dump restores it
SET search_path = '';
DO $$ BEGIN
	EXECUTE format('SECURITY LABEL FOR @am@ ON TABLE public.oe IS %L', label) FROM pg_catalog.pg_seclabel WHERE objoid = 'public.oe'::regclass;
END $$;
SELECT value FROM @am@.table_options('public.oe') WHERE name = 'orderby';
RESET search_path;

-- functions that hide the server's change nothing
CREATE SCHEMA oe_evil;
CREATE FUNCTION oe_evil.lower(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT 1/0 || $1';
SELECT @am@.set_options('oe', orderby => 'lower(email), ((doc->>''n'')::bigint) DESC');
SET search_path = oe_evil, pg_catalog, public;
SELECT @am@.set_options('oe', orderby => 'lower(email)');
INSERT INTO oe SELECT g, chr(65 + g % 26) || chr(97 + g * 7 % 26), g % 100, NULL,
	CASE WHEN g % 11 = 0 THEN NULL ELSE jsonb_build_object('n', g * 7919 % 10007, 'k', 'v' || g % 5) END FROM generate_series(1, 5000) g;
VACUUM FULL oe;
RESET search_path;

-- in order after a rewrite, whatever the order's kind
CREATE FUNCTION oe_in_order(expr text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE same boolean;
BEGIN
	EXECUTE format('SELECT array_agg(row(%1$s)::text ORDER BY ctid) = array_agg(row(%1$s)::text ORDER BY %2$s) FROM oe',
		regexp_replace(expr, ' (DESC|NULLS (FIRST|LAST))', '', 'g'), expr) INTO same;
	RETURN same;
END $$;
SELECT oe_in_order('lower(email), (doc->>''n'')::bigint DESC');
VACUUM FULL oe;
SELECT oe_in_order('lower(email), (doc->>''n'')::bigint DESC'), count(*), sum(n), sum(hashtext(doc::text)) FROM oe;
SELECT @am@.set_options('oe', orderby => '(doc->>''k'') DESC NULLS LAST, id');
SELECT oe_in_order('(doc->>''k'') DESC NULLS LAST, id');
CALL @am@.merge('oe');
SELECT oe_in_order('(doc->>''k'') DESC NULLS LAST, id'), count(*), sum(n), sum(hashtext(doc::text)) FROM oe;

-- rows in order of their columns, but not of the expression before them
CREATE TABLE oe_m (id int, doc jsonb) USING @am@;
SELECT @am@.set_options('oe_m', orderby => '(doc->>''k''), id', row_group_rows => 2048);
INSERT INTO oe_m SELECT g, jsonb_build_object('k', g % 5) FROM generate_series(1, 4096) g;
CALL @am@.merge('oe_m');
SELECT array_agg(id ORDER BY ctid) = array_agg(id ORDER BY doc->>'k', id) FROM oe_m;
DROP TABLE oe_m;

-- new rows are brought into it, deleted ones leave
INSERT INTO oe SELECT id + 5000, email, n, NULL, doc FROM oe WHERE id % 3 = 0;
DELETE FROM oe WHERE id % 7 = 0;
CALL @am@.merge('oe');
SELECT oe_in_order('(doc->>''k'') DESC NULLS LAST, id'), count(*), sum(n), sum(hashtext(doc::text)) FROM oe;

-- an expression that fails says where; the rows stay
SELECT @am@.set_options('oe', orderby => '(100 / (n - 7))');
VACUUM FULL oe;
SELECT count(*), sum(n) FROM oe;

-- columns that are renamed, retyped, dropped
SELECT @am@.set_options('oe', orderby => 'id, lower(email) COLLATE "C", n + length(email), "Doc ""x"""->>''email'', n');
SET quote_all_identifiers = on;
ALTER TABLE oe RENAME COLUMN email TO "E-mail (x)";
RESET quote_all_identifiers;
SELECT value FROM @am@.table_options('oe') WHERE name = 'orderby';
ALTER TABLE oe RENAME COLUMN "Doc ""x""" TO d;
ALTER TABLE oe RENAME COLUMN "E-mail (x)" TO email;
SELECT value FROM @am@.table_options('oe') WHERE name = 'orderby';
ALTER TABLE oe ALTER COLUMN n TYPE bigint;
ALTER TABLE oe ALTER COLUMN id TYPE bigint;
VACUUM FULL oe;
SELECT oe_in_order('id');
ALTER TABLE oe DROP COLUMN n;
SELECT value FROM @am@.table_options('oe') WHERE name = 'orderby';
ALTER TABLE oe DROP COLUMN email;
SELECT value FROM @am@.table_options('oe') WHERE name = 'orderby';
VACUUM FULL oe;
SELECT count(*) FROM oe;

-- in WITH clauses, and from a partitioned parent
CREATE TABLE oe_part (k int, email text) PARTITION BY LIST (k);
SELECT @am@.set_options('oe_part', orderby => 'lower(email) DESC');
CREATE TABLE oe_part1 PARTITION OF oe_part FOR VALUES IN (1) USING @am@;
CREATE TABLE oe_part2 (email text, junk int, k int) USING @am@;
ALTER TABLE oe_part2 DROP COLUMN junk;
ALTER TABLE oe_part ATTACH PARTITION oe_part2 FOR VALUES IN (2);
INSERT INTO oe_part SELECT 1 + g % 2, chr(65 + (g % 2) * 32 + g * 7 % 26) FROM generate_series(1, 3000) g;
VACUUM FULL oe_part1, oe_part2;
SELECT tableoid::regclass, array_agg(lower(email) ORDER BY ctid) = array_agg(lower(email) ORDER BY lower(email) DESC) FROM oe_part GROUP BY 1 ORDER BY 1;
ALTER TABLE oe_part RENAME COLUMN email TO mail;
SELECT value, source FROM @am@.table_options('oe_part1') WHERE name = 'orderby';
ALTER TABLE oe_part ALTER COLUMN mail TYPE varchar(10);
CREATE TABLE oe_with (a int, b text) USING @am@ WITH (@am@.orderby = 'upper(b), a % 10 DESC');
SELECT value FROM @am@.table_options('oe_with') WHERE name = 'orderby';
DROP TABLE oe, oe_part, oe_with;
DROP TYPE oe_mood;
DROP SCHEMA oe_evil CASCADE;
DROP FUNCTION oe_own, oe_in_order;
