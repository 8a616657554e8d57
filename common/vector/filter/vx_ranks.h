/*-------------------------------------------------------------------------
 *
 * vx_ranks.h
 *	  The n best ranks seen under ORDER BY ... LIMIT n.
 *
 * A rank is an int64 whose order follows that of a sort key, small first.  As
 * different keys may have the same rank, what is equal to the worst of the n
 * may be among the first ones, too; what is worse is not.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_RANKS_H
#define VX_RANKS_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "port/atomics.h"

typedef struct VxRanks VxRanks;

/*
 * n is LIMIT plus OFFSET, expressions of the node's; a null one is none.
 * Allocates in the current memory context, and there later.
 */
extern VxRanks *vx_ranks_create(Expr *limit, Expr *offset, PlanState *node);

/* Parameters may have changed, and everything starts over. */
extern void vx_ranks_rescan(VxRanks *ranks);

/*
 * Finds n if that is not done since the last rescan.  False: there is no
 * limit, or one so large that its ranks would not fit into work_mem.
 */
extern bool vx_ranks_begin(VxRanks *ranks);

/* After vx_ranks_begin() was true: n; and takes a rank into account. */
extern uint64 vx_ranks_bound(const VxRanks *ranks);
extern void vx_ranks_add(VxRanks *ranks, int64 rank);

/* The worst rank that may be among the first ones; PG_INT64_MAX: any. */
extern int64 vx_ranks_last(const VxRanks *ranks);

/*
 * Participants of a parallel scan share the best of their worst ranks: whoever
 * knows n better rows knows it for all.  It starts as VX_RANKS_NONE; NULL: no
 * longer shared.  What is added is told to the others by vx_ranks_publish().
 */
#define VX_RANKS_NONE ((uint64) PG_INT64_MAX)
extern void vx_ranks_share(VxRanks *ranks, pg_atomic_uint64 *last);
extern void vx_ranks_publish(VxRanks *ranks);

#endif							/* VX_RANKS_H */
