/*-------------------------------------------------------------------------
 *
 * vx_agg_node.c
 *	  The custom node that aggregates vectors.
 *
 * Takes batches from the scan below, finds the group of every selected row
 * (vx_agg_group.c), advances the groups' states (vx_agg_trans.c), and returns
 * one row per group at the end.  HAVING is the node's qual; expressions over
 * aggregates are its projection.
 *
 * Memory: groups and their states live in a context that goes with the next
 * rescan; what functions allocate while a batch is worked on, in one that is
 * reset after every batch; results in the per-tuple context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "vx_agg.h"
#include "st_compat.h"

static Node *create_agg_state(CustomScan *cscan);
static void begin_agg(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_agg(CustomScanState *node);
static void end_agg(CustomScanState *node);
static void rescan_agg(CustomScanState *node);
static void explain_agg(CustomScanState *node, List *ancestors, ExplainState *es);

CustomScanMethods vx_agg_methods = {
	.CreateCustomScanState = create_agg_state,
};

/* The same node, where it shows as a set operation. */
CustomScanMethods vx_setop_methods = {
	.CreateCustomScanState = create_agg_state,
};

static CustomExecMethods exec_methods = {
	.BeginCustomScan = begin_agg,
	.ExecCustomScan = exec_agg,
	.EndCustomScan = end_agg,
	.ReScanCustomScan = rescan_agg,
	.EstimateDSMCustomScan = vx_agg_estimate_dsm,
	.InitializeDSMCustomScan = vx_agg_initialize_dsm,
	.ReInitializeDSMCustomScan = vx_agg_reinitialize_dsm,
	.InitializeWorkerCustomScan = vx_agg_initialize_worker,
	.ShutdownCustomScan = vx_agg_shutdown,
	.ExplainCustomScan = explain_agg,
};

