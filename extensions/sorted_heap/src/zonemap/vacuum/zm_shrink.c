/*-------------------------------------------------------------------------
 *
 * zm_shrink.c
 *	  Makes a zonemap smaller, at the end of VACUUM: entries are packed into
 *	  fewer pages, those at the end of the file move to free ones, and the end
 *	  is cut off.
 *
 * A page takes entries from its right neighbour, all or those before a clean
 * zone, as long as both have one parent.  An emptied page leaves the tree at
 * once, without waiting for those who still have a link to it: every reader
 * checks that the page that it finds is what the link said (zm_tree.c).
 *
 * Each change locks the metapage, which keeps splits away, then pages from
 * left to right and their parent, and is logged as one record.  Nothing but
 * the whole structure's own changes is serialised: rows are found and
 * inserted meanwhile.
 *
 * Free pages are taken here alone, never by a split: VACUUM reads leaves in the
 * order of their blocks, and a split must not move entries to where it has
 * been.  What is left at the end when the lock for the truncation cannot be
 * had is used or cut off the next time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/storage.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "st_compat.h"
#include "st_wal.h"
#include "zm_tree.h"
#include "zm_vacuum.h"
#include "zm_wal.h"

#define PAGE_SPACE \
	((int) (BLCKSZ - SizeOfPageHeaderData - MAXALIGN(sizeof(ZmOpaqueData))))
#define ENTRY_SPACE(itup) \
	((int) (MAXALIGN(IndexTupleSize(itup)) + sizeof(ItemIdData)))

/* Moving fewer bytes to a neighbour is not worth two pages written. */
#define LEAST_MOVED (BLCKSZ / 16)

/* Waits for the lock to truncate: number, and milliseconds of each. */
#define TRUNCATE_TRIES 20
#define TRUNCATE_WAIT 10

typedef struct Shrink
{
	ZmSpace		space;
	BufferAccessStrategy strategy;
	int			limit;			/* bytes to which pages are filled */

	/* what is in the index */
	int64		leaves;
	int64		bytes;			/* of the leaves' entries */
	BlockNumber live_end;		/* after the last page in use */
	BlockNumber nfree;
	BlockNumber free_room;
	BlockNumber *free;			/* blocks, ascending */
	BlockNumber next_free;
} Shrink;

static Buffer
read_locked(Shrink *shrink, BlockNumber block, int lockmode)
{
	Buffer		buf = ReadBufferExtended(shrink->space.index, MAIN_FORKNUM,
										 block, RBM_NORMAL, shrink->strategy);

	LockBuffer(buf, lockmode);
	return buf;
}

static bool
is_free(Page page)
{
	return PageIsNew(page) ||
		(ZmPageGetOpaque(page)->flags & ZM_PAGE_UNUSED) != 0;
}

/* Bytes that entries take from one on, with their line pointers. */
static int
entry_bytes(Page page, OffsetNumber off)
{
	int			bytes = 0;

	for (; off <= PageGetMaxOffsetNumber(page); off++)
		bytes += ENTRY_SPACE(ZmPageGetEntry(page, off));
	return bytes;
}

/* Counts what the index has.  Nothing is locked for long. */
static void
survey(Shrink *shrink)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(shrink->space.index);

	shrink->leaves = shrink->bytes = 0;
	shrink->nfree = shrink->next_free = 0;
	shrink->live_end = ZM_ROOT_BLOCK + 1;
	for (BlockNumber block = ZM_ROOT_BLOCK; block < nblocks; block++)
	{
		Buffer		buf;
		Page		page;

		st_vacuum_delay_point(false);
		buf = read_locked(shrink, block, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buf);
		if (is_free(page))
		{
			if (shrink->nfree == shrink->free_room)
			{
				shrink->free_room = Max(64, shrink->free_room * 2);
				shrink->free = repalloc_huge(shrink->free,
											 (Size) shrink->free_room *
											 sizeof(BlockNumber));
			}
			shrink->free[shrink->nfree++] = block;
		}
		else
		{
			zm_page_check(shrink->space.index, buf);
			shrink->live_end = block + 1;
			if (ZmPageIsLeaf(page))
			{
				shrink->leaves++;
				shrink->bytes += entry_bytes(page, ZmPageFirst(page));
			}
		}
		UnlockReleaseBuffer(buf);
	}
}

/* ---- changes, with the metapage locked ---- */

