/*-------------------------------------------------------------------------
 *
 * vx_agg_path_int.h
 *	  What the files that make paths of aggregation share.
 *
 *	 vx_agg_path.c		the hook; one table
 *	 vx_agg_parallel_path.c	the same in parallel, and joins
 *	 vx_agg_append.c	many: partitions, children, arms of UNION ALL, joins
 *	 vx_setop_path.c	set operations
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_AGG_PATH_INT_H
#define VX_AGG_PATH_INT_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "utils/relcache.h"

#include "vx_agg_spec.h"

/* Of a group, for its keys and for each aggregate. */
#define VX_AGG_STATE_BYTES		64

/* Share of cpu_tuple_cost for one value of a row that is put into a vector. */
#define VX_AGG_FEED_COST	0.06

/* A grouping: keys and aggregates as the planner has them, each once. */
typedef struct VxAggQuery
{
	List	   *keys;
	List	   *aggregates;
	List	   *having;
	List	   *eqops;			/* of the keys */
	List	   *sets;			/* vx_agg_sets() */
	List	   *dependents;		/* columns beside that the keys determine */
	PathTarget *target;			/* what comes out */
	int			setop;			/* VxAggSetOpKind */
	bool		algebra;		/* sums of x + c from the sum of x (vx_agg_linear.c) */
} VxAggQuery;

/*
 * relid: the table whose columns they are of; 0: not of one table.  What keeps it from being
 * done in vectors is noted (vx_fallback.h).
 */
extern bool vx_agg_is_supported(PlannerInfo *root, const RelOptInfo *input_rel,
								const VxAggQuery *query, List *clauses, Index relid);

/*
 * Columns of what the grouping puts out that are neither keys nor within aggregates.  The
 * parser has seen to it that the keys determine them.  NIL: none, or not columns alone.
 */
extern List *vx_agg_dependents(const VxAggQuery *query);

/* What expressions have of one kind of node, each once; not what is within them. */
extern List *vx_agg_collect(const void *exprs, NodeTag tag);

/* One table, all of whose rows are taken as vectors. */
extern void vx_agg_add_table_paths(PlannerInfo *root, RelOptInfo *input_rel,
								   RelOptInfo *grouped_rel, const VxAggQuery *query,
								   List *clauses, Relation relation);

/*
 * columns: NIL if below is a scan of vectors or gives states; else, rows come
 * from below, and these are the positions in them of what
 * vx_agg_operands() lists.  Costs are still to be set.
 */
extern CustomPath *vx_agg_make_path(RelOptInfo *parent, PathTarget *target,
									const VxAggQuery *query, VxAggMode mode,
									List *columns, Path *below);

/* Keys whose words are no values, but numbers of them. */
extern int	vx_agg_numbered_keys(const VxAggQuery *query);

/* nrows: that come from below, or groups whose states do. */
extern void vx_agg_cost_path(PlannerInfo *root, CustomPath *cpath,
							 const VxAggQuery *query, double nrows, double ngroups);

/* Adds the path, not to be given up for the order of one that costs as much. */
extern void vx_agg_offer(RelOptInfo *grouped_rel, CustomPath *cpath);

/* Columns that keys and aggregates are computed from. */
extern PathTarget *vx_agg_scan_target(PlannerInfo *root, const VxAggQuery *query);

/* What a partial node puts out. */
extern PathTarget *vx_agg_partial_target(void);

/*
 * States of all the aggregates can be put together; values: those that keep
 * values of their groups (DISTINCT, percentiles), and the server's own, too.
 */
extern bool vx_agg_can_combine(List *aggregates, bool values);

/* So many values are kept. */
extern double vx_agg_count_values(PlannerInfo *root, const VxAggQuery *query, double nrows);

extern double vx_agg_count_groups(PlannerInfo *root, const VxAggQuery *query, double nrows);

/* Groups of all sets, if there are any. */
extern double vx_agg_count_results(PlannerInfo *root, const VxAggQuery *query, double nrows);

/*
 * Where footers give all that is wanted, nothing is read but them: the scan
 * costs no more than looking into the row groups.  True if so.
 */
extern bool vx_agg_discount_footers(RelOptInfo *rel, Relation relation,
									const VxAggQuery *query, Path *scan);

/*
 * vx_agg_parallel_path.c: participants aggregate vectors of the table, or, if
 * relation is NULL, what they get of another plan.
 */
extern void vx_agg_add_parallel_paths(PlannerInfo *root, RelOptInfo *input_rel,
									  RelOptInfo *grouped_rel, Relation relation,
									  const VxAggQuery *query);

/* So many groups, or values of DISTINCT and percentiles, have room in memory. */
extern bool vx_agg_groups_fit(const VxAggQuery *query, double ngroups);
extern bool vx_agg_values_fit(PlannerInfo *root, const VxAggQuery *query, double nrows);

/*
 * vx_agg_sets_path.c.  Of GROUPING SETS the numbers of the keys, and then for
 * each set those that it has; NIL: there are none.  The groups of all sets, and
 * what is added to a path's costs for making them out of groups of all keys.
 */
extern List *vx_agg_sets(PlannerInfo *root, const List *clauses);
extern bool vx_agg_sets_are_supported(const VxAggQuery *query);
extern double vx_agg_count_set_groups(PlannerInfo *root, const VxAggQuery *query,
									  double nrows);
extern void vx_agg_cost_sets(CustomPath *path, const VxAggQuery *query, double ngroups);

/* A path of ours that gives groups; then what it groups. */
extern bool vx_agg_is_path(Path *path, VxAggQuery *query);

/*
 * Tells a path of ours that groups are sorted by entry of keys and aggregates
 * and that only so many are wanted: limits is vx_topn_limits().  any_tie:
 * which of equal groups come does not matter.
 */
extern void vx_agg_set_topn(CustomPath *path, int entry, bool descending,
							bool nulls_first, bool any_tie, List *limits);

/* vx_agg_topn_path.c: ORDER BY ... LIMIT, above input_rel that has such paths. */
extern void vx_agg_add_topn_paths(PlannerInfo *root, RelOptInfo *input_rel,
								  RelOptInfo *ordered_rel);

/*
 * vx_agg_append.c.  An aggregation of what another plan returns: rows, or
 * vectors of a join.
 */
extern CustomPath *vx_agg_make_feed_path(PlannerInfo *root, RelOptInfo *parent,
										 PathTarget *target, const VxAggQuery *query,
										 VxAggMode mode, Path *below);

/*
 * The best of the paths for that.  saved: a join of vectors costs so much less
 * than it says, as no rows are made of them.
 */
extern Path *vx_agg_feed_source(Path *cheapest, List *paths, Cost *saved);

/* vx_setop_path.c: UNION, INTERSECT and EXCEPT, of which rel is one. */
extern void vx_setop_add_paths(PlannerInfo *root, RelOptInfo *rel);

extern void vx_agg_add_append_paths(PlannerInfo *root, RelOptInfo *input_rel,
									RelOptInfo *grouped_rel, const VxAggQuery *query);

#endif							/* VX_AGG_PATH_INT_H */
