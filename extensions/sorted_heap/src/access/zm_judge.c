/*-------------------------------------------------------------------------
 *
 * zm_judge.c
 *	  What a new row needs of the leaf of a zonemap where its position is.
 *
 * Whether it is covered, may start a zone, or gets an exact entry: src/README
 * tells why each is safe (I11).  In a unique index, whether it is certain that
 * nothing else has its key.
 *
 * A backend remembers two leaves as it saw them, each with its LSN, so that
 * what it knows of them holds: where the next row will be, which placement has
 * found out, and the end of a unique index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "utils/rel.h"

#include "st_compat.h"
#include "zm_insert_int.h"

/* A leaf as this backend saw it, which it is as long as it has the LSN. */
typedef struct KnownLeaf
{
	RelFileLocator index;
	BlockNumber block;
	XLogRecPtr	lsn;			/* invalid: nothing is known */
} KnownLeaf;

/*
 * Where the next row will be in its leaf, and the zone of the group, if
 * its position is that.
 */
static struct
{
	KnownLeaf	leaf;
	OffsetNumber position;
	OffsetNumber zone;
}			seen;

/*
 * The end of a unique index as this backend left it: no published row has a key
 * after that of the last entry.  That holds as long as the leaf has the LSN,
 * because whoever publishes a row adds an entry; or its key has a null, and
 * is in nobody's way, or it was findable before, and was moved.
 */
static struct
{
	KnownLeaf	leaf;
	OffsetNumber zone;			/* the last one */
}			tail;

/* Notes a leaf and its LSN; invalid: it is not known. */
static void
know_leaf(KnownLeaf *known, Relation index, BlockNumber block, XLogRecPtr lsn)
{
	known->index = st_relation_locator(index);
	known->block = block;
	known->lsn = lsn;
}

/* Tells where the next row will be: see zm_insert_hint(). */
void
zm_note_seen(Relation index, BlockNumber leaf, XLogRecPtr lsn,
			 OffsetNumber position, OffsetNumber zone)
{
	know_leaf(&seen.leaf, index, leaf, lsn);
	seen.position = position;
	seen.zone = zone;
}

/* Whether a leaf is as it was when it was noted. */
static bool
is_known(const KnownLeaf *known, const ZmInsertState *state, Buffer buf)
{
	return RelFileLocatorEquals(known->index,
								st_relation_locator(state->space.index)) &&
		known->block == BufferGetBlockNumber(buf) &&
		!XLogRecPtrIsInvalid(known->lsn) &&
		known->lsn == PageGetLSN(BufferGetPage(buf));
}

/* The zone after the position's group, or one more than there are entries. */
static OffsetNumber
group_end(ZmInsertState *state, Page page)
{
	if (state->next == InvalidOffsetNumber)
		state->next = zm_zone_after(page, state->position);
	return state->next;
}

/*
 * Whether what comes after the position's group keeps a zone that reaches to it
 * from having the group's last key as well.  Where it does not, a leaf may end,
 * or may have ended when a scan copied it, and an exact entry of that key would
 * count twice, or not at all.
 */
static bool
ends_clean(ZmInsertState *state, Page page)
{
	OffsetNumber next = group_end(state, page);

	if (next <= PageGetMaxOffsetNumber(page))
		return zm_is_clean(ZmPageGetEntry(page, next));
	return ZmPageIsRightmost(page) ||
		zm_is_clean(ZmPageGetEntry(page, ZM_HIGH_KEY));
}

/*
 * Whether the zone at off is a hole that may become a zone for the row: one of
 * its key, or right after it.  Its range touches nothing on the left if it is
 * fenced.
 */
static bool
may_fill(ZmInsertState *state, Page page, OffsetNumber off)
{
	IndexTuple	itup = ZmPageGetEntry(page, off);

	return ZmBlock(itup) == InvalidBlockNumber &&
		(ZmFlags(itup) & ZM_FENCED) &&
		(state->position == off ||
		 zm_compare_entry_key(&state->space, &state->target, itup) == 0) &&
		ends_clean(state, page);
}

/*
 * Where no zone may begin, it may in a hole if another hole begins after the
 * group's last entry, state->last, and that is before what comes after the
 * group.
 */
static bool
may_start_closed(ZmInsertState *state, Page page)
{
	const ZmSpace *space = &state->space;
	const ZmTarget *target = &state->target;
	OffsetNumber zone = state->zone;
	OffsetNumber last = group_end(state, page) - 1;
	IndexTuple	next;
	ZmTarget	end;

	if (ZmBlock(ZmPageGetEntry(page, zone)) != InvalidBlockNumber ||
		zm_compare_entry_key(space, target, ZmPageGetEntry(page, zone)) == 0)
		return false;
	state->last = last;
	if (last == zone ||
		zm_compare_entry_key(space, target, ZmPageGetEntry(page, last)) >= 0)
		return false;
	next = ZmPageGetEntry(page, last < PageGetMaxOffsetNumber(page) ?
						  last + 1 : ZM_HIGH_KEY);
	zm_target_from_entry(space, &end, ZmPageGetEntry(page, last));
	return zm_compare_entry_key(space, &end, next) < 0;
}

/* Whether the target's position is at an entry, if there is such a one. */
static bool
is_at(const ZmInsertState *state, Page page, OffsetNumber off)
{
	OffsetNumber max = PageGetMaxOffsetNumber(page);

	return off >= ZmPageFirst(page) && off <= max &&
		zm_compare(&state->space, &state->target,
				   ZmPageGetEntry(page, off)) >= 0 &&
		(off == max || zm_compare(&state->space, &state->target,
								  ZmPageGetEntry(page, off + 1)) < 0);
}

