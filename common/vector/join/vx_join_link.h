/*-------------------------------------------------------------------------
 *
 * vx_join_link.h
 *	  Hash joins tell the scans below their probe side which rows can match.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_JOIN_LINK_H
#define VX_JOIN_LINK_H

#include "postgres.h"

#include "executor/executor.h"

/* Once the executor has started a query with scans of ours. */
extern void vx_link_joins(QueryDesc *queryDesc);

#endif							/* VX_JOIN_LINK_H */
