/*-------------------------------------------------------------------------
 *
 * sh_index_validate.c
 *	  Last phase of CREATE INDEX CONCURRENTLY on a sorted_heap table: rows that
 *	  the first scan missed.
 *
 * The index's TIDs come sorted and are merged with the rows that the reference
 * snapshot sees, in block order.  Within a page it is looked back, because
 * heap-only tuples are indexed under the TID of their chain's first tuple.
 *
 * Locks: the caller holds ShareUpdateExclusiveLock on the table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "sh_tableam.h"
#include "st_compat.h"

typedef struct IndexValidate
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	ValidateIndexState *state;
	EState	   *estate;
	ExprContext *econtext;
	ExprState  *predicate;
	TupleTableSlot *slot;

	/* the index's TIDs */
	bool		begun;
	bool		exhausted;
	ItemPointerData tid;		/* the current one */

	/* the heap page that the scan is on */
	BlockNumber block;
	OffsetNumber roots[MaxHeapTuplesPerPage];
	bool		in_index[MaxHeapTuplesPerPage];
} IndexValidate;

/* Goes to the index's next TID. */
static void
advance(IndexValidate *v)
{
	Datum		value;
	bool		null;

	v->begun = true;
	if (!st_tuplesort_getdatum(v->state->tuplesort, true, false, &value,
							   &null))
		v->exhausted = true;
	else
		itemptr_decode(&v->tid, DatumGetInt64(value));
}

static void
enter_page(IndexValidate *v, Buffer buf)
{
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	heap_get_root_tuples(BufferGetPage(buf), v->roots);
	LockBuffer(buf, BUFFER_LOCK_UNLOCK);
	memset(v->in_index, 0, sizeof(v->in_index));
	v->block = BufferGetBlockNumber(buf);
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, v->block);
}

static void
insert_missing(IndexValidate *v, ItemPointer root)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

	MemoryContextReset(v->econtext->ecxt_per_tuple_memory);
	if (v->predicate != NULL && !ExecQual(v->predicate, v->econtext))
		return;
	FormIndexDatum(v->info, v->slot, v->estate, values, nulls);
	/* A row that is dead by now stands for the rest of its chain. */
	index_insert(v->index, values, nulls, root, v->heap,
				 v->info->ii_Unique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
				 false, v->info);
	v->state->tups_inserted++;
}

static void
validate_tuple(IndexValidate *v)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(v->slot, false, NULL);
	Buffer		buf = ((BufferHeapTupleTableSlot *) v->slot)->buffer;
	ItemPointerData root = tuple->t_self;
	OffsetNumber off = ItemPointerGetOffsetNumber(&root);

	v->state->htups++;
	if (BufferGetBlockNumber(buf) != v->block)
		enter_page(v, buf);
	if (HeapTupleIsHeapOnly(tuple))
	{
		if (!OffsetNumberIsValid(v->roots[off - 1]))
			ereport(ERROR,
					errcode(ERRCODE_DATA_CORRUPTED),
					errmsg_internal("failed to find parent tuple for heap-only tuple at (%u,%u) in table \"%s\"",
									v->block, off,
									RelationGetRelationName(v->heap)));
		off = v->roots[off - 1];
		ItemPointerSetOffsetNumber(&root, off);
	}
	while (!v->exhausted &&
		   (!v->begun || ItemPointerCompare(&v->tid, &root) < 0))
	{
		if (v->begun && ItemPointerGetBlockNumber(&v->tid) == v->block)
			v->in_index[ItemPointerGetOffsetNumber(&v->tid) - 1] = true;
		advance(v);
	}
	if ((v->exhausted || ItemPointerCompare(&v->tid, &root) > 0) &&
		!v->in_index[off - 1])
		insert_missing(v, &root);
}

/* TableAmRoutine.index_validate_scan */
void
sh_index_validate_scan(Relation heap, Relation index, IndexInfo *info,
					   Snapshot snapshot, ValidateIndexState *state)
{
	IndexValidate *v = palloc0(sizeof(IndexValidate));
	TableScanDesc scan;

	v->heap = heap;
	v->index = index;
	v->info = info;
	v->state = state;
	v->block = InvalidBlockNumber;
	v->estate = CreateExecutorState();
	v->econtext = GetPerTupleExprContext(v->estate);
	v->slot = table_slot_create(heap, NULL);
	v->econtext->ecxt_scantuple = v->slot;
	v->predicate = ExecPrepareQual(info->ii_Predicate, v->estate);
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL,
								 RelationGetNumberOfBlocks(heap));

	/* Not synchronised: pages have to come in the order of their blocks. */
	scan = table_beginscan_strat(heap, snapshot, 0, NULL, true, false);
	while (table_scan_getnextslot(scan, ForwardScanDirection, v->slot))
	{
		CHECK_FOR_INTERRUPTS();
		validate_tuple(v);
	}
	table_endscan(scan);

	ExecDropSingleTupleTableSlot(v->slot);
	FreeExecutorState(v->estate);
	/* these pointed into the executor state */
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;
}
