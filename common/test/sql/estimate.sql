-- estimate(): its surface, what it says of small tables, and what it refuses.
CREATE ROLE regress_estimate_other;
SET default_table_access_method = heap;
\set SHOW_CONTEXT never
SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = '@am@'::regnamespace
	AND proname ~ '^(estimate|obstacles)' ORDER BY 1;

-- what is said, without the numbers that differ from build to build
CREATE FUNCTION estimate_of(t regclass, seconds float8 DEFAULT 0)
RETURNS TABLE (what text, name text, now text, smaller boolean, detail text) LANGUAGE sql AS $$
	SELECT what, name, CASE WHEN what = 'column' THEN bytes_now::text ELSE (bytes_now > 0)::text END,
		bytes_estimated < bytes_now, detail
	FROM @am@.estimate(t, seconds => estimate_of.seconds) $$;

CREATE TABLE es_t (id int PRIMARY KEY, gone int, device int, model text, firmware text, doc jsonb);
INSERT INTO es_t SELECT i, i, hashint4(i) & 511, 'model ' || (hashint4(i) & 511), 'version ' || (7 * (hashint4(i) & 511)), '{"a": 1}'
FROM generate_series(1, 100000) i;
ALTER TABLE es_t DROP COLUMN gone;
ANALYZE es_t;
SELECT * FROM estimate_of('es_t');

-- an order that helps
SELECT name, bytes_estimated < bytes_now * 0.8 AS helps FROM @am@.estimate('es_t', seconds => 600)
WHERE what = 'orderby' ORDER BY name;
SELECT what, name, detail FROM @am@.estimate('es_t', seconds => 600) WHERE what NOT IN ('table', 'column', 'orderby');

-- options: those that are asked about, those of the table
SELECT count(DISTINCT bytes_estimated) FROM (
	SELECT bytes_estimated FROM @am@.estimate('es_t', 'none', seconds => 0) WHERE what = 'table'
	UNION ALL SELECT bytes_estimated FROM @am@.estimate('es_t', 'zstd', 19, seconds => 0) WHERE what = 'table') e;
SELECT detail FROM @am@.estimate('es_t', 'zstd', 19, seconds => 0) WHERE what = 'advice';
SELECT count(*) FROM @am@.estimate('es_t', 'gzip');
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM @am@.estimate('es_t', 'lz4', 99);
\echo :LAST_ERROR_SQLSTATE

-- one row for a table
SELECT relation, bytes_now > bytes_estimated AS smaller, index_bytes > 0 AS indexed, verdict
FROM @am@.estimate_schema('public', 1000000, 0) WHERE relation = 'es_t'::regclass;

-- nothing, or next to nothing
CREATE TABLE es_none ();
CREATE TABLE es_empty (a int, b text);
CREATE TABLE es_one AS SELECT 1 AS a, NULL::text AS b;
SELECT * FROM estimate_of('es_none');
SELECT * FROM estimate_of('es_empty', 1);
SELECT * FROM estimate_of('es_one', 1);

-- what stands against it
CREATE TABLE es_brin AS SELECT i AS a FROM generate_series(1, 50000) i;
CREATE INDEX es_brin_i ON es_brin USING brin (a);
CREATE INDEX es_brin_j ON es_brin USING brin (a);
SELECT * FROM estimate_of('es_brin') WHERE what IN ('obstacle', 'advice');
SELECT * FROM @am@.obstacles('es_t');
SELECT * FROM @am@.obstacles('pg_class');
SELECT * FROM @am@.obstacles(NULL);

-- one of ours
CREATE TABLE es_ours (LIKE es_t) USING @am@;
INSERT INTO es_ours SELECT * FROM es_t;
SELECT * FROM estimate_of('es_ours') WHERE what IN ('table', 'obstacle', 'advice');

-- refused
CREATE VIEW es_view AS SELECT 1;
CREATE TABLE es_part (id int) PARTITION BY RANGE (id);
CREATE MATERIALIZED VIEW es_mat AS SELECT * FROM es_one WITH NO DATA;
SELECT * FROM @am@.estimate('es_view');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM @am@.estimate('es_part');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM @am@.estimate('es_mat');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM @am@.estimate(NULL);
\echo :LAST_ERROR_SQLSTATE
SET ROLE regress_estimate_other;
SELECT * FROM @am@.estimate('es_t');
\echo :LAST_ERROR_SQLSTATE
SELECT verdict, detail FROM @am@.estimate_schema('public', 1000000, 0) WHERE relation = 'public.es_t'::regclass;
RESET ROLE;

-- read-only
BEGIN READ ONLY;
SELECT what, name FROM @am@.estimate('es_one', seconds => 1) WHERE what = 'advice';
SELECT pg_current_xact_id_if_assigned();
COMMIT;

DROP TABLE es_t, es_none, es_empty, es_one, es_brin, es_ours, es_part CASCADE;
DROP VIEW es_view;
DROP FUNCTION estimate_of;
DROP ROLE regress_estimate_other;
RESET default_table_access_method;
