# What common/sql/*.sql.in say where access methods differ.
s/@c@/rc/g
s/@unit@/batch/g
s/@units@/batches/g
s/@about@/compressed row batches, fetched by index, fully writable/
s/@own_argument@/\n	batch_bytes bigint DEFAULT NULL,/
s/@own_type@/ bigint,/
s/@own_option@/ batch_bytes: bytes of rows that end a batch (4096 to 1048576);/
s/@own_last_argument@//
s/@own_last_type@//
s/@own_last_option@//
s/@own_numbers@/	OUT raw_bytes bigint,\
	OUT stored_bytes bigint,\
	OUT nulls bigint,\
	OUT dictionary_values bigint,\
	OUT codec_dictionary_bytes bigint,/
s/@about_chunks@/columns of the row groups that the snapshot sees: row group (as in row_groups), column, encoding, codec of its frames,\
bytes of its values before and after compression, nulls, entries of the dictionary if it has one, bytes of the\
dictionary that the codec was trained with if it pays, least and greatest value (of strings: prefixes, in byte order)./
