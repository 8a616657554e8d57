/*-------------------------------------------------------------------------
 *
 * vx_agg_path.c
 *	  Offers the planner aggregation over vectors.
 *
 * For vx_upper_paths.c.  Where a query groups or aggregates the rows
 * of one table of the format, a custom path that takes vectors straight from
 * the scan stands beside the server's aggregation, and competes with it by
 * cost.  HAVING and the expressions above the aggregates are the node's qual
 * and projection; sorting is the server's.
 *
 * The node's scan tuple is custom_scan_tlist: group keys, then aggregates.
 * The expressions in there refer to the table's columns and are computed by
 * the executor.  Parameters in them are shown to the server in custom_exprs,
 * which is how it learns what the node depends on.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_aggregate.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/selfuncs.h"

#include "vx_agg_path_int.h"
#include "vx_agg_spec.h"
#include "vx_fallback.h"
#include "vx_format.h"
#include "vx_paths.h"
#include "vx_settings.h"
#include "st_compat.h"

/* Share of a transition function's cost when it runs as a kernel. */
#define VX_KERNEL_COST	0.1

/*
 * Share of cpu_operator_cost for a row whose group is looked for in a table
 * beyond the caches, and for each of its keys that is to be numbered.
 */
#define VX_FAR_GROUP_COST	1.0
#define VX_FAR_VALUE_COST	4.0
#define VX_FAR_GROUPS	8192

/*
 * The same for a DISTINCT argument, whose value is looked for among those of the
 * group.  Without groups the server reckons nothing for it.
 */
#define VX_DISTINCT_COST	1.0

/*
 * The server reckons nothing for distance in its own hash table.  So ours is
 * at most this share of the server's cost of a row: it is less in truth, too.
 */
#define VX_FAR_MOST		0.5

/*
 * Of a distinct value: a bit where values are dense, or a slot of a hash table;
 * percentiles keep an integer.
 */
#define VALUE_BYTES	8

/* So much more than ours a path in order is made to cost: add_path() sees that. */
#define ORDER_RISK	1.02

static Plan *plan_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
							List *tlist, List *clauses, List *custom_plans);

static CustomPathMethods path_methods = {
	.PlanCustomPath = plan_aggregate,
};

/* What an expression has of one kind of node, each once; not what is within them. */
typedef struct Collect
{
	NodeTag		tag;
	List	   *found;
} Collect;

static bool
collect_walker(Node *node, Collect *collect)
{
	if (node == NULL)
		return false;
	if (nodeTag(node) == collect->tag)
	{
		collect->found = list_append_unique(collect->found, node);
		return false;
	}
	return expression_tree_walker(node, collect_walker, collect);
}

List *
vx_agg_collect(const void *exprs, NodeTag tag)
{
	Collect		result = {tag, NIL};

	collect_walker(unconstify(void *, exprs), &result);
	return result.found;
}

/* Everything outside of aggregates must be made of group keys. */
static bool
has_ungrouped_column(Node *node, void *keys)
{
	if (node == NULL || IsA(node, Aggref) || IsA(node, GroupingFunc) ||
		list_member(keys, node))
		return false;
	return IsA(node, Var) || expression_tree_walker(node, has_ungrouped_column, keys);
}

typedef struct Dependents
{
	const List *keys;
	List	   *found;
} Dependents;

static bool
find_dependents(Node *node, Dependents *context)
{
	if (node == NULL || IsA(node, Aggref) || IsA(node, GroupingFunc) ||
		list_member(context->keys, node))
		return false;
	if (IsA(node, PlaceHolderVar))
		return true;
	if (!IsA(node, Var))
		return expression_tree_walker(node, find_dependents, context);
	context->found = list_append_unique(context->found, node);
	return ((Var *) node)->varattno <= 0;
}

List *
vx_agg_dependents(const VxAggQuery *query)
{
	Dependents	context = {query->keys};

	if (query->keys == NIL || query->sets != NIL ||
		find_dependents((Node *) query->target->exprs, &context) ||
		find_dependents((Node *) query->having, &context))
		return NIL;
	return context.found;
}

