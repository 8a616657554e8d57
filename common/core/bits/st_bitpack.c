/*-------------------------------------------------------------------------
 *
 * st_bitpack.c
 *	  Bit packing: choice of the kernel, the sequential layout of short
 *	  vectors, access to one value.
 *
 * The choice is made anew at each call, from the processor's features that
 * the compiler's run-time library collects when the program starts: two
 * tests of a word in memory, and no state of our own.
 *
 *-------------------------------------------------------------------------
 */
#include "st_bitpack.h"

#include "st_bitpack_tables.h"

StIsa
st_bitpack_best_isa(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512dq") &&
		__builtin_cpu_supports("avx512vl"))
		return ST_ISA_AVX512;
	if (__builtin_cpu_supports("avx2"))
		return ST_ISA_AVX2;
#endif
	return ST_ISA_DEFAULT;
}

const StBitpackKernels *
st_bitpack_kernels(StIsa isa)
{
	if (isa > st_bitpack_best_isa())
		return NULL;
	switch (isa)
	{
		case ST_ISA_DEFAULT:
			return &st_bitpack_kernels_default;
#ifdef __x86_64__
		case ST_ISA_AVX2:
			return &st_bitpack_kernels_avx2;
		case ST_ISA_AVX512:
			return &st_bitpack_kernels_avx512;
#endif
		default:
			return NULL;
	}
}

/* ---- sequential layout ---- */

ST_INLINE uint64_t
low_bits(int width)
{
	return width == 0 ? 0 : UINT64_MAX >> (64 - width);
}

static void
pack_sequential(const uint64_t *v, int n, uint64_t base, int width,
				uint8_t *out)
{
	uint64_t	mask = low_bits(width);
	uint64_t	acc = 0;
	int			fill = 0;		/* bits in acc, 0 .. 63 */

	for (int i = 0; i < n; i++)
	{
		uint64_t	x = (v[i] - base) & mask;

		acc |= x << fill;
		fill += width;
		if (fill >= 64)
		{
			st_store_u64(out, acc);
			out += 8;
			fill -= 64;
			acc = fill > 0 ? x >> (width - fill) : 0;
		}
	}
	if (fill > 0)
		memcpy(out, &acc, (size_t) (fill + 7) / 8);
}

/*
 * width bits at bit position bit; reads 9 bytes from the byte of the first
 * bit if the value touches 9 bytes, which needs width > 57, else 8.
 */
ST_INLINE uint64_t
load_bits(const uint8_t *in, size_t bit, int width)
{
	const uint8_t *p = in + (bit >> 3);
	int			shift = (int) (bit & 7);
	uint64_t	x = st_load_u64(p) >> shift;

	if (width > 57 && shift + width > 64)
		x |= (uint64_t) p[8] << (64 - shift);
	return x & low_bits(width);
}

/* The same where fewer than 9 bytes may be left: size is that of all bits. */
static uint64_t
load_bits_bounded(const uint8_t *in, size_t size, size_t bit, int width)
{
	uint8_t		last[16] = {0};
	size_t		first = bit >> 3;
	size_t		left = size - first;

	if (left > 9)
		left = 9;
	memcpy(last, in + first, left);
	return load_bits(last, bit & 7, width);
}

/*
 * How many of the n values can be loaded by load_bits: those whose first
 * byte has 9 bytes behind it.
 */
static int
count_unbounded(int n, int width)
{
	size_t		size = st_bitpack_size(n, width);
	int			count;

	if (width == 0 || size < 9)
		return 0;
	/* value i starts in byte i * width / 8, which must be <= size - 9 */
	count = (int) (((size - 9) * 8 + 7) / (size_t) width) + 1;
	return count < n ? count : n;
}

/* Room for the bytes of the values behind those, at most 8, and what is loaded beyond. */
#define ST_LAST_BYTES 16

/*
 * One function for each result type.  Widths above 57 have a loop of their
 * own, as only they look at a ninth byte.
 */
