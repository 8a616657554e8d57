/*-------------------------------------------------------------------------
 *
 * st_extent_ranges.c
 *	  Which blocks are no pages of the delta.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "st_space.h"

static int
compare_ranges(const void *a, const void *b)
{
	BlockNumber x = ((const StExtentRange *) a)->start;
	BlockNumber y = ((const StExtentRange *) b)->start;

	return x < y ? -1 : x > y ? 1 : 0;
}

/* Adds free extents: their pages hold no tuples. */
void
st_extent_ranges_add_free(StExtentRanges *out, StCatalog *cat)
{
	int			n;
	StExtentRange *extents = st_free_extent_all(cat, SnapshotSelf, &n);

	if (n > 0)
	{
		out->v = repalloc_huge(out->v, (out->n + n) * sizeof(StExtentRange));
		memcpy(out->v + out->n, extents, n * sizeof(StExtentRange));
		out->n += n;
		qsort(out->v, out->n, sizeof(StExtentRange), compare_ranges);
	}
	pfree(extents);
}

/*
 * The extents of groups that somebody may still see.  Pages of others hold no
 * tuples: they cost a look.
 */
void
st_extent_ranges(StExtentRanges *out, const StGroupVersions *groups)
{
	uint64		nranges = 1;

	for (int i = 0; i < groups->n; i++)
		nranges += Max(1, groups->v[i].group.nruns);
	out->n = 0;
	out->v = palloc_extended(nranges * sizeof(StExtentRange), MCXT_ALLOC_HUGE);
	for (int i = 0; i < groups->n; i++)
	{
		const StGroupVersion *v = &groups->v[i];

		if (v->finished && v->state != HEAPTUPLE_DEAD)
			out->n += st_group_extents(&v->group, out->v + out->n);
	}
	if (out->n > 1)
		qsort(out->v, out->n, sizeof(StExtentRange), compare_ranges);
}

StGroupVersions *
st_known_extents(Relation rel, StCatalog *cat, TransactionId oldest_xmin,
				 StExtentRanges *out)
{
	StGroupVersions *versions = st_group_versions(rel, oldest_xmin,
												  CurrentMemoryContext);
	StGroupVersions all = {0};
	StRetired  *retired;
	int			nretired;
	int			nfree;
	StExtentRange *free_extents = st_free_extent_all(cat, SnapshotSelf, &nfree);

	retired = st_retired_read(cat, InvalidTransactionId, &nretired);
	all.v = palloc_extended((versions->n + nretired + nfree + 1) *
							sizeof(StGroupVersion), MCXT_ALLOC_HUGE);
	for (int i = 0; i < versions->n; i++)
		all.v[all.n++] = versions->v[i];
	for (int i = 0; i < nretired + nfree; i++)
	{
		StGroupVersion *v = &all.v[all.n++];

		memset(v, 0, sizeof(*v));
		v->finished = true;
		v->state = HEAPTUPLE_LIVE;
		if (i < nretired)
			v->group = retired[i].group;
		else
		{
			v->group.start_block = free_extents[i - nretired].start;
			v->group.nblocks = free_extents[i - nretired].end -
				free_extents[i - nretired].start;
		}
	}
	st_extent_ranges(out, &all);
	pfree(all.v);
	return versions;
}
