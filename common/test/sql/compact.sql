-- compact() and merge(): what they move, when they do nothing, and that the
-- table and every index say the same before and after.
SET client_min_messages = warning;
CREATE TABLE cm (id int PRIMARY KEY, k int, v text, big text) USING @am@;
CREATE INDEX cm_k ON cm (k);
CREATE INDEX cm_expr ON cm (upper(v)) WHERE k < 50;
CREATE INDEX cm_gin ON cm USING gin (string_to_array(v, ' '));
CREATE TABLE cm_heap (LIKE cm);
CREATE VIEW cm_state AS
SELECT count(*) AS row_groups, coalesce(sum(rows), 0) AS in_groups, coalesce(sum(deleted_rows), 0) AS deleted
FROM @am@.row_groups('cm');

-- as the heap twin, also through each index; 0 rows: equal
CREATE FUNCTION cm_differs() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint; m bigint;
BEGIN
	SELECT count(*) INTO n FROM ((TABLE cm EXCEPT ALL TABLE cm_heap) UNION ALL (TABLE cm_heap EXCEPT ALL TABLE cm)) d;
	SET LOCAL enable_seqscan = off;
	SET LOCAL @am@.enable_custom_scan = off;
	SELECT count(*) INTO m FROM cm_heap h WHERE NOT EXISTS (SELECT FROM cm WHERE cm.id = h.id AND cm.v IS NOT DISTINCT FROM h.v);
	n := n + m;
	SELECT abs((SELECT count(*) FROM cm WHERE k BETWEEN 10 AND 30) - (SELECT count(*) FROM cm_heap WHERE k BETWEEN 10 AND 30)) INTO m;
	n := n + m;
	SELECT abs((SELECT count(*) FROM cm WHERE upper(v) = 'ROW 7' AND k < 50) - (SELECT count(*) FROM cm_heap WHERE upper(v) = 'ROW 7' AND k < 50)) INTO m;
	n := n + m;
	SELECT abs((SELECT count(*) FROM cm WHERE string_to_array(v, ' ') @> '{7}') - (SELECT count(*) FROM cm_heap WHERE string_to_array(v, ' ') @> '{7}')) INTO m;
	RETURN n + m;
END $$;
CREATE PROCEDURE cm_both(VARIADIC statements text[]) LANGUAGE plpgsql AS $$
DECLARE s text;
BEGIN
	FOREACH s IN ARRAY statements LOOP
		EXECUTE s;
		EXECUTE regexp_replace(s, '\mcm\M', 'cm_heap', 'g');
	END LOOP;
END $$;

-- few rows of the delta: compact() leaves them there, merge() does not
CALL cm_both('INSERT INTO cm SELECT i, i % 100, ''row '' || i % 20, repeat(''x'', 3000 * (i % 7 = 0)::int) FROM generate_series(1, 900) i');
CALL @am@.compact('cm');
TABLE cm_state;
CALL @am@.merge('cm');
TABLE cm_state;
SELECT cm_differs();

-- more of them
CALL cm_both('INSERT INTO cm SELECT i, i % 100, ''row '' || i % 20, NULL FROM generate_series(901, 1800) i',
	'INSERT INTO cm SELECT i, i % 100, NULL, NULL FROM generate_series(1801, 2700) i');
CALL @am@.compact('cm');
TABLE cm_state;
SELECT cm_differs();

-- nothing to do
CALL @am@.compact('cm');
CALL @am@.merge('cm');
TABLE cm_state;

-- deleted and updated rows: a group is rewritten when a tenth of it is gone
CALL cm_both('UPDATE cm SET v = v || '' new'' WHERE id % 50 = 0', 'DELETE FROM cm WHERE id % 40 = 1');
TABLE cm_state;
CALL @am@.compact('cm');
TABLE cm_state;
CALL cm_both('DELETE FROM cm WHERE id % 9 = 0');
CALL @am@.compact('cm');
TABLE cm_state;
SELECT cm_differs();
CALL @am@.merge('cm');
TABLE cm_state;
SELECT cm_differs();
SELECT row_group, column_name, problem FROM @am@.verify('cm');

