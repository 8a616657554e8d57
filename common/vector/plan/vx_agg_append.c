/*-------------------------------------------------------------------------
 *
 * vx_agg_append.c
 *	  Aggregation over vectors where rows come from more than one table.
 *
 * Partitions, children by inheritance and arms of UNION ALL: a partial node
 * aggregates each of them, the server's Append (so partitions are pruned at
 * run time, and divided among workers, as ever) hands their states on, and a
 * final node puts them together.  A child of ours is read as vectors; of any
 * other child, rows become vectors in the partial node.
 *
 * Where states cannot be put together (DISTINCT, percentiles, aggregates of
 * the server's), and above joins, rows that the plan below returns become
 * vectors in one node that aggregates them all, or above joins in a node of each
 * participant (vx_agg_parallel_path.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/table.h"
#include "foreign/fdwapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "vx_agg_path_int.h"
#include "vx_agg_spec.h"
#include "vx_paths.h"
#include "st_compat.h"
#include "st_store.h"

/*
 * What a node that takes rows wants of the plan below: each operand once.
 * columns: where in it each of vx_agg_operands() is.
 */
static PathTarget *
feed_target(PlannerInfo *root, const VxAggQuery *query, List **columns)
{
	PathTarget *target = create_empty_pathtarget();
	ListCell   *lc;

	*columns = NIL;
	foreach(lc, list_concat(vx_agg_operands(st_group_input(root, query->keys),
											query->aggregates), query->dependents))
	{
		int			column = 0;

		while (column < list_length(target->exprs) &&
			   !equal(list_nth(target->exprs, column), lfirst(lc)))
			column++;
		if (column == list_length(target->exprs))
			add_column_to_pathtarget(target, lfirst(lc), 0);
		*columns = lappend_int(*columns, column);
	}

	/* count(*) alone wants nothing; a list of no columns means something else */
	if (*columns == NIL)
		*columns = list_make1_int(-1);
	return set_pathtarget_cost_width(root, target);
}

/*
 * The plan below computes operands for every row: not for us if that may
 * raise an error where a FILTER would have kept the row away.
 */
static bool
can_feed(const VxAggQuery *query)
{
	ListCell   *lc1;
	ListCell   *lc2;

	foreach(lc1, query->aggregates)
	{
		Aggref	   *agg = lfirst_node(Aggref, lc1);

		if (agg->aggfilter == NULL)
			continue;
		foreach(lc2, agg->args)
			if (!IsA(lfirst_node(TargetEntry, lc2)->expr, Var) &&
				!IsA(lfirst_node(TargetEntry, lc2)->expr, Const))
				return false;
	}
	return true;
}

CustomPath *
vx_agg_make_feed_path(PlannerInfo *root, RelOptInfo *parent, PathTarget *target,
					  const VxAggQuery *query, VxAggMode mode, Path *below)
{
	List	   *columns;
	PathTarget *operands = feed_target(root, query, &columns);

	below = (Path *) create_projection_path(root, below->parent, below, operands);
	return vx_agg_make_path(parent, target, query, mode, columns, below);
}

/* The query as a child's columns make it. */
static VxAggQuery *
translate_query(PlannerInfo *root, const VxAggQuery *query, RelOptInfo *child)
{
	VxAggQuery *result = palloc0(sizeof(VxAggQuery));

	result->keys = st_translate_to_child(root, query->keys, child);
	result->aggregates = st_translate_to_child(root, query->aggregates, child);
	result->eqops = query->eqops;
	return result;
}

/* Vectors of a child of ours, if all that is needed are its columns. */
static CustomPath *
child_scan(PlannerInfo *root, RelOptInfo *child, const VxAggQuery *query, int workers)
{
	RangeTblEntry *rte = planner_rt_fetch(child->relid, root);
	List	   *operands = vx_agg_operands(query->keys, query->aggregates);
	CustomPath *scan = NULL;
	Relation	relation;
	ListCell   *lc;

	if (rte->rtekind != RTE_RELATION || !vx_has_table(root, child))
		return NULL;
	foreach(lc, operands)
		if (!vx_is_computable(lfirst(lc), child->relid))
			return NULL;
	relation = table_open(rte->relid, NoLock);
	scan = vx_make_vector_scan_path(root, child, relation, vx_agg_scan_target(root, query),
									workers);
	table_close(relation, NoLock);
	return scan;
}

