/*-------------------------------------------------------------------------
 *
 * zm_cursor.c
 *	  Walks the groups of a zonemap that the ranges of a scan meet, in both
 *	  directions.
 *
 * A group is a zone with the exact entries up to the next zone.  A leaf, or
 * the few zones of it that a range meets, is copied under its lock and then
 * read without it: what the copy lacks came after the scan's snapshot.  A leaf
 * to the right is found by the copy's right link, or, if leaves were merged
 * since, by a descent for the position where the copy ends; one to the left by
 * a descent for the position where it begins.  If no zone begins there any more,
 * because it was joined to the one before, that one is cut in two.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "zm_scan_int.h"

/*
 * Ranges that meet no more zones of a leaf, and no more entries in all, get a
 * copy of these alone.
 */
#define FEW_ZONES 8
#define FEW_ENTRIES 32

/* Room for the copy of a whole leaf, or of what is left of it. */
char *
zm_cursor_whole(ZmCursor *cursor)
{
	if (cursor->whole == NULL)
		cursor->whole = MemoryContextAlloc(cursor->context, ZM_COPY_SIZE);
	return cursor->whole;
}

/* Copies a locked leaf, and lets it go. */
static void
take_leaf(ZmCursor *cursor, Buffer buf)
{
	Page		page = BufferGetPage(buf);
	PageHeader	header = (PageHeader) page;

	memcpy(zm_cursor_whole(cursor), page, header->pd_lower);
	memcpy(cursor->whole + header->pd_upper,
		   (char *) page + header->pd_upper, BLCKSZ - header->pd_upper);
	cursor->leaf = cursor->whole;
	cursor->fresh = true;
	cursor->leaf_block = BufferGetBlockNumber(buf);
	UnlockReleaseBuffer(buf);
}

/* Makes an empty page without room for anything but entries. */
static void
init_copy(char *copy, Size size, Page leaf, BlockNumber right)
{
	PageHeader	header = (PageHeader) copy;
	ZmOpaque	opaque = (ZmOpaque) (copy + size - sizeof(ZmOpaqueData));

	header->pd_lower = SizeOfPageHeaderData;
	header->pd_upper = header->pd_special = (char *) opaque - copy;
	*opaque = *ZmPageGetOpaque(leaf);
	opaque->right = right;
}

/*
 * Adds what is not of the leaf to its copy: after what is a page, where there is
 * room for two.
 */
static void
add_behind(Page copy, IndexTuple itup)
{
	PageHeader	header = (PageHeader) copy;
	int			n = PageGetMaxOffsetNumber(copy);
	int			at = ZM_COPY_PAGE + n * MAXALIGN(ZM_MAX_ENTRY);

	Assert(n < 2 && IndexTupleSize(itup) <= ZM_MAX_ENTRY);
	header->pd_lower += sizeof(ItemIdData);
	memcpy(copy + at, itup, IndexTupleSize(itup));
	ItemIdSetNormal(PageGetItemId(copy, n + 1), at, IndexTupleSize(itup));
}

static bool
add_to_copy(Page part, IndexTuple itup)
{
	PageHeader	header = (PageHeader) part;
	Size		size = IndexTupleSize(itup);
	int			upper = header->pd_upper - MAXALIGN(size);

	if (upper < header->pd_lower + (int) sizeof(ItemIdData))
		return false;
	header->pd_lower += sizeof(ItemIdData);
	header->pd_upper = upper;
	memcpy(part + upper, itup, size);
	ItemIdSetNormal(PageGetItemId(part, PageGetMaxOffsetNumber(part)), upper,
					size);
	return true;
}

/*
 * Copies a zone and entries of its group or of more, from one on to `last`, and
 * what comes after the last group as high key, in the shape of a leaf, and lets
 * the leaf go.  False, and nothing happened, if there is too much, or if exact
 * entries have to be compared with the zone before the first one, too, because
 * that touches it.
 */
