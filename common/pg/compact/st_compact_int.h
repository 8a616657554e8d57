/*-------------------------------------------------------------------------
 *
 * st_compact_int.h
 *	  What the files of compaction share: st_compact.c (steps),
 *	  st_compact_plan.c and st_compact_end.c (what to do next), st_compact_delta.c (rows of the
 *	  delta), st_compact_write.c (new row groups), st_compact_index.c (their
 *	  index entries), st_compact_gin.c (those of a GIN).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_COMPACT_INT_H
#define ST_COMPACT_INT_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/tuplesort.h"

#include "st_compact.h"
#include "st_read.h"
#include "st_space.h"

/* ---- entries of a GIN index for many rows: st_compact_gin.c ---- */

typedef struct StGinEntries StGinEntries;

/* Memory is bounded by max_bytes, and what one row adds. */
extern StGinEntries *st_gin_begin(Relation index, Size max_bytes);
extern void st_gin_put(StGinEntries *e, const Datum *values, const bool *isnull,
					   ItemPointer tid);

/* Puts what there is into the index. */
extern void st_gin_flush(StGinEntries *e);
extern Size st_gin_collected(const StGinEntries *e);
extern void st_gin_end(StGinEntries *e);

/* ---- index entries of rows that have moved: st_compact_index.c ---- */

typedef struct StCompactIndexes
{
	int			n;
	Relation   *relations;
	IndexInfo **infos;
	EState	   *estate;
	TupleTableSlot *slot;
	Tuplesortstate **sorts;		/* of each btree */
	StGinEntries **gins;		/* of each GIN; entries of others are made at once */
	bool	   *needed;			/* columns, or NULL for all */
	bool		no_order;		/* one that others check has no order of TIDs */
} StCompactIndexes;

/* Of all indexes that take entries; slot is where the row is. */
extern void st_indexes_open(StCompactIndexes *ix, Relation rel);
extern void st_indexes_close(StCompactIndexes *ix);

/*
 * Entries for the row in the slot.  Some indexes have theirs only when _finish()
 * is called: once, after the last row.
 */
extern void st_index_row(StCompactIndexes *ix, Relation rel);
extern void st_index_finish(StCompactIndexes *ix, Relation rel);

/* Bytes of keys that wait for that in each GIN. */
extern Size st_index_collected(const StCompactIndexes *ix);

/* Entries for all rows of groups that were just written. */
extern void st_index_groups(StCompactIndexes *ix, Relation rel, const StGroup *groups,
							uint32 n);

/* ---- new row groups: st_compact_write.c ---- */

/* Marks StMoved.old as a row number, not a place in the delta. */
#define ST_OLD_IS_ROW	(UINT64CONST(1) << 63)

typedef struct StCompactSink
{
	Relation	rel;
	StCatalog  *catalog;
	const StFormat *format;
	uint64		incarnation;
	bool		copies;			/* old places are taken last */
	uint32		max_rows;
	BlockNumber before;			/* free extents before it are used */
	int			natts;

	/* the group under construction */
	StWriter   *writer;
	uint32		nrows;
	MemoryContext group_mcxt;

	/* rows on their way through a sort; NULL: they are written as they come */
	StOrder    *order;			/* of rel, or NULL */
	Tuplesortstate *sort;
	TupleTableSlot *put_slot;	/* rows into it */
	TupleTableSlot *sort_slot;	/* and out of it */
	uint64		order_hash;		/* of that sort, or 0 */

	StCompactIndexes indexes;

	/* where rows went, in the order of their new places */
	StMoved    *moved;
	uint64		nmoved;
	uint64		maxmoved;
	uint64		ndelta;			/* of the delta; they come first in the end */

	uint64		rows;			/* taken */
	int64		bytes_taken;	/* of tuples of the delta, and their toasted values */
	int64		bytes_saved;	/* in the end */
	bool		buried;			/* somebody changed rows while they were copied */
	uint32		groups;			/* written */
	uint32		maxwritten;
	StGroup    *written;
} StCompactSink;

extern void st_sink_begin(StCompactSink *sink, Relation rel, StCatalog *catalog,
						  uint64 incarnation);

/* Takes a row (values copied); old is its place before. */
extern void st_sink_add(StCompactSink *sink, Datum *values, bool *isnull,
						uint64 old);

/* Writes all rows; nothing leads to them yet. */
extern void st_sink_write(StCompactSink *sink);

/*
 * Makes index entries and origin maps.  groups are those whose rows were taken,
 * sorted by first_row.  After that sink->moved is sorted by the old places,
 * without ST_OLD_IS_ROW.
 */
extern void st_sink_link(StCompactSink *sink, const StGroupVersion *groups,
						 int ngroups);
extern void st_sink_end(StCompactSink *sink);

/* ---- the end of the old places: st_compact_take.c ---- */

/*
 * Deletes the descriptor of a group and leaves a note for VACUUM.  False:
 * somebody is at work there.
 */
extern bool st_take_group(StCatalog *catalog, const StGroupVersion *v);

/*
 * Waits for moments in which nobody holds one of the groups.  False: some
 * transaction holds one of them for long, and *held says which.
 */
