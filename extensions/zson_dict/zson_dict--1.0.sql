-- zson_dict 1.0
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
CREATE CAST (zson AS json) WITH INOUT AS ASSIGNMENT;
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
