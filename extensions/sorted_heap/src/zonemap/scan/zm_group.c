/*-------------------------------------------------------------------------
 *
 * zm_group.c
 *	  The rows of one group: those of a heap page that its zone covers, and
 *	  those of its exact entries, in key order.
 *
 * Integer keys are read from the heap page under its lock; for others the page
 * is copied, because comparisons may fetch values stored out of line.
 *
 * A tuple that is not part of a HOT chain is taken by its key alone; the
 * executor checks whether it is visible.  Of a chain the member visible to the
 * snapshot counts, because a chain may be older than the index and then its
 * members' keys may differ.  Snapshots that are not MVCC get every chain with
 * a member that qualifies, once, to be checked again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/xact.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "st_compat.h"
#include "zm_heap.h"
#include "zm_scan_int.h"

/*
 * Marks a tuple that no reader sees, in place of the offset where its HOT chain
 * starts.  Its key must not be read: parts of it in the TOAST table may be gone.
 */
#define UNREADABLE MaxOffsetNumber

/* What is known about the tuples of the heap page being read. */
typedef struct PageRead
{
	IndexScanDesc scan;
	ZmScan	   *state;
	BlockNumber block;
	Buffer		buf;
	Page		page;			/* in the buffer */
	bool		mvcc;

	ZmBounds	bounds;			/* of the keys that qualify */
	TransactionId horizon;		/* of what nobody sees; invalid: not asked */
	bool		have_roots;
	OffsetNumber roots[MaxHeapTuplesPerPage];
	bool		seen[MaxHeapTuplesPerPage + 1];	/* chains, by first tuple */
} PageRead;

/* ---- items ---- */

static ZmItem *
new_item(ZmScan *state)
{
	if (state->nitems == ZM_MAX_ITEMS)
		elog(ERROR, "too many rows in a group of a zonemap");
	if (state->nitems == state->items_room)
	{
		state->items_room = Min(ZM_MAX_ITEMS, state->items_room * 4);
		state->items = repalloc(state->items,
								state->items_room * sizeof(ZmItem));
	}
	return &state->items[state->nitems++];
}

/* Makes room for the keys of a group, when one is not a number. */
static void
need_keys(ZmScan *state)
{
	MemoryContext context = GetMemoryChunkContext(state);
	Size		n = (Size) ZM_MAX_ITEMS * state->cursor.space.ncolumns;

	if (state->item_values != NULL)
		return;
	state->item_values = MemoryContextAlloc(context, n * sizeof(Datum));
	state->item_nulls = MemoryContextAlloc(context, n * sizeof(bool));
}

/* Adds a row with its key, which has to live until the next group. */
static void
add_item(ZmScan *state, ItemPointer tid, bool recheck, const Datum *values,
		 const bool *nulls)
{
	int			n = state->cursor.space.ncolumns;
	ZmItem	   *item = new_item(state);

	item->tid = *tid;
	item->recheck = recheck;
	item->visible = InvalidOffsetNumber;
	item->key = state->nkeys++;
	need_keys(state);
	memcpy(state->item_values + item->key * n, values, n * sizeof(Datum));
	memcpy(state->item_nulls + item->key * n, nulls, n * sizeof(bool));
}

static void
add_number(ZmScan *state, ItemPointer tid, bool recheck, int64 number)
{
	ZmItem	   *item = new_item(state);

	item->tid = *tid;
	item->recheck = recheck;
	item->visible = InvalidOffsetNumber;
	item->key = -1;
	item->number = number;
}

/* Keys of items are all numbers, or NULL with the kernel for integers. */
static inline int
compare_keys(const ZmItem *a, const ZmItem *b, ZmScan *state)
{
	int			n = state->cursor.space.ncolumns;

	if (state->cursor.space.fast != ZM_FAST_NONE)
	{
		if (a->key < 0 && b->key < 0)
			return (a->number > b->number) - (a->number < b->number);
		if (a->key >= 0 && b->key >= 0)
			return 0;
		return (a->key >= 0) ==
			state->cursor.space.columns[0].nulls_first ? -1 : 1;
	}
	return zm_compare_values(&state->cursor.space,
							 state->item_values + a->key * n,
							 state->item_nulls + a->key * n,
							 state->item_values + b->key * n,
							 state->item_nulls + b->key * n);
}

/* Whether two items of the group have the same key. */
bool
zm_same_key(ZmScan *state, int a, int b)
{
	return compare_keys(&state->items[a], &state->items[b], state) == 0;
}

