-- Arrays of objects as lengths and elements: every document comes back as the same
-- bytes, whatever its arrays hold, in scans, by index, and after other rows came and went.

CREATE FUNCTION ja_same(jsonb, jsonb) RETURNS bool LANGUAGE sql IMMUTABLE
AS 'SELECT record_image_eq(ROW($1), ROW($2))';

-- Elements with optional and changing keys, some with arrays of objects themselves.
CREATE FUNCTION ja_element(i int, k int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
SELECT jsonb_build_object('size', i * 7 + k, 'name', 'element ' || k || ' of ' || i, 'ok', (i + k) % 3 = 0,
		'ref', jsonb_build_object('link', md5((i * 10 + k)::text)),
		'price', (ARRAY[i / 100.0, i, -k / 8.0, 0])[i % 4 + 1])
	|| CASE WHEN k % 3 = 0 THEN jsonb_build_object('parts', (SELECT coalesce(jsonb_agg(jsonb_build_object('p', p, 'of', i,
			'more', (SELECT jsonb_agg(jsonb_build_object('m', m, 'last', jsonb_build_array(jsonb_build_object('l', m + i)))) FROM generate_series(1, p) m))), '[]')
		FROM generate_series(1, i % 4) p)) ELSE '{}' END
	|| CASE WHEN i % 11 = 0 THEN jsonb_build_object('rare_' || i, i) ELSE '{}' END
	|| CASE WHEN i % 13 = 0 THEN jsonb_build_object('size', 'large', 'tags', '["a", 1, null, [true]]'::jsonb) ELSE '{}' END $$;
CREATE FUNCTION ja_array(i int, n int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
SELECT coalesce(jsonb_agg(ja_element(i, k)), '[]') FROM generate_series(1, n) k $$;
CREATE FUNCTION ja_doc(i int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
SELECT CASE
	WHEN i % 97 = 0 THEN NULL
	WHEN i % 101 = 0 THEN ja_array(i, 2)
	WHEN i % 103 = 0 THEN jsonb_build_object('items', (ARRAY['{}', '{"a": []}', '"text"', 'null', '1', 'true', '[]', '[[]]', '[{}]', '[null]',
			'[1, "two", null, false, -0.00, 1e100, 1e-100, {"size": 1}]', '[[{"size": 2}], [], {}]', '[{"": ""}]'])[i / 103 % 13 + 1]::jsonb)
	ELSE jsonb_build_object('id', i, 'kind', 'k' || i % 3, 'in', jsonb_build_object('items', ja_array(i, i % 5)), 'items', ja_array(i + 1, (i + 1) % 7))
		- CASE WHEN i % 10 = 0 THEN 'items' ELSE '' END
	END $$;

CREATE TABLE ja_heap (id int, doc jsonb, arr jsonb) USING heap;
INSERT INTO ja_heap SELECT i, ja_doc(i), CASE WHEN i % 8 <> 0 THEN ja_array(i, i % 3) END FROM generate_series(1, 6000) i;
-- arrays of many elements, alone and among others
UPDATE ja_heap SET doc = jsonb_build_object('items', (SELECT jsonb_agg(jsonb_build_object('size', k, 's', 'x' || k % 100)) FROM generate_series(1, 100000) k)) WHERE id = 3000;
UPDATE ja_heap SET arr = (SELECT jsonb_agg(CASE WHEN k % 1000 = 0 THEN to_jsonb(k) ELSE jsonb_build_object('size', k) END) FROM generate_series(1, 3000) k) WHERE id IN (10, 1024, 1025);
CREATE TABLE ja (LIKE ja_heap) USING colcompress;
SELECT colcompress.set_options('ja', row_group_rows => 4096);
INSERT INTO ja SELECT * FROM ja_heap ORDER BY id;

SELECT column_name, encoding, count(*) > 1 AS several FROM colcompress.column_chunks('ja')
WHERE column_name <> 'id' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT path, kind, encoding IN ('arrays', 'nulls') OR encoded_bytes > 0 AS stored FROM colcompress.document_paths('ja')
WHERE row_group = 1 AND column_name = 'doc' AND (path[1] = 'in' OR kind = 'array' OR 'more' = ANY (path)) ORDER BY path, kind;
SELECT path, kind FROM colcompress.document_paths('ja') WHERE row_group = 1 AND column_name = 'arr' ORDER BY path, kind;

-- the same bytes, in order
SELECT count(*), count(s.doc), count(s.arr), bool_and(ja_same(s.doc, h.doc) AND ja_same(s.arr, h.arr)) AS same_bytes,
	bool_and(s.doc::text IS NOT DISTINCT FROM h.doc::text AND s.arr::text IS NOT DISTINCT FROM h.arr::text) AS same_text
FROM ja s JOIN ja_heap h USING (id);
SELECT twin_diff('ja', 'ja_heap');

-- single documents, by index: few of a vector, and then many
CREATE UNIQUE INDEX ja_id ON ja (id);
SET enable_seqscan = off;
SET colcompress.enable_custom_scan = off;
SELECT count(*), bool_and(ja_same((SELECT s.doc FROM ja s WHERE s.id = h.id), h.doc)) AS same_bytes,
	bool_and(ja_same((SELECT s.arr FROM ja s WHERE s.id = h.id), h.arr)) AS same_arrays
FROM ja_heap h WHERE h.id % 401 = 0 OR h.id IN (10, 1024, 1025, 3000);
SELECT count(*), bool_and(ja_same((SELECT s.doc FROM ja s WHERE s.id = h.id), h.doc)) AS same_bytes,
	bool_and(ja_same((SELECT s.arr FROM ja s WHERE s.id = h.id), h.arr)) AS same_arrays
FROM ja_heap h WHERE h.id < 1500;
RESET enable_seqscan;
RESET colcompress.enable_custom_scan;
-- few rows of a vector, in a scan, and rows around long arrays
SELECT count(*), bool_and(ja_same(s.doc, h.doc)) AS same_bytes, bool_and(ja_same(s.arr, h.arr)) AS same_arrays
FROM ja s JOIN ja_heap h USING (id) WHERE s.id % 211 = 7;
SELECT count(*), bool_and(ja_same(s.doc, h.doc)) AS same_bytes, bool_and(ja_same(s.arr, h.arr)) AS same_arrays
FROM ja s JOIN ja_heap h USING (id) WHERE s.id BETWEEN 1020 AND 1030 OR s.id BETWEEN 2995 AND 3005;

-- paths below arrays
SELECT q, (twin_query('ja', 'ja_heap', q)).result FROM (VALUES
	('SELECT id, e->>''size'' FROM TBL, jsonb_array_elements(arr) e WHERE jsonb_typeof(arr) = ''array'''),
	('SELECT e->>''size'', count(*) FROM TBL, jsonb_array_elements(doc->''in''->''items'') e GROUP BY 1'),
	('SELECT e->>''name'', e->''ref''->>''link'', count(*), sum((e->>''price'')::numeric) FROM TBL, jsonb_array_elements(doc->''in''->''items'') e GROUP BY 1, 2'),
	('SELECT sum((e->>''price'')::numeric) FROM TBL, jsonb_array_elements(doc #> ''{in,items}'') e WHERE e->>''ok'' = ''true'''),
	('SELECT id % 7, e->>''ok'', count(*), min(e->''ref''->>''link''), max((e->>''size'')::numeric) FROM TBL, jsonb_array_elements(arr) e WHERE e->>''size'' <> ''large'' GROUP BY 1, 2'),
	('SELECT doc->>''kind'', count(*), sum((e->>''size'')::bigint), min(e->>''name'') FROM TBL, jsonb_array_elements(doc->''items'') e WHERE doc ? ''id'' AND e->>''size'' <> ''large'' GROUP BY 1'),
	('SELECT count(*), sum((e->>''size'')::bigint) FROM TBL, jsonb_array_elements(doc->''items'') e WHERE id BETWEEN 2995 AND 3010 AND e->>''size'' <> ''large'''),
	('SELECT count(*), count(e), count(e->''parts''), min(e::text), count(DISTINCT e->''parts''), bool_or(e ? ''tags''), count(*) FILTER (WHERE e @> ''{"ok": true}'') FROM TBL, jsonb_array_elements(doc->''in''->''items'') e'),
	('SELECT p->>''of'', count(*), sum((p->>''p'')::int) FROM TBL, jsonb_array_elements(doc->''in''->''items'') e, jsonb_array_elements(e->''parts'') p GROUP BY 1'),
	('SELECT e->>''name'', count(*) FROM (SELECT jsonb_array_elements(doc->''in''->''items'') AS e FROM TBL WHERE id % 3 = 1) s GROUP BY 1'),
	('SELECT count(*), md5(string_agg(x, '','' ORDER BY x)) FROM (SELECT md5(e::text || (doc->''in''->''items'')::text || (doc #>> ''{in,items,1,name}'') || (e->>''name'')) AS x FROM TBL, jsonb_array_elements(doc->''in''->''items'') e) s'),
	('SELECT doc->''in'' ? ''items'', doc->''in''->''size'' IS NULL, jsonb_typeof(doc->''name''), count(*), count(e->>''name'') FROM TBL, jsonb_array_elements(arr) e GROUP BY 1, 2, 3'),
	('SELECT arr->0->''ref'' ? ''link'', arr @> ''[{"ok": true}]'', arr @? ''$[*] ? (@.size > 100)'', e->>''ok'', count(*) FILTER (WHERE doc->''ref'' IS NULL), count(arr->1->>''name'') FROM TBL, jsonb_array_elements(arr) e WHERE jsonb_strip_nulls(doc->''in'') ? ''items'' OR e->>''ok'' = ''true'' GROUP BY 1, 2, 3, 4'),
	('SELECT e, arr, count(*) FROM TBL, jsonb_array_elements(arr) e WHERE id > 1025 GROUP BY 1, 2'),
	('SELECT e, count(*) FROM TBL, jsonb_array_elements(arr) e WHERE id = 10 GROUP BY e, arr'),
	('SELECT e->>''name'', doc, count(*) FROM TBL, jsonb_array_elements(doc->''in''->''items'') e WHERE id % 100 < 3 GROUP BY 1, 2'),
	('SELECT e, count(*) FROM TBL, jsonb_array_elements(doc->''items'') e WHERE id < 1000 AND doc ? ''id'' GROUP BY 1'),
	('SELECT count(*) FROM TBL, jsonb_array_elements(doc->''items'') e WHERE doc ? ''id'' AND jsonb_path_exists(e, ''$.parts[*] ? (@.p > 1)'')'),
	('SELECT count(*), sum(jsonb_array_length(doc->''in''->''items'')) FROM TBL WHERE doc->''in''->''items'' IS NOT NULL AND doc->''nothing'' IS NULL'),
	('SELECT count(*), jsonb_typeof(doc->''items'') FROM TBL GROUP BY 2'),
	('SELECT id, doc #>> ''{in,items,0,size}'', doc #>> ''{items,-1,ref,link}'', doc #>> ''{items,1}'', doc->''items''->2->''parts'' FROM TBL'),
	('SELECT id, doc #>> ''{in,items,1,ref,link}'', doc #> ''{in,items,2,ref}'', (doc #> ''{items,3,parts}'')::text, doc #>> ''{items,0,ok}'', doc #>> ''{items,4,tags,0}'', doc #>> ''{items,0,parts,0,of}'', doc #>> ''{items,2,parts,1,more,0,m}'' FROM TBL'),
	('SELECT sum((doc #>> ''{in,items,0,price}'')::numeric), count(doc #>> ''{items,99999,s}''), count(doc #>> ''{items,100000,s}''), count(doc #>> ''{items,01,name}''), count(doc #>> ''{items,x,name}''), count(doc #>> ''{items,12345678901,name}'') FROM TBL'),
	('SELECT id FROM TBL WHERE doc #>> ''{items,1,size}'' = ''702'' OR doc #>> ''{in,items,3,name}'' = ''element 4 of 44'''),
	('SELECT doc #>> ''{items,0,price}'', count(*) FROM TBL WHERE id % 5 < 3 GROUP BY 1'),
	('SELECT e #>> ''{parts,0,more,0,m}'', e #>> ''{parts,1,p}'', count(*) FROM TBL, jsonb_array_elements(doc->''in''->''items'') e GROUP BY 1, 2'),
	('SELECT count(*), sum(length(doc->''items''->0->>''name'')) FROM TBL'),
	('SELECT id FROM TBL WHERE doc @? ''$.in.items[*] ? (@.price > 50)'''),
	('SELECT id FROM TBL WHERE doc @@ ''$.items[*].size == 705'''),
	('SELECT count(*) FROM TBL WHERE doc @? ''$.in.items[*].ref ? (@.link starts with "a")'''),
	('SELECT id FROM TBL WHERE doc @? ''$.items[*].parts ? ($.id > 3000)'''),
	('SELECT count(*) FROM TBL WHERE doc @? ''$.in.items[*].parts ? (1 == 1)'''),
	('SELECT count(*) FROM TBL WHERE doc @@ ''exists($.in.items[*].parts ? (!($.id == 3)))'''),
	('SELECT count(*) FROM TBL WHERE doc @? ''$.in.items[*].ref ? (exists($.id))'' OR doc @? ''$.in.items[*].size ? (exists($.id))'''),
	('SELECT count(*) FROM TBL WHERE jsonb_path_exists(doc, ''$.in.items[*].parts ? ($v == 1)'', ''{"v": 1}'')'),
	('SELECT count(*) FROM TBL WHERE doc @? ''$.items[*] ? (@.size > 100 && @.ok == true)'''),
	('SELECT count(*) FROM TBL WHERE doc @? ''$.items[*] ? (!(@.size > 100))'''),
	('SELECT count(*) FROM TBL WHERE doc @? ''$.items[*].ref ? (!exists(@.nothing))'''),
	('SELECT count(*) FROM TBL WHERE doc @? ''$.items[*].parts ? (@.p > 2)'''),
	('SELECT count(*) FROM TBL WHERE doc @? ''$.items[*].parts[*] ? (@.more[*].m > 2)'''),
	('SELECT count(*) FROM TBL WHERE doc @? ''$.items[*] ? (@ == 1)'''),
	('SELECT count(*) FROM TBL WHERE doc @? ''$.items[*] ? (@.parts[*].p == 3)'''),
	('SELECT count(*) FROM TBL WHERE doc @? ''$.items[*] ? (exists(@.tags ? (@ == "a")))'''),
	('SELECT count(*) FROM TBL WHERE doc @@ ''exists($.items[*] ? (@.rare_11 == 11)) || $.in.items[*].price < -1'''),
	('SELECT count(*) FROM TBL WHERE doc @@ ''$.items[*].name like_regex "1 of 3.*"'''),
	('SELECT count(*) FROM TBL WHERE doc @@ ''$.in.items[*].ok == true && $.id > 3000'''),
	('SELECT id, jsonb_path_query_first(doc, ''$.items[*].ref ? (@.link > "8")'') FROM TBL'),
	('SELECT id, jsonb_path_query_array(doc, ''$.items[*].size''), jsonb_path_exists(doc, ''$.items[*] ? (@.size > $x)'', ''{"x": 700}'') FROM TBL'),
	('SELECT count(*), sum(x::numeric) FROM TBL, jsonb_path_query(doc, ''$.in.items[*].price'') x'),
	('SELECT id, jsonb_path_query_array(doc, ''$.items[*].parts[*].more[*].m.double()'') FROM TBL'),
	('SELECT id, jsonb_path_query_array(doc, ''$.items[*].type()''), jsonb_path_query_array(doc, ''$.items[*].tags.size()'') FROM TBL'),
	('SELECT count(*) FROM TBL WHERE doc @? ''strict $.items[*].size ? (@ > 100)'''),
	('SELECT id FROM TBL WHERE doc @> ''{"items": [{"ok": true, "size": 702}]}'''),
	('SELECT id, jsonb_path_query_array(doc, ''$.in.items[*].ref.link'') FROM TBL'),
	('SELECT id, jsonb_array_length(doc->''in''->''items'') FROM TBL'),
	('SELECT id, (doc->''items'')::text, doc - ''in'', doc #- ''{in,items,0}'' FROM TBL WHERE id < 2000 AND jsonb_typeof(doc) = ''object'''),
	('SELECT id, jsonb_strip_nulls(doc) FROM TBL WHERE id > 4000')) v (q);

-- groups that go to disk
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT (twin_query('ja', 'ja_heap', 'SELECT e->''ref''->>''link'', doc->>''kind'', count(*), sum((e->>''price'')::numeric), max(e->>''name'') FROM TBL, jsonb_array_elements(doc->''in''->''items'') e GROUP BY 1, 2')).result;
RESET work_mem;
RESET hash_mem_multiplier;
-- what stands in an array that is none raises the same error, and only where it is looked at
SELECT count(e->>'size') FROM ja, jsonb_array_elements(doc->'items') e WHERE id < 1000;
SELECT count(e->>'size') FROM ja, jsonb_array_elements(doc->'items') e WHERE id BETWEEN 110 AND 200;
SELECT count(e->>'size') FROM ja, jsonb_array_elements(doc->'in'->'items') e WHERE id BETWEEN 110 AND 200;
SELECT sum((e->>'size')::int) FROM ja, jsonb_array_elements(doc->'in'->'items') e;
-- sub-columns alone are read
CREATE FUNCTION ja_decoded(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE line text; found int;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		found := coalesce(found, substring(line FROM 'Decoded: (\d+) kB')::int);
	END LOOP;
	RETURN found;
END $$;
SELECT ja_decoded($$SELECT count(*), sum((e->>'price')::numeric) FROM ja, jsonb_array_elements(doc->'in'->'items') e$$) <
	ja_decoded($$SELECT count(*), count(doc->'in'->'items') FROM ja WHERE (doc->'in'->'items')::text <> ''$$) / 4 AS less;

SELECT * FROM colcompress.verify('ja');

-- changed, deleted and new rows
SELECT twin_do('ja', 'ja_heap', $$UPDATE TBL SET doc = doc || '{"os": "new", "items": [{"size": 0}]}' WHERE id % 50 = 3$$);
SELECT twin_do('ja', 'ja_heap', 'DELETE FROM TBL WHERE id % 60 = 4');
SELECT twin_do('ja', 'ja_heap', 'INSERT INTO TBL SELECT i, ja_doc(i), NULL FROM generate_series(20001, 21000) i');
CALL colcompress.merge('ja');
SELECT count(*), bool_and(ja_same(s.doc, h.doc) AND ja_same(s.arr, h.arr)) AS same_bytes FROM ja s JOIN ja_heap h USING (id);
SELECT q, (twin_query('ja', 'ja_heap', q)).result FROM (VALUES
	('SELECT e->>''size'', count(*) FROM TBL, jsonb_array_elements(doc->''in''->''items'') e GROUP BY 1'),
	('SELECT doc->>''os'', e->''ref''->>''link'', count(*) FROM TBL, jsonb_array_elements(doc->''items'') e WHERE doc ? ''id'' GROUP BY 1, 2')) v (q);
VACUUM FULL ja;
SELECT count(*), bool_and(ja_same(s.doc, h.doc) AND ja_same(s.arr, h.arr)) AS same_bytes FROM ja s JOIN ja_heap h USING (id);
SELECT * FROM colcompress.verify('ja');
SELECT DISTINCT format_version FROM colcompress.row_groups('ja');

-- arrays that do not pay: few distinct ones, of scalars, unlike ones, few; groups without arrays are of the version before
CREATE TABLE ja_few (id int, few jsonb, scalars jsonb, unlike jsonb, sparse jsonb) USING colcompress;
INSERT INTO ja_few SELECT i, ja_array(i % 5, 2), (SELECT jsonb_agg(i * k) FROM generate_series(1, 5) k),
	jsonb_build_array(md5(i::text), jsonb_build_object(md5((i * 2)::text), i)),
	CASE WHEN i % 100 = 0 THEN ja_array(i, 1) END
FROM generate_series(1, 3000) i;
SELECT column_name, encoding FROM colcompress.column_chunks('ja_few') WHERE column_name <> 'id' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT DISTINCT format_version FROM colcompress.row_groups('ja_few');
SELECT count(*), bool_and(ja_same(few, ja_array(id % 5, 2))) AS few, bool_and(sparse IS NULL OR ja_same(sparse, ja_array(id, 1))) AS sparse
FROM ja_few;

-- more elements than a column of them can have: the other arrays are kept whole
CREATE TABLE ja_many (id int, arr jsonb) USING colcompress;
CREATE TABLE ja_long AS SELECT i AS id, jsonb_agg(CASE WHEN k % 20 < 11 THEN jsonb_build_object('k', hashint4(i * 200 + k)) ELSE 'true' END) AS arr
FROM generate_series(1, 6500) i, generate_series(1, 200) k GROUP BY i;
INSERT INTO ja_many SELECT * FROM ja_long ORDER BY id;
SELECT path, kind, encoding, nulls FROM colcompress.document_paths('ja_many') ORDER BY path, kind;
SELECT count(*), bool_and(ja_same(m.arr, l.arr)) AS same_bytes FROM ja_many m JOIN ja_long l USING (id);
SELECT (twin_query('ja_many', 'ja_long', 'SELECT id, count(*), sum((e->>''k'')::int) FROM TBL, jsonb_array_elements(arr) e GROUP BY 1')).result;
SELECT * FROM colcompress.verify('ja_many');
DROP TABLE ja, ja_heap, ja_few, ja_many, ja_long;
DROP FUNCTION ja_decoded, ja_doc, ja_array, ja_element, ja_same;
