--
-- Scans that the server makes of a table decode the columns that they look at.
--
CREATE TABLE ss (id int, v int NOT NULL, t text, n numeric, gone int, w int) USING @am@;
ALTER TABLE ss DROP COLUMN gone;
INSERT INTO ss SELECT i, i % 100, repeat('x', i % 50) || i, i / 3.0, CASE WHEN i <> 7000 THEN i END
	FROM generate_series(1, 12000) i;
CREATE TABLE ss_heap (LIKE ss);
INSERT INTO ss_heap SELECT * FROM ss;
CREATE FUNCTION ss_same(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	heap text;
BEGIN
	EXECUTE format('SELECT md5(string_agg(x::text, '','' ORDER BY x::text)) FROM (%s) x', query) INTO ours;
	EXECUTE format('SELECT md5(string_agg(x::text, '','' ORDER BY x::text)) FROM (%s) x',
				   regexp_replace(query, '\mss\M', 'ss_heap', 'g')) INTO heap;
	RETURN ours IS NOT DISTINCT FROM heap;
END $$;

-- plans of the server
SET @am@.enable_custom_scan = off;
SET @am@.enable_vector_aggregate = off;
SELECT ss_same('SELECT * FROM ss'), ss_same('SELECT t, id FROM ss WHERE v = 3'),
	ss_same('SELECT count(*) FROM ss'), ss_same('SELECT ss FROM ss WHERE w IS NULL'),
	ss_same('SELECT a.id, b.t FROM ss a JOIN ss b ON a.id = b.id + 1 WHERE a.v < 5'),
	ss_same('SELECT id, (SELECT max(n) FROM ss b WHERE b.v = a.v AND b.id <= 300) FROM ss a WHERE a.id < 200');
SELECT count(*), count(xmin), min(cmin::text), bool_and(tableoid = 'ss'::regclass) FROM ss;
SELECT count(*), sum(id) FROM ss TABLESAMPLE SYSTEM (100);
SELECT count(*), sum(length(t)), sum(n), count(xmin) FROM ss TABLESAMPLE BERNOULLI (100);
SELECT count(*) FROM ss TABLESAMPLE BERNOULLI (100) WHERE v = 1 AND t LIKE '%1';
SET @am@.enable_partial_rows = off;
SELECT count(*), sum(length(t)), sum(n) FROM ss TABLESAMPLE BERNOULLI (100);
SELECT ss_same('SELECT t, id FROM ss WHERE v = 3');
COPY ss (id) TO '/dev/null';
ALTER TABLE ss ADD CONSTRAINT wrong CHECK (id < 12000);
RESET @am@.enable_partial_rows;
-- a sample beside other looks at the same row group
CREATE INDEX ss_id ON ss (id);
SELECT count(*), sum(length(a.t)), sum(a.n), sum(length(b.t)), sum(b.n) FROM ss a TABLESAMPLE BERNOULLI (100),
	LATERAL (SELECT t, n FROM ss b WHERE b.id = 12001 - a.id OFFSET 0) b WHERE a.v < 10;
DROP INDEX ss_id;
SELECT count(*), sum(length(t)), count(xmin) FROM ss WHERE ctid > '(0,0)';
SELECT count(*), sum(v) FROM ss WHERE ctid > '(0,0)';
-- cursors, there and back
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT t, n FROM ss WHERE id > 5000;
MOVE 100 IN c;
FETCH NEXT FROM c;
FETCH PRIOR FROM c;
FETCH RELATIVE 2 FROM c;
COMMIT;
-- rows that are locked, or changed, are whole
BEGIN;
SELECT id, t FROM ss WHERE id BETWEEN 6000 AND 6002 FOR UPDATE;
UPDATE ss SET v = v + 1 WHERE id BETWEEN 6000 AND 6002 RETURNING *;
ROLLBACK;
RESET @am@.enable_custom_scan;
RESET @am@.enable_vector_aggregate;
SELECT count(*), sum(id) FROM ss TABLESAMPLE SYSTEM (100);

-- constraints
ALTER TABLE ss ADD CHECK (w > 0), ADD CHECK (length(t) < 100 AND ss.n >= 0);
ALTER TABLE ss ADD CONSTRAINT wrong CHECK (id < 12000);
ALTER TABLE ss ADD CONSTRAINT wrong CHECK (v < 50 OR t LIKE 'x%');
ALTER TABLE ss ADD CONSTRAINT wrong CHECK (ss.w IS NOT NULL);
ALTER TABLE ss ADD CONSTRAINT wrong CHECK (ss IS NOT NULL);
ALTER TABLE ss ADD CONSTRAINT whole CHECK (ss IS NOT NULL OR w IS NULL);
ALTER TABLE ss ADD CONSTRAINT whole_too CHECK ((ss.*)::ss IS DISTINCT FROM NULL);
ALTER TABLE ss ALTER w SET NOT NULL;
ALTER TABLE ss ALTER id SET NOT NULL, ALTER t SET NOT NULL, ADD CHECK (n < 5000);
ALTER TABLE ss ALTER n SET NOT NULL, ADD CONSTRAINT wrong CHECK (t <> 'x1');
ALTER TABLE ss ADD CONSTRAINT later CHECK (v <> 77) NOT VALID;
ALTER TABLE ss VALIDATE CONSTRAINT later;
-- a function that reads the table itself
CREATE FUNCTION ss_reads(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
	'BEGIN RETURN (SELECT count(xmin) + count(t) FROM ss) > $1; END';
ALTER TABLE ss ADD CONSTRAINT reads CHECK (ss_reads(1) AND id > 0);
ALTER TABLE ss ADD CONSTRAINT wrong CHECK (id > 1 OR NOT ss_reads(id));
-- generated columns, a rewrite
ALTER TABLE ss ADD COLUMN g int GENERATED ALWAYS AS (w + v) STORED;
ALTER TABLE ss ADD CONSTRAINT wrong CHECK (g < 12000);
ALTER TABLE ss ALTER id TYPE bigint, ADD CHECK (id < 20000);
SELECT ss_same('SELECT id::int, v, t, n, w FROM ss');

-- COPY
COPY (SELECT 1) TO STDOUT;
COPY ss (v, w) TO '/dev/null';
CREATE TABLE ss_few (id int, t text, n numeric, w int) USING @am@;
INSERT INTO ss_few SELECT i, 'row ' || i, i / 4.0, i FROM generate_series(1, 2000) i;
DELETE FROM ss_few WHERE id <> 500 AND id <> 1500 AND id < 1998;
COPY ss_few TO STDOUT;
COPY ss_few (w, t) TO STDOUT;
COPY ss_few (n) TO STDOUT;
-- compiled code believes that a column is NOT NULL, also if it is not read
SET jit = on;
SET jit_above_cost = 0;
SELECT (SELECT sum(length(t)) FROM ss TABLESAMPLE BERNOULLI (100) WHERE t LIKE 'x%') =
	(SELECT sum(length(t)) FROM ss_heap WHERE t LIKE 'x%') AS same;
RESET jit;
RESET jit_above_cost;
-- with row level security it is a query
ALTER TABLE ss_few ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON ss_few USING (xmin::text <> '' AND id > 1000);
CREATE ROLE ss_role;
GRANT SELECT ON ss_few TO ss_role;
GRANT USAGE ON SCHEMA public TO ss_role;
SET ROLE ss_role;
COPY ss_few TO STDOUT;
COPY ss_few (t) TO STDOUT;
RESET ROLE;
-- a function of whole rows, beside a column that is named like the table
ALTER TABLE ss_few RENAME w TO ss_few;
CREATE FUNCTION ss_named(ss_few) RETURNS boolean LANGUAGE sql IMMUTABLE AS
	'SELECT $1.n IS NOT NULL AND $1.id < 2000';
ALTER TABLE ss_few ADD CONSTRAINT wrong CHECK (ss_few.ss_named);
DELETE FROM ss_few WHERE id = 2000;
ALTER TABLE ss_few ADD CONSTRAINT named CHECK (ss_few.ss_named);
ALTER TABLE ss_few DROP CONSTRAINT named;
DROP FUNCTION ss_named;

DROP TABLE ss, ss_heap, ss_few;
DROP FUNCTION ss_same, ss_reads;
REVOKE USAGE ON SCHEMA public FROM ss_role;
DROP ROLE ss_role;
