/*-------------------------------------------------------------------------
 *
 * sh_move.c
 *	  Rows moved to other pages of their table, for compaction.
 *
 * New tuples are written a page at a time.  Entries of zonemaps are made for
 * all of them together, entries of other indexes one by one.  Then the old
 * tuples are deleted, a page at a time, in one change with the link to the new
 * tuple in t_ctid: to everybody else that is an update.  That change is logged
 * as the generic resource manager logs it, built here because it is known
 * which bytes differ; any server replays it.
 *
 * A row that somebody has changed or locked since it was read stays where it
 * is, and its new tuple is deleted again, unseen by anybody.
 *
 * Rows with values out of line, and rows that have an xmax (the ID of one who
 * has locked them, or tried to delete them), go the long way: heap_delete(),
 * which knows about both, then heap_insert().  heap_delete() also takes the
 * first row of a page that is all visible, because it clears the visibility
 * map and logs that.
 *
 * Locks: one heap page at a time, exclusively.  The caller has locked the
 * table against VACUUM and itself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/rmgr.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "sh_move.h"
#include "zm_access.h"
#include "zm_page.h"

#define EMPTY_PAGE_ROOM (BLCKSZ - SizeOfPageHeaderData)

typedef struct Move
{
	ItemPointerData from;
	ItemPointerData to;
	bool		deleted;		/* the old tuple is */
} Move;

/* One index of the table. */
typedef struct TableIndex
{
	Relation	index;
	IndexInfo  *info;
	ExprState  *predicate;
	bool		zonemap;
	IndexTuple *entries;		/* of a zonemap, one per move at most */
	int			nentries;
	int			room;
} TableIndex;

struct ZmMover
{
	Relation	rel;
	MemoryContext context;		/* the mover's own */
	EState	   *estate;
	int			nindexes;
	TableIndex *indexes;
	ZmRoom	   *room;
	Size		reserve;		/* bytes that fillfactor leaves on a page */

	/* rows that wait to be written to one page */
	TupleTableSlot *row;		/* for rows that go the long way */
	int			nrows;
	Size		left;			/* bytes left on that page */
	ItemPointerData from[MaxHeapTuplesPerPage];
	TupleTableSlot *slots[MaxHeapTuplesPerPage];	/* NULL: not made yet */

	int			nmoves;
	int			moves_room;
	Move	   *moves;
};

/* ---- indexes ---- */

static void
open_indexes(ZmMover *mover)
{
	List	   *oids = RelationGetIndexList(mover->rel);
	ListCell   *lc;

	mover->indexes = palloc0(Max(list_length(oids), 1) * sizeof(TableIndex));
	foreach(lc, oids)
	{
		TableIndex *index = &mover->indexes[mover->nindexes];

		index->index = index_open(lfirst_oid(lc), RowExclusiveLock);
		if (!index->index->rd_index->indisready)
		{
			index_close(index->index, NoLock);
			continue;
		}
		index->info = BuildIndexInfo(index->index);
		index->predicate = ExecPrepareQual(index->info->ii_Predicate,
										   mover->estate);
		index->zonemap = index->index->rd_indam->aminsert == zm_insert;
		mover->nindexes++;
	}
}

/* Keeps the entry of a new row for zm_insert_many(). */
static void
keep_entry(ZmMover *mover, TableIndex *index, Datum *values, bool *nulls,
		   ItemPointer tid)
{
	MemoryContext old = MemoryContextSwitchTo(mover->context);

	if (index->nentries == index->room)
	{
		index->room = Max(256, index->room * 2);
		index->entries = index->entries == NULL ?
			palloc(index->room * sizeof(IndexTuple)) :
			repalloc_huge(index->entries, index->room * sizeof(IndexTuple));
	}
	index->entries[index->nentries++] =
		zm_form_exact(index->index, values, nulls, tid);
	MemoryContextSwitchTo(old);
}