#define DEFINE_UNPACK_SEQUENTIAL(name, type) \
	static void \
	name(const uint8_t *in, int n, type base, int width, type *v) \
	{ \
		size_t		size = st_bitpack_size(n, width); \
		size_t		bit = 0; \
		uint64_t	mask = low_bits(width); \
		int			fast = count_unbounded(n, width); \
		int			i = 0; \
		uint8_t		last[ST_LAST_BYTES] = {0}; \
		if (width == 0) \
		{ \
			for (; i < n; i++) \
				v[i] = base; \
			return; \
		} \
		if (width <= 57) \
			for (; i < fast; i++, bit += (size_t) width) \
				v[i] = base + (type) \
					((st_load_u64(in + (bit >> 3)) >> (bit & 7)) & mask); \
		else \
			for (; i < fast; i++, bit += (size_t) width) \
				v[i] = base + (type) load_bits(in, bit, width); \
		if (i == n) \
			return; \
		memcpy(last, in + (bit >> 3), size - (bit >> 3)); \
		for (bit &= 7; i < n; i++, bit += (size_t) width) \
			v[i] = base + (type) load_bits(last, bit, width); \
	}

DEFINE_UNPACK_SEQUENTIAL(unpack_sequential, uint64_t)
DEFINE_UNPACK_SEQUENTIAL(unpack_sequential32, uint32_t)

/* ---- interleaved layout, one value ---- */

static uint64_t
get_interleaved(const uint8_t *in, int width, int i)
{
	int			word_bits = width <= 32 ? 32 : 64;
	int			lanes = ST_VECTOR_SIZE / word_bits;
	int			lane = i % lanes;
	int			bit = i / lanes * width;
	int			shift = bit % word_bits;
	const uint8_t *p = in + (size_t) (bit / word_bits * lanes + lane) *
		(size_t) (word_bits / 8);
	size_t		stride = (size_t) lanes * (size_t) (word_bits / 8);
	uint64_t	x;

	if (word_bits == 32)
	{
		x = st_load_u32(p);
		if (shift + width > 32)
			x |= (uint64_t) st_load_u32(p + stride) << 32;
		x >>= shift;
	}
	else
	{
		x = st_load_u64(p) >> shift;
		if (shift + width > 64)
			x |= st_load_u64(p + stride) << (64 - shift);
	}
	return x & low_bits(width);
}

/* ---- entry points ---- */

void
st_bitpack(const uint64_t *v, int n, uint64_t base, int width, uint8_t *out)
{
	if (n == ST_VECTOR_SIZE)
		st_bitpack_kernels(st_bitpack_best_isa())->pack[width] (v, base, out);
	else
		pack_sequential(v, n, base, width, out);
}

void
st_bitunpack(const uint8_t *in, int n, uint64_t base, int width, uint64_t *v)
{
	if (n == ST_VECTOR_SIZE)
		st_bitpack_kernels(st_bitpack_best_isa())->unpack[width] (in, base, v);
	else
		unpack_sequential(in, n, base, width, v);
}

void
st_bitunpack32(const uint8_t *in, int n, uint32_t base, int width, uint32_t *v)
{
	if (n == ST_VECTOR_SIZE)
		st_bitpack_kernels(st_bitpack_best_isa())->unpack32[width] (in, base, v);
	else
		unpack_sequential32(in, n, base, width, v);
}

uint64_t
st_bitpack_get(const uint8_t *in, int n, int width, int i)
{
	size_t		bit;
	size_t		size;

	if (width == 0)
		return 0;
	if (n == ST_VECTOR_SIZE)
		return get_interleaved(in, width, i);
	bit = (size_t) i * (size_t) width;
	size = st_bitpack_size(n, width);
	if ((bit >> 3) + 9 <= size)
		return load_bits(in, bit, width);
	return load_bits_bounded(in, size, bit, width);
}