static Node *
create_agg_state(CustomScan *cscan)
{
	VxAggState *state = (VxAggState *) newNode(sizeof(VxAggState), T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

static void
init_output(VxAggState *state, const Aggref *ref)
{
	VxAggOutput *output = &state->outputs[state->noutputs++];
	const Aggref *base;
	VxLinear	linear;

	vx_agg_check_rights(ref);
	if (!vx_agg_resolve(ref, &output->spec))
		elog(ERROR, "aggregate %u has no vector form", ref->aggfnoid);
	output->factor = 1;
	base = vx_agg_linear_base(state, ref, &output->spec, &linear);
	output->trans = vx_agg_trans(state, base ? base : ref, &output->spec);
	if (base)
	{
		output->factor = linear.factor;
		output->offset = linear.offset;
		vx_agg_guard(state, &state->trans[output->trans], ref, &linear);
		state->nderived++;
	}
	output->type = ref->aggtype;
	if (ref->aggdirectargs != NIL)
		output->direct = ExecInitExpr(linitial(ref->aggdirectargs), &state->css.ss.ps);
}

/* Entries of custom_scan_tlist behind keys and aggregates: columns that the keys determine. */
static List *
dependent_entries(const CustomScan *plan, int nentries)
{
	VxAggMode	mode = linitial_int(lsecond(plan->custom_private));

	if ((mode != VX_AGG_PLAIN && mode != VX_AGG_SHARES) ||
		lfourth(plan->custom_private) != NIL)
		return NIL;
	return list_copy_tail(plan->custom_scan_tlist, nentries);
}

/* What a feed's columns stand for. */
static List *
operands(const CustomScan *plan, int nkeys, int nentries)
{
	List	   *result;
	ListCell   *lc;
	List	   *keys = NIL;
	List	   *aggregates = NIL;

	for (int i = 0; i < nentries; i++)
	{
		Expr	   *expr = list_nth_node(TargetEntry, plan->custom_scan_tlist, i)->expr;

		if (i < nkeys)
			keys = lappend(keys, expr);
		else
			aggregates = lappend(aggregates, expr);
	}
	result = vx_agg_operands(keys, aggregates);
	foreach(lc, dependent_entries(plan, nentries))
		result = lappend(result, lfirst_node(TargetEntry, lc)->expr);
	return result;
}

static void
attach_scan(VxAggState *state, VxScanState *scan, List *exprs)
{
	Plan	   *plan = scan->css.ss.ps.plan;

	state->scan = scan;
	state->below = &scan->css.ss.ps;
	state->producer = &scan->producer;
	state->batch = scan->batch;
	state->desc = RelationGetDescr(scan->css.ss.ss_currentRelation);

	/* Paths of documents become columns before anything is compiled. */
	(void) vx_scan_replace_paths(scan, (Node *) exprs);
	state->npaths = scan->paths->npaths;
	state->exprs = vx_exprs_create(vx_path_set_desc(scan->paths),
								   ((Scan *) plan)->scanrelid, &scan->css.ss.ps);
}

/* Any other node that hands out vectors. */
static void
attach_producer(VxAggState *state, PlanState *below)
{
	state->below = below;
	state->producer = vx_producer(below);
	state->batch = state->producer->batch;
	state->desc = state->producer->desc;
	state->exprs = vx_exprs_create(state->desc, state->producer->varno, below);
}

/* Where batches come from, if not from partial nodes. */
static void
attach_input(VxAggState *state, CustomScan *plan, int nkeys, int nentries)
{
	List	   *columns = lthird(plan->custom_private);
	PlanState  *child = linitial(state->css.custom_ps);
	int			setop = lthird_int(lsecond(plan->custom_private));
	VxScanState *scan;
	PlanState  *below;

	if (setop != VX_AGG_NO_SETOP)
	{
		state->arms = vx_agg_arms_create(state, state->css.custom_ps,
										 operands(plan, nkeys, nentries));
		if (setop >= VX_AGG_SETOP)
			state->setop = vx_agg_setop_create(state, setop - VX_AGG_SETOP);
		return;
	}
	if (columns == NIL)
	{
		scan = vx_scan_state(child);
		if (scan == NULL)
			elog(ERROR, "aggregation over vectors needs a scan of vectors");
		attach_scan(state, scan, plan->custom_scan_tlist);
		return;
	}
	below = vx_agg_fuse(state, child, operands(plan, nkeys, nentries), columns);
	scan = below ? vx_scan_state(below) : NULL;
	if (scan)
		attach_scan(state, scan, state->fused);
	else if (below)
		attach_producer(state, below);
	else if ((state->unnest = vx_agg_unnest_create(state, child, operands(plan, nkeys, nentries),
												   columns)) == NULL)
		state->feed = vx_agg_feed_create(state, child, operands(plan, nkeys, nentries),
										 columns);
}

static void
begin_agg(CustomScanState *node, EState *estate, int eflags)
{
	VxAggState *state = (VxAggState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	List	   *tlist = plan->custom_scan_tlist;
	List	   *eqops = linitial(plan->custom_private);
	int			nkeys = list_length(eqops);
	int			nentries = 0;
	VxGroups   *groups;
	ListCell   *lc;

	foreach(lc, plan->custom_plans)
		node->custom_ps = lappend(node->custom_ps,
								  ExecInitNode(lfirst(lc), estate, eflags));
	state->mode = linitial_int(lsecond(plan->custom_private));
	while (nentries < list_length(tlist) &&
		   (nentries < nkeys ||
			IsA(list_nth_node(TargetEntry, tlist, nentries)->expr, Aggref)))
		nentries++;
	state->algebra = lsecond_int(lsecond(plan->custom_private)) != 0;
	if (state->mode != VX_AGG_FINAL)
		attach_input(state, plan, nkeys, nentries);
	state->mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector groups",
										ALLOCSET_DEFAULT_SIZES);
	state->keys_mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector group keys",
											 ALLOCSET_SMALL_SIZES);
	state->batch_mcxt = AllocSetContextCreate(CurrentMemoryContext,
											  "vector aggregation of a batch",
											  ALLOCSET_DEFAULT_SIZES);

	state->trans = palloc0(sizeof(VxAggTrans) * (list_length(tlist) + 1));
	state->outputs = palloc0(sizeof(VxAggOutput) * (list_length(tlist) + 1));
	for (int i = nkeys; i < nentries; i++)
		init_output(state, castNode(Aggref, list_nth_node(TargetEntry, tlist, i)->expr));

	groups = vx_groups_create(state, nkeys, state->setop ? vx_agg_setop_layout() :
							  vx_agg_dependents_init(state, dependent_entries(plan, nentries),
													 vx_agg_layout(state)));
	for (int i = 0; i < nkeys; i++)
	{
		Expr	   *expr = list_nth_node(TargetEntry, tlist, i)->expr;

		vx_key_init(state, &groups->keys[i], vx_agg_input(state, expr, -1, 0),
					list_nth_oid(eqops, i));
	}
	state->groups = groups;
	if (state->mode == VX_AGG_SHARES)
		state->shares = vx_agg_shares_create(lfourth_int(lsecond(plan->custom_private)));
	state->topn = vx_agg_topn_create(state);
	state->sets = vx_agg_sets_create(state, nkeys, nentries);
	vx_agg_start(state);
	if (state->sets)
		vx_agg_sets_start(state);
}

VxAggState *
vx_agg_state(PlanState *ps)
{
	return IsA(ps, CustomScanState) && ((CustomScanState *) ps)->methods == &exec_methods ?
		(VxAggState *) ps : NULL;
}

Expr *
vx_agg_key_source(VxAggState *state, int entry, PlanState **child, AttrNumber *attno)
{
	CustomScan *plan = (CustomScan *) state->css.ss.ps.plan;
	List	   *eqops = linitial(plan->custom_private);
	List	   *columns = lthird(plan->custom_private);
	Expr	   *key = list_nth_node(TargetEntry, plan->custom_scan_tlist, entry)->expr;
	Oid			type = exprType((Node *) key);

	*child = linitial(state->css.custom_ps);
	*attno = 0;
	if (state->mode == VX_AGG_FINAL || state->arms || state->sets || state->topn ||
		entry >= list_length(eqops) ||
		!(vx_is_integer_key(type, list_nth_oid(eqops, entry)) ||
		  vx_is_bytes_key(type, list_nth_oid(eqops, entry), exprCollation((Node *) key))))
		return NULL;
	/* operands: the keys come first */
	if (columns != NIL)
		*attno = list_nth_int(columns, entry) + 1;
	return key;
}

/* The next batch: from below, or of rows that went to disk. */
static int
next_batch(VxAggState *state, uint16 *rows)
{
	VxBatch    *batch = state->batch;

	if (vx_spill_is_input(state))
		return vx_spill_next_batch(state) ?
			vx_selection_rows(batch->selection, batch->nrows, rows) : 0;
	if (state->arms)
		return vx_agg_arms_next(state->arms, state) ?
			vx_selection_rows(batch->selection, batch->nrows, rows) : 0;
	if (state->unnest)
		return vx_agg_unnest_next(state->unnest) ?
			vx_selection_rows(batch->selection, batch->nrows, rows) : 0;
	if (state->feed)
		return vx_agg_feed_next(state->feed) ?
			vx_selection_rows(batch->selection, batch->nrows, rows) : 0;
	return vx_producer_next(state->below) ?
		vx_selection_rows(batch->selection, batch->nrows, rows) : 0;
}

/* The next states: of a part on disk, of a shared partition, or from below. */
static bool
read_states(VxAggState *state, Datum *states)
{
	TupleTableSlot *slot;
	bool		isnull;

	if (vx_state_parts_are_input(state))
		slot = vx_state_parts_read(state);
	else if (vx_agg_shared_is_input(state))
		return vx_agg_shared_read(state, states);
	else
		slot = ExecProcNode(linitial(state->css.custom_ps));
	if (TupIsNull(slot))
		return false;
	*states = slot_getattr(slot, 1, &isnull);
	return true;
}

/* Puts together what participants or partitions have aggregated, or went to disk. */
static void
merge_groups(VxAggState *state)
{
	for (;;)
	{
		MemoryContext old;
		Datum		states;

		CHECK_FOR_INTERRUPTS();
		if (!read_states(state, &states))
			break;
		old = MemoryContextSwitchTo(state->batch_mcxt);
		vx_partial_merge(state, states);
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->batch_mcxt);
		if (vx_state_parts_are_due(state))
			vx_state_parts_write(state);
	}
	vx_state_parts_end_input(state);
}

