/*-------------------------------------------------------------------------
 *
 * vx_kernels.h
 *	  Typed comparison loops over the values of a vector.
 *
 * A selection is a bitmap of the vector's rows, bit set = row selected, of
 * (n + 63) / 64 words.  Every kernel takes bits away from it and never adds
 * any; words without a bit are skipped.  Values at null positions are read,
 * but mean nothing: the caller has taken those rows away before.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_KERNELS_H
#define VX_KERNELS_H

#include "postgres.h"

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

#endif							/* VX_KERNELS_H */