static bool
aggregate_is_supported(const Aggref *agg, Index relid)
{
	VxAggSpec	spec;
	ListCell   *lc;

	if (!vx_agg_resolve(agg, &spec))
		return false;
	foreach(lc, agg->args)
		if (!vx_is_computable((Node *) lfirst_node(TargetEntry, lc)->expr, relid))
			return false;
	if (contain_var_clause((Node *) agg->aggdirectargs) ||
		contain_volatile_functions((Node *) agg->aggdirectargs) ||
		contain_subplans((Node *) agg->aggdirectargs))
		return false;
	return agg->aggfilter == NULL || vx_is_computable((Node *) agg->aggfilter, relid);
}

/* A set in the target list: the server's ProjectSet has it already. */
static bool
is_computed_below(Node *expr)
{
	return expression_returns_set(expr) && !contain_volatile_functions(expr) &&
		!contain_subplans(expr);
}

/* Why the keys are not; or NULL. */
static const char *
trouble_of_keys(List *clauses, List *keys, Index relid)
{
	ListCell   *lc1;
	ListCell   *lc2;

	if (list_length(keys) >= 64)
		return "more than 63 keys";
	forboth(lc1, clauses, lc2, keys)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc1);
		Oid			left;
		Oid			right;

		if (!clause->hashable || !get_op_hash_functions(clause->eqop, &left, &right))
			return psprintf("key of type %s", format_type_be(exprType(lfirst(lc2))));
		if (!vx_is_computable(lfirst(lc2), relid) &&
			!(relid == 0 && is_computed_below(lfirst(lc2))))
			return "key with a volatile function or a subquery, or of what is no column";
	}
	return NULL;
}

/* GROUPING() that the path's rows have; of a partial path none. */
static List *
collect_groupings(const CustomPath *path)
{
	List	   *having = lthird(path->custom_private);

	return vx_agg_collect(list_concat_copy(path->path.pathtarget->exprs, having), T_GroupingFunc);
}

static Plan *
plan_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			   List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	List	   *keys = linitial(best_path->custom_private);
	List	   *aggregates = lsecond(best_path->custom_private);
	List	   *having = lthird(best_path->custom_private);
	List	   *private = lfourth(best_path->custom_private);
	List	   *scan_tlist = NIL;
	ListCell   *lc;

	aggregates = list_concat_copy(keys, aggregates);
	aggregates = list_concat(aggregates, collect_groupings(best_path));
	aggregates = list_concat(aggregates, list_nth(best_path->custom_private, 4));
	if (linitial_int(lsecond(private)) == VX_AGG_PARTIAL)
		aggregates = lappend(aggregates, linitial(best_path->path.pathtarget->exprs));
	foreach(lc, aggregates)
		scan_tlist = lappend(scan_tlist, makeTargetEntry(lfirst(lc),
														 list_length(scan_tlist) + 1,
														 NULL, false));

	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = having;
	cscan->custom_scan_tlist = scan_tlist;
	cscan->custom_plans = custom_plans;
	cscan->custom_private = private;
	cscan->flags = best_path->flags;
	cscan->methods = GetCustomScanMethods(lthird_int(lsecond(private)) >= VX_AGG_SETOP ?
										  vx_format->setop_name : vx_format->aggregate_name,
										  false);
	cscan->custom_exprs = vx_agg_collect(scan_tlist, T_Param);
	if (list_length(best_path->custom_private) > 5)
	{
		List	   *topn = list_nth(best_path->custom_private, 5);

		cscan->custom_private = lappend(list_copy(private),
										lcons_int(list_length(cscan->custom_exprs),
												  list_copy(linitial(topn))));
		cscan->custom_exprs = list_concat(cscan->custom_exprs, copyObject(lsecond(topn)));
	}
	return &cscan->scan.plan;
}

