/*-------------------------------------------------------------------------
 *
 * zm_page_scan.c
 *	  Scans of whole heap pages by a zonemap, as a custom scan.
 *
 * The plan below is an index scan that is initialised, for its scan keys, and
 * not run.  Keys are evaluated at every (re)scan (I12).  Rows come from
 * zm_get_row(), which checks visibility page by page.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "executor/nodeIndexscan.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "st_compat.h"
#include "zm_paths.h"
#include "zm_scan.h"

typedef struct ZmPageScanState
{
	CustomScanState css;
	IndexScanState *keys;		/* never run */
	ScanDirection order;
	IndexScanDesc scan;			/* NULL before the first row */
	ZmShared   *shared;			/* NULL: not a parallel scan */
} ZmPageScanState;

static const CustomExecMethods exec_methods;

static Node *
create_state(CustomScan *plan)
{
	ZmPageScanState *state = palloc0(sizeof(ZmPageScanState));

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &exec_methods;
	return (Node *) state;
}

/*
 * Slots of heap tuples in buffers: some servers make custom scans' slots
 * virtual, before this is called.
 */
static void
use_heap_slots(ZmPageScanState *state, EState *estate)
{
	ScanState  *ss = &state->css.ss;
	Plan	   *plan = ss->ps.plan;

	st_init_scan_slot(estate, ss, RelationGetDescr(ss->ss_currentRelation),
						  table_slot_callbacks(ss->ss_currentRelation));
	ExecAssignScanProjectionInfo(ss);
	ss->ps.qual = ExecInitQual(plan->qual, &ss->ps);
	/* Who wants no column takes the row as it is. */
	if (plan->targetlist == NIL)
		ss->ps.ps_ProjInfo = NULL;
}

static void
begin_scan(CustomScanState *css, EState *estate, int eflags)
{
	ZmPageScanState *state = (ZmPageScanState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	IndexScan  *index_scan = linitial_node(IndexScan, plan->custom_plans);

	state->order = index_scan->indexorderdir;
	state->keys = castNode(IndexScanState,
						   ExecInitNode(&index_scan->scan.plan, estate,
										eflags));
	use_heap_slots(state, estate);
}

static void
start(ZmPageScanState *state)
{
	IndexScanState *keys = state->keys;

	if (keys->iss_NumRuntimeKeys != 0)
	{
		ResetExprContext(keys->iss_RuntimeContext);
		ExecIndexEvalRuntimeKeys(keys->iss_RuntimeContext,
								 keys->iss_RuntimeKeys,
								 keys->iss_NumRuntimeKeys);
	}
	if (state->scan == NULL)
		state->scan =
			st_index_beginscan_keys(state->css.ss.ss_currentRelation,
									keys->iss_RelationDesc,
									state->css.ss.ps.state->es_snapshot,
									keys->iss_NumScanKeys);
	if (state->shared != NULL)
		zm_scan_share(state->scan, state->shared);
	index_rescan(state->scan, keys->iss_ScanKeys, keys->iss_NumScanKeys,
				 NULL, 0);
}

static TupleTableSlot *
next_row(ScanState *ss)
{
	ZmPageScanState *state = (ZmPageScanState *) ss;
	ScanDirection direction = ss->ps.state->es_direction;
	TupleTableSlot *slot = ss->ss_ScanTupleSlot;

	if (state->scan == NULL)
		start(state);
	if (ScanDirectionIsBackward(state->order))
		direction = -direction;
	if (!zm_get_row(state->scan, direction, slot))
		return ExecClearTuple(slot);
	return slot;
}

/* EvalPlanQual: whether another version of the row still qualifies. */
static bool
recheck(ScanState *ss, TupleTableSlot *slot)
{
	ZmPageScanState *state = (ZmPageScanState *) ss;
	ExprContext *econtext = ss->ps.ps_ExprContext;

	econtext->ecxt_scantuple = slot;
	return ExecQualAndReset(state->keys->indexqualorig, econtext);
}

static TupleTableSlot *
exec_scan(CustomScanState *css)
{
	PlanState  *ps = &css->ss.ps;

	if (ps->qual == NULL && ps->ps_ProjInfo == NULL &&
		ps->state->es_epq_active == NULL)
		return next_row(&css->ss);
	return ExecScan(&css->ss, next_row, recheck);
}

static void
rescan(CustomScanState *css)
{
	ZmPageScanState *state = (ZmPageScanState *) css;

	ExecScanReScan(&css->ss);
	/* Keys may have subplans, which have to hear of new parameters. */
	if (css->ss.ps.chgParam != NULL)
	{
		UpdateChangedParamSet(&state->keys->ss.ps, css->ss.ps.chgParam);
		ExecReScan(&state->keys->ss.ps);
	}
	if (state->scan != NULL)
		start(state);
}

/* ---- parallel scans ---- */

static Size
estimate_dsm(CustomScanState *css, ParallelContext *pcxt)
{
	return zm_parallel_size();
}

static void
initialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	ZmPageScanState *state = (ZmPageScanState *) css;

	zm_parallel_init(coordinate);
	state->shared = coordinate;
	/* A scan may be left from before the last rescan. */
	if (state->scan != NULL)
		zm_scan_share(state->scan, coordinate);
}