/* Makes entries for a new row in all indexes. */
static void
insert_entries(ZmMover *mover, TupleTableSlot *slot, ItemPointer tid)
{
	ExprContext *econtext = GetPerTupleExprContext(mover->estate);

	econtext->ecxt_scantuple = slot;
	for (int i = 0; i < mover->nindexes; i++)
	{
		TableIndex *index = &mover->indexes[i];
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];

		if (index->predicate != NULL && !ExecQual(index->predicate, econtext))
			continue;
		FormIndexDatum(index->info, slot, mover->estate, values, nulls);
		if (index->zonemap)
			keep_entry(mover, index, values, nulls, tid);
		else
			/* The row was unique where it was. */
			index_insert(index->index, values, nulls, tid, mover->rel,
						 UNIQUE_CHECK_NO, false, index->info);
	}
	ResetPerTupleExprContext(mover->estate);
}

static void
remember_move(ZmMover *mover, ItemPointer from, ItemPointer to, bool deleted)
{
	Move	   *move;

	if (mover->nmoves == mover->moves_room)
	{
		mover->moves_room *= 2;
		mover->moves = repalloc_huge(mover->moves,
									 mover->moves_room * sizeof(Move));
	}
	move = &mover->moves[mover->nmoves++];
	move->from = *from;
	move->to = *to;
	move->deleted = deleted;
}

/* ---- the page that is being filled ---- */

/*
 * Chooses the page for a row of so many bytes, and what is left of it.  When
 * the page is full an empty one takes its place; where there is none, heap
 * finds the old one full and extends the table, if it may.  Returns whether
 * there is a page.
 */
static bool
choose_page(ZmMover *mover, Size needed)
{
	ZmRoom	   *room = mover->room;
	Size		left = 0;

	/* Heap has extended the table, though it may not grow. */
	if (room->target >= room->end)
		room->target = InvalidBlockNumber;
	if (room->target != InvalidBlockNumber)
		left = zm_page_room(mover->rel, room->target);
	if (left < needed + mover->reserve)
	{
		BlockNumber empty = zm_room_next(mover->rel, room);

		if (empty == InvalidBlockNumber && room->end != InvalidBlockNumber)
			return false;
		left = EMPTY_PAGE_ROOM;
		if (empty != InvalidBlockNumber)
		{
			room->target = empty;
			left = zm_page_room(mover->rel, empty) + sizeof(ItemIdData);
		}
	}
	else
		left += sizeof(ItemIdData); /* one was left out of it */
	mover->left = left - Min(left, mover->reserve);
	return true;
}

/* Inserts a tuple, unseen by logical decoding. */
static void
insert_quietly(ZmMover *mover, HeapTuple tuple)
{
	RelationSetTargetBlock(mover->rel, mover->room->target);
	heap_insert(mover->rel, tuple, GetCurrentCommandId(true),
				HEAP_INSERT_SKIP_FSM | HEAP_INSERT_NO_LOGICAL, NULL);
	mover->room->target = ItemPointerGetBlockNumber(&tuple->t_self);
}

/* Inserts the rows that wait; slots get the new TIDs. */
static void
insert_rows(ZmMover *mover)
{
	/* It cannot keep rows from logical decoding. */
	if (!RelationIsLogicallyLogged(mover->rel))
	{
		RelationSetTargetBlock(mover->rel, mover->room->target);
		heap_multi_insert(mover->rel, mover->slots, mover->nrows,
						  GetCurrentCommandId(true), HEAP_INSERT_SKIP_FSM,
						  NULL);
		return;
	}
	for (int i = 0; i < mover->nrows; i++)
	{
		TupleTableSlot *slot = mover->slots[i];
		HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, true, NULL);

		insert_quietly(mover, tuple);
		slot->tts_tid = tuple->t_self;
	}
}

