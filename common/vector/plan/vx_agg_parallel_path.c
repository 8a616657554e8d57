/*-------------------------------------------------------------------------
 *
 * vx_agg_parallel_path.c
 *	  Aggregation of one table's vectors in parallel plans; of joins', too.
 *
 * Few groups: each participant aggregates what it reads, and hands the states
 * of its groups to a final node above Gather, which puts them together.  That
 * is work which is not shared.
 *
 * Many groups: participants share partitions of groups (vx_agg_shared.c), and
 * what they return is complete.  This is a partial path of the server's, whose
 * rows may go on being sorted in the participants.  Or each reads all rows, and
 * takes those of a share of a key: cheaper, where reading rows is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"

#include "vx_agg_path_int.h"
#include "vx_paths.h"
#include "vx_settings.h"

/* Share of cpu_operator_cost for a group's states on their way to a final node. */
#define VX_STATE_COST	2.0

/*
 * Share of cpu_operator_cost for states that are written to a partition and put
 * together there, and for each of their keys that is no integer.
 */
#define VX_PART_STATE_COST	4.0
#define VX_PART_VALUE_COST	8.0

/* The same for a value of DISTINCT or a percentile. */
#define VX_VALUE_COST	4.0

/* Fewer groups are better put together by one process. */
#define VX_LEAST_GROUPS		256

/*
 * Share of cpu_operator_cost for telling which share a row belongs to, by an integer
 * or by another value.
 */
#define VX_SHARE_ROW_COST	0.1
#define VX_SHARE_VALUE_COST	0.5

/* Share of parallel_setup_cost that partitions add to it. */
#define VX_PARTITIONS_COST	0.5

/*
 * An aggregation in each participant, of what it reads of the table, or of
 * its share of another plan's rows.  NULL: there is no such plan.  Costs are
 * still to be set, less *saved.
 */
static CustomPath *
participants_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
				  Relation relation, PathTarget *target, const VxAggQuery *query,
				  VxAggMode mode, Cost *saved)
{
	CustomPath *path;
	Path	   *below;

	if (!grouped_rel->consider_parallel || input_rel->partial_pathlist == NIL)
		return NULL;
	below = linitial(input_rel->partial_pathlist);
	*saved = 0;
	if (relation == NULL)
	{
		below = vx_agg_feed_source(below, input_rel->partial_pathlist, saved);
		path = vx_agg_make_feed_path(root, grouped_rel, target, query, mode, below);
	}
	else
	{
		below = (Path *) vx_make_vector_scan_path(root, input_rel, relation,
												  vx_agg_scan_target(root, query),
												  below->parallel_workers);
		if (below == NULL)
			return NULL;
		path = vx_agg_make_path(grouped_rel, target, query, mode, NIL, below);
	}
	path->path.parallel_safe = true;
	path->path.parallel_workers = below->parallel_workers;
	return path;
}

static void
add_final_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
			   Relation relation, const VxAggQuery *query)
{
	Cost		saved;
	CustomPath *partial = participants_path(root, input_rel, grouped_rel, relation,
											vx_agg_partial_target(), query, VX_AGG_PARTIAL,
											&saved);
	Path	   *below;
	CustomPath *final;
	Path	   *gather;
	double		ngroups;
	double		nstates;
	double		rows;
	Cost		cost;

	if (partial == NULL)
		return;
	below = linitial(partial->custom_paths);
	ngroups = vx_agg_count_groups(root, query, input_rel->rows);
	nstates = Min(ngroups, below->rows) * vx_parallel_divisor(below);
	vx_agg_cost_path(root, partial, query, relation &&
					 vx_agg_discount_footers(input_rel, relation, query, below) ? 0 :
					 below->rows, Min(ngroups, below->rows));
	partial->path.startup_cost -= saved;
	/* no rows are made of groups: what states cost is the final node's */
	partial->path.total_cost = partial->path.startup_cost;
	rows = ceil(nstates * VX_AGG_STATE_BYTES / BLCKSZ);
	gather = (Path *) create_gather_path(root, grouped_rel, &partial->path,
										 partial->path.pathtarget, NULL, &rows);

	final = vx_agg_make_path(grouped_rel, query->target, query, VX_AGG_FINAL, NIL, gather);
	vx_agg_cost_path(root, final, query, nstates,
					 vx_agg_count_results(root, query, input_rel->rows));
	cost = cpu_operator_cost * (nstates * VX_STATE_COST + VX_VALUE_COST *
								vx_agg_count_values(root, query, below->rows) *
								vx_parallel_divisor(below));
	final->path.startup_cost += cost;
	final->path.total_cost += cost;
	if (query->sets != NIL)
		vx_agg_cost_sets(final, query, ngroups);
	vx_agg_offer(grouped_rel, final);
}

