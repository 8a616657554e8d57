/*-------------------------------------------------------------------------
 *
 * st_scan_columns.c
 *	  Which columns the server's own scans of our tables need.
 *
 * The table AM is handed a slot to fill, and nothing that tells what for.  So
 * the scan nodes of a plan are looked at when it is started, and what they
 * refer to (target list, conditions, recheck conditions) is noted under their
 * slot.  Who fills a slot asks here when he meets it for the first time.
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
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "st_read.h"
#include "st_scan_columns.h"

typedef struct SlotNote
{
	TupleTableSlot *slot;		/* first: hash key */
	const StScanColumns *columns;
} SlotNote;

bool		st_partial_rows_enabled = true;

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

	if (slot_notes == NULL || !st_partial_rows_enabled)
		return NULL;
	note = hash_search(slot_notes, &slot, HASH_FIND, NULL);
	return note == NULL ? NULL : note->columns;
}

/* The columns of a table that expressions look at. */
typedef struct Wanted
{
	Index		varno;
	TupleDesc	desc;
	bool	   *columns;		/* of the table */
	bool		any;			/* is one of them true? */
	bool		header;			/* is a tuple header needed? */
} Wanted;

static void
want_column(Wanted *wanted, int i)
{
	if (TupleDescAttr(wanted->desc, i)->attisdropped)
		return;
	wanted->columns[i] = true;
	wanted->any = true;
}

/* A row without a tuple header has a TID and a table, no more. */
static void
want_var(Wanted *wanted, const Var *var)
{
	if (var->varno != wanted->varno || var->varlevelsup != 0)
		return;
	if (var->varattno > 0)
		want_column(wanted, var->varattno - 1);
	else if (var->varattno == 0)
	{
		for (int i = 0; i < wanted->desc->natts; i++)
			want_column(wanted, i);
	}
	else if (var->varattno != SelfItemPointerAttributeNumber &&
			 var->varattno != TableOidAttributeNumber)
		wanted->header = true;
}

static bool
want_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		want_var((Wanted *) context, (const Var *) node);
		return false;
	}
	return expression_tree_walker(node, want_walker, context);
}

/* Expressions or a target list, most of which are columns as they are. */
static void
want_list(Wanted *wanted, List *exprs)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		Node	   *node = (Node *) lfirst(lc);

		if (IsA(node, TargetEntry))
			node = (Node *) ((TargetEntry *) node)->expr;
		(void) want_walker(node, wanted);
	}
}

/*
 * output: what the node always looks at.  recheck: what it looks at where a
 * bitmap is lossy.
 */
static void
note_scan(ScanState *node, TupleTableSlot *slot, List *output, List *recheck)
{
	Size		size = sizeof(bool) * Max(slot->tts_tupleDescriptor->natts, 1);
	Wanted		wanted = {
		.varno = ((Scan *) node->ps.plan)->scanrelid,
		.desc = slot->tts_tupleDescriptor,
		.columns = MemoryContextAllocZero(slot->tts_mcxt, size)
	};
	StScanColumns *columns;

	want_list(&wanted, output);
	if (wanted.header)
		return;
	columns = MemoryContextAlloc(slot->tts_mcxt, sizeof(StScanColumns));
	columns->output = columns->recheck = wanted.any ? wanted.columns : NULL;
	if (recheck != NIL)
	{
		bool	   *more = MemoryContextAlloc(slot->tts_mcxt, size);

		memcpy(more, wanted.columns, size);
		wanted.columns = more;
		want_list(&wanted, recheck);
		columns->recheck = wanted.any ? wanted.columns : NULL;
	}
	if (!wanted.header)
		note_slot(slot, columns);
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

/* A scan that looks at its target list, its filter and what else there is. */
static void
note_plain_scan(ScanState *node, List *conditions)
{
	List	   *output = list_concat_copy(node->ps.plan->targetlist, node->ps.plan->qual);

	output = list_concat(output, conditions);
	note_scan(node, node->ss_ScanTupleSlot, output, NIL);
	list_free(output);
}

/*
 * Collects the expressions of a scan node, of any kind, beside its target list
 * and filter.
 */
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
		case T_SeqScanState:
		case T_SampleScanState:
			if (is_ours((ScanState *) planstate))
				note_plain_scan((ScanState *) planstate, NIL);
			break;
		case T_TidRangeScanState:
			if (is_ours((ScanState *) planstate))
				note_plain_scan((ScanState *) planstate,
								((TidRangeScan *) planstate->plan)->tidrangequals);
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
