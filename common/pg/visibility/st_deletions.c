/*-------------------------------------------------------------------------
 *
 * st_deletions.c
 *	  Deleted rows of the row groups that one scan reads.
 *
 * A tombstone is found through the index of the TOAST relation, and costs a
 * descent per group and several function calls, a page lock among them, per
 * row.  Where the tombstones of all groups are wanted anyway, reading the
 * TOAST relation from end to end takes a fraction of that: its pages are
 * checked for visibility as a whole.  So a scan asks the index while it does
 * not know better, and reads all tombstones at once as soon as that is
 * expected to be cheaper than going on.
 *
 * Owns the sorted list of rows with a tombstone; it lives as long as the scan,
 * and is at most some megabytes.  Pieces and swaths are read group by group.  The
 * caller holds the relation's lock and keeps the snapshot.  Does not look for row groups: st_group.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

#include "st_visibility.h"

/* Costs, in tens of nanoseconds. */
#define INDEX_GROUP_COST	300
#define INDEX_ROW_COST		18
#define PAGE_COST			60
#define PAGE_ROW_COST		3

/* A larger TOAST relation is never read as a whole: bounds the list, too. */
#define MAX_PAGES			4096

struct StDeletions
{
	Relation	rel;
	Snapshot	snapshot;
	uint32		ngroups;		/* that are going to be asked for, or 0: unknown */
	MemoryContext mcxt;

	/* asked of the index so far */
	uint32		groups_asked;
	uint64		rows_found;

	/* all there are, once they were read */
	bool		loaded;
	uint64	   *rows;
	uint64		nrows;
};

StDeletions *
st_deletions_create(Relation rel, Snapshot snapshot, uint32 ngroups,
					MemoryContext mcxt)
{
	StDeletions *d = MemoryContextAllocZero(mcxt, sizeof(StDeletions));

	d->rel = rel;
	d->snapshot = snapshot;
	d->ngroups = ngroups;
	d->mcxt = mcxt;
	return d;
}

/*
 * Is reading all tombstones expected to be cheaper than asking the index for
 * those of the groups to come?  If nobody knows how many these are, they are
 * as many again as were asked for.  Nothing was asked for yet: then the pages
 * must be so few that they cost less even if full.
 */
static bool
worth_loading(const StDeletions *d, BlockNumber npages)
{
	uint64		left = d->ngroups > 0 ? d->ngroups - Min(d->ngroups, d->groups_asked) :
		d->groups_asked;
	uint64		rows;

	if (npages > MAX_PAGES)
		return false;
	if (d->groups_asked == 0)
		return npages <= left * 2;
	rows = d->rows_found / d->groups_asked * left;
	return npages * (uint64) PAGE_COST + (d->rows_found + rows) * PAGE_ROW_COST <
		left * INDEX_GROUP_COST + rows * INDEX_ROW_COST;
}

#define ST_SORT sort_rows
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

static void
load(StDeletions *d, StCatalog *cat)
{
	TableScanDesc scan;
	HeapTuple	tuple;
	uint64		capacity = 256;
	bool		sorted = true;

	d->rows = MemoryContextAlloc(d->mcxt, capacity * sizeof(uint64));
	scan = table_beginscan_strat(cat->toast, d->snapshot, 0, NULL, false, false);
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		uint64		row;

		if (!st_catalog_tuple_row(cat, tuple, ST_TOMBSTONE, &row))
			continue;
		if (d->nrows == capacity)
		{
			CHECK_FOR_INTERRUPTS();
			capacity *= 2;
			d->rows = repalloc_huge(d->rows, capacity * sizeof(uint64));
		}
		sorted = sorted && (d->nrows == 0 || d->rows[d->nrows - 1] < row);
		d->rows[d->nrows++] = row;
	}
	table_endscan(scan);
	if (!sorted)
		sort_rows(d->rows, d->nrows);
	d->loaded = true;
}

/* The first place in the list whose row is not below the given one. */
static uint64
lower_bound(const StDeletions *d, uint64 row)
{
	uint64		low = 0;
	uint64		high = d->nrows;

	while (low < high)
	{
		uint64		middle = low + (high - low) / 2;

		if (d->rows[middle] < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What the list says of a group. */
static uint64 *
listed_rows(const StDeletions *d, const StGroup *group, MemoryContext mcxt,
			uint32 *ndeleted)
{
	uint64		first = lower_bound(d, group->first_row);
	uint64		end = lower_bound(d, group->first_row + group->nrows);
	uint64	   *bitmap;

	*ndeleted = end - first;
	if (first == end)
		return NULL;
	bitmap = MemoryContextAllocZero(mcxt, st_bitmap_bytes(group));
	for (uint64 i = first; i < end; i++)
	{
		uint64		row = d->rows[i] - group->first_row;

		bitmap[row >> 6] |= UINT64CONST(1) << (row & 63);
	}
	return bitmap;
}

/* The list, and the group's pieces and swaths, which are read when their group is. */
static uint64 *
bitmap_of(const StDeletions *d, StCatalog *cat, const StGroup *group,
		  MemoryContext mcxt, uint32 *ndeleted)
{
	uint64	   *bitmap = listed_rows(d, group, mcxt, ndeleted);
	TransactionId newest = InvalidTransactionId;

	*ndeleted += st_mark_mown(cat, group, 0, group->nrows - 1, d->snapshot, mcxt,
							  &bitmap, &newest);
	if (group->folded)
		*ndeleted += st_mark_folded(cat, group, 0, group->nrows - 1, d->snapshot,
									mcxt, &bitmap, &newest);
	return bitmap;
}

uint64 *
st_deletions_of(StDeletions *d, const StGroup *group, MemoryContext mcxt,
				uint32 *ndeleted)
{
	StCatalog	cat;
	uint64	   *bitmap;
	uint32		ntombstones;

	*ndeleted = 0;
	if (d->loaded && !group->folded && !group->mown)
		return listed_rows(d, group, mcxt, ndeleted);
	if (!st_catalog_open(&cat, d->rel, AccessShareLock))
		return NULL;
	if (!d->loaded && IsMVCCSnapshot(d->snapshot) &&
		worth_loading(d, RelationGetNumberOfBlocks(cat.toast)))
		load(d, &cat);
	if (d->loaded)
		bitmap = bitmap_of(d, &cat, group, mcxt, ndeleted);
	else
	{
		bitmap = st_deleted_rows_in(&cat, group, d->snapshot, mcxt, ndeleted,
									&ntombstones);
		d->groups_asked++;
		d->rows_found += ntombstones;
	}
	st_catalog_close(&cat);
	return bitmap;
}
