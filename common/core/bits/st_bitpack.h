/*-------------------------------------------------------------------------
 *
 * st_bitpack.h
 *	  Packing of unsigned integers into a fixed number of bits each.
 *
 * Two layouts, chosen by the number of values alone:
 *
 * n = ST_VECTOR_SIZE: interleaved lanes (the idea is FastLanes', Afroozeh
 * and Boncz, VLDB 2023).  The vector is L = 1024 / T lanes of T-bit words, T
 * = 32 up to width 32 and 64 above.  Value i belongs to lane i % L and is
 * that lane's row i / L; a lane is a stream of T rows of width bits, low
 * bits first, and word k of lane l stands at index k * L + l:
 *
 *		       lane 0   lane 1         lane L-1
 *		word 0 | v0 v32.. | v1 v33.. | ... | v31 v63.. |	(T = 32)
 *		word 1 | ...      | ...      |     | ...       |
 *
 * So L neighbouring values shift by the same constants, and any vector unit
 * packs and unpacks several lanes at once without shuffles.  Values come out
 * in their natural order.
 *
 * n < ST_VECTOR_SIZE: one stream of n values, low bits first, padded with
 * zero bits to a whole byte.
 *
 * Both take (n * width + 7) / 8 bytes.  A base is subtracted when packing
 * and added when unpacking, modulo 2^64 (frame of reference for free).
 *
 * The kernels are compiled for several instruction sets and chosen at run
 * time from what the processor says; all give the same bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_BITPACK_H
#define ST_BITPACK_H

#include "st_core.h"

/* Instruction sets that kernels exist for, in order of preference. */
typedef enum StIsa
{
	ST_ISA_DEFAULT,				/* what the compiler targets: always there */
	ST_ISA_AVX2,
	ST_ISA_AVX512,				/* F, BW, DQ and VL */
	ST_ISA_COUNT
} StIsa;

/* Kernels for full vectors, indexed by width. */
typedef struct StBitpackKernels
{
	/* keeps the low width bits of v - base */
	void		(*pack[65]) (const uint64_t *v, uint64_t base, uint8_t *out);
	void		(*unpack[65]) (const uint8_t *in, uint64_t base, uint64_t *v);
	void		(*unpack32[33]) (const uint8_t *in, uint32_t base, uint32_t *v);
} StBitpackKernels;

/* Bits needed for v: 0 for 0, 64 for UINT64_MAX. */
ST_INLINE int
st_bit_width(uint64_t v)
{
	return v ? 64 - __builtin_clzll(v) : 0;
}

/* Bytes of n values of width bits, in either layout. */
ST_INLINE size_t
st_bitpack_size(int n, int width)
{
	return ((size_t) n * (size_t) width + 7) / 8;
}

/*
 * Packs the low width bits (0 .. 64) of v[i] - base for 0 <= i < n, n <=
 * ST_VECTOR_SIZE, into st_bitpack_size(n, width) bytes at out.
 */
extern void st_bitpack(const uint64_t *v, int n, uint64_t base, int width,
					   uint8_t *out);

/*
 * The inverse: reads exactly st_bitpack_size(n, width) bytes at in and
 * writes n values, each with base added.  in and v must not overlap.
 */
extern void st_bitunpack(const uint8_t *in, int n, uint64_t base, int width,
						 uint64_t *v);

/* The same into 32-bit values, modulo 2^32, for width 0 .. 32. */
extern void st_bitunpack32(const uint8_t *in, int n, uint32_t base, int width,
						   uint32_t *v);

/* Value i of n packed ones, without a base.  Constant time. */
extern uint64_t st_bitpack_get(const uint8_t *in, int n, int width, int i);

/*
 * The kernels for one instruction set, NULL if this machine or build lacks
 * it; and the best set that this machine has.  For tests and benchmarks: the
 * functions above choose by themselves.
 */
extern const StBitpackKernels *st_bitpack_kernels(StIsa isa);
extern StIsa st_bitpack_best_isa(void);

#endif							/* ST_BITPACK_H */
