/*-------------------------------------------------------------------------
 *
 * vx_source.c
 *	  What a scan reads: row groups, vector by vector, and the delta.
 *
 * Owns the reader of the row group at hand and its bitmap of deleted rows.
 * Both stay over a rescan that comes back to the same row group.  At most
 * one row group is open at a time, so memory is bounded by one.
 *
 * Serial scans take row groups in the order of their row numbers, then the
 * delta; with an index's bitmap, its blocks of the delta come first.  How
 * parallel participants share the units: vx_scan_parallel.c.
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

#include "vx_settings.h"
#include "st_counters.h"
#include "vx_source.h"

VxSource *
vx_source_create(Relation rel, Snapshot snapshot, VxFilter *filter, VxBatch *batch)
{
	VxSource   *source = palloc0(sizeof(VxSource));

	source->rel = rel;
	source->snapshot = snapshot;
	source->filter = filter;
	source->batch = batch;
	source->mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector scan",
										 ALLOCSET_DEFAULT_SIZES);
	source->group_mcxt = AllocSetContextCreate(source->mcxt, "vector scan row group",
											   ALLOCSET_DEFAULT_SIZES);
	source->group = -1;
	source->stats = &source->own_stats;
	return source;
}

void
vx_source_set_bitmap(VxSource *source, PlanState *plan)
{
	source->bitmap = vx_bitmap_create(plan, source->mcxt);
}

void
vx_source_start(VxSource *source)
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

/* Of all row groups. */
static uint64
count_vectors(const VxSource *source)
{
	uint64		n = 0;

	for (int i = 0; i < source->groups->ngroups; i++)
		n += vx_format->group_vectors(&source->groups->groups[i]);
	return n;
}

void
vx_source_count_pass(VxSource *source)
{
	source->pass_counted = true;
	if (source->stats != &source->own_stats)
		return;
	source->stats->groups_total += source->groups->ngroups;
	if (vx_format->group_vectors)
		source->stats->vectors_total += count_vectors(source);
}

void
vx_source_count(VxSource *source)
{
	source->stats->zone_quals |= source->filter->zone_quals;
	source->stats->vector_quals |= source->filter->vector_quals;
	source->stats->row_quals |= source->filter->row_quals;
	if (source->reader)
	{
		uint64		bytes = vx_format->bytes_decoded(source->reader);

		source->stats->bytes_decoded += bytes - source->bytes_counted;
		source->bytes_counted = bytes;
	}
}

static void
close_group(VxSource *source)
{
	if (source->reader)
	{
		vx_source_count(source);
		vx_format->store->reader_close(source->reader);
	}
	source->reader = NULL;
	source->group = -1;
	source->deleted = NULL;
	source->deleted_known = false;
	source->vector_order = NULL;
	MemoryContextReset(source->group_mcxt);
}

bool
vx_source_enter(VxSource *source, uint32 group)
{
	const StGroup *g = &source->groups->groups[group];

	if (source->group != (int) group)
	{
		close_group(source);
		source->reader = vx_format->store->reader_open(source->rel, g, source->group_mcxt);
		source->bytes_counted = 0;
		source->group = group;
		source->group_tested = false;
	}
	if (!source->group_tested)
	{
		/* of a rescan, too: the delta may have been read since */
		source->nopened++;
		source->group_passes = vx_filter_group(source->filter, source->reader);
		source->group_tested = true;

		/* Several participants may enter a row group: the first one counts. */
		if (source->shared == NULL ||
			pg_atomic_fetch_add_u32(&source->shared->groups[group].entered, 1) == 0)
		{
			if (source->group_passes)
				source->stats->groups_read++;
			else
			{
				source->stats->groups_pruned++;
				source->stats->vectors_pruned += vx_format->vectors(source->reader);
			}
		}
	}
	return source->group_passes;
}

/* ---- ORDER BY ... LIMIT: units with the best keys first ---- */

typedef struct RankedUnit
{
	int64		rank;
	uint32		number;
} RankedUnit;

