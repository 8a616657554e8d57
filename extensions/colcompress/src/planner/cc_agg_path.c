/*-------------------------------------------------------------------------
 *
 * cc_agg_path.c
 *	  Offers the planner aggregation over vectors.
 *
 * Owns create_upper_paths_hook.  Where a query groups or aggregates the rows
 * of one colcompress table, a custom path that takes vectors straight from
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

#include "access/table.h"
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
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "cc_agg_path.h"
#include "cc_agg_spec.h"
#include "cc_format.h"
#include "cc_paths.h"
#include "cc_topn_path.h"
#include "st_compat.h"
#include "st_store.h"

/* Share of a transition function's cost when it runs as a kernel. */
#define CC_KERNEL_COST	0.1

/* Of a distinct value: a bit where values are dense, or a slot of a hash table. */
#define DISTINCT_BYTES	8

/* Of a group, for its keys and for each aggregate. */
#define STATE_BYTES		64

static bool cc_enable_vector_aggregate = true;
static create_upper_paths_hook_type prev_create_upper_paths = NULL;

static Plan *plan_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
							List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods path_methods = {
	.CustomName = CC_AGGREGATE_NAME,
	.PlanCustomPath = plan_aggregate,
};

/* Aggregates of an expression, each once. */
static bool
collect_aggregates(Node *node, List **aggregates)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		*aggregates = list_append_unique(*aggregates, node);
		return false;
	}
	return expression_tree_walker(node, collect_aggregates, aggregates);
}

static bool
collect_params(Node *node, List **params)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
	{
		*params = list_append_unique(*params, node);
		return false;
	}
	return expression_tree_walker(node, collect_params, params);
}

/* Everything outside of aggregates must be made of group keys. */
typedef struct UngroupedContext
{
	List	   *keys;
} UngroupedContext;

static bool
has_ungrouped_column(Node *node, UngroupedContext *context)
{
	if (node == NULL || IsA(node, Aggref) || list_member(context->keys, node))
		return false;
	if (IsA(node, Var))
		return true;
	return expression_tree_walker(node, has_ungrouped_column, context);
}

/* An expression that the executor can compute from a row of the scan. */
static bool
is_computable(Node *expr, Index relid)
{
	List	   *vars;
	ListCell   *lc;

	if (contain_volatile_functions(expr) || contain_subplans(expr) ||
		expression_returns_set(expr))
		return false;
	vars = pull_var_clause(expr, PVC_INCLUDE_PLACEHOLDERS);
	foreach(lc, vars)
	{
		Var		   *var = lfirst(lc);

		if (!IsA(var, Var) || var->varno != relid || var->varattno <= 0)
			return false;
	}
	return true;
}

static bool
aggregate_is_supported(Aggref *agg, Index relid)
{
	CcAggSpec	spec;
	ListCell   *lc;

	if (!cc_agg_resolve(agg, &spec))
		return false;
	foreach(lc, agg->args)
		if (!is_computable((Node *) lfirst_node(TargetEntry, lc)->expr, relid))
			return false;
	if (contain_var_clause((Node *) agg->aggdirectargs) ||
		contain_volatile_functions((Node *) agg->aggdirectargs) ||
		contain_subplans((Node *) agg->aggdirectargs))
		return false;
	return agg->aggfilter == NULL || is_computable((Node *) agg->aggfilter, relid);
}

static bool
keys_are_supported(List *clauses, List *keys, Index relid)
{
	ListCell   *lc1;
	ListCell   *lc2;

	if (list_length(keys) >= 64)
		return false;
	forboth(lc1, clauses, lc2, keys)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc1);
		Oid			left;
		Oid			right;

		if (!clause->hashable || !is_computable(lfirst(lc2), relid) ||
			!get_op_hash_functions(clause->eqop, &left, &right))
			return false;
	}
	return true;
}

static List *
equality_operators(List *clauses)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
		result = lappend_oid(result, lfirst_node(SortGroupClause, lc)->eqop);
	return result;
}

static Plan *
plan_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			   List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	List	   *keys = linitial(best_path->custom_private);
	List	   *aggregates = lsecond(best_path->custom_private);
	List	   *having = lthird(best_path->custom_private);
	List	   *scan_tlist = NIL;
	ListCell   *lc;

	aggregates = list_concat_copy(keys, aggregates);
	if (linitial_int(llast(llast(best_path->custom_private))) == CC_AGG_PARTIAL)
		aggregates = lappend(aggregates, linitial(best_path->path.pathtarget->exprs));
	foreach(lc, aggregates)
		scan_tlist = lappend(scan_tlist, makeTargetEntry(lfirst(lc),
														 list_length(scan_tlist) + 1,
														 NULL, false));

	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = having;
	cscan->custom_scan_tlist = scan_tlist;
	cscan->custom_plans = custom_plans;
	cscan->custom_private = llast(best_path->custom_private);
	cscan->flags = best_path->flags;
	cscan->methods = GetCustomScanMethods(CC_AGGREGATE_NAME, false);
	collect_params((Node *) scan_tlist, &cscan->custom_exprs);
	return &cscan->scan.plan;
}

