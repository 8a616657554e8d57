-- ---- scheduling, on pg_cron ----

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
