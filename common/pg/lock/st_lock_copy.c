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

#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/datum.h"
#include "utils/snapmgr.h"

#include "st_lock.h"
#include "st_read.h"
#include "st_wal.h"

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

/* The same for a tuple that we just inserted. */
static void
set_key_lock(Relation rel, ItemPointer tid, TransactionId xmax, bool multi)
{
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	st_wal_lock_tuple(rel, buffer, ItemPointerGetOffsetNumber(tid), xmax, multi);
	UnlockReleaseBuffer(buffer);
}

/*
 * The xmax of a tuple that is at most key share locked, with this transaction
 * added.  Returns false if the tuple is locked in any other way; *xmax is
 * invalid if nothing has to be changed.  A version that its maker has updated
 * again counts as locked in another way: a locker waits then, where heap would
 * lock all versions.
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
				st_wal_lock_tuple(op->rel, buffer, off, xmax, multi);
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

bool
st_has_key_locks(StRowOp *op)
{
	MultiXactMember *lockers;

	return op->mode == LockTupleNoKeyExclusive && other_lockers(op, &lockers) > 0;
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

/*
 * Reads the old version, so it is called only where somebody else has locked
 * or changed the row.
 */
LockTupleMode
st_update_lock_mode(Relation rel, ItemPointer otid, TupleTableSlot *slot)
{
	Bitmapset  *attrs = RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_KEY);
	TupleTableSlot *old = MakeSingleTupleTableSlot(RelationGetDescr(rel),
												   &TTSOpsBufferHeapTuple);
	LockTupleMode mode = LockTupleNoKeyExclusive;
	StFetch		fetch;
	int			member = -1;

	st_fetch_init(&fetch, rel);
	if (!st_fetch_row(&fetch, otid, SnapshotAny, old))
		mode = LockTupleExclusive;

	while (mode == LockTupleNoKeyExclusive &&
		   (member = bms_next_member(attrs, member)) >= 0)
	{
		AttrNumber	attno = member + FirstLowInvalidHeapAttributeNumber;
		Form_pg_attribute att;
		Datum		values[2];
		bool		isnull[2];

		if (attno <= 0)
		{
			mode = LockTupleExclusive;
			break;
		}
		att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
		values[0] = slot_getattr(old, attno, &isnull[0]);
		values[1] = slot_getattr(slot, attno, &isnull[1]);
		if (isnull[0] != isnull[1] ||
			(!isnull[0] && !datumIsEqual(values[0], values[1], att->attbyval,
										 att->attlen)))
			mode = LockTupleExclusive;
	}

	ExecDropSingleTupleTableSlot(old);
	st_fetch_end(&fetch);
	bms_free(attrs);
	return mode;
}
