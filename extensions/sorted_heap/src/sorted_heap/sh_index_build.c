/*-------------------------------------------------------------------------
 *
 * sh_index_build.c
 *	  Feeding an index build with the rows of a sorted_heap table.
 *
 * Heap's own function scans by heap_getnext(), which insists on heap's
 * routine.  The rules are the same: a plain build scans with SnapshotAny and
 * indexes everything that any snapshot may still need, heap-only tuples under
 * the TID of their chain's first tuple; a concurrent build, or one by parallel
 * workers of it, indexes what an MVCC snapshot sees.
 *
 * Locks: the caller holds ShareLock on the table, or ShareUpdateExclusiveLock
 * for a concurrent build and for BRIN's summaries.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "sh_tableam.h"

typedef struct IndexBuild
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	TableScanDesc scan;
	bool		anyvisible;
	bool		unique;			/* or exclusion */
	bool		progress;
	IndexBuildCallback callback;
	void	   *callback_state;
	MemoryContext callback_context;
	TransactionId oldest_xmin;	/* with SnapshotAny */
	double		rows;

	EState	   *estate;
	ExprContext *econtext;
	ExprState  *predicate;
	TupleTableSlot *slot;

	BlockNumber block;			/* that roots are of */
	OffsetNumber roots[MaxHeapTuplesPerPage];
} IndexBuild;

typedef enum Verdict
{
	SKIP,						/* nobody needs an entry */
	ALIVE,						/* index it, it counts for uniqueness */
	DYING,						/* index it, it conflicts with nothing */
	WAIT,						/* for the transaction, then look again */
} Verdict;

static Verdict
judge_inserting(IndexBuild *build, TransactionId xid)
{
	if (build->anyvisible || TransactionIdIsCurrentTransactionId(xid))
	{
		build->rows++;
		return ALIVE;
	}
	elog(WARNING, "concurrent insert in progress within table \"%s\"",
		 RelationGetRelationName(build->heap));
	return build->unique ? WAIT : ALIVE;
}

static Verdict
judge_deleting(IndexBuild *build, TransactionId xid, bool hot_updated)
{
	if (build->anyvisible)
	{
		build->rows++;
		return DYING;
	}
	if (TransactionIdIsCurrentTransactionId(xid))
	{
		if (!hot_updated)
			return DYING;
		build->info->ii_BrokenHotChain = true;
		return SKIP;
	}
	elog(WARNING, "concurrent delete in progress within table \"%s\"",
		 RelationGetRelationName(build->heap));
	if (build->unique || hot_updated)
		return WAIT;
	build->rows++;
	return DYING;
}

/* SnapshotAny: what to do with a tuple.  The slot keeps its page pinned. */
static Verdict
judge(IndexBuild *build, HeapTuple tuple, Buffer buf)
{
	HTSV_Result state;
	TransactionId xid;
	bool		hot_updated;
	Verdict		verdict = ALIVE;

	do
	{
		if (verdict == WAIT)
			XactLockTableWait(xid, build->heap, &tuple->t_self,
							  XLTW_InsertIndexUnique);
		CHECK_FOR_INTERRUPTS();
		LockBuffer(buf, BUFFER_LOCK_SHARE);
		state = HeapTupleSatisfiesVacuum(tuple, build->oldest_xmin, buf);
		hot_updated = HeapTupleIsHotUpdated(tuple);
		xid = state == HEAPTUPLE_DELETE_IN_PROGRESS ?
			HeapTupleHeaderGetUpdateXid(tuple->t_data) :
			HeapTupleHeaderGetXmin(tuple->t_data);
		LockBuffer(buf, BUFFER_LOCK_UNLOCK);

		switch (state)
		{
			case HEAPTUPLE_DEAD:
				return SKIP;
			case HEAPTUPLE_LIVE:
				build->rows++;
				return ALIVE;
			case HEAPTUPLE_RECENTLY_DEAD:
				if (!hot_updated)
					return DYING;
				/* The chain's last member stands for it. */
				build->info->ii_BrokenHotChain = true;
				return SKIP;
			case HEAPTUPLE_INSERT_IN_PROGRESS:
				verdict = judge_inserting(build, xid);
				break;
			case HEAPTUPLE_DELETE_IN_PROGRESS:
				verdict = judge_deleting(build, xid, hot_updated);
				break;
		}
	} while (verdict == WAIT);
	return verdict;
}

static void
read_roots(IndexBuild *build, Buffer buf)
{
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	heap_get_root_tuples(BufferGetPage(buf), build->roots);
	LockBuffer(buf, BUFFER_LOCK_UNLOCK);
	build->block = BufferGetBlockNumber(buf);
	if (build->progress)
		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, build->block);
}

