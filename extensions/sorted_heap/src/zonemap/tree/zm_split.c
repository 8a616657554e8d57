/*-------------------------------------------------------------------------
 *
 * zm_split.c
 *	  Splits of a zonemap's pages.
 *
 * Splits of one index are serialised by the exclusive lock on its metapage.
 * Under it a split locks, from the leaf upwards, the page, the new page and the
 * parent, and logs them together: there are no incomplete splits.  The order is
 * safe because nobody waits for a child with its parent locked.  zm_shrink.c
 * does the opposite, under the same lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "st_compat.h"
#include "zm_tree.h"
#include "zm_wal.h"

/*
 * Finds the blocks from the root down to the page of a level, or the root if
 * it is lower, where the target's position is.  The metapage is locked, so the
 * structure does not change.
 */
void
zm_find_path(const ZmSpace *space, const ZmTarget *target, uint32 level,
			 ZmPath *path)
{
	BlockNumber block = ZM_ROOT_BLOCK;

	path->depth = 0;
	for (;;)
	{
		Buffer		buf = zm_read_page(space->index, block, BUFFER_LOCK_SHARE);
		Page		page = BufferGetPage(buf);
		bool		found;

		if (path->depth == lengthof(path->blocks))
			elog(ERROR, "index \"%s\" is too deep",
				 RelationGetRelationName(space->index));
		path->blocks[path->depth++] = block;
		found = ZmPageGetOpaque(page)->level <= level;
		if (!found)
			block = ZmBlock(ZmPageGetEntry(page,
										   zm_search(space, page, target)));
		UnlockReleaseBuffer(buf);
		if (found)
			return;
	}
}

/* What a page is split for. */
typedef struct Newcomer
{
	const ZmTarget *target;		/* its position */
	Size		size;
	const ZmIncoming *incoming; /* entries of a leaf, of which it is the first;
								 * or NULL */
} Newcomer;

/* Bytes of the entries before off. */
static Size
bytes_before(Page page, OffsetNumber off)
{
	Size		bytes = 0;

	for (OffsetNumber i = ZmPageFirst(page); i < off; i++)
		bytes += MAXALIGN(ItemIdGetLength(PageGetItemId(page, i)));
	return bytes;
}

/* Whether the key of an entry is not that of the one before it. */
static bool
begins_key(const ZmSpace *space, Page page, OffsetNumber off)
{
	ZmTarget	target;

	zm_target_from_entry(space, &target, ZmPageGetEntry(page, off));
	return zm_compare_entry_key(space, &target,
								ZmPageGetEntry(page, off - 1)) > 0;
}

/*
 * Whether a page may be split before an entry that comes after so many of
 * `total` bytes.  Not where a half would not fit: if that is an exact entry, both
 * get its key besides.  Not between the first zone and its first entry, because
 * then the right page has what this one had, and not between a zone and the entry
 * of its position, where the left page ends then.
 */
static bool
may_split(const ZmSpace *space, Page page, OffsetNumber off, Size bytes,
		  Size total)
{
	OffsetNumber first = ZmPageFirst(page);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	IndexTuple	itup = ZmPageGetEntry(page, off);
	IndexTuple	before = ZmPageGetEntry(page, off - 1);
	Size		room = BLCKSZ - SizeOfPageHeaderData -
		MAXALIGN(sizeof(ZmOpaqueData));
	Size		start = MAXALIGN(IndexTupleSize(itup)) + sizeof(ItemIdData);
	Size		left = bytes + (off - first) * sizeof(ItemIdData);
	Size		right = total - bytes +
		(last - off + 1) * sizeof(ItemIdData);

	if (!ZmPageIsRightmost(page))
		right += MAXALIGN(IndexTupleSize(ZmPageGetEntry(page, ZM_HIGH_KEY))) +
			sizeof(ItemIdData);
	if (!ZmIsZone(itup))
	{
		ZmTarget	position;

		zm_target_from_entry(space, &position, itup);
		if (off == first + 1 ||
			(ZmIsZone(before) && zm_compare(space, &position, before) == 0))
			return false;
		if (!begins_key(space, page, off))
			start += MAXALIGN(sizeof(ItemPointerData));
		right += start;
	}
	return left + start <= room && right <= room;
}