static bool
take_part(ZmCursor *cursor, Buffer buf, OffsetNumber zone, OffsetNumber from,
		  OffsetNumber last)
{
	Page		page = BufferGetPage(buf);
	Page		part = cursor->part.data;
	IndexTuple	first = ZmPageGetEntry(page, zone);
	bool		alone = (ZmFlags(first) & (ZM_FENCED | ZM_NO_KEY)) != 0;
	OffsetNumber end;
	bool		to_end;
	IndexTuple	next;

	if (cursor->shared != NULL)
		return false;
	end = zm_zone_after(page, last);
	to_end = end > PageGetMaxOffsetNumber(page);
	next = zm_bound_at(page, end);
	init_copy(part, ZM_PART_SIZE, page,
			  to_end ? ZmPageGetOpaque(page)->right : cursor->leaf_block);
	if (next != NULL && !add_to_copy(part, next))
		return false;
	if (!add_to_copy(part, first))
		return false;
	for (OffsetNumber off = from; off <= last; off++)
	{
		IndexTuple	itup = ZmPageGetEntry(page, off);

		if ((!ZmIsZone(itup) && !alone) || !add_to_copy(part, itup))
			return false;
	}
	cursor->leaf = part;
	UnlockReleaseBuffer(buf);
	return true;
}

/* The group after the current zone, or the first or last of a range. */
OffsetNumber
zm_cursor_group_end(ZmCursor *cursor)
{
	return zm_zone_after(cursor->leaf, cursor->zone);
}

/* Whether the upper bound is before the position of an entry. */
static bool
ends_before(ZmCursor *cursor, IndexTuple itup)
{
	return zm_compare(&cursor->space, &cursor->quals.range.upper, itup) <= 0;
}

/*
 * Takes what the range needs of a locked leaf: a zone, to which it goes, and
 * what comes from an entry on, before which no exact entry is in the range.
 */
static void
take_right(ZmCursor *cursor, Buffer buf, OffsetNumber zone, OffsetNumber from)
{
	Page		page = BufferGetPage(buf);
	OffsetNumber max = PageGetMaxOffsetNumber(page);
	OffsetNumber last = from - 1;
	int			nzones = 1;
	bool		few = true;

	while (few && last < max &&
		   !ends_before(cursor, ZmPageGetEntry(page, last + 1)))
	{
		last++;
		nzones += ZmIsZone(ZmPageGetEntry(page, last));
		few = nzones <= FEW_ZONES && last - from < FEW_ENTRIES;
	}
	cursor->leaf_block = BufferGetBlockNumber(buf);
	if (few && take_part(cursor, buf, zone, from, last))
		cursor->zone = ZmPageFirst(cursor->leaf);
	else
	{
		take_leaf(cursor, buf);
		cursor->zone = zone;
	}
}

static bool
begin_at_lower(ZmCursor *cursor)
{
	const ZmTarget *lower = &cursor->quals.range.lower;
	Buffer		buf = zm_descend(&cursor->space, lower, BUFFER_LOCK_SHARE);
	Page		page = BufferGetPage(buf);
	OffsetNumber off = zm_search(&cursor->space, page, lower);
	OffsetNumber zone = zm_zone_at(page, off);

	if (ends_before(cursor, ZmPageGetEntry(page, zone)))
	{
		UnlockReleaseBuffer(buf);
		return false;
	}
	take_right(cursor, buf, zone, off + 1);
	return true;
}

