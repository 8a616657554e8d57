-- ---- uint8: unsigned integers of 64 bits ----

CREATE TYPE colcompress.uint8;

CREATE FUNCTION colcompress.uint8_in(cstring) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_in';
COMMENT ON FUNCTION colcompress.uint8_in(cstring) IS 'input: decimal digits; errors: invalid_text_representation, numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_out(colcompress.uint8) RETURNS cstring LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_out';
COMMENT ON FUNCTION colcompress.uint8_out(colcompress.uint8) IS 'output: decimal digits';
CREATE FUNCTION colcompress.uint8_recv(internal) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_recv';
COMMENT ON FUNCTION colcompress.uint8_recv(internal) IS 'binary input: 8 bytes, most significant first';
CREATE FUNCTION colcompress.uint8_send(colcompress.uint8) RETURNS bytea LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_send';
COMMENT ON FUNCTION colcompress.uint8_send(colcompress.uint8) IS 'binary output: 8 bytes, most significant first';

CREATE TYPE colcompress.uint8 (
	INPUT = colcompress.uint8_in,
	OUTPUT = colcompress.uint8_out,
	RECEIVE = colcompress.uint8_recv,
	SEND = colcompress.uint8_send,
	INTERNALLENGTH = 8,
	PASSEDBYVALUE,
	ALIGNMENT = double,
	CATEGORY = 'N'
);

COMMENT ON TYPE colcompress.uint8 IS
'unsigned integer of 64 bits, 0 to 18446744073709551615. Its operators are in schema colcompress: put it into search_path';