/* By TID among equals: the same both ways, and when a page is read again. */
static inline int
compare_items(const ZmItem *a, const ZmItem *b, ZmScan *state)
{
	int			result = compare_keys(a, b, state);

	if (result != 0)
		return result;
	return ItemPointerCompare(&unconstify(ZmItem *, a)->tid,
							  &unconstify(ZmItem *, b)->tid);
}

#define ST_SORT sort_items
#define ST_ELEMENT_TYPE ZmItem
#define ST_COMPARE(a, b, state) compare_items(a, b, state)
#define ST_COMPARE_ARG_TYPE ZmScan
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* So many items after those that are in order are merged with them. */
#define MERGED_ITEMS 64

/*
 * Puts the items in key order.  Most often they are, or most are and some are
 * left: rows that came to the page later, and exact entries.
 */
static void
order_items(ZmScan *state)
{
	ZmItem	   *items = state->items;
	int			n = state->nitems;
	int			run = 1;
	ZmItem		rest[MERGED_ITEMS];

	while (run < n && compare_items(&items[run - 1], &items[run], state) <= 0)
		run++;
	if (run >= n)
		return;
	if (n - run > MERGED_ITEMS)
	{
		sort_items(items, n, state);
		return;
	}
	sort_items(items + run, n - run, state);
	memcpy(rest, items + run, (n - run) * sizeof(ZmItem));
	for (int i = run - 1, j = n - run - 1; j >= 0;)
	{
		if (i >= 0 && compare_items(&items[i], &rest[j], state) > 0)
		{
			items[i + j + 1] = items[i];
			i--;
		}
		else
		{
			items[i + j + 1] = rest[j];
			j--;
		}
	}
}

/* ---- HOT chains ---- */

/*
 * What VACUUM would think of a tuple, or, where the scan has keys, what it may think
 * as soon as all transactions but ours have ended: our own snapshots keep VACUUM
 * from what has died since, and nothing else does so for certain.  The buffer is
 * locked.
 */
static HTSV_Result
vacuum_verdict(PageRead *read, HeapTuple tuple)
{
	if (!TransactionIdIsValid(read->horizon))
		read->horizon = read->scan->numberOfKeys > 0 ? TransactionXmin :
			GetOldestNonRemovableTransactionId(read->scan->heapRelation);
	return HeapTupleSatisfiesVacuum(tuple, read->horizon, read->buf);
}

/*
 * A tuple qualifies that the snapshot does not see: a serializable reader has a
 * conflict with who wrote it.  The buffer is locked.  Other tuples that are not
 * seen are given to heap, which does the same.
 */
static void
note_unseen(PageRead *read, HeapTuple tuple)
{
	HeapCheckForSerializableConflictOut(false, read->scan->heapRelation,
										tuple, read->buf,
										read->scan->xs_snapshot);
}

/*
 * First tuple of the chain of a tuple that is part of one, if the row is to
 * be returned for it; else InvalidOffsetNumber.  The buffer is locked.
 */
static OffsetNumber
chain_start(PageRead *read, OffsetNumber off, HeapTuple tuple)
{
	OffsetNumber root = off;

	if (HeapTupleIsHeapOnly(tuple))
	{
		if (!read->have_roots)
			heap_get_root_tuples(read->page, read->roots);
		read->have_roots = true;
		root = read->roots[off - 1];
		if (root == InvalidOffsetNumber)
			return InvalidOffsetNumber;
	}
	if (read->mvcc)
		return HeapTupleSatisfiesVisibility(tuple, read->scan->xs_snapshot,
											read->buf) ?
			root : InvalidOffsetNumber;
	/* CLUSTER wants all of the chain, once: by the tuple that is indexed. */
	if (read->scan->numberOfKeys == 0)
		switch (vacuum_verdict(read, tuple))
		{
			case HEAPTUPLE_DEAD:
				return InvalidOffsetNumber;
			case HEAPTUPLE_RECENTLY_DEAD:
			case HEAPTUPLE_DELETE_IN_PROGRESS:
				return HeapTupleIsHotUpdated(tuple) ?
					InvalidOffsetNumber : root;
			default:
				break;
		}
	return root;
}

/*
 * Whether nobody sees a tuple whose key may be stored out of line: then that may
 * be gone.  The buffer is locked.  A serializable reader, who cannot ask for the
 * key, has a conflict with who wrote the tuple.
 */
static bool
is_unreadable(PageRead *read, HeapTuple tuple)
{
	if (!HeapTupleHasExternal(tuple))
		return false;
	if (!read->mvcc)
		return vacuum_verdict(read, tuple) == HEAPTUPLE_DEAD;
	if (HeapTupleSatisfiesVisibility(tuple, read->scan->xs_snapshot, read->buf))
		return false;
	note_unseen(read, tuple);
	return true;
}

