/*-------------------------------------------------------------------------
 *
 * st_am_index_build.c
 *	  Feeding an index build (or amcheck) with the rows of the delta and of
 *	  the row groups.
 *
 * Semantics are those of heap's index_build_range_scan: a plain build scans
 * with SnapshotAny and indexes everything that any snapshot may still need,
 * heap-only tuples under the TID of their chain's root; a concurrent build
 * indexes what an MVCC snapshot sees.  Rows of row groups are judged by the
 * same rules (st_versions.c) and indexed under their virtual TIDs, deleted
 * ones too as long as somebody may see them.
 *
 * Locks: the caller holds ShareLock on the table, or ShareUpdateExclusiveLock
 * for a concurrent build, or AccessShareLock for amcheck.  Buffer locks are
 * taken for a moment, never while waiting for another transaction.
 *
 * heap_getnext() is not used: it insists on heap's own routine.  Ranges of
 * blocks are not supported, because only BRIN asks for them and BRIN is
 * refused: it works by block numbers, and those of virtual TIDs lie behind a
 * hole of 2^31 blocks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_am_d.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "st_am.h"
#include "st_modify.h"
#include "st_read.h"
#include "st_space.h"

typedef struct IndexBuild
{
	Relation	rel;
	Relation	index;
	IndexInfo  *info;
	StScan	   *scan;			/* of the caller, or NULL */
	bool		anyvisible;
	bool		checking_uniqueness;
	bool		progress;
	IndexBuildCallback callback;
	void	   *callback_state;
	MemoryContext callback_mcxt;	/* the caller's: index AMs keep things there */

	Snapshot	snapshot;
	TransactionId oldest_xmin;	/* with SnapshotAny */
	TransactionId groups_xmin;	/* the same, of rows of row groups */
	double		reltuples;

	EState	   *estate;
	ExprContext *econtext;
	ExprState  *predicate;
	TupleTableSlot *slot;

	BlockNumber root_block;		/* page that root_offsets[] is of */
	OffsetNumber root_offsets[MaxHeapTuplesPerPage];
	BlockNumber reported_block;
} IndexBuild;

/* What to do with a row. */
typedef enum BuildVerdict
{
	BUILD_SKIP,					/* nobody needs an entry */
	BUILD_ALIVE,				/* index, check uniqueness */
	BUILD_DEAD,					/* index, but it conflicts with nothing */
	BUILD_WAIT					/* wait for xid, then look again */
} BuildVerdict;

static BuildVerdict
judge_inserting(IndexBuild *b, TransactionId xid)
{
	if (b->anyvisible)
		b->reltuples += 1;
	else if (TransactionIdIsCurrentTransactionId(xid))
		b->reltuples += 1;
	else
	{
		elog(WARNING, "concurrent insert in progress within table \"%s\"",
			 RelationGetRelationName(b->rel));
		if (b->checking_uniqueness)
			return BUILD_WAIT;
	}
	return BUILD_ALIVE;
}

static BuildVerdict
judge_deleting(IndexBuild *b, TransactionId xid, bool hot_updated)
{
	if (b->anyvisible)
	{
		b->reltuples += 1;
		return BUILD_DEAD;
	}
	if (TransactionIdIsCurrentTransactionId(xid))
	{
		if (!hot_updated)
			return BUILD_DEAD;
		b->info->ii_BrokenHotChain = true;
		return BUILD_SKIP;
	}

	elog(WARNING, "concurrent delete in progress within table \"%s\"",
		 RelationGetRelationName(b->rel));
	if (b->checking_uniqueness || hot_updated)
		return BUILD_WAIT;
	b->reltuples += 1;
	return BUILD_DEAD;
}

/*
 * The rules of a build with SnapshotAny.  xid is who inserts or deletes the
 * row.  Counts the row if it counts; a row to wait for is not counted yet.
 */
static BuildVerdict
judge_row(IndexBuild *b, HTSV_Result state, TransactionId xid,
		  bool hot_updated)
{
	switch (state)
	{
		case HEAPTUPLE_DEAD:
			return BUILD_SKIP;
		case HEAPTUPLE_LIVE:
			b->reltuples += 1;
			return BUILD_ALIVE;
		case HEAPTUPLE_RECENTLY_DEAD:
			if (!hot_updated)
				return BUILD_DEAD;
			/* only the chain's last version is indexed: old snapshots lose */
			b->info->ii_BrokenHotChain = true;
			return BUILD_SKIP;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			return judge_inserting(b, xid);
		case HEAPTUPLE_DELETE_IN_PROGRESS:
			return judge_deleting(b, xid, hot_updated);
	}
	elog(ERROR, "unexpected HeapTupleSatisfiesVacuum result");
}

