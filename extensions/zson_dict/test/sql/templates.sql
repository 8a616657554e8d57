-- Strings with a form in common (templates), strings that a document repeats, codes of bytes: every result is jsonb's.

CREATE FUNCTION name_of(int) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT 'n' || substr(translate(md5($1::text), '0123456789', 'ghijklmnop'), 1, 6 + $1 % 9)$$;
CREATE TABLE visits AS SELECT g AS id, jsonb_build_object(
	'login', name_of(g), 'self', 'https://api.example.org/users/' || name_of(g), 'events', 'https://api.example.org/users/' || name_of(g) || '/events{/privacy}',
	'email', name_of(g) || '@mail.example.org', 'commit', format('https://example.org/%s/%s/commits/%s', name_of(g), name_of(g + 1), md5((g * 7)::text)),
	'sha', md5((g * 7)::text), 'avatar', 'https://avatars.example.org/u/' || g * 1000 || '?v=4', 'links', jsonb_build_array('https://api.example.org/users/' || name_of(g + 2), 'https://api.example.org/users/' || name_of(g), 'ftp://' || name_of(g)),
	'parent', jsonb_build_object('name', name_of(g), 'self', 'https://api.example.org/users/' || name_of(g + 3), 'again', jsonb_build_object('name', name_of(g + 3), 'text', repeat(name_of(g + 4) || ' ', g % 40))),
	'odd', (ARRAY['https://api.example.org/users/', 'https://api.example.org/users/äöü', 'https://api.example.org/', '', '/commits/', 'https://example.org/a/commits/b/commits/c'])[1 + g % 6]) AS j
	FROM generate_series(1, 1500) g;
SELECT after_bytes < 0.25 * jsonb_bytes AS small FROM zson_train('visits', 'j');
ALTER TABLE visits ADD z zson;
UPDATE visits SET z = j;
SELECT avg(pg_column_size(z)) < 0.25 * avg(pg_column_size(j)) AS small FROM visits;

-- texts, members at every depth, parts that stand alone
SELECT count(*) FROM visits WHERE z::text <> j::text OR z::jsonb <> j;
SELECT key, count(*), count(*) FILTER (WHERE (z -> key)::jsonb IS DISTINCT FROM j -> key) AS member, count(*) FILTER (WHERE z ->> key IS DISTINCT FROM j ->> key) AS text
	FROM visits, unnest(ARRAY['login', 'self', 'events', 'email', 'commit', 'sha', 'avatar', 'links', 'parent', 'odd', 'no']) key GROUP BY key ORDER BY key;
SELECT count(*) FROM visits WHERE (z -> 'parent' -> 'again' ->> 'name') IS DISTINCT FROM j #>> '{parent,again,name}' OR (z -> 'links' ->> 1) IS DISTINCT FROM j #>> '{links,1}' OR (z #> '{parent,self}')::jsonb <> j #> '{parent,self}'
	OR (z -> 'links' -> -1)::text <> (j -> 'links' -> -1)::text;
CREATE TABLE parts AS SELECT id, z -> 'parent' AS parent, z -> 'links' AS links, z -> 'self' AS self, z -> 'login' AS login FROM visits;
SELECT count(*) FROM parts JOIN visits USING (id) WHERE parent::jsonb <> j -> 'parent' OR links::text <> (j -> 'links')::text OR self::jsonb <> j -> 'self' OR login::jsonb <> j -> 'login' OR parent <> z -> 'parent' OR self <> (j -> 'self')::zson;

-- comparison, containment, indexes
SELECT count(*) FROM visits WHERE z <> j::text::zson OR NOT z @> jsonb_build_object('self', j -> 'self')::zson OR z @> '{"self": "https://api.example.org/users/nobody"}';
CREATE INDEX ON visits USING gin (z zson_path_ops);
CREATE INDEX ON visits ((z -> 'self'));
ANALYZE visits;
SET enable_seqscan = off;
SELECT id FROM visits WHERE z @> '{"parent": {"again": {"name": "nhjkplbe"}}}' OR z @> jsonb_build_object('login', name_of(77))::zson ORDER BY id;
SELECT id FROM visits WHERE z -> 'self' = to_jsonb('https://api.example.org/users/' || name_of(500))::zson;
RESET enable_seqscan;

-- out of line, by slices
CREATE TABLE long AS SELECT 1 AS id, jsonb_agg(j) AS j FROM visits WHERE id <= 300;
INSERT INTO long SELECT 2, jsonb_object_agg('key' || id, j) FROM visits WHERE id <= 40;
INSERT INTO long SELECT 3, jsonb_build_object('many', (SELECT jsonb_agg('https://api.example.org/users/' || name_of(g % 100)) FROM generate_series(1, 20000) g), 'self', 'https://api.example.org/users/' || name_of(5));
ALTER TABLE long ADD z zson;
UPDATE long SET z = j;
SELECT id, z::text = j::text AS text, (z -> 7)::jsonb IS NOT DISTINCT FROM j -> 7 AS element, (z -> 'key33' ->> 'self') IS NOT DISTINCT FROM j #>> '{key33,self}' AS member, z ->> 'self' IS NOT DISTINCT FROM j ->> 'self' AS self FROM long ORDER BY id;
