/*-------------------------------------------------------------------------
 *
 * zm_judge.c
 *	  What a new row needs of the leaf of a zonemap where its position is.
 *
 * A row is covered, may begin a zone, or gets an exact entry: zm_zone.c has the
 * rules.  In a unique index this file also tells whether it is certain that no
 * other row has the key.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "utils/rel.h"

#include "zm_insert_int.h"

/* Where placement found the next row's position in its leaf: a hint. */
static OffsetNumber seen_position;

/* Tells where the next row will be: see zm_insert_hint(). */
void
zm_note_seen(OffsetNumber position)
{
	seen_position = position;
}

/* The zone after the position's group, or one more than there are entries. */
static OffsetNumber
group_end(ZmInsertState *state, Page page)
{
	if (state->next == InvalidOffsetNumber)
		state->next = zm_zone_after(page, state->position);
	return state->next;
}

/* Whether the position's group may get coverage up to its bound. */
static bool
ends_clean(ZmInsertState *state, Page page)
{
	return zm_is_clean(zm_bound_at(page, group_end(state, page)));
}

/*
 * Whether the zone of the position is a hole that may become a zone for the row:
 * one of its key, or right after it.
 */
static bool
may_fill(ZmInsertState *state, Page page, IndexTuple hole)
{
	return zm_may_fill(hole) &&
		(state->position == state->zone ||
		 zm_compare_entry_key(&state->space, &state->target, hole) == 0) &&
		ends_clean(state, page);
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
locate(ZmInsertState *state, Page page)
{
	state->position = is_at(state, page, seen_position) ? seen_position :
		zm_search(&state->space, page, &state->target);
	state->zone = zm_zone_at(page, state->position);
	state->next = InvalidOffsetNumber;
}

/*
 * Whether a zone for the row may begin in a group where none does at the row's
 * key: see the rules in zm_zone.c.  The first row of a heap page may begin a zone
 * in that of another page; any row may in a hole.
 */
static ZmVerdict
judge_start(ZmInsertState *state, Relation heap, Page page, IndexTuple zone,
			ItemPointer tid, bool exclusive)
{
	const ZmSpace *space = &state->space;
	const ZmTarget *target = &state->target;

	if (!zm_is_hole(zone) &&
		ItemPointerGetOffsetNumber(tid) != FirstOffsetNumber)
		return ZM_ADD_EXACT;
	if (zm_compare_entry_key(space, target, zone) == 0 ||
		!ends_clean(state, page))
	{
		state->last = group_end(state, page) - 1;
		return zm_may_begin_closed(space, page, state->zone, state->last,
								   target) ? ZM_START_CLOSED : ZM_ADD_EXACT;
	}
	/* Reading the heap page would be in vain without the lock. */
	if (zm_is_hole(zone) || !exclusive)
		return ZM_START_ZONE;
	return zm_heap_page_lacks(&state->heap_key, heap, ZmBlock(zone), target,
							  NULL, false, NULL) ? ZM_START_ZONE : ZM_ADD_EXACT;
}

/* What a row needs of a leaf, which is locked, or of a copy of it. */
ZmVerdict
zm_judge(ZmInsertState *state, Relation heap, Page page, ItemPointer tid,
		 bool looked_left, bool exclusive)
{
	const ZmSpace *space = &state->space;
	const ZmTarget *target = &state->target;
	BlockNumber block = ItemPointerGetBlockNumber(tid);
	IndexTuple	zone;

	locate(state, page);
	zone = ZmPageGetEntry(page, state->zone);
	if ((ZmBlock(zone) == block || zm_touches(space, zone, target)) &&
		zm_block_covers_at(space, page, target, block, state->zone,
						   group_end(state, page)))
		return ZM_COVERED;
	if (may_fill(state, page, zone))
	{
		state->position = state->zone;
		return ZM_FILL_HOLE;
	}
	if (!looked_left &&
		zm_touches(space, ZmPageGetEntry(page, ZmPageFirst(page)), target))
		return ZM_LOOK_LEFT;
	return judge_start(state, heap, page, zone, tid, exclusive);
}

/* Whether an entry, or high key, has the target's key. */
static bool
has_key(const ZmInsertState *state, IndexTuple itup)
{
	return zm_compare_entry_key(&state->space, &state->target, itup) == 0;
}

/*
 * Whether it is certain that no other row has the target's key, as far as rows
 * are published.  The leaf is locked exclusively.  Entries with the key would be
 * beside the position, in this leaf.  Rows without an entry are on the page of the
 * zone that covers the key, which is the position's zone and no other one.
 */
bool
zm_is_alone(ZmInsertState *state, Relation heap, Page page, ItemPointer tid)
{
	IndexTuple	at = ZmPageGetEntry(page, state->position);
	IndexTuple	zone = ZmPageGetEntry(page, state->zone);
	IndexTuple	after = zm_bound_at(page, state->position + 1);

	/* A fenced zone: nothing before it has the key. */
	if (has_key(state, at) && !(ZmIsZone(at) && (ZmFlags(at) & ZM_FENCED)))
		return false;
	if (after != NULL && has_key(state, after))
		return false;
	return zm_is_hole(zone) ||
		zm_heap_page_lacks(&state->heap_key, heap, ZmBlock(zone),
						   &state->target, &state->target, true, tid);
}
