/*-------------------------------------------------------------------------
 *
 * vx_fallback.h
 *	  Why something is not done in vectors, for EXPLAIN (VERBOSE).
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_FALLBACK_H
#define VX_FALLBACK_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Notes a reason, if the setting is on.  relids: what it is about; the first scan of ours
 * among these, of the same query, shows it.
 */
extern void vx_fallback(PlannerInfo *root, Relids relids, const char *reason);

/* Names of the relations. */
extern const char *vx_fallback_names(PlannerInfo *root, Relids relids);

/* Strings: what has not been shown yet. */
extern List *vx_fallback_take(PlannerInfo *root, const RelOptInfo *rel);

/* Around the planning of a query, which may plan others. */
extern List *vx_fallback_begin(void);
extern void vx_fallback_end(List *before);

#endif							/* VX_FALLBACK_H */