/* All groups in memory, to partitions; returns how many. */
static uint64
write_shared(VxAggState *state)
{
	uint64		n = state->groups->ngroups;

	vx_state_parts_write(state);
	return n;
}

/* Reads everything; returns how many groups went to partitions. */
static uint64
fill_groups(VxAggState *state)
{
	VxBatch    *batch = state->batch;
	VxGroups   *groups = state->groups;
	uint64		nstates = 0;
	uint16		rows[ST_VECTOR_SIZE];
	int			n;

	vx_agg_footer_rows(state);
	while ((n = next_batch(state, rows)) > 0)
	{
		MemoryContext old = MemoryContextSwitchTo(state->batch_mcxt);

		CHECK_FOR_INTERRUPTS();
		vx_agg_inputs_reset(state);
		if (state->shares)
			n = vx_agg_shares_keep(state, rows, n);
		if (n == 0 || vx_agg_footer(state))
		{
			MemoryContextSwitchTo(old);
			MemoryContextReset(state->batch_mcxt);
			continue;
		}
		if (state->setop)
			vx_agg_setop_advance(state, rows, n);
		else
		{
			if (groups->nkeys > 0)
			{
				uint32		before = groups->ngroups;

				n = vx_groups_assign(state, rows, n);
				if (state->ndependents > 0)
					vx_agg_dependents_keep(state, before, rows, n);
			}
			vx_agg_advance(state, rows, n, n == batch->nrows);
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->batch_mcxt);
		if (vx_agg_shared_is_building(state))
		{
			if (vx_agg_shared_is_due(state, n))
				nstates += write_shared(state);
		}
		else if (groups->nkeys > 0 && !groups->full && !vx_agg_setop_is_complete(state))
			groups->full = vx_spill_is_due(state);
	}
	return nstates;
}