PathTarget *
vx_agg_scan_target(PlannerInfo *root, const VxAggQuery *query)
{
	List	   *exprs = list_concat_copy(st_group_input(root, query->keys),
										 query->aggregates);
	PathTarget *target = create_empty_pathtarget();
	List	   *vars;

	exprs = list_concat(exprs, query->dependents);
	vars = pull_var_clause((Node *) exprs, PVC_RECURSE_AGGREGATES |
						   PVC_INCLUDE_PLACEHOLDERS);
	add_new_columns_to_pathtarget(target, vars);
	return set_pathtarget_cost_width(root, target);
}

int
vx_agg_numbered_keys(const VxAggQuery *query)
{
	int			n = 0;
	ListCell   *lc1;
	ListCell   *lc2;

	forboth(lc1, query->keys, lc2, query->eqops)
		n += !vx_is_integer_key(exprType(lfirst(lc1)), lfirst_oid(lc2));
	return n;
}

/* Is there anything but additions and multiplications of columns and constants? */
static bool
is_not_linear(Node *node, void *context)
{
	if (node == NULL || IsA(node, Var) || IsA(node, Const))
		return false;
	if (IsA(node, OpExpr))
	{
		char	   *name = get_opname(castNode(OpExpr, node)->opno);

		if (name == NULL || strlen(name) != 1 || strchr("+-*", name[0]) == NULL)
			return true;
	}
	else if (!IsA(node, FuncExpr) && !IsA(node, RelabelType))
		return true;
	return expression_tree_walker(node, is_not_linear, context);
}

/* The column from whose sum that of the aggregate's argument mostly comes; or NULL. */
static Node *
summed_column(Aggref *agg)
{
	VxAggSpec	spec;
	List	   *vars;

	if (!vx_agg_resolve(agg, &spec) || agg->aggdistinct != NIL || agg->aggfilter != NULL ||
		(spec.trans != VX_TRANS_SUM_INT && spec.trans != VX_TRANS_SUM_INT8) ||
		is_not_linear((Node *) linitial_node(TargetEntry, agg->args)->expr, NULL))
		return NULL;
	vars = pull_var_clause((Node *) agg->args, PVC_INCLUDE_PLACEHOLDERS);
	return list_length(vars) == 1 ? linitial(vars) : NULL;
}

/* The share of the aggregates that rows advance: sums of x + c come from that of x. */
static double
advanced_share(const VxAggQuery *query)
{
	List	   *columns = NIL;
	int			nderived = 0;
	ListCell   *lc;

	if (!query->algebra || query->aggregates == NIL)
		return 1;
	foreach(lc, query->aggregates)
	{
		Node	   *column = summed_column(lfirst_node(Aggref, lc));

		if (column && list_member(columns, column))
			nderived++;
		else if (column)
			columns = lappend(columns, column);
	}
	return 1.0 - (double) nderived / list_length(query->aggregates);
}

/*
 * Startup: all rows are read before the first group comes out.  A kernel
 * costs a fraction of what the server reckons for a transition function.
 */
