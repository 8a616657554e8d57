/*-------------------------------------------------------------------------
 *
 * st_extent_write.c
 *	  Writing the image of a row group: which pages it gets.
 *
 * New pages are made at the end of the file all at once, under the relation
 * extension lock: others, who need a page for a row, wait about as long for
 * many pages as for one.  Only the last of them is written, as the server does
 * where its hash indexes grow.  What is before it reads as zeros and belongs
 * to nobody until it is written.  Heap's inserts do not look for room there:
 * they try the file's last page, which is one of ours at once, and pages of the
 * free space map, which does not know these.  But VACUUM enters zero pages into
 * that map, and after a crash it may have places behind the file's end.  So
 * each page is locked and looked at before it is written, and if somebody has
 * it, the image starts anew at the new end of the file.
 *
 * Growing is not logged: after a crash all of these pages may be zero, and
 * heap's.  If the writer fails half-way, what was written is an orphan: empty
 * pages to heap, recognisable by their header, freed by VACUUM together with
 * the zero pages between them and the last one (st_orphan.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/visibilitymap.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"

#include "st_space.h"
#include "st_wal.h"

/*
 * The file must stay below the block numbers of virtual TIDs.
 */
static void
extent_check_room(Relation rel, BlockNumber start, uint64 npages)
{
	if (start + npages >= ST_VIRTUAL_BLOCK)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("relation \"%s\" would exceed %u blocks",
						RelationGetRelationName(rel), ST_VIRTUAL_BLOCK)));
}

/* Locks a page of a free extent to overwrite it. */
static Buffer
extent_lock_free(Relation rel, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(rel, block);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (st_extent_header(BufferGetPage(buffer)) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("block %u of relation \"%s\" is not a page of a free extent",
						block, RelationGetRelationName(rel))));
	return buffer;
}

typedef struct ExtentWriter
{
	Relation	rel;
	const StImage *img;
	const StGroup *group;		/* first_row and nblocks */
	uint64		xid;
	uint32		pageno;			/* of the next page */
	Buffer		vmbuffer;
} ExtentWriter;

/*
 * Makes n pages at the end of the file, zero but for the last one; returns the
 * first.  The last one is a page of a free extent, of this transaction.
 *
 * It is written past the buffer pool, where no block behind the end of the file
 * can be but as zeros.  It counts as much as zeros do, and is not logged until
 * VACUUM finds it and enters it as free (st_orphan.c).  All of it that is not
 * zero fits into one sector, so that a crash leaves either it or zeros.
 *
 * The file may end with a zero page for a moment: before the last one is
 * written, and where it goes on in another segment, of which the one before is
 * filled up first.  Who takes that page is seen when it is to be written.
 */
static BlockNumber
reserve(Relation rel, uint32 n)
{
	PGIOAlignedBlock last;
	BlockNumber start;

	st_extent_fill_free_page((Page) last.data);
	LockRelationForExtension(rel, ExclusiveLock);
	start = RelationGetNumberOfBlocks(rel);
	extent_check_room(rel, start, n);
	st_zero_extend(rel, start, n - 1);
	PageSetChecksum((Page) last.data, start + n - 1);
	smgrextend(RelationGetSmgr(rel), MAIN_FORKNUM, start + n - 1, last.data,
			   false);
	UnlockRelationForExtension(rel, ExclusiveLock);
	return start;
}

/*
 * Locks a page that reserve() has made to write it.  InvalidBuffer: somebody
 * else has it.  A full disk is an error here, and not one of whoever writes the
 * page from the buffer pool later.
 */
static Buffer
lock_reserved(ExtentWriter *w, BlockNumber block, bool last)
{
	Buffer		buffer = ReadBuffer(w->rel, block);
	Page		page = BufferGetPage(buffer);
	const StExtentPageHeader *header;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (PageIsNew(page))
	{
		st_fill_hole(w->rel, buffer);
		return buffer;
	}
	header = st_extent_header(page);
	if (last && header != NULL && header->xid == w->xid)
		return buffer;
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/*
 * Writes the next pages of the image to a run of pages of extents, or of new
 * ones.  False: one of these belongs to somebody else.
 */
static bool
write_run(ExtentWriter *w, const StExtentRange *run, bool reserved)
{
	PGAlignedBlock image;

	for (BlockNumber block = run->start; block < run->end; block++)
	{
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		st_extent_fill_page(image.data, w->img, w->group, w->pageno++, w->xid);
		visibilitymap_pin(w->rel, block, &w->vmbuffer);
		buffer = reserved ? lock_reserved(w, block, block == run->end - 1) :
			extent_lock_free(w->rel, block);
		if (!BufferIsValid(buffer))
			return false;
		st_wal_write_page(w->rel, buffer, image.data,
						  RelationNeedsWAL(w->rel), w->vmbuffer);
		UnlockReleaseBuffer(buffer);
		st_wal_keep_up_beside_writers();
	}
	return true;
}

/*
 * VACUUM may have entered pages of a run into the free space map while they
 * were zero.  Inserts would go from one to the next.
 */
static void
forget_space(Relation rel, const StExtentRange *run)
{
	bool		found = false;

	for (BlockNumber block = run->start; block < run->end; block++)
	{
		if (GetRecordedFreeSpace(rel, block) == 0)
			continue;
		RecordPageWithFreeSpace(rel, block, 0);
		found = true;
	}
	if (found)
		FreeSpaceMapVacuumRange(rel, run->start, run->end);
}

/*
 * Extents that VACUUM has freed are used first, else the file grows.  A free
 * extent is ours from the moment it is taken, so no lock on the file is
 * needed for it.
 */
void
st_extent_write(Relation rel, const StImage *img, StGroup *group,
				int max_runs, BlockNumber before)
{
	ExtentWriter w = {.rel = rel, .img = img, .group = group};
	uint32		npages = Max(1, (st_image_len(img) + ST_EXTENT_PAYLOAD - 1) / ST_EXTENT_PAYLOAD);
	StExtentRange runs[ST_MAX_RUNS];
	int			nruns = 0;

	w.xid = U64FromFullTransactionId(GetTopFullTransactionId());
	w.vmbuffer = InvalidBuffer;
	group->nblocks = npages;
	group->image_len = st_image_len(img);

	if (before > 0)
		nruns = st_free_extent_take(rel, npages, max_runs, before, runs);
	for (int i = 0; i < nruns; i++)
		(void) write_run(&w, &runs[i], false);

	while (w.pageno < npages)
	{
		StExtentRange *last = &runs[nruns];
		uint32		pageno = w.pageno;

		last->start = reserve(rel, npages - pageno);
		last->end = last->start + npages - pageno;
		if (write_run(&w, last, true))
		{
			forget_space(rel, last);
			nruns++;
		}
		else
		{
			elog(DEBUG1, "page of a new extent at block %u of relation \"%s\" was taken",
				 last->start + w.pageno - pageno - 1, RelationGetRelationName(rel));
			w.pageno = pageno;
		}
	}
	if (BufferIsValid(w.vmbuffer))
		ReleaseBuffer(w.vmbuffer);
	st_group_set_extents(group, runs, nruns);
}
