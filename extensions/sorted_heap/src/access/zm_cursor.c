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
 * a descent for the position where it begins.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "zm_scan.h"

/* Ranges that meet no more zones of a leaf get a copy of these alone. */
#define FEW_ZONES 8

/* Room for the copy of a whole leaf. */
char *
zm_cursor_whole(ZmCursor *cursor)
{
	if (cursor->whole == NULL)
		cursor->whole = MemoryContextAlloc(cursor->context, BLCKSZ);
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

static bool
add_to_part(Page part, IndexTuple itup)
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
 * Copies the zones from first to last, and what comes after them as high key,
 * in the shape of a leaf, and lets the leaf go.  False, and nothing happened,
 * if there are too many, or exact entries among them, whose comparison with
 * zones may need the whole leaf.
 */
static bool
take_part(ZmCursor *cursor, Buffer buf, OffsetNumber first, OffsetNumber last)
{
	Page		page = BufferGetPage(buf);
	Page		part = cursor->part.data;
	PageHeader	header = (PageHeader) part;
	ZmOpaque	opaque = (ZmOpaque) (part + ZM_PART_SIZE -
									 sizeof(ZmOpaqueData));
	bool		to_end = last == PageGetMaxOffsetNumber(page);
	IndexTuple	next = NULL;

	if (!to_end)
		next = ZmPageGetEntry(page, last + 1);
	else if (!ZmPageIsRightmost(page))
		next = ZmPageGetEntry(page, ZM_HIGH_KEY);
	if (cursor->shared != NULL || last - first >= FEW_ZONES ||
		(next != NULL && !ZmIsZone(next)))
		return false;
	header->pd_lower = SizeOfPageHeaderData;
	header->pd_upper = header->pd_special = (char *) opaque - part;
	*opaque = *ZmPageGetOpaque(page);
	if (!to_end)
		opaque->right = cursor->leaf_block;
	if (next != NULL && !add_to_part(part, next))
		return false;
	for (OffsetNumber off = first; off <= last; off++)
	{
		IndexTuple	itup = ZmPageGetEntry(page, off);

		if (!ZmIsZone(itup) || !add_to_part(part, itup))
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
	Page		page = cursor->leaf;
	OffsetNumber off = cursor->zone + 1;

	while (off <= PageGetMaxOffsetNumber(page) &&
		   !ZmIsZone(ZmPageGetEntry(page, off)))
		off++;
	return off;
}

/* Whether the upper bound is before the position of an entry. */
static bool
ends_before(ZmCursor *cursor, IndexTuple itup)
{
	return zm_compare(&cursor->space, &cursor->quals.range.upper, itup) <= 0;
}

/*
 * Takes what the range needs of a locked leaf, from a zone on to the right,
 * and goes to that zone.
 */
static void
take_right(ZmCursor *cursor, Buffer buf, OffsetNumber zone)
{
	Page		page = BufferGetPage(buf);
	OffsetNumber max = PageGetMaxOffsetNumber(page);
	OffsetNumber last = zone;

	while (last < max && last - zone < FEW_ZONES &&
		   !ends_before(cursor, ZmPageGetEntry(page, last + 1)))
		last++;
	cursor->leaf_block = BufferGetBlockNumber(buf);
	if (take_part(cursor, buf, zone, last))
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
	OffsetNumber zone = zm_zone_at(page, zm_search(&cursor->space, page,
												   lower));

	if (ends_before(cursor, ZmPageGetEntry(page, zone)))
	{
		UnlockReleaseBuffer(buf);
		return false;
	}
	take_right(cursor, buf, zone);
	return true;
}

static void
begin_at_upper(ZmCursor *cursor)
{
	const ZmTarget *lower = &cursor->quals.range.lower;
	const ZmTarget *upper = &cursor->quals.range.upper;
	Buffer		buf = zm_descend(&cursor->space, upper, BUFFER_LOCK_SHARE);
	Page		page = BufferGetPage(buf);
	OffsetNumber zone = zm_zone_at(page, zm_search(&cursor->space, page,
												   upper));
	OffsetNumber first = zone;

	while (first > ZmPageFirst(page) && zone - first < FEW_ZONES &&
		   zm_compare(&cursor->space, lower, ZmPageGetEntry(page, first)) < 0)
		first--;
	cursor->leaf_block = BufferGetBlockNumber(buf);
	if (take_part(cursor, buf, first, zone))
		cursor->zone = PageGetMaxOffsetNumber(cursor->leaf);
	else
	{
		take_leaf(cursor, buf);
		cursor->zone = zone;
	}
}

/*
 * The leaf where the copy at hand ends, locked, and the zone with which what
 * comes after the copy begins: the leaf's first, unless leaves were merged
 * since the copy was made.  InvalidBuffer if nothing comes.
 */
static Buffer
next_leaf(ZmCursor *cursor, OffsetNumber *zone)
{
	const ZmSpace *space = &cursor->space;
	Page		page = cursor->leaf;
	IndexTuple	high = zm_copy_as(ZmPageGetEntry(page, ZM_HIGH_KEY),
								  InvalidBlockNumber);
	Buffer		buf = ReadBuffer(space->index, ZmPageGetOpaque(page)->right);
	ZmTarget	end;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	zm_page_check(space->index, buf);
	zm_target_from_entry(space, &end, high);
	page = BufferGetPage(buf);
	*zone = ZmPageFirst(page);
	while (!ZmPageIsLeaf(page) ||
		   zm_compare(space, &end, ZmPageGetEntry(page, *zone)) != 0)
	{
		UnlockReleaseBuffer(buf);
		buf = zm_descend(space, &end, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buf);
		*zone = zm_search(space, page, &end);
		if (zm_compare(space, &end, ZmPageGetEntry(page, *zone)) == 0)
			break;
		/* The zone was needless, so its group was empty: see zm_fold.c. */
		while (++*zone <= PageGetMaxOffsetNumber(page))
			if (ZmIsZone(ZmPageGetEntry(page, *zone)))
				break;
		if (*zone <= PageGetMaxOffsetNumber(page))
			break;
		if (ZmPageIsRightmost(page))
		{
			UnlockReleaseBuffer(buf);
			buf = InvalidBuffer;
			break;
		}
		pfree(high);
		high = zm_copy_as(ZmPageGetEntry(page, ZM_HIGH_KEY),
						  InvalidBlockNumber);
		zm_target_from_entry(space, &end, high);
	}
	pfree(high);
	return buf;
}

/* The next group of the range. */
static bool
step_right(ZmCursor *cursor)
{
	Page		page = cursor->leaf;
	OffsetNumber next = zm_cursor_group_end(cursor);
	Buffer		buf;

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
	buf = next_leaf(cursor, &next);
	if (!BufferIsValid(buf))
		return false;
	take_right(cursor, buf, next);
	return true;
}

/* The last entry of the leaf before a position, after which there is more. */
static OffsetNumber
entry_before(ZmCursor *cursor, const ZmTarget *position)
{
	Page		page = cursor->leaf;
	OffsetNumber off = zm_search(&cursor->space, page, position);

	while (off > ZmPageFirst(page) &&
		   zm_compare(&cursor->space, position, ZmPageGetEntry(page, off)) <= 0)
		off--;
	return off;
}

/* The previous group of the range. */
static bool
step_left(ZmCursor *cursor)
{
	Page		page = cursor->leaf;
	IndexTuple	zone = ZmPageGetEntry(page, cursor->zone);
	ZmTarget	low;

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
	zone = CopyIndexTuple(zone);
	zm_target_from_entry(&cursor->space, &low, zone);
	take_leaf(cursor, zm_descend_before(&cursor->space, &low));
	page = cursor->leaf;
	cursor->zone = zm_zone_at(page, entry_before(cursor, &low));
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
	OffsetNumber next;
	int			result;

	if (ZmBlock(zone) == InvalidBlockNumber)
		return InvalidBlockNumber;
	next = zm_cursor_group_end(cursor);
	if (next > PageGetMaxOffsetNumber(page))
	{
		if (ZmPageIsRightmost(page))
			return ZmBlock(zone);
		next = ZM_HIGH_KEY;
	}
	result = zm_compare_entry_key(&cursor->space, lower,
								  ZmPageGetEntry(page, next));
	if (result > 0)
		return InvalidBlockNumber;
	/* equal as far as the bound goes: more columns may follow */
	if (result == 0 && lower->ncolumns == cursor->space.ncolumns &&
		((ZmFlags(ZmPageGetEntry(page, next)) & ZM_FENCED) ||
		 lower->tie == ZM_TIE_AFTER))
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

/* Whether a zone of the leaf covers the row of an exact entry as well. */
bool
zm_cursor_repeats(ZmCursor *cursor, IndexTuple exact)
{
	Page		page = cursor->leaf;
	IndexTuple	zone = ZmPageGetEntry(page, cursor->zone);
	ZmTarget	target;

	/* Only a zone that touches it can be another one. */
	if ((ZmFlags(zone) & (ZM_FENCED | ZM_NO_KEY)) &&
		ZmBlock(zone) != ItemPointerGetBlockNumber(&exact->t_tid))
		return false;
	zm_target_from_entry(&cursor->space, &target, exact);
	return zm_block_covers(&cursor->space, page, &target,
						   ItemPointerGetBlockNumber(&exact->t_tid));
}
