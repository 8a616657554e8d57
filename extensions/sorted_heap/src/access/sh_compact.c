/*-------------------------------------------------------------------------
 *
 * sh_compact.c
 *	  CALL sorted_heap.compact() and merge(): order restored while others read
 *	  and write.
 *
 * Rows are read in key order and moved to empty pages, a bounded number per
 * transaction.  A move is a delete and an insert, and then the old tuple's
 * t_ctid is made to point to the new one, so that to everybody else it is an
 * update: a writer that waited follows the row.  Old snapshots see old tuples,
 * VACUUM removes them, and folds the new rows' entries into zones.
 *
 * Rows that somebody else is changing or has locked stay where they are.
 * Logical decoding sees nothing: no row has changed.
 *
 * Locks: SHARE UPDATE EXCLUSIVE on the table, per step.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "sh_tableam.h"
#include "st_compat.h"
#include "zm_access.h"
#include "zm_scan.h"

PG_FUNCTION_INFO_V1(zm_compact);

typedef struct Move
{
	ItemPointerData from;
	ItemPointerData to;
} Move;

/* One index of the table. */
typedef struct TableIndex
{
	Relation	index;
	IndexInfo  *info;
	ExprState  *predicate;
} TableIndex;

/* One transaction's work. */
typedef struct Step
{
	Relation	rel;
	bool		all;			/* not only groups out of order */
	int			limit;			/* rows */
	TupleTableSlot *slot;
	EState	   *estate;
	int			nindexes;
	TableIndex *indexes;
	BlockNumber target;			/* page that is being filled */
	int			nmoves;
	int			room;
	Move	   *moves;
} Step;

/* ---- one row ---- */

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

/* Makes entries for the new tuple in all indexes. */
static void
insert_entries(Step *step, HeapTuple tuple)
{
	ExprContext *econtext = GetPerTupleExprContext(step->estate);

	ExecForceStoreHeapTuple(tuple, step->slot, false);
	econtext->ecxt_scantuple = step->slot;
	for (int i = 0; i < step->nindexes; i++)
	{
		TableIndex *index = &step->indexes[i];
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];

		if (index->predicate != NULL && !ExecQual(index->predicate, econtext))
			continue;
		FormIndexDatum(index->info, step->slot, step->estate, values, nulls);
		/* The row was unique where it was. */
		index_insert(index->index, values, nulls, &tuple->t_self, step->rel,
					 UNIQUE_CHECK_NO, false, index->info);
	}
	ResetPerTupleExprContext(step->estate);
}

static void
remember_move(Step *step, ItemPointer from, ItemPointer to)
{
	if (step->nmoves == step->room)
	{
		step->room *= 2;
		step->moves = repalloc_huge(step->moves, step->room * sizeof(Move));
	}
	step->moves[step->nmoves].from = *from;
	step->moves[step->nmoves].to = *to;
	step->nmoves++;
}

static Size
page_room(Relation rel, BlockNumber block)
{
	Buffer		buf = ReadBuffer(rel, block);
	Size		room;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	room = PageGetHeapFreeSpace(BufferGetPage(buf));
	UnlockReleaseBuffer(buf);
	return room;
}

/* A page without rows, or InvalidBlockNumber.  The map may be out of date. */
static BlockNumber
find_empty_page(Relation rel)
{
	Size		empty = BLCKSZ - BLCKSZ / 16;
	BlockNumber block = GetPageWithFreeSpace(rel, empty);

	while (block != InvalidBlockNumber)
	{
		Size		room = page_room(rel, block);

		CHECK_FOR_INTERRUPTS();
		if (room >= empty)
			return block;
		block = RecordAndGetPageWithFreeSpace(rel, block, room, empty);
	}
	return InvalidBlockNumber;
}

/*
 * Moves a row to the page that is being filled.  When that is full an empty
 * one takes its place; where there is none, heap finds the old one full and
 * extends the table.
 */
static void
move_row(Step *step, TupleTableSlot *slot)
{
	HeapTuple	tuple = ExecCopySlotHeapTuple(slot);
	ItemPointerData from = slot->tts_tid;
	Relation	rel = step->rel;
	Size		needed = MAXALIGN(tuple->t_len) +
		RelationGetTargetPageFreeSpace(rel, HEAP_DEFAULT_FILLFACTOR);

	if (delete_quietly(rel, &from))
	{
		if (step->target == InvalidBlockNumber ||
			page_room(rel, step->target) < needed)
		{
			BlockNumber empty = find_empty_page(rel);

			if (empty != InvalidBlockNumber)
				step->target = empty;
		}
		RelationSetTargetBlock(rel, step->target);
		heap_insert(rel, tuple, GetCurrentCommandId(true),
					HEAP_INSERT_SKIP_FSM | HEAP_INSERT_NO_LOGICAL, NULL);
		step->target = ItemPointerGetBlockNumber(&tuple->t_self);
		insert_entries(step, tuple);
		remember_move(step, &from, &tuple->t_self);
	}
	heap_freetuple(tuple);
}

