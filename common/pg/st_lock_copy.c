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
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam_xlog.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/xact.h"
#include "access/xloginsert.h"
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

/* Writes xmax as a key share lock into a tuple that we just inserted. */
static void
set_key_lock(Relation rel, ItemPointer tid, TransactionId xmax, bool multi)
{
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));
	OffsetNumber off = ItemPointerGetOffsetNumber(tid);
	Page		page = BufferGetPage(buffer);
	HeapTupleHeader header;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	header = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, off));

	START_CRIT_SECTION();
	header->t_infomask &= ~(HEAP_XMAX_BITS | HEAP_MOVED);
	header->t_infomask |= HEAP_XMAX_LOCK_ONLY | HEAP_XMAX_KEYSHR_LOCK |
		(multi ? HEAP_XMAX_IS_MULTI : 0);
	header->t_infomask2 &= ~HEAP_KEYS_UPDATED;
	HeapTupleHeaderSetXmax(header, xmax);
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
	UnlockReleaseBuffer(buffer);
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
