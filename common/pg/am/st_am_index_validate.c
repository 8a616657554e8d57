/*-------------------------------------------------------------------------
 *
 * st_am_index_validate.c
 *	  Last phase of CREATE INDEX CONCURRENTLY: rows that the first scan missed.
 *
 * The index's TIDs come sorted, heap TIDs before virtual ones.  They are
 * merged with the rows that the reference snapshot sees: first the delta in
 * block order, then the row groups in row number order.  What is not in the
 * index is inserted.  One cursor runs through both parts; within a heap page
 * it looks back, because heap-only tuples are indexed under their roots.
 *
 * Locks: the caller holds ShareUpdateExclusiveLock on the table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "st_am.h"
#include "st_read.h"

typedef struct IndexValidate
{
	Relation	rel;
	Relation	index;
	IndexInfo  *info;
	ValidateIndexState *state;

	EState	   *estate;
	ExprContext *econtext;
	ExprState  *predicate;
	TupleTableSlot *slot;

	/* the index's TIDs */
	bool		started;
	bool		exhausted;
	ItemPointerData cursor;		/* valid if started and not exhausted */

	/* the heap page that the scan is on */
	BlockNumber block;
	OffsetNumber root_offsets[MaxHeapTuplesPerPage];
	bool		in_index[MaxHeapTuplesPerPage];
} IndexValidate;

/* Moves to the index's next TID. */
static void
advance(IndexValidate *v)
{
	Datum		value;
	bool		isnull;

	v->started = true;
	if (!st_tuplesort_getdatum(v->state->tuplesort, true, false,
							   &value, &isnull))
	{
		v->exhausted = true;
		return;
	}
	itemptr_decode(&v->cursor, DatumGetInt64(value));
#ifndef USE_FLOAT8_BYVAL
	pfree(DatumGetPointer(value));
#endif
}

/* Inserts the row in the slot under the given TID. */
static void
insert_missing(IndexValidate *v, ItemPointer tid)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	MemoryContextReset(v->econtext->ecxt_per_tuple_memory);
	if (v->predicate != NULL && !ExecQual(v->predicate, v->econtext))
		return;
	FormIndexDatum(v->info, v->slot, v->estate, values, isnull);

	/*
	 * Uniqueness is checked even for a row that is dead by now: a heap TID
	 * stands for its whole HOT chain.
	 */
	index_insert(v->index, values, isnull, tid, v->rel,
				 v->info->ii_Unique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
				 false, v->info);
	v->state->tups_inserted += 1;
}

/* ---- delta ---- */

static void
enter_heap_page(IndexValidate *v, Buffer buffer)
{
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	heap_get_root_tuples(BufferGetPage(buffer), v->root_offsets);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	memset(v->in_index, 0, sizeof(v->in_index));
	v->block = BufferGetBlockNumber(buffer);
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, v->block);
}

static void
find_root(IndexValidate *v, HeapTuple tuple, ItemPointer root)
{
	OffsetNumber offnum = ItemPointerGetOffsetNumber(&tuple->t_self);

	*root = tuple->t_self;
	if (!HeapTupleIsHeapOnly(tuple))
		return;
	if (!OffsetNumberIsValid(v->root_offsets[offnum - 1]))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("failed to find parent tuple for heap-only tuple at (%u,%u) in table \"%s\"",
								 v->block, offnum,
								 RelationGetRelationName(v->rel))));
	ItemPointerSetOffsetNumber(root, v->root_offsets[offnum - 1]);
}

static void
validate_heap_tuple(IndexValidate *v)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(v->slot, false, NULL);
	Buffer		buffer = ((BufferHeapTupleTableSlot *) v->slot)->buffer;
	ItemPointerData root;

	v->state->htups += 1;
	if (BufferGetBlockNumber(buffer) != v->block)
		enter_heap_page(v, buffer);
	find_root(v, tuple, &root);

	while (!v->exhausted &&
		   (!v->started || ItemPointerCompare(&v->cursor, &root) < 0))
	{
		if (v->started &&
			ItemPointerGetBlockNumber(&v->cursor) == v->block)
			v->in_index[ItemPointerGetOffsetNumber(&v->cursor) - 1] = true;
		advance(v);
	}
	if ((v->exhausted || ItemPointerCompare(&v->cursor, &root) > 0) &&
		!v->in_index[ItemPointerGetOffsetNumber(&root) - 1])
		insert_missing(v, &root);
}

/* In block order: chunks ascend, and so do the blocks of a chunk. */
static void
validate_delta(IndexValidate *v, Snapshot snapshot, const StGroupList *groups)
{
	StDeltaScan *delta = st_delta_begin(v->rel, snapshot, groups);
	uint32		nchunks = st_delta_nchunks(delta);

	for (uint32 chunk = 0; chunk < nchunks; chunk++)
	{
		st_delta_set_chunk(delta, chunk);
		while (st_delta_next(delta, v->slot))
		{
			CHECK_FOR_INTERRUPTS();
			validate_heap_tuple(v);
		}
	}
	ExecClearTuple(v->slot);
	st_delta_end(delta);
}

/* ---- row groups ---- */

static void
validate_row(IndexValidate *v, StRowCursor *cursor, int group, uint32 row)
{
	ItemPointerData tid;

	if (!st_row_cursor_visible(cursor, group, row))
		return;
	v->state->htups += 1;
	st_tid_from_row(&tid, cursor->groups->groups[group].first_row + row);
	while (!v->exhausted &&
		   (!v->started || ItemPointerCompare(&v->cursor, &tid) < 0))
		advance(v);
	if (v->exhausted || ItemPointerCompare(&v->cursor, &tid) > 0)
	{
		st_row_cursor_store(cursor, group, row, v->slot);
		insert_missing(v, &tid);
	}
}

static void
validate_row_groups(IndexValidate *v, StRowCursor *cursor)
{
	for (int i = 0; i < cursor->groups->ngroups; i++)
	{
		for (uint32 row = 0; row < cursor->groups->groups[i].nrows; row++)
		{
			CHECK_FOR_INTERRUPTS();
			validate_row(v, cursor, i, row);
		}
	}
}

/* TableAmRoutine.index_validate_scan. */
void
st_am_index_validate_scan(Relation rel, Relation index, IndexInfo *info,
						  Snapshot snapshot, ValidateIndexState *state)
{
	IndexValidate v = {0};
	StRowCursor *cursor;
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "index validation",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(mcxt);

	v.rel = rel;
	v.index = index;
	v.info = info;
	v.state = state;
	v.block = InvalidBlockNumber;
	v.estate = CreateExecutorState();
	v.econtext = GetPerTupleExprContext(v.estate);
	v.slot = table_slot_create(rel, NULL);
	v.econtext->ecxt_scantuple = v.slot;
	v.predicate = ExecPrepareQual(info->ii_Predicate, v.estate);

	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL,
								 RelationGetNumberOfBlocks(rel));
	cursor = st_row_cursor_begin(rel, snapshot,
								 st_index_needed_columns(rel, info));
	validate_delta(&v, snapshot, cursor->groups);
	validate_row_groups(&v, cursor);

	ExecDropSingleTupleTableSlot(v.slot);
	st_row_cursor_end(cursor);
	FreeExecutorState(v.estate);

	/* these pointed into the executor state */
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;

	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(mcxt);
}
