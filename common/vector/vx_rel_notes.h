/*-------------------------------------------------------------------------
 *
 * vx_rel_notes.h
 *	  What planning keeps of a table from one of its steps to the next.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_REL_NOTES_H
#define VX_REL_NOTES_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * What planning keeps of a table of ours, in its RelOptInfo's fdw_private: if that is
 * free.  TimescaleDB keeps things of its chunks there.
 */
typedef struct VxRelNotes
{
	uint64		magic;
	BitmapHeapPath *bitmap;		/* the server's cheapest, or NULL */
	double		sorted_share;	/* of the rows that stand in sorted row groups; -1: not asked */
} VxRelNotes;

/* NULL: there are none, or the place is another's.  Make: if there are none yet. */
extern VxRelNotes *vx_rel_notes(RelOptInfo *rel, bool make);

#endif							/* VX_REL_NOTES_H */
