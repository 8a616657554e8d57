-- zson_dict 1.1
\echo Use "CREATE EXTENSION zson_dict" to load this file. \quit

-- Dictionaries live here, as functions that return their bytes.  Only the
-- extension's owner may create any.
CREATE SCHEMA zson_dict;
GRANT USAGE ON SCHEMA zson_dict TO PUBLIC;

COMMENT ON SCHEMA zson_dict IS
'dictionaries of zson: function dictionary_<id>() returns the bytes of one; values that were stored with it cannot be read without it';

-- ---- type ----

CREATE TYPE zson;

CREATE FUNCTION zson_in(cstring) RETURNS zson
LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_in';
CREATE FUNCTION zson_out(zson) RETURNS cstring
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_out';
CREATE FUNCTION zson_recv(internal) RETURNS zson
LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_recv';
CREATE FUNCTION zson_send(zson) RETURNS bytea
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_send';

CREATE FUNCTION zson_subscript_handler(internal) RETURNS internal
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_subscript_handler';

CREATE TYPE zson (
	INPUT = zson_in,
	OUTPUT = zson_out,
	RECEIVE = zson_recv,
	SEND = zson_send,
	SUBSCRIPT = zson_subscript_handler,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);

COMMENT ON TYPE zson IS
'jsonb compressed with dictionaries; input, output and results of operators are jsonb''s';

-- ---- casts: only zson to jsonb is implicit, so that every jsonb function takes zson ----

CREATE FUNCTION zson_from_jsonb(jsonb) RETURNS zson
LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_from_jsonb';

COMMENT ON FUNCTION zson_from_jsonb(jsonb) IS
'compresses a document with the dictionary that suits it';

CREATE FUNCTION zson_to_jsonb(zson) RETURNS jsonb
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_to_jsonb';

COMMENT ON FUNCTION zson_to_jsonb(zson) IS
'the document as jsonb';

CREATE CAST (zson AS jsonb) WITH FUNCTION zson_to_jsonb(zson) AS IMPLICIT;
CREATE CAST (jsonb AS zson) WITH FUNCTION zson_from_jsonb(jsonb) AS ASSIGNMENT;

CREATE FUNCTION zson_to_json(zson) RETURNS json
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_to_text';

COMMENT ON FUNCTION zson_to_json(zson) IS
'the document as json, as jsonb writes it';

CREATE FUNCTION zson_to_text(zson) RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_to_text';

COMMENT ON FUNCTION zson_to_text(zson) IS
'the document as text, as jsonb writes it';

CREATE CAST (zson AS json) WITH FUNCTION zson_to_json(zson) AS ASSIGNMENT;
CREATE CAST (zson AS text) WITH FUNCTION zson_to_text(zson) AS ASSIGNMENT;
CREATE CAST (json AS zson) WITH INOUT AS ASSIGNMENT;

CREATE FUNCTION zson_bool(zson) RETURNS bool
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_bool';

COMMENT ON FUNCTION zson_bool(zson) IS
'a scalar as bool; an error for any other document';

CREATE CAST (zson AS bool) WITH FUNCTION zson_bool(zson);

CREATE FUNCTION zson_numeric(zson) RETURNS numeric
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_numeric';

COMMENT ON FUNCTION zson_numeric(zson) IS
'a scalar as numeric; an error for any other document';

CREATE CAST (zson AS numeric) WITH FUNCTION zson_numeric(zson);

CREATE FUNCTION zson_int2(zson) RETURNS int2
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_int2';

COMMENT ON FUNCTION zson_int2(zson) IS
'a scalar as int2; an error for any other document';

CREATE CAST (zson AS int2) WITH FUNCTION zson_int2(zson);

CREATE FUNCTION zson_int4(zson) RETURNS int4
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_int4';

COMMENT ON FUNCTION zson_int4(zson) IS
'a scalar as int4; an error for any other document';

CREATE CAST (zson AS int4) WITH FUNCTION zson_int4(zson);

CREATE FUNCTION zson_int8(zson) RETURNS int8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_int8';

COMMENT ON FUNCTION zson_int8(zson) IS
'a scalar as int8; an error for any other document';

CREATE CAST (zson AS int8) WITH FUNCTION zson_int8(zson);

CREATE FUNCTION zson_float4(zson) RETURNS float4
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_float4';

COMMENT ON FUNCTION zson_float4(zson) IS
'a scalar as float4; an error for any other document';

CREATE CAST (zson AS float4) WITH FUNCTION zson_float4(zson);

