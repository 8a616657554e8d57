/*-------------------------------------------------------------------------
 *
 * vx_lookup.h
 *	  The custom node that answers a correlated aggregate out of groups.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_LOOKUP_H
#define VX_LOOKUP_H

#include "postgres.h"

#include "nodes/extensible.h"

extern CustomScanMethods vx_lookup_methods;

/* From vx_init(). */
extern void vx_lookup_init(void);

#endif							/* VX_LOOKUP_H */
