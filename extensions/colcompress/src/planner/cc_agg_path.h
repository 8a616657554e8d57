/*-------------------------------------------------------------------------
 *
 * cc_agg_path.h
 *	  Aggregation over vectors, offered beside the server's own.
 *
 *	 plan->custom_scan_tlist	group keys, then the aggregates; a partial node
 *								has its output, a bytea, at the end
 *	 plan->custom_private		list of the keys' equality operators, list of
 *								one CcAggMode, and NIL or, for rows that the
 *								node makes vectors of, where in them each of
 *								cc_agg_operands() is (-1 alone: there are none)
 *	 plan->custom_plans			the scan below; what returns rows; or what
 *								returns states of partial nodes
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_AGG_PATH_H
#define CC_AGG_PATH_H

#include "postgres.h"

typedef enum CcAggMode
{
	CC_AGG_PLAIN,				/* rows to groups */
	CC_AGG_PARTIAL,				/* in a parallel worker: rows to states of groups */
	CC_AGG_FINAL				/* those to groups */
} CcAggMode;

/* Name under which the executor registers the node. */
#define CC_AGGREGATE_NAME "ColcompressAggregate"

/* Installs the planner's hook and settings; from _PG_init. */
extern void cc_agg_path_init(void);

#endif							/* CC_AGG_PATH_H */
