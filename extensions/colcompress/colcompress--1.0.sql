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
	index_scan text DEFAULT NULL,
	reset text[] DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'cc_set_options';

COMMENT ON FUNCTION colcompress.set_options(regclass, text, integer, text, integer, bigint, boolean, text, text[]) IS
'sets options of a table, partitioned table or materialized view; NULL leaves an option as it is.
compression: none, lz4 or zstd; level: effort of the codec (zstd 1 to 22, lz4 1 to 12);
orderby: columns as in ORDER BY, that rewrites sort by, none if empty; row_group_rows: rows (1024 to 1048576);
row_group_bytes: bytes (65536 to 1073741824); auto_compact: whether background workers may compact;
index_scan: whether the planner prefers index scans (on), avoids them (off), or takes what costs less (auto);
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

CREATE FUNCTION colcompress.document_paths(
	relation regclass,
	OUT row_group integer,
	OUT column_name name,
	OUT path text[],
	OUT kind text,
	OUT encoding text,
	OUT codec text,
	OUT encoded_bytes bigint,
	OUT nulls bigint,
	OUT dictionary_values bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT
AS 'MODULE_PATHNAME', 'cc_document_paths'
ROWS 1000;

COMMENT ON FUNCTION colcompress.document_paths(regclass) IS
'sub-columns of the jsonb columns that are stored shredded: row group (as in row_groups), column, keys from the top,
kind of the values (string, number, boolean, null, json: arrays and objects taken whole), encoding, codec, bytes,
rows without such a value, entries of the dictionary if it has one.  A row without path is the residue, what of the
documents no sub-column has.  Columns that the caller may not SELECT, or of tables with row-level security for him,
are not shown';

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
zones that contradict the values, extents that overlap, btree, GiST and SP-GiST indexes that disagree with the
rows. No row: all is well. For the owner of the table';

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
and the order of the option orderby for the whole table; then VACUUM, as often as that makes the file smaller
(not if called by a procedure or a DO block). Otherwise like compact()';

CREATE PROCEDURE colcompress.colcompress_merge(relation regclass)
LANGUAGE C
AS 'MODULE_PATHNAME', 'cc_merge';

COMMENT ON PROCEDURE colcompress.colcompress_merge(regclass) IS
'another name of merge()';

-- ---- uint8: unsigned integers of 64 bits ----

CREATE TYPE colcompress.uint8;

CREATE FUNCTION colcompress.uint8_in(cstring) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_in';
COMMENT ON FUNCTION colcompress.uint8_in(cstring) IS 'input: decimal digits; errors: invalid_text_representation, numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_out(colcompress.uint8) RETURNS cstring LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_out';
COMMENT ON FUNCTION colcompress.uint8_out(colcompress.uint8) IS 'output: decimal digits';
CREATE FUNCTION colcompress.uint8_recv(internal) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_recv';
COMMENT ON FUNCTION colcompress.uint8_recv(internal) IS 'binary input: 8 bytes, most significant first';
CREATE FUNCTION colcompress.uint8_send(colcompress.uint8) RETURNS bytea LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_send';
COMMENT ON FUNCTION colcompress.uint8_send(colcompress.uint8) IS 'binary output: 8 bytes, most significant first';

CREATE TYPE colcompress.uint8 (
	INPUT = colcompress.uint8_in,
	OUTPUT = colcompress.uint8_out,
	RECEIVE = colcompress.uint8_recv,
	SEND = colcompress.uint8_send,
	INTERNALLENGTH = 8,
	PASSEDBYVALUE,
	ALIGNMENT = double,
	CATEGORY = 'N'
);

COMMENT ON TYPE colcompress.uint8 IS
'unsigned integer of 64 bits, 0 to 18446744073709551615. Its operators are in schema colcompress: put it into search_path';

-- casts: what may lose a value or fail needs an assignment
CREATE FUNCTION colcompress.uint8(smallint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_from_int2';
COMMENT ON FUNCTION colcompress.uint8(smallint) IS 'cast; error: numeric_value_out_of_range below 0';
CREATE FUNCTION colcompress.uint8(integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_from_int4';
COMMENT ON FUNCTION colcompress.uint8(integer) IS 'cast; error: numeric_value_out_of_range below 0';
CREATE FUNCTION colcompress.uint8(bigint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_from_int8';
COMMENT ON FUNCTION colcompress.uint8(bigint) IS 'cast; error: numeric_value_out_of_range below 0';
CREATE FUNCTION colcompress.uint8(numeric) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_from_numeric';
COMMENT ON FUNCTION colcompress.uint8(numeric) IS 'cast, halves away from zero; errors: numeric_value_out_of_range, feature_not_supported for NaN and infinity';
CREATE FUNCTION colcompress.uint8(double precision) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_from_float8';
COMMENT ON FUNCTION colcompress.uint8(double precision) IS 'cast, halves to even; error: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int2(colcompress.uint8) RETURNS smallint LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_to_int2';
COMMENT ON FUNCTION colcompress.int2(colcompress.uint8) IS 'cast; error: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int4(colcompress.uint8) RETURNS integer LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_to_int4';
COMMENT ON FUNCTION colcompress.int4(colcompress.uint8) IS 'cast; error: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int8(colcompress.uint8) RETURNS bigint LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_to_int8';
COMMENT ON FUNCTION colcompress.int8(colcompress.uint8) IS 'cast; error: numeric_value_out_of_range';
CREATE FUNCTION colcompress.numeric(colcompress.uint8) RETURNS numeric LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_to_numeric';
COMMENT ON FUNCTION colcompress.numeric(colcompress.uint8) IS 'cast, exact';
CREATE FUNCTION colcompress.float4(colcompress.uint8) RETURNS real LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_to_float4';
COMMENT ON FUNCTION colcompress.float4(colcompress.uint8) IS 'cast, rounded';
CREATE FUNCTION colcompress.float8(colcompress.uint8) RETURNS double precision LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_to_float8';
COMMENT ON FUNCTION colcompress.float8(colcompress.uint8) IS 'cast, rounded';

CREATE CAST (smallint AS colcompress.uint8) WITH FUNCTION colcompress.uint8(smallint) AS ASSIGNMENT;
CREATE CAST (integer AS colcompress.uint8) WITH FUNCTION colcompress.uint8(integer) AS ASSIGNMENT;
CREATE CAST (bigint AS colcompress.uint8) WITH FUNCTION colcompress.uint8(bigint) AS ASSIGNMENT;
CREATE CAST (numeric AS colcompress.uint8) WITH FUNCTION colcompress.uint8(numeric) AS ASSIGNMENT;
CREATE CAST (double precision AS colcompress.uint8) WITH FUNCTION colcompress.uint8(double precision) AS ASSIGNMENT;
CREATE CAST (colcompress.uint8 AS smallint) WITH FUNCTION colcompress.int2(colcompress.uint8) AS ASSIGNMENT;
CREATE CAST (colcompress.uint8 AS integer) WITH FUNCTION colcompress.int4(colcompress.uint8) AS ASSIGNMENT;
CREATE CAST (colcompress.uint8 AS bigint) WITH FUNCTION colcompress.int8(colcompress.uint8) AS ASSIGNMENT;
CREATE CAST (colcompress.uint8 AS numeric) WITH FUNCTION colcompress.numeric(colcompress.uint8) AS IMPLICIT;
CREATE CAST (colcompress.uint8 AS real) WITH FUNCTION colcompress.float4(colcompress.uint8) AS IMPLICIT;
CREATE CAST (colcompress.uint8 AS double precision) WITH FUNCTION colcompress.float8(colcompress.uint8) AS IMPLICIT;

-- comparison and arithmetic, with the signed integers too
CREATE FUNCTION colcompress.uint8_lt_uint8(colcompress.uint8, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_lt_uint8';
COMMENT ON FUNCTION colcompress.uint8_lt_uint8(colcompress.uint8, colcompress.uint8) IS 'less than';
CREATE FUNCTION colcompress.uint8_le_uint8(colcompress.uint8, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_le_uint8';
COMMENT ON FUNCTION colcompress.uint8_le_uint8(colcompress.uint8, colcompress.uint8) IS 'less than or equal';
CREATE FUNCTION colcompress.uint8_eq_uint8(colcompress.uint8, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_eq_uint8';
COMMENT ON FUNCTION colcompress.uint8_eq_uint8(colcompress.uint8, colcompress.uint8) IS 'equal';
CREATE FUNCTION colcompress.uint8_ge_uint8(colcompress.uint8, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ge_uint8';
COMMENT ON FUNCTION colcompress.uint8_ge_uint8(colcompress.uint8, colcompress.uint8) IS 'greater than or equal';
CREATE FUNCTION colcompress.uint8_gt_uint8(colcompress.uint8, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_gt_uint8';
COMMENT ON FUNCTION colcompress.uint8_gt_uint8(colcompress.uint8, colcompress.uint8) IS 'greater than';
CREATE FUNCTION colcompress.uint8_ne_uint8(colcompress.uint8, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ne_uint8';
COMMENT ON FUNCTION colcompress.uint8_ne_uint8(colcompress.uint8, colcompress.uint8) IS 'not equal';
CREATE FUNCTION colcompress.uint8_cmp_uint8(colcompress.uint8, colcompress.uint8) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_cmp_uint8';
COMMENT ON FUNCTION colcompress.uint8_cmp_uint8(colcompress.uint8, colcompress.uint8) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.uint8_pl_uint8(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_pl_uint8';
COMMENT ON FUNCTION colcompress.uint8_pl_uint8(colcompress.uint8, colcompress.uint8) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mi_uint8(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mi_uint8';
COMMENT ON FUNCTION colcompress.uint8_mi_uint8(colcompress.uint8, colcompress.uint8) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mul_uint8(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mul_uint8';
COMMENT ON FUNCTION colcompress.uint8_mul_uint8(colcompress.uint8, colcompress.uint8) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_div_uint8(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_div_uint8';
COMMENT ON FUNCTION colcompress.uint8_div_uint8(colcompress.uint8, colcompress.uint8) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_mod_uint8(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mod_uint8';
COMMENT ON FUNCTION colcompress.uint8_mod_uint8(colcompress.uint8, colcompress.uint8) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_lt_int2(colcompress.uint8, smallint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_lt_int2';
COMMENT ON FUNCTION colcompress.uint8_lt_int2(colcompress.uint8, smallint) IS 'less than';
CREATE FUNCTION colcompress.uint8_le_int2(colcompress.uint8, smallint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_le_int2';
COMMENT ON FUNCTION colcompress.uint8_le_int2(colcompress.uint8, smallint) IS 'less than or equal';
CREATE FUNCTION colcompress.uint8_eq_int2(colcompress.uint8, smallint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_eq_int2';
COMMENT ON FUNCTION colcompress.uint8_eq_int2(colcompress.uint8, smallint) IS 'equal';
CREATE FUNCTION colcompress.uint8_ge_int2(colcompress.uint8, smallint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ge_int2';
COMMENT ON FUNCTION colcompress.uint8_ge_int2(colcompress.uint8, smallint) IS 'greater than or equal';
CREATE FUNCTION colcompress.uint8_gt_int2(colcompress.uint8, smallint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_gt_int2';
COMMENT ON FUNCTION colcompress.uint8_gt_int2(colcompress.uint8, smallint) IS 'greater than';
CREATE FUNCTION colcompress.uint8_ne_int2(colcompress.uint8, smallint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ne_int2';
COMMENT ON FUNCTION colcompress.uint8_ne_int2(colcompress.uint8, smallint) IS 'not equal';
CREATE FUNCTION colcompress.uint8_cmp_int2(colcompress.uint8, smallint) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_cmp_int2';
COMMENT ON FUNCTION colcompress.uint8_cmp_int2(colcompress.uint8, smallint) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.uint8_pl_int2(colcompress.uint8, smallint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_pl_int2';
COMMENT ON FUNCTION colcompress.uint8_pl_int2(colcompress.uint8, smallint) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mi_int2(colcompress.uint8, smallint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mi_int2';
COMMENT ON FUNCTION colcompress.uint8_mi_int2(colcompress.uint8, smallint) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mul_int2(colcompress.uint8, smallint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mul_int2';
COMMENT ON FUNCTION colcompress.uint8_mul_int2(colcompress.uint8, smallint) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_div_int2(colcompress.uint8, smallint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_div_int2';
COMMENT ON FUNCTION colcompress.uint8_div_int2(colcompress.uint8, smallint) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_mod_int2(colcompress.uint8, smallint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mod_int2';
COMMENT ON FUNCTION colcompress.uint8_mod_int2(colcompress.uint8, smallint) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_lt_int4(colcompress.uint8, integer) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_lt_int4';
COMMENT ON FUNCTION colcompress.uint8_lt_int4(colcompress.uint8, integer) IS 'less than';
CREATE FUNCTION colcompress.uint8_le_int4(colcompress.uint8, integer) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_le_int4';
COMMENT ON FUNCTION colcompress.uint8_le_int4(colcompress.uint8, integer) IS 'less than or equal';
CREATE FUNCTION colcompress.uint8_eq_int4(colcompress.uint8, integer) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_eq_int4';
COMMENT ON FUNCTION colcompress.uint8_eq_int4(colcompress.uint8, integer) IS 'equal';
CREATE FUNCTION colcompress.uint8_ge_int4(colcompress.uint8, integer) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ge_int4';
COMMENT ON FUNCTION colcompress.uint8_ge_int4(colcompress.uint8, integer) IS 'greater than or equal';
CREATE FUNCTION colcompress.uint8_gt_int4(colcompress.uint8, integer) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_gt_int4';
COMMENT ON FUNCTION colcompress.uint8_gt_int4(colcompress.uint8, integer) IS 'greater than';
CREATE FUNCTION colcompress.uint8_ne_int4(colcompress.uint8, integer) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ne_int4';
COMMENT ON FUNCTION colcompress.uint8_ne_int4(colcompress.uint8, integer) IS 'not equal';
CREATE FUNCTION colcompress.uint8_cmp_int4(colcompress.uint8, integer) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_cmp_int4';
COMMENT ON FUNCTION colcompress.uint8_cmp_int4(colcompress.uint8, integer) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.uint8_pl_int4(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_pl_int4';
COMMENT ON FUNCTION colcompress.uint8_pl_int4(colcompress.uint8, integer) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mi_int4(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mi_int4';
COMMENT ON FUNCTION colcompress.uint8_mi_int4(colcompress.uint8, integer) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mul_int4(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mul_int4';
COMMENT ON FUNCTION colcompress.uint8_mul_int4(colcompress.uint8, integer) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_div_int4(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_div_int4';
COMMENT ON FUNCTION colcompress.uint8_div_int4(colcompress.uint8, integer) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_mod_int4(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mod_int4';
COMMENT ON FUNCTION colcompress.uint8_mod_int4(colcompress.uint8, integer) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_lt_int8(colcompress.uint8, bigint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_lt_int8';
COMMENT ON FUNCTION colcompress.uint8_lt_int8(colcompress.uint8, bigint) IS 'less than';
CREATE FUNCTION colcompress.uint8_le_int8(colcompress.uint8, bigint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_le_int8';
COMMENT ON FUNCTION colcompress.uint8_le_int8(colcompress.uint8, bigint) IS 'less than or equal';
CREATE FUNCTION colcompress.uint8_eq_int8(colcompress.uint8, bigint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_eq_int8';
COMMENT ON FUNCTION colcompress.uint8_eq_int8(colcompress.uint8, bigint) IS 'equal';
CREATE FUNCTION colcompress.uint8_ge_int8(colcompress.uint8, bigint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ge_int8';
COMMENT ON FUNCTION colcompress.uint8_ge_int8(colcompress.uint8, bigint) IS 'greater than or equal';
CREATE FUNCTION colcompress.uint8_gt_int8(colcompress.uint8, bigint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_gt_int8';
COMMENT ON FUNCTION colcompress.uint8_gt_int8(colcompress.uint8, bigint) IS 'greater than';
CREATE FUNCTION colcompress.uint8_ne_int8(colcompress.uint8, bigint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ne_int8';
COMMENT ON FUNCTION colcompress.uint8_ne_int8(colcompress.uint8, bigint) IS 'not equal';
CREATE FUNCTION colcompress.uint8_cmp_int8(colcompress.uint8, bigint) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_cmp_int8';
COMMENT ON FUNCTION colcompress.uint8_cmp_int8(colcompress.uint8, bigint) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.uint8_pl_int8(colcompress.uint8, bigint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_pl_int8';
COMMENT ON FUNCTION colcompress.uint8_pl_int8(colcompress.uint8, bigint) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mi_int8(colcompress.uint8, bigint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mi_int8';
COMMENT ON FUNCTION colcompress.uint8_mi_int8(colcompress.uint8, bigint) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mul_int8(colcompress.uint8, bigint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mul_int8';
COMMENT ON FUNCTION colcompress.uint8_mul_int8(colcompress.uint8, bigint) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_div_int8(colcompress.uint8, bigint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_div_int8';
COMMENT ON FUNCTION colcompress.uint8_div_int8(colcompress.uint8, bigint) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_mod_int8(colcompress.uint8, bigint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mod_int8';
COMMENT ON FUNCTION colcompress.uint8_mod_int8(colcompress.uint8, bigint) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.int2_lt_uint8(smallint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_lt_uint8';
COMMENT ON FUNCTION colcompress.int2_lt_uint8(smallint, colcompress.uint8) IS 'less than';
CREATE FUNCTION colcompress.int2_le_uint8(smallint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_le_uint8';
COMMENT ON FUNCTION colcompress.int2_le_uint8(smallint, colcompress.uint8) IS 'less than or equal';
CREATE FUNCTION colcompress.int2_eq_uint8(smallint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_eq_uint8';
COMMENT ON FUNCTION colcompress.int2_eq_uint8(smallint, colcompress.uint8) IS 'equal';
CREATE FUNCTION colcompress.int2_ge_uint8(smallint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_ge_uint8';
COMMENT ON FUNCTION colcompress.int2_ge_uint8(smallint, colcompress.uint8) IS 'greater than or equal';
CREATE FUNCTION colcompress.int2_gt_uint8(smallint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_gt_uint8';
COMMENT ON FUNCTION colcompress.int2_gt_uint8(smallint, colcompress.uint8) IS 'greater than';
CREATE FUNCTION colcompress.int2_ne_uint8(smallint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_ne_uint8';
COMMENT ON FUNCTION colcompress.int2_ne_uint8(smallint, colcompress.uint8) IS 'not equal';
CREATE FUNCTION colcompress.int2_cmp_uint8(smallint, colcompress.uint8) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_cmp_uint8';
COMMENT ON FUNCTION colcompress.int2_cmp_uint8(smallint, colcompress.uint8) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.int2_pl_uint8(smallint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_pl_uint8';
COMMENT ON FUNCTION colcompress.int2_pl_uint8(smallint, colcompress.uint8) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int2_mi_uint8(smallint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_mi_uint8';
COMMENT ON FUNCTION colcompress.int2_mi_uint8(smallint, colcompress.uint8) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int2_mul_uint8(smallint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_mul_uint8';
COMMENT ON FUNCTION colcompress.int2_mul_uint8(smallint, colcompress.uint8) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int2_div_uint8(smallint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_div_uint8';
COMMENT ON FUNCTION colcompress.int2_div_uint8(smallint, colcompress.uint8) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.int2_mod_uint8(smallint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_mod_uint8';
COMMENT ON FUNCTION colcompress.int2_mod_uint8(smallint, colcompress.uint8) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.int4_lt_uint8(integer, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_lt_uint8';
COMMENT ON FUNCTION colcompress.int4_lt_uint8(integer, colcompress.uint8) IS 'less than';
CREATE FUNCTION colcompress.int4_le_uint8(integer, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_le_uint8';
COMMENT ON FUNCTION colcompress.int4_le_uint8(integer, colcompress.uint8) IS 'less than or equal';
CREATE FUNCTION colcompress.int4_eq_uint8(integer, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_eq_uint8';
COMMENT ON FUNCTION colcompress.int4_eq_uint8(integer, colcompress.uint8) IS 'equal';
CREATE FUNCTION colcompress.int4_ge_uint8(integer, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_ge_uint8';
COMMENT ON FUNCTION colcompress.int4_ge_uint8(integer, colcompress.uint8) IS 'greater than or equal';
CREATE FUNCTION colcompress.int4_gt_uint8(integer, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_gt_uint8';
COMMENT ON FUNCTION colcompress.int4_gt_uint8(integer, colcompress.uint8) IS 'greater than';
CREATE FUNCTION colcompress.int4_ne_uint8(integer, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_ne_uint8';
COMMENT ON FUNCTION colcompress.int4_ne_uint8(integer, colcompress.uint8) IS 'not equal';
CREATE FUNCTION colcompress.int4_cmp_uint8(integer, colcompress.uint8) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_cmp_uint8';
COMMENT ON FUNCTION colcompress.int4_cmp_uint8(integer, colcompress.uint8) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.int4_pl_uint8(integer, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_pl_uint8';
COMMENT ON FUNCTION colcompress.int4_pl_uint8(integer, colcompress.uint8) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int4_mi_uint8(integer, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_mi_uint8';
COMMENT ON FUNCTION colcompress.int4_mi_uint8(integer, colcompress.uint8) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int4_mul_uint8(integer, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_mul_uint8';
COMMENT ON FUNCTION colcompress.int4_mul_uint8(integer, colcompress.uint8) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int4_div_uint8(integer, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_div_uint8';
COMMENT ON FUNCTION colcompress.int4_div_uint8(integer, colcompress.uint8) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.int4_mod_uint8(integer, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_mod_uint8';
COMMENT ON FUNCTION colcompress.int4_mod_uint8(integer, colcompress.uint8) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.int8_lt_uint8(bigint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_lt_uint8';
COMMENT ON FUNCTION colcompress.int8_lt_uint8(bigint, colcompress.uint8) IS 'less than';
CREATE FUNCTION colcompress.int8_le_uint8(bigint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_le_uint8';
COMMENT ON FUNCTION colcompress.int8_le_uint8(bigint, colcompress.uint8) IS 'less than or equal';
CREATE FUNCTION colcompress.int8_eq_uint8(bigint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_eq_uint8';
COMMENT ON FUNCTION colcompress.int8_eq_uint8(bigint, colcompress.uint8) IS 'equal';
CREATE FUNCTION colcompress.int8_ge_uint8(bigint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_ge_uint8';
COMMENT ON FUNCTION colcompress.int8_ge_uint8(bigint, colcompress.uint8) IS 'greater than or equal';
CREATE FUNCTION colcompress.int8_gt_uint8(bigint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_gt_uint8';
COMMENT ON FUNCTION colcompress.int8_gt_uint8(bigint, colcompress.uint8) IS 'greater than';
CREATE FUNCTION colcompress.int8_ne_uint8(bigint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_ne_uint8';
COMMENT ON FUNCTION colcompress.int8_ne_uint8(bigint, colcompress.uint8) IS 'not equal';
CREATE FUNCTION colcompress.int8_cmp_uint8(bigint, colcompress.uint8) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_cmp_uint8';
COMMENT ON FUNCTION colcompress.int8_cmp_uint8(bigint, colcompress.uint8) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.int8_pl_uint8(bigint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_pl_uint8';
COMMENT ON FUNCTION colcompress.int8_pl_uint8(bigint, colcompress.uint8) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int8_mi_uint8(bigint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_mi_uint8';
COMMENT ON FUNCTION colcompress.int8_mi_uint8(bigint, colcompress.uint8) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int8_mul_uint8(bigint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_mul_uint8';
COMMENT ON FUNCTION colcompress.int8_mul_uint8(bigint, colcompress.uint8) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int8_div_uint8(bigint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_div_uint8';
COMMENT ON FUNCTION colcompress.int8_div_uint8(bigint, colcompress.uint8) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.int8_mod_uint8(bigint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_mod_uint8';
COMMENT ON FUNCTION colcompress.int8_mod_uint8(bigint, colcompress.uint8) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';

CREATE OPERATOR colcompress.< (FUNCTION = colcompress.uint8_lt_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.uint8_le_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.uint8_eq_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.uint8_ge_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.uint8_gt_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.uint8_ne_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.uint8_pl_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.uint8_mi_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.uint8_mul_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.uint8_div_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.uint8_mod_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.< (FUNCTION = colcompress.uint8_lt_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.uint8_le_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.uint8_eq_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.uint8_ge_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.uint8_gt_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.uint8_ne_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.uint8_pl_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.uint8_mi_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.uint8_mul_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.uint8_div_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.uint8_mod_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint);
CREATE OPERATOR colcompress.< (FUNCTION = colcompress.uint8_lt_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.uint8_le_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.uint8_eq_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.uint8_ge_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.uint8_gt_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.uint8_ne_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.uint8_pl_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.uint8_mi_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.uint8_mul_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.uint8_div_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.uint8_mod_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer);
CREATE OPERATOR colcompress.< (FUNCTION = colcompress.uint8_lt_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.uint8_le_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.uint8_eq_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.uint8_ge_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.uint8_gt_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.uint8_ne_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.uint8_pl_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.uint8_mi_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.uint8_mul_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.uint8_div_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.uint8_mod_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint);
CREATE OPERATOR colcompress.< (FUNCTION = colcompress.int2_lt_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.int2_le_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.int2_eq_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.int2_ge_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.int2_gt_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.int2_ne_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.int2_pl_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.int2_mi_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.int2_mul_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.int2_div_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.int2_mod_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.< (FUNCTION = colcompress.int4_lt_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.int4_le_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.int4_eq_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.int4_ge_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.int4_gt_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.int4_ne_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.int4_pl_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.int4_mi_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.int4_mul_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.int4_div_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.int4_mod_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.< (FUNCTION = colcompress.int8_lt_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.int8_le_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.int8_eq_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.int8_ge_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.int8_gt_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.int8_ne_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.int8_pl_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.int8_mi_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.int8_mul_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.int8_div_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.int8_mod_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8);

-- bits
CREATE FUNCTION colcompress.uint8_and(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_and';
COMMENT ON FUNCTION colcompress.uint8_and(colcompress.uint8, colcompress.uint8) IS 'bitwise and';
CREATE OPERATOR colcompress.& (FUNCTION = colcompress.uint8_and, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.&));
CREATE FUNCTION colcompress.uint8_or(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_or';
COMMENT ON FUNCTION colcompress.uint8_or(colcompress.uint8, colcompress.uint8) IS 'bitwise or';
CREATE OPERATOR colcompress.| (FUNCTION = colcompress.uint8_or, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.|));
CREATE FUNCTION colcompress.uint8_xor(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_xor';
COMMENT ON FUNCTION colcompress.uint8_xor(colcompress.uint8, colcompress.uint8) IS 'bitwise exclusive or';
CREATE OPERATOR colcompress.# (FUNCTION = colcompress.uint8_xor, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.#));
CREATE FUNCTION colcompress.uint8_not(colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_not';
COMMENT ON FUNCTION colcompress.uint8_not(colcompress.uint8) IS 'bitwise not';
CREATE OPERATOR colcompress.~ (FUNCTION = colcompress.uint8_not, RIGHTARG = colcompress.uint8);
CREATE FUNCTION colcompress.uint8_shl(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_shl';
COMMENT ON FUNCTION colcompress.uint8_shl(colcompress.uint8, integer) IS 'shifted left by so many bits, modulo 64';
CREATE OPERATOR colcompress.<< (FUNCTION = colcompress.uint8_shl, LEFTARG = colcompress.uint8, RIGHTARG = integer);
CREATE FUNCTION colcompress.uint8_shr(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_shr';
COMMENT ON FUNCTION colcompress.uint8_shr(colcompress.uint8, integer) IS 'shifted right by so many bits, modulo 64';
CREATE OPERATOR colcompress.>> (FUNCTION = colcompress.uint8_shr, LEFTARG = colcompress.uint8, RIGHTARG = integer);

-- order and hashing
CREATE FUNCTION colcompress.uint8_sortsupport(internal) RETURNS void LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_sortsupport';
COMMENT ON FUNCTION colcompress.uint8_sortsupport(internal) IS 'sort support';
CREATE FUNCTION colcompress.uint8_hash(colcompress.uint8) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_hash';
COMMENT ON FUNCTION colcompress.uint8_hash(colcompress.uint8) IS 'hash, the same as that of an equal bigint';
CREATE FUNCTION colcompress.uint8_hash_extended(colcompress.uint8, bigint) RETURNS bigint LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_hash_extended';
COMMENT ON FUNCTION colcompress.uint8_hash_extended(colcompress.uint8, bigint) IS 'hash with a seed, the same as that of an equal bigint';

-- The family has to compare its integers with one another, too.  It must not do
-- that by pg_catalog's operators: one that is in two families is another kind of
-- equality to the planner, for every integer of the database, than one of an
-- extension that joined integer_ops alone.  So these are the same functions
-- under names of their own.
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int2lt, LEFTARG = smallint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int2le, LEFTARG = smallint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int2eq, LEFTARG = smallint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int2ge, LEFTARG = smallint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int2gt, LEFTARG = smallint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int2ne, LEFTARG = smallint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int24lt, LEFTARG = smallint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int24le, LEFTARG = smallint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int24eq, LEFTARG = smallint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int24ge, LEFTARG = smallint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int24gt, LEFTARG = smallint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int24ne, LEFTARG = smallint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int28lt, LEFTARG = smallint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int28le, LEFTARG = smallint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int28eq, LEFTARG = smallint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int28ge, LEFTARG = smallint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int28gt, LEFTARG = smallint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int28ne, LEFTARG = smallint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int42lt, LEFTARG = integer, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int42le, LEFTARG = integer, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int42eq, LEFTARG = integer, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int42ge, LEFTARG = integer, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int42gt, LEFTARG = integer, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int42ne, LEFTARG = integer, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int4lt, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int4le, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int4eq, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int4ge, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int4gt, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int4ne, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int48lt, LEFTARG = integer, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int48le, LEFTARG = integer, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int48eq, LEFTARG = integer, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int48ge, LEFTARG = integer, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int48gt, LEFTARG = integer, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int48ne, LEFTARG = integer, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int82lt, LEFTARG = bigint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int82le, LEFTARG = bigint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int82eq, LEFTARG = bigint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int82ge, LEFTARG = bigint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int82gt, LEFTARG = bigint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int82ne, LEFTARG = bigint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int84lt, LEFTARG = bigint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int84le, LEFTARG = bigint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int84eq, LEFTARG = bigint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int84ge, LEFTARG = bigint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int84gt, LEFTARG = bigint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int84ne, LEFTARG = bigint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int8lt, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int8le, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int8eq, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int8ge, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int8gt, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int8ne, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);

CREATE OPERATOR FAMILY colcompress.uint8_ops USING btree;
CREATE OPERATOR FAMILY colcompress.uint8_ops USING hash;

CREATE OPERATOR CLASS colcompress.uint8_ops DEFAULT FOR TYPE colcompress.uint8 USING btree
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.<,
	OPERATOR 2 colcompress.<=,
	OPERATOR 3 colcompress.=,
	OPERATOR 4 colcompress.>=,
	OPERATOR 5 colcompress.>,
	FUNCTION 1 colcompress.uint8_cmp_uint8(colcompress.uint8, colcompress.uint8),
	FUNCTION 2 colcompress.uint8_sortsupport(internal),
	FUNCTION 4 pg_catalog.btequalimage(oid);

CREATE OPERATOR CLASS colcompress.uint8_ops DEFAULT FOR TYPE colcompress.uint8 USING hash
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.=,
	FUNCTION 1 colcompress.uint8_hash(colcompress.uint8),
	FUNCTION 2 colcompress.uint8_hash_extended(colcompress.uint8, bigint);

CREATE OPERATOR CLASS colcompress.uint8_int2_ops FOR TYPE smallint USING btree
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.%<,
	OPERATOR 2 colcompress.%<=,
	OPERATOR 3 colcompress.%=,
	OPERATOR 4 colcompress.%>=,
	OPERATOR 5 colcompress.%>,
	FUNCTION 1 pg_catalog.btint2cmp(smallint, smallint),
	FUNCTION 2 pg_catalog.btint2sortsupport(internal),
	FUNCTION 4 pg_catalog.btequalimage(oid);

CREATE OPERATOR CLASS colcompress.uint8_int4_ops FOR TYPE integer USING btree
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.%<,
	OPERATOR 2 colcompress.%<=,
	OPERATOR 3 colcompress.%=,
	OPERATOR 4 colcompress.%>=,
	OPERATOR 5 colcompress.%>,
	FUNCTION 1 pg_catalog.btint4cmp(integer, integer),
	FUNCTION 2 pg_catalog.btint4sortsupport(internal),
	FUNCTION 4 pg_catalog.btequalimage(oid);

CREATE OPERATOR CLASS colcompress.uint8_int8_ops FOR TYPE bigint USING btree
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.%<,
	OPERATOR 2 colcompress.%<=,
	OPERATOR 3 colcompress.%=,
	OPERATOR 4 colcompress.%>=,
	OPERATOR 5 colcompress.%>,
	FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
	FUNCTION 2 pg_catalog.btint8sortsupport(internal),
	FUNCTION 4 pg_catalog.btequalimage(oid);

CREATE OPERATOR CLASS colcompress.uint8_int2_ops FOR TYPE smallint USING hash
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.%=,
	FUNCTION 1 pg_catalog.hashint2(smallint),
	FUNCTION 2 pg_catalog.hashint2extended(smallint, bigint);

CREATE OPERATOR CLASS colcompress.uint8_int4_ops FOR TYPE integer USING hash
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.%=,
	FUNCTION 1 pg_catalog.hashint4(integer),
	FUNCTION 2 pg_catalog.hashint4extended(integer, bigint);

CREATE OPERATOR CLASS colcompress.uint8_int8_ops FOR TYPE bigint USING hash
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.%=,
	FUNCTION 1 pg_catalog.hashint8(bigint),
	FUNCTION 2 pg_catalog.hashint8extended(bigint, bigint);

ALTER OPERATOR FAMILY colcompress.uint8_ops USING btree ADD
	OPERATOR 1 colcompress.< (colcompress.uint8, smallint),
	OPERATOR 2 colcompress.<= (colcompress.uint8, smallint),
	OPERATOR 3 colcompress.= (colcompress.uint8, smallint),
	OPERATOR 4 colcompress.>= (colcompress.uint8, smallint),
	OPERATOR 5 colcompress.> (colcompress.uint8, smallint),
	FUNCTION 1 (colcompress.uint8, smallint) colcompress.uint8_cmp_int2(colcompress.uint8, smallint),
	OPERATOR 1 colcompress.< (colcompress.uint8, integer),
	OPERATOR 2 colcompress.<= (colcompress.uint8, integer),
	OPERATOR 3 colcompress.= (colcompress.uint8, integer),
	OPERATOR 4 colcompress.>= (colcompress.uint8, integer),
	OPERATOR 5 colcompress.> (colcompress.uint8, integer),
	FUNCTION 1 (colcompress.uint8, integer) colcompress.uint8_cmp_int4(colcompress.uint8, integer),
	OPERATOR 1 colcompress.< (colcompress.uint8, bigint),
	OPERATOR 2 colcompress.<= (colcompress.uint8, bigint),
	OPERATOR 3 colcompress.= (colcompress.uint8, bigint),
	OPERATOR 4 colcompress.>= (colcompress.uint8, bigint),
	OPERATOR 5 colcompress.> (colcompress.uint8, bigint),
	FUNCTION 1 (colcompress.uint8, bigint) colcompress.uint8_cmp_int8(colcompress.uint8, bigint),
	OPERATOR 1 colcompress.< (smallint, colcompress.uint8),
	OPERATOR 2 colcompress.<= (smallint, colcompress.uint8),
	OPERATOR 3 colcompress.= (smallint, colcompress.uint8),
	OPERATOR 4 colcompress.>= (smallint, colcompress.uint8),
	OPERATOR 5 colcompress.> (smallint, colcompress.uint8),
	FUNCTION 1 (smallint, colcompress.uint8) colcompress.int2_cmp_uint8(smallint, colcompress.uint8),
	OPERATOR 1 colcompress.< (integer, colcompress.uint8),
	OPERATOR 2 colcompress.<= (integer, colcompress.uint8),
	OPERATOR 3 colcompress.= (integer, colcompress.uint8),
	OPERATOR 4 colcompress.>= (integer, colcompress.uint8),
	OPERATOR 5 colcompress.> (integer, colcompress.uint8),
	FUNCTION 1 (integer, colcompress.uint8) colcompress.int4_cmp_uint8(integer, colcompress.uint8),
	OPERATOR 1 colcompress.< (bigint, colcompress.uint8),
	OPERATOR 2 colcompress.<= (bigint, colcompress.uint8),
	OPERATOR 3 colcompress.= (bigint, colcompress.uint8),
	OPERATOR 4 colcompress.>= (bigint, colcompress.uint8),
	OPERATOR 5 colcompress.> (bigint, colcompress.uint8),
	FUNCTION 1 (bigint, colcompress.uint8) colcompress.int8_cmp_uint8(bigint, colcompress.uint8),
	OPERATOR 1 colcompress.%< (smallint, integer),
	OPERATOR 2 colcompress.%<= (smallint, integer),
	OPERATOR 3 colcompress.%= (smallint, integer),
	OPERATOR 4 colcompress.%>= (smallint, integer),
	OPERATOR 5 colcompress.%> (smallint, integer),
	FUNCTION 1 (smallint, integer) pg_catalog.btint24cmp(smallint, integer),
	OPERATOR 1 colcompress.%< (smallint, bigint),
	OPERATOR 2 colcompress.%<= (smallint, bigint),
	OPERATOR 3 colcompress.%= (smallint, bigint),
	OPERATOR 4 colcompress.%>= (smallint, bigint),
	OPERATOR 5 colcompress.%> (smallint, bigint),
	FUNCTION 1 (smallint, bigint) pg_catalog.btint28cmp(smallint, bigint),
	OPERATOR 1 colcompress.%< (integer, smallint),
	OPERATOR 2 colcompress.%<= (integer, smallint),
	OPERATOR 3 colcompress.%= (integer, smallint),
	OPERATOR 4 colcompress.%>= (integer, smallint),
	OPERATOR 5 colcompress.%> (integer, smallint),
	FUNCTION 1 (integer, smallint) pg_catalog.btint42cmp(integer, smallint),
	OPERATOR 1 colcompress.%< (integer, bigint),
	OPERATOR 2 colcompress.%<= (integer, bigint),
	OPERATOR 3 colcompress.%= (integer, bigint),
	OPERATOR 4 colcompress.%>= (integer, bigint),
	OPERATOR 5 colcompress.%> (integer, bigint),
	FUNCTION 1 (integer, bigint) pg_catalog.btint48cmp(integer, bigint),
	OPERATOR 1 colcompress.%< (bigint, smallint),
	OPERATOR 2 colcompress.%<= (bigint, smallint),
	OPERATOR 3 colcompress.%= (bigint, smallint),
	OPERATOR 4 colcompress.%>= (bigint, smallint),
	OPERATOR 5 colcompress.%> (bigint, smallint),
	FUNCTION 1 (bigint, smallint) pg_catalog.btint82cmp(bigint, smallint),
	OPERATOR 1 colcompress.%< (bigint, integer),
	OPERATOR 2 colcompress.%<= (bigint, integer),
	OPERATOR 3 colcompress.%= (bigint, integer),
	OPERATOR 4 colcompress.%>= (bigint, integer),
	OPERATOR 5 colcompress.%> (bigint, integer),
	FUNCTION 1 (bigint, integer) pg_catalog.btint84cmp(bigint, integer);

ALTER OPERATOR FAMILY colcompress.uint8_ops USING hash ADD
	OPERATOR 1 colcompress.= (colcompress.uint8, smallint),
	OPERATOR 1 colcompress.= (colcompress.uint8, integer),
	OPERATOR 1 colcompress.= (colcompress.uint8, bigint),
	OPERATOR 1 colcompress.= (smallint, colcompress.uint8),
	OPERATOR 1 colcompress.= (integer, colcompress.uint8),
	OPERATOR 1 colcompress.= (bigint, colcompress.uint8),
	OPERATOR 1 colcompress.%= (smallint, integer),
	OPERATOR 1 colcompress.%= (smallint, bigint),
	OPERATOR 1 colcompress.%= (integer, smallint),
	OPERATOR 1 colcompress.%= (integer, bigint),
	OPERATOR 1 colcompress.%= (bigint, smallint),
	OPERATOR 1 colcompress.%= (bigint, integer);

-- aggregates
CREATE FUNCTION colcompress.uint8_accum(internal, colcompress.uint8) RETURNS internal LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_accum';
COMMENT ON FUNCTION colcompress.uint8_accum(internal, colcompress.uint8) IS 'transition of sum and avg';
CREATE FUNCTION colcompress.uint8_accum_inv(internal, colcompress.uint8) RETURNS internal LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_accum_inv';
COMMENT ON FUNCTION colcompress.uint8_accum_inv(internal, colcompress.uint8) IS 'inverse transition of sum and avg';
CREATE FUNCTION colcompress.uint8_combine(internal, internal) RETURNS internal LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_combine';
COMMENT ON FUNCTION colcompress.uint8_combine(internal, internal) IS 'combines states of sum and avg';
CREATE FUNCTION colcompress.uint8_serialize(internal) RETURNS bytea LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_serialize';
COMMENT ON FUNCTION colcompress.uint8_serialize(internal) IS 'state of sum and avg as bytes';
CREATE FUNCTION colcompress.uint8_deserialize(bytea, internal) RETURNS internal LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_deserialize';
COMMENT ON FUNCTION colcompress.uint8_deserialize(bytea, internal) IS 'state of sum and avg from bytes';
CREATE FUNCTION colcompress.uint8_sum(internal) RETURNS numeric LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_sum';
COMMENT ON FUNCTION colcompress.uint8_sum(internal) IS 'result of sum';
CREATE FUNCTION colcompress.uint8_avg(internal) RETURNS numeric LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_avg';
COMMENT ON FUNCTION colcompress.uint8_avg(internal) IS 'result of avg';
CREATE FUNCTION colcompress.uint8_larger(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_larger';
COMMENT ON FUNCTION colcompress.uint8_larger(colcompress.uint8, colcompress.uint8) IS 'the greater one';
CREATE FUNCTION colcompress.uint8_smaller(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_smaller';
COMMENT ON FUNCTION colcompress.uint8_smaller(colcompress.uint8, colcompress.uint8) IS 'the lesser one';

CREATE AGGREGATE colcompress.sum(colcompress.uint8) (
	SFUNC = colcompress.uint8_accum,
	STYPE = internal,
	SSPACE = 32,
	FINALFUNC = colcompress.uint8_sum,
	COMBINEFUNC = colcompress.uint8_combine,
	SERIALFUNC = colcompress.uint8_serialize,
	DESERIALFUNC = colcompress.uint8_deserialize,
	MSFUNC = colcompress.uint8_accum,
	MINVFUNC = colcompress.uint8_accum_inv,
	MSTYPE = internal,
	MSSPACE = 32,
	MFINALFUNC = colcompress.uint8_sum,
	PARALLEL = safe
);
COMMENT ON AGGREGATE colcompress.sum(colcompress.uint8) IS 'sum as numeric, exact';

CREATE AGGREGATE colcompress.avg(colcompress.uint8) (
	SFUNC = colcompress.uint8_accum,
	STYPE = internal,
	SSPACE = 32,
	FINALFUNC = colcompress.uint8_avg,
	COMBINEFUNC = colcompress.uint8_combine,
	SERIALFUNC = colcompress.uint8_serialize,
	DESERIALFUNC = colcompress.uint8_deserialize,
	MSFUNC = colcompress.uint8_accum,
	MINVFUNC = colcompress.uint8_accum_inv,
	MSTYPE = internal,
	MSSPACE = 32,
	MFINALFUNC = colcompress.uint8_avg,
	PARALLEL = safe
);
COMMENT ON AGGREGATE colcompress.avg(colcompress.uint8) IS 'average as numeric, exact';

CREATE AGGREGATE colcompress.min(colcompress.uint8) (
	SFUNC = colcompress.uint8_smaller,
	STYPE = colcompress.uint8,
	COMBINEFUNC = colcompress.uint8_smaller,
	SORTOP = OPERATOR(colcompress.<),
	PARALLEL = safe
);
COMMENT ON AGGREGATE colcompress.min(colcompress.uint8) IS 'least value';

CREATE AGGREGATE colcompress.max(colcompress.uint8) (
	SFUNC = colcompress.uint8_larger,
	STYPE = colcompress.uint8,
	COMBINEFUNC = colcompress.uint8_larger,
	SORTOP = OPERATOR(colcompress.>),
	PARALLEL = safe
);
COMMENT ON AGGREGATE colcompress.max(colcompress.uint8) IS 'greatest value';

CREATE FUNCTION colcompress.running_compactions(
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
AS 'MODULE_PATHNAME', 'cc_compact_progress';

COMMENT ON FUNCTION colcompress.running_compactions() IS
'what the view compact_progress is made from';

CREATE VIEW colcompress.compact_progress AS
SELECT r.pid, r.relid::regclass AS relation, r.steps, r.delta_rows, r.row_group_rows,
	r.row_groups_read, r.row_groups_written, r.step_rows_taken, r.step_rows_written
FROM colcompress.running_compactions() r
JOIN pg_catalog.pg_class c ON c.oid = r.relid
WHERE r.datid = (SELECT d.oid FROM pg_catalog.pg_database d
				 WHERE d.datname = pg_catalog.current_database())
	AND c.relam = (SELECT a.oid FROM pg_catalog.pg_am a
				   WHERE a.amname = 'colcompress');

COMMENT ON VIEW colcompress.compact_progress IS
'running compactions of this database: process, table, finished steps, rows that they moved out of the delta and from
one row group to another, row groups read and written, and rows taken and written by the running step';

GRANT SELECT ON colcompress.compact_progress TO PUBLIC;

-- ---- compaction on a schedule: pg_cron ----

CREATE FUNCTION colcompress.require_pg_cron() RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- A schema of that name could be anybody's.
	IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_cron') THEN
		RAISE undefined_object USING
			MESSAGE = 'pg_cron is not installed in this database',
			HINT = 'Install extension pg_cron, or run CALL colcompress.compact() from a scheduler of your own; option auto_compact needs neither.';
	END IF;
END $$;

COMMENT ON FUNCTION colcompress.require_pg_cron() IS
'raises an error with a hint (42704) unless extension pg_cron is installed in this database';

CREATE FUNCTION colcompress.job_name(relation regclass) RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$ SELECT format('colcompress %s', relation::oid) $$;

COMMENT ON FUNCTION colcompress.job_name(regclass) IS
'name of a table''s job; by oid, so that it stays the same when the table is renamed';

CREATE FUNCTION colcompress.schedule(
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
	PERFORM colcompress.require_pg_cron();
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
	USING colcompress.job_name(relation), schedule,
		format('CALL colcompress.%s(%s::regclass)', CASE WHEN "full" THEN 'merge' ELSE 'compact' END, relation::oid);
	RETURN job;
END $$;

COMMENT ON FUNCTION colcompress.schedule(regclass, text, boolean) IS
'has pg_cron compact a table, or the partitions of a partitioned one, on a schedule (''*/5 * * * *''); full: merge() instead of
compact(). Replaces the table''s schedule, if it has one. Returns the number of the job, which runs as the user who calls this';

CREATE FUNCTION colcompress.unschedule(relation regclass) RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	done boolean;
BEGIN
	PERFORM colcompress.require_pg_cron();
	EXECUTE 'SELECT bool_or(cron.unschedule(jobid)) FROM cron.job WHERE jobname = $1' INTO done
	USING colcompress.job_name(relation);
	RETURN coalesce(done, false);
END $$;

COMMENT ON FUNCTION colcompress.unschedule(regclass) IS
'ends what schedule() began; false if the table has no job of the caller';

CREATE FUNCTION colcompress.scheduled_jobs(
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
	 FROM cron.job j WHERE j.database = current_database() AND j.jobname ~ ''^colcompress [0-9]+$''';
END $$;

COMMENT ON FUNCTION colcompress.scheduled_jobs() IS
'what the view jobs is made from';

CREATE VIEW colcompress.jobs AS SELECT * FROM colcompress.scheduled_jobs();

COMMENT ON VIEW colcompress.jobs IS
'what schedule() has given to pg_cron in this database: job, table, schedule, command, user, whether it is active;
no row where pg_cron is not installed';

GRANT SELECT ON colcompress.jobs TO PUBLIC;
