/*-------------------------------------------------------------------------
 *
 * zm_build_zones.c
 *	  Which heap page gets which zone, when a zonemap is built.
 *
 * Zones must not overlap.  Pages are put in the order of a typical key, and
 * between two neighbours that overlap a border is found that lies between
 * their typical keys: a page with one stray row keeps its zone for the others.
 * Rows outside of their page's zone get exact entries.  Pages of a table in
 * random order keep next to nothing, and their zones are dropped (by the
 * caller, who sees the rows): such an index is a btree of exact entries.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "zm_build.h"
#include "zm_tree.h"

static int
compare_entries(const ZmSpace *space, IndexTuple a, IndexTuple b)
{
	ZmTarget	target;

	zm_target_from_entry(space, &target, a);
	return zm_compare_entry_key(space, &target, b);
}

static int
compare_pages(const void *a, const void *b, void *arg)
{
	const ZmPageKeys *left = *(ZmPageKeys *const *) a;
	const ZmPageKeys *right = *(ZmPageKeys *const *) b;
	int			result;

	CHECK_FOR_INTERRUPTS();
	result = compare_entries(arg, left->middle, right->middle);
	if (result != 0)
		return result;
	return left->block < right->block ? -1 : 1;
}

/* Begins the zone of `page` after that of `before`.  False: no room for it. */
static bool
border(const ZmSpace *space, ZmPageKeys *before, ZmPageKeys *page)
{
	int			gap = compare_entries(space, before->high, page->low);
	ItemPointerData tie;

	if (gap < 0)
	{
		page->zone = zm_zone_from(page->low, page->block, ZM_FENCED, NULL);
		return true;
	}
	if (gap == 0 && (page->block > before->block ||
					 compare_entries(space, before->zone, page->low) < 0))
	{
		/* Both have the key; positions are in the order of blocks. */
		ItemPointerSet(&tie, page->block, InvalidOffsetNumber);
		page->zone = zm_zone_from(page->low, page->block, ZM_TIE, &tie);
		return true;
	}
	if (compare_entries(space, page->low, before->middle) > 0)
	{
		page->zone = zm_zone_from(page->low, page->block, ZM_FENCED, NULL);
		before->exact_rows = true;
		return true;
	}
	if (compare_entries(space, before->high, page->middle) < 0)
	{
		/* After all rows with the key */
		page->zone = zm_copy_as(zm_close_zone(before->high), page->block);
		page->exact_rows = true;
		return true;
	}
	if (compare_entries(space, before->middle, page->middle) < 0)
	{
		page->zone = zm_zone_from(page->middle, page->block, ZM_FENCED, NULL);
		page->exact_rows = true;
		before->exact_rows = true;
		return true;
	}
	return false;
}

/*
 * Sorts the pages, and gives them zones, allocated in current memory.
 */
void
zm_assign_zones(const ZmSpace *space, ZmPageKeys **pages, int64 npages)
{
	ZmPageKeys *before = NULL;

	qsort_arg(pages, npages, sizeof(*pages), compare_pages,
			  unconstify(ZmSpace *, space));
	for (int64 i = 0; i < npages; i++)
	{
		ZmPageKeys *page = pages[i];

		CHECK_FOR_INTERRUPTS();
		if (before == NULL)
			page->zone = zm_zone_from(page->low, page->block, ZM_FENCED, NULL);
		else if (!border(space, before, page))
		{
			page->exact_rows = true;
			continue;
		}
		else
			before->next = page;
		before = page;
	}
}

/* Whether the page's zone covers the target's key. */
bool
zm_page_keys_cover(const ZmSpace *space, const ZmPageKeys *page,
				   const ZmTarget *target)
{
	return page->zone != NULL &&
		zm_covers(space, page->zone,
				  page->next == NULL ? NULL : page->next->zone, target);
}
