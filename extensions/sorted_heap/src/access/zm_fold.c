/*-------------------------------------------------------------------------
 *
 * zm_fold.c
 *	  Tightens the leaves of a zonemap, at the end of VACUUM.
 *
 * Where several exact entries in a row are of one heap page, and the page of
 * the zone that they are in has no row from the first of them to where the zone
 * ends, a zone of theirs begins there and takes their place.  A zone whose page
 * has no rows, or none that it covers while its first row has an exact entry,
 * becomes a hole.  A hole right before such entries becomes their zone.  Zones
 * of one page that follow each other become one.
 *
 * That narrows zones (I11).  It is safe because the heap page is looked at
 * with the leaf locked exclusively: a row that is on the page then, published
 * or not, is reckoned with, and one that comes later finds the leaf as it is
 * left.  The order of locks, leaf before heap page, is that of all code here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "st_compat.h"
#include "st_wal.h"
#include "zm_fold.h"
#include "zm_tree.h"
#include "zm_unique.h"

/* A leaf that is being rewritten. */
typedef struct Fold
{
	ZmSpace		space;
	ZmHeapKey	heap_key;
	Relation	heap;
	bool		unique;
	bool		changed;
	IndexTuple	zone;			/* the current one, in entries */
	int			count;
	IndexTuple	entries[MaxIndexTuplesPerPage + 2];
} Fold;

static void
emit(Fold *fold, IndexTuple itup)
{
	fold->entries[fold->count++] = itup;
	if (ZmIsZone(itup))
		fold->zone = itup;
}

/* Sign of (key of a - key of b); b may be before all keys. */
static int
compare_keys(Fold *fold, IndexTuple a, IndexTuple b)
{
	ZmTarget	target;

	zm_target_from_entry(&fold->space, &target, a);
	return zm_compare_entry_key(&fold->space, &target, b);
}

/* Whether no row is on a heap page. */
static bool
page_is_empty(Relation heap, BlockNumber block)
{
	Buffer		buf;
	Page		page;
	bool		empty = true;

	if (!zm_block_exists(heap, block))
		return true;
	buf = ReadBuffer(heap, block);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buf);
	for (OffsetNumber off = FirstOffsetNumber;
		 empty && !PageIsNew(page) && off <= PageGetMaxOffsetNumber(page);
		 off++)
		empty = !ItemIdIsNormal(PageGetItemId(page, off));
	UnlockReleaseBuffer(buf);
	return empty;
}

/* Exact entries of one heap page in a row, from off on. */
static int
count_run(Fold *fold, Page page, OffsetNumber off)
{
	BlockNumber block =
		ItemPointerGetBlockNumber(&ZmPageGetEntry(page, off)->t_tid);
	int			n = 0;

	for (; off <= PageGetMaxOffsetNumber(page); off++)
	{
		IndexTuple	itup = ZmPageGetEntry(page, off);
		ItemPointerData tid;

		if (ZmIsZone(itup) || ZmIsMark(itup) ||
			ItemPointerGetBlockNumber(&itup->t_tid) != block)
			break;
		/* An entry may still have to tell that its row is published. */
		tid = itup->t_tid;
		if (fold->unique && !zm_unique_is_settled(fold->heap, &tid))
			break;
		n++;
	}
	return n;
}

/*
 * Whether a zone's page has no row from an entry's position on to where the
 * zone ends: `bound`, a zone or high key, or NULL.
 */
static bool
page_lacks(Fold *fold, IndexTuple zone, IndexTuple from, IndexTuple bound)
{
	ZmTarget	target;
	ZmTarget	end;

	zm_target_from_entry(&fold->space, &target, from);
	if (bound != NULL)
		zm_target_from_entry(&fold->space, &end, bound);
	return zm_heap_page_lacks(&fold->heap_key, fold->heap, ZmBlock(zone),
							  &target, bound != NULL ? &end : NULL,
							  bound != NULL && !(ZmFlags(bound) & ZM_FENCED));
}

/*
 * Whether a zone may begin at an exact entry, after what was emitted.  `bound`
 * is where the group ends, a zone or high key, or NULL: what the current zone
 * would lose.
 */
static bool
may_start(Fold *fold, IndexTuple first, IndexTuple bound)
{
	if (fold->count == 0 ||
		compare_keys(fold, first, fold->entries[fold->count - 1]) == 0 ||
		compare_keys(fold, first, fold->zone) == 0)
		return false;
	if (ZmBlock(fold->zone) == InvalidBlockNumber)
		return true;
	return page_lacks(fold, fold->zone, first, bound);
}