extern bool st_groups_are_free(StCatalog *catalog, const StGroupVersion *groups,
							   int n, int *held);

/*
 * Takes groups whose rows have been copied; deleted[i] are those that had no
 * copy made.  False, having changed something: one of them cannot be had, and
 * *held says which.
 */
extern bool st_take_groups(StCompactSink *sink, const StGroupVersion *groups,
						   int n, uint64 *const *deleted, int *held);

/* Deletes the rows of the delta that have been copied. */
extern void st_take_delta(StCompactSink *sink);

/* ---- rows of the delta: st_compact_delta.c ---- */

/*
 * Counts rows of the delta that the job has still to look at, up to a limit.  If unheld,
 * without those that a running transaction has locked or changed.
 */
extern uint64 st_delta_count(Relation rel, const StExtentRanges *extents,
							 const StCompactJob *job, uint64 limit, bool unheld);

/* Pages of the delta that no step of the job has looked at, but those that came later. */
extern BlockNumber st_delta_pages(Relation rel, const StExtentRanges *extents,
								  const StCompactJob *job);

/* Pages of the delta between two blocks. */
extern BlockNumber st_delta_between(const StExtentRanges *extents, BlockNumber block,
									BlockNumber end);

/* The block before which so many pages of the delta lie, from a block on. */
extern BlockNumber st_delta_block(const StExtentRanges *extents, BlockNumber from,
								  BlockNumber pages);

/*
 * Moves rows of the delta into the sink until it has taken limit rows.
 * Returns the block from which to go on.
 */
extern BlockNumber st_delta_move(Relation rel, const StExtentRanges *extents,
								 const StCompactJob *job, uint64 limit,
								 StCompactSink *sink);

/* ---- what to do next: st_compact_plan.c ---- */

typedef struct StCompactPlan
{
	int			ngroups;
	StGroupVersion *groups;		/* to be rewritten, sorted by first_row */
	bool		delta;			/* take rows of the delta, too */
	uint64		max_rows;		/* rows to take, all in all */
	BlockNumber before;			/* free extents before it may be used */
	BlockNumber moved_from;		/* where a group is that only moves to the front */
} StCompactPlan;

extern bool st_compact_plan(Relation rel, StCatalog *catalog, StCompactJob *job,
							const StGroupVersions *versions,
							const StExtentRanges *extents, bool note,
							StCompactPlan *plan);

/* ---- the end of a large delta goes first: st_compact_end.c ---- */

/* When a job begins; its end_block is set. */
extern void st_end_begin(Relation rel, StCompactJob *job, const StExtentRanges *extents);

/*
 * The phase has nothing left to do.  False: that was the last one, or VACUUM comes before
 * the next.
 */
extern bool st_end_next(Relation rel, StCompactJob *job, const StExtentRanges *extents,
						const StGroupVersions *versions, const StFreeSpace *free);

/* Is there room for what is still to be moved from the end of the file? */
extern bool st_end_has_room(const StCompactJob *job, const StExtentRanges *extents,
							const StGroupVersions *versions, const StFreeSpace *free);

/* Goes on without: the last pages keep the rows that they have. */
extern void st_end_stop(Relation rel, StCompactJob *job);

/* What the next VACUUM is to do about empty pages. */
extern StWantedPages st_end_wants(const StCompactJob *job);

/* A group that may be taken. */
typedef struct StCandidate
{
	const StGroupVersion *version;
	uint64		live;			/* rows that are not deleted */
	bool		chosen;
} StCandidate;

/* ---- order of the whole table: st_compact_order.c ---- */

/*
 * Chooses groups to be sorted together, of up to max_rows rows (but two at
 * least).  Returns how many, 0 if the table is in order or has none.  note:
 * remember what was found out.
 */
extern int	st_compact_choose_order(Relation rel, StCatalog *catalog,
									StCandidate *c, int n, uint64 max_rows,
									bool note);

extern void st_compact_skip(StCompactJob *job, uint64 first_row);

/* ---- when to rest: st_pace.c ---- */

/* Not while others wait for what a step holds; until allowed again, or its end. */
extern void st_pace_allow(bool allow);

/* From now on this process, a worker, goes by what it uses of a processor. */
extern void st_pace_by_processor(void (*worker_nap) (long ms));

/* Rests for all that has not been rested for. */
extern void st_pace_settle(void);

/* Has somebody begun to write lately?  Seen while this process rests. */
extern bool st_pace_beside_writers(void);

/* What this process has used of a processor. */
extern long st_processor_ms(void);

/* ---- workers: st_compact_start.c ---- */

/* Do options and settings let workers compact the table? */
extern bool st_worker_may_serve(Relation rel);

/* Rests; ends the process if it is in somebody's way. */
extern void st_worker_nap(long ms);

/* Does another one wait for a place, and has this one had its own for a while? */
extern bool st_worker_should_leave(void);

/*
 * Gives the place up.  relid: of a table that a successor shall go on with, or
 * invalid.  The caller ends.
 */
extern void st_worker_make_way(Oid relid);

/* Serves the tables of the database, this one first: st_compact_worker.c */
extern void st_worker_serve(Oid relid);

#endif							/* ST_COMPACT_INT_H */
