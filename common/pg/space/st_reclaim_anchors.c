/*-------------------------------------------------------------------------
 *
 * st_reclaim_anchors.c
 *	  VACUUM removes anchors that nobody locks any more.
 *
 * An anchor is made by the first lock of a row of a row group, and means
 * nothing once its lockers are gone.  Rows that were locked of late keep
 * theirs: they are likely to be locked again, and who finds an anchor that is
 * being removed has to wait for the VACUUM to commit.
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
#include "storage/bufmgr.h"
#include "storage/lmgr.h"

#include "st_space.h"

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

/* Removes idle anchors. */
void
st_reclaim_anchors(Relation rel, TransactionId oldest_xmin)
{
	StCatalog	cat;
	StCatalogScan scan;
	StCatalogEntry *entry;

	if (!st_catalog_open(&cat, rel, RowExclusiveLock))
		return;
	st_catalog_scan_begin(&scan, &cat, ST_ANCHOR, 0, ST_MAX_ROW_NUMBER, SnapshotSelf);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		ItemPointerData anchor = entry->tuple->t_self;

		st_vacuum_delay_point(false);
		if (!is_idle(entry, oldest_xmin))
			continue;
		st_vacuum_begin_writing();
		remove_anchor(rel, &cat, entry->row, &anchor);
	}
	st_catalog_scan_end(&scan);
	st_catalog_close(&cat);
}