void
vx_agg_cost_path(PlannerInfo *root, CustomPath *cpath, const VxAggQuery *query,
				 double nrows, double ngroups)
{
	Path	   *below = linitial(cpath->custom_paths);
	List	   *columns = lthird(lfourth(cpath->custom_private));
	List	   *having = lthird(cpath->custom_private);
	AggClauseCosts costs;
	double		servers;
	double		per_row;
	QualCost	qual_cost;
	int			ndistinct = 0;
	ListCell   *lc;

	st_path_inherit_disabled(&cpath->path, below, NULL);
	MemSet(&costs, 0, sizeof(costs));
	get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &costs);
	servers = costs.transCost.per_tuple * advanced_share(query) +
		cpu_operator_cost * list_length(query->keys);
	foreach(lc, query->aggregates)
		ndistinct += query->keys != NIL && lfirst_node(Aggref, lc)->aggdistinct != NIL;
	per_row = VX_KERNEL_COST * servers;
	per_row += Min(VX_FAR_MOST * servers, cpu_operator_cost * VX_DISTINCT_COST * ndistinct);
	if (ngroups > VX_FAR_GROUPS)
		per_row += Min(VX_FAR_MOST * servers, cpu_operator_cost *
					   (VX_FAR_GROUP_COST +
						VX_FAR_VALUE_COST * vx_agg_numbered_keys(query)));
	per_row += VX_AGG_FEED_COST * cpu_tuple_cost * list_length(columns);
	cpath->path.startup_cost = below->total_cost + costs.transCost.startup +
		costs.finalCost.startup + per_row * nrows;
	cpath->path.total_cost = cpath->path.startup_cost +
		ngroups * (costs.finalCost.per_tuple + cpu_tuple_cost +
				   cpath->path.pathtarget->cost.per_tuple);
	cpath->path.startup_cost += cpath->path.pathtarget->cost.startup;
	cpath->path.total_cost += cpath->path.pathtarget->cost.startup;
	cpath->path.rows = ngroups;
	if (having)
	{
		cost_qual_eval(&qual_cost, having, root);
		cpath->path.startup_cost += qual_cost.startup;
		cpath->path.total_cost += qual_cost.startup + ngroups * qual_cost.per_tuple;
		cpath->path.rows = clamp_row_est(ngroups *
										 clauselist_selectivity(root, having, 0,
																JOIN_INNER, NULL));
	}
}

double
vx_agg_count_values(PlannerInfo *root, const VxAggQuery *query, double nrows)
{
	double		n = 0;
	ListCell   *lc;

	foreach(lc, query->aggregates)
	{
		Aggref	   *agg = lfirst_node(Aggref, lc);
		List	   *exprs;

		if (agg->aggkind == AGGKIND_ORDERED_SET)
			n += nrows;
		if (agg->aggdistinct == NIL)
			continue;
		exprs = lappend(list_copy(query->keys), linitial_node(TargetEntry, agg->args)->expr);
		n += estimate_num_groups(root, exprs, nrows, NULL, NULL);
	}
	return n;
}

/* The server, which sorts values, is the one for more than fit. */
bool
vx_agg_values_fit(PlannerInfo *root, const VxAggQuery *query, double nrows)
{
	return vx_agg_count_values(root, query, nrows) * VALUE_BYTES <=
		(double) get_hash_memory_limit();
}

/* What is stored with a row group has it: as may_answer() of vx_agg_footer.c. */
static bool
is_in_footers(const Aggref *agg)
{
	VxAggSpec	spec;
	Node	   *arg;

	if (!vx_agg_resolve(agg, &spec) || agg->aggfilter != NULL || agg->aggdistinct != NIL)
		return false;
	if (agg->args == NIL)
		return spec.trans == VX_TRANS_COUNT;
	arg = (Node *) linitial_node(TargetEntry, agg->args)->expr;
	if (list_length(agg->args) != 1 || !IsA(arg, Var))
		return false;
	switch (spec.trans)
	{
		case VX_TRANS_COUNT:
		case VX_TRANS_MIN_INT:
		case VX_TRANS_MAX_INT:
			return true;
		case VX_TRANS_SUM_INT:
		case VX_TRANS_SUM_INT8:
		case VX_TRANS_SUM_NUMERIC:
			return vx_format->sum != NULL;
		default:
			return false;
	}
}

bool
vx_agg_discount_footers(RelOptInfo *rel, Relation relation, const VxAggQuery *query, Path *scan)
{
	Cost		groups = vx_group_cost(rel, relation, list_length(query->aggregates));
	ListCell   *lc;

	if (!vx_enable_footer_aggregate || query->keys != NIL || rel->baserestrictinfo != NIL)
		return false;
	foreach(lc, query->aggregates)
		if (!is_in_footers(lfirst_node(Aggref, lc)))
			return false;
	if (scan->parallel_workers > 0)
		groups /= vx_parallel_divisor(scan);
	scan->total_cost = Min(scan->total_cost, scan->startup_cost + groups);
	return true;
}

