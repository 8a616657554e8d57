-- ---- words of the classic zson, for what was written for it ----

CREATE FUNCTION zson_info(document zson) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
	SELECT pg_catalog.format('zson version = 1, dict version = %s, jsonb size = %s, zson size = %s',
		coalesce(s.dictionary, 0), pg_catalog.pg_column_size(document::pg_catalog.jsonb), s.bytes + 4)
	FROM @extschema@.zson_storage(document) s
$$;

COMMENT ON FUNCTION zson_info(zson) IS
'how a document is stored, as text: number of its dictionary (0: none), bytes as jsonb and as zson; zson_storage() has it in columns';

CREATE FUNCTION zson_dict.zson_words(
	OUT dict_id integer,
	OUT word_id integer,
	OUT word text)
RETURNS SETOF record
LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'zson_words';

COMMENT ON FUNCTION zson_dict.zson_words() IS 'what the view zson_dict is made from';

CREATE VIEW zson_dict AS SELECT w.dict_id, w.word_id, w.word FROM zson_dict.zson_words() w;

COMMENT ON VIEW zson_dict IS
'keys that have numbers in dictionaries: number of the dictionary, of the key, and the key; read only: zson_drop_dictionary() drops one';

GRANT SELECT ON zson_dict TO PUBLIC;
