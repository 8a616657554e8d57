/*-------------------------------------------------------------------------
 *
 * vx_topn_path.h
 *	  ORDER BY ... LIMIT over one table: a scan that knows the limit.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_TOPN_PATH_H
#define VX_TOPN_PATH_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "utils/rel.h"

/*
 * A scan that knows the limit has three expressions behind its quals in
 * custom_exprs: the first sort key, LIMIT and OFFSET (null: none).  Its
 * custom_private is a list of integers:
 */
typedef enum VxTopNField
{
	VX_TOPN_NQUALS,
	VX_TOPN_DESCENDING,
	VX_TOPN_NULLS_FIRST,
	VX_TOPN_NFIELDS
} VxTopNField;

/* Expressions behind the quals. */
typedef enum VxTopNExpr
{
	VX_TOPN_KEY,
	VX_TOPN_LIMIT,
	VX_TOPN_OFFSET,
	VX_TOPN_NEXPRS
} VxTopNExpr;

/* For create_upper_paths_hook at UPPERREL_ORDERED; input_rel is our table. */
extern void vx_topn_add_path(PlannerInfo *root, RelOptInfo *input_rel,
							 RelOptInfo *ordered_rel, Relation relation);

/* The same for partitions, children by inheritance, and arms of UNION ALL. */
extern void vx_topn_add_append_path(PlannerInfo *root, RelOptInfo *input_rel,
									RelOptInfo *ordered_rel);

#endif							/* VX_TOPN_PATH_H */
