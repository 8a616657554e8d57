/*-------------------------------------------------------------------------
 *
 * st_delta.c
 *	  Scan of the delta: the heap pages between the extents.
 *
 * The main fork is cut into the gaps that visible groups and free extents leave,
 * and those into chunks, each scanned by heapam within block limits.  Other
 * extents look like empty pages to heap: they cost a look.
 * Workers of one scan share the snapshot, so they agree on the gaps; a file
 * that grew meanwhile adds chunks at the end only.
 *
 * Where an extent is free to an MVCC snapshot, others have no row there for it.
 * The pages become heap's again only after the entry has been deleted by a
 * transaction that has committed (st_give_back.c), or after the file was cut off
 * (st_truncate.c), which changes the entry in place, but not older versions of it
 * that the snapshot may see.  Either way others' rows are younger than the snapshot.
 * Own ones need not be, so a transaction that has written anything looks, and so
 * does a serializable one, which must meet the others' for the conflict.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/snapmgr.h"

#include "st_read.h"
#include "st_space.h"

#define ST_DELTA_CHUNK	128		/* blocks */

/* Blocks [start, end) without a visible extent. */
typedef struct DeltaGap
{
	BlockNumber start;
	BlockNumber end;
	uint32		first_chunk;
} DeltaGap;

struct StDeltaScan
{
	TableScanDesc heap;
	DeltaGap   *gaps;
	int			ngaps;
	uint32		nchunks;
	BlockNumber next_block;		/* of the chunk at hand, for whole pages */
	BlockNumber end_block;
};

static void
add_gap(StDeltaScan *scan, BlockNumber start, BlockNumber end)
{
	DeltaGap   *gap;

	if (start >= end)
		return;
	gap = &scan->gaps[scan->ngaps++];
	gap->start = start;
	gap->end = end;
	gap->first_chunk = scan->nchunks;
	scan->nchunks += (end - start + ST_DELTA_CHUNK - 1) / ST_DELTA_CHUNK;
}

/* Extents without rows of the delta that the snapshot sees, sorted. */
static void
find_extents(Relation rel, Snapshot snapshot, const StGroupList *groups,
			 StExtentRanges *out)
{
	StCatalog	catalog;

	out->v = st_list_extents(groups, &out->n);
	if (!IsMVCCSnapshot(snapshot) || IsolationIsSerializable() ||
		TransactionIdIsValid(GetTopTransactionIdIfAny()) ||
		!st_meta_has_row_groups(rel, NULL) ||
		!st_catalog_open(&catalog, rel, AccessShareLock))
		return;
	st_extent_ranges_add_free(out, &catalog, snapshot);
	st_catalog_close(&catalog);
}

static void
find_gaps(StDeltaScan *scan, const StExtentRanges *extents, BlockNumber start,
		  BlockNumber nblocks)
{
	BlockNumber next = start;

	scan->gaps = palloc_extended((extents->n + 1) * sizeof(DeltaGap), MCXT_ALLOC_HUGE);
	for (int i = 0; i < extents->n; i++)
	{
		add_gap(scan, next, Min(extents->v[i].start, nblocks));
		next = Max(next, extents->v[i].end);
	}
	add_gap(scan, next, nblocks);
}

/*
 * Begins a scan that the caller ends before the relation is closed.  groups
 * are those that the snapshot sees; needed only during this call.  Counts
 * as a sequential scan, also for predicate locks and statistics.
 */
StDeltaScan *
st_delta_begin(Relation rel, Snapshot snapshot, const StGroupList *groups)
{
	StDeltaScan *scan = palloc0(sizeof(StDeltaScan));
	StExtentRanges extents;

	/* Not SO_TYPE_SEQSCAN: heap would count every chunk as a scan. */
	scan->heap = heap_beginscan(rel, snapshot, 0, NULL, NULL,
								SO_TYPE_TIDRANGESCAN | SO_ALLOW_STRAT |
								SO_ALLOW_PAGEMODE);
	PredicateLockRelation(rel, snapshot);
	pgstat_count_heap_scan(rel);
	find_extents(rel, snapshot, groups, &extents);
	find_gaps(scan, &extents, st_delta_start(rel),
			  ((HeapScanDesc) scan->heap)->rs_nblocks);
	pfree(extents.v);
	return scan;
}

