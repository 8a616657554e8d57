/*-------------------------------------------------------------------------
 *
 * st_truncate.c
 *	  VACUUM: giving free pages at the end of the file back (I6).
 *
 * What may go are free extents and heap pages without tuples.  The
 * page of an extent looks like such a page, too: it may go only if it is in
 * the directory of free extents.
 *
 * Needs AccessExclusiveLock, and takes it only if nobody is in the way.  Then
 * no scan is on its way to an extent.  A snapshot of somebody who has not come
 * here yet may be older than the entry of a free extent, but all rows of the
 * group were dead to everyone before, and its descriptor says so (flag
 * ST_DESCRIPTOR_DROPPED) or is dead itself.
 *
 * The cut is not undone if VACUUM's transaction aborts after it, so the
 * directory is changed in place first.  Extents that this transaction has
 * entered vanish from it by an abort: the entries of their groups, which come
 * back, are checked against the pages (st_reclaim.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/storage.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"

#include "st_reclaim.h"
#include "st_store_int.h"

/* Worth the lock: so many pages, or this share of the file (as heap). */
#define TRUNCATE_PAGES	1000
#define TRUNCATE_SHARE	16

/* Is it a heap page on which no line pointer is used, or a new page? */
static bool
is_empty_heap_page(Relation rel, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(rel, block);
	Page		page;
	bool		result;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	result = PageIsNew(page) || st_page_is_unused(page);
	UnlockReleaseBuffer(buffer);
	return result;
}

/* The number of blocks that the file must keep. */
static BlockNumber
needed_blocks(Relation rel, StCatalog *cat, BlockNumber nblocks)
{
	BlockNumber end = nblocks;

	while (end > ST_META_BLOCK + 1)
	{
		BlockNumber start = st_free_extent_tail(cat, end);

		CHECK_FOR_INTERRUPTS();
		if (start < end)
			end = start;
		else if (is_empty_heap_page(rel, end - 1))
			end--;
		else
			break;
	}
	return end;
}

static void
truncate_locked(Relation rel, StCatalog *cat, int elevel)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber end = needed_blocks(rel, cat, nblocks);

	if (end >= nblocks)
		return;
	st_free_extent_cut(cat, end);
	st_orphans_from(cat, end);
	RelationTruncate(rel, end);
	ereport(elevel,
			(errmsg("table \"%s\": truncated %u to %u pages",
					RelationGetRelationName(rel), nblocks, end)));
}

/* Called by VACUUM, with ShareUpdateExclusiveLock. */
void
st_truncate(Relation rel, int elevel)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber end;
	StCatalog	cat;

	if (!st_catalog_open(&cat, rel, RowExclusiveLock))
		return;
	end = needed_blocks(rel, &cat, nblocks);
	if (end < nblocks &&
		(nblocks - end >= TRUNCATE_PAGES ||
		 nblocks - end >= nblocks / TRUNCATE_SHARE) &&
		ConditionalLockRelation(rel, AccessExclusiveLock))
	{
		truncate_locked(rel, &cat, elevel);
		UnlockRelation(rel, AccessExclusiveLock);
	}
	st_catalog_close(&cat);
}
