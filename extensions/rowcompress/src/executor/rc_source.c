/*-------------------------------------------------------------------------
 *
 * rc_source.c
 *	  What a scan reads: row groups, batch by batch, and the delta.
 *
 * Owns the reader of the row group at hand, its bitmap of deleted rows, and
 * the batch at hand.  Reader and bitmap stay over a rescan that comes back to
 * the same row group.  At most one row group and one batch are open at a
 * time, so memory is bounded by them.
 *
 * Serial scans take row groups in the order of their row numbers, then the
 * delta.  How parallel participants share the units: rc_source_shared.c.
 *
 * Locks: the caller holds the relation's lock and keeps the snapshot
 * registered or active.  Under SERIALIZABLE the whole relation is locked for
 * predicates before anything is read, as a sequential scan does.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "rc_source.h"
#include "st_bitmap.h"

RcSource *
rc_source_create(Relation rel, Snapshot snapshot, RcQuals *quals)
{
	RcSource   *source = palloc0(sizeof(RcSource));

	source->rel = rel;
	source->snapshot = snapshot;
	source->quals = quals;
	source->mcxt = AllocSetContextCreate(CurrentMemoryContext, "rowcompress scan",
										 ALLOCSET_DEFAULT_SIZES);
	source->group_mcxt = AllocSetContextCreate(source->mcxt, "rowcompress row group",
											   ALLOCSET_DEFAULT_SIZES);
	source->group = -1;
	source->stats = &source->own_stats;
	return source;
}

void
rc_source_start(RcSource *source)
{
	MemoryContext oldcontext;

	if (source->started)
		return;
	source->started = true;

	oldcontext = MemoryContextSwitchTo(source->mcxt);
	PredicateLockRelation(source->rel, source->snapshot);
	if (source->groups == NULL)
		source->groups = st_visible_groups(source->rel, source->snapshot, source->mcxt);
	source->delta = st_delta_begin(source->rel, source->snapshot, source->groups);
	source->ndelta = st_delta_nchunks(source->delta);
	MemoryContextSwitchTo(oldcontext);
}

void
rc_source_count_pass(RcSource *source)
{
	source->pass_counted = true;
	if (source->stats == &source->own_stats)
		source->stats->groups_total += source->groups->ngroups;
}

void
rc_source_count(RcSource *source)
{
	if (source->reader)
	{
		uint64		bytes = rc_reader_bytes_decoded(source->reader);

		source->stats->bytes_decoded += bytes - source->bytes_counted;
		source->bytes_counted = bytes;
	}
}

static void
close_batch(RcSource *source)
{
	if (source->batch)
		rc_batch_free(source->batch);
	source->batch = NULL;
}

static void
close_group(RcSource *source)
{
	close_batch(source);
	if (source->reader)
	{
		rc_source_count(source);
		rc_reader_close(source->reader);
	}
	source->reader = NULL;
	source->group = -1;
	source->deleted = NULL;
	source->deleted_known = false;
	MemoryContextReset(source->group_mcxt);
}

/* Several participants may enter a row group: the first one counts. */
static void
count_group(RcSource *source)
{
	if (source->shared != NULL &&
		pg_atomic_fetch_add_u32(&source->shared->groups[source->group].entered, 1) > 0)
		return;
	if (source->group_passes)
		source->stats->groups_read++;
	else
	{
		source->stats->groups_pruned++;
		source->stats->batches_pruned += rc_reader_nbatches(source->reader);
	}
}

bool
rc_source_enter(RcSource *source, uint32 group)
{
	if (source->group != (int) group)
	{
		close_group(source);
		source->reader = rc_reader_open(source->rel, &source->groups->groups[group],
										source->group_mcxt);
		source->bytes_counted = 0;
		source->group = group;
		source->group_tested = false;
	}
	if (!source->group_tested)
	{
		source->group_passes = rc_quals_group(source->quals, source->reader);
		source->group_tested = true;
		count_group(source);
	}
	return source->group_passes;
}

static RcSourceUnit
take_serial(RcSource *source)
{
	while (source->next_group < source->groups->ngroups)
	{
		uint32		group = source->next_group++;

		CHECK_FOR_INTERRUPTS();
		if (rc_source_enter(source, group))
		{
			source->next_batch = 0;
			source->batch_end = rc_reader_nbatches(source->reader);
			return RC_SOURCE_BATCH;
		}
	}
	if (source->next_delta < source->ndelta)
	{
		st_delta_set_chunk(source->delta, source->next_delta++);
		return RC_SOURCE_DELTA;
	}
	return RC_SOURCE_END;
}

