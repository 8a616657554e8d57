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
 * What planning keeps of a table of ours, or of a parent of such, in its RelOptInfo's
 * fdw_private: if that is free.  TimescaleDB keeps things of its chunks there.
 */
typedef struct VxRelNotes
{
	uint64		magic;
	BitmapHeapPath *bitmap;		/* the server's cheapest, or NULL */
	double		sorted_share;	/* of the rows that stand in sorted row groups; -1: not asked */

	/* of a table: its scan by vectors for joins, serial and partial */
	Path	   *scan[2];

	/* of a parent: what vx_append_path.c has found, serial and partial */
	bool		append_known[2];
	Path	   *append[2];
	const char *append_trouble;
} VxRelNotes;

/* NULL: there are none, or the place is another's.  Make: if there are none yet. */
extern VxRelNotes *vx_rel_notes(RelOptInfo *rel, bool make);

#endif							/* VX_REL_NOTES_H */