CREATE FUNCTION zson_float8(zson) RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_float8';

COMMENT ON FUNCTION zson_float8(zson) IS
'a scalar as float8; an error for any other document';

CREATE CAST (zson AS float8) WITH FUNCTION zson_float8(zson);

-- ---- access ----

CREATE FUNCTION zson_object_field(zson, text) RETURNS zson
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_object_field';

COMMENT ON FUNCTION zson_object_field(zson, text) IS
'the value of a key';

CREATE OPERATOR -> (LEFTARG = zson, RIGHTARG = text, FUNCTION = zson_object_field);

CREATE FUNCTION zson_object_field_text(zson, text) RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_object_field_text';

COMMENT ON FUNCTION zson_object_field_text(zson, text) IS
'the value of a key as text';

CREATE OPERATOR ->> (LEFTARG = zson, RIGHTARG = text, FUNCTION = zson_object_field_text);

CREATE FUNCTION zson_array_element(zson, int4) RETURNS zson
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_array_element';

COMMENT ON FUNCTION zson_array_element(zson, int4) IS
'element of an array, from 0; from the end if negative';

CREATE OPERATOR -> (LEFTARG = zson, RIGHTARG = int4, FUNCTION = zson_array_element);

CREATE FUNCTION zson_array_element_text(zson, int4) RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_array_element_text';

COMMENT ON FUNCTION zson_array_element_text(zson, int4) IS
'element of an array as text';

CREATE OPERATOR ->> (LEFTARG = zson, RIGHTARG = int4, FUNCTION = zson_array_element_text);

CREATE FUNCTION zson_extract_path(zson, text[]) RETURNS zson
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_extract_path';

COMMENT ON FUNCTION zson_extract_path(zson, text[]) IS
'the value at a path of keys and indexes';

CREATE OPERATOR #> (LEFTARG = zson, RIGHTARG = text[], FUNCTION = zson_extract_path);

CREATE FUNCTION zson_extract_path_text(zson, text[]) RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_extract_path_text';

COMMENT ON FUNCTION zson_extract_path_text(zson, text[]) IS
'the value at a path, as text';

CREATE OPERATOR #>> (LEFTARG = zson, RIGHTARG = text[], FUNCTION = zson_extract_path_text);

CREATE FUNCTION zson_typeof(zson) RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_typeof';

COMMENT ON FUNCTION zson_typeof(zson) IS
'object, array, string, number, boolean or null';

CREATE FUNCTION zson_array_length(zson) RETURNS int4
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_array_length';

COMMENT ON FUNCTION zson_array_length(zson) IS
'number of elements of an array; an error for anything else';

-- ---- tests ----

CREATE FUNCTION zson_exists(zson, text) RETURNS boolean
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_exists';

COMMENT ON FUNCTION zson_exists(zson, text) IS
'is there such a key, or string in an array?';

CREATE OPERATOR ? (LEFTARG = zson, RIGHTARG = text, FUNCTION = zson_exists,
	RESTRICT = matchingsel, JOIN = matchingjoinsel);

CREATE FUNCTION zson_exists_any(zson, text[]) RETURNS boolean
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_exists_any';

COMMENT ON FUNCTION zson_exists_any(zson, text[]) IS
'is there any of these keys?';

CREATE OPERATOR ?| (LEFTARG = zson, RIGHTARG = text[], FUNCTION = zson_exists_any,
	RESTRICT = matchingsel, JOIN = matchingjoinsel);

CREATE FUNCTION zson_exists_all(zson, text[]) RETURNS boolean
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_exists_all';

COMMENT ON FUNCTION zson_exists_all(zson, text[]) IS
'are there all of these keys?';

CREATE OPERATOR ?& (LEFTARG = zson, RIGHTARG = text[], FUNCTION = zson_exists_all,
	RESTRICT = matchingsel, JOIN = matchingjoinsel);

CREATE FUNCTION zson_contains(zson, zson) RETURNS boolean
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_contains';

COMMENT ON FUNCTION zson_contains(zson, zson) IS
'does the left document contain the right one?';

CREATE OPERATOR @> (LEFTARG = zson, RIGHTARG = zson, FUNCTION = zson_contains, COMMUTATOR = <@,
	RESTRICT = matchingsel, JOIN = matchingjoinsel);

CREATE FUNCTION zson_contained(zson, zson) RETURNS boolean
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_contained';

COMMENT ON FUNCTION zson_contained(zson, zson) IS
'is the left document contained in the right one?';

