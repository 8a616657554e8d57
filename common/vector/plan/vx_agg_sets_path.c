/*-------------------------------------------------------------------------
 *
 * vx_agg_sets_path.c
 *	  GROUPING SETS, ROLLUP and CUBE: which of them the node of aggregation
 *	  can serve, and what they cost.
 *
 * The node groups by all keys, and merges these groups into those of the
 * sets.  So states must be such that can be put together, and groups of all
 * sets must have room in memory, which the caller looks at.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

#include "vx_agg_path_int.h"
#include "st_compat.h"

/* Bits of a word for null keys; the others are for the number of the set. */
#define MAX_KEYS	31
#define MAX_SETS	65536

/*
 * A key's value is null where its set does not have it: the server's rules for
 * target lists find it by being equal, so no two may be, and constants are
 * never looked for.
 */
static bool
keys_are_distinct(const List *keys)
{
	ListCell   *lc;

	foreach(lc, keys)
	{
		if (!contain_var_clause(lfirst(lc)))
			return false;
		for (int i = 0; i < foreach_current_index(lc); i++)
			if (equal(list_nth(keys, i), lfirst(lc)))
				return false;
	}
	return true;
}

List *
vx_agg_sets(PlannerInfo *root, const List *clauses)
{
	List	   *refs = NIL;
	ListCell   *lc;

	if (root->parse->groupingSets == NIL)
		return NIL;
	foreach(lc, clauses)
		refs = lappend_int(refs, lfirst_node(SortGroupClause, lc)->tleSortGroupRef);
	return lcons(refs, list_copy(root->parse->groupingSets));
}

bool
vx_agg_sets_are_supported(const VxAggQuery *query)
{
	return list_length(query->keys) <= MAX_KEYS && list_length(query->sets) <= MAX_SETS &&
		query->keys != NIL && keys_are_distinct(query->keys);
}

double
vx_agg_count_set_groups(PlannerInfo *root, const VxAggQuery *query, double nrows)
{
	List	   *refs = linitial(query->sets);
	List	   *keys = st_group_input(root, query->keys);
	double		ngroups = 0;
	ListCell   *lc;

	for_each_from(lc, query->sets, 1)
	{
		List	   *exprs = NIL;
		ListCell   *lc1;
		ListCell   *lc2;

		forboth(lc1, refs, lc2, keys)
			if (list_member_int(lfirst(lc), lfirst_int(lc1)))
				exprs = lappend(exprs, lfirst(lc2));
		ngroups += exprs == NIL ? 1.0 : estimate_num_groups(root, exprs, nrows, NULL, NULL);
	}
	return ngroups;
}

void
vx_agg_cost_sets(CustomPath *path, const VxAggQuery *query, double ngroups)
{
	/* a group of all keys, into one of each set */
	Cost		cost = ngroups * (list_length(query->sets) - 1) *
		cpu_operator_cost * (1 + list_length(query->aggregates));

	path->path.startup_cost += cost;
	path->path.total_cost += cost;
}
