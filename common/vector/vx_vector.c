/*-------------------------------------------------------------------------
 *
 * vx_vector.c
 *	  Single values of vectors.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "st_numeric.h"
#include "vx_vector.h"

Datum
vx_vector_datum_in(const VxVector *v, int i, void *buffer)
{
	Datum		value;

	if (vx_vector_at(v, i, &value))
		return value;
	if (v->rep == VX_REP_FLOAT4)
		return Float4GetDatum(v->u.f32[i]);
	if (v->rep == VX_REP_DECIMAL64)
		st_numeric_write_int64(buffer, v->u.i64[i], v->scale);
	else
		st_numeric_write_int128(buffer, v->u.i128[i], v->scale);
	return PointerGetDatum(buffer);
}

Datum
vx_vector_datum(const VxVector *v, int i)
{
	return vx_vector_datum_in(v, i, vx_is_decimal(v) ? palloc(ST_NUMERIC_MAX_BYTES) : NULL);
}

VxRep
vx_type_rep(Oid type, bool byval)
{
	if (!byval)
		return VX_REP_DATUM;
	return type == FLOAT8OID ? VX_REP_FLOAT8 : type == FLOAT4OID ? VX_REP_FLOAT4 : VX_REP_INT64;
}

int
vx_compare_int64(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

bool
vx_is_integer_type(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case CHAROID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case CASHOID:
			return true;
		default:
			return false;
	}
}

bool
vx_is_number_type(Oid type)
{
	return vx_is_integer_type(type) || type == FLOAT4OID || type == FLOAT8OID ||
		type == NUMERICOID;
}

void
vx_vector_gather(VxVector *out, const VxVector *v, const uint16 *from, int n)
{
	out->rep = v->rep;
	out->n = n;
	out->scale = v->scale;
	out->constant = false;
	out->dict = v->dict;
	out->typlen = v->typlen;
	out->has_nulls = v->has_nulls;
	if (v->has_nulls)
	{
		memset(out->valid, 0, sizeof(out->valid));
		for (int i = 0; i < n; i++)
			if (!vx_vector_isnull(v, from[i]))
				out->valid[i / 64] |= UINT64CONST(1) << (i % 64);
	}
	switch (v->rep)
	{
		case VX_REP_CODE:
			for (int i = 0; i < n; i++)
				out->u.code[i] = v->u.code[from[i]];
			break;
		case VX_REP_FLOAT4:
			for (int i = 0; i < n; i++)
				out->u.f32[i] = v->u.f32[from[i]];
			break;
		case VX_REP_DECIMAL128:
			for (int i = 0; i < n; i++)
				out->u.i128[i] = v->u.i128[from[i]];
			break;
		default:
			for (int i = 0; i < n; i++)
				out->u.i64[i] = v->u.i64[from[i]];
			break;
	}
}
