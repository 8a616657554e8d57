/*-------------------------------------------------------------------------
 *
 * zm_tree.c
 *	  Descent in a zonemap index, and which zones cover a key.
 *
 * Readers lock one page at a time, shared.  The root never moves; pages are
 * never merged or reused; a page that was split between reading its parent
 * and locking it is recognised by its high key, and its right link followed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtxlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "st_compat.h"
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

/* Follows right links until the page holds the target's position. */
Buffer
zm_move_right(const ZmSpace *space, const ZmTarget *target, Buffer buf,
			  int lockmode)
{
	for (;;)
	{
		Page		page = BufferGetPage(buf);
		BlockNumber right;

		if (ZmPageIsRightmost(page) ||
			zm_compare(space, target, ZmPageGetEntry(page, ZM_HIGH_KEY)) < 0)
			return buf;
		right = ZmPageGetOpaque(page)->right;
		UnlockReleaseBuffer(buf);
		CHECK_FOR_INTERRUPTS();
		buf = read_page(space->index, right, lockmode);
	}
}

/*
 * The leaf that holds the target's position, pinned and locked in lockmode.
 */
Buffer
zm_descend(const ZmSpace *space, const ZmTarget *target, int lockmode)
{
	Buffer		buf = read_page(space->index, ZM_ROOT_BLOCK, BUFFER_LOCK_SHARE);

	for (;;)
	{
		Page		page = BufferGetPage(buf);
		BlockNumber child;

		if (ZmPageIsLeaf(page) && lockmode != BUFFER_LOCK_SHARE)
		{
			/* The root may have become an inner page in between. */
			LockBuffer(buf, BUFFER_LOCK_UNLOCK);
			LockBuffer(buf, lockmode);
			if (!ZmPageIsLeaf(page))
			{
				LockBuffer(buf, BUFFER_LOCK_UNLOCK);
				LockBuffer(buf, BUFFER_LOCK_SHARE);
			}
		}
		if (ZmPageIsLeaf(page))
			return zm_move_right(space, target, buf, lockmode);
		buf = zm_move_right(space, target, buf, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buf);
		child = ZmBlock(ZmPageGetEntry(page, zm_search(space, page, target)));
		UnlockReleaseBuffer(buf);
		buf = read_page(space->index, child, BUFFER_LOCK_SHARE);
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

/*
 * The leaf that ends where another one, whose first position is low, begins.
 * Positions of pages' beginnings stay for ever, so there is one, unless low
 * is the beginning of the tree.
 */
Buffer
zm_descend_before(const ZmSpace *space, const ZmTarget *low)
{
	Buffer		buf = read_page(space->index, ZM_ROOT_BLOCK, BUFFER_LOCK_SHARE);

	for (;;)
	{
		Page		page = BufferGetPage(buf);
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
		}
		UnlockReleaseBuffer(buf);
		CHECK_FOR_INTERRUPTS();
		buf = read_page(space->index, next, BUFFER_LOCK_SHARE);
	}
}

/*
 * Adds an entry to a leaf that is locked exclusively and has room for it.
 * Logged as nbtree logs the same, which replays as PageAddItem().
 */
void
zm_add_logged(Relation index, Buffer buf, IndexTuple itup, OffsetNumber off)
{
	Page		page = BufferGetPage(buf);

	START_CRIT_SECTION();
	zm_page_add(page, itup, off);
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(index))
	{
		xl_btree_insert record = {.offnum = off};
		XLogRecPtr	lsn;

		XLogBeginInsert();
		st_xlog_register_data(&record, SizeOfBtreeInsert);
		XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) itup, IndexTupleSize(itup));
		lsn = XLogInsert(RM_BTREE_ID, XLOG_BTREE_INSERT_LEAF);
		PageSetLSN(page, lsn);
	}
	END_CRIT_SECTION();
}

/*
 * Whether a zone of the leaf covers the target's key.  It covers from its own
 * key, or after it if it is open, to the next zone's key: that included unless
 * the next one is fenced.  The last zone of a leaf ends with the leaf.
 */
bool
zm_zone_covers(const ZmSpace *space, Page page, OffsetNumber zone,
			   const ZmTarget *target)
{
	IndexTuple	itup = ZmPageGetEntry(page, zone);
	OffsetNumber next;
	int			result;

	Assert(ZmIsZone(itup) && target->ncolumns == space->ncolumns);
	result = zm_compare_entry_key(space, target, itup);
	if (result < 0 || (result == 0 && (ZmFlags(itup) & ZM_OPEN)))
		return false;
	for (next = zone + 1; next <= PageGetMaxOffsetNumber(page); next++)
		if (ZmIsZone(ZmPageGetEntry(page, next)))
			break;
	if (next > PageGetMaxOffsetNumber(page))
	{
		if (ZmPageIsRightmost(page))
			return true;
		next = ZM_HIGH_KEY;
	}
	itup = ZmPageGetEntry(page, next);
	result = zm_compare_entry_key(space, target, itup);
	return result < 0 || (result == 0 && !(ZmFlags(itup) & ZM_FENCED));
}

/*
 * Whether a zone of the leaf covers the target's key for a heap page.
 */
bool
zm_block_covers(const ZmSpace *space, Page page, const ZmTarget *target,
				BlockNumber block)
{
	return zm_block_covers_at(space, page, target, block,
							  zm_zone_at(page, zm_search(space, page,
														 target)));
}

/* The same, with the zone to whose group the target's position belongs. */
bool
zm_block_covers_at(const ZmSpace *space, Page page, const ZmTarget *target,
				   BlockNumber block, OffsetNumber zone)
{
	for (;;)
	{
		IndexTuple	itup = ZmPageGetEntry(page, zone);

		if (ZmBlock(itup) == block &&
			zm_zone_covers(space, page, zone, target))
			return true;
		/* What is left of it can hold the key only where they touch. */
		if (zone == ZmPageFirst(page) || (ZmFlags(itup) & ZM_FENCED) ||
			zm_compare_entry_key(space, target, itup) != 0)
			return false;
		zone = zm_zone_at(page, zone - 1);
	}
}
