/*-------------------------------------------------------------------------
 *
 * sh_merge.h
 *	  Strays put where they belong, group by group.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_MERGE_H
#define SH_MERGE_H

#include "postgres.h"

#include "access/itup.h"

#include "sh_move.h"
#include "zm_scan_int.h"

/* One transaction's share of a merge. */
typedef struct ShMergeStep
{
	Relation	rel;
	Relation	index;
	ShMover    *mover;
	MemoryContext context;		/* where the key returned is allocated */
	int			limit;			/* rows, or a few more */
	bool		refill;			/* only fill room that was made before */
	int			nmoves;			/* rows given to the mover */
	bool		made_room;		/* that is to be filled once it is free */
} ShMergeStep;

extern IndexTuple sh_merge_rows(ShMergeStep *step, IndexTuple from);

/* sh_compact.c */
extern IndexTuple sh_row_key(const ZmSpace *space, Relation rel,
							 HeapTuple tuple, MemoryContext context);
extern bool sh_row_has_key(const ZmSpace *space, TupleTableSlot *row,
						   IndexTuple key);

#endif							/* SH_MERGE_H */
