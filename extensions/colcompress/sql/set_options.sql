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