static void
begin_at_upper(ZmCursor *cursor)
{
	const ZmTarget *lower = &cursor->quals.range.lower;
	const ZmTarget *upper = &cursor->quals.range.upper;
	Buffer		buf = zm_descend(&cursor->space, upper, BUFFER_LOCK_SHARE);
	Page		page = BufferGetPage(buf);
	OffsetNumber last = zm_search(&cursor->space, page, upper);
	OffsetNumber zone = zm_zone_at(page, last);
	OffsetNumber first = zone;
	int			nzones = 1;

	while (first > ZmPageFirst(page) && nzones <= FEW_ZONES &&
		   zm_compare(&cursor->space, lower, ZmPageGetEntry(page, first)) < 0)
	{
		first = zm_zone_at(page, first - 1);
		nzones++;
	}
	cursor->leaf_block = BufferGetBlockNumber(buf);
	if (nzones <= FEW_ZONES && last - first < FEW_ENTRIES &&
		take_part(cursor, buf, first, first + 1, last))
		cursor->zone = ZmPageFirst(cursor->leaf) + zone - first;
	else
	{
		take_leaf(cursor, buf);
		cursor->zone = zone;
	}
}

/*
 * Copies what a locked leaf has from one position on (an entry of no block;
 * NULL: all), and before another one, in the shape of a leaf.  Neither is in the
 * leaf, so a zone is cut in two there: zm_fold.c has joined it to the one
 * before.
 */
static void
take_between(ZmCursor *cursor, Buffer buf, IndexTuple from, IndexTuple to)
{
	const ZmSpace *space = &cursor->space;
	Page		page = BufferGetPage(buf);
	char	   *copy = zm_cursor_whole(cursor);
	OffsetNumber first = ZmPageFirst(page);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	BlockNumber right = ZmPageGetOpaque(page)->right;
	ZmTarget	position;
	bool		added = true;

	cursor->leaf_block = BufferGetBlockNumber(buf);
	if (to != NULL)
	{
		zm_target_from_entry(space, &position, to);
		last = zm_search(space, page, &position);
		right = cursor->leaf_block;
	}
	else if (!ZmPageIsRightmost(page))
		to = ZmPageGetEntry(page, ZM_HIGH_KEY);
	init_copy(copy, ZM_COPY_PAGE, page, right);
	if (to != NULL)
		add_behind(copy, to);
	if (from != NULL)
	{
		zm_target_from_entry(space, &position, from);
		first = zm_search(space, page, &position) + 1;
		from = zm_copy_as(from,
						  ZmBlock(ZmPageGetEntry(page,
												 zm_zone_at(page, first - 1))));
		add_behind(copy, from);
		pfree(from);
	}
	for (OffsetNumber off = first; off <= last; off++)
		added = added && add_to_copy(copy, ZmPageGetEntry(page, off));
	if (!added)
		elog(ERROR, "copy of a zonemap page has no room");
	cursor->leaf = copy;
	cursor->fresh = true;
	UnlockReleaseBuffer(buf);
}

/*
 * The last entry of a leaf not after a position where a zone begins, or began
 * when it was copied; the zone if it is there, not the exact entry behind it
 * whose TID its tie may be.
 */
static OffsetNumber
search_zone(ZmCursor *cursor, Page page, const ZmTarget *position)
{
	OffsetNumber off = zm_search(&cursor->space, page, position);

	while (off > ZmPageFirst(page) && !ZmIsZone(ZmPageGetEntry(page, off)) &&
		   zm_compare(&cursor->space, position,
					  ZmPageGetEntry(page, off - 1)) == 0)
		off--;
	return off;
}

/*
 * Goes to what comes after the copy at hand: the first zone of the leaf to the
 * right, unless leaves were merged since the copy was made.
 */
