/*-------------------------------------------------------------------------
 *
 * rc_source.h
 *	  What a scan reads: row groups, batch by batch, and the delta.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_SOURCE_H
#define RC_SOURCE_H

#include "postgres.h"

#include "port/atomics.h"

#include "rc_batch.h"
#include "rc_quals.h"
#include "st_store.h"

/* Batches that a participant of a parallel scan takes at a time. */
#define RC_CHUNK_BATCHES 16

/* Counters for EXPLAIN. */
typedef struct RcScanStats
{
	uint64		groups_total;
	uint64		groups_pruned;
	uint64		groups_read;
	uint64		batches_pruned;
	uint64		batches_read;
	uint64		deleted_rows;
	uint64		delta_rows;
	uint64		bytes_decoded;
} RcScanStats;

/* A row group of a parallel scan. */
typedef struct RcSharedGroup
{
	StGroup		group;
	pg_atomic_uint32 next_chunk;	/* PG_UINT32_MAX / 2 and above: ruled out */
	pg_atomic_uint32 entered;	/* participants that have opened it */
} RcSharedGroup;

typedef struct RcSharedScan
{
	uint32		ngroups;
	uint32		ndelta;
	uint32		nworkers;
	Size		stats_offset;
	pg_atomic_uint32 next_group;
	pg_atomic_uint32 next_delta;
	RcSharedGroup groups[FLEXIBLE_ARRAY_MEMBER];
} RcSharedScan;

typedef enum RcSourceUnit
{
	RC_SOURCE_END,
	RC_SOURCE_BATCH,
	RC_SOURCE_DELTA
} RcSourceUnit;

typedef struct RcSource
{
	Relation	rel;
	Snapshot	snapshot;
	RcQuals    *quals;
	MemoryContext mcxt;			/* the scan */
	MemoryContext group_mcxt;	/* the row group at hand */
	bool		started;
	StGroupList *groups;
	StDeltaScan *delta;
	uint32		ndelta;

	/* row group at hand */
	int			group;			/* -1: none */
	StReader   *reader;
	bool		group_tested;	/* with the quals' present values */
	bool		group_passes;
	bool		deleted_known;
	StDeletions *deletions;		/* of all row groups, once asked for */
	uint64	   *deleted;
	uint32		next_batch;		/* of the chunk at hand */
	uint32		batch_end;

	/* batch at hand */
	RcBatch    *batch;
	uint64		first_row;		/* its first row number */
	uint32		nrows;
	RcSelection selection;		/* rows that are visible, and pass so far */

	/* what comes next, in a serial scan */
	int			next_group;
	uint32		next_delta;

	RcSharedScan *shared;		/* NULL: serial */
	uint32		steal_from;
	RcScanStats own_stats;
	RcScanStats *stats;
	uint64		bytes_counted;
	bool		pass_counted;
} RcSource;

extern RcSource *rc_source_create(Relation rel, Snapshot snapshot, RcQuals *quals);

/* The next batch with a row that may pass, or chunk of the delta. */
extern RcSourceUnit rc_source_next(RcSource *source);
extern bool rc_source_delta_row(RcSource *source, TupleTableSlot *slot);
extern void rc_source_rescan(RcSource *source);
extern void rc_source_end(RcSource *source);

/* Lists row groups and delta, once. */
extern void rc_source_start(RcSource *source);

/* Makes a row group the one at hand; false if zones rule it out. */
extern bool rc_source_enter(RcSource *source, uint32 group);

/* Brings the counters up to date. */
extern void rc_source_count(RcSource *source);
extern void rc_source_count_pass(RcSource *source);
extern void rc_stats_add(RcScanStats *sum, const RcScanStats *stats);

/* rc_source_shared.c */
extern Size rc_shared_size(RcSource *source, int nworkers);
extern void rc_shared_init(RcSource *source, RcSharedScan *shared, int nworkers);
extern void rc_shared_reset(RcSource *source, RcSharedScan *shared);
extern void rc_shared_attach(RcSource *source, RcSharedScan *shared, int worker);
extern void rc_shared_stats(RcSharedScan *shared, RcScanStats *sum);
extern RcSourceUnit rc_shared_take(RcSource *source);

#endif							/* RC_SOURCE_H */
