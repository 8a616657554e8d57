/*-------------------------------------------------------------------------
 *
 * cc_bitmap.h
 *	  The bitmap of an index, taken apart into what a scan reads: blocks of
 *	  the delta, and rows of vectors.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_BITMAP_H
#define CC_BITMAP_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "cc_batch.h"
#include "st_store.h"

typedef struct CcBitmap CcBitmap;

/* plan: a bitmap index scan, or an AND or OR of such; not executed yet. */
extern CcBitmap *cc_bitmap_create(PlanState *plan, MemoryContext mcxt);

/* Runs the plan, if that is not done since the last cc_bitmap_forget(). */
extern void cc_bitmap_run(CcBitmap *bitmap);

/*
 * The next block that is a real one; false if there is none, or none any more.
 * These come first.
 */
extern bool cc_bitmap_next_block(CcBitmap *bitmap, BlockNumber *block);

/*
 * The next vector with a row of the bitmap, by index of its row group in
 * groups, which are in the order of their row numbers.
 */
extern bool cc_bitmap_next_vector(CcBitmap *bitmap, const StGroupList *groups,
								  uint32 *group, uint32 *vecno);

/* Leaves out all rows of the row group of the vector. */
extern void cc_bitmap_skip_group(CcBitmap *bitmap, const StGroup *group);

/* Takes rows that are not the bitmap's out of the vector's; returns how many are left. */
extern int	cc_bitmap_select(const CcBitmap *bitmap, uint64 *selection, int nrows);

/* Gives the bitmap back: the plan is to run anew. */
extern void cc_bitmap_forget(CcBitmap *bitmap);

#endif							/* CC_BITMAP_H */
