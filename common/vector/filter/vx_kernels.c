/*-------------------------------------------------------------------------
 *
 * vx_kernels.c
 *	  Typed comparison loops over the values of a vector.
 *
 * One template, SELECT_LOOP, makes every kernel: 64 values are compared into
 * 64 bytes, which the compiler turns into vector instructions, and the bytes
 * are packed into one word of the selection.  The compiler makes a version
 * for AVX2 and one for any machine; the loader takes the right one.
 *
 * Allocates nothing and raises nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "vx_select.h"

/* clang before 18 gives clones a name that other files do not find. */
#if defined(__x86_64__) && defined(__linux__) && \
	(!defined(__clang__) || __clang_major__ >= 18)
#define VX_KERNEL __attribute__((target_clones("avx2", "default")))
#else
#define VX_KERNEL
#endif

/* Members of a set that are compared one by one. */
#define FEW_MEMBERS 8

/* 64 bytes of 0 or 1 to 64 bits: the first byte becomes the lowest bit. */
static inline __attribute__((always_inline)) uint64
pack_matches(const uint8 *matches)
{
	uint64		word = 0;

	for (int i = 0; i < 8; i++)
	{
		uint64		eight;

		memcpy(&eight, matches + i * 8, 8);
		word |= ((eight * UINT64CONST(0x0102040810204080)) >> 56) << (i * 8);
	}
	return word;
}

/*
 * values: array; n: its length; match: an expression over x, one of the
 * values, that is 0 or 1.
 */
#define SELECT_LOOP(type, match) \
	do { \
		int			base = 0; \
		for (; base + 64 <= n; base += 64) \
		{ \
			const type *chunk = values + base; \
			uint8		matches[64]; \
			if (selection[base / 64] == 0) \
				continue; \
			for (int i = 0; i < 64; i++) \
			{ \
				type		x = chunk[i]; \
				matches[i] = (match); \
			} \
			selection[base / 64] &= pack_matches(matches); \
		} \
		for (int i = base; i < n; i++) \
		{ \
			type		x = values[i]; \
			if (!(match)) \
				selection[i / 64] &= ~(UINT64CONST(1) << (i % 64)); \
		} \
	} while (0)

VX_KERNEL void
vx_select_int64(const int64 *values, int n, int64 lo, int64 hi, bool outside,
				uint64 *selection)
{
	if (lo == hi)
		SELECT_LOOP(int64, (x == lo) ^ outside);
	else
		SELECT_LOOP(int64, ((x >= lo) & (x <= hi)) ^ outside);
}

#define SELECT_RANGE(name, type) \
VX_KERNEL void \
name(const type *values, int n, type lo, type hi, bool outside, uint64 *selection) \
{ \
	SELECT_LOOP(type, ((x >= lo) & (x <= hi)) ^ outside); \
}

SELECT_RANGE(vx_select_int128, int128)
SELECT_RANGE(vx_select_code, uint32)

VX_KERNEL void
vx_select_bits(const int64 *values, int n, int64 lo, uint64 nbits, const uint64 *bits,
			   uint64 *selection)
{
#define PLACE(x) Min((uint64) (x) - (uint64) lo, nbits)
	SELECT_LOOP(int64, (bits[PLACE(x) / 64] >> (PLACE(x) % 64)) & 1);
#undef PLACE
}

/* x is NaN where x != x */
#define SELECT_FLOATS(name, type) \
VX_KERNEL void \
name(const type *values, int n, double lo, double hi, bool nan, bool outside, \
	 uint64 *selection) \
{ \
	SELECT_LOOP(type, (((x >= lo) & (x <= hi)) ^ outside) | (nan & (x != x))); \
}

SELECT_FLOATS(vx_select_float8, double)
SELECT_FLOATS(vx_select_float4, float)

static bool
set_contains(const int64 *set, int nset, int64 value)
{
	int			lo = 0;
	int			hi = nset;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (set[mid] < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nset && set[lo] == value;
}

/* Compares all values with each of a few: no branch depends on what they are. */
VX_KERNEL static void
select_few(const int64 *values, int n, const int64 *set, int nset, bool outside,
		   uint64 *selection)
{
	int			base = 0;

	for (; base + 64 <= n; base += 64)
	{
		const int64 *chunk = values + base;
		uint8		matches[64] = {0};
		uint64		word;

		if (selection[base / 64] == 0)
			continue;
		for (int s = 0; s < nset; s++)
		{
			int64		member = set[s];

			for (int i = 0; i < 64; i++)
				matches[i] |= chunk[i] == member;
		}
		word = pack_matches(matches);
		selection[base / 64] &= outside ? ~word : word;
	}
	for (int i = base; i < n; i++)
		if (set_contains(set, nset, values[i]) == outside)
			selection[i / 64] &= ~(UINT64CONST(1) << (i % 64));
}

void
vx_select_int64_set(const int64 *values, int n, const int64 *set, int nset,
					bool outside, uint64 *selection)
{
	int64		min = set[0];
	int64		max = set[nset - 1];

	if (nset <= FEW_MEMBERS)
	{
		select_few(values, n, set, nset, outside, selection);
		return;
	}

	VX_FOREACH_ROW(row, selection, (n + 63) / 64)
	{
		int64		x = values[row];

		if ((x >= min && x <= max && set_contains(set, nset, x)) == outside)
			vx_rows_clear(selection, row);
	}
}
