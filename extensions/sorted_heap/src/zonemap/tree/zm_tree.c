/*-------------------------------------------------------------------------
 *
 * zm_tree.c
 *	  Descent in a zonemap index.
 *
 * Readers lock one page at a time, shared.  The root never moves.  Between
 * reading a link and locking its page, that may have been split: then its high
 * key tells, and its right link is followed.  Or VACUUM has moved its entries
 * to the left, or has given the page to another part of the tree (zm_shrink.c):
 * then its level tells, or that it begins after the target, and the descent
 * begins again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "zm_heap.h"
#include "zm_tree.h"

/*
 * A descent looks for the page that holds a position, or (`before` = 1) for the one
 * that holds what comes before it.  Pages begin and end at positions: so the sign of
 * (position - first entry's) is at least `before`, that of (position - high key's)
 * below it.
 */

/*
 * Whether what is looked for is in a page, or right of it, after a link to it was
 * read that said so.  A page that is not in the tree any more has no level.
 */
static inline bool
link_holds(const ZmSpace *space, const ZmTarget *target, Page page,
		   uint32 level, int before)
{
	ZmOpaque	opaque = ZmPageGetOpaque(page);

	return opaque->level == level && !(opaque->flags & ZM_PAGE_UNUSED) &&
		zm_compare(space, target,
				   ZmPageGetEntry(page, ZmPageFirst(page))) >= before;
}

/*
 * Follows right links until the page holds what is looked for.  Returns
 * InvalidBuffer if a page went away on the way.
 */
static inline Buffer
move_right(const ZmSpace *space, const ZmTarget *target, Buffer buf,
		   int lockmode, int before)
{
	for (;;)
	{
		Page		page = BufferGetPage(buf);
		uint32		level = ZmPageGetOpaque(page)->level;
		BlockNumber right;

		if (ZmPageIsRightmost(page) ||
			zm_compare(space, target,
					   ZmPageGetEntry(page, ZM_HIGH_KEY)) < before)
			return buf;
		right = ZmPageGetOpaque(page)->right;
		UnlockReleaseBuffer(buf);
		CHECK_FOR_INTERRUPTS();
		buf = zm_read_page(space->index, right, lockmode);
		if (!link_holds(space, target, BufferGetPage(buf), level, before))
		{
			UnlockReleaseBuffer(buf);
			return InvalidBuffer;
		}
	}
}

/* One descent; InvalidBuffer if a page went away on the way. */
static inline Buffer
try_descend(const ZmSpace *space, const ZmTarget *target, int lockmode,
			int before)
{
	Buffer		buf = zm_read_page(space->index, ZM_ROOT_BLOCK, BUFFER_LOCK_SHARE);

	for (;;)
	{
		Page		page = BufferGetPage(buf);
		OffsetNumber off;
		BlockNumber child;
		uint32		level;

		if (ZmPageIsLeaf(page) && lockmode != BUFFER_LOCK_SHARE)
		{
			LockBuffer(buf, BUFFER_LOCK_UNLOCK);
			LockBuffer(buf, lockmode);
			/* It may have changed in between: the root, even its level. */
			if (!link_holds(space, target, page, 0, before))
			{
				UnlockReleaseBuffer(buf);
				return InvalidBuffer;
			}
		}
		if (ZmPageIsLeaf(page))
			return move_right(space, target, buf, lockmode, before);
		buf = move_right(space, target, buf, BUFFER_LOCK_SHARE, before);
		if (!BufferIsValid(buf))
			return buf;
		page = BufferGetPage(buf);
		level = ZmPageGetOpaque(page)->level;
		off = zm_search(space, page, target);
		if (before > 0 && off > ZmPageFirst(page) &&
			zm_compare(space, target, ZmPageGetEntry(page, off)) == 0)
			off--;
		child = ZmBlock(ZmPageGetEntry(page, off));
		UnlockReleaseBuffer(buf);
		buf = zm_read_page(space->index, child, BUFFER_LOCK_SHARE);
		if (!link_holds(space, target, BufferGetPage(buf), level - 1,
						before))
		{
			UnlockReleaseBuffer(buf);
			return InvalidBuffer;
		}
	}
}

