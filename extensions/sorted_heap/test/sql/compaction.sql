-- compact() and merge(): rows and indexes stay, order comes back.

CREATE TABLE c (id int, v text) USING sorted_heap;
CREATE INDEX c_id ON c USING zonemap (id);
CREATE UNIQUE INDEX c_btree ON c (id);
CREATE INDEX c_v ON c USING hash (v);
INSERT INTO c SELECT (g * 7919) % 10007, 'v' || g FROM generate_series(1, 10000) g;
INSERT INTO c VALUES (NULL, 'none'), (NULL, (SELECT string_agg(md5(g::text), '') FROM generate_series(1, 500) g));
CREATE TABLE before AS SELECT * FROM c;
CREATE FUNCTION page_changes() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM (SELECT (ctid::text::point)[0] AS block,
			lag((ctid::text::point)[0]) OVER (ORDER BY id) AS last FROM c) q
		WHERE block <> last $$;
SELECT page_changes() > 5000 AS random;

CALL sorted_heap.compact('c', step_rows => 700);
SELECT page_changes() < 100 AS sorted;
SELECT count(*) FROM (TABLE c EXCEPT ALL TABLE before) q;
SELECT count(*) FROM c;
SELECT scans_agree('SELECT * FROM c WHERE id BETWEEN 100 AND 900');
SELECT scans_agree('SELECT * FROM c WHERE v = ''v777''');
SELECT * FROM sorted_heap.zonemap_verify('c_id');
VACUUM c;
SELECT * FROM sorted_heap.zonemap_verify('c_id');
SELECT scans_agree('SELECT * FROM c WHERE id BETWEEN 100 AND 900');

-- nothing to do
CALL sorted_heap.merge('c');
SELECT page_changes() < 100 AS sorted;

-- a part out of order
UPDATE c SET id = -id WHERE id % 10 = 3;
UPDATE c SET id = -id WHERE id < 0;
VACUUM c;
SELECT page_changes() > 1000 AS mixed;
CALL sorted_heap.merge('c');
SELECT page_changes() < 300 AS sorted;
SELECT count(*) FROM (TABLE c EXCEPT ALL TABLE before) q;
VACUUM c;
SELECT * FROM sorted_heap.zonemap_verify('c_id');
SELECT scans_agree('SELECT * FROM c WHERE id BETWEEN 100 AND 900');
CALL sorted_heap.sorted_heap_compact('c');
SELECT count(*) FROM (TABLE c EXCEPT ALL TABLE before) q;

-- refused
BEGIN;
CALL sorted_heap.compact('c');
ROLLBACK;
CALL sorted_heap.compact('before');
CALL sorted_heap.compact('c', 0);
DROP TABLE c, before;
DROP FUNCTION page_changes;

-- statistics; scheduling says what it needs
CREATE TABLE c (id int);
CREATE INDEX c_id ON c USING zonemap (id);
SELECT * FROM sorted_heap.zonemap_stats('c_id');
INSERT INTO c SELECT generate_series(1, 1000);
INSERT INTO c SELECT 500;
SELECT levels, leaf_pages, zones, holes, exact_entries, marks FROM sorted_heap.zonemap_stats('c_id');
SELECT * FROM sorted_heap.zonemap_stats('c');
SELECT * FROM sorted_heap.zonemap_stats('pg_class_oid_index');
SELECT sorted_heap.schedule('c', '* * * * *');
SELECT sorted_heap.unschedule('c');
DROP TABLE c;