/* Makes the image of a page that is not in the tree. */
static void
make_unused(Page page)
{
	zm_page_init(page, 0);
	ZmPageGetOpaque(page)->flags = ZM_PAGE_UNUSED;
}

/*
 * The first entry of a right page that stays there when the left one takes
 * what there is room for; after the last one if it takes all; the first if
 * nothing is worth it.  On leaves a page may begin with a clean zone only: of
 * others, the zone before it may cover the key as well.
 */
static OffsetNumber
choose_rest(Shrink *shrink, Page left, Page right)
{
	OffsetNumber first = ZmPageFirst(right);
	OffsetNumber last = PageGetMaxOffsetNumber(right);
	OffsetNumber best = first;
	int			bytes = entry_bytes(left, ZmPageFirst(left));
	int			moved = 0;

	for (OffsetNumber off = first; off <= last; off++)
	{
		IndexTuple	itup = ZmPageGetEntry(right, off);

		if (off > first && moved >= LEAST_MOVED &&
			(!ZmPageIsLeaf(right) ||
			 (ZmIsZone(itup) && zm_is_clean(itup))) &&
			bytes + ENTRY_SPACE(itup) <= PAGE_SPACE)
			best = off;
		bytes += ENTRY_SPACE(itup);
		moved += ENTRY_SPACE(itup);
		if (bytes > shrink->limit)
			return best;
	}
	if (!ZmPageIsRightmost(right))
		bytes += ENTRY_SPACE(ZmPageGetEntry(right, ZM_HIGH_KEY));
	return bytes <= PAGE_SPACE ? last + 1 : best;
}

/*
 * Registers the left page, and adds the right one's entries before `rest` to
 * it.  What it had stays in its place, so that little is logged, unless its
 * high key becomes longer or shorter (see zm_change_moving()).
 */
static void
extend_left(ZmChange *change, Buffer left, Page right,
			OffsetNumber rest, BlockNumber right_block)
{
	bool		all = rest > PageGetMaxOffsetNumber(right);
	Page		page = BufferGetPage(left);
	Size		size = IndexTupleSize(ZmPageGetEntry(page, ZM_HIGH_KEY));
	IndexTuple	high = NULL;

	if (!all)
		high = zm_copy_as(ZmPageGetEntry(right, rest), right_block);
	else if (!ZmPageIsRightmost(right))
		high = ZmPageGetEntry(right, ZM_HIGH_KEY);
	if (high != NULL && IndexTupleSize(high) == size)
		page = zm_change_page(change, left);
	else
		page = zm_change_moving(change, left);
	ZmPageGetOpaque(page)->right = all ? ZmPageGetOpaque(right)->right :
		right_block;
	if (high == NULL)
		PageIndexTupleDelete(page, ZM_HIGH_KEY);
	else
		zm_page_replace(page, ZM_HIGH_KEY, high);
	for (OffsetNumber i = ZmPageFirst(right); i < rest; i++)
		zm_page_add(page, ZmPageGetEntry(right, i),
					PageGetMaxOffsetNumber(page) + 1);
}

/* The image of the right page, with its entries from `rest` on. */
static void
fill_right(Page right, OffsetNumber rest, Page image)
{
	OffsetNumber off = FirstOffsetNumber;

	if (rest > PageGetMaxOffsetNumber(right))
	{
		make_unused(image);
		return;
	}
	zm_page_init(image, ZmPageGetOpaque(right)->level);
	ZmPageGetOpaque(image)->right = ZmPageGetOpaque(right)->right;
	if (!ZmPageIsRightmost(right))
		zm_page_add(image, ZmPageGetEntry(right, ZM_HIGH_KEY), off++);
	for (OffsetNumber i = rest; i <= PageGetMaxOffsetNumber(right); i++)
		zm_page_add(image, ZmPageGetEntry(right, i), off++);
}

