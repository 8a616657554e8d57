/*-------------------------------------------------------------------------
 *
 * rc_scan.c
 *	  The custom scan node over a rowcompress table.
 *
 * The source hands out batches and chunks of the delta.  Of a batch, columns
 * are decoded when a row first needs them: those of quals for rows that
 * earlier quals left, those of the target list for rows that are returned.
 * Where that is a handful of rows of a batch, their values are taken one by
 * one.
 *
 * The scan slot is of the table's own type (a heap tuple in a buffer), so
 * that rows of the delta and rows that EvalPlanQual brings stand in it as
 * they are; rows of row groups stand in it as virtual ones, and are
 * overwritten in place one by one.  Columns that nobody asked for are null in
 * them.  tts_tid is the row's TID, virtual or not.
 *
 * Memory: values belong to the batch or to the source's reader and stay valid
 * until the next row.  What expressions allocate goes to the per-tuple
 * context.
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

#include "rc_paths.h"
#include "rc_scan.h"
#include "st_compat.h"

/* Single values of a column in one batch before it is decoded. */
#define RC_SPARSE_ROWS	8

static Node *create_scan_state(CustomScan *cscan);
static void begin_scan(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_scan(CustomScanState *node);
static void end_scan(CustomScanState *node);
static void rescan(CustomScanState *node);

const CustomScanMethods rc_scan_methods = {
	.CustomName = RC_SCAN_NAME,
	.CreateCustomScanState = create_scan_state,
};

static const CustomExecMethods exec_methods = {
	.CustomName = RC_SCAN_NAME,
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = exec_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan,
	.EstimateDSMCustomScan = rc_scan_estimate_dsm,
	.InitializeDSMCustomScan = rc_scan_initialize_dsm,
	.ReInitializeDSMCustomScan = rc_scan_reinitialize_dsm,
	.InitializeWorkerCustomScan = rc_scan_initialize_worker,
	.ShutdownCustomScan = rc_scan_shutdown,
	.ExplainCustomScan = rc_scan_explain,
};

static Node *
create_scan_state(CustomScan *cscan)
{
	RcScanState *state = (RcScanState *) newNode(sizeof(RcScanState), T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

/*
 * The node was set up with a slot for virtual tuples: give it one of the
 * table's kind, and compile the target list again for that.
 */
static void
init_slot(RcScanState *state, EState *estate, Relation rel, Index scanrelid)
{
	ScanState  *ss = &state->css.ss;

	ExecInitScanTupleSlot(estate, ss, RelationGetDescr(rel), table_slot_callbacks(rel));
	ss->ps.subPlan = NIL;
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

static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	RcScanState *state = (RcScanState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	Index		scanrelid = plan->scan.scanrelid;
	Relation	rel = node->ss.ss_currentRelation;
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *outputs;
	int			attno = -1;

	init_slot(state, estate, rel, scanrelid);

	/* The target list may have changed since the plan node was made. */
	outputs = add_columns(NULL, (Node *) plan->scan.plan.targetlist, scanrelid, desc);
	state->columns = add_columns(bms_copy(outputs), (Node *) plan->custom_exprs,
								 scanrelid, desc);
	state->outputs = palloc(sizeof(AttrNumber) * (bms_num_members(outputs) + 1));
	while ((attno = bms_next_member(outputs, attno)) >= 0)
		state->outputs[state->noutputs++] = attno;

	state->quals = rc_quals_create(plan->custom_exprs, scanrelid, &node->ss.ps, desc->natts);
	state->open = palloc(sizeof(RcQual *) * (state->quals->nquals + 1));
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	if (eflags & EXEC_FLAG_BACKWARD)
		state->back = st_scan_back_create();
	state->cols = palloc0(sizeof(RcScanColumn) * (desc->natts + 1));
	state->source = rc_source_create(rel, estate->es_snapshot, state->quals);
}

/*
 * Makes the slot hold a virtual row whose values may be overwritten: at the
 * first row of row groups, after rows of the delta, and after somebody
 * materialized the last row.
 */
static void
prepare_slot(RcScanState *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	state->virtual_slot = true;
}

static inline bool
slot_is_ready(const RcScanState *state)
{
	const TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	return state->virtual_slot && !TTS_EMPTY(slot) && !TTS_SHOULDFREE(slot) &&
		slot->tts_nvalid == slot->tts_tupleDescriptor->natts;
}

/* Puts the value of a column and row into the slot. */
static inline void
load_value(RcScanState *state, TupleTableSlot *slot, AttrNumber attno, uint32 row)
{
	RcScanColumn *col = &state->cols[attno - 1];
	RcBatch    *batch = state->source->batch;
	const RcVector *v;

	if (col->row == row)
		return;
	col->row = row;
	if (col->vector == NULL && ++col->touched > RC_SPARSE_ROWS)
		col->vector = rc_batch_vector(batch, attno);
	v = col->vector;
	if (v == NULL)
	{
		slot->tts_values[attno - 1] = rc_batch_value(batch, attno, row,
													 &slot->tts_isnull[attno - 1]);
		return;
	}
	slot->tts_isnull[attno - 1] = rc_vector_isnull(v, row);
	if (!slot->tts_isnull[attno - 1])
		slot->tts_values[attno - 1] = rc_vector_value(batch, attno, v, row);
}

/* The quals that were left for rows, in the plan's order. */
static bool
row_passes(RcScanState *state, TupleTableSlot *slot, uint32 row)
{
	ExprContext *econtext = state->quals->econtext;

	econtext->ecxt_scantuple = slot;
	for (int i = 0; i < state->nopen; i++)
	{
		const RcQual *qual = state->open[i];

		for (int k = 0; k < qual->ncolumns; k++)
			load_value(state, slot, qual->attnos[k], row);
		if (!ExecQual(qual->state, econtext))
			return false;
	}
	return true;
}

/* The next selected row of the batch that passes the quals left for rows. */
static bool
next_batch_row(RcScanState *state, TupleTableSlot *slot)
{
	RcSource   *source = state->source;

	if (!slot_is_ready(state))
	{
		prepare_slot(state);
		for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
			state->cols[i].row = -1;
	}
	for (;;)
	{
		uint32		row;

		while (state->left == 0)
		{
			if (++state->word >= (source->nrows + 63) / 64)
				return false;
			state->left = source->selection[state->word];
		}
		row = state->word * 64 + __builtin_ctzll(state->left);
		state->left &= state->left - 1;

		st_tid_from_row(&slot->tts_tid, source->first_row + row);
		if (state->nopen > 0 && !row_passes(state, slot, row))
		{
			CHECK_FOR_INTERRUPTS();
			InstrCountFiltered1(&state->css, 1);
			ResetExprContext(state->css.ss.ps.ps_ExprContext);
			continue;
		}
		for (int i = 0; i < state->noutputs; i++)
			load_value(state, slot, state->outputs[i], row);
		return true;
	}
}

static bool
next_delta_row(RcScanState *state, TupleTableSlot *slot)
{
	state->virtual_slot = false;
	while (rc_source_delta_row(state->source, slot))
	{
		if (rc_quals_slot(state->quals, slot))
			return true;
		InstrCountFiltered1(&state->css, 1);
		ResetExprContext(state->css.ss.ps.ps_ExprContext);
	}
	return false;
}

/*
 * Starts on a batch that the source has just handed out.  Columns that are
 * needed for each of its rows are decoded at once.
 */
static void
begin_batch(RcScanState *state)
{
	RcSource   *source = state->source;
	int			natts = RelationGetNumberOfAttributes(source->rel);
	int			before = pg_popcount((char *) source->selection, (source->nrows + 63) / 64 * 8);
	int			after;

	for (int i = 0; i < natts; i++)
		state->cols[i] = (RcScanColumn) {NULL, 0, -1};
	/* nothing of the batch before stays in the slot */
	prepare_slot(state);

	rc_quals_select(state->quals, source->batch, source->nrows, source->selection);
	after = pg_popcount((char *) source->selection, (source->nrows + 63) / 64 * 8);
	InstrCountFiltered1(&state->css, before - after);

	state->nopen = 0;
	for (int i = 0; i < state->quals->nquals; i++)
		if (!state->quals->quals[i].settled)
			state->open[state->nopen++] = &state->quals->quals[i];
	if (after > RC_SPARSE_ROWS && state->nopen > 0)
	{
		for (int k = 0; k < state->open[0]->ncolumns; k++)
			state->cols[state->open[0]->attnos[k] - 1].touched = RC_SPARSE_ROWS;
	}
	else if (after > RC_SPARSE_ROWS)
	{
		for (int i = 0; i < state->noutputs; i++)
			state->cols[state->outputs[i] - 1].touched = RC_SPARSE_ROWS;
	}
	state->word = -1;
	state->left = 0;
}

/* Access method of ExecScan: the next row that passes all quals. */
static TupleTableSlot *
next_row(ScanState *node)
{
	RcScanState *state = (RcScanState *) node;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;

	for (;;)
	{
		switch (state->unit)
		{
			case RC_SOURCE_BATCH:
				if (next_batch_row(state, slot))
					return slot;
				break;
			case RC_SOURCE_DELTA:
				if (next_delta_row(state, slot))
					return slot;
				break;
			case RC_SOURCE_END:
				break;
		}
		state->unit = rc_source_next(state->source);
		if (state->unit == RC_SOURCE_END)
			return ExecClearTuple(slot);
		if (state->unit == RC_SOURCE_BATCH)
			begin_batch(state);
	}
}

/*
 * Recheck method of ExecScan: a row that EvalPlanQual brings.  All quals run
 * inside this node, so all of them are to be checked again.
 */
static bool
recheck_row(ScanState *node, TupleTableSlot *slot)
{
	RcScanState *state = (RcScanState *) node;

	/* The scan slot may be the one that was filled. */
	state->virtual_slot = false;
	return rc_quals_slot(state->quals, slot);
}

/* For cursors: the next row, or the one before. */
static TupleTableSlot *
next_either_way(RcScanState *state)
{
	ScanState  *ss = &state->css.ss;
	bool		again;
	TupleTableSlot *slot = st_scan_back_next(state->back, ss, next_row, &again);

	if (again)
		state->virtual_slot = false;
	return slot != NULL ? slot : ExecClearTuple(ss->ss_ScanTupleSlot);
}

static TupleTableSlot *
exec_scan(CustomScanState *node)
{
	RcScanState *state = (RcScanState *) node;
	ProjectionInfo *projection = node->ss.ps.ps_ProjInfo;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	TupleTableSlot *slot;

	if (unlikely(node->ss.ps.state->es_epq_active != NULL))
		return ExecScan(&node->ss, next_row, recheck_row);

	ResetExprContext(econtext);
	slot = state->back == NULL ? next_row(&node->ss) : next_either_way(state);
	if (projection == NULL)
		return slot;
	if (TupIsNull(slot))
		return ExecClearTuple(projection->pi_state.resultslot);
	econtext->ecxt_scantuple = slot;
	return ExecProject(projection);
}

static void
rescan(CustomScanState *node)
{
	RcScanState *state = (RcScanState *) node;

	ExecScanReScan(&node->ss);
	state->virtual_slot = false;
	state->unit = RC_SOURCE_END;
	rc_quals_rescan(state->quals);
	rc_source_rescan(state->source);
	if (state->back)
		st_scan_back_rescan(state->back);
}

static void
end_scan(CustomScanState *node)
{
	RcScanState *state = (RcScanState *) node;

	if (state->source)
		rc_source_end(state->source);
	if (state->back)
		st_scan_back_end(state->back);
}

void
rc_scan_init(void)
{
	DefineCustomBoolVariable("rowcompress.enable_pruning",
							 "Skips row groups and batches whose minimum and maximum rule out a condition.",
							 NULL,
							 &rc_enable_pruning,
							 true,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("rowcompress.enable_vector_filter",
							 "Evaluates comparisons of numbers on whole batches.",
							 NULL,
							 &rc_enable_vector_filter,
							 true,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	RegisterCustomScanMethods(&rc_scan_methods);
}