/*
 * The entry that becomes the first of the right page: near the middle, or
 * near the end of the rightmost page; on leaves a zone, if one is near, or
 * else the first of its key.  Inner pages may have few downlinks, of large keys:
 * there the new one counts, so that not each page gets one alone.
 */
static OffsetNumber
choose_middle(const ZmSpace *space, Page page, const Newcomer *newcomer)
{
	OffsetNumber first = ZmPageFirst(page);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	OffsetNumber best = InvalidOffsetNumber;
	Size		total = bytes_before(page, last + 1);
	bool		end = ZmPageIsRightmost(page);
	Size		extra = ZmPageIsLeaf(page) ? 0 : MAXALIGN(newcomer->size);
	OffsetNumber place = extra == 0 ? last + 1 :
		zm_search(space, page, newcomer->target) + 1;
	Size		all = total + extra;
	Size		wanted = end ? all / 10 * 9 : all / 2;
	Size		least = end ? all / 2 : all / 4;
	Size		most = end ? all : all / 4 * 3;
	Size		best_distance = SIZE_MAX;
	Size		bytes = 0;

	/* Second best: any entry; what a zone gains is worth a quarter page. */
	for (OffsetNumber off = first; off <= last; off++)
	{
		Size		left = bytes + (off >= place ? extra : 0);
		Size		distance = left > wanted ? left - wanted : wanted - left;
		bool		zone = ZmIsZone(ZmPageGetEntry(page, off));

		if (off > first)
		{
			if (!zone || left < least || left > most)
				distance += BLCKSZ;
			if (!zone && distance < best_distance &&
				!begins_key(space, page, off))
				distance += BLCKSZ;
			if (distance < best_distance &&
				may_split(space, page, off, bytes, total))
			{
				best = off;
				best_distance = distance;
			}
		}
		bytes += MAXALIGN(ItemIdGetLength(PageGetItemId(page, off)));
	}
	if (best == InvalidOffsetNumber)
		elog(ERROR, "cannot split a zonemap page with entries of such sizes");
	return best;
}

/*
 * The entry that becomes the first of a leaf's right half when exact entries
 * are to come, in order: the left half is full when it has those that belong
 * there.  InvalidOffsetNumber if no such place is good.
 */
static OffsetNumber
choose_split_for(const ZmSpace *space, Page page, const ZmIncoming *incoming)
{
	OffsetNumber first = ZmPageFirst(page);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	OffsetNumber best = InvalidOffsetNumber;
	OffsetNumber best_zone = InvalidOffsetNumber;
	Size		zone_bytes = 0;
	Size		room = PageGetPageSize(page) - PageGetSpecialSize(page) -
		SizeOfPageHeaderData - BLCKSZ / 32;
	Size		bytes = 0;
	int			i = 0;

	for (OffsetNumber off = first; off <= last; off++)
	{
		IndexTuple	itup = ZmPageGetEntry(page, off);

		while (i < incoming->count && bytes <= room)
		{
			ZmTarget	target;

			zm_target_from_entry(space, &target, incoming->entries[i]);
			if (zm_compare(space, &target, itup) >= 0)
				break;
			bytes += MAXALIGN(IndexTupleSize(incoming->entries[i++])) +
				sizeof(ItemIdData);
		}
		if (bytes > room)
			break;
		if (off > first && ZmIsZone(itup))
		{
			best_zone = off;
			zone_bytes = bytes;
		}
		else if (off > first && begins_key(space, page, off))
			best = off;
		bytes += MAXALIGN(IndexTupleSize(itup)) + sizeof(ItemIdData);
	}
	/* A split zone is one more. */
	if (zone_bytes > room / 2)
		return best_zone;
	return bytes > room / 2 ? best : InvalidOffsetNumber;
}

