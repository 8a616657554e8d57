/*-------------------------------------------------------------------------
 *
 * vx_bitmap_path.h
 *	  Bitmaps of indexes that say which rows of vectors a scan reads.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_BITMAP_PATH_H
#define VX_BITMAP_PATH_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"
#include "utils/rel.h"

/*
 * Keeps the server's bitmap scan of the relation, if there is one without
 * parameters: for now, and for nodes above that take vectors.
 */
extern void vx_bitmap_keep(RelOptInfo *rel, Relation relation);

/* The path that was kept, or NULL. */
extern BitmapHeapPath *vx_bitmap_kept(const RelOptInfo *rel);

/* What makes the bitmap, out of the plan of the server's bitmap scan. */
extern Plan *vx_bitmap_plan(Plan *plan);

#endif							/* VX_BITMAP_PATH_H */