/* Writes the rows that wait, and makes their index entries. */
static void
write_rows(ZmMover *mover)
{
	if (mover->nrows == 0)
		return;
	insert_rows(mover);
	for (int i = 0; i < mover->nrows; i++)
	{
		TupleTableSlot *slot = mover->slots[i];

		insert_entries(mover, slot, &slot->tts_tid);
		remember_move(mover, &mover->from[i], &slot->tts_tid, false);
		mover->room->target = ItemPointerGetBlockNumber(&slot->tts_tid);
		ExecClearTuple(slot);
	}
	mover->nrows = 0;
}

/* ---- one row, the long way ---- */

/* Deletes a tuple without waiting, unseen by logical decoding. */
static bool
delete_quietly(Relation rel, ItemPointer tid)
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

/* Returns whether there was a page for it. */
static bool
move_alone(ZmMover *mover, HeapTuple tuple, ItemPointer from)
{
	write_rows(mover);
	if (!choose_page(mover, MAXALIGN(tuple->t_len) + sizeof(ItemIdData)))
		return false;
	if (!delete_quietly(mover->rel, from))
	{
		heap_freetuple(tuple);
		return true;
	}
	insert_quietly(mover, tuple);
	ExecForceStoreHeapTuple(tuple, mover->row, false);
	insert_entries(mover, mover->row, &tuple->t_self);
	ExecClearTuple(mover->row);
	remember_move(mover, from, &tuple->t_self, true);
	heap_freetuple(tuple);
	return true;
}