/* Participants return complete groups: the path as a partial one, and below Gather. */
static void
add_complete_path(PlannerInfo *root, RelOptInfo *grouped_rel, CustomPath *path)
{
	double		rows = path->path.rows * vx_parallel_divisor(&path->path);

	/* a copy, because it is freed if another one is as good */
	add_partial_path(grouped_rel, memcpy(palloc(sizeof(*path)), path, sizeof(*path)));
	add_path(grouped_rel, (Path *)
			 create_gather_path(root, grouped_rel, &path->path, path->path.pathtarget, NULL,
								&rows));
}

/* Each group's states are written, and put together by whoever has its partition. */
static void
add_partitioned_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
					 Relation relation, const VxAggQuery *query)
{
	CustomPath *path;
	Path	   *below;
	double		ngroups;
	double		divisor;
	Cost		saved;
	Cost		cost;

	if (!vx_enable_partitioned_aggregate || query->keys == NIL || query->sets != NIL)
		return;
	ngroups = vx_agg_count_groups(root, query, input_rel->rows);
	if (ngroups < VX_LEAST_GROUPS)
		return;
	path = participants_path(root, input_rel, grouped_rel, relation, query->target, query,
							 VX_AGG_SHARED, &saved);
	if (path == NULL)
		return;
	below = linitial(path->custom_paths);
	divisor = vx_parallel_divisor(below);
	path->path.parallel_aware = true;
	vx_agg_cost_path(root, path, query, below->rows, clamp_row_est(ngroups / divisor));
	cost = VX_PARTITIONS_COST * parallel_setup_cost +
		cpu_operator_cost * Min(ngroups, below->rows) *
		(VX_PART_STATE_COST + VX_PART_VALUE_COST * vx_agg_numbered_keys(query)) +
		cpu_operator_cost * VX_VALUE_COST *
		vx_agg_count_values(root, query, below->rows) - saved;
	path->path.startup_cost += cost;
	path->path.total_cost += cost;
	add_complete_path(root, grouped_rel, path);
}

/*
 * The key whose values tell shares apart: its most common value leaves the largest
 * share of the rows to one participant, which is returned; 1: there is none.
 */
static double
choose_share_key(PlannerInfo *root, const VxAggQuery *query, double divisor,
				 double selected, int *key)
{
	double		best = 1;
	double		most_values = 0;
	ListCell   *lc;

	foreach(lc, query->keys)
	{
		double		nvalues;
		double		share;

		/* an expression would be computed for all rows by all participants */
		if (!IsA(lfirst(lc), Var))
			continue;
		share = vx_most_common_share(root, lfirst(lc), selected, &nvalues);
		share = Max(share, 1 / Max(1, Min(divisor, nvalues)));
		if (share > best || (share == best && nvalues <= most_values))
			continue;
		best = share;
		most_values = nvalues;
		*key = foreach_current_index(lc);
	}
	return best;
}