static inline bool
in_chain(HeapTupleHeader tuple)
{
	return HeapTupleHeaderIsHeapOnly(tuple) ||
		HeapTupleHeaderIsHotUpdated(tuple);
}

static inline void
set_tuple(PageRead *read, HeapTuple tuple, OffsetNumber off, ItemId item,
		  Page page)
{
	tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
	tuple->t_len = ItemIdGetLength(item);
	tuple->t_tableOid = RelationGetRelid(read->scan->heapRelation);
	ItemPointerSet(&tuple->t_self, read->block, off);
}

/* Snapshots like SnapshotAny want no recheck: CLUSTER refuses it. */
static bool
wants_recheck(PageRead *read)
{
	return !read->mvcc && read->scan->numberOfKeys > 0;
}

/* ---- reading the page ---- */

/* Adds a tuple of an integer key that qualifies. */
static void
add_fast(PageRead *read, OffsetNumber off, HeapTuple tuple, int64 number,
		 bool null)
{
	OffsetNumber root = off;
	bool		recheck = false;
	ItemPointerData tid;
	Datum		value = 0;

	if (in_chain(tuple->t_data))
	{
		root = chain_start(read, off, tuple);
		if (root == InvalidOffsetNumber)
			note_unseen(read, tuple);
		if (root == InvalidOffsetNumber || read->seen[root])
			return;
		read->seen[root] = true;
		recheck = wants_recheck(read);
	}
	ItemPointerSet(&tid, read->block, root);
	if (null)
		add_item(read->state, &tid, recheck, &value, &null);
	else
		add_number(read->state, &tid, recheck, number);
}

/*
 * Reads integer keys from a line pointer on, the buffer being locked.  Returns
 * the last line pointer up to which keys are in order, and stored as the kernel
 * finds them.
 */
static OffsetNumber
read_fast(PageRead *read, OffsetNumber first)
{
	ZmScan	   *state = read->state;
	const ZmHeapKey *key = &state->heap_key;
	Page		page = read->page;
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	OffsetNumber sorted = last;
	int64		before = PG_INT64_MIN;

	for (OffsetNumber off = first; off <= last; off++)
	{
		ItemId		item = PageGetItemId(page, off);
		HeapTupleData tuple;
		int64		number = 0;
		Datum		value;
		bool		null = false;

		if (!ItemIdIsNormal(item))
			continue;
		if (!zm_heap_fast(key, (HeapTupleHeader) PageGetItem(page, item),
						  &number))
		{
			sorted = Min(sorted, off - 1);
			set_tuple(read, &tuple, off, item, page);
			zm_heap_key(key, &tuple, &value, &null);
			if (!null)
				number = zm_fast_datum(state->cursor.space.fast, value);
			else if (!zm_key_qualifies(&read->bounds, &value, &null))
				continue;
		}
		if (number < before)
			sorted = Min(sorted, off - 1);
		before = number;
		if (!null && (number < read->bounds.low || number > read->bounds.high))
			continue;
		set_tuple(read, &tuple, off, item, page);
		add_fast(read, off, &tuple, number, null);
	}
	return sorted;
}

/* The same where keys up to a line pointer are known to be in order. */
static void
read_sorted(PageRead *read, OffsetNumber sorted)
{
	const ZmHeapKey *key = &read->state->heap_key;
	Page		page = read->page;
	OffsetNumber last = Min(sorted, PageGetMaxOffsetNumber(page));
	HeapTupleData tuple;
	int64		number;

	for (OffsetNumber first = zm_heap_search(key, page, last, read->bounds.low);
		 first <= last; first++)
	{
		ItemId		item = PageGetItemId(page, first);

		if (!ItemIdIsNormal(item))
			continue;
		if (!zm_heap_fast(key, (HeapTupleHeader) PageGetItem(page, item),
						  &number) || number > read->bounds.high)
			break;
		set_tuple(read, &tuple, first, item, page);
		add_fast(read, first, &tuple, number, false);
	}
	(void) read_fast(read, last + 1);
}

/*
 * Reads integer keys of a page that is locked, with the help of the zone's note.
 * Returns the note that it should have, 0 for none or if it has that.  Only
 * readers with an MVCC snapshot believe notes: a unique check reads every tuple.
 */