CustomPath *
vx_agg_make_path(RelOptInfo *parent, PathTarget *target, const VxAggQuery *query,
				 VxAggMode mode, List *columns, Path *below)
{
	CustomPath *cpath = makeNode(CustomPath);
	List	   *having = mode == VX_AGG_PARTIAL ? NIL : query->having;

	cpath->path.pathtype = T_CustomScan;
	cpath->path.parent = parent;
	cpath->path.pathtarget = target;
	cpath->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	cpath->methods = &path_methods;
	cpath->custom_paths = list_make1(below);
	cpath->custom_private = list_make5(query->keys, query->aggregates, having,
									   list_make4(query->eqops,
												  list_make3_int(mode, query->algebra, query->setop),
												  columns, query->sets),
									   query->dependents);
	return cpath;
}

bool
vx_agg_is_path(Path *path, VxAggQuery *query)
{
	CustomPath *cpath = (CustomPath *) path;
	List	   *private;

	if (!IsA(path, CustomPath) || cpath->methods != &path_methods)
		return false;
	private = lfourth(cpath->custom_private);
	query->keys = linitial(cpath->custom_private);
	query->aggregates = lsecond(cpath->custom_private);
	query->having = lthird(cpath->custom_private);
	query->eqops = linitial(private);
	query->target = path->pathtarget;
	return linitial_int(lsecond(private)) != VX_AGG_PARTIAL;
}

void
vx_agg_set_topn(CustomPath *path, int entry, bool descending, bool nulls_first, bool any_tie,
				List *limits)
{
	path->custom_private = lappend(list_copy(path->custom_private),
								   list_make2(list_make4_int(entry, descending, nulls_first,
															 any_tie),
											  limits));
}

/*
 * What a partial node puts out.  The expression only names it, and is never
 * evaluated; it must be one that the planner does not take for a constant.
 */
PathTarget *
vx_agg_partial_target(void)
{
	PathTarget *target = create_empty_pathtarget();
	Const	   *text = makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
								 CStringGetTextDatum("groups"), false, false);
	Const	   *format = makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
								   CStringGetTextDatum("escape"), false, false);

	add_column_to_pathtarget(target, (Expr *) makeFuncExpr(F_DECODE, BYTEAOID,
														   list_make2(text, format),
														   InvalidOid, InvalidOid,
														   COERCE_EXPLICIT_CALL), 0);
	target->width = 1024;
	return target;
}

bool
vx_agg_can_combine(List *aggregates, bool values)
{
	ListCell   *lc;

	foreach(lc, aggregates)
	{
		Aggref	   *agg = lfirst_node(Aggref, lc);
		VxAggSpec	spec;

		if (!vx_agg_resolve(agg, &spec) ||
			(spec.trans == VX_TRANS_SERVER && !(values && vx_agg_server_combines(agg))))
			return false;
		/* of DISTINCT values, a known one is taken back from a count and from nothing else */
		if (agg->aggdistinct != NIL && !(values && spec.trans == VX_TRANS_COUNT))
			return false;
		if (spec.trans == VX_TRANS_ORDERED && !values)
			return false;
	}
	return true;
}

double
vx_agg_count_groups(PlannerInfo *root, const VxAggQuery *query, double nrows)
{
	return query->keys == NIL ? 1.0 :
		estimate_num_groups(root, st_group_input(root, query->keys), nrows, NULL, NULL);
}

double
vx_agg_count_results(PlannerInfo *root, const VxAggQuery *query, double nrows)
{
	return query->sets != NIL ? vx_agg_count_set_groups(root, query, nrows) :
		vx_agg_count_groups(root, query, nrows);
}

bool
vx_agg_groups_fit(const VxAggQuery *query, double ngroups)
{
	return ngroups * VX_AGG_STATE_BYTES * (1 + list_length(query->aggregates)) <=
		(double) get_hash_memory_limit();
}

