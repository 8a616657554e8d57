/*-------------------------------------------------------------------------
 *
 * cc_row_vectors.c
 *	  Vectors made of rows: another node's, and those that come back from disk.
 *
 * All columns of the batch are made when a row is added.
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

#include "cc_row_column.h"
#include "cc_row_vectors.h"

/* A batch is full when its values by reference take so many bytes. */
#define MAX_BYTES	((Size) 8 * 1024 * 1024)

struct CcRowVectors
{
	CcBatch    *batch;
	MemoryContext values_mcxt;
	CcRowColumn *columns;
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
	rows->columns = palloc0(sizeof(CcRowColumn) * (batch->ncolumns + 1));
	for (int i = 0; i < batch->ncolumns; i++)
		cc_row_column_init(&rows->columns[i],
						   TupleDescAttr(desc, batch->columns[i].attno - 1));
	cc_row_vectors_reset(rows);
	return rows;
}

void
cc_row_vectors_reset(CcRowVectors *rows)
{
	rows->n = 0;
	rows->bytes = 0;
	for (int i = 0; i < rows->batch->ncolumns; i++)
		cc_row_column_reset(&rows->columns[i]);
	MemoryContextReset(rows->values_mcxt);
}

bool
cc_row_vectors_full(const CcRowVectors *rows)
{
	return rows->n == ST_VECTOR_SIZE || rows->bytes >= MAX_BYTES;
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
		CcRowColumn *column = &rows->columns[c];
		bool		isnull;
		Datum		value = slot_getattr(slot, column->attno, &isnull);

		if (isnull)
		{
			cc_row_column_put_null(column, i);
			continue;
		}
		if (column->kind == CC_KIND_NUMERIC)
			value = copy_value(rows, value, -1);
		else if (column->kind != CC_KIND_INT && column->kind != CC_KIND_FLOAT8 &&
				 column->kind != CC_KIND_FLOAT4)
			value = copy_value(rows, value, column->typlen);
		cc_row_column_put(column, i, value);
	}
	rows->n++;
}

bool
cc_row_vectors_finish(CcRowVectors *rows)
{
	CcBatch    *batch = rows->batch;

	if (rows->n == 0)
		return false;
	cc_batch_set_rows(batch, rows->n);
	for (int c = 0; c < batch->ncolumns; c++)
	{
		CcRowColumn *column = &rows->columns[c];

		cc_row_column_finish(column, rows->n);
		cc_batch_attach(batch, &batch->columns[c], &column->v);
	}
	return true;
}
