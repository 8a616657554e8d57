/*-------------------------------------------------------------------------
 *
 * st_compact_plan.c
 *	  Compaction: what the next step should take.
 *
 *	 1. Rows of the delta, if there are enough of them for a row group worth
 *	    the name.  Which ones come first in a large delta: st_compact_end.c.
 *	 2. Small row groups: into the same new group, or two and more of them
 *	    together.  A group joins if it is at most twice as large as what is
 *	    there already, so that a row is copied a logarithmic number of times.
 *	 3. A row group of which many rows have been deleted: the worst one first.
 *	    One that leaves room in its new row group goes along with rows of
 *	    the delta (1), so that neither makes a small group.
 *	 4. The last row group of the file, if there are many free pages, and room
 *	    for it before: so VACUUM can cut the file off.
 *	 5. Row groups that overlap in the order of the option orderby
 *	    (st_compact_order.c).  Before 3 in a job that goes to the end or tidies up.
 *
 * Free space: a group goes into several free extents where none is large
 * enough (st_free_extent.c), so what counts is how much is free.  A rewritten
 * group needs a place before its old one becomes free, so that the file cannot
 * do without a group's worth of free pages.  It grows for a rewrite (2, 3)
 * only if less than that is free, or next to nothing is missing: else the
 * step waits for VACUUM, or takes another group.  Rows of the delta do not
 * wait; but small groups join them only where there is room.
 *
 * One call rewrites a limited share of the row groups, because the old extents
 * are not free before old snapshots have gone.
 *
 * A job that goes to the end takes everything without thresholds of size.
 * Beside writers that end must come: pages that the file has gained since the job
 * began are taken once, and those that it gains meanwhile are left alone.  So are
 * deletions in groups that the call has written, and small groups are put together
 * so often only.
 * Groups that others held when a step wanted them are left alone for the
 * rest of the job.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "st_compact_int.h"
#include "st_options.h"

/* Rows of the delta that are worth a row group. */
#define MIN_DELTA_ROWS	1024

/*
 * The same as ST_DELETED_SHARE, of a job that goes to the end, and of one that
 * tidies up a table that is no larger than so many pages of row groups.  Of more
 * deleted rows aggregates cannot be answered by footers (vx_agg_footer.c).
 */
#define DELETED_SHARE_TO_THE_END	(1.0 / 256)
#define MAX_TIDY_BLOCKS		65536

/* Row groups' worth of rows that are sorted together, beside writers and else. */
#define ORDER_GROUPS_BESIDE	2
#define ORDER_GROUPS	4

/*
 * Groups are moved to the front if this share of the file is free, or half as
 * much as all groups take; a job that goes to the end is content with less.
 */
#define FREE_SHARE	0.125
#define FREE_SHARE_TO_THE_END	0.03

/*
 * Share of the file that is free from which it should not grow, unless by no
 * more than the other share.
 */
#define FRAGMENTED_SHARE	0.05
#define GROWTH_SHARE		0.02

/* Share of the row groups' pages that one call rewrites. */
#define REWRITE_SHARE	0.15

void
st_compact_skip(StCompactJob *job, uint64 first_row)
{
	if (job->nskipped == job->maxskipped)
	{
		job->maxskipped = Max(16, job->maxskipped * 2);
		job->skipped = job->skipped == NULL ?
			MemoryContextAlloc(job->mcxt, job->maxskipped * sizeof(uint64)) :
			repalloc(job->skipped, job->maxskipped * sizeof(uint64));
	}
	job->skipped[job->nskipped++] = first_row;
}

static bool
is_skipped(const StCompactJob *job, uint64 first_row)
{
	for (int i = 0; i < job->nskipped; i++)
	{
		if (job->skipped[i] == first_row)
			return true;
	}
	return false;
}

/* Rows of a group that nobody has deleted. */
static uint64
live_rows(StCatalog *catalog, const StGroup *group)
{
	uint32		ndeleted;
	uint64	   *deleted = st_deleted_rows_in(catalog, group, SnapshotSelf,
											 CurrentMemoryContext, &ndeleted, NULL);

	if (deleted != NULL)
		pfree(deleted);
	return group->nrows - ndeleted;
}

static int
compare_live(const void *a, const void *b)
{
	const StCandidate *x = a;
	const StCandidate *y = b;

	if (x->live != y->live)
		return x->live < y->live ? -1 : 1;
	return x->version->group.first_row < y->version->group.first_row ? -1 : 1;
}

/*
 * Groups that may be taken, smallest first.  One without live rows is left
 * to VACUUM.
 */
