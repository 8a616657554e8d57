/*-------------------------------------------------------------------------
 *
 * st_int.h
 *	  Encodings of integer vectors.
 *
 * A vector of up to ST_VECTOR_SIZE int64 values becomes a self-describing
 * run of bytes: a scheme byte, its parameters, a payload.  The encoder takes
 * the smallest of
 *
 *		constant			one value
 *		raw					eight bytes each
 *		for					frame of reference + bit packing
 *		patched for			the same with exceptions kept apart
 *		delta				differences, bit-packed as above
 *		delta of delta		differences of differences, likewise
 *		gcd ...				common divisor taken out of any of the above
 *		dictionary			codes of few distinct values
 *		rle					run values and run lengths, each encoded again
 *
 * by exact size, not by guess.  All arithmetic is modulo 2^64, so that every
 * int64 input comes back.  README.md draws the layouts.
 *
 * This module owns no memory and no state, and does not know about nulls,
 * types or blocks: callers encode what they have and keep n and len.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_INT_H
#define ST_INT_H

#include "st_core.h"

/* First byte of an encoded vector.  On disk: numbers never change. */
typedef enum StIntScheme
{
	ST_INT_CONSTANT = 1,
	ST_INT_RAW = 2,
	ST_INT_FOR = 3,
	ST_INT_PFOR = 4,
	ST_INT_DELTA = 5,
	ST_INT_DELTA2 = 6,
	ST_INT_GCD = 7,
	ST_INT_RLE = 8,
	ST_INT_DICT = 9
} StIntScheme;

/* 128-bit integer; callers' arrays need 8-byte alignment only. */
__extension__ typedef __int128 StInt128 __attribute__((aligned(8)));

/*
 * Upper bound of the bytes that st_int_encode writes for n values,
 * 0 <= n <= ST_VECTOR_SIZE.
 */
extern size_t st_int_bound(int n);

/*
 * Which schemes did not pay for the earlier vectors of a run.  Those are tried
 * less and less often.  All zero in the beginning.
 */
typedef struct StIntHint
{
	uint8_t		skip_chains;	/* vectors to go without a try */
	uint8_t		wait_chains;	/* as many after the next try that fails */
	uint8_t		skip_dictionary;
	uint8_t		wait_dictionary;
	uint8_t		skip_patches;
	uint8_t		wait_patches;
} StIntHint;

/*
 * Encodes v[0 .. n-1] into dst, which has room for cap bytes, and sets *len
 * to the bytes written.  ST_NOSPACE if they do not fit (never with cap >=
 * st_int_bound(n)); *len and dst are then undefined.  ST_NOTFIT if n is
 * outside of 0 .. ST_VECTOR_SIZE.
 */
extern StStatus st_int_encode(const int64_t *v, int n,
							  uint8_t *dst, size_t cap, size_t *len);

/*
 * Encodes the next vector of a run of similar ones.  Differences and
 * dictionaries that lost before are not tried for up to 15 vectors, patches
 * for up to 3.
 */
extern StStatus st_int_encode_next(const int64_t *v, int n, StIntHint *hint,
								   uint8_t *dst, size_t cap, size_t *len);

/*
 * Decodes exactly len bytes into n values.  dst always has room for
 * ST_VECTOR_SIZE values, whatever n is: values behind n may be overwritten.
 * ST_CORRUPT if the bytes are not an encoding of n values (too short, too
 * long, or inconsistent); dst is then undefined.
 */
extern StStatus st_int_decode(const uint8_t *src, size_t len, int n,
							  int64_t *dst);

/*
 * The same for values that are known to fit uint32 (dictionary codes,
 * lengths); ST_CORRUPT if one does not.  Room for ST_VECTOR_SIZE likewise.
 */
extern StStatus st_int_decode_u32(const uint8_t *src, size_t len, int n,
								  uint32_t *dst);

/*
 * Value i, 0 <= i < n, of the vector.  Constant time for constant, raw and
 * for, also under gcd or dictionary; logarithmic in the exceptions for
 * patched for; linear in the exceptions of differences that are alike but for
 * ST_INT_FEW, and in ST_INT_FEW runs.  What has more of them is decoded.  May
 * accept damaged bytes that st_int_decode rejects, as it reads only what it
 * needs.
 */
extern StStatus st_int_at(const uint8_t *src, size_t len, int n, int i,
						  int64_t *out);

/*
 * Does st_int_at() decode the vector?  One value then costs as much as all of
 * them.  True or false for damaged bytes.
 */
extern bool st_int_at_decodes(const uint8_t *src, size_t len);

/* True, with *value, if the vector is encoded as one value. */
extern bool st_int_constant(const uint8_t *src, size_t len, int64_t *value);

/*
 * 128-bit integers (wide decimals): constant, raw, or the halves of v - min
 * as two int64 vectors.  Arguments and results as above.
 */
extern size_t st_int128_bound(int n);
extern StStatus st_int128_encode(const StInt128 *v, int n,
								 uint8_t *dst, size_t cap, size_t *len);
extern StStatus st_int128_decode(const uint8_t *src, size_t len, int n,
								 StInt128 *dst);
extern StStatus st_int128_at(const uint8_t *src, size_t len, int n, int i,
							 StInt128 *out);

#endif							/* ST_INT_H */