static int
compare_units(const void *a, const void *b)
{
	const RankedUnit *x = a;
	const RankedUnit *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Sorts the units; their numbers, in the current context. */
static uint32 *
numbers_in_order(RankedUnit *units, uint32 n)
{
	uint32	   *numbers = palloc(sizeof(uint32) * n);

	qsort(units, n, sizeof(RankedUnit), compare_units);
	for (uint32 i = 0; i < n; i++)
		numbers[i] = units[i].number;
	pfree(units);
	return numbers;
}

static bool
is_ordered(const VxSource *source)
{
	return source->filter->topn != NULL && vx_enable_pruning && source->bitmap == NULL;
}

/*
 * A rank for keys without zones that spreads the units: the last one first,
 * then one in the middle, then those amid what is left.  Keys often follow
 * the order of rows, up or down: unit after unit would then be better than
 * all before it, and every one would have rows to be handed out.  This way
 * that ends after the logarithm of their number.
 */
static int64
spread_rank(uint32 number, uint32 n)
{
	uint32		left = n - 1 - number;
	uint32		reversed = 0;

	for (int bit = 0; bit < 32; bit++, left >>= 1)
		reversed = reversed << 1 | (left & 1);
	return reversed;
}

static int64
group_rank(VxSource *source, uint32 group)
{
	StReader   *reader = vx_format->store->reader_open(source->rel,
													   &source->groups->groups[group],
													   source->group_mcxt);
	int64		rank = vx_topn_best(source->filter->topn, reader, -1);

	vx_format->store->reader_close(reader);
	return rank;
}

/*
 * Where no zone tells anything, the numbers decide; so many neighbours stay
 * together as one unit.
 */
static void
spread_unknown(RankedUnit *units, uint32 n, uint32 together)
{
	for (uint32 i = 0; i < n; i++)
	{
		if (units[i].rank != PG_INT64_MIN)
			return;
	}
	for (uint32 i = 0; i < n; i++)
		units[i].rank = spread_rank(i / together, (n + together - 1) / together);
}

void
vx_source_order_groups(VxSource *source)
{
	uint32		n = source->groups->ngroups;
	MemoryContext oldcontext;
	RankedUnit *units;
	bool		zones;

	if (!is_ordered(source) || source->group_order != NULL || n <= 1)
		return;
	zones = vx_topn_has_zones(source->filter->topn);
	oldcontext = MemoryContextSwitchTo(source->mcxt);
	units = palloc(sizeof(RankedUnit) * n);
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		units[i].number = i;
		units[i].rank = zones ? group_rank(source, i) : PG_INT64_MIN;
	}
	spread_unknown(units, n, 1);
	source->group_order = numbers_in_order(units, n);
	MemoryContextSwitchTo(oldcontext);
}

/* Zones or numbers alone decide: all participants of a parallel scan find the same order. */
void
vx_source_order_vectors(VxSource *source)
{
	uint32		n = vx_format->vectors(source->reader);
	MemoryContext oldcontext;
	RankedUnit *units;

	if (!is_ordered(source) || source->vector_order != NULL)
		return;
	oldcontext = MemoryContextSwitchTo(source->group_mcxt);
	units = palloc(sizeof(RankedUnit) * n);
	for (uint32 i = 0; i < n; i++)
	{
		units[i].number = i;
		units[i].rank = vx_topn_best(source->filter->topn, source->reader, i);
	}
	/* vectors share blocks, which are best decompressed once */
	spread_unknown(units, n, VX_CHUNK_VECTORS);
	source->vector_order = numbers_in_order(units, n);
	MemoryContextSwitchTo(oldcontext);
}

/* ---- rows that an index has found ---- */

static void
begin_bitmap(VxSource *source)
{
	vx_bitmap_run(source->bitmap);
	source->bitmap_begun = true;
	source->bitmap_groups = source->groups->ngroups;
	source->bitmap_vectors = vx_format->group_vectors ? count_vectors(source) : 0;
}

