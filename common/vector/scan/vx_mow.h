/*-------------------------------------------------------------------------
 *
 * vx_mow.h
 *	  A scan below DELETE has the rows of a vector deleted at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_MOW_H
#define VX_MOW_H

#include "postgres.h"

#include "executor/execdesc.h"
#include "nodes/execnodes.h"

#include "vx_batch.h"

/* What a scan has to know for that. */
typedef struct VxMow
{
	PlanState  *scan;
	Relation	rel;
	bool		counts;			/* in the statement's number of rows */
	int			next;			/* row of the batch to try again at, or INT_MAX */
	uint64		ndeleted;		/* so far */
} VxMow;

/* The query is set up: tells its scans whose rows DELETE gets. */
extern void vx_mow_link(QueryDesc *queryDesc);

/*
 * Deletes selected rows of the batch, from row from on.  Those that are deleted
 * leave the selection.
 */
extern void vx_mow_batch(VxMow *mow, VxBatch *batch, const StGroup *group, int from);

#endif							/* VX_MOW_H */
