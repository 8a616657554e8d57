/*-------------------------------------------------------------------------
 *
 * cc_vec_template.h
 *	  The loops of cc_vec.h, for one instruction set.
 *
 * Parameters, undefined again at the end:
 *		CC_VEC_TABLE	name of the table of kernels that is defined
 *		CC_VEC_TARGET	attribute of every kernel: the instruction set
 *
 * The families are macros of three: the type, the operation, and what makes
 * a row suspect.  64 results are computed into an array, which the compiler
 * turns into vector instructions, and 64 flags into a word of bits.
 *
 *-------------------------------------------------------------------------
 */
#include "cc_vec.h"

#define CC_VEC_INLINE static inline __attribute__((always_inline)) CC_VEC_TARGET
#define CC_VEC_KERNEL static CC_VEC_TARGET void

/* 64 bytes of 0 or 1 to 64 bits. */
CC_VEC_INLINE uint64
pack_flags(const uint8 *flags)
{
	uint64		word = 0;

	for (int i = 0; i < 8; i++)
	{
		uint64		eight;

		memcpy(&eight, flags + i * 8, 8);
		word |= ((eight * UINT64CONST(0x0102040810204080)) >> 56) << (i * 8);
	}
	return word;
}

/* ---- comparisons: match is an expression over x and y ---- */

#define CC_VEC_COMPARE(name, type, match) \
	CC_VEC_KERNEL \
	compare_##name(const type *a, const type *b, int n, uint64 *bits) \
	{ \
		for (int base = 0; base < n; base += 64) \
		{ \
			uint8		flags[64]; \
			for (int i = 0; i < 64; i++) \
			{ \
				type		x = a[base + i]; \
				type		y = b[base + i]; \
				flags[i] = (match); \
			} \
			bits[base / 64] = pack_flags(flags); \
		} \
	}

