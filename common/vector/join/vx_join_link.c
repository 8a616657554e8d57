/*-------------------------------------------------------------------------
 *
 * vx_join_link.c
 *	  Finds the scans that hash joins can tell something.
 *
 * When a query, or a worker's part of one, has been set up, every hash join
 * in it that drops rows of its probe side without a match is followed down
 * that side: through joins that keep each row's key as it is, Append,
 * subqueries, projections, and our aggregation where it groups by the key, to scans of ours
 * that return a column as the key.  So are the keys that a correlated aggregate can be
 * asked for (vx_lookup_node.c).  Nothing in the plan is changed: only the scans' states
 * learn of the join.  Nodes that keep rows over a rescan (Material, Sort, Memoize) are not
 * passed, so a filter is never older than the rows that it is asked about.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "vx_agg.h"
#include "vx_append.h"
#include "vx_join.h"
#include "vx_join_filter.h"
#include "vx_join_link.h"
#include "vx_join_spec.h"
#include "vx_lookup.h"
#include "vx_paths.h"
#include "vx_scan.h"
#include "vx_settings.h"
#include "st_compat.h"

/* A key of a hash join, on its way down the probe side. */
typedef struct Link
{
	HashJoinState *join;
	Oid			operator;
	Oid			collation;
	const Var  *inner;			/* of what the build side returns */
	VxHash	   *hash;			/* instead of join and inner: the table of a node of ours, */
	int			key;			/* and which of its keys it is */
} Link;

static void follow(const Link *link, PlanState *ps, AttrNumber attno);

