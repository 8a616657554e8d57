-- rowcompress 1.0
\echo Use "CREATE EXTENSION rowcompress" to load this file. \quit

GRANT USAGE ON SCHEMA rowcompress TO PUBLIC;

-- ---- access method ----

CREATE FUNCTION rowcompress.tableam_handler(internal)
RETURNS table_am_handler
LANGUAGE C STRICT
AS 'MODULE_PATHNAME', 'rc_tableam_handler';

COMMENT ON FUNCTION rowcompress.tableam_handler(internal) IS
'handler of table access method rowcompress';

CREATE ACCESS METHOD rowcompress TYPE TABLE HANDLER rowcompress.tableam_handler;

COMMENT ON ACCESS METHOD rowcompress IS
'compressed row batches, fetched by index, fully writable';

-- ---- options ----

-- One argument per option, in the order of the library's definitions.
CREATE FUNCTION rowcompress.set_options(
	relation regclass,
	compression text DEFAULT NULL,
	level integer DEFAULT NULL,
	orderby text DEFAULT NULL,
	batch_bytes bigint DEFAULT NULL,
	row_group_rows integer DEFAULT NULL,
	row_group_bytes bigint DEFAULT NULL,
	auto_compact boolean DEFAULT NULL,
	reset text[] DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'rc_set_options';

COMMENT ON FUNCTION rowcompress.set_options(regclass, text, integer, text, bigint, integer, bigint, boolean, text[]) IS
'sets options of a table, partitioned table or materialized view; NULL leaves an option as it is.
compression: none, lz4 or zstd; level: effort of the codec (zstd 1 to 22, lz4 1 to 12);
orderby: columns as in ORDER BY, that rewrites sort by, none if empty; batch_bytes: bytes of rows that end a batch (4096 to 1048576); row_group_rows: rows (1024 to 1048576);
row_group_bytes: bytes (65536 to 1073741824); auto_compact: whether background workers may compact;
reset: names of options that go back to their defaults, or ''{all}''.
New row groups use them; what is written stays as it is. Only the owner may.';

CREATE FUNCTION rowcompress.table_options(
	relation regclass,
	OUT name text,
	OUT value text,
	OUT source text,
	OUT default_value text,
	OUT description text)
RETURNS SETOF record
LANGUAGE C STABLE STRICT
AS 'MODULE_PATHNAME', 'rc_table_options';

COMMENT ON FUNCTION rowcompress.table_options(regclass) IS
'options in force for a table: name, value, where the value comes from (table, parent or default), default, description';

CREATE VIEW rowcompress.options AS
SELECT c.oid::regclass AS relation,
	o.name, o.value, o.source, o.default_value, o.description
FROM pg_catalog.pg_class c
CROSS JOIN LATERAL rowcompress.table_options(c.oid) o
WHERE c.relkind IN ('r', 'm', 'p')
	AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace)
	AND (c.relam = (SELECT a.oid FROM pg_catalog.pg_am a
					WHERE a.amname = 'rowcompress')
		OR EXISTS (SELECT FROM pg_catalog.pg_seclabel l
				   WHERE l.objoid = c.oid
					   AND l.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
					   AND l.objsubid = 0
					   AND l.provider = 'rowcompress'));

COMMENT ON VIEW rowcompress.options IS
'options in force, one row per table and option, for tables of this access method and tables that have options set';

GRANT SELECT ON rowcompress.options TO PUBLIC;

-- ---- what tables are made of ----

CREATE FUNCTION rowcompress.row_groups(
	relation regclass,
	OUT row_group integer,
	OUT first_row bigint,
	OUT rows bigint,
	OUT deleted_rows bigint,
	OUT start_block bigint,
	OUT pages bigint,
	OUT bytes bigint,
	OUT footer_bytes bigint,
	OUT format_version integer)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT
AS 'MODULE_PATHNAME', 'rc_row_groups'
ROWS 100;

COMMENT ON FUNCTION rowcompress.row_groups(regclass) IS
'row groups that the snapshot sees: number in the list, first row number, rows, rows deleted from it,
first block and number of pages of its extent, bytes of its image and of the footer in it, format version';

CREATE FUNCTION rowcompress.column_chunks(
	relation regclass,
	OUT row_group integer,
	OUT first_row bigint,
	OUT attnum smallint,
	OUT column_name name,
	OUT type regtype,
	OUT encoding text,
	OUT codec text,
	OUT raw_bytes bigint,
	OUT stored_bytes bigint,
	OUT nulls bigint,
	OUT dictionary_values bigint,
	OUT codec_dictionary_bytes bigint,
	OUT min text,
	OUT max text)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT
AS 'MODULE_PATHNAME', 'rc_column_chunks'
ROWS 1000;

