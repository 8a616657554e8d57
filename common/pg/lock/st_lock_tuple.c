/*-------------------------------------------------------------------------
 *
 * st_lock_tuple.c
 *	  The table AM's tuple_lock: to the latest version of a row, wherever
 *	  updates and compaction have put it, and lock it there.
 *
 * A row of a row group is locked through st_lock.c.  From the version that a
 * tombstone forwards to, heapam's chain of t_ctids goes on; where a version
 * was moved by compaction, the origin maps (st_origin.c) say where to.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "st_lock.h"
#include "st_lock_int.h"
#include "st_read.h"

/*
 * Did compaction move the version at the end of a chain of the delta?  *tid
 * is a version whose latest one heap has found deleted; prior is who must
 * have inserted it, or invalid.  The page of a version stays pinned while we
 * look at it.
 */
static bool
find_moved(Relation rel, const ItemPointerData *tid, TransactionId prior,
		   ItemPointer now)
{
	HeapTupleData tuple;

	tuple.t_self = *tid;
	for (;;)
	{
		ItemPointerData next;
		Buffer		buffer;
		HeapTupleHeader header;
		TransactionId xmax;
		bool		found;

		CHECK_FOR_INTERRUPTS();
		found = heap_fetch(rel, SnapshotAny, &tuple, &buffer, false);
		if (!found)
			return false;
		header = tuple.t_data;
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		next = header->t_ctid;
		xmax = HeapTupleHeaderGetUpdateXid(header);
		found = (header->t_infomask & HEAP_XMAX_INVALID) == 0 &&
			!HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask) &&
			(!TransactionIdIsValid(prior) ||
			 HeapTupleHeaderGetRawXmin(header) == prior);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		ReleaseBuffer(buffer);

		if (!found || ItemPointerIndicatesMovedPartitions(&next))
			return false;
		if (ItemPointerEquals(&next, &tuple.t_self))
			return st_origin_of_tid(rel, &tuple.t_self, xmax, now);
		tuple.t_self = next;
		prior = xmax;
	}
}

/*
 * The row that heap found deleted at *tid: is it somewhere else?  Then
 * TM_Updated, with its place in tmfd->ctid.
 */
TM_Result
st_deleted_or_moved(Relation rel, const ItemPointerData *tid,
					TransactionId prior, TM_FailureData *tmfd)
{
	return find_moved(rel, tid, prior, &tmfd->ctid) ? TM_Updated : TM_Deleted;
}

/*
 * Goes on to the latest version, from the one that a tombstone forwards to.
 * From there on heapam's rules for chains of t_ctid hold.  A tuple belongs to
 * the chain only if its inserter changed the version before; otherwise the
 * line pointer was reused.  What this command itself changed is
 * TM_SelfModified.  Heap itself knows whether KEY SHARE has to wait for an
 * update in progress.  The page of the tuple stays pinned until it is locked,
 * so that it is not pruned.  TM_Updated: compaction has moved the latest
 * version to tmfd->ctid, in a row group.
 */
static TM_Result
lock_next_version(StRowOp *op, ItemPointer tid, Snapshot snapshot,
				  TupleTableSlot *slot, uint8 flags)
{
	TM_FailureData *tmfd = op->tmfd;
	ItemPointerData next = tmfd->ctid;
	TransactionId prior = op->updater;

	for (;;)
	{
		SnapshotData dirty;
		HeapTupleData tuple;
		HeapTupleHeader header;
		Buffer		buffer;
		TM_Result	result = TM_Deleted;
		bool		live;

		CHECK_FOR_INTERRUPTS();
		if (ItemPointerIndicatesMovedPartitions(&next))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("tuple to be locked was already moved to another partition due to concurrent update")));

		InitDirtySnapshot(dirty);
		tuple.t_self = next;
		live = heap_fetch(op->rel, &dirty, &tuple, &buffer, true);
		header = tuple.t_data;
		if (header == NULL)
			return TM_Deleted;

		if (HeapTupleHeaderGetRawXmin(header) != prior)
			live = false;
		else if (live && TransactionIdIsValid(dirty.xmax) &&
				 op->mode != LockTupleKeyShare)
		{
			ReleaseBuffer(buffer);
			if (!st_row_wait(op, dirty.xmax))
				return TM_WouldBlock;
			continue;
		}
		else if (live && TransactionIdIsCurrentTransactionId(prior) &&
				 HeapTupleHeaderGetCmin(header) >= op->cid)
		{
			tmfd->xmax = prior;
			tmfd->cmax = HeapTupleHeaderGetCmin(header);
			result = TM_SelfModified;
		}
		else if (live)
		{
			*tid = next;
			result = st_heapam()->tuple_lock(op->rel, tid, snapshot, slot,
											 op->cid, op->mode, op->policy,
											 flags, tmfd);
			if (result == TM_Deleted)
				result = st_deleted_or_moved(op->rel, &next, prior, tmfd);
		}
		else if (!ItemPointerEquals(&tuple.t_self, &header->t_ctid))
		{
			next = header->t_ctid;
			prior = HeapTupleHeaderGetUpdateXid(header);
			ReleaseBuffer(buffer);
			continue;
		}
		else
			result = st_deleted_or_moved(op->rel, &next, prior, tmfd);
		ReleaseBuffer(buffer);
		return result;
	}
}