/* Is the row group left? */
static bool
enter_bitmap_group(VxSource *source, uint32 group)
{
	if (source->group != (int) group || !source->group_tested)
		source->bitmap_groups--;
	if (vx_source_enter(source, group))
		return true;
	if (vx_format->group_vectors)
		source->bitmap_vectors -= vx_format->vectors(source->reader);
	vx_bitmap_skip_group(source->bitmap, &source->groups->groups[group]);
	return false;
}

static VxSourceUnit
take_bitmap(VxSource *source)
{
	uint32		group;

	if (!source->bitmap_begun)
	{
		begin_bitmap(source);
		return VX_SOURCE_DELTA;
	}
	while (vx_bitmap_next_group(source->bitmap, source->groups, &group))
	{
		CHECK_FOR_INTERRUPTS();
		if (enter_bitmap_group(source, group))
		{
			source->vecno = vx_bitmap_take_vector(source->bitmap, source->reader,
												  &source->groups->groups[group]);
			source->vec_end = source->vecno + 1;
			if (vx_format->group_vectors)
				source->bitmap_vectors--;
			return VX_SOURCE_BATCH;
		}
	}
	source->stats->groups_pruned += source->bitmap_groups;
	source->stats->vectors_pruned += source->bitmap_vectors;
	source->bitmap_groups = 0;
	source->bitmap_vectors = 0;
	return VX_SOURCE_END;
}

static VxSourceUnit
take_serial(VxSource *source)
{
	if (source->bitmap)
		return take_bitmap(source);
	vx_source_order_groups(source);
	while (source->next_group < source->groups->ngroups)
	{
		uint32		group = source->next_group++;

		CHECK_FOR_INTERRUPTS();
		if (source->group_order)
			group = source->group_order[group];
		if (vx_source_enter(source, group))
		{
			vx_source_order_vectors(source);
			source->vecno = 0;
			source->vec_end = vx_format->vectors(source->reader);
			return VX_SOURCE_BATCH;
		}
	}
	if (source->next_delta < source->ndelta)
	{
		st_delta_set_chunk(source->delta, source->next_delta++);
		return VX_SOURCE_DELTA;
	}
	return VX_SOURCE_END;
}

static void
find_deleted(VxSource *source, const StGroup *group)
{
	/* zones leave out nobody knows how many row groups, workers take some */
	bool		all = source->filter->nquals == 0 && source->filter->topn == NULL &&
		source->shared == NULL;

	if (source->deletions == NULL)
		source->deletions = st_deletions_create(source->rel, source->snapshot,
												all ? source->groups->ngroups : 0,
												source->mcxt);
	source->deleted = st_deletions_of(source->deletions, group, source->group_mcxt,
									  &source->ndeleted);
	source->deleted_known = true;
}

/* The batch on the next vector of the chunk; false if it is ruled out. */
static bool
next_vector(VxSource *source)
{
	const StGroup *group = &source->groups->groups[source->group];
	uint32		vecno = source->vecno++;
	int			nselected;

	if (source->vector_order)
		vecno = source->vector_order[vecno];
	if (!vx_filter_vector(source->filter, source->reader, vecno))
	{
		source->stats->vectors_pruned++;
		return false;
	}
	source->stats->vectors_read++;
	vx_batch_set(source->batch, source->reader, group, vecno);
	if (source->bitmap)
		source->stats->bitmap_rows += vx_bitmap_select(source->bitmap,
													   source->batch->selection,
													   source->batch->nrows);

	if (!source->deleted_known)
		find_deleted(source, group);
	if (source->deleted)
		source->stats->deleted_rows += vx_batch_remove_deleted(source->batch, source->deleted);

	/* Counts as rows that the scan returned, as index tuples are counted. */
	nselected = vx_selection_count(source->batch->selection, source->batch->nrows);
	pgstat_count_index_tuples(source->rel, nselected);
	return nselected > 0;
}

/*
 * For the view stats, of the vectors that EXPLAIN counts as pruned and read: now and
 * then, so that a scan that is cancelled counts, too.
 */
