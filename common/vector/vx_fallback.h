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

/*
 * The same of one side of a join of these relations: it is shown unless another reason is known, or they have a path
 * that is a join of vectors, from another side.
 */
extern void vx_fallback_of_side(PlannerInfo *root, Relids relids, const char *reason);

/* Names of the relations. */
extern const char *vx_fallback_names(PlannerInfo *root, Relids relids);

/*
 * Strings: what has not been shown yet, of the relation's query and of those around it in which
 * this one is a subquery.
 */
extern List *vx_fallback_take(PlannerInfo *root, const RelOptInfo *rel);

/* Around the planning of a query, which may plan others. */
extern List *vx_fallback_begin(void);
extern void vx_fallback_end(List *before);

#endif							/* VX_FALLBACK_H */