/*
 * Whether the current zone is a hole that may become the zone of what comes
 * next.  If it is fenced, its range touches nothing on the left.
 */
static bool
may_fill(Fold *fold)
{
	return fold->count > 0 && fold->entries[fold->count - 1] == fold->zone &&
		ZmBlock(fold->zone) == InvalidBlockNumber &&
		(ZmFlags(fold->zone) & ZM_FENCED);
}

/* Begins a zone of a heap page at an exact entry, or at the hole before it. */
static void
start_zone(Fold *fold, IndexTuple first, BlockNumber block)
{
	IndexTuple	zone;

	if (may_fill(fold))
	{
		zone = zm_copy_as(fold->zone, block);
		fold->count--;
	}
	else
		zone = zm_zone_from(first, block, ZM_FENCED, NULL);
	if (fold->space.fast != ZM_FAST_NONE)
		zone = zm_add_note(zone);
	emit(fold, zone);
	fold->changed = true;
}

/* Whether the current zone, not the one it was read in, covers an entry. */
static bool
repeats(Fold *fold, IndexTuple itup)
{
	return ZmBlock(fold->zone) == ItemPointerGetBlockNumber(&itup->t_tid) &&
		!((ZmFlags(fold->zone) & ZM_OPEN) &&
		  compare_keys(fold, itup, fold->zone) == 0);
}

/*
 * The exact entries of a group, from off to before end.  `bound` is the zone or
 * high key after it, if there is one.  If that is not clean, what comes after
 * the group may hold its last key too, so a zone must end before.  There a leaf
 * may end, or may have ended when a scan copied it.
 */
static void
fold_group(Fold *fold, Page page, OffsetNumber off, OffsetNumber end,
		   IndexTuple bound)
{
	IndexTuple	next = bound != NULL && !zm_is_clean(bound) ? bound : NULL;
	bool		may_fold = true;
	bool		started = false;

	if (next != NULL)
		may_fold = end > off &&
			compare_keys(fold, ZmPageGetEntry(page, end - 1), next) < 0;
	for (OffsetNumber i = off; i < end; i++)
	{
		IndexTuple	itup = ZmPageGetEntry(page, i);
		ItemPointerData tid = zm_row_tid(itup);
		int			run;

		if (ZmIsMark(itup))
		{
			emit(fold, itup);
			continue;
		}
		if (repeats(fold, itup) &&
			(!fold->unique || zm_unique_is_settled(fold->heap, &tid)))
		{
			fold->changed = true;
			continue;
		}
		run = may_fold ? count_run(fold, page, i) : 0;
		/* a zone that needs another one to end it must save more */
		if (run < ZM_FEWEST_ENTRIES + (next != NULL && !may_fill(fold)) ||
			!(may_fill(fold) || may_start(fold, itup, bound)))
		{
			emit(fold, itup);
			continue;
		}
		start_zone(fold, itup, ItemPointerGetBlockNumber(&tid));
		started = true;
	}
	if (next != NULL && started)
		emit(fold, zm_form_close(ZmPageGetEntry(page, end - 1)));
}

/* A zone is larger than an entry: what was tightened may need more room. */
static bool
fits(const Fold *fold, Page old, Page empty)
{
	Size		size = 0;

	if (!ZmPageIsRightmost(old))
		size += MAXALIGN(IndexTupleSize(ZmPageGetEntry(old, ZM_HIGH_KEY))) +
			sizeof(ItemIdData);
	for (int i = 0; i < fold->count; i++)
		size += MAXALIGN(IndexTupleSize(fold->entries[i])) + sizeof(ItemIdData);
	return size <= PageGetExactFreeSpace(empty);
}

/* A leaf that would not fit stays as it is, which is right, too. */
static void
write_leaf(Fold *fold, Buffer buf)
{
	Page		old = BufferGetPage(buf);
	GenericXLogState *state;
	PGAlignedBlock image;
	OffsetNumber off = FirstOffsetNumber;

	zm_page_init(image.data, 0);
	if (!fits(fold, old, image.data))
		return;
	ZmPageGetOpaque(image.data)->right = ZmPageGetOpaque(old)->right;
	if (!ZmPageIsRightmost(old))
		zm_page_add(image.data, ZmPageGetEntry(old, ZM_HIGH_KEY), off++);
	for (int i = 0; i < fold->count; i++)
		zm_page_add(image.data, fold->entries[i], off++);
	state = GenericXLogStart(fold->space.index);
	memcpy(GenericXLogRegisterBuffer(state, buf, GENERIC_XLOG_FULL_IMAGE),
		   image.data, BLCKSZ);
	GenericXLogFinish(state);
}

