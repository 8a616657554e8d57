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
