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

static Buffer
read_page(Relation index, BlockNumber block, int lockmode)
{
	Buffer		buf = ReadBuffer(index, block);

	LockBuffer(buf, lockmode);
	zm_page_check(index, buf);
	return buf;
}

/*
 * Whether the position is in a page, or right of it, after a link to it was
 * read that said so.  A page that is not in the tree any more has no level.
 */
static inline bool
link_holds(const ZmSpace *space, const ZmTarget *target, Page page,
		   uint32 level)
{
	ZmOpaque	opaque = ZmPageGetOpaque(page);

	return opaque->level == level && !(opaque->flags & ZM_PAGE_UNUSED) &&
		zm_compare(space, target,
				   ZmPageGetEntry(page, ZmPageFirst(page))) >= 0;
}

/*
 * Follows right links until the page holds the target's position.  Returns
 * InvalidBuffer if a page went away on the way.
 */
static Buffer
move_right(const ZmSpace *space, const ZmTarget *target, Buffer buf,
		   int lockmode)
{
	for (;;)
	{
		Page		page = BufferGetPage(buf);
		uint32		level = ZmPageGetOpaque(page)->level;
		BlockNumber right;

		if (ZmPageIsRightmost(page) ||
			zm_compare(space, target, ZmPageGetEntry(page, ZM_HIGH_KEY)) < 0)
			return buf;
		right = ZmPageGetOpaque(page)->right;
		UnlockReleaseBuffer(buf);
		CHECK_FOR_INTERRUPTS();
		buf = read_page(space->index, right, lockmode);
		if (!link_holds(space, target, BufferGetPage(buf), level))
		{
			UnlockReleaseBuffer(buf);
			return InvalidBuffer;
		}
	}
}

/* zm_descend(), or InvalidBuffer if a page went away on the way. */
static Buffer
try_descend(const ZmSpace *space, const ZmTarget *target, int lockmode)
{
	Buffer		buf = read_page(space->index, ZM_ROOT_BLOCK, BUFFER_LOCK_SHARE);

	for (;;)
	{
		Page		page = BufferGetPage(buf);
		BlockNumber child;
		uint32		level;

		if (ZmPageIsLeaf(page) && lockmode != BUFFER_LOCK_SHARE)
		{
			LockBuffer(buf, BUFFER_LOCK_UNLOCK);
			LockBuffer(buf, lockmode);
			/* It may have changed in between: the root, even its level. */
			if (!link_holds(space, target, page, 0))
			{
				UnlockReleaseBuffer(buf);
				return InvalidBuffer;
			}
		}
		if (ZmPageIsLeaf(page))
			return move_right(space, target, buf, lockmode);
		buf = move_right(space, target, buf, BUFFER_LOCK_SHARE);
		if (!BufferIsValid(buf))
			return buf;
		page = BufferGetPage(buf);
		level = ZmPageGetOpaque(page)->level;
		child = ZmBlock(ZmPageGetEntry(page, zm_search(space, page, target)));
		UnlockReleaseBuffer(buf);
		buf = read_page(space->index, child, BUFFER_LOCK_SHARE);
		if (!link_holds(space, target, BufferGetPage(buf), level - 1))
		{
			UnlockReleaseBuffer(buf);
			return InvalidBuffer;
		}
	}
}

/*
 * The leaf that holds the target's position, pinned and locked in lockmode.
 */
Buffer
zm_descend(const ZmSpace *space, const ZmTarget *target, int lockmode)
{
	for (;;)
	{
		Buffer		buf = try_descend(space, target, lockmode);

		if (BufferIsValid(buf))
			return buf;
		CHECK_FOR_INTERRUPTS();
	}
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
		Page		page;

		buf = read_page(space->index, *hint, lockmode);
		page = BufferGetPage(buf);
		if (ZmPageIsLeaf(page) &&
			zm_compare(space, target,
					   ZmPageGetEntry(page, ZmPageFirst(page))) >= 0 &&
			(ZmPageIsRightmost(page) ||
			 zm_compare(space, target, ZmPageGetEntry(page, ZM_HIGH_KEY)) < 0))
			return buf;
		UnlockReleaseBuffer(buf);
	}
	buf = zm_descend(space, target, lockmode);
	*hint = BufferGetBlockNumber(buf);
	return buf;
}

/* Whether the page ends at the position low, or after it. */
static bool
ends_at(const ZmSpace *space, Page page, const ZmTarget *low)
{
	return ZmPageIsRightmost(page) ||
		zm_compare(space, low, ZmPageGetEntry(page, ZM_HIGH_KEY)) <= 0;
}

/* zm_descend_before(), or InvalidBuffer if a page went away on the way. */
static Buffer
try_descend_before(const ZmSpace *space, const ZmTarget *low)
{
	Buffer		buf = read_page(space->index, ZM_ROOT_BLOCK, BUFFER_LOCK_SHARE);

	for (;;)
	{
		Page		page = BufferGetPage(buf);
		uint32		level = ZmPageGetOpaque(page)->level;
		OffsetNumber off;
		BlockNumber next;

		if (!ends_at(space, page, low))
			next = ZmPageGetOpaque(page)->right;
		else if (ZmPageIsLeaf(page))
			return buf;
		else
		{
			off = zm_search(space, page, low);
			if (off > ZmPageFirst(page) &&
				zm_compare(space, low, ZmPageGetEntry(page, off)) == 0)
				off--;
			next = ZmBlock(ZmPageGetEntry(page, off));
			level--;
		}
		UnlockReleaseBuffer(buf);
		CHECK_FOR_INTERRUPTS();
		buf = read_page(space->index, next, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buf);
		if (!link_holds(space, low, page, level) ||
			zm_compare(space, low, ZmPageGetEntry(page,
												  ZmPageFirst(page))) == 0)
		{
			UnlockReleaseBuffer(buf);
			return InvalidBuffer;
		}
	}
}

/*
 * The leaf that has what comes before the position low, at which a leaf began
 * that is not the first.  It ends there, unless leaves were merged since.
 */
Buffer
zm_descend_before(const ZmSpace *space, const ZmTarget *low)
{
	for (;;)
	{
		Buffer		buf = try_descend_before(space, low);

		if (BufferIsValid(buf))
			return buf;
		CHECK_FOR_INTERRUPTS();
	}
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
