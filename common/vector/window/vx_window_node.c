/*-------------------------------------------------------------------------
 *
 * vx_window_node.c
 *	  The custom node that sorts vectors and computes windows over the order.
 *
 * It stands for the server's Sort, or for a Sort and the WindowAggs above it
 * whose windows that order serves.  All rows are read before the first comes
 * out.  They stay in memory, or, in parts of which one is in memory, on disk.  If
 * that cannot be, or a numeric column has values that are not all of one scale,
 * what was read is thrown away and the server's own plan, which is the node's
 * second child, is run instead.
 *
 * Memory: rows, order and results, of all or of one part, within work_mem.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/objectaccess.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "vx_format.h"
#include "vx_window.h"
#include "st_compat.h"

static Node *create_window_state(CustomScan *cscan);
static void begin_window(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_window(CustomScanState *node);
static void end_window(CustomScanState *node);
static void rescan_window(CustomScanState *node);
static void explain_window(CustomScanState *node, List *ancestors, ExplainState *es);

CustomScanMethods vx_window_methods = {
	.CreateCustomScanState = create_window_state,
};

static CustomExecMethods exec_methods = {
	.BeginCustomScan = begin_window,
	.ExecCustomScan = exec_window,
	.EndCustomScan = end_window,
	.ReScanCustomScan = rescan_window,
	.ExplainCustomScan = explain_window,
};

static Node *
create_window_state(CustomScan *cscan)
{
	VxWindowState *state = (VxWindowState *) newNode(sizeof(VxWindowState),
													 T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

/* ---- set up ---- */

/* Columns that the target list or the qual refer to. */
static Bitmapset *
needed_columns(const Plan *plan)
{
	Bitmapset  *attrs = NULL;
	Bitmapset  *result = NULL;
	int			member = -1;

	pull_varattnos((Node *) plan->targetlist, INDEX_VAR, &attrs);
	pull_varattnos((Node *) plan->qual, INDEX_VAR, &attrs);
	while ((member = bms_next_member(attrs, member)) >= 0)
		result = bms_add_member(result, member + FirstLowInvalidHeapAttributeNumber);
	return result;
}

/*
 * Checks the right to call window functions, as the server does.  Their work
 * is done, as far as the plan goes: it showed the planner which columns of
 * the node's rows they are.  From 18 on the server can show a WindowFunc for
 * a WindowAgg only, so calls take their place, which differ in nothing that
 * EXPLAIN shows but OVER.  They live as long as the plan.
 */
static void
name_functions(CustomScan *plan)
{
	ListCell   *lc;

	foreach(lc, plan->custom_scan_tlist)
	{
		TargetEntry *tle = lfirst_node(TargetEntry, lc);
		WindowFunc *func = (WindowFunc *) tle->expr;
		MemoryContext old;

		if (!IsA(func, WindowFunc))
			continue;
		old = MemoryContextSwitchTo(GetMemoryChunkContext(tle));
		tle->expr = (Expr *) makeFuncExpr(func->winfnoid, func->wintype,
										  copyObject(func->args), func->wincollid,
										  func->inputcollid, COERCE_EXPLICIT_CALL);
		MemoryContextSwitchTo(old);
	}
}

static void
check_rights(const CustomScan *plan, int ncolumns)
{
	ListCell   *lc;

	for_each_from(lc, plan->custom_scan_tlist, ncolumns)
	{
		const FuncExpr *call = (const FuncExpr *) lfirst_node(TargetEntry, lc)->expr;
		AclResult	result = st_function_aclcheck(call->funcid, GetUserId());

		if (result != ACLCHECK_OK)
			aclcheck_error(result, OBJECT_FUNCTION, get_func_name(call->funcid));
		InvokeFunctionExecuteHook(call->funcid);
	}
}

