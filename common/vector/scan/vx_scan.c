/*-------------------------------------------------------------------------
 *
 * vx_scan.c
 *	  The custom scan node over a table of the format: rows out of batches.
 *
 * The source hands out vectors and chunks of the delta, the filter thins
 * them out, and this file makes rows of what is left, at the last moment:
 * only columns of the target list, only of rows that are returned.  Where
 * that is a handful of rows of a vector, the vector is not decoded for them.
 *
 * The scan slot is of the table's own type (a heap tuple in a buffer), so
 * that rows of the delta and rows that EvalPlanQual brings stand in it as
 * they are; rows of row groups stand in it as virtual ones, and are
 * overwritten in place one by one.  Columns that nobody asked for are null in
 * them.  tts_tid is the row's TID, virtual or not.
 *
 * Memory: vectors belong to the source's reader, a row's numeric values to
 * the batch; both stay valid until the next row.  What expressions allocate
 * goes to the per-tuple context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "vx_join_filter.h"
#include "vx_paths.h"
#include "vx_scan.h"
#include "vx_settings.h"
#include "vx_vec.h"
#include "st_compat.h"

static Node *create_scan_state(CustomScan *cscan);
static void begin_scan(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_scan(CustomScanState *node);
static void end_scan(CustomScanState *node);
static void rescan(CustomScanState *node);
static bool next_batch(CustomScanState *node);
static void filter_rows(VxScanState *state);

CustomScanMethods vx_scan_methods = {
	.CreateCustomScanState = create_scan_state,
};

static CustomExecMethods exec_methods = {
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = exec_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan,
	.EstimateDSMCustomScan = vx_scan_estimate_dsm,
	.InitializeDSMCustomScan = vx_scan_initialize_dsm,
	.ReInitializeDSMCustomScan = vx_scan_reinitialize_dsm,
	.InitializeWorkerCustomScan = vx_scan_initialize_worker,
	.ShutdownCustomScan = vx_scan_shutdown,
	.ExplainCustomScan = vx_scan_explain,
};

/* Scans of this backend so far. */
static uint64 nscans = 0;

uint64
vx_scan_count(void)
{
	return nscans;
}

static Node *
create_scan_state(CustomScan *cscan)
{
	VxScanState *state = (VxScanState *) newNode(sizeof(VxScanState), T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

/* Documents of which parts are handed up. */
static List *
scan_parts(Plan *plan)
{
	if (!vx_enable_document_parts || !vx_enable_path_columns)
		return NIL;
	return list_nth(((CustomScan *) plan)->custom_private, VX_SCAN_PARTS);
}

/*
 * The node was set up with a slot for virtual tuples: give it one of the
 * table's kind, and compile the target list again for that.
 */
static void
init_slot(VxScanState *state, EState *estate, Relation rel, Index scanrelid)
{
	ScanState  *ss = &state->css.ss;

	st_init_scan_slot(estate, ss, RelationGetDescr(rel), table_slot_callbacks(rel));
	ss->ps.subPlan = NIL;
	if (scan_parts(ss->ps.plan) != NIL && ss->ps.ps_ProjInfo == NULL)
	{
		/* another document than the slot's is handed up */
		ExecInitResultSlot(&ss->ps, &TTSOpsVirtual);
		ExecAssignProjectionInfo(&ss->ps, ss->ss_ScanTupleSlot->tts_tupleDescriptor);
	}
	else
		ExecAssignScanProjectionInfoWithVarno(ss, scanrelid);
	ss->ss_ScanTupleSlot->tts_tableOid = RelationGetRelid(rel);
}

/* Adds the user columns that an expression refers to. */
static Bitmapset *
add_columns(Bitmapset *columns, Node *expr, Index varno, TupleDesc desc)
{
	Bitmapset  *attrs = NULL;
	bool		whole_row;

	pull_varattnos(expr, varno, &attrs);
	whole_row = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, attrs);
	for (AttrNumber attno = 1; attno <= desc->natts; attno++)
	{
		if (TupleDescAttr(desc, attno - 1)->attisdropped)
			continue;
		if (whole_row || bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, attrs))
			columns = bms_add_member(columns, attno);
	}
	bms_free(attrs);
	return columns;
}

/*
 * Rows of row groups are projected from path columns, where the target list
 * has paths: no document is built for them.  EvalPlanQual's are not.
 */
