/*-------------------------------------------------------------------------
 *
 * vx_lookup.h
 *	  The custom node that answers a correlated aggregate out of groups.
 *
 *	 vx_lookup_node.c	the node, groups in memory
 *	 vx_lookup_disk.c	groups on disk
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_LOOKUP_H
#define VX_LOOKUP_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"

#include "vx_hash.h"

extern CustomScanMethods vx_lookup_methods;

typedef struct VxLookupState VxLookupState;

/* The node, if it is such, or NULL. */
extern VxLookupState *vx_lookup_state(PlanState *ps);

/*
 * The only table of keys of which groups are wanted, once it is finished; and the key's
 * column of the grouped plan's rows, and its clause.  NULL: all are.
 */
extern VxHash *vx_lookup_asked(VxLookupState *state, PlanState **grouped, AttrNumber *attno,
							   OpExpr **clause);

/* ---- vx_lookup_disk.c ---- */

typedef struct VxLookupDisk VxLookupDisk;

/* Rows of this shape, in the current memory context. */
extern VxLookupDisk *vx_lookup_disk_create(TupleDesc rows);

/* hash: of the row's keys. */
extern void vx_lookup_disk_add(VxLookupDisk *disk, uint64 hash, const Datum *values,
							   const bool *isnull);

/* No row is added any more; rows can be found. */
extern void vx_lookup_disk_finish(VxLookupDisk *disk);

/*
 * The row with these keys, as the table compares them; its values stay until
 * the next lookup.  False: there is none.
 */
extern bool vx_lookup_disk_find(VxLookupDisk *disk, VxHash *table, const Datum *keys,
								const Datum **values, const bool **isnull);

extern void vx_lookup_disk_end(VxLookupDisk *disk);

/* From vx_init(). */
extern void vx_lookup_init(void);

#endif							/* VX_LOOKUP_H */
