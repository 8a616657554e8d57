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

-- ---- compaction ----
-- In smaller steps: a writer waits for the step that moves its row.

CREATE OR REPLACE PROCEDURE compact(relation regclass, step_rows integer DEFAULT 2000)
	LANGUAGE plpgsql
	AS $$
BEGIN
	CALL sorted_heap.run_compaction(relation, true, step_rows);
END
$$;

COMMENT ON PROCEDURE compact(regclass, integer) IS
	'moves all rows of a table with a zonemap index (a regclass) to empty pages in key order, online, step_rows rows (1 to 1000000) per transaction, with VACUUM between, and cuts off what is left over; for the owner; not in a transaction block';

CREATE OR REPLACE PROCEDURE merge(relation regclass, step_rows integer DEFAULT 2000)
	LANGUAGE plpgsql
	AS $$
BEGIN
	CALL sorted_heap.run_compaction(relation, false, step_rows);
END
$$;

CREATE OR REPLACE PROCEDURE sorted_heap_compact(relation regclass)
	LANGUAGE plpgsql
	AS $$
BEGIN
	CALL sorted_heap.compact(relation);
END
$$;

-- ---- scheduling ----
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

CREATE OR REPLACE FUNCTION schedule(relation regclass, schedule text) RETURNS bigint
	LANGUAGE plpgsql STRICT
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	maintains boolean;
	job bigint;
BEGIN
	PERFORM sorted_heap.require_pg_cron();
	SELECT pg_has_role(relowner, 'USAGE') INTO maintains FROM pg_class WHERE oid = relation;
	IF NOT maintains AND current_setting('server_version_num')::integer >= 170000 THEN
		maintains := has_table_privilege(relation, 'MAINTAIN');
	END IF;
	IF NOT maintains THEN
		RAISE EXCEPTION 'must be owner of table %', relation
			USING ERRCODE = 'insufficient_privilege';
	END IF;
	EXECUTE 'SELECT cron.schedule($1, $2, $3)' INTO job
		USING format('sorted_heap %s', relation), schedule,
			format('CALL sorted_heap.merge(%L)', relation);
	RETURN job;
END
$$;

COMMENT ON FUNCTION schedule(regclass, text) IS
	'lets pg_cron CALL merge() for a table (a regclass) by a schedule as of cron (text); the job''s number; errors undefined_object without pg_cron, insufficient_privilege unless the caller may maintain the table';

CREATE OR REPLACE FUNCTION unschedule(relation regclass) RETURNS boolean
	LANGUAGE plpgsql STRICT
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	done boolean;
BEGIN
	PERFORM sorted_heap.require_pg_cron();
	-- in version 1.0 it had the table's oid
	EXECUTE 'SELECT bool_or(cron.unschedule(jobid)) FROM cron.job WHERE jobname IN ($1, $2)' INTO done
		USING format('sorted_heap %s', relation), 'sorted_heap ' || relation::oid;
	RETURN coalesce(done, false);
END
$$;

COMMENT ON FUNCTION unschedule(regclass) IS
	'ends what schedule() began for a table (a regclass); false if it has no job of the caller; error undefined_object without pg_cron';