static void
init_path_outputs(VxScanState *state, Index scanrelid)
{
	ScanState  *ss = &state->css.ss;
	Node	   *tlist = (Node *) ss->ps.plan->targetlist;
	Node	   *replaced = vx_path_set_replace(state->paths, tlist);
	Bitmapset  *attrs = NULL;
	int			member = -1;
	TupleDesc	desc;
	ListCell   *lc;

	foreach(lc, scan_parts(ss->ps.plan))
		replaced = vx_path_set_swap(state->paths, replaced, intVal(linitial((List *) lfirst(lc))),
									lsecond((List *) lfirst(lc)));
	desc = vx_path_set_desc(state->paths);
	if (replaced == tlist || ss->ps.ps_ProjInfo == NULL)
		return;
	pull_varattnos(replaced, scanrelid, &attrs);
	state->path_outputs = palloc(sizeof(AttrNumber) * (bms_num_members(attrs) + 1));
	while ((member = bms_next_member(attrs, member)) >= 0)
		state->path_outputs[state->npath_outputs++] =
			member + FirstLowInvalidHeapAttributeNumber;
	state->path_slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	memset(state->path_slot->tts_isnull, true, desc->natts);
	ExecStoreVirtualTuple(state->path_slot);
	state->path_projection =
		ExecBuildProjectionInfo((List *) replaced, ss->ps.ps_ExprContext,
								ss->ps.ps_ResultTupleSlot, NULL, desc);
}

static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	VxScanState *state = (VxScanState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	Index		scanrelid = plan->scan.scanrelid;
	Relation	rel = node->ss.ss_currentRelation;
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *outputs;
	int			attno = -1;

	nscans++;
	init_slot(state, estate, rel, scanrelid);

	/* The target list may have changed since the plan node was made. */
	outputs = add_columns(NULL, (Node *) plan->scan.plan.targetlist, scanrelid, desc);
	state->columns = add_columns(bms_copy(outputs), (Node *) plan->custom_exprs,
								 scanrelid, desc);
	state->late_columns = bms_difference(outputs,
										 add_columns(NULL, (Node *) plan->custom_exprs,
													 scanrelid, desc));
	state->outputs = palloc(sizeof(AttrNumber) * (bms_num_members(outputs) + 1));
	while ((attno = bms_next_member(outputs, attno)) >= 0)
		state->outputs[state->noutputs++] = attno;

	state->paths = vx_path_set_create(desc, scanrelid);
	vx_topn_add_paths(plan, state->paths);
	state->filter = vx_filter_create(vx_scan_quals(plan), rel, scanrelid, &node->ss.ps,
									 node->ss.ss_ScanTupleSlot, state->paths);
	state->filter->topn = vx_topn_create(plan, &node->ss.ps, state->filter->exprs,
										 state->paths, state->filter->keys);
	if (plan->custom_plans != NIL)
		node->custom_ps = list_make1(ExecInitNode(linitial(plan->custom_plans), estate,
												  eflags & ~(EXEC_FLAG_BACKWARD |
															 EXEC_FLAG_MARK)));
	init_path_outputs(state, scanrelid);
	state->producer = (VxProducer) {next_batch, scanrelid, desc, NULL, 0};
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	if (eflags & EXEC_FLAG_BACKWARD)
		state->back = st_scan_back_create();
	state->fetched = palloc0(sizeof(bool) * (desc->natts + 1));
	state->batch = vx_batch_create(desc->natts, state->columns);
	vx_path_set_attach(state->paths, state->batch);
	state->source = vx_source_create(rel, estate->es_snapshot, state->filter, state->batch);
	state->producer.batch = state->batch;
	if (node->custom_ps != NIL)
		vx_source_set_bitmap(state->source, linitial(node->custom_ps));
}

/*
 * Makes the slot hold a virtual row whose values may be overwritten: at the
 * first row of row groups, after rows of the delta, and after somebody
 * materialized the last row.
 */
static void
prepare_slot(VxScanState *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	if (!state->virtual_slot)
		memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	state->virtual_slot = true;
}

static inline bool
slot_is_ready(const VxScanState *state)
{
	const TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	return state->virtual_slot && !TTS_EMPTY(slot) && !TTS_SHOULDFREE(slot) &&
		slot->tts_nvalid == slot->tts_tupleDescriptor->natts;
}

/*
 * Documents that are values by themselves stay so: none is made text, or less
 * of its places, before its row is returned.
 */
