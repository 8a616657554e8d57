/*-------------------------------------------------------------------------
 *
 * zm_tree.h
 *	  The tree of a zonemap index: descent, splits, paths, logged changes of pages,
 *	  and which zones cover a key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_TREE_H
#define ZM_TREE_H

#include "postgres.h"

#include "access/generic_xlog.h"
#include "storage/bufmgr.h"

#include "zm_key.h"

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

extern Page zm_register_moving(GenericXLogState *state, Buffer buf);
extern void zm_add_logged(Relation index, Buffer buf, IndexTuple itup,
						  OffsetNumber off);

/* Exact entries in order of their positions. */
typedef struct ZmIncoming
{
	IndexTuple *entries;
	int			count;
} ZmIncoming;

extern void zm_split(const ZmSpace *space, const ZmTarget *target, Size needed,
					 const ZmIncoming *incoming);

extern OffsetNumber zm_zone_after(Page page, OffsetNumber off);
extern bool zm_zone_covers(const ZmSpace *space, Page page, OffsetNumber zone,
						   const ZmTarget *target);
extern bool zm_block_covers_at(const ZmSpace *space, Page page,
							   const ZmTarget *target, BlockNumber block,
							   OffsetNumber zone, OffsetNumber next);
extern bool zm_block_covers(const ZmSpace *space, Page page,
							const ZmTarget *target, BlockNumber block);

#endif							/* ZM_TREE_H */
