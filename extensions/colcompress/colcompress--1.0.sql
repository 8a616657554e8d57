-- colcompress 1.0
\echo Use "CREATE EXTENSION colcompress" to load this file. \quit

GRANT USAGE ON SCHEMA colcompress TO PUBLIC;

-- ---- access method ----

CREATE FUNCTION colcompress.tableam_handler(internal)
RETURNS table_am_handler
LANGUAGE C STRICT
AS 'MODULE_PATHNAME', 'cc_tableam_handler';

COMMENT ON FUNCTION colcompress.tableam_handler(internal) IS
'handler of table access method colcompress';

CREATE ACCESS METHOD colcompress TYPE TABLE HANDLER colcompress.tableam_handler;

COMMENT ON ACCESS METHOD colcompress IS
'compressed columns, vectorised scans, fully writable';

-- ---- options ----

-- One argument per option, in the order of the library's definitions.
CREATE FUNCTION colcompress.set_options(
	relation regclass,
	compression text DEFAULT NULL,
	level integer DEFAULT NULL,
	orderby text DEFAULT NULL,
	row_group_rows integer DEFAULT NULL,
	row_group_bytes bigint DEFAULT NULL,
	auto_compact boolean DEFAULT NULL,
	reset text[] DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'cc_set_options';

COMMENT ON FUNCTION colcompress.set_options(regclass, text, integer, text, integer, bigint, boolean, text[]) IS
'sets options of a table, partitioned table or materialized view; NULL leaves an option as it is.
compression: none, lz4 or zstd; level: effort of the codec (zstd 1 to 22, lz4 1 to 12);
orderby: columns as in ORDER BY, that rewrites sort by, none if empty; row_group_rows: rows (1024 to 1048576);
row_group_bytes: bytes (65536 to 1073741824); auto_compact: whether background workers may compact (kept for a later version);
reset: names of options that go back to their defaults, or ''{all}''.
New row groups use them; what is written stays as it is. Only the owner may.';

CREATE FUNCTION colcompress.table_options(
	relation regclass,
	OUT name text,
	OUT value text,
	OUT source text,
	OUT default_value text,
	OUT description text)
RETURNS SETOF record
LANGUAGE C STABLE STRICT
AS 'MODULE_PATHNAME', 'cc_table_options';

COMMENT ON FUNCTION colcompress.table_options(regclass) IS
'options in force for a table: name, value, where the value comes from (table, parent or default), default, description';

CREATE VIEW colcompress.options AS
SELECT c.oid::regclass AS relation,
	o.name, o.value, o.source, o.default_value, o.description
FROM pg_catalog.pg_class c
CROSS JOIN LATERAL colcompress.table_options(c.oid) o
WHERE c.relkind IN ('r', 'm', 'p')
	AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace)
	AND (c.relam = (SELECT a.oid FROM pg_catalog.pg_am a
					WHERE a.amname = 'colcompress')
		OR EXISTS (SELECT FROM pg_catalog.pg_seclabel l
				   WHERE l.objoid = c.oid
					   AND l.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
					   AND l.objsubid = 0
					   AND l.provider = 'colcompress'));

COMMENT ON VIEW colcompress.options IS
'options in force, one row per table and option, for tables of this access method and tables that have options set';

GRANT SELECT ON colcompress.options TO PUBLIC;

-- ---- what tables are made of ----

