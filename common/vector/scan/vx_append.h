/*-------------------------------------------------------------------------
 *
 * vx_append.h
 *	  The custom node that hands out vectors of an Append's children.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_APPEND_H
#define VX_APPEND_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/extensible.h"

extern CustomScanMethods vx_append_methods;

/* From vx_init(). */
extern void vx_append_init(void);

/* The plan below the node, if it is such, or NULL: its columns are the node's. */
extern PlanState *vx_append_child(PlanState *ps);

#endif							/* VX_APPEND_H */
