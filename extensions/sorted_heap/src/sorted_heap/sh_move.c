/*-------------------------------------------------------------------------
 *
 * sh_move.c
 *	  Rows moved to other pages of their table, for compaction.
 *
 * Rows wait until all of a step's are read.  Then the transaction becomes a
 * serializable one, for the sake of serializable readers of old tuples.  New
 * tuples are written a page at a time.  Entries of zonemaps are made for all of
 * them together, entries of other indexes one by one.  Then the old tuples are
 * deleted, and linked to the new ones by t_ctid (sh_leave.c): to everybody else
 * that is an update.
 *
 * A row that somebody has changed or locked since it was read stays where it
 * is, and its new tuple is deleted again, unseen by anybody.
 *
 * Rows with values out of line, and rows that have an xmax (the ID of one who
 * has locked them, or tried to delete them), go the long way: heap_delete(),
 * which knows about both, then heap_insert().
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
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "sh_move.h"
#include "st_wal.h"
#include "zm_insert.h"
#include "zm_page.h"

#define EMPTY_PAGE_ROOM (BLCKSZ - SizeOfPageHeaderData)

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

/* A row that is to move. */
typedef struct Queued
{
	HeapTuple	tuple;			/* a copy; its t_self is where it was */
	BlockNumber page;			/* asked for; invalid: the one being filled */
} Queued;

struct ShMover
{
	Relation	rel;
	MemoryContext context;		/* the mover's own */
	bool		writing;		/* the transaction is serializable now */
	bool		full;			/* there was no page for a row */
	int64		nplaced;		/* rows for which there was one */

	/* rows that wait until all are read */
	int			nqueued;
	int			queue_room;
	Queued	   *queue;
	Size		queue_bytes;

	EState	   *estate;
	int			nindexes;
	TableIndex *indexes;
	ShRoom	   *room;
	Size		reserve;		/* bytes that fillfactor leaves on a page */

	/* rows that wait to be written to one page */
	BlockNumber page;			/* asked for; invalid: the room's target */
	TupleTableSlot *row;		/* for rows that go the long way */
	int			nrows;
	Size		left;			/* bytes left on that page */
	ItemPointerData from[MaxHeapTuplesPerPage];
	TupleTableSlot *slots[MaxHeapTuplesPerPage];	/* NULL: not made yet */

	int			nmoves;
	int			moves_room;
	ShMove	   *moves;
};

/* ---- indexes ---- */

