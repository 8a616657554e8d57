/*-------------------------------------------------------------------------
 *
 * vx_window_output.c
 *	  Batches of rows in order, with the results of window functions.
 *
 * A column is gathered when it is asked for.  Run conditions and the like are
 * the node's qual, and take rows out of the selection.
 *
 * Where the rows did not fit into memory, the server's own plan gives the
 * result.  Its columns are the node's target list; for a node above that takes
 * vectors, which is so where that list has nothing but columns, rows become
 * vectors again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "vx_window.h"

/* ---- columns ---- */

/* VxRowsVector: a column of the node's batch. */
static const VxVector *
make_column(void *rows, AttrNumber attno)
{
	VxWindowState *state = rows;
	VxVector  **v = &state->vectors[attno - 1];
	int			n = state->producer.batch->nrows;
	MemoryContext old;

	if (*v == NULL)
	{
		MemoryContext mcxt = state->producer.batch->mcxt;

		*v = MemoryContextAllocZero(mcxt, sizeof(VxVector));
		(*v)->u.i128 = MemoryContextAllocZero(mcxt, sizeof(int128) * ST_VECTOR_SIZE);
	}
	if (attno <= state->ncolumns)
	{
		vx_sorter_gather(state->sorter, state->column_of[attno - 1],
						 state->sorter->order + state->position, n, *v);
		return *v;
	}
	old = MemoryContextSwitchTo(state->output_mcxt);
	vx_window_result(state, &state->functions[attno - 1 - state->ncolumns], state->position,
					 n, *v);
	MemoryContextSwitchTo(old);
	return *v;
}

void
vx_window_output_init(VxWindowState *state)
{
	List	   *clauses = state->css.ss.ps.plan->qual;
	VxBatch    *batch = vx_batch_create(state->desc->natts, state->needed);
	ListCell   *lc;

	batch->rows = state;
	batch->rows_vector = make_column;
	state->producer.batch = batch;
	state->vectors = palloc0(sizeof(VxVector *) * (state->desc->natts + 1));
	state->output_mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector window output",
											   ALLOCSET_DEFAULT_SIZES);
	state->output_exprs = vx_exprs_create(state->desc, INDEX_VAR, &state->css.ss.ps);
	state->quals = palloc0(sizeof(VxWindowQual) * (list_length(clauses) + 1));
	foreach(lc, clauses)
	{
		VxWindowQual *qual = &state->quals[state->nquals++];

		qual->program = vx_expr_compile(state->output_exprs, lfirst(lc), 0);
		if (qual->program == NULL)
			qual->state = ExecInitQual(list_make1(lfirst(lc)), &state->css.ss.ps);
	}
}

/* ---- conditions ---- */

static void
run_on_rows(VxWindowState *state, ExprState *qual)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	VxBatch    *batch = state->producer.batch;

	VX_FOREACH_ROW(row, batch->selection, (batch->nrows + 63) / 64)
	{
		CHECK_FOR_INTERRUPTS();
		econtext->ecxt_scantuple = vx_batch_fill_slot(state->producer.batch, row,
													  state->css.ss.ss_ScanTupleSlot);
		if (!ExecQual(qual, econtext))
			vx_rows_clear(batch->selection, row);
		ResetExprContext(econtext);
	}
}

static void
run_quals(VxWindowState *state)
{
	VxBatch    *batch = state->producer.batch;
	int			nwords = (batch->nrows + 63) / 64;

	for (int i = 0; i < state->nquals; i++)
	{
		const VxVector *v;

		if (vx_selection_is_empty(batch->selection, batch->nrows))
			return;
		if (state->quals[i].program == NULL)
		{
			run_on_rows(state, state->quals[i].state);
			continue;
		}
		v = vx_expr_eval(state->quals[i].program, batch, batch->selection);
		for (int w = 0; v->has_nulls && w < nwords; w++)
			batch->selection[w] &= v->valid[w];
		VX_FOREACH_ROW(row, batch->selection, nwords)
			if (v->u.i64[row] == 0)
				vx_rows_clear(batch->selection, row);
	}
}

/* ---- batches ---- */

static TupleTableSlot *
next_server_row(void *state)
{
	return vx_window_server_row(state);
}

static bool
next_server_batch(VxWindowState *state)
{
	return vx_row_vectors_fill(state->server_rows, next_server_row, state, &state->ended);
}

TupleTableSlot *
vx_window_server_row(VxWindowState *state)
{
	TupleTableSlot *row = ExecProcNode(state->server);
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	int			natts;

	ExecClearTuple(slot);
	if (TupIsNull(row))
		return slot;
	slot_getallattrs(row);
	natts = row->tts_tupleDescriptor->natts;
	if (state->server_columns == NULL)
	{
		slot = state->css.ss.ps.ps_ProjInfo->pi_state.resultslot;
		ExecClearTuple(slot);
		memcpy(slot->tts_values, row->tts_values, sizeof(Datum) * natts);
		memcpy(slot->tts_isnull, row->tts_isnull, sizeof(bool) * natts);
		return ExecStoreVirtualTuple(slot);
	}
	memset(slot->tts_isnull, true, sizeof(bool) * slot->tts_tupleDescriptor->natts);
	for (int i = 0; i < natts; i++)
	{
		slot->tts_values[state->server_columns[i] - 1] = row->tts_values[i];
		slot->tts_isnull[state->server_columns[i] - 1] = row->tts_isnull[i];
	}
	return ExecStoreVirtualTuple(slot);
}

void
vx_window_start(VxWindowState *state)
{
	state->sorted = true;
	state->ended = false;
	if (vx_window_read(state) && vx_window_compute(state))
	{
		state->peak = Max(state->peak, MemoryContextMemAllocated(state->sorter->mcxt, true));
		return;
	}
	vx_parts_reset(state);
	state->parts_on_disk = 0;
	state->disk = 0;
	vx_sorter_reset(state->sorter);
	if (state->first)
		vx_first_reset(state->first);
	state->by_server = true;
	state->ended = false;
}

void
vx_window_show(VxWindowState *state, uint32 position)
{
	int			n = Min(ST_VECTOR_SIZE, state->sorter->nrows - position);

	MemoryContextReset(state->output_mcxt);
	state->position = position;
	state->next = position + n;
	vx_batch_set_rows(state->producer.batch, n);
}

bool
vx_window_next_batch(CustomScanState *node)
{
	VxWindowState *state = (VxWindowState *) node;
	VxBatch    *batch = state->producer.batch;

	if (!state->sorted)
		vx_window_start(state);
	if (state->by_server)
		return state->server_rows && next_server_batch(state);
	while (state->next < state->sorter->nrows || vx_parts_move(state, 1))
	{
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		vx_window_show(state, state->next);
		old = MemoryContextSwitchTo(state->output_mcxt);
		for (int i = 0; state->ndistinct > 0 && i < batch->nrows; i++)
			if (state->position + i > 0 &&
				vx_sorter_same(state->sorter, state->position + i, state->ndistinct))
				vx_rows_clear(batch->selection, i);
		run_quals(state);
		MemoryContextSwitchTo(old);
		if (!vx_selection_is_empty(batch->selection, batch->nrows))
			return true;
	}
	return false;
}
