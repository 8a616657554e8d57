/*-------------------------------------------------------------------------
 *
 * st_tid_pages.h
 *	  The pages of a TID bitmap, one after another.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_TID_PAGES_H
#define ST_TID_PAGES_H

#include "postgres.h"

#include "nodes/tidbitmap.h"

#include "st_store.h"

typedef struct StTidPage
{
	BlockNumber block;
	int			noffsets;
	OffsetNumber offsets[ST_ROWS_PER_VBLOCK];	/* ascending */
} StTidPage;

typedef struct StTidPages StTidPages;

/*
 * Iterates over a bitmap that nobody adds to any more, in the current memory
 * context.  The bitmap is freed with st_tid_pages_end().
 */
extern StTidPages *st_tid_pages_begin(TIDBitmap *bitmap);

/*
 * The next page, in ascending order of blocks, or false.  Where the bitmap
 * knows the page only, offsets are all that a virtual block can have.
 */
extern bool st_tid_pages_next(StTidPages *pages, StTidPage *page);

extern void st_tid_pages_end(StTidPages *pages);

#endif							/* ST_TID_PAGES_H */
