/*-------------------------------------------------------------------------
 *
 * st_compact.c
 *	  Online compaction (I5): one step, in one transaction.
 *
 * A step takes rows away from the delta and from row groups and writes them
 * into new row groups.  All it does are changes of tuples: heap tuples and
 * descriptors are deleted, new descriptors and index entries inserted.  So
 * older snapshots see the rows where they were, newer ones where they are,
 * nobody sees one twice or not at all, and an abort or a crash at any point
 * undoes all of it.
 *
 * Writers: a descriptor is deleted without waiting, which fails if any
 * running transaction has locked it, as every transaction does that changes
 * or locks a row of the group (st_lock.c).  After that no tombstone or anchor
 * of the group can be made or be in progress.  Who comes later waits for this
 * transaction and then looks into the origin map (st_origin.c).  So that he
 * waits for milliseconds, it is done last, when the rows have been copied
 * (st_compact_take.c).  Compaction itself waits for no transaction, but for
 * moments in which nobody holds what it wants.
 *
 * The transaction is serializable: a serializable reader of the old version
 * thus has an rw-conflict with the compaction, and through that with whoever
 * changes the new version.
 *
 * The old extent, tombstones and index entries stay for older snapshots; an
 * entry for the retired group tells VACUUM (st_reclaim.c).  If no snapshot is
 * older any more when the next step begins, the extent is entered into the
 * directory of free ones then, so that one call does not need free space for
 * all that it rewrites (st_retired_release()).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "st_compact_int.h"
#include "st_counters.h"
#include "st_progress.h"

/*
 * A VACUUM is worth it for so many pages that make up such a share of the
 * file.
 */
#define MIN_WASTED_PAGES	64
#define WASTED_SHARE		0.03

/* Moves or copies the rows of a group that are not among those deleted. */
static void
move_group(const StGroup *group, const uint64 *deleted, StCompactSink *sink)
{
	const StFormat *format = sink->format;
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "row group to be compacted",
											   ALLOCSET_DEFAULT_SIZES);
	StReader   *reader = format->reader_open(sink->rel, group, mcxt);
	Datum	   *values = palloc(Max(sink->natts, 1) * sizeof(Datum));
	bool	   *isnull = palloc(Max(sink->natts, 1) * sizeof(bool));
	uint64		moved = 0;

	for (uint32 row = 0; row < group->nrows; row++)
	{
		CHECK_FOR_INTERRUPTS();
		st_pace_rest();
		if (deleted != NULL &&
			(deleted[row >> 6] & (UINT64CONST(1) << (row & 63))) != 0)
			continue;
		memset(isnull, true, sink->natts * sizeof(bool));
		format->reader_row(reader, row, NULL, values, isnull);
		st_sink_add(sink, values, isnull,
					(group->first_row + row) | ST_OLD_IS_ROW);
		moved++;
	}
	pgstat_count_heap_insert(sink->rel, -(int64) moved);
	format->reader_close(reader);
	MemoryContextDelete(mcxt);
	pfree(values);
	pfree(isnull);
}

static void
report(const StCompactJob *job)
{
	const int	params[] = {
		ST_PROGRESS_STEPS, ST_PROGRESS_DELTA_ROWS, ST_PROGRESS_GROUP_ROWS,
		ST_PROGRESS_GROUPS_READ, ST_PROGRESS_GROUPS_WRITTEN,
		ST_PROGRESS_TAKEN, ST_PROGRESS_WRITTEN
	};
	const int64 values[] = {
		job->steps, job->delta_rows, job->group_rows,
		job->groups_in, job->groups_out, 0, 0
	};

	st_progress_set_many(lengthof(params), params, values);
}

/* Between phases of the delta groups are rewritten. */
static void
report_phase(Relation rel, StCompactJob *job, const StCompactPlan *plan,
			 const StExtentRanges *extents)
{
	int64		left;

	if (!plan->delta)
	{
		st_progress_phase(ST_PHASE_GROUPS, -1, -1);
		return;
	}
	left = (int64) st_delta_pages(rel, extents, job) * BLCKSZ;
	if (st_progress_phase(ST_PHASE_DELTA, -1, left))
		job->delta_bytes = left;
	job->delta_left = left;
	st_progress_set(ST_PROGRESS_BYTES, Max(job->delta_bytes - left, 0));
}

/*
 * Makes index entries of what was written, and takes the old places if that has
 * not been done.  False: groups[*held] is held.
 */
