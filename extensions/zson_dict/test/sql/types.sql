-- Type zson: input, output, casts, storage, errors.

SELECT count(*) FILTER (WHERE j::text <> z::text) AS differ, count(*) > 100 AS enough FROM corpus;
SELECT count(*) FILTER (WHERE j <> z::jsonb) AS differ, count(*) FILTER (WHERE j::text::zson::text <> j::text) AS by_text,
	count(*) FILTER (WHERE j::json::zson::text <> j::text) AS by_json, count(*) FILTER (WHERE z::json::text <> j::text) AS as_json FROM corpus;
-- never more than 2 bytes larger than jsonb
SELECT count(*) FILTER (WHERE length(zson_send(j::zson)) <> length(jsonb_send(j))) AS send, max(pg_column_size(j::zson::text::zson) - pg_column_size(j::text::jsonb)) <= 2 AS small FROM corpus;

CREATE TABLE copied (id int, z zson);
CREATE FUNCTION binary_twin() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM corpus c JOIN copied d USING (id) WHERE c.z = d.z AND c.z::text = d.z::text $$;
INSERT INTO copied SELECT id, z FROM corpus;
SELECT binary_twin() = (SELECT count(*) FROM corpus) AS same;

-- errors are jsonb's
SELECT fails($$SELECT '{"a": }'::zson$$);
SELECT fails($$SELECT ''::zson$$);
SELECT fails($$SELECT '{"a": "\u0000"}'::zson$$);
SELECT fails($$SELECT '"x"'::zson::int$$);
SELECT '1.5'::zson::int, '1.5'::zson::numeric, 'true'::zson::boolean, '7'::zson::bigint, '7'::zson::smallint, '0.5'::zson::float8, '0.5'::zson::real;

-- nesting to the server's limits: what jsonb takes, zson takes
CREATE FUNCTION deep(n int) RETURNS text LANGUAGE sql AS $$ SELECT repeat('[', n) || repeat(']', n) $$;
SELECT deep(3000)::zson::text = deep(3000) AS arrays, (repeat('{"a":', 1500) || '1' || repeat('}', 1500))::zson::jsonb #> array_fill('a'::text, ARRAY[1500]) AS objects;
SELECT fails($$SELECT deep(100000)::zson$$);

-- arrays, composites, domains, generated columns, partitions
CREATE DOMAIN has_id AS zson CHECK (VALUE ? 'id');
CREATE TYPE pair AS (a int, z zson);
CREATE TABLE kinds (a zson[], p pair, d has_id, t text GENERATED ALWAYS AS (d ->> 'id') STORED);
INSERT INTO kinds VALUES (ARRAY['{"a": 1}', '[2]']::zson[], ROW(1, '{"b": [true]}'), '{"id": 7}');
SELECT fails($$INSERT INTO kinds VALUES (NULL, NULL, '{"no": 7}')$$);
CREATE TABLE parts (id int, z zson) PARTITION BY HASH (z);
CREATE TABLE parts0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT id, z FROM corpus;
SELECT count(*) FILTER (WHERE p.z::text <> c.j::text) AS differ, count(DISTINCT p.tableoid) AS parts FROM parts p JOIN corpus c USING (id);
DROP TABLE parts;
SELECT a, a[1] -> 'a' AS e, p, (p).z ->> 'b' AS b, d, t FROM kinds;

-- ALTER TABLE there and back, defaults
CREATE TABLE converted (id int, j jsonb DEFAULT '{"new": true}');
INSERT INTO converted SELECT id, j FROM corpus;
ALTER TABLE converted ALTER j DROP DEFAULT, ALTER j TYPE zson;
SELECT count(*) FILTER (WHERE d.j::text <> c.j::text) AS differ FROM converted d JOIN corpus c USING (id);
ALTER TABLE converted ALTER j TYPE jsonb;
SELECT count(*) FILTER (WHERE d.j::text <> c.j::text) AS differ FROM converted d JOIN corpus c USING (id);
DROP TABLE copied, kinds, converted;
