/*-------------------------------------------------------------------------
 *
 * zm_page.c
 *	  Makes and checks pages and entries of a zonemap index.
 *
 * Nothing here logs, and zm_read_page() alone locks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/itup.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "zm_page.h"

void
zm_page_init(Page page, uint32 level)
{
	ZmOpaque	opaque;

	PageInit(page, BLCKSZ, sizeof(ZmOpaqueData));
	opaque = ZmPageGetOpaque(page);
	opaque->unused = InvalidBlockNumber;
	opaque->right = InvalidBlockNumber;
	opaque->level = level;
	opaque->flags = level == 0 ? ZM_PAGE_LEAF : 0;
	opaque->page_id = ZM_PAGE_ID;
}

void
zm_meta_init(Page page)
{
	ZmMetaData *meta;

	zm_page_init(page, 0);
	ZmPageGetOpaque(page)->flags = ZM_PAGE_META;
	meta = ZmPageGetMeta(page);
	meta->magic = ZM_MAGIC;
	meta->version = ZM_VERSION;
	((PageHeader) page)->pd_lower = (char *) (meta + 1) - (char *) page;
}

/*
 * Raises an error unless the page, which is locked, can be one of ours.
 */
void
zm_page_check(Relation index, Buffer buf)
{
	Page		page = BufferGetPage(buf);

	if (PageIsNew(page) ||
		PageGetSpecialSize(page) != MAXALIGN(sizeof(ZmOpaqueData)) ||
		ZmPageGetOpaque(page)->page_id != ZM_PAGE_ID ||
		PageGetMaxOffsetNumber(page) > MaxIndexTuplesPerPage)
		ereport(ERROR,
				errcode(ERRCODE_INDEX_CORRUPTED),
				errmsg("index \"%s\" contains a page that is not a zonemap's, at block %u",
					   RelationGetRelationName(index),
					   BufferGetBlockNumber(buf)),
				errhint("Please REINDEX it."));
}

/*
 * Raises an error unless the TID of an exact entry can be a row's: the server takes
 * that for granted.
 */
void
zm_exact_check(Relation index, IndexTuple exact)
{
	OffsetNumber off = ItemPointerGetOffsetNumberNoCheck(&exact->t_tid) &
		~ZM_MARK;

	if (off < FirstOffsetNumber || off > MaxHeapTuplesPerPage ||
		ItemPointerGetBlockNumberNoCheck(&exact->t_tid) > MaxBlockNumber)
		ereport(ERROR,
				errcode(ERRCODE_INDEX_CORRUPTED),
				errmsg("index \"%s\" contains an entry of no row",
					   RelationGetRelationName(index)),
				errhint("Please REINDEX it."));
}

Buffer
zm_read_page(Relation index, BlockNumber block, int lockmode)
{
	Buffer		buf = ReadBuffer(index, block);

	LockBuffer(buf, lockmode);
	zm_page_check(index, buf);
	return buf;
}

static void
check_size(Relation index, Size size)
{
	if (size > ZM_MAX_ENTRY)
		ereport(ERROR,
				errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("index row size %zu exceeds zonemap maximum %d for index \"%s\"",
					   size, ZM_MAX_ENTRY, RelationGetRelationName(index)),
				errhint("Values larger than a quarter of a page cannot be indexed."));
}

/* The entry of one row, in current memory. */
IndexTuple
zm_form_exact(Relation index, Datum *values, bool *nulls, ItemPointer tid)
{
	IndexTuple	itup = index_form_tuple(RelationGetDescr(index), values, nulls);

	/* Room for a tie: the key may have to become that of a zone. */
	check_size(index, IndexTupleSize(itup) + MAXALIGN(sizeof(ItemPointerData)));
	itup->t_tid = *tid;
	return itup;
}

/* The TID of an exact entry's row. */
ItemPointerData
zm_row_tid(IndexTuple exact)
{
	ItemPointerData tid = exact->t_tid;

	tid.ip_posid &= ~ZM_MARK;
	return tid;
}

static Size
size_without_note(IndexTuple zone)
{
	return IndexTupleSize(zone) -
		(ZmFlags(zone) & ZM_NOTE ? sizeof(uint64) : 0);
}

