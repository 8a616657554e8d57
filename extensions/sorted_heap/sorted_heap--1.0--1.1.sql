-- sorted_heap 1.0 to 1.1
\echo Use "ALTER EXTENSION sorted_heap UPDATE TO '1.1'" to load this file. \quit

-- ---- from heap and back ----

CREATE FUNCTION adopt(relation regclass, patience interval DEFAULT '1 minute') RETURNS void
	LANGUAGE C STRICT AS 'MODULE_PATHNAME', 'sh_adopt';

COMMENT ON FUNCTION adopt(regclass, interval) IS
	'makes a heap table, or materialized view, a sorted_heap one where it is: only catalogs change. Rows come into order by compact() or merge(), once it has a zonemap. ACCESS EXCLUSIVE for a moment, waited for in short turns, for as long as patience says; undone by a rollback; for the owner';

CREATE PROCEDURE release(relation regclass, patience interval DEFAULT '1 minute')
	LANGUAGE C AS 'MODULE_PATHNAME', 'sh_release';

COMMENT ON PROCEDURE release(regclass, interval) IS
	'makes a heap table of a sorted_heap one, as adopt() the other way; zonemaps stay, rows stay where they are';

-- Without pg_cron: the error is undefined_object.

CREATE OR REPLACE FUNCTION require_pg_cron() RETURNS void
	LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, pg_temp
	AS $$
BEGIN
	-- A schema of that name could be anybody's.
	IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_cron') THEN
		RAISE EXCEPTION 'scheduling needs the extension pg_cron in this database'
			USING ERRCODE = 'undefined_object',
			HINT = 'Install pg_cron, or let something else CALL sorted_heap.merge() now and then.';
	END IF;
END
$$;

COMMENT ON FUNCTION require_pg_cron() IS
	'error undefined_object unless the extension pg_cron is in this database';

COMMENT ON FUNCTION schedule(regclass, text) IS
	'lets pg_cron CALL merge() for a table (a regclass) by a schedule as of cron (text); the job''s number; errors undefined_object without pg_cron, insufficient_privilege unless the caller may maintain the table';

COMMENT ON FUNCTION unschedule(regclass) IS
	'ends what schedule() began for a table (a regclass); error undefined_object without pg_cron';