/* This participant's share of the rows, to partitions. */
static void
build_partitions(VxAggState *state)
{
	uint64		nstates = 0;

	if (vx_agg_shared_begin(state))
	{
		nstates = fill_groups(state);
		nstates += write_shared(state);
	}
	vx_agg_shared_end(state, nstates);
}

/* The next group, in the scan slot. */
static TupleTableSlot *
next_group(VxAggState *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	VxGroups   *groups = state->groups;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext old;
	uint32		gid;

	ExecClearTuple(slot);
	while (state->topn && state->next < groups->ngroups &&
		   !vx_agg_topn_passes(state, state->next))
		state->next++;
	if (state->setop)
	{
		if (!vx_agg_setop_next(state, &gid))
			return NULL;
	}
	else if ((gid = state->next++) >= groups->ngroups)
		return NULL;
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	for (int k = 0; k < groups->nkeys; k++)
		slot->tts_values[k] = vx_group_key(groups, gid, k, &slot->tts_isnull[k]);
	for (int i = 0; i < state->noutputs; i++)
		slot->tts_values[groups->nkeys + i] =
			vx_agg_result(state, i, gid, &slot->tts_isnull[groups->nkeys + i]);
	for (int i = 0; i < state->ndependents; i++)
	{
		int			at = groups->nkeys + state->noutputs + i;

		slot->tts_values[at] = vx_agg_dependent(state, i, gid, &slot->tts_isnull[at]);
	}
	for (int i = 0; i < vx_agg_sets_ngroupings(state); i++)
	{
		int			at = groups->nkeys + state->noutputs + i;

		slot->tts_values[at] = Int32GetDatum(vx_agg_sets_grouping(state, gid, i));
		slot->tts_isnull[at] = false;
	}
	MemoryContextSwitchTo(old);
	return ExecStoreVirtualTuple(slot);
}

