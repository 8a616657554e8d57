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