CREATE OPERATOR <@ (LEFTARG = zson, RIGHTARG = zson, FUNCTION = zson_contained, COMMUTATOR = @>,
	RESTRICT = matchingsel, JOIN = matchingjoinsel);

CREATE FUNCTION zson_path_exists_opr(zson, jsonpath) RETURNS boolean
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_path_exists_opr';

COMMENT ON FUNCTION zson_path_exists_opr(zson, jsonpath) IS
'does the path give any item?';

CREATE OPERATOR @? (LEFTARG = zson, RIGHTARG = jsonpath, FUNCTION = zson_path_exists_opr,
	RESTRICT = matchingsel, JOIN = matchingjoinsel);

CREATE FUNCTION zson_path_match_opr(zson, jsonpath) RETURNS boolean
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_path_match_opr';

COMMENT ON FUNCTION zson_path_match_opr(zson, jsonpath) IS
'the first item of the path, a predicate';

CREATE OPERATOR @@ (LEFTARG = zson, RIGHTARG = jsonpath, FUNCTION = zson_path_match_opr,
	RESTRICT = matchingsel, JOIN = matchingjoinsel);

-- ---- changes: the result is jsonb ----

CREATE FUNCTION zson_concat(zson, zson) RETURNS jsonb
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_concat';

COMMENT ON FUNCTION zson_concat(zson, zson) IS
'both documents as one, as jsonbs ||';

CREATE OPERATOR || (LEFTARG = zson, RIGHTARG = zson, FUNCTION = zson_concat);

CREATE FUNCTION zson_delete(zson, text) RETURNS jsonb
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_delete';

COMMENT ON FUNCTION zson_delete(zson, text) IS
'without a key, or a string of an array';

CREATE OPERATOR - (LEFTARG = zson, RIGHTARG = text, FUNCTION = zson_delete);

CREATE FUNCTION zson_delete_array(zson, text[]) RETURNS jsonb
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_delete_array';

COMMENT ON FUNCTION zson_delete_array(zson, text[]) IS
'without these keys';

CREATE OPERATOR - (LEFTARG = zson, RIGHTARG = text[], FUNCTION = zson_delete_array);

CREATE FUNCTION zson_delete_idx(zson, int4) RETURNS jsonb
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_delete_idx';

COMMENT ON FUNCTION zson_delete_idx(zson, int4) IS
'without an element';

CREATE OPERATOR - (LEFTARG = zson, RIGHTARG = int4, FUNCTION = zson_delete_idx);

CREATE FUNCTION zson_delete_path(zson, text[]) RETURNS jsonb
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_delete_path';

COMMENT ON FUNCTION zson_delete_path(zson, text[]) IS
'without what a path leads to';

CREATE OPERATOR #- (LEFTARG = zson, RIGHTARG = text[], FUNCTION = zson_delete_path);

-- ---- order, equality, hash: jsonb's ----

CREATE FUNCTION zson_eq(zson, zson) RETURNS boolean
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_eq';

CREATE OPERATOR = (LEFTARG = zson, RIGHTARG = zson, FUNCTION = zson_eq,
	COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);

CREATE FUNCTION zson_ne(zson, zson) RETURNS boolean
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_ne';

CREATE OPERATOR <> (LEFTARG = zson, RIGHTARG = zson, FUNCTION = zson_ne,
	COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);

CREATE FUNCTION zson_lt(zson, zson) RETURNS boolean
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_lt';

CREATE OPERATOR < (LEFTARG = zson, RIGHTARG = zson, FUNCTION = zson_lt,
	COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);

CREATE FUNCTION zson_le(zson, zson) RETURNS boolean
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_le';

CREATE OPERATOR <= (LEFTARG = zson, RIGHTARG = zson, FUNCTION = zson_le,
	COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);

CREATE FUNCTION zson_gt(zson, zson) RETURNS boolean
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_gt';

CREATE OPERATOR > (LEFTARG = zson, RIGHTARG = zson, FUNCTION = zson_gt,
	COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);

CREATE FUNCTION zson_ge(zson, zson) RETURNS boolean
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_ge';

CREATE OPERATOR >= (LEFTARG = zson, RIGHTARG = zson, FUNCTION = zson_ge,
	COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);

CREATE FUNCTION zson_cmp(zson, zson) RETURNS int4
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_cmp';

COMMENT ON FUNCTION zson_cmp(zson, zson) IS
'order of two documents: negative, 0 or positive';

