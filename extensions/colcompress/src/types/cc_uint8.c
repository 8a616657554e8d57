/*-------------------------------------------------------------------------
 *
 * cc_uint8.c
 *	  Input, output, casts and hashing of colcompress.uint8.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "cc_uint8.h"
#include "st_numeric.h"

PG_FUNCTION_INFO_V1(cc_uint8_in);
PG_FUNCTION_INFO_V1(cc_uint8_out);
PG_FUNCTION_INFO_V1(cc_uint8_recv);
PG_FUNCTION_INFO_V1(cc_uint8_send);
PG_FUNCTION_INFO_V1(cc_uint8_hash);
PG_FUNCTION_INFO_V1(cc_uint8_hash_extended);
PG_FUNCTION_INFO_V1(cc_uint8_from_int2);
PG_FUNCTION_INFO_V1(cc_uint8_from_int4);
PG_FUNCTION_INFO_V1(cc_uint8_from_int8);
PG_FUNCTION_INFO_V1(cc_uint8_from_numeric);
PG_FUNCTION_INFO_V1(cc_uint8_from_float8);
PG_FUNCTION_INFO_V1(cc_uint8_to_int2);
PG_FUNCTION_INFO_V1(cc_uint8_to_int4);
PG_FUNCTION_INFO_V1(cc_uint8_to_int8);
PG_FUNCTION_INFO_V1(cc_uint8_to_numeric);
PG_FUNCTION_INFO_V1(cc_uint8_to_float4);
PG_FUNCTION_INFO_V1(cc_uint8_to_float8);

/* ---- input and output ---- */

static const char *
skip_spaces(const char *s)
{
	while (isspace((unsigned char) *s))
		s++;
	return s;
}

/* Decimal digits, perhaps with a sign and spaces around them. */
Datum
cc_uint8_in(PG_FUNCTION_ARGS)
{
	const char *str = PG_GETARG_CSTRING(0);
	const char *s = skip_spaces(str);
	bool		negative = *s == '-';
	bool		overflow = false;
	const char *digits;
	uint64		value = 0;

	if (*s == '-' || *s == '+')
		s++;
	for (digits = s; isdigit((unsigned char) *s); s++)
		overflow |= __builtin_mul_overflow(value, UINT64CONST(10), &value) ||
			__builtin_add_overflow(value, (uint64) (*s - '0'), &value);
	if (s == digits || *skip_spaces(s) != '\0')
		ereport(ERROR,
				errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				errmsg("invalid input syntax for type %s: \"%s\"", "uint8", str));
	if (overflow || (negative && value != 0))
		ereport(ERROR,
				errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				errmsg("value \"%s\" is out of range for type %s", str, "uint8"));
	PG_RETURN_UINT8(value);
}

Datum
cc_uint8_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(psprintf(UINT64_FORMAT, PG_GETARG_UINT8(0)));
}

Datum
cc_uint8_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);

	PG_RETURN_UINT8((uint64) pq_getmsgint64(buf));
}

Datum
cc_uint8_send(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint64(&buf, PG_GETARG_UINT8(0));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* ---- hashing: as int8 does for what both have ---- */

Datum
cc_uint8_hash(PG_FUNCTION_ARGS)
{
	uint64		value = PG_GETARG_UINT8(0);

	return hash_uint32((uint32) value ^ (uint32) (value >> 32));
}

Datum
cc_uint8_hash_extended(PG_FUNCTION_ARGS)
{
	uint64		value = PG_GETARG_UINT8(0);

	return hash_uint32_extended((uint32) value ^ (uint32) (value >> 32),
								PG_GETARG_INT64(1));
}

/* ---- casts ---- */

Datum
cc_uint8_from_int2(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT8(cc_uint8_check(PG_GETARG_INT16(0)));
}

Datum
cc_uint8_from_int4(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT8(cc_uint8_check(PG_GETARG_INT32(0)));
}

Datum
cc_uint8_from_int8(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT8(cc_uint8_check(PG_GETARG_INT64(0)));
}

/* Halves are rounded away from zero, as for the other integers. */
Datum
cc_uint8_from_numeric(PG_FUNCTION_ARGS)
{
	Datum		num = PointerGetDatum(PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0)));
	int128		value;
	int			scale;

	if (numeric_is_nan(DatumGetNumeric(num)) || numeric_is_inf(DatumGetNumeric(num)))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot convert %s to %s",
					   numeric_is_nan(DatumGetNumeric(num)) ? "NaN" : "infinity", "uint8"));
	num = DirectFunctionCall2(numeric_round, num, Int32GetDatum(0));
	if (!st_numeric_to_int128(num, &value, &scale))
		value = -1;
	PG_RETURN_UINT8(cc_uint8_check(value));
}

Datum
cc_uint8_from_float8(PG_FUNCTION_ARGS)
{
	double		value = rint(PG_GETARG_FLOAT8(0));

	/* false for NaN too; 2^64 is exact */
	if (!(value >= 0 && value < 18446744073709551616.0))
		cc_uint8_check(-1);
	PG_RETURN_UINT8((uint64) value);
}

static int64
to_int(uint64 value, uint64 max, const char *type)
{
	if (value > max)
		ereport(ERROR,
				errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				errmsg("%s out of range", type));
	return (int64) value;
}

Datum
cc_uint8_to_int2(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT16(to_int(PG_GETARG_UINT8(0), PG_INT16_MAX, "smallint"));
}

Datum
cc_uint8_to_int4(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(to_int(PG_GETARG_UINT8(0), PG_INT32_MAX, "integer"));
}

Datum
cc_uint8_to_int8(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(to_int(PG_GETARG_UINT8(0), PG_INT64_MAX, "bigint"));
}

Datum
cc_uint8_to_numeric(PG_FUNCTION_ARGS)
{
	char	   *buf = palloc(ST_NUMERIC_MAX_BYTES);

	st_numeric_write_int128(buf, PG_GETARG_UINT8(0), 0);
	PG_RETURN_POINTER(buf);
}

Datum
cc_uint8_to_float4(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT4((float4) PG_GETARG_UINT8(0));
}

Datum
cc_uint8_to_float8(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8((float8) PG_GETARG_UINT8(0));
}