/*
 * A zone (downlink, high key) with the key of an entry, in current memory;
 * without a note.
 */
IndexTuple
zm_zone_from(IndexTuple key, BlockNumber block, uint16 flags, ItemPointer tie)
{
	Size		size = IndexTupleSize(key);
	Size		total;
	IndexTuple	zone;

	if (ZmIsZone(key))
		size = size_without_note(key);
	if (ZmIsZone(key) && (ZmFlags(key) & ZM_TIE))
		size -= MAXALIGN(sizeof(ItemPointerData));
	if (flags & ZM_NO_KEY)
		size = MAXALIGN(sizeof(IndexTupleData));
	total = size;
	if (flags & ZM_TIE)
		total += MAXALIGN(sizeof(ItemPointerData));
	zone = palloc0(total);
	memcpy(zone, key, size);
	if (flags & ZM_TIE)
		memcpy((char *) zone + size, tie, sizeof(ItemPointerData));
	zone->t_info = (key->t_info & ~INDEX_SIZE_MASK) | total |
		INDEX_AM_RESERVED_BIT;
	if (flags & ZM_NO_KEY)
		zone->t_info &= ~(INDEX_NULL_MASK | INDEX_VAR_MASK);
	ItemPointerSet(&zone->t_tid, block, flags);
	return zone;
}

IndexTuple
zm_form_zone(Relation index, Datum *values, bool *nulls, BlockNumber block,
			 uint16 flags, ItemPointer tie)
{
	IndexTupleData none = {.t_info = MAXALIGN(sizeof(IndexTupleData))};
	IndexTuple	key = &none;

	if (!(flags & ZM_NO_KEY))
	{
		key = index_form_tuple(RelationGetDescr(index), values, nulls);
		check_size(index,
				   IndexTupleSize(key) + MAXALIGN(sizeof(ItemPointerData)));
	}
	return zm_zone_from(key, block, flags, tie);
}

/*
 * The same position for another block, without a note: makes downlinks and
 * high keys.
 */
IndexTuple
zm_copy_as(IndexTuple zone, BlockNumber block)
{
	Size		size = size_without_note(zone);
	IndexTuple	copy = palloc(size);

	Assert(ZmIsZone(zone));
	memcpy(copy, zone, size);
	copy->t_info = (zone->t_info & ~INDEX_SIZE_MASK) | size;
	ItemPointerSet(&copy->t_tid, block, ZmFlags(zone) & ~ZM_NOTE);
	return copy;
}

/* A copy of a zone with room for a note, which says nothing yet. */
IndexTuple
zm_add_note(IndexTuple zone)
{
	Size		size = size_without_note(zone);
	Size		total = size + sizeof(uint64);
	IndexTuple	copy = palloc0(total);

	Assert(ZmIsZone(zone) && size == MAXALIGN(size));
	memcpy(copy, zone, size);
	copy->t_info = (zone->t_info & ~INDEX_SIZE_MASK) | total;
	ItemPointerSet(&copy->t_tid, ZmBlock(zone), ZmFlags(zone) | ZM_NOTE);
	return copy;
}

ItemPointerData
zm_get_tie(IndexTuple zone)
{
	ItemPointerData tie;

	Assert(ZmIsZone(zone) && (ZmFlags(zone) & ZM_TIE));
	memcpy(&tie, (char *) zone + size_without_note(zone) -
		   MAXALIGN(sizeof(ItemPointerData)), sizeof(tie));
	return tie;
}

void
zm_page_add(Page page, IndexTuple itup, OffsetNumber off)
{
	if (PageAddItem(page, (void *) itup, IndexTupleSize(itup), off, false,
					false) == InvalidOffsetNumber)
		elog(ERROR, "failed to add an entry to a zonemap page");
}

/* Puts an entry in the place of another one; there is room for it. */
void
zm_page_replace(Page page, OffsetNumber off, IndexTuple itup)
{
	if (!PageIndexTupleOverwrite(page, off, (void *) itup, IndexTupleSize(itup)))
		elog(ERROR, "failed to replace an entry of a zonemap page");
}
