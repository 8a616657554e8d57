-- count, min and max of a whole table from footers
CREATE TABLE fa (id int, d date, ts timestamptz, t text COLLATE "C", n numeric, nil int, b bool) USING rowcompress;
CREATE TABLE fa_heap (LIKE fa);
EXPLAIN (COSTS OFF) SELECT count(*) FROM fa;
SELECT count(*), min(id), max(ts), count(nil) FROM fa;
SELECT rowcompress.set_options('fa', row_group_rows => 2000);
INSERT INTO fa_heap SELECT g, date '2024-01-01' + g, timestamptz '2024-01-01 00:00+00' + g * interval '1 s', 't' || g, g, CASE WHEN g % 3 = 0 THEN g END, g % 2 = 0
FROM generate_series(-3000, 3000) g;
INSERT INTO fa SELECT * FROM fa_heap;

CREATE FUNCTION fa_differences() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	q text;
	ours text;
	heap text;
	plan text;
BEGIN
	FOREACH q IN ARRAY ARRAY['count(*)', 'count(*), min(id), max(id)', 'max(d) - min(d), count(nil), count(t)', 'min(ts), max(ts), count(b)', 'min(nil), max(nil)',
		'count(*) + 1, min(id) * 2', 'min(t), count(*)', 'max(n)', 'count(DISTINCT b)', 'count(*) FILTER (WHERE b)', 'min(id + 1)', 'sum(id)', 'bool_and(b), count(*)',
		'min(id) || max(d)::text', 'count(fa)']
	LOOP
		EXECUTE format('SELECT (%s)::text FROM (SELECT %s FROM fa) x', 'x', q) INTO ours;
		EXECUTE format('SELECT (%s)::text FROM (SELECT %s FROM fa_heap fa) x', 'x', q) INTO heap;
		EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) SELECT %s FROM fa', q) INTO plan;
		RETURN NEXT format('%s: %s%s', q, CASE WHEN plan ~ '"Row Groups From Footers": [1-9]' THEN 'by footers' WHEN plan LIKE '%RowcompressAggregate%' THEN 'by vectors' ELSE 'by rows' END,
						   CASE WHEN ours IS DISTINCT FROM heap THEN ', ' || ours || ' instead of ' || heap END);
	END LOOP;
END $$;
SELECT fa_differences();
-- deleted, updated and new rows; a column added later
DELETE FROM fa WHERE id IN (-3000, 3000, 7);
DELETE FROM fa_heap WHERE id IN (-3000, 3000, 7);
UPDATE fa SET ts = 'infinity' WHERE id = 8;
UPDATE fa_heap SET ts = 'infinity' WHERE id = 8;
INSERT INTO fa (id, ts) VALUES (5000, '-infinity');
INSERT INTO fa_heap (id, ts) VALUES (5000, '-infinity');
SELECT fa_differences();
ALTER TABLE fa ADD later int DEFAULT 5;
ALTER TABLE fa_heap ADD later int DEFAULT 5;
SELECT count(later), min(later), max(later) FROM fa;

-- each snapshot its own answer
BEGIN;
DELETE FROM fa WHERE id > 0;
SELECT count(*), max(id) FROM fa;
SAVEPOINT s;
TRUNCATE fa;
SELECT count(*), max(id) FROM fa;
ROLLBACK TO s;
SELECT count(*), max(id) FROM fa;
ROLLBACK;
SELECT count(*), max(id) FROM fa;

-- not where rows are chosen
EXPLAIN (COSTS OFF) SELECT count(*) FROM fa TABLESAMPLE system (10);
SELECT count(*) FROM fa WHERE false;
SELECT count(*) FROM fa WHERE (SELECT false);
SELECT count(*) FROM fa HAVING false;
SELECT x, (SELECT count(*) + x FROM fa) FROM generate_series(1, 2) x;
SELECT (SELECT count(*) FROM fa), (SELECT max(id) FROM fa) FROM fa_heap LIMIT 1;
CREATE VIEW fa_count AS SELECT count(*) AS n, max(id) AS m FROM fa;
SELECT a.n, b.m FROM fa_count a, fa_count b;
PREPARE q AS SELECT count(*), max(id) FROM fa;
EXECUTE q;
INSERT INTO fa (id) VALUES (9999);
EXECUTE q;
ALTER TABLE fa ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON fa USING (id < 10);
CREATE ROLE regress_rc_agg;
GRANT SELECT ON fa TO regress_rc_agg;
SET ROLE regress_rc_agg;
SELECT count(*), max(id) FROM fa;
RESET ROLE;
REVOKE SELECT ON fa FROM regress_rc_agg;
SET ROLE regress_rc_agg;
SELECT count(*) FROM fa;
RESET ROLE;
SET rowcompress.enable_footer_aggregates = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fa;
DROP VIEW fa_count;
DROP TABLE fa, fa_heap;
DROP ROLE regress_rc_agg;
DROP FUNCTION fa_differences;
