/*-------------------------------------------------------------------------
 *
 * st_extent_write.c
 *	  Writing the image of a row group: which pages it gets.
 *
 * New pages are made at the end of the file under the relation extension
 * lock, one by one, each locked from its birth until it is an empty page of an
 * extent: a zero page that anybody else can lock may become a heap page.  That
 * is not logged, so that others wait for the lock as short as can be; pages
 * that a crash leaves zero are heap's.  The image is written afterwards.  If
 * the writer fails half-way, the pages are an orphan: empty pages to heap,
 * recognisable by their header, freed by VACUUM (st_orphan.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/visibilitymap.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"

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

/* Makes n pages at the end of the file; returns the first. */
static BlockNumber
extend(Relation rel, uint32 n)
{
	PGAlignedBlock image;
	BlockNumber start;

	st_extent_fill_free_page((Page) image.data);
	LockRelationForExtension(rel, ExclusiveLock);
	start = RelationGetNumberOfBlocks(rel);
	extent_check_room(rel, start, n);
	for (uint32 i = 0; i < n; i++)
	{
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		buffer = st_extend_locked(rel, NULL);
		if (BufferGetBlockNumber(buffer) != start + i)
			elog(ERROR, "extent of relation \"%s\" is not contiguous at block %u",
				 RelationGetRelationName(rel), start + i);
		st_wal_write_page(rel, buffer, image.data, false, InvalidBuffer);
		UnlockReleaseBuffer(buffer);
	}
	UnlockRelationForExtension(rel, ExclusiveLock);
	return start;
}

/* Writes the next pages of the image to a run of pages of extents. */
static void
write_run(ExtentWriter *w, const StExtentRange *run)
{
	PGAlignedBlock image;

	for (BlockNumber block = run->start; block < run->end; block++)
	{
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		st_extent_fill_page(image.data, w->img, w->group, w->pageno++, w->xid);
		visibilitymap_pin(w->rel, block, &w->vmbuffer);
		buffer = extent_lock_free(w->rel, block);
		st_wal_write_page(w->rel, buffer, image.data,
						  RelationNeedsWAL(w->rel), w->vmbuffer);
		UnlockReleaseBuffer(buffer);
	}
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
		write_run(&w, &runs[i]);

	if (w.pageno < npages)
	{
		StExtentRange *last = &runs[nruns++];

		last->start = extend(rel, npages - w.pageno);
		last->end = last->start + npages - w.pageno;
		write_run(&w, last);
	}
	if (BufferIsValid(w.vmbuffer))
		ReleaseBuffer(w.vmbuffer);
	st_group_set_extents(group, runs, nruns);
}
