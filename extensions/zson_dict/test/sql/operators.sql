-- Every operator and function of zson against jsonb's over the corpus.

SELECT e AS expression, d.* FROM unnest(ARRAY[
	$$x -> 'a'$$, $$x ->> 'a'$$, $$x -> 'os'$$, $$x ->> 'revenue'$$, $$x ->> 'premium'$$, $$x -> 'user' ->> 'mail'$$, $$x -> ''$$, $$x -> 'no such key'$$,
	$$x -> 0$$, $$x ->> 0$$, $$x -> 1$$, $$x -> -1$$, $$x ->> -1$$, $$x -> 2999$$, $$x -> 3000$$, $$x -> -3001$$, $$x ->> 5$$,
	$$x #> '{}'$$, $$x #>> '{}'$$, $$x #> '{a}'$$, $$x #> '{a,b,c,d,1}'$$, $$x #>> '{a,2,1,b}'$$, $$x #>> '{many,50,text}'$$, $$x #> '{many,-1}'$$, $$x #> '{wide,key 77}'$$,
	$$x #>> '{user,name}'$$, $$x #> '{0,0}'$$, $$x #> ARRAY['a', NULL]$$, $$x #> '{many,x}'$$, $$x #> '{many, 5}'$$, $$x #> '{a,1 }'$$, $$x -> 'many' -> 99 ->> 'text'$$, $$x -> 'wide' ->> 'key 200'$$,
	$$x ? 'a'$$, $$x ? 'os'$$, $$x ? ''$$, $$x ? 'zzzzzzzzzzzzzzzzz'$$, $$x ?| ARRAY['b', 'os', NULL]$$, $$x ?| '{}'$$, $$x ?& ARRAY['os', 'app', NULL]$$, $$x ?& ARRAY['a', 'b']$$, $$x ?& '{}'$$,
	$$x @> '{}'$$, $$x @> '[]'$$, $$x @> '{"a": 1}'$$, $$x @> '{"a": 1.0}'$$, $$x @> '{"os": "ios"}'$$, $$x @> '{"user": {"name": "user 7"}}'$$, $$x @> '[1]'$$, $$x @> '[[]]'$$, $$x @> '["a"]'$$, $$x @> '"a"'$$, $$x @> '1'$$, $$x @> 'null'$$,
	$$x @> '{"tags": ["x0"]}'$$, $$x @> '{"tags": ["x0", 9]}'$$, $$x @> '{"many": [{"n": 5}]}'$$, $$x @> '{"wide": {"key 1": 1, "key 200": 200}}'$$, $$x @> '{"revenue": 79.190}'$$, $$x @> '[2999, 1]'$$, $$x @> '[{"a": 1}, ["a"]]'$$, $$x @> '{"a": [[3]]}'$$, $$x @> x$$,
	$$x <@ '{"a": 1, "b": 2}'$$, $$x <@ '[1, 2, "a", null]'$$, $$x <@ x$$,
	$$x @? '$.a'$$, $$x @? '$.tags[*] ? (@ == "x0")'$$, $$x @@ '$.version > 124'$$,
	$$jsonb_path_query_array(x, '$.**')$$, $$jsonb_path_exists(x, '$.user.id ? (@ > $n)', '{"n": 100}')$$, $$jsonb_path_query_first(x, '$[*]')$$,
	$$x || '{"q": 1}'::T$$, $$x || '[1]'::T$$, $$x || x$$, $$CASE jsonb_typeof(x) WHEN 'object' THEN x - 'a' WHEN 'array' THEN x - 'a' END$$,
	$$CASE WHEN jsonb_typeof(x) IN ('object', 'array') THEN x - ARRAY['os', 'a'] END$$, $$CASE jsonb_typeof(x) WHEN 'array' THEN x - 1 END$$, $$CASE jsonb_typeof(x) WHEN 'object' THEN x #- '{user,name}' END$$,
	$$x = y$$, $$x <> y$$, $$x = '{"a": 1.00}'$$, $$x < '{"a": 1}'$$, $$x >= '[1]'$$, $$x > '"a"'$$, $$x <= '{"os": "ios"}'$$,
	$$jsonb_typeof(x)$$, $$CASE jsonb_typeof(x) WHEN 'array' THEN jsonb_array_length(x) END$$, $$(SELECT array_agg(k) FROM jsonb_object_keys(CASE jsonb_typeof(x) WHEN 'object' THEN x END) k)$$,
	$$(SELECT count(v) FROM jsonb_each(CASE jsonb_typeof(x) WHEN 'object' THEN x END) AS e (k, v))$$, $$(SELECT string_agg(e, '|') FROM jsonb_array_elements_text(CASE jsonb_typeof(x) WHEN 'array' THEN x END) e)$$,
	$$x['a']$$, $$x['a']['b']$$, $$x[0]$$, $$x[-1]$$, $$x['many'][3]['text']$$, $$x['0']$$, $$x[NULL]$$,
	$$jsonb_pretty(x)$$, $$jsonb_strip_nulls(x)$$, $$to_jsonb(x::jsonb)$$
	]) e, differ(e) d;

SELECT count(*) FILTER (WHERE zson_typeof(z) <> jsonb_typeof(j)) AS type, count(*) FILTER (WHERE zson_hash(z) <> jsonb_hash(j)) AS hash,
	count(*) FILTER (WHERE zson_hash_extended(z, 42) <> jsonb_hash_extended(j, 42)) AS extended,
	count(*) FILTER (WHERE jsonb_typeof(j) = 'array' AND zson_array_length(CASE jsonb_typeof(j) WHEN 'array' THEN z ELSE '[]' END) <> jsonb_array_length(CASE jsonb_typeof(j) WHEN 'array' THEN j ELSE '[]' END)) AS length FROM corpus;
