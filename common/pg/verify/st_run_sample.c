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
 * A table of little more than that is read from end to end.
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
#include "storage/bufmgr.h"

#include "st_run_sample.h"

/* Blocks to read beyond those of all runs, so as to read the whole table. */
#define WHOLE_FACTOR 1.5

struct StRunSample
{
	SampleScanState state;		/* what access methods ask */
	TsmRoutine	routine;
	Relation	rel;
	TableScanDesc scan;
	int			max_runs;
	int			nruns;			/* that have ended */
	BlockNumber nblocks;		/* as the access method counts them */
	BlockNumber next;			/* block */
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

	s->nblocks = nblocks;
	if (s->next >= nblocks || s->nruns == s->max_runs)
		return InvalidBlockNumber;
	s->asked++;
	return s->next++;
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
	s->scan = table_beginscan_sampling(rel, snapshot, 0, NULL, true, false, true);
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
st_run_sample_rows(const StRunSample *s)
{
	return s->rows;
}

/*
 * Where blocks are those of a file, all of one kind, they tell how many rows
 * there are.  Otherwise the access method has to.
 */
double
st_run_sample_table_rows(const StRunSample *s)
{
	BlockNumber pages;
	double		tuples;
	double		allvisfrac;

	if (st_run_sample_is_whole(s) || s->asked == 0)
		return s->rows;
	if (s->nblocks == RelationGetNumberOfBlocks(s->rel))
		return s->rows * s->nblocks / s->asked;
	table_relation_estimate_size(s->rel, NULL, &pages, &tuples, &allvisfrac);
	return Max(tuples, s->rows);
}

void
st_run_sample_end(StRunSample *s)
{
	table_endscan(s->scan);
	pfree(s);
}
