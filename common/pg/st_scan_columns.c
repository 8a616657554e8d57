/*-------------------------------------------------------------------------
 *
 * st_scan_columns.c
 *	  Which columns index and bitmap scans of our tables need.
 *
 * The table AM is handed a slot to fill, and nothing that tells what for.  So
 * the scan nodes of a plan are looked at when it is started, and what they
 * refer to (target list, conditions, recheck conditions) is noted under their
 * slot.  st_fetch.c asks here when it meets a slot for the first time.
 *
 * A note must not outlive its slot, whose address may be used again: it is
 * removed by a callback of the memory context that the slot lives in.
 *
 * For a plain scan the planner prefers the target list "all columns, in
 * order", as that saves heap a projection.  It does not where a system column
 * is wanted, so one is declared wanted for our tables.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_am_d.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "st_scan_columns.h"
#include "st_store_int.h"

typedef struct SlotNote
{
	TupleTableSlot *slot;		/* first: hash key */
	const StScanColumns *columns;
} SlotNote;

static HTAB *slot_notes = NULL;

void
st_scan_columns_exact(RelOptInfo *rel)
{
	int			i = TableOidAttributeNumber - rel->min_attr;

	/* Relation 0 stands for what is needed above all joins. */
	if (rel->attr_needed != NULL && bms_is_empty(rel->attr_needed[i]))
		rel->attr_needed[i] = bms_make_singleton(0);
}

static void
forget_slot(void *slot)
{
	hash_search(slot_notes, &slot, HASH_REMOVE, NULL);
}

static void
note_slot(TupleTableSlot *slot, const StScanColumns *columns)
{
	MemoryContextCallback *callback;
	SlotNote   *note;
	bool		found;

	if (slot_notes == NULL)
	{
		HASHCTL		ctl;

		ctl.keysize = sizeof(TupleTableSlot *);
		ctl.entrysize = sizeof(SlotNote);
		ctl.hcxt = CacheMemoryContext;
		slot_notes = hash_create("columns needed by scans", 32, &ctl,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	callback = MemoryContextAlloc(slot->tts_mcxt, sizeof(*callback));
	callback->func = forget_slot;
	callback->arg = slot;
	note = hash_search(slot_notes, &slot, HASH_ENTER, &found);
	note->columns = columns;
	if (!found)
		MemoryContextRegisterResetCallback(slot->tts_mcxt, callback);
}

const StScanColumns *
st_scan_columns_of(TupleTableSlot *slot)
{
	SlotNote   *note;

	if (slot_notes == NULL)
		return NULL;
	note = hash_search(slot_notes, &slot, HASH_FIND, NULL);
	return note == NULL ? NULL : note->columns;
}

/* A row without a tuple header has a TID and a table, no more. */
static bool
needs_tuple_header(const Bitmapset *attrs)
{
	for (int attno = FirstLowInvalidHeapAttributeNumber + 1; attno < 0; attno++)
		if (attno != SelfItemPointerAttributeNumber && attno != TableOidAttributeNumber &&
			bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, attrs))
			return true;
	return false;
}

/* One boolean per column of the table, or NULL if all are false. */
static bool *
column_array(const Bitmapset *attrs, TupleDesc desc)
{
	bool	   *array = palloc0(sizeof(bool) * Max(desc->natts, 1));
	bool		whole_row = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, attrs);
	bool		any = false;

	for (int i = 0; i < desc->natts; i++)
	{
		array[i] = !TupleDescAttr(desc, i)->attisdropped &&
			(whole_row ||
			 bms_is_member(i + 1 - FirstLowInvalidHeapAttributeNumber, attrs));
		any |= array[i];
	}
	return any ? array : NULL;
}

/*
 * output: what the node always looks at.  recheck: what it looks at where a
 * bitmap is lossy.
 */
static void
note_scan(ScanState *node, TupleTableSlot *slot, List *output, List *recheck)
{
	Index		varno = ((Scan *) node->ps.plan)->scanrelid;
	TupleDesc	desc = slot->tts_tupleDescriptor;
	Bitmapset  *attrs = NULL;
	StScanColumns *columns;
	MemoryContext oldcxt;

	pull_varattnos((Node *) output, varno, &attrs);
	if (needs_tuple_header(attrs))
		return;
	oldcxt = MemoryContextSwitchTo(slot->tts_mcxt);
	columns = palloc(sizeof(StScanColumns));
	columns->output = column_array(attrs, desc);
	pull_varattnos((Node *) recheck, varno, &attrs);
	columns->recheck = column_array(attrs, desc);
	MemoryContextSwitchTo(oldcxt);
	if (!needs_tuple_header(attrs))
		note_slot(slot, columns);
	bms_free(attrs);
}

/* An index scan of btree never asks for its conditions to be rechecked. */
static void
note_index_scan(IndexScanState *node)
{
	IndexScan  *plan = (IndexScan *) node->ss.ps.plan;
	List	   *output = list_concat_copy(plan->scan.plan.targetlist,
										  plan->scan.plan.qual);

	if (node->iss_RelationDesc == NULL)
		return;					/* EXPLAIN */
	if (node->iss_RelationDesc->rd_rel->relam != BTREE_AM_OID)
	{
		output = list_concat(output, plan->indexqualorig);
		output = list_concat(output, plan->indexorderbyorig);
	}
	note_scan(&node->ss, node->ss.ss_ScanTupleSlot, output, NIL);
	list_free(output);
}