/* So many descents in vain are hardly VACUUM's doing. */
#define VAIN_DESCENTS 20

/*
 * A descent with the metapage locked, which keeps splits and VACUUM from changing
 * the structure: if this one is in vain, too, the index is damaged.
 */
static Buffer
descend_undisturbed(const ZmSpace *space, const ZmTarget *target, int lockmode,
					int before)
{
	Buffer		meta = zm_read_page(space->index, ZM_META_BLOCK,
									BUFFER_LOCK_SHARE);
	Buffer		buf = try_descend(space, target, lockmode, before);

	UnlockReleaseBuffer(meta);
	if (!BufferIsValid(buf))
		ereport(ERROR,
				errcode(ERRCODE_INDEX_CORRUPTED),
				errmsg("index \"%s\" has links to pages that do not begin where the links say",
					   RelationGetRelationName(space->index)),
				errhint("Please REINDEX it."));
	return buf;
}

static Buffer
descend(const ZmSpace *space, const ZmTarget *target, int lockmode, int before)
{
	for (int i = 0; i < VAIN_DESCENTS; i++)
	{
		Buffer		buf = try_descend(space, target, lockmode, before);

		if (BufferIsValid(buf))
			return buf;
		CHECK_FOR_INTERRUPTS();
	}
	return descend_undisturbed(space, target, lockmode, before);
}

/*
 * The leaf that holds the target's position, pinned and locked in lockmode.
 */
Buffer
zm_descend(const ZmSpace *space, const ZmTarget *target, int lockmode)
{
	return descend(space, target, lockmode, 0);
}

/* Whether the target's position is in a page. */
bool
zm_page_holds(const ZmSpace *space, Page page, const ZmTarget *target)
{
	return zm_compare(space, target,
					  ZmPageGetEntry(page, ZmPageFirst(page))) >= 0 &&
		(ZmPageIsRightmost(page) ||
		 zm_compare(space, target, ZmPageGetEntry(page, ZM_HIGH_KEY)) < 0);
}

/*
 * Like zm_descend(), trying first the leaf *hint, and leaving in it the leaf
 * found.  Any leaf whose bounds hold the target is the right one; a hint may
 * come from before the index was built anew.
 */
Buffer
zm_descend_near(const ZmSpace *space, const ZmTarget *target, int lockmode,
				BlockNumber *hint)
{
	Buffer		buf;

	if (*hint != InvalidBlockNumber && zm_block_exists(space->index, *hint))
	{
		buf = ReadBuffer(space->index, *hint);
		LockBuffer(buf, lockmode);
		/* It may be new: its file was cut off, and an extension went wrong. */
		if (!PageIsNew(BufferGetPage(buf)))
			zm_page_check(space->index, buf);
		if (!PageIsNew(BufferGetPage(buf)) &&
			ZmPageIsLeaf(BufferGetPage(buf)) &&
			zm_page_holds(space, BufferGetPage(buf), target))
			return buf;
		UnlockReleaseBuffer(buf);
	}
	buf = zm_descend(space, target, lockmode);
	*hint = BufferGetBlockNumber(buf);
	return buf;
}

/*
 * The leaf that has what comes before the position low, at which a leaf began
 * that is not the first.  It ends there, unless leaves were merged since.
 */
Buffer
zm_descend_before(const ZmSpace *space, const ZmTarget *low)
{
	return descend(space, low, BUFFER_LOCK_SHARE, 1);
}

/*
 * Whether a zone covers the target's key for a heap page in the leaf that has the
 * key's first position: where the leaf at hand begins amid the key, zones that
 * reach over to it are there.
 */
bool
zm_left_covers(const ZmSpace *space, const ZmTarget *target, BlockNumber block)
{
	ZmTarget	first = *target;
	Buffer		buf;
	bool		covers;

	first.tie = ZM_TIE_BEFORE;
	buf = zm_descend(space, &first, BUFFER_LOCK_SHARE);
	covers = zm_block_covers(space, BufferGetPage(buf), &first, block);
	UnlockReleaseBuffer(buf);
	return covers;
}
