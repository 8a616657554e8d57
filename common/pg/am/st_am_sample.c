/*-------------------------------------------------------------------------
 *
 * st_am_sample.c
 *	  TABLESAMPLE over the delta and the row groups.
 *
 * A sampling method sees one sequence of blocks: those of the file, 0 to
 * nheap - 1, and behind them one block per ST_ROWS_PER_VBLOCK rows of the row
 * groups that the snapshot sees.  So SYSTEM takes or leaves 291 neighbouring
 * rows at a time, BERNOULLI any row.  Pages of extents are left out; pages of
 * the delta are heap's affair.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tsmapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "pgstat.h"

#include "st_am.h"
#include "st_read.h"

typedef struct StSample
{
	TableScanDesc heap;
	BlockNumber nheap;			/* blocks of the file */
	BlockNumber nblocks;		/* and with those of row groups */
	BlockNumber next;			/* without NextSampleBlock: in sequence */
	StRowCursor *cursor;
	BlockNumber *first_block;	/* of each group, then nblocks */
	StExtentRange *extents;		/* of groups, sorted */
	int			nextents;

	/* current block, if in a row group */
	BlockNumber block;			/* InvalidBlockNumber: heap's */
	int			group;
	uint32		first_row;		/* in the group */
	uint32		nrows;
} StSample;

/* A sampling method for heap that chooses one given block. */
typedef struct ChosenBlock
{
	SampleScanState state;
	TsmRoutine	routine;
	BlockNumber block;
} ChosenBlock;

static BlockNumber
chosen_block(SampleScanState *node, BlockNumber nblocks)
{
	return ((ChosenBlock *) node)->block;
}

static void
sample_end(StScan *scan)
{
	StSample *ss = scan->am_state;

	st_row_cursor_end(ss->cursor);
}

static void
sample_rescan(StScan *scan)
{
	StSample *ss = scan->am_state;

	ss->next = 0;
	ss->block = InvalidBlockNumber;
}

static StSample *
sample_begin(StScan *scan)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(scan->mcxt);
	StSample *ss = palloc0(sizeof(StSample));
	StGroupList *groups;

	ss->heap = st_scan_inner(scan);
	ss->nheap = ((HeapScanDesc) ss->heap)->rs_nblocks;
	ss->cursor = st_row_cursor_begin(scan->base.rs_rd,
									 scan->base.rs_snapshot, NULL);
	ss->block = InvalidBlockNumber;

	groups = ss->cursor->groups;
	ss->first_block = palloc((groups->ngroups + 1) * sizeof(BlockNumber));
	ss->extents = st_list_extents(groups, &ss->nextents);
	ss->nblocks = ss->nheap;
	for (int i = 0; i < groups->ngroups; i++)
	{
		ss->first_block[i] = ss->nblocks;
		ss->nblocks += (groups->groups[i].nrows + ST_ROWS_PER_VBLOCK - 1) /
			ST_ROWS_PER_VBLOCK;
	}
	ss->first_block[groups->ngroups] = ss->nblocks;

	scan->am_state = ss;
	scan->am_rescan = sample_rescan;
	scan->am_end = sample_end;
	MemoryContextSwitchTo(oldcxt);
	return ss;
}

/* Is the block of the file a page of a row group? */
static bool
in_extent(const StSample *ss, BlockNumber block)
{
	int			lo = 0;
	int			hi = ss->nextents;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		const StExtentRange *e = &ss->extents[mid];

		if (block < e->start)
			hi = mid;
		else if (block >= e->end)
			lo = mid + 1;
		else
			return true;
	}
	return false;
}

static BlockNumber
next_block(StSample *ss, SampleScanState *state)
{
	if (state->tsmroutine->NextSampleBlock != NULL)
		return state->tsmroutine->NextSampleBlock(state, ss->nblocks);
	return ss->next < ss->nblocks ? ss->next++ : InvalidBlockNumber;
}

static void
enter_row_block(StSample *ss, BlockNumber block)
{
	int			lo = 0;
	int			hi = ss->cursor->groups->ngroups;
	uint32		nrows;

	/* the last group whose first block is not behind this one */
	while (lo < hi - 1)
	{
		int			mid = lo + (hi - lo) / 2;

		if (ss->first_block[mid] <= block)
			lo = mid;
		else
			hi = mid;
	}
	nrows = ss->cursor->groups->groups[lo].nrows;
	ss->block = block;
	ss->group = lo;
	ss->first_row = (block - ss->first_block[lo]) * ST_ROWS_PER_VBLOCK;
	ss->nrows = Min(nrows - ss->first_row, ST_ROWS_PER_VBLOCK);
}

/* TableAmRoutine.scan_sample_next_block */
bool
st_am_scan_sample_next_block(TableScanDesc sscan, SampleScanState *state)
{
	StScan	   *scan = (StScan *) sscan;
	StSample *ss = scan->am_state;
	ChosenBlock chosen;
	BlockNumber block;

	if (ss == NULL)
		ss = sample_begin(scan);
	ss->block = InvalidBlockNumber;
	if (ss->nblocks == 0)
		return false;

	do
	{
		CHECK_FOR_INTERRUPTS();
		block = next_block(ss, state);
		if (block == InvalidBlockNumber)
			return false;
		if (block >= ss->nheap)
		{
			enter_row_block(ss, block);
			return true;
		}
	} while (in_extent(ss, block));

	chosen.state = *state;
	chosen.routine = *state->tsmroutine;
	chosen.routine.NextSampleBlock = chosen_block;
	chosen.state.tsmroutine = &chosen.routine;
	chosen.block = block;
	return st_heapam()->scan_sample_next_block(ss->heap, &chosen.state);
}

/* TableAmRoutine.scan_sample_next_tuple */
bool
st_am_scan_sample_next_tuple(TableScanDesc sscan, SampleScanState *state,
							 TupleTableSlot *slot)
{
	StScan	   *scan = (StScan *) sscan;
	StSample *ss = scan->am_state;

	if (ss->block == InvalidBlockNumber)
		return st_heapam()->scan_sample_next_tuple(ss->heap, state, slot);

	for (;;)
	{
		OffsetNumber offset = state->tsmroutine->NextSampleTuple(state, ss->block,
																 ss->nrows);
		uint32		row = ss->first_row + offset - 1;

		CHECK_FOR_INTERRUPTS();
		if (!OffsetNumberIsValid(offset))
			break;
		if (!st_row_cursor_visible(ss->cursor, ss->group, row))
			continue;
		st_row_cursor_store(ss->cursor, ss->group, row, slot);
		pgstat_count_heap_getnext(scan->base.rs_rd);
		return true;
	}
	ExecClearTuple(slot);
	return false;
}
