/*-------------------------------------------------------------------------
 *
 * st_give_back.c
 *	  Space of a table that goes back to heap: whether its row groups are
 *	  gone, index entries that lead to none, and free extents as heap's pages.
 *
 * Pages of free extents look full to heap and would never be used.  So they
 * become empty pages of heap, which the free space map knows: at once, for the rows
 * of other groups, and not only in the end.  They leave the directory first: what
 * is in it, a row group may take.
 *
 * Lock: ShareUpdateExclusiveLock on the table, so no VACUUM or compaction.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "st_space.h"

/* So many pages of free extents become heap's in one transaction, at most. */
#define YIELD_PAGES		1024

/* Is there an entry of the kind, younger than oldest_xmin if that is valid? */
static bool
has_entry(StCatalog *cat, StKeyBase base, TransactionId oldest_xmin)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	bool		found = false;

	st_catalog_scan_begin(&scan, cat, base, 0, ST_MAX_ROW_NUMBER, SnapshotSelf);
	while (!found &&
		   (entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		found = !TransactionIdIsValid(oldest_xmin) ||
			!TransactionIdPrecedes(HeapTupleHeaderGetXmin(entry->tuple->t_data),
								   oldest_xmin);
	}
	st_catalog_scan_end(&scan);
	return found;
}

bool
st_groups_are_gone(Relation rel, StCatalog *cat, TransactionId oldest_xmin)
{
	StGroupVersions *versions = st_group_versions_all(rel, oldest_xmin,
													  CurrentMemoryContext);

	for (int i = 0; i < versions->n; i++)
	{
		if (versions->v[i].state != HEAPTUPLE_DEAD)
			return false;
	}
	return !has_entry(cat, ST_RETIRED, InvalidTransactionId) &&
		!has_entry(cat, ST_TOMBSTONE, InvalidTransactionId) &&
		!has_entry(cat, ST_SWATH, InvalidTransactionId) &&
		!has_entry(cat, ST_PIECE, InvalidTransactionId) &&
		!has_entry(cat, ST_FREE_EXTENT, oldest_xmin);
}

/* IndexBulkDeleteCallback */
static bool
is_below(ItemPointer tid, void *state)
{
	return st_tid_is_virtual(tid) && st_row_from_tid(tid) < *(uint64 *) state;
}

void
st_sweep_indexes(Relation rel, uint64 end)
{
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_VACUUM);
	Relation   *indexes;
	int			nindexes;

	vac_open_indexes(rel, RowExclusiveLock, &nindexes, &indexes);
	for (int i = 0; i < nindexes; i++)
	{
		IndexVacuumInfo info = {0};
		IndexBulkDeleteResult *result;

		CHECK_FOR_INTERRUPTS();
		info.index = indexes[i];
		st_index_vacuum_info_set_heap(&info, rel);
		info.estimated_count = true;
		info.message_level = DEBUG2;
		info.num_heap_tuples = rel->rd_rel->reltuples;
		info.strategy = strategy;
		result = index_bulk_delete(&info, NULL, is_below, &end);
		(void) index_vacuum_cleanup(&info, result);
	}
	vac_close_indexes(nindexes, indexes, NoLock);
	FreeAccessStrategy(strategy);
}

void
st_free_extents_forget(StCatalog *cat, StForgotten *out, MemoryContext mcxt)
{
	TransactionId oldest_xmin = GetOldestNonRemovableTransactionId(cat->rel);
	StExtentRange *ranges = st_free_extent_take_all(cat, oldest_xmin, &out->n);

	if (out->ranges != NULL)
		pfree(out->ranges);
	out->ranges = MemoryContextAlloc(mcxt, Max(out->n, 1) * sizeof(StExtentRange));
	memcpy(out->ranges, ranges, out->n * sizeof(StExtentRange));
	pfree(ranges);
	out->next = 0;
	out->spared = false;
	out->before = U64FromFullTransactionId(st_full_xid(oldest_xmin));
	if (out->n > 0)
		out->walked = st_orphans_from(cat, out->ranges[0].start);
}

/* Makes pages of heap of blocks start..end - 1. */
static void
yield_pages(StCatalog *cat, StForgotten *f, BlockNumber start, BlockNumber end)
{
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_VACUUM);
	Buffer		vmbuffer = InvalidBuffer;

	for (BlockNumber block = start; block < end; block++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!st_free_extent_known(cat, block) &&
			st_extent_yield_page(cat->rel, block, f->before, &vmbuffer, strategy))
			RecordPageWithFreeSpace(cat->rel, block,
									BLCKSZ - SizeOfPageHeaderData -
									sizeof(ItemIdData));
		else
			f->spared = true;
	}
	if (start < end)
		FreeSpaceMapVacuumRange(cat->rel, start, end);
	if (BufferIsValid(vmbuffer))
		ReleaseBuffer(vmbuffer);
	FreeAccessStrategy(strategy);
}

bool
st_free_extents_yield(StCatalog *cat, StForgotten *f)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(cat->rel);
	BlockNumber pages = YIELD_PAGES;

	if (f->next == f->n)
		return false;
	while (f->next < f->n && pages > 0)
	{
		StExtentRange *range = &f->ranges[f->next];
		BlockNumber stop = Min(range->end, range->start + pages);

		/* the end of the file may have been cut off since */
		if (stop > nblocks)
			f->spared = true;
		yield_pages(cat, f, range->start, Min(stop, nblocks));
		pages -= stop - range->start;
		range->start = stop;
		if (stop == range->end)
			f->next++;
	}
	if (f->next == f->n && !f->spared)
		st_orphans_until(cat, Min(f->walked, nblocks));
	return f->next < f->n;
}
