/*-------------------------------------------------------------------------
 *
 * st_am_bitmap.c
 *	  Bitmap heap scans over the delta and the row groups.
 *
 * Blocks of a bitmap come in ascending order, so those of virtual TIDs come
 * last.  Real blocks go to heap, virtual ones are resolved row by row with
 * the cached readers of index fetches.
 *
 * Servers before 18 iterate in the executor node, which also prefetches the
 * blocks to come and fails on virtual ones: st_bitmap_disable_prefetch() must
 * have been called for the plan.  From 18 on the table AM iterates; heap does
 * so through a read stream, which we replace by one that stops before the
 * first virtual block.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "access/table.h"
#include "access/xact.h"

#include "st_am.h"
#include "st_bitmap_scan.h"
#include "st_read.h"

typedef struct StBitmapScan
{
	StFetch		fetch;
	BlockNumber block;			/* current virtual block, if noffsets > 0 */
	int			noffsets;
	int			next;
	OffsetNumber offsets[ST_ROWS_PER_VBLOCK];
#ifdef ST_HAVE_BITMAP_STREAM
	StScan	   *scan;
	bool		heap_done;
	bool		have_stash;		/* the first virtual block */
	bool		recheck;
	TBMIterateResult stash;
#endif
} StBitmapScan;

static void
bitmap_end(StScan *scan)
{
	StBitmapScan *bs = scan->am_state;

	st_fetch_end(&bs->fetch);
}

static void
bitmap_rescan(StScan *scan)
{
	StBitmapScan *bs = scan->am_state;

	bs->noffsets = 0;
	bs->next = 0;
#ifdef ST_HAVE_BITMAP_STREAM
	bs->heap_done = false;
	bs->have_stash = false;
#endif
}

static StBitmapScan *
bitmap_begin(StScan *scan)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(scan->mcxt);
	StBitmapScan *bs = palloc0(sizeof(StBitmapScan));

	st_fetch_init(&bs->fetch, scan->base.rs_rd);
	scan->am_state = bs;
	scan->am_rescan = bitmap_rescan;
	scan->am_end = bitmap_end;
	MemoryContextSwitchTo(oldcxt);
	return bs;
}

/* A lossy block: all rows that can be in it. */
static void
take_all_offsets(StBitmapScan *bs)
{
	for (int i = 0; i < ST_ROWS_PER_VBLOCK; i++)
		bs->offsets[i] = i + 1;
	bs->noffsets = ST_ROWS_PER_VBLOCK;
}

/* The next row of the current virtual block that the snapshot sees. */
static bool
next_virtual_row(StScan *scan, StBitmapScan *bs, TupleTableSlot *slot)
{
	while (bs->next < bs->noffsets)
	{
		ItemPointerData tid;

		CHECK_FOR_INTERRUPTS();
		ItemPointerSet(&tid, bs->block, bs->offsets[bs->next++]);
		if (st_fetch_row(&bs->fetch, &tid, scan->base.rs_snapshot, slot))
		{
			pgstat_count_heap_fetch(scan->base.rs_rd);
			return true;
		}
	}
	return false;
}

#ifndef ST_HAVE_BITMAP_STREAM

/* TableAmRoutine.scan_bitmap_next_block */
bool
st_am_scan_bitmap_next_block(TableScanDesc sscan, TBMIterateResult *tbmres)
{
	StScan	   *scan = (StScan *) sscan;
	StBitmapScan *bs = scan->am_state;

	if (tbmres->blockno < ST_VIRTUAL_BLOCK)
		return st_heapam()->scan_bitmap_next_block(st_scan_inner(scan),
												   tbmres);
	if (bs == NULL)
		bs = bitmap_begin(scan);
	bs->block = tbmres->blockno;
	bs->fetch.recheck = tbmres->recheck;
	bs->next = 0;
	if (tbmres->ntuples < 0)
		take_all_offsets(bs);
	else
	{
		Assert(tbmres->ntuples <= ST_ROWS_PER_VBLOCK);
		bs->noffsets = tbmres->ntuples;
		memcpy(bs->offsets, tbmres->offsets,
			   tbmres->ntuples * sizeof(OffsetNumber));
	}
	return true;
}

/* TableAmRoutine.scan_bitmap_next_tuple */
bool
st_am_scan_bitmap_next_tuple(TableScanDesc sscan, TBMIterateResult *tbmres,
							 TupleTableSlot *slot)
{
	StScan	   *scan = (StScan *) sscan;

	if (tbmres->blockno < ST_VIRTUAL_BLOCK)
		return st_heapam()->scan_bitmap_next_tuple(st_scan_inner(scan),
												   tbmres, slot);
	return next_virtual_row(scan, scan->am_state, slot);
}

static bool
disable_prefetch(PlanState *planstate, void *context)
{
	if (planstate == NULL)
		return false;
	if (IsA(planstate, BitmapHeapScanState))
	{
		BitmapHeapScanState *node = (BitmapHeapScanState *) planstate;
		Relation	rel = node->ss.ss_currentRelation;

		if (rel != NULL && st_relation_format(rel) != NULL)
			node->prefetch_maximum = 0;
	}
	return planstate_tree_walker(planstate, disable_prefetch, context);
}

#else							/* ST_HAVE_BITMAP_STREAM */