-- unique keys hold, at the new place as at the old one
INSERT INTO cm VALUES (7, 0, 'dup', NULL);
INSERT INTO cm VALUES (7, 0, 'dup', NULL) ON CONFLICT (id) DO UPDATE SET v = 'merged' RETURNING id, v;
UPDATE cm_heap SET v = 'merged' WHERE id = 7;
CALL @am@.merge('cm');
SELECT cm_differs();

-- columns that came and went
ALTER TABLE cm DROP COLUMN big, ADD COLUMN n int DEFAULT 5;
ALTER TABLE cm_heap DROP COLUMN big, ADD COLUMN n int DEFAULT 5;
DELETE FROM cm WHERE id < 1000;
DELETE FROM cm_heap WHERE id < 1000;
CALL @am@.merge('cm');
SELECT cm_differs();

-- row locks of others, or deferred and exclusion constraints, are no obstacle
CREATE TABLE cm_x (id int, r int4range, UNIQUE (id) DEFERRABLE INITIALLY DEFERRED,
	EXCLUDE USING gist (r WITH &&)) USING @am@;
INSERT INTO cm_x SELECT i, int4range(i * 10, i * 10 + 9) FROM generate_series(1, 500) i;
CALL @am@.merge('cm_x');
SELECT sum(rows) FROM @am@.row_groups('cm_x');
INSERT INTO cm_x VALUES (501, '[100,101)');
BEGIN;
UPDATE cm_x SET id = id + 1;
COMMIT;
CALL @am@.merge('cm_x');
SELECT count(*), min(id), max(id) FROM cm_x;
INSERT INTO cm_x VALUES (300, 'empty');

-- rows in order of the option orderby
CREATE TABLE cm_o (id int, k int) USING @am@;
SELECT @am@.set_options('cm_o', orderby => 'k DESC, id');
INSERT INTO cm_o SELECT i, i * 7919 % 1000 FROM generate_series(1, 900) i;
CALL @am@.merge('cm_o');
SELECT count(*) FROM (SELECT k, id, lead(k) OVER (ORDER BY ctid) k2, lead(id) OVER (ORDER BY ctid) id2 FROM cm_o) s WHERE k2 > k OR (k2 = k AND id2 < id);


-- of the whole table, step by step; one that was loaded in order is left alone
CREATE TABLE cm_s (id int, k int, v text) USING @am@;
SELECT @am@.set_options('cm_s', orderby => 'k, v DESC', row_group_rows => 2000);
INSERT INTO cm_s SELECT i, i * 7919 % 1000, md5(i::text) FROM generate_series(1, 20000) i;
-- neighbours out of order: within a row group, or because groups overlap
CREATE FUNCTION cm_inversions() RETURNS bigint LANGUAGE sql AS $$
WITH numbered AS (SELECT k, v, (p[0] - 2147483648) * 291 + p[1] - 1 AS row FROM cm_s, CAST(CAST(ctid AS text) AS point) p),
grouped AS (SELECT k, v, row, first_value(k) OVER w AS first_k, first_value(v) OVER w AS first_v
	FROM numbered LEFT JOIN @am@.row_groups('cm_s') g ON row >= first_row AND row < first_row + rows
	WINDOW w AS (PARTITION BY row_group ORDER BY row))
