/*-------------------------------------------------------------------------
 *
 * st_orphan.c
 *	  VACUUM: extents to which nothing refers.
 *
 * A writer that fails, or a crash, leaves pages of an extent whose descriptor
 * was never finished, or has been pruned since.  Their headers tell who wrote
 * them.  An extent is an orphan if that transaction has ended and no
 * descriptor, retired group or free extent has its pages; it is entered into
 * the directory of free extents.
 *
 * Orphans are made where the file grew, or where VACUUM makes extents of empty
 * pages (st_empty_pages.c): a free extent that was taken by a failed
 * transaction is in the directory again.  So every block is looked at once, and
 * again where extents leave the directory to become pages of heap
 * (st_give_back.c): an entry of VACUUM's says up to where that was done.
 *
 * Lock: ShareUpdateExclusiveLock on the table, so that no group is dropped or
 * replaced meanwhile; others may load.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/procarray.h"

#include "st_space.h"
#include "st_wal.h"

#define ST_WALK_VERSION	1

/* Row of the entry among those of ST_VACUUM_STATE. */
#define ST_WALK_ROW		1

typedef struct StWalkPayload
{
	uint16		version;
	uint16		unused;
	BlockNumber walked;			/* blocks before were looked at */
} StWalkPayload;

StaticAssertDecl(sizeof(StWalkPayload) == 8, "on-disk size");

/*
 * Reads the block from which to look; *exists tells whether an entry says so.
 */
static BlockNumber
read_walked(StCatalog *cat, bool *exists)
{
	StWalkPayload payload = {0};
	ItemPointerData tid;

	*exists = st_note_read(cat, ST_VACUUM_STATE, ST_WALK_ROW, &payload,
						   sizeof(payload), &tid);
	return Max(payload.walked, st_delta_start(cat->rel));
}

/* In place: not undone by an abort, as a cut of the file is not. */
static void
write_walked(StCatalog *cat, BlockNumber walked)
{
	StWalkPayload payload = {.version = ST_WALK_VERSION, .walked = walked};

	(void) st_catalog_overwrite(cat, ST_VACUUM_STATE, ST_WALK_ROW, &payload,
								sizeof(payload));
}

/*
 * Pages from this block on are to be looked at again, because the file is to
 * end here, or because pages in the middle of it become those of an extent, or
 * are no longer in the directory.  Not undone by an abort.  Returns from where it
 * was before.
 */
BlockNumber
st_orphans_from(StCatalog *cat, BlockNumber end)
{
	bool		exists;
	BlockNumber walked = read_walked(cat, &exists);

	if (walked > end && exists)
		write_walked(cat, end);
	return walked;
}

/* Pages before this block are none of an extent without a reference after all. */
void
st_orphans_until(StCatalog *cat, BlockNumber end)
{
	bool		exists;

	if (read_walked(cat, &exists) < end && exists)
		write_walked(cat, end);
}

/* Has the writer of an extent's page ended? */
static bool
writer_ended(uint64 full_xid, TransactionId oldest_xmin)
{
	FullTransactionId writer = FullTransactionIdFromU64(full_xid);

	if (FullTransactionIdPrecedes(writer, st_full_xid(oldest_xmin)))
		return true;
	return FullTransactionIdPrecedes(writer, ReadNextFullTransactionId()) &&
		!TransactionIdIsInProgress(XidFromFullTransactionId(writer));
}

/* Is the block in one of the ranges?  *pos is a cursor. */
static bool
in_ranges(const StExtentRanges *ranges, int *pos, BlockNumber block,
		  BlockNumber *end)
{
	while (*pos < ranges->n && ranges->v[*pos].end <= block)
		(*pos)++;
	if (*pos == ranges->n || ranges->v[*pos].start > block)
		return false;
	*end = ranges->v[*pos].end;
	return true;
}