/* Would the server's Append wait for several of these at the same time? */
static bool
is_asynchronous(const RelOptInfo *child, Path *path)
{
	const FdwRoutine *fdw = child->fdwroutine;

	return enable_async_append && fdw && fdw->IsForeignPathAsyncCapable &&
		IsA(path, ForeignPath) && fdw->IsForeignPathAsyncCapable((ForeignPath *) path);
}

/*
 * A partial aggregation of a child.  workers: of a path that they share, or
 * 0 for one that one process runs.  NULL if there is none.
 */
static Path *
child_path(PlannerInfo *root, RelOptInfo *child, const VxAggQuery *parent_query, int workers)
{
	VxAggQuery *query = translate_query(root, parent_query, child);
	CustomPath *scan = child_scan(root, child, query, workers);
	CustomPath *cpath;
	Path	   *below = (Path *) scan;
	double		ngroups;

	if (scan)
		cpath = vx_agg_make_path(child, vx_agg_partial_target(), query, VX_AGG_PARTIAL, NIL,
								 below);
	else
	{
		if (workers > 0)
			below = child->partial_pathlist ? linitial(child->partial_pathlist) : NULL;
		else
			below = child->cheapest_total_path;
		if (below == NULL || below->param_info != NULL || !can_feed(query) ||
			is_asynchronous(child, below))
			return NULL;
		cpath = vx_agg_make_feed_path(root, child, vx_agg_partial_target(), query,
									  VX_AGG_PARTIAL, below);
	}
	ngroups = vx_agg_count_groups(root, query, below->rows);
	cpath->path.parallel_safe = child->consider_parallel && below->parallel_safe;
	cpath->path.parallel_workers = below->parallel_workers;
	vx_agg_cost_path(root, cpath, query, below->rows, ngroups);
	return &cpath->path;
}

/* Costs in terms of states, which few rows hold. */
static Path *
append_states(PlannerInfo *root, RelOptInfo *input_rel, List *subpaths, List *partial_subpaths,
			  int workers)
{
	AppendPath *append = st_create_append_path(root, input_rel, subpaths,
											   partial_subpaths, workers);

	append->path.pathtarget = vx_agg_partial_target();
	return &append->path;
}

static double
total_rows(List *paths)
{
	double		rows = 0;
	ListCell   *lc;

	foreach(lc, paths)
		rows += ((Path *) lfirst(lc))->rows;
	return rows;
}

static void
add_final_path(PlannerInfo *root, RelOptInfo *grouped_rel, const VxAggQuery *query,
			   Path *below, double nstates, double ngroups)
{
	CustomPath *final = vx_agg_make_path(grouped_rel, query->target, query, VX_AGG_FINAL, NIL,
										 below);

	vx_agg_cost_path(root, final, query, nstates, ngroups);
	vx_agg_offer(grouped_rel, final);
}

