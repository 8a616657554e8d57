/*-------------------------------------------------------------------------
 *
 * vx_join_node.c
 *	  The custom node that joins vectors to rows by hash.
 *
 * The probe side hands out vectors: a scan of ours, another such join, an Append of
 * them; of full joins it may be any plan, whose rows become vectors.
 * The build side is any plan.  A node above that takes vectors gets the
 * join's; for any other, rows are made of them one by one.
 *
 * Memory: the build side's rows and the parts on disk until the next rescan
 * that needs others; what functions allocate while a batch is worked on, in
 * a context that is reset before the next batch of the probe side.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "vx_format.h"
#include "vx_join.h"
#include "vx_join_spec.h"
#include "st_compat.h"

static Node *create_join_state(CustomScan *cscan);
static void begin_join(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_join(CustomScanState *node);
static void end_join(CustomScanState *node);
static void rescan_join(CustomScanState *node);
static void explain_join(CustomScanState *node, List *ancestors, ExplainState *es);

CustomScanMethods vx_join_methods = {
	.CreateCustomScanState = create_join_state,
};

static CustomExecMethods exec_methods = {
	.BeginCustomScan = begin_join,
	.ExecCustomScan = exec_join,
	.EndCustomScan = end_join,
	.ReScanCustomScan = rescan_join,
	.EstimateDSMCustomScan = vx_join_estimate_dsm,
	.InitializeDSMCustomScan = vx_join_initialize_dsm,
	.ReInitializeDSMCustomScan = vx_join_reinitialize_dsm,
	.InitializeWorkerCustomScan = vx_join_initialize_worker,
	.ShutdownCustomScan = vx_join_shutdown,
	.ExplainCustomScan = explain_join,
};

static Node *
create_join_state(CustomScan *cscan)
{
	VxJoinState *state = (VxJoinState *) newNode(sizeof(VxJoinState), T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

VxJoinState *
vx_join_state(PlanState *ps)
{
	if (!IsA(ps, CustomScanState) ||
		((CustomScanState *) ps)->methods != &exec_methods)
		return NULL;
	return (VxJoinState *) ps;
}

/* ---- set up ---- */

static List *
join_fields(const CustomScan *plan)
{
	return linitial(plan->custom_private);
}

/* Columns that anything refers to. */
static Bitmapset *
needed_columns(const CustomScan *plan)
{
	Bitmapset  *attrs = NULL;
	Bitmapset  *result = NULL;
	int			member = -1;

	pull_varattnos((Node *) plan->scan.plan.targetlist, INDEX_VAR, &attrs);
	pull_varattnos((Node *) plan->scan.plan.qual, INDEX_VAR, &attrs);
	pull_varattnos((Node *) plan->custom_exprs, INDEX_VAR, &attrs);
	while ((member = bms_next_member(attrs, member)) >= 0)
		result = bms_add_member(result, member + FirstLowInvalidHeapAttributeNumber);
	return result;
}

static VxJoinQual *
init_quals(VxJoinState *state, List *clauses, int *n)
{
	VxJoinQual *quals = palloc0(sizeof(VxJoinQual) * (list_length(clauses) + 1));
	ListCell   *lc;

	*n = 0;
	foreach(lc, clauses)
	{
		VxJoinQual *qual = &quals[(*n)++];

		qual->program = vx_expr_compile(state->exprs, lfirst(lc), 0);
		/* the node has to know of subplans */
		if (qual->program == NULL || contain_subplans(lfirst(lc)))
			qual->state = ExecInitQual(list_make1(lfirst(lc)), &state->css.ss.ps);
	}
	return quals;
}

static bool
has_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Param) || expression_tree_walker(node, has_param, context);
}

static void
init_keys(VxJoinState *state)
{
	ListCell   *lc;

	state->keys = palloc(sizeof(VxExpr *) * state->nkeys);
	state->key_vectors = palloc0(sizeof(VxVector *) * state->nkeys);
	foreach(lc, state->clauses)
	{
		VxExpr	   *key = vx_expr_compile(state->exprs,
										  linitial(lfirst_node(OpExpr, lc)->args), 0);

		if (key == NULL)
			elog(ERROR, "a key of a join of vectors cannot be computed on them");
		state->keys[foreach_current_index(lc)] = key;
		if (has_param(lsecond(lfirst_node(OpExpr, lc)->args), NULL))
			state->keys_have_params = true;
	}
}

/* A node that hands out vectors; anything else becomes that as an arm. */
static void
init_probe_side(VxJoinState *state)
{
	state->probe = vx_producer(state->outer);
	if (state->probe)
		state->probe_columns = vx_producer_columns(state->outer);
	if (state->probe_columns)
		return;
	state->probe_arms = vx_arms_create(list_make1(state->outer), state->nouter, false);
	vx_arms_begin(state->probe_arms, 0);
	state->probe_columns = palloc(sizeof(AttrNumber) * (state->nouter + 1));
	for (int i = 0; i < state->nouter; i++)
		state->probe_columns[i] = i + 1;
}

