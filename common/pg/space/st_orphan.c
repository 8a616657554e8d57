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
 * transaction is in the directory again.  So every block is looked at once:
 * an entry of VACUUM's says up to where that was done.
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
#include "storage/procarray.h"

#include "st_space.h"

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
 * end here or because pages become those of an extent in the middle of it.
 * Not undone by an abort.
 */
void
st_orphans_from(StCatalog *cat, BlockNumber end)
{
	bool		exists;

	if (read_walked(cat, &exists) > end && exists)
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

/*
 * Collects blocks of extents without a reference.  Stops at a page whose
 * writer is still at work; returns the block to go on from the next time.
 */
static BlockNumber
collect(Relation rel, const StExtentRanges *known, BlockNumber from,
		BlockNumber nblocks, TransactionId oldest_xmin,
		BufferAccessStrategy strategy, StExtentRanges *out)
{
	BlockNumber block = from;
	int			allocated = 0;
	int			pos = 0;

	while (block < nblocks)
	{
		Buffer		buffer;
		StExtentPageHeader *header;
		bool		is_extent;
		uint64		writer = 0;
		BlockNumber end;

		st_vacuum_delay_point(false);
		if (in_ranges(known, &pos, block, &end))
		{
			block = end;
			continue;
		}
		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL,
									strategy);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		header = st_extent_header(BufferGetPage(buffer));
		is_extent = header != NULL;
		if (is_extent)
			writer = header->xid;
		UnlockReleaseBuffer(buffer);

		if (is_extent && !writer_ended(writer, oldest_xmin))
			return block;
		if (is_extent && out->n > 0 && out->v[out->n - 1].end == block)
			out->v[out->n - 1].end++;
		else if (is_extent)
		{
			if (out->n == allocated)
			{
				allocated = Max(16, allocated * 2);
				out->v = out->v == NULL ?
					palloc(allocated * sizeof(StExtentRange)) :
					repalloc(out->v, allocated * sizeof(StExtentRange));
			}
			out->v[out->n].start = block;
			out->v[out->n++].end = block + 1;
		}
		block++;
	}
	return Max(block, from);
}

/* Enters what no reference was found for, now that its writers have ended. */
static void
enter(StCatalog *cat, const StExtentRanges *known, const StExtentRanges *found)
{
	int			pos = 0;

	for (int i = 0; i < found->n; i++)
	{
		BlockNumber start = found->v[i].start;

		while (start < found->v[i].end)
		{
			BlockNumber block = start;
			BlockNumber end = start;

			while (block < found->v[i].end && !in_ranges(known, &pos, block, &end))
				block++;
			if (block > start)
				st_free_extent_add(cat, start, block - start);
			start = Max(block, end);
		}
	}
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

/* Called by VACUUM. */
void
st_free_orphans(Relation rel, TransactionId oldest_xmin,
				BufferAccessStrategy strategy)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber from;
	BlockNumber walked;
	StGroupVersions *versions;
	StExtentRanges known;
	StExtentRanges found = {0};
	StCatalog	cat;
	bool		exists;

	if (!st_catalog_open(&cat, rel, RowExclusiveLock))
		return;
	from = read_walked(&cat, &exists);
	if (from < nblocks)
	{
		versions = st_known_extents(rel, &cat, oldest_xmin, &known);
		walked = collect(rel, &known, from, nblocks, oldest_xmin, strategy,
						 &found);
		walked = before_unsettled(versions, from, walked);
		if (found.n > 0)
		{
			/* who finished in the meantime has a descriptor now */
			st_vacuum_begin_writing();
			(void) st_known_extents(rel, &cat, oldest_xmin, &known);
			enter(&cat, &known, &found);
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
}
