/*-------------------------------------------------------------------------
 *
 * st_int_leaf.h
 *	  The schemes of st_int.h that hold bits and no other scheme: constant,
 *	  raw, for, patched for.  Private to st_int*.c.
 *
 *		constant	| 1 | value z |
 *		raw			| 2 | n * 8 bytes |
 *		for			| 3 | width | base z | n * width bits |
 *		patched for	| 4 | width | xwidth | base z | nx v | n * width bits
 *					  | nx positions | nx * xwidth bits |
 *
 * Bytes except: v = LEB128 varint, z = zigzag varint.  Bits are packed as in
 * st_bitpack.h.  Value i is base + low[i], and for the nx exceptions plus
 * high * 2^width, high being a signed number of xwidth bits: so the window
 * [base, base + 2^width) may lie anywhere among the values, with exceptions
 * on either side.  Positions ascend; each takes the bits that n - 1 needs.
 * Patching is after PFOR (Zukowski et al., ICDE 2006).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_INT_LEAF_H
#define ST_INT_LEAF_H

#include "st_bytes.h"
#include "st_int.h"

/* What st_leaf_plan chose, with the exact size that it will take. */
typedef struct StLeafPlan
{
	StIntScheme scheme;
	uint64_t	base;
	int			width;			/* for, patched for */
	int			xwidth;			/* patched for */
	int			nx;				/* patched for: number of exceptions */
	size_t		size;			/* bytes, scheme byte included */
} StLeafPlan;

/*
 * The smallest leaf for v[0 .. n-1], 1 <= n <= ST_VECTOR_SIZE, whose
 * extremes as signed numbers are min and max.  Sizes are exact; in longer
 * vectors patching is looked into only if a sample promises that it gets
 * below limit bytes, a size which the caller has reached already.  Without
 * patches they are not looked into at all.
 */
extern void st_leaf_plan(const uint64_t *v, int n, int64_t min, int64_t max,
						 size_t limit, bool patches, StLeafPlan *plan);

/* Writes v as planned; the writer's status tells if it did not fit. */
extern void st_leaf_write(StByteWriter *w, const uint64_t *v, int n,
						  const StLeafPlan *plan);

/*
 * Decodes the rest of r, whose scheme byte was read already, into n values;
 * v has room for ST_VECTOR_SIZE.  ST_CORRUPT as in st_int_decode, also for
 * a scheme that is no leaf.
 */
extern StStatus st_leaf_read(StByteReader *r, int scheme, int n, uint64_t *v);

/*
 * The same into 32-bit values if that is sure to lose nothing; returns
 * ST_NOTFIT, with r untouched, if st_leaf_read has to be asked instead.
 */
extern StStatus st_leaf_read32(StByteReader *r, int scheme, int n,
							   uint32_t *v);

/* One value, 0 <= i < n. */
extern StStatus st_leaf_get(StByteReader *r, int scheme, int n, int i,
							uint64_t *out);

/* As many runs or patches are looked at one by one for less than a vector costs. */
#define ST_INT_FEW 16

/* Is r at a leaf of one value, with ST_INT_FEW others at most? */
extern bool st_leaf_is_even(StByteReader r);

/*
 * Sums, modulo 2^64, of the first k of the n values, 0 <= k <= n, and of the k
 * sums that adding them up one by one goes through.  False if the leaf at r
 * is not even, or is damaged.
 */
extern bool st_leaf_sum(StByteReader r, int n, int k, uint64_t *sum,
						uint64_t *sum_of_sums);

/* True if the scheme is one of the leaves. */
ST_INLINE bool
st_leaf_scheme(int scheme)
{
	return scheme >= ST_INT_CONSTANT && scheme <= ST_INT_PFOR;
}

#endif							/* ST_INT_LEAF_H */
