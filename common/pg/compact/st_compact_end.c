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
 * Then the merge goes on behind the first pages.  It does so after 1 where row groups
 * take more than two fifths of the pages that the table takes for their rows (a fifth
 * beside writers), and after 2 or in 3 where too little is free, because of old snapshots
 * for one.  Each step is one as ever, so it may end anywhere.
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

/*
 * How many of the last pages of the delta, of which so many are left, can go where so many
 * pages are free before them?  0 if it is not worth it.
 */
static BlockNumber
tail_pages(const StCompactJob *job, const StExtentRanges *extents,
		   const StGroupVersions *versions, BlockNumber left, double free)
{
	BlockNumber most = left / TAIL_SHARE;
	BlockNumber first = st_delta_block(extents, job->reached, left - most);
	double		tail;

	if (job->head_written == 0)
		return 0;
	tail = (free - groups_behind(versions, first)) / pages_to_write(job, 1);
	tail = Min(tail, most);
	return tail < 1 || tail < left / MIN_TAIL_SHARE ? 0 : (BlockNumber) tail;
}

/* All rows of the first pages are moved.  Will VACUUM make enough room of these pages? */
static bool
end_head(Relation rel, StCompactJob *job, const StExtentRanges *extents,
		 const StGroupVersions *versions)
{
	double		free = job->head_pages * ROOM;

	job->next_block = job->reached = Max(job->reached, job->stop_block);
	job->stop_block = MaxBlockNumber;
	job->head_grew = RelationGetNumberOfBlocks(rel) >
		job->head_end + groups_behind(versions, job->head_end);
	return tail_pages(job, extents, versions, st_delta_pages(rel, extents, job),
					  job->head_grew ? free / 2 : free) > 0;
}

/* VACUUM has done what it could.  Begins with the last pages, if that is worth it. */
static void
begin_tail(Relation rel, StCompactJob *job, const StExtentRanges *extents,
		   const StGroupVersions *versions, const StFreeSpace *free)
{
	BlockNumber left;
	BlockNumber tail;

	job->end_phase = ST_END_NONE;
	job->end_block = RelationGetNumberOfBlocks(rel);
	left = st_delta_pages(rel, extents, job);
	tail = tail_pages(job, extents, versions, left,
					  st_free_space_usable(free, job->reached) * ROOM);
	if (tail == 0)
		return;
	job->end_phase = ST_END_TAIL;
	job->rest_start = job->reached;
	job->rest_end = st_delta_block(extents, job->reached, left - tail);
	job->next_block = job->reached = job->rest_end;
}

/* Is there room for one more group, for the rest of the last pages and what stands behind? */
bool
st_end_has_room(const StCompactJob *job, const StExtentRanges *extents,
				const StGroupVersions *versions, const StFreeSpace *free)
{
	BlockNumber left = st_delta_between(extents, job->next_block, job->end_block);
	double		written = pages_to_write(job, left);
	BlockNumber largest = 0;

	for (int i = 0; i < versions->n; i++)
		largest = Max(largest, versions->v[i].group.nblocks);
	return st_free_space_usable(free, job->rest_end) >=
		written + groups_behind(versions, job->rest_end) &&
		st_free_space_missing(free, Min(largest, written), job->rest_end) == 0;
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
			job->vacuum_first = end_head(rel, job, extents, versions);
			job->end_phase = job->vacuum_first ? ST_END_FREED : ST_END_NONE;
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
