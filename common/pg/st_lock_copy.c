/*-------------------------------------------------------------------------
 *
 * st_lock_copy.c
 *	  Key locks of an old row version, carried over to the new one.
 *
 * An UPDATE that leaves all keys alone does not wait for transactions that
 * hold KEY SHARE on the row (foreign key checks).  Their locks must then hold
 * on the new version, too, or somebody could delete that.  Heap gives the
 * new tuple the old one's lockers as xmax; here the old row's lockers are in
 * the multixact of its anchor, and the new version is a tuple of the delta.
 *
 * Who takes KEY SHARE while such an UPDATE is in progress does not wait for
 * it either, and locks the new version himself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam_xlog.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

#include "st_store_int.h"

/*
 * Other transactions that lock the row, from the anchor's xmax.  Returns
 * their number; *lockers is allocated.
 */
static int
other_lockers(StRowOp *op, MultiXactMember **lockers)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	MultiXactMember *members = NULL;
	int			nmembers = 0;
	int			n = 0;

	st_catalog_scan_begin(&scan, &op->catalog, ST_ANCHOR, op->row, op->row,
						  SnapshotSelf);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	if (entry != NULL)
	{
		HeapTupleHeader header = entry->tuple->t_data;
		TransactionId xmax;
		uint16		infomask;

		LockBuffer(entry->buffer, BUFFER_LOCK_SHARE);
		xmax = HeapTupleHeaderGetRawXmax(header);
		infomask = header->t_infomask;
		LockBuffer(entry->buffer, BUFFER_LOCK_UNLOCK);

		/* A single locker is ourselves. */
		if ((infomask & HEAP_XMAX_INVALID) == 0 &&
			(infomask & HEAP_XMAX_IS_MULTI) != 0)
			nmembers = GetMultiXactIdMembers(xmax, &members, false, true);
	}
	st_catalog_scan_end(&scan);

	for (int i = 0; i < nmembers; i++)
	{
		if (TransactionIdIsCurrentTransactionId(members[i].xid) ||
			!TransactionIdIsInProgress(members[i].xid))
			continue;
		/* Ours would conflict with any stronger lock. */
		Assert(members[i].status == MultiXactStatusForKeyShare);
		members[n++] = members[i];
	}
	*lockers = members;
	return n;
}

/*
 * Writes xmax as a key share lock into a tuple on a page locked exclusively.
 * It may replace that of an update that was rolled back, and so its link to
 * the next version: redo clears that, too.
 */
static void
write_key_lock(Relation rel, Buffer buffer, OffsetNumber off,
			   TransactionId xmax, bool multi)
{
	Page		page = BufferGetPage(buffer);
	HeapTupleHeader header = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, off));

	START_CRIT_SECTION();
	header->t_infomask &= ~(HEAP_XMAX_BITS | HEAP_MOVED);
	header->t_infomask |= HEAP_XMAX_LOCK_ONLY | HEAP_XMAX_KEYSHR_LOCK |
		(multi ? HEAP_XMAX_IS_MULTI : 0);
	header->t_infomask2 &= ~(HEAP_KEYS_UPDATED | HEAP_HOT_UPDATED);
	HeapTupleHeaderSetXmax(header, xmax);
	ItemPointerSet(&header->t_ctid, BufferGetBlockNumber(buffer), off);
	MarkBufferDirty(buffer);

	if (RelationNeedsWAL(rel))
	{
		xl_heap_lock record;
		XLogRecPtr	lsn;

		memset(&record, 0, sizeof(record));
		/* its first field, which versions name differently */
		memcpy(&record, &xmax, sizeof(xmax));
		record.offnum = off;
		record.infobits_set = XLHL_XMAX_LOCK_ONLY | XLHL_XMAX_KEYSHR_LOCK |
			(multi ? XLHL_XMAX_IS_MULTI : 0);

		XLogBeginInsert();
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		st_xlog_register_data(&record, SizeOfHeapLock);
		lsn = XLogInsert(RM_HEAP_ID, XLOG_HEAP_LOCK);
		PageSetLSN(page, lsn);
	}
	END_CRIT_SECTION();
}

/* The same for a tuple that we just inserted. */
static void
set_key_lock(Relation rel, ItemPointer tid, TransactionId xmax, bool multi)
{
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	write_key_lock(rel, buffer, ItemPointerGetOffsetNumber(tid), xmax, multi);
	UnlockReleaseBuffer(buffer);
}

