/*-------------------------------------------------------------------------
 *
 * st_lock.c
 *	  Who may change or lock a row of a row group (I3).
 *
 * Three things stand between a writer and a row:
 *
 * - the group's descriptor, on which every writer holds a KEY SHARE tuple
 *	 lock, so that compaction and writers exclude one another
 *	 (st_lock_group.c);
 * - the row's tombstone: who inserted one has deleted or updated the row,
 *	 others wait for that transaction;
 * - the row's anchor, an ordinary TOAST tuple that exists once somebody
 *	 locked the row, and carries tuple locks, multixacts and waiters as any
 *	 heap tuple does.  It is inserted frozen: no anchor and an unlocked
 *	 anchor mean the same, so an abort is harmless.  A deleter of a row with
 *	 an anchor takes the anchor's exclusive lock before it makes a tombstone,
 *	 an updater that changes no key takes NO KEY UPDATE.
 *
 * Looking for tombstone and anchor and making one of them is atomic under
 * the row mutex, a heavyweight tuple lock on the virtual TID.  Nobody waits
 * for a transaction while he holds it: waiters let go and start over.  Nor
 * does anybody wait with a scan of the TOAST relation open, which would pin a
 * page of its index and so stop VACUUM: a waiter pins the page of the tuple
 * that he wants to lock, as heap's do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/snapmgr.h"

#include "st_lock.h"
#include "st_compat.h"
#include "st_lock_int.h"
#include "st_write.h"

static void
not_available(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("could not obtain lock on row in relation \"%s\"",
					RelationGetRelationName(rel))));
}

/*
 * heap_lock_tuple() on a visibility tuple, by op's policy; errors name the
 * table.
 */
TM_Result
st_lock_toast_tuple(StRowOp *op, ItemPointer tid, CommandId cid,
					LockTupleMode mode, TM_FailureData *tmfd)
{
	LockWaitPolicy policy = op->policy == LockWaitBlock ?
		LockWaitBlock : LockWaitSkip;
	HeapTupleData tuple;
	Buffer		buffer;
	TM_Result	result;

	tuple.t_self = *tid;
	result = heap_lock_tuple(op->catalog.toast, &tuple, cid, mode, policy,
							 false, &buffer, tmfd);
	ReleaseBuffer(buffer);
	if (result == TM_WouldBlock && op->policy == LockWaitError)
		not_available(op->rel);
	return result;
}

void
st_row_op_begin(StRowOp *op, Relation rel, ItemPointer tid, CommandId cid,
				TM_FailureData *tmfd)
{
	memset(op, 0, sizeof(*op));
	op->rel = rel;
	op->tid = *tid;
	op->row = st_row_from_tid(tid);
	op->cid = cid;
	op->tmfd = tmfd;
	tmfd->traversed = false;
	if (!st_catalog_open(&op->catalog, rel, RowExclusiveLock))
		elog(ERROR, "relation \"%s\" has no row groups",
			 RelationGetRelationName(rel));
	st_pending_flush_row(rel, op->row);
}

void
st_row_op_end(StRowOp *op)
{
	st_catalog_close(&op->catalog);
}

/*
 * A TID for the rows that have the number / 1024 in common: no row's own, as
 * the offset is behind the last one of a block.
 */
static void
stretch_tid(ItemPointer tid, uint64 row)
{
	ItemPointerSet(tid, ST_VIRTUAL_BLOCK | (BlockNumber) (row / ST_STRETCH_ROWS),
				   ST_ROWS_PER_VBLOCK + 1);
}

static void
row_mutex_lock(StRowOp *op)
{
	ItemPointerData stretch;

	stretch_tid(&stretch, op->row);
	LockTuple(op->rel, &stretch, ShareLock);
	LockTuple(op->rel, &op->tid, ExclusiveLock);
}

void
st_row_release(StRowOp *op)
{
	ItemPointerData stretch;

	stretch_tid(&stretch, op->row);
	UnlockTuple(op->rel, &op->tid, ExclusiveLock);
	UnlockTuple(op->rel, &stretch, ShareLock);
}

bool
st_stretch_lock(Relation rel, uint64 row)
{
	ItemPointerData stretch;

	stretch_tid(&stretch, row);
	return st_conditional_lock_tuple(rel, &stretch, ExclusiveLock);
}

void
st_stretch_release(Relation rel, uint64 row)
{
	ItemPointerData stretch;

	stretch_tid(&stretch, row);
	UnlockTuple(rel, &stretch, ExclusiveLock);
}