/* Takes deleted rows out of the selection. */
static void
remove_deleted(RcSource *source, uint32 start)
{
	int			shift = start & 63;
	uint32		nwords = (source->nrows + 63) / 64;
	const uint64 *from = source->deleted + (start >> 6);
	uint32		have = (shift + source->nrows + 63) / 64;
	int			before = st_bitmap_popcount((uint64_t *) source->selection, source->nrows);

	for (uint32 i = 0; i < nwords; i++)
	{
		uint64		gone = from[i] >> shift;

		if (shift > 0 && i + 1 < have)
			gone |= from[i + 1] << (64 - shift);
		source->selection[i] &= ~gone;
	}
	source->stats->deleted_rows += before -
		st_bitmap_popcount((uint64_t *) source->selection, source->nrows);
}

/* Makes the next batch of the chunk the one at hand; false if it is ruled out. */
static bool
next_batch(RcSource *source)
{
	const StGroup *group = &source->groups->groups[source->group];
	uint32		batchno = source->next_batch++;
	uint32		start = rc_reader_batch_start(source->reader, batchno);
	int			nselected;

	close_batch(source);
	if (!rc_quals_batch(source->quals, source->reader, batchno))
	{
		source->stats->batches_pruned++;
		return false;
	}
	source->stats->batches_read++;
	source->nrows = rc_reader_batch_start(source->reader, batchno + 1) - start;
	source->first_row = group->first_row + start;
	st_bitmap_fill((uint64_t *) source->selection, source->nrows);

	if (!source->deleted_known)
	{
		uint32		ndeleted;

		/* quals and workers leave out nobody knows how many */
		if (source->deletions == NULL)
			source->deletions = st_deletions_create(source->rel, source->snapshot, 0,
													source->mcxt);
		source->deleted = st_deletions_of(source->deletions, group, source->group_mcxt,
										  &ndeleted);
		source->deleted_known = true;
	}
	if (source->deleted)
		remove_deleted(source, start);

	/* Counts as rows that the scan returned, as index tuples are counted. */
	nselected = st_bitmap_popcount((uint64_t *) source->selection, source->nrows);
	pgstat_count_index_tuples(source->rel, nselected);
	if (nselected == 0)
		return false;
	source->batch = rc_batch_load(source->reader, batchno, true);
	return true;
}

RcSourceUnit
rc_source_next(RcSource *source)
{
	rc_source_start(source);
	if (!source->pass_counted)
		rc_source_count_pass(source);
	for (;;)
	{
		RcSourceUnit unit;

		while (source->next_batch < source->batch_end)
		{
			CHECK_FOR_INTERRUPTS();
			if (next_batch(source))
				return RC_SOURCE_BATCH;
		}
		unit = source->shared ? rc_shared_take(source) : take_serial(source);
		if (unit == RC_SOURCE_END)
			rc_source_count(source);
		if (unit != RC_SOURCE_BATCH)
			return unit;
	}
}

bool
rc_source_delta_row(RcSource *source, TupleTableSlot *slot)
{
	if (!st_delta_next(source->delta, slot))
		return false;
	source->stats->delta_rows++;
	return true;
}

void
rc_source_rescan(RcSource *source)
{
	close_batch(source);
	source->next_group = 0;
	source->next_delta = 0;
	source->steal_from = 0;
	source->next_batch = source->batch_end = 0;
	source->group_tested = false;
	/* A parallel scan is counted when its shared state is set up again. */
	if (source->shared == NULL)
		source->pass_counted = false;
}

void
rc_source_end(RcSource *source)
{
	close_group(source);
	if (source->delta)
		st_delta_end(source->delta);
	source->delta = NULL;
	source->started = false;
}

void
rc_stats_add(RcScanStats *sum, const RcScanStats *stats)
{
	sum->groups_total += stats->groups_total;
	sum->groups_pruned += stats->groups_pruned;
	sum->groups_read += stats->groups_read;
	sum->batches_pruned += stats->batches_pruned;
	sum->batches_read += stats->batches_read;
	sum->deleted_rows += stats->deleted_rows;
	sum->delta_rows += stats->delta_rows;
	sum->bytes_decoded += stats->bytes_decoded;
}