static uint64
read_numbers(PageRead *read, IndexTuple zone)
{
	Relation	heap = read->scan->heapRelation;
	bool		notes = read->mvcc && (ZmFlags(zone) & ZM_NOTE) != 0;
	uint64		note = notes ? *ZmNote(zone) : 0;
	OffsetNumber last = PageGetMaxOffsetNumber(read->page);
	OffsetNumber sorted;

	if (note != 0 && note == zm_note_for(heap, read->page, read->block,
										 zm_note_sorted(note)))
	{
		read_sorted(read, zm_note_sorted(note));
		return 0;
	}
	sorted = read_fast(read, FirstOffsetNumber);
	/* Where more is to be read one by one, a search saves little. */
	if (!notes || last - sorted > last / 4)
		return 0;
	return zm_note_for(heap, read->page, read->block, sorted);
}

/*
 * Reads keys of any types.  Chains are looked at under the lock, which is let
 * go before keys are compared, in a copy of the page.
 */
static void
read_any(PageRead *read)
{
	ZmScan	   *state = read->state;
	Page		copy;
	OffsetNumber last = PageGetMaxOffsetNumber(read->page);
	OffsetNumber starts[MaxHeapTuplesPerPage + 1];
	bool		serializable =
		CheckForSerializableConflictOutNeeded(read->scan->heapRelation,
											  read->scan->xs_snapshot);

	for (OffsetNumber off = FirstOffsetNumber; off <= last; off++)
	{
		ItemId		item = PageGetItemId(read->page, off);
		HeapTupleData tuple;

		starts[off] = off;
		if (!ItemIdIsNormal(item))
			continue;
		set_tuple(read, &tuple, off, item, read->page);
		if (is_unreadable(read, &tuple))
			starts[off] = UNREADABLE;
		else if (in_chain(tuple.t_data))
			starts[off] = chain_start(read, off, &tuple);
	}
	copy = state->heap_page;
	memcpy(copy, read->page, BLCKSZ);
	LockBuffer(read->buf, BUFFER_LOCK_UNLOCK);

	for (OffsetNumber off = FirstOffsetNumber; off <= last; off++)
	{
		ItemId		item = PageGetItemId(copy, off);
		HeapTupleData tuple;
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];
		ItemPointerData tid;
		bool		chain;

		if (!ItemIdIsNormal(item) || starts[off] == UNREADABLE ||
			(starts[off] == InvalidOffsetNumber && !serializable))
			continue;
		set_tuple(read, &tuple, off, item, copy);
		chain = in_chain(tuple.t_data);
		if (starts[off] != InvalidOffsetNumber && chain &&
			read->seen[starts[off]])
			continue;
		zm_heap_key(&state->heap_key, &tuple, values, nulls);
		if (!zm_key_qualifies(&read->bounds, values, nulls))
			continue;
		if (starts[off] == InvalidOffsetNumber)
		{
			/* The pin keeps it where it is. */
			LockBuffer(read->buf, BUFFER_LOCK_SHARE);
			set_tuple(read, &tuple, off, PageGetItemId(read->page, off),
					  read->page);
			note_unseen(read, &tuple);
			LockBuffer(read->buf, BUFFER_LOCK_UNLOCK);
			continue;
		}
		if (chain)
			read->seen[starts[off]] = true;
		ItemPointerSet(&tid, read->block, starts[off]);
		if (state->cursor.space.fast != ZM_FAST_NONE && !nulls[0])
			add_number(state, &tid, chain && wants_recheck(read),
					   zm_fast_datum(state->cursor.space.fast, values[0]));
		else
			add_item(state, &tid, chain && wants_recheck(read), values,
					 nulls);
	}
}

/*
 * Finds the tuples of the rows that the snapshot sees, and drops the other
 * rows.  The buffer is locked, and stays pinned while they are returned.
 */
static void
find_visible(PageRead *read)
{
	ZmScan	   *state = read->state;
	Snapshot	snapshot = read->scan->xs_snapshot;
	Relation	heap = read->scan->heapRelation;
	bool		all_visible = PageIsAllVisible(read->page) &&
		!snapshot->takenDuringRecovery && !IsolationIsSerializable();
	int			n = 0;

	for (int i = 0; i < state->nitems; i++)
	{
		ZmItem	   *item = &state->items[i];
		OffsetNumber off = ItemPointerGetOffsetNumber(&item->tid);
		ItemId		lp = PageGetItemId(read->page, off);

		if (!all_visible || !ItemIdIsNormal(lp))
		{
			HeapTupleData tuple;
			ItemPointerData tid = item->tid;

			if (!heap_hot_search_buffer(&tid, heap, read->buf, snapshot,
										&tuple, NULL, true))
				continue;
			off = ItemPointerGetOffsetNumber(&tid);
		}
		item->visible = off;
		if (n < i)
			state->items[n] = *item;
		n++;
	}
	state->nitems = n;
}