/*
 * Fills the slot with the row.  A deleter does not matter: we hold a lock, or
 * the caller asks who made the row.
 */
static void
fetch_locked(Relation rel, ItemPointer tid, TupleTableSlot *slot)
{
	StFetch		fetch;

	st_fetch_init(&fetch, rel);
	if (st_fetch_row(&fetch, tid, SnapshotAny, slot))
		ExecMaterializeSlot(slot);	/* its values may be the fetch's */
	else
		elog(ERROR, "locked row (%u,%u) of relation \"%s\" is gone",
			 ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid),
			 RelationGetRelationName(rel));
	st_fetch_end(&fetch);
}

/*
 * FOR KEY SHARE of a row that was updated (not deleted), by somebody who has
 * committed: if it still has its key, its latest version is locked and the
 * caller gets the version that he asked for, as from heap.  A foreign key
 * check under REPEATABLE READ does not fail because of a change of other
 * columns.  Else the result is that of locking the latest version, which is
 * in *latest at *tid.
 */
static TM_Result
lock_updated_for_key(StRowOp *op, ItemPointer tid, Snapshot snapshot,
					 TupleTableSlot *latest, uint8 flags, bool *same_key)
{
	TM_Result	result = lock_next_version(op, tid, snapshot, latest,
										   flags | TUPLE_LOCK_FLAG_FIND_LAST_VERSION);

	*same_key = result == TM_Ok &&
		st_update_lock_mode(op->rel, &op->tid, latest) == LockTupleNoKeyExclusive;
	return result;
}

/* Locks the new version of a row of a row group that was updated. */
static TM_Result
lock_updated(StRowOp *op, ItemPointer tid, Snapshot snapshot,
			 TupleTableSlot *slot, uint8 flags)
{
	TM_FailureData updated = *op->tmfd;
	bool		same_key = false;
	TM_Result	result;

	if (op->mode == LockTupleKeyShare)
		result = lock_updated_for_key(op, tid, snapshot, slot, flags,
									  &same_key);
	else if ((flags & TUPLE_LOCK_FLAG_FIND_LAST_VERSION) != 0)
		result = lock_next_version(op, tid, snapshot, slot, flags);
	else
		return TM_Updated;

	if (same_key)
	{
		*tid = op->tid;
		fetch_locked(op->rel, &op->tid, slot);
	}
	else if ((flags & TUPLE_LOCK_FLAG_FIND_LAST_VERSION) != 0)
		op->tmfd->traversed = true;
	else
	{
		*tid = op->tid;
		*op->tmfd = updated;
		result = TM_Updated;
	}
	return result;
}

/*
 * The same for a row of a row group.  TM_Updated, with FIND_LAST_VERSION: the
 * row is at tmfd->ctid now, a virtual TID.  *changed: an UPDATE has put it
 * there, not a compaction.
 */
static TM_Result
lock_row(Relation rel, ItemPointer tid, Snapshot snapshot,
		 TupleTableSlot *slot, CommandId cid, LockTupleMode mode,
		 LockWaitPolicy policy, uint8 flags, TM_FailureData *tmfd, bool *changed)
{
	StRowOp		op;
	TM_Result	result;

	st_row_op_begin(&op, rel, tid, cid, tmfd);
	op.mode = mode;
	op.policy = policy;
	op.oper = XLTW_Lock;
	op.keep_lock = true;

	result = st_row_acquire(&op);
	if (result == TM_Ok)
	{
		st_row_release(&op);
		fetch_locked(rel, &op.tid, slot);
	}
	else if (result == TM_Invisible)
		fetch_locked(rel, &op.tid, slot);	/* ON CONFLICT asks who made it */
	else if (result == TM_Updated && !st_tid_is_virtual(&tmfd->ctid))
		result = lock_updated(&op, tid, snapshot, slot, flags);
	*changed = op.changed;
	st_row_op_end(&op);
	return result;
}

