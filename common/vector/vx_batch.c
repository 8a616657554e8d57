/*-------------------------------------------------------------------------
 *
 * vx_batch.c
 *	  Batches of rows over the vectors that the reader hands out.
 *
 * Memory: the batch and its buffers live as long as the scan; vectors belong
 * to the reader and are valid until the column's next vector.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "vx_batch.h"
#include "vx_path.h"
#include "st_numeric.h"

StaticAssertDecl(sizeof(Datum) == sizeof(int64) && sizeof(Datum) == sizeof(double),
				 "arrays of int64 and double are read as arrays of Datum");

VxBatch *
vx_batch_create(int natts, const Bitmapset *attnos)
{
	VxBatch    *batch = palloc0(sizeof(VxBatch));
	int			attno = -1;

	batch->natts = natts;
	batch->mcxt = CurrentMemoryContext;
	batch->columns = palloc0(sizeof(VxBatchColumn) * (bms_num_members(attnos) + 1));
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
vx_batch_set_paths(VxBatch *batch, int npaths, VxPath **paths, VxPathVector path_vector)
{
	if (npaths == batch->npaths)
		return;
	batch->columns = repalloc(batch->columns,
							  sizeof(VxBatchColumn) * (batch->ncolumns + npaths + 1));
	batch->column_of = repalloc(batch->column_of,
								sizeof(int16) * (batch->natts + npaths + 1));
	for (int i = batch->npaths; i < npaths; i++)
	{
		VxBatchColumn *column = &batch->columns[batch->ncolumns + i];

		memset(column, 0, sizeof(*column));
		column->attno = batch->natts + 1 + i;
		batch->column_of[batch->natts + i] = batch->ncolumns + i;
	}
	batch->npaths = npaths;
	batch->paths = paths;
	batch->path_vector = path_vector;
}

void
vx_batch_reset_paths(VxBatch *batch)
{
	for (int i = 0; i < batch->npaths; i++)
		batch->columns[batch->ncolumns + i].access = VX_ACCESS_NONE;
}

/* Nothing is decoded, and all rows are selected. */
static void
start_batch(VxBatch *batch, int nrows)
{
	int			nwords = (nrows + 63) / 64;

	batch->nrows = nrows;
	for (int i = 0; i < batch->ncolumns; i++)
		batch->columns[i].access = VX_ACCESS_NONE;
	vx_batch_reset_paths(batch);

	memset(batch->selection, 0xFF, nwords * sizeof(uint64));
	if (nrows % 64 != 0)
		batch->selection[nwords - 1] = (UINT64CONST(1) << (nrows % 64)) - 1;
}

void
vx_batch_set_rows(VxBatch *batch, int n)
{
	batch->reader = batch->documents = NULL;
	batch->elements = 0;
	batch->vecno = 0;
	batch->start = 0;
	batch->first_row = 0;
	start_batch(batch, n);
}

void
vx_batch_set(VxBatch *batch, StReader *reader, const StGroup *group, uint32 vecno)
{
	batch->reader = batch->documents = reader;
	batch->elements = 0;
	batch->vecno = vecno;
	batch->start = vx_format->vector_start(reader, vecno);
	batch->first_row = group->first_row + batch->start;
	start_batch(batch, vx_format->vector_start(reader, vecno + 1) - batch->start);
}

uint32
vx_batch_remove_deleted(VxBatch *batch, const uint64 *deleted)
{
	const uint64 *words = deleted + batch->start / 64;
	int			shift = batch->start % 64;
	int			have = (shift + batch->nrows + 63) / 64;
	uint32		removed = 0;

	for (int i = 0; i < (batch->nrows + 63) / 64; i++)
	{
		uint64		gone = words[i] >> shift;

		if (shift > 0 && i + 1 < have)
			gone |= words[i + 1] << (64 - shift);
		removed += pg_popcount64(batch->selection[i] & gone);
		batch->selection[i] &= ~gone;
	}
	return removed;
}

static const VxAccess access_of[] = {
	[VX_REP_INT64] = VX_ACCESS_DIRECT,
	[VX_REP_FLOAT8] = VX_ACCESS_DIRECT,
	[VX_REP_DATUM] = VX_ACCESS_DIRECT,
	[VX_REP_FLOAT4] = VX_ACCESS_FLOAT4,
	[VX_REP_CODE] = VX_ACCESS_CODE,
	[VX_REP_DECIMAL64] = VX_ACCESS_DECIMAL,
	[VX_REP_DECIMAL128] = VX_ACCESS_DECIMAL,
};

