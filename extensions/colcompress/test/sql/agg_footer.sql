-- Aggregates of whole row groups from what is stored with them: as heap's.
SET max_parallel_workers_per_gather = 0;
CREATE TABLE af_heap (g int, i2 int2, i4 int, i8 bigint, n numeric, n2 numeric(12,2), f float8, d date, ts timestamptz, b bool, t text, m money);
INSERT INTO af_heap SELECT i / 2048, i % 100, CASE WHEN i % 7 <> 0 THEN i - 5000 END, i * 400000000000000, (i * 0.25)::numeric(12, 2),
	CASE WHEN i >= 2048 THEN i END, i, date '2024-01-01' + i / 50, timestamptz '2024-01-01 00:00Z' + i * interval '1 min', i % 2 = 0, 'x' || i, i
FROM generate_series(0, 9000) i;
-- a row group whose numerics have another scale, one with NaN, one of nulls
INSERT INTO af_heap SELECT 10, i, i, i, (i + 0.5)::numeric(12,4), i, i, date '2025-01-01', now(), true, 'y', i FROM generate_series(1, 2048) i;
INSERT INTO af_heap SELECT 11, i, i, i, 'NaN', NULL, i, 'infinity', '-infinity', true, 'y', i FROM generate_series(1, 2048) i;
INSERT INTO af_heap SELECT 12 FROM generate_series(1, 2048) i;
CREATE TABLE af (LIKE af_heap) USING colcompress;
SELECT colcompress.set_options('af', row_group_rows => 2048);
INSERT INTO af SELECT * FROM af_heap ORDER BY g, i8;
ALTER TABLE af ADD COLUMN later int DEFAULT 7;
ALTER TABLE af_heap ADD COLUMN later int DEFAULT 7;
ANALYZE af, af_heap;
CREATE TABLE af_queries (n serial, query text);
INSERT INTO af_queries (query) SELECT format('SELECT %s FROM TBL WHERE %s', a, w)
FROM unnest(ARRAY['count(*)', 'count(i4), count(n2)', 'sum(i2), sum(i4), sum(i8), avg(i4), avg(i8)', 'sum(n), avg(n), sum(n2), avg(n2)', 'min(i2), max(i4), min(i8), max(d), min(ts), max(ts), min(d)',
	'sum(i4), sum(f), min(f), max(n), bool_and(b)', 'sum(i4) FILTER (WHERE b), count(*)', 'count(DISTINCT i2), sum(i2)', 'sum(i4 + 1), count(*)', 'max(t), sum(n), sum(m)', 'sum(later), min(later), count(later)']) a,
	unnest(ARRAY['true', 'g < 3', 'g >= 3 AND i2 < 50', 'g = 10', 'g IN (11, 12)', 'g = 12', 'd >= ''2024-02-01''', 'i4 IS NOT NULL', 'g < 0']) w;
INSERT INTO af_queries (query) VALUES ('SELECT v, (SELECT sum(i4) + count(*) FROM TBL WHERE g < v) FROM generate_series(0, 6) v'),
	('SELECT v, (SELECT sum(i4) + v FROM TBL WHERE later > v) FROM generate_series(4, 9) v');
