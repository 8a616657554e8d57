/*-------------------------------------------------------------------------
 *
 * st_am_vacuum.c
 *	  VACUUM of a table: heap's for the delta, then what row groups need.
 *
 * Heap vacuums the pages of the delta, its indexes and relfrozenxid; it is
 * never allowed to truncate the file, because pages of extents look empty to
 * it; we do it ourselves (st_truncate.c).  What it writes into pg_class as the
 * number of rows mixes pages of two densities, so that is corrected: exact for
 * row groups, and for the delta from a sample of its pages.  What rows and
 * groups that nobody sees any more occupy is reclaimed in st_reclaim.c.
 *
 * Locks: ShareUpdateExclusiveLock on the table, as always for VACUUM.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/multixact.h"
#include "access/visibilitymap.h"
#include "commands/vacuum.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/sampling.h"
#include "utils/snapmgr.h"

#include "st_am.h"
#include "st_compact.h"
#include "st_options.h"
#include "st_space.h"

/* Pages of the delta to look at, at most, for the number of its rows. */
#define DELTA_SAMPLE_PAGES 1000

/* Live tuples on one page of the delta. */
static uint32
count_live_tuples(Relation rel, BlockNumber block, BufferAccessStrategy strategy)
{
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	Buffer		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block,
											RBM_NORMAL, strategy);
	uint32		live = st_page_tuples(rel, buffer, SnapshotSelf, false, offsets);

	ReleaseBuffer(buffer);
	return live;
}

/*
 * Estimates the rows of the delta: exactly if it is small, else from randomly
 * chosen pages.
 */
static double
estimate_delta_rows(Relation rel, const StGroupVersions *groups,
					BufferAccessStrategy strategy)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber extent_blocks = 0;
	BlockNumber delta_blocks;
	BlockNumber shift = 0;		/* extent pages before the current one */
	StExtentRanges extents;
	int			next = 0;
	BlockSamplerData sampler;
	BlockNumber sampled;
	double		live = 0;

	st_extent_ranges(&extents, groups);
	for (int i = 0; i < extents.n; i++)
		extent_blocks += extents.v[i].end - extents.v[i].start;
	if (extent_blocks >= nblocks)
		return 0;
	delta_blocks = nblocks - extent_blocks;

	sampled = BlockSampler_Init(&sampler, delta_blocks, DELTA_SAMPLE_PAGES,
								pg_prng_uint32(&pg_global_prng_state));
	while (BlockSampler_HasMore(&sampler))
	{
		BlockNumber block = BlockSampler_Next(&sampler) + shift;

		st_vacuum_delay_point(false);
		while (next < extents.n && extents.v[next].start <= block)
		{
			BlockNumber n = extents.v[next].end - extents.v[next].start;

			shift += n;
			block += n;
			next++;
		}
		live += count_live_tuples(rel, block, strategy);
	}
	return sampled > 0 ? live / sampled * delta_blocks : 0;
}

/* What VACUUM finds in a table. */
typedef struct RowCounts
{
	double		in_groups;		/* not deleted by any committed transaction */
	double		deleted;		/* of row groups, by such */
	double		due;			/* of those that so much was deleted from that they
								 * are to be rewritten */
	double		in_delta;
} RowCounts;

static void
count_group_rows(Relation rel, const StGroupVersions *groups,
				 TransactionId oldest_xmin, RowCounts *counts)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "deleted rows",
											   ALLOCSET_SMALL_SIZES);

	for (int i = 0; i < groups->n; i++)
	{
		const StGroupVersion *v = &groups->v[i];
		StRowDeaths *deaths;
		double		deleted = 0;

		st_vacuum_delay_point(false);
		if (v->state != HEAPTUPLE_LIVE &&
			v->state != HEAPTUPLE_DELETE_IN_PROGRESS)
			continue;
		deaths = st_row_deaths(rel, &v->group, oldest_xmin, mcxt);
		counts->in_groups += v->group.nrows;
		for (uint32 d = 0; d < deaths->n; d++)
		{
			if (deaths->d[d].state != HEAPTUPLE_DELETE_IN_PROGRESS)
				deleted++;
		}
		counts->deleted += deleted;
		if (deleted >= ST_DELETED_SHARE * v->group.nrows)
			counts->due += deleted;
		MemoryContextReset(mcxt);
	}
	counts->in_groups -= counts->deleted;
	MemoryContextDelete(mcxt);
}

/*
 * Writes the number of pages and rows into pg_class.  Nothing but those and
 * the visibility map's counts changes: the horizons are heap's affair.
 */
static void
update_statistics(Relation rel, const RowCounts *counts)
{
	double		rows = floor(counts->in_groups + counts->in_delta + 0.5);
	BlockNumber all_visible;
	BlockNumber all_frozen;

	visibilitymap_count(rel, &all_visible, &all_frozen);
	st_update_relstats(rel, RelationGetNumberOfBlocks(rel), rows, all_visible,
					   all_frozen);
	st_report_live_rows(rel, rows);
}

/* Starts a worker if autovacuum has found work for a compaction. */
static void
look_for_work(Relation rel, const RowCounts *counts)
{
	uint32		enough = Min(st_options_get(rel)->row_group_rows, ST_WORKER_ROWS);

	if (AmAutoVacuumWorkerProcess() &&
		(counts->in_delta + counts->due >= enough || st_toast_wastes(rel, NULL)))
		st_auto_compact_start(rel);
}

/* TableAmRoutine.relation_vacuum */
void
st_am_relation_vacuum(Relation rel, StVacuumParams *params,
					  BufferAccessStrategy strategy)
{
	VacuumParams heap_params = *params;
	MemoryContext mcxt;
	MemoryContext oldcxt;
	StGroupVersions *versions;
	RowCounts	counts = {0};
	TransactionId oldest_xmin;
	bool		reclaimed;
	BlockNumber settled;

	st_flush_pending(rel);
	heap_params.truncate = VACOPTVALUE_DISABLED;
	st_heapam()->relation_vacuum(rel, &heap_params, strategy);

	mcxt = AllocSetContextCreate(CurrentMemoryContext, "vacuum of row groups",
								 ALLOCSET_DEFAULT_SIZES);
	oldcxt = MemoryContextSwitchTo(mcxt);
	oldest_xmin = GetOldestNonRemovableTransactionId(rel);
	reclaimed = st_reclaim(rel, params, oldest_xmin, strategy, &settled);
	if (params->truncate != VACOPTVALUE_DISABLED)
		st_truncate(rel, (params->options & VACOPT_VERBOSE) != 0 ? INFO : DEBUG2);
	if (reclaimed)
		st_reclaim_coalesce(rel);
	if (params->index_cleanup != VACOPTVALUE_DISABLED)
		st_free_empty_pages(rel, settled,
							params->truncate != VACOPTVALUE_DISABLED,
							oldest_xmin, strategy);
	versions = st_group_versions(rel, oldest_xmin, mcxt);
	if (versions->n > 0 || AmAutoVacuumWorkerProcess())
	{
		count_group_rows(rel, versions, oldest_xmin, &counts);
		counts.in_delta = estimate_delta_rows(rel, versions, strategy);
	}
	if (versions->n > 0)
		update_statistics(rel, &counts);
	look_for_work(rel, &counts);
	/* last, for others wait for the end of the transaction from then on */
	if (params->index_cleanup != VACOPTVALUE_DISABLED)
		st_reclaim_anchors(rel, oldest_xmin);
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(mcxt);
}