SELECT count(*) FROM (SELECT k, v, lead(k) OVER w k2, lead(v) OVER w v2 FROM grouped WINDOW w AS (ORDER BY first_k, first_v DESC, row)) s
WHERE k2 < k OR (k2 = k AND v2 > v) $$;
SELECT cm_inversions() > 0 AS unordered;
CALL @am@.compact('cm_s', 1);
SELECT cm_inversions() > 0 AS unordered, count(*), count(DISTINCT id), sum(k) FROM cm_s;
CALL @am@.merge('cm_s');
SELECT cm_inversions(), count(*), count(DISTINCT id), sum(k) FROM cm_s;
INSERT INTO cm_s SELECT i, i * 7919 % 1000, md5(i::text) FROM generate_series(20001, 22500) i;
CALL @am@.merge('cm_s');
SELECT cm_inversions(), count(*), count(DISTINCT id), sum(k) FROM cm_s;
SELECT row_group, column_name, problem FROM @am@.verify('cm_s');
SELECT array_agg(first_row) AS before FROM @am@.row_groups('cm_s') \gset
CALL @am@.merge('cm_s');
SELECT array_agg(first_row) = :'before' AS same_groups FROM @am@.row_groups('cm_s');
TRUNCATE cm_s;
SELECT @am@.set_options('cm_s', orderby => 'id');
INSERT INTO cm_s SELECT i, 0, '' FROM generate_series(1, 1000) i;
CALL @am@.merge('cm_s');
INSERT INTO cm_s SELECT i, 0, '' FROM generate_series(1001, 15000) i;
CALL @am@.merge('cm_s');
SELECT array_agg(first_row) AS before FROM @am@.row_groups('cm_s') \gset
CALL @am@.merge('cm_s');
SELECT array_agg(first_row) = :'before' AS same_groups FROM @am@.row_groups('cm_s');

-- pages of an aborted load come back, also if nothing is left of its
-- descriptors; so does the end of the file
CREATE TABLE cm_a (id int, v text) USING @am@;
SELECT reltoastrelid::regclass AS toast FROM pg_class WHERE relname = 'cm_a' \gset
INSERT INTO cm_a VALUES (0, 'delta');
BEGIN;
INSERT INTO cm_a SELECT i, md5(i::text) FROM generate_series(1, 20000) i;
SELECT count(*) FROM cm_a;
ROLLBACK;
SELECT pg_relation_size('cm_a') > 20 * 8192 AS large;
VACUUM :toast;
VACUUM cm_a;
SELECT pg_relation_size('cm_a') > 20 * 8192 AS large;
TABLE cm_a;

-- partitioned tables: all partitions of this access method
CREATE TABLE cm_p (id int, v text) PARTITION BY RANGE (id);
CREATE TABLE cm_p1 PARTITION OF cm_p FOR VALUES FROM (0) TO (1000) USING @am@;
CREATE TABLE cm_p2 PARTITION OF cm_p FOR VALUES FROM (1000) TO (2000) USING heap;
CREATE TABLE "cm P3" PARTITION OF cm_p FOR VALUES FROM (2000) TO (3000) USING @am@;
INSERT INTO cm_p SELECT i, 'x' FROM generate_series(0, 2999) i;
CALL @am@.merge('cm_p');
SELECT (SELECT sum(rows) FROM @am@.row_groups('cm_p1')) AS p1, (SELECT sum(rows) FROM @am@.row_groups('"cm P3"')) AS p3, count(*) FROM cm_p;

-- what is refused
CALL @am@.merge('cm_heap');
CALL @am@.merge(NULL);
CALL @am@.compact('cm', 0);
BEGIN;
CALL @am@.compact('cm');
ROLLBACK;
DO $$ BEGIN CALL @am@.compact('cm'); EXCEPTION WHEN active_sql_transaction THEN RAISE WARNING 'refused'; END $$;
CREATE ROLE cm_role;
SET ROLE cm_role;
CALL @am@.compact('cm');
CALL @am@.merge('cm_p');
RESET ROLE;
SET default_transaction_read_only = on;
CALL @am@.compact('cm');
RESET default_transaction_read_only;

-- functions of indexes run as the owner, who cannot do more by that
CREATE TABLE cm_r (id int) USING @am@;
CREATE FUNCTION cm_f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE WARNING 'as %, search_path %', current_user, current_setting('search_path');
	RETURN $1;
END $$;
ALTER TABLE cm_r OWNER TO cm_role;
INSERT INTO cm_r VALUES (1);
SET client_min_messages = error;
CREATE INDEX ON cm_r (cm_f(id));
SET client_min_messages = warning;
CALL @am@.merge('cm_r');

DROP VIEW cm_state;
DROP TABLE cm_a, cm, cm_heap, cm_x, cm_o, cm_s, cm_p, cm_r;
DROP FUNCTION cm_differs, cm_inversions, cm_f;
DROP PROCEDURE cm_both;
DROP ROLE cm_role;
