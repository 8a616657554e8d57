-- Sorts and windows by strings: by bytes, by the collation's comparison behind that, or by abbreviated keys.
CREATE COLLATION ss_nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION ss_numbers (provider = icu, locale = 'en-u-kn');
CREATE DOMAIN ss_domain AS varchar;
CREATE TABLE ss_heap AS SELECT i AS id, i % 7 AS g, s AS near, CASE WHEN i % 19 = 0 THEN NULL WHEN i % 23 = 0 THEN '' ELSE far END AS far, (far || repeat(' ', i % 3))::char(30) AS padded, left(far, 40)::name AS name, s::ss_domain AS domain,
	repeat('all rows begin so, ', 60) || s || repeat('x', i % 500) AS long, repeat('x', i * 7919 % 40) AS growing, repeat('ab', i * 7919 % 700) || i % 3 AS deep, convert_to(far, 'UTF8') || substr('\x0000'::bytea, 1, i % 3) AS bytes, md5((i % 999)::text)::uuid AS uuid, (i * 7919 % 1009) / 7.0 AS n
FROM (SELECT i::int, CASE WHEN i % 50 = 0 THEN 'Z' ELSE '' END || md5((i % 1100)::text) AS s, CASE i % 4 WHEN 0 THEN chr(65 + (i * 7919 % 26)::int) || chr(97 + (i * 31 % 26)::int) WHEN 1 THEN chr(97 + (i * 7919 % 26)::int) || chr(65 + (i * 31 % 26)::int)
	WHEN 2 THEN 'name-' || i * 7919 % 300 ELSE U&'\00E9e\0301' || i % 90 || '/Name ' || i * 31 % 10 END AS far FROM generate_series(1, 2500::bigint) i) q;
CREATE TABLE ss (LIKE ss_heap) USING @am@;
SELECT @am@.set_options('ss', row_group_rows => 4096);
INSERT INTO ss SELECT * FROM ss_heap;
VACUUM ANALYZE ss, ss_heap;
SET max_parallel_workers_per_gather = 0;

-- Whose sort it was, and whether rows are heap's, order included.
CREATE FUNCTION ss_compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
	ours text;
	theirs text;
BEGIN
	EXECUTE 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || replace(query, 'TBL', 'ss') INTO plan;
	EXECUTE format('SELECT count(*) || md5(string_agg(q::text, E''\n'')) FROM (%s) q', replace(query, 'TBL', 'ss')) INTO ours;
	EXECUTE format('SELECT count(*) || md5(string_agg(q::text, E''\n'')) FROM (%s) q', replace(query, 'TBL', 'ss_heap')) INTO theirs;
	RETURN CASE WHEN plan @? '$.** ? (@."Custom Plan Provider" == "@Am@Sort")' THEN 'ours' ELSE 'server' END || CASE WHEN ours = theirs THEN ', same' ELSE ', different' END;
END $$;

CREATE TABLE ss_key AS SELECT format('%s%s', key, ' COLLATE ' || quote_ident(NULLIF(name, ''))) AS key
FROM unnest(ARRAY['near', 'far', 'padded', 'domain', 'long', 'growing', 'deep']) key, unnest(ARRAY['', 'C', 'en-x-icu', 'ss_numbers', 'ss_nocase']) name
UNION ALL SELECT unnest(ARRAY['name', 'bytes', 'uuid', 'n', 'upper(far) COLLATE "en-x-icu"', 'left(far, 1) COLLATE ss_nocase']);
CREATE TABLE ss_query AS SELECT format(form, key, ord) AS query FROM ss_key, unnest(ARRAY['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST']) WITH ORDINALITY o (ord, i),
	unnest(ARRAY['SELECT id FROM TBL ORDER BY %1$s%2$s, id', 'SELECT id, rank() OVER (ORDER BY %1$s%2$s), dense_rank() OVER (ORDER BY %1$s%2$s) FROM TBL ORDER BY id',
	'SELECT id, rank() OVER (PARTITION BY %1$s ORDER BY far%2$s), count(*) OVER (PARTITION BY %1$s) FROM TBL ORDER BY id', 'SELECT DISTINCT ON (%1$s) id, g FROM TBL ORDER BY %1$s%2$s, id DESC']) WITH ORDINALITY f (form, j)
WHERE (length(key) + i + j) % 6 = 0 OR form ~ 'ORDER BY %1.s%2.s, id$' AND i < 3;
SELECT r, count(*) FROM ss_query, ss_compare(query) r GROUP BY r ORDER BY r;
SELECT ss_compare('SELECT id FROM TBL ORDER BY far USING ~<~, id'), ss_compare('SELECT id FROM TBL ORDER BY far USING ~>~, id'), ss_compare('SELECT id FROM TBL ORDER BY padded USING ~<~, id');
-- a cast does not make bytes with zeros strings
CREATE CAST (bytea AS text) WITHOUT FUNCTION AS IMPLICIT;
SELECT ss_compare('SELECT DISTINCT ON (b) b, id FROM (SELECT decode(''61'' || repeat(''00'', id % 9), ''hex'') AS b, id FROM TBL) q ORDER BY b, id'),
	ss_compare('SELECT id, dense_rank() OVER (ORDER BY b) FROM (SELECT decode(''61'' || repeat(''00'', id % 9), ''hex'') AS b, id FROM TBL) q ORDER BY id');
DROP CAST (bytea AS text);
-- parts on disk, but of wide rows
SET work_mem = '128kB';
SELECT count(*) FILTER (WHERE r ~ '^ours') > count(*) / 2 AS ours, count(*) FILTER (WHERE r !~ 'same') AS others FROM ss_query, ss_compare(query) r;
SELECT ss_compare('SELECT id, far FROM TBL ORDER BY far, id'), ss_compare('SELECT id, long FROM TBL ORDER BY long, id');
RESET work_mem;
DROP FUNCTION ss_compare(text);
DROP TABLE ss, ss_heap, ss_key, ss_query;
DROP DOMAIN ss_domain;
DROP COLLATION ss_nocase, ss_numbers;
