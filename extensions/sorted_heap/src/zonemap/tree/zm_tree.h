/*-------------------------------------------------------------------------
 *
 * zm_tree.h
 *	  The tree of a zonemap index: descent, splits, paths.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_TREE_H
#define ZM_TREE_H

#include "postgres.h"

#include "storage/bufmgr.h"

#include "zm_heap.h"
#include "zm_key.h"

/* ---- groups of a leaf ---- */

extern OffsetNumber zm_zone_at(Page page, OffsetNumber off);
extern OffsetNumber zm_zone_after(Page page, OffsetNumber off);
extern IndexTuple zm_bound_at(Page page, OffsetNumber next);

/* ---- what a zone covers ---- */

static inline bool
zm_is_hole(IndexTuple zone)
{
	return ZmBlock(zone) == InvalidBlockNumber;
}

/* Whether a zone covers a key, where it begins.  `sign` is of (key - zone's). */
static inline bool
zm_zone_begins(IndexTuple zone, int sign)
{
	return sign > 0 || (sign == 0 && !(ZmFlags(zone) & ZM_OPEN));
}

/* Whether what ends at a bound covers a key.  `sign` is of (key - bound's). */
static inline bool
zm_bound_allows(IndexTuple bound, int sign)
{
	return sign < 0 || (sign == 0 && !(ZmFlags(bound) & ZM_FENCED));
}

extern bool zm_covers(const ZmSpace *space, IndexTuple zone, IndexTuple bound,
					  const ZmTarget *target);
extern bool zm_zone_covers(const ZmSpace *space, Page page, OffsetNumber zone,
						   const ZmTarget *target);
extern bool zm_block_covers_at(const ZmSpace *space, Page page,
							   const ZmTarget *target, BlockNumber block,
							   OffsetNumber zone, OffsetNumber next);
extern bool zm_block_covers(const ZmSpace *space, Page page,
							const ZmTarget *target, BlockNumber block);
extern bool zm_touches(const ZmSpace *space, IndexTuple zone,
					   const ZmTarget *target);
extern bool zm_left_may_cover(const ZmSpace *space, Page page,
							  IndexTuple exact);
extern bool zm_page_lacks_from(const ZmHeapKey *key, Relation heap,
							   IndexTuple zone, IndexTuple from,
							   IndexTuple bound);

/* ---- when a zone may change ---- */

extern bool zm_is_clean(IndexTuple bound);
extern bool zm_may_fill(IndexTuple hole);
extern bool zm_may_begin_closed(const ZmSpace *space, Page page,
								OffsetNumber zone, OffsetNumber last,
								const ZmTarget *target);
extern bool zm_may_join(IndexTuple before, IndexTuple zone);
extern bool zm_has_left(const ZmSpace *space, const ZmHeapKey *key,
						Relation heap, IndexTuple zone, IndexTuple first,
						IndexTuple bound);
extern bool zm_is_repeated(const ZmSpace *space, Page page, IndexTuple start,
						   IndexTuple exact);

/* ---- what it becomes; all in current memory ---- */

extern IndexTuple zm_begin_zone(const ZmSpace *space, IndexTuple key,
								BlockNumber block);
extern IndexTuple zm_fill_hole(const ZmSpace *space, IndexTuple hole,
							   BlockNumber block);
extern IndexTuple zm_close_zone(IndexTuple key);
extern IndexTuple zm_continue_zone(const ZmSpace *space, IndexTuple zone,
								   IndexTuple before, IndexTuple exact);

extern bool zm_page_holds(const ZmSpace *space, Page page,
						  const ZmTarget *target);
extern Buffer zm_descend(const ZmSpace *space, const ZmTarget *target,
						 int lockmode);
extern Buffer zm_descend_near(const ZmSpace *space, const ZmTarget *target,
							  int lockmode, BlockNumber *hint);
extern Buffer zm_descend_before(const ZmSpace *space, const ZmTarget *low);

/* Blocks from the root down to a page. */
typedef struct ZmPath
{
	int			depth;
	BlockNumber blocks[32];
} ZmPath;

extern void zm_find_path(const ZmSpace *space, const ZmTarget *target,
						 uint32 level, ZmPath *path);
extern OffsetNumber zm_find_downlink(const ZmSpace *space, Page parent,
									 BlockNumber parent_block,
									 BlockNumber child);

/* Exact entries in order of their positions. */
typedef struct ZmIncoming
{
	IndexTuple *entries;
	int			count;
} ZmIncoming;

extern void zm_split(const ZmSpace *space, const ZmTarget *target, Size needed,
					 const ZmIncoming *incoming);

extern bool zm_left_covers(const ZmSpace *space, const ZmTarget *target,
						   BlockNumber block);

#endif							/* ZM_TREE_H */