/* States of the next groups, in the scan slot's last column. */
static TupleTableSlot *
next_states(VxAggState *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	int			natts = slot->tts_tupleDescriptor->natts;
	MemoryContext old;
	bool		more;

	ExecClearTuple(slot);
	old = MemoryContextSwitchTo(state->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	more = vx_partial_write(state, &slot->tts_values[natts - 1]);
	MemoryContextSwitchTo(old);
	if (!more)
		return NULL;
	memset(slot->tts_isnull, true, natts * sizeof(bool));
	slot->tts_isnull[natts - 1] = false;
	return ExecStoreVirtualTuple(slot);
}

/* Makes the groups that are returned next. */
static void
make_groups(VxAggState *state)
{
	if (state->shares && !vx_agg_shares_is_taken(state->shares) &&
		!vx_agg_shares_next(state->shares))
	{
		/* others have taken all */
	}
	else if (state->mode == VX_AGG_FINAL || vx_agg_shared_is_input(state))
		merge_groups(state);
	else if (state->shared == NULL)
		(void) fill_groups(state);
	else
	{
		/* no groups yet: the first partition is the next part */
		build_partitions(state);
		vx_agg_start(state);
	}
	if (state->sets)
		vx_agg_sets_merge(state);
	if (state->topn)
		vx_agg_topn_start(state);
	state->filled = true;
}

/* Takes another share, for which all rows are read again. */
static bool
next_share(VxAggState *state)
{
	PlanState  *child = linitial(state->css.custom_ps);

	if (state->shares == NULL || !vx_agg_shares_next(state->shares))
		return false;
	ExecReScan(child);
	vx_producer_rescan_through(child, state->below);
	vx_exprs_rescan(state->exprs);
	return true;
}

/* All groups in memory are returned: makes more; false if there are none. */
static bool
make_more_groups(VxAggState *state)
{
	if (vx_spill_next(state) || vx_state_parts_next(state) ||
		(vx_agg_shared_is_built(state) && vx_agg_shared_next(state)) || next_share(state))
	{
		vx_agg_start(state);
		make_groups(state);
		return true;
	}
	if (state->sets == NULL || !vx_agg_sets_next(state))
		return false;
	if (state->topn)
		vx_agg_topn_start(state);
	return true;
}

static TupleTableSlot *
exec_agg(CustomScanState *node)
{
	VxAggState *state = (VxAggState *) node;
	PlanState  *ps = &node->ss.ps;
	ExprContext *econtext = ps->ps_ExprContext;

	if (!state->filled)
		make_groups(state);
	for (;;)
	{
		TupleTableSlot *slot;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		slot = state->mode == VX_AGG_PARTIAL ? next_states(state) : next_group(state);
		if (slot == NULL && make_more_groups(state))
			continue;
		if (slot == NULL)
			return ps->ps_ProjInfo ? ExecClearTuple(ps->ps_ResultTupleSlot) :
				node->ss.ss_ScanTupleSlot;
		econtext->ecxt_scantuple = slot;
		if (ExecQual(ps->qual, econtext))
			return ps->ps_ProjInfo ? ExecProject(ps->ps_ProjInfo) : slot;
		InstrCountFiltered1(node, 1);
	}
}

static void
rescan_agg(CustomScanState *node)
{
	VxAggState *state = (VxAggState *) node;
	ListCell   *lc;

	/* Vectors do not come by ExecProcNode(), which would rescan the child. */
	foreach(lc, node->custom_ps)
	{
		PlanState  *child = lfirst(lc);

		if (node->ss.ps.chgParam != NULL)
			UpdateChangedParamSet(child, node->ss.ps.chgParam);
		if (state->producer || child->chgParam == NULL)
			ExecReScan(child);
	}
	if (state->below)
		vx_producer_rescan_through(linitial(node->custom_ps), state->below);
	if (state->unnest)
		vx_agg_unnest_rescan(state->unnest);
	if (state->arms)
		vx_agg_arms_rescan(state->arms);
	if (state->setop)
		vx_agg_setop_reset(state->setop);
	if (state->feed)
		vx_agg_feed_rescan(state->feed);
	if (state->exprs)
		vx_exprs_rescan(state->exprs);
	if (state->topn)
		vx_agg_topn_rescan(state->topn);
	vx_spill_reset(state);
	vx_state_parts_reset(state);
	vx_agg_shared_rescan(state);
	if (state->shares)
		vx_agg_shares_rescan(state->shares);
	if (state->sets)
		vx_agg_sets_start(state);
	vx_agg_start(state);
}

static void
end_agg(CustomScanState *node)
{
	ListCell   *lc;

	vx_spill_reset((VxAggState *) node);
	vx_state_parts_reset((VxAggState *) node);
	foreach(lc, node->custom_ps)
		ExecEndNode(lfirst(lc));
}

static List *
deparse_all(const List *exprs, List *context, bool verbose)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
		result = lappend(result, deparse_expression(lfirst(lc), context, verbose, false));
	return result;
}

/* The keys of each set, as the server shows those it hashes. */
static void
explain_sets(VxAggState *state, const List *keys, ExplainState *es)
{
	const CustomScan *plan = (const CustomScan *) state->css.ss.ps.plan;
	List	   *fields = list_nth(plan->custom_private, VX_AGG_PRIVATE_SETS);
	ListCell   *lc;

	ExplainOpenGroup("Grouping Sets", "Grouping Sets", false, es);
	for_each_from(lc, fields, 1)
	{
		List	   *of_set = NIL;
		ListCell   *lc1;
		ListCell   *lc2;

		forboth(lc1, linitial(fields), lc2, keys)
			if (list_member_int(lfirst(lc), lfirst_int(lc1)))
				of_set = lappend(of_set, lfirst(lc2));
		if (of_set == NIL && es->format == EXPLAIN_FORMAT_TEXT)
			ExplainPropertyText("Group Key", "()", es);
		else
			ExplainPropertyList("Group Key", of_set, es);
	}
	ExplainCloseGroup("Grouping Sets", "Grouping Sets", false, es);
}