/*
 * Goes on to the row group that a row is in now, and again as often as it was
 * moved since: *tid is a place where it is no more, tmfd->ctid the next one.
 * Without FIND_LAST_VERSION only as long as the row is the same one.
 */
static TM_Result
lock_moved(Relation rel, ItemPointer tid, Snapshot snapshot,
		   TupleTableSlot *slot, CommandId cid, LockTupleMode mode,
		   LockWaitPolicy policy, uint8 flags, TM_FailureData *tmfd)
{
	TM_Result	result = TM_Updated;
	bool		changed = false;

	while (result == TM_Updated && st_tid_is_virtual(&tmfd->ctid) &&
		   (!changed || (flags & TUPLE_LOCK_FLAG_FIND_LAST_VERSION) != 0))
	{
		CHECK_FOR_INTERRUPTS();
		*tid = tmfd->ctid;
		result = lock_row(rel, tid, snapshot, slot, cid, mode, policy, flags,
						  tmfd, &changed);
	}
	return result;
}

/*
 * lock_updated_for_key() for a row whose new version is in a row group.
 */
static TM_Result
lock_changed_for_key(Relation rel, ItemPointer tid, Snapshot snapshot,
					 TupleTableSlot *slot, CommandId cid, LockWaitPolicy policy,
					 uint8 flags, TM_FailureData *tmfd)
{
	ItemPointerData start = *tid;
	TM_FailureData updated = *tmfd;
	TM_Result	result = lock_moved(rel, tid, snapshot, slot, cid,
									LockTupleKeyShare, policy,
									flags | TUPLE_LOCK_FLAG_FIND_LAST_VERSION,
									tmfd);

	if (result == TM_Ok &&
		st_update_lock_mode(rel, &start, slot) == LockTupleNoKeyExclusive)
	{
		*tid = start;
		tmfd->traversed = false;
		fetch_locked(rel, tid, slot);
	}
	else if ((flags & TUPLE_LOCK_FLAG_FIND_LAST_VERSION) != 0)
		tmfd->traversed = true;
	else if (result != TM_WouldBlock)
	{
		*tid = start;
		*tmfd = updated;
		result = TM_Updated;
	}
	return result;
}

/*
 * Whose snapshot is kept for the transaction may not go on to a newer
 * version; but a row that was only moved is still the same, and may be locked
 * where it is.  (A change is refused, see st_tuple_update().)
 */
TM_Result
st_tuple_lock(Relation rel, ItemPointer tid, Snapshot snapshot,
			  TupleTableSlot *slot, CommandId cid, LockTupleMode mode,
			  LockWaitPolicy policy, uint8 flags, TM_FailureData *tmfd)
{
	ItemPointerData start;
	TM_Result	result;
	bool		changed = false;

	/* a copy of a slot without a buffer has the TID in its tuple alone */
	if (!ItemPointerIsValid(tid) && TTS_IS_BUFFERTUPLE(slot) && TTS_SHOULDFREE(slot))
		*tid = ((HeapTupleTableSlot *) slot)->tuple->t_self;
	start = *tid;
	if (st_tid_is_virtual(tid))
		result = lock_row(rel, tid, snapshot, slot, cid, mode, policy, flags,
						  tmfd, &changed);
	else
	{
		result = st_heapam()->tuple_lock(rel, tid, snapshot, slot, cid, mode,
										 policy, flags, tmfd);
		if (result == TM_Deleted)
			result = st_deleted_or_moved(rel, &start, InvalidTransactionId,
										 tmfd);
	}

	if (result != TM_Updated || !st_tid_is_virtual(&tmfd->ctid))
		return result;
	if (changed && mode == LockTupleKeyShare)
		return lock_changed_for_key(rel, tid, snapshot, slot, cid, policy, flags,
									tmfd);
	if ((flags & TUPLE_LOCK_FLAG_FIND_LAST_VERSION) != 0)
	{
		result = lock_moved(rel, tid, snapshot, slot, cid, mode, policy, flags,
							tmfd);
		tmfd->traversed = true;
	}
	else if (IsolationUsesXactSnapshot() && !changed)
	{
		ItemPointerData now;

		result = lock_moved(rel, &now, snapshot, slot, cid, mode, policy,
							flags, tmfd);
		if (result == TM_Ok)
			slot->tts_tid = start;
	}
	return result;
}