CREATE FUNCTION af_run(query text, tbl text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(r::text, '' '' ORDER BY r::text) FROM (%s) r', replace(query, 'TBL', tbl)) INTO result;
	RETURN result;
END $$;
CREATE VIEW af_wrong AS SELECT * FROM (SELECT n, query, af_run(query, 'af') AS ours, af_run(query, 'af_heap') AS heap FROM af_queries) x
	WHERE ours IS DISTINCT FROM heap;
SELECT count(*) FROM af_queries;
SELECT * FROM af_wrong;
SET colcompress.enable_footer_aggregate = off;
SELECT * FROM af_wrong WHERE n % 3 = 0;
RESET colcompress.enable_footer_aggregate;
SET colcompress.enable_pruning = off;
SELECT * FROM af_wrong WHERE n % 3 = 1;
RESET colcompress.enable_pruning;
-- what is read
CREATE FUNCTION af_lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Row Groups|Vectors|Scan' THEN
			RETURN NEXT regexp_replace(line, 'rows=(\d+)\.00', 'rows=\1');
		END IF;
	END LOOP;
END $$;
SELECT af_lines('SELECT count(*), sum(i4), max(d), avg(n2) FROM af WHERE g < 3');
SELECT af_lines('SELECT count(*), sum(i4), max(d), avg(n2) FROM af WHERE d < ''2024-03-01''');
-- deleted rows, and rows that are not in row groups yet
DELETE FROM af WHERE g = 1 AND i2 = 5;
DELETE FROM af_heap WHERE g = 1 AND i2 = 5;
UPDATE af SET i4 = i4 + 1 WHERE g = 3 AND i2 < 3;
UPDATE af_heap SET i4 = i4 + 1 WHERE g = 3 AND i2 < 3;
SELECT af_lines('SELECT count(*), sum(i4) FROM af');
SELECT * FROM af_wrong;
-- a snapshot from before sees what was
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*), sum(i8), sum(n2) FROM af WHERE g < 9;
DELETE FROM af WHERE g = 2;
SELECT count(*), sum(i8), sum(n2) FROM af WHERE g < 9;
ROLLBACK;
SELECT count(*), sum(i8), sum(n2) FROM af WHERE g < 9;
-- few rows of a group deleted: what is stored, less what they have; nulls and all kinds of sums among them
TRUNCATE af;
INSERT INTO af SELECT * FROM af_heap ORDER BY g, i8;
BEGIN;
DELETE FROM af WHERE g = 0 AND i2 > 50;
ROLLBACK;
DELETE FROM af WHERE g < 10 AND i8 % (341 * 400000000000000) = 0 OR g IN (10, 11) AND i8 % 341 = 0;
DELETE FROM af_heap WHERE g < 10 AND i8 % (341 * 400000000000000) = 0 OR g IN (10, 11) AND i8 % 341 = 0;
DELETE FROM af WHERE ctid IN (SELECT ctid FROM af WHERE g = 12 LIMIT 5);
DELETE FROM af_heap WHERE ctid IN (SELECT ctid FROM af_heap WHERE g = 12 LIMIT 5);
SELECT af_lines('SELECT count(*) FROM af');
SELECT af_lines('SELECT count(*), count(i4), sum(i4), sum(i2) FROM af WHERE g < 10');
SELECT af_lines('SELECT count(*), sum(i4), sum(f), max(i4) FROM af');
SELECT * FROM af_wrong;
-- workers: whoever comes to a group first takes all of it
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM af_wrong;
SELECT line FROM af_lines('SELECT count(*), sum(i4), sum(i8) FROM af') line WHERE line ~ 'Footers';
SET parallel_leader_participation = off;
SELECT * FROM af_wrong WHERE n % 3 = 0;
RESET parallel_leader_participation;
-- groups of several chunks, which others may have begun
CREATE TABLE af_wide USING colcompress AS SELECT i, i % 10 AS r FROM generate_series(1, 130000) i;
DELETE FROM af_wide WHERE i % 10000 = 0;
SELECT (SELECT row(count(*), sum(i), sum(r), count(r)) FROM af_wide), (SELECT row(min(i), max(i), sum(r)) FROM af_wide WHERE i > 5) FROM generate_series(1, 3);
DROP TABLE af_wide;
SET max_parallel_workers_per_gather = 0;
-- the first vector of a group, then all of it
DELETE FROM af WHERE g = 0;
DELETE FROM af_heap WHERE g = 0;
DELETE FROM af WHERE g = 1;
DELETE FROM af_heap WHERE g = 1;
SELECT * FROM af_wrong;
VACUUM af;
SELECT * FROM af_wrong WHERE n % 4 = 0;
DROP VIEW af_wrong;
DROP TABLE af, af_heap, af_queries;
DROP FUNCTION af_run, af_lines;