static int
find_candidates(StCatalog *catalog, const StCompactJob *job,
				const StGroupVersions *versions, StCandidate *out)
{
	int			n = 0;

	for (int i = 0; i < versions->n; i++)
	{
		const StGroupVersion *v = &versions->v[i];
		uint64		live;

		if (v->state != HEAPTUPLE_LIVE || !v->finished ||
			is_skipped(job, v->group.first_row))
			continue;
		live = live_rows(catalog, &v->group);
		if (live == 0)
			continue;
		out[n].version = v;
		out[n].live = live;
		out[n].chosen = false;
		n++;
	}
	if (n > 1)
		qsort(out, n, sizeof(StCandidate), compare_live);
	return n;
}

/* Is there room for more rows in a group of this size? */
static bool
is_small(const StCandidate *c, uint64 max_rows)
{
	return c->live < max_rows / 2 &&
		(!c->version->group.full || c->live < c->version->group.nrows / 2);
}

/* One group at least, else what fits in. */
static bool
may_rewrite(const StCompactJob *job, double blocks)
{
	return job->to_the_end || job->thorough || job->groups_in == 0 ||
		job->blocks_left >= blocks;
}

/* Pages that the live rows of a group will take, by what they take now. */
static double
estimate_blocks(const StCandidate *c)
{
	const StGroup *group = &c->version->group;

	return ceil((double) group->nblocks * c->live / group->nrows);
}

/* The table's file, as it is when the step begins. */
typedef struct FileSpace
{
	Relation	rel;
	StCatalog  *catalog;
	BlockNumber size;
	StFreeSpace *free;
} FileSpace;

/*
 * Is there a place for a group of so many pages before block `before`?  Or
 * may the file grow: less is free than it takes, or little is missing.
 */
static bool
has_room(const FileSpace *file, double blocks, BlockNumber before)
{
	BlockNumber missing = st_free_space_missing(file->free, blocks, before);

	if (before < MaxBlockNumber)
		return missing == 0;
	return missing <= file->size * GROWTH_SHARE ||
		st_free_space_total(file->free) <
		Max(file->size * FRAGMENTED_SHARE, blocks);
}

/*
 * Chooses small groups to go together with delta_rows rows of the delta.
 * Returns how many.
 */
static int
choose_small(const FileSpace *file, StCompactJob *job, StCandidate *c, int n,
			 uint64 delta_rows, uint64 max_rows)
{
	uint64		total = delta_rows;
	double		blocks = 0;
	double		estimate = 0;
	int			chosen = 0;

	for (int i = 0; i < n; i++)
	{
		if (!is_small(&c[i], max_rows))
			continue;
		if (total + c[i].live > max_rows)
			break;
		if (!job->to_the_end && total > 0 && c[i].live > 2 * total)
			break;
		if (!job->to_the_end && total > 0 &&
			!has_room(file, estimate_blocks(&c[i]) *
					  (total + c[i].live) / c[i].live, MaxBlockNumber))
			break;
		c[i].chosen = true;
		total += c[i].live;
		blocks += c[i].version->group.nblocks;
		estimate += estimate_blocks(&c[i]);
		chosen++;
	}
	if (delta_rows == 0 &&
		(chosen < 2 || !may_rewrite(job, blocks) ||
		 job->small_steps > 16 + job->groups ||
		 !(job->to_the_end || has_room(file, estimate, MaxBlockNumber))))
	{
		for (int i = 0; i < n; i++)
			c[i].chosen = false;
		return 0;
	}
	if (delta_rows == 0)
	{
		job->blocks_left -= blocks;
		job->small_steps++;
	}
	return chosen;
}

/*
 * Chooses the group of which most has been deleted, if that is enough.  Rows
 * of the delta and of small groups are to go along with it, if there are any:
 * together they must not be more than max_rows.
 */
static int
choose_deleted(const FileSpace *file, StCompactJob *job, StCandidate *c, int n,
			   uint64 others, uint64 max_rows)
{
	double		least = job->to_the_end || job->thorough ?
		DELETED_SHARE_TO_THE_END : ST_DELETED_SHARE;
	StCandidate *worst = NULL;

	for (int i = 0; i < n; i++)
	{
		uint32		nrows = c[i].version->group.nrows;
		double		share = (double) (nrows - c[i].live) / nrows;
		double		blocks;

		if (share < least || c[i].chosen ||
			c[i].version->group.first_row >= job->first_new_row ||
			(others > 0 && others + c[i].live > max_rows))
			continue;
		blocks = estimate_blocks(&c[i]) * (others + c[i].live) / c[i].live;
		if (job->to_the_end || has_room(file, blocks, MaxBlockNumber))
		{
			worst = &c[i];
			least = share;
		}
	}
	if (worst == NULL || !may_rewrite(job, worst->version->group.nblocks))
		return 0;
	job->blocks_left -= worst->version->group.nblocks;
	worst->chosen = true;
	return 1;
}

