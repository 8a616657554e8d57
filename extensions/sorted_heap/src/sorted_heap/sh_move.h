/*-------------------------------------------------------------------------
 *
 * sh_move.h
 *	  Rows moved to other pages of their table, for compaction.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_MOVE_H
#define SH_MOVE_H

#include "postgres.h"

#include "access/itup.h"
#include "executor/tuptable.h"
#include "storage/block.h"
#include "utils/rel.h"

#include "zm_scan_int.h"

typedef struct ShMover ShMover;

/* Where moved rows go; it lasts longer than one mover. */
typedef struct ShRoom
{
	BlockNumber target;			/* the page that is being filled */
	BlockNumber next;			/* empty pages are looked for from here on */
	BlockNumber end;			/* and before here; InvalidBlockNumber:
								 * everywhere, and the table may grow */
	int64		emptied;		/* pages that have lost their last row */
} ShRoom;

typedef struct ShMove
{
	ItemPointerData from;
	ItemPointerData to;
	bool		deleted;		/* the old tuple is */
} ShMove;

/* sh_move.c */
extern ShMover *sh_move_begin(Relation rel, ShRoom *room);
extern void sh_move_tuple(ShMover *mover, HeapTuple tuple, BlockNumber page);
extern bool sh_move_end(ShMover *mover, int64 *placed);

/* sh_leave.c */
extern int64 sh_leave_old(Relation rel, ShMove *moves, int nmoves);

/* sh_room.c */
extern Size sh_page_room(Relation rel, BlockNumber block);
extern BlockNumber sh_room_next(Relation rel, ShRoom *room);
extern BlockNumber sh_room_count(Relation rel);
extern void sh_room_begin(void);
extern void sh_room_prune(Relation rel);
extern void sh_room_reclaim(Relation rel, bool last);

/* ---- sh_merge.c: strays put where they belong, group by group ---- */

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

#endif							/* SH_MOVE_H */