static void
take_next(ZmCursor *cursor)
{
	const ZmSpace *space = &cursor->space;
	Page		page = cursor->leaf;
	IndexTuple	high = zm_copy_as(ZmPageGetEntry(page, ZM_HIGH_KEY),
								  InvalidBlockNumber);
	Buffer		buf = zm_read_page(space->index, ZmPageGetOpaque(page)->right,
								   BUFFER_LOCK_SHARE);
	OffsetNumber zone;
	ZmTarget	end;

	zm_target_from_entry(space, &end, high);
	/* Else a scan of a damaged index might not end. */
	if (zm_compare(space, &end, ZmPageGetEntry(page, ZmPageFirst(page))) <= 0)
		ereport(ERROR,
				errcode(ERRCODE_INDEX_CORRUPTED),
				errmsg("index \"%s\" contains a page that ends before it begins, at block %u",
					   RelationGetRelationName(space->index),
					   cursor->leaf_block),
				errhint("Please REINDEX it."));
	page = BufferGetPage(buf);
	zone = ZmPageFirst(page);
	if (!ZmPageIsLeaf(page) ||
		zm_compare(space, &end, ZmPageGetEntry(page, zone)) != 0)
	{
		UnlockReleaseBuffer(buf);
		buf = zm_descend(space, &end, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buf);
		zone = search_zone(cursor, page, &end);
	}
	if (ZmIsZone(ZmPageGetEntry(page, zone)) &&
		zm_compare(space, &end, ZmPageGetEntry(page, zone)) == 0)
		take_right(cursor, buf, zone, zone + 1);
	else
	{
		take_between(cursor, buf, high, NULL);
		cursor->zone = ZmPageFirst(cursor->leaf);
	}
	pfree(high);
}

/* The next group of the range. */
static bool
step_right(ZmCursor *cursor)
{
	Page		page = cursor->leaf;
	OffsetNumber next = zm_cursor_group_end(cursor);

	if (next <= PageGetMaxOffsetNumber(page))
	{
		if (ends_before(cursor, ZmPageGetEntry(page, next)))
			return false;
		cursor->zone = next;
		return true;
	}
	if (ZmPageIsRightmost(page) ||
		ends_before(cursor, ZmPageGetEntry(page, ZM_HIGH_KEY)))
		return false;
	CHECK_FOR_INTERRUPTS();
	take_next(cursor);
	return true;
}

/*
 * Goes to what comes before the copy at hand, which begins with a zone: the
 * last group of the leaf to the left, unless leaves were merged since.
 */
static void
take_previous(ZmCursor *cursor, IndexTuple zone)
{
	const ZmSpace *space = &cursor->space;
	Page		page;
	ZmTarget	low;
	Buffer		buf;
	OffsetNumber off;

	zm_target_from_entry(space, &low, zone);
	buf = zm_descend_before(space, &low);
	page = BufferGetPage(buf);
	off = search_zone(cursor, page, &low);
	if (ZmIsZone(ZmPageGetEntry(page, off)) &&
		zm_compare(space, &low, ZmPageGetEntry(page, off)) == 0)
	{
		/* It begins there still. */
		take_leaf(cursor, buf);
		off--;
	}
	else if (!ZmPageIsRightmost(page) &&
			 zm_compare(space, &low, ZmPageGetEntry(page, ZM_HIGH_KEY)) == 0)
		take_leaf(cursor, buf);
	else
	{
		take_between(cursor, buf, NULL, zone);
		page = cursor->leaf;
		off = PageGetMaxOffsetNumber(page);
	}
	cursor->zone = zm_zone_at(cursor->leaf, off);
}

/* The previous group of the range. */
static bool
step_left(ZmCursor *cursor)
{
	Page		page = cursor->leaf;
	IndexTuple	zone = ZmPageGetEntry(page, cursor->zone);

	/* What is left of a zone at or before the lower bound is before it. */
	if ((ZmFlags(zone) & ZM_NO_KEY) ||
		zm_compare(&cursor->space, &cursor->quals.range.lower, zone) >= 0)
		return false;
	if (cursor->zone > ZmPageFirst(page))
	{
		cursor->zone = zm_zone_at(page, cursor->zone - 1);
		return true;
	}
	CHECK_FOR_INTERRUPTS();
	zone = zm_copy_as(zone, InvalidBlockNumber);
	take_previous(cursor, zone);
	pfree(zone);
	return true;
}

