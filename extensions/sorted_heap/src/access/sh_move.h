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

typedef struct ShMover ShMover;

extern ShMover *sh_move_begin(Relation rel, BlockNumber target);
extern void sh_move_row(ShMover *mover, TupleTableSlot *slot);
extern BlockNumber sh_move_end(ShMover *mover);

#endif							/* SH_MOVE_H */
