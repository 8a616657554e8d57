/*-------------------------------------------------------------------------
 *
 * zm_scan.c
 *	  Scans of a zonemap: rows in key order, forward and backward, or a bitmap.
 *
 * The rows of a heap page that a zone covers are found on the page itself
 * (zm_group.c).  A bitmap gets such a page whole, to be checked again, and
 * exact entries as what they are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "st_compat.h"
#include "zm_scan.h"
#include "zm_scan_int.h"

IndexScanDesc
zm_begin_scan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	ZmScan	   *state = palloc(sizeof(ZmScan));

	zm_space_init(&state->cursor.space, index);
	zm_quals_init(&state->cursor.quals, &state->cursor.space, nkeys);
	state->cursor.place = ZM_PLACE_NONE;
	state->cursor.context = CurrentMemoryContext;
	state->cursor.whole = NULL;
	state->cursor.shared = NULL;
	state->cursor.generation = 0;
	state->begun = false;
	state->rows = false;
	state->visible_only = false;
	state->skip_below = 0;
	state->page_buf = InvalidBuffer;
	state->groups = state->pages = state->exact = 0;
	state->group_context = NULL;
	state->have_heap_key = false;
	state->items_room = 16;
	state->items = palloc(state->items_room * sizeof(ZmItem));
	state->item_values = NULL;
	state->item_nulls = NULL;
	state->heap_page = NULL;
	scan->opaque = state;
	return scan;
}

void
zm_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys,
		  int norderbys)
{
	ZmScan	   *state = scan->opaque;

	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	state->begun = false;
}

/* Begins the execution that the last rescan announced. */
static void
begin(IndexScanDesc scan, ZmScan *state)
{
	ZmSpace    *space = &state->cursor.space;

	zm_quals_prepare(&state->cursor.quals, scan->keyData, scan->numberOfKeys);
	state->cursor.place = ZM_PLACE_NONE;
	state->nitems = 0;
	state->item = -1;
	state->begun = true;
	/*
	 * An index-only scan takes our word for rows of pages that are all
	 * visible when it looks.  VACUUM may have removed a dead row since, so
	 * only rows that the snapshot sees are returned.
	 */
	state->visible_only = scan->xs_want_itup &&
		IsMVCCSnapshot(scan->xs_snapshot);
	pgstat_count_index_scan(scan->indexRelation);
	if (scan->parallel_scan != NULL)
		zm_scan_share(scan, st_parallel_index_state(scan->parallel_scan));
	if (scan->heapRelation == NULL || state->have_heap_key)
		return;

	/* First rows */
	zm_heap_key_init(&state->heap_key, space, scan->heapRelation);
	state->have_heap_key = true;
	if (space->fast == ZM_FAST_NONE)
		state->group_context = AllocSetContextCreate(GetMemoryChunkContext(state),
												 "zonemap rows",
												 ALLOCSET_DEFAULT_SIZES);
}

/*
 * Lets a scan without keys begin after a key, which has to stay where it is;
 * NULL: at the beginning.  To be called after a rescan.
 */
void
zm_scan_after(IndexScanDesc scan, IndexTuple key)
{
	ZmScan	   *state = scan->opaque;
	ZmTarget   *lower = &state->cursor.quals.range.lower;

	Assert(scan->numberOfKeys == 0);
	begin(scan, state);
	if (key == NULL)
		return;
	zm_target_from_entry(&state->cursor.space, lower, key);
	lower->tie = ZM_TIE_AFTER;
}

/* Whether a group has no rows but those of a page that is not wanted. */
static bool
is_skipped(ZmScan *state)
{
	BlockNumber block = zm_cursor_block(&state->cursor);
	OffsetNumber from;
	OffsetNumber to;

	CHECK_FOR_INTERRUPTS();
	return (block == InvalidBlockNumber || block < state->skip_below) &&
		!zm_cursor_exact(&state->cursor, &from, &to);
}

/* Goes to the next row in a direction; false at the end. */
bool
zm_next_item(IndexScanDesc scan, ScanDirection direction)
{
	ZmScan	   *state = scan->opaque;
	bool		forward = ScanDirectionIsForward(direction);

	if (!state->begun)
		begin(scan, state);
	state->item += forward ? 1 : -1;
	while (state->item < 0 || state->item >= state->nitems)
	{
		ZmCursor   *cursor = &state->cursor;
		bool		more = cursor->shared != NULL ?
			zm_parallel_step(cursor, forward) :
			forward ? zm_cursor_next(cursor) : zm_cursor_previous(cursor);

		CHECK_FOR_INTERRUPTS();
		if (!more)
		{
			/* The end stays in reach of the other direction. */
			state->item = forward ? 0 : -1;
			state->nitems = 0;
			return false;
		}
		if (state->skip_below > 0 && is_skipped(state))
			continue;
		zm_group_load(scan, state);
		state->item = forward ? 0 : state->nitems - 1;
	}
	return true;
}

