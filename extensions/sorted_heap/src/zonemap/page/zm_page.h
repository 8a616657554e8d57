/*-------------------------------------------------------------------------
 *
 * zm_page.h
 *	  Pages and entries of a zonemap index.  src/README explains them.
 *
 *	block 0: metapage     block 1: root, always     others: leaf or inner
 *
 *	+--------+----------+----------+--------------+-----+-----------------+
 *	| header | high key | entry ...                | ... | ZmOpaqueData    |
 *	+--------+----------+----------+--------------+-----+-----------------+
 *	           (absent on the rightmost page of a level)
 *
 * Every entry is an index tuple.  INDEX_AM_RESERVED_BIT in t_info tells
 *
 *	- an *exact entry*: key and TID of one row (bit clear);
 *	- a *zone* (on leaves), a *downlink* (on inner pages) or a high key: block
 *	  number in ip_blkid, ZM_* flags in ip_posid, the key, and after the key
 *	  what the flags announce (bit set).
 *
 * The special space has the shape of nbtree's, so that nbtree's record for
 * one item added to a leaf replays on our leaves, on any server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_PAGE_H
#define ZM_PAGE_H

#include "postgres.h"

#include "access/hash.h"
#include "access/itup.h"
#include "access/nbtree.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#define ZM_META_BLOCK 0
#define ZM_ROOT_BLOCK 1

#define ZM_MAGIC 0x5A4D4150		/* "ZMAP" */
#define ZM_VERSION 1			/* of the format of all pages */

typedef struct ZmMetaData
{
	uint32		magic;
	uint32		version;
} ZmMetaData;

#define ZmPageGetMeta(page) ((ZmMetaData *) PageGetContents(page))

typedef struct ZmOpaqueData
{
	BlockNumber unused;
	BlockNumber right;			/* right sibling, or InvalidBlockNumber */
	uint32		level;			/* 0: leaf */
	uint16		flags;
	uint16		page_id;
} ZmOpaqueData;

typedef ZmOpaqueData *ZmOpaque;

StaticAssertDecl(sizeof(ZmOpaqueData) == sizeof(BTPageOpaqueData) &&
				 offsetof(ZmOpaqueData, flags) ==
				 offsetof(BTPageOpaqueData, btpo_flags),
				 "records of nbtree replay on our leaves");

#define ZM_PAGE_LEAF BTP_LEAF
#define ZM_PAGE_META BTP_META
#define ZM_PAGE_UNUSED (1 << 12)	/* not in the tree (any more), and empty */
#define ZM_PAGE_ID 0xFF91

#define ZmPageGetOpaque(page) ((ZmOpaque) PageGetSpecialPointer(page))
#define ZmPageIsLeaf(page) ((ZmPageGetOpaque(page)->flags & ZM_PAGE_LEAF) != 0)
#define ZmPageIsRightmost(page) \
	(ZmPageGetOpaque(page)->right == InvalidBlockNumber)
#define ZM_HIGH_KEY FirstOffsetNumber
#define ZmPageFirst(page) \
	(ZmPageIsRightmost(page) ? FirstOffsetNumber : FirstOffsetNumber + 1)
#define ZmPageGetEntry(page, off) \
	((IndexTuple) PageGetItem(page, PageGetItemId(page, off)))

/* Flags of zones, downlinks and high keys */
#define ZM_FENCED 0x0001		/* what is to the left ends before the key,
								 * else it may hold the key too */
#define ZM_OPEN 0x0002			/* begins after the key, not at it */
#define ZM_NO_KEY 0x0004		/* begins before all keys */
#define ZM_TIE 0x0008			/* position among equal keys follows: a TID */
#define ZM_NOTE 0x0010			/* at the end: room for a note (zm_note.c) */

/*
 * Bit of an exact entry's offset number: the row is covered by its page's zone
 * as well, and the entry says only that a unique index has seen it.
 */
#define ZM_MARK 0x8000
#define ZmIsMark(itup) \
	(!ZmIsZone(itup) && \
	 (ItemPointerGetOffsetNumberNoCheck(&(itup)->t_tid) & ZM_MARK) != 0)

#define ZmIsZone(itup) (((itup)->t_info & INDEX_AM_RESERVED_BIT) != 0)
#define ZmFlags(itup) ItemPointerGetOffsetNumberNoCheck(&(itup)->t_tid)
#define ZmBlock(itup) ItemPointerGetBlockNumberNoCheck(&(itup)->t_tid)

/* The note of a zone that has one, aligned; it changes under shared locks. */
#define ZmNote(itup) \
	((volatile uint64 *) ((char *) (itup) + IndexTupleSize(itup) - \
						  sizeof(uint64)))

/*
 * A page of equal splits into two with a high key, a first zone, an old and a
 * new entry, all of the largest size.
 */
#define ZM_MAX_ENTRY 2000

#define ZM_DEFAULT_FILLFACTOR 90

/* How full leaves are made.  Storage parameters are those of a hash index. */
static inline int
zm_fillfactor(Relation index)
{
	HashOptions *options = (HashOptions *) index->rd_options;

	return options != NULL ? options->fillfactor : ZM_DEFAULT_FILLFACTOR;
}

extern void zm_page_init(Page page, uint32 level);
extern void zm_meta_init(Page page);
extern void zm_page_check(Relation index, Buffer buf);
extern void zm_exact_check(Relation index, IndexTuple exact);
extern Buffer zm_read_page(Relation index, BlockNumber block, int lockmode);

extern IndexTuple zm_form_exact(Relation index, Datum *values, bool *nulls,
								ItemPointer tid);
extern ItemPointerData zm_row_tid(IndexTuple exact);
extern IndexTuple zm_form_zone(Relation index, Datum *values, bool *nulls,
							   BlockNumber block, uint16 flags,
							   ItemPointer tie);
extern IndexTuple zm_zone_from(IndexTuple key, BlockNumber block,
							   uint16 flags, ItemPointer tie);
extern IndexTuple zm_copy_as(IndexTuple zone, BlockNumber block);
extern ItemPointerData zm_get_tie(IndexTuple zone);
extern IndexTuple zm_add_note(IndexTuple zone);

extern void zm_page_add(Page page, IndexTuple itup, OffsetNumber off);
extern void zm_page_replace(Page page, OffsetNumber off, IndexTuple itup);

#endif							/* ZM_PAGE_H */