/* Moves entries of a right page to its left neighbour; both are locked. */
static void
shift_entries(Shrink *shrink, Buffer left, Buffer right, OffsetNumber rest,
			  BlockNumber parent_block)
{
	const ZmSpace *space = &shrink->space;
	BlockNumber right_block = BufferGetBlockNumber(right);
	Page		page = BufferGetPage(right);
	bool		all = rest > PageGetMaxOffsetNumber(page);
	IndexTuple	start = all ? NULL :
		zm_copy_as(ZmPageGetEntry(page, rest), right_block);
	PGAlignedBlock right_image;
	Buffer		parent = read_locked(shrink, parent_block,
									 BUFFER_LOCK_EXCLUSIVE);
	OffsetNumber downlink = zm_find_downlink(space, BufferGetPage(parent),
											 parent_block, right_block);

	/* A longer downlink may not fit. */
	if (all || PageGetExactFreeSpace(BufferGetPage(parent)) +
		MAXALIGN(IndexTupleSize(ZmPageGetEntry(BufferGetPage(parent),
											   downlink))) >=
		MAXALIGN(IndexTupleSize(start)))
	{
		ZmChange   *change;

		fill_right(page, rest, right_image.data);
		change = zm_change_begin(space->index);
		extend_left(change, left, page, rest, right_block);
		zm_change_image(change, right, right_image.data);
		page = zm_change_page(change, parent);
		PageIndexTupleDelete(page, downlink);
		if (!all)
			zm_page_add(page, start, downlink);
		zm_change_end(change, true);
	}
	UnlockReleaseBuffer(parent);
}

/* A copy of the position where a page of the tree begins, or its high key. */
static IndexTuple
copy_bound(Page page, OffsetNumber off)
{
	return zm_copy_as(ZmPageGetEntry(page, off), InvalidBlockNumber);
}

/*
 * Lets the page of a level that holds a position take entries from its right
 * neighbour.  Returns the position to go on with, NULL at the end of the level.
 */
static IndexTuple
pack_page(Shrink *shrink, uint32 level, IndexTuple position)
{
	const ZmSpace *space = &shrink->space;
	ZmTarget	target;
	ZmPath		path;
	BlockNumber block;
	BlockNumber right_block;
	BlockNumber parent_block;
	Buffer		buf;
	Buffer		right;
	Page		page;
	OffsetNumber downlink;
	OffsetNumber rest;
	IndexTuple	next;
	bool		siblings;

	zm_target_from_entry(space, &target, position);
	zm_find_path(space, &target, level, &path);
	if (path.depth < 2)
		return NULL;
	block = path.blocks[path.depth - 1];
	parent_block = path.blocks[path.depth - 2];
	buf = read_locked(shrink, parent_block, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buf);
	downlink = zm_find_downlink(space, page, parent_block, block);
	siblings = downlink < PageGetMaxOffsetNumber(page);
	UnlockReleaseBuffer(buf);

	buf = read_locked(shrink, block, BUFFER_LOCK_EXCLUSIVE);
	page = BufferGetPage(buf);
	right_block = ZmPageGetOpaque(page)->right;
	if (!siblings)
	{
		next = ZmPageIsRightmost(page) ? NULL : copy_bound(page, ZM_HIGH_KEY);
		UnlockReleaseBuffer(buf);
		return next;
	}
	right = read_locked(shrink, right_block, BUFFER_LOCK_EXCLUSIVE);
	zm_page_check(space->index, right);
	page = BufferGetPage(right);
	rest = choose_rest(shrink, BufferGetPage(buf), page);
	if (rest > PageGetMaxOffsetNumber(page))
		next = copy_bound(BufferGetPage(buf),
						  ZmPageFirst(BufferGetPage(buf)));
	else
		next = copy_bound(page, rest);
	if (rest > ZmPageFirst(page))
		shift_entries(shrink, buf, right, rest, parent_block);
	UnlockReleaseBuffer(right);
	UnlockReleaseBuffer(buf);
	return next;
}

/* Moves the only child of the root into it.  Returns false if it has more. */
static bool
lower_root(Shrink *shrink)
{
	Buffer		root = read_locked(shrink, ZM_ROOT_BLOCK, BUFFER_LOCK_SHARE);
	Page		page = BufferGetPage(root);
	BlockNumber block = InvalidBlockNumber;
	Buffer		child;
	ZmChange   *change;

	if (!ZmPageIsLeaf(page) &&
		PageGetMaxOffsetNumber(page) == FirstOffsetNumber)
		block = ZmBlock(ZmPageGetEntry(page, FirstOffsetNumber));
	LockBuffer(root, BUFFER_LOCK_UNLOCK);
	if (block == InvalidBlockNumber)
	{
		ReleaseBuffer(root);
		return false;
	}
	child = read_locked(shrink, block, BUFFER_LOCK_EXCLUSIVE);
	zm_page_check(shrink->space.index, child);
	LockBuffer(root, BUFFER_LOCK_EXCLUSIVE);
	change = zm_change_begin(shrink->space.index);
	zm_change_image(change, root, BufferGetPage(child));
	make_unused(zm_change_all(change, child));
	zm_change_end(change, true);
	UnlockReleaseBuffer(root);
	UnlockReleaseBuffer(child);
	return true;
}