/* Workers take children, and share what is in one, by a parallel Append. */
static void
add_parallel_append(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
					const VxAggQuery *query, List *children, double ngroups)
{
	List	   *subpaths = NIL;
	List	   *partial_subpaths = NIL;
	int			workers = 0;
	double		states;
	double		rows;
	Path	   *append;
	Path	   *gather;
	ListCell   *lc;

	if (!grouped_rel->consider_parallel || !enable_parallel_append ||
		input_rel->partial_pathlist == NIL)
		return;
	foreach(lc, children)
	{
		RelOptInfo *child = lfirst(lc);
		int			child_workers = child->partial_pathlist ?
			((Path *) linitial(child->partial_pathlist))->parallel_workers : 0;
		Path	   *path = child_path(root, child, query, child_workers);

		if (path == NULL || !path->parallel_safe)
			return;
		if (child_workers > 0)
			partial_subpaths = lappend(partial_subpaths, path);
		else
			subpaths = lappend(subpaths, path);
		workers = Max(workers, child_workers);
	}
	workers = Max(workers, ((Path *) linitial(input_rel->partial_pathlist))->parallel_workers);
	if (workers == 0)
		return;
	append = append_states(root, input_rel, subpaths, partial_subpaths, workers);
	/* scans of children leave that to who has all of them: vx_cost_scan() */
	append->startup_cost += vx_workers_cost(workers);
	append->total_cost += vx_workers_cost(workers);
	states = total_rows(subpaths) + total_rows(partial_subpaths) * workers;
	rows = ceil(states * VX_AGG_STATE_BYTES / BLCKSZ);
	gather = (Path *) create_gather_path(root, grouped_rel, append, append->pathtarget, NULL,
										 &rows);
	add_final_path(root, grouped_rel, query, gather, states, ngroups);
}

/* Children that are aggregated one by one.  False: not possible. */
static bool
add_append_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
				const VxAggQuery *query)
{
	List	   *children = NIL;
	List	   *subpaths = NIL;
	double		ngroups = vx_agg_count_groups(root, query, input_rel->rows);
	ListCell   *lc;

	if (query->dependents != NIL ||
		!vx_agg_can_combine(query->aggregates, false) || !vx_agg_groups_fit(query, ngroups) ||
		!vx_collect_children(root, input_rel, &children) || children == NIL)
		return false;
	foreach(lc, children)
	{
		Path	   *path = child_path(root, lfirst(lc), query, 0);

		if (path == NULL)
			return false;
		subpaths = lappend(subpaths, path);
	}
	add_final_path(root, grouped_rel, query,
				   append_states(root, input_rel, subpaths, NIL, 0), total_rows(subpaths),
				   ngroups);
	add_parallel_append(root, input_rel, grouped_rel, query, children, ngroups);
	return true;
}

Path *
vx_agg_feed_source(Path *cheapest, List *paths, Cost *saved)
{
	Cost		cost;
	Path	   *vectors = vx_join_vector_path(paths, &cost);

	*saved = 0;
	if (vectors == NULL || cost >= cheapest->total_cost)
		return cheapest;
	*saved = vectors->total_cost - cost;
	return vectors;
}

/* Rows of the cheapest plan below become vectors in the one node. */
static void
add_feed_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
			  const VxAggQuery *query)
{
	Path	   *below = input_rel->cheapest_total_path;
	double		ngroups = vx_agg_count_results(root, query, input_rel->rows);
	Cost		saved;
	CustomPath *cpath;

	if (below == NULL || !can_feed(query) ||
		(query->sets != NIL && !vx_agg_groups_fit(query, ngroups)))
		return;
	vx_agg_add_parallel_paths(root, input_rel, grouped_rel, NULL, query);
	below = vx_agg_feed_source(below, input_rel->pathlist, &saved);
	if (below->param_info != NULL || !vx_agg_values_fit(root, query, below->rows))
		return;
	cpath = vx_agg_make_feed_path(root, grouped_rel, query->target, query, VX_AGG_PLAIN,
								  below);
	cpath->path.parallel_safe = grouped_rel->consider_parallel && below->parallel_safe;
	vx_agg_cost_path(root, cpath, query, below->rows, ngroups);
	if (query->sets != NIL)
		vx_agg_cost_sets(cpath, query, vx_agg_count_groups(root, query, below->rows));
	cpath->path.startup_cost -= saved;
	cpath->path.total_cost -= saved;
	vx_agg_offer(grouped_rel, cpath);
}

void
vx_agg_add_append_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
						const VxAggQuery *query)
{
	/* sets are made of what all children return */
	if (query->sets != NIL || IS_JOIN_REL(input_rel) || !planner_rt_fetch(input_rel->relid, root)->inh ||
		expression_returns_set((Node *) query->keys) ||
		!add_append_path(root, input_rel, grouped_rel, query))
		add_feed_path(root, input_rel, grouped_rel, query);
}