/* The TID under which a tuple is indexed. */
static ItemPointerData
root_tid(IndexBuild *build, HeapTuple tuple, Buffer buf)
{
	ItemPointerData tid = tuple->t_self;
	OffsetNumber off = ItemPointerGetOffsetNumber(&tid);

	if (!HeapTupleIsHeapOnly(tuple))
		return tid;
	/* The chain may be younger than what is known of the page. */
	if (!OffsetNumberIsValid(build->roots[off - 1]))
		read_roots(build, buf);
	if (!OffsetNumberIsValid(build->roots[off - 1]))
		ereport(ERROR,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg_internal("failed to find parent tuple for heap-only tuple at (%u,%u) in table \"%s\"",
								build->block, off,
								RelationGetRelationName(build->heap)));
	ItemPointerSetOffsetNumber(&tid, build->roots[off - 1]);
	return tid;
}

static void
index_tuple(IndexBuild *build)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(build->slot, false, NULL);
	Buffer		buf = ((BufferHeapTupleTableSlot *) build->slot)->buffer;
	Verdict		verdict = ALIVE;
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	ItemPointerData tid;
	MemoryContext old;

	if (BufferGetBlockNumber(buf) != build->block)
		read_roots(build, buf);
	if (TransactionIdIsValid(build->oldest_xmin))
		verdict = judge(build, tuple, buf);
	else
		build->rows++;
	if (verdict == SKIP)
		return;
	tid = root_tid(build, tuple, buf);

	MemoryContextReset(build->econtext->ecxt_per_tuple_memory);
	if (build->predicate != NULL &&
		!ExecQual(build->predicate, build->econtext))
		return;
	FormIndexDatum(build->info, build->slot, build->estate, values, nulls);
	old = MemoryContextSwitchTo(build->callback_context);
	build->callback(build->index, &tid, values, nulls, verdict == ALIVE,
					build->callback_state);
	MemoryContextSwitchTo(old);
}

/*
 * Begins the scan, unless the caller of a parallel build has.  Returns the
 * snapshot if it has to be unregistered.
 */
static Snapshot
begin_scan(IndexBuild *build, bool allow_sync, BlockNumber start,
		   BlockNumber nblocks)
{
	Snapshot	snapshot = SnapshotAny;
	Snapshot	registered = NULL;

	/* Concurrent builds see by snapshot; so does bootstrap, which is not us */
	if (build->scan != NULL)
		snapshot = build->scan->rs_snapshot;
	else
	{
		if (build->info->ii_Concurrent)
			snapshot = registered = RegisterSnapshot(GetTransactionSnapshot());
		build->scan = table_beginscan_strat(build->heap, snapshot, 0, NULL,
											true, allow_sync);
		if (start != 0 || nblocks != InvalidBlockNumber)
			heap_setscanlimits(build->scan, start, nblocks);
	}
	if (snapshot == SnapshotAny)
		build->oldest_xmin = GetOldestNonRemovableTransactionId(build->heap);
	return registered;
}

/* TableAmRoutine.index_build_range_scan */
double
sh_index_build_range_scan(Relation heap, Relation index, IndexInfo *info,
						  bool allow_sync, bool anyvisible, bool progress,
						  BlockNumber start, BlockNumber nblocks,
						  IndexBuildCallback callback, void *callback_state,
						  TableScanDesc scan)
{
	IndexBuild *build = palloc0(sizeof(IndexBuild));
	Snapshot	registered;

	build->heap = heap;
	build->index = index;
	build->info = info;
	build->scan = scan;
	build->anyvisible = anyvisible;
	build->unique = info->ii_Unique || info->ii_ExclusionOps != NULL;
	build->progress = progress;
	build->callback = callback;
	build->callback_state = callback_state;
	build->callback_context = CurrentMemoryContext;
	build->block = InvalidBlockNumber;
	build->estate = CreateExecutorState();
	build->econtext = GetPerTupleExprContext(build->estate);
	build->slot = table_slot_create(heap, NULL);
	build->econtext->ecxt_scantuple = build->slot;
	build->predicate = ExecPrepareQual(info->ii_Predicate, build->estate);
	registered = begin_scan(build, allow_sync, start, nblocks);
	if (progress)
		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL,
									 RelationGetNumberOfBlocks(heap));

	while (table_scan_getnextslot(build->scan, ForwardScanDirection,
								  build->slot))
		index_tuple(build);

	ExecDropSingleTupleTableSlot(build->slot);
	table_endscan(build->scan);
	if (registered != NULL)
		UnregisterSnapshot(registered);
	FreeExecutorState(build->estate);
	/* these pointed into the executor state */
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;
	return build->rows;
}
