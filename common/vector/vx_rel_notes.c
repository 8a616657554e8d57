/*-------------------------------------------------------------------------
 *
 * vx_rel_notes.c
 *	  What planning keeps of a table from one of its steps to the next.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "vx_rel_notes.h"

/* Nobody else's struct begins so. */
#define NOTES_MAGIC UINT64CONST(0x5354524154414e4f)

VxRelNotes *
vx_rel_notes(RelOptInfo *rel, bool make)
{
	VxRelNotes *notes = rel->fdw_private;

	if (notes == NULL && make)
	{
		rel->fdw_private = notes = palloc0(sizeof(VxRelNotes));
		notes->magic = NOTES_MAGIC;
		notes->sorted_share = -1;
	}
	return notes != NULL && notes->magic == NOTES_MAGIC ? notes : NULL;
}
