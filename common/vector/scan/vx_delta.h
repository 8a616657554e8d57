/*-------------------------------------------------------------------------
 *
 * vx_delta.h
 *	  Batches of the delta's rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_DELTA_H
#define VX_DELTA_H

#include "postgres.h"

#include "executor/tuptable.h"

#include "vx_batch.h"
#include "vx_source.h"

typedef struct VxDelta VxDelta;

/*
 * For a scan that fills this batch, in the current memory context.  Columns
 * in together are decoded all at once when the first of them is asked for;
 * those of quals, which thin the rows out before, should not be among them.
 */
extern VxDelta *vx_delta_create(VxBatch *batch, Relation rel, const Bitmapset *together);

/*
 * Makes the batch stand on the next rows of the chunk that the source has
 * handed out, all selected.  False at the end of the chunk.
 */
extern bool vx_delta_next(VxDelta *delta, VxSource *source);

/* Puts a row of the batch at hand into a slot for tuples in buffers. */
extern void vx_delta_store(VxDelta *delta, int row, TupleTableSlot *slot);

/* Starts over, or ends: no page stays pinned. */
extern void vx_delta_release(VxDelta *delta);

#endif							/* VX_DELTA_H */
