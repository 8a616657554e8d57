/*-------------------------------------------------------------------------
 *
 * sh_leave.c
 *	  Old tuples of rows that compaction has moved: deleted, and linked to the
 *	  new ones.
 *
 * That is one change per page, logged by the generic resource manager, so any server
 * replays it.  st_delete_quietly() takes the first row of a page that is all visible,
 * because it clears the visibility map and logs that.
 *
 * A tuple that somebody has changed or locked meanwhile stays.
 *
 * Locks: one heap page at a time, exclusively.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "sh_move.h"
#include "st_wal.h"
#include "zm_wal.h"

static HeapTupleHeader
header_at(Page page, ItemPointer tid)
{
	return (HeapTupleHeader)
		PageGetItem(page, PageGetItemId(page,
										ItemPointerGetOffsetNumber(tid)));
}

/* Whether the tuple may be deleted by us, without asking more questions. */
static bool
may_delete(Relation rel, Buffer buf, ItemPointer tid)
{
	Page		page = BufferGetPage(buf);
	OffsetNumber off = ItemPointerGetOffsetNumber(tid);
	HeapTupleData tuple;

	if (off > PageGetMaxOffsetNumber(page) ||
		!ItemIdIsNormal(PageGetItemId(page, off)))
		return false;
	tuple.t_data = header_at(page, tid);
	tuple.t_len = ItemIdGetLength(PageGetItemId(page, off));
	tuple.t_self = *tid;
	tuple.t_tableOid = RelationGetRelid(rel);
	return HeapTupleSatisfiesUpdate(&tuple, GetCurrentCommandId(false),
									buf) == TM_Ok &&
		(tuple.t_data->t_infomask & HEAP_XMAX_INVALID) != 0;
}

static void
delete_tuple(HeapTupleHeader tuple)
{
	tuple->t_infomask &= ~(HEAP_XMAX_BITS | HEAP_MOVED);
	tuple->t_infomask2 &= ~HEAP_KEYS_UPDATED;
	tuple->t_infomask2 |= HEAP_KEYS_UPDATED;
	HeapTupleHeaderClearHotUpdated(tuple);
	HeapTupleHeaderSetXmax(tuple, GetCurrentTransactionId());
	HeapTupleHeaderSetCmax(tuple, GetCurrentCommandId(true), false);
}

/* Moves whose old tuples are on the page of the first one. */
static int
count_page(const ShMove *moves, int nmoves)
{
	int			n = 1;

	while (n < nmoves && ItemPointerGetBlockNumber(&moves[n].from) ==
		   ItemPointerGetBlockNumber(&moves[0].from))
		n++;
	return n;
}

/*
 * Deletes the old tuples of a page that is locked, but for those of which
 * `deleted` says that they are already, and links them all to the new ones.
 * Afterwards `deleted` tells which ones are.
 */
static void
change_page(Relation rel, Buffer buf, ShMove *moves, int n)
{
	BlockNumber block = BufferGetBlockNumber(buf);
	bool		link[MaxHeapTuplesPerPage];
	bool		any = false;
	ZmChange   *change;
	Page		page;

	for (int i = 0; i < n; i++)
	{
		link[i] = moves[i].deleted;
		if (!link[i] && may_delete(rel, buf, &moves[i].from))
		{
			CheckForSerializableConflictIn(rel, &moves[i].from, block);
			link[i] = true;
		}
		any |= link[i];
	}
	if (!any)
		return;

	change = zm_change_begin(rel);
	page = zm_change_page(change, buf);
	PageSetPrunable(page, GetCurrentTransactionId());
	for (int i = 0; i < n; i++)
	{
		HeapTupleHeader tuple;

		if (!link[i])
			continue;
		tuple = header_at(page, &moves[i].from);
		if (!moves[i].deleted)
			delete_tuple(tuple);
		moves[i].deleted = true;
		tuple->t_ctid = moves[i].to;
	}
	zm_change_end(change, true);
}

/* Whether all rows of a page that is locked are deleted, if all goes well. */
static bool
is_emptied(Page page)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (OffsetNumber off = FirstOffsetNumber; off <= last; off++)
	{
		ItemId		item = PageGetItemId(page, off);
		HeapTupleHeader tuple;

		if (!ItemIdIsNormal(item))
			continue;
		tuple = (HeapTupleHeader) PageGetItem(page, item);
		if ((tuple->t_infomask & HEAP_XMAX_INVALID) != 0 ||
			HEAP_XMAX_IS_LOCKED_ONLY(tuple->t_infomask))
			return false;
	}
	return true;
}

/*
 * Deletes and links the old tuples of one page.  Returns whether it has lost
 * its last row.
 */
static bool
delete_page(Relation rel, ShMove *moves, int n)
{
	Buffer		buf = ReadBuffer(rel,
								 ItemPointerGetBlockNumber(&moves[0].from));
	int			clearing = 0;
	int			deleted = 0;
	bool		emptied;

	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	while (PageIsAllVisible(BufferGetPage(buf)) && clearing < n)
	{
		ShMove	   *move = &moves[clearing++];

		LockBuffer(buf, BUFFER_LOCK_UNLOCK);
		if (!move->deleted)
			move->deleted = st_delete_quietly(rel, &move->from);
		LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	}
	for (int i = 0; i < n; i++)
		deleted -= moves[i].deleted;
	/* If it still is, no row could be deleted. */
	if (!PageIsAllVisible(BufferGetPage(buf)))
		change_page(rel, buf, moves, n);
	emptied = is_emptied(BufferGetPage(buf));
	UnlockReleaseBuffer(buf);
	for (int i = 0; i < n; i++)
		deleted += moves[i].deleted;
	for (; deleted > 0; deleted--)
		pgstat_count_heap_delete(rel);
	return emptied;
}

#define ST_SORT sort_moves
#define ST_ELEMENT_TYPE ShMove
#define ST_COMPARE(a, b) ItemPointerCompare(&(a)->from, &(b)->from)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Deletes and links the old tuples of moves, which it sorts by page, and notes
 * which of them are deleted.  Returns the number of pages that have lost their
 * last row.
 */
int64
sh_leave_old(Relation rel, ShMove *moves, int nmoves)
{
	int64		emptied = 0;

	sort_moves(moves, nmoves);
	for (int i = 0; i < nmoves;)
	{
		int			n = count_page(moves + i, nmoves - i);

		CHECK_FOR_INTERRUPTS();
		emptied += delete_page(rel, moves + i, n);
		i += n;
		st_wal_keep_up();
	}
	return emptied;
}