static void
wait_for(IndexBuild *b, TransactionId xid, ItemPointer tid)
{
	XactLockTableWait(xid, b->rel, tid, XLTW_InsertIndexUnique);
	CHECK_FOR_INTERRUPTS();
}

/* Hands the row in the slot to the index AM, unless the predicate says no. */
static void
index_slot(IndexBuild *b, ItemPointer tid, bool alive)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	MemoryContext oldcxt;

	MemoryContextReset(b->econtext->ecxt_per_tuple_memory);
	if (b->predicate != NULL && !ExecQual(b->predicate, b->econtext))
		return;
	FormIndexDatum(b->info, b->slot, b->estate, values, isnull);
	oldcxt = MemoryContextSwitchTo(b->callback_mcxt);
	b->callback(b->index, tid, values, isnull, alive, b->callback_state);
	MemoryContextSwitchTo(oldcxt);
}

/* ---- delta ---- */

static void
read_root_offsets(IndexBuild *b, Buffer buffer)
{
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	heap_get_root_tuples(BufferGetPage(buffer), b->root_offsets);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	b->root_block = BufferGetBlockNumber(buffer);
}

/* The TID under which a heap-only tuple is indexed. */
static void
root_tid(IndexBuild *b, HeapTuple tuple, Buffer buffer, ItemPointer tid)
{
	OffsetNumber offnum = ItemPointerGetOffsetNumber(&tuple->t_self);

	/* under ShareUpdateExclusiveLock the chain may be younger than the map */
	if (!OffsetNumberIsValid(b->root_offsets[offnum - 1]))
		read_root_offsets(b, buffer);
	if (!OffsetNumberIsValid(b->root_offsets[offnum - 1]))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("failed to find parent tuple for heap-only tuple at (%u,%u) in table \"%s\"",
								 ItemPointerGetBlockNumber(&tuple->t_self),
								 offnum, RelationGetRelationName(b->rel))));
	ItemPointerSet(tid, ItemPointerGetBlockNumber(&tuple->t_self),
				   b->root_offsets[offnum - 1]);
}

/*
 * SnapshotAny: judges a heap tuple, waiting where heap does.  The slot keeps
 * the page pinned, so that nothing can be pruned under us.
 */
static BuildVerdict
judge_heap_tuple(IndexBuild *b, HeapTuple tuple, Buffer buffer)
{
	for (;;)
	{
		HTSV_Result state;
		TransactionId xid;
		BuildVerdict verdict;
		bool		hot_updated;

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		state = HeapTupleSatisfiesVacuum(tuple, b->oldest_xmin, buffer);
		hot_updated = HeapTupleIsHotUpdated(tuple);
		if (state == HEAPTUPLE_DELETE_IN_PROGRESS)
			xid = HeapTupleHeaderGetUpdateXid(tuple->t_data);
		else
			xid = HeapTupleHeaderGetXmin(tuple->t_data);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);

		verdict = judge_row(b, state, xid, hot_updated);
		if (verdict != BUILD_WAIT)
			return verdict;
		wait_for(b, xid, &tuple->t_self);
	}
}

static void
index_heap_tuple(IndexBuild *b)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(b->slot, false, NULL);
	Buffer		buffer = ((BufferHeapTupleTableSlot *) b->slot)->buffer;
	BuildVerdict verdict = BUILD_ALIVE;
	ItemPointerData tid = tuple->t_self;

	if (BufferGetBlockNumber(buffer) != b->root_block)
		read_root_offsets(b, buffer);

	/* No row ever, so its nulls are nothing for an expression to look at. */
	if (st_is_logical_dummy(tuple))
		return;

	if (b->snapshot == SnapshotAny)
		verdict = judge_heap_tuple(b, tuple, buffer);
	else
		b->reltuples += 1;
	if (verdict == BUILD_SKIP)
		return;

	if (HeapTupleIsHeapOnly(tuple))
		root_tid(b, tuple, buffer, &tid);
	index_slot(b, &tid, verdict == BUILD_ALIVE);
}

/* Progress in blocks: how far this process knows the scan to be. */
static void
report_block(IndexBuild *b, BlockNumber block)
{
	BlockNumber done = block;

	if (!b->progress || block == b->reported_block)
		return;
	b->reported_block = block;
	if (b->scan != NULL && b->scan->base.rs_parallel != NULL)
	{
		ParallelBlockTableScanDesc p =
			(ParallelBlockTableScanDesc) b->scan->base.rs_parallel;

		if (block >= p->phs_startblock)
			done = block - p->phs_startblock;
		else
			done = p->phs_nblocks - p->phs_startblock + block;
	}
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, done);
}

