/*-------------------------------------------------------------------------
 *
 * vx_vec_template.h
 *	  The loops of vx_vec.h, for one instruction set.
 *
 * Parameters, undefined again at the end:
 *		VX_VEC_TABLE	name of the table of kernels that is defined
 *		VX_VEC_TARGET	attribute of every kernel: the instruction set
 *
 * The families are macros of three: the type, the operation, and what makes
 * a row suspect.  Loops over 64 rows are what the compiler turns into vector
 * instructions, given -O3 and -fno-trapping-math; 64 flags become a word of
 * bits.
 *
 *-------------------------------------------------------------------------
 */
#include "vx_vec.h"

#define VX_VEC_INLINE static inline __attribute__((always_inline)) VX_VEC_TARGET
#define VX_VEC_KERNEL static VX_VEC_TARGET void

/* 64 bytes of 0 or 1 to 64 bits. */
VX_VEC_INLINE uint64
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

#define VX_VEC_COMPARE(name, type, match) \
	VX_VEC_KERNEL \
	compare_##name(const type *restrict a, const type *restrict b, int n, \
				   uint64 *restrict bits) \
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

#define VX_VEC_COMPARES(name, type) \
	VX_VEC_COMPARE(name##_lt, type, x < y) \
	VX_VEC_COMPARE(name##_le, type, x <= y) \
	VX_VEC_COMPARE(name##_eq, type, x == y) \
	VX_VEC_COMPARE(name##_ge, type, x >= y) \
	VX_VEC_COMPARE(name##_gt, type, x > y) \
	VX_VEC_COMPARE(name##_ne, type, x != y)

VX_VEC_COMPARES(int64, int64)
VX_VEC_COMPARES(int128, int128)

/* y is NaN where y != y */
VX_VEC_COMPARE(float8_lt, double, (x < y) | ((x == x) & (y != y)))
VX_VEC_COMPARE(float8_le, double, (x <= y) | (y != y))
VX_VEC_COMPARE(float8_eq, double, (x == y) | ((x != x) & (y != y)))
VX_VEC_COMPARE(float8_ge, double, (x >= y) | (x != x))
VX_VEC_COMPARE(float8_gt, double, (x > y) | ((x != x) & (y == y)))
VX_VEC_COMPARE(float8_ne, double, !((x == y) | ((x != x) & (y != y))))

/*
 * ---- arithmetic ----
 *
 * body sets r from x and y; bad is what makes r suspect.  A block whose
 * results are all good, which is the rule, is found out by an OR over a mask
 * as wide as a value; only then are its rows looked at one by one.
 */

#define VX_VEC_LOOP(type, mask, body, bad) \
	for (int base = 0; base < n; base += 64) \
	{ \
		mask		any = 0; \
		for (int i = 0; i < 64; i++) \
		{ \
			type		x = a[base + i]; \
			type		y = b[base + i]; \
			type		r; \
			body; \
			result[base + i] = r; \
			any |= (bad) ? 1 : 0; \
		} \
		if (__builtin_expect(any != 0, 0)) \
		{ \
			uint8		flags[64]; \
			for (int i = 0; i < 64; i++) \
			{ \
				type		x = a[base + i]; \
				type		y = b[base + i]; \
				type		r; \
				body; \
				flags[i] = (bad); \
			} \
			suspect[base / 64] |= pack_flags(flags); \
		} \
	}

#define VX_VEC_ARITH_INT64(name, op) \
	VX_VEC_KERNEL \
	name(const int64 *restrict a, const int64 *restrict b, int n, int64 lo, int64 hi, \
		 int64 *restrict result, uint64 *restrict suspect) \
	{ \
		VX_VEC_LOOP(int64, int64, r = (int64) ((uint64) x op (uint64) y), (r < lo) | (r > hi)) \
	}

#define VX_VEC_ARITH_CHECKED(name, type, builtin) \
	VX_VEC_KERNEL \
	name(const type *restrict a, const type *restrict b, int n, \
		 type *restrict result, uint64 *restrict suspect) \
	{ \
		VX_VEC_LOOP(type, int64, bool over = builtin(x, y, &r), over) \
	}

#define VX_VEC_ARITH_FLOAT(name, type, mask, op, bad) \
	VX_VEC_KERNEL \
	name(const type *restrict a, const type *restrict b, int n, \
		 type *restrict result, uint64 *restrict suspect) \
	{ \
		VX_VEC_LOOP(type, mask, r = x op y, bad) \
	}

/* true for infinity and NaN */
#define NOT_FINITE(r) (!((r) - (r) == 0))

VX_VEC_ARITH_INT64(add_int64, +)
VX_VEC_ARITH_INT64(sub_int64, -)
VX_VEC_ARITH_INT64(mul_int64, *)
VX_VEC_ARITH_CHECKED(add_int64_wide, int64, __builtin_add_overflow)
VX_VEC_ARITH_CHECKED(sub_int64_wide, int64, __builtin_sub_overflow)
VX_VEC_ARITH_CHECKED(mul_int64_wide, int64, __builtin_mul_overflow)
VX_VEC_ARITH_CHECKED(add_int128, int128, __builtin_add_overflow)
VX_VEC_ARITH_CHECKED(sub_int128, int128, __builtin_sub_overflow)
VX_VEC_ARITH_CHECKED(mul_int128, int128, __builtin_mul_overflow)
VX_VEC_ARITH_FLOAT(add_float8, double, int64, +, NOT_FINITE(r))
VX_VEC_ARITH_FLOAT(sub_float8, double, int64, -, NOT_FINITE(r))
VX_VEC_ARITH_FLOAT(mul_float8, double, int64, *, NOT_FINITE(r) | ((r == 0) & (x != 0) & (y != 0)))
VX_VEC_ARITH_FLOAT(div_float8, double, int64, /, NOT_FINITE(r) | ((r == 0) & (x != 0)))
VX_VEC_ARITH_FLOAT(add_float4, float, int32, +, NOT_FINITE(r))
VX_VEC_ARITH_FLOAT(sub_float4, float, int32, -, NOT_FINITE(r))
VX_VEC_ARITH_FLOAT(mul_float4, float, int32, *, NOT_FINITE(r) | ((r == 0) & (x != 0) & (y != 0)))
VX_VEC_ARITH_FLOAT(div_float4, float, int32, /, NOT_FINITE(r) | ((r == 0) & (x != 0)))

/* ---- conversions ---- */

#define VX_VEC_CONVERT(name, from, to) \
	VX_VEC_KERNEL \
	name(const from *restrict values, int n, to *restrict result) \
	{ \
		for (int base = 0; base < n; base += 64) \
			for (int i = 0; i < 64; i++) \
				result[base + i] = (to) values[base + i]; \
	}

VX_VEC_CONVERT(int64_to_float8, int64, double)
VX_VEC_CONVERT(float4_to_float8, float, double)
VX_VEC_CONVERT(int64_to_int128, int64, int128)

static VX_VEC_TARGET int
int64_width(const int64 *values, int n)
{
	uint64		all = 0;

	/* where a bit differs from the next lower one: the highest such place is the width */
	for (int base = 0; base < n; base += 64)
	{
		const int64 *chunk = values + base;
		uint64		some = 0;

		for (int i = 0; i < 64; i++)
			some |= (uint64) chunk[i] ^ ((uint64) chunk[i] << 1);
		all |= some;
	}
	return all == 0 ? 0 : 63 - __builtin_clzll(all);
}

VX_VEC_KERNEL
bits_to_int64(const uint64 *restrict bits, int n, int64 *restrict values)
{
	for (int base = 0; base < n; base += 64)
	{
		uint64		word = bits[base / 64];

		for (uint64 i = 0; i < 64; i++)
			values[base + i] = (int64) ((word >> i) & 1);
	}
}

VX_VEC_KERNEL
int64_to_bits(const int64 *restrict values, int n, uint64 *restrict bits)
{
	for (int base = 0; base < n; base += 64)
	{
		uint8		flags[64];

		for (int i = 0; i < 64; i++)
			flags[i] = values[base + i] != 0;
		bits[base / 64] &= pack_flags(flags);
	}
}

VX_VEC_KERNEL
blend_int64(const int64 *restrict values, const uint64 *restrict rows, int n,
			int64 *restrict result)
{
	for (int base = 0; base < n; base += 64)
	{
		uint64		word = rows[base / 64];

		for (uint64 i = 0; i < 64; i++)
		{
			int64		mask = -(int64) ((word >> i) & 1);

			result[base + i] = (values[base + i] & mask) | (result[base + i] & ~mask);
		}
	}
}

/* Codes behind row n - 1 may be anything. */
VX_VEC_KERNEL
gather_int64(const int64 *restrict table, const uint32 *restrict codes, int n,
			 int64 *restrict result)
{
	for (int i = 0; i < n; i++)
		result[i] = table[codes[i]];
}

VX_VEC_KERNEL
gather_bits(const uint8 *restrict table, const uint32 *restrict codes, int n,
			uint64 *restrict bits)
{
	for (int base = 0; base < n; base += 64)
	{
		uint8		flags[64] = {0};
		int			end = n - base < 64 ? n - base : 64;

		for (int i = 0; i < end; i++)
			flags[i] = table[codes[base + i]];
		bits[base / 64] = pack_flags(flags);
	}
}

#define VX_VEC_SIX(name) \
	{name##_lt, name##_le, name##_eq, name##_ge, name##_gt, name##_ne}

const VxVecKernels VX_VEC_TABLE = {
	.compare_int64 = VX_VEC_SIX(compare_int64),
	.compare_int128 = VX_VEC_SIX(compare_int128),
	.compare_float8 = VX_VEC_SIX(compare_float8),
	.arith_int64 = {add_int64, sub_int64, mul_int64},
	.arith_int64_wide = {add_int64_wide, sub_int64_wide, mul_int64_wide},
	.arith_int128 = {add_int128, sub_int128, mul_int128},
	.arith_float8 = {add_float8, sub_float8, mul_float8, div_float8},
	.arith_float4 = {add_float4, sub_float4, mul_float4, div_float4},
	.int64_width = int64_width,
	.bits_to_int64 = bits_to_int64,
	.int64_to_bits = int64_to_bits,
	.blend_int64 = blend_int64,
	.gather_int64 = gather_int64,
	.gather_bits = gather_bits,
	.int64_to_float8 = int64_to_float8,
	.float4_to_float8 = float4_to_float8,
	.int64_to_int128 = int64_to_int128,
};

#undef VX_VEC_TABLE
#undef VX_VEC_TARGET