/*
 * The server makes index-only scans of queries that want no column at all,
 * whatever an access method can return.  They get a row of nulls.
 */
static void
give_no_columns(IndexScanDesc scan, ZmScan *state)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(state));
	Datum		values[INDEX_MAX_KEYS] = {0};
	bool		nulls[INDEX_MAX_KEYS];

	memset(nulls, true, sizeof(nulls));
	scan->xs_itupdesc = state->cursor.space.desc;
	scan->xs_itup = index_form_tuple(scan->xs_itupdesc, values, nulls);
	MemoryContextSwitchTo(old);
}

/* Whether a row of the group is to be returned; *doubt: to be rechecked. */
static bool
is_wanted(IndexScanDesc scan, const ZmItem *item, bool *doubt)
{
	ZmScan	   *state = scan->opaque;

	if (state->visible_only)
		return item->visible != InvalidOffsetNumber ||
			zm_exact_visible(scan, item);
	/* Without keys, nobody minds which row it is: CLUSTER has the table. */
	return scan->numberOfKeys == 0 || IsMVCCSnapshot(scan->xs_snapshot) ||
		zm_is_current(scan, item, doubt);
}

bool
zm_get_tuple(IndexScanDesc scan, ScanDirection direction)
{
	ZmScan	   *state = scan->opaque;
	ZmItem	   *item;
	bool		doubt;

	do
	{
		if (!zm_next_item(scan, direction))
			return false;
		item = &state->items[state->item];
		doubt = item->recheck;
	} while (!is_wanted(scan, item, &doubt));
	scan->xs_heaptid = item->tid;
	scan->xs_recheck = doubt;
	if (scan->xs_want_itup && scan->xs_itup == NULL)
		give_no_columns(scan, state);
	return true;
}

int64
zm_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	ZmScan	   *state = scan->opaque;
	ZmCursor   *cursor = &state->cursor;
	Relation	heap = table_open(scan->indexRelation->rd_index->indrelid,
								  NoLock);
	int64		rows = 0;

	begin(scan, state);
	while (zm_cursor_next(cursor))
	{
		BlockNumber block = zm_cursor_block(cursor);
		OffsetNumber from;
		OffsetNumber to;

		CHECK_FOR_INTERRUPTS();
		if (block != InvalidBlockNumber && zm_block_exists(heap, block))
		{
			tbm_add_page(bitmap, block);
			rows += 10;			/* a guess: the server's own for a page */
		}
		if (!zm_cursor_exact(cursor, &from, &to))
			continue;
		for (OffsetNumber off = from; off < to; off++)
		{
			IndexTuple	itup = ZmPageGetEntry(cursor->leaf, off);
			Datum		values[INDEX_MAX_KEYS];
			bool		nulls[INDEX_MAX_KEYS];

			if (ZmIsMark(itup))
				continue;
			zm_exact_check(scan->indexRelation, itup);
			for (int i = 0; i < cursor->space.ncolumns; i++)
				values[i] = index_getattr(itup, i + 1, cursor->space.desc,
										  &nulls[i]);
			if (!zm_filter(&cursor->quals, values, nulls))
				continue;
			/*
			 * The server counts rows of an all-visible page unseen if they
			 * need no recheck, but this one may be dead, and gone by then.
			 */
			tbm_add_tuples(bitmap, &itup->t_tid, 1, true);
			rows++;
		}
	}
	table_close(heap, NoLock);
	return rows;
}

void
zm_end_scan(IndexScanDesc scan)
{
	ZmScan	   *state = scan->opaque;

	if (BufferIsValid(state->page_buf))
		ReleaseBuffer(state->page_buf);
	if (state->item_values != NULL)
	{
		pfree(state->item_values);
		pfree(state->item_nulls);
	}
	if (state->heap_page != NULL)
		pfree(state->heap_page);
	if (state->group_context != NULL)
		MemoryContextDelete(state->group_context);
	pfree(state->items);
	if (state->cursor.whole != NULL)
		pfree(state->cursor.whole);
	zm_quals_end(&state->cursor.quals);
	pfree(state);
}
