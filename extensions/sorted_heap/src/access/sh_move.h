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

extern ZmMover *zm_move_begin(Relation rel, BlockNumber target);
extern void zm_move_row(ZmMover *mover, TupleTableSlot *slot);
extern BlockNumber zm_move_end(ZmMover *mover);

#endif							/* SH_MOVE_H */
