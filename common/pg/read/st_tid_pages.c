/*-------------------------------------------------------------------------
 *
 * st_tid_pages.c
 *	  The pages of a TID bitmap, one after another, on every server.
 *
 * Owns the bitmap and its iterator.  Takes no locks, and does not look at the
 * blocks that it names.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "st_compat.h"
#include "st_tid_pages.h"

#ifndef ST_HAVE_BITMAP_STREAM
#define TBMPrivateIterator TBMIterator
#define tbm_begin_private_iterate tbm_begin_iterate
#define tbm_end_private_iterate tbm_end_iterate
#endif

struct StTidPages
{
	TIDBitmap  *bitmap;
	TBMPrivateIterator *iterator;
};

StTidPages *
st_tid_pages_begin(TIDBitmap *bitmap)
{
	StTidPages *pages = palloc(sizeof(StTidPages));

	pages->bitmap = bitmap;
	pages->iterator = tbm_begin_private_iterate(bitmap);
	return pages;
}

bool
st_tid_pages_next(StTidPages *pages, StTidPage *page)
{
#ifdef ST_HAVE_BITMAP_STREAM
	TBMIterateResult result;

	if (!tbm_private_iterate(pages->iterator, &result))
		return false;
	page->block = result.blockno;
	page->noffsets = result.lossy ? -1 :
		tbm_extract_page_tuple(&result, page->offsets, ST_ROWS_PER_VBLOCK);
#else
	TBMIterateResult *result = tbm_iterate(pages->iterator);

	if (result == NULL)
		return false;
	page->block = result->blockno;
	page->noffsets = result->ntuples;
	if (result->ntuples > 0)
		memcpy(page->offsets, result->offsets, result->ntuples * sizeof(OffsetNumber));
#endif
	Assert(page->noffsets <= ST_ROWS_PER_VBLOCK);
	if (page->noffsets < 0)
	{
		/* a lossy page: any of its rows */
		for (int i = 0; i < ST_ROWS_PER_VBLOCK; i++)
			page->offsets[i] = i + 1;
		page->noffsets = ST_ROWS_PER_VBLOCK;
	}
	return true;
}

void
st_tid_pages_end(StTidPages *pages)
{
	tbm_end_private_iterate(pages->iterator);
	tbm_free(pages->bitmap);
	pfree(pages);
}
