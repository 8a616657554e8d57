-- jsonb in sub-columns: every document comes back as the same bytes, whatever
-- its shape, in scans, by index, and after other rows came and went.

CREATE FUNCTION sh_same(jsonb, jsonb) RETURNS bool LANGUAGE sql IMMUTABLE
AS 'SELECT record_image_eq(ROW($1), ROW($2))';

-- Documents of one shape, of optional and changing keys, of changing types.
CREATE FUNCTION sh_doc(i int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
SELECT CASE
	WHEN i % 97 = 0 THEN NULL
	WHEN i % 101 = 0 THEN (ARRAY['{}', '[]', '1', '"text"', 'null', 'true', '[1, {"a": 2}]',
		'{"": {"": ""}}', '-0.00', '1e100', '{"price": 1e-100}'])[i / 101 % 11 + 1]::jsonb
	ELSE jsonb_build_object(
			'os', (ARRAY['android', 'ios', 'windows', 'ü'])[i % 4 + 1],
			'price', (ARRAY[i / 100.0, i, -i / 8.0, 0])[i % 4 + 1],
			'amount', round(i * 1.37, 2),
			'flag', i % 3 = 0,
			'gone', NULL::text,
			'mixed', CASE i % 5 WHEN 0 THEN to_jsonb(i) WHEN 1 THEN to_jsonb(i::text)
				WHEN 2 THEN 'null' WHEN 3 THEN jsonb_build_array(i, 'x', NULL, jsonb_build_object('k', i)) ELSE '{}' END,
			'user', jsonb_build_object('id', i % 1000, 'name', 'user ' || i % 50,
				'address', jsonb_build_object('city', (ARRAY['Oslo', 'Rome'])[i % 2 + 1], 'zip', lpad((i % 90)::text, 5, '0'))))
		|| CASE WHEN i % 3 = 0 THEN jsonb_build_object('campaign', 'c' || i % 10) ELSE '{}' END
		|| CASE WHEN i % 7 = 0 THEN jsonb_build_object('rare_' || i, i, 'user',
			jsonb_build_object('id', i, 'nick', repeat('n', i % 9), 'address', jsonb_build_object('x', 1))) ELSE '{}' END
		|| CASE WHEN i % 11 = 0 THEN jsonb_build_object('wide', (SELECT jsonb_object_agg('k' || k, k * i) FROM generate_series(1, 40) k)) ELSE '{}' END
		|| CASE WHEN i % 13 = 0 THEN jsonb_build_object('counts', (SELECT jsonb_object_agg(md5((i * k)::text), k) FROM generate_series(1, 4) k)) ELSE '{}' END
		|| CASE WHEN i % 17 = 0 THEN jsonb_build_object('user', i, 'deep',
			'{"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": {"j": 1}}}}}}}}}}'::jsonb) ELSE '{}' END
		|| CASE WHEN i % 19 = 0 THEN jsonb_build_object(repeat('key', 100), repeat('long ', i % 100), 'price', 1e60 + i) ELSE '{}' END
	END $$;

CREATE TABLE sh_heap (id int, doc jsonb, doc2 jsonb) USING heap;
INSERT INTO sh_heap SELECT i, sh_doc(i), jsonb_build_object('n', i, 's', md5(i::text)) FROM generate_series(1, 8000) i;
CREATE TABLE sh (LIKE sh_heap) USING colcompress;
SELECT colcompress.set_options('sh', row_group_rows => 4096);
INSERT INTO sh SELECT * FROM sh_heap;

SELECT column_name, encoding, count(*) > 1 AS several FROM colcompress.column_chunks('sh')
WHERE column_name LIKE 'doc%' GROUP BY 1, 2 ORDER BY 1, 2;

SELECT path, kind, sum(nulls) AS nulls FROM colcompress.document_paths('sh') WHERE column_name = 'doc2' GROUP BY 1, 2 ORDER BY 1;
SELECT count(*) > 20 AS many, count(*) FILTER (WHERE path IS NULL) = count(DISTINCT row_group) AS residues,
	bool_and(encoded_bytes > 0 OR encoding = 'nulls') AS sizes, array_agg(DISTINCT kind) AS kinds
FROM colcompress.document_paths('sh') WHERE column_name = 'doc';
CREATE ROLE sh_other;
GRANT SELECT (id, doc2) ON sh TO sh_other;
SET ROLE sh_other;
SELECT DISTINCT column_name FROM colcompress.document_paths('sh');
RESET ROLE;
REVOKE ALL ON sh FROM sh_other;
DROP ROLE sh_other;

-- the same bytes, in order
SELECT count(*), count(s.doc), bool_and(sh_same(s.doc, h.doc) AND sh_same(s.doc2, h.doc2)) AS same_bytes,
	bool_and(s.doc::text IS NOT DISTINCT FROM h.doc::text) AS same_text,
	bool_and(jsonb_send(s.doc2) = jsonb_send(h.doc2)) AS same_binary
FROM sh s JOIN sh_heap h USING (id);
SELECT twin_diff('sh', 'sh_heap');

-- single documents, by index: few of a vector, and then many
CREATE UNIQUE INDEX sh_id ON sh (id);
SET enable_seqscan = off;
SET colcompress.enable_custom_scan = off;
SELECT count(*), bool_and(sh_same((SELECT s.doc FROM sh s WHERE s.id = h.id), h.doc)) AS same_bytes
FROM sh_heap h WHERE h.id % 401 = 0;
SELECT count(*), bool_and(sh_same((SELECT s.doc FROM sh s WHERE s.id = h.id), h.doc)) AS same_bytes
FROM sh_heap h WHERE h.id < 1500;
RESET enable_seqscan;
RESET colcompress.enable_custom_scan;
-- few rows of a vector, in a scan
SELECT count(*), bool_and(sh_same(s.doc, h.doc)) AS same_bytes
FROM sh s JOIN sh_heap h USING (id) WHERE s.id % 211 = 7;

SELECT * FROM colcompress.verify('sh');

-- changed, deleted and new rows
SELECT twin_do('sh', 'sh_heap', $$UPDATE TBL SET doc = doc || '{"os": "new", "added": [1, 2]}' WHERE id % 50 = 3$$);
SELECT twin_do('sh', 'sh_heap', 'DELETE FROM TBL WHERE id % 60 = 4');
SELECT twin_do('sh', 'sh_heap', 'INSERT INTO TBL SELECT i, sh_doc(i), NULL FROM generate_series(20001, 23000) i');
VACUUM FULL sh;
SELECT count(*), bool_and(sh_same(s.doc, h.doc) AND sh_same(s.doc2, h.doc2)) AS same_bytes FROM sh s JOIN sh_heap h USING (id);
SELECT * FROM colcompress.verify('sh');

-- documents that do not pay: few distinct ones, unlike ones, few, large ones
CREATE TABLE sh_few (id int, few jsonb, unlike jsonb, large jsonb) USING colcompress;
INSERT INTO sh_few SELECT i, sh_doc(i % 5),
	(SELECT jsonb_object_agg(md5((i * k)::text), k) FROM generate_series(1, 3) k),
	CASE WHEN i % 100 = 0 THEN jsonb_build_object('i', i, 'text', repeat(md5(i::text), 2000)) END
FROM generate_series(1, 3000) i;
SELECT column_name, encoding FROM colcompress.column_chunks('sh_few') WHERE column_name <> 'id' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(*), count(large), bool_and(sh_same(few, sh_doc(id % 5))) AS few,
	bool_and(unlike = (SELECT jsonb_object_agg(md5((id * k)::text), k) FROM generate_series(1, 3) k)) AS unlike,
	bool_and(large IS NULL OR large ->> 'text' = repeat(md5(id::text), 2000)) AS large
FROM sh_few;

-- a domain over jsonb, a column of nulls but a few, all leaves missing in some vectors
CREATE DOMAIN sh_domain AS jsonb CHECK (value IS NULL OR jsonb_typeof(value) = 'object');
CREATE TABLE sh_sparse (id int, d sh_domain) USING colcompress;
INSERT INTO sh_sparse SELECT i, CASE WHEN i / 1024 IN (1, 3) OR i % 500 = 0 THEN
	jsonb_build_object('a', i, 'b', jsonb_build_object('c', i % 7 = 0, 'd', 'x' || i)) END FROM generate_series(1, 8000) i;
SELECT encoding, nulls > 0 AS nulls FROM colcompress.column_chunks('sh_sparse') WHERE column_name = 'd';
SELECT count(*), count(d), sum((d ->> 'a')::int - id), count(*) FILTER (WHERE d #>> '{b,d}' = 'x' || id) AS strings,
	count(*) FILTER (WHERE (d #> '{b,c}')::bool = (id % 7 = 0)) AS bools
FROM sh_sparse;
SELECT * FROM colcompress.verify('sh_sparse');
DROP TABLE sh, sh_heap, sh_few, sh_sparse;
DROP DOMAIN sh_domain;
DROP FUNCTION sh_doc, sh_same;