/* Is it one of a free extent, as the last page of a new extent is at first? */
static bool
is_free_page(Relation rel, BlockNumber block, BufferAccessStrategy strategy)
{
	Buffer		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL,
											strategy);
	StExtentPageHeader *header;
	bool		result;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	header = st_extent_header(BufferGetPage(buffer));
	result = header != NULL && header->first_row == PG_UINT64_MAX;
	UnlockReleaseBuffer(buffer);
	return result;
}

/* Adds a range behind the last one, or to its end. */
static void
add_range(StExtentRanges *out, int *allocated, BlockNumber start, BlockNumber end)
{
	if (out->n > 0 && out->v[out->n - 1].end == start)
	{
		out->v[out->n - 1].end = end;
		return;
	}
	if (out->n == *allocated)
	{
		*allocated = Max(16, *allocated * 2);
		out->v = out->v == NULL ?
			palloc(*allocated * sizeof(StExtentRange)) :
			repalloc(out->v, *allocated * sizeof(StExtentRange));
	}
	out->v[out->n].start = start;
	out->v[out->n++].end = end;
}

/*
 * Collects blocks of extents without a reference.  Stops at a page whose
 * writer is still at work; returns the block to go on from the next time.
 *
 * Zero pages right before a page of an extent are of that extent: its writer
 * has not come to them.  Those before the file's last page are left for
 * st_truncate(); if something comes behind them, they are found the next time,
 * though the last page is entered by then.  At the end of the file they may be
 * those of a writer that has just begun.
 */
static BlockNumber
collect(Relation rel, const StExtentRanges *known, BlockNumber from,
		BlockNumber nblocks, TransactionId oldest_xmin,
		BufferAccessStrategy strategy, StExtentRanges *out)
{
	BlockNumber block = from;
	BlockNumber first = from;	/* of the zero pages right before block, if any */
	BlockNumber left = InvalidBlockNumber;	/* first that is left */
	int			allocated = 0;
	int			pos = 0;

	while (block < nblocks)
	{
		Buffer		buffer;
		StExtentPageHeader *header;
		bool		is_new;
		bool		is_extent;
		uint64		writer = 0;
		BlockNumber end;

		st_vacuum_delay_point(false);
		if (in_ranges(known, &pos, block, &end))
		{
			if (first < block && end < nblocks &&
				is_free_page(rel, block, strategy))
				add_range(out, &allocated, first, block);
			else if (first < block && end >= nblocks)
				left = Min(left, first);
			first = block = end;
			continue;
		}
		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL,
									strategy);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		is_new = PageIsNew(BufferGetPage(buffer));
		header = st_extent_header(BufferGetPage(buffer));
		is_extent = header != NULL;
		if (is_extent)
			writer = header->xid;
		UnlockReleaseBuffer(buffer);

		if (is_extent && !writer_ended(writer, oldest_xmin))
			break;
		block++;
		if (is_extent && block == nblocks && first < block - 1)
		{
			add_range(out, &allocated, block - 1, block);
			left = first;
		}
		else if (is_extent)
			add_range(out, &allocated, first, block);
		if (!is_new)
			first = block;
	}
	return Max(Min(first, left), from);
}

/*
 * Is the block a page of an extent?  Makes one of a page of zeros, unless a row
 * has got it; and logs one that never was, as an entry of the directory, which
 * is logged, leads to it.  The free space map may know it from when it was zero.
 */
static bool
make_extent_page(Relation rel, BlockNumber block, Buffer *vmbuffer,
				 BufferAccessStrategy strategy)
{
	Buffer		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL,
											strategy);
	Page		page = BufferGetPage(buffer);
	bool		is_extent;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	is_extent = st_extent_header(page) != NULL;
	if (is_extent && RelationNeedsWAL(rel) && XLogRecPtrIsInvalid(PageGetLSN(page)))
	{
		PGAlignedBlock image;

		memcpy(image.data, page, BLCKSZ);
		st_wal_write_page(rel, buffer, image.data, true, InvalidBuffer);
	}
	UnlockReleaseBuffer(buffer);
	if (!is_extent)
		is_extent = st_extent_claim_page(rel, block, vmbuffer, strategy);
	if (is_extent)
		RecordPageWithFreeSpace(rel, block, 0);
	return is_extent;
}