CREATE FUNCTION zson_hash(zson) RETURNS int4
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_hash';

COMMENT ON FUNCTION zson_hash(zson) IS
'the hash of the same jsonb';

CREATE FUNCTION zson_hash_extended(zson, int8) RETURNS int8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_hash_extended';

COMMENT ON FUNCTION zson_hash_extended(zson, int8) IS
'the seeded hash of the same jsonb';

CREATE OPERATOR CLASS zson_ops DEFAULT FOR TYPE zson USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 zson_cmp(zson, zson);

CREATE OPERATOR CLASS zson_ops DEFAULT FOR TYPE zson USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 zson_hash(zson),
	FUNCTION 2 zson_hash_extended(zson, int8);

-- ---- GIN: the keys, and so the indexes' contents, are jsonb's ----

CREATE FUNCTION zson_gin_extract(zson, internal, internal) RETURNS internal
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_gin_extract';

CREATE FUNCTION zson_gin_extract_path(zson, internal, internal) RETURNS internal
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_gin_extract_path';

CREATE FUNCTION zson_gin_extract_query(zson, internal, int2, internal, internal, internal, internal) RETURNS internal
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_gin_extract_query';

CREATE FUNCTION zson_gin_extract_query_path(zson, internal, int2, internal, internal, internal, internal) RETURNS internal
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_gin_extract_query_path';

CREATE FUNCTION zson_gin_consistent(internal, int2, zson, int4, internal, internal, internal, internal) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'gin_consistent_jsonb';

CREATE FUNCTION zson_gin_consistent_path(internal, int2, zson, int4, internal, internal, internal, internal) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'gin_consistent_jsonb_path';

CREATE FUNCTION zson_gin_triconsistent(internal, int2, zson, int4, internal, internal, internal) RETURNS "char"
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'gin_triconsistent_jsonb';

CREATE FUNCTION zson_gin_triconsistent_path(internal, int2, zson, int4, internal, internal, internal) RETURNS "char"
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'gin_triconsistent_jsonb_path';

CREATE OPERATOR CLASS zson_ops DEFAULT FOR TYPE zson USING gin AS
	OPERATOR 7 @>,
	OPERATOR 9 ?(zson, text),
	OPERATOR 10 ?|(zson, text[]),
	OPERATOR 11 ?&(zson, text[]),
	OPERATOR 15 @?(zson, jsonpath),
	OPERATOR 16 @@(zson, jsonpath),
	FUNCTION 1 gin_compare_jsonb(text, text),
	FUNCTION 2 zson_gin_extract(zson, internal, internal),
	FUNCTION 3 zson_gin_extract_query(zson, internal, int2, internal, internal, internal, internal),
	FUNCTION 4 zson_gin_consistent(internal, int2, zson, int4, internal, internal, internal, internal),
	FUNCTION 6 zson_gin_triconsistent(internal, int2, zson, int4, internal, internal, internal),
	STORAGE text;

CREATE OPERATOR CLASS zson_path_ops FOR TYPE zson USING gin AS
	OPERATOR 7 @>,
	OPERATOR 15 @?(zson, jsonpath),
	OPERATOR 16 @@(zson, jsonpath),
	FUNCTION 1 btint4cmp(int4, int4),
	FUNCTION 2 zson_gin_extract_path(zson, internal, internal),
	FUNCTION 3 zson_gin_extract_query_path(zson, internal, int2, internal, internal, internal, internal),
	FUNCTION 4 zson_gin_consistent_path(internal, int2, zson, int4, internal, internal, internal, internal),
	FUNCTION 6 zson_gin_triconsistent_path(internal, int2, zson, int4, internal, internal, internal),
	STORAGE int4;

COMMENT ON OPERATOR CLASS zson_path_ops USING gin IS
'like jsonb_path_ops: paths of values, for @>, @? and @@';

-- ---- dictionaries ----

CREATE SEQUENCE zson_dict.dictionary_id;
SELECT pg_catalog.pg_extension_config_dump('zson_dict.dictionary_id', '');

CREATE FUNCTION zson_learn(
	tables_and_columns text[],
	max_examples integer DEFAULT 10000,
	min_length integer DEFAULT 1,
	max_length integer DEFAULT 128,
	min_count integer DEFAULT 3)
RETURNS text
LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'zson_learn';