/* The next free page before `end`, InvalidBlockNumber if there is none. */
static BlockNumber
next_free(Shrink *shrink, BlockNumber end)
{
	while (shrink->next_free < shrink->nfree &&
		   shrink->free[shrink->next_free] < end)
	{
		BlockNumber block = shrink->free[shrink->next_free++];
		Buffer		buf = read_locked(shrink, block, BUFFER_LOCK_SHARE);
		bool		found = is_free(BufferGetPage(buf));

		UnlockReleaseBuffer(buf);
		if (found)
			return block;
	}
	return InvalidBlockNumber;
}

/*
 * Moves a page to a free block.  `left` is its left neighbour's block, or
 * InvalidBlockNumber.
 */
static void
move_page(Shrink *shrink, uint32 level, BlockNumber left, BlockNumber from,
		  BlockNumber to)
{
	const ZmSpace *space = &shrink->space;
	Buffer		buf = read_locked(shrink, from, BUFFER_LOCK_SHARE);
	Page		page = BufferGetPage(buf);
	IndexTuple	start = copy_bound(page, ZmPageFirst(page));
	ZmTarget	target;
	ZmPath		path;
	BlockNumber parent_block;
	Buffer		left_buf = InvalidBuffer;
	Buffer		new;
	Buffer		parent;
	OffsetNumber downlink;
	ZmChange   *change;

	LockBuffer(buf, BUFFER_LOCK_UNLOCK);
	zm_target_from_entry(space, &target, start);
	zm_find_path(space, &target, level, &path);
	if (path.depth < 2 || path.blocks[path.depth - 1] != from)
		ereport(ERROR,
				errcode(ERRCODE_INDEX_CORRUPTED),
				errmsg("index \"%s\": block %u is not where its first entry belongs",
					   RelationGetRelationName(space->index), from),
				errhint("Please REINDEX it."));
	parent_block = path.blocks[path.depth - 2];

	if (left != InvalidBlockNumber)
		left_buf = read_locked(shrink, left, BUFFER_LOCK_EXCLUSIVE);
	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	new = read_locked(shrink, to, BUFFER_LOCK_EXCLUSIVE);
	parent = read_locked(shrink, parent_block, BUFFER_LOCK_EXCLUSIVE);
	downlink = zm_find_downlink(space, BufferGetPage(parent), parent_block,
								from);

	change = zm_change_begin(space->index);
	zm_change_image(change, new, BufferGetPage(buf));
	if (left != InvalidBlockNumber)
	{
		page = zm_change_page(change, left_buf);
		ZmPageGetOpaque(page)->right = to;
		BlockIdSet(&ZmPageGetEntry(page, ZM_HIGH_KEY)->t_tid.ip_blkid, to);
	}
	page = zm_change_page(change, parent);
	BlockIdSet(&ZmPageGetEntry(page, downlink)->t_tid.ip_blkid, to);
	make_unused(zm_change_all(change, buf));
	zm_change_end(change, true);
	UnlockReleaseBuffer(parent);
	UnlockReleaseBuffer(new);
	UnlockReleaseBuffer(buf);
	if (left != InvalidBlockNumber)
		UnlockReleaseBuffer(left_buf);
}

/* ---- the whole index ---- */

static Buffer
lock_structure(Shrink *shrink)
{
	return read_locked(shrink, ZM_META_BLOCK, BUFFER_LOCK_EXCLUSIVE);
}

static uint32
root_level(Shrink *shrink)
{
	Buffer		root = read_locked(shrink, ZM_ROOT_BLOCK, BUFFER_LOCK_SHARE);
	uint32		level = ZmPageGetOpaque(BufferGetPage(root))->level;

	UnlockReleaseBuffer(root);
	return level;
}

/* Packs the pages of a level; splits may come in between. */
static void
pack_level(Shrink *shrink, uint32 level)
{
	IndexTuple	position = zm_form_zone(shrink->space.index, NULL, NULL,
										InvalidBlockNumber, ZM_NO_KEY, NULL);

	while (position != NULL)
	{
		Buffer		meta;
		IndexTuple	next;

		st_vacuum_delay_point(false);
		st_wal_keep_up();
		meta = lock_structure(shrink);
		next = pack_page(shrink, level, position);
		UnlockReleaseBuffer(meta);
		pfree(position);
		position = next;
	}
}