static void
reinitialize_dsm(CustomScanState *css, ParallelContext *pcxt,
				 void *coordinate)
{
	zm_parallel_restart(coordinate);
}

static void
initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	((ZmPageScanState *) css)->shared = coordinate;
}

/* Before the shared memory goes: workers first, then the leader. */
static void
shutdown_scan(CustomScanState *css)
{
	ZmPageScanState *state = (ZmPageScanState *) css;

	if (state->scan != NULL && state->shared != NULL)
		zm_scan_share_counts(state->scan);
	state->shared = NULL;
}

static void
end_scan(CustomScanState *css)
{
	ZmPageScanState *state = (ZmPageScanState *) css;

	if (state->scan != NULL)
		index_endscan(state->scan);
	ExecEndNode(&state->keys->ss.ps);
}

static void
explain_scan(CustomScanState *css, List *ancestors, ExplainState *es)
{
	ZmPageScanState *state = (ZmPageScanState *) css;
	IndexScan  *plan = (IndexScan *) state->keys->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   css->ss.ps.plan,
												   ancestors);
	char	   *name = get_rel_name(plan->indexid);

	if (ScanDirectionIsBackward(state->order))
		ExplainPropertyText("Scan Direction", "Backward", es);
	ExplainPropertyText("Index", name ? name : "?", es);
	if (plan->indexqualorig != NIL)
	{
		Node	   *qual = (Node *) make_ands_explicit(plan->indexqualorig);
		bool		prefix = list_length(es->rtable) > 1 || es->verbose;

		ExplainPropertyText("Index Cond",
							deparse_expression(qual, context, prefix, false),
							es);
	}
	if (es->analyze && state->scan != NULL)
	{
		int64		pages;
		int64		exact;

		zm_scan_counts(state->scan, &pages, &exact);
		ExplainPropertyInteger("Heap Pages by Zone", NULL, pages, es);
		ExplainPropertyInteger("Exact Entries", NULL, exact, es);
	}
}

static const CustomExecMethods exec_methods = {
	.CustomName = "ZonemapScan",
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = exec_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan,
	.EstimateDSMCustomScan = estimate_dsm,
	.InitializeDSMCustomScan = initialize_dsm,
	.ReInitializeDSMCustomScan = reinitialize_dsm,
	.InitializeWorkerCustomScan = initialize_worker,
	.ShutdownCustomScan = shutdown_scan,
	.ExplainCustomScan = explain_scan,
};

const CustomScanMethods zm_page_scan_methods = {
	.CustomName = "ZonemapScan",
	.CreateCustomScanState = create_state,
};