/* ---- old tuples ---- */

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
count_page(const Move *moves, int nmoves)
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
change_page(ZmMover *mover, Buffer buf, Move *moves, int n, Delta *delta)
{
	Page		page = BufferGetPage(buf);
	BlockNumber block = BufferGetBlockNumber(buf);
	bool		link[MaxHeapTuplesPerPage];
	bool		any = false;

	for (int i = 0; i < n; i++)
	{
		link[i] = moves[i].deleted;
		if (!link[i] && may_delete(mover->rel, buf, &moves[i].from))
		{
			CheckForSerializableConflictIn(mover->rel, &moves[i].from, block);
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
	if (RelationNeedsWAL(mover->rel))
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

/* Deletes and links the old tuples of one page. */
static void
delete_page(ZmMover *mover, Move *moves, int n, Delta *delta)
{
	Buffer		buf = ReadBuffer(mover->rel,
								 ItemPointerGetBlockNumber(&moves[0].from));
	int			clearing = 0;
	int			deleted = 0;

	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	while (PageIsAllVisible(BufferGetPage(buf)) && clearing < n)
	{
		Move	   *move = &moves[clearing++];

		LockBuffer(buf, BUFFER_LOCK_UNLOCK);
		if (!move->deleted)
			move->deleted = delete_quietly(mover->rel, &move->from);
		LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	}
	for (int i = 0; i < n; i++)
		deleted -= moves[i].deleted;
	/* If it still is, no row could be deleted. */
	if (!PageIsAllVisible(BufferGetPage(buf)))
		change_page(mover, buf, moves, n, delta);
	mover->room->emptied += is_emptied(BufferGetPage(buf));
	UnlockReleaseBuffer(buf);
	for (int i = 0; i < n; i++)
		deleted += moves[i].deleted;
	for (; deleted > 0; deleted--)
		pgstat_count_heap_delete(mover->rel);
}

static inline uint64
place_of(const ItemPointerData *tid)
{
	return (uint64) ItemPointerGetBlockNumber(tid) << 16 |
		ItemPointerGetOffsetNumber(tid);
}

static inline int
compare_moves(const Move *a, const Move *b)
{
	uint64		left = place_of(&a->from);
	uint64		right = place_of(&b->from);

	return (left > right) - (left < right);
}

#define ST_SORT sort_moves
#define ST_ELEMENT_TYPE Move
#define ST_COMPARE(a, b) compare_moves(a, b)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Deletes the new tuples of rows that stay where they are. */
static void
take_back(ZmMover *mover)
{
	bool		visible = false;

	for (int i = 0; i < mover->nmoves; i++)
	{
		Move	   *move = &mover->moves[i];

		if (move->deleted)
			continue;
		/* Nobody sees them but we do, from the next command on. */
		if (!visible)
			CommandCounterIncrement();
		visible = true;
		if (!delete_quietly(mover->rel, &move->to))
			elog(ERROR, "could not delete new tuple (%u,%u) of \"%s\"",
				 ItemPointerGetBlockNumber(&move->to),
				 ItemPointerGetOffsetNumber(&move->to),
				 RelationGetRelationName(mover->rel));
	}
}

/* ---- all of it ---- */

/* Begins to move rows. */
ZmMover *
zm_move_begin(Relation rel, ZmRoom *room)
{
	ZmMover    *mover = palloc0(sizeof(ZmMover));

	mover->rel = rel;
	mover->context = CurrentMemoryContext;
	mover->room = room;
	mover->reserve = RelationGetTargetPageFreeSpace(rel,
													HEAP_DEFAULT_FILLFACTOR);
	mover->estate = CreateExecutorState();
	mover->row = MakeSingleTupleTableSlot(RelationGetDescr(rel),
										  &TTSOpsHeapTuple);
	mover->moves_room = 1024;
	mover->moves = palloc(mover->moves_room * sizeof(Move));
	open_indexes(mover);
	return mover;
}

/*
 * Moves a row, which the slot has got from its page; it may be written later,
 * in zm_move_end() at the latest.  Returns whether there was a page for it.
 */
bool
zm_move_row(ZmMover *mover, TupleTableSlot *slot)
{
	ItemPointerData from = slot->tts_tid;
	MemoryContext old = MemoryContextSwitchTo(mover->context);
	HeapTuple	tuple = ExecCopySlotHeapTuple(slot);
	Size		needed = MAXALIGN(tuple->t_len) + sizeof(ItemIdData);

	if (HeapTupleHasExternal(tuple) ||
		!(tuple->t_data->t_infomask & HEAP_XMAX_INVALID))
	{
		bool		done = move_alone(mover, tuple, &from);

		MemoryContextSwitchTo(old);
		return done;
	}
	if (mover->nrows > 0 && (mover->left < needed ||
							 mover->nrows == MaxHeapTuplesPerPage))
		write_rows(mover);
	if (mover->nrows == 0 && !choose_page(mover, needed))
	{
		MemoryContextSwitchTo(old);
		return false;
	}
	if (mover->slots[mover->nrows] == NULL)
		mover->slots[mover->nrows] =
			MakeSingleTupleTableSlot(RelationGetDescr(mover->rel),
									 &TTSOpsHeapTuple);
	ExecForceStoreHeapTuple(tuple, mover->slots[mover->nrows], true);
	mover->from[mover->nrows++] = from;
	mover->left -= Min(mover->left, needed);
	MemoryContextSwitchTo(old);
	return true;
}

/* Finishes all moves. */
void
zm_move_end(ZmMover *mover)
{
	Delta	   *delta = palloc(sizeof(Delta));

	write_rows(mover);
	for (int i = 0; i < mover->nindexes; i++)
	{
		TableIndex *index = &mover->indexes[i];

		zm_insert_many(index->index, mover->rel, index->info, index->entries,
					   index->nentries);
	}
	sort_moves(mover->moves, mover->nmoves);
	for (int i = 0; i < mover->nmoves;)
	{
		int			n = count_page(mover->moves + i, mover->nmoves - i);

		CHECK_FOR_INTERRUPTS();
		delete_page(mover, mover->moves + i, n, delta);
		i += n;
	}
	take_back(mover);

	for (int i = 0; i < mover->nindexes; i++)
		index_close(mover->indexes[i].index, NoLock);
	for (int i = 0; i < MaxHeapTuplesPerPage && mover->slots[i] != NULL; i++)
		ExecDropSingleTupleTableSlot(mover->slots[i]);
	ExecDropSingleTupleTableSlot(mover->row);
	FreeExecutorState(mover->estate);
}
