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