/*
 * Reads the rows of a heap page.  The buffer becomes that of the scan's heap
 * fetches, so that the executor, which fetches from it next, finds it pinned.
 */
static void
read_page(IndexScanDesc scan, ZmScan *state, BlockNumber block)
{
	Relation	heap = scan->heapRelation;
	IndexFetchHeapData *fetch = (IndexFetchHeapData *) scan->xs_heapfetch;
	ZmCursor   *cursor = &state->cursor;
	IndexTuple	zone = ZmPageGetEntry(cursor->leaf, cursor->zone);
	Buffer	   *current = state->rows ? &state->page_buf : &fetch->xs_cbuf;
	Buffer		before = *current;
	uint64		note = 0;
	XLogRecPtr	lsn = InvalidXLogRecPtr;
	PageRead	read;

	read.scan = scan;
	read.state = state;
	read.block = block;
	read.have_roots = false;
	read.horizon = InvalidTransactionId;
	zm_bounds_init(&read.bounds, cursor, zone,
				   zm_bound_at(cursor->leaf, zm_cursor_group_end(cursor)));
	if (!zm_block_exists(heap, block))
		return;

	*current = read.buf = ReleaseAndReadBuffer(before, heap, block);
	/* 19: heap asks by number whether it has the block. */
	ST_SINCE_19(if (current == &fetch->xs_cbuf) fetch->xs_blk = block;)
	state->pages++;
	if (before != read.buf)
		st_heap_prune(heap, read.buf);
	read.page = BufferGetPage(read.buf);
	read.mvcc = IsMVCCSnapshot(scan->xs_snapshot);
	memset(read.seen, 0, sizeof(read.seen));
	if (!read.bounds.fast && state->heap_page == NULL)
		state->heap_page = MemoryContextAlloc(GetMemoryChunkContext(state),
											  BLCKSZ);
	LockBuffer(read.buf, BUFFER_LOCK_SHARE);
	if (read.bounds.fast)
	{
		note = read_numbers(&read, zone);
		/* not before: another backend's hint bits may move it on */
		lsn = PageGetLSN(read.page);
		if (state->rows || state->visible_only)
			find_visible(&read);
		LockBuffer(read.buf, BUFFER_LOCK_UNLOCK);
		if (note != 0)
			zm_note_write(&cursor->space, cursor->leaf_block, zone, note, lsn);
	}
	else
	{
		read_any(&read);
		if ((state->rows || state->visible_only) && state->nitems > 0)
		{
			LockBuffer(read.buf, BUFFER_LOCK_SHARE);
			find_visible(&read);
			LockBuffer(read.buf, BUFFER_LOCK_UNLOCK);
		}
	}
}

/* Adds the exact entries of the group. */
static void
read_exact(ZmScan *state)
{
	ZmCursor   *cursor = &state->cursor;
	const ZmSpace *space = &cursor->space;
	OffsetNumber from;
	OffsetNumber to;

	if (!zm_cursor_exact(cursor, &from, &to))
		return;
	state->exact += to - from;
	for (OffsetNumber off = from; off < to; off++)
	{
		IndexTuple	itup = ZmPageGetEntry(cursor->leaf, off);
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];

		if (ZmIsMark(itup))
			continue;
		zm_exact_check(space->index, itup);
		if (zm_cursor_repeats(cursor, itup))
			continue;
		for (int i = 0; i < space->ncolumns; i++)
			values[i] = index_getattr(itup, i + 1, space->desc, &nulls[i]);
		if (!zm_filter(&cursor->quals, values, nulls))
			continue;
		if (space->fast != ZM_FAST_NONE && !nulls[0])
			add_number(state, &itup->t_tid, false,
					   zm_fast_datum(space->fast, values[0]));
		else
			add_item(state, &itup->t_tid, false, values, nulls);
	}
}

/* Loads the rows of the cursor's group. */
void
zm_group_load(IndexScanDesc scan, ZmScan *state)
{
	MemoryContext old = CurrentMemoryContext;
	BlockNumber block;

	if (state->group_context != NULL)
	{
		MemoryContextReset(state->group_context);
		old = MemoryContextSwitchTo(state->group_context);
	}
	state->groups++;
	state->nitems = 0;
	state->nkeys = 0;
	block = zm_cursor_block(&state->cursor);
	if (block != InvalidBlockNumber)
		read_page(scan, state, block);
	read_exact(state);
	order_items(state);
	MemoryContextSwitchTo(old);
}