/* Enters what no reference was found for, now that its writers have ended. */
static void
enter(StCatalog *cat, const StExtentRanges *known, const StExtentRanges *found,
	  BufferAccessStrategy strategy)
{
	Buffer		vmbuffer = InvalidBuffer;
	int			pos = 0;

	for (int i = 0; i < found->n; i++)
	{
		BlockNumber start = found->v[i].start;
		BlockNumber block = start;

		while (block < found->v[i].end)
		{
			BlockNumber next = block + 1;

			st_vacuum_delay_point(false);
			if (!in_ranges(known, &pos, block, &next) &&
				make_extent_page(cat->rel, block, &vmbuffer, strategy))
			{
				block = next;
				continue;
			}
			if (block > start)
				st_free_extent_add(cat, start, block - start);
			start = block = next;
		}
		if (found->v[i].end > start)
			st_free_extent_add(cat, start, found->v[i].end - start);
		FreeSpaceMapVacuumRange(cat->rel, found->v[i].start, found->v[i].end);
	}
	if (BufferIsValid(vmbuffer))
		ReleaseBuffer(vmbuffer);
}

/*
 * Returns the block from which the next look has to begin, at most walked.  It
 * must not be behind the extent of a writer that is still at work: if the
 * writer fails, its pages are orphans, and its descriptor may be gone before
 * the next look.
 */
static BlockNumber
before_unsettled(const StGroupVersions *versions, BlockNumber from,
				 BlockNumber walked)
{
	for (int i = 0; i < versions->n; i++)
	{
		const StGroupVersion *v = &versions->v[i];
		StExtentRange runs[ST_MAX_RUNS];
		int			nruns;

		if (v->state != HEAPTUPLE_INSERT_IN_PROGRESS || !v->finished)
			continue;
		nruns = st_group_extents(&v->group, runs);
		for (int r = 0; r < nruns; r++)
		{
			if (runs[r].start >= from)
				walked = Min(walked, runs[r].start);
		}
	}
	return walked;
}

/*
 * Called by VACUUM.  Returns from which block on pages may be those of writers
 * that are still at work.
 */
BlockNumber
st_free_orphans(Relation rel, TransactionId oldest_xmin,
				BufferAccessStrategy strategy)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber from;
	BlockNumber walked;
	BlockNumber settled = nblocks;
	StGroupVersions *versions;
	StExtentRanges known;
	StExtentRanges found = {0};
	StCatalog	cat;
	bool		exists;

	if (!st_catalog_open(&cat, rel, RowExclusiveLock))
		return settled;
	from = read_walked(&cat, &exists);
	if (from < nblocks)
	{
		versions = st_known_extents(rel, &cat, oldest_xmin, &known);
		walked = collect(rel, &known, from, nblocks, oldest_xmin, strategy,
						 &found);
		settled = walked;
		walked = before_unsettled(versions, from, walked);
		if (found.n > 0)
		{
			/* who finished in the meantime has a descriptor now */
			st_vacuum_begin_writing();
			(void) st_known_extents(rel, &cat, oldest_xmin, &known);
			enter(&cat, &known, &found, strategy);
		}
		/* entries are undone by an abort, this is not: look at them again */
		if (exists)
			write_walked(&cat, found.n > 0 ? Min(walked, found.v[0].start) : walked);
		else if (walked > from)
		{
			StWalkPayload payload = {
				.version = ST_WALK_VERSION, .walked = walked
			};

			if (found.n == 0)
				st_vacuum_begin_writing();
			st_note_add(&cat, ST_VACUUM_STATE, ST_WALK_ROW, &payload,
						sizeof(payload));
		}
	}
	st_catalog_close(&cat);
	return settled;
}
