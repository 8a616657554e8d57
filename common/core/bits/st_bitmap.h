/*-------------------------------------------------------------------------
 *
 * st_bitmap.h
 *	  Encodings of bit vectors: validity of a vector's values, booleans.
 *
 * n bits, 0 <= n <= ST_VECTOR_SIZE, bit i in word i / 64 at position i % 64.
 * The smallest of: no bit set, all bits set, the bits themselves, run
 * lengths, positions of the rarer bit.  Owns no memory and no state.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_BITMAP_H
#define ST_BITMAP_H

#include "st_core.h"

#define ST_BITMAP_WORDS (ST_VECTOR_SIZE / 64)

/* First byte of an encoded bitmap.  On disk: numbers never change. */
typedef enum StBitmapScheme
{
	ST_BITMAP_NONE = 1,			/* no bit set */
	ST_BITMAP_ALL = 2,			/* all n bits set */
	ST_BITMAP_RAW = 3,			/* ceil(n / 8) bytes */
	ST_BITMAP_RUNS = 4,			/* lengths of alternating runs */
	ST_BITMAP_SET = 5,			/* gaps between set bits */
	ST_BITMAP_UNSET = 6			/* gaps between unset bits */
} StBitmapScheme;

/* Upper bound of the bytes that st_bitmap_encode writes for n bits. */
extern size_t st_bitmap_bound(int n);

/*
 * Encodes the first n bits of words (ceil(n / 64) words are read; bits
 * behind n are ignored).  ST_NOSPACE if they do not fit into cap bytes,
 * ST_NOTFIT if n is outside of 0 .. ST_VECTOR_SIZE.
 */
extern StStatus st_bitmap_encode(const uint64_t *words, int n,
								 uint8_t *dst, size_t cap, size_t *len);

/*
 * Decodes exactly len bytes into words, which always has room for
 * ST_BITMAP_WORDS words.  Bits behind n, up to ST_VECTOR_SIZE, are cleared.
 * ST_CORRUPT if the bytes are not an encoding of n bits.
 */
extern StStatus st_bitmap_decode(const uint8_t *src, size_t len, int n,
								 uint64_t *words);

/* Number of set bits among the first n. */
extern int	st_bitmap_popcount(const uint64_t *words, int n);

/* Sets the first n bits and clears the rest up to ST_VECTOR_SIZE. */
extern void st_bitmap_fill(uint64_t *words, int n);

ST_INLINE void
st_bitmap_set(uint64_t *words, int i)
{
	words[i >> 6] |= UINT64_C(1) << (i & 63);
}

ST_INLINE void
st_bitmap_clear(uint64_t *words, int i)
{
	words[i >> 6] &= ~(UINT64_C(1) << (i & 63));
}

#endif							/* ST_BITMAP_H */
