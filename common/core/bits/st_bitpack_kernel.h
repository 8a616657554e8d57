/*-------------------------------------------------------------------------
 *
 * st_bitpack_kernel.h
 *	  Template of the bit packing kernels for full vectors.
 *
 * Parameters, defined by the including file before inclusion:
 *
 *		ST_KERNEL_TABLE		name of the StBitpackKernels table to define
 *		ST_KERNEL_TARGET	function attribute that selects the instruction
 *							set, or empty
 *
 * Each width gets functions of its own, so that every shift and mask is a
 * constant.  A function is one loop over the lanes whose body is the rows
 * of the lane written out by macros; the compiler turns the loop into
 * vector code, as neighbouring lanes do the same with neighbouring words.
 *
 * The layout is drawn in st_bitpack.h.  In the macros W is the width, R the
 * row, T the bits of a word; all are literals, so every condition on them is
 * decided at compile time.
 *
 *-------------------------------------------------------------------------
 */
#include "st_bitpack.h"

/* Words stand at any address in the encoded bytes. */
typedef uint32_t StWord32 __attribute__((aligned(1), may_alias));
typedef uint64_t StWord64 __attribute__((aligned(1), may_alias));

#define LANES(T) (ST_VECTOR_SIZE / (T))

/* Where row R of a lane begins: word index and bit in it. */
#define ROW_WORD(T, W, R) ((R) * (W) / (T))
#define ROW_SHIFT(T, W, R) ((R) * (W) % (T))
/* Bits of the row that spill into the next word, if positive. */
#define ROW_SPILL(T, W, R) (ROW_SHIFT(T, W, R) + (W) - (T))

/* Low W bits of a T-bit word, 1 <= W <= T. */
#define LOW_BITS(T, W) (((uint##T##_t) -1) >> ((T) - (W)))

/*
 * One row out of the words.  A shift count is kept in range with % T where
 * the condition before it is false and the compiler still looks.
 */
#define UNPACK_ROW(T, W, R) \
	{ \
		uint##T##_t x = word[ROW_WORD(T, W, R) * LANES(T) + lane] \
			>> ROW_SHIFT(T, W, R); \
		if (ROW_SPILL(T, W, R) > 0) \
			x |= word[(ROW_WORD(T, W, R) + (ROW_SPILL(T, W, R) > 0)) \
					  * LANES(T) + lane] \
				<< ((T - ROW_SHIFT(T, W, R)) % T); \
		v[(R) * LANES(T) + lane] = base + (x & LOW_BITS(T, W)); \
	}

/* One row into acc, which is stored whenever a word is full. */
#define PACK_ROW(T, W, R) \
	{ \
		uint##T##_t x = (uint##T##_t) (v[(R) * LANES(T) + lane] - base) \
			& LOW_BITS(T, W); \
		acc |= x << ROW_SHIFT(T, W, R); \
		if (ROW_SPILL(T, W, R) >= 0) \
		{ \
			word[ROW_WORD(T, W, R) * LANES(T) + lane] = acc; \
			acc = ROW_SPILL(T, W, R) > 0 \
				? x >> ((T - ROW_SHIFT(T, W, R)) % T) : 0; \
		} \
	}

#define ROWS_8(M, T, W, R) \
	M(T, W, R) M(T, W, R + 1) M(T, W, R + 2) M(T, W, R + 3) \
	M(T, W, R + 4) M(T, W, R + 5) M(T, W, R + 6) M(T, W, R + 7)
#define ROWS_32(M, T, W, R) \
	ROWS_8(M, T, W, R) ROWS_8(M, T, W, R + 8) \
	ROWS_8(M, T, W, R + 16) ROWS_8(M, T, W, R + 24)
#define ROWS_64(M, T, W, R) \
	ROWS_32(M, T, W, R) ROWS_32(M, T, W, R + 32)

#define DEFINE_PACK(T, W) \
	ST_KERNEL_TARGET static void \
	pack_##W(const uint64_t *restrict v, uint64_t base, \
			 uint8_t *restrict out) \
	{ \
		StWord##T *restrict word = (StWord##T *) out; \
		for (int lane = 0; lane < LANES(T); lane++) \
		{ \
			uint##T##_t acc = 0; \
			ROWS_##T(PACK_ROW, T, W, 0) \
		} \
	}

