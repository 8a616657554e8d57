/*-------------------------------------------------------------------------
 *
 * cc_delta.h
 *	  Batches of the delta's rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_DELTA_H
#define CC_DELTA_H

#include "postgres.h"

#include "executor/tuptable.h"

#include "cc_batch.h"
#include "cc_source.h"

typedef struct CcDelta CcDelta;

/*
 * For a scan that fills this batch, in the current memory context.  Columns
 * in together are decoded all at once when the first of them is asked for;
 * those of quals, which thin the rows out before, should not be among them.
 */
extern CcDelta *cc_delta_create(CcBatch *batch, Relation rel, const Bitmapset *together);

/*
 * Makes the batch stand on the next rows of the chunk that the source has
 * handed out, all selected.  False at the end of the chunk.
 */
extern bool cc_delta_next(CcDelta *delta, CcSource *source);

/* A column of the batch at hand; rows that are not selected hold anything. */
extern const CcVector *cc_delta_vector(CcDelta *delta, AttrNumber attno);

/* Puts a row of the batch at hand into a slot for tuples in buffers. */
extern void cc_delta_store(CcDelta *delta, int row, TupleTableSlot *slot);

/* Starts over, or ends: no page stays pinned. */
extern void cc_delta_release(CcDelta *delta);

#endif							/* CC_DELTA_H */