-- casts: what may lose a value or fail needs an assignment
CREATE FUNCTION colcompress.uint8(smallint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_from_int2';
COMMENT ON FUNCTION colcompress.uint8(smallint) IS 'cast; error: numeric_value_out_of_range below 0';
CREATE FUNCTION colcompress.uint8(integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_from_int4';
COMMENT ON FUNCTION colcompress.uint8(integer) IS 'cast; error: numeric_value_out_of_range below 0';
CREATE FUNCTION colcompress.uint8(bigint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_from_int8';
COMMENT ON FUNCTION colcompress.uint8(bigint) IS 'cast; error: numeric_value_out_of_range below 0';
CREATE FUNCTION colcompress.uint8(numeric) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_from_numeric';
COMMENT ON FUNCTION colcompress.uint8(numeric) IS 'cast, halves away from zero; errors: numeric_value_out_of_range, feature_not_supported for NaN and infinity';
CREATE FUNCTION colcompress.uint8(double precision) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_from_float8';
COMMENT ON FUNCTION colcompress.uint8(double precision) IS 'cast, halves to even; error: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int2(colcompress.uint8) RETURNS smallint LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_to_int2';
COMMENT ON FUNCTION colcompress.int2(colcompress.uint8) IS 'cast; error: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int4(colcompress.uint8) RETURNS integer LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_to_int4';
COMMENT ON FUNCTION colcompress.int4(colcompress.uint8) IS 'cast; error: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int8(colcompress.uint8) RETURNS bigint LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_to_int8';
COMMENT ON FUNCTION colcompress.int8(colcompress.uint8) IS 'cast; error: numeric_value_out_of_range';
CREATE FUNCTION colcompress.numeric(colcompress.uint8) RETURNS numeric LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_to_numeric';
COMMENT ON FUNCTION colcompress.numeric(colcompress.uint8) IS 'cast, exact';
CREATE FUNCTION colcompress.float4(colcompress.uint8) RETURNS real LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_to_float4';
COMMENT ON FUNCTION colcompress.float4(colcompress.uint8) IS 'cast, rounded';
CREATE FUNCTION colcompress.float8(colcompress.uint8) RETURNS double precision LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_to_float8';
COMMENT ON FUNCTION colcompress.float8(colcompress.uint8) IS 'cast, rounded';

CREATE CAST (smallint AS colcompress.uint8) WITH FUNCTION colcompress.uint8(smallint) AS ASSIGNMENT;
CREATE CAST (integer AS colcompress.uint8) WITH FUNCTION colcompress.uint8(integer) AS ASSIGNMENT;
CREATE CAST (bigint AS colcompress.uint8) WITH FUNCTION colcompress.uint8(bigint) AS ASSIGNMENT;
CREATE CAST (numeric AS colcompress.uint8) WITH FUNCTION colcompress.uint8(numeric) AS ASSIGNMENT;
CREATE CAST (double precision AS colcompress.uint8) WITH FUNCTION colcompress.uint8(double precision) AS ASSIGNMENT;
CREATE CAST (colcompress.uint8 AS smallint) WITH FUNCTION colcompress.int2(colcompress.uint8) AS ASSIGNMENT;
CREATE CAST (colcompress.uint8 AS integer) WITH FUNCTION colcompress.int4(colcompress.uint8) AS ASSIGNMENT;
CREATE CAST (colcompress.uint8 AS bigint) WITH FUNCTION colcompress.int8(colcompress.uint8) AS ASSIGNMENT;
CREATE CAST (colcompress.uint8 AS numeric) WITH FUNCTION colcompress.numeric(colcompress.uint8) AS IMPLICIT;
CREATE CAST (colcompress.uint8 AS real) WITH FUNCTION colcompress.float4(colcompress.uint8) AS IMPLICIT;
CREATE CAST (colcompress.uint8 AS double precision) WITH FUNCTION colcompress.float8(colcompress.uint8) AS IMPLICIT;

-- comparison and arithmetic, with the signed integers too
CREATE FUNCTION colcompress.uint8_lt_uint8(colcompress.uint8, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_lt_uint8';
COMMENT ON FUNCTION colcompress.uint8_lt_uint8(colcompress.uint8, colcompress.uint8) IS 'less than';
CREATE FUNCTION colcompress.uint8_le_uint8(colcompress.uint8, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_le_uint8';
COMMENT ON FUNCTION colcompress.uint8_le_uint8(colcompress.uint8, colcompress.uint8) IS 'less than or equal';
CREATE FUNCTION colcompress.uint8_eq_uint8(colcompress.uint8, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_eq_uint8';
COMMENT ON FUNCTION colcompress.uint8_eq_uint8(colcompress.uint8, colcompress.uint8) IS 'equal';
CREATE FUNCTION colcompress.uint8_ge_uint8(colcompress.uint8, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ge_uint8';
COMMENT ON FUNCTION colcompress.uint8_ge_uint8(colcompress.uint8, colcompress.uint8) IS 'greater than or equal';
CREATE FUNCTION colcompress.uint8_gt_uint8(colcompress.uint8, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_gt_uint8';
COMMENT ON FUNCTION colcompress.uint8_gt_uint8(colcompress.uint8, colcompress.uint8) IS 'greater than';
CREATE FUNCTION colcompress.uint8_ne_uint8(colcompress.uint8, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ne_uint8';
COMMENT ON FUNCTION colcompress.uint8_ne_uint8(colcompress.uint8, colcompress.uint8) IS 'not equal';
CREATE FUNCTION colcompress.uint8_cmp_uint8(colcompress.uint8, colcompress.uint8) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_cmp_uint8';
COMMENT ON FUNCTION colcompress.uint8_cmp_uint8(colcompress.uint8, colcompress.uint8) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.uint8_pl_uint8(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_pl_uint8';
COMMENT ON FUNCTION colcompress.uint8_pl_uint8(colcompress.uint8, colcompress.uint8) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mi_uint8(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mi_uint8';
COMMENT ON FUNCTION colcompress.uint8_mi_uint8(colcompress.uint8, colcompress.uint8) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mul_uint8(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mul_uint8';
COMMENT ON FUNCTION colcompress.uint8_mul_uint8(colcompress.uint8, colcompress.uint8) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_div_uint8(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_div_uint8';
COMMENT ON FUNCTION colcompress.uint8_div_uint8(colcompress.uint8, colcompress.uint8) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_mod_uint8(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mod_uint8';
COMMENT ON FUNCTION colcompress.uint8_mod_uint8(colcompress.uint8, colcompress.uint8) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_lt_int2(colcompress.uint8, smallint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_lt_int2';
COMMENT ON FUNCTION colcompress.uint8_lt_int2(colcompress.uint8, smallint) IS 'less than';
CREATE FUNCTION colcompress.uint8_le_int2(colcompress.uint8, smallint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_le_int2';
COMMENT ON FUNCTION colcompress.uint8_le_int2(colcompress.uint8, smallint) IS 'less than or equal';
CREATE FUNCTION colcompress.uint8_eq_int2(colcompress.uint8, smallint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_eq_int2';
COMMENT ON FUNCTION colcompress.uint8_eq_int2(colcompress.uint8, smallint) IS 'equal';
CREATE FUNCTION colcompress.uint8_ge_int2(colcompress.uint8, smallint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ge_int2';
COMMENT ON FUNCTION colcompress.uint8_ge_int2(colcompress.uint8, smallint) IS 'greater than or equal';
CREATE FUNCTION colcompress.uint8_gt_int2(colcompress.uint8, smallint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_gt_int2';
COMMENT ON FUNCTION colcompress.uint8_gt_int2(colcompress.uint8, smallint) IS 'greater than';
CREATE FUNCTION colcompress.uint8_ne_int2(colcompress.uint8, smallint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ne_int2';
COMMENT ON FUNCTION colcompress.uint8_ne_int2(colcompress.uint8, smallint) IS 'not equal';
CREATE FUNCTION colcompress.uint8_cmp_int2(colcompress.uint8, smallint) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_cmp_int2';
COMMENT ON FUNCTION colcompress.uint8_cmp_int2(colcompress.uint8, smallint) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.uint8_pl_int2(colcompress.uint8, smallint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_pl_int2';
COMMENT ON FUNCTION colcompress.uint8_pl_int2(colcompress.uint8, smallint) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mi_int2(colcompress.uint8, smallint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mi_int2';
COMMENT ON FUNCTION colcompress.uint8_mi_int2(colcompress.uint8, smallint) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mul_int2(colcompress.uint8, smallint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mul_int2';
COMMENT ON FUNCTION colcompress.uint8_mul_int2(colcompress.uint8, smallint) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_div_int2(colcompress.uint8, smallint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_div_int2';
COMMENT ON FUNCTION colcompress.uint8_div_int2(colcompress.uint8, smallint) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_mod_int2(colcompress.uint8, smallint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mod_int2';
COMMENT ON FUNCTION colcompress.uint8_mod_int2(colcompress.uint8, smallint) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_lt_int4(colcompress.uint8, integer) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_lt_int4';
COMMENT ON FUNCTION colcompress.uint8_lt_int4(colcompress.uint8, integer) IS 'less than';
CREATE FUNCTION colcompress.uint8_le_int4(colcompress.uint8, integer) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_le_int4';
COMMENT ON FUNCTION colcompress.uint8_le_int4(colcompress.uint8, integer) IS 'less than or equal';
CREATE FUNCTION colcompress.uint8_eq_int4(colcompress.uint8, integer) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_eq_int4';
COMMENT ON FUNCTION colcompress.uint8_eq_int4(colcompress.uint8, integer) IS 'equal';
CREATE FUNCTION colcompress.uint8_ge_int4(colcompress.uint8, integer) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ge_int4';
COMMENT ON FUNCTION colcompress.uint8_ge_int4(colcompress.uint8, integer) IS 'greater than or equal';
CREATE FUNCTION colcompress.uint8_gt_int4(colcompress.uint8, integer) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_gt_int4';
COMMENT ON FUNCTION colcompress.uint8_gt_int4(colcompress.uint8, integer) IS 'greater than';
CREATE FUNCTION colcompress.uint8_ne_int4(colcompress.uint8, integer) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ne_int4';
COMMENT ON FUNCTION colcompress.uint8_ne_int4(colcompress.uint8, integer) IS 'not equal';
CREATE FUNCTION colcompress.uint8_cmp_int4(colcompress.uint8, integer) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_cmp_int4';
COMMENT ON FUNCTION colcompress.uint8_cmp_int4(colcompress.uint8, integer) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.uint8_pl_int4(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_pl_int4';
COMMENT ON FUNCTION colcompress.uint8_pl_int4(colcompress.uint8, integer) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mi_int4(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mi_int4';
COMMENT ON FUNCTION colcompress.uint8_mi_int4(colcompress.uint8, integer) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mul_int4(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mul_int4';
COMMENT ON FUNCTION colcompress.uint8_mul_int4(colcompress.uint8, integer) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_div_int4(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_div_int4';
COMMENT ON FUNCTION colcompress.uint8_div_int4(colcompress.uint8, integer) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_mod_int4(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mod_int4';
COMMENT ON FUNCTION colcompress.uint8_mod_int4(colcompress.uint8, integer) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_lt_int8(colcompress.uint8, bigint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_lt_int8';
COMMENT ON FUNCTION colcompress.uint8_lt_int8(colcompress.uint8, bigint) IS 'less than';
CREATE FUNCTION colcompress.uint8_le_int8(colcompress.uint8, bigint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_le_int8';
COMMENT ON FUNCTION colcompress.uint8_le_int8(colcompress.uint8, bigint) IS 'less than or equal';
CREATE FUNCTION colcompress.uint8_eq_int8(colcompress.uint8, bigint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_eq_int8';
COMMENT ON FUNCTION colcompress.uint8_eq_int8(colcompress.uint8, bigint) IS 'equal';
CREATE FUNCTION colcompress.uint8_ge_int8(colcompress.uint8, bigint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ge_int8';
COMMENT ON FUNCTION colcompress.uint8_ge_int8(colcompress.uint8, bigint) IS 'greater than or equal';
CREATE FUNCTION colcompress.uint8_gt_int8(colcompress.uint8, bigint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_gt_int8';
COMMENT ON FUNCTION colcompress.uint8_gt_int8(colcompress.uint8, bigint) IS 'greater than';
CREATE FUNCTION colcompress.uint8_ne_int8(colcompress.uint8, bigint) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_ne_int8';
COMMENT ON FUNCTION colcompress.uint8_ne_int8(colcompress.uint8, bigint) IS 'not equal';
CREATE FUNCTION colcompress.uint8_cmp_int8(colcompress.uint8, bigint) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_cmp_int8';
COMMENT ON FUNCTION colcompress.uint8_cmp_int8(colcompress.uint8, bigint) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.uint8_pl_int8(colcompress.uint8, bigint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_pl_int8';
COMMENT ON FUNCTION colcompress.uint8_pl_int8(colcompress.uint8, bigint) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mi_int8(colcompress.uint8, bigint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mi_int8';
COMMENT ON FUNCTION colcompress.uint8_mi_int8(colcompress.uint8, bigint) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_mul_int8(colcompress.uint8, bigint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mul_int8';
COMMENT ON FUNCTION colcompress.uint8_mul_int8(colcompress.uint8, bigint) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.uint8_div_int8(colcompress.uint8, bigint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_div_int8';
COMMENT ON FUNCTION colcompress.uint8_div_int8(colcompress.uint8, bigint) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.uint8_mod_int8(colcompress.uint8, bigint) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_mod_int8';
COMMENT ON FUNCTION colcompress.uint8_mod_int8(colcompress.uint8, bigint) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.int2_lt_uint8(smallint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_lt_uint8';
COMMENT ON FUNCTION colcompress.int2_lt_uint8(smallint, colcompress.uint8) IS 'less than';
CREATE FUNCTION colcompress.int2_le_uint8(smallint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_le_uint8';
COMMENT ON FUNCTION colcompress.int2_le_uint8(smallint, colcompress.uint8) IS 'less than or equal';
CREATE FUNCTION colcompress.int2_eq_uint8(smallint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_eq_uint8';
COMMENT ON FUNCTION colcompress.int2_eq_uint8(smallint, colcompress.uint8) IS 'equal';
CREATE FUNCTION colcompress.int2_ge_uint8(smallint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_ge_uint8';
COMMENT ON FUNCTION colcompress.int2_ge_uint8(smallint, colcompress.uint8) IS 'greater than or equal';
CREATE FUNCTION colcompress.int2_gt_uint8(smallint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_gt_uint8';
COMMENT ON FUNCTION colcompress.int2_gt_uint8(smallint, colcompress.uint8) IS 'greater than';
CREATE FUNCTION colcompress.int2_ne_uint8(smallint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_ne_uint8';
COMMENT ON FUNCTION colcompress.int2_ne_uint8(smallint, colcompress.uint8) IS 'not equal';
CREATE FUNCTION colcompress.int2_cmp_uint8(smallint, colcompress.uint8) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_cmp_uint8';
COMMENT ON FUNCTION colcompress.int2_cmp_uint8(smallint, colcompress.uint8) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.int2_pl_uint8(smallint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_pl_uint8';
COMMENT ON FUNCTION colcompress.int2_pl_uint8(smallint, colcompress.uint8) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int2_mi_uint8(smallint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_mi_uint8';
COMMENT ON FUNCTION colcompress.int2_mi_uint8(smallint, colcompress.uint8) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int2_mul_uint8(smallint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_mul_uint8';
COMMENT ON FUNCTION colcompress.int2_mul_uint8(smallint, colcompress.uint8) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int2_div_uint8(smallint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_div_uint8';
COMMENT ON FUNCTION colcompress.int2_div_uint8(smallint, colcompress.uint8) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.int2_mod_uint8(smallint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int2_mod_uint8';
COMMENT ON FUNCTION colcompress.int2_mod_uint8(smallint, colcompress.uint8) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.int4_lt_uint8(integer, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_lt_uint8';
COMMENT ON FUNCTION colcompress.int4_lt_uint8(integer, colcompress.uint8) IS 'less than';
CREATE FUNCTION colcompress.int4_le_uint8(integer, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_le_uint8';
COMMENT ON FUNCTION colcompress.int4_le_uint8(integer, colcompress.uint8) IS 'less than or equal';
CREATE FUNCTION colcompress.int4_eq_uint8(integer, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_eq_uint8';
COMMENT ON FUNCTION colcompress.int4_eq_uint8(integer, colcompress.uint8) IS 'equal';
CREATE FUNCTION colcompress.int4_ge_uint8(integer, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_ge_uint8';
COMMENT ON FUNCTION colcompress.int4_ge_uint8(integer, colcompress.uint8) IS 'greater than or equal';
CREATE FUNCTION colcompress.int4_gt_uint8(integer, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_gt_uint8';
COMMENT ON FUNCTION colcompress.int4_gt_uint8(integer, colcompress.uint8) IS 'greater than';
CREATE FUNCTION colcompress.int4_ne_uint8(integer, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_ne_uint8';
COMMENT ON FUNCTION colcompress.int4_ne_uint8(integer, colcompress.uint8) IS 'not equal';
CREATE FUNCTION colcompress.int4_cmp_uint8(integer, colcompress.uint8) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_cmp_uint8';
COMMENT ON FUNCTION colcompress.int4_cmp_uint8(integer, colcompress.uint8) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.int4_pl_uint8(integer, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_pl_uint8';
COMMENT ON FUNCTION colcompress.int4_pl_uint8(integer, colcompress.uint8) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int4_mi_uint8(integer, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_mi_uint8';
COMMENT ON FUNCTION colcompress.int4_mi_uint8(integer, colcompress.uint8) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int4_mul_uint8(integer, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_mul_uint8';
COMMENT ON FUNCTION colcompress.int4_mul_uint8(integer, colcompress.uint8) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int4_div_uint8(integer, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_div_uint8';
COMMENT ON FUNCTION colcompress.int4_div_uint8(integer, colcompress.uint8) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.int4_mod_uint8(integer, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int4_mod_uint8';
COMMENT ON FUNCTION colcompress.int4_mod_uint8(integer, colcompress.uint8) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.int8_lt_uint8(bigint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_lt_uint8';
COMMENT ON FUNCTION colcompress.int8_lt_uint8(bigint, colcompress.uint8) IS 'less than';
CREATE FUNCTION colcompress.int8_le_uint8(bigint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_le_uint8';
COMMENT ON FUNCTION colcompress.int8_le_uint8(bigint, colcompress.uint8) IS 'less than or equal';
CREATE FUNCTION colcompress.int8_eq_uint8(bigint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_eq_uint8';
COMMENT ON FUNCTION colcompress.int8_eq_uint8(bigint, colcompress.uint8) IS 'equal';
CREATE FUNCTION colcompress.int8_ge_uint8(bigint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_ge_uint8';
COMMENT ON FUNCTION colcompress.int8_ge_uint8(bigint, colcompress.uint8) IS 'greater than or equal';
CREATE FUNCTION colcompress.int8_gt_uint8(bigint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_gt_uint8';
COMMENT ON FUNCTION colcompress.int8_gt_uint8(bigint, colcompress.uint8) IS 'greater than';
CREATE FUNCTION colcompress.int8_ne_uint8(bigint, colcompress.uint8) RETURNS boolean LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_ne_uint8';
COMMENT ON FUNCTION colcompress.int8_ne_uint8(bigint, colcompress.uint8) IS 'not equal';
CREATE FUNCTION colcompress.int8_cmp_uint8(bigint, colcompress.uint8) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_cmp_uint8';
COMMENT ON FUNCTION colcompress.int8_cmp_uint8(bigint, colcompress.uint8) IS 'less, equal, greater: -1, 0, 1';
CREATE FUNCTION colcompress.int8_pl_uint8(bigint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_pl_uint8';
COMMENT ON FUNCTION colcompress.int8_pl_uint8(bigint, colcompress.uint8) IS 'sum; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int8_mi_uint8(bigint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_mi_uint8';
COMMENT ON FUNCTION colcompress.int8_mi_uint8(bigint, colcompress.uint8) IS 'difference; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int8_mul_uint8(bigint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_mul_uint8';
COMMENT ON FUNCTION colcompress.int8_mul_uint8(bigint, colcompress.uint8) IS 'product; errors: numeric_value_out_of_range';
CREATE FUNCTION colcompress.int8_div_uint8(bigint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_div_uint8';
COMMENT ON FUNCTION colcompress.int8_div_uint8(bigint, colcompress.uint8) IS 'quotient, truncated; errors: numeric_value_out_of_range, division_by_zero';
CREATE FUNCTION colcompress.int8_mod_uint8(bigint, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_int8_mod_uint8';
COMMENT ON FUNCTION colcompress.int8_mod_uint8(bigint, colcompress.uint8) IS 'remainder; errors: numeric_value_out_of_range, division_by_zero';

CREATE OPERATOR colcompress.< (FUNCTION = colcompress.uint8_lt_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.uint8_le_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.uint8_eq_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.uint8_ge_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.uint8_gt_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.uint8_ne_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.uint8_pl_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.uint8_mi_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.uint8_mul_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.uint8_div_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.uint8_mod_uint8, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.< (FUNCTION = colcompress.uint8_lt_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.uint8_le_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.uint8_eq_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.uint8_ge_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.uint8_gt_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.uint8_ne_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.uint8_pl_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.uint8_mi_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.uint8_mul_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.uint8_div_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.uint8_mod_int2, LEFTARG = colcompress.uint8, RIGHTARG = smallint);
CREATE OPERATOR colcompress.< (FUNCTION = colcompress.uint8_lt_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.uint8_le_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.uint8_eq_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.uint8_ge_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.uint8_gt_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.uint8_ne_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.uint8_pl_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.uint8_mi_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.uint8_mul_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.uint8_div_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.uint8_mod_int4, LEFTARG = colcompress.uint8, RIGHTARG = integer);
CREATE OPERATOR colcompress.< (FUNCTION = colcompress.uint8_lt_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.uint8_le_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.uint8_eq_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.uint8_ge_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.uint8_gt_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.uint8_ne_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.uint8_pl_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.uint8_mi_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.uint8_mul_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.uint8_div_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.uint8_mod_int8, LEFTARG = colcompress.uint8, RIGHTARG = bigint);
CREATE OPERATOR colcompress.< (FUNCTION = colcompress.int2_lt_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.int2_le_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.int2_eq_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.int2_ge_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.int2_gt_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.int2_ne_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.int2_pl_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.int2_mi_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.int2_mul_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.int2_div_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.int2_mod_uint8, LEFTARG = smallint, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.< (FUNCTION = colcompress.int4_lt_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.int4_le_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.int4_eq_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.int4_ge_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.int4_gt_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.int4_ne_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.int4_pl_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.int4_mi_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.int4_mul_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.int4_div_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.int4_mod_uint8, LEFTARG = integer, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.< (FUNCTION = colcompress.int8_lt_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>), NEGATOR = OPERATOR(colcompress.>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.<= (FUNCTION = colcompress.int8_le_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.>=), NEGATOR = OPERATOR(colcompress.>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.= (FUNCTION = colcompress.int8_eq_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.=), NEGATOR = OPERATOR(colcompress.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.>= (FUNCTION = colcompress.int8_ge_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<=), NEGATOR = OPERATOR(colcompress.<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.> (FUNCTION = colcompress.int8_gt_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<), NEGATOR = OPERATOR(colcompress.<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.<> (FUNCTION = colcompress.int8_ne_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.<>), NEGATOR = OPERATOR(colcompress.=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.+ (FUNCTION = colcompress.int8_pl_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.+));
CREATE OPERATOR colcompress.- (FUNCTION = colcompress.int8_mi_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.* (FUNCTION = colcompress.int8_mul_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.*));
CREATE OPERATOR colcompress./ (FUNCTION = colcompress.int8_div_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8);
CREATE OPERATOR colcompress.% (FUNCTION = colcompress.int8_mod_uint8, LEFTARG = bigint, RIGHTARG = colcompress.uint8);

-- bits
CREATE FUNCTION colcompress.uint8_and(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_and';
COMMENT ON FUNCTION colcompress.uint8_and(colcompress.uint8, colcompress.uint8) IS 'bitwise and';
CREATE OPERATOR colcompress.& (FUNCTION = colcompress.uint8_and, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.&));
CREATE FUNCTION colcompress.uint8_or(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_or';
COMMENT ON FUNCTION colcompress.uint8_or(colcompress.uint8, colcompress.uint8) IS 'bitwise or';
CREATE OPERATOR colcompress.| (FUNCTION = colcompress.uint8_or, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.|));
CREATE FUNCTION colcompress.uint8_xor(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_xor';
COMMENT ON FUNCTION colcompress.uint8_xor(colcompress.uint8, colcompress.uint8) IS 'bitwise exclusive or';
CREATE OPERATOR colcompress.# (FUNCTION = colcompress.uint8_xor, LEFTARG = colcompress.uint8, RIGHTARG = colcompress.uint8, COMMUTATOR = OPERATOR(colcompress.#));
CREATE FUNCTION colcompress.uint8_not(colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_not';
COMMENT ON FUNCTION colcompress.uint8_not(colcompress.uint8) IS 'bitwise not';
CREATE OPERATOR colcompress.~ (FUNCTION = colcompress.uint8_not, RIGHTARG = colcompress.uint8);
CREATE FUNCTION colcompress.uint8_shl(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_shl';
COMMENT ON FUNCTION colcompress.uint8_shl(colcompress.uint8, integer) IS 'shifted left by so many bits, modulo 64';
CREATE OPERATOR colcompress.<< (FUNCTION = colcompress.uint8_shl, LEFTARG = colcompress.uint8, RIGHTARG = integer);
CREATE FUNCTION colcompress.uint8_shr(colcompress.uint8, integer) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_shr';
COMMENT ON FUNCTION colcompress.uint8_shr(colcompress.uint8, integer) IS 'shifted right by so many bits, modulo 64';
CREATE OPERATOR colcompress.>> (FUNCTION = colcompress.uint8_shr, LEFTARG = colcompress.uint8, RIGHTARG = integer);

-- order and hashing
CREATE FUNCTION colcompress.uint8_sortsupport(internal) RETURNS void LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_sortsupport';
COMMENT ON FUNCTION colcompress.uint8_sortsupport(internal) IS 'sort support';
CREATE FUNCTION colcompress.uint8_hash(colcompress.uint8) RETURNS integer LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_hash';
COMMENT ON FUNCTION colcompress.uint8_hash(colcompress.uint8) IS 'hash, the same as that of an equal bigint';
CREATE FUNCTION colcompress.uint8_hash_extended(colcompress.uint8, bigint) RETURNS bigint LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_hash_extended';
COMMENT ON FUNCTION colcompress.uint8_hash_extended(colcompress.uint8, bigint) IS 'hash with a seed, the same as that of an equal bigint';

-- The family has to compare its integers with one another, too.  It must not do
-- that by pg_catalog's operators: one that is in two families is another kind of
-- equality to the planner, for every integer of the database, than one of an
-- extension that joined integer_ops alone.  So these are the same functions
-- under names of their own.
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int2lt, LEFTARG = smallint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int2le, LEFTARG = smallint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int2eq, LEFTARG = smallint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int2ge, LEFTARG = smallint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int2gt, LEFTARG = smallint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int2ne, LEFTARG = smallint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int24lt, LEFTARG = smallint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int24le, LEFTARG = smallint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int24eq, LEFTARG = smallint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int24ge, LEFTARG = smallint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int24gt, LEFTARG = smallint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int24ne, LEFTARG = smallint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int28lt, LEFTARG = smallint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int28le, LEFTARG = smallint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int28eq, LEFTARG = smallint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int28ge, LEFTARG = smallint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int28gt, LEFTARG = smallint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int28ne, LEFTARG = smallint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int42lt, LEFTARG = integer, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int42le, LEFTARG = integer, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int42eq, LEFTARG = integer, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int42ge, LEFTARG = integer, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int42gt, LEFTARG = integer, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int42ne, LEFTARG = integer, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int4lt, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int4le, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int4eq, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int4ge, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int4gt, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int4ne, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int48lt, LEFTARG = integer, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int48le, LEFTARG = integer, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int48eq, LEFTARG = integer, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int48ge, LEFTARG = integer, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int48gt, LEFTARG = integer, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int48ne, LEFTARG = integer, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int82lt, LEFTARG = bigint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int82le, LEFTARG = bigint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int82eq, LEFTARG = bigint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int82ge, LEFTARG = bigint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int82gt, LEFTARG = bigint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int82ne, LEFTARG = bigint, RIGHTARG = smallint, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int84lt, LEFTARG = bigint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int84le, LEFTARG = bigint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int84eq, LEFTARG = bigint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int84ge, LEFTARG = bigint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int84gt, LEFTARG = bigint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int84ne, LEFTARG = bigint, RIGHTARG = integer, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR colcompress.%< (FUNCTION = pg_catalog.int8lt, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%>), NEGATOR = OPERATOR(colcompress.%>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR colcompress.%<= (FUNCTION = pg_catalog.int8le, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%>=), NEGATOR = OPERATOR(colcompress.%>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR colcompress.%= (FUNCTION = pg_catalog.int8eq, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%=), NEGATOR = OPERATOR(colcompress.%<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR colcompress.%>= (FUNCTION = pg_catalog.int8ge, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<=), NEGATOR = OPERATOR(colcompress.%<), RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR colcompress.%> (FUNCTION = pg_catalog.int8gt, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<), NEGATOR = OPERATOR(colcompress.%<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR colcompress.%<> (FUNCTION = pg_catalog.int8ne, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = OPERATOR(colcompress.%<>), NEGATOR = OPERATOR(colcompress.%=), RESTRICT = neqsel, JOIN = neqjoinsel);

CREATE OPERATOR FAMILY colcompress.uint8_ops USING btree;
CREATE OPERATOR FAMILY colcompress.uint8_ops USING hash;

CREATE OPERATOR CLASS colcompress.uint8_ops DEFAULT FOR TYPE colcompress.uint8 USING btree
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.<,
	OPERATOR 2 colcompress.<=,
	OPERATOR 3 colcompress.=,
	OPERATOR 4 colcompress.>=,
	OPERATOR 5 colcompress.>,
	FUNCTION 1 colcompress.uint8_cmp_uint8(colcompress.uint8, colcompress.uint8),
	FUNCTION 2 colcompress.uint8_sortsupport(internal),
	FUNCTION 4 pg_catalog.btequalimage(oid);

CREATE OPERATOR CLASS colcompress.uint8_ops DEFAULT FOR TYPE colcompress.uint8 USING hash
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.=,
	FUNCTION 1 colcompress.uint8_hash(colcompress.uint8),
	FUNCTION 2 colcompress.uint8_hash_extended(colcompress.uint8, bigint);

CREATE OPERATOR CLASS colcompress.uint8_int2_ops FOR TYPE smallint USING btree
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.%<,
	OPERATOR 2 colcompress.%<=,
	OPERATOR 3 colcompress.%=,
	OPERATOR 4 colcompress.%>=,
	OPERATOR 5 colcompress.%>,
	FUNCTION 1 pg_catalog.btint2cmp(smallint, smallint),
	FUNCTION 2 pg_catalog.btint2sortsupport(internal),
	FUNCTION 4 pg_catalog.btequalimage(oid);

CREATE OPERATOR CLASS colcompress.uint8_int4_ops FOR TYPE integer USING btree
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.%<,
	OPERATOR 2 colcompress.%<=,
	OPERATOR 3 colcompress.%=,
	OPERATOR 4 colcompress.%>=,
	OPERATOR 5 colcompress.%>,
	FUNCTION 1 pg_catalog.btint4cmp(integer, integer),
	FUNCTION 2 pg_catalog.btint4sortsupport(internal),
	FUNCTION 4 pg_catalog.btequalimage(oid);

CREATE OPERATOR CLASS colcompress.uint8_int8_ops FOR TYPE bigint USING btree
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.%<,
	OPERATOR 2 colcompress.%<=,
	OPERATOR 3 colcompress.%=,
	OPERATOR 4 colcompress.%>=,
	OPERATOR 5 colcompress.%>,
	FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
	FUNCTION 2 pg_catalog.btint8sortsupport(internal),
	FUNCTION 4 pg_catalog.btequalimage(oid);

CREATE OPERATOR CLASS colcompress.uint8_int2_ops FOR TYPE smallint USING hash
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.%=,
	FUNCTION 1 pg_catalog.hashint2(smallint),
	FUNCTION 2 pg_catalog.hashint2extended(smallint, bigint);

CREATE OPERATOR CLASS colcompress.uint8_int4_ops FOR TYPE integer USING hash
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.%=,
	FUNCTION 1 pg_catalog.hashint4(integer),
	FUNCTION 2 pg_catalog.hashint4extended(integer, bigint);

CREATE OPERATOR CLASS colcompress.uint8_int8_ops FOR TYPE bigint USING hash
FAMILY colcompress.uint8_ops AS
	OPERATOR 1 colcompress.%=,
	FUNCTION 1 pg_catalog.hashint8(bigint),
	FUNCTION 2 pg_catalog.hashint8extended(bigint, bigint);

ALTER OPERATOR FAMILY colcompress.uint8_ops USING btree ADD
	OPERATOR 1 colcompress.< (colcompress.uint8, smallint),
	OPERATOR 2 colcompress.<= (colcompress.uint8, smallint),
	OPERATOR 3 colcompress.= (colcompress.uint8, smallint),
	OPERATOR 4 colcompress.>= (colcompress.uint8, smallint),
	OPERATOR 5 colcompress.> (colcompress.uint8, smallint),
	FUNCTION 1 (colcompress.uint8, smallint) colcompress.uint8_cmp_int2(colcompress.uint8, smallint),
	OPERATOR 1 colcompress.< (colcompress.uint8, integer),
	OPERATOR 2 colcompress.<= (colcompress.uint8, integer),
	OPERATOR 3 colcompress.= (colcompress.uint8, integer),
	OPERATOR 4 colcompress.>= (colcompress.uint8, integer),
	OPERATOR 5 colcompress.> (colcompress.uint8, integer),
	FUNCTION 1 (colcompress.uint8, integer) colcompress.uint8_cmp_int4(colcompress.uint8, integer),
	OPERATOR 1 colcompress.< (colcompress.uint8, bigint),
	OPERATOR 2 colcompress.<= (colcompress.uint8, bigint),
	OPERATOR 3 colcompress.= (colcompress.uint8, bigint),
	OPERATOR 4 colcompress.>= (colcompress.uint8, bigint),
	OPERATOR 5 colcompress.> (colcompress.uint8, bigint),
	FUNCTION 1 (colcompress.uint8, bigint) colcompress.uint8_cmp_int8(colcompress.uint8, bigint),
	OPERATOR 1 colcompress.< (smallint, colcompress.uint8),
	OPERATOR 2 colcompress.<= (smallint, colcompress.uint8),
	OPERATOR 3 colcompress.= (smallint, colcompress.uint8),
	OPERATOR 4 colcompress.>= (smallint, colcompress.uint8),
	OPERATOR 5 colcompress.> (smallint, colcompress.uint8),
	FUNCTION 1 (smallint, colcompress.uint8) colcompress.int2_cmp_uint8(smallint, colcompress.uint8),
	OPERATOR 1 colcompress.< (integer, colcompress.uint8),
	OPERATOR 2 colcompress.<= (integer, colcompress.uint8),
	OPERATOR 3 colcompress.= (integer, colcompress.uint8),
	OPERATOR 4 colcompress.>= (integer, colcompress.uint8),
	OPERATOR 5 colcompress.> (integer, colcompress.uint8),
	FUNCTION 1 (integer, colcompress.uint8) colcompress.int4_cmp_uint8(integer, colcompress.uint8),
	OPERATOR 1 colcompress.< (bigint, colcompress.uint8),
	OPERATOR 2 colcompress.<= (bigint, colcompress.uint8),
	OPERATOR 3 colcompress.= (bigint, colcompress.uint8),
	OPERATOR 4 colcompress.>= (bigint, colcompress.uint8),
	OPERATOR 5 colcompress.> (bigint, colcompress.uint8),
	FUNCTION 1 (bigint, colcompress.uint8) colcompress.int8_cmp_uint8(bigint, colcompress.uint8),
	OPERATOR 1 colcompress.%< (smallint, integer),
	OPERATOR 2 colcompress.%<= (smallint, integer),
	OPERATOR 3 colcompress.%= (smallint, integer),
	OPERATOR 4 colcompress.%>= (smallint, integer),
	OPERATOR 5 colcompress.%> (smallint, integer),
	FUNCTION 1 (smallint, integer) pg_catalog.btint24cmp(smallint, integer),
	OPERATOR 1 colcompress.%< (smallint, bigint),
	OPERATOR 2 colcompress.%<= (smallint, bigint),
	OPERATOR 3 colcompress.%= (smallint, bigint),
	OPERATOR 4 colcompress.%>= (smallint, bigint),
	OPERATOR 5 colcompress.%> (smallint, bigint),
	FUNCTION 1 (smallint, bigint) pg_catalog.btint28cmp(smallint, bigint),
	OPERATOR 1 colcompress.%< (integer, smallint),
	OPERATOR 2 colcompress.%<= (integer, smallint),
	OPERATOR 3 colcompress.%= (integer, smallint),
	OPERATOR 4 colcompress.%>= (integer, smallint),
	OPERATOR 5 colcompress.%> (integer, smallint),
	FUNCTION 1 (integer, smallint) pg_catalog.btint42cmp(integer, smallint),
	OPERATOR 1 colcompress.%< (integer, bigint),
	OPERATOR 2 colcompress.%<= (integer, bigint),
	OPERATOR 3 colcompress.%= (integer, bigint),
	OPERATOR 4 colcompress.%>= (integer, bigint),
	OPERATOR 5 colcompress.%> (integer, bigint),
	FUNCTION 1 (integer, bigint) pg_catalog.btint48cmp(integer, bigint),
	OPERATOR 1 colcompress.%< (bigint, smallint),
	OPERATOR 2 colcompress.%<= (bigint, smallint),
	OPERATOR 3 colcompress.%= (bigint, smallint),
	OPERATOR 4 colcompress.%>= (bigint, smallint),
	OPERATOR 5 colcompress.%> (bigint, smallint),
	FUNCTION 1 (bigint, smallint) pg_catalog.btint82cmp(bigint, smallint),
	OPERATOR 1 colcompress.%< (bigint, integer),
	OPERATOR 2 colcompress.%<= (bigint, integer),
	OPERATOR 3 colcompress.%= (bigint, integer),
	OPERATOR 4 colcompress.%>= (bigint, integer),
	OPERATOR 5 colcompress.%> (bigint, integer),
	FUNCTION 1 (bigint, integer) pg_catalog.btint84cmp(bigint, integer);

ALTER OPERATOR FAMILY colcompress.uint8_ops USING hash ADD
	OPERATOR 1 colcompress.= (colcompress.uint8, smallint),
	OPERATOR 1 colcompress.= (colcompress.uint8, integer),
	OPERATOR 1 colcompress.= (colcompress.uint8, bigint),
	OPERATOR 1 colcompress.= (smallint, colcompress.uint8),
	OPERATOR 1 colcompress.= (integer, colcompress.uint8),
	OPERATOR 1 colcompress.= (bigint, colcompress.uint8),
	OPERATOR 1 colcompress.%= (smallint, integer),
	OPERATOR 1 colcompress.%= (smallint, bigint),
	OPERATOR 1 colcompress.%= (integer, smallint),
	OPERATOR 1 colcompress.%= (integer, bigint),
	OPERATOR 1 colcompress.%= (bigint, smallint),
	OPERATOR 1 colcompress.%= (bigint, integer);

-- aggregates
CREATE FUNCTION colcompress.uint8_accum(internal, colcompress.uint8) RETURNS internal LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_accum';
COMMENT ON FUNCTION colcompress.uint8_accum(internal, colcompress.uint8) IS 'transition of sum and avg';
CREATE FUNCTION colcompress.uint8_accum_inv(internal, colcompress.uint8) RETURNS internal LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_accum_inv';
COMMENT ON FUNCTION colcompress.uint8_accum_inv(internal, colcompress.uint8) IS 'inverse transition of sum and avg';
CREATE FUNCTION colcompress.uint8_combine(internal, internal) RETURNS internal LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_combine';
COMMENT ON FUNCTION colcompress.uint8_combine(internal, internal) IS 'combines states of sum and avg';
CREATE FUNCTION colcompress.uint8_serialize(internal) RETURNS bytea LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_serialize';
COMMENT ON FUNCTION colcompress.uint8_serialize(internal) IS 'state of sum and avg as bytes';
CREATE FUNCTION colcompress.uint8_deserialize(bytea, internal) RETURNS internal LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_deserialize';
COMMENT ON FUNCTION colcompress.uint8_deserialize(bytea, internal) IS 'state of sum and avg from bytes';
CREATE FUNCTION colcompress.uint8_sum(internal) RETURNS numeric LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_sum';
COMMENT ON FUNCTION colcompress.uint8_sum(internal) IS 'result of sum';
CREATE FUNCTION colcompress.uint8_avg(internal) RETURNS numeric LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_avg';
COMMENT ON FUNCTION colcompress.uint8_avg(internal) IS 'result of avg';
CREATE FUNCTION colcompress.uint8_larger(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_larger';
COMMENT ON FUNCTION colcompress.uint8_larger(colcompress.uint8, colcompress.uint8) IS 'the greater one';
CREATE FUNCTION colcompress.uint8_smaller(colcompress.uint8, colcompress.uint8) RETURNS colcompress.uint8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'cc_uint8_smaller';
COMMENT ON FUNCTION colcompress.uint8_smaller(colcompress.uint8, colcompress.uint8) IS 'the lesser one';

CREATE AGGREGATE colcompress.sum(colcompress.uint8) (
	SFUNC = colcompress.uint8_accum,
	STYPE = internal,
	SSPACE = 32,
	FINALFUNC = colcompress.uint8_sum,
	COMBINEFUNC = colcompress.uint8_combine,
	SERIALFUNC = colcompress.uint8_serialize,
	DESERIALFUNC = colcompress.uint8_deserialize,
	MSFUNC = colcompress.uint8_accum,
	MINVFUNC = colcompress.uint8_accum_inv,
	MSTYPE = internal,
	MSSPACE = 32,
	MFINALFUNC = colcompress.uint8_sum,
	PARALLEL = safe
);
COMMENT ON AGGREGATE colcompress.sum(colcompress.uint8) IS 'sum as numeric, exact';

CREATE AGGREGATE colcompress.avg(colcompress.uint8) (
	SFUNC = colcompress.uint8_accum,
	STYPE = internal,
	SSPACE = 32,
	FINALFUNC = colcompress.uint8_avg,
	COMBINEFUNC = colcompress.uint8_combine,
	SERIALFUNC = colcompress.uint8_serialize,
	DESERIALFUNC = colcompress.uint8_deserialize,
	MSFUNC = colcompress.uint8_accum,
	MINVFUNC = colcompress.uint8_accum_inv,
	MSTYPE = internal,
	MSSPACE = 32,
	MFINALFUNC = colcompress.uint8_avg,
	PARALLEL = safe
);
COMMENT ON AGGREGATE colcompress.avg(colcompress.uint8) IS 'average as numeric, exact';

CREATE AGGREGATE colcompress.min(colcompress.uint8) (
	SFUNC = colcompress.uint8_smaller,
	STYPE = colcompress.uint8,
	COMBINEFUNC = colcompress.uint8_smaller,
	SORTOP = OPERATOR(colcompress.<),
	PARALLEL = safe
);
COMMENT ON AGGREGATE colcompress.min(colcompress.uint8) IS 'least value';

CREATE AGGREGATE colcompress.max(colcompress.uint8) (
	SFUNC = colcompress.uint8_larger,
	STYPE = colcompress.uint8,
	COMBINEFUNC = colcompress.uint8_larger,
	SORTOP = OPERATOR(colcompress.>),
	PARALLEL = safe
);
COMMENT ON AGGREGATE colcompress.max(colcompress.uint8) IS 'greatest value';
