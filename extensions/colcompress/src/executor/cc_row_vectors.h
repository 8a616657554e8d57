/*-------------------------------------------------------------------------
 *
 * cc_row_vectors.h
 *	  Vectors made of rows: another node's, and those that come back from disk.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_ROW_VECTORS_H
#define CC_ROW_VECTORS_H

#include "postgres.h"

#include "executor/tuptable.h"

#include "cc_batch.h"

typedef struct CcRowVectors CcRowVectors;

/*
 * Vectors for the columns of the batch, in the current memory context.  desc:
 * of the rows that will come.
 */
extern CcRowVectors *cc_row_vectors_create(CcBatch *batch, TupleDesc desc);

/* Adds a row; its values are copied and detoasted. */
extern void cc_row_vectors_add(CcRowVectors *rows, TupleTableSlot *slot);

extern bool cc_row_vectors_full(const CcRowVectors *rows);

/*
 * Makes the batch stand on the rows added, all of them selected, until the
 * next reset.  False if there are none.
 */
extern bool cc_row_vectors_finish(CcRowVectors *rows);

/* Before the first row of a batch. */
extern void cc_row_vectors_reset(CcRowVectors *rows);

#endif							/* CC_ROW_VECTORS_H */
