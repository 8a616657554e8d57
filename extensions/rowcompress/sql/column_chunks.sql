-- ---- what row groups are made of ----

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