static bool
has_large_documents(const VxScanState *state)
{
	const VxPathSet *set = state->paths;

	for (int i = 0; i < set->npaths; i++)
	{
		if (vx_path_is_whole(set->paths[i]) && vx_batch_is_large(state->batch, set->paths[i]->attno))
			return true;
	}
	return false;
}

/*
 * Before the first row of a batch is returned.  Of a batch with few selected
 * rows, columns that no qual has decoded are fetched value by value: nobody
 * unpacks a thousand documents for one of them.  Large values always are, so
 * that no more than one of them is in memory, and LIMIT stops before the next.
 */
static void
prepare_outputs(VxScanState *state)
{
	VxBatch    *batch = state->batch;
	bool		sparse = vx_selection_count(batch->selection, batch->nrows) <= VX_SPARSE_ROWS;

	state->outputs_ready = true;
	state->nfetched = 0;
	state->by_paths = state->path_projection && !has_large_documents(state) &&
		state->css.ss.ps.state->es_epq_active == NULL;
	if (state->by_paths)
		return;
	for (int i = 0; i < state->noutputs; i++)
	{
		AttrNumber	attno = state->outputs[i];
		VxBatchColumn *column = vx_batch_column(batch, attno);

		state->fetched[attno - 1] = column->access == VX_ACCESS_NONE &&
			(sparse || vx_batch_is_large(batch, attno));
		if (state->fetched[attno - 1])
			state->nfetched++;
		else
			vx_batch_vector(batch, attno);
	}
}

/* Values of the columns that the target list over path columns refers to. */
static inline void
fill_path_outputs(VxScanState *state, int row)
{
	VxBatch    *batch = state->batch;
	TupleTableSlot *slot = state->path_slot;

	for (int i = 0; i < state->npath_outputs; i++)
	{
		AttrNumber	attno = state->path_outputs[i];

		vx_batch_row_value(batch, attno, row, &slot->tts_values[attno - 1],
						   &slot->tts_isnull[attno - 1]);
	}
	state->path_row = true;
}

/* Values of the target list's columns. */
static inline void
fill_outputs(VxScanState *state, TupleTableSlot *slot, int row)
{
	VxBatch    *batch = state->batch;

	if (!state->outputs_ready)
		prepare_outputs(state);
	if (state->by_paths)
	{
		fill_path_outputs(state, row);
		return;
	}
	if (state->nfetched > 0)
		vx_format->store->reader_row(batch->reader, batch->start + row, state->fetched,
					  slot->tts_values, slot->tts_isnull);
	for (int i = 0; i < state->noutputs; i++)
	{
		AttrNumber	attno = state->outputs[i];

		if (state->nfetched > 0 && state->fetched[attno - 1])
			continue;
		vx_batch_value(vx_batch_column(batch, attno), row,
					   &slot->tts_values[attno - 1], &slot->tts_isnull[attno - 1]);
	}
}

/* A row that does not pass. */
static bool
drop_row(VxScanState *state)
{
	CHECK_FOR_INTERRUPTS();
	InstrCountFiltered1(&state->css, 1);
	ResetExprContext(state->css.ss.ps.ps_ExprContext);
	return false;
}

/* Puts a row of the batch into the slot, if it passes the quals left for rows. */
static bool
take_batch_row(VxScanState *state, int row, TupleTableSlot *slot)
{
	st_tid_from_row(&slot->tts_tid, state->batch->first_row + row);
	if (state->mow == NULL && state->filter->ndeferred > 0 &&
		!vx_filter_row(state->filter, state->batch, row))
		return drop_row(state);
	fill_outputs(state, slot, row);
	return true;
}

/* After the source has handed out a chunk of the delta. */
static void
begin_delta(VxScanState *state)
{
	MemoryContext old;

	state->batch->nrows = 0;
	state->word = 0;
	state->left = 0;
	if (state->delta)
		return;
	old = MemoryContextSwitchTo(state->batch->mcxt);
	state->delta = vx_delta_create(state->batch, state->css.ss.ss_currentRelation,
								   state->late_columns);
	MemoryContextSwitchTo(old);
}

/* The next rows of the chunk become the batch; false at its end. */
static bool
next_delta_batch(VxScanState *state)
{
	VxBatch    *batch = state->batch;

	if (!vx_delta_next(state->delta, state->source))
	{
		state->unit = VX_SOURCE_END;
		return false;
	}
	vx_filter_delta(state->filter, batch);
	InstrCountFiltered1(&state->css, batch->nrows -
						vx_selection_count(batch->selection, batch->nrows));
	state->word = -1;
	state->left = 0;
	return true;
}

