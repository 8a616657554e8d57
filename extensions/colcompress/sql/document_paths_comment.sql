COMMENT ON FUNCTION colcompress.document_paths(regclass) IS
'sub-columns of the jsonb columns that are stored shredded: row group (as in row_groups), column, keys from the top,
kind of the values (string, number, boolean, null, json: arrays and objects taken whole, array: arrays whose elements
have sub-columns of their own, below a key []), encoding, codec, bytes, rows or elements without such a value, entries
of the dictionary if it has one.  A row without path is the residue, what of the documents no sub-column has.  Columns
that the caller may not SELECT, or of tables with row-level security for him, are not shown';
