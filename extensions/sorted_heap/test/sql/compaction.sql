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

-- CLUSTER and VACUUM FULL by a sort, in any order a zonemap may have
CREATE TABLE c (id int, k text COLLATE "C", v text) USING sorted_heap;
CREATE INDEX c_k ON c USING zonemap (k DESC NULLS LAST, id);
INSERT INTO c SELECT (g * 7919) % 10007, CASE WHEN g % 11 > 0 THEN md5((g % 500)::text) END, repeat('x', 100)
	FROM generate_series(1, 5000) g;
CREATE FUNCTION out_of_order() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM (SELECT id, k, lag(id) OVER (ORDER BY ctid) AS last_id,
			lag(k) OVER (ORDER BY ctid) AS last_k FROM c) q
		WHERE last_id IS NOT NULL AND (last_k < k OR (last_k IS NULL AND k IS NOT NULL)
			OR (last_k IS NOT DISTINCT FROM k AND last_id > id)) $$;
SELECT out_of_order() > 1000 AS mixed;
SET enable_indexscan = off;
VACUUM FULL c;
SELECT out_of_order();
UPDATE c SET id = -id WHERE id % 3 = 0;
CLUSTER c USING c_k;
SELECT out_of_order();
RESET enable_indexscan;
SELECT * FROM sorted_heap.zonemap_verify('c_k');
SELECT scans_agree('SELECT * FROM c WHERE k > ''a'' AND id < 100');
DROP TABLE c;
DROP FUNCTION out_of_order;

-- rows with values out of line, locked before, or locked now; other indexes
CREATE TABLE c (id int, v text, big text) USING sorted_heap;
ALTER TABLE c ALTER big SET STORAGE EXTERNAL;
CREATE INDEX c_id ON c USING zonemap (id);
CREATE INDEX c_even ON c (v) WHERE id % 2 = 0;
CREATE INDEX c_length ON c (length(big));
INSERT INTO c SELECT (g * 7919) % 1009, 'v' || g, CASE WHEN g % 20 = 0 THEN repeat('b' || g, 1000) END
	FROM generate_series(1, 1000) g;
VACUUM c;
BEGIN;
SELECT count(*) FROM (SELECT FROM c WHERE id % 7 = 0 FOR UPDATE) q;
COMMIT;
BEGIN;
UPDATE c SET v = 'gone' WHERE id % 13 = 0;
ROLLBACK;
CREATE TABLE before AS SELECT * FROM c;
CALL sorted_heap.compact('c', step_rows => 130);
SELECT count(*) FROM (TABLE c EXCEPT ALL TABLE before) q;
SELECT count(*), count(big) FROM c;
SELECT scans_agree('SELECT * FROM c WHERE id BETWEEN 100 AND 900');
SELECT scans_agree('SELECT * FROM c WHERE v LIKE ''v7%'' AND id % 2 = 0');
SELECT scans_agree('SELECT id, length(big) FROM c WHERE length(big) > 3000');
SELECT * FROM sorted_heap.zonemap_verify('c_id');
VACUUM c;
SELECT * FROM sorted_heap.zonemap_verify('c_id');
SELECT count(*) FROM (TABLE c EXCEPT ALL TABLE before) q;
DROP TABLE c, before;

-- Each page shares its last key with the next one: VACUUM has to end the zones
-- that it makes of two entries each, and a leaf has no room for that.
CREATE TABLE shared_keys (k int, pad text) USING sorted_heap;
ALTER TABLE shared_keys ALTER pad SET STORAGE plain;
INSERT INTO shared_keys SELECT (g + 1) / 2, repeat('x', 1880) FROM generate_series(0, 3999) g;
CREATE INDEX shared_keys_k ON shared_keys USING zonemap (k);
CALL sorted_heap.compact('shared_keys');
VACUUM shared_keys;
SELECT * FROM sorted_heap.zonemap_verify('shared_keys_k');
SET enable_seqscan = off;
SELECT count(*), sum(k) FROM shared_keys WHERE k BETWEEN 0 AND 5000;
RESET enable_seqscan;
-- not in a transaction that must not write
SET default_transaction_read_only = on;
CALL sorted_heap.compact('shared_keys');
RESET default_transaction_read_only;
DROP TABLE shared_keys;
