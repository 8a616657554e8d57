-- Table access method sorted_heap: heap, with rows where their keys belong.

CREATE TABLE s (id bigint, v text) USING sorted_heap WITH (fillfactor = 60);
CREATE INDEX s_id ON s USING zonemap (id);
INSERT INTO s SELECT g * 2, repeat('x', 50) FROM generate_series(1, 5000) g;
VACUUM s;

-- Rows go to the page of their neighbours (room is there after a delete); in
-- a heap they would fill pages from the first on.
DELETE FROM s WHERE id % 4 = 0;
VACUUM s;
CREATE FUNCTION far_rows() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM (SELECT (ctid::text::point)[0] AS block,
			lag((ctid::text::point)[0]) OVER (ORDER BY id) AS before FROM s) q
		WHERE abs(block - before) > 1 $$;
SELECT far_rows();
INSERT INTO s SELECT g * 20 + 1, repeat('y', 50) FROM generate_series(400, 1, -1) g;
SELECT far_rows();
SELECT * FROM sorted_heap.zonemap_verify('s_id');
SELECT scans_agree('SELECT * FROM s WHERE id BETWEEN 100 AND 500');

-- a batch of COPY is sorted
CREATE TABLE sc (id int) USING sorted_heap;
CREATE INDEX sc_id ON sc USING zonemap (id);
COPY sc FROM stdin;
3
1
\N
2
\.
SELECT * FROM sc ORDER BY ctid;
DROP TABLE sc;

-- VACUUM FULL puts all in order, CLUSTER too
INSERT INTO s SELECT (g * 7919) % 10007, 'late' FROM generate_series(1, 9000) g;
SELECT far_rows() > 0 AS far;
VACUUM FULL s;
SELECT far_rows();
SELECT * FROM sorted_heap.zonemap_verify('s_id');
CLUSTER s USING s_id;
SELECT far_rows();

-- the rest is heap's
CREATE INDEX s_btree ON s (id);
CREATE INDEX CONCURRENTLY s_both ON s (id, v);
CREATE INDEX s_brin ON s USING brin (id);
CREATE INDEX s_hash ON s USING hash (id);
CREATE INDEX s_gin ON s USING gin (to_tsvector('simple', v));
SELECT scans_agree('SELECT * FROM s WHERE id BETWEEN 100 AND 200');
UPDATE s SET v = 'new' WHERE id % 10 = 3;
DELETE FROM s WHERE id % 10 = 4;
SELECT scans_agree('SELECT * FROM s WHERE id < 1000');
REINDEX TABLE s;
REINDEX TABLE CONCURRENTLY s;
SELECT * FROM sorted_heap.zonemap_verify('s_id');
DROP INDEX s_both;
INSERT INTO s VALUES (1000000, (SELECT string_agg(md5(g::text), '') FROM generate_series(1, 2000) g));
SELECT id, length(v) FROM s WHERE id = 1000000;
SELECT t.relname = 'pg_toast_' || s.oid AS named, a.amname FROM pg_class s JOIN pg_class t ON t.oid = s.reltoastrelid
	JOIN pg_am a ON a.oid = t.relam WHERE s.relname = 's';
CREATE TABLE sp (id int PRIMARY KEY, t text) USING sorted_heap;
CREATE TABLE sf (id int REFERENCES sp) USING sorted_heap;
INSERT INTO sp VALUES (1, 'one');
INSERT INTO sp VALUES (1, 'uno') ON CONFLICT (id) DO UPDATE SET t = EXCLUDED.t;
INSERT INTO sf VALUES (1);
INSERT INTO sf VALUES (2);
TABLE sp;
ALTER TABLE sp ALTER id TYPE bigint;
ALTER TABLE s SET ACCESS METHOD heap;
SELECT scans_agree('SELECT * FROM s WHERE id < 1000');
ALTER TABLE s SET ACCESS METHOD sorted_heap;
SELECT scans_agree('SELECT * FROM s WHERE id < 1000');
DROP TABLE s, sp, sf;
DROP FUNCTION far_rows;
