/*-------------------------------------------------------------------------
 *
 * st_run_sample.c
 *	  A sample of a table of any access method: all rows of a few runs of
 *	  neighbouring blocks.
 *
 * What compression makes of a row depends on its neighbours, so a sample of
 * single rows or blocks says little about it.
 *
 * Blocks are chosen through the interface of TABLESAMPLE: an access method
 * asks the sampling method for one block after the other, and gives the rows
 * that the snapshot sees.  So nothing is known here of any access method, and
 * one that has no TABLESAMPLE has no sample.
 *
 * The first run begins with the table, the last one ends with it, the others
 * are at equal distances, all of about as many blocks as the first one took.
 * A table of little more than that is read from end to end.  Of a larger one,
 * single blocks at equal distances are read as well, to tell how many rows it
 * has: runs are too few to see that a part of it is empty.
 *
 * Reads only; holds a pin of one buffer between calls.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/tsmapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"

#include "st_compat.h"
#include "st_run_sample.h"

/* Blocks to read beyond those of all runs, so as to read the whole table. */
#define WHOLE_FACTOR 1.5

/* Blocks that tell how many rows a table has. */
#define COUNT_BLOCKS 400

struct StRunSample
{
	SampleScanState state;		/* what access methods ask */
	TsmRoutine	routine;
	Relation	rel;
	TableScanDesc scan;
	int			max_runs;
	int			nruns;			/* that have ended */
	BlockNumber nblocks;		/* as the access method counts them */
	BlockNumber next;			/* block, */
	BlockNumber step;			/* and from there to the next one */
	uint64		asked;			/* blocks given to the access method */
	uint64		filled;			/* of those of the first run: with rows */
	BlockNumber first_end;		/* where the first run ended, */
	BlockNumber run_blocks;		/* and how many of its blocks had rows */
	bool		by_runs;		/* not the whole table */
	bool		in_block;
	bool		block_filled;
	OffsetNumber offset;
	double		rows;
};

/* ---- the sampling method ---- */

static BlockNumber
next_block(SampleScanState *node, BlockNumber nblocks)
{
	StRunSample *s = node->tsm_state;
	BlockNumber block;

	s->nblocks = nblocks;
	if (s->next >= nblocks || s->nruns == s->max_runs)
		return InvalidBlockNumber;
	s->asked++;
	block = s->next;
	s->next = s->step < nblocks - block ? block + s->step : nblocks;
	return block;
}

static OffsetNumber
next_tuple(SampleScanState *node, BlockNumber block, OffsetNumber maxoffset)
{
	StRunSample *s = node->tsm_state;

	if (s->offset >= maxoffset)
		return InvalidOffsetNumber;
	return ++s->offset;
}

/* ---- rows ---- */

StRunSample *
st_run_sample_begin(Relation rel, Snapshot snapshot, int runs)
{
	StRunSample *s = palloc0(sizeof(StRunSample));

	s->routine.type = T_TsmRoutine;
	s->routine.NextSampleBlock = next_block;
	s->routine.NextSampleTuple = next_tuple;
	s->state.tsmroutine = &s->routine;
	s->state.tsm_state = s;
	s->rel = rel;
	s->max_runs = runs;
	s->step = 1;
	s->scan = table_beginscan_sampling(rel, snapshot, 0, NULL, true, false, true
									   ST_SINCE_19(, SO_NONE));
	return s;
}

bool
st_run_sample_next(StRunSample *s, TupleTableSlot *slot)
{
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (!s->in_block)
		{
			if (s->nruns == s->max_runs ||
				!table_scan_sample_next_block(s->scan, &s->state))
			{
				ExecClearTuple(slot);
				return false;
			}
			s->in_block = true;
			s->block_filled = false;
			s->offset = InvalidOffsetNumber;
		}
		if (table_scan_sample_next_tuple(s->scan, &s->state, slot))
		{
			s->rows++;
			if (!s->block_filled)
				s->filled++;
			s->block_filled = true;
			return true;
		}
		s->in_block = false;
	}
}

/* The first run has ended: where are the others? */
static void
place_runs(StRunSample *s)
{
	double		rest = (double) s->nblocks - s->next;

	s->first_end = s->next;
	s->run_blocks = (BlockNumber) Max(s->filled, 1);
	s->by_runs = rest > s->run_blocks * (s->max_runs - 1) * WHOLE_FACTOR;
	if (!s->by_runs)
		s->max_runs = PG_INT32_MAX;
}

void
st_run_sample_end_run(StRunSample *s)
{
	double		distance;
	BlockNumber start;

	s->nruns++;
	if (s->nruns == 1)
		place_runs(s);
	if (!s->by_runs || s->nruns >= s->max_runs)
		return;
	distance = ((double) s->nblocks - s->run_blocks - s->first_end) /
		(s->max_runs - 1);
	start = s->first_end + (BlockNumber) (distance * s->nruns);
	s->next = Max(s->next, start);
}

bool
st_run_sample_is_whole(const StRunSample *s)
{
	return s->asked == s->nblocks;
}

double
st_run_sample_table_rows(const StRunSample *s)
{
	TupleTableSlot *slot;
	StRunSample *count;
	double		rows;

	if (st_run_sample_is_whole(s))
		return s->rows;
	slot = table_slot_create(s->rel, NULL);
	count = st_run_sample_begin(s->rel, s->scan->rs_snapshot, 1);
	count->step = Max(1, s->nblocks / COUNT_BLOCKS);
	while (st_run_sample_next(count, slot))
		 /* counts it */ ;
	rows = count->rows * count->nblocks / Max(count->asked, 1);
	st_run_sample_end(count);
	ExecDropSingleTupleTableSlot(slot);
	return Max(rows, s->rows);
}

void
st_run_sample_end(StRunSample *s)
{
	table_endscan(s->scan);
	pfree(s);
}
