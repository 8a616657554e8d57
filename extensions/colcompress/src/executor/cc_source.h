/*-------------------------------------------------------------------------
 *
 * cc_source.h
 *	  What a scan reads, in units: vectors of the row groups that a snapshot
 *	  sees, and chunks of the delta.  Serial, or shared by parallel workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_SOURCE_H
#define CC_SOURCE_H

#include "postgres.h"

#include "port/atomics.h"

#include "cc_batch.h"
#include "cc_bitmap.h"
#include "cc_filter.h"
#include "st_store.h"

/* Vectors that a parallel worker takes at a time. */
#define CC_CHUNK_VECTORS	16

/* What a scan did, for EXPLAIN. */
typedef struct CcScanStats
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
	CcQualSet	zone_quals;
	CcQualSet	vector_quals;
	CcQualSet	row_quals;
} CcScanStats;

extern void cc_stats_add(CcScanStats *sum, const CcScanStats *stats);

/* A row group in shared memory. */
typedef struct CcSharedGroup
{
	StGroup		group;
	pg_atomic_uint32 next_chunk;	/* first that is not taken yet */
	pg_atomic_uint32 entered;	/* participants that have */
} CcSharedGroup;

/* What cc_source_next() has taken. */
typedef enum CcSourceUnit
{
	CC_SOURCE_END,
	CC_SOURCE_BATCH,
	CC_SOURCE_DELTA
} CcSourceUnit;

/*
 * State that the participants of a parallel scan share.  A participant takes
 * whole row groups in turn while there are any, one chunk of vectors at a
 * time, then chunks of the delta, then chunks of others' row groups.
 */
typedef struct CcSharedScan
{
	pg_atomic_uint32 next_group;
	pg_atomic_uint32 next_delta;
	uint32		ndelta;			/* chunks */
	uint32		ngroups;
	uint32		nworkers;
	Size		stats_offset;	/* of CcScanStats, one per worker */
	CcSharedGroup groups[FLEXIBLE_ARRAY_MEMBER];
} CcSharedScan;

typedef struct CcSource
{
	Relation	rel;
	Snapshot	snapshot;
	CcFilter   *filter;
	CcBatch    *batch;
	MemoryContext mcxt;			/* whole scan */
	MemoryContext group_mcxt;	/* row group at hand: reader, deleted rows */

	StGroupList *groups;		/* all that the snapshot sees */
	CcSharedScan *shared;		/* NULL: serial */
	StDeltaScan *delta;
	uint32		ndelta;			/* chunks of the delta */

	/* of an index: only its rows are read; or NULL */
	CcBitmap   *bitmap;
	bool		bitmap_begun;	/* its blocks are handed out */
	uint32		bitmap_groups;	/* row groups, vectors of this pass that it has not */
	uint64		bitmap_vectors; /* come to */

	/* position */
	bool		started;
	bool		pass_counted;	/* totals of this pass over the table are in stats */
	uint32		next_group;		/* serial */
	uint32		next_delta;
	uint32	   *group_order;	/* serial: best for ORDER BY first, or NULL */
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

	CcScanStats *stats;			/* own_stats, or a worker's in shared memory */
	CcScanStats own_stats;
} CcSource;

/*
 * A source of the rows of rel that the snapshot sees.  Reads nothing yet.
 * Allocates in a context of its own below the current one.
 */
extern CcSource *cc_source_create(Relation rel, Snapshot snapshot,
								  CcFilter *filter, CcBatch *batch);

/*
 * Reads only the rows that the plan's bitmap has, and of its blocks of the
 * delta all rows.  Before the first unit is taken; serial scans only.
 */
extern void cc_source_set_bitmap(CcSource *source, PlanState *plan);

/*
 * Takes the next unit.  CC_SOURCE_BATCH: the batch stands on a vector that
 * passed the filter's zone tests, without its deleted rows.
 * CC_SOURCE_DELTA: rows come from cc_source_delta_page(), unfiltered, as of
 * st_delta_next_page(), until it returns 0.
 */
extern CcSourceUnit cc_source_next(CcSource *source);
extern int	cc_source_delta_page(CcSource *source, HeapTupleData *tuples, Buffer *buffer);

/* Start over; parameters of the filter may have changed. */
extern void cc_source_rescan(CcSource *source);

/* Brings stats up to date. */
extern void cc_source_count(CcSource *source);

/* Closes what is open.  The source itself goes with its memory context. */
extern void cc_source_end(CcSource *source);

/*
 * Parallel scan: size and set-up of the shared state, in the leader, which
 * takes part in the scan.  cc_shared_reset() starts it over, while nobody
 * reads.
 */
extern Size cc_shared_size(CcSource *source, int nworkers);
extern void cc_shared_init(CcSource *source, CcSharedScan *shared, int nworkers);
extern void cc_shared_reset(CcSource *source, CcSharedScan *shared);

/* In a worker: its number tells where its counters are. */
extern void cc_shared_attach(CcSource *source, CcSharedScan *shared, int worker);

/*
 * Of a participant that has the first chunk of the row group at hand: gives
 * it all others, too.  False if somebody has one of them already.
 */
extern bool cc_shared_take_rest(CcSource *source);

/* Counters of all workers, summed up. */
extern void cc_shared_stats(CcSharedScan *shared, CcScanStats *sum);

/*
 * For the files of the source only.  Start finds the row groups if that is
 * not done yet.  Count_pass counts all of them, once per pass over the table
 * and in the leader only.  Enter makes a row group the one at hand, and is false if
 * its zones rule it out.  Take sets a chunk of vectors or of the delta.
 */
extern void cc_source_start(CcSource *source);
extern void cc_source_count_pass(CcSource *source);
extern bool cc_source_enter(CcSource *source, uint32 group);
extern CcSourceUnit cc_shared_take(CcSource *source);

#endif							/* CC_SOURCE_H */
