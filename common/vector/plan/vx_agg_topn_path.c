/*-------------------------------------------------------------------------
 *
 * vx_agg_topn_path.c
 *	  ORDER BY ... LIMIT above an aggregation.
 *
 * The server's Sort stays; but the aggregation below it knows the first sort
 * key and the limit, and makes no rows of groups that are certainly not among
 * the first ones.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "vx_agg_path_int.h"
#include "vx_paths.h"

/* Has what groups keep of the expression an order of integers? */
static bool
has_integer_state(const VxAggQuery *query, int entry)
{
	int			nkeys = list_length(query->keys);
	Node	   *expr;
	VxAggSpec	spec;

	if (entry < nkeys)
		return vx_is_integer_key(exprType(list_nth(query->keys, entry)),
								 list_nth_oid(query->eqops, entry));
	expr = list_nth(query->aggregates, entry - nkeys);
	if (!vx_agg_resolve((Aggref *) expr, &spec) || spec.average)
		return false;
	switch (spec.trans)
	{
		case VX_TRANS_COUNT:
		case VX_TRANS_SUM_INT:
		case VX_TRANS_SUM_INT8:
		case VX_TRANS_MIN_INT:
		case VX_TRANS_MAX_INT:
			return true;
		default:
			return false;
	}
}

/* Which of keys and aggregates the expression is, or -1. */
static int
find_entry(const VxAggQuery *query, Node *expr)
{
	List	   *entries = list_concat_copy(query->keys, query->aggregates);
	ListCell   *lc;

	foreach(lc, entries)
		if (equal(lfirst(lc), expr))
			return foreach_current_index(lc);
	return -1;
}

/* The path with the limit, below a sort; NULL if it has no use for it. */
static CustomPath *
limited_path(PlannerInfo *root, CustomPath *path, const VxAggQuery *query, int entry,
			 bool descending, bool nulls_first)
{
	CustomPath *result = makeNode(CustomPath);
	bool		any_tie = list_length(root->parse->sortClause) == 1 &&
		root->parse->limitOption != LIMIT_OPTION_WITH_TIES;
	double		limit = vx_topn_limit(root);
	double		rows = Min(path->path.rows, limit > 0 ? limit : path->path.rows * 0.1);

	rows = clamp_row_est(rows);
	memcpy(result, path, sizeof(CustomPath));
	vx_agg_set_topn(result, entry, descending, nulls_first, any_tie,
					vx_topn_limits(root));
	result->path.rows = rows;
	result->path.total_cost -= (path->path.rows - rows) *
		(cpu_tuple_cost + path->path.pathtarget->cost.per_tuple) * 0.9;
	return result;
}

/*
 * Participants that share partitions of groups, or a key, sort what is left of theirs.
 */
static void
add_parallel_path(PlannerInfo *root, RelOptInfo *ordered_rel, CustomPath *path)
{
	PathTarget *target = root->upper_targets[UPPERREL_ORDERED];
	double		rows = path->path.rows * vx_parallel_divisor(&path->path);
	Path	   *sorted = (Path *) create_sort_path(root, ordered_rel, &path->path,
												   root->sort_pathkeys,
												   vx_topn_limit(root));

	sorted = (Path *) create_gather_merge_path(root, ordered_rel, sorted, sorted->pathtarget,
											   root->sort_pathkeys, NULL, &rows);
	if (sorted->pathtarget != target)
		sorted = apply_projection_to_path(root, ordered_rel, sorted, target);
	add_path(ordered_rel, sorted);
}

void
vx_agg_add_topn_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel)
{
	SortGroupClause *clause;
	bool		descending;
	Node	   *key = vx_topn_first_key(root, &clause, &descending);
	List	   *paths = list_copy(input_rel->pathlist);
	ListCell   *lc;

	if (key == NULL)
		return;
	if (ordered_rel->consider_parallel &&
		is_parallel_safe(root, root->parse->limitCount) &&
		is_parallel_safe(root, root->parse->limitOffset))
		paths = list_concat(paths, input_rel->partial_pathlist);
	foreach(lc, paths)
	{
		VxAggQuery	query;
		CustomPath *path;
		int			entry;

		/* of a group that HAVING drops, the rank must not count */
		if (!vx_agg_is_path(lfirst(lc), &query) || query.having != NIL)
			continue;
		entry = find_entry(&query, key);
		if (entry < 0 || !has_integer_state(&query, entry))
			continue;
		path = limited_path(root, lfirst(lc), &query, entry, descending, clause->nulls_first);
		if (path->path.parallel_aware)
			add_parallel_path(root, ordered_rel, path);
		else
			vx_topn_add_sorted_path(root, ordered_rel, &path->path);
	}
}
