/*-------------------------------------------------------------------------
 *
 * zm_fold.c
 *	  Tightens the leaves of a zonemap, at the end of VACUUM.
 *
 * A run of exact entries of one heap page becomes a zone.  A zone without rows
 * becomes a hole.  Zones and holes that say nothing go.  zm_zone.c has the rules
 * (3 to 8) and says why they are safe.
 *
 * Locks: a leaf exclusively, and under it one heap page at a time, shared.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "st_compat.h"
#include "st_wal.h"
#include "zm_insert.h"
#include "zm_tree.h"
#include "zm_vacuum.h"
#include "zm_wal.h"

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

/*
 * Whether no tuple is on a heap page.  VACUUM has told the free space map of those
 * that it has found or made empty; others are not read, with the leaf locked.
 */
static bool
page_is_empty(Fold *fold, BlockNumber block)
{
	ZmTarget	all = {.ncolumns = 0,.tie = ZM_TIE_BEFORE};

	if (zm_block_exists(fold->heap, block) &&
		GetRecordedFreeSpace(fold->heap, block) < BLCKSZ / 2)
		return false;
	return zm_heap_page_lacks(&fold->heap_key, fold->heap, block, &all, NULL,
							  false, NULL);
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
	return zm_is_hole(fold->zone) ||
		zm_page_lacks_from(&fold->heap_key, fold->heap, fold->zone, first,
						   bound);
}

/* Whether the current zone is a hole that may become that of what comes next. */
static bool
may_fill(Fold *fold)
{
	return fold->count > 0 && fold->entries[fold->count - 1] == fold->zone &&
		zm_may_fill(fold->zone);
}

/* Begins a zone of a heap page at an exact entry, or at the hole before it. */
static void
start_zone(Fold *fold, IndexTuple first, BlockNumber block)
{
	IndexTuple	zone;

	if (may_fill(fold))
	{
		zone = zm_fill_hole(&fold->space, fold->zone, block);
		fold->count--;
	}
	else
		zone = zm_begin_zone(&fold->space, first, block);
	emit(fold, zone);
	fold->changed = true;
}

/* Whether the current zone, not the one it was read in, covers an entry. */
static bool
repeats(Fold *fold, IndexTuple itup)
{
	return ZmBlock(fold->zone) == ItemPointerGetBlockNumber(&itup->t_tid) &&
		zm_zone_begins(fold->zone, compare_keys(fold, itup, fold->zone));
}

/*
 * Folds the exact entries of a group, from off to before end.  `bound` is the
 * group's bound.  If it is not clean, a zone that begins here must end before it:
 * a hole closes it after the group's last entry.
 */
static void
fold_group(Fold *fold, Page page, OffsetNumber off, OffsetNumber end,
		   IndexTuple bound)
{
	IndexTuple	next = zm_is_clean(bound) ? NULL : bound;
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
		emit(fold, zm_close_zone(ZmPageGetEntry(page, end - 1)));
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
	zm_log_image(fold->space.index, buf, image.data);
}

/* Whether a zone says nothing: a hole without entries, after another hole. */
static bool
is_needless(Fold *fold, IndexTuple zone, IndexTuple next)
{
	return fold->count > 0 && ZmIsZone(next) && zm_is_hole(zone) &&
		zm_is_hole(fold->zone);
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
		OffsetNumber end = zm_zone_after(page, off);
		IndexTuple	bound = zm_bound_at(page, end);

		if (!zm_is_hole(zone) &&
			(page_is_empty(fold, ZmBlock(zone)) ||
			 (end > off + 1 &&
			  zm_has_left(&fold->space, &fold->heap_key, fold->heap, zone,
						  ZmPageGetEntry(page, off + 1), bound))))
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
		if (fold->count > 0 && zm_may_join(fold->zone, zone))
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
