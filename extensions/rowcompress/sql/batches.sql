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