static bool
link_and_take(StCompactSink *sink, const StGroupVersion *groups, int ngroups,
			  uint64 *const *deleted, int *held)
{
	if (sink->copies && !st_groups_are_free(sink->catalog, groups, ngroups, held))
		return false;
	st_sink_link(sink, groups, ngroups);
	if (!sink->copies)
		return true;
	/* first what takes longer, and waits for nobody */
	st_take_delta(sink);
	return st_take_groups(sink, groups, ngroups, deleted, held);
}

static BlockNumber
blocks_written(const StCompactSink *sink)
{
	BlockNumber blocks = 0;

	for (uint32 i = 0; i < sink->groups; i++)
		blocks += sink->written[i].nblocks;
	return blocks;
}

/* Tuples of the delta and pages of groups that are gone, less the new pages. */
static int64
bytes_saved(const StCompactSink *sink, const StGroupVersion *groups, int ngroups)
{
	int64		saved = sink->bytes_taken;

	for (int i = 0; i < ngroups; i++)
		saved += (int64) groups[i].group.nblocks * BLCKSZ;
	return saved - (int64) blocks_written(sink) * BLCKSZ;
}

/* For the view stats, when nothing but the transaction can undo it. */
static void
count_step(const StCompactSink *sink)
{
	st_count_change(sink->rel, ST_COUNT_COMPACTIONS, 1);
	st_count_change(sink->rel, ST_COUNT_COMPACTED_ROWS, sink->rows);
	st_count_change(sink->rel, ST_COUNT_BYTES_SAVED, sink->bytes_saved);
}

/*
 * Moves the rows of the plan.  False: the change must be undone, because a
 * group is held, which is to be skipped then.
 */
static bool
move_rows(StCatalog *catalog, StCompactJob *job, StCompactPlan *plan,
		  const StExtentRanges *extents, StCompactSink *sink)
{
	uint64	  **deleted = palloc(Max(plan->ngroups, 1) * sizeof(uint64 *));
	BlockNumber next_block = job->next_block;
	uint64		group_rows;
	int			ngroups = 0;
	int			held;

	for (int i = 0; i < plan->ngroups; i++)
	{
		const StGroupVersion *v = &plan->groups[i];

		if (sink->copies ? !st_groups_are_free(catalog, v, 1, &held) :
			!st_take_group(catalog, v))
		{
			st_compact_skip(job, v->group.first_row);
			continue;
		}
		deleted[ngroups] = st_deleted_rows_in(catalog, &v->group, SnapshotSelf,
											  CurrentMemoryContext, NULL, NULL);
		move_group(&v->group, deleted[ngroups], sink);
		plan->groups[ngroups++] = *v;
	}
	group_rows = sink->rows;
	if (plan->delta)
		next_block = st_delta_move(sink->rel, extents, job, plan->max_rows, sink);
	st_sink_write(sink);
	if (!link_and_take(sink, plan->groups, ngroups, deleted, &held))
	{
		st_compact_skip(job, plan->groups[held].group.first_row);
		return false;
	}

	sink->bytes_saved = bytes_saved(sink, plan->groups, ngroups);
	job->next_block = next_block;
	job->reached = Max(job->reached, next_block);
	job->disturbed |= sink->buried;
	job->group_rows += group_rows;
	job->delta_rows += sink->rows - group_rows;
	job->groups_in += ngroups;
	job->groups_out += sink->groups;
	if (job->end_phase == ST_END_HEAD)
		job->head_written += blocks_written(sink);
	job->released = ngroups == 0 && job->released;
	if (sink->rows > group_rows || (ngroups > 0 && ngroups == plan->ngroups))
		job->progress++;
	return true;
}

/* Ends the subtransaction of a step. */
static void
end_copying(bool keep, MemoryContext mcxt, ResourceOwner owner)
{
	if (keep)
		ReleaseCurrentSubTransaction();
	else
	{
		RollbackAndReleaseCurrentSubTransaction();
		st_progress_set(ST_PROGRESS_TAKEN, 0);
	}
	MemoryContextSwitchTo(mcxt);
	CurrentResourceOwner = owner;
}

/* In a subtransaction: what was copied in vain is undone with it. */
static void
run_plan(Relation rel, StCatalog *catalog, StCompactJob *job,
		 StCompactPlan *plan, const StExtentRanges *extents)
{
	MemoryContext mcxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	StCompactSink sink;
	StMeta		meta;
	bool		done;

	report_phase(rel, job, plan, extents);
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(mcxt);
	PG_TRY();
	{
		st_meta_read(rel, &meta);
		st_sink_begin(&sink, rel, catalog, meta.incarnation);
		sink.before = plan->before;
		job->moved_from = plan->moved_from;
		done = move_rows(catalog, job, plan, extents, &sink);
		st_sink_end(&sink);
		end_copying(done, mcxt, owner);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(mcxt);
		error = CopyErrorData();
		FlushErrorState();
		end_copying(false, mcxt, owner);
		ReThrowError(error);
	}
	PG_END_TRY();
	if (done)
		count_step(&sink);
	job->steps++;
	report(job);
}

