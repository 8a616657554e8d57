/*-------------------------------------------------------------------------
 *
 * vx_row_vectors.c
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

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "vx_row_column.h"
#include "vx_row_vectors.h"

/* A batch is full when its values by reference take so many bytes. */
#define MAX_BYTES	((Size) 8 * 1024 * 1024)

struct VxRowVectors
{
	VxBatch    *batch;
	MemoryContext values_mcxt;
	VxRowColumn *columns;
	int			n;
	Size		bytes;
};

/* Before the first row of a batch. */
static void
reset(VxRowVectors *rows)
{
	rows->n = 0;
	rows->bytes = 0;
	for (int i = 0; i < rows->batch->ncolumns; i++)
		vx_row_column_reset(&rows->columns[i]);
	MemoryContextReset(rows->values_mcxt);
}

VxRowVectors *
vx_row_vectors_create(VxBatch *batch, TupleDesc desc)
{
	VxRowVectors *rows = palloc0(sizeof(VxRowVectors));

	rows->batch = batch;
	rows->values_mcxt = AllocSetContextCreate(CurrentMemoryContext,
											  "vector row vectors",
											  ALLOCSET_DEFAULT_SIZES);
	rows->columns = palloc0(sizeof(VxRowColumn) * (batch->ncolumns + 1));
	for (int i = 0; i < batch->ncolumns; i++)
		vx_row_column_init(&rows->columns[i],
						   TupleDescAttr(desc, batch->columns[i].attno - 1));
	reset(rows);
	return rows;
}

static bool
is_full(const VxRowVectors *rows)
{
	return rows->n == ST_VECTOR_SIZE || rows->bytes >= MAX_BYTES;
}

/* Copy of a value by reference, detoasted. */
static Datum
copy_value(VxRowVectors *rows, Datum value, int16 typlen)
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

/* Adds a row; its values are copied and detoasted. */
static void
add_row(VxRowVectors *rows, TupleTableSlot *slot)
{
	int			i = rows->n;

	Assert(i < ST_VECTOR_SIZE);
	for (int c = 0; c < rows->batch->ncolumns; c++)
	{
		VxRowColumn *column = &rows->columns[c];
		bool		isnull;
		Datum		value = slot_getattr(slot, column->attno, &isnull);

		if (isnull)
		{
			vx_row_column_put_null(column, i);
			continue;
		}
		if (!column->byval)
			value = copy_value(rows, value, column->typlen);
		vx_row_column_put(column, i, value);
	}
	rows->n++;
}

/* Makes the batch stand on the rows added; false if there are none. */
static bool
finish(VxRowVectors *rows)
{
	VxBatch    *batch = rows->batch;

	if (rows->n == 0)
		return false;
	vx_batch_set_rows(batch, rows->n);
	for (int c = 0; c < batch->ncolumns; c++)
	{
		VxRowColumn *column = &rows->columns[c];

		vx_row_column_finish(column, rows->n);
		vx_batch_attach(batch, &batch->columns[c], &column->v);
	}
	return true;
}

bool
vx_row_vectors_fill(VxRowVectors *rows, VxNextRow next, void *from, bool *ended)
{
	reset(rows);
	while (!*ended && !is_full(rows))
	{
		TupleTableSlot *slot = next(from);

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(slot))
			*ended = true;
		else
			add_row(rows, slot);
	}
	return finish(rows);
}

static TupleTableSlot *
next_of_node(void *from)
{
	return ExecProcNode((PlanState *) from);
}

bool
vx_row_vectors_of_node(VxRowVectors *rows, PlanState *child, bool *ended)
{
	return vx_row_vectors_fill(rows, next_of_node, child, ended);
}

bool
vx_row_vectors_of_store(VxRowVectors *rows, Tuplestorestate *store, TupleTableSlot *slot)
{
	reset(rows);
	while (!is_full(rows) && tuplestore_gettupleslot(store, true, false, slot))
		add_row(rows, slot);
	return finish(rows);
}
