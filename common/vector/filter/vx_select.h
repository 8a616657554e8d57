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

/*
 * ---- vx_kernels.c: typed comparison loops over the values of a vector ----
 *
 * A selection is a bitmap of the vector's rows, bit set = row selected, of
 * (n + 63) / 64 words.  Every kernel takes bits away from it and never adds
 * any; words without a bit are skipped.  Values at null positions are read,
 * but mean nothing: the caller has taken those rows away before.
 */

/* Keeps rows with lo <= value <= hi; with outside, those not in the range. */
extern void vx_select_int64(const int64 *values, int n, int64 lo, int64 hi,
							bool outside, uint64 *selection);
extern void vx_select_int128(const int128 *values, int n, int128 lo, int128 hi,
							 bool outside, uint64 *selection);
extern void vx_select_code(const uint32 *values, int n, uint32 lo, uint32 hi,
						   bool outside, uint64 *selection);

/*
 * The same of floats, of which NaN is in no range, and stays with outside and
 * with nan.
 */
extern void vx_select_float8(const double *values, int n, double lo, double hi,
							 bool nan, bool outside, uint64 *selection);
extern void vx_select_float4(const float *values, int n, double lo, double hi,
							 bool nan, bool outside, uint64 *selection);

/* Keeps rows whose value is, or with outside is not, among the sorted set. */
extern void vx_select_int64_set(const int64 *values, int n,
								const int64 *set, int nset,
								bool outside, uint64 *selection);

/* Keeps rows whose value, less lo, is a bit that is set; bit nbits must not be. */
extern void vx_select_bits(const int64 *values, int n, int64 lo, uint64 nbits,
						   const uint64 *bits, uint64 *selection);

#endif							/* VX_SELECT_H */