/* ---- links from old tuples to new ones ---- */

static int
compare_moves(const void *a, const void *b)
{
	return ItemPointerCompare(unconstify(ItemPointerData *, &((const Move *) a)->from),
							  unconstify(ItemPointerData *, &((const Move *) b)->from));
}

/* Links the moved tuples of one page; returns how many. */
static int
link_page(Relation rel, const Move *moves, int nmoves)
{
	BlockNumber block = ItemPointerGetBlockNumber(&moves[0].from);
	Buffer		buf = ReadBuffer(rel, block);
	GenericXLogState *state = GenericXLogStart(rel);
	Page		page;
	int			n = 0;

	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	page = GenericXLogRegisterBuffer(state, buf, 0);
	for (; n < nmoves && ItemPointerGetBlockNumber(&moves[n].from) == block; n++)
	{
		OffsetNumber off = ItemPointerGetOffsetNumber(&moves[n].from);
		HeapTupleHeader old = (HeapTupleHeader)
			PageGetItem(page, PageGetItemId(page, off));

		Assert(TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmax(old)));
		old->t_ctid = moves[n].to;
	}
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buf);
	return n;
}

static void
link_moves(Step *step)
{
	qsort(step->moves, step->nmoves, sizeof(Move), compare_moves);
	for (int i = 0; i < step->nmoves;)
		i += link_page(step->rel, step->moves + i, step->nmoves - i);
}

/* ---- steps ---- */

/*
 * Whether the visible rows of the scan's group are out of order: a page with
 * rows of its own alone, or one after the other, is not.
 */
static bool
group_is_mixed(const ZmScan *scan)
{
	int			changes = 0;

	for (int i = 1; i < scan->nitems; i++)
		changes += ItemPointerGetBlockNumber(&scan->items[i].tid) !=
			ItemPointerGetBlockNumber(&scan->items[i - 1].tid);
	return changes > 1 + scan->nitems / 64;
}

static void
open_indexes(Step *step)
{
	List	   *oids = RelationGetIndexList(step->rel);
	ListCell   *lc;

	step->indexes = palloc0(Max(list_length(oids), 1) * sizeof(TableIndex));
	foreach(lc, oids)
	{
		TableIndex *index = &step->indexes[step->nindexes];

		index->index = index_open(lfirst_oid(lc), RowExclusiveLock);
		if (!index->index->rd_index->indisready)
		{
			index_close(index->index, NoLock);
			continue;
		}
		index->info = BuildIndexInfo(index->index);
		index->predicate = ExecPrepareQual(index->info->ii_Predicate,
										   step->estate);
		step->nindexes++;
	}
}

/*
 * Moves rows from the key `from` on (exclusive; NULL: from the beginning), and
 * returns the key of the last one, allocated in `context`; NULL at the end.
 */
static IndexTuple
move_rows(Step *step, Relation index, IndexTuple from, MemoryContext context)
{
	IndexScanDesc scan = st_index_beginscan(step->rel, index,
											GetActiveSnapshot());
	ZmScan	   *state = scan->opaque;
	TupleTableSlot *row = table_slot_create(step->rel, NULL);
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext,
													  "compaction row",
													  ALLOCSET_DEFAULT_SIZES);
	IndexTuple	last = NULL;
	int64		group = -1;
	bool		take = false;
	bool		full = false;

	index_rescan(scan, NULL, 0, NULL, 0);
	zm_scan_after(scan, from);
	while (zm_get_row(scan, ForwardScanDirection, row))
	{
		ZmSpace    *space = &state->cursor.space;
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		if (state->groups != group)
			take = step->all || group_is_mixed(state);
		group = state->groups;
		/* Rows with the last key all belong to the same step. */
		if (step->nmoves >= step->limit || full)
		{
			ZmTarget	target;

			full = true;
			for (int i = 0; i < space->ncolumns; i++)
				values[i] = slot_getattr(row, space->columns[i].heap_attno,
										 &nulls[i]);
			zm_target_from_entry(space, &target, last);
			if (zm_compare_key(space, &target, values, nulls) != 0)
				break;
		}
		if (!take)
			continue;
		old = MemoryContextSwitchTo(row_context);
		move_row(step, row);
		MemoryContextSwitchTo(old);
		MemoryContextReset(row_context);
		if (step->nmoves >= step->limit && last == NULL)
		{
			old = MemoryContextSwitchTo(context);
			for (int i = 0; i < space->ncolumns; i++)
				values[i] = slot_getattr(row, space->columns[i].heap_attno,
										 &nulls[i]);
			last = index_form_tuple(space->desc, values, nulls);
			MemoryContextSwitchTo(old);
		}
	}
	if (!full && last != NULL)
	{
		pfree(last);
		last = NULL;
	}
	ExecDropSingleTupleTableSlot(row);
	index_endscan(scan);
	return last;
}

