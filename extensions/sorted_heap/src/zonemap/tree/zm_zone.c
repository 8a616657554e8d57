/*-------------------------------------------------------------------------
 *
 * zm_zone.c
 *	  The algebra of zones: what a zone covers, when it may change, and what it
 *	  becomes.
 *
 * A leaf is a row of groups.  A group is a zone and the exact entries after it.
 * Its *bound* is the next zone, or the leaf's high key; the last group of the
 * last leaf has none.
 *
 *	  zone 7 of page 1                zone 20 of page 2 (fenced)     high key
 *	  |  entry 9   mark 12  entry 15  |  entry 31                    |
 *	  v                               v                              v
 *	--[===============================[==============================[-- keys
 *	  7                               20                             40
 *	  `- page 1 covers 7 to 20 -------'`- page 2 covers 20 to 40 ----'
 *
 * A zone covers the keys from its own on, or after it if it is *open*.  It ends
 * before the key of its bound if that is *fenced*; else it covers that key, too:
 * then both groups touch.  A *hole* is a zone without a page; it covers nothing.
 *
 *	flags of a zone		begins			what is left of it ends
 *	---------------		------			-----------------------
 *	none, with a tie	at its key		at its key: they touch
 *	fenced				at its key		before its key
 *	open, with a tie	after its key	at its key
 *	no key				before all		(nothing is left of it)
 *
 * A bound is *clean* if all entries with its key are on one side of it.  A fenced
 * one is, and so is a hole that closes a zone: its tie is after all TIDs.  A leaf
 * may begin at any other bound, or may have when a scan copied it, with entries
 * of the bound's key on both sides.  A zone that began to cover that key would make
 * scans find such a row twice.  So only a group with a clean bound gets new
 * coverage up to it.
 *
 * A row is a *stray* if it has an exact entry in a group of another page's zone.  A
 * *mark* is an exact entry that scans skip: its row is covered, and published.
 * *Folding* is what VACUUM does with a leaf: rules 3 to 8.
 *
 *	   from			to				when											who
 *	-- ----------	--------------	--------------------------------------------	----
 *	1  hole			zone in place	fenced, clean bound, the row has its key or		insert
 *									comes right after it
 *	2  part of a	zone (fenced)	not at the hole's key; clean bound, or an entry	insert
 *	   hole							after the row at which another hole closes it
 *	3  part of a	zone (fenced)	not at the zone's key; clean bound; the old		insert,
 *	   zone							page has no tuple that it would lose			fold
 *	4  zone			hole			its page has no tuples; or none that it covers,	fold
 *									and its first entry has its key
 *	5  hole			zone in place	fenced, entries of one page follow				fold
 *	6  exact entry	nothing			the zone covers its row, which is settled		fold
 *	7  zone			nothing			the one before is of the same page; fenced		fold
 *	8  hole			nothing			without entries, after another hole				fold
 *	9  zone			two zones		a leaf is split amid its entries: the right one	split
 *									goes on, fenced, or open if left entries have
 *									its key
 *
 * 1, 2 and 5 take coverage from no page.  3 and 4 narrow a zone: the leaf is locked
 * exclusively while the heap page is looked at, where dead and uncommitted tuples
 * count.  A tuple that comes to the page later belongs to an insert that has yet to
 * look at the leaf (I11).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/rel.h"

#include "zm_tree.h"

/* ---- groups of a leaf ---- */

/* The zone to whose group an entry of a leaf belongs: itself or one before. */
OffsetNumber
zm_zone_at(Page page, OffsetNumber off)
{
	OffsetNumber first = ZmPageFirst(page);

	while (off > first && !ZmIsZone(ZmPageGetEntry(page, off)))
		off--;
	return off;
}

/* The zone after an entry of a leaf, or one more than there are entries. */
OffsetNumber
zm_zone_after(Page page, OffsetNumber off)
{
	OffsetNumber max = PageGetMaxOffsetNumber(page);

	do
		off++;
	while (off <= max && !ZmIsZone(ZmPageGetEntry(page, off)));
	return off;
}

/* The bound of the group that ends before an entry; NULL: there is none. */
IndexTuple
zm_bound_at(Page page, OffsetNumber next)
{
	if (next <= PageGetMaxOffsetNumber(page))
		return ZmPageGetEntry(page, next);
	return ZmPageIsRightmost(page) ? NULL : ZmPageGetEntry(page, ZM_HIGH_KEY);
}

/* ---- what a zone covers ---- */