/* The leftmost page of a level, InvalidBlockNumber if that is not below root. */
static BlockNumber
leftmost(Shrink *shrink, uint32 level)
{
	ZmTarget	target = {.ncolumns = 0,.tie = ZM_TIE_BEFORE};
	ZmPath		path;

	zm_find_path(&shrink->space, &target, level, &path);
	return path.depth < 2 ? InvalidBlockNumber : path.blocks[path.depth - 1];
}

/* Moves the pages of a level that are at or after `end` to free blocks. */
static void
move_level(Shrink *shrink, uint32 level, BlockNumber end)
{
	Buffer		meta = lock_structure(shrink);
	BlockNumber left = InvalidBlockNumber;
	BlockNumber block = leftmost(shrink, level);

	while (block != InvalidBlockNumber)
	{
		BlockNumber to = block < end ? InvalidBlockNumber :
			next_free(shrink, end);
		Buffer		buf;

		if (to != InvalidBlockNumber)
		{
			move_page(shrink, level, left, block, to);
			block = to;
		}
		/* Pages of the tree leave it here alone; splits may come now. */
		UnlockReleaseBuffer(meta);
		st_vacuum_delay_point(false);
		st_wal_keep_up();
		meta = lock_structure(shrink);
		buf = read_locked(shrink, block, BUFFER_LOCK_SHARE);
		left = block;
		block = ZmPageGetOpaque(BufferGetPage(buf))->right;
		UnlockReleaseBuffer(buf);
	}
	UnlockReleaseBuffer(meta);
}

/*
 * Cuts off free pages at the end, unless somebody uses the index all the time,
 * or VACUUM runs in parallel: standbys are told of the lock with a transaction
 * ID, which cannot be assigned then.
 */
static void
truncate_end(Shrink *shrink)
{
	Relation	index = shrink->space.index;
	BlockNumber nblocks;
	BlockNumber end;

	if (IsInParallelMode())
		return;
	for (int i = 0; !ConditionalLockRelation(index, AccessExclusiveLock); i++)
	{
		if (i == TRUNCATE_TRIES)
			return;
		CHECK_FOR_INTERRUPTS();
		pg_usleep(TRUNCATE_WAIT * 1000L);
	}
	nblocks = end = RelationGetNumberOfBlocks(index);
	while (end > ZM_ROOT_BLOCK + 1)
	{
		Buffer		buf = read_locked(shrink, end - 1, BUFFER_LOCK_SHARE);
		bool		found = is_free(BufferGetPage(buf));

		UnlockReleaseBuffer(buf);
		if (!found)
			break;
		end--;
	}
	if (end < nblocks)
		RelationTruncate(index, end);
	UnlockRelation(index, AccessExclusiveLock);
}

/*
 * Packs an index that would need a tenth fewer leaves if they were full, or,
 * after compaction, any fewer, and gives free pages back.  Returns whether it
 * packed anything.
 */
bool
zm_shrink(Relation index, BufferAccessStrategy strategy)
{
	Shrink		shrink = {.strategy = strategy};
	Buffer		meta;
	int64		gain;
	bool		sparse;

	zm_space_init(&shrink.space, index);
	shrink.limit = PAGE_SPACE * zm_fillfactor(index) / 100;
	shrink.free_room = 64;
	shrink.free = palloc(shrink.free_room * sizeof(BlockNumber));
	survey(&shrink);
	gain = zm_packing == ZM_PACK_ALWAYS ? 1 : (shrink.leaves + 9) / 10;
	sparse = shrink.bytes / shrink.limit + 1 <= shrink.leaves - gain;
	if (sparse)
	{
		/* Leaves of different parents meet the second time. */
		for (int i = 0; i < 2; i++)
			for (uint32 level = 0; level < root_level(&shrink); level++)
				pack_level(&shrink, level);
		meta = lock_structure(&shrink);
		while (lower_root(&shrink))
			;
		UnlockReleaseBuffer(meta);
		survey(&shrink);
	}
	if (shrink.nfree > 0)
	{
		BlockNumber end = RelationGetNumberOfBlocks(index) - shrink.nfree;

		for (uint32 level = 0; level < root_level(&shrink); level++)
			move_level(&shrink, level, end);
		truncate_end(&shrink);
	}
	pfree(shrink.free);
	return sparse;
}