/*
 * The xmax of a tuple that is at most key share locked, with this transaction
 * added.  (A version that its maker has updated again is more than that: who
 * wants to lock the row waits then, where heap would lock all versions.)  False if there is more to it than that; *xmax is invalid if nothing
 * is to be changed.
 */
static bool
add_self(HeapTupleHeader header, TransactionId *xmax, bool *multi)
{
	TransactionId me = GetCurrentTransactionId();
	TransactionId other = HeapTupleHeaderGetRawXmax(header);
	uint16		infomask = header->t_infomask;

	*xmax = me;
	*multi = false;
	if ((infomask & HEAP_XMAX_INVALID) != 0)
		return true;
	/* An update that was rolled back, by the updater's subtransaction say. */
	if ((infomask & HEAP_XMAX_IS_MULTI) == 0 &&
		!TransactionIdIsCurrentTransactionId(other) &&
		!TransactionIdIsInProgress(other) && !TransactionIdDidCommit(other))
		return true;
	if (!HEAP_XMAX_IS_LOCKED_ONLY(infomask) ||
		!HEAP_XMAX_IS_KEYSHR_LOCKED(infomask))
		return false;

	if ((infomask & HEAP_XMAX_IS_MULTI) != 0)
	{
		*xmax = MultiXactIdExpand(other, me, MultiXactStatusForKeyShare);
		*multi = true;
	}
	else if (TransactionIdIsCurrentTransactionId(other))
		*xmax = InvalidTransactionId;
	else if (TransactionIdIsInProgress(other))
	{
		*xmax = MultiXactIdCreate(other, MultiXactStatusForKeyShare,
								  me, MultiXactStatusForKeyShare);
		*multi = true;
	}
	return true;
}

bool
st_add_key_lock(StRowOp *op, ItemPointer new_tid)
{
	OffsetNumber off = ItemPointerGetOffsetNumber(new_tid);
	Buffer		buffer = ReadBuffer(op->rel, ItemPointerGetBlockNumber(new_tid));
	Page		page = BufferGetPage(buffer);
	bool		locked = false;

	(void) GetCurrentTransactionId();
	MultiXactIdSetOldestMember();

	/*
	 * The updater may have committed by now, and others have come to the
	 * tuple; an all-visible page, which a lock would have to unmark, is a sign
	 * of that.
	 */
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (off <= PageGetMaxOffsetNumber(page) &&
		ItemIdIsNormal(PageGetItemId(page, off)) && !PageIsAllVisible(page))
	{
		HeapTupleHeader header = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, off));
		TransactionId xmax;
		bool		multi;

		if (HeapTupleHeaderGetRawXmin(header) == op->updater &&
			add_self(header, &xmax, &multi))
		{
			if (TransactionIdIsValid(xmax))
				write_key_lock(op->rel, buffer, off, xmax, multi);
			locked = true;
		}
	}
	UnlockReleaseBuffer(buffer);
	return locked;
}

bool
st_update_keeps_key(StRowOp *op, ItemPointer new_tid)
{
	TupleTableSlot *slot;
	bool		keeps = false;

	if (ItemPointerEquals(new_tid, &op->tid) || st_tid_is_virtual(new_tid) ||
		ItemPointerIndicatesMovedPartitions(new_tid))
		return false;			/* a DELETE, or a row that moved away */

	slot = MakeSingleTupleTableSlot(RelationGetDescr(op->rel), &TTSOpsBufferHeapTuple);
	if (st_heapam()->tuple_fetch_row_version(op->rel, new_tid, SnapshotAny, slot))
	{
		HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, NULL);

		keeps = HeapTupleHeaderGetRawXmin(tuple->t_data) == op->updater &&
			st_update_lock_mode(op->rel, &op->tid, slot) == LockTupleNoKeyExclusive;
	}
	ExecDropSingleTupleTableSlot(slot);
	return keeps;
}

/*
 * Called under the row mutex by who holds the anchor's NO KEY UPDATE lock,
 * after the new version was inserted.  Whoever locks the anchor later looks
 * for a tombstone again before he believes in his lock.
 */
void
st_copy_key_locks(StRowOp *op, ItemPointer new_tid)
{
	MultiXactMember *lockers;
	int			n = other_lockers(op, &lockers);

	if (n == 1)
		set_key_lock(op->rel, new_tid, lockers[0].xid, false);
	else if (n > 1)
		set_key_lock(op->rel, new_tid,
					 MultiXactIdCreateFromMembers(n, lockers), true);
}
