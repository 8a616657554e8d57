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

#include "nodes/execnodes.h"
#include "utils/tuplestore.h"

#include "vx_batch.h"

typedef struct VxRowVectors VxRowVectors;

/*
 * Vectors for the columns of the batch, in the current memory context.  desc:
 * of the rows that will come.
 */
extern VxRowVectors *vx_row_vectors_create(VxBatch *batch, TupleDesc desc);

/*
 * Each of these makes the batch stand on the next rows, all of them selected,
 * until the next call: their values are copied and detoasted.  False if there
 * are none.
 *
 * fill: rows come from next(from) until it returns an empty slot, which sets
 * *ended; it is not called again then.  of_node: from a plan.  of_store: from a
 * tuplestore, through a slot.
 */
typedef TupleTableSlot *(*VxNextRow) (void *from);

extern bool vx_row_vectors_fill(VxRowVectors *rows, VxNextRow next, void *from,
								bool *ended);
extern bool vx_row_vectors_of_node(VxRowVectors *rows, PlanState *child, bool *ended);
extern bool vx_row_vectors_of_store(VxRowVectors *rows, Tuplestorestate *store,
									TupleTableSlot *slot);

#endif							/* VX_ROW_VECTORS_H */