/* Whether a zone says nothing: a hole without entries, after another hole. */
static bool
is_needless(Fold *fold, IndexTuple zone, IndexTuple next)
{
	return fold->count > 0 && ZmIsZone(next) &&
		ZmBlock(zone) == InvalidBlockNumber &&
		ZmBlock(fold->zone) == InvalidBlockNumber;
}

/*
 * Whether a zone that begins with an exact entry's key has no row on its page:
 * the rows have moved, and the entry's zone may begin where it does.
 */
static bool
is_left(Fold *fold, IndexTuple zone, IndexTuple first, IndexTuple bound)
{
	if ((ZmFlags(zone) & (ZM_FENCED | ZM_OPEN | ZM_NO_KEY)) != ZM_FENCED ||
		compare_keys(fold, first, zone) != 0)
		return false;
	return page_lacks(fold, zone, zone, bound);
}

/*
 * Whether a zone can be left out because the one before is of the same page, so
 * that together they cover what both do.  Cursors that have a copy of a leaf
 * that begins or ends there find that out (zm_cursor.c).
 */
static bool
goes_on(Fold *fold, IndexTuple zone)
{
	return fold->count > 0 && ZmBlock(zone) != InvalidBlockNumber &&
		ZmBlock(zone) == ZmBlock(fold->zone) &&
		(ZmFlags(zone) & (ZM_FENCED | ZM_OPEN)) == ZM_FENCED;
}

/* Tightens a leaf that is locked exclusively. */
static void
fold_leaf(Fold *fold, Buffer buf)
{
	Page		page = BufferGetPage(buf);
	OffsetNumber max = PageGetMaxOffsetNumber(page);
	OffsetNumber off = ZmPageFirst(page);

	fold->changed = false;
	fold->count = 0;
	while (off <= max)
	{
		IndexTuple	zone = ZmPageGetEntry(page, off);
		IndexTuple	bound = NULL;
		OffsetNumber end = off + 1;

		while (end <= max && !ZmIsZone(ZmPageGetEntry(page, end)))
			end++;
		if (end <= max)
			bound = ZmPageGetEntry(page, end);
		else if (!ZmPageIsRightmost(page))
			bound = ZmPageGetEntry(page, ZM_HIGH_KEY);
		if (ZmBlock(zone) != InvalidBlockNumber &&
			(page_is_empty(fold->heap, ZmBlock(zone)) ||
			 (end > off + 1 &&
			  is_left(fold, zone, ZmPageGetEntry(page, off + 1), bound))))
		{
			zone = zm_copy_as(zone, InvalidBlockNumber);
			fold->changed = true;
		}
		if (off + 1 <= max && is_needless(fold, zone,
										  ZmPageGetEntry(page, off + 1)))
		{
			fold->changed = true;
			off++;
			continue;
		}
		if (goes_on(fold, zone))
			fold->changed = true;
		else
			emit(fold, zone);
		fold_group(fold, page, off + 1, end, bound);
		off = end;
	}
	if (fold->changed)
		write_leaf(fold, buf);
}

/* Tightens all leaves. */
void
zm_fold(Relation index, Relation heap, BufferAccessStrategy strategy)
{
	Fold	   *fold = palloc(sizeof(Fold));
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zonemap fold",
												  ALLOCSET_DEFAULT_SIZES);
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);

	zm_space_init(&fold->space, index);
	zm_heap_key_init(&fold->heap_key, &fold->space, heap);
	fold->heap = heap;
	fold->unique = index->rd_index->indisunique;
	for (BlockNumber block = ZM_ROOT_BLOCK; block < nblocks; block++)
	{
		MemoryContext old = MemoryContextSwitchTo(context);
		Buffer		buf;

		st_vacuum_delay_point(false);
		st_wal_keep_up();
		buf = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL,
								 strategy);
		LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
		if (!PageIsNew(BufferGetPage(buf)))
		{
			zm_page_check(index, buf);
			if (ZmPageIsLeaf(BufferGetPage(buf)))
				fold_leaf(fold, buf);
		}
		UnlockReleaseBuffer(buf);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	MemoryContextDelete(context);
	pfree(fold);
}
