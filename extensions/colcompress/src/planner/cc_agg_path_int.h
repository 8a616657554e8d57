/*-------------------------------------------------------------------------
 *
 * cc_agg_path_int.h
 *	  What the files that make paths of aggregation share.
 *
 *	 cc_agg_path.c		the hook; one table
 *	 cc_agg_append.c	many: partitions, children, arms of UNION ALL, joins
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_AGG_PATH_INT_H
#define CC_AGG_PATH_INT_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "cc_agg_path.h"

/* Of a group, for its keys and for each aggregate. */
#define CC_AGG_STATE_BYTES		64

/* A grouping: keys and aggregates as the planner has them, each once. */
typedef struct CcAggQuery
{
	List	   *keys;
	List	   *aggregates;
	List	   *having;
	List	   *eqops;			/* of the keys */
	PathTarget *target;			/* what comes out */
} CcAggQuery;

/* relid: the table whose columns they are of; 0: not of one table. */
extern bool cc_agg_is_supported(const CcAggQuery *query, List *clauses, Index relid);

/*
 * columns: NIL if below is a scan of vectors or gives states; else, rows come
 * from below, and these are the positions in them of what
 * cc_agg_operands() lists.  Costs are still to be set.
 */
extern CustomPath *cc_agg_make_path(RelOptInfo *parent, PathTarget *target,
									const CcAggQuery *query, CcAggMode mode,
									List *columns, Path *below);

/* nrows: that come from below, or groups whose states do. */
extern void cc_agg_cost_path(PlannerInfo *root, CustomPath *cpath,
							 const CcAggQuery *query, double nrows, double ngroups);

/* Columns that keys and aggregates are computed from. */
extern PathTarget *cc_agg_scan_target(PlannerInfo *root, const CcAggQuery *query);

/* What a partial node puts out. */
extern PathTarget *cc_agg_partial_target(void);

/* States of all the aggregates can be put together. */
extern bool cc_agg_can_combine(List *aggregates);

extern double cc_agg_count_groups(PlannerInfo *root, const CcAggQuery *query, double nrows);

/* So many groups, or values of DISTINCT and percentiles, have room in memory. */
extern bool cc_agg_groups_fit(const CcAggQuery *query, double ngroups);
extern bool cc_agg_values_fit(PlannerInfo *root, const CcAggQuery *query, double nrows);

/* cc_agg_append.c */
extern void cc_agg_add_append_paths(PlannerInfo *root, RelOptInfo *input_rel,
									RelOptInfo *grouped_rel, const CcAggQuery *query);

#endif							/* CC_AGG_PATH_INT_H */