static void
count_for_table(VxSource *source)
{
	const VxScanStats *now = source->stats;
	VxScanStats *before = &source->counted_stats;

	st_count(source->rel, ST_COUNT_GROUPS_READ, now->groups_read - before->groups_read);
	st_count(source->rel, ST_COUNT_GROUPS_PRUNED, now->groups_pruned - before->groups_pruned);
	st_count(source->rel, ST_COUNT_VECTORS_READ, now->vectors_read - before->vectors_read);
	st_count(source->rel, ST_COUNT_VECTORS_PRUNED, now->vectors_pruned - before->vectors_pruned);
	st_count(source->rel, ST_COUNT_DELTA_ROWS, now->delta_rows - before->delta_rows);
	*before = *now;
}

VxSourceUnit
vx_source_next(VxSource *source)
{
	vx_source_start(source);
	if (!source->pass_counted)
		vx_source_count_pass(source);
	for (;;)
	{
		VxSourceUnit unit;

		while (source->vecno < source->vec_end)
		{
			CHECK_FOR_INTERRUPTS();
			if (next_vector(source))
				return VX_SOURCE_BATCH;
		}
		count_for_table(source);
		unit = source->shared ? vx_shared_take(source) : take_serial(source);
		if (unit == VX_SOURCE_END)
			vx_source_count(source);
		/* what was remembered of a row group's codes is not for these rows */
		if (unit == VX_SOURCE_DELTA)
			source->nopened++;
		if (unit != VX_SOURCE_BATCH)
			return unit;
	}
}

int64
vx_source_count_rows(VxSource *source)
{
	int64		nrows = 0;

	Assert(source->shared == NULL && source->bitmap == NULL);
	vx_source_start(source);
	if (!source->pass_counted)
		vx_source_count_pass(source);
	close_group(source);
	for (; source->next_group < source->groups->ngroups; source->next_group++)
	{
		const StGroup *group = &source->groups->groups[source->next_group];

		CHECK_FOR_INTERRUPTS();
		find_deleted(source, group);
		nrows += group->nrows - source->ndeleted;
		source->stats->deleted_rows += source->ndeleted;
		source->stats->groups_read++;
		source->stats->footer_groups++;
		close_group(source);
	}
	pgstat_count_index_tuples(source->rel, nrows);
	return nrows;
}

int
vx_source_delta_page(VxSource *source, HeapTupleData *tuples, Buffer *buffer)
{
	int			n = 0;
	BlockNumber block;

	if (source->bitmap == NULL)
		n = st_delta_next_page(source->delta, tuples, buffer);
	while (source->bitmap && n == 0 && vx_bitmap_next_block(source->bitmap, &block))
		if (st_delta_set_block(source->delta, block))
			n = st_delta_next_page(source->delta, tuples, buffer);
	source->stats->delta_rows += n;
	return n;
}

void
vx_source_rescan(VxSource *source)
{
	source->next_group = 0;
	source->next_delta = 0;
	source->steal_from = 0;
	source->vecno = source->vec_end = 0;
	source->group_tested = false;
	if (source->reader && vx_format->rescan)
		vx_format->rescan(source->reader);
	if (source->bitmap)
		vx_bitmap_forget(source->bitmap);
	source->bitmap_begun = false;
	/* A parallel scan is counted when its shared state is set up again. */
	if (source->shared == NULL)
		source->pass_counted = false;
}

void
vx_source_end(VxSource *source)
{
	if (source->started)
		count_for_table(source);
	close_group(source);
	if (source->bitmap)
		vx_bitmap_forget(source->bitmap);
	if (source->delta)
		st_delta_end(source->delta);
	source->delta = NULL;
	source->started = false;
}

void
vx_stats_add(VxScanStats *sum, const VxScanStats *stats)
{
	for (int i = 0; i < offsetof(VxScanStats, zone_quals) / sizeof(uint64); i++)
		((uint64 *) sum)[i] += ((const uint64 *) stats)[i];
	sum->zone_quals |= stats->zone_quals;
	sum->vector_quals |= stats->vector_quals;
	sum->row_quals |= stats->row_quals;
}