static void
explain_topn(VxAggState *state, List *context, ExplainState *es)
{
	CustomScan *plan = (CustomScan *) state->css.ss.ps.plan;
	uint64		removed;
	int			entry = vx_agg_topn_entry(state->topn, &removed);
	TargetEntry *tle = list_nth_node(TargetEntry, plan->custom_scan_tlist, entry);

	ExplainPropertyText("Top N Key",
						deparse_expression((Node *) tle->expr, context, es->verbose, false),
						es);
	if (es->analyze)
		ExplainPropertyUInteger("Groups Removed by Top N", NULL, removed, es);
}

static const char *const modes[] = {
	[VX_AGG_PLAIN] = "plain",
	[VX_AGG_PARTIAL] = "partial",
	[VX_AGG_FINAL] = "final",
	[VX_AGG_SHARED] = "by partitions",
	[VX_AGG_SHARES] = "by shares of a key"
};

static void
explain_agg(CustomScanState *node, List *ancestors, ExplainState *es)
{
	VxAggState *state = (VxAggState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	int			nkeys = list_length(linitial(plan->custom_private));
	List	   *keys = NIL;
	List	   *by_server = NIL;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan,
												   ancestors);
	ListCell   *lc;

	foreach(lc, plan->custom_scan_tlist)
		if (foreach_current_index(lc) < nkeys)
			keys = lappend(keys, lfirst_node(TargetEntry, lc)->expr);
	for (int i = 0; i < state->ntrans; i++)
		if (state->trans[i].kind == VX_TRANS_SERVER)
			by_server = lappend(by_server, unconstify(Aggref *, state->trans[i].ref));

	if (state->setop)
		ExplainPropertyText("Command", vx_agg_setop_name(state->setop), es);
	if (state->unnest)
		ExplainPropertyText("Unnest", "on vectors", es);
	if (state->mode != VX_AGG_PLAIN)
		ExplainPropertyText("Aggregation", modes[state->mode], es);
	if (state->sets)
		explain_sets(state, deparse_all(keys, context, es->verbose), es);
	else if (keys != NIL)
		ExplainPropertyList("Group Key", deparse_all(keys, context, es->verbose), es);
	if (state->shares && es->verbose)
		ExplainPropertyText("Share Key",
							deparse_expression(list_nth(keys, lfourth_int(lsecond(plan->custom_private))),
											   context, true, false), es);
	if (state->topn)
		explain_topn(state, context, es);
	if (es->verbose && state->nderived > 0)
		ExplainPropertyInteger("Derived Sums", NULL, state->nderived, es);
	if (es->verbose && by_server != NIL)
		ExplainPropertyList("Row By Row", deparse_all(by_server, context, true), es);
	if (es->analyze && state->groups && keys != NIL)
	{
		uint64		rows;
		uint64		parts;
		uint64		groups;

		if (state->shares)
			ExplainPropertyUInteger("Rows Of Largest Share", NULL,
									vx_agg_shares_most_rows(state->shares), es);
		if (state->mode == VX_AGG_SHARED)
			ExplainPropertyUInteger("Groups Shared", NULL, state->nshared, es);
		vx_state_parts_counts(state, &groups, &parts);
		if (groups > 0)
		{
			ExplainPropertyUInteger("Groups On Disk", NULL, groups, es);
			ExplainPropertyUInteger("Parts On Disk", NULL, parts, es);
		}
		vx_spill_counts(state, &rows, &parts);
		if (rows > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		{
			ExplainPropertyUInteger("Rows On Disk", NULL, rows, es);
			ExplainPropertyUInteger("Parts On Disk", NULL, parts, es);
		}
		ExplainPropertyUInteger("Memory", "kB",
								(MemoryContextMemAllocated(state->mcxt, true) + 1023) / 1024,
								es);
	}
}

void
vx_agg_init(void)
{
	vx_agg_methods.CustomName = vx_format->aggregate_name;
	vx_setop_methods.CustomName = vx_format->setop_name;
	exec_methods.CustomName = vx_format->aggregate_name;
}