static void
index_delta_tuple(IndexBuild *b)
{
	CHECK_FOR_INTERRUPTS();
	report_block(b, ItemPointerGetBlockNumber(&b->slot->tts_tid));
	index_heap_tuple(b);
}

/*
 * The heap pages.  Participants of a parallel build share heap's own parallel
 * scan, which sees extents as empty pages; otherwise they are skipped.
 */
static void
index_delta(IndexBuild *b, const StGroupList *groups)
{
	StDeltaScan *delta;
	uint32		nchunks;

	if (b->scan != NULL && b->scan->base.rs_parallel != NULL)
	{
		TableScanDesc inner = st_scan_inner(b->scan);

		while (heap_getnextslot(inner, ForwardScanDirection, b->slot))
			index_delta_tuple(b);
		return;
	}

	delta = st_delta_begin(b->rel, b->snapshot, groups);
	nchunks = st_delta_nchunks(delta);
	for (uint32 chunk = 0; chunk < nchunks; chunk++)
	{
		st_delta_set_chunk(delta, chunk);
		while (st_delta_next(delta, b->slot))
			index_delta_tuple(b);
	}
	ExecClearTuple(b->slot);
	st_delta_end(delta);
}

/* ---- row groups ---- */

/*
 * The next group that is ours to index, as an index into the list, or -1.
 * Participants of a parallel build share them out.
 */
static int
next_group(IndexBuild *b, const StGroupList *groups, int *pos)
{
	const StGroup *g;

	if (b->scan == NULL || b->scan->base.rs_parallel == NULL)
		return *pos < groups->ngroups ? (*pos)++ : -1;
	g = st_scan_take_group(b->scan, groups, pos);
	return g == NULL ? -1 : (int) (g - groups->groups);
}

/* MVCC snapshot: rows that it sees. */
static void
index_visible_rows(IndexBuild *b, StRowCursor *cursor)
{
	int			pos = 0;
	int			i;

	while ((i = next_group(b, cursor->groups, &pos)) >= 0)
	{
		const StGroup *g = &cursor->groups->groups[i];

		for (uint32 row = 0; row < g->nrows; row++)
		{
			ItemPointerData tid;

			CHECK_FOR_INTERRUPTS();
			if (!st_row_cursor_visible(cursor, i, row))
				continue;
			b->reltuples += 1;
			st_row_cursor_store(cursor, i, row, b->slot);
			tid = b->slot->tts_tid;
			index_slot(b, &tid, true);
		}
	}
}

/* SnapshotAny: one group's rows, judged one by one. */
static void
index_group(IndexBuild *b, StGroupVersion *version, StRowReader *rows,
			MemoryContext mcxt)
{
	StRowDeaths *deaths = st_row_deaths(b->rel, &version->group,
										b->groups_xmin, mcxt);
	uint32		row = 0;

	while (row < version->group.nrows)
	{
		HTSV_Result state;
		TransactionId xid;
		ItemPointerData tid;
		BuildVerdict verdict;

		CHECK_FOR_INTERRUPTS();
		state = st_row_state(version, deaths, row, &xid);
		verdict = judge_row(b, state, xid, false);
		st_tid_from_row(&tid, version->group.first_row + row);
		if (verdict == BUILD_WAIT)
		{
			wait_for(b, xid, &tid);
			MemoryContextReset(mcxt);
			if (!st_group_version_refresh(b->rel, b->groups_xmin, version))
				return;
			deaths = st_row_deaths(b->rel, &version->group, b->groups_xmin,
								   mcxt);
			continue;
		}
		if (verdict != BUILD_SKIP)
		{
			st_row_reader_fetch(rows, &version->group, row, b->slot);
			index_slot(b, &tid, verdict == BUILD_ALIVE);
		}
		row++;
	}
}

static void
index_all_groups(IndexBuild *b, StGroupVersions *versions,
				 const StGroupList *groups, StRowReader *rows)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "index build row group",
											   ALLOCSET_SMALL_SIZES);
	int			pos = 0;
	int			i;

	while ((i = next_group(b, groups, &pos)) >= 0)
	{
		if (versions->v[i].state != HEAPTUPLE_DEAD)
			index_group(b, &versions->v[i], rows, mcxt);
		MemoryContextReset(mcxt);
	}
	MemoryContextDelete(mcxt);
}

/* ---- the whole ---- */