CREATE FUNCTION colcompress.row_groups(
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
AS 'MODULE_PATHNAME', 'cc_row_groups'
ROWS 100;

COMMENT ON FUNCTION colcompress.row_groups(regclass) IS
'row groups that the snapshot sees: number in the list, first row number, rows, rows deleted from it,
first block and number of pages of its extent, bytes of its image and of the footer in it, format version';

CREATE FUNCTION colcompress.column_chunks(
	relation regclass,
	OUT row_group integer,
	OUT first_row bigint,
	OUT attnum smallint,
	OUT column_name name,
	OUT type regtype,
	OUT encoding text,
	OUT codec text,
	OUT blocks bigint,
	OUT raw_bytes bigint,
	OUT encoded_bytes bigint,
	OUT nulls bigint,
	OUT dictionary_values bigint,
	OUT min text,
	OUT max text)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT
AS 'MODULE_PATHNAME', 'cc_column_chunks'
ROWS 1000;

COMMENT ON FUNCTION colcompress.column_chunks(regclass) IS
'column chunks of the row groups that the snapshot sees: row group (as in row_groups), column, encoding, codec,
blocks, bytes before and after the codec, nulls, entries of the dictionary if it has one, least and greatest value
(of strings: prefixes, in byte order).
min and max are null for callers who may not SELECT the column or whom row-level security restricts';

CREATE FUNCTION colcompress.table_info(
	relation regclass,
	OUT row_groups bigint,
	OUT row_group_rows bigint,
	OUT deleted_rows bigint,
	OUT row_group_bytes bigint,
	OUT delta_bytes bigint,
	OUT total_bytes bigint)
RETURNS record
LANGUAGE C VOLATILE STRICT
AS 'MODULE_PATHNAME', 'cc_table_info';

COMMENT ON FUNCTION colcompress.table_info(regclass) IS
'totals of a table as the snapshot sees it: row groups, rows in them, rows deleted from them, bytes of their extents,
bytes of all other pages (delta, free extents), bytes of the main fork';

CREATE VIEW colcompress.tables AS
SELECT c.oid::regclass AS relation, i.*
FROM pg_catalog.pg_class c
CROSS JOIN LATERAL colcompress.table_info(c.oid) i
WHERE c.relam = (SELECT a.oid FROM pg_catalog.pg_am a
				 WHERE a.amname = 'colcompress')
	AND c.relkind IN ('r', 'm')
	AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace)
	AND NOT (c.relpersistence = 'u' AND pg_catalog.pg_is_in_recovery())
	AND (pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
		OR pg_catalog.pg_has_role('pg_stat_scan_tables', 'USAGE'));

COMMENT ON VIEW colcompress.tables IS
'totals of every table of this access method that the user may look into: see table_info()';

GRANT SELECT ON colcompress.tables TO PUBLIC;

-- ---- checks ----

CREATE FUNCTION colcompress.verify(
	relation regclass,
	OUT row_group integer,
	OUT first_row bigint,
	OUT column_name name,
	OUT vector integer,
	OUT problem text)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT
AS 'MODULE_PATHNAME', 'cc_verify';

COMMENT ON FUNCTION colcompress.verify(regclass) IS
'reads all row groups that the snapshot sees and returns what is wrong: damaged pages, footers or vectors,
zones that contradict the values, extents that overlap. No row: all is well. For the owner of the table';

-- ---- compaction ----

CREATE PROCEDURE colcompress.compact(
	relation regclass,
	max_steps integer DEFAULT NULL)
LANGUAGE C
AS 'MODULE_PATHNAME', 'cc_compact';

COMMENT ON PROCEDURE colcompress.compact(regclass, integer) IS
'moves rows of the delta into row groups, merges small row groups and rewrites those of which many rows are deleted,
in short transactions (so not inside a transaction block) beside readers and writers; max_steps limits their number.
One call rewrites a bounded share of the table. Partitioned tables: all partitions of this access method.
For the owner of the table, from PostgreSQL 17 on also with MAINTAIN';

CREATE PROCEDURE colcompress.merge(relation regclass)
LANGUAGE C
AS 'MODULE_PATHNAME', 'cc_merge';

COMMENT ON PROCEDURE colcompress.merge(regclass) IS
'compacts to the end: all rows of the delta, all small row groups, all that have deleted rows worth mentioning,
and the order of the option orderby for the whole table. Otherwise like compact()';

CREATE PROCEDURE colcompress.colcompress_merge(relation regclass)
LANGUAGE C
AS 'MODULE_PATHNAME', 'cc_merge';

COMMENT ON PROCEDURE colcompress.colcompress_merge(regclass) IS
'another name of merge()';
