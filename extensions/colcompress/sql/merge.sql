-- ---- compaction ----

CREATE PROCEDURE colcompress.colcompress_merge(relation regclass)
LANGUAGE C
AS 'MODULE_PATHNAME', 'cc_merge';

COMMENT ON PROCEDURE colcompress.colcompress_merge(regclass) IS
'another name of merge()';
