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

struct StTidPages
{
	TIDBitmap  *bitmap;
#ifdef ST_HAVE_BITMAP_STREAM
	TBMPrivateIterator *iterator;
#else
	TBMIterator *iterator;
#endif
};

static void
take_all_offsets(StTidPage *page)
{
	for (int i = 0; i < ST_ROWS_PER_VBLOCK; i++)
		page->offsets[i] = i + 1;
	page->noffsets = ST_ROWS_PER_VBLOCK;
}

#ifdef ST_HAVE_BITMAP_STREAM

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
	TBMIterateResult result;

	if (!tbm_private_iterate(pages->iterator, &result))
		return false;
	page->block = result.blockno;
	if (result.lossy)
		take_all_offsets(page);
	else
		page->noffsets = tbm_extract_page_tuple(&result, page->offsets, ST_ROWS_PER_VBLOCK);
	Assert(page->noffsets <= ST_ROWS_PER_VBLOCK);
	return true;
}

void
st_tid_pages_end(StTidPages *pages)
{
	tbm_end_private_iterate(pages->iterator);
	tbm_free(pages->bitmap);
	pfree(pages);
}

#else

StTidPages *
st_tid_pages_begin(TIDBitmap *bitmap)
{
	StTidPages *pages = palloc(sizeof(StTidPages));

	pages->bitmap = bitmap;
	pages->iterator = tbm_begin_iterate(bitmap);
	return pages;
}

bool
st_tid_pages_next(StTidPages *pages, StTidPage *page)
{
	TBMIterateResult *result = tbm_iterate(pages->iterator);

	if (result == NULL)
		return false;
	page->block = result->blockno;
	if (result->ntuples < 0)
	{
		take_all_offsets(page);
		return true;
	}
	Assert(result->ntuples <= ST_ROWS_PER_VBLOCK);
	page->noffsets = result->ntuples;
	memcpy(page->offsets, result->offsets, result->ntuples * sizeof(OffsetNumber));
	return true;
}

void
st_tid_pages_end(StTidPages *pages)
{
	tbm_end_iterate(pages->iterator);
	tbm_free(pages->bitmap);
	pfree(pages);
}

#endif							/* ST_HAVE_BITMAP_STREAM */
