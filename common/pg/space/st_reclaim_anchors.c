/*-------------------------------------------------------------------------
 *
 * st_reclaim_anchors.c
 *	  VACUUM removes anchors that nobody locks any more.
 *
 * An anchor is made by the first lock of a row of a row group, and means
 * nothing once its lockers are gone.  Rows that were locked of late keep
 * theirs: they are likely to be locked again.
 *
 * Who finds an anchor that is being removed has to wait for the VACUUM to commit.
 * So this is the last that its transaction does, without rests; it takes seconds at
 * most, and ends soon when somebody waits for it.  The next VACUUM removes what is
 * left.
 *
 * The row mutex is held while an anchor is looked at and deleted, so that
 * nobody is between finding or making it and locking it.  It is not waited
 * for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/xact.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/timestamp.h"

#include "st_space.h"

/* So long at most, and so long if somebody waits. */
#define MOST_MS			5000
#define WAITED_FOR_MS	50

/* Were all lockers gone before the oldest snapshot was taken? */
static bool
is_idle(const StCatalogEntry *entry, TransactionId oldest_xmin)
{
	HeapTupleHeader header = entry->tuple->t_data;
	TransactionId xmax;
	uint16		infomask;
	MultiXactMember *members;
	int			nmembers;
	bool		idle = true;

	LockBuffer(entry->buffer, BUFFER_LOCK_SHARE);
	xmax = HeapTupleHeaderGetRawXmax(header);
	infomask = header->t_infomask;
	LockBuffer(entry->buffer, BUFFER_LOCK_UNLOCK);

	if (!TransactionIdIsValid(xmax))
		return true;
	if ((infomask & HEAP_XMAX_IS_MULTI) == 0)
		return TransactionIdPrecedes(xmax, oldest_xmin);
	nmembers = GetMultiXactIdMembers(xmax, &members, false,
									 HEAP_XMAX_IS_LOCKED_ONLY(infomask));
	for (int i = 0; i < nmembers; i++)
		idle &= TransactionIdPrecedes(members[i].xid, oldest_xmin);
	if (nmembers > 0)
		pfree(members);
	return idle;
}

static void
remove_anchor(Relation rel, StCatalog *cat, uint64 row, ItemPointer anchor)
{
	ItemPointerData tid;

	st_tid_from_row(&tid, row);
	if (!st_conditional_lock_tuple(rel, &tid, ExclusiveLock))
		return;
	(void) st_catalog_delete(cat, anchor);
	UnlockTuple(rel, &tid, ExclusiveLock);
}

/* Does somebody wait for this transaction? */
static bool
is_waited_for(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_TRANSACTION(tag, GetTopTransactionId());
	return LockHasWaiters(&tag, ExclusiveLock, false);
}

static bool
is_time_to_end(TimestampTz begun)
{
	TimestampTz now = GetCurrentTimestamp();

	return TimestampDifferenceExceeds(begun, now, MOST_MS) ||
		(TimestampDifferenceExceeds(begun, now, WAITED_FOR_MS) && is_waited_for());
}

void
st_reclaim_anchors(Relation rel, TransactionId oldest_xmin)
{
	StCatalog	cat;
	StCatalogScan scan;
	StCatalogEntry *entry;
	TimestampTz begun = 0;		/* to remove some */

	if (!st_catalog_open(&cat, rel, RowExclusiveLock))
		return;
	st_catalog_scan_begin(&scan, &cat, ST_ANCHOR, 0, ST_MAX_ROW_NUMBER, SnapshotSelf);
	while ((begun == 0 || !is_time_to_end(begun)) &&
		   (entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		ItemPointerData anchor = entry->tuple->t_self;

		CHECK_FOR_INTERRUPTS();
		if (!is_idle(entry, oldest_xmin))
			continue;
		st_vacuum_begin_writing();
		if (begun == 0)
			begun = GetCurrentTimestamp();
		remove_anchor(rel, &cat, entry->row, &anchor);
	}
	st_catalog_scan_end(&scan);
	st_catalog_close(&cat);
}