static void
open_indexes(ShMover *mover)
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
keep_entry(ShMover *mover, TableIndex *index, Datum *values, bool *nulls,
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
insert_entries(ShMover *mover, TupleTableSlot *slot, ItemPointer tid)
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
remember_move(ShMover *mover, ItemPointer from, ItemPointer to, bool deleted)
{
	ShMove	   *move;

	if (mover->nmoves == mover->moves_room)
	{
		mover->moves_room *= 2;
		mover->moves = repalloc_huge(mover->moves,
									 mover->moves_room * sizeof(ShMove));
	}
	move = &mover->moves[mover->nmoves++];
	move->from = *from;
	move->to = *to;
	move->deleted = deleted;
}

/* ---- the page that is being filled ---- */

/* Where heap is to put what comes next, and where it has put it. */
static BlockNumber
get_target(ShMover *mover)
{
	return mover->page != InvalidBlockNumber ? mover->page :
		mover->room->target;
}

static void
set_target(ShMover *mover, BlockNumber block)
{
	if (mover->page == InvalidBlockNumber)
		mover->room->target = block;
}

/*
 * Chooses the page for a row of so many bytes, and what is left of it.  When
 * the page is full an empty one takes its place; where there is none, heap
 * finds the old one full and extends the table, if it may.  Returns whether
 * there is a page.
 */
static bool
choose_page(ShMover *mover, Size needed)
{
	ShRoom	   *room = mover->room;
	Size		left = 0;

	if (mover->page != InvalidBlockNumber)
	{
		left = sh_page_room(mover->rel, mover->page);
		if (left < needed - sizeof(ItemIdData) + mover->reserve)
			return false;
		mover->left = left + sizeof(ItemIdData) - mover->reserve;
		return true;
	}
	/* Heap has extended the table, though it may not grow. */
	if (room->target >= room->end)
		room->target = InvalidBlockNumber;
	if (room->target != InvalidBlockNumber)
		left = sh_page_room(mover->rel, room->target);
	if (left < needed + mover->reserve)
	{
		BlockNumber empty = sh_room_next(mover->rel, room);

		if (empty == InvalidBlockNumber && room->end != InvalidBlockNumber)
			return false;
		left = EMPTY_PAGE_ROOM;
		if (empty != InvalidBlockNumber)
		{
			room->target = empty;
			left = sh_page_room(mover->rel, empty) + sizeof(ItemIdData);
		}
	}
	else
		left += sizeof(ItemIdData); /* one was left out of it */
	mover->left = left - Min(left, mover->reserve);
	return true;
}

/* Inserts a tuple, unseen by logical decoding. */
static void
insert_quietly(ShMover *mover, HeapTuple tuple)
{
	RelationSetTargetBlock(mover->rel, get_target(mover));
	heap_insert(mover->rel, tuple, GetCurrentCommandId(true),
				HEAP_INSERT_SKIP_FSM | HEAP_INSERT_NO_LOGICAL, NULL);
	set_target(mover, ItemPointerGetBlockNumber(&tuple->t_self));
}

/* Inserts the rows that wait; slots get the new TIDs. */
static void
insert_rows(ShMover *mover)
{
	/* It cannot keep rows from logical decoding. */
	if (!RelationIsLogicallyLogged(mover->rel))
	{
		RelationSetTargetBlock(mover->rel, get_target(mover));
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
write_rows(ShMover *mover)
{
	if (mover->nrows == 0)
		return;
	insert_rows(mover);
	for (int i = 0; i < mover->nrows; i++)
	{
		TupleTableSlot *slot = mover->slots[i];

		insert_entries(mover, slot, &slot->tts_tid);
		remember_move(mover, &mover->from[i], &slot->tts_tid, false);
		set_target(mover, ItemPointerGetBlockNumber(&slot->tts_tid));
		ExecClearTuple(slot);
	}
	mover->nrows = 0;
	st_wal_keep_up();
}

/* ---- one row, the long way ---- */

/* Returns whether there was a page for it. */
static bool
move_alone(ShMover *mover, HeapTuple tuple, ItemPointer from)
{
	write_rows(mover);
	if (!choose_page(mover, MAXALIGN(tuple->t_len) + sizeof(ItemIdData)))
		return false;
	if (!st_delete_quietly(mover->rel, from))
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

/* Deletes the new tuples of rows that stay where they are. */
static void
take_back(ShMover *mover)
{
	bool		visible = false;

	for (int i = 0; i < mover->nmoves; i++)
	{
		ShMove	   *move = &mover->moves[i];

		if (move->deleted)
			continue;
		/* Nobody sees them but we do, from the next command on. */
		if (!visible)
			CommandCounterIncrement();
		visible = true;
		if (!st_delete_quietly(mover->rel, &move->to))
			elog(ERROR, "could not delete new tuple (%u,%u) of \"%s\"",
				 ItemPointerGetBlockNumber(&move->to),
				 ItemPointerGetOffsetNumber(&move->to),
				 RelationGetRelationName(mover->rel));
	}
}

/* ---- all of it ---- */

/* Begins to move rows. */
ShMover *
sh_move_begin(Relation rel, ShRoom *room)
{
	ShMover    *mover = palloc0(sizeof(ShMover));

	mover->rel = rel;
	mover->context = CurrentMemoryContext;
	mover->room = room;
	mover->page = InvalidBlockNumber;
	mover->queue_room = 1024;
	mover->queue = palloc(mover->queue_room * sizeof(Queued));
	mover->reserve = RelationGetTargetPageFreeSpace(rel,
													HEAP_DEFAULT_FILLFACTOR);
	mover->estate = CreateExecutorState();
	mover->row = MakeSingleTupleTableSlot(RelationGetDescr(rel),
										  &TTSOpsHeapTuple);
	mover->moves_room = 1024;
	mover->moves = palloc(mover->moves_room * sizeof(ShMove));
	open_indexes(mover);
	return mover;
}

/*
 * Puts a row's copy on the page asked for, or on the one that is being filled.
 * Returns whether there was a page for it.
 */
static bool
place_tuple(ShMover *mover, HeapTuple tuple, BlockNumber page)
{
	ItemPointerData from = tuple->t_self;
	Size		needed = MAXALIGN(tuple->t_len) + sizeof(ItemIdData);

	if (mover->page != page)
		write_rows(mover);
	mover->page = page;
	if (HeapTupleHasExternal(tuple) ||
		!(tuple->t_data->t_infomask & HEAP_XMAX_INVALID))
		return move_alone(mover, tuple, &from);
	if (mover->nrows > 0 && (mover->left < needed ||
							 mover->nrows == MaxHeapTuplesPerPage))
		write_rows(mover);
	if (mover->nrows == 0 && !choose_page(mover, needed))
		return false;
	if (mover->slots[mover->nrows] == NULL)
		mover->slots[mover->nrows] =
			MakeSingleTupleTableSlot(RelationGetDescr(mover->rel),
									 &TTSOpsHeapTuple);
	ExecForceStoreHeapTuple(tuple, mover->slots[mover->nrows], true);
	mover->from[mover->nrows++] = from;
	mover->left -= Min(mover->left, needed);
	return true;
}

/*
 * Makes the transaction a serializable one, so that readers of old tuples have
 * a conflict with it, and its own reads before none with anybody.
 */
static void
begin_writing(ShMover *mover)
{
	static SnapshotData unused = {SNAPSHOT_MVCC};

	if (mover->writing)
		return;
	mover->writing = true;
	Assert(!TransactionIdIsValid(GetTopTransactionIdIfAny()));
	XactIsoLevel = XACT_SERIALIZABLE;
	(void) GetSerializableTransactionSnapshot(&unused);
}

static void
place_queue(ShMover *mover)
{
	MemoryContext old = MemoryContextSwitchTo(mover->context);

	if (mover->nqueued > 0)
		begin_writing(mover);
	for (int i = 0; i < mover->nqueued && !mover->full; i++)
	{
		Queued	   *queued = &mover->queue[i];

		CHECK_FOR_INTERRUPTS();
		if (place_tuple(mover, queued->tuple, queued->page))
			mover->nplaced++;
		else
			mover->full = queued->page == InvalidBlockNumber;
	}
	mover->nqueued = 0;
	mover->queue_bytes = 0;
	MemoryContextSwitchTo(old);
}

/*
 * Moves a row, of which the mover gets a copy, to a page that the caller knows
 * to have had room for it, or, if that is invalid, to the one that is being
 * filled.  It will be written in sh_move_end() at the latest.
 */
void
sh_move_tuple(ShMover *mover, HeapTuple tuple, BlockNumber page)
{
	Queued	   *queued;

	if (mover->nqueued == mover->queue_room)
	{
		mover->queue_room *= 2;
		mover->queue = repalloc_huge(mover->queue,
									 mover->queue_room * sizeof(Queued));
	}
	queued = &mover->queue[mover->nqueued++];
	queued->tuple = tuple;
	queued->page = page;
	mover->queue_bytes += tuple->t_len + sizeof(HeapTupleData);
	/* Rows read later have conflicts then, which may fail, but does no harm. */
	if (mover->queue_bytes / 1024 >= (Size) maintenance_work_mem)
		place_queue(mover);
}

/*
 * Finishes all moves, and tells how many rows were placed.  Returns false if
 * there was no page for the next one.
 */
bool
sh_move_end(ShMover *mover, int64 *placed)
{
	place_queue(mover);
	write_rows(mover);
	for (int i = 0; i < mover->nindexes; i++)
	{
		TableIndex *index = &mover->indexes[i];

		zm_insert_many(index->index, mover->rel, index->info, index->entries,
					   index->nentries);
	}
	mover->room->emptied += sh_leave_old(mover->rel, mover->moves,
										 mover->nmoves);
	take_back(mover);

	for (int i = 0; i < mover->nindexes; i++)
		index_close(mover->indexes[i].index, NoLock);
	for (int i = 0; i < MaxHeapTuplesPerPage && mover->slots[i] != NULL; i++)
		ExecDropSingleTupleTableSlot(mover->slots[i]);
	ExecDropSingleTupleTableSlot(mover->row);
	FreeExecutorState(mover->estate);
	*placed = mover->nplaced;
	return !mover->full;
}
