/*-------------------------------------------------------------------------
 *
 * st_modify.c
 *	  DELETE and UPDATE of row-group rows (I3).
 *
 * A delete makes a tombstone; an update inserts the new version into the
 * delta first and makes a tombstone that forwards to it.  Those of many rows go
 * to row groups (st_update_many.c).  Rows of the delta are heapam's.  Who may do
 * it, and when, is decided in st_lock.c.
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

/* st_row_op_begin() for a change. */
static void
begin_change(StRowOp *op, Relation rel, ItemPointer tid, CommandId cid,
			 bool wait, XLTW_Oper oper, TM_FailureData *tmfd)
{
	st_row_op_begin(op, rel, tid, cid, tmfd);
	op->mode = LockTupleExclusive;
	op->policy = wait ? LockWaitBlock : LockWaitSkip;
	op->oper = oper;
}

/*
 * Acquires a row for deletion and re-checks it with the crosscheck snapshot.
 * verb is for messages.  TM_Ok: st_row_release() is due.
 */
static TM_Result
acquire_for_change(StRowOp *op, Snapshot crosscheck, const char *verb)
{
	TM_Result	result;

	if (IsInParallelMode())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot %s tuples during a parallel operation", verb)));

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
	if (st_tid_is_virtual(forward) && st_row_from_tid(forward) != op->row)
		payload.version = ST_TOMBSTONE_VERSION;
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

	begin_change(&op, rel, tid, cid, wait, XLTW_Delete, tmfd);
	result = acquire_for_change(&op, crosscheck, "delete");
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

	begin_change(&op, rel, otid, cid, false, XLTW_Update, tmfd);
	op.new_row = slot;
	result = acquire_for_change(&op, InvalidSnapshot, "move");
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

/* The new version of an acquired row to the delta. */
static void
update_to_delta(StRowOp *op, TupleTableSlot *slot, int options)
{
	st_heapam()->tuple_insert(op->rel, slot, op->cid, options, NULL);
	st_delta_grew(op->rel, 1);
	if (op->mode == LockTupleNoKeyExclusive)
		st_copy_key_locks(op, &slot->tts_tid);
	bury(op, &slot->tts_tid);
	/* heap has counted an insert: make that an update. */
	pgstat_count_heap_insert(op->rel, -1);
}

/* To a row group; the tombstone tells where it is going to be. */
static void
update_to_group(StRowOp *op, TupleTableSlot *slot, StPending *pending)
{
	ItemPointerData forward;

	st_tid_from_row(&forward, st_pending_next_row(pending, op->rel, op->cid));
	bury(op, &forward);
	st_pending_add_version(pending, op->rel, slot, op->cid);
	Assert(ItemPointerEquals(&slot->tts_tid, &forward));
}

/*
 * Updates a row of a row group.  pending: the new version may go to a row
 * group, or NULL.
 */
static TM_Result
update_row(StRowOp *op, TupleTableSlot *slot, StPending *pending,
		   Snapshot crosscheck, bool no_logical)
{
	TM_Result	result;

	if (pending != NULL && st_update_begin_swath(pending, op))
	{
		st_pending_add_version(pending, op->rel, slot, op->cid);
		st_delta_grew(op->rel, 1);
		return TM_Ok;
	}
	result = acquire_for_change(op, crosscheck, "update");
	if (result != TM_Ok)
		return result;
	CheckForSerializableConflictIn(op->rel, &op->tid,
								   ItemPointerGetBlockNumber(&op->tid));
	if (pending != NULL && !st_has_key_locks(op))
		update_to_group(op, slot, pending);
	else
	{
		if (!no_logical)
			st_logical_delete(op->rel, &op->tid, op->cid);
		update_to_delta(op, slot, no_logical ? HEAP_INSERT_NO_LOGICAL : 0);
	}
	return TM_Ok;
}

/* table_tuple_update(). */
TM_Result
st_tuple_update(Relation rel, ItemPointer otid, TupleTableSlot *slot, CommandId cid,
				ST_SINCE_19(uint32 options,) Snapshot snapshot, Snapshot crosscheck,
				bool wait, TM_FailureData *tmfd, LockTupleMode *lockmode,
				TU_UpdateIndexes *update_indexes)
{
	StPending  *pending;
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
	pending = st_many_updates(rel, cid, crosscheck);
	if (pending != NULL &&
		st_update_in_swath(pending, rel, st_row_from_tid(otid), cid))
	{
		st_pending_add_version(pending, rel, slot, cid);
		st_delta_grew(rel, 1);
		result = TM_Ok;
	}
	else
	{
		StRowOp		op;

		begin_change(&op, rel, otid, cid, wait, XLTW_Update, tmfd);
		op.new_row = slot;
		result = update_row(&op, slot, pending, crosscheck,
							st_update_no_logical(options));
		st_row_op_end(&op);
	}

	if (result == TM_Ok)
	{
		st_count_update(rel, false, true);
		*update_indexes = TU_All;
	}
	else if (result == TM_Updated)
		*lockmode = st_update_lock_mode(rel, otid, slot);
	return result;
}
