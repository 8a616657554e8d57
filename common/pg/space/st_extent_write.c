/*-------------------------------------------------------------------------
 *
 * st_extent_write.c
 *	  Writing the image of a row group: which pages it gets.
 *
 * New pages are made at the end of the file under the relation extension
 * lock, one by one, each locked from its birth until it is formatted: a zero
 * page that anybody else can lock may become a heap page.  If the writer fails
 * half-way, the pages are an orphan: empty pages to heap, recognisable by
 * their header, freed by VACUUM (st_orphan.c).
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

/* Writes the next n pages of the image from block `start` on. */
static void
write_run(ExtentWriter *w, BlockNumber start, uint32 n, bool reuse)
{
	PGAlignedBlock image;

	for (uint32 i = 0; i < n; i++)
	{
		BlockNumber block = start + i;
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		st_extent_fill_page(image.data, w->img, w->group, w->pageno++, w->xid);

		/* Pin before the page exists: it must not be unlocked once it does. */
		visibilitymap_pin(w->rel, block, &w->vmbuffer);
		buffer = reuse ? extent_lock_free(w->rel, block) :
			st_extend_locked(w->rel, NULL);
		if (BufferGetBlockNumber(buffer) != block)
			elog(ERROR, "extent of relation \"%s\" is not contiguous at block %u",
				 RelationGetRelationName(w->rel), block);

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
		write_run(&w, runs[i].start, runs[i].end - runs[i].start, true);

	if (w.pageno < npages)
	{
		StExtentRange *last = &runs[nruns++];

		LockRelationForExtension(rel, ExclusiveLock);
		last->start = RelationGetNumberOfBlocks(rel);
		last->end = last->start + npages - w.pageno;
		extent_check_room(rel, last->start, npages - w.pageno);
		write_run(&w, last->start, npages - w.pageno, false);
		UnlockRelationForExtension(rel, ExclusiveLock);
	}
	if (BufferIsValid(w.vmbuffer))
		ReleaseBuffer(w.vmbuffer);
	st_group_set_extents(group, runs, nruns);
}