#define DEFINE_UNPACK(T, W) \
	ST_KERNEL_TARGET static void \
	unpack_##W(const uint8_t *restrict in, uint64_t base, \
			   uint64_t *restrict v) \
	{ \
		const StWord##T *restrict word = (const StWord##T *) in; \
		for (int lane = 0; lane < LANES(T); lane++) \
		{ \
			ROWS_##T(UNPACK_ROW, T, W, 0) \
		} \
	}

#define DEFINE_UNPACK32(T, W) \
	ST_KERNEL_TARGET static void \
	unpack32_##W(const uint8_t *restrict in, uint32_t base, \
				 uint32_t *restrict v) \
	{ \
		const StWord32 *restrict word = (const StWord32 *) in; \
		for (int lane = 0; lane < LANES(32); lane++) \
		{ \
			ROWS_32(UNPACK_ROW, 32, W, 0) \
		} \
	}

/* M(T, W) for the widths of 32-bit and 64-bit words. */
#define WIDTHS_32(M) \
	M(32, 1) M(32, 2) M(32, 3) M(32, 4) M(32, 5) M(32, 6) M(32, 7) M(32, 8) \
	M(32, 9) M(32, 10) M(32, 11) M(32, 12) M(32, 13) M(32, 14) M(32, 15) \
	M(32, 16) M(32, 17) M(32, 18) M(32, 19) M(32, 20) M(32, 21) M(32, 22) \
	M(32, 23) M(32, 24) M(32, 25) M(32, 26) M(32, 27) M(32, 28) M(32, 29) \
	M(32, 30) M(32, 31) M(32, 32)
#define WIDTHS_64(M) \
	M(64, 33) M(64, 34) M(64, 35) M(64, 36) M(64, 37) M(64, 38) M(64, 39) \
	M(64, 40) M(64, 41) M(64, 42) M(64, 43) M(64, 44) M(64, 45) M(64, 46) \
	M(64, 47) M(64, 48) M(64, 49) M(64, 50) M(64, 51) M(64, 52) M(64, 53) \
	M(64, 54) M(64, 55) M(64, 56) M(64, 57) M(64, 58) M(64, 59) M(64, 60) \
	M(64, 61) M(64, 62) M(64, 63) M(64, 64)

WIDTHS_32(DEFINE_PACK)
WIDTHS_64(DEFINE_PACK)
WIDTHS_32(DEFINE_UNPACK)
WIDTHS_64(DEFINE_UNPACK)
WIDTHS_32(DEFINE_UNPACK32)

/* Width 0: no bytes, every value is the base. */
static void
pack_0(const uint64_t *v, uint64_t base, uint8_t *out)
{
	(void) v;
	(void) base;
	(void) out;
}

ST_KERNEL_TARGET static void
unpack_0(const uint8_t *in, uint64_t base, uint64_t *v)
{
	(void) in;
	for (int i = 0; i < ST_VECTOR_SIZE; i++)
		v[i] = base;
}

ST_KERNEL_TARGET static void
unpack32_0(const uint8_t *in, uint32_t base, uint32_t *v)
{
	(void) in;
	for (int i = 0; i < ST_VECTOR_SIZE; i++)
		v[i] = base;
}

#define PACK_ENTRY(T, W) [W] = pack_##W,
#define UNPACK_ENTRY(T, W) [W] = unpack_##W,
#define UNPACK32_ENTRY(T, W) [W] = unpack32_##W,

const StBitpackKernels ST_KERNEL_TABLE = {
	.pack = {pack_0, WIDTHS_32(PACK_ENTRY) WIDTHS_64(PACK_ENTRY)},
	.unpack = {unpack_0, WIDTHS_32(UNPACK_ENTRY) WIDTHS_64(UNPACK_ENTRY)},
	.unpack32 = {unpack32_0, WIDTHS_32(UNPACK32_ENTRY)}
};
