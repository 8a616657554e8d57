/*-------------------------------------------------------------------------
 *
 * cc_row_column.c
 *	  One column of rows as a vector.
 *
 * Values take the same form that the reader gives them (cc_vector.h), so
 * that kernels see no difference: integers as int64, floats as they are,
 * numerics as scaled integers if all of the vector have one scale and fit,
 * everything else as Datums.  Owns the arrays, not what Datums point to.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "cc_row_column.h"
#include "st_numeric.h"

void
cc_row_column_init(CcRowColumn *column, Form_pg_attribute attr)
{
	CcColumnType type;

	cc_column_type(attr, &type);
	column->attno = attr->attnum;
	column->kind = type.kind;
	column->typlen = type.typlen;
	column->is_signed = type.is_signed;
	column->v.u.i64 = palloc0(sizeof(int64) * ST_VECTOR_SIZE);
	if (type.kind == CC_KIND_NUMERIC)
	{
		column->decimals = column->v.u.i64;
		column->datums = palloc0(sizeof(Datum) * ST_VECTOR_SIZE);
	}
	cc_row_column_reset(column);
}

void
cc_row_column_reset(CcRowColumn *column)
{
	column->v.has_nulls = false;
	column->scaled = true;
	column->scale = -1;
	memset(column->v.valid, 0, sizeof(column->v.valid));
}

/* As the writer widens them. */
static int64
integer_of(Datum value, int16 typlen, bool is_signed)
{
	switch (typlen)
	{
		case 1:
			return is_signed ? (int64) (int8) DatumGetChar(value) :
				(int64) (uint8) DatumGetChar(value);
		case 2:
			return DatumGetInt16(value);
		case 4:
			return is_signed ? (int64) DatumGetInt32(value) :
				(int64) DatumGetUInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

static void
add_numeric(CcRowColumn *column, int i, Datum value)
{
	int128		scaled;
	int			scale;

	column->datums[i] = value;
	if (!column->scaled)
		return;
	if (!st_numeric_to_int128(value, &scaled, &scale) ||
		(column->scale >= 0 && column->scale != scale) ||
		scaled < PG_INT64_MIN || scaled > PG_INT64_MAX)
	{
		column->scaled = false;
		return;
	}
	column->scale = scale;
	column->decimals[i] = (int64) scaled;
}

void
cc_row_column_put(CcRowColumn *column, int row, Datum value)
{
	column->v.valid[row / 64] |= UINT64CONST(1) << (row % 64);
	switch (column->kind)
	{
		case CC_KIND_INT:
			column->v.u.i64[row] = integer_of(value, column->typlen, column->is_signed);
			break;
		case CC_KIND_FLOAT8:
			column->v.u.f64[row] = DatumGetFloat8(value);
			break;
		case CC_KIND_FLOAT4:
			column->v.u.f32[row] = DatumGetFloat4(value);
			break;
		case CC_KIND_NUMERIC:
			add_numeric(column, row, value);
			break;
		default:
			column->v.u.datum[row] = value;
			break;
	}
}

static CcRep
rep_of(const CcRowColumn *column)
{
	switch (column->kind)
	{
		case CC_KIND_INT:
			return CC_REP_INT64;
		case CC_KIND_FLOAT8:
			return CC_REP_FLOAT8;
		case CC_KIND_FLOAT4:
			return CC_REP_FLOAT4;
		case CC_KIND_NUMERIC:
			return column->scaled ? CC_REP_DECIMAL64 : CC_REP_DATUM;
		default:
			return CC_REP_DATUM;
	}
}

void
cc_row_column_finish(CcRowColumn *column, int n)
{
	column->v.rep = rep_of(column);
	column->v.n = n;
	column->v.scale = Max(column->scale, 0);
	column->v.typlen = column->typlen;
	if (column->kind == CC_KIND_NUMERIC)
	{
		if (column->scaled)
			column->v.u.i64 = column->decimals;
		else
			column->v.u.datum = column->datums;
	}
}