COMMENT ON FUNCTION zson_learn(text[], integer, integer, integer, integer) IS
'learns the default dictionary, for zson documents of any column without its own, from columns of type zson, jsonb, json or text:
''{{"table", "column"}, ...}''. max_examples: documents to look at (1 to 1000000); min_length, max_length: bytes of the strings
that get a number; min_count: documents that a key or string must occur in. Returns a report; makes no dictionary where nothing is gained.
The new dictionary is used from the end of the transaction. Only the tables'' owner may; one session at a time.';

CREATE FUNCTION zson_train(
	relation regclass,
	column_name name,
	max_examples integer DEFAULT 20000,
	min_length integer DEFAULT 1,
	max_length integer DEFAULT 128,
	min_count integer DEFAULT 3,
	OUT dictionary integer,
	OUT examples integer,
	OUT held_out integer,
	OUT jsonb_bytes double precision,
	OUT before_bytes double precision,
	OUT after_bytes double precision,
	OUT message text)
LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'zson_train';

COMMENT ON FUNCTION zson_train(regclass, name, integer, integer, integer, integer) IS
'learns a dictionary for a column from a sample of its documents, and keeps it if it saves at least a fiftieth of the bytes of
documents that it was not learned from: bytes per document as jsonb, as zson before, and with the new dictionary. dictionary: its id,
null if nothing was gained. It takes all new documents with the root keys of the examples, from the end of the transaction;
CALL zson_recompress() for what is stored. Only the table''s owner may; one session at a time for a column.';

CREATE FUNCTION zson_info(
	OUT dictionary integer,
	OUT column_name text,
	OUT note text,
	OUT keys integer,
	OUT shapes integer,
	OUT string_values integer,
	OUT templates integer,
	OUT symbols integer,
	OUT zstd_bytes integer,
	OUT bytes integer)
RETURNS SETOF record
LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'zson_info';

COMMENT ON FUNCTION zson_info() IS
'all dictionaries: id, column that it was learned for (null: the default), when and from what, numbers of keys, of key sets, of values and of templates of strings,
symbols for strings, bytes of the zstd dictionary, bytes in all';

CREATE FUNCTION zson_storage(
	document zson,
	OUT dictionary integer,
	OUT bytes integer,
	OUT tail_bytes integer,
	OUT keys integer,
	OUT unknown_keys integer)
LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_storage';

COMMENT ON FUNCTION zson_storage(zson) IS
'how a document is stored: id of its dictionary (null: none), bytes, of these bytes of compressed strings; keys of all its objects, and those unknown to the dictionary';

CREATE FUNCTION zson_target(document zson) RETURNS integer
LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_target';

COMMENT ON FUNCTION zson_target(zson) IS
'id of the dictionary that the document would be stored with now, null if there is none';

CREATE FUNCTION zson_extract_strings(document jsonb) RETURNS text[]
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_extract_strings';

COMMENT ON FUNCTION zson_extract_strings(jsonb) IS 'all keys and strings of a document';

CREATE FUNCTION zson_cache_bytes() RETURNS bigint
LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'zson_cache_bytes';

COMMENT ON FUNCTION zson_cache_bytes() IS 'memory of dictionaries in this session, bytes';

CREATE FUNCTION zson_dict.zson_uses("any", integer, regtype) RETURNS boolean
LANGUAGE C STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zson_uses';

COMMENT ON FUNCTION zson_dict.zson_uses("any", integer, regtype) IS
'was a zson in this value, itself or in an array or row, stored with the dictionary? The last argument is the type zson';

CREATE FUNCTION zson_dict.zson_is_chosen(integer) RETURNS boolean
LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'zson_is_chosen';

COMMENT ON FUNCTION zson_dict.zson_is_chosen(integer) IS 'may a new document be stored with this dictionary?';

CREATE FUNCTION zson_dict.zson_alone() RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	-- the session's copy of what others do is of an earlier call
	PERFORM pg_catalog.pg_stat_clear_snapshot();
	IF EXISTS (SELECT FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a USING (pid)
			WHERE l.locktype = 'virtualxid' AND l.mode = 'ExclusiveLock' AND a.datname = current_database() AND a.pid <> pg_backend_pid()
				AND a.backend_type NOT IN ('autovacuum worker', 'parallel worker', 'walsender'))
		OR EXISTS (SELECT FROM pg_catalog.pg_prepared_xacts WHERE database = current_database())
		OR EXISTS (SELECT FROM pg_catalog.pg_cursors WHERE pg_cursors.name <> '')
	THEN
		RAISE object_in_use USING MESSAGE = 'other transactions, prepared transactions or cursors are open',
			HINT = 'Try again when they have ended.';
	END IF;
