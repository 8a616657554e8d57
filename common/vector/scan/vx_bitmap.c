/*-------------------------------------------------------------------------
 *
 * vx_bitmap.c
 *	  The bitmap of an index, taken apart into what a scan reads.
 *
 * Blocks of a bitmap ascend, so real ones, of the delta, come before virtual
 * ones, whose rows then come in the order of row groups and vectors.  One
 * page of the bitmap and the rows of one vector are at hand at a time.
 *
 * The bitmap says which rows may pass: the scan tests all its conditions
 * again, so pages that have become lossy need no care.  Nor does it know what
 * a snapshot sees: rows of row groups that are not in the list are left out,
 * deleted ones are the source's affair.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "vx_bitmap.h"
#include "st_tid_pages.h"

struct VxBitmap
{
	PlanState  *plan;
	MemoryContext mcxt;
	StTidPages *pages;			/* NULL: the plan has not run */
	bool		have_page;
	StTidPage	page;			/* at hand */
	int			next;			/* its first offset that is not taken */
	uint32		group;			/* earlier ones are done */
	uint64		rows[VX_SELECTION_WORDS];	/* of the vector */
};

VxBitmap *
vx_bitmap_create(PlanState *plan, MemoryContext mcxt)
{
	VxBitmap   *bitmap = MemoryContextAllocZero(mcxt, sizeof(VxBitmap));

	bitmap->plan = plan;
	bitmap->mcxt = mcxt;
	return bitmap;
}

static void
next_page(VxBitmap *bitmap)
{
	CHECK_FOR_INTERRUPTS();
	bitmap->have_page = st_tid_pages_next(bitmap->pages, &bitmap->page);
	bitmap->next = 0;
}

void
vx_bitmap_run(VxBitmap *bitmap)
{
	MemoryContext old;
	TIDBitmap  *tids;

	if (bitmap->pages != NULL)
		return;
	old = MemoryContextSwitchTo(bitmap->mcxt);
	tids = (TIDBitmap *) MultiExecProcNode(bitmap->plan);
	if (tids == NULL || !IsA(tids, TIDBitmap))
		elog(ERROR, "unrecognized result from subplan");
	bitmap->pages = st_tid_pages_begin(tids);
	MemoryContextSwitchTo(old);
	bitmap->group = 0;
	next_page(bitmap);
}

bool
vx_bitmap_next_block(VxBitmap *bitmap, BlockNumber *block)
{
	if (!bitmap->have_page || bitmap->page.block >= ST_VIRTUAL_BLOCK)
		return false;
	*block = bitmap->page.block;
	next_page(bitmap);
	return true;
}

/* The next row of the virtual blocks, without taking it. */
static bool
peek_row(VxBitmap *bitmap, uint64 *row)
{
	ItemPointerData tid;

	while (bitmap->have_page && bitmap->next >= bitmap->page.noffsets)
		next_page(bitmap);
	if (!bitmap->have_page)
		return false;
	Assert(bitmap->page.block >= ST_VIRTUAL_BLOCK);
	ItemPointerSet(&tid, bitmap->page.block, bitmap->page.offsets[bitmap->next]);
	*row = st_row_from_tid(&tid);
	return true;
}

static void
skip_rows_before(VxBitmap *bitmap, uint64 end)
{
	uint64		row;

	while (peek_row(bitmap, &row) && row < end)
		bitmap->next++;
}

void
vx_bitmap_skip_group(VxBitmap *bitmap, const StGroup *group)
{
	skip_rows_before(bitmap, group->first_row + group->nrows);
}

/* Takes the rows from first on that are below end. */
static void
take_rows_of_vector(VxBitmap *bitmap, uint64 first, uint64 end)
{
	uint64		row;

	memset(bitmap->rows, 0, sizeof(bitmap->rows));
	while (peek_row(bitmap, &row) && row < end)
	{
		int			i = (int) (row - first);

		bitmap->rows[i / 64] |= UINT64CONST(1) << (i % 64);
		bitmap->next++;
	}
}

bool
vx_bitmap_next_group(VxBitmap *bitmap, const StGroupList *groups, uint32 *group)
{
	uint64		row;

	while (peek_row(bitmap, &row))
	{
		const StGroup *g;

		while (bitmap->group < (uint32) groups->ngroups &&
			   groups->groups[bitmap->group].first_row +
			   groups->groups[bitmap->group].nrows <= row)
			bitmap->group++;
		if (bitmap->group >= (uint32) groups->ngroups)
			return false;
		g = &groups->groups[bitmap->group];
		if (row < g->first_row)
		{
			skip_rows_before(bitmap, g->first_row);
			continue;
		}
		*group = bitmap->group;
		return true;
	}
	return false;
}

uint32
vx_bitmap_take_vector(VxBitmap *bitmap, StReader *reader, const StGroup *group)
{
	uint64		row = 0;
	uint32		vecno;

	(void) peek_row(bitmap, &row);
	vecno = vx_format->vector_of_row(reader, row - group->first_row);
	take_rows_of_vector(bitmap, group->first_row + vx_format->vector_start(reader, vecno),
						group->first_row + vx_format->vector_start(reader, vecno + 1));
	return vecno;
}

int
vx_bitmap_select(const VxBitmap *bitmap, uint64 *selection, int nrows)
{
	int			count = 0;

	for (int w = 0; w < (nrows + 63) / 64; w++)
	{
		count += pg_popcount64(bitmap->rows[w]);
		selection[w] &= bitmap->rows[w];
	}
	return count;
}

void
vx_bitmap_forget(VxBitmap *bitmap)
{
	if (bitmap->pages)
		st_tid_pages_end(bitmap->pages);
	bitmap->pages = NULL;
	bitmap->have_page = false;
}