static void
begin_join(CustomScanState *node, EState *estate, int eflags)
{
	VxJoinState *state = (VxJoinState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	List	   *fields = join_fields(plan);
	int			nkeys = list_nth_int(fields, VX_JOIN_NKEYS);

	state->outer = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	state->inner = ExecInitNode(lsecond(plan->custom_plans), estate, eflags);
	node->custom_ps = list_make2(state->outer, state->inner);
	state->jointype = (JoinType) list_nth_int(fields, VX_JOIN_TYPE);
	state->turned = list_nth_int(fields, VX_JOIN_TURNED) != 0;
	state->nouter = list_nth_int(fields, VX_JOIN_NOUTER);
	state->shares_build = list_nth_int(fields, VX_JOIN_SHARES_BUILD) != 0;
	state->nkeys = nkeys;
	state->clauses = list_copy_head(plan->custom_exprs, nkeys);
	state->desc = node->ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	state->stats = &state->own_stats;
	state->producer = (VxProducer) {vx_join_next_batch, INDEX_VAR, state->desc, NULL, 1};
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	state->needed = needed_columns(plan);
	init_probe_side(state);
	state->exprs = vx_exprs_create(state->desc, INDEX_VAR, &node->ss.ps);
	state->joinquals = init_quals(state, list_copy_tail(plan->custom_exprs, nkeys),
								  &state->njoinquals);
	state->filters = init_quals(state, plan->scan.plan.qual, &state->nfilters);
	init_keys(state);
	vx_join_build_init(state, lsecond(plan->custom_private));
	vx_join_probe_init(state);
	state->step = VX_JOIN_NEXT_BATCH;
}

/* ---- rows ---- */

static TupleTableSlot *
exec_join(CustomScanState *node)
{
	VxJoinState *state = (VxJoinState *) node;
	VxBatch    *batch = state->producer.batch;
	ProjectionInfo *projection = node->ss.ps.ps_ProjInfo;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	TupleTableSlot *slot;
	int			row;

	ResetExprContext(econtext);
	while (state->left == 0)
	{
		if (state->word + 1 < (batch->nrows + 63) / 64)
			state->left = batch->selection[++state->word];
		else if (vx_join_next_batch(node))
			state->word = -1;
		else
			return projection ? ExecClearTuple(projection->pi_state.resultslot) :
				ExecClearTuple(node->ss.ss_ScanTupleSlot);
	}
	row = state->word * 64 + __builtin_ctzll(state->left);
	state->left &= state->left - 1;
	slot = vx_batch_fill_slot(state->producer.batch, row, state->css.ss.ss_ScanTupleSlot);
	if (projection == NULL)
		return slot;
	econtext->ecxt_scantuple = slot;
	return ExecProject(projection);
}

/* The executor knows of children on the left and on the right alone. */
static void
rescan_join(CustomScanState *node)
{
	VxJoinState *state = (VxJoinState *) node;
	bool		keep;

	if (node->ss.ps.chgParam != NULL)
	{
		UpdateChangedParamSet(state->outer, node->ss.ps.chgParam);
		UpdateChangedParamSet(state->inner, node->ss.ps.chgParam);
	}
	keep = state->inner->chgParam == NULL && !state->keys_have_params &&
		vx_join_is_whole(state);
	vx_join_build_reset(state, keep);
	if (!keep && state->inner->chgParam == NULL)
		ExecReScan(state->inner);
	/* vectors do not come by ExecProcNode(), which would rescan with new parameters */
	ExecReScan(state->outer);
	if (state->probe_arms)
		vx_arms_rescan(state->probe_arms);
	vx_exprs_rescan(state->exprs);
	state->step = VX_JOIN_NEXT_BATCH;
	state->done = false;
	state->word = 0;
	state->left = 0;
	vx_batch_set_rows(state->producer.batch, 0);
}

static void
end_join(CustomScanState *node)
{
	VxJoinState *state = (VxJoinState *) node;

	if (state->hash)
		vx_join_build_reset(state, false);
	ExecEndNode(state->outer);
	ExecEndNode(state->inner);
}

/* ---- EXPLAIN ---- */

static void
explain_clauses(const char *label, List *clauses, CustomScanState *node, List *ancestors,
				ExplainState *es)
{
	List	   *context;

	if (clauses == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, ancestors);
	ExplainPropertyText(label,
						deparse_expression((Node *) make_ands_explicit(clauses), context,
										   true, false), es);
}

static const char *
type_name(const VxJoinState *state)
{
	switch (state->jointype)
	{
		case JOIN_LEFT:
			return "Left";
		case JOIN_RIGHT:
			return "Right";
		case JOIN_FULL:
			return "Full";
		case JOIN_SEMI:
			return state->turned ? "Right Semi" : "Semi";
		case JOIN_ANTI:
			return state->turned ? "Right Anti" : "Anti";
		default:
			return "Inner";
	}
}

static void
explain_join(CustomScanState *node, List *ancestors, ExplainState *es)
{
	VxJoinState *state = (VxJoinState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	VxJoinStats stats;

	ExplainPropertyText("Join Type", type_name(state), es);
	explain_clauses("Hash Cond", state->clauses, node, ancestors, es);
	explain_clauses("Join Filter", list_copy_tail(plan->custom_exprs, state->nkeys), node,
					ancestors, es);
	if (state->shares_build)
		ExplainPropertyText("Build", "shared", es);
	if (!es->analyze || state->hash == NULL)
		return;
	stats = vx_join_total_stats(state);
	ExplainPropertyUInteger("Build Rows", NULL, stats.built, es);
	ExplainPropertyUInteger("Probe Rows", NULL, stats.probed, es);
	ExplainPropertyUInteger("Probe Rows Without Match", NULL, stats.unmatched, es);
	if (stats.parts > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyUInteger("Parts On Disk", NULL, stats.parts, es);
	ExplainPropertyUInteger("Memory", "kB", (stats.peak + 1023) / 1024, es);
}

void
vx_join_init(void)
{
	vx_join_methods.CustomName = vx_format->join_name;
	exec_methods.CustomName = vx_format->join_name;
	vx_producer_register(&exec_methods);
}