SELECT fails($$SELECT zson_array_length('{}')$$);
SELECT fails($$SELECT zson_array_length('1')$$);

-- every pair: order and containment
SELECT count(*) FILTER (WHERE sign(zson_cmp(a.z, b.z)) <> sign(jsonb_cmp(a.j, b.j))) AS cmp, count(*) FILTER (WHERE (a.z @> b.z) <> (a.j @> b.j)) AS contains
	FROM corpus a, corpus b WHERE a.id <= 60 AND b.id <= 60;
SELECT (SELECT array_agg(id ORDER BY z, id) FROM corpus) = (SELECT array_agg(id ORDER BY j, id) FROM corpus) AS sorted;
SELECT count(*) = (SELECT count(*) FROM (SELECT DISTINCT j FROM corpus) d) AS hashed FROM (SELECT z FROM corpus GROUP BY z) d;

-- mixed with jsonb and unknown literals: no operator is ambiguous
SELECT count(*) FROM corpus WHERE z = j;
SELECT count(*) FROM corpus WHERE z @> jsonb '{"os": "ios"}';
SELECT count(*) FROM corpus WHERE z = '{"a": 1}';
SELECT z || jsonb '{"n": 1}' AS a, coalesce(z -> 'no', j -> 'a') AS b FROM corpus WHERE j = '{"a": 1}' ORDER BY id LIMIT 1;

-- indexes find what a scan finds
CREATE INDEX corpus_gin ON corpus USING gin (z);
CREATE INDEX corpus_path ON corpus USING gin (z zson_path_ops);
CREATE INDEX corpus_btree ON corpus ((z -> 'version'));
CREATE INDEX corpus_hash ON corpus USING hash ((z -> 'os'));
ANALYZE corpus;
SET enable_seqscan = off;
SELECT count(*), (SELECT count(*) FROM corpus WHERE j @> '{"os": "ios"}') FROM corpus WHERE z @> '{"os": "ios"}';
SELECT count(*), (SELECT count(*) FROM corpus WHERE j ? 'premium') FROM corpus WHERE z ? 'premium';
SELECT count(*), (SELECT count(*) FROM corpus WHERE j ?| '{a,os}') FROM corpus WHERE z ?| '{a,os}';
SELECT count(*), (SELECT count(*) FROM corpus WHERE j ?& '{app,os}') FROM corpus WHERE z ?& '{app,os}';
SELECT count(*), (SELECT count(*) FROM corpus WHERE j @? '$.tags[*] ? (@ == 3)') FROM corpus WHERE z @? '$.tags[*] ? (@ == 3)';
SELECT count(*), (SELECT count(*) FROM corpus WHERE j @@ '$.app == "tv"') FROM corpus WHERE z @@ '$.app == "tv"';
SELECT count(*), (SELECT count(*) FROM corpus WHERE j -> 'version' = '124') FROM corpus WHERE z -> 'version' = '124';
SELECT count(*), (SELECT count(*) FROM corpus WHERE j -> 'version' > '124') FROM corpus WHERE z -> 'version' > '124';
SELECT count(*), (SELECT count(*) FROM corpus WHERE j -> 'os' = '"ios"') FROM corpus WHERE z -> 'os' = '"ios"';
EXPLAIN (COSTS OFF) SELECT count(*) FROM corpus WHERE z @> '{"os": "ios"}';
EXPLAIN (COSTS OFF) SELECT count(*) FROM corpus WHERE z -> 'os' = '"ios"';
DROP INDEX corpus_gin;
EXPLAIN (COSTS OFF) SELECT count(*) FROM corpus WHERE z @@ '$.app == "tv"';
SELECT count(*), (SELECT count(*) FROM corpus WHERE j @> '{"user": {"id": 7}}') FROM corpus WHERE z @> '{"user": {"id": 7}}';
SELECT count(*), (SELECT count(*) FROM corpus WHERE j @? '$.user ? (@.id == 7)') FROM corpus WHERE z @? '$.user ? (@.id == 7)';
RESET enable_seqscan;
DROP INDEX corpus_path, corpus_btree, corpus_hash;

-- joins by hash and merge
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT count(*), (SELECT count(*) FROM corpus a JOIN corpus b ON a.j = b.j) FROM corpus a JOIN corpus b ON a.z = b.z;
SET enable_mergejoin = on;
SET enable_hashjoin = off;
SELECT count(*) FROM corpus a JOIN corpus b ON a.z = b.z;
RESET ALL;

-- all operator classes are sound
SELECT opcname, amname, amvalidate(c.oid) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE opcname ~ '^zson' ORDER BY 1, 2;

-- assignment by subscript
CREATE TABLE changed (z zson);
INSERT INTO changed VALUES ('{"a": {"b": 1}}'), (NULL);
UPDATE changed SET z['a']['c'] = '[1, 2]', z['d'] = '"new"';
SELECT * FROM changed;
UPDATE changed SET z['a']['c'][0] = '{"deep": true}';
SELECT * FROM changed;
SELECT fails($$UPDATE changed SET z[NULL] = '1'$$);
SELECT fails($$SELECT z[1:2] FROM changed$$);
SELECT fails($$SELECT z[1.5] FROM changed$$);
SELECT fails($$UPDATE changed SET z['a']['b']['c'] = '1'$$);
DROP TABLE changed;

-- parallel workers read them
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT sum(length(z::text)) = (SELECT sum(length(j::text)) FROM corpus) AS same, count(*) FILTER (WHERE z ->> 'os' = 'ios') FROM corpus;
RESET ALL;