/* Whether a zone that ends at a bound covers the target's key. */
bool
zm_covers(const ZmSpace *space, IndexTuple zone, IndexTuple bound,
		  const ZmTarget *target)
{
	Assert(ZmIsZone(zone) && target->ncolumns == space->ncolumns);
	return zm_zone_begins(zone, zm_compare_entry_key(space, target, zone)) &&
		(bound == NULL ||
		 zm_bound_allows(bound, zm_compare_entry_key(space, target, bound)));
}

/* Whether a zone of the leaf covers the target's key. */
bool
zm_zone_covers(const ZmSpace *space, Page page, OffsetNumber zone,
			   const ZmTarget *target)
{
	return zm_covers(space, ZmPageGetEntry(page, zone),
					 zm_bound_at(page, zm_zone_after(page, zone)), target);
}

/* Whether what is left of a zone may cover the target's key besides. */
bool
zm_touches(const ZmSpace *space, IndexTuple zone, const ZmTarget *target)
{
	return (ZmFlags(zone) & (ZM_FENCED | ZM_NO_KEY)) == 0 &&
		zm_compare_entry_key(space, target, zone) == 0;
}

/*
 * Whether a zone of the leaf covers the target's key for a heap page.  `zone` is
 * the zone of the target's position, `next` the one after it.
 */
bool
zm_block_covers_at(const ZmSpace *space, Page page, const ZmTarget *target,
				   BlockNumber block, OffsetNumber zone, OffsetNumber next)
{
	for (;;)
	{
		IndexTuple	itup = ZmPageGetEntry(page, zone);

		if (ZmBlock(itup) == block &&
			zm_covers(space, itup, zm_bound_at(page, next), target))
			return true;
		if (zone == ZmPageFirst(page) || !zm_touches(space, itup, target))
			return false;
		next = zone;
		zone = zm_zone_at(page, zone - 1);
	}
}

/* The same, where the target's position has yet to be found. */
bool
zm_block_covers(const ZmSpace *space, Page page, const ZmTarget *target,
				BlockNumber block)
{
	OffsetNumber position = zm_search(space, page, target);

	return zm_block_covers_at(space, page, target, block,
							  zm_zone_at(page, position),
							  zm_zone_after(page, position));
}

/* Whether an entry of a unique index may have to tell that its row is published. */
static bool
may_publish(const ZmSpace *space, IndexTuple exact)
{
	Form_pg_index form = space->index->rd_index;

	return form->indisunique &&
		(form->indnullsnotdistinct || !IndexTupleHasNulls(exact));
}

/*
 * Whether zones in leaves to the left may cover the row of an exact entry of a
 * leaf that begins amid the entry's key.  A split leaves such entries out
 * (zm_is_repeated()), unless they may have to tell that their row is published.
 *
 * What is to the left never begins to cover the key as long as the entry is there,
 * because the leaf's first zone is not clean, and what covers the row keeps doing
 * so.  So it makes no difference when one looks.
 */
bool
zm_left_may_cover(const ZmSpace *space, Page page, IndexTuple exact)
{
	ZmTarget	target;

	if (!may_publish(space, exact))
		return false;
	zm_target_from_entry(space, &target, exact);
	return zm_touches(space, ZmPageGetEntry(page, ZmPageFirst(page)), &target);
}

/*
 * Whether a zone's page has no tuple from an entry's key on to where the zone
 * ends.  The leaf is locked exclusively.
 */
bool
zm_page_lacks_from(const ZmHeapKey *key, Relation heap, IndexTuple zone,
				   IndexTuple from, IndexTuple bound)
{
	ZmTarget	target;
	ZmTarget	end;

	zm_target_from_entry(key->space, &target, from);
	if (bound != NULL)
		zm_target_from_entry(key->space, &end, bound);
	return zm_heap_page_lacks(key, heap, ZmBlock(zone), &target,
							  bound != NULL ? &end : NULL,
							  bound != NULL && !(ZmFlags(bound) & ZM_FENCED),
							  NULL);
}

/* ---- when a zone may change ---- */

/* Whether all entries with the key of a bound are on one side of it. */
bool
zm_is_clean(IndexTuple bound)
{
	ItemPointerData tie;

	if (bound == NULL || (ZmFlags(bound) & ZM_FENCED))
		return true;
	if (!(ZmFlags(bound) & ZM_TIE))
		return false;
	tie = zm_get_tie(bound);
	return ItemPointerGetBlockNumberNoCheck(&tie) == MaxBlockNumber;
}