COMMENT ON FUNCTION rowcompress.column_chunks(regclass) IS
'columns of the row groups that the snapshot sees: row group (as in row_groups), column, encoding, codec of its frames,
bytes of its values before and after compression, nulls, entries of the dictionary if it has one, bytes of the
dictionary that the codec was trained with if it pays, least and greatest value (of strings: prefixes, in byte order).
min and max are null for callers who may not SELECT the column or whom row-level security restricts';

CREATE FUNCTION rowcompress.batches(
	relation regclass,
	OUT row_group integer,
	OUT batch integer,
	OUT first_row bigint,
	OUT rows integer,
	OUT bytes bigint,
	OUT pages integer)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT
AS 'MODULE_PATHNAME', 'rc_batches'
ROWS 10000;

COMMENT ON FUNCTION rowcompress.batches(regclass) IS
'row batches of the row groups that the snapshot sees: row group (as in row_groups), number of the batch in it from 0,
first row number, rows, compressed bytes, pages that a fetch of one of its rows reads; values of 8 kB and more are
stored beside the batch and not counted';

CREATE FUNCTION rowcompress.table_info(
	relation regclass,
	OUT row_groups bigint,
	OUT row_group_rows bigint,
	OUT deleted_rows bigint,
	OUT row_group_bytes bigint,
	OUT delta_bytes bigint,
	OUT total_bytes bigint)
RETURNS record
LANGUAGE C VOLATILE STRICT
AS 'MODULE_PATHNAME', 'rc_table_info';

COMMENT ON FUNCTION rowcompress.table_info(regclass) IS
'totals of a table as the snapshot sees it: row groups, rows in them, rows deleted from them, bytes of their extents,
bytes of all other pages (delta, free extents), bytes of the main fork';

CREATE VIEW rowcompress.tables AS
SELECT c.oid::regclass AS relation, i.*
FROM pg_catalog.pg_class c
CROSS JOIN LATERAL rowcompress.table_info(c.oid) i
WHERE c.relam = (SELECT a.oid FROM pg_catalog.pg_am a
				 WHERE a.amname = 'rowcompress')
	AND c.relkind IN ('r', 'm')
	AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace)
	AND NOT (c.relpersistence = 'u' AND pg_catalog.pg_is_in_recovery())
	AND (pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
		OR pg_catalog.pg_has_role('pg_stat_scan_tables', 'USAGE'));

COMMENT ON VIEW rowcompress.tables IS
'totals of every table of this access method that the user may look into: see table_info()';

GRANT SELECT ON rowcompress.tables TO PUBLIC;

-- ---- checks ----

CREATE FUNCTION rowcompress.verify(
	relation regclass,
	OUT row_group integer,
	OUT first_row bigint,
	OUT column_name name,
	OUT batch integer,
	OUT problem text)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT
AS 'MODULE_PATHNAME', 'rc_verify';

COMMENT ON FUNCTION rowcompress.verify(regclass) IS
'reads all row groups that the snapshot sees and returns what is wrong: damaged pages, footers or batches,
zones that contradict the values, extents that overlap, btree, GiST and SP-GiST indexes that disagree with the
rows. No row: all is well. For the owner of the table';

-- ---- compaction ----

CREATE PROCEDURE rowcompress.compact(
	relation regclass,
	max_steps integer DEFAULT NULL)
LANGUAGE C
AS 'MODULE_PATHNAME', 'rc_compact';

COMMENT ON PROCEDURE rowcompress.compact(regclass, integer) IS
'moves rows of the delta into row groups, merges small row groups and rewrites those of which many rows are deleted,
in short transactions (so not inside a transaction block) beside readers and writers; max_steps limits their number.
One call rewrites a bounded share of the table. Partitioned tables: all partitions of this access method.
For the owner of the table, from PostgreSQL 17 on also with MAINTAIN';

CREATE PROCEDURE rowcompress.merge(relation regclass)
LANGUAGE C
AS 'MODULE_PATHNAME', 'rc_merge';

COMMENT ON PROCEDURE rowcompress.merge(regclass) IS
'compacts to the end: all rows of the delta, all small row groups, all that have deleted rows worth mentioning,
and the order of the option orderby for the whole table; then VACUUM, as often as that makes the file smaller
(not if called by a procedure or a DO block). Otherwise like compact()';

