/*-------------------------------------------------------------------------
 *
 * cc_topn_path.h
 *	  ORDER BY ... LIMIT over one table: a scan that knows the limit.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_TOPN_PATH_H
#define CC_TOPN_PATH_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "utils/rel.h"

/*
 * A scan that knows the limit has three expressions behind its quals in
 * custom_exprs: the first sort key, LIMIT and OFFSET (null: none).  Its
 * custom_private is a list of integers:
 */
typedef enum CcTopNField
{
	CC_TOPN_NQUALS,
	CC_TOPN_DESCENDING,
	CC_TOPN_NULLS_FIRST,
	CC_TOPN_NFIELDS
} CcTopNField;

/* Expressions behind the quals. */
typedef enum CcTopNExpr
{
	CC_TOPN_KEY,
	CC_TOPN_LIMIT,
	CC_TOPN_OFFSET,
	CC_TOPN_NEXPRS
} CcTopNExpr;

/* For create_upper_paths_hook at UPPERREL_ORDERED; input_rel is our table. */
extern void cc_topn_add_path(PlannerInfo *root, RelOptInfo *input_rel,
							 RelOptInfo *ordered_rel, Relation relation);

/* The same for partitions, children by inheritance, and arms of UNION ALL. */
extern void cc_topn_add_append_path(PlannerInfo *root, RelOptInfo *input_rel,
									RelOptInfo *ordered_rel);

/* Settings; from _PG_init. */
extern void cc_topn_path_init(void);

#endif							/* CC_TOPN_PATH_H */
