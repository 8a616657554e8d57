-- colcompress 1.0
\echo Use "CREATE EXTENSION colcompress" to load this file. \quit

CREATE FUNCTION tableam_handler(internal)
RETURNS table_am_handler
LANGUAGE C STRICT
AS 'MODULE_PATHNAME', 'cc_tableam_handler';

COMMENT ON FUNCTION tableam_handler(internal) IS
'handler of table access method colcompress';

CREATE ACCESS METHOD colcompress TYPE TABLE HANDLER tableam_handler;

COMMENT ON ACCESS METHOD colcompress IS
'compressed columns, vectorised scans, fully writable';
