/*-------------------------------------------------------------------------
 *
 * st_am_tidrange.c
 *	  TID range scans: heap TIDs first, then virtual ones, or backwards.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"

#include "st_am.h"
#include "st_read.h"

typedef enum TidRangePhase
{
	TIDRANGE_START,				/* before the first call */
	TIDRANGE_BEFORE,			/* before the first row */
	TIDRANGE_HEAP,
	TIDRANGE_ROWS,
	TIDRANGE_AFTER				/* behind the last row */
} TidRangePhase;

typedef struct StTidRange
{
	TidRangePhase phase;
	StRowCursor *cursor;
	uint64		first;			/* row numbers of the range: first .. end - 1 */
	uint64		end;
	uint64		after;			/* forward goes on with this row */
	uint64		before;			/* backward goes on below this row */
} StTidRange;

static void
tidrange_end(StScan *scan)
{
	StTidRange *ts = scan->am_state;

	st_row_cursor_end(ts->cursor);
}

/*
 * The number of rows of row groups with TIDs before (or, if inclusive, up
 * to) this one.  Offsets need not be ones that rows have.
 */
static uint64
rows_up_to(ItemPointer tid, bool inclusive)
{
	BlockNumber block = ItemPointerGetBlockNumberNoCheck(tid);
	uint32		offset = ItemPointerGetOffsetNumberNoCheck(tid);

	if (block < ST_VIRTUAL_BLOCK)
		return 0;
	if (block == InvalidBlockNumber)
		return ST_MAX_ROW_NUMBER;
	if (!inclusive && offset > 0)
		offset--;
	return (uint64) (block - ST_VIRTUAL_BLOCK) * ST_ROWS_PER_VBLOCK +
		Min(offset, ST_ROWS_PER_VBLOCK);
}

/* TableAmRoutine.scan_set_tidrange: called once before every (re)scan */
void
st_am_scan_set_tidrange(TableScanDesc sscan, ItemPointer mintid,
						ItemPointer maxtid)
{
	StScan	   *scan = (StScan *) sscan;
	StTidRange *ts = scan->am_state;

	if (ts == NULL)
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(scan->mcxt);

		ts = palloc0(sizeof(*ts));
		ts->cursor = st_row_cursor_begin(scan->base.rs_rd,
										 scan->base.rs_snapshot, NULL);
		scan->am_state = ts;
		scan->am_end = tidrange_end;
		MemoryContextSwitchTo(oldcxt);
	}
	heap_set_tidrange(st_scan_inner(scan), mintid, maxtid);
	ts->first = rows_up_to(mintid, false);
	ts->end = rows_up_to(maxtid, true);
	ts->phase = TIDRANGE_START;
}

/* Returns the row, and remembers where to go on from it in each direction. */
static bool
take_row(StTidRange *ts, int group, uint64 rowno, TupleTableSlot *slot)
{
	uint32		row = (uint32) (rowno -
								ts->cursor->groups->groups[group].first_row);

	CHECK_FOR_INTERRUPTS();
	if (!st_row_cursor_visible(ts->cursor, group, row))
		return false;
	st_row_cursor_store(ts->cursor, group, row, slot);
	ts->before = rowno;
	ts->after = rowno + 1;
	return true;
}

static bool
next_row(StTidRange *ts, TupleTableSlot *slot)
{
	StGroupList *groups = ts->cursor->groups;

	for (int i = st_row_cursor_group(ts->cursor, ts->after);
		 i < groups->ngroups && groups->groups[i].first_row < ts->end; i++)
	{
		const StGroup *g = &groups->groups[i];
		uint64		end = Min(g->first_row + g->nrows, ts->end);

		for (uint64 row = Max(ts->after, g->first_row); row < end; row++)
		{
			if (take_row(ts, i, row, slot))
				return true;
		}
	}
	return false;
}

static bool
previous_row(StTidRange *ts, TupleTableSlot *slot)
{
	StGroupList *groups = ts->cursor->groups;
	int			last = st_row_cursor_group(ts->cursor, ts->before);

	for (int i = Min(last, groups->ngroups - 1); i >= 0; i--)
	{
		const StGroup *g = &groups->groups[i];
		uint64		first = Max(g->first_row, ts->first);

		for (uint64 row = Min(ts->before, g->first_row + g->nrows);
			 row > first; row--)
		{
			if (take_row(ts, i, row - 1, slot))
				return true;
		}
	}
	return false;
}

static bool
scan_forward(StScan *scan, StTidRange *ts, TupleTableSlot *slot)
{
	if (ts->phase == TIDRANGE_AFTER)
		return false;
	if (ts->phase < TIDRANGE_HEAP)
		ts->phase = TIDRANGE_HEAP;
	if (ts->phase == TIDRANGE_HEAP)
	{
		if (heap_getnextslot_tidrange(st_scan_inner(scan),
									  ForwardScanDirection, slot))
			return true;
		ts->phase = TIDRANGE_ROWS;
		ts->before = ts->after = ts->first;
	}
	if (next_row(ts, slot))
		return true;
	ts->phase = TIDRANGE_AFTER;
	return false;
}

/* Heap begins at its end when it is asked for a row after it ran out. */
static bool
scan_backward(StScan *scan, StTidRange *ts, TupleTableSlot *slot)
{
	if (ts->phase == TIDRANGE_BEFORE)
		return false;
	if (ts->phase == TIDRANGE_START || ts->phase == TIDRANGE_AFTER)
	{
		ts->phase = TIDRANGE_ROWS;
		ts->before = ts->after = ts->end;
	}
	if (ts->phase == TIDRANGE_ROWS)
	{
		if (previous_row(ts, slot))
			return true;
		ts->phase = TIDRANGE_HEAP;
	}
	if (heap_getnextslot_tidrange(st_scan_inner(scan), BackwardScanDirection,
								  slot))
		return true;
	ts->phase = TIDRANGE_BEFORE;
	return false;
}

/* TableAmRoutine.scan_getnextslot_tidrange */
bool
st_am_scan_getnextslot_tidrange(TableScanDesc sscan, ScanDirection direction,
								TupleTableSlot *slot)
{
	StScan	   *scan = (StScan *) sscan;
	StTidRange *ts = scan->am_state;
	bool		found;

	if (ScanDirectionIsBackward(direction))
		found = scan_backward(scan, ts, slot);
	else
		found = scan_forward(scan, ts, slot);
	if (!found)
		ExecClearTuple(slot);
	return found;
}
