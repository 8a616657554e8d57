/*-------------------------------------------------------------------------
 *
 * st_str.h
 *	  Encodings for vectors of byte strings.
 *
 * A scheme is chosen once per column chunk from a sample, saved beside the
 * chunk, and used for each vector of up to ST_VECTOR_SIZE strings (0 bytes to
 * 1 GB each).  Every scheme takes every string: what does not suit it is
 * stored raw within the vector.  Nothing is null here; pass nulls as strings
 * of length 0 or leave them out.
 *
 *	ST_STR_RAW		bytes as they are
 *	ST_STR_FSST		up to 255 symbols of 1 to 8 bytes (Boncz, Neumann, Leis,
 *					"FSST: Fast Random Access String Compression", VLDB 2020)
 *	ST_STR_ALPHABET up to 64 different characters at 1 to 6 bits each, and
 *					optionally a template of characters that are the same at
 *					the same place of every string (the dashes of a UUID)
 *
 * Lengths go through st_int_encode(), payload follows.  A vector's layout is
 * in st_str.c, the payloads' in st_fsst.c and st_alphabet.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_STR_H
#define ST_STR_H

#include "st_core.h"

/* Numbers are on disk. */
enum StStrKind
{
	ST_STR_RAW = 0,
	ST_STR_FSST = 1,
	ST_STR_ALPHABET = 2
};

#define ST_FSST_MAX_SYMBOLS 255
#define ST_ALPHABET_MAX_CHARS 64
#define ST_ALPHABET_MAX_TEMPLATE 64

/* Longest value: 1 GB, as PostgreSQL's. */
#define ST_STR_MAX_LEN ((uint32_t) 1 << 30)

/* FSST's symbol table: code i stands for the first len[i] bytes of sym[i]. */
typedef struct StFsstTable
{
	uint32_t	nsym;
	uint64_t	sym[256];		/* bytes in memory order, zero padded */
	uint8_t		len[256];		/* 0 for codes that are not used */
} StFsstTable;

typedef struct StAlphabet
{
	uint8_t		nchars;
	uint8_t		bits;			/* per character, 1 .. 6 */
	uint8_t		template_len;	/* 0: no template */
	uint64_t	template_fixed; /* bit i: place i holds template[i] */
	uint8_t		chars[ST_ALPHABET_MAX_CHARS];	/* ascending */
	uint8_t		template[ST_ALPHABET_MAX_TEMPLATE];
	/* derived, not saved: */
	uint8_t		code[256];		/* of a byte; 255 = not in the alphabet */
	uint16_t	pair[4096];		/* two characters of 2 * bits bits */
} StAlphabet;

/*
 * A scheme: about 13 kB, no pointers, may be copied and kept anywhere.
 * Filled by st_str_choose(), st_str_scheme_raw() or st_str_scheme_load().
 */
typedef struct StStrScheme
{
	int			kind;			/* StStrKind */
	/* of st_str_choose(): estimated payload per 1000 bytes of raw payload */
	uint32_t	estimate_permille;
	union
	{
		StFsstTable fsst;
		StAlphabet	alphabet;
	}			u;
} StStrScheme;

/*
 * Picks a scheme by looking at the n strings of a sample, a few thousand
 * values from all over the chunk (entries with data NULL are skipped).  At
 * most about 64 kB of them are looked at.  Uses about 400 kB of stack.
 */
extern void st_str_choose(const StStr *sample, int n, StStrScheme *scheme);

/* The scheme for no knowledge: raw. */
extern void st_str_scheme_raw(StStrScheme *scheme);

/* "raw", "fsst", "alphabet". */
extern const char *st_str_scheme_name(const StStrScheme *scheme);

/* Saves the scheme; returns its length, 0 if cap is too small. */
extern size_t st_str_scheme_save(const StStrScheme *scheme,
								 uint8_t *dst, size_t cap);

/* Largest saved length of any scheme. */
extern size_t st_str_scheme_bound(void);

/* ST_CORRUPT, or ST_UNSUPPORTED for a kind of the future. */
extern StStatus st_str_scheme_load(const uint8_t *src, size_t len,
								   StStrScheme *scheme);

/* Largest encoded size of these n strings. */
extern size_t st_str_bound(const StStrScheme *scheme, const StStr *v, int n);

/*
 * Encodes n (0 .. ST_VECTOR_SIZE) strings.  ST_NOSPACE: cap is too small
 * (st_str_bound() never is; the result alone may be, as some working room is
 * needed).  ST_NOTFIT: n is out of range or a string is longer than
 * ST_STR_MAX_LEN.
 */
extern StStatus st_str_encode(const StStrScheme *scheme,
							  const StStr *v, int n,
							  uint8_t *dst, size_t cap, size_t *len);

/*
 * Decodes all n strings (n as given to st_str_encode).  Value i's bytes go to
 * arena + off[i], lens[i] of them, with room free bytes in front; arena
 * position off[i] - room is a multiple of align (a power of 2; arena itself
 * should be that aligned).  st_str_decoded_size() tells the arena's size,
 * some slack included because decoders write in words: bytes between and
 * behind the values are undefined, also those that an earlier call filled.
 *
 * ST_CORRUPT; ST_NOSPACE: the arena would be, or is, too small or larger than
 * 4 GB (then decode value by value).
 */
extern StStatus st_str_decoded_size(const StStrScheme *scheme,
									const uint8_t *src, size_t len, int n,
									uint32_t room, uint32_t align,
									size_t *arena);
extern StStatus st_str_decode(const StStrScheme *scheme,
							  const uint8_t *src, size_t len, int n,
							  uint32_t room, uint32_t align,
							  uint8_t *arena, size_t cap,
							  uint32_t *off, uint32_t *lens);

/*
 * Decodes value i alone: the lengths of all are decoded, the payload of the
 * others is not (FSST: at most that of 15 short neighbours is skipped over).
 * Writes exactly *outlen bytes.  dst NULL: only the length.  ST_NOSPACE
 * (*outlen is set): longer than cap.
 */
extern StStatus st_str_at(const StStrScheme *scheme,
						  const uint8_t *src, size_t len, int n, int i,
						  uint8_t *dst, size_t cap, uint32_t *outlen);

#endif							/* ST_STR_H */