/* Puts a row of the delta's batch into the slot, if it passes what is left. */
static bool
take_delta_row(VxScanState *state, int row, TupleTableSlot *slot)
{
	CHECK_FOR_INTERRUPTS();
	state->virtual_slot = false;
	vx_delta_store(state->delta, row, slot);
	return state->filter->ndeferred == 0 || vx_filter_delta_row(state->filter, slot) ||
		drop_row(state);
}

/* Has rows of the batch deleted, from row from on, which is in the word at hand. */
static void
mow_batch(VxScanState *state, int from)
{
	VxSource   *source = state->source;

	vx_mow_batch(state->mow, state->batch, &source->groups->groups[source->group], from);
	state->left = state->batch->selection[from / 64] & (~UINT64CONST(0) << (from % 64));
}

/* The next row of the unit at hand that passes the quals. */
static bool
next_row_of_unit(VxScanState *state, TupleTableSlot *slot)
{
	VxBatch    *batch = state->batch;
	bool		delta = state->unit == VX_SOURCE_DELTA;

	if (!delta && !slot_is_ready(state))
		prepare_slot(state);
	for (;;)
	{
		int			row;

		while (state->left == 0)
		{
			if (++state->word < (batch->nrows + 63) / 64)
				state->left = batch->selection[state->word];
			else if (!delta || !next_delta_batch(state))
				return false;
		}
		row = state->word * 64 + __builtin_ctzll(state->left);
		if (!delta && state->mow && row >= state->mow->next)
		{
			mow_batch(state, row);
			continue;
		}
		state->left &= state->left - 1;
		if (delta ? take_delta_row(state, row, slot) : take_batch_row(state, row, slot))
			return true;
	}
}

/* Runs the filter on a batch that the source has just handed out. */
static void
begin_batch(VxScanState *state)
{
	VxBatch    *batch = state->batch;
	List	   *joins = state->filter->joins;
	uint64	   *removed = &state->source->stats->join_removed;
	uint64		group = state->source->nopened;
	int			before;

	state->nbatches++;
	if (!slot_is_ready(state))
		prepare_slot(state);
	*removed += vx_join_filters_first(joins, batch, group);
	before = vx_selection_count(batch->selection, batch->nrows);
	vx_filter_batch(state->filter, batch);
	InstrCountFiltered1(&state->css, before -
						vx_selection_count(batch->selection, batch->nrows));
	*removed += vx_join_filters_rest(joins, batch, group, before);
	state->word = -1;
	state->left = 0;
	state->outputs_ready = false;
	if (state->mow)
	{
		filter_rows(state);
		state->mow->next = 0;
	}
}

/* Access method of ExecScan: the next row that passes all quals. */
static TupleTableSlot *
next_row(ScanState *node)
{
	VxScanState *state = (VxScanState *) node;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;

	for (;;)
	{
		if (state->unit != VX_SOURCE_END && next_row_of_unit(state, slot))
			return slot;
		state->unit = vx_source_next(state->source);
		if (state->unit == VX_SOURCE_END)
			return ExecClearTuple(slot);
		if (state->unit == VX_SOURCE_BATCH)
			begin_batch(state);
		else
			begin_delta(state);
	}
}

/* What quals that were left for rows say of a row of the batch. */
static bool
row_passes(VxScanState *state, int row)
{
	if (state->batch->reader == NULL)
		return take_delta_row(state, row, state->css.ss.ss_ScanTupleSlot);
	if (!slot_is_ready(state))
		prepare_slot(state);
	st_tid_from_row(&state->css.ss.ss_ScanTupleSlot->tts_tid, state->batch->first_row + row);
	return vx_filter_row(state->filter, state->batch, row) || drop_row(state);
}

/* Quals that were left for rows: take the rows that fail out of the batch. */
static void
filter_rows(VxScanState *state)
{
	VxBatch    *batch = state->batch;

	if (state->filter->ndeferred == 0)
		return;
	VX_FOREACH_ROW(row, batch->selection, (batch->nrows + 63) / 64)
	{
		CHECK_FOR_INTERRUPTS();
		if (!row_passes(state, row))
			vx_rows_clear(batch->selection, row);
		ResetExprContext(state->css.ss.ps.ps_ExprContext);
	}
}

/* Filters the batch that stands on the next unit; false if nothing is left. */
static bool
filter_batch(VxScanState *state)
{
	filter_rows(state);
	return !vx_selection_is_empty(state->batch->selection, state->batch->nrows);
}

