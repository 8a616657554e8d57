/*-------------------------------------------------------------------------
 *
 * vx_agg_path.h
 *	  Aggregation over vectors, offered beside the server's own.
 *
 *	 plan->custom_scan_tlist	group keys, then the aggregates; a partial node
 *								has its output, a bytea, at the end
 *	 plan->custom_private		list of the keys' equality operators, list of
 *								one VxAggMode, and NIL or, for rows that the
 *								node makes vectors of, where in them each of
 *								vx_agg_operands() is (-1 alone: there are none)
 *	 plan->custom_plans			the scan below; what returns rows; or what
 *								returns states of partial nodes
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_AGG_PATH_H
#define VX_AGG_PATH_H

#include "postgres.h"

#include "nodes/pathnodes.h"

typedef enum VxAggMode
{
	VX_AGG_PLAIN,				/* rows to groups */
	VX_AGG_PARTIAL,				/* in a parallel worker: rows to states of groups */
	VX_AGG_FINAL				/* those to groups */
} VxAggMode;

/* For create_upper_paths_hook. */
extern void vx_create_upper_paths(PlannerInfo *root, UpperRelationKind stage,
								  RelOptInfo *input_rel, RelOptInfo *output_rel,
								  void *extra);

/* From vx_init(). */
extern void vx_agg_path_init(void);

#endif							/* VX_AGG_PATH_H */