static void
note_bitmap_scan(BitmapHeapScanState *node)
{
	BitmapHeapScan *plan = (BitmapHeapScan *) node->ss.ps.plan;
	List	   *output = list_concat_copy(plan->scan.plan.targetlist,
										  plan->scan.plan.qual);

	note_scan(&node->ss, node->ss.ss_ScanTupleSlot, output, plan->bitmapqualorig);
	list_free(output);
}

/* What else than target list and filter a scan node looks at, of any kind. */
static bool
scan_conditions(PlanState *planstate, List **exprs)
{
	Plan	   *plan = planstate->plan;

	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SampleScan:
			break;
		case T_IndexScan:
			*exprs = list_concat(*exprs, ((IndexScan *) plan)->indexqualorig);
			*exprs = list_concat(*exprs, ((IndexScan *) plan)->indexorderbyorig);
			break;
		case T_BitmapHeapScan:
			*exprs = list_concat(*exprs, ((BitmapHeapScan *) plan)->bitmapqualorig);
			break;
		case T_TidScan:
			*exprs = list_concat(*exprs, ((TidScan *) plan)->tidquals);
			break;
		case T_TidRangeScan:
			*exprs = list_concat(*exprs, ((TidRangeScan *) plan)->tidrangequals);
			break;
		case T_CustomScan:
			if (((CustomScan *) plan)->custom_plans != NIL)
				return false;
			*exprs = list_concat(*exprs, ((CustomScan *) plan)->custom_exprs);
			break;
		default:
			return false;
	}
	return true;
}

/* The scan of a range table entry, and whether it is the only one. */
typedef struct FindScan
{
	Index		rti;
	PlanState  *scan;
	bool		several;
} FindScan;

static bool
find_scan(PlanState *planstate, void *context)
{
	FindScan   *find = context;

	switch (nodeTag(planstate))
	{
		case T_SeqScanState:
		case T_SampleScanState:
		case T_IndexScanState:
		case T_IndexOnlyScanState:
		case T_BitmapHeapScanState:
		case T_TidScanState:
		case T_TidRangeScanState:
		case T_CustomScanState:
			if (((Scan *) planstate->plan)->scanrelid == find->rti)
			{
				find->several = find->scan != NULL;
				find->scan = planstate;
			}
			break;
		default:
			break;
	}
	return planstate_tree_walker(planstate, find_scan, context);
}

/*
 * A row that is locked is fetched once more.  That row is looked at only if
 * the plan runs again over locked rows, because one of them has changed; and
 * then by its scan alone.
 */
static void
note_row_mark(LockRowsState *node, ExecRowMark *erm)
{
	FindScan	find = {.rti = erm->rti};
	TupleTableSlot *slot;
	List	   *exprs;

	(void) find_scan(outerPlanState(node), &find);
	if (find.scan == NULL || find.several)
		return;
	exprs = list_concat_copy(find.scan->plan->targetlist, find.scan->plan->qual);
	if (scan_conditions(find.scan, &exprs))
	{
		slot = EvalPlanQualSlot(&node->lr_epqstate, erm->relation, erm->rti);
		note_scan((ScanState *) find.scan, slot, exprs, NIL);
	}
	list_free(exprs);
}

static void
note_lock_rows(LockRowsState *node)
{
	ListCell   *lc;

	foreach(lc, node->lr_arowMarks)
	{
		ExecRowMark *erm = ((ExecAuxRowMark *) lfirst(lc))->rowmark;

		if (erm->relation != NULL && st_relation_format(erm->relation) != NULL)
			note_row_mark(node, erm);
	}
}

static bool
is_ours(ScanState *node)
{
	return node->ss_currentRelation != NULL &&
		st_relation_format(node->ss_currentRelation) != NULL;
}

static bool
register_columns(PlanState *planstate, void *context)
{
	if (planstate == NULL)
		return false;
	switch (nodeTag(planstate))
	{
		case T_IndexScanState:
			if (is_ours((ScanState *) planstate))
				note_index_scan((IndexScanState *) planstate);
			break;
		case T_IndexOnlyScanState:
			/* It fetches rows only to see whether they are visible. */
			if (is_ours((ScanState *) planstate) &&
				((IndexOnlyScanState *) planstate)->ioss_TableSlot != NULL)
				note_scan((ScanState *) planstate,
						  ((IndexOnlyScanState *) planstate)->ioss_TableSlot,
						  NIL, NIL);
			break;
		case T_BitmapHeapScanState:
			if (is_ours((ScanState *) planstate))
				note_bitmap_scan((BitmapHeapScanState *) planstate);
			break;
		case T_LockRowsState:
			note_lock_rows((LockRowsState *) planstate);
			break;
		default:
			break;
	}
	return planstate_tree_walker(planstate, register_columns, context);
}

void
st_scan_columns_register(PlanState *planstate)
{
	(void) register_columns(planstate, NULL);
}
