-- Dictionaries: learning, choice, inspection, recompression; the operators' results stay jsonb's.

-- no data, wrong arguments, no right
CREATE TABLE learned (id int, j jsonb, z zson);
SELECT fails($$SELECT zson_learn('{{learned, j}}')$$);
SELECT fails($$SELECT zson_train('learned', 'no')$$);
SELECT fails($$SELECT zson_learn('{learned, j}')$$);
SELECT fails($$SELECT zson_learn('{{nowhere, j}}')$$);
SELECT fails($$SELECT zson_learn('{{learned, j}}', 0)$$);
SELECT fails($$SELECT zson_train('learned', 'j', min_count => 0)$$);
INSERT INTO learned (id, j) VALUES (1, '{"a": 1}');
SELECT fails($$SELECT zson_train('learned', 'j')$$);
CREATE ROLE zson_nobody;
SET ROLE zson_nobody;
SELECT fails($$SELECT zson_train('learned', 'j')$$);
SELECT fails($$CREATE FUNCTION zson_dict.dictionary_99() RETURNS bytea LANGUAGE sql AS 'SELECT ''''::bytea'$$);
RESET ROLE;
SELECT count(*) FROM zson_info();

-- a rolled-back training leaves nothing
TRUNCATE learned;
INSERT INTO learned (id, j) SELECT g, jsonb_build_object('kind', 'event number ' || g % 10, 'value', g, 'nested', jsonb_build_object('name', 'person ' || g % 50, 'flag', g % 2 = 0),
	'text', repeat('some words that repeat ', 3) || md5(g::text)) FROM generate_series(1, 600) g;
BEGIN;
SELECT dictionary > 0 AS trained FROM zson_train('learned', 'j');
SELECT count(*) FROM zson_info();
-- not used before it is committed
SELECT (zson_storage('{"kind": "event number 1"}')).dictionary;
ROLLBACK;
SELECT count(*) FROM zson_info();
SELECT (zson_storage('{"kind": "event number 1"}')).dictionary;

-- identical documents train normally
CREATE TABLE same AS SELECT '{"a": "identical documents", "b": [0.000011121755379893715, "another long string of some kind"]}'::jsonb AS j FROM generate_series(1, 100);
SELECT after_bytes < 30 AS small FROM zson_train('same', 'j');

-- what comes in turns is learned, too; short values have numbers of one byte, and the header tells the shape
CREATE TABLE turns AS SELECT jsonb_build_object('os', (ARRAY['android', 'ios', 'windows', 'macos', 'linux'])[1 + g % 5], 'n', 100 + g % 5, 'group', chr(65 + g % 5)) AS j
	FROM generate_series(1, 500) g;
SELECT after_bytes, examples, held_out FROM zson_train('turns', 'j');
DROP TABLE turns;

-- the default dictionary, and one of a column that takes precedence
SELECT zson_learn('{{corpus, j}}') ~ 'in use from the end' AS learned;
SELECT dictionary > 0 AS trained, after_bytes < before_bytes / 2 AS smaller, examples, held_out FROM zson_train('learned', 'j');
SELECT column_name, keys, shapes, string_values > 0 AS strings, bytes > 0 AS bytes FROM zson_info() WHERE column_name IS DISTINCT FROM NULL ORDER BY dictionary;
SELECT count(*) FILTER (WHERE column_name IS NULL) AS default_ones FROM zson_info();

-- training again gains nothing
SELECT dictionary, message ~ 'nothing is gained' AS message FROM zson_train('learned', 'j');

-- and is not tried unless documents have changed, whatever the table is called
SELECT dictionary, present_ratio <= 1.1 * learned_ratio AS as_learned, message FROM zson_retrain('learned', 'j');
CREATE TABLE "dri|ft'$zson$*/\" AS SELECT j AS "the doc" FROM learned LIMIT 0;
SELECT dictionary, message FROM zson_retrain('"dri|ft''$zson$*/\"', 'the doc');
INSERT INTO "dri|ft'$zson$*/\" SELECT jsonb_build_object('first', 'something about ' || g % 40, 'second', 'other things, like ' || g % 15) FROM generate_series(1, 400) g;
SELECT dictionary > 0 AS trained, learned_ratio FROM zson_retrain('"dri|ft''$zson$*/\"', 'the doc');
SELECT dictionary, learned_ratio < 0.7 AS ratio FROM zson_retrain('"dri|ft''$zson$*/\"', 'the doc');
UPDATE "dri|ft'$zson$*/\" SET "the doc" = "the doc" || jsonb_build_object('third', 'nothing of the kind: ' || md5((hashtext("the doc"::text) % 20)::text));
SELECT dictionary > 0 AS trained, present_ratio > 1.1 * learned_ratio AS drifted FROM zson_retrain('"dri|ft''$zson$*/\"', 'the doc');
SELECT dictionary, message FROM zson_retrain('"dri|ft''$zson$*/\"', 'the doc', 0);
SELECT fails($$SELECT zson_retrain('learned', 'j', -1)$$), fails($$SELECT zson_retrain('learned', 'no')$$);
SELECT column_name FROM zson_info() WHERE column_name ~ 'dri_ft';
DROP TABLE "dri|ft'$zson$*/\";

INSERT INTO learned (id, z) SELECT id, j FROM learned;
UPDATE learned l SET z = j WHERE z IS NULL;
SELECT count(DISTINCT s.dictionary) AS dictionaries, count(s.dictionary) = count(*) AS all_of_them, max(unknown_keys) FROM learned, zson_storage(z) s;
SELECT avg(pg_column_size(z)) < 0.5 * avg(pg_column_size(j)) AS small FROM learned WHERE j IS NOT NULL;
SELECT count(*) FILTER (WHERE z::text <> j::text) AS differ FROM learned WHERE j IS NOT NULL;

-- every way of storing a document gives the same value: no dictionary (id 1 .. in corpus), default, column's
UPDATE corpus SET z = j WHERE id % 3 = 0;
SELECT count(DISTINCT (zson_storage(z)).dictionary) FROM corpus;
SELECT count(*) FILTER (WHERE z::text <> j::text) AS text, count(*) FILTER (WHERE z <> j::zson) AS eq, count(*) FILTER (WHERE zson_hash(z) <> jsonb_hash(j)) AS hash FROM corpus;
SELECT e AS expression, d.* FROM unnest(ARRAY[
	$$x -> 'a'$$, $$x ->> 'revenue'$$, $$x -> 'user' ->> 'mail'$$, $$x #>> '{many,50,text}'$$, $$x #> '{many,7}'$$, $$x -> 'many' -> -1 -> 'n'$$, $$x #>> '{wide,key 77}'$$, $$x ->> 'zzzzzzzzzzzzzzzzz'$$, $$x -> 2999$$, $$x #> '{}'$$,
	$$x ? 'os'$$, $$x ?& ARRAY['os', 'app']$$, $$x @> '{"os": "ios"}'$$, $$x @> '{"user": {"name": "user 7"}}'$$, $$x @> '{"many": [{"n": 5}]}'$$, $$x @> '{"a": 1.0}'$$, $$x @> '["a"]'$$, $$x <@ x$$, $$x @? '$.tags[*] ? (@ == "x0")'$$,
	$$x || '{"q": 1}'::T$$, $$x = y$$, $$x['many'][3]['text']$$, $$jsonb_pretty(x)$$
	]) e, differ(e) d WHERE d.differ > 0;
SELECT count(*) FROM corpus a JOIN corpus b ON a.z @> b.z WHERE a.id <= 60 AND b.id <= 60 AND NOT a.j @> b.j;

-- recompression, statistics
CREATE TABLE stored (id int PRIMARY KEY, z zson);
INSERT INTO stored SELECT id, z FROM corpus;
CALL zson_recompress('stored', 'z', 1);
SELECT count(*) FILTER (WHERE (zson_storage(z)).dictionary IS DISTINCT FROM zson_target(z)) AS others, count(*) FROM stored;
SELECT count(*) FILTER (WHERE s.z::text <> c.j::text) AS differ FROM stored s JOIN corpus c USING (id);
SELECT fails($$CALL zson_recompress('stored', 'z', 0)$$);
SELECT count(*) = 1 AS one, sum(documents) = (SELECT count(*) FROM stored) AS documents, min(ratio) < 0.7 AS ratio FROM zson_stats('stored', 'z');
SELECT zson_extract_strings('{"a": "b", "c": ["d", 1, {"e": "f"}]}');
SELECT zson_cache_bytes() BETWEEN 1 AND 4194304 AS bounded;

-- a role without any right reads what it may read
GRANT SELECT ON learned TO zson_nobody;
SET ROLE zson_nobody;
SELECT count(z ->> 'kind') FROM learned;
SELECT '{"kind": "event number 1", "value": 1}'::zson;
RESET ROLE;

-- dropping a dictionary: never one that a value needs
CREATE TABLE dropping (id int, z zson);
INSERT INTO dropping SELECT id, jsonb_build_object('drop', 'document number ' || id % 20, 'text', repeat('lorem ipsum ', 3) || id % 7) FROM generate_series(1, 300) id;
SELECT dictionary AS first FROM zson_train('dropping', 'z') \gset
UPDATE dropping SET z = z::text::zson;
SELECT fails('SELECT zson_drop_dictionary(1000)');
SELECT fails(format('SELECT zson_drop_dictionary(%s)', :first));
UPDATE dropping SET z = (z || jsonb_build_object('drop', 'something else: ' || md5((id % 20)::text), 'text', 'dolor sit amet ' || repeat(md5((id % 7)::text), 3)))::jsonb;
SELECT dictionary > :first AS newer FROM zson_train('dropping', 'z');
SELECT fails(format('SELECT zson_drop_dictionary(%s)', :first));
CREATE TABLE dropping_array AS SELECT ARRAY[z, NULL] AS zs FROM dropping LIMIT 1;
CREATE INDEX dropping_index ON dropping USING btree ((z -> 'drop'));
ANALYZE dropping;
CALL zson_recompress('dropping', 'z');
ANALYZE dropping;
SELECT fails(format('SELECT zson_drop_dictionary(%s)', :first));
DROP TABLE dropping_array;
CREATE VIEW dropping_view AS SELECT '{"a": 1}'::zson AS z;
SELECT fails(format('SELECT zson_drop_dictionary(%s)', :first));
DROP VIEW dropping_view;
SELECT zson_drop_dictionary(:first);
SELECT count(*) FROM zson_info() WHERE dictionary = :first;
SELECT count(z ->> 'drop') FROM dropping;
DROP TABLE dropping;
SELECT fails($$SELECT zson_schedule('corpus', 'z', '0 3 * * 0')$$), fails($$SELECT zson_unschedule('corpus', 'z')$$);

-- what is in dictionaries
SELECT dictionary, column_name, keys, string_values > 0 AS strings, templates > 0 AS templates FROM zson_info() ORDER BY 1;

-- a missing or damaged dictionary is an error, once the session has not read it before
SELECT dictionary AS id FROM zson_info() WHERE column_name = 'public.learned.j' \gset
\c
SELECT format('ALTER FUNCTION zson_dict.dictionary_%s() RENAME TO away', :id) \gexec
SELECT fails('SELECT count(z -> ''kind'') FROM learned');
SELECT format('CREATE FUNCTION zson_dict.dictionary_%s() RETURNS bytea LANGUAGE sql AS $$ SELECT decode(''WlNEAQAA'', ''base64'') $$', :id) \gexec
SELECT fails('SELECT count(z -> ''kind'') FROM learned');
-- text needs none
SELECT count(j) FROM learned;
DROP TABLE learned, same, stored;
DROP ROLE zson_nobody;
