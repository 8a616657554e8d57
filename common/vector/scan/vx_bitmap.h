/*-------------------------------------------------------------------------
 *
 * vx_bitmap.h
 *	  The bitmap of an index, taken apart into what a scan reads: blocks of
 *	  the delta, and rows of vectors.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_BITMAP_H
#define VX_BITMAP_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "vx_batch.h"
#include "st_store.h"

typedef struct VxBitmap VxBitmap;

/* plan: a bitmap index scan, or an AND or OR of such; not executed yet. */
extern VxBitmap *vx_bitmap_create(PlanState *plan, MemoryContext mcxt);

/* Runs the plan, if that is not done since the last vx_bitmap_forget(). */
extern void vx_bitmap_run(VxBitmap *bitmap);

/*
 * The next block that is a real one; false if there is none, or none any more.
 * These come first.
 */
extern bool vx_bitmap_next_block(VxBitmap *bitmap, BlockNumber *block);

/*
 * The index in groups, which are in the order of their row numbers, of the row
 * group that has the next row of the bitmap.
 */
extern bool vx_bitmap_next_group(VxBitmap *bitmap, const StGroupList *groups,
								 uint32 *group);

/* Takes the rows of the vector that has it; returns that one's number. */
extern uint32 vx_bitmap_take_vector(VxBitmap *bitmap, StReader *reader,
									const StGroup *group);

/* Or leaves out all rows of the row group. */
extern void vx_bitmap_skip_group(VxBitmap *bitmap, const StGroup *group);

/* Takes rows that are not the bitmap's out of the vector's; returns how many are left. */
extern int	vx_bitmap_select(const VxBitmap *bitmap, uint64 *selection, int nrows);

/* Gives the bitmap back: the plan is to run anew. */
extern void vx_bitmap_forget(VxBitmap *bitmap);

#endif							/* VX_BITMAP_H */
