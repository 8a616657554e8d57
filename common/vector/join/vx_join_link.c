/*-------------------------------------------------------------------------
 *
 * vx_join_link.c
 *	  Finds the scans that hash joins can tell something.
 *
 * When a query, or a worker's part of one, has been set up, every hash join
 * in it that drops rows of its probe side without a match is followed down
 * that side: through joins that keep each row's key as it is, Append,
 * subqueries and projections, to scans of ours that return a column as the
 * key.  Nothing in the plan is changed: only the scans' states learn of the
 * join.  Nodes that keep rows over a rescan (Material, Sort, Memoize) are not
 * passed, so a filter is never older than the rows that it is asked about.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "vx_agg_spec.h"
#include "vx_join_filter.h"
#include "vx_join_link.h"
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
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_text(Oid type)
{
	return type == TEXTOID || type == VARCHAROID;
}

/* How values of the two columns are compared; false: in no way that we know. */
static bool
key_kind(const Link *link, Oid outer_type, VxJoinKeyKind *kind)
{
	Oid			outer = getBaseType(outer_type);
	Oid			inner = getBaseType(link->inner->vartype);
	Oid			left;
	Oid			right;

	if (link->operator >= FirstNormalObjectId || !op_strict(link->operator))
		return false;
	op_input_types(link->operator, &left, &right);
	if ((is_integer(outer) && is_integer(inner) && is_integer(left) && is_integer(right)) ||
		(outer == inner && left == outer && right == outer &&
		 vx_is_integer_key(outer, link->operator)))
	{
		*kind = VX_JOIN_KEY_INT;
		return true;
	}
	if (left != right || !vx_is_bytes_key(left, link->operator, link->collation))
		return false;
	*kind = VX_JOIN_KEY_BYTES;
	return (is_text(left) && is_text(outer) && is_text(inner)) ||
		(left == outer && left == inner);
}

static void
link_scan(const Link *link, VxScanState *scan, Var *column)
{
	CustomScan *plan = (CustomScan *) scan->css.ss.ps.plan;
	VxJoinKeyKind kind;

	if (column->varno != plan->scan.scanrelid || !key_kind(link, column->vartype, &kind) ||
		contain_volatile_functions((Node *) plan->scan.plan.targetlist) ||
		contain_volatile_functions((Node *) plan->custom_exprs))
		return;
	scan->filter->joins = lappend(scan->filter->joins,
								  vx_join_filter_create(link->join, link->inner->varattno,
														link->inner->vartype, kind,
														(Expr *) column));
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

/* Column attno of what the node returns. */
static void
follow(const Link *link, PlanState *ps, AttrNumber attno)
{
	Var		   *column;
	VxScanState *scan;

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

static bool
link_joins(PlanState *ps, void *context)
{
	if (ps == NULL)
		return false;
	check_stack_depth();
	if (IsA(ps, HashJoinState))
		link_join((HashJoinState *) ps);
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
