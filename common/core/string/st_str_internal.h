/*-------------------------------------------------------------------------
 *
 * st_str_internal.h
 *	  What the files of the string encodings share.
 *
 * The payloads of FSST and alphabet vectors are written and read by the
 * functions below; st_str.c owns the frame around them (mode, lengths) and
 * has checked the lengths (each at most ST_STR_MAX_LEN).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_STR_INTERNAL_H
#define ST_STR_INTERNAL_H

#include "st_str.h"

/*
 * Decoders may write this many bytes behind the last value of an arena, and
 * between values.
 */
#define ST_STR_SLACK 80

/* The low len (0 .. 8) bytes of a word. */
ST_INLINE uint64_t
st_byte_mask(unsigned len)
{
	return len == 0 ? 0 : UINT64_MAX >> (64 - 8 * len);
}

/* Up to 8 bytes at p as a word, zero padded. */
ST_INLINE uint64_t
st_load_partial(const uint8_t *p, size_t len)
{
	uint64_t	word = 0;

	if (len >= 8)
		return st_load_u64(p);
	for (size_t i = 0; i < len; i++)
		word |= (uint64_t) p[i] << (8 * i);
	return word;
}

/* ---- st_fsst.c ---- */

/*
 * The symbols in a form for finding the longest match: those of 3 bytes and
 * more are grouped by a hash of their first 3 bytes, longest first.
 */
#define ST_FSST_BUCKETS 1024

typedef struct StFsstEncoder
{
	uint8_t		single[256];	/* code of a 1-byte symbol, or escape */
	uint8_t		code[ST_FSST_MAX_SYMBOLS + 1];	/* in bucket order */
	uint8_t		len[ST_FSST_MAX_SYMBOLS + 1];
	uint64_t	sym[ST_FSST_MAX_SYMBOLS + 1];
	uint8_t		start[ST_FSST_BUCKETS + 1]; /* first of each bucket */
	uint8_t		pair[65536];	/* code of a 2-byte symbol, or escape */
} StFsstEncoder;

#define ST_FSST_ESCAPE 255

ST_INLINE unsigned
st_fsst_bucket(uint64_t word)
{
	return (unsigned) (((word & 0xffffff) * UINT64_C(0x9e3779b97f4a7c15)) >>
					   (64 - 10));
}

/*
 * Code of the longest symbol that the remaining bytes start with, and its
 * length; ST_FSST_ESCAPE, length 1, if there is none.  word: the next 8
 * bytes, zero padded if fewer remain.
 */
ST_INLINE unsigned
st_fsst_match(const StFsstEncoder *enc, uint64_t word, size_t remaining,
			  unsigned *len)
{
	unsigned	bucket = st_fsst_bucket(word);
	unsigned	code;

	for (unsigned k = enc->start[bucket]; k < enc->start[bucket + 1]; k++)
	{
		if ((word & st_byte_mask(enc->len[k])) == enc->sym[k] &&
			enc->len[k] <= remaining)
		{
			*len = enc->len[k];
			return enc->code[k];
		}
	}
	code = enc->pair[word & 0xffff];
	if (code != ST_FSST_ESCAPE && remaining >= 2)
	{
		*len = 2;
		return code;
	}
	*len = 1;
	return enc->single[word & 0xff];
}

extern void st_fsst_encoder_init(StFsstEncoder *enc, const StFsstTable *table);

/* Writes the string's codes; returns their end, NULL if they pass end. */
extern uint8_t *st_fsst_encode_string(const StFsstEncoder *enc, const StStr *s,
									  uint8_t *out, uint8_t *end);

/* Most bytes that st_fsst_encode needs besides limit. */
extern size_t st_fsst_overhead(int n);

/* ST_NOSPACE if the payload would be larger than limit, or than cap. */
extern StStatus st_fsst_encode(const StFsstTable *table,
							   const StStr *v, int n,
							   uint8_t *dst, size_t cap, size_t limit,
							   size_t *len);
/* Is it plausible that these bytes decode to so many? */
extern StStatus st_fsst_check(const uint8_t *src, size_t len, int n,
							  uint64_t total);
extern StStatus st_fsst_decode(const StFsstTable *table,
							   const uint8_t *src, size_t len, int n,
							   const uint32_t *lens, const uint32_t *off,
							   uint8_t *arena);
/* Writes lens[i] bytes. */
extern StStatus st_fsst_at(const StFsstTable *table,
						   const uint8_t *src, size_t len, int n,
						   const uint32_t *lens, int i, uint8_t *dst);

/* ---- st_fsst_train.c ---- */

/* Builds the table for these strings, of about ST_FSST_SAMPLE bytes at most. */
#define ST_FSST_SAMPLE 16384
extern void st_fsst_train(const StStr *sample, int n, StFsstTable *table);

/* ---- st_alphabet.c ---- */

/*
 * Fills in an alphabet from the strings of a sample; false if they have too
 * many different characters.
 */
extern bool st_alphabet_learn(const StStr *sample, int n, StAlphabet *a);

/* Bits that the string takes; 8 per byte if it does not fit. */
extern uint64_t st_alphabet_measure(const StAlphabet *a, const StStr *s);

/* Checks what was loaded and derives the tables.  False: not an alphabet. */
extern bool st_alphabet_prepare(StAlphabet *a);

extern size_t st_alphabet_overhead(int n);
extern StStatus st_alphabet_encode(const StAlphabet *a,
								   const StStr *v, int n,
								   uint8_t *dst, size_t cap, size_t limit,
								   size_t *len);
extern StStatus st_alphabet_check(const StAlphabet *a,
								  const uint8_t *src, size_t len, int n,
								  const uint32_t *lens);
extern StStatus st_alphabet_decode(const StAlphabet *a,
								   const uint8_t *src, size_t len, int n,
								   const uint32_t *lens, const uint32_t *off,
								   uint8_t *arena);
extern StStatus st_alphabet_at(const StAlphabet *a,
							   const uint8_t *src, size_t len, int n,
							   const uint32_t *lens, int i, uint8_t *dst);

/* The same where all strings have each bytes; ST_NOTFIT: ask st_alphabet_at. */
extern StStatus st_alphabet_even_at(const StAlphabet *a,
									const uint8_t *src, size_t len, int n,
									uint32_t each, int i, uint8_t *dst);

#endif							/* ST_STR_INTERNAL_H */