CREATE FUNCTION rowcompress.running_compactions(
	OUT pid integer,
	OUT datid oid,
	OUT relid oid,
	OUT steps bigint,
	OUT delta_rows bigint,
	OUT row_group_rows bigint,
	OUT row_groups_read bigint,
	OUT row_groups_written bigint,
	OUT step_rows_taken bigint,
	OUT step_rows_written bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT
AS 'MODULE_PATHNAME', 'rc_compact_progress';

COMMENT ON FUNCTION rowcompress.running_compactions() IS
'what the view compact_progress is made from';

CREATE VIEW rowcompress.compact_progress AS
SELECT r.pid, r.relid::regclass AS relation, r.steps, r.delta_rows, r.row_group_rows,
	r.row_groups_read, r.row_groups_written, r.step_rows_taken, r.step_rows_written
FROM rowcompress.running_compactions() r
JOIN pg_catalog.pg_class c ON c.oid = r.relid
WHERE r.datid = (SELECT d.oid FROM pg_catalog.pg_database d
				 WHERE d.datname = pg_catalog.current_database())
	AND c.relam = (SELECT a.oid FROM pg_catalog.pg_am a
				   WHERE a.amname = 'rowcompress');

COMMENT ON VIEW rowcompress.compact_progress IS
'running compactions of this database: process, table, finished steps, rows that they moved out of the delta and from
one row group to another, row groups read and written, and rows taken and written by the running step';

GRANT SELECT ON rowcompress.compact_progress TO PUBLIC;

-- ---- compaction on a schedule: pg_cron ----

CREATE FUNCTION rowcompress.require_pg_cron() RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- A schema of that name could be anybody's.
	IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_cron') THEN
		RAISE undefined_object USING
			MESSAGE = 'pg_cron is not installed in this database',
			HINT = 'Install extension pg_cron, or run CALL rowcompress.compact() from a scheduler of your own; option auto_compact needs neither.';
	END IF;
END $$;

COMMENT ON FUNCTION rowcompress.require_pg_cron() IS
'raises an error with a hint (42704) unless extension pg_cron is installed in this database';

CREATE FUNCTION rowcompress.job_name(relation regclass) RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$ SELECT format('rowcompress %s', relation::oid) $$;

COMMENT ON FUNCTION rowcompress.job_name(regclass) IS
'name of a table''s job; by oid, so that it stays the same when the table is renamed';

CREATE FUNCTION rowcompress.schedule(
	relation regclass,
	schedule text,
	"full" boolean DEFAULT false)
RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	maintains boolean;
	job bigint;
BEGIN
	PERFORM rowcompress.require_pg_cron();
	SELECT pg_has_role(c.relowner, 'USAGE') INTO maintains
	FROM pg_class c WHERE c.oid = relation;
	IF NOT maintains AND current_setting('server_version_num')::integer >= 170000 THEN
		maintains := has_table_privilege(relation, 'MAINTAIN');
	END IF;
	IF NOT maintains THEN
		RAISE insufficient_privilege USING
			MESSAGE = format('must be owner of table %s', relation);
	END IF;
	EXECUTE 'SELECT cron.schedule($1, $2, $3)' INTO job
	USING rowcompress.job_name(relation), schedule,
		format('CALL rowcompress.%s(%s::regclass)', CASE WHEN "full" THEN 'merge' ELSE 'compact' END, relation::oid);
	RETURN job;
END $$;

COMMENT ON FUNCTION rowcompress.schedule(regclass, text, boolean) IS
'has pg_cron compact a table, or the partitions of a partitioned one, on a schedule (''*/5 * * * *''); full: merge() instead of
compact(). Replaces the table''s schedule, if it has one. Returns the number of the job, which runs as the user who calls this';

CREATE FUNCTION rowcompress.unschedule(relation regclass) RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	done boolean;
BEGIN
	PERFORM rowcompress.require_pg_cron();
	EXECUTE 'SELECT bool_or(cron.unschedule(jobid)) FROM cron.job WHERE jobname = $1' INTO done
	USING rowcompress.job_name(relation);
	RETURN coalesce(done, false);
END $$;

COMMENT ON FUNCTION rowcompress.unschedule(regclass) IS
'ends what schedule() began; false if the table has no job of the caller';

CREATE FUNCTION rowcompress.scheduled_jobs(
	OUT jobid bigint,
	OUT relation regclass,
	OUT schedule text,
	OUT command text,
	OUT username text,
	OUT active boolean)
RETURNS SETOF record
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_cron') THEN
		RETURN;
	END IF;
	RETURN QUERY EXECUTE
	'SELECT j.jobid, substr(j.jobname, 13)::oid::regclass, j.schedule, j.command, j.username::text, j.active
	 FROM cron.job j WHERE j.database = current_database() AND j.jobname ~ ''^rowcompress [0-9]+$''';
END $$;

COMMENT ON FUNCTION rowcompress.scheduled_jobs() IS
'what the view jobs is made from';

CREATE VIEW rowcompress.jobs AS SELECT * FROM rowcompress.scheduled_jobs();

COMMENT ON VIEW rowcompress.jobs IS
'what schedule() has given to pg_cron in this database: job, table, schedule, command, user, whether it is active;
no row where pg_cron is not installed';

GRANT SELECT ON rowcompress.jobs TO PUBLIC;
