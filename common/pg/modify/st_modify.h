/*-------------------------------------------------------------------------
 *
 * st_modify.h
 *	  DELETE and UPDATE.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_MODIFY_H
#define ST_MODIFY_H

#include "postgres.h"

#include "access/tableam.h"

#include "st_lock.h"

extern TM_Result st_tuple_delete(Relation rel, ItemPointer tid, CommandId cid,
								 ST_SINCE_19(uint32 options,)
								 Snapshot snapshot, Snapshot crosscheck,
								 bool wait, TM_FailureData *tmfd
								 ST_UNTIL_18(, bool changing_part));
extern TM_Result st_tuple_update(Relation rel, ItemPointer otid,
								 TupleTableSlot *slot, CommandId cid,
								 ST_SINCE_19(uint32 options,)
								 Snapshot snapshot, Snapshot crosscheck,
								 bool wait, TM_FailureData *tmfd,
								 LockTupleMode *lockmode,
								 TU_UpdateIndexes *update_indexes);

extern TM_Result st_move_to_delta(Relation rel, ItemPointer otid,
								  TupleTableSlot *slot, CommandId cid,
								  TM_FailureData *tmfd);

/*
 * Many rows at once: the caller has the locks of the stretches of rows
 * first..last, and the row of op in one of them.  Sets bit i of *taken if row
 * first + i is not free.  mown: there may be swaths.  (st_taken_rows.c)
 */
#define ST_TAKEN_WORDS	ST_SWATH_WORDS

extern void st_taken_rows(StRowOp *op, uint64 first, uint64 last, bool mown,
						  uint64 *taken);

/*
 * UPDATE of many rows by one command: st_update_many.c
 *
 * The state of the command's new versions if this one is to go to a row group,
 * or NULL.
 */
extern struct StPending *st_many_updates(Relation rel, CommandId cid,
										 Snapshot crosscheck);

/* Adds the row to the swath that grows; false: it must be acquired first. */
extern bool st_update_in_swath(struct StPending *pending, Relation rel, uint64 row,
							   CommandId cid);

/*
 * Begins a swath with op's row, if that is worth it and the row is free; else
 * false.  It never waits, but for the lock of the group.
 */
extern bool st_update_begin_swath(struct StPending *pending, StRowOp *op);

/*
 * Tells logical decoding about the deletion of a row-group row, where the
 * relation's replica identity asks for it.
 */
extern void st_logical_delete(Relation rel, ItemPointer tid, CommandId cid);

/* Is it the tuple that stood for such a row?  (The page may be unlocked.) */
extern bool st_is_logical_dummy(HeapTuple tuple);

#endif							/* ST_MODIFY_H */
