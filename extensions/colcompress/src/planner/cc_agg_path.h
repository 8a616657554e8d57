/*-------------------------------------------------------------------------
 *
 * cc_agg_path.h
 *	  Aggregation over vectors, offered beside the server's own.
 *
 *	 plan->custom_scan_tlist	group keys, then the aggregates
 *	 plan->custom_private		list of the keys' equality operators
 *	 plan->custom_plans			the scan below
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_AGG_PATH_H
#define CC_AGG_PATH_H

#include "postgres.h"

/* Name under which the executor registers the node. */
#define CC_AGGREGATE_NAME "ColcompressAggregate"

/* Installs the planner's hook and settings; from _PG_init. */
extern void cc_agg_path_init(void);

#endif							/* CC_AGG_PATH_H */
