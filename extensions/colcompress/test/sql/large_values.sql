-- Values that stand one by one: what nobody asks for is not read; and the
-- option index_scan.
SET max_parallel_workers_per_gather = 0;
CREATE TABLE lv (id int, kind text, doc jsonb, meta jsonb, body text, bin bytea) USING colcompress;
CREATE TABLE lv_heap (LIKE lv) USING heap;
-- a vector and a bit; meta is shredded, and has a large leaf in some rows
SELECT twin_do('lv', 'lv_heap', $$
	INSERT INTO TBL SELECT i, 'kind ' || i % 7,
		CASE WHEN i % 11 = 0 THEN NULL
			 ELSE jsonb_build_object('n', i, 'title', 'title ' || i % 50, 'body', repeat(md5(i::text), 150 + i % 9)) END,
		CASE WHEN i % 12 = 0 THEN NULL
			 ELSE jsonb_build_object('n', i, 'title', 'title ' || i % 50) ||
				CASE WHEN i % 40 = 3 THEN jsonb_build_object('big', repeat(md5(i::text), 400)) ELSE '{}' END END,
		CASE WHEN i % 13 = 0 THEN NULL WHEN i % 17 = 0 THEN '' ELSE repeat(md5((i + 7)::text), 160) END,
		decode(repeat(md5((i + 9)::text), 300), 'hex')
	FROM generate_series(1, 1500) i$$);
CREATE INDEX ON lv (id);
CREATE INDEX ON lv_heap (id);
VACUUM ANALYZE lv;
ANALYZE lv_heap;
SELECT column_name, encoding FROM colcompress.column_chunks('lv') WHERE attnum >= 3;
SELECT path, kind, encoding FROM colcompress.document_paths('lv') WHERE column_name = 'meta' ORDER BY 1, 2;

-- few rows and many of a vector, conditions on large values, paths of documents
CREATE FUNCTION lv_compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	theirs text;
BEGIN
	EXECUTE format('SELECT md5(string_agg(r::text, ''|'' ORDER BY r::text)) || '' of '' || count(*) FROM (%s) r', replace(query, 'TBL', 'lv')) INTO ours;
	EXECUTE format('SELECT md5(string_agg(r::text, ''|'' ORDER BY r::text)) || '' of '' || count(*) FROM (%s) r', replace(query, 'TBL', 'lv_heap')) INTO theirs;
	RETURN CASE WHEN ours IS DISTINCT FROM theirs THEN 'DIFFERENT: ' || coalesce(ours, '-') || ', not ' || coalesce(theirs, '-') ELSE 'equal, ' || coalesce(split_part(ours, ' of ', 2), '0') END;