static void
begin_window(CustomScanState *node, EState *estate, int eflags)
{
	VxWindowState *state = (VxWindowState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;

	name_functions(plan);
	/* rows are kept here, so what is below goes forward */
	state->child = ExecInitNode(linitial(plan->custom_plans), estate,
								eflags & ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK));
	state->server = ExecInitNode(lsecond(plan->custom_plans), estate, eflags);
	/* both, for whatever looks through the nodes of the plan */
	node->custom_ps = list_make2(state->child, state->server);
	state->desc = node->ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	state->ncolumns = list_nth_int(linitial(plan->custom_private), VX_WINDOW_NCOLUMNS);
	check_rights(plan, state->ncolumns);
	state->producer = (VxProducer) {vx_window_next_batch, INDEX_VAR, state->desc, NULL, 1};
	state->server_columns = vx_producer_columns(&node->ss.ps);
	if (state->server_columns == NULL)
		state->producer.next = NULL;
	state->at = -1;
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	state->needed = needed_columns(&plan->scan.plan);
	state->batch_mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector window of a batch",
											  ALLOCSET_DEFAULT_SIZES);
	vx_window_input_init(state);
	vx_window_output_init(state);
	if (state->server_columns)
		state->server_rows = vx_row_vectors_create(state->producer.batch, state->desc);
}

/* ---- rows ---- */

/* A row of the server's, which is as this node's rows are. */
static TupleTableSlot *
server_row(VxWindowState *state)
{
	ProjectionInfo *projection = state->css.ss.ps.ps_ProjInfo;
	TupleTableSlot *slot = vx_window_server_row(state);

	if (TupIsNull(slot))
		return projection ? ExecClearTuple(projection->pi_state.resultslot) : slot;
	if (projection == NULL || state->server_columns == NULL)
		return slot;
	state->css.ss.ps.ps_ExprContext->ecxt_scantuple = slot;
	return ExecProject(projection);
}

/* The next row of the batches, or -1. */
static int
next_selected(VxWindowState *state)
{
	const VxBatch *batch = state->producer.batch;
	int			row;

	while (state->left == 0)
	{
		if (state->word + 1 < (batch->nrows + 63) / 64)
			state->left = batch->selection[++state->word];
		else if (!vx_window_next_batch(&state->css))
			return -1;
		else
			state->word = -1;
	}
	row = state->word * 64 + __builtin_ctzll(state->left);
	state->left &= state->left - 1;
	return row;
}

/* Where all rows come out: the next one in either direction, or -1. */
static int
next_either_way(VxWindowState *state)
{
	int			step = ScanDirectionIsBackward(state->css.ss.ps.state->es_direction) ? -1 : 1;

	state->at = Min(Max(state->at + step, -1), (int64) state->sorter->nrows);
	if (state->at < 0 && vx_parts_move(state, -1))
		state->at = (int64) state->sorter->nrows - 1;
	else if (state->at >= state->sorter->nrows && vx_parts_move(state, 1))
		state->at = 0;
	if (state->at < 0 || state->at >= state->sorter->nrows)
		return -1;
	if (state->at < state->position || state->at >= state->next)
		vx_window_show(state, (uint32) (state->at - state->at % ST_VECTOR_SIZE));
	return (int) (state->at - state->position);
}

static TupleTableSlot *
exec_window(CustomScanState *node)
{
	VxWindowState *state = (VxWindowState *) node;
	ProjectionInfo *projection = node->ss.ps.ps_ProjInfo;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	TupleTableSlot *slot;
	int			row;

	CHECK_FOR_INTERRUPTS();
	ResetExprContext(econtext);
	if (!state->sorted)
		vx_window_start(state);
	if (state->by_server)
		return server_row(state);
	row = state->nquals == 0 && state->ndistinct == 0 ? next_either_way(state) :
		next_selected(state);
	if (row < 0)
		return ExecClearTuple(projection ? projection->pi_state.resultslot :
							  node->ss.ss_ScanTupleSlot);
	slot = vx_batch_fill_slot(state->producer.batch, row, state->css.ss.ss_ScanTupleSlot);
	if (projection == NULL)
		return slot;
	econtext->ecxt_scantuple = slot;
	return ExecProject(projection);
}

static void
rescan_child(VxWindowState *state, PlanState *child)
{
	if (state->css.ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, state->css.ss.ps.chgParam);
	/* vectors do not come by ExecProcNode(), which would rescan with new parameters */
	ExecReScan(child);
}

static void
rescan_window(CustomScanState *node)
{
	VxWindowState *state = (VxWindowState *) node;

	rescan_child(state, state->child);
	rescan_child(state, state->server);
	vx_exprs_rescan(state->exprs);
	vx_exprs_rescan(state->output_exprs);
	vx_parts_reset(state);
	vx_sorter_reset(state->sorter);
	if (state->first)
		vx_first_reset(state->first);
	vx_batch_set_rows(state->producer.batch, 0);
	state->sorted = false;
	state->by_server = false;
	state->position = 0;
	state->next = 0;
	state->at = -1;
	state->word = 0;
	state->left = 0;
}