static OffsetNumber
choose_split(const ZmSpace *space, Page page, const Newcomer *newcomer)
{
	OffsetNumber split = InvalidOffsetNumber;
	OffsetNumber end = PageGetMaxOffsetNumber(page) + 1;

	if (newcomer->incoming != NULL && ZmPageIsLeaf(page))
		split = choose_split_for(space, page, newcomer->incoming);
	if (split != InvalidOffsetNumber &&
		may_split(space, page, split, bytes_before(page, split),
				  bytes_before(page, end)))
		return split;
	return choose_middle(space, page, newcomer);
}

/* The zone with which a right page begins. */
static IndexTuple
right_start(const ZmSpace *space, Page page, OffsetNumber split)
{
	IndexTuple	itup = ZmPageGetEntry(page, split);

	if (ZmIsZone(itup))
		return itup;
	return zm_continue_zone(space,
							ZmPageGetEntry(page, zm_zone_at(page, split)),
							ZmPageGetEntry(page, split - 1), itup);
}

/* Fills two empty pages with the halves of a page; left gets its high key. */
static void
fill_halves(const ZmSpace *space, Page page, OffsetNumber split,
			IndexTuple start, BlockNumber right_block, Page left, Page right)
{
	OffsetNumber off = FirstOffsetNumber;

	zm_page_init(left, ZmPageGetOpaque(page)->level);
	zm_page_init(right, ZmPageGetOpaque(page)->level);
	ZmPageGetOpaque(left)->right = right_block;
	ZmPageGetOpaque(right)->right = ZmPageGetOpaque(page)->right;

	zm_page_add(left, zm_copy_as(start, right_block), off++);
	for (OffsetNumber i = ZmPageFirst(page); i < split; i++)
		zm_page_add(left, ZmPageGetEntry(page, i), off++);

	off = FirstOffsetNumber;
	if (!ZmPageIsRightmost(page))
		zm_page_add(right, ZmPageGetEntry(page, ZM_HIGH_KEY), off++);
	if (start != ZmPageGetEntry(page, split))
		zm_page_add(right, start, off++);
	for (OffsetNumber i = split; i <= PageGetMaxOffsetNumber(page); i++)
		if (!zm_is_repeated(space, page, start, ZmPageGetEntry(page, i)))
			zm_page_add(right, ZmPageGetEntry(page, i), off++);
}

/* A new page at the end of the index, locked exclusively. */
static Buffer
new_page(Relation index)
{
	bool		lock = !RELATION_IS_LOCAL(index);
	Buffer		buf;

	if (lock)
		LockRelationForExtension(index, ExclusiveLock);
	buf = st_extend_locked(index, NULL);
	if (lock)
		UnlockRelationForExtension(index, ExclusiveLock);
	return buf;
}

/* The root's content moves into two new pages below it. */
static void
split_root(const ZmSpace *space, Buffer root, const Newcomer *newcomer)
{
	Relation	index = space->index;
	Page		page = BufferGetPage(root);
	OffsetNumber split = choose_split(space, page, newcomer);
	IndexTuple	start = right_start(space, page, split);
	PGAlignedBlock left_image;
	PGAlignedBlock right_image;
	PGAlignedBlock root_image;
	Buffer		left = new_page(index);
	Buffer		right = new_page(index);
	ZmChange   *change;

	fill_halves(space, page, split, start, BufferGetBlockNumber(right),
				left_image.data, right_image.data);
	zm_page_init(root_image.data, ZmPageGetOpaque(page)->level + 1);
	zm_page_add(root_image.data,
				zm_copy_as(ZmPageGetEntry(page, ZmPageFirst(page)),
						   BufferGetBlockNumber(left)), 1);
	zm_page_add(root_image.data,
				zm_copy_as(start, BufferGetBlockNumber(right)), 2);

	change = zm_change_begin(index);
	zm_change_image(change, root, root_image.data);
	zm_change_image(change, left, left_image.data);
	zm_change_image(change, right, right_image.data);
	zm_change_end(change, true);
	UnlockReleaseBuffer(right);
	UnlockReleaseBuffer(left);
	UnlockReleaseBuffer(root);
}

