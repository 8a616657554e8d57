/*-------------------------------------------------------------------------
 *
 * st_modify.c
 *	  DELETE and UPDATE of row-group rows (I3).
 *
 * A delete makes a tombstone; an update inserts the new version into the
 * delta first and makes a tombstone that forwards to it.  Rows of the delta
 * are heapam's.  Who may do it, and when, is decided in st_lock.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"

#include "st_modify.h"
#include "st_read.h"
#include "st_write.h"

/*
 * Acquires a row for deletion and re-checks it with the crosscheck snapshot.
 * verb is for messages.  TM_Ok: st_row_release() is due.
 */
static TM_Result
acquire_for_change(StRowOp *op, Snapshot crosscheck, bool wait,
				   XLTW_Oper oper, const char *verb)
{
	TM_Result	result;

	if (IsInParallelMode())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot %s tuples during a parallel operation", verb)));

	op->mode = LockTupleExclusive;
	op->policy = wait ? LockWaitBlock : LockWaitSkip;
	op->oper = oper;
	result = st_row_acquire(op);

	if (result == TM_Invisible)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("attempted to %s invisible tuple", verb)));
	if (result == TM_WouldBlock)
		return TM_BeingModified;

	if (result == TM_Ok && crosscheck != InvalidSnapshot)
	{
		StFetch		fetch;

		st_fetch_init(&fetch, op->rel);
		if (!st_fetch_row(&fetch, &op->tid, crosscheck, NULL))
		{
			st_row_release(op);
			op->tmfd->ctid = op->tid;
			op->tmfd->xmax = InvalidTransactionId;
			op->tmfd->cmax = InvalidCommandId;
			result = TM_Updated;
		}
		st_fetch_end(&fetch);
	}
	return result;
}

/* Makes the tombstone of an acquired row and lets others see it. */
static void
bury(StRowOp *op, const ItemPointerData *forward)
{
	StTombstonePayload payload;

	st_tombstone_encode(forward, &payload);
	st_catalog_insert(&op->catalog, ST_TOMBSTONE, op->row, &payload,
					  sizeof(payload), op->cid, 0, NULL);
	st_note_buried(op->rel, op->row, op->cid);
	st_row_release(op);
	/* Deleted rows of row groups are as much to do as rows of the delta. */
	st_delta_grew(op->rel, 1);
}

/* table_tuple_delete(). */
TM_Result
st_tuple_delete(Relation rel, ItemPointer tid, CommandId cid, ST_SINCE_19(uint32 options,)
				Snapshot snapshot, Snapshot crosscheck, bool wait,
				TM_FailureData *tmfd ST_UNTIL_18(, bool changing_part))
{
	StRowOp		op;
	TM_Result	result;

	if (!st_tid_is_virtual(tid))
	{
		result = st_heapam()->tuple_delete(rel, tid, cid, ST_SINCE_19(options,) snapshot,
										   crosscheck, wait, tmfd
										   ST_UNTIL_18(, changing_part));
		return result == TM_Deleted ?
			st_deleted_or_moved(rel, tid, InvalidTransactionId, tmfd) : result;
	}

	st_row_op_begin(&op, rel, tid, cid, tmfd);
	result = acquire_for_change(&op, crosscheck, wait, XLTW_Delete, "delete");
	if (result == TM_Ok)
	{
		ItemPointerData forward = *tid;

		CheckForSerializableConflictIn(rel, tid,
									   ItemPointerGetBlockNumber(tid));
		if (!st_delete_no_logical(options))
			st_logical_delete(rel, tid, cid);
		if (st_changing_part(options, changing_part))
			ItemPointerSetMovedPartitions(&forward);
		bury(&op, &forward);
		pgstat_count_heap_delete(rel);
	}
	st_row_op_end(&op);
	return result;
}

/*
 * Puts the row into the delta as it is: an UPDATE that changes nothing, and of
 * which logical decoding hears nothing.  TM_Ok: slot has the new TID; index
 * entries are the caller's business.  Never waits: TM_BeingModified.
 */
TM_Result
st_move_to_delta(Relation rel, ItemPointer otid, TupleTableSlot *slot,
				 CommandId cid, TM_FailureData *tmfd)
{
	StRowOp		op;
	TM_Result	result;

	st_row_op_begin(&op, rel, otid, cid, tmfd);
	op.new_row = slot;
	result = acquire_for_change(&op, InvalidSnapshot, false, XLTW_Update, "move");
	if (result == TM_Ok)
	{
		CheckForSerializableConflictIn(rel, otid,
									   ItemPointerGetBlockNumber(otid));
		st_heapam()->tuple_insert(rel, slot, cid, HEAP_INSERT_NO_LOGICAL, NULL);
		if (op.mode == LockTupleNoKeyExclusive)
			st_copy_key_locks(&op, &slot->tts_tid);
		bury(&op, &slot->tts_tid);
		pgstat_count_heap_insert(rel, -1);
	}
	st_row_op_end(&op);
	return result;
}

/* table_tuple_update(). */
TM_Result
st_tuple_update(Relation rel, ItemPointer otid, TupleTableSlot *slot, CommandId cid,
				ST_SINCE_19(uint32 options,) Snapshot snapshot, Snapshot crosscheck,
				bool wait, TM_FailureData *tmfd, LockTupleMode *lockmode,
				TU_UpdateIndexes *update_indexes)
{
	StRowOp		op;
	TM_Result	result;

	st_catalog_correct_flags(rel);
	if (!st_tid_is_virtual(otid))
	{
		result = st_heapam()->tuple_update(rel, otid, slot, cid, ST_SINCE_19(options,)
										   snapshot, crosscheck, wait, tmfd, lockmode,
										   update_indexes);
		if (result == TM_Ok && *update_indexes != TU_None)
			st_catalog_hold(rel);
		return result == TM_Deleted ?
			st_deleted_or_moved(rel, otid, InvalidTransactionId, tmfd) : result;
	}

	*lockmode = LockTupleExclusive;
	*update_indexes = TU_None;
	st_row_op_begin(&op, rel, otid, cid, tmfd);
	op.new_row = slot;
	result = acquire_for_change(&op, crosscheck, wait, XLTW_Update, "update");
	if (result == TM_Ok)
	{
		CheckForSerializableConflictIn(rel, otid,
									   ItemPointerGetBlockNumber(otid));
		if (!st_update_no_logical(options))
			st_logical_delete(rel, otid, cid);
		st_heapam()->tuple_insert(rel, slot, cid,
								  st_update_no_logical(options) ?
								  HEAP_INSERT_NO_LOGICAL : 0, NULL);
		st_delta_grew(rel, 1);
		if (op.mode == LockTupleNoKeyExclusive)
			st_copy_key_locks(&op, &slot->tts_tid);
		bury(&op, &slot->tts_tid);
		/* heap has counted an insert: make that an update. */
		pgstat_count_heap_insert(rel, -1);
		st_count_update(rel, false, true);
		*update_indexes = TU_All;
	}
	else if (result == TM_Updated)
		*lockmode = st_update_lock_mode(rel, otid, slot);
	st_row_op_end(&op);
	return result;
}
