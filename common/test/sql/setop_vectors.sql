-- UNION, INTERSECT and EXCEPT over vectors: the same results as heap's.
SET max_parallel_workers_per_gather = 0;
LOAD '@am@';

CREATE COLLATION so_nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE so_mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE so_pair AS (a int, b text);
CREATE DOMAIN so_small AS int CHECK (VALUE < 1000000);
CREATE TABLE so_heap (id int, k int, k2 smallint, k8 bigint, t text, ci text COLLATE so_nocase, bp char(6),
	v3 varchar(3), d date, n numeric, f float8, g real, u uuid, doc jsonb, a int[], mood so_mood, p so_pair, s so_small,
	cash money, b bool, ts timestamptz, iv interval);
INSERT INTO so_heap
SELECT i, CASE WHEN i % 11 <> 0 THEN i % 70 END, i % 10, i % 300 - 100, CASE WHEN i % 13 <> 0 THEN 'k' || i % 90 END,
	CASE i % 3 WHEN 0 THEN 'ab' ELSE 'AB' END || i % 40, 'k' || i % 9, 'k' || i % 9, date '2024-01-01' + i % 60,
	CASE i % 6 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN NULL WHEN 2 THEN 1.0 WHEN 3 THEN 1.00 WHEN 4 THEN '-Infinity' ELSE i % 30 END,
	CASE i % 6 WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN NULL WHEN 2 THEN '-0' WHEN 3 THEN 0 WHEN 4 THEN '-Infinity' ELSE i % 30 - 15 END,
	(i % 33 - 16) / 4.0, md5((i % 20)::text)::uuid, jsonb_build_object('a', i % 10), ARRAY[i % 5, -i % 3],
	(ARRAY['sad', 'happy', 'ok', NULL])[i % 4 + 1]::so_mood, ROW(i % 4, CASE WHEN i % 5 > 0 THEN 'x' || i % 3 END)::so_pair, i % 17,
	(i % 25)::money, CASE WHEN i % 7 > 0 THEN i % 2 = 0 END, timestamptz '2024-01-01 00:00+00' - i % 50 * interval '7 hours',
	CASE i % 3 WHEN 0 THEN interval '24 hours' WHEN 1 THEN interval '1 day' ELSE i % 40 * interval '1 hour' END
FROM generate_series(1, 3000) i;
CREATE TABLE so (LIKE so_heap) USING @am@;
INSERT INTO so SELECT * FROM so_heap WHERE id <= 2900;
INSERT INTO so SELECT * FROM so_heap WHERE id > 2900;
DELETE FROM so WHERE id % 40 = 3;
DELETE FROM so_heap WHERE id % 40 = 3;
ANALYZE;

-- Whether a query gives the same on the heap table (TBL), and what of it runs on vectors.
CREATE FUNCTION so_compare(query text, command bool DEFAULT false) RETURNS text LANGUAGE sql AS $$
	SELECT result || CASE WHEN command AND plan LIKE '%SetOp)%' THEN ': ' || substring(plan FROM 'Command: ([^\n]*)')
		WHEN plan ~ '(SetOp|Aggregate)\)' THEN ': vectors' ELSE '' END
	FROM twin_query('so', 'so_heap', query);
$$;

-- Every operation, with nulls and repeated rows
SELECT op, so_compare(format('SELECT k, t FROM TBL WHERE id %% 3 <> 0 %s SELECT k, t FROM TBL WHERE id %% 5 <> 0', op), true)
FROM unnest(ARRAY['UNION', 'INTERSECT', 'INTERSECT ALL', 'EXCEPT', 'EXCEPT ALL']) op;

-- Every type; NaN, -0, scales, collations, domains and records are equal as the type says
SELECT col, so_compare(format('SELECT %1$s AS x FROM TBL WHERE id %% 4 < 2 INTERSECT ALL SELECT %1$s FROM TBL WHERE id %% 4 > 0', col)) AS intersect_all
FROM unnest(ARRAY['k', 'k2', 'k8', 't', 'bp', 'v3', 'd', 'g', 'u', 'doc', 'a', 'mood', 'p', 's', 'cash', 'b', 'ts']) col;
SELECT col, so_compare(format('SELECT count(*), count(DISTINCT %1$s) FROM (SELECT %1$s FROM TBL WHERE id %% 4 < 2 %2$s SELECT %1$s FROM TBL WHERE id %% 4 > 1) s',
							  col, op))