/* Why the aggregation is not for us; or NULL. */
static const char *
trouble_of(const VxAggQuery *query, List *clauses, Index relid)
{
	List	   *known = list_concat_copy(query->keys, query->dependents);
	ListCell   *lc;

	if (query->sets != NIL &&
		!(vx_agg_sets_are_supported(query) && vx_agg_can_combine(query->aggregates, false)))
		return "grouping sets with such keys or aggregates";
	/* HAVING alone: the server knows that no row matters. */
	if (query->keys == NIL && query->aggregates == NIL)
		return "no key and no aggregate";
	foreach(lc, query->aggregates)
		if (!aggregate_is_supported(lfirst_node(Aggref, lc), relid))
			return psprintf("aggregate %s",
							format_procedure(lfirst_node(Aggref, lc)->aggfnoid));
	if (has_ungrouped_column((Node *) query->target->exprs, known) ||
		has_ungrouped_column((Node *) query->having, known))
		return "column that is no key";
	return trouble_of_keys(clauses, query->keys, relid);
}

bool
vx_agg_is_supported(PlannerInfo *root, const RelOptInfo *input_rel, const VxAggQuery *query,
					List *clauses, Index relid)
{
	const char *trouble = trouble_of(query, clauses, relid);

	if (trouble)
		vx_fallback(root, input_rel->relids, psprintf("aggregation: %s", trouble));
	return trouble == NULL;
}

/*
 * add_path() takes costs that differ by a hundredth for equal, and then keeps the path
 * that comes in order.  Where one row is expected, sorting it first costs as good as
 * nothing; but one row is often what is expected of conditions that the server knows
 * nothing of, and many come.  So a path in order is not to be taken for its order alone.
 */
void
vx_agg_offer(RelOptInfo *grouped_rel, CustomPath *cpath)
{
	Cost		cost = cpath->path.total_cost;
	bool		cheapest = true;
	ListCell   *lc;

	foreach(lc, grouped_rel->pathlist)
		cheapest = cheapest && ((Path *) lfirst(lc))->total_cost >= cost;
	foreach(lc, grouped_rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (cheapest && path->pathkeys != NIL)
			path->total_cost = Max(path->total_cost, cost * ORDER_RISK);
	}
	add_path(grouped_rel, &cpath->path);
}

void
vx_agg_add_table_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
					   const VxAggQuery *query, List *clauses, Relation relation)
{
	VxAggQuery	own = *query;
	CustomPath *scan;
	CustomPath *cpath;
	double		ngroups;

	if (!vx_agg_is_supported(root, input_rel, query, clauses, input_rel->relid))
		return;
	ngroups = vx_agg_count_results(root, query, input_rel->rows);
	if (query->sets != NIL && !vx_agg_groups_fit(query, ngroups))
		return;
	scan = vx_make_vector_scan_path(root, input_rel, relation,
									vx_agg_scan_target(root, query), 0);
	if (scan == NULL || !vx_agg_values_fit(root, query, scan->path.rows))
		return;

	/* participants must agree on the states, whatever the setting is by then */
	own.algebra = vx_enable_aggregate_algebra;
	cpath = vx_agg_make_path(grouped_rel, query->target, &own, VX_AGG_PLAIN, NIL,
							 &scan->path);
	cpath->path.parallel_safe = grouped_rel->consider_parallel && scan->path.parallel_safe;
	vx_agg_cost_path(root, cpath, &own,
					 vx_agg_discount_footers(input_rel, relation, query, &scan->path) ? 0 :
					 scan->path.rows, ngroups);
	if (query->sets != NIL)
		vx_agg_cost_sets(cpath, query, vx_agg_count_groups(root, query, scan->path.rows));
	vx_agg_offer(grouped_rel, cpath);
	vx_agg_add_parallel_paths(root, input_rel, grouped_rel, relation, &own);
}

void
vx_agg_path_init(void)
{
	path_methods.CustomName = vx_format->aggregate_name;
}
