/*-------------------------------------------------------------------------
 *
 * vx_source.h
 *	  What a scan reads, in units: vectors of the row groups that a snapshot
 *	  sees, and chunks of the delta.  Serial, or shared by parallel workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_SOURCE_H
#define VX_SOURCE_H

#include "postgres.h"

#include "port/atomics.h"

#include "vx_batch.h"
#include "vx_bitmap.h"
#include "vx_filter.h"
#include "st_store.h"

/* Vectors that a parallel worker takes at a time. */
#define VX_CHUNK_VECTORS	16

/* What a scan did, for EXPLAIN. */
typedef struct VxScanStats
{
	uint64		groups_total;
	uint64		groups_pruned;
	uint64		groups_read;
	uint64		vectors_total;
	uint64		vectors_pruned; /* with those of pruned row groups */
	uint64		vectors_read;
	uint64		deleted_rows;	/* skipped: they have a tombstone */
	uint64		delta_rows;		/* visible ones, before quals */
	uint64		bytes_decoded;
	uint64		footer_groups;	/* aggregated without their vectors */
	uint64		join_removed;	/* rows: joins above would drop them */
	uint64		bitmap_rows;	/* rows of vectors that an index has found */
	/* all above are counters */
	VxQualSet	zone_quals;
	VxQualSet	vector_quals;
	VxQualSet	row_quals;
} VxScanStats;

extern void vx_stats_add(VxScanStats *sum, const VxScanStats *stats);

/* A row group in shared memory. */
typedef struct VxSharedGroup
{
	StGroup		group;
	pg_atomic_uint32 next_chunk;	/* first that is not taken yet */
	pg_atomic_uint32 entered;	/* participants that have */
	uint32		order;			/* the group that is taken at this position */
} VxSharedGroup;

/* What vx_source_next() has taken. */
typedef enum VxSourceUnit
{
	VX_SOURCE_END,
	VX_SOURCE_BATCH,
	VX_SOURCE_DELTA
} VxSourceUnit;

/*
 * State that the participants of a parallel scan share.  A participant takes
 * whole row groups in turn while there are any, one chunk of vectors at a
 * time, then chunks of the delta, then chunks of others' row groups.
 */
typedef struct VxSharedScan
{
	pg_atomic_uint32 next_group;
	pg_atomic_uint32 next_delta;
	pg_atomic_uint64 topn_rank; /* vx_ranks_share() */
	uint32		ndelta;			/* chunks */
	uint32		ngroups;
	uint32		nworkers;
	Size		stats_offset;	/* of VxScanStats, one per worker */
	VxSharedGroup groups[FLEXIBLE_ARRAY_MEMBER];
} VxSharedScan;

typedef struct VxSource
{
	Relation	rel;
	Snapshot	snapshot;
	VxFilter   *filter;
	VxBatch    *batch;
	MemoryContext mcxt;			/* whole scan */
	MemoryContext group_mcxt;	/* row group at hand: reader, deleted rows */

	StGroupList *groups;		/* all that the snapshot sees */
	VxSharedScan *shared;		/* NULL: serial */
	StDeltaScan *delta;
	uint32		ndelta;			/* chunks of the delta */

	/* of an index: only its rows are read; or NULL */
	VxBitmap   *bitmap;
	bool		bitmap_begun;	/* its blocks are handed out */
	uint32		bitmap_groups;	/* row groups, vectors of this pass that it has not */
	uint64		bitmap_vectors; /* come to */

	/* position */
	bool		started;
	bool		pass_counted;	/* totals of this pass over the table are in stats */
	uint32		next_group;		/* serial */
	uint32		next_delta;
	uint32	   *group_order;	/* best for ORDER BY first, or NULL */
	uint32	   *vector_order;	/* the same of the row group at hand */
	uint32		steal_from;		/* parallel: groups before are all taken */
	int			group;			/* index of the row group at hand, or -1 */
	uint64		nopened;		/* readers, chunks of the delta: tells them apart */
	StReader   *reader;			/* of it */
	uint64		bytes_counted;	/* of it, in stats */
	bool		group_tested;	/* its zones, with today's parameters */
	bool		group_passes;
	bool		deleted_known;
	uint64	   *deleted;		/* rows of it that are, or NULL */
	uint32		ndeleted;		/* how many */
	StDeletions *deletions;		/* of all row groups */
	uint32		vecno;			/* next vector of the chunk at hand */
	uint32		vec_end;

	VxScanStats *stats;			/* own_stats, or a worker's in shared memory */
	VxScanStats own_stats;
	VxScanStats counted_stats;	/* that the view stats has, or others have counted */
} VxSource;

/*
 * A source of the rows of rel that the snapshot sees.  Reads nothing yet.
 * Allocates in a context of its own below the current one.
 */
extern VxSource *vx_source_create(Relation rel, Snapshot snapshot,
								  VxFilter *filter, VxBatch *batch);

/*
 * Reads only the rows that the plan's bitmap has, and of its blocks of the
 * delta all rows.  Before the first unit is taken; serial scans only.
 */
extern void vx_source_set_bitmap(VxSource *source, PlanState *plan);

/*
 * Takes the next unit.  VX_SOURCE_BATCH: the batch stands on a vector that
 * passed the filter's zone tests, without its deleted rows.
 * VX_SOURCE_DELTA: rows come from vx_source_delta_page(), unfiltered, as of
 * st_delta_next_page(), until it returns 0.
 */
extern VxSourceUnit vx_source_next(VxSource *source);
extern int	vx_source_delta_page(VxSource *source, HeapTupleData *tuples, Buffer *buffer);

/*
 * Number of rows in the row groups that are not taken yet; takes them, and
 * opens none.  For serial scans without conditions.
 */
extern int64 vx_source_count_rows(VxSource *source);

/* Start over; parameters of the filter may have changed. */
extern void vx_source_rescan(VxSource *source);

/* Brings stats up to date. */
extern void vx_source_count(VxSource *source);

/* Closes what is open.  The source itself goes with its memory context. */
extern void vx_source_end(VxSource *source);

/*
 * Of a participant that has the first chunk of the row group at hand: gives
 * it all others, too.  False if somebody has one of them already.
 */
extern bool vx_shared_take_rest(VxSource *source);

/* Counters of all workers, summed up. */
extern void vx_shared_stats(VxSharedScan *shared, VxScanStats *sum);

/*
 * For the files of the source only.  Start finds the row groups if that is
 * not done yet.  Count_pass counts all of them, once per pass over the table
 * and in the leader only.  Enter makes a row group the one at hand, and is false if
 * its zones rule it out.  Order_groups puts row groups, and order_vectors the
 * vectors of the one at hand, in the order of the best keys for a scan under
 * ORDER BY ... LIMIT; they do nothing for others.  Take sets a chunk of vectors
 * or of the delta.
 */
extern void vx_source_start(VxSource *source);
extern void vx_source_count_pass(VxSource *source);
extern bool vx_source_enter(VxSource *source, uint32 group);
extern void vx_source_order_groups(VxSource *source);
extern void vx_source_order_vectors(VxSource *source);
extern VxSourceUnit vx_shared_take(VxSource *source);

#endif							/* VX_SOURCE_H */
