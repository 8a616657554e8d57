-- Index and bitmap scans fetch only the columns that they look at: rows are
-- those of a heap under every plan, whoever looks at them afterwards.
CREATE TABLE xf (id int, grp int, t text, n numeric(12,2), u uuid, j jsonb, a int[], w text, dropped text)
	USING @am@;
CREATE TABLE xf_heap (LIKE xf) USING heap;
SELECT @am@.set_options('xf', row_group_rows => 10240);
SELECT twin_do('xf', 'xf_heap', $$INSERT INTO TBL SELECT i, i % 97, 'text ' || i % 1000, nullif(i % 11, 3) / 4.0,
	md5(i::text)::uuid, jsonb_build_object('k', i % 50, 's', md5((i % 3000)::text)), ARRAY[i % 20, i % 7],
	CASE WHEN i % 5 <> 0 THEN repeat(md5(i::text), i % 9) END, 'x'
	FROM generate_series(1, 24000) i$$);
SELECT twin_do('xf', 'xf_heap', $$UPDATE TBL SET t = 'new', n = 7 WHERE id % 1000 = 5$$);
SELECT twin_do('xf', 'xf_heap', $$DELETE FROM TBL WHERE id % 1000 = 6$$);
ALTER TABLE xf DROP COLUMN dropped;
ALTER TABLE xf_heap DROP COLUMN dropped;
ALTER TABLE xf ADD COLUMN later text DEFAULT 'added';
ALTER TABLE xf_heap ADD COLUMN later text DEFAULT 'added';
SELECT twin_do('xf', 'xf_heap', $$INSERT INTO TBL (id, grp, t, later) SELECT i, i % 97, 'delta', 'own' FROM generate_series(24001, 24100) i$$);
CREATE UNIQUE INDEX ON xf (id);
CREATE INDEX ON xf (grp);
CREATE INDEX ON xf USING hash (t);
CREATE INDEX ON xf USING gin (j jsonb_path_ops);
CREATE INDEX ON xf USING gin (a);
CREATE UNIQUE INDEX ON xf_heap (id);
CREATE INDEX ON xf_heap (grp);
ANALYZE xf;
ANALYZE xf_heap;

-- Rows of a query that ours and heap do not share; the plan's scans of ours.
CREATE FUNCTION xf_same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	m bigint;
	line text;
	scans text[];
BEGIN
	EXECUTE format('SELECT count(*) FROM ((SELECT q::text FROM (%1$s) q EXCEPT ALL SELECT q::text FROM (%2$s) q)
		UNION ALL (SELECT q::text FROM (%2$s) q EXCEPT ALL SELECT q::text FROM (%1$s) q)) d',
		replace(query, 'TBL', 'xf'), replace(query, 'TBL', 'xf_heap')) INTO n;
	EXECUTE format('SELECT count(*) FROM (%s) q', replace(query, 'TBL', 'xf')) INTO m;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(query, 'TBL', 'xf') LOOP
		IF line ~ 'Scan.* on xf( |$)' THEN
			scans := scans || regexp_replace(line, '^[ >-]*(.*?)( using \S+)? on .*$', '\1');
		END IF;
	END LOOP;
	RETURN format('%s rows, %s differ: %s', m, n, (SELECT string_agg(DISTINCT s, ', ') FROM unnest(scans) s));
END $$;

SET enable_seqscan = off;
SET max_parallel_workers_per_gather = 0;
SET enable_bitmapscan = off;
SELECT xf_same('SELECT * FROM TBL WHERE id BETWEEN 10200 AND 10300');
SELECT xf_same('SELECT id FROM TBL WHERE grp = 5 AND n > 1');
SELECT xf_same('SELECT n, w FROM TBL WHERE grp = 5');
SELECT xf_same('SELECT count(*), sum(n), max(w), min(later) FROM TBL WHERE grp IN (5, 6, 7)');
SELECT xf_same('SELECT j, a, u FROM TBL WHERE id IN (1, 5, 6, 10240, 10241, 24000, 24050)');
SELECT xf_same('SELECT TBL FROM TBL WHERE grp = 5');
SELECT xf_same('SELECT row_to_json(TBL), tableoid::regclass = ''TBL''::regclass FROM TBL WHERE grp = 5');
SELECT xf_same('SELECT id, cmin IS NOT NULL AS has_cmin, t FROM TBL WHERE id < 100');
SELECT xf_same('SELECT id, t, w FROM TBL WHERE t = ''text 77''');
SELECT xf_same('SELECT id FROM TBL WHERE id > 23900 ORDER BY id');
SELECT xf_same('SELECT count(*) FROM TBL WHERE id < 24090');
SELECT xf_same('SELECT min(id), max(id) FROM TBL');
SELECT xf_same('SELECT w, w || later AS both_of FROM TBL WHERE id BETWEEN 100 AND 200 AND length(w) > 40');

