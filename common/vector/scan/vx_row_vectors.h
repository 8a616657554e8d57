/*-------------------------------------------------------------------------
 *
 * vx_row_vectors.h
 *	  Vectors made of rows: another node's, and those that come back from disk.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_ROW_VECTORS_H
#define VX_ROW_VECTORS_H

#include "postgres.h"

#include "executor/tuptable.h"

#include "vx_batch.h"

typedef struct VxRowVectors VxRowVectors;

/*
 * Vectors for the columns of the batch, in the current memory context.  desc:
 * of the rows that will come.
 */
extern VxRowVectors *vx_row_vectors_create(VxBatch *batch, TupleDesc desc);

/* Adds a row; its values are copied and detoasted. */
extern void vx_row_vectors_add(VxRowVectors *rows, TupleTableSlot *slot);

extern bool vx_row_vectors_full(const VxRowVectors *rows);

/*
 * Makes the batch stand on the rows added, all of them selected, until the
 * next reset.  False if there are none.
 */
extern bool vx_row_vectors_finish(VxRowVectors *rows);

/* Before the first row of a batch. */
extern void vx_row_vectors_reset(VxRowVectors *rows);

#endif							/* VX_ROW_VECTORS_H */