/* Columns that keys and aggregates are computed from. */
static PathTarget *
scan_target(PlannerInfo *root, List *exprs)
{
	PathTarget *target = create_empty_pathtarget();
	List	   *vars = pull_var_clause((Node *) exprs, PVC_RECURSE_AGGREGATES |
									   PVC_INCLUDE_PLACEHOLDERS);

	add_new_columns_to_pathtarget(target, vars);
	return set_pathtarget_cost_width(root, target);
}

/*
 * Startup: all rows are read before the first group comes out.  A kernel
 * costs a fraction of what the server reckons for a transition function.
 */
static void
cost_aggregate(PlannerInfo *root, CustomPath *cpath, Path *scan, List *keys,
			   List *having, double ngroups)
{
	AggClauseCosts costs;
	double		per_row;
	QualCost	qual_cost;

	st_path_inherit_disabled(&cpath->path, scan);
	MemSet(&costs, 0, sizeof(costs));
	get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &costs);
	per_row = CC_KERNEL_COST * (costs.transCost.per_tuple +
								cpu_operator_cost * list_length(keys));
	cpath->path.startup_cost = scan->total_cost + costs.transCost.startup +
		costs.finalCost.startup + per_row * scan->rows;
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

/*
 * clauses: GROUP BY, or DISTINCT, which is grouping without aggregates;
 * target: what comes out.
 */
/*
 * Aggregates that keep values of their groups (DISTINCT, percentiles) do so
 * in memory: the server, which sorts them, is the one for more than fit.
 */
static bool
values_fit(PlannerInfo *root, List *keys, List *aggregates, double nrows)
{
	double		bytes = 0;
	ListCell   *lc;

	foreach(lc, aggregates)
	{
		Aggref	   *agg = lfirst_node(Aggref, lc);
		List	   *exprs;

		if (agg->aggkind == AGGKIND_ORDERED_SET)
			bytes += nrows * sizeof(int64);
		if (agg->aggdistinct == NIL)
			continue;
		exprs = lappend(list_copy(keys), linitial_node(TargetEntry, agg->args)->expr);
		bytes += estimate_num_groups(root, exprs, nrows, NULL, NULL) * DISTINCT_BYTES;
	}
	return bytes <= (double) get_hash_memory_limit();
}

/* keys, aggregates and having as the planner has them; scan: the path below. */
static CustomPath *
make_aggregate_path(RelOptInfo *grouped_rel, PathTarget *target, List *keys,
					List *aggregates, List *having, List *eqops, CcAggMode mode,
					Path *below)
{
	CustomPath *cpath = makeNode(CustomPath);

	cpath->path.pathtype = T_CustomScan;
	cpath->path.parent = grouped_rel;
	cpath->path.pathtarget = target;
	cpath->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	cpath->methods = &path_methods;
	cpath->custom_paths = list_make1(below);
	cpath->custom_private = list_make4(keys, aggregates, having,
									   list_make2(eqops, list_make1_int(mode)));
	return cpath;
}

/*
 * What a partial node puts out.  The expression only names it, and is never
 * evaluated; it must be one that the planner does not take for a constant.
 */
static PathTarget *
partial_target(void)
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

/* States of all the aggregates can be put together. */
static bool
can_combine(List *aggregates)
{
	ListCell   *lc;

	foreach(lc, aggregates)
	{
		Aggref	   *agg = lfirst_node(Aggref, lc);
		CcAggSpec	spec;

		if (!cc_agg_resolve(agg, &spec) || agg->aggdistinct != NIL ||
			spec.trans == CC_TRANS_SERVER || spec.trans == CC_TRANS_ORDERED)
			return false;
	}
	return true;
}

/*
 * Workers aggregate what they read, and a final node puts their groups
 * together, in memory: only where few groups are expected.
 */
static void
add_parallel_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
				  Relation relation, PathTarget *target, PathTarget *columns,
				  List *keys, List *aggregates, List *having, List *eqops)
{
	CustomPath *scan;
	CustomPath *partial;
	CustomPath *final;
	Path	   *gather;
	double		ngroups = 1;
	double		rows;
	int			workers;

	if (!grouped_rel->consider_parallel || input_rel->partial_pathlist == NIL ||
		!can_combine(aggregates))
		return;
	workers = ((Path *) linitial(input_rel->partial_pathlist))->parallel_workers;
	scan = workers > 0 ? cc_make_vector_scan_path(root, input_rel, relation, columns, workers) :
		NULL;
	if (scan == NULL)
		return;
	if (keys != NIL)
		ngroups = estimate_num_groups(root, keys, input_rel->rows, NULL, NULL);
	if (ngroups * STATE_BYTES * (1 + list_length(aggregates)) >
		(double) get_hash_memory_limit())
		return;

	partial = make_aggregate_path(grouped_rel, partial_target(), keys, aggregates, NIL,
								  eqops, CC_AGG_PARTIAL, &scan->path);
	partial->path.parallel_safe = true;
	partial->path.parallel_workers = workers;
	cost_aggregate(root, partial, &scan->path, keys, NIL, ngroups);
	rows = ceil(ngroups * STATE_BYTES / 8192) * workers;
	gather = (Path *) create_gather_path(root, grouped_rel, &partial->path,
										 partial->path.pathtarget, NULL, &rows);

	final = make_aggregate_path(grouped_rel, target, keys, aggregates,
								having, eqops, CC_AGG_FINAL, gather);
	gather->rows = ngroups * workers;
	cost_aggregate(root, final, gather, keys, having, ngroups);
	gather->rows = rows;
	add_path(grouped_rel, &final->path);
}

