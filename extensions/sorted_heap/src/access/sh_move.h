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

#include "executor/tuptable.h"
#include "storage/block.h"
#include "utils/rel.h"

typedef struct ZmMover ZmMover;

/* Where moved rows go; it lasts longer than one mover. */
typedef struct ZmRoom
{
	BlockNumber target;			/* the page that is being filled */
	BlockNumber next;			/* empty pages are looked for from here on */
	BlockNumber end;			/* and before here; InvalidBlockNumber:
								 * everywhere, and the table may grow */
	int64		emptied;		/* pages that have lost their last row */
} ZmRoom;

typedef struct ZmMove
{
	ItemPointerData from;
	ItemPointerData to;
	bool		deleted;		/* the old tuple is */
} ZmMove;

/* sh_move.c */
extern ZmMover *zm_move_begin(Relation rel, ZmRoom *room);
extern void zm_move_tuple(ZmMover *mover, HeapTuple tuple, BlockNumber page);
extern bool zm_move_end(ZmMover *mover, int64 *placed);

/* sh_leave.c */
extern bool zm_delete_quietly(Relation rel, ItemPointer tid);
extern int64 zm_leave_old(Relation rel, ZmMove *moves, int nmoves);

/* sh_room.c */
extern Size zm_page_room(Relation rel, BlockNumber block);
extern BlockNumber zm_room_next(Relation rel, ZmRoom *room);
extern BlockNumber zm_room_count(Relation rel);
extern void zm_room_begin(void);
extern void zm_room_prune(Relation rel);
extern void zm_room_reclaim(Relation rel, bool last);

#endif							/* SH_MOVE_H */
