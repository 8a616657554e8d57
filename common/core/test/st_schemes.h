/*-------------------------------------------------------------------------
 *
 * st_schemes.h
 *	  Names of the schemes that encoders have chosen.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_SCHEMES_H
#define ST_SCHEMES_H

#include "st_bitmap.h"
#include "st_bytes.h"
#include "st_float_internal.h"
#include "st_int.h"

/* A program uses a part of them. */
#define CASE_UNUSED __attribute__((unused))

/* "unknown" for damaged bytes. */
static CASE_UNUSED const char *
st_bitmap_scheme_name(const uint8_t *src, size_t len)
{
	static const char *const names[] = {
		[ST_BITMAP_NONE] = "none",
		[ST_BITMAP_ALL] = "all",
		[ST_BITMAP_RAW] = "raw",
		[ST_BITMAP_RUNS] = "rle",
		[ST_BITMAP_SET] = "positions",
		[ST_BITMAP_UNSET] = "positions of unset"
	};

	if (len == 0 || src[0] < ST_BITMAP_NONE || src[0] > ST_BITMAP_UNSET)
		return "unknown";
	return names[src[0]];
}

/* "unknown" for damaged bytes. */
static CASE_UNUSED const char *
st_int_scheme_name(const uint8_t *src, size_t len)
{
	static const char *const names[] = {
		[ST_INT_CONSTANT] = "constant",
		[ST_INT_RAW] = "raw",
		[ST_INT_FOR] = "for",
		[ST_INT_PFOR] = "patched for",
		[ST_INT_DELTA] = "delta",
		[ST_INT_DELTA2] = "delta of delta",
		[ST_INT_RLE] = "rle",
		[ST_INT_DICT] = "dictionary"
	};
	static const char *const gcd_names[] = {
		[ST_INT_CONSTANT] = "gcd constant",
		[ST_INT_RAW] = "gcd raw",
		[ST_INT_FOR] = "gcd for",
		[ST_INT_PFOR] = "gcd patched for",
		[ST_INT_DELTA] = "gcd delta",
		[ST_INT_DELTA2] = "gcd delta of delta",
		[ST_INT_DICT] = NULL	/* does not nest */
	};
	const char *const *table = names;
	const char *name = NULL;
	StByteReader r;
	int			scheme;

	st_reader_init(&r, src, len);
	scheme = st_read_u8(&r);
	if (scheme == ST_INT_GCD)
	{
		table = gcd_names;
		(void) st_read_varint(&r);
		(void) st_read_varint(&r);
		scheme = st_read_u8(&r);
	}
	if (scheme <= ST_INT_DICT)
		name = table[scheme];
	return name ? name : "unknown";
}

/* "corrupt" for damaged bytes. */
static CASE_UNUSED const char *
st_float_scheme_name(const uint8_t *src, size_t len)
{
	switch (len > 0 ? src[0] : 0)
	{
		case ST_FLOAT_CONSTANT:
			return "constant";
		case ST_FLOAT_RAW:
			return "raw";
		case ST_FLOAT_ALP:
			return "alp";
		case ST_FLOAT_ALPRD:
			return "alprd";
		default:
			return "corrupt";
	}
}

#endif							/* ST_SCHEMES_H */