/* Goes to the next group; false at the end. */
bool
zm_cursor_next(ZmCursor *cursor)
{
	ZmQuals    *quals = &cursor->quals;
	int			range;

	if (cursor->place == ZM_PLACE_AFTER || quals->impossible)
		return false;
	if (cursor->place == ZM_PLACE_GROUP)
	{
		if (step_right(cursor))
			return true;
		range = quals->current + 1;
	}
	else
		range = 0;
	for (; range < quals->nranges; range++)
	{
		zm_quals_range(quals, range);
		if (begin_at_lower(cursor))
		{
			cursor->place = ZM_PLACE_GROUP;
			return true;
		}
	}
	cursor->place = ZM_PLACE_AFTER;
	return false;
}

/* Goes to the previous group; false at the end. */
bool
zm_cursor_previous(ZmCursor *cursor)
{
	ZmQuals    *quals = &cursor->quals;
	int			range;

	if (cursor->place == ZM_PLACE_BEFORE || quals->impossible)
		return false;
	if (cursor->place == ZM_PLACE_GROUP)
	{
		if (step_left(cursor))
			return true;
		range = quals->current - 1;
	}
	else
		range = quals->nranges - 1;
	if (range >= 0)
	{
		zm_quals_range(quals, range);
		begin_at_upper(cursor);
		cursor->place = ZM_PLACE_GROUP;
		return true;
	}
	cursor->place = ZM_PLACE_BEFORE;
	return false;
}

/*
 * The heap page of the current group's zone, if rows of it can be in the
 * range; else InvalidBlockNumber.
 */
BlockNumber
zm_cursor_block(ZmCursor *cursor)
{
	Page		page = cursor->leaf;
	IndexTuple	zone = ZmPageGetEntry(page, cursor->zone);
	const ZmTarget *lower = &cursor->quals.range.lower;
	IndexTuple	bound;
	int			sign;

	if (zm_is_hole(zone))
		return InvalidBlockNumber;
	bound = zm_bound_at(page, zm_cursor_group_end(cursor));
	if (bound == NULL)
		return ZmBlock(zone);
	sign = zm_compare_entry_key(&cursor->space, lower, bound);
	if (sign > 0)
		return InvalidBlockNumber;
	/* equal as far as the bound goes: more columns may follow */
	if (sign == 0 && lower->ncolumns == cursor->space.ncolumns &&
		(!zm_bound_allows(bound, sign) || lower->tie == ZM_TIE_AFTER))
		return InvalidBlockNumber;
	return ZmBlock(zone);
}

/* The exact entries of the current group that are in the range. */
bool
zm_cursor_exact(ZmCursor *cursor, OffsetNumber *from, OffsetNumber *to)
{
	Page		page = cursor->leaf;
	OffsetNumber end = zm_cursor_group_end(cursor);

	*from = cursor->zone + 1;
	*to = end;
	if (*from == *to)
		return false;
	*from = Max(*from, zm_search(&cursor->space, page,
								 &cursor->quals.range.lower) + 1);
	*to = Min(*to, zm_search(&cursor->space, page,
							 &cursor->quals.range.upper) + 1);
	return *from < *to;
}

/* Whether a zone covers the row of an exact entry of the current group as well. */
bool
zm_cursor_repeats(ZmCursor *cursor, IndexTuple exact)
{
	const ZmSpace *space = &cursor->space;
	Page		page = cursor->leaf;
	IndexTuple	zone = ZmPageGetEntry(page, cursor->zone);
	BlockNumber block = ItemPointerGetBlockNumber(&exact->t_tid);
	ZmTarget	target;

	/* Only a zone that touches it can be another one. */
	if ((ZmFlags(zone) & (ZM_FENCED | ZM_NO_KEY)) && ZmBlock(zone) != block)
		return false;
	zm_target_from_entry(space, &target, exact);
	return zm_block_covers(space, page, &target, block) ||
		(zm_left_may_cover(space, page, exact) &&
		 zm_left_covers(space, &target, block));
}