static void
end_window(CustomScanState *node)
{
	VxWindowState *state = (VxWindowState *) node;

	vx_parts_reset(state);
	ExecEndNode(state->child);
	ExecEndNode(state->server);
}

/* ---- EXPLAIN ---- */

/* Columns are shown with their table then. */
static bool
has_many_tables(const ExplainState *es)
{
	return es->verbose || list_length(es->rtable) > 1;
}

static List *
deparse_inputs(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const CustomScan *plan = (const CustomScan *) node->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan,
												   ancestors);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, plan->custom_exprs)
		result = lappend(result, deparse_expression(lfirst(lc), context,
													has_many_tables(es), false));
	return result;
}

/* Keys of a list of them, as the server shows a Sort's. */
static List *
describe_keys(const List *keys, const List *inputs, int from, int to, bool with_order)
{
	List	   *result = NIL;

	for (int k = from; k < to; k++)
	{
		List	   *key = list_nth(keys, k);
		StringInfoData text;
		bool		descending = false;
		Oid			opfamily;
		Oid			opcintype;

		initStringInfo(&text);
		appendStringInfoString(&text,
							   list_nth(inputs, list_nth_oid(key, VX_WINDOW_KEY_INPUT)));
		(void) st_is_ordering_op(list_nth_oid(key, VX_WINDOW_KEY_SORTOP), &opfamily,
								 &opcintype, &descending);
		if (with_order && descending)
			appendStringInfoString(&text, " DESC");
		if (with_order && descending != (list_nth_oid(key, VX_WINDOW_KEY_NULLS_FIRST) != 0))
			appendStringInfoString(&text, descending ? " NULLS LAST" : " NULLS FIRST");
		result = lappend(result, text.data);
	}
	return result;
}

static void
explain_window(CustomScanState *node, List *ancestors, ExplainState *es)
{
	VxWindowState *state = (VxWindowState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	List	   *keys = lsecond(plan->custom_private);
	List	   *inputs = deparse_inputs(node, ancestors, es);
	int			first = list_nth_int(linitial(plan->custom_private), VX_WINDOW_FIRST);
	int			ndistinct;
	ListCell   *lc;

	if (keys != NIL)
		ExplainPropertyList("Sort Key", describe_keys(keys, inputs, 0, list_length(keys),
													  true), es);
	foreach(lc, lthird(plan->custom_private))
	{
		int			npartition = list_nth_int(lfirst(lc), VX_WINDOW_NPARTITION);

		if (npartition > 0)
			ExplainPropertyList("Partition Key",
								describe_keys(keys, inputs, 0, npartition, false), es);
	}
	ndistinct = list_nth_int(linitial(plan->custom_private), VX_WINDOW_DISTINCT);
	if (ndistinct > 0)
		ExplainPropertyList("Distinct Key", describe_keys(keys, inputs, 0, ndistinct, false),
							es);
	if (first > 0)
		ExplainPropertyInteger("Rows Per Partition", NULL, first, es);
	/* the server's plan is shown where it ran */
	if (!state->by_server)
		node->custom_ps = list_make1(state->child);
	if (!es->analyze || state->sorter == NULL)
		return;
	ExplainPropertyUInteger("Rows Read", NULL, state->total_in, es);
	if (first > 0)
		ExplainPropertyUInteger("Rows Dropped Early", NULL, state->total_dropped, es);
	ExplainPropertyUInteger("Batches", NULL, state->batches, es);
	if (state->by_server || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyBool("Left To Server", state->by_server, es);
	if (state->parts_on_disk > 0 || es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyInteger("Parts On Disk", NULL, state->parts_on_disk, es);
		ExplainPropertyUInteger("Disk", "kB", (state->disk + 1023) / 1024, es);
	}
	ExplainPropertyUInteger("Memory", "kB", (state->peak + 1023) / 1024, es);
}

void
vx_window_init(void)
{
	vx_window_methods.CustomName = vx_format->window_name;
	exec_methods.CustomName = vx_format->window_name;
	vx_producer_register(&exec_methods);
}