/* Blocks for heap to read: stops at the first virtual one and keeps it. */
static BlockNumber
next_real_block(ReadStream *stream, void *private, void *per_buffer)
{
	StBitmapScan *bs = private;
	StScan	   *scan = bs->scan;
	HeapScanDesc heap = (HeapScanDesc) st_scan_inner(scan);
	TBMIterateResult *tbmres = per_buffer;

	if (bs->have_stash)
		return InvalidBlockNumber;
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (!tbm_iterate(&scan->base.st.rs_tbmiterator, tbmres))
			return InvalidBlockNumber;
		if (tbmres->blockno >= ST_VIRTUAL_BLOCK)
		{
			bs->stash = *tbmres;
			bs->have_stash = true;
			return InvalidBlockNumber;
		}

		/*
		 * Blocks past the end that the scan began with hold nothing that it
		 * can see; a serializable one must look for conflicts there too.
		 */
		if (tbmres->blockno < heap->rs_nblocks || IsolationIsSerializable())
			return tbmres->blockno;
	}
}

static StBitmapScan *
bitmap_begin_stream(StScan *scan)
{
	StBitmapScan *bs = bitmap_begin(scan);
	HeapScanDesc heap = (HeapScanDesc) st_scan_inner(scan);
	MemoryContext oldcxt = MemoryContextSwitchTo(scan->mcxt);

	bs->scan = scan;
	if (heap->rs_read_stream != NULL)
		read_stream_end(heap->rs_read_stream);
	heap->rs_read_stream = read_stream_begin_relation(READ_STREAM_DEFAULT,
													  heap->rs_strategy,
													  scan->base.rs_rd,
													  MAIN_FORKNUM,
													  next_real_block, bs,
													  sizeof(TBMIterateResult));
	MemoryContextSwitchTo(oldcxt);
	return bs;
}

/* Moves to the next virtual block; the first one may be stashed. */
static bool
next_virtual_block(StScan *scan, StBitmapScan *bs, uint64 *lossy_pages,
				   uint64 *exact_pages)
{
	if (bs->have_stash)
		bs->have_stash = false;
	else if (!tbm_iterate(&scan->base.st.rs_tbmiterator, &bs->stash))
		return false;

	bs->block = bs->stash.blockno;
	bs->recheck = bs->stash.recheck;
	bs->fetch.recheck = bs->recheck;
	bs->next = 0;
	if (bs->stash.lossy)
	{
		(*lossy_pages)++;
		take_all_offsets(bs);
	}
	else
	{
		(*exact_pages)++;
		bs->noffsets = tbm_extract_page_tuple(&bs->stash, bs->offsets,
											  ST_ROWS_PER_VBLOCK);
	}
	return true;
}

/* TableAmRoutine.scan_bitmap_next_tuple */
bool
st_am_scan_bitmap_next_tuple(TableScanDesc sscan, TupleTableSlot *slot,
							 bool *recheck, uint64 *lossy_pages,
							 uint64 *exact_pages)
{
	StScan	   *scan = (StScan *) sscan;
	StBitmapScan *bs = scan->am_state;

	if (bs == NULL)
		bs = bitmap_begin_stream(scan);
	if (!bs->heap_done)
	{
		if (st_heapam()->scan_bitmap_next_tuple(st_scan_inner(scan), slot,
												recheck, lossy_pages,
												exact_pages))
			return true;
		bs->heap_done = true;
	}
	for (;;)
	{
		if (next_virtual_row(scan, bs, slot))
		{
			*recheck = bs->recheck;
			return true;
		}
		if (!next_virtual_block(scan, bs, lossy_pages, exact_pages))
			break;
	}
	ExecClearTuple(slot);
	return false;
}

#endif							/* ST_HAVE_BITMAP_STREAM */

/*
 * Forbids core's bitmap heap scans in a plan to prefetch blocks of our
 * tables.  To be called after ExecutorStart, in workers too.  Does nothing
 * on servers where the table AM iterates itself.
 */
void
st_bitmap_disable_prefetch(PlanState *planstate)
{
#ifndef ST_HAVE_BITMAP_STREAM
	(void) disable_prefetch(planstate, NULL);
#endif
}

#ifndef ST_HAVE_BITMAP_STREAM

/* Is the query a part of one whose rows may have to be checked again? */
static bool
in_recheck(const PlannerInfo *root)
{
	/* Its own relations' rows are at hand then; those of subplans are not. */
	for (root = root->parent_root; root != NULL; root = root->parent_root)
	{
		if (root->parse->commandType != CMD_SELECT ||
			root->parse->rowMarks != NIL)
			return true;
	}
	return false;
}

#endif

void
st_bitmap_forbid_in_recheck(PlannerInfo *root, RelOptInfo *rel, Oid relid)
{
#ifndef ST_HAVE_BITMAP_STREAM
	Relation	relation;
	ListCell   *lc;

	if (rel->indexlist == NIL || !in_recheck(root))
		return;
	relation = table_open(relid, NoLock);
	if (st_relation_format(relation) != NULL)
	{
		foreach(lc, rel->indexlist)
			lfirst_node(IndexOptInfo, lc)->amhasgetbitmap = false;
	}
	table_close(relation, NoLock);
#endif
}
