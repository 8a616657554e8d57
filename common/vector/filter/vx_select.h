/*-------------------------------------------------------------------------
 *
 * vx_select.h
 *	  Predicates on whole vectors.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_SELECT_H
#define VX_SELECT_H

#include "vx_batch.h"
#include "st_qual.h"

/*
 * True if every column that pred looks at is of a type whose vectors have
 * kernels whatever their encoding: worth decoding before all others.
 */
extern bool vx_select_is_cheap(const StPred *pred);

/*
 * Takes the rows of the batch that do not satisfy a predicate out of
 * selection, decoding the columns that it looks at.  Returns false, with
 * selection as it was, if the predicate is not exact or a vector stands in a
 * form without a kernel.  Raises nothing but what the right sides raise, and
 * calls no function of the server on the columns' values.
 */
extern bool vx_select(StPred *pred, VxBatch *batch, uint64 *selection);

#endif							/* VX_SELECT_H */