END $$;

COMMENT ON FUNCTION zson_dict.zson_alone() IS
'error 55006 if another session has a transaction open in this database, or there are prepared transactions or cursors';

CREATE FUNCTION zson_drop_dictionary(dictionary integer) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	name text := pg_catalog.format('zson_dict.dictionary_%s()', dictionary);
	zson oid := '@extschema@.zson'::pg_catalog.regtype;
	holders oid[];
	r record;
	used boolean;
BEGIN
	IF pg_catalog.to_regprocedure(name) IS NULL THEN
		RAISE undefined_object USING MESSAGE = pg_catalog.format('dictionary %s of zson does not exist', dictionary);
	END IF;
	IF NOT (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN
		RAISE insufficient_privilege USING MESSAGE = 'must be superuser to drop a dictionary of zson',
			DETAIL = 'Every table, index and statistic of the database has to be read.';
	END IF;
	IF zson_dict.zson_is_chosen(dictionary) THEN
		RAISE object_in_use USING MESSAGE = pg_catalog.format('dictionary %s of zson is in use for new documents', dictionary),
			HINT = 'Learn a newer one for the same documents first.';
	END IF;

	PERFORM zson_dict.zson_alone();

	-- Types that hold a zson.
	WITH RECURSIVE t (oid) AS (
		SELECT zson
		UNION
		SELECT p.oid FROM t, pg_catalog.pg_type p
		WHERE p.typelem = t.oid OR p.typbasetype = t.oid
			OR EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = p.typrelid AND a.atttypid = t.oid AND NOT a.attisdropped)
			OR EXISTS (SELECT FROM pg_catalog.pg_range g WHERE g.rngsubtype = t.oid AND p.oid IN (g.rngtypid, g.rngmultitypid))
	) SELECT pg_catalog.array_agg(oid) INTO holders FROM t;
	IF EXISTS (SELECT FROM pg_catalog.pg_type WHERE oid = ANY (holders) AND typtype IN ('r', 'm')) THEN
		RAISE feature_not_supported USING MESSAGE = 'a range type holds zson values';
	END IF;

	-- Constants in views, defaults, constraints and the like.
	FOR r IN SELECT 'pg_attrdef' AS c, adbin::text AS tree FROM pg_catalog.pg_attrdef
		UNION ALL SELECT 'pg_rewrite', ev_action::text FROM pg_catalog.pg_rewrite
		UNION ALL SELECT 'pg_rewrite', ev_qual::text FROM pg_catalog.pg_rewrite
		UNION ALL SELECT 'pg_constraint', conbin::text FROM pg_catalog.pg_constraint
		UNION ALL SELECT 'pg_index', pg_catalog.concat(indexprs::text, indpred::text) FROM pg_catalog.pg_index
		UNION ALL SELECT 'pg_policy', pg_catalog.concat(polqual::text, polwithcheck::text) FROM pg_catalog.pg_policy
		UNION ALL SELECT 'pg_trigger', tgqual::text FROM pg_catalog.pg_trigger
		UNION ALL SELECT 'pg_proc', pg_catalog.concat(prosqlbody::text, proargdefaults::text) FROM pg_catalog.pg_proc
		UNION ALL SELECT 'pg_class', relpartbound::text FROM pg_catalog.pg_class
		UNION ALL SELECT 'pg_partitioned_table', partexprs::text FROM pg_catalog.pg_partitioned_table
		UNION ALL SELECT 'pg_publication_rel', prqual::text FROM pg_catalog.pg_publication_rel
		UNION ALL SELECT 'pg_statistic_ext', stxexprs::text FROM pg_catalog.pg_statistic_ext
	LOOP
		IF r.tree ~ pg_catalog.format(':consttype (%s) ', pg_catalog.array_to_string(holders, '|')) THEN
			RAISE object_in_use USING MESSAGE = 'a view, default, constraint or the like has a constant of type zson',
				DETAIL = pg_catalog.format('It stands in %s; constants are not examined.', r.c);
		END IF;
	END LOOP;
	IF EXISTS (SELECT FROM pg_catalog.pg_statistic_ext s JOIN pg_catalog.pg_attribute a ON a.attrelid = s.stxrelid WHERE a.atttypid = ANY (holders)) THEN
		RAISE object_in_use USING MESSAGE = 'a table with a zson column has extended statistics', DETAIL = 'They are not examined.';
	END IF;

	-- Rows, defaults of old rows, statistics; indexes are made anew, as dead entries may hold values.
	FOR r IN SELECT c.oid::pg_catalog.regclass AS relation, c.relkind, c.relpersistence, c.relnamespace, a.attname, a.attnum, a.attmissingval
		FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
		WHERE a.atttypid = ANY (holders) AND NOT a.attisdropped AND c.relkind IN ('r', 'm', 'i') ORDER BY c.relkind = 'i', c.oid
	LOOP
		IF r.relpersistence = 't' AND r.relnamespace <> pg_catalog.pg_my_temp_schema() THEN
			RAISE object_in_use USING MESSAGE = 'another session has a temporary table with a zson column';
		END IF;
		IF r.relkind = 'i' THEN
			EXECUTE pg_catalog.format('REINDEX INDEX %s', r.relation);
			CONTINUE;
		END IF;
		IF r.relkind = 'r' THEN
			EXECUTE pg_catalog.format('LOCK TABLE %s IN SHARE MODE', r.relation);
		END IF;
		EXECUTE pg_catalog.format('SELECT EXISTS (SELECT FROM ONLY %s WHERE zson_dict.zson_uses(%I, $1, $2))', r.relation, r.attname)
			INTO used USING dictionary, zson::pg_catalog.regtype;
		IF used OR zson_dict.zson_uses(r.attmissingval, dictionary, zson::pg_catalog.regtype) THEN
			RAISE object_in_use USING MESSAGE = pg_catalog.format('dictionary %s of zson is in use by column %I of %s', dictionary, r.attname, r.relation),
				HINT = 'CALL zson_recompress() on the column first.';
		END IF;
	END LOOP;
	FOR r IN SELECT s.starelid::pg_catalog.regclass AS relation FROM pg_catalog.pg_statistic s
		WHERE zson_dict.zson_uses(s.stavalues1, dictionary, zson::pg_catalog.regtype) OR zson_dict.zson_uses(s.stavalues2, dictionary, zson::pg_catalog.regtype)
			OR zson_dict.zson_uses(s.stavalues3, dictionary, zson::pg_catalog.regtype) OR zson_dict.zson_uses(s.stavalues4, dictionary, zson::pg_catalog.regtype)
			OR zson_dict.zson_uses(s.stavalues5, dictionary, zson::pg_catalog.regtype)
	LOOP
		RAISE object_in_use USING MESSAGE = pg_catalog.format('dictionary %s of zson is in use by statistics of %s', dictionary, r.relation),
			HINT = 'Run ANALYZE on it first.';
	END LOOP;
	EXECUTE 'DROP FUNCTION ' || name;

	-- Plans that sessions keep may have constants of it: a change of a schema lets them be made anew from the text.
	-- Its owner has this right anyway, so nobody's rights change.
	EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA zson_dict TO %s',
		(SELECT nspowner::pg_catalog.regrole FROM pg_catalog.pg_namespace WHERE nspname = 'zson_dict'));

	-- Who began meanwhile may have read a value before another one deleted it, and be about to store it.
	PERFORM zson_dict.zson_alone();