/* Where a parent, which is locked, has the downlink to a child. */
OffsetNumber
zm_find_downlink(const ZmSpace *space, Page parent, BlockNumber parent_block,
				 BlockNumber child)
{
	for (OffsetNumber off = ZmPageFirst(parent);
		 off <= PageGetMaxOffsetNumber(parent); off++)
		if (ZmBlock(ZmPageGetEntry(parent, off)) == child)
			return off;
	ereport(ERROR,
			errcode(ERRCODE_INDEX_CORRUPTED),
			errmsg("index \"%s\": no downlink to block %u in block %u",
				   RelationGetRelationName(space->index), child,
				   parent_block),
			errhint("Please REINDEX it."));
}

/*
 * Splits the page at depth `at` of the path, if it still lacks room for the
 * newcomer.  Returns false if its parent had to be split instead.
 */
static bool
split_page(const ZmSpace *space, ZmPath *path, int at,
		   const Newcomer *newcomer)
{
	Relation	index = space->index;
	Buffer		buf = ReadBuffer(index, path->blocks[at]);
	Page		page = BufferGetPage(buf);
	PGAlignedBlock left_image;
	PGAlignedBlock right_image;
	Buffer		parent;
	Buffer		right;
	OffsetNumber split;
	OffsetNumber downlink;
	IndexTuple	start;
	ZmChange   *change;

	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	if (PageGetFreeSpace(page) >= MAXALIGN(newcomer->size))
	{
		UnlockReleaseBuffer(buf);
		return true;
	}
	if (at == 0)
	{
		split_root(space, buf, newcomer);
		return true;
	}
	split = choose_split(space, page, newcomer);
	start = right_start(space, page, split);

	parent = ReadBuffer(index, path->blocks[at - 1]);
	LockBuffer(parent, BUFFER_LOCK_EXCLUSIVE);
	if (PageGetFreeSpace(BufferGetPage(parent)) <
		MAXALIGN(IndexTupleSize(start)))
	{
		IndexTuple	copy = zm_copy_as(start, path->blocks[at]);
		ZmTarget	target;
		Newcomer	link = {&target, IndexTupleSize(start), NULL};

		zm_target_from_entry(space, &target, copy);
		UnlockReleaseBuffer(parent);
		UnlockReleaseBuffer(buf);
		split_page(space, path, at - 1, &link);
		return false;
	}
	downlink = zm_find_downlink(space, BufferGetPage(parent),
								path->blocks[at - 1], path->blocks[at]);

	right = new_page(index);
	fill_halves(space, page, split, start, BufferGetBlockNumber(right),
				left_image.data, right_image.data);
	start = zm_copy_as(start, BufferGetBlockNumber(right));

	change = zm_change_begin(index);
	zm_change_image(change, buf, left_image.data);
	zm_change_image(change, right, right_image.data);
	zm_page_add(zm_change_page(change, parent), start, downlink + 1);
	zm_change_end(change, true);
	UnlockReleaseBuffer(right);
	UnlockReleaseBuffer(parent);
	UnlockReleaseBuffer(buf);
	return true;
}

/*
 * Makes room for an entry of so many bytes in the leaf that holds the
 * target's position; others may take it before the caller does.  `incoming`,
 * if not NULL, are the exact entries that are to come, that one first.
 */
void
zm_split(const ZmSpace *space, const ZmTarget *target, Size needed,
		 const ZmIncoming *incoming)
{
	Buffer		meta = ReadBuffer(space->index, ZM_META_BLOCK);
	Newcomer	newcomer = {target, needed, incoming};
	ZmPath		path;

	LockBuffer(meta, BUFFER_LOCK_EXCLUSIVE);
	do
	{
		zm_find_path(space, target, 0, &path);
	} while (!split_page(space, &path, path.depth - 1, &newcomer));
	UnlockReleaseBuffer(meta);
}