-- several scans share a group's reader
SET @am@.enable_vector_join = off;
SELECT xf_same('SELECT x.id, x.w, y.w AS yw, x.n, y.n AS yn FROM TBL x JOIN TBL y ON y.id = x.id + 7 WHERE x.grp = 8');
SET enable_nestloop = off;
SET enable_hashjoin = off;
SELECT xf_same('SELECT x.w, y.w AS yw, x.u, y.j FROM TBL x JOIN TBL y ON y.id = x.id WHERE x.id BETWEEN 9000 AND 11000');
RESET enable_nestloop;
RESET enable_hashjoin;
RESET @am@.enable_vector_join;
SELECT xf_same('SELECT g, (SELECT max(w) FROM TBL WHERE grp = g) FROM generate_series(1, 20) g');
SELECT xf_same('SELECT g, x.* FROM generate_series(1, 20) g, LATERAL (SELECT t, w, n FROM TBL WHERE grp = g ORDER BY id DESC LIMIT 3) x');
RESET enable_bitmapscan;

-- bitmaps: exact, rechecked, lossy
SET enable_indexscan = off;
SET @am@.enable_custom_scan = off;
SELECT xf_same('SELECT n, w FROM TBL WHERE grp IN (5, 50)');
SELECT xf_same('SELECT count(*) FROM TBL WHERE grp IN (5, 50)');
SELECT xf_same('SELECT id, t FROM TBL WHERE j @> ''{"k": 7}''');
SELECT xf_same('SELECT id FROM TBL WHERE a @> ''{19}'' AND grp < 40');
SELECT xf_same('SELECT w FROM TBL WHERE grp = 5 OR id < 50');
SET work_mem = '64kB';
SELECT xf_same('SELECT sum(n), count(w) FROM TBL WHERE grp > 3');
RESET work_mem;
RESET enable_indexscan;

-- rows that outlive their scan's step
CREATE TABLE xf_copy AS SELECT * FROM xf WHERE grp < 50;
SELECT count(*) FROM (TABLE xf_copy EXCEPT ALL SELECT * FROM xf_heap WHERE grp < 50) d;
DROP TABLE xf_copy;
BEGIN;
SET LOCAL enable_bitmapscan = off;
DECLARE c SCROLL CURSOR FOR SELECT id, left(w, 8) AS w FROM xf WHERE id BETWEEN 10238 AND 10243;
FETCH 4 FROM c;
FETCH BACKWARD 2 FROM c;
UPDATE xf SET w = 'current' WHERE CURRENT OF c;
UPDATE xf_heap SET w = 'current' WHERE id = 10239;
CLOSE c;
SELECT id, w, t FROM xf WHERE id = 10239;
SELECT id, left(w, 8) AS w FROM xf WHERE grp = 5 AND id < 300 FOR UPDATE;
SELECT twin_do('xf', 'xf_heap', $$UPDATE TBL SET n = n + 1 WHERE id BETWEEN 20000 AND 20100$$);
SELECT twin_do('xf', 'xf_heap', $$DELETE FROM TBL WHERE grp = 9$$);
SELECT twin_do('xf', 'xf_heap', $$INSERT INTO TBL (id, t) VALUES (30, 'again') ON CONFLICT (id) DO UPDATE SET t = excluded.t || TBL.w$$);
SELECT twin_do('xf', 'xf_heap', $$MERGE INTO TBL USING (VALUES (31), (32), (90000)) v (i) ON id = i
	WHEN MATCHED THEN UPDATE SET w = 'merged' WHEN NOT MATCHED THEN INSERT (id) VALUES (i)$$);
ROLLBACK;
SELECT twin_diff('xf', 'xf_heap');

-- a plan that is kept, over a column that comes and goes
PREPARE xf_plan AS SELECT * FROM xf WHERE id = 12345;
EXECUTE xf_plan;
ALTER TABLE xf ADD COLUMN extra int DEFAULT 5;
EXECUTE xf_plan;
ALTER TABLE xf DROP COLUMN extra;
EXECUTE xf_plan;
DEALLOCATE xf_plan;

-- The planner takes an index where it would for a heap.
RESET enable_seqscan;
RESET @am@.enable_custom_scan;
EXPLAIN (COSTS OFF) SELECT id, t FROM xf WHERE id = 5000;
EXPLAIN (COSTS OFF) SELECT count(*), sum(n) FROM xf WHERE id IN (10, 5000, 10000, 20000);
DROP TABLE xf, xf_heap;
DROP FUNCTION xf_same;