/* Returns the first block of the last of its runs. */
static BlockNumber
last_extent_start(const StGroup *group)
{
	StExtentRange runs[ST_MAX_RUNS];
	int			n = st_group_extents(group, runs);
	BlockNumber start = 0;

	for (int i = 0; i < n; i++)
		start = Max(start, runs[i].start);
	return start;
}

/*
 * Chooses the last group of the file to be moved to the front: plan->before
 * says to where.  Not one that this job has written, unless it goes to the
 * end.  One of them per call whatever was rewritten before, because that takes
 * no new space.  The group comes last in scans then; the order of the option
 * orderby is one of keys, whatever the order of row numbers.
 * If the group that was moved last is behind its old place, because somebody
 * was quicker to take the free one, there is no second try.
 *
 * Where the end of the delta goes first, groups that stand there go before it,
 * however little is free.
 */
static int
choose_last(const FileSpace *file, StCompactJob *job, StCandidate *c, int n,
			StCompactPlan *plan)
{
	StCandidate *last = NULL;
	double		blocks = 0;
	double		worth = 0;
	BlockNumber start;
	BlockNumber before;

	for (int i = 0; i < n; i++)
	{
		const StGroup *group = &c[i].version->group;

		blocks += group->nblocks;
		if (last == NULL ||
			st_group_end(group) > st_group_end(&last->version->group))
			last = &c[i];
	}
	if (last == NULL ||
		(!job->to_the_end &&
		 last->version->group.first_row >= job->first_new_row) ||
		(job->moved_last && !may_rewrite(job, last->version->group.nblocks)))
		return 0;
	if (job->end_phase == ST_END_NONE)
		worth = Min(blocks / 2, file->size *
					(job->to_the_end ? FREE_SHARE_TO_THE_END : FREE_SHARE));
	else if (st_group_end(&last->version->group) <= job->rest_end)
		return 0;
	start = last_extent_start(&last->version->group);
	before = job->end_phase == ST_END_NONE ? start : Min(start, job->rest_end);
	if (start >= job->moved_from || st_free_space_total(file->free) < worth ||
		!has_room(file, estimate_blocks(last), before))
		return 0;
	plan->before = before;
	plan->moved_from = start;
	job->blocks_left -= last->version->group.nblocks;
	job->moved_last = true;
	last->chosen = true;
	return 1;
}

/* Begins a job: sets how many pages of row groups it may rewrite. */
static void
begin_job(Relation rel, StCompactJob *job, const StGroupVersions *versions,
		  const StExtentRanges *extents)
{
	StMeta		meta;
	double		blocks = 0;

	st_meta_read(rel, &meta);
	if (!job->again)
		job->first_new_row = meta.next_row;
	job->end_block = RelationGetNumberOfBlocks(rel);
	job->moved_from = MaxBlockNumber;
	for (int i = 0; i < versions->n; i++)
	{
		if (versions->v[i].state != HEAPTUPLE_LIVE || !versions->v[i].finished)
			continue;
		blocks += versions->v[i].group.nblocks;
		job->groups++;
	}
	job->blocks_left = blocks * REWRITE_SHARE;
	job->thorough = job->tidy && blocks <= MAX_TIDY_BLOCKS;
	st_end_begin(rel, job, extents);
	job->started = true;
}

/* Rows of the groups that are chosen so far. */
static uint64
chosen_rows(const StCandidate *c, int n)
{
	uint64		rows = 0;

	for (int i = 0; i < n; i++)
		rows += c[i].chosen ? c[i].live : 0;
	return rows;
}

/*
 * May a step restore the order?  A call takes one such step, unless it goes to
 * the end or tidies up.  Then the number of steps grows a little faster than that of
 * groups.  The limit is for types whose comparison is not an order, and for row
 * groups that somebody loads as fast as they are sorted.
 */
static bool
may_sort(const StCompactJob *job)
{
	if (job->any_order)
		return false;
	if (!job->to_the_end && !job->thorough)
		return job->order_steps == 0;
	return job->order_steps < 16 + 8 * job->order_groups;
}

/*
 * Chooses groups to be sorted together.  A job that goes to the end or tidies up
 * does that first: what is written anew in order needs not be for its deleted rows.
 */
static int
choose_order(Relation rel, StCatalog *catalog, StCompactJob *job, StCandidate *c,
			 int n, bool note, StCompactPlan *plan)
{
	uint64		max_rows = plan->max_rows *
		(job->to_the_end || job->thorough ? ORDER_GROUPS : ORDER_GROUPS_BESIDE);
	int			chosen;

	if (job->order_groups == 0)
		job->order_groups = n;
	if (!may_sort(job))
		return 0;
	chosen = st_compact_choose_order(rel, catalog, c, n, max_rows, note);
	job->order_steps += note && (chosen > 0 || !job->to_the_end);
	if (chosen > 0)
		plan->max_rows = max_rows;
	return chosen;
}

