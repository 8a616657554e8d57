/*-------------------------------------------------------------------------
 *
 * cc_batch.c
 *	  Batches of rows over the vectors that the reader hands out.
 *
 * Memory: the batch and its buffers live as long as the scan; vectors belong
 * to the reader and are valid until the column's next vector.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "cc_delta.h"
#include "cc_path_expr.h"
#include "st_numeric.h"

StaticAssertDecl(sizeof(Datum) == sizeof(int64) && sizeof(Datum) == sizeof(double),
				 "arrays of int64 and double are read as arrays of Datum");

CcBatch *
cc_batch_create(int natts, const Bitmapset *attnos)
{
	CcBatch    *batch = palloc0(sizeof(CcBatch));
	int			attno = -1;

	batch->natts = natts;
	batch->mcxt = CurrentMemoryContext;
	batch->columns = palloc0(sizeof(CcBatchColumn) * (bms_num_members(attnos) + 1));
	batch->column_of = palloc(sizeof(int16) * (natts + 1));
	memset(batch->column_of, -1, sizeof(int16) * (natts + 1));

	while ((attno = bms_next_member(attnos, attno)) >= 0)
	{
		batch->column_of[attno - 1] = batch->ncolumns;
		batch->columns[batch->ncolumns++].attno = attno;
	}
	return batch;
}

void
cc_batch_set_paths(CcBatch *batch, int npaths, struct CcPath **paths)
{
	if (npaths == batch->npaths)
		return;
	batch->columns = repalloc(batch->columns,
							  sizeof(CcBatchColumn) * (batch->ncolumns + npaths + 1));
	batch->column_of = repalloc(batch->column_of,
								sizeof(int16) * (batch->natts + npaths + 1));
	for (int i = batch->npaths; i < npaths; i++)
	{
		CcBatchColumn *column = &batch->columns[batch->ncolumns + i];

		memset(column, 0, sizeof(*column));
		column->attno = batch->natts + 1 + i;
		batch->column_of[batch->natts + i] = batch->ncolumns + i;
	}
	batch->npaths = npaths;
	batch->paths = paths;
}

void
cc_batch_reset_paths(CcBatch *batch)
{
	for (int i = 0; i < batch->npaths; i++)
		batch->columns[batch->ncolumns + i].access = CC_ACCESS_NONE;
}

/* Nothing is decoded, and all rows are selected. */
static void
start_batch(CcBatch *batch, int nrows)
{
	int			nwords = (nrows + 63) / 64;

	batch->nrows = nrows;
	for (int i = 0; i < batch->ncolumns; i++)
		batch->columns[i].access = CC_ACCESS_NONE;
	cc_batch_reset_paths(batch);

	memset(batch->selection, 0xFF, nwords * sizeof(uint64));
	if (nrows % 64 != 0)
		batch->selection[nwords - 1] = (UINT64CONST(1) << (nrows % 64)) - 1;
}

void
cc_batch_set_rows(CcBatch *batch, int n)
{
	batch->reader = NULL;
	batch->vecno = 0;
	batch->first_row = 0;
	start_batch(batch, n);
}

void
cc_batch_set(CcBatch *batch, StReader *reader, const StGroup *group, uint32 vecno)
{
	batch->reader = reader;
	batch->vecno = vecno;
	batch->first_row = group->first_row + (uint64) vecno * ST_VECTOR_SIZE;
	start_batch(batch, Min(group->nrows - vecno * ST_VECTOR_SIZE, ST_VECTOR_SIZE));
}

uint32
cc_batch_remove_deleted(CcBatch *batch, const uint64 *deleted)
{
	const uint64 *words = deleted + (Size) batch->vecno * CC_SELECTION_WORDS;
	uint32		removed = 0;

	for (int i = 0; i < (batch->nrows + 63) / 64; i++)
	{
		removed += pg_popcount64(batch->selection[i] & words[i]);
		batch->selection[i] &= ~words[i];
	}
	return removed;
}

void
cc_batch_attach(CcBatch *batch, CcBatchColumn *column, const CcVector *v)
{
	Assert(v->n == batch->nrows);
	column->vector = v;
	column->has_nulls = v->has_nulls;
	switch (v->rep)
	{
		case CC_REP_INT64:
			column->access = CC_ACCESS_DIRECT;
			column->values = v->u.i64;
			break;
		case CC_REP_FLOAT8:
			column->access = CC_ACCESS_DIRECT;
			column->values = v->u.f64;
			break;
		case CC_REP_DATUM:
			column->access = CC_ACCESS_DIRECT;
			column->values = v->u.datum;
			break;
		case CC_REP_FLOAT4:
			column->access = CC_ACCESS_FLOAT4;
			column->values = v->u.f32;
			break;
		case CC_REP_CODE:
			column->access = CC_ACCESS_CODE;
			column->values = v->u.code;
			column->dict_values = v->dict->values;
			break;
		case CC_REP_DECIMAL64:
			column->access = CC_ACCESS_DECIMAL64;
			column->values = v->u.i64;
			break;
		case CC_REP_DECIMAL128:
			column->access = CC_ACCESS_DECIMAL128;
			column->values = v->u.i128;
			break;
	}
	if (column->access >= CC_ACCESS_DECIMAL64 && column->buffer == NULL)
		column->buffer = MemoryContextAlloc(batch->mcxt, ST_NUMERIC_MAX_BYTES);
}

void
cc_batch_decode(CcBatch *batch, CcBatchColumn *column)
{
	const CcVector *v;

	if (column->attno > batch->natts)
		v = cc_path_column_vector(batch, batch->paths[column->attno - batch->natts - 1]);
	else if (batch->reader != NULL)
		v = cc_reader_vector_selected(batch->reader, column->attno, batch->vecno,
									  batch->selection);
	else
		v = cc_delta_vector(batch->delta, column->attno);
	cc_batch_attach(batch, column, v);
}

Datum
cc_batch_decimal(CcBatchColumn *column, int row)
{
	if (column->access == CC_ACCESS_DECIMAL64)
		st_numeric_write_int64(column->buffer, ((const int64 *) column->values)[row],
							   column->vector->scale);
	else
		st_numeric_write_int128(column->buffer, ((const int128 *) column->values)[row],
								column->vector->scale);
	return PointerGetDatum(column->buffer);
}

/* 0, 1, 2, ...: the positions when all rows are selected. */
static uint16 all_rows[ST_VECTOR_SIZE];

int
cc_selection_rows(const uint64 *selection, int nrows, uint16 *rows)
{
	int			n = 0;

	if (all_rows[1] == 0)
		for (int i = 0; i < ST_VECTOR_SIZE; i++)
			all_rows[i] = i;
	for (int base = 0; base < nrows; base += 64)
	{
		uint64		word = selection[base / 64];

		if (word == ~UINT64CONST(0))
		{
			memcpy(rows + n, all_rows + base, 64 * sizeof(uint16));
			n += 64;
			continue;
		}
		for (; word != 0; word &= word - 1)
			rows[n++] = base + __builtin_ctzll(word);
	}
	return n;
}
