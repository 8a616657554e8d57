/*-------------------------------------------------------------------------
 *
 * vx_append_node.c
 *	  The custom node that hands out vectors of an Append's children.
 *
 * The child is the server's Append, which prunes partitions when the query runs, divides
 * children among participants, and knows about rescans.  This node asks it which of its
 * children is next, and reads that one itself (vx_arms.c).  An Append of a
 * single child is taken out of the plan by the server: then that one is below.
 *
 * A node above that does not take vectors gets the Append's rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"

#include "vx_append.h"
#include "vx_arms.h"
#include "vx_format.h"
#include "vx_producer.h"
#include "st_compat.h"

typedef struct VxAppendState
{
	CustomScanState css;		/* must be first */
	VxProducer	producer;

	PlanState  *child;
	VxArms	   *arms;
	bool		chosen;			/* an arm is being read */
	bool		done;			/* none is left */
} VxAppendState;

static Node *create_append_state(CustomScan *cscan);
static void begin_append(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_append(CustomScanState *node);
static void end_append(CustomScanState *node);
static void rescan_append(CustomScanState *node);

CustomScanMethods vx_append_methods = {
	.CreateCustomScanState = create_append_state,
};

static CustomExecMethods exec_methods = {
	.BeginCustomScan = begin_append,
	.ExecCustomScan = exec_append,
	.EndCustomScan = end_append,
	.ReScanCustomScan = rescan_append,
};

static Node *
create_append_state(CustomScan *cscan)
{
	VxAppendState *state = (VxAppendState *) newNode(sizeof(VxAppendState),
													 T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

PlanState *
vx_append_child(PlanState *ps)
{
	if (!IsA(ps, CustomScanState) ||
		((CustomScanState *) ps)->methods != &exec_methods)
		return NULL;
	return ((VxAppendState *) ps)->child;
}

/* ---- vectors ---- */

/* The Append's choice of its next child; false: there is none. */
static bool
choose_arm(VxAppendState *state)
{
	AppendState *append = (AppendState *) state->child;

	if (!IsA(append, AppendState))
		vx_arms_begin(state->arms, 0);
	else if (append->as_nplans == 0 || !append->choose_next_subplan(append))
		return false;
	else
	{
		append->as_begun = true;
		vx_arms_begin(state->arms, append->as_whichplan);
	}
	state->chosen = true;
	return true;
}

/* As ExecProcNode() of the Append would count. */
static bool
next_of_arm(VxAppendState *state)
{
	PlanState  *child = state->child;
	NodeInstrumentation *instrument = IsA(child, AppendState) ? child->instrument : NULL;
	VxBatch    *batch = state->arms->batch;
	bool		more;

	if (instrument)
		InstrStartNode(instrument);
	more = vx_arms_next(state->arms);
	if (instrument)
		InstrStopNode(instrument,
					  more ? vx_selection_count(batch->selection, batch->nrows) : 0);
	return more;
}

static bool
next_batch(CustomScanState *node)
{
	VxAppendState *state = (VxAppendState *) node;

	while (!state->done)
	{
		CHECK_FOR_INTERRUPTS();
		if (!state->chosen && !choose_arm(state))
			break;
		if (next_of_arm(state))
		{
			state->producer.group = state->arms->group;
			return true;
		}
		state->chosen = false;
		state->done = !IsA(state->child, AppendState);
	}
	state->done = true;
	return false;
}

/* ---- the node ---- */

static void
begin_append(CustomScanState *node, EState *estate, int eflags)
{
	VxAppendState *state = (VxAppendState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	List	   *children = NIL;

	/* children that hand out vectors go forward */
	eflags &= ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	state->child = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	node->custom_ps = list_make1(state->child);
	state->producer = (VxProducer) {
		next_batch, INDEX_VAR, node->ss.ss_ScanTupleSlot->tts_tupleDescriptor, NULL, 0
	};
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	if (!IsA(state->child, AppendState))
		children = list_make1(state->child);
	else
		for (int i = 0; i < ((AppendState *) state->child)->as_nplans; i++)
			children = lappend(children, ((AppendState *) state->child)->appendplans[i]);
	state->arms = vx_arms_create(children, list_length(plan->custom_scan_tlist), false);
	state->producer.batch = state->arms->batch;
}

/* A row of the child's, whose columns are the node's. */
static TupleTableSlot *
exec_append(CustomScanState *node)
{
	VxAppendState *state = (VxAppendState *) node;
	ProjectionInfo *projection = node->ss.ps.ps_ProjInfo;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	TupleTableSlot *own = node->ss.ss_ScanTupleSlot;
	TupleTableSlot *slot = ExecProcNode(state->child);
	int			ncolumns = own->tts_tupleDescriptor->natts;

	ResetExprContext(econtext);
	ExecClearTuple(own);
	if (TupIsNull(slot))
		return projection ? ExecClearTuple(projection->pi_state.resultslot) : own;
	slot_getallattrs(slot);
	memcpy(own->tts_values, slot->tts_values, sizeof(Datum) * ncolumns);
	memcpy(own->tts_isnull, slot->tts_isnull, sizeof(bool) * ncolumns);
	ExecStoreVirtualTuple(own);
	if (projection == NULL)
		return own;
	econtext->ecxt_scantuple = own;
	return ExecProject(projection);
}

static void
rescan_append(CustomScanState *node)
{
	VxAppendState *state = (VxAppendState *) node;

	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(state->child, node->ss.ps.chgParam);
	/* vectors do not come by ExecProcNode(), which would rescan with new parameters */
	ExecReScan(state->child);
	vx_arms_rescan(state->arms);
	state->chosen = false;
	state->done = false;
}

static void
end_append(CustomScanState *node)
{
	ExecEndNode(((VxAppendState *) node)->child);
}

void
vx_append_init(void)
{
	vx_append_methods.CustomName = vx_format->append_name;
	exec_methods.CustomName = vx_format->append_name;
	vx_producer_register(&exec_methods);
}
