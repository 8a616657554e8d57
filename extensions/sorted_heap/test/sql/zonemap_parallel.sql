--
-- Parallel scans by a zonemap: the processes divide the pages that the
-- conditions leave, and each returns its rows in order.
--
CREATE TABLE parts (id bigint, ref int, payload text) USING sorted_heap;
INSERT INTO parts
	SELECT g, g % 100, md5(g::text) FROM generate_series(1, 20000) g WHERE g % 20 <> 0;
CREATE INDEX parts_id ON parts USING zonemap (id);
-- Rows out of order have entries of their own.
INSERT INTO parts
	SELECT g, g % 100, md5(g::text) FROM generate_series(20, 20000, 20) g
	ORDER BY md5(g::text);
VACUUM ANALYZE parts;

SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

EXPLAIN (COSTS OFF)
SELECT count(*), sum(id), sum(hashtext(payload)::bigint) FROM parts
WHERE id BETWEEN 1000 AND 18000;
SELECT count(*), sum(id), sum(hashtext(payload)::bigint) FROM parts
WHERE id BETWEEN 1000 AND 18000;

-- Order kept by every process, both ways.
CREATE FUNCTION slow_hash(text) RETURNS int LANGUAGE plpgsql
	IMMUTABLE PARALLEL SAFE COST 1000 AS 'BEGIN RETURN hashtext($1); END';
EXPLAIN (COSTS OFF)
SELECT id FROM parts WHERE id > 300 AND slow_hash(payload) % 3 = 0 ORDER BY id DESC;
SELECT count(*), count(*) FILTER (WHERE id >= before) AS out_of_order
FROM (SELECT id, lag(id) OVER () AS before FROM
	(SELECT id FROM parts WHERE id > 300 AND slow_hash(payload) % 3 = 0
	ORDER BY id DESC OFFSET 0) x) y;
SELECT count(*), count(*) FILTER (WHERE id <= before) AS out_of_order
FROM (SELECT id, lag(id) OVER () AS before FROM
	(SELECT id FROM parts WHERE id > 300 AND slow_hash(payload) % 3 = 0
	ORDER BY id OFFSET 0) x) y;

-- Several ranges, none at all, and a scan that is begun again.
SELECT count(*), sum(id) FROM parts
WHERE id = ANY ((SELECT array_agg(g) FROM generate_series(-5, 25000, 7) g)::bigint[]);
SELECT count(*), sum(id) FROM parts WHERE id IN (5, 17, 20, 1000, 1019, 1020, 7000, 99000);
SELECT count(*) FROM parts WHERE id > 20000;
SELECT g, (SELECT sum(n) FROM (SELECT count(*) AS n, ref FROM parts
	WHERE id > 500 AND ref <> g GROUP BY ref LIMIT 5) x) IS NOT NULL AS found
FROM generate_series(1, 3) g;

-- The same through the access method.
SET sorted_heap.enable_page_scan = off;
SET min_parallel_index_scan_size = 0;
EXPLAIN (COSTS OFF)
SELECT count(*), sum(id), sum(hashtext(payload)::bigint) FROM parts
WHERE id BETWEEN 1000 AND 18000;
SELECT count(*), sum(id), sum(hashtext(payload)::bigint) FROM parts
WHERE id BETWEEN 1000 AND 18000;
SELECT count(*), sum(id) FROM parts
WHERE id = ANY ((SELECT array_agg(g) FROM generate_series(-5, 25000, 7) g)::bigint[]);

-- What they have to be.
SET max_parallel_workers_per_gather = 0;
SET enable_indexscan = off;
SET enable_seqscan = on;
SELECT count(*), sum(id), sum(hashtext(payload)::bigint) FROM parts
WHERE id BETWEEN 1000 AND 18000;
SELECT count(*), sum(id) FROM parts
WHERE id = ANY ((SELECT array_agg(g) FROM generate_series(-5, 25000, 7) g)::bigint[]);
SELECT count(*) FROM parts WHERE id > 300 AND slow_hash(payload) % 3 = 0;
DROP TABLE parts;
DROP FUNCTION slow_hash(text);
