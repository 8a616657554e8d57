-- Row groups whose pages are not contiguous: compaction writes one into several
-- free extents where none is large enough.
CREATE TABLE rn (id int PRIMARY KEY, k int, v text) USING @am@;
CREATE TABLE rn_heap (LIKE rn INCLUDING INDEXES);
SELECT @am@.set_options('rn', row_group_rows => 2000);
CREATE FUNCTION noise(i int) RETURNS text LANGUAGE sql IMMUTABLE
AS 'SELECT string_agg(md5(i || '' '' || n), '''' ORDER BY n) FROM generate_series(1, 5) n';
SELECT reltoastrelid::regclass AS toast FROM pg_class WHERE oid = 'rn'::regclass \gset

-- groups of 2000 rows; every other one dies, and leaves its extent
INSERT INTO rn_heap SELECT i, i % 7, noise(i) FROM generate_series(1, 9000) i;
INSERT INTO rn SELECT * FROM rn_heap;
SELECT array_agg(rows ORDER BY first_row) FROM @am@.row_groups('rn');
SELECT twin_do('rn', 'rn_heap', 'DELETE FROM TBL WHERE id > 1000 AND (id - 1001) / 2000 % 2 = 0');
VACUUM rn;
SELECT count(*), min(pages) AS pages FROM @am@.row_groups('rn') \gset one_
SELECT :one_count AS row_groups;

-- a larger group, of rows of the delta, goes into them
SELECT @am@.set_options('rn', row_group_rows => 4000);
INSERT INTO rn_heap SELECT i, i % 7, noise(i) FROM generate_series(20000, 22699) i;
INSERT INTO rn SELECT * FROM rn_heap WHERE id BETWEEN 20000 AND 20899;
INSERT INTO rn SELECT * FROM rn_heap WHERE id BETWEEN 20900 AND 21799;
INSERT INTO rn SELECT * FROM rn_heap WHERE id BETWEEN 21800 AND 22699;
SELECT pg_relation_size('rn') AS size \gset
CALL @am@.merge('rn');
SELECT rows, deleted_rows, pages > 1.5 * :one_pages AS large FROM @am@.row_groups('rn') ORDER BY first_row;
SELECT pg_relation_size('rn') <= :size AS not_grown_by_it;
-- descriptors with a list of runs: how many of them
SELECT get_byte(chunk_data, 64) BETWEEN 2 AND 8 AS runs FROM :toast
WHERE chunk_id = 1000 AND length(chunk_data) > 64;

-- it is read by scans and by indexes, and its rows are changed
SELECT twin_diff('rn', 'rn_heap');
SET enable_seqscan = off;
SELECT count(*), count(v = noise(id) OR NULL) AS intact FROM rn WHERE id BETWEEN 20000 AND 21000;
SELECT count(*), min(left(v, 8)) FROM rn WHERE id IN (20000, 21234, 21999, 22321, 22699);
RESET enable_seqscan;
SELECT count(*) FROM rn WHERE k = 3;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, left(v, 8) FROM rn WHERE id > 20000 AND id % 1000 = 0;
FETCH ALL FROM c;
FETCH BACKWARD ALL FROM c;
COMMIT;
SELECT twin_do('rn', 'rn_heap', 'UPDATE TBL SET v = ''updated'' WHERE id % 10 = 3');
SELECT twin_do('rn', 'rn_heap', 'DELETE FROM TBL WHERE id % 10 = 4');
SELECT row_group, column_name, problem FROM @am@.verify('rn');

-- and it makes room in its turn
CALL @am@.merge('rn');
VACUUM rn;
CALL @am@.merge('rn');
VACUUM rn;
SELECT twin_diff('rn', 'rn_heap');
SELECT row_group, column_name, problem FROM @am@.verify('rn');
-- nothing is left of any run
SELECT twin_do('rn', 'rn_heap', 'DELETE FROM TBL');
VACUUM rn;
SELECT pg_relation_size('rn') / 8192 AS pages;
DROP TABLE rn, rn_heap;
DROP FUNCTION noise(int);
