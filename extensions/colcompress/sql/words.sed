# What common/sql/*.sql.in say where access methods differ.
s/@c@/cc/g
s/@unit@/vector/g
s/@units@/vectors/g
s/@about@/compressed columns, vectorised scans, fully writable/
s/@own_argument@//
s/@own_type@//
s/@own_option@//
s/@own_last_argument@/\n	index_scan text DEFAULT NULL,/
s/@own_last_type@/ text,/
s/@own_last_option@/\nindex_scan: whether the planner prefers index scans (on), avoids them (off), or takes what costs less (auto);/
s/@own_numbers@/	OUT blocks bigint,\
	OUT raw_bytes bigint,\
	OUT encoded_bytes bigint,\
	OUT nulls bigint,\
	OUT dictionary_values bigint,/
s/@about_chunks@/column chunks of the row groups that the snapshot sees: row group (as in row_groups), column, encoding, codec,\
blocks, bytes before and after the codec, nulls, entries of the dictionary if it has one, least and greatest value\
(of strings: prefixes, in byte order)./
