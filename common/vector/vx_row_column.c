/*-------------------------------------------------------------------------
 *
 * vx_row_column.c
 *	  One column of rows as a vector.
 *
 * Values take the same form that the reader gives them (vx_vector.h), so
 * that kernels see no difference: integers as int64, floats as they are,
 * numerics as scaled integers if all of the vector have one scale and fit,
 * everything else as Datums.  Owns the arrays, not what Datums point to.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/lsyscache.h"

#include "vx_row_column.h"
#include "st_numeric.h"

void
vx_row_column_init(VxRowColumn *column, Form_pg_attribute attr)
{
	Oid			type = getBaseType(attr->atttypid);

	column->attno = attr->attnum;
	column->numeric = type == NUMERICOID;
	column->byval = attr->attbyval;
	column->v.rep = vx_type_rep(type, attr->attbyval);
	column->typlen = column->v.typlen = attr->attlen;
	column->type = type;
	column->v.u.i64 = palloc0(sizeof(int64) * ST_VECTOR_SIZE);
	if (column->numeric)
	{
		column->decimals = column->v.u.i64;
		column->datums = palloc0(sizeof(Datum) * ST_VECTOR_SIZE);
	}
	vx_row_column_reset(column);
}

void
vx_row_column_reset(VxRowColumn *column)
{
	column->v.has_nulls = false;
	column->scaled = true;
	column->scale = -1;
	memset(column->v.valid, 0, sizeof(column->v.valid));
}

static void
add_numeric(VxRowColumn *column, int i, Datum value)
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
vx_row_column_put(VxRowColumn *column, int row, Datum value)
{
	column->v.valid[row / 64] |= UINT64CONST(1) << (row % 64);
	if (column->numeric)
		add_numeric(column, row, value);
	else
		vx_vector_put(&column->v, column->type, row, value);
}

void
vx_row_column_finish(VxRowColumn *column, int n)
{
	column->v.n = n;
	column->v.scale = Max(column->scale, 0);
	if (column->numeric)
	{
		column->v.rep = column->scaled ? VX_REP_DECIMAL64 : VX_REP_DATUM;
		if (column->scaled)
			column->v.u.i64 = column->decimals;
		else
			column->v.u.datum = column->datums;
	}
}
