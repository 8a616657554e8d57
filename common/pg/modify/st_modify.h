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
 * Tells logical decoding about the deletion of a row-group row, where the
 * relation's replica identity asks for it.
 */
extern void st_logical_delete(Relation rel, ItemPointer tid, CommandId cid);

/* Is it the tuple that stood for such a row?  (The page may be unlocked.) */
extern bool st_is_logical_dummy(HeapTuple tuple);

#endif							/* ST_MODIFY_H */