/*
 * Looks for a tombstone or a swath, under the row mutex.  TM_Ok: there is none,
 * and the row will not get into one while the mutex is held.  TM_BeingModified:
 * *xwait is making one.
 */
TM_Result
st_row_tombstone(StRowOp *op, TransactionId *xwait)
{
	SnapshotData dirty;
	StDeletion	deletion;
	StCatalogEntry *entry;
	TM_Result	result = TM_Ok;

	InitDirtySnapshot(dirty);
	op->changed = false;
	entry = st_deletion_begin_for_change(&deletion, &op->catalog, op->row, &dirty);
	if (entry != NULL)
	{
		TM_FailureData *tmfd = op->tmfd;

		st_deletion_forward(&deletion, op->rel, op->row, &tmfd->ctid);
		op->updater = HeapTupleHeaderGetRawXmin(entry->tuple->t_data);
		tmfd->xmax = op->updater;
		tmfd->cmax = InvalidCommandId;

		if (TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(entry->tuple->t_data)))
		{
			tmfd->cmax = HeapTupleHeaderGetCmin(entry->tuple->t_data);
			result = tmfd->cmax >= op->cid ? TM_SelfModified : TM_Invisible;
		}
		else if (TransactionIdIsValid(dirty.xmin))
		{
			*xwait = dirty.xmin;
			result = TM_BeingModified;
		}
		else if (ItemPointerEquals(&tmfd->ctid, &op->tid))
			result = TM_Deleted;
		else
		{
			op->changed = true;
			result = TM_Updated;
		}
	}
	st_deletion_end(&deletion);
	return result;
}

/* Waits for another deleter, as the policy says.  False: do not wait. */
bool
st_row_wait(StRowOp *op, TransactionId xwait)
{
	switch (op->policy)
	{
		case LockWaitBlock:
			XactLockTableWait(xwait, op->rel, &op->tid, op->oper);
			return true;
		case LockWaitSkip:
			return st_conditional_xact_lock_wait(xwait, false);
		case LockWaitError:
			if (!st_conditional_xact_lock_wait(xwait, true))
				not_available(op->rel);
			return true;
	}
	return false;
}

/*
 * Anchors are inserted as the first command of their transaction, and locked
 * as a later one: whatever the order of commands, we see our own.
 */
#define ANCHOR_CID		FirstCommandId

static CommandId
anchor_lock_cid(const StRowOp *op)
{
	return Max(op->cid, ANCHOR_CID + 1);
}

/*
 * Makes the anchor and locks it, under the row mutex.  Nobody else can have
 * found it yet, so the lock is there for the taking; if it is not (VACUUM
 * may have removed the anchor), the caller looks again.
 *
 * It is frozen, and so there for everybody at once.  But REINDEX CONCURRENTLY
 * takes what its snapshot sees for committed and indexed, and would enter a
 * frozen anchor a second time.  Beside an invalid index the anchor is an
 * ordinary tuple, and who finds it before our commit waits for that.
 */
static bool
insert_anchor(StRowOp *op)
{
	StAnchorPayload payload = {.version = ST_ANCHOR_VERSION};
	TM_FailureData tmfd;
	HeapTupleData tuple;
	Buffer		buffer;
	TM_Result	result;

	st_catalog_insert(&op->catalog, ST_ANCHOR, op->row, &payload,
					  sizeof(payload), ANCHOR_CID,
					  op->catalog.all_valid ? HEAP_INSERT_FROZEN : 0,
					  &tuple.t_self);
	result = heap_lock_tuple(op->catalog.toast, &tuple, anchor_lock_cid(op),
							 op->mode, LockWaitSkip, false, &buffer, &tmfd);
	ReleaseBuffer(buffer);
	return result == TM_Ok;
}

typedef enum AnchorState
{
	ANCHOR_NONE,				/* mutex still held */
	ANCHOR_HELD,				/* the lock was ours before, mutex still held */
	ANCHOR_LOCKED,				/* the lock is ours now, mutex released */
	ANCHOR_RETRY,				/* mutex released, look again */
	ANCHOR_IN_PROGRESS,			/* mutex released, wait for its transaction */
	ANCHOR_WOULD_BLOCK			/* mutex released */
} AnchorState;

/*
 * Looks for the anchor, under the row mutex, and locks it.  Locking may
 * wait, so the mutex is released first and the caller has to look at the
 * tombstone again.  ANCHOR_IN_PROGRESS: *xwait has inserted it.
 */