/* Units of up to 128 blocks. */
uint32
st_delta_nchunks(StDeltaScan *scan)
{
	return scan->nchunks;
}


/* Makes st_delta_next() return the rows of one chunk, below nchunks. */
void
st_delta_set_chunk(StDeltaScan *scan, uint32 chunk)
{
	int			lo = 0;
	int			hi = scan->ngaps - 1;
	BlockNumber start;

	Assert(chunk < scan->nchunks);
	while (lo < hi)
	{
		int			mid = lo + (hi - lo + 1) / 2;

		if (scan->gaps[mid].first_chunk <= chunk)
			lo = mid;
		else
			hi = mid - 1;
	}

	start = scan->gaps[lo].start +
		(chunk - scan->gaps[lo].first_chunk) * ST_DELTA_CHUNK;
	heap_rescan(scan->heap, NULL, false, false, false, false);
	scan->next_block = start;
	scan->end_block = Min(start + ST_DELTA_CHUNK, scan->gaps[lo].end);
	heap_setscanlimits(scan->heap, start, scan->end_block - start);
}

bool
st_delta_set_block(StDeltaScan *scan, BlockNumber block)
{
	int			lo = 0;
	int			hi = scan->ngaps - 1;

	while (lo <= hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (block < scan->gaps[mid].start)
			hi = mid - 1;
		else if (block >= scan->gaps[mid].end)
			lo = mid + 1;
		else
		{
			scan->next_block = block;
			scan->end_block = block + 1;
			return true;
		}
	}
	return false;
}

bool
st_delta_fetch(StDeltaScan *scan, ScanDirection direction,
			   TupleTableSlot *slot)
{
	return heap_getnextslot(scan->heap, direction, slot);
}

/* The next visible row of the current chunk, or false. */
bool
st_delta_next(StDeltaScan *scan, TupleTableSlot *slot)
{
	return heap_getnextslot(scan->heap, ForwardScanDirection, slot);
}

/* The rows of a page that the snapshot sees. */
static int
visible_rows(StDeltaScan *scan, Buffer buffer, HeapTupleData *tuples)
{
	Relation	rel = scan->heap->rs_rd;
	Snapshot	snapshot = scan->heap->rs_snapshot;
	BlockNumber block = BufferGetBlockNumber(buffer);
	Page		page = BufferGetPage(buffer);
	bool		all_visible;
	OffsetNumber last;
	int			n = 0;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	st_test_for_old_snapshot(snapshot, rel, page);
	/*
	 * A page that is all visible on the primary need not be so for a standby's
	 * snapshots.
	 */
	all_visible = PageIsAllVisible(page) && !snapshot->takenDuringRecovery;
	last = PageGetMaxOffsetNumber(page);
	for (OffsetNumber off = FirstOffsetNumber; off <= last; off++)
	{
		ItemId		item = PageGetItemId(page, off);
		HeapTuple	tuple = &tuples[n];
		bool		visible;

		if (!ItemIdIsNormal(item))
			continue;
		tuple->t_tableOid = RelationGetRelid(rel);
		tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple->t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple->t_self, block, off);
		visible = all_visible || HeapTupleSatisfiesVisibility(tuple, snapshot, buffer);
		HeapCheckForSerializableConflictOut(visible, rel, tuple, buffer, snapshot);
		if (visible)
			n++;
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return n;
}

int
st_delta_next_page(StDeltaScan *scan, HeapTupleData *tuples, Buffer *buffer)
{
	Relation	rel = scan->heap->rs_rd;

	while (scan->next_block < scan->end_block)
	{
		int			n;

		CHECK_FOR_INTERRUPTS();
		*buffer = ReadBufferExtended(rel, MAIN_FORKNUM, scan->next_block++, RBM_NORMAL,
									 ((HeapScanDesc) scan->heap)->rs_strategy);
		st_heap_prune(rel, *buffer);
		n = visible_rows(scan, *buffer, tuples);
		if (n > 0)
		{
			pgstat_count_index_tuples(rel, n);
			return n;
		}
		ReleaseBuffer(*buffer);
	}
	return 0;
}

void
st_delta_end(StDeltaScan *scan)
{
	heap_endscan(scan->heap);
	pfree(scan->gaps);
	pfree(scan);
}