bool
vx_scan_next_batch(VxScanState *state)
{
	for (;;)
	{
		while (state->unit == VX_SOURCE_DELTA && next_delta_batch(state))
			if (filter_batch(state))
				return true;

		state->unit = vx_source_next(state->source);
		switch (state->unit)
		{
			case VX_SOURCE_END:
				return false;
			case VX_SOURCE_DELTA:
				begin_delta(state);
				break;
			case VX_SOURCE_BATCH:
				begin_batch(state);
				if (filter_batch(state))
					return true;
				break;
		}
	}
}

static bool
next_batch(CustomScanState *node)
{
	VxScanState *state = (VxScanState *) node;
	bool		more = vx_scan_next_batch(state);

	state->producer.group = state->source->nopened;
	return more;
}

VxScanState *
vx_scan_state(PlanState *ps)
{
	if (!IsA(ps, CustomScanState) ||
		((CustomScanState *) ps)->methods != &exec_methods)
		return NULL;
	return (VxScanState *) ps;
}

Node *
vx_scan_replace_paths(VxScanState *state, Node *node)
{
	Node	   *replaced = vx_path_set_replace(state->paths, node);

	if (state->batch)
		vx_path_set_attach(state->paths, state->batch);
	return replaced;
}

/*
 * Recheck method of ExecScan: a row that EvalPlanQual brings.  All quals run
 * inside this node, so all of them are to be checked again.
 */
static bool
recheck_row(ScanState *node, TupleTableSlot *slot)
{
	VxScanState *state = (VxScanState *) node;

	/* The scan slot may be the one that was filled. */
	state->virtual_slot = false;
	return vx_filter_slot(state->filter, slot);
}

/* For cursors: the next row, or the one before. */
static TupleTableSlot *
next_either_way(VxScanState *state)
{
	ScanState  *ss = &state->css.ss;
	bool		again;
	TupleTableSlot *slot = st_scan_back_next(state->back, ss, next_row, &again);

	if (again)
	{
		state->virtual_slot = false;
		state->path_row = false;
	}
	return slot != NULL ? slot : ExecClearTuple(ss->ss_ScanTupleSlot);
}

static TupleTableSlot *
exec_scan(CustomScanState *node)
{
	VxScanState *state = (VxScanState *) node;
	ProjectionInfo *projection = node->ss.ps.ps_ProjInfo;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	TupleTableSlot *slot;

	if (unlikely(node->ss.ps.state->es_epq_active != NULL))
		return ExecScan(&node->ss, next_row, recheck_row);

	ResetExprContext(econtext);
	state->path_row = false;
	slot = state->back == NULL ? next_row(&node->ss) : next_either_way(state);
	if (projection == NULL)
		return slot;
	if (TupIsNull(slot))
		return ExecClearTuple(projection->pi_state.resultslot);
	econtext->ecxt_scantuple = state->path_row ? state->path_slot : slot;
	return ExecProject(state->path_row ? state->path_projection : projection);
}

/* The executor knows of children on the left and on the right alone. */
static void
rescan_bitmap(CustomScanState *node)
{
	PlanState  *bitmap;

	if (node->custom_ps == NIL)
		return;
	bitmap = linitial(node->custom_ps);
	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(bitmap, node->ss.ps.chgParam);
	/* with new parameters it starts over by itself */
	if (bitmap->chgParam == NULL)
		ExecReScan(bitmap);
}

static void
rescan(CustomScanState *node)
{
	VxScanState *state = (VxScanState *) node;

	rescan_bitmap(node);
	ExecScanReScan(&node->ss);
	state->virtual_slot = false;
	state->unit = VX_SOURCE_END;
	vx_filter_rescan(state->filter);
	vx_source_rescan(state->source);
	if (state->delta)
		vx_delta_release(state->delta);
	if (state->back)
		st_scan_back_rescan(state->back);
}

static void
end_scan(CustomScanState *node)
{
	VxScanState *state = (VxScanState *) node;

	if (state->delta)
		vx_delta_release(state->delta);
	if (state->source)
		vx_source_end(state->source);
	if (state->back)
		st_scan_back_end(state->back);
	if (node->custom_ps != NIL)
		ExecEndNode(linitial(node->custom_ps));
}

void
vx_scan_init(void)
{
	vx_scan_methods.CustomName = vx_format->scan_name;
	exec_methods.CustomName = vx_format->scan_name;
	vx_producer_register(&exec_methods);
}
