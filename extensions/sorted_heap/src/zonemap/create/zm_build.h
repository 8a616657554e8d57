/*-------------------------------------------------------------------------
 *
 * zm_build.h
 *	  CREATE INDEX ... USING zonemap, and between its parts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_BUILD_H
#define ZM_BUILD_H

#include "postgres.h"

#include "access/genam.h"
#include "nodes/execnodes.h"

#include "zm_key.h"

/* ---- zm_build.c ---- */

extern IndexBuildResult *zm_build(Relation heap, Relation index,
								  IndexInfo *info);
extern void zm_build_empty(Relation index);

/* ---- zm_sort.c ---- */

extern Relation zm_sort_order(Relation index);

/* ---- zm_build_write.c: writes a tree from its entries in order ---- */

typedef struct ZmWriter ZmWriter;

extern ZmWriter *zm_writer_begin(const ZmSpace *space, int fillfactor);
extern void zm_writer_add(ZmWriter *writer, IndexTuple itup);
extern void zm_writer_end(ZmWriter *writer);

/* ---- zm_build_zones.c: which heap page gets which zone ---- */

/* Keys of one heap page's rows, and the zone that it gets. */
typedef struct ZmPageKeys
{
	BlockNumber block;
	IndexTuple	low;
	IndexTuple	middle;			/* any row's, preferably a typical one */
	IndexTuple	high;
	IndexTuple	zone;			/* NULL: none, all rows get exact entries */
	bool		exact_rows;		/* some row is not covered */
	bool		dropped;		/* zone marks where a hole begins */
	struct ZmPageKeys *next;	/* page of the next zone */
} ZmPageKeys;

extern void zm_assign_zones(const ZmSpace *space, ZmPageKeys **pages,
							int64 npages);
extern bool zm_page_keys_cover(const ZmSpace *space, const ZmPageKeys *page,
							   const ZmTarget *target);

#endif							/* ZM_BUILD_H */
