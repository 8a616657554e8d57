/*-------------------------------------------------------------------------
 *
 * vx_agg_unnest_plan.c
 *	  Finds out whether a plan returns elements of arrays of rows that come as
 *	  vectors.
 *
 * That is: a ProjectSet with one call of unnest() or of a function of documents like it,
 * or an inner nested loop over a function scan of it, with a Memoize between or not,
 * above a node that hands out vectors; and
 * above that subquery scans and projections.  Target lists are put into each other from
 * above, and conditions gathered.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "vx_agg.h"
#include "vx_elements.h"
#include "vx_agg_unnest.h"

/* Conditions of a node that is lower than those of which there are some already. */
static void
add_conditions(VxUnnestShape *shape, List *conditions)
{
	List	   *exprs = list_truncate(list_copy(shape->exprs), shape->ncolumns);

	exprs = list_concat(exprs, conditions);
	shape->exprs = list_concat(exprs, list_copy_tail(shape->exprs, shape->ncolumns));
}

static Node *
replace_call(Node *node, void *context)
{
	List	   *pair = context;

	if (node == NULL)
		return NULL;
	if (equal(node, linitial(pair)))
		return copyObject(lsecond(pair));
	return expression_tree_mutator(node, replace_call, context);
}

static Node *
replace_params(Node *node, void *params)
{
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		foreach(lc, params)
			if (lfirst_node(NestLoopParam, lc)->paramno == ((Param *) node)->paramid)
				return copyObject((Node *) lfirst_node(NestLoopParam, lc)->paramval);
	return expression_tree_mutator(node, replace_params, params);
}

/* Whatever the node below it is, it hands out vectors of what its target list says. */
static bool
set_source(VxUnnestShape *shape, PlanState *below, FuncExpr *call)
{
	VxProducer *producer = vx_producer(below);

	if (producer == NULL || vx_is_bound_to_rows(below))
		return false;
	shape->below = below;
	shape->call = copyObject(call);
	/* of keys and values keys alone are taken */
	if (type_is_rowtype(call->funcresulttype))
		shape->element = makeVar(ROWID_VAR, 1, TEXTOID, -1, DEFAULT_COLLATION_OID, 0);
	else
		shape->element = makeVar(ROWID_VAR, 1, call->funcresulttype, -1, call->funccollid, 0);
	return true;
}

static bool
is_projectset(VxUnnestShape *shape, PlanState *ps)
{
	FuncExpr   *call = NULL;
	ListCell   *lc;

	foreach(lc, ps->plan->targetlist)
	{
		Expr	   *expr = lfirst_node(TargetEntry, lc)->expr;

		if (!expression_returns_set((Node *) expr))
			continue;
		if (call != NULL || vx_elements_kind(expr) == VX_ELEMENTS_NONE ||
			type_is_rowtype(((FuncExpr *) expr)->funcresulttype))
			return false;
		call = (FuncExpr *) expr;
	}
	if (call == NULL || !set_source(shape, outerPlanState(ps), call))
		return false;
	shape->exprs = (List *) replace_call((Node *) shape->exprs,
										 list_make2(call, shape->element));
	return true;
}

/* The function scan that the nested loop repeats, maybe through a Memoize. */
static bool
is_nested_loop(VxUnnestShape *shape, PlanState *ps)
{
	const NestLoop *loop = (const NestLoop *) ps->plan;
	Plan	   *inner = innerPlan(loop);
	const FunctionScan *scan;
	const RangeTblFunction *function;
	List	   *output;
	List	   *quals;

	if (loop->join.jointype != JOIN_INNER)
		return false;
	if (IsA(inner, Memoize))
		inner = outerPlan(inner);
	scan = (const FunctionScan *) inner;
	if (!IsA(inner, FunctionScan) || list_length(scan->functions) != 1 || scan->funcordinality)
		return false;
	function = linitial_node(RangeTblFunction, scan->functions);
	if (vx_elements_kind((Expr *) function->funcexpr) == VX_ELEMENTS_NONE ||
		!set_source(shape, outerPlanState(ps), (FuncExpr *) function->funcexpr))
		return false;

	/* its first column, whatever the nodes between call it */
	output = list_make1(makeTargetEntry((Expr *) shape->element, 1, NULL, false));
	if (inner->targetlist != NIL &&
		(!IsA(linitial_node(TargetEntry, inner->targetlist)->expr, Var) ||
		 ((Var *) linitial_node(TargetEntry, inner->targetlist)->expr)->varattno != 1))
		return false;
	quals = vx_substitute(inner->qual, scan->scan.scanrelid, output);
	if (list_length(quals) != list_length(inner->qual))
		return false;
	add_conditions(shape, loop->join.plan.qual);
	add_conditions(shape, loop->join.joinqual);
	add_conditions(shape, quals);
	shape->exprs = vx_substitute(shape->exprs, INNER_VAR, output);
	shape->exprs = (List *) replace_params((Node *) shape->exprs, loop->nestParams);
	shape->call = (FuncExpr *) replace_params((Node *) shape->call, loop->nestParams);
	return shape->exprs != NIL;
}

bool
vx_unnest_find_shape(VxUnnestShape *shape, PlanState *child, const List *columns)
{
	PlanState  *ps = child;
	List	   *call;
	ListCell   *lc;

	foreach(lc, columns)
		if (lfirst_int(lc) >= 0)
			shape->exprs = lappend(shape->exprs, list_nth_node(TargetEntry,
															   ps->plan->targetlist,
															   lfirst_int(lc))->expr);
	/* count(*) alone: no list is to be empty but one that is not to be had */
	if (shape->exprs == NIL)
		shape->exprs = list_make1(makeBoolConst(true, false));
	shape->ncolumns = list_length(shape->exprs);
	while (shape->exprs != NIL && !vx_is_bound_to_rows(ps))
	{
		if (IsA(ps, SubqueryScanState))
		{
			SubqueryScan *scan = (SubqueryScan *) ps->plan;

			add_conditions(shape, ps->plan->qual);
			shape->exprs = vx_substitute(shape->exprs, scan->scan.scanrelid,
											 scan->subplan->targetlist);
			ps = ((SubqueryScanState *) ps)->subplan;
		}
		else if (IsA(ps, ResultState) && outerPlanState(ps) != NULL && ps->qual == NULL &&
				 ((ResultState *) ps)->resconstantqual == NULL)
		{
			shape->exprs = vx_substitute(shape->exprs, OUTER_VAR,
											 outerPlan(ps->plan)->targetlist);
			ps = outerPlanState(ps);
		}
		else
			break;
	}
	if (shape->exprs == NIL || vx_is_bound_to_rows(ps) ||
		!(IsA(ps, ProjectSetState) ? is_projectset(shape, ps) :
		  IsA(ps, NestLoopState) && is_nested_loop(shape, ps)))
		return false;
	shape->exprs = vx_substitute(shape->exprs, OUTER_VAR,
									 shape->below->plan->targetlist);
	call = vx_substitute(list_make1(shape->call), OUTER_VAR,
							 shape->below->plan->targetlist);
	if (shape->exprs == NIL || call == NIL)
		return false;
	shape->call = linitial(call);
	return true;
}

void
vx_unnest_set_element(VxUnnestShape *shape, Index varno, AttrNumber attno)
{
	Var		   *element = copyObject(shape->element);

	element->varno = varno;
	element->varattno = attno;
	shape->exprs = (List *) replace_call((Node *) shape->exprs,
										 list_make2(shape->element, element));
}