/* Finds the target's position in a leaf, and its group. */
static void
locate(ZmInsertState *state, Buffer buf, Page page)
{
	OffsetNumber max = PageGetMaxOffsetNumber(page);

	state->position = is_at(state, page, seen.position) ? seen.position :
		zm_search(&state->space, page, &state->target);
	state->next = state->position == max ? max + 1 : InvalidOffsetNumber;
	if (BufferIsValid(buf) && state->position == max &&
		is_known(&tail.leaf, state, buf))
		state->zone = tail.zone;
	else if (BufferIsValid(buf) && state->position == seen.position &&
			 is_known(&seen.leaf, state, buf))
		state->zone = seen.zone;
	else
		state->zone = zm_zone_at(page, state->position);
}

/* What a row needs of a leaf.  buf is invalid if the page is a copy. */
ZmVerdict
zm_judge(ZmInsertState *state, Relation heap, Buffer buf, Page page,
		 ItemPointer tid, bool looked_left, bool exclusive)
{
	const ZmSpace *space = &state->space;
	const ZmTarget *target = &state->target;
	OffsetNumber first = ZmPageFirst(page);
	OffsetNumber zone;
	IndexTuple	itup;
	bool		touches;

	locate(state, buf, page);
	zone = state->zone;
	itup = ZmPageGetEntry(page, zone);
	touches = !(ZmFlags(itup) & ZM_FENCED) &&
		zm_compare_entry_key(space, target, itup) == 0;
	if ((touches || ZmBlock(itup) == ItemPointerGetBlockNumber(tid)) &&
		zm_block_covers_at(space, page, target, ItemPointerGetBlockNumber(tid),
						   zone, group_end(state, page)))
		return ZM_COVERED;
	if (may_fill(state, page, zone))
	{
		state->position = zone;
		return ZM_FILL_HOLE;
	}
	if (!looked_left && zm_zone_at(page, first) == first &&
		!(ZmFlags(ZmPageGetEntry(page, first)) & (ZM_FENCED | ZM_NO_KEY)) &&
		zm_compare_entry_key(space, target, ZmPageGetEntry(page, first)) == 0)
		return ZM_LOOK_LEFT;
	if (ZmBlock(itup) != InvalidBlockNumber &&
		ItemPointerGetOffsetNumber(tid) != FirstOffsetNumber)
		return ZM_ADD_EXACT;
	if (zm_compare_entry_key(space, target, itup) == 0 ||
		!ends_clean(state, page))
		return may_start_closed(state, page) ? ZM_START_CLOSED : ZM_ADD_EXACT;
	if (ZmBlock(itup) == InvalidBlockNumber)
		return ZM_START_ZONE;
	/* Reading the heap page would be in vain without the lock. */
	if (!exclusive)
		return ZM_START_ZONE;
	return zm_heap_page_lacks(&state->heap_key, heap, ZmBlock(itup), target,
							  NULL, false) ? ZM_START_ZONE : ZM_ADD_EXACT;
}

/* Whether an entry, or high key, has the target's key. */
static bool
has_key(const ZmInsertState *state, IndexTuple itup)
{
	return zm_compare_entry_key(&state->space, &state->target, itup) == 0;
}

/*
 * Whether it is certain that no other row has the target's key, as far as rows
 * are published.  All entries with it would be in this leaf, which is locked
 * exclusively, beside each other, and one zone, that of the position, covers it.
 * Sets state->greatest if it is certain as well that none has a greater key.
 */
bool
zm_is_alone(ZmInsertState *state, Relation heap, Buffer buf, ItemPointer tid)
{
	Page		page = BufferGetPage(buf);
	OffsetNumber max = PageGetMaxOffsetNumber(page);
	bool		end = ZmPageIsRightmost(page) && state->position == max;
	IndexTuple	at = ZmPageGetEntry(page, state->position);
	IndexTuple	zone = ZmPageGetEntry(page, state->zone);
	ZmOthers	others = ZM_OTHERS_NONE;
	bool		noted = false;

	state->greatest = false;
	/* A fenced zone: nothing before it has the key. */
	if (has_key(state, at))
	{
		if (!ZmIsZone(at) || !(ZmFlags(at) & ZM_FENCED))
			return false;
	}
	else if (state->position == max &&
			 is_known(&tail.leaf, state, buf))
	{
		state->greatest = true;
		return true;
	}
	if (!end && has_key(state, ZmPageGetEntry(page, state->position < max ?
											  state->position + 1 :
											  ZM_HIGH_KEY)))
		return false;
	if (ZmBlock(zone) != InvalidBlockNumber)
		others = zm_heap_page_others(&state->heap_key, heap, ZmBlock(zone),
									 &state->target, tid, end, zone, &noted);
	if (noted)
		MarkBufferDirtyHint(buf, true);
	/*
	 * Rows of this transaction that come later in the page have entries if
	 * they are published, unless the index was made after them.
	 */
	state->greatest = end && others == ZM_OTHERS_NONE &&
		!st_has_new_storage(state->space.index);
	return others != ZM_OTHERS_EQUAL;
}

/* Notes how a leaf to which an entry was added is left. */
void
zm_note_tail(const ZmInsertState *state, Buffer buf)
{
	Relation	index = state->space.index;
	Page		page = BufferGetPage(buf);

	know_leaf(&tail.leaf, index, BufferGetBlockNumber(buf),
			  state->greatest && RelationNeedsWAL(index) ?
			  PageGetLSN(page) : InvalidXLogRecPtr);
	tail.zone = state->zone;
}