#define CC_VEC_COMPARES(name, type) \
	CC_VEC_COMPARE(name##_lt, type, x < y) \
	CC_VEC_COMPARE(name##_le, type, x <= y) \
	CC_VEC_COMPARE(name##_eq, type, x == y) \
	CC_VEC_COMPARE(name##_ge, type, x >= y) \
	CC_VEC_COMPARE(name##_gt, type, x > y) \
	CC_VEC_COMPARE(name##_ne, type, x != y)

CC_VEC_COMPARES(int64, int64)
CC_VEC_COMPARES(int128, int128)

/* y is NaN where y != y */
CC_VEC_COMPARE(float8_lt, double, (x < y) | ((x == x) & (y != y)))
CC_VEC_COMPARE(float8_le, double, (x <= y) | (y != y))
CC_VEC_COMPARE(float8_eq, double, (x == y) | ((x != x) & (y != y)))
CC_VEC_COMPARE(float8_ge, double, (x >= y) | (x != x))
CC_VEC_COMPARE(float8_gt, double, (x > y) | ((x != x) & (y == y)))
CC_VEC_COMPARE(float8_ne, double, !((x == y) | ((x != x) & (y != y))))

/* ---- arithmetic: body sets r from x and y; bad is what makes r suspect ---- */

#define CC_VEC_LOOP(type, body, bad) \
	for (int base = 0; base < n; base += 64) \
	{ \
		uint8		flags[64]; \
		for (int i = 0; i < 64; i++) \
		{ \
			type		x = a[base + i]; \
			type		y = b[base + i]; \
			type		r; \
			body; \
			result[base + i] = r; \
			flags[i] = (bad); \
		} \
		suspect[base / 64] |= pack_flags(flags); \
	}

#define CC_VEC_ARITH_INT64(name, op) \
	CC_VEC_KERNEL \
	name(const int64 *a, const int64 *b, int n, int64 lo, int64 hi, \
		 int64 *result, uint64 *suspect) \
	{ \
		CC_VEC_LOOP(int64, r = (int64) ((uint64) x op (uint64) y), (r < lo) | (r > hi)) \
	}

#define CC_VEC_ARITH_CHECKED(name, type, builtin) \
	CC_VEC_KERNEL \
	name(const type *a, const type *b, int n, type *result, uint64 *suspect) \
	{ \
		CC_VEC_LOOP(type, bool over = builtin(x, y, &r), over) \
	}

#define CC_VEC_ARITH_FLOAT(name, type, op, bad) \
	CC_VEC_KERNEL \
	name(const type *a, const type *b, int n, type *result, uint64 *suspect) \
	{ \
		CC_VEC_LOOP(type, r = x op y, bad) \
	}

/* true for infinity and NaN */
#define NOT_FINITE(r) (!((r) - (r) == 0))

CC_VEC_ARITH_INT64(add_int64, +)
CC_VEC_ARITH_INT64(sub_int64, -)
CC_VEC_ARITH_INT64(mul_int64, *)
CC_VEC_ARITH_CHECKED(add_int64_wide, int64, __builtin_add_overflow)
CC_VEC_ARITH_CHECKED(sub_int64_wide, int64, __builtin_sub_overflow)
CC_VEC_ARITH_CHECKED(mul_int64_wide, int64, __builtin_mul_overflow)
CC_VEC_ARITH_CHECKED(add_int128, int128, __builtin_add_overflow)
CC_VEC_ARITH_CHECKED(sub_int128, int128, __builtin_sub_overflow)
CC_VEC_ARITH_CHECKED(mul_int128, int128, __builtin_mul_overflow)
CC_VEC_ARITH_FLOAT(add_float8, double, +, NOT_FINITE(r))
CC_VEC_ARITH_FLOAT(sub_float8, double, -, NOT_FINITE(r))
CC_VEC_ARITH_FLOAT(mul_float8, double, *, NOT_FINITE(r) | ((r == 0) & (x != 0) & (y != 0)))
CC_VEC_ARITH_FLOAT(div_float8, double, /, NOT_FINITE(r) | ((r == 0) & (x != 0)))
CC_VEC_ARITH_FLOAT(add_float4, float, +, NOT_FINITE(r))
CC_VEC_ARITH_FLOAT(sub_float4, float, -, NOT_FINITE(r))
CC_VEC_ARITH_FLOAT(mul_float4, float, *, NOT_FINITE(r) | ((r == 0) & (x != 0) & (y != 0)))
CC_VEC_ARITH_FLOAT(div_float4, float, /, NOT_FINITE(r) | ((r == 0) & (x != 0)))

/* ---- conversions ---- */

#define CC_VEC_CONVERT(name, from, to) \
	CC_VEC_KERNEL \
	name(const from *values, int n, to *result) \
	{ \
		for (int base = 0; base < n; base += 64) \
			for (int i = 0; i < 64; i++) \
				result[base + i] = (to) values[base + i]; \
	}

CC_VEC_CONVERT(int64_to_float8, int64, double)
CC_VEC_CONVERT(float4_to_float8, float, double)
CC_VEC_CONVERT(int64_to_int128, int64, int128)

static CC_VEC_TARGET int
int64_width(const int64 *values, int n)
{
	uint64		all = 0;

	for (int base = 0; base < n; base += 64)
		for (int i = 0; i < 64; i++)
			all |= (uint64) (values[base + i] ^ (values[base + i] >> 63));
	return all == 0 ? 0 : 64 - __builtin_clzll(all);
}

CC_VEC_KERNEL
bits_to_int64(const uint64 *bits, int n, int64 *values)
{
	for (int base = 0; base < n; base += 64)
		for (int i = 0; i < 64; i++)
			values[base + i] = (bits[base / 64] >> i) & 1;
}

CC_VEC_KERNEL
int64_to_bits(const int64 *values, int n, uint64 *bits)
{
	for (int base = 0; base < n; base += 64)
	{
		uint8		flags[64];

		for (int i = 0; i < 64; i++)
			flags[i] = values[base + i] != 0;
		bits[base / 64] &= pack_flags(flags);
	}
}

#define CC_VEC_SIX(name) \
	{name##_lt, name##_le, name##_eq, name##_ge, name##_gt, name##_ne}

const CcVecKernels CC_VEC_TABLE = {
	.compare_int64 = CC_VEC_SIX(compare_int64),
	.compare_int128 = CC_VEC_SIX(compare_int128),
	.compare_float8 = CC_VEC_SIX(compare_float8),
	.arith_int64 = {add_int64, sub_int64, mul_int64},
	.arith_int64_wide = {add_int64_wide, sub_int64_wide, mul_int64_wide},
	.arith_int128 = {add_int128, sub_int128, mul_int128},
	.arith_float8 = {add_float8, sub_float8, mul_float8, div_float8},
	.arith_float4 = {add_float4, sub_float4, mul_float4, div_float4},
	.int64_width = int64_width,
	.bits_to_int64 = bits_to_int64,
	.int64_to_bits = int64_to_bits,
	.int64_to_float8 = int64_to_float8,
	.float4_to_float8 = float4_to_float8,
	.int64_to_int128 = int64_to_int128,
};

#undef CC_VEC_TABLE
#undef CC_VEC_TARGET