FROM unnest(ARRAY['n', 'f', 'ci', 'iv']) col, unnest(ARRAY['UNION', 'INTERSECT', 'EXCEPT ALL']) op;

-- Types that differ, expressions, constants; which of equal values comes out is chance
SELECT so_compare('SELECT k2, trim_scale(n) FROM (SELECT k2, n FROM TBL EXCEPT SELECT k8, 1 FROM TBL WHERE k8 < 5) s');
SELECT so_compare('SELECT bp::text, v3 FROM (SELECT bp, v3 FROM TBL UNION SELECT t, ''x'' FROM TBL) s');
SELECT so_compare('SELECT k + 1 AS x, upper(t), id % 7 = 2, NULL::int FROM TBL INTERSECT SELECT k8, ''K'' || k2, b, NULL FROM TBL');
SELECT so_compare('SELECT k, 1 AS one FROM TBL EXCEPT ALL SELECT 3, 1');
SELECT so_compare('SELECT doc ->> ''a'' AS x FROM TBL INTERSECT SELECT k2::text FROM TBL');
SELECT so_compare('SELECT FROM TBL UNION SELECT FROM TBL');

-- Trees of operations
SELECT so_compare('(SELECT k FROM TBL UNION SELECT k8 FROM TBL) INTERSECT (SELECT k2 FROM TBL EXCEPT SELECT 3)');
SELECT so_compare('(SELECT k, t FROM TBL EXCEPT ALL SELECT k, t FROM TBL WHERE id % 2 = 0) EXCEPT ALL SELECT k, t FROM TBL WHERE id < 500');
SELECT so_compare('SELECT k FROM TBL UNION SELECT k2 FROM TBL UNION ALL SELECT k8 FROM TBL UNION SELECT id FROM TBL');
SELECT so_compare('SELECT k FROM TBL INTERSECT ALL SELECT k FROM TBL INTERSECT ALL SELECT k8 FROM TBL');
SELECT so_compare('(SELECT t FROM TBL INTERSECT SELECT t FROM TBL WHERE k < 5) UNION ALL SELECT bp FROM TBL WHERE id < 10');
SELECT so_compare('(SELECT k FROM TBL UNION SELECT k8 FROM TBL) EXCEPT SELECT k2 FROM TBL ORDER BY k DESC NULLS LAST LIMIT 7');

-- Arms of other kinds: groups, windows, joins, LIMIT, heap tables, values, functions, CTEs
SELECT so_compare('SELECT k2, count(*) FROM TBL GROUP BY k2 INTERSECT SELECT k2, max(300) FROM TBL WHERE k2 <> 4 GROUP BY k2');
SELECT so_compare('SELECT k, rank() OVER (PARTITION BY k2 ORDER BY id) FROM TBL EXCEPT SELECT k, k8 FROM TBL');
SELECT so_compare('SELECT x.k, y.t FROM TBL x JOIN TBL y USING (id) WHERE x.k8 > 0 EXCEPT ALL SELECT k, t FROM so_heap WHERE k2 < 5');
SELECT so_compare('(SELECT id FROM TBL ORDER BY k8, id LIMIT 700) INTERSECT (SELECT id FROM TBL ORDER BY k, id LIMIT 900 OFFSET 50)');
SELECT so_compare('SELECT k FROM TBL EXCEPT (VALUES (1), (1), (NULL), (700))');
SELECT so_compare('SELECT generate_series(1, 5) EXCEPT SELECT k FROM TBL WHERE k <> 4');
SELECT so_compare('WITH c AS MATERIALIZED (SELECT k, t FROM TBL) SELECT * FROM c EXCEPT SELECT k, t FROM TBL WHERE k > 30');
SELECT so_compare('SELECT id, random() < 2 FROM TBL EXCEPT SELECT id, b FROM TBL');
SELECT so_compare('SELECT k, (SELECT max(h.id) FROM so_heap h WHERE h.k = x.k) FROM TBL x UNION SELECT k, id FROM TBL');