/* Whether a zone is a hole that touches nothing on the left: rules 1 and 5. */
bool
zm_may_fill(IndexTuple hole)
{
	return zm_is_hole(hole) && (ZmFlags(hole) & ZM_FENCED) != 0;
}

/*
 * Whether a zone may begin at the target in a hole whose bound is not clean,
 * because another hole can begin after the group's last entry (rule 2): that is
 * after the target, and before the bound.
 */
bool
zm_may_begin_closed(const ZmSpace *space, Page page, OffsetNumber zone,
					OffsetNumber last, const ZmTarget *target)
{
	IndexTuple	bound = zm_bound_at(page, last + 1);
	ZmTarget	end;

	if (!zm_is_hole(ZmPageGetEntry(page, zone)) || last == zone ||
		zm_compare_entry_key(space, target, ZmPageGetEntry(page, zone)) == 0 ||
		zm_compare_entry_key(space, target, ZmPageGetEntry(page, last)) >= 0)
		return false;
	zm_target_from_entry(space, &end, ZmPageGetEntry(page, last));
	return bound == NULL || zm_compare_entry_key(space, &end, bound) < 0;
}

/* Whether two zones that follow each other cover as one what both do: rule 7. */
bool
zm_may_join(IndexTuple before, IndexTuple zone)
{
	return !zm_is_hole(zone) && ZmBlock(zone) == ZmBlock(before) &&
		(ZmFlags(zone) & (ZM_FENCED | ZM_OPEN)) == ZM_FENCED;
}

/*
 * Whether all rows that a zone covers have left its page, and its first entry has
 * its key: rule 4.  Then a zone of the entries' page may begin in its place.
 */
bool
zm_has_left(const ZmSpace *space, const ZmHeapKey *key, Relation heap,
			IndexTuple zone, IndexTuple first, IndexTuple bound)
{
	ZmTarget	target;

	if ((ZmFlags(zone) & (ZM_FENCED | ZM_OPEN | ZM_NO_KEY)) != ZM_FENCED)
		return false;
	zm_target_from_entry(space, &target, first);
	return zm_compare_entry_key(space, &target, zone) == 0 &&
		zm_page_lacks_from(key, heap, zone, zone, bound);
}

/*
 * Whether an exact entry is left out of the right half of a leaf that is split
 * amid its key (rule 9): a zone in the left half covers its row.
 */
bool
zm_is_repeated(const ZmSpace *space, Page page, IndexTuple start,
			   IndexTuple exact)
{
	ZmTarget	target;

	if (!ZmPageIsLeaf(page) || ZmIsZone(exact) || ZmIsMark(exact) ||
		may_publish(space, exact))
		return false;
	zm_target_from_entry(space, &target, exact);
	return zm_touches(space, start, &target) &&
		zm_block_covers(space, page, &target,
						ItemPointerGetBlockNumber(&exact->t_tid));
}

/* ---- what it becomes ---- */

static IndexTuple
with_note(const ZmSpace *space, IndexTuple zone)
{
	return space->fast == ZM_FAST_NONE ? zone : zm_add_note(zone);
}

/* A zone of a heap page that begins at an entry's key. */
IndexTuple
zm_begin_zone(const ZmSpace *space, IndexTuple key, BlockNumber block)
{
	return with_note(space, zm_zone_from(key, block, ZM_FENCED, NULL));
}

/* The zone that a hole becomes. */
IndexTuple
zm_fill_hole(const ZmSpace *space, IndexTuple hole, BlockNumber block)
{
	return with_note(space, zm_copy_as(hole, block));
}

/* The hole that closes a zone: after a key, and all exact entries with it. */
IndexTuple
zm_close_zone(IndexTuple key)
{
	ItemPointerData tie;

	ItemPointerSet(&tie, MaxBlockNumber, MaxOffsetNumber);
	return zm_zone_from(key, InvalidBlockNumber, ZM_OPEN | ZM_TIE, &tie);
}

/*
 * The zone with which a leaf begins that continues a group from an exact entry on,
 * where the leaf to the left ends with the entry `before`.  If that has the same
 * key, what the zone covers of the key stays in the left leaf.
 */
IndexTuple
zm_continue_zone(const ZmSpace *space, IndexTuple zone, IndexTuple before,
				 IndexTuple exact)
{
	ZmTarget	target;

	zm_target_from_entry(space, &target, exact);
	if (zm_compare_entry_key(space, &target, before) > 0)
		return zm_zone_from(exact, ZmBlock(zone), ZM_FENCED, NULL);
	return zm_zone_from(exact, ZmBlock(zone), ZM_OPEN | ZM_TIE,
						&exact->t_tid);
}
