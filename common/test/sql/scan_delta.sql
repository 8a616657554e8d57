-- Rows of the delta in batches: columns that are taken out of tuples on
-- demand, codes for few distinct values, what a batch cannot hold.  Every
-- query is compared with heap.

SET client_min_messages = warning;
CREATE TABLE delta_heap (id int, gone int, few text, many text, wide text, amount numeric, price float8, u uuid, tags text[], doc jsonb, day date NOT NULL);
CREATE TABLE delta_cc (LIKE delta_heap) USING @am@;
SELECT @am@.set_options('delta_cc', auto_compact => false);

CREATE FUNCTION delta_fill(lo int, hi int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO delta_heap (id, few, many, wide, amount, price, u, tags, doc, day)
	SELECT i, CASE WHEN i % 7 <> 0 THEN 'f' || i % 9 END, CASE WHEN i % 11 <> 0 THEN md5(i::text) END,
		CASE WHEN i % 97 = 0 THEN repeat(md5(i::text), 200) WHEN i % 89 = 0 THEN repeat('x', 9000) END,
		CASE WHEN i % 13 = 0 THEN NULL WHEN i % 500 = 1 THEN 1.50 WHEN i % 997 = 0 THEN 'NaN' ELSE round(i / 7.0, 3) END,
		CASE WHEN i % 5 <> 0 THEN i / 3.0 END, md5((i % 40)::text)::uuid,
		CASE WHEN i % 17 <> 0 THEN ARRAY['t' || i % 20, 'c' || i % 8] END,
		CASE WHEN i % 19 <> 0 THEN jsonb_build_object('k', 'v' || i % 6, 'n', i) END, date '2024-01-01' + i % 30
	FROM generate_series(lo, hi) AS i;
$$;
CREATE FUNCTION delta_compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a text;
	b text;
BEGIN
	EXECUTE format('SELECT string_agg(r::text, chr(10) ORDER BY r::text) FROM (%s) AS r', replace(query, '$t', 'delta_heap')) INTO a;
	EXECUTE format('SELECT string_agg(r::text, chr(10) ORDER BY r::text) FROM (%s) AS r', replace(query, '$t', 'delta_cc')) INTO b;
	RETURN CASE WHEN a IS NOT DISTINCT FROM b THEN 'same' ELSE 'DIFFERENT: ' || query END;
END;
$$;

-- old rows lack columns that are added; a dropped one stays in tuples
SELECT delta_fill(1, 700);
ALTER TABLE delta_heap DROP COLUMN gone;
ALTER TABLE delta_heap ADD COLUMN added int DEFAULT 5, ADD COLUMN note text DEFAULT 'n', ADD COLUMN nothing numeric;
SELECT delta_fill(701, 3000);
UPDATE delta_heap SET added = id, note = 'm' || id % 3, nothing = id WHERE id % 4 = 0 AND id > 700;
CREATE TABLE delta_rows AS SELECT * FROM delta_heap;
DO $$
BEGIN
	INSERT INTO delta_cc (id, few, many, wide, amount, price, u, tags, doc, day)
	SELECT id, few, many, wide, amount, price, u, tags, doc, day FROM delta_rows WHERE id <= 700;
	ALTER TABLE delta_cc DROP COLUMN gone;
	ALTER TABLE delta_cc ADD COLUMN added int DEFAULT 5, ADD COLUMN note text DEFAULT 'n', ADD COLUMN nothing numeric;
	FOR i IN 0..9 LOOP
		INSERT INTO delta_cc SELECT * FROM delta_rows WHERE id > 700 + i * 230 AND id <= 700 + (i + 1) * 230;
	END LOOP;
END;
$$;

CREATE TABLE delta_queries (query text);
INSERT INTO delta_queries VALUES
	('SELECT count(*) FROM $t'),
	('SELECT * FROM $t'),
	('SELECT * FROM $t WHERE id % 3 = 0 AND few > ''f4'''),
	('SELECT few, count(*), sum(amount), min(many), max(wide) FROM $t GROUP BY few'),
	('SELECT upper(few), count(*), round(sum(price)::numeric, 4) FROM $t WHERE many LIKE ''%a%'' GROUP BY 1'),
	('SELECT few, note, count(*), sum(nothing) FROM $t WHERE added > 3 GROUP BY few, note'),
	('SELECT count(*), round(sum(price)::numeric, 4) FROM $t WHERE tags @> ARRAY[''t5'']'),
	('SELECT count(*) FROM $t WHERE tags IS NULL OR few IS NULL'),
	('SELECT u, count(*), sum(id) FROM $t WHERE u > ''80000000-0000-0000-0000-000000000000'' GROUP BY u'),
	('SELECT doc ->> ''k'', count(*), sum((doc ->> ''n'')::numeric) FROM $t WHERE doc ? ''k'' GROUP BY 1'),
	('SELECT count(*), min(id) FROM $t WHERE doc @> ''{"k": "v3"}'' AND day BETWEEN ''2024-01-05'' AND ''2024-01-20'''),
	('SELECT length(wide), id FROM $t WHERE wide IS NOT NULL'),
	('SELECT sum(length(wide)), count(wide) FROM $t'),
	('SELECT sum(length(few)), sum(amount), count(many) FROM $t WHERE few <> ''f2'''),
	('SELECT sum(CASE WHEN few = ''f1'' THEN 1000 / (length(few) - 1) ELSE 0 END) FROM $t WHERE length(few) > 1'),
	('SELECT count(*) FROM $t WHERE amount > 100.5 AND amount <> ''NaN'''),
	('SELECT amount, count(*) FROM $t GROUP BY amount'),
	('SELECT id, ctid IS NOT NULL AS ok, tableoid <> 0 AS has FROM $t WHERE note = ''m1'''),
	('SELECT id, price FROM $t ORDER BY price DESC NULLS LAST, id LIMIT 10'),
	('SELECT id FROM $t WHERE price > 50 ORDER BY id OFFSET 3 LIMIT 4'),
	('SELECT count(DISTINCT few), count(DISTINCT many) FROM $t');
SELECT delta_compare(query) FROM delta_queries WHERE delta_compare(query) <> 'same';
SET @am@.enable_vector_filter = off;
SELECT delta_compare(query) FROM delta_queries WHERE delta_compare(query) <> 'same';
RESET @am@.enable_vector_filter;
SET @am@.enable_vector_aggregate = off;
SELECT delta_compare(query) FROM delta_queries WHERE delta_compare(query) <> 'same';
RESET @am@.enable_vector_aggregate;

-- row groups, then the delta: codes of one are not those of the other
INSERT INTO delta_rows SELECT * FROM delta_rows WHERE id % 2 = 0;
INSERT INTO delta_heap SELECT * FROM delta_rows;
INSERT INTO delta_cc SELECT * FROM delta_rows;
DELETE FROM delta_heap WHERE id % 50 = 3;
DELETE FROM delta_cc WHERE id % 50 = 3;
SELECT delta_compare(query) FROM delta_queries WHERE delta_compare(query) <> 'same';
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT delta_compare(query) FROM delta_queries WHERE delta_compare(query) <> 'same';
RESET ALL;
SET client_min_messages = warning;

-- a value known of null does not stand for one that is not known yet
CREATE TABLE delta_null (v text) USING @am@;
INSERT INTO delta_null SELECT CASE WHEN i % 4 > 0 THEN 'v' || i % 4 END FROM generate_series(1, 1024) AS i;
INSERT INTO delta_null SELECT 'v' || i % 5 FROM generate_series(1, 4096) AS i;
SELECT length(v || '!'), count(*) FROM delta_null WHERE v || '!' <> 'v3!' OR v IS NULL GROUP BY 1 ORDER BY 1;
SELECT v || '!', count(*) FROM delta_null GROUP BY 1 ORDER BY 1;

-- a page of the delta is pinned no longer than its cursor
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM delta_cc WHERE few = 'f3' ORDER BY id;
FETCH 2 FROM c;
DECLARE d CURSOR FOR SELECT few FROM delta_cc WHERE id > 700 AND few = 'f5';
FETCH 1 FROM d;
UPDATE delta_cc SET note = 'here' WHERE CURRENT OF d;
CLOSE d;
SELECT count(*) FROM delta_cc WHERE note = 'here';
ROLLBACK;

-- cursors on a temporary table leave local buffers to each other
SET temp_buffers = 100;
CREATE TEMP TABLE delta_temp (id int, filler text) USING @am@;
DO $$
DECLARE
	c refcursor;
	found int;
BEGIN
	FOR i IN 0..2 LOOP
		INSERT INTO delta_temp SELECT i * 600 + j, repeat('x', 950) FROM generate_series(1, 600) AS j;
	END LOOP;
	FOR i IN 1..25 LOOP
		c := 'c' || i;
		OPEN c FOR SELECT id FROM delta_temp WHERE id % 2 = 0;
		MOVE FORWARD i * 32 IN c;
		FETCH c INTO found;
		ASSERT found = i * 64 + 2;
	END LOOP;
END;
$$;
DROP TABLE delta_temp;

DROP TABLE delta_heap, delta_cc, delta_rows, delta_queries, delta_null;
DROP FUNCTION delta_fill, delta_compare;
