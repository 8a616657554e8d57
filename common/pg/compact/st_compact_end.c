/*-------------------------------------------------------------------------
 *
 * st_compact_end.c
 *	  Compaction: the end of a large delta goes first.
 *
 * A heap table that was adopted is all delta, and hardly a page of it is free.  If its
 * rows went to row groups from the first to the last, its file could be cut off
 * only in the end, and until then its indexes would grow, because each row gets a
 * second entry.  So a merge that runs VACUUM makes the file shorter early:
 *
 *	1. Rows of the first pages go to row groups, which stand behind the file's end.
 *	2. VACUUM makes free extents of those pages; beside writers half of them stay
 *	   for new rows.
 *	3. Rows of the last pages go there: as many as there is room for, at most a
 *	   quarter of the delta.
 *	4. So do the row groups that stand behind them, and rows that were written to
 *	   these pages meanwhile.
 *	5. VACUUM cuts the file off.
 *
 * Then the merge goes on behind the first pages.  Where VACUUM frees too little, because
 * of old snapshots or because row groups are hardly smaller than rows, it does so
 * after 2.  Each step is one as ever, so it may end anywhere.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "st_compact_int.h"
#include "st_compat.h"

/* Of a delta that has so many pages, and is such a part of the file. */
#define MIN_PAGES	(64 * 1024 * 1024 / BLCKSZ)
#define MIN_PART	0.75

/* The first pages and, at most, the last ones, as shares of the delta. */
#define HEAD_SHARE	16
#define TAIL_SHARE	4

/*
 * Fewer last pages are not worth a VACUUM, which leaves the file as it is for less than a
 * sixteenth of a small one.  How much room they take is an estimate.
 */
#define MIN_TAIL_SHARE	12
#define ROOM		0.9

/*
 * While rows are taken, writers change some of them, and the new versions stand on these
 * pages again.  The next look should find fewer, because to take them takes a shorter time.
 */
#define MAX_LOOKS	4

void
st_end_begin(Relation rel, StCompactJob *job, const StExtentRanges *extents)
{
	BlockNumber pages = st_delta_pages(rel, extents, job);

	job->stop_block = MaxBlockNumber;
	if (!job->end_first || pages < MIN_PAGES || pages < job->end_block * MIN_PART ||
		!st_may_truncate(rel))
		return;
	job->end_phase = ST_END_HEAD;
	job->head_end = job->end_block;
	job->head_pages = pages / HEAD_SHARE;
	job->stop_block = st_delta_block(extents, st_delta_start(rel), job->head_pages);
}

StWantedPages
st_end_wants(const StCompactJob *job)
{
	if (job->end_phase != ST_END_FREED)
		return ST_WANT_SHORT_FILE;
	return job->head_grew ? ST_WANT_HALF : ST_WANT_ALL;
}

/* Pages of row groups that so many pages of the delta become, by what the first ones did. */
static double
pages_to_write(const StCompactJob *job, BlockNumber pages)
{
	return (double) pages * job->head_written / job->head_pages;
}

bool
st_end_has_room(const StCompactJob *job, const StExtentRanges *extents,
				const StFreeSpace *free)
{
	BlockNumber left = st_delta_between(extents, job->next_block, job->end_block);

	return st_free_space_usable(free, job->rest_end) >= pages_to_write(job, left);
}

void
st_end_stop(Relation rel, StCompactJob *job)
{
	job->end_phase = ST_END_NONE;
	job->next_block = job->reached = job->rest_end = job->rest_start;
	job->end_block = RelationGetNumberOfBlocks(rel);
}

/* Pages of row groups that stand behind a block. */
static BlockNumber
groups_behind(const StGroupVersions *versions, BlockNumber block)
{
	BlockNumber pages = 0;

	for (int i = 0; i < versions->n; i++)
	{
		if (versions->v[i].state == HEAPTUPLE_LIVE &&
			st_group_end(&versions->v[i].group) > block)
			pages += versions->v[i].group.nblocks;
	}
	return pages;
}

/* VACUUM has done what it could.  Begins with the last pages, if that is worth it. */
static void
begin_tail(Relation rel, StCompactJob *job, const StExtentRanges *extents,
		   const StGroupVersions *versions, const StFreeSpace *free)
{
	BlockNumber left;
	BlockNumber first;
	double		room;
	double		tail;

	job->end_phase = ST_END_NONE;
	job->stop_block = MaxBlockNumber;
	if (job->head_written == 0)
		return;
	job->end_block = RelationGetNumberOfBlocks(rel);
	left = st_delta_pages(rel, extents, job);
	tail = left / TAIL_SHARE;
	first = st_delta_block(extents, job->reached, left - (BlockNumber) tail);
	room = st_free_space_usable(free, first) * ROOM - groups_behind(versions, first);
	tail = Min(tail, room / pages_to_write(job, 1));
	if (tail < 1 || tail < left / MIN_TAIL_SHARE)
		return;
	job->end_phase = ST_END_TAIL;
	job->rest_start = job->next_block;
	job->rest_end = st_delta_block(extents, job->reached, left - (BlockNumber) tail);
	job->next_block = job->reached = job->rest_end;
}

/*
 * Pages from a block on are looked at once more, if the last look has found rows, with
 * what has come behind them meanwhile.
 */
static bool
look_once_more(Relation rel, StCompactJob *job, BlockNumber from)
{
	if (job->delta_rows == job->looked_rows || job->looks == MAX_LOOKS)
	{
		job->looks = 0;
		return false;
	}
	job->looked_rows = job->delta_rows;
	job->looks++;
	job->disturbed = false;
	job->next_block = from;
	job->end_block = RelationGetNumberOfBlocks(rel);
	return true;
}

bool
st_end_next(Relation rel, StCompactJob *job, const StExtentRanges *extents,
			const StGroupVersions *versions, const StFreeSpace *free)
{
	switch (job->end_phase)
	{
		case ST_END_HEAD:
			if (look_once_more(rel, job, 0))
				return true;
			job->end_phase = ST_END_FREED;
			job->next_block = job->reached = Max(job->reached, job->stop_block);
			job->head_grew = RelationGetNumberOfBlocks(rel) >
				job->head_end + groups_behind(versions, job->head_end);
			job->vacuum_first = true;
			return false;
		case ST_END_FREED:
			begin_tail(rel, job, extents, versions, free);
			return true;
		case ST_END_TAIL:
			job->end_phase = ST_END_CLEAR;
			return true;
		case ST_END_CLEAR:
			if (look_once_more(rel, job, job->rest_end))
				return true;
			st_end_stop(rel, job);
			job->vacuum_first = true;
			return false;
		case ST_END_NONE:
			break;
	}
	return false;
}