END $$;
SELECT query, lv_compare(query) FROM (VALUES
	('SELECT * FROM TBL WHERE id = 500'),
	('SELECT * FROM TBL WHERE id % 100 = 7'),
	('SELECT * FROM TBL WHERE id % 3 = 0'),
	('SELECT id, body FROM TBL WHERE body > ''8'' AND id % 5 = 1'),
	('SELECT id, body, doc FROM TBL WHERE id % 4 = 1 AND (body LIKE ''%ab%'' OR doc ->> ''title'' = ''title 3'')'),
	('SELECT doc ->> ''body'', doc FROM TBL WHERE id BETWEEN 1000 AND 1040'),
	('SELECT id, doc ->> ''n'', doc -> ''title'' FROM TBL WHERE doc @> ''{"title": "title 9"}'''),
	('SELECT id, doc FROM TBL WHERE doc ->> ''title'' = ''title 9'' AND doc ->> ''body'' LIKE ''%00%'''),
	('SELECT doc, doc ->> ''body'' AS b, body FROM TBL WHERE id % 2 = 0 AND doc ->> ''body'' > ''7'''),
	('SELECT CASE WHEN id % 5 = 0 THEN body WHEN id % 5 = 1 THEN doc ->> ''body'' END FROM TBL WHERE id % 3 = 1'),
	('SELECT kind, count(*), max(body), min(length(body)), count(DISTINCT bin) FILTER (WHERE id % 3 = 0), sum(length(doc::text)) FROM TBL WHERE id % 6 < 4 GROUP BY kind'),
	('SELECT id, meta ->> ''big'', meta FROM TBL WHERE id % 2 = 1'),
	('SELECT meta, meta ->> ''big'' AS b FROM TBL WHERE meta ->> ''big'' > ''8'' OR meta ->> ''title'' = ''title 4'''),
	('SELECT meta ->> ''title'', max(meta ->> ''big''), count(meta -> ''big'') FROM TBL WHERE id % 3 < 2 GROUP BY 1'),
	('SELECT meta FROM TBL WHERE meta ? ''big'' AND meta @> ''{"title": "title 3"}'''),
	('SELECT body FROM TBL WHERE body IS NULL OR body = '''''),
	('SELECT body, bin FROM TBL ORDER BY body, id LIMIT 40')) v(query);
DELETE FROM lv WHERE id % 10 = 0;
DELETE FROM lv_heap WHERE id % 10 = 0;
INSERT INTO lv SELECT id + 10000, kind, doc, meta, body, bin FROM lv WHERE id % 300 = 1;
INSERT INTO lv_heap SELECT id + 10000, kind, doc, meta, body, bin FROM lv_heap WHERE id % 300 = 1;
SELECT lv_compare('SELECT * FROM TBL WHERE id % 9 < 4'), lv_compare('SELECT kind, max(body) FROM TBL GROUP BY kind');

-- how much is decoded
CREATE FUNCTION lv_decoded(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Decoded: ' THEN
			RETURN substring(line FROM 'Decoded: (\d+) kB');
		END IF;
	END LOOP;
	RAISE EXCEPTION 'no scan of ours: %', query;
END $$;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT lv_decoded('SELECT kind FROM lv WHERE id % 2 = 0') < 100 AS other_columns,
	lv_decoded('SELECT body FROM lv WHERE id = 1099') < 100 AS one_value,
	lv_decoded('SELECT length(body) FROM lv WHERE id % 100 = 7') < 200 AS few_values,
	lv_decoded('SELECT doc ->> ''body'' FROM lv WHERE id = 1099') < 100 AS one_path,
	lv_decoded('SELECT max(body) FROM lv WHERE id % 100 = 7') < 200 AS aggregated,
	lv_decoded('SELECT body FROM lv WHERE id % 2 = 0 OFFSET 100 LIMIT 2') < 1000 AS not_beyond_limit,
	lv_decoded('SELECT body FROM lv WHERE id % 2 = 0') > 500 AS half;
RESET enable_indexscan;
RESET enable_bitmapscan;

-- option index_scan is a preference of the planner
CREATE TABLE ix (id int, k int, t text) USING colcompress;
CREATE TABLE ix_heap (LIKE ix) USING heap;
SELECT twin_do('ix', 'ix_heap', 'INSERT INTO TBL SELECT i, i % 10, ''text '' || i FROM generate_series(1, 3000) i');
CREATE INDEX ON ix (id);
ANALYZE ix;
EXPLAIN (COSTS OFF) SELECT sum(k) FROM ix WHERE id < 2900;
SELECT colcompress.set_options('ix', index_scan => 'on');
EXPLAIN (COSTS OFF) SELECT sum(k) FROM ix WHERE id < 2900;
EXPLAIN (COSTS OFF) SELECT t FROM ix WHERE id = 5;
-- no condition for an index
EXPLAIN (COSTS OFF) SELECT sum(k) FROM ix WHERE k < 5;
EXPLAIN (COSTS OFF) SELECT sum(k) FROM ix;
SELECT (SELECT sum(k) FROM ix WHERE id < 2900) = (SELECT sum(k) FROM ix_heap WHERE id < 2900) AS same;
ALTER TABLE ix SET (colcompress.index_scan = off);
EXPLAIN (COSTS OFF) SELECT t FROM ix WHERE id = 5;
SELECT t FROM ix WHERE id = 5;
-- where there is no other way
SET colcompress.enable_custom_scan = off;
SET enable_seqscan = off;
SELECT t FROM ix WHERE id = 5;
RESET enable_seqscan;
RESET colcompress.enable_custom_scan;
SELECT colcompress.set_options('ix', index_scan => 'perhaps');
SELECT colcompress.set_options('ix', reset => '{index_scan}');
SELECT value, source FROM colcompress.table_options('ix') WHERE name = 'index_scan';
DROP TABLE lv, lv_heap, ix, ix_heap;
DROP FUNCTION lv_compare, lv_decoded;
