/*-------------------------------------------------------------------------
 *
 * vx_arms.h
 *	  Vectors of what several plans return, one after another.
 *
 * For nodes above a set operation or an Append.  Whoever reads the arms chooses which
 * comes next.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_ARMS_H
#define VX_ARMS_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "vx_batch.h"

typedef struct VxArm VxArm;

typedef struct VxArms
{
	int			ncolumns;
	VxBatch    *batch;			/* of the rows at hand, all of one arm */
	uint64		group;			/* tells apart what dictionaries belong to */
	int			current;		/* number of the arm that is being read */
	bool		numbered;
	VxVector	number;			/* the same as a column */
	int			narms;
	VxArm	   *arms;
	uint64		arm_group;		/* the same as group, of the arm's own node */
} VxArms;

/*
 * The first ncolumns columns of what the children return.  numbered: behind them
 * stands the number of the row's arm, an int4.  In the current memory context.
 */
extern VxArms *vx_arms_create(List *children, int ncolumns, bool numbered);

/* From here on, rows of this arm. */
extern void vx_arms_begin(VxArms *arms, int number);

/* The batch on the next rows of the arm; false at its end. */
extern bool vx_arms_next(VxArms *arms);

/* After the children have been rescanned. */
extern void vx_arms_rescan(VxArms *arms);

#endif							/* VX_ARMS_H */