/* A column, maybe under another name of its type. */
static Var *
plain_column(Node *expr)
{
	while (expr && IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	return expr && IsA(expr, Var) && ((Var *) expr)->varattno > 0 ? (Var *) expr : NULL;
}

static bool
key_kind(const Link *link, const Var *column, VxKeyKind *kind)
{
	const VxHashKey *key;

	if (link->hash == NULL)
		return vx_join_key_kind(link->operator, link->collation, column->vartype,
								link->inner->vartype, kind);
	/* the column may be another type than the key that was made of it */
	key = &link->hash->keys[link->key];
	return vx_join_key_kind(link->operator, link->collation, column->vartype, key->type,
							kind) && *kind == key->kind;
}

static void
link_scan(const Link *link, VxScanState *scan, Var *column)
{
	CustomScan *plan = (CustomScan *) scan->css.ss.ps.plan;
	VxJoinFilter *filter;
	VxKeyKind	kind;

	if (column->varno != plan->scan.scanrelid || !key_kind(link, column, &kind) ||
		contain_volatile_functions((Node *) plan->scan.plan.targetlist) ||
		contain_volatile_functions((Node *) plan->custom_exprs))
		return;
	filter = link->hash ?
		vx_join_filter_create_for(link->hash, link->key, kind, (Expr *) column) :
		vx_join_filter_create(link->join, link->inner->varattno, link->inner->vartype, kind,
							  (Expr *) column);
	if (!intVal(list_nth(plan->custom_private, VX_SCAN_HIDES)))
		vx_join_filter_may_lead(filter);
	scan->filter->joins = lappend(scan->filter->joins, filter);
}

/* Each row of its outer side gives rows with the same key, or none. */
static bool
keeps_outer_rows(const PlanState *ps)
{
	switch (((const Join *) ps->plan)->jointype)
	{
		case JOIN_INNER:
		case JOIN_LEFT:
		case JOIN_SEMI:
		case JOIN_ANTI:
			return true;
		default:
			return false;
	}
}

static void
follow_append(const Link *link, AppendState *append, AttrNumber attno)
{
	for (int i = 0; i < append->as_nplans; i++)
		follow(link, append->appendplans[i], attno);
}

/* Rows of one group have one key: other groups may be left out. */
static void
follow_aggregate(const Link *link, VxAggState *agg, int entry)
{
	PlanState  *child;
	AttrNumber	attno;
	Var		   *column = plain_column((Node *) vx_agg_key_source(agg, entry, &child, &attno));

	if (attno > 0)
		follow(link, child, attno);
	else if (column && vx_scan_state(child))
		link_scan(link, vx_scan_state(child), column);
}

/* Column attno of what the node returns. */
static void
follow(const Link *link, PlanState *ps, AttrNumber attno)
{
	Var		   *column;
	VxScanState *scan;
	VxJoinState *join;
	VxAggState *agg;

	check_stack_depth();
	if (ps == NULL || attno > list_length(ps->plan->targetlist))
		return;
	column = plain_column((Node *) list_nth_node(TargetEntry, ps->plan->targetlist,
												 attno - 1)->expr);
	if (column == NULL)
		return;
	scan = vx_scan_state(ps);
	if (scan)
	{
		link_scan(link, scan, column);
		return;
	}
	switch (nodeTag(ps))
	{
		case T_AppendState:
			follow_append(link, (AppendState *) ps, attno);
			break;
		case T_SubqueryScanState:
			follow(link, ((SubqueryScanState *) ps)->subplan, column->varattno);
			break;
		case T_ResultState:
			if (column->varno == OUTER_VAR)
				follow(link, outerPlanState(ps), column->varattno);
			break;
		case T_CustomScanState:
			join = vx_join_state(ps);
			if (join && column->varno == INDEX_VAR && column->varattno <= join->nouter &&
				!vx_join_keeps_build(join))
				follow(link, join->outer, column->varattno);
			if (vx_append_child(ps) && column->varno == INDEX_VAR)
				follow(link, vx_append_child(ps), column->varattno);
			agg = vx_agg_state(ps);
			if (agg && column->varno == INDEX_VAR)
				follow_aggregate(link, agg, column->varattno - 1);
			break;
		case T_HashJoinState:
		case T_NestLoopState:
			if (column->varno == OUTER_VAR && keeps_outer_rows(ps))
				follow(link, outerPlanState(ps), column->varattno);
			break;
		default:
			break;
	}
}

static void
link_join(HashJoinState *join)
{
	HashJoin   *plan = (HashJoin *) join->js.ps.plan;
	Hash	   *hash = (Hash *) innerPlan(plan);
	ListCell   *lc;

	if (!st_join_drops_outer(plan->join.jointype))
		return;
	foreach(lc, plan->hashkeys)
	{
		int			i = foreach_current_index(lc);
		Var		   *outer = plain_column(lfirst(lc));
		Link		link = {join, list_nth_oid(plan->hashoperators, i),
		list_nth_oid(plan->hashcollations, i), plain_column(list_nth(hash->hashkeys, i))};

		if (outer && outer->varno == OUTER_VAR && link.inner &&
			link.inner->varno == OUTER_VAR)
			follow(&link, outerPlanState(&join->js.ps), outer->varattno);
	}
}

/* The same for a join of vectors. */
static void
link_vectors(VxJoinState *join)
{
	ListCell   *lc;

	if (join->hash == NULL || vx_join_keeps_probe(join))
		return;
	foreach(lc, join->clauses)
	{
		OpExpr	   *clause = lfirst_node(OpExpr, lc);
		Var		   *outer = plain_column(linitial(clause->args));
		Link		link = {.operator = clause->opno, .collation = clause->inputcollid,
		.hash = join->hash, .key = foreach_current_index(lc)};

		if (outer && outer->varno == INDEX_VAR && outer->varattno <= join->nouter)
			follow(&link, join->outer, outer->varattno);
	}
}

/* The same for the keys that are asked for. */
static void
link_lookup(VxLookupState *lookup)
{
	OpExpr	   *clause;
	PlanState  *grouped;
	AttrNumber	attno;
	Link		link = {.hash = vx_lookup_asked(lookup, &grouped, &attno, &clause)};

	if (link.hash == NULL)
		return;
	link.operator = clause->opno;
	link.collation = clause->inputcollid;
	follow(&link, grouped, attno);
}

static bool
link_joins(PlanState *ps, void *context)
{
	VxJoinState *join;
	VxLookupState *lookup;

	if (ps == NULL)
		return false;
	check_stack_depth();
	if (IsA(ps, HashJoinState))
		link_join((HashJoinState *) ps);
	join = vx_join_state(ps);
	if (join)
		link_vectors(join);
	lookup = vx_lookup_state(ps);
	if (lookup)
		link_lookup(lookup);
	return planstate_tree_walker(ps, link_joins, context);
}

void
vx_link_joins(QueryDesc *queryDesc)
{
	MemoryContext old;

	if (!vx_enable_join_filter)
		return;
	old = MemoryContextSwitchTo(queryDesc->estate->es_query_cxt);
	(void) link_joins(queryDesc->planstate, NULL);
	MemoryContextSwitchTo(old);
}