/*
 * While the end of the delta goes first: what the phase of the job takes, or the next one.
 * Returns how many groups.
 */
static int
plan_end(const FileSpace *file, StCompactJob *job, const StGroupVersions *versions,
		 const StExtentRanges *extents, StCandidate *c, int n, StCompactPlan *plan)
{
	do
	{
		/* where one is held the others need not move */
		if (job->end_phase == ST_END_CLEAR && job->nskipped == 0)
		{
			int			chosen = choose_last(file, job, c, n, plan);

			if (chosen > 0)
				return chosen;
		}
		if (job->end_phase == ST_END_TAIL &&
			!st_end_has_room(job, extents, versions, file->free))
			st_end_stop(file->rel, job);
		if (job->end_phase != ST_END_NONE && job->end_phase != ST_END_FREED)
			plan->delta = st_delta_count(file->rel, extents, job, 1, true) > 0;
	} while (!plan->delta &&
			 st_end_next(file->rel, job, extents, versions, file->free));
	if (job->end_phase == ST_END_TAIL || job->end_phase == ST_END_CLEAR)
		plan->before = job->rest_end;
	return 0;
}

/* What a step takes at any other time: see above.  Returns how many groups. */
static int
plan_usual(const FileSpace *file, StCompactJob *job, const StExtentRanges *extents,
		   StCandidate *c, int n, bool note, StCompactPlan *plan)
{
	Relation	rel = file->rel;
	uint64		max_rows = plan->max_rows;
	uint64		delta_rows;
	int			chosen;

	/* who only asks may hold rows itself, until the commit before the step */
	delta_rows = st_delta_count(rel, extents, job, max_rows, note);
	if (delta_rows == 0 && job->to_the_end && !job->extended &&
		RelationGetNumberOfBlocks(rel) > job->end_block)
	{
		job->extended = true;
		job->end_block = RelationGetNumberOfBlocks(rel);
		delta_rows = st_delta_count(rel, extents, job, max_rows, note);
	}
	if (delta_rows < (job->to_the_end || job->tidy ? 1 : MIN_DELTA_ROWS))
		delta_rows = 0;
	plan->delta = delta_rows > 0;

	chosen = choose_small(file, job, c, n, delta_rows, max_rows);
	if (plan->delta)
		return chosen + choose_deleted(file, job, c, n,
									   chosen_rows(c, n) + delta_rows, max_rows);
	if (chosen == 0 && (job->to_the_end || job->thorough))
		chosen = choose_order(rel, file->catalog, job, c, n, note, plan);
	if (chosen == 0)
		chosen = choose_deleted(file, job, c, n, 0, max_rows);
	if (chosen == 0)
		chosen = choose_last(file, job, c, n, plan);
	if (chosen == 0 && !job->to_the_end && !job->thorough)
		chosen = choose_order(rel, file->catalog, job, c, n, note, plan);
	return chosen;
}

/* False: nothing is left to do. */
bool
st_compact_plan(Relation rel, StCatalog *catalog, StCompactJob *job,
				const StGroupVersions *versions,
				const StExtentRanges *extents, bool note, StCompactPlan *plan)
{
	StCandidate *candidates = palloc(Max(versions->n, 1) * sizeof(StCandidate));
	FileSpace	file = {.rel = rel, .catalog = catalog};
	int			n;
	int			chosen = 0;

	if (!job->started)
		begin_job(rel, job, versions, extents);
	memset(plan, 0, sizeof(*plan));
	plan->max_rows = st_options_get(rel)->row_group_rows;
	plan->before = plan->moved_from = MaxBlockNumber;

	file.size = RelationGetNumberOfBlocks(rel);
	file.free = st_free_space_read(catalog);
	n = find_candidates(catalog, job, versions, candidates);
	if (job->end_phase != ST_END_NONE)
		chosen = plan_end(&file, job, versions, extents, candidates, n, plan);
	if (job->end_phase == ST_END_NONE && !job->vacuum_first)
		chosen = plan_usual(&file, job, extents, candidates, n, note, plan);

	plan->groups = palloc(Max(chosen, 1) * sizeof(StGroupVersion));
	for (int i = 0; i < n; i++)
	{
		if (candidates[i].chosen)
			plan->groups[plan->ngroups++] = *candidates[i].version;
	}
	if (plan->ngroups > 1)
		qsort(plan->groups, plan->ngroups, sizeof(StGroupVersion),
			  st_compare_rows);
	pfree(candidates);
	return plan->delta || plan->ngroups > 0;
}
