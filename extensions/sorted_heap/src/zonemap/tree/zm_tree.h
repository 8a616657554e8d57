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

#include "zm_zone.h"

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