static void
refuse_brin(Relation rel, Relation index)
{
	if (index->rd_rel->relam == BRIN_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("BRIN indexes are not supported on table \"%s\"",
						RelationGetRelationName(rel)),
				 errdetail("The table's access method does not number its rows by blocks of the file."),
				 errhint("The table keeps the minimum and maximum of every column by itself; no index is needed for that.")));
}

/*
 * Chooses the snapshot as heap does: MVCC for concurrent builds, else
 * SnapshotAny with a horizon.  Returns whether the caller unregisters it.
 */
static bool
choose_snapshot(IndexBuild *b)
{
	if (!b->info->ii_Concurrent)
	{
		b->oldest_xmin = GetOldestNonRemovableTransactionId(b->rel);
		b->groups_xmin = st_not_before_vacuum(b->rel, b->oldest_xmin);
	}
	if (b->scan != NULL)
	{
		b->snapshot = b->scan->base.rs_snapshot;
		return false;
	}
	if (TransactionIdIsValid(b->oldest_xmin))
	{
		b->snapshot = SnapshotAny;
		return false;
	}
	b->snapshot = RegisterSnapshot(GetTransactionSnapshot());
	return true;
}

static void
index_everything(IndexBuild *b)
{
	bool	   *needed = st_index_needed_columns(b->rel, b->info);

	if (b->snapshot == SnapshotAny)
	{
		StGroupVersions *versions;
		StGroupList *groups;
		StRowReader rows;

		st_flush_pending(b->rel);
		versions = st_group_versions(b->rel, b->groups_xmin,
									 CurrentMemoryContext);
		groups = st_group_versions_list(versions);
		st_row_reader_init(&rows, b->rel, needed);
		index_delta(b, groups);
		index_all_groups(b, versions, groups, &rows);
		st_row_reader_end(&rows);
	}
	else
	{
		StRowCursor *cursor = st_row_cursor_begin(b->rel, b->snapshot, needed);

		index_delta(b, cursor->groups);
		index_visible_rows(b, cursor);
		ExecClearTuple(b->slot);
		st_row_cursor_end(cursor);
	}
}

/*
 * TableAmRoutine.index_build_range_scan.  Returns the number of live rows.
 * start and nblocks must ask for the whole table.
 */
double
st_am_index_build_range_scan(Relation rel, Relation index, IndexInfo *info,
							 bool allow_sync, bool anyvisible, bool progress,
							 BlockNumber start, BlockNumber nblocks,
							 IndexBuildCallback callback,
							 void *callback_state, TableScanDesc scan)
{
	IndexBuild	b = {0};
	BlockNumber total = RelationGetNumberOfBlocks(rel);
	MemoryContext mcxt;
	MemoryContext oldcxt;
	bool		unregister;

	refuse_brin(rel, index);
	if (start != 0 || nblocks != InvalidBlockNumber)
		elog(ERROR, "cannot index a range of blocks of table \"%s\"",
			 RelationGetRelationName(rel));

	mcxt = AllocSetContextCreate(CurrentMemoryContext, "index build scan",
								 ALLOCSET_DEFAULT_SIZES);
	oldcxt = MemoryContextSwitchTo(mcxt);

	b.rel = rel;
	b.index = index;
	b.info = info;
	b.scan = (StScan *) scan;
	b.anyvisible = anyvisible;
	b.checking_uniqueness = info->ii_Unique || info->ii_ExclusionOps != NULL;
	b.progress = progress;
	b.callback = callback;
	b.callback_state = callback_state;
	b.callback_mcxt = oldcxt;
	b.root_block = InvalidBlockNumber;
	b.reported_block = InvalidBlockNumber;
	Assert(!(anyvisible && b.checking_uniqueness));

	b.estate = CreateExecutorState();
	b.econtext = GetPerTupleExprContext(b.estate);
	b.slot = table_slot_create(rel, NULL);
	b.econtext->ecxt_scantuple = b.slot;
	b.predicate = ExecPrepareQual(info->ii_Predicate, b.estate);

	unregister = choose_snapshot(&b);
	Assert(b.snapshot == SnapshotAny || IsMVCCSnapshot(b.snapshot));
	Assert((b.snapshot == SnapshotAny) ==
		   TransactionIdIsValid(b.oldest_xmin));

	if (progress)
		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, total);
	index_everything(&b);
	if (progress)
		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, total);

	ExecDropSingleTupleTableSlot(b.slot);
	if (scan != NULL)
		table_endscan(scan);
	if (unregister)
		UnregisterSnapshot(b.snapshot);
	FreeExecutorState(b.estate);

	/* these pointed into the executor state */
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;

	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(mcxt);
	return b.reltuples;
}