/* Each participant reads all rows, and groups those of its share. */
static void
add_shares_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
				Relation relation, const VxAggQuery *query)
{
	CustomPath *path;
	CustomPath *below;
	double		ngroups;
	double		divisor;
	double		share;
	double		selected;
	Cost		cost = 0;
	int			key = 0;
	List	   *private;

	if (!vx_enable_partitioned_aggregate || relation == NULL || query->keys == NIL ||
		query->sets != NIL || !grouped_rel->consider_parallel ||
		input_rel->partial_pathlist == NIL)
		return;
	ngroups = vx_agg_count_groups(root, query, input_rel->rows);
	below = vx_make_vector_scan_path(root, input_rel, relation,
									 vx_agg_scan_target(root, query), 0);
	if (ngroups < VX_LEAST_GROUPS || below == NULL || !below->path.parallel_safe)
		return;
	path = vx_agg_make_path(grouped_rel, query->target, query, VX_AGG_SHARES, NIL, &below->path);
	path->path.parallel_safe = true;
	path->path.parallel_aware = true;
	path->path.parallel_workers =
		((Path *) linitial(input_rel->partial_pathlist))->parallel_workers;
	divisor = vx_parallel_divisor(&path->path);
	selected = Max(1, input_rel->rows);
	selected /= Max(selected, input_rel->tuples);
	share = choose_share_key(root, query, divisor, selected, &key);
	if (share >= 1)
		return;
	private = lfourth(path->custom_private);
	lsecond(private) = lappend_int(lsecond(private), key);
	vx_agg_cost_path(root, path, query, below->path.rows * share,
					 clamp_row_est(ngroups / divisor));
	/* as a parallel scan: vx_cost_scan() */
	if (input_rel->reloptkind == RELOPT_BASEREL)
		cost = vx_workers_cost(path->path.parallel_workers);
	cost += cpu_operator_cost * below->path.rows *
		(vx_is_integer_key(exprType(list_nth(query->keys, key)),
						   list_nth_oid(query->eqops, key)) ?
		 VX_SHARE_ROW_COST : VX_SHARE_VALUE_COST);
	path->path.startup_cost += cost;
	path->path.total_cost += cost;
	add_complete_path(root, grouped_rel, path);
}

/* A state of the server's aggregates may grow with each value; of the built-in ones none does. */
static bool
may_keep_values(const Aggref *agg)
{
	VxAggSpec	spec;

	return agg->aggfnoid >= FirstNormalObjectId && vx_agg_resolve(agg, &spec) &&
		spec.trans == VX_TRANS_SERVER && get_typlen(agg->aggtranstype) == -1;
}

/*
 * All values that a group keeps go on their way at once: they must be sure to
 * have room in one allocation, even if all rows have values of their own.
 */
static bool
values_can_be_sent(RelOptInfo *rel, const VxAggQuery *query)
{
	double		bytes = 0;
	ListCell   *lc;

	foreach(lc, query->aggregates)
	{
		Aggref	   *agg = lfirst_node(Aggref, lc);
		ListCell   *lc2;

		if (agg->aggdistinct == NIL && agg->aggkind != AGGKIND_ORDERED_SET &&
			!may_keep_values(agg))
			continue;
		foreach(lc2, agg->args)
		{
			Node	   *arg = (Node *) lfirst_node(TargetEntry, lc2)->expr;

			bytes += rel->tuples * (sizeof(int64) +
									get_typavgwidth(exprType(arg), exprTypmod(arg)));
			if (IsA(arg, Var) && ((Var *) arg)->varattno > 0)
				bytes += rel->tuples *
					rel->attr_widths[((Var *) arg)->varattno - rel->min_attr];
		}
	}
	return bytes <= MaxAllocSize / 2;
}

void
vx_agg_add_parallel_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
						  Relation relation, const VxAggQuery *query)
{
	add_shares_path(root, input_rel, grouped_rel, relation, query);
	/* states have no columns beside */
	if (query->dependents != NIL)
		return;
	/* of a join's rows nobody knows how many values they bring at most */
	if (!vx_agg_can_combine(query->aggregates, relation && query->sets == NIL) ||
		!values_can_be_sent(input_rel, query))
		return;
	add_final_path(root, input_rel, grouped_rel, relation, query);
	add_partitioned_path(root, input_rel, grouped_rel, relation, query);
}
