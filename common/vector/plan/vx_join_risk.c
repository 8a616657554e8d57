/*-------------------------------------------------------------------------
 *
 * vx_join_risk.c
 *	  Nested loops that bet on an estimate.
 *
 * A nested loop that goes through all of its inner side for each outer row
 * costs what a hash join costs as long as there is a row or two, and the
 * product of the sides' rows when there are more.  The planner expects a row
 * or two of filters that depend on each other, and of CTEs, groups and joins
 * of such; there the bet loses by thousands.  So, where tables of ours are
 * joined and the join has keys that can be hashed, such a path costs as if
 * both sides had a hundred times the rows, and the server's hash join, which
 * it may have beaten, is offered again.
 *
 * Loops whose inner side is an index scan by the outer row's keys, and those
 * over a row that a unique index finds, are left as they are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"

#include "vx_keyed.h"
#include "vx_paths.h"
#include "vx_settings.h"
#include "st_compat.h"

/* So much more than expected may come. */
#define RISK	100

/* Clauses of the join that can be hashed. */
static List *
hash_clauses(const RelOptInfo *outer, const RelOptInfo *inner, JoinType type,
			 const RelOptInfo *joinrel, List *restrictlist)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if ((IS_OUTER_JOIN(type) && RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids)) ||
			!rinfo->can_join || !OidIsValid(rinfo->hashjoinoperator))
			continue;
		if ((bms_is_subset(rinfo->left_relids, outer->relids) &&
			 bms_is_subset(rinfo->right_relids, inner->relids)) ||
			(bms_is_subset(rinfo->left_relids, inner->relids) &&
			 bms_is_subset(rinfo->right_relids, outer->relids)))
			result = lappend(result, rinfo);
	}
	return result;
}

/* One row is no guess: a unique index says so. */
static bool
is_single_row(const Path *path)
{
	return path->rows <= 1 && IsA(path, IndexPath) &&
		((const IndexPath *) path)->indexinfo->unique;
}

/* A loop over the whole inner side. */
static bool
is_bet(const Path *path, const RelOptInfo *outer, const RelOptInfo *inner)
{
	const JoinPath *join = (const JoinPath *) path;

	return IsA(path, NestPath) && join->outerjoinpath->parent == outer &&
		join->innerjoinpath->parent == inner &&
		!bms_overlap(PATH_REQ_OUTER(join->innerjoinpath), outer->relids) &&
		!is_single_row(join->outerjoinpath) && !is_single_row(join->innerjoinpath);
}

/*
 * What the inner side costs again for so many more outer rows.  Enough at
 * least for add_path() to tell the paths apart.
 */
static Cost
risk_cost(const JoinPath *join)
{
	const Path *inner = join->innerjoinpath;
	Cost		again = inner->total_cost;

	if (IsA(inner, MaterialPath))
		again = RISK * inner->rows * cpu_operator_cost;
	return Max(RISK * join->outerjoinpath->rows * again, 0.03 * join->path.total_cost);
}

static bool
reads_table_of_ours(PlannerInfo *root, const RelOptInfo *rel)
{
	Query	   *query = makeNode(Query);
	List	   *outers = NIL;
	int			relid = -1;

	query->jointree = makeFromExpr(NIL, NULL);
	query->cteList = root->parse->cteList;
	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
		if (root->simple_rel_array[relid] != NULL)
			query->rtable = lappend(query->rtable, root->simple_rte_array[relid]);
	for (PlannerInfo *p = root->parent_root; p != NULL; p = p->parent_root)
		outers = lappend(outers, p->parse);
	return vx_keyed_has_table(query, outers);
}

static bool
offers_hash_join(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI;
}

static void
offer_hash_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner,
				JoinType type, JoinPathExtraData *extra, List *clauses)
{
	Path	   *outer_path = outer->cheapest_total_path;
	Path	   *inner_path = inner->cheapest_total_path;
	JoinCostWorkspace workspace;

	if (outer_path == NULL || inner_path == NULL || PATH_REQ_OUTER(outer_path) != NULL ||
		PATH_REQ_OUTER(inner_path) != NULL)
		return;
	initial_cost_hashjoin(root, &workspace, type, clauses, outer_path, inner_path, extra,
						  false);
	add_path(joinrel, (Path *) create_hashjoin_path(root, joinrel, type, &workspace, extra,
													outer_path, inner_path, false,
													extra->restrictlist, NULL, clauses));
}

void
vx_join_weigh_loops(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer,
					RelOptInfo *inner, JoinType type, JoinPathExtraData *extra)
{
	List	   *bets = NIL;
	List	   *clauses;
	ListCell   *lc;

	if (!vx_enable_robust_joins || !enable_hashjoin || !offers_hash_join(type))
		return;
	foreach(lc, joinrel->pathlist)
		if (is_bet(lfirst(lc), outer, inner))
			bets = lappend(bets, lfirst(lc));
	if (bets == NIL)
		return;
	clauses = hash_clauses(outer, inner, type, joinrel, extra->restrictlist);
	if (clauses == NIL || !reads_table_of_ours(root, joinrel))
		return;
	foreach(lc, bets)
		joinrel->pathlist = list_delete_ptr(joinrel->pathlist, lfirst(lc));
	offer_hash_join(root, joinrel, outer, inner, type, extra, clauses);
	foreach(lc, bets)
	{
		JoinPath   *path = lfirst(lc);

		path->path.total_cost += risk_cost(path);
		add_path(joinrel, &path->path);
	}
}