void
vx_batch_attach(VxBatch *batch, VxBatchColumn *column, const VxVector *v)
{
	Assert(v->n == batch->nrows);
	column->vector = v;
	column->has_nulls = v->has_nulls;
	column->access = access_of[v->rep];
	column->values = v->u.i64;
	if (v->rep == VX_REP_CODE)
		column->dict_values = v->dict->values;
	if (column->access == VX_ACCESS_DECIMAL && column->buffer == NULL)
		column->buffer = MemoryContextAlloc(batch->mcxt, ST_NUMERIC_MAX_BYTES);
}

void
vx_batch_decode(VxBatch *batch, VxBatchColumn *column)
{
	const VxVector *v;

	if (column->attno > batch->natts)
		v = batch->path_vector(batch, batch->paths[column->attno - batch->natts - 1]);
	else if (batch->reader != NULL)
		v = vx_format->vector(batch->reader, column->attno, batch->vecno,
							  batch->selection);
	else
		v = batch->rows_vector(batch->rows, column->attno);
	vx_batch_attach(batch, column, v);
}

void
vx_batch_row_value(VxBatch *batch, AttrNumber attno, int row, Datum *value, bool *isnull)
{
	VxBatchColumn *column = vx_batch_column(batch, attno);

	if (column->access == VX_ACCESS_NONE && attno > batch->natts &&
		batch->paths[attno - batch->natts - 1]->kind == VX_PATH_REST)
	{
		vx_batch_row_value(batch, batch->paths[attno - batch->natts - 1]->less, row, value,
						   isnull);
		if (!*isnull)
		{
			*value = (Datum) 0;
			*isnull = true;
			return;
		}
	}
	if (column->access == VX_ACCESS_NONE)
		vx_batch_decode(batch, column);
	vx_batch_value(column, row, value, isnull);
}

/* 0, 1, 2, ...: the positions when all rows are selected. */
static uint16 all_rows[ST_VECTOR_SIZE];

/* Bits of a word that may be missing for its rows to be copied in runs. */
#define MAX_COPIED_GAPS	12

/*
 * The rows of a word, the first of which is base, in which few bits are not set: runs
 * between these, each copied with what is behind it, which the next one overwrites.
 * So there must be room for 64 more.
 */
static int
copy_runs(uint64 word, int base, uint16 *rows)
{
	int			n = 0;
	int			from = 0;

	for (uint64 gaps = ~word; gaps != 0; gaps &= gaps - 1)
	{
		int			gap = __builtin_ctzll(gaps);

		memcpy(rows + n, all_rows + base + from, 64 * sizeof(uint16));
		n += gap - from;
		from = gap + 1;
	}
	memcpy(rows + n, all_rows + base + from, 64 * sizeof(uint16));
	return n + 64 - from;
}

int
vx_selection_rows(const uint64 *selection, int nrows, uint16 *rows)
{
	int			n = 0;

	if (all_rows[1] == 0)
		for (int i = 0; i < ST_VECTOR_SIZE; i++)
			all_rows[i] = i;
	for (int base = 0; base < nrows; base += 64)
	{
		uint64		word = selection[base / 64];

		if (word == ~UINT64CONST(0) ||
			(base + 128 <= ST_VECTOR_SIZE &&
			 __builtin_popcountll(word) >= 64 - MAX_COPIED_GAPS))
			n += copy_runs(word, base, rows + n);
		else
			for (; word != 0; word &= word - 1)
				rows[n++] = base + __builtin_ctzll(word);
	}
	return n;
}

TupleTableSlot *
vx_batch_fill_slot(VxBatch *batch, int row, TupleTableSlot *slot)
{
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, sizeof(bool) * slot->tts_tupleDescriptor->natts);
	for (int i = 0; i < batch->ncolumns; i++)
	{
		VxBatchColumn *column = &batch->columns[i];

		if (column->access == VX_ACCESS_NONE)
			vx_batch_decode(batch, column);
		vx_batch_value(column, row, &slot->tts_values[column->attno - 1],
					   &slot->tts_isnull[column->attno - 1]);
	}
	return ExecStoreVirtualTuple(slot);
}