CREATE SEQUENCE so_seq;
SELECT so_compare('SELECT k FROM (SELECT k, nextval(''so_seq'') AS n FROM TBL OFFSET 0) s EXCEPT SELECT k2 FROM TBL');
SELECT last_value > 5000 AS called FROM so_seq;

-- Empty arms
SELECT op, so_compare(format('SELECT k FROM TBL WHERE id < 0 %1$s SELECT k FROM TBL', op)),
	so_compare(format('SELECT k FROM TBL %1$s SELECT k FROM TBL WHERE id < 0', op)),
	split_part(so_compare(format('SELECT k FROM TBL WHERE false %1$s SELECT k FROM TBL', op)), ': ', 1) AS never
FROM unnest(ARRAY['UNION', 'INTERSECT', 'INTERSECT ALL', 'EXCEPT', 'EXCEPT ALL']) op;

-- In other queries: conditions from above, semi joins, rescans with other parameters
SELECT so_compare('SELECT * FROM (SELECT k, t FROM TBL INTERSECT SELECT k, t FROM TBL WHERE k2 < 7) s WHERE t > ''k5''');
SELECT so_compare('SELECT id FROM TBL WHERE k IN (SELECT k FROM TBL WHERE id < 50 EXCEPT SELECT k2 FROM TBL)');
SELECT so_compare('SELECT h.id, s.* FROM so_heap h CROSS JOIN LATERAL (SELECT k, t FROM TBL WHERE k2 = h.k2 EXCEPT ALL SELECT k, t FROM TBL WHERE id < h.id) s WHERE h.id < 6');
SELECT so_compare('SELECT h.id, (SELECT count(*) FROM (SELECT k + h.id FROM TBL WHERE id < h.id * 10 UNION SELECT k8 FROM TBL WHERE id < 90) s) FROM so_heap h WHERE h.id < 30');
SELECT so_compare('WITH RECURSIVE r AS ((SELECT k FROM TBL INTERSECT SELECT 5) UNION SELECT k + 1 FROM r WHERE k < 20) SELECT * FROM r');

-- On disk: groups of the first arm, and rows of the second whose groups are there
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT op, so_compare(format('SELECT i, t, trim_scale(n) FROM (SELECT id %% 1100 AS i, t, n FROM TBL %s SELECT id %% 1300, t, n FROM TBL WHERE id %% 3 > 0) s', op))
FROM unnest(ARRAY['UNION', 'INTERSECT', 'INTERSECT ALL', 'EXCEPT', 'EXCEPT ALL']) op;
SELECT so_compare('SELECT md5(id::text) FROM TBL EXCEPT ALL SELECT md5((id + 1000)::text) FROM TBL');
DO $$
DECLARE
	line text;
BEGIN
	FOR line IN EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
		SELECT md5(id::text), t FROM so INTERSECT SELECT md5(id::text), t FROM so WHERE id > 100 LOOP
		IF line LIKE '%Rows On Disk%' THEN
			RAISE NOTICE 'rows went to disk';
		END IF;
	END LOOP;
END $$;
RESET work_mem;
RESET hash_mem_multiplier;

-- Off
SET @am@.enable_vector_aggregate = off;
SELECT so_compare('SELECT k FROM TBL INTERSECT SELECT k2 FROM TBL');
RESET @am@.enable_vector_aggregate;

-- A policy's rows alone, in both arms
CREATE ROLE regress_so_reader;
ALTER TABLE so ENABLE ROW LEVEL SECURITY;
CREATE POLICY so_some ON so USING (id % 2 = 0);
GRANT SELECT ON so TO regress_so_reader;
SET ROLE regress_so_reader;
SELECT count(*), bool_and(id % 2 = 0) FROM (SELECT id FROM so UNION SELECT id FROM so WHERE id < 100) s;
SELECT count(*) FROM (SELECT id FROM so EXCEPT SELECT id FROM so WHERE id % 4 = 0) s;
RESET ROLE;

DROP TABLE so, so_heap;
DROP SEQUENCE so_seq;
DROP ROLE regress_so_reader;
DROP FUNCTION so_compare;
DROP DOMAIN so_small;
DROP TYPE so_mood, so_pair;
DROP COLLATION so_nocase;
