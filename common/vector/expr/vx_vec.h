/*-------------------------------------------------------------------------
 *
 * vx_vec.h
 *	  Loops over whole vectors: comparisons, arithmetic, conversions.
 *
 * Every kernel reads and writes arrays of ST_VECTOR_SIZE values, in blocks of
 * 64 up to and with the one that holds row n - 1; rows that nobody asked for
 * give garbage and no error.  Results are never written over an argument.
 * Bitmaps have one bit per row, the first row in the lowest bit.
 *
 * A kernel that cannot give the server's result for a row (overflow, zero
 * divisor) sets the row's bit in suspect, which the caller has cleared, and
 * leaves garbage there.
 *
 * One template makes them all (vx_vec_template.h), once for each instruction
 * set; which one is used is decided at run time.  Nothing here allocates,
 * raises or knows the server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_VEC_H
#define VX_VEC_H

#include "postgres.h"

/* Comparisons, in the order of the btree strategies, and not equal. */
typedef enum VxCompare
{
	VX_LT,
	VX_LE,
	VX_EQ,
	VX_GE,
	VX_GT,
	VX_NE,
	VX_NCOMPARES
} VxCompare;

typedef enum VxArith
{
	VX_ADD,
	VX_SUB,
	VX_MUL,
	VX_DIV,						/* floats only */
	VX_NARITHS
} VxArith;

typedef struct VxVecKernels
{
	/*
	 * a OP b to bits.  Floats in the server's order: NaN equals NaN and is
	 * greater than everything else.
	 */
	void		(*compare_int64[VX_NCOMPARES]) (const int64 *a, const int64 *b,
												int n, uint64 *bits);
	void		(*compare_int128[VX_NCOMPARES]) (const int128 *a, const int128 *b,
												 int n, uint64 *bits);
	void		(*compare_float8[VX_NCOMPARES]) (const double *a, const double *b,
												 int n, uint64 *bits);

	/*
	 * a OP b within 64 bits; results outside lo .. hi are suspect.  The
	 * exact result must fit into 64 bits (see int64_width()).
	 */
	void		(*arith_int64[VX_DIV]) (const int64 *a, const int64 *b, int n,
										int64 lo, int64 hi, int64 *result, uint64 *suspect);

	/* a OP b of any int64s; results that do not fit are suspect. */
	void		(*arith_int64_wide[VX_DIV]) (const int64 *a, const int64 *b, int n,
											 int64 *result, uint64 *suspect);

	/* a OP b of any int128s; results that do not fit are suspect. */
	void		(*arith_int128[VX_DIV]) (const int128 *a, const int128 *b, int n,
										 int128 *result, uint64 *suspect);

	/* Suspect: results that are not finite, or zero from a product or quotient. */
	void		(*arith_float8[VX_NARITHS]) (const double *a, const double *b, int n,
											 double *result, uint64 *suspect);
	void		(*arith_float4[VX_NARITHS]) (const float *a, const float *b, int n,
											 float *result, uint64 *suspect);

	/* Bits that the widest of n values needs, without the sign: 0 .. 63. */
	int			(*int64_width) (const int64 *values, int n);

	/* Booleans as int64 and as bits; the bits are anded to what is there. */
	void		(*bits_to_int64) (const uint64 *bits, int n, int64 *values);
	void		(*int64_to_bits) (const int64 *values, int n, uint64 *bits);

	/* Where the row's bit is set, result becomes the value. */
	void		(*blend_int64) (const int64 *values, const uint64 *rows, int n,
								int64 *result);

	/*
	 * table[codes[i]], for all rows: every code must have a place in the table.
	 * Of bytes, which are 0 or 1, as bits.
	 */
	void		(*gather_int64) (const int64 *table, const uint32 *codes, int n,
								 int64 *result);
	void		(*gather_bits) (const uint8 *table, const uint32 *codes, int n,
								uint64 *bits);

	/* Conversions that cannot fail. */
	void		(*int64_to_float8) (const int64 *values, int n, double *result);
	void		(*float4_to_float8) (const float *values, int n, double *result);
	void		(*int64_to_int128) (const int64 *values, int n, int128 *result);
} VxVecKernels;

/* The best ones for this processor, within the setting. */
extern const VxVecKernels *vx_vec_kernels(void);

/* vx_vec_*.c */
extern const VxVecKernels vx_vec_kernels_default;
extern const VxVecKernels vx_vec_kernels_avx2;
extern const VxVecKernels vx_vec_kernels_avx512;

#endif							/* VX_VEC_H */
