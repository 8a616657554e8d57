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
 * no scan is on its way to an extent.  A later scan may have a snapshot that
 * is older than the entry of a free extent.  It does not read the extent: all
 * rows of the group were dead to everyone before, and its descriptor says so
 * (flag ST_DESCRIPTOR_DROPPED) or is dead itself.
 *
 * The metapage of an adopted table stands where the heap's file ended.  If it is
 * all that keeps the end from being cut off, it moves to an empty page before.
 *
 * The cut is not undone if VACUUM's transaction aborts after it, so the
 * directory is changed in place first.  An abort removes extents from it that
 * this transaction has entered.  It brings back the entries of their groups,
 * which are checked against the pages (st_reclaim.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/storage.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "st_space.h"

/* Worth the lock: so many pages, or this share of the file (as heap). */
#define TRUNCATE_PAGES	1000
#define TRUNCATE_SHARE	16

/* For how long the lock is tried, and how often (as heap). */
#define LOCK_MS			5000
#define LOCK_NAP_MS		50

/* Is it a page of the delta on which no line pointer is used? */
static bool
is_empty_heap_page(Relation rel, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(rel, block);
	Page		page;
	bool		result;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	result = st_page_is_unused(page);
	UnlockReleaseBuffer(buffer);
	return result;
}

/*
 * The number of blocks that the file must keep if the metapage moves away, and, in
 * *with_meta, if it stays.
 */
static BlockNumber
needed_blocks(Relation rel, StCatalog *cat, BlockNumber nblocks, BlockNumber *with_meta)
{
	BlockNumber end = nblocks;
	int			n;
	StExtentRange *extents = st_free_extent_all(cat, SnapshotSelf, &n);
	BlockNumber meta = st_meta_block(rel);

	*with_meta = InvalidBlockNumber;
	while (end > ST_META_BLOCK + 1)
	{
		CHECK_FOR_INTERRUPTS();
		while (n > 0 && extents[n - 1].start >= end)
			n--;
		if (n > 0 && extents[n - 1].end >= end)
			end = extents[n - 1].start;
		else if (end - 1 == meta)
			*with_meta = end--;
		else if (is_empty_heap_page(rel, end - 1))
			end--;
		else
			break;
	}
	pfree(extents);
	if (*with_meta == InvalidBlockNumber)
		*with_meta = end;
	return end;
}

/*
 * An empty page before `end` for the metapage, which stands behind: it has to move so
 * that the file can be cut off.
 */
static BlockNumber
place_for_meta(Relation rel, BlockNumber end)
{
	for (BlockNumber block = ST_META_BLOCK + 1; block < end; block++)
	{
		CHECK_FOR_INTERRUPTS();
		if (st_page_seems_empty(rel, block) && is_empty_heap_page(rel, block))
			return block;
	}
	return InvalidBlockNumber;
}

static void
name_place(void *cat, BlockNumber block)
{
	st_place_overwrite(cat, block);
}

static void
truncate_locked(Relation rel, StCatalog *cat, int elevel)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber with_meta;
	BlockNumber end = needed_blocks(rel, cat, nblocks, &with_meta);

	if (st_meta_block(rel) >= end)
	{
		BlockNumber place = place_for_meta(rel, end);

		if (place != InvalidBlockNumber &&
			st_meta_move(rel, place, name_place, cat))
			RecordPageWithFreeSpace(rel, place, 0);
		else
			end = with_meta;
	}
	if (end >= nblocks)
		return;
	st_free_extent_cut(cat, end);
	st_orphans_from(cat, end);
	RelationTruncate(rel, end);
	ereport(elevel,
			(errmsg("table \"%s\": truncated %u to %u pages",
					RelationGetRelationName(rel), nblocks, end)));
}

/*
 * The lock that nobody else may have for a moment: tried for some seconds, as
 * heap does, because a table that is read has such moments.  To try is to get a
 * transaction id, for standbys are told of such a lock, and what this VACUUM still
 * has to write gets that id.
 */
static bool
lock_to_truncate(Relation rel)
{
	st_vacuum_begin_writing();
	for (int ms = 0; ms < LOCK_MS; ms += LOCK_NAP_MS)
	{
		if (ConditionalLockRelation(rel, AccessExclusiveLock))
			return true;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 LOCK_NAP_MS, WAIT_EVENT_VACUUM_TRUNCATE);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

/* Called by VACUUM, with ShareUpdateExclusiveLock. */
void
st_truncate(Relation rel, int elevel)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber with_meta;
	BlockNumber end;
	StCatalog	cat;

	if (!st_catalog_open(&cat, rel, RowExclusiveLock))
		return;
	end = needed_blocks(rel, &cat, nblocks, &with_meta);
	if (st_meta_block(rel) >= end && place_for_meta(rel, end) == InvalidBlockNumber)
		end = with_meta;
	if (end < nblocks &&
		(nblocks - end >= TRUNCATE_PAGES ||
		 nblocks - end >= nblocks / TRUNCATE_SHARE) &&
		lock_to_truncate(rel))
	{
		truncate_locked(rel, &cat, elevel);
		UnlockRelation(rel, AccessExclusiveLock);
	}
	st_catalog_close(&cat);
}
