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
 * Also what a scan through that interface looks at in the heap before it
 * returns a TID.
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

#include "st_compat.h"
#include "zm_scan.h"
#include "zm_scan_int.h"

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

/* Pins the heap page and locks it; heap itself goes on to use that pin. */
static Buffer
lock_heap_page(IndexScanDesc scan, BlockNumber block)
{
	IndexFetchHeapData *fetch = (IndexFetchHeapData *) scan->xs_heapfetch;

	fetch->xs_cbuf = ReleaseAndReadBuffer(fetch->xs_cbuf, scan->heapRelation, block);
	ST_SINCE_19(fetch->xs_blk = block;)
	LockBuffer(fetch->xs_cbuf, BUFFER_LOCK_SHARE);
	return fetch->xs_cbuf;
}

/* Whether the scan's snapshot, an MVCC one, sees the row of an exact entry. */
bool
zm_exact_visible(IndexScanDesc scan, const ZmItem *item)
{
	ItemPointerData tid = item->tid;
	Buffer		buffer = lock_heap_page(scan, ItemPointerGetBlockNumber(&tid));
	HeapTupleData tuple;
	bool		visible;

	visible = heap_hot_search_buffer(&tid, scan->heapRelation, buffer,
									 scan->xs_snapshot, &tuple, NULL, true);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return visible;
}

/* Whether a tuple has the key of an item; *doubt if it takes detoasting to know. */
static bool
has_key(ZmScan *state, HeapTuple tuple, const ZmItem *item, bool *doubt)
{
	const ZmSpace *space = &state->cursor.space;
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

	if (!zm_heap_key(&state->heap_key, tuple, values, nulls))
	{
		*doubt = true;
		return true;
	}
	if (item->key < 0)
		return !nulls[0] &&
			zm_fast_datum(space->fast, values[0]) == item->number;
	return zm_compare_values(space,
							 state->item_values + item->key * space->ncolumns,
							 state->item_nulls + item->key * space->ncolumns,
							 values, nulls) == 0;
}

/*
 * Whether an item's TID is still that of a row with its key; *doubt if that has
 * to be asked again.  VACUUM may have freed it since the group was loaded, and
 * another row have got it: no MVCC snapshot sees that, but others do.  If it is,
 * it stays so, because its page stays pinned until the next row is asked for.
 */
bool
zm_is_current(IndexScanDesc scan, const ZmItem *item, bool *doubt)
{
	ZmScan	   *state = scan->opaque;
	BlockNumber block = ItemPointerGetBlockNumber(&item->tid);
	OffsetNumber off = ItemPointerGetOffsetNumber(&item->tid);
	Buffer		buffer = lock_heap_page(scan, block);
	TransactionId before = InvalidTransactionId;
	PGAlignedBlock page;

	memcpy(page.data, BufferGetPage(buffer), BLCKSZ);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);

	/* All of a HOT chain: it may be older than the index. */
	for (int n = 0; n < MaxHeapTuplesPerPage; n++)
	{
		ItemId		item_id;
		HeapTupleData tuple;

		if (off < FirstOffsetNumber || off > PageGetMaxOffsetNumber(page.data))
			return false;
		item_id = PageGetItemId(page.data, off);
		if (n == 0 && ItemIdIsRedirected(item_id))
		{
			off = ItemIdGetRedirect(item_id);
			continue;
		}
		if (!ItemIdIsNormal(item_id))
			return false;
		tuple.t_data = (HeapTupleHeader) PageGetItem(page.data, item_id);
		tuple.t_len = ItemIdGetLength(item_id);
		tuple.t_tableOid = RelationGetRelid(scan->heapRelation);
		ItemPointerSet(&tuple.t_self, block, off);
		/* as heap follows it */
		if (HeapTupleIsHeapOnly(&tuple) != (n > 0) ||
			(TransactionIdIsValid(before) &&
			 before != HeapTupleHeaderGetXmin(tuple.t_data)))
			return false;
		if (has_key(state, &tuple, item, doubt))
			return true;
		if (!HeapTupleIsHotUpdated(&tuple))
			return false;
		before = HeapTupleHeaderGetUpdateXid(tuple.t_data);
		off = ItemPointerGetOffsetNumber(&tuple.t_data->t_ctid);
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
