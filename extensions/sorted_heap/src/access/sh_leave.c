/*-------------------------------------------------------------------------
 *
 * sh_leave.c
 *	  Old tuples of rows that compaction has moved: deleted, and linked to the
 *	  new ones.
 *
 * That is one change per page, logged as the generic resource manager does,
 * built here because it is known which bytes differ; any server replays it.
 * heap_delete() takes the first row of a page that is all visible, because it
 * clears the visibility map and logs that.
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
#include "access/rmgr.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "sh_move.h"
#include "st_wal.h"

/* Deletes a tuple without waiting, unseen by logical decoding. */
bool
zm_delete_quietly(Relation rel, ItemPointer tid)
{
	char		identity = rel->rd_rel->relreplident;
	TM_FailureData failure;
	TM_Result	result;

	rel->rd_rel->relreplident = REPLICA_IDENTITY_NOTHING;
	PG_TRY();
	{
		result = heap_delete(rel, tid, GetCurrentCommandId(true),
							 InvalidSnapshot, false, &failure, false);
	}
	PG_FINALLY();
	{
		rel->rd_rel->relreplident = identity;
	}
	PG_END_TRY();
	return result == TM_Ok;
}

/* What a change of a tuple's header writes: its t_xmax to t_infomask. */
#define HEADER_FROM offsetof(HeapTupleHeaderData, t_choice.t_heap.t_xmax)
#define HEADER_BYTES \
	(offsetof(HeapTupleHeaderData, t_hoff) - HEADER_FROM)

/* Pieces of one page that a record of the generic resource manager replaces. */
typedef struct Delta
{
	int			size;
	char		data[sizeof(uint16) * 2 * (MaxHeapTuplesPerPage + 1) +
					 sizeof(TransactionId) +
					 HEADER_BYTES * MaxHeapTuplesPerPage];
} Delta;

static void
add_piece(Delta *delta, Page page, int offset, int length)
{
	uint16		numbers[2] = {offset, length};

	memcpy(delta->data + delta->size, numbers, sizeof(numbers));
	memcpy(delta->data + delta->size + sizeof(numbers), (char *) page + offset,
		   length);
	delta->size += sizeof(numbers) + length;
}

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
count_page(const ZmMove *moves, int nmoves)
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
change_page(Relation rel, Buffer buf, ZmMove *moves, int n, Delta *delta)
{
	Page		page = BufferGetPage(buf);
	BlockNumber block = BufferGetBlockNumber(buf);
	bool		link[MaxHeapTuplesPerPage];
	bool		any = false;

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

	(void) GetCurrentTransactionId();
	(void) GetCurrentCommandId(true);
	delta->size = 0;
	START_CRIT_SECTION();
	PageSetPrunable(page, GetCurrentTransactionId());
	add_piece(delta, page, offsetof(PageHeaderData, pd_prune_xid),
			  sizeof(TransactionId));
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
		add_piece(delta, page, (char *) tuple - (char *) page + HEADER_FROM,
				  HEADER_BYTES);
	}
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(rel))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
		XLogRegisterBufData(0, delta->data, delta->size);
		lsn = XLogInsert(RM_GENERIC_ID, 0);
		PageSetLSN(page, lsn);
	}
	END_CRIT_SECTION();
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
delete_page(Relation rel, ZmMove *moves, int n, Delta *delta)
{
	Buffer		buf = ReadBuffer(rel,
								 ItemPointerGetBlockNumber(&moves[0].from));
	int			clearing = 0;
	int			deleted = 0;
	bool		emptied;

	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	while (PageIsAllVisible(BufferGetPage(buf)) && clearing < n)
	{
		ZmMove	   *move = &moves[clearing++];

		LockBuffer(buf, BUFFER_LOCK_UNLOCK);
		if (!move->deleted)
			move->deleted = zm_delete_quietly(rel, &move->from);
		LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	}
	for (int i = 0; i < n; i++)
		deleted -= moves[i].deleted;
	/* If it still is, no row could be deleted. */
	if (!PageIsAllVisible(BufferGetPage(buf)))
		change_page(rel, buf, moves, n, delta);
	emptied = is_emptied(BufferGetPage(buf));
	UnlockReleaseBuffer(buf);
	for (int i = 0; i < n; i++)
		deleted += moves[i].deleted;
	for (; deleted > 0; deleted--)
		pgstat_count_heap_delete(rel);
	return emptied;
}

static inline uint64
place_of(const ItemPointerData *tid)
{
	return (uint64) ItemPointerGetBlockNumber(tid) << 16 |
		ItemPointerGetOffsetNumber(tid);
}

static inline int
compare_moves(const ZmMove *a, const ZmMove *b)
{
	uint64		left = place_of(&a->from);
	uint64		right = place_of(&b->from);

	return (left > right) - (left < right);
}

#define ST_SORT sort_moves
#define ST_ELEMENT_TYPE ZmMove
#define ST_COMPARE(a, b) compare_moves(a, b)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Deletes and links the old tuples of moves, which it sorts by page, and notes
 * which of them are deleted.  Returns the number of pages that have lost their
 * last row.
 */
int64
zm_leave_old(Relation rel, ZmMove *moves, int nmoves)
{
	Delta	   *delta = palloc(sizeof(Delta));
	int64		emptied = 0;

	sort_moves(moves, nmoves);
	for (int i = 0; i < nmoves;)
	{
		int			n = count_page(moves + i, nmoves - i);

		CHECK_FOR_INTERRUPTS();
		emptied += delete_page(rel, moves + i, n, delta);
		i += n;
		st_wal_keep_up();
	}
	pfree(delta);
	return emptied;
}