static void
add_aggregate_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
				   List *clauses, List *having, PathTarget *target, Relation relation)
{
	List	   *keys = get_sortgrouplist_exprs(clauses, root->processed_tlist);
	UngroupedContext ungrouped = {keys};
	List	   *aggregates = NIL;
	List	   *eqops = equality_operators(clauses);
	PathTarget *columns;
	CustomPath *scan;
	CustomPath *cpath;
	double		ngroups = 1;
	ListCell   *lc;

	collect_aggregates((Node *) target->exprs, &aggregates);
	collect_aggregates((Node *) having, &aggregates);
	/* HAVING alone: the server knows that no row matters. */
	if (keys == NIL && aggregates == NIL)
		return;
	foreach(lc, aggregates)
		if (!aggregate_is_supported(lfirst_node(Aggref, lc), input_rel->relid))
			return;
	if (!keys_are_supported(clauses, keys, input_rel->relid) ||
		has_ungrouped_column((Node *) target->exprs, &ungrouped) ||
		has_ungrouped_column((Node *) having, &ungrouped))
		return;

	columns = scan_target(root, list_concat_copy(keys, aggregates));
	scan = cc_make_vector_scan_path(root, input_rel, relation, columns, 0);
	if (scan == NULL || !values_fit(root, keys, aggregates, scan->path.rows))
		return;
	if (keys != NIL)
		ngroups = estimate_num_groups(root, keys, scan->path.rows, NULL, NULL);

	cpath = make_aggregate_path(grouped_rel, target, keys, aggregates, having, eqops,
								CC_AGG_PLAIN, &scan->path);
	cost_aggregate(root, cpath, &scan->path, keys, having, ngroups);
	add_path(grouped_rel, &cpath->path);
	add_parallel_path(root, input_rel, grouped_rel, relation, target, columns, keys,
					  aggregates, having, eqops);
}

static bool
grouping_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, GroupingFunc) ||
		expression_tree_walker(node, grouping_walker, context);
}

/* GROUPING() makes sense without grouping sets, too; only Agg knows it. */
static bool
uses_grouping(PlannerInfo *root)
{
	return grouping_walker((Node *) root->processed_tlist, NULL) ||
		grouping_walker(root->parse->havingQual, NULL);
}

static bool
stage_is_ours(PlannerInfo *root, UpperRelationKind stage, void *extra)
{
	switch (stage)
	{
		case UPPERREL_ORDERED:
			return true;
		case UPPERREL_GROUP_AGG:
			return cc_enable_vector_aggregate && extra != NULL &&
				root->parse->groupingSets == NIL && !uses_grouping(root);
		case UPPERREL_DISTINCT:
			return cc_enable_vector_aggregate && !root->parse->hasDistinctOn &&
				!root->parse->hasTargetSRFs;
		default:
			return false;
	}
}

static void
create_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
				   RelOptInfo *output_rel, void *extra)
{
	RangeTblEntry *rte;
	Relation	relation;

	if (prev_create_upper_paths)
		prev_create_upper_paths(root, stage, input_rel, output_rel, extra);

	if (!stage_is_ours(root, stage, extra))
		return;
	if (input_rel->reloptkind != RELOPT_BASEREL || input_rel->rtekind != RTE_RELATION ||
		IS_DUMMY_REL(input_rel))
		return;
	rte = planner_rt_fetch(input_rel->relid, root);
	if (rte->inh)
		return;

	/* The planner holds a lock on it. */
	relation = table_open(rte->relid, NoLock);
	if (st_relation_format(relation) == &cc_format)
	{
		if (stage == UPPERREL_ORDERED)
			cc_topn_add_path(root, input_rel, output_rel, relation);
		else if (stage == UPPERREL_DISTINCT)
			add_aggregate_path(root, input_rel, output_rel, root->parse->distinctClause,
							   NIL, input_rel->reltarget, relation);
		else
			add_aggregate_path(root, input_rel, output_rel, root->parse->groupClause,
							   (List *) ((GroupPathExtraData *) extra)->havingQual,
							   output_rel->reltarget, relation);
	}
	table_close(relation, NoLock);
}

void
cc_agg_path_init(void)
{
	DefineCustomBoolVariable("colcompress.enable_vector_aggregate",
							 "Enables the planner's use of aggregation over vectors of colcompress tables.",
							 NULL,
							 &cc_enable_vector_aggregate,
							 true,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	prev_create_upper_paths = create_upper_paths_hook;
	create_upper_paths_hook = create_upper_paths;
}