static void
check_table(Relation rel)
{
	if (rel->rd_rel->relkind != RELKIND_RELATION &&
		rel->rd_rel->relkind != RELKIND_MATVIEW)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table or materialized view",
					   RelationGetRelationName(rel)),
				rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ?
				errhint("Compact its partitions.") : 0);
	if (!st_can_maintain(rel))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE,
					   RelationGetRelationName(rel));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot access temporary tables of other sessions"));
	if (!OidIsValid(zm_place_index(rel)))
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("table \"%s\" has no zonemap index",
					   RelationGetRelationName(rel)),
				errhint("Create one: its key is the order of the table."));
}

/* One step, in the current transaction. */
static IndexTuple
run_step(Oid relid, bool all, int limit, IndexTuple from, BlockNumber *target,
		 MemoryContext context)
{
	Step	   *step = palloc0(sizeof(Step));
	Relation	rel = table_open(relid, ShareUpdateExclusiveLock);
	Relation	index;
	IndexTuple	last;
	Oid			owner;
	int			security;
	int			nest;

	check_table(rel);
	PushActiveSnapshot(GetTransactionSnapshot());
	/* Expressions of indexes run with the owner's rights. */
	GetUserIdAndSecContext(&owner, &security);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   security | SECURITY_RESTRICTED_OPERATION);
	nest = NewGUCNestLevel();
	st_restrict_search_path();

	step->rel = rel;
	step->all = all;
	step->limit = limit;
	step->target = *target;
	if (step->target >= RelationGetNumberOfBlocks(rel))
		step->target = InvalidBlockNumber;
	step->estate = CreateExecutorState();
	step->slot = MakeSingleTupleTableSlot(RelationGetDescr(rel),
										  &TTSOpsHeapTuple);
	step->room = Max(limit, 64);
	step->moves = palloc(step->room * sizeof(Move));
	open_indexes(step);
	index = index_open(zm_place_index(rel), RowExclusiveLock);
	last = move_rows(step, index, from, context);
	link_moves(step);
	*target = step->target;

	index_close(index, NoLock);
	for (int i = 0; i < step->nindexes; i++)
		index_close(step->indexes[i].index, NoLock);
	ExecDropSingleTupleTableSlot(step->slot);
	FreeExecutorState(step->estate);
	AtEOXact_GUC(false, nest);
	SetUserIdAndSecContext(owner, security);
	PopActiveSnapshot();
	table_close(rel, NoLock);
	return last;
}

/* compact(relation regclass, all boolean, step_rows integer) */
Datum
zm_compact(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	bool		all = PG_GETARG_BOOL(1);
	int			limit = PG_GETARG_INT32(2);
	CallContext *call = castNode(CallContext, fcinfo->context);
	MemoryContext context;
	IndexTuple	from = NULL;
	BlockNumber target = InvalidBlockNumber;

	if (limit < 1 || limit > 1000000)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("step_rows must be between 1 and 1000000"));
	if (call->atomic)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_TRANSACTION_TERMINATION),
				errmsg("compaction cannot run inside a transaction block, or in a function"),
				errhint("It commits each step: CALL it on its own."));

	SPI_connect_ext(SPI_OPT_NONATOMIC);
	context = AllocSetContextCreate(PortalContext, "compaction",
									ALLOCSET_SMALL_SIZES);
	do
	{
		IndexTuple	last = run_step(relid, all, limit, from, &target, context);

		if (from != NULL)
			pfree(from);
		from = last;
		SPI_commit();
		CHECK_FOR_INTERRUPTS();
	} while (from != NULL);
	MemoryContextDelete(context);
	SPI_finish();
	PG_RETURN_VOID();
}
