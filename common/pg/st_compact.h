/*-------------------------------------------------------------------------
 *
 * st_compact.h
 *	  Online compaction of a table of the store (I5).
 *
 * An extension offers it as a procedure: it gives each step a transaction of
 * its own and takes care of rights, partitions and reports.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_COMPACT_H
#define ST_COMPACT_H

#include "postgres.h"

#include "storage/block.h"
#include "utils/rel.h"

/* What one call wants, and what it has done so far.  Zeroed at the start. */
typedef struct StCompactJob
{
	/* wishes */
	bool		to_the_end;		/* all rows of the delta, all groups, full order */

	/* life of one call; in mcxt */
	MemoryContext mcxt;
	BlockNumber next_block;		/* delta pages before are done */
	uint64	   *skipped;		/* first rows of groups that others held */
	int			nskipped;
	int			maxskipped;
	uint64		first_new_row;	/* groups from here on were made by this call */
	double		blocks_left;	/* pages of row groups that may be rewritten */
	int			order_steps;	/* that only sorted */
	bool		started;

	/* results */
	int64		delta_rows;		/* moved out of the delta */
	int64		group_rows;		/* moved from one group to another */
	int64		groups_in;
	int64		groups_out;
	int			steps;

	/* called after every so many rows, may be NULL */
	void		(*report) (struct StCompactJob *job);
	void	   *report_arg;
} StCompactJob;

/*
 * One step: reads and writes about a row group (some, where rows are sorted).
 * To be called at the start of a transaction that does nothing else, with
 * ShareUpdateExclusiveLock on rel and an active snapshot; the caller commits.
 * False, having changed nothing: there is nothing left to do.
 *
 * Runs functions of indexes: the caller has switched to the table's owner.
 * Raises an error if anything fails; then nothing has happened.
 */
extern bool st_compact_step(Relation rel, StCompactJob *job);

/* A cheap look from outside: would a step find work? */
extern bool st_compact_needed(Relation rel, StCompactJob *job);

#endif							/* ST_COMPACT_H */
