/*-------------------------------------------------------------------------
 *
 * st_extent_ranges.c
 *	  Which blocks are no pages of the delta.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "st_space.h"

/* Adds n ranges; afterwards all are sorted. */
static void
add_ranges(StExtentRanges *out, const StExtentRange *ranges, int n)
{
	if (n == 0)
		return;
	out->v = repalloc_huge(out->v, (out->n + n) * sizeof(StExtentRange));
	memcpy(out->v + out->n, ranges, n * sizeof(StExtentRange));
	out->n += n;
	qsort(out->v, out->n, sizeof(StExtentRange), st_compare_ranges);
}

/* Adds the extents that are free to the snapshot: their pages hold no tuples for it. */
void
st_extent_ranges_add_free(StExtentRanges *out, StCatalog *cat, Snapshot snapshot)
{
	int			n;
	StExtentRange *extents = st_free_extent_all(cat, snapshot, &n);

	add_ranges(out, extents, n);
	pfree(extents);
}

/*
 * The extents of groups that somebody may still see.  Pages of others hold no
 * tuples: they cost a look.
 */
void
st_extent_ranges(StExtentRanges *out, const StGroupVersions *groups)
{
	StGroupList seen = {.groups = palloc_extended((groups->n + 1) * sizeof(StGroup),
												  MCXT_ALLOC_HUGE)};

	for (int i = 0; i < groups->n; i++)
	{
		if (groups->v[i].finished && groups->v[i].state != HEAPTUPLE_DEAD)
			seen.groups[seen.ngroups++] = groups->v[i].group;
	}
	out->v = st_list_extents(&seen, &out->n);
	pfree(seen.groups);
}

StGroupVersions *
st_known_extents(Relation rel, StCatalog *cat, TransactionId oldest_xmin,
				 StExtentRanges *out)
{
	StGroupVersions *versions = st_group_versions(rel, oldest_xmin,
												  CurrentMemoryContext);
	StExtentRange *extents;
	int			n;

	st_extent_ranges(out, versions);
	st_extent_ranges_add_free(out, cat, SnapshotSelf);
	extents = st_list_extents(st_group_versions_list(st_retired_read(cat,
																	 InvalidTransactionId)),
							  &n);
	add_ranges(out, extents, n);
	pfree(extents);
	return versions;
}