static AnchorState
lock_anchor(StRowOp *op, bool have_lock, TransactionId *xwait)
{
	SnapshotData dirty;
	StCatalogScan scan;
	StCatalogEntry *entry;
	TM_FailureData tmfd;
	HeapTupleData anchor;
	Buffer		buffer;
	TM_Result	result;

	InitDirtySnapshot(dirty);
	st_catalog_scan_begin(&scan, &op->catalog, ST_ANCHOR, op->row, op->row,
						  &dirty);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	if (entry != NULL && TransactionIdIsValid(dirty.xmin))
	{
		st_catalog_scan_end(&scan);
		st_row_release(op);
		*xwait = dirty.xmin;
		return ANCHOR_IN_PROGRESS;
	}
	if (entry == NULL || have_lock)
	{
		st_catalog_scan_end(&scan);
		return entry == NULL ? ANCHOR_NONE : ANCHOR_HELD;
	}

	/* The pin keeps it from being pruned, and its place from being used. */
	buffer = st_catalog_scan_end_pinned(&scan, &anchor);
	st_row_release(op);
	if (op->new_row != NULL)
		op->mode = st_update_lock_mode(op->rel, &op->tid, op->new_row);
	result = st_lock_toast_tuple(op, &anchor.t_self, anchor_lock_cid(op),
								 op->mode, &tmfd);
	ReleaseBuffer(buffer);
	return result == TM_WouldBlock ? ANCHOR_WOULD_BLOCK :
		result == TM_Ok ? ANCHOR_LOCKED : ANCHOR_RETRY;
}

/*
 * FOR KEY SHARE meets an UPDATE in progress, under the row mutex.  If that
 * changes no key, the two get along: the lock is taken on the new version,
 * and on the anchor in case the update is rolled back.  False: wait.
 */
static bool
lock_beside_update(StRowOp *op)
{
	SnapshotData dirty;
	StCatalogScan scan;
	StCatalogEntry *entry;
	TM_FailureData tmfd;
	bool		locked;

	if (op->mode != LockTupleKeyShare || !op->keep_lock ||
		!st_update_keeps_key(op, &op->tmfd->ctid))
		return false;

	InitDirtySnapshot(dirty);
	st_catalog_scan_begin(&scan, &op->catalog, ST_ANCHOR, op->row, op->row,
						  &dirty);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	if (entry == NULL)
		locked = insert_anchor(op);
	else if (TransactionIdIsValid(dirty.xmin))
		locked = false;
	else
	{
		HeapTupleData tuple;
		Buffer		buffer;

		tuple.t_self = entry->tuple->t_self;
		locked = heap_lock_tuple(op->catalog.toast, &tuple,
								 anchor_lock_cid(op), op->mode, LockWaitSkip,
								 false, &buffer, &tmfd) == TM_Ok;
		ReleaseBuffer(buffer);
	}
	st_catalog_scan_end(&scan);
	return locked && st_add_key_lock(op, &op->tmfd->ctid);
}

/*
 * Whoever comes with a row's TID has seen the row, and keeps the snapshot: its
 * deleter, if there is one, is not older than every snapshot.
 */
pg_attribute_unused() static bool
row_is_folded(const StRowOp *op)
{
	StCatalog	catalog = op->catalog;
	StGroup		group;

	return st_locked_group(op->rel, op->row, &group) &&
		st_row_folded(&catalog, &group, op->row, SnapshotAny);
}

TM_Result
st_row_acquire(StRowOp *op)
{
	bool		have_lock = false;
	TM_Result	result = st_lock_group(op);

	if (result != TM_Ok)
		return result;

	for (;;)
	{
		TransactionId xwait = InvalidTransactionId;

		CHECK_FOR_INTERRUPTS();
		row_mutex_lock(op);
		result = st_row_tombstone(op, &xwait);
		if (result == TM_BeingModified && lock_beside_update(op))
			return TM_Ok;
		if (result != TM_Ok)
		{
			st_row_release(op);
			if (result != TM_BeingModified)
				return result;
			if (!st_row_wait(op, xwait))
				return TM_WouldBlock;
			continue;
		}

		Assert(!row_is_folded(op));

		switch (lock_anchor(op, have_lock, &xwait))
		{
			case ANCHOR_NONE:
				if (!op->keep_lock || insert_anchor(op))
					return TM_Ok;
				st_row_release(op);
				have_lock = false;
				break;
			case ANCHOR_HELD:
				return TM_Ok;
			case ANCHOR_LOCKED:
				have_lock = true;
				break;
			case ANCHOR_RETRY:
				break;
			case ANCHOR_IN_PROGRESS:
				if (!st_row_wait(op, xwait))
					return TM_WouldBlock;
				break;
			case ANCHOR_WOULD_BLOCK:
				return TM_WouldBlock;
		}
	}
}
