/*-------------------------------------------------------------------------
 *
 * zm_rows.c
 *	  Rows of a zonemap scan, without the detour through the index access
 *	  method's interface.
 *
 * Visibility is checked page by page, under one lock; the tuples are then
 * handed out from the pinned page, as a sequential scan does.  Rows of exact
 * entries are fetched one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "executor/tuptable.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "zm_access.h"
#include "zm_scan.h"

/*
 * Stores the next row that the scan's snapshot, which is an MVCC one, sees.
 * The scan must be used in this way only.
 */
bool
zm_get_row(IndexScanDesc scan, ScanDirection direction, TupleTableSlot *slot)
{
	ZmScan	   *state = scan->opaque;

	state->rows = true;
	while (zm_next_item(scan, direction))
	{
		ZmItem	   *item = &state->items[state->item];
		ItemPointerData tid = item->tid;
		bool		again = false;
		bool		dead = false;

		if (item->visible != InvalidOffsetNumber)
		{
			Page		page = BufferGetPage(state->page_buf);
			ItemId		lp = PageGetItemId(page, item->visible);
			HeapTuple	tuple = &state->tuple;

			tuple->t_data = (HeapTupleHeader) PageGetItem(page, lp);
			tuple->t_len = ItemIdGetLength(lp);
			tuple->t_tableOid = RelationGetRelid(scan->heapRelation);
			tuple->t_self = tid;
			ItemPointerSetOffsetNumber(&tuple->t_self, item->visible);
			ExecStoreBufferHeapTuple(tuple, slot, state->page_buf);
			return true;
		}
		if (table_index_fetch_tuple(scan->xs_heapfetch, &tid,
									scan->xs_snapshot, slot, &again, &dead))
			return true;
	}
	return false;
}

/* Heap pages that were read for their zones, and exact entries met, so far. */
void
zm_scan_counts(IndexScanDesc scan, int64 *pages, int64 *exact)
{
	ZmScan	   *state = scan->opaque;

	*pages = state->pages;
	*exact = state->exact;
}