END $$;

COMMENT ON FUNCTION zson_drop_dictionary(integer) IS
'drops a dictionary after reading every table, materialized view and statistic that may hold a value stored with it, and making indexes on
zson anew. Refused (55006) while any value uses it, new documents would, another session has a transaction open or a temporary table with
a zson column, or a constant of type zson stands in a view, default or constraint. Superusers only; locks the tables against writes.';

CREATE FUNCTION zson_retrain(
	relation regclass,
	column_name name,
	drift double precision DEFAULT 0.1,
	OUT dictionary integer,
	OUT learned_ratio double precision,
	OUT present_ratio double precision,
	OUT message text)
LANGUAGE plpgsql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	label text;
	part text := '';
	class pg_catalog.pg_class;
BEGIN
	IF NOT drift >= 0 THEN
		RAISE invalid_parameter_value USING MESSAGE = 'drift must not be negative';
	END IF;
	SELECT * INTO class FROM pg_catalog.pg_class WHERE oid = relation;
	label := pg_catalog.format('%s.%I.%I', class.relnamespace::pg_catalog.regnamespace, class.relname, column_name);
	SELECT m[1]::float8 / m[2]::float8 INTO learned_ratio
		FROM @extschema@.zson_info() i, pg_catalog.regexp_match(i.note, '([0-9.]+) of ([0-9.]+) bytes$') m
		WHERE i.column_name = pg_catalog.translate(label, '|*', '__') ORDER BY i.dictionary DESC LIMIT 1;
	IF class.reltuples > 3000 AND class.relkind IN ('r', 'm', 'p') THEN
		part := pg_catalog.format('TABLESAMPLE SYSTEM (%s)', 100 * 2500 / class.reltuples);
	END IF;
	EXECUTE pg_catalog.format(
		'SELECT sum((@extschema@.zson_storage(d::text::@extschema@.zson)).bytes)::float8 / sum(pg_catalog.pg_column_size(d::text::pg_catalog.jsonb) - 4)
		 FROM (SELECT %I AS d FROM %s %s WHERE %1$I IS NOT NULL LIMIT 1000) t', column_name, relation, part)
		INTO present_ratio;
	IF present_ratio IS NULL THEN
		message := 'there are no documents';
	ELSIF present_ratio <= learned_ratio * (1 + drift) THEN
		message := 'documents compress as they did when the dictionary was learned';
	ELSE
		SELECT t.dictionary, t.message INTO dictionary, message FROM @extschema@.zson_train(relation, column_name) t;
	END IF;
END $$;

COMMENT ON FUNCTION zson_retrain(regclass, name, double precision) IS
'learns a new dictionary for a column if it needs one: if there is none, or if up to 1000 of its documents, stored now, would take more than
(1 + drift) times the share of jsonb''s bytes that the held-out documents took when the last one was learned. Otherwise it does nothing more,
and dictionary is null, as it is when nothing was gained. Only the table''s owner may train.';

-- ---- what the server calls ----

COMMENT ON FUNCTION zson_in(cstring) IS
'text input of zson: a JSON document, stored with the dictionary that suits it best';
COMMENT ON FUNCTION zson_out(zson) IS
'text output of zson: the document as jsonb writes it';
COMMENT ON FUNCTION zson_recv(internal) IS
'binary input of zson: that of jsonb';
COMMENT ON FUNCTION zson_send(zson) IS
'binary output of zson: that of jsonb, without any dictionary';
COMMENT ON FUNCTION zson_subscript_handler(internal) IS
'subscripts of zson, as those of jsonb';
COMMENT ON FUNCTION zson_eq(zson, zson) IS
'equal as jsonb';
COMMENT ON FUNCTION zson_ne(zson, zson) IS
'not equal as jsonb';
COMMENT ON FUNCTION zson_lt(zson, zson) IS
'less than, in jsonb''s order';
COMMENT ON FUNCTION zson_le(zson, zson) IS
'less than or equal, in jsonb''s order';
COMMENT ON FUNCTION zson_gt(zson, zson) IS
'greater than, in jsonb''s order';
COMMENT ON FUNCTION zson_ge(zson, zson) IS
'greater than or equal, in jsonb''s order';
COMMENT ON FUNCTION zson_gin_extract(zson, internal, internal) IS
'GIN support: the entries of a document, those of jsonb_ops';
COMMENT ON FUNCTION zson_gin_extract_path(zson, internal, internal) IS
'GIN support: the entries of a document, those of jsonb_path_ops';
COMMENT ON FUNCTION zson_gin_extract_query(zson, internal, smallint, internal, internal, internal, internal) IS
'GIN support: the entries of a condition, as jsonb_ops';
COMMENT ON FUNCTION zson_gin_extract_query_path(zson, internal, smallint, internal, internal, internal, internal) IS
'GIN support: the entries of a condition, as jsonb_path_ops';
COMMENT ON FUNCTION zson_gin_consistent(internal, smallint, zson, integer, internal, internal, internal, internal) IS
'GIN support: do these entries fulfil the condition, as jsonb_ops';
COMMENT ON FUNCTION zson_gin_consistent_path(internal, smallint, zson, integer, internal, internal, internal, internal) IS
'GIN support: do these entries fulfil the condition, as jsonb_path_ops';
COMMENT ON FUNCTION zson_gin_triconsistent(internal, smallint, zson, integer, internal, internal, internal) IS
'GIN support: may these entries fulfil the condition, as jsonb_ops';
COMMENT ON FUNCTION zson_gin_triconsistent_path(internal, smallint, zson, integer, internal, internal, internal) IS
'GIN support: may these entries fulfil the condition, as jsonb_path_ops';
COMMENT ON SEQUENCE zson_dict.dictionary_id IS
'the number of the next dictionary: none is used twice';
