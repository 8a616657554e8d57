/*-------------------------------------------------------------------------
 *
 * cc_row_vectors.c
 *	  Vectors made of rows: the delta's, and those that come back from disk.
 *
 * Values take the same form that the reader gives them (cc_vector.h), so
 * that kernels see no difference: integers as int64, floats as they are,
 * numerics as scaled integers if all of the batch have one scale and fit,
 * everything else as Datums with plain headers.
 *
 * Memory: values by reference live in a context of this file that is reset
 * before the next batch; the size of a batch is bounded
 * by ST_VECTOR_SIZE rows and by MAX_BYTES of their values.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/datum.h"
#include "utils/memutils.h"

#include "cc_format.h"
#include "cc_row_vectors.h"
#include "st_numeric.h"

/* A batch is full when its values by reference take so many bytes. */
#define MAX_BYTES	((Size) 8 * 1024 * 1024)

typedef struct RowColumn
{
	AttrNumber	attno;
	CcKind		kind;
	int16		typlen;
	bool		is_signed;
	CcVector	v;
	int64	   *decimals;		/* numeric: scaled values, as long as they fit */
	Datum	   *datums;			/* numeric: the values as they came */
	bool		scaled;
	int			scale;			/* -1: no value yet */
} RowColumn;

struct CcRowVectors
{
	CcBatch    *batch;
	MemoryContext values_mcxt;
	RowColumn  *columns;
	int			n;
	Size		bytes;
};

CcRowVectors *
cc_row_vectors_create(CcBatch *batch, TupleDesc desc)
{
	CcRowVectors *rows = palloc0(sizeof(CcRowVectors));

	rows->batch = batch;
	rows->values_mcxt = AllocSetContextCreate(CurrentMemoryContext,
											  "colcompress row vectors",
											  ALLOCSET_DEFAULT_SIZES);
	rows->columns = palloc0(sizeof(RowColumn) * (batch->ncolumns + 1));
	for (int i = 0; i < batch->ncolumns; i++)
	{
		RowColumn  *column = &rows->columns[i];
		CcColumnType type;

		column->attno = batch->columns[i].attno;
		cc_column_type(TupleDescAttr(desc, column->attno - 1), &type);
		column->kind = type.kind;
		column->typlen = type.typlen;
		column->is_signed = type.is_signed;
		column->v.u.i64 = palloc0(sizeof(int64) * ST_VECTOR_SIZE);
		if (type.kind == CC_KIND_NUMERIC)
		{
			column->decimals = column->v.u.i64;
			column->datums = palloc0(sizeof(Datum) * ST_VECTOR_SIZE);
		}
	}
	cc_row_vectors_reset(rows);
	return rows;
}

void
cc_row_vectors_reset(CcRowVectors *rows)
{
	rows->n = 0;
	rows->bytes = 0;
	for (int i = 0; i < rows->batch->ncolumns; i++)
	{
		RowColumn  *column = &rows->columns[i];

		column->v.has_nulls = false;
		column->scaled = true;
		column->scale = -1;
		memset(column->v.valid, 0, sizeof(column->v.valid));
	}
	MemoryContextReset(rows->values_mcxt);
}

bool
cc_row_vectors_full(const CcRowVectors *rows)
{
	return rows->n == ST_VECTOR_SIZE || rows->bytes >= MAX_BYTES;
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
add_numeric(RowColumn *column, int i, Datum value)
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

/* Copy of a value by reference, detoasted. */
static Datum
copy_value(CcRowVectors *rows, Datum value, int16 typlen)
{
	MemoryContext old = MemoryContextSwitchTo(rows->values_mcxt);

	if (typlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	else
		value = datumCopy(value, false, typlen);
	rows->bytes += datumGetSize(value, false, typlen);
	MemoryContextSwitchTo(old);
	return value;
}

void
cc_row_vectors_add(CcRowVectors *rows, TupleTableSlot *slot)
{
	int			i = rows->n;

	Assert(i < ST_VECTOR_SIZE);
	for (int c = 0; c < rows->batch->ncolumns; c++)
	{
		RowColumn  *column = &rows->columns[c];
		bool		isnull;
		Datum		value = slot_getattr(slot, column->attno, &isnull);

		if (isnull)
		{
			column->v.has_nulls = true;
			continue;
		}
		column->v.valid[i / 64] |= UINT64CONST(1) << (i % 64);
		switch (column->kind)
		{
			case CC_KIND_INT:
				column->v.u.i64[i] = integer_of(value, column->typlen,
												  column->is_signed);
				break;
			case CC_KIND_FLOAT8:
				column->v.u.f64[i] = DatumGetFloat8(value);
				break;
			case CC_KIND_FLOAT4:
				column->v.u.f32[i] = DatumGetFloat4(value);
				break;
			case CC_KIND_NUMERIC:
				add_numeric(column, i, copy_value(rows, value, -1));
				break;
			default:
				column->v.u.datum[i] = copy_value(rows, value, column->typlen);
				break;
		}
	}
	rows->n++;
}

static CcRep
rep_of(const RowColumn *column)
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

bool
cc_row_vectors_finish(CcRowVectors *rows)
{
	CcBatch    *batch = rows->batch;

	if (rows->n == 0)
		return false;
	batch->reader = NULL;
	batch->vecno = 0;
	batch->nrows = rows->n;
	batch->first_row = 0;
	memset(batch->selection, 0, sizeof(batch->selection));
	for (int i = 0; i < rows->n; i += 64)
		batch->selection[i / 64] = rows->n - i >= 64 ? ~UINT64CONST(0) :
			(UINT64CONST(1) << (rows->n - i)) - 1;

	cc_batch_reset_paths(batch);
	for (int c = 0; c < batch->ncolumns; c++)
	{
		RowColumn  *column = &rows->columns[c];

		column->v.rep = rep_of(column);
		column->v.n = rows->n;
		column->v.scale = Max(column->scale, 0);
		column->v.typlen = column->typlen;
		if (column->kind == CC_KIND_NUMERIC)
		{
			if (column->scaled)
				column->v.u.i64 = column->decimals;
			else
				column->v.u.datum = column->datums;
		}
		cc_batch_attach(batch, &batch->columns[c], &column->v);
	}
	return true;
}
