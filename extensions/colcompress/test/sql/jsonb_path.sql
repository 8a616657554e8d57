-- Paths of jsonb documents as columns of a scan: every operator gives what it
-- gives on heap, for documents in sub-columns, in a residue, in a dictionary,
-- in the delta, deleted ones and null ones.
CREATE FUNCTION jp_doc(i int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
SELECT CASE
	WHEN i % 89 = 0 THEN NULL
	WHEN i % 101 = 0 THEN (ARRAY['{}', '["os", "a"]', '"os"', '1', 'null', '[{"os": "ios"}]',
		'{"os": {}}', '{"user": []}', '{"user": null}', '{"n": 1e400}'])[i / 101 % 10 + 1]::jsonb
	ELSE jsonb_build_object(
			'os', (ARRAY['android', 'ios', 'windows', 'ü'])[i % 4 + 1],
			'n', round(i % 300 / 4.0, 2),
			'flag', i % 3 = 0,
			'nothing', NULL::text,
			'tags', jsonb_build_array(i % 5, 'x' || i % 3, NULL),
			'mixed', CASE i % 5 WHEN 0 THEN to_jsonb(i % 7) WHEN 1 THEN to_jsonb((i % 7)::text)
				WHEN 2 THEN 'null' WHEN 3 THEN '{"k": {"l": 1}}' ELSE '{}' END,
			'user', jsonb_build_object('id', i % 10, 'name', 'user ' || i % 500, 'a', jsonb_build_object('city', (ARRAY['Oslo', 'Rome'])[i % 2 + 1])))
		|| CASE WHEN i % 3 = 0 THEN jsonb_build_object('campaign', 'c' || i % 10) ELSE '{}' END
		|| CASE WHEN i % 7 = 0 THEN jsonb_build_object('rare_' || i % 100, i, 'rare', i % 2, 'user', jsonb_build_object('id', i % 10, 'nick', 'n')) ELSE '{}' END
		|| CASE WHEN i % 17 = 0 THEN jsonb_build_object('user', i % 3, 'os', 7) ELSE '{}' END
		|| CASE WHEN i % 19 = 0 THEN jsonb_build_object('os', jsonb_build_array('ios'), 'n', 'many') ELSE '{}' END
	END $$;

CREATE TABLE jp_heap (id int, doc jsonb, few jsonb) USING heap;
INSERT INTO jp_heap SELECT i, jp_doc(i), jp_doc(i % 11) FROM generate_series(1, 2700) i;
CREATE TABLE jp (LIKE jp_heap) USING colcompress;
SELECT colcompress.set_options('jp', row_group_rows => 1024);
INSERT INTO jp SELECT * FROM jp_heap;
SELECT column_name, encoding FROM colcompress.column_chunks('jp') WHERE column_name <> 'id' GROUP BY 1, 2 ORDER BY 1, 2;
-- deleted rows, rows in the delta
DELETE FROM jp WHERE id % 31 = 0;
DELETE FROM jp_heap WHERE id % 31 = 0;
INSERT INTO jp SELECT i, jp_doc(i), jp_doc(i % 11) FROM generate_series(6001, 6050) i;
INSERT INTO jp_heap SELECT i, jp_doc(i), jp_doc(i % 11) FROM generate_series(6001, 6050) i;
ANALYZE jp;

-- Expressions over a document DOC.
CREATE TABLE jp_expr (e text, is_condition bool);
INSERT INTO jp_expr SELECT e, false FROM unnest(ARRAY[
	'DOC -> ''os''', 'DOC ->> ''os''', 'DOC -> ''n''', 'DOC ->> ''n''', 'DOC ->> ''flag''', 'DOC -> ''flag''', 'DOC ->> ''nothing''', 'DOC -> ''nothing''',
	'DOC ->> ''tags''', 'DOC -> ''tags'' -> 0', 'DOC -> ''tags'' ->> 1', 'DOC ->> ''mixed''', 'DOC -> ''mixed''', 'DOC -> ''mixed'' ->> ''k''',
	'DOC #>> ''{mixed,k,l}''', 'DOC #> ''{tags,1}''', 'DOC #>> ''{tags,0}''', 'DOC -> ''user''', 'DOC ->> ''user''', 'DOC -> ''user'' ->> ''name''',
	'DOC #>> ''{user,a,city}''', 'DOC -> ''user'' -> ''a'' ->> ''city''', 'DOC[''user''][''id'']', 'DOC[''tags''][0]', 'DOC #> ''{user,nick}''',
	'DOC ->> ''campaign''', 'DOC ->> ''rare''', 'DOC ->> ''rare_7''', 'DOC -> ''absent''', 'DOC #>> ''{}''', 'DOC ->> ''''', 'DOC -> 0', 'DOC ->> (''o'' || ''s'')',
	'jsonb_extract_path_text(DOC, ''user'', ''id'')', 'jsonb_object_field_text(DOC, ''os'')', 'upper(DOC ->> ''os'')', '(DOC ->> ''n'')::numeric', '(DOC -> ''n'')::int', '(DOC ->> ''flag'')::bool', 'length(DOC ->> ''user'')',
	'coalesce(DOC ->> ''campaign'', DOC ->> ''os'', ''none'')', 'CASE WHEN DOC ->> ''n'' <> ''many'' THEN (DOC ->> ''n'')::numeric END',
	'jsonb_typeof(DOC -> ''mixed'')', 'DOC', 'DOC || ''{"more": 1}''']) e;
INSERT INTO jp_expr SELECT e, true FROM unnest(ARRAY[
	'DOC ? ''os''', 'DOC ? ''campaign''', 'DOC ? ''user''', 'DOC ? ''rare''', 'DOC ? ''absent''', 'DOC ? ''rare_7''', 'DOC @> ''{"rare_7": 1407, "rare": 1}''', 'DOC @> ''{"rare_7": 1408, "rare": 1}''', 'DOC ->> ''rare_7'' = ''2107''', 'DOC ? ''nothing''', 'DOC ?| ''{campaign,rare}''', 'DOC ?& ''{os,campaign}''', 'DOC ?| ''{}''',
	'DOC ?| ARRAY[''os'', NULL]', '(DOC -> ''user'') ? ''id''', '(DOC -> ''tags'') ? ''x1''',
	'(DOC -> ''user'') ? ''a''', '(DOC #> ''{user,a}'') ? ''city''', '(DOC -> ''user'') ? ''nick''', '(DOC -> ''user'') ?| ''{absent,nick,id}''', '(DOC -> ''user'') ?& ''{name,a}''', '(DOC -> ''user'') ?& ''{}''', '(DOC -> ''user'') ?| ''{}''',
	'(DOC -> ''user'') ?& ARRAY[''id'', NULL]', '(DOC -> ''mixed'') ? ''k''', '(DOC -> ''mixed'') ? ''1''', '(DOC -> ''mixed'' -> ''k'') ? ''l''', '(DOC -> ''os'') ? ''ios''', '(DOC -> ''n'') ? ''1.5''', '(DOC -> ''nothing'') ? ''''',
	'NOT (DOC -> ''user'') ? ''nick''', '((DOC -> ''user'') ? ''nick'') IS NULL', '((DOC -> ''user'') ? ''nick'') IS NOT TRUE', '(DOC -> ''user'') ? ''nick'' OR NOT (DOC -> ''user'') ? ''a''', '(DOC -> ''os'') ?| ''{ios,a}'' AND ((DOC -> ''user'') ? ''nick'' OR (DOC -> ''mixed'') ? ''k'')',
	'coalesce((DOC -> ''user'') ? ''nick'', true)', '(DOC -> ''user'') @> ''{"id": 3}''', 'NOT (DOC -> ''user'') @> ''{"id": 3}''', '((DOC -> ''mixed'') @> ''{"k": {}}'') IS NULL', '(DOC -> ''mixed'') @> ''{"k": {}}''', '(DOC -> ''mixed'') @> ''{}''',
	'DOC @> ''{"os": "android"}''', 'DOC @> ''{"os": "absent"}''', 'DOC @> ''{"n": 1.5}''', 'DOC @> ''{"n": 1.500}''', 'DOC @> ''{"n": 1}''', 'DOC @> ''{"n": 0.001}''', 'DOC @> ''{"n": 1e400}''',
	'DOC @> ''{"flag": true}''', 'DOC @> ''{"nothing": null}''', 'DOC @> ''{"mixed": 1}''', 'DOC @> ''{"mixed": "1"}''', 'DOC @> ''{"mixed": {"k": {"l": 1}}}''', 'DOC @> ''{"mixed": {}}''',
	'DOC @> ''{"user": {"id": 3, "a": {"city": "Rome"}}, "flag": false}''', 'DOC @> ''{"user": 1}''', 'DOC @> ''{"rare": 1}''', 'DOC @> ''{"os": "ios", "rare": 0}''', 'DOC @> ''{"os": ["ios"]}''',
	'DOC @> ''{"tags": [1]}''', 'DOC @> ''{}''', 'DOC @> ''["os"]''', 'DOC @> ''"os"''', '''{"os": "ios", "flag": true}'' <@ DOC', 'NOT DOC @> ''{"os": "ios"}''', '(DOC @> ''{"os": "ios"}'') IS NULL', '(DOC ? ''os'') IS NOT TRUE',
	'DOC ->> ''os'' = ''ios''', 'DOC ->> ''os'' IN (''ios'', ''android'', NULL)', 'DOC ->> ''os'' > ''b'' COLLATE "C"', 'DOC ->> ''os'' LIKE ''%i%''', 'DOC ->> ''campaign'' IS NULL', 'DOC ->> ''user'' IS NOT NULL',
	'DOC -> ''os'' = ''"ios"''', 'DOC -> ''n'' > ''30''', 'DOC -> ''n'' IN (''1'', ''2.50'')', 'DOC #>> ''{user,name}'' = ''user 77''', 'DOC ->> ''os'' = ''ios'' OR DOC -> ''user'' ->> ''id'' = ''4''',
	'DOC ->> ''os'' = ''ios'' AND id > 1500 AND DOC @> ''{"flag": true}''', 'DOC ->> ''os'' = DOC ->> ''campaign''', 'DOC ->> ''n'' = id::text', 'DOC @> ''{"flag": true}'' AND (DOC ->> ''n'') LIKE ''%5''']) e;

-- What each expression gives, as output and as condition, or the error.
CREATE FUNCTION jp_result(tab text, expr text, is_condition bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a text;
	b text;
BEGIN
	EXECUTE format('SELECT md5(string_agg(id || %L || coalesce(x::text, %L), %L ORDER BY id)) FROM (SELECT id, %s AS x FROM %s OFFSET 0) t', ':', 'null', ',', expr, tab) INTO a;
	EXECUTE format('SELECT count(*) || %L || coalesce(sum(id::numeric * id), 0) FROM %s WHERE %s', ' ', tab,
		CASE WHEN is_condition THEN expr ELSE format('(%s) IS NOT NULL', expr) END) INTO b;
	RETURN a || ' ' || b;
EXCEPTION WHEN data_exception THEN
	RETURN SQLERRM;
END $$;
CREATE TABLE jp_expected AS
SELECT x.*, jp_result('jp_heap', x.e, x.is_condition) AS result
FROM (SELECT replace(e, 'DOC', d) AS e, is_condition FROM jp_expr, unnest(ARRAY['doc', 'few']) d) x;
SELECT count(*), count(DISTINCT result) > 100 AS they_differ, count(*) FILTER (WHERE result !~ '^[0-9a-f]{32} ') AS errors FROM jp_expected;
CREATE VIEW jp_wrong AS
SELECT e, result AS heap, ours FROM (SELECT *, jp_result('jp', e, is_condition) AS ours FROM jp_expected) x
WHERE ours IS DISTINCT FROM result;

-- up to 17, what is disabled costs enough for JIT to compile every query
SET jit = off;
SET enable_seqscan = off;
SELECT * FROM jp_wrong;
SET colcompress.enable_vector_filter = off;
SELECT * FROM jp_wrong WHERE e LIKE '%doc%';
RESET colcompress.enable_vector_filter;
SET colcompress.enable_vector_expressions = off;
SELECT * FROM jp_wrong WHERE e LIKE '%doc%';
RESET colcompress.enable_vector_expressions;
SET colcompress.enable_path_columns = off;
SELECT * FROM jp_wrong WHERE e LIKE '%doc%';
RESET colcompress.enable_path_columns;

-- groups and sorts by paths
SELECT doc ->> 'os' AS os, count(*), sum(id), min(doc #>> '{user,name}') FROM jp GROUP BY 1
EXCEPT ALL
SELECT doc ->> 'os' AS os, count(*), sum(id), min(doc #>> '{user,name}') FROM jp_heap GROUP BY 1;
SELECT count(DISTINCT doc -> 'user' ->> 'name'), count(DISTINCT doc -> 'mixed') FROM jp
EXCEPT ALL
SELECT count(DISTINCT doc -> 'user' ->> 'name'), count(DISTINCT doc -> 'mixed') FROM jp_heap;

SELECT doc #>> '{user,a,city}' AS city, sum((doc ->> 'n')::numeric) FILTER (WHERE doc ->> 'n' <> 'many'), count(*) FILTER (WHERE doc @> '{"flag": true}'),
	max(upper(doc ->> 'os')), sum(length(doc -> 'user' ->> 'name')), count(DISTINCT doc ->> 'campaign') FROM jp GROUP BY 1
EXCEPT ALL
SELECT doc #>> '{user,a,city}' AS city, sum((doc ->> 'n')::numeric) FILTER (WHERE doc ->> 'n' <> 'many'), count(*) FILTER (WHERE doc @> '{"flag": true}'),
	max(upper(doc ->> 'os')), sum(length(doc -> 'user' ->> 'name')), count(DISTINCT doc ->> 'campaign') FROM jp_heap GROUP BY 1;
SELECT count(doc ->> 'os'), count(jp), max(doc -> 'user' ->> 'name') FROM jp;
SELECT count(doc ->> 'os'), count(jp_heap), max(doc -> 'user' ->> 'name') FROM jp_heap;
-- rows whose value is no number are filtered, or are not
SELECT sum((doc ->> 'n')::numeric) FROM jp WHERE doc ->> 'n' <> 'many' AND length(doc ->> 'n') < 9 AND id < 2000;
SELECT sum((doc ->> 'n')::numeric) FROM jp_heap WHERE doc ->> 'n' <> 'many' AND length(doc ->> 'n') < 9 AND id < 2000;
SELECT sum((doc ->> 'n')::numeric) FROM jp;
SELECT sum((doc -> 'n')::numeric) FROM jp;
-- numbers only, in whole vectors; with nulls that are and are not in the documents
CREATE TABLE jp_numbers (id int, d jsonb) USING colcompress;
INSERT INTO jp_numbers SELECT i, CASE WHEN i % 50 <> 0 THEN jsonb_build_object('n', round(i / 8.0, 3), 'b', i::numeric * 1e20,
	'm', CASE WHEN i % 3 = 0 THEN to_jsonb(i / 4.0) WHEN i % 3 = 1 THEN 'null' END, 's', CASE WHEN i < 3000 THEN to_jsonb(i) ELSE to_jsonb(i::text) END) END
FROM generate_series(1, 5000) i;
CREATE TABLE jp_numbers_heap USING heap AS SELECT * FROM jp_numbers;
SELECT sum((d ->> 'n')::numeric), sum((d -> 'n')::numeric), avg((d ->> 'b')::numeric), max((d ->> 'm')::numeric), sum((d ->> 's')::numeric), count((d ->> 'm')::numeric) FROM jp_numbers;
SELECT sum((d ->> 'n')::numeric), sum((d -> 'n')::numeric), avg((d ->> 'b')::numeric), max((d ->> 'm')::numeric), sum((d ->> 's')::numeric), count((d ->> 'm')::numeric) FROM jp_numbers_heap;
SELECT count(*), sum(id), sum((d ->> 's')::numeric + (d ->> 'n')::numeric * 2) FROM jp_numbers WHERE (d ->> 'n')::numeric BETWEEN 100 AND 200.5 AND (d ->> 's')::numeric % 2 = 1;
SELECT count(*), sum(id), sum((d ->> 's')::numeric + (d ->> 'n')::numeric * 2) FROM jp_numbers_heap WHERE (d ->> 'n')::numeric BETWEEN 100 AND 200.5 AND (d ->> 's')::numeric % 2 = 1;
SELECT (d ->> 'n')::numeric % 5, count(*), min((d ->> 'm')::numeric(10,1)) FROM jp_numbers WHERE id < 100 GROUP BY 1
EXCEPT ALL
SELECT (d ->> 'n')::numeric % 5, count(*), min((d ->> 'm')::numeric(10,1)) FROM jp_numbers_heap WHERE id < 100 GROUP BY 1;
DROP TABLE jp_numbers, jp_numbers_heap;

-- a document beside its paths, whole rows, system columns
SELECT count(*) FROM (
	(SELECT doc ->> 'os', doc, id FROM jp WHERE doc ? 'campaign' EXCEPT ALL SELECT doc ->> 'os', doc, id FROM jp_heap WHERE doc ? 'campaign')
	UNION ALL
	(SELECT doc ->> 'os', doc, id FROM jp_heap WHERE doc ? 'campaign' EXCEPT ALL SELECT doc ->> 'os', doc, id FROM jp WHERE doc ? 'campaign')) d;
SELECT count(*), count(ctid) FROM jp WHERE doc ->> 'os' = 'ios' AND ctid IS NOT NULL AND tableoid = 'jp'::regclass;
-- a whole row beside a path: the scan has more columns than the table
SELECT count(*), count(jp), sum(id), min(doc ->> 'os') FROM jp WHERE doc ->> 'os' = 'ios' AND jp IS NOT NULL;
SELECT count(*), count(h), sum(id), min(doc ->> 'os') FROM jp_heap h WHERE doc ->> 'os' = 'ios' AND h IS NOT NULL;
SELECT count(*) FROM jp WHERE doc ->> 'os' = (SELECT min(doc ->> 'os') FROM jp_heap h WHERE h.id < jp.id AND h.id < 5) AND id < 100;
SELECT count(*) FROM jp_heap WHERE doc ->> 'os' = (SELECT min(doc ->> 'os') FROM jp_heap h WHERE h.id < jp_heap.id AND h.id < 5) AND id < 100;

-- changed through a path, with the rows of a join, and by a prepared statement
WITH u AS (UPDATE jp SET few = jsonb_build_object('was', doc -> 'os') WHERE doc @> '{"user": {"id": 5}}' RETURNING id, doc ->> 'os' AS os)
SELECT count(*), count(DISTINCT os) FROM u;
WITH u AS (UPDATE jp_heap SET few = jsonb_build_object('was', doc -> 'os') WHERE doc @> '{"user": {"id": 5}}' RETURNING id, doc ->> 'os' AS os)
SELECT count(*), count(DISTINCT os) FROM u;
SELECT twin_diff('jp', 'jp_heap');
SELECT count(*) FROM jp a JOIN jp b ON a.doc ->> 'campaign' = b.doc ->> 'campaign' AND a.id = b.id + 30 WHERE a.doc @> '{"flag": true}';
SELECT count(*) FROM jp_heap a JOIN jp_heap b ON a.doc ->> 'campaign' = b.doc ->> 'campaign' AND a.id = b.id + 30 WHERE a.doc @> '{"flag": true}';
PREPARE jp_q (text, jsonb) AS SELECT count(*) FROM jp WHERE doc ->> $1 = 'ios' OR doc @> $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE jp_q ('os', '{"os": "android"}');
EXECUTE jp_q ('campaign', '{"os": "android"}');
SET plan_cache_mode = force_custom_plan;
EXECUTE jp_q ('os', '{"os": "android"}');
EXECUTE jp_q ('campaign', '{"os": "android"}');
DEALLOCATE jp_q;
RESET plan_cache_mode;
RESET enable_seqscan;
-- Strings in the first vector of a row group, booleans in the second.
CREATE TABLE jp_mixed (id int, doc jsonb) USING colcompress;
SELECT colcompress.set_options('jp_mixed', row_group_rows => 4096);
INSERT INTO jp_mixed SELECT i, CASE WHEN i <= 1024 THEN jsonb_build_object('a', 'x' || i % 2, 'b', i)
	ELSE jsonb_build_object('a', i % 2 = 0, 'b', i) END
FROM generate_series(1, 2048) i;
ANALYZE jp_mixed;
EXPLAIN (COSTS off) SELECT doc->>'a', count(*) FROM jp_mixed GROUP BY 1;
SELECT doc->>'a', count(*), min(id) FROM jp_mixed GROUP BY 1 ORDER BY 1;
SELECT upper(doc->>'a'), count(*), min(id) FROM jp_mixed GROUP BY 1 ORDER BY 1;
DROP TABLE jp_mixed;
-- Parts of documents: what is read of them, where they are handed up, and where not.
CREATE TABLE jp_part (id int, doc jsonb) USING colcompress;
INSERT INTO jp_part SELECT i, jsonb_build_object('a', jsonb_build_object('b', 'x' || i % 3, 'l', jsonb_build_array(i % 2)), 'n', i)
FROM generate_series(1, 2048) i;
ANALYZE jp_part;
EXPLAIN (VERBOSE, COSTS off) SELECT count(*) FROM jp_part WHERE doc @? '$.a.b ? (@ == "x1")' AND (doc->'a') ? 'l' AND (doc - 'n') IS NOT NULL;
EXPLAIN (VERBOSE, COSTS off) SELECT id, jsonb_array_elements(doc->'a'->'l') FROM jp_part;
EXPLAIN (VERBOSE, COSTS off) SELECT doc, jsonb_array_elements(doc->'a'->'l') FROM jp_part;
EXPLAIN (VERBOSE, COSTS off) SELECT jsonb_path_query_first(doc, 'strict $.a.b') FROM jp_part;
-- documents less some places
CREATE FUNCTION jp_parts(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	parts text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		parts := coalesce(substring(line FROM 'Document Parts: (.*)'), parts);
	END LOOP;
	RETURN parts;
END $$;
SELECT jp_parts('SELECT (doc #- ''{a,b}'')::text, jsonb_strip_nulls(doc), doc - ''{a,n}''::text[] FROM jp_part');
-- whether an object is there matters where null is not as good as false, and where a type refuses nulls
SELECT jp_parts('SELECT count(*) FROM jp_part WHERE doc->''a'' ? ''l'' OR doc->''a'' ?| ''{b,x}'' OR doc->''a'' @> ''{"b": "x1"}''');
SELECT jp_parts('SELECT count(*) FROM jp_part WHERE NOT doc->''a'' ? ''l'' OR (doc->''a'' ?| ''{b,x}'') IS NOT TRUE OR (doc->''a'' @> ''{"b": "x1"}'') IS NULL');
SELECT jp_parts('SELECT count(*), count(r.b) FROM jp_part, jsonb_to_record(doc->''a'') r (b text, x int)');
CREATE DOMAIN jp_required AS int NOT NULL;
SELECT jp_parts('SELECT count(*), count(r.b) FROM jp_part, jsonb_to_record(doc->''a'') r (b text, x jp_required)');
SELECT count(*) FROM jp_part, jsonb_to_record(doc->'a') r (y text, x jp_required);
SELECT count(*), count(r.x) FROM jp_part, jsonb_to_record(doc->'b') r (y text, x jp_required);
DROP DOMAIN jp_required;
SELECT jp_parts('SELECT count(*) FROM jp_part WHERE jsonb_strip_nulls((doc #- ''{a,l}'') - ''n'')::text <> ''{}''');
DROP FUNCTION jp_parts;
SELECT count(*), sum(id) FROM jp_part WHERE doc @? '$.a.b ? (@ == "x1")' AND (doc->'a') ? 'l' AND (doc - 'n') IS NOT NULL;
SELECT e, count(*), sum(id) FROM (SELECT id, jsonb_array_elements(doc->'a'->'l') AS e FROM jp_part) s GROUP BY 1 ORDER BY 1;
SET colcompress.enable_document_parts = off;
EXPLAIN (VERBOSE, COSTS off) SELECT id, jsonb_array_elements(doc->'a'->'l') FROM jp_part;
SELECT e, count(*), sum(id) FROM (SELECT id, jsonb_array_elements(doc->'a'->'l') AS e FROM jp_part) s GROUP BY 1 ORDER BY 1;
RESET colcompress.enable_document_parts;
DROP TABLE jp_part;
DROP VIEW jp_wrong;
DROP TABLE jp, jp_heap, jp_expr, jp_expected;
DROP FUNCTION jp_doc, jp_result;