/* Plans the next step; false if there is nothing to do. */
static bool
plan_step(Relation rel, StCatalog *catalog, StCompactJob *job, bool note,
		  StCompactPlan *plan, StExtentRanges *extents)
{
	TransactionId oldest_xmin = RecentXmin;
	StGroupVersions *versions = st_group_versions(rel, oldest_xmin,
												  CurrentMemoryContext);

	st_extent_ranges(extents, versions);
	st_extent_ranges_add_free(extents, catalog, SnapshotSelf);
	return st_compact_plan(rel, catalog, job, versions, extents, note, plan);
}

static bool
with_catalog(Relation rel, StCompactJob *job, LOCKMODE lockmode, bool run)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "compaction",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(mcxt);
	StCatalog	catalog;
	StExtentRanges extents;
	StCompactPlan plan;
	bool		found = false;

	st_flush_pending(rel);
	if (!st_meta_leaving(rel) && st_catalog_open(&catalog, rel, lockmode))
	{
		bool		released = false;

		if (run && !job->released)
		{
			/* in a transaction of its own: extents are free after that */
			job->released = true;
			released = st_retired_release(&catalog);
		}
		found = released ||
			plan_step(rel, &catalog, job, run, &plan, &extents);
		if (found && run && !released)
			run_plan(rel, &catalog, job, &plan, &extents);
		if (!found && run && job->tidy)
			st_empty_pages_wanted(&catalog, MaxBlockNumber, ST_WANT_SHORT_FILE);
		st_catalog_close(&catalog);
	}
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(mcxt);
	return found;
}

bool
st_compact_step(Relation rel, StCompactJob *job)
{
	Assert(CheckRelationLockedByMe(rel, ShareUpdateExclusiveLock, true));
	return with_catalog(rel, job, RowExclusiveLock, true);
}

bool
st_compact_needed(Relation rel, StCompactJob *job)
{
	return with_catalog(rel, job, AccessShareLock, false);
}

/* Is there a note about a row group that a step has replaced? */
static bool
has_retired(Relation rel)
{
	StCatalog	catalog;
	StCatalogScan scan;
	bool		found;

	if (!st_catalog_open(&catalog, rel, AccessShareLock))
		return false;
	st_catalog_scan_begin(&scan, &catalog, ST_RETIRED, 0, ST_MAX_ROW_NUMBER,
						  SnapshotSelf);
	found = st_catalog_scan_next(&scan, ForwardScanDirection) != NULL;
	st_catalog_scan_end(&scan);
	st_catalog_close(&catalog);
	return found;
}

bool
st_compact_waits(Relation rel, StCompactJob *job)
{
	return st_meta_has_row_groups(rel, NULL) && has_retired(rel);
}

bool
st_compact_fold_due(Relation rel, StCompactJob *job)
{
	return st_meta_has_row_groups(rel, NULL) && st_fold_due(rel);
}

bool
st_compact_wastes(Relation rel, StCompactJob *job)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "compaction",
											   ALLOCSET_DEFAULT_SIZES);
	StGroupVersions *versions;
	Oid			toastrelid = rel->rd_rel->reltoastrelid;
	uint64		pages = RelationGetNumberOfBlocks(rel);
	uint64		wasted = pages;

	st_flush_pending(rel);
	versions = st_group_versions(rel, RecentXmin, mcxt);
	for (int i = 0; i < versions->n; i++)
	{
		if (versions->v[i].state == HEAPTUPLE_LIVE)
			wasted -= Min(wasted, versions->v[i].group.nblocks);
	}
	MemoryContextDelete(mcxt);
	if (OidIsValid(toastrelid))
	{
		Relation	toast = table_open(toastrelid, AccessShareLock);

		wasted += RelationGetNumberOfBlocks(toast);
		table_close(toast, AccessShareLock);
	}
	return wasted >= Max(MIN_WASTED_PAGES, pages * WASTED_SHARE);
}

bool
st_compact_want_pages(Relation rel, StCompactJob *job)
{
	StCatalog	catalog;

	Assert(CheckRelationLockedByMe(rel, ShareUpdateExclusiveLock, true));
	if (!st_meta_has_row_groups(rel, NULL) || st_meta_leaving(rel) ||
		!st_catalog_open(&catalog, rel, RowExclusiveLock))
		return false;
	st_empty_pages_wanted(&catalog, job->reached, st_end_wants(job));
	st_catalog_close(&catalog);
	return true;
}
