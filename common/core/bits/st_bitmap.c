/*-------------------------------------------------------------------------
 *
 * st_bitmap.c
 *	  Encoding and decoding of bit vectors.
 *
 *		none	| 1 |
 *		all		| 2 |
 *		raw		| 3 | ceil(n / 8) bytes, low bits first, rest of the last 0 |
 *		runs	| 4 | run lengths v |
 *		set		| 5 | gaps v before set bits |
 *		unset	| 6 | gaps v before unset bits |
 *
 * v = LEB128 varint.  Runs alternate and begin with unset bits, so that the
 * first may be empty; the last, which reaches n, is not written.  A gap is
 * the number of other bits since the previous such bit.  Lists end where
 * the bytes end.
 *
 *-------------------------------------------------------------------------
 */
#include "st_bitmap.h"

#include "st_bytes.h"

/* Raw: scheme byte and all bits. */
#define RAW_SIZE_MAX (1 + ST_VECTOR_SIZE / 8)

size_t
st_bitmap_bound(int n)
{
	return 1 + ((size_t) n + 7) / 8;
}

void
st_bitmap_fill(uint64_t *words, int n)
{
	memset(words, 0, ST_BITMAP_WORDS * sizeof(uint64_t));
	memset(words, 0xff, (size_t) (n / 64) * sizeof(uint64_t));
	if (n % 64 != 0)
		words[n / 64] = (UINT64_C(1) << (n % 64)) - 1;
}

int
st_bitmap_popcount(const uint64_t *words, int n)
{
	int			count = 0;

	for (int i = 0; i < n / 64; i++)
		count += __builtin_popcountll(words[i]);
	if (n % 64 != 0)
		count += __builtin_popcountll(words[n / 64] << (64 - n % 64));
	return count;
}

/* First bit at or behind i whose value is bit; n if there is none. */
static int
next_bit(const uint64_t *words, int n, int i, bool bit)
{
	while (i < n)
	{
		uint64_t	word = bit ? words[i / 64] : ~words[i / 64];

		word >>= i % 64;
		if (word != 0)
		{
			i += __builtin_ctzll(word);
			return i < n ? i : n;
		}
		i = (i / 64 + 1) * 64;
	}
	return n;
}

/* Sets bits from .. to - 1. */
static void
set_range(uint64_t *words, int from, int to)
{
	while (from < to)
	{
		int			last = (from / 64 + 1) * 64;
		int			count;

		if (last > to)
			last = to;
		count = last - from;
		words[from / 64] |= (UINT64_MAX >> (64 - count)) << (from % 64);
		from = last;
	}
}

/* ---- encoding ---- */

/* The lists: runs end where the bits change, gaps at a bit of their kind. */
static void
write_list(StByteWriter *w, const uint64_t *words, int n, int scheme)
{
	bool		runs = scheme == ST_BITMAP_RUNS;
	bool		bit = scheme != ST_BITMAP_UNSET;
	int			from = 0;

	st_write_u8(w, (uint8_t) scheme);
	while (w->status == ST_OK)
	{
		int			to = next_bit(words, n, from, bit);

		if (to == n)
			break;
		st_write_varint(w, (uint64_t) (to - from));
		from = runs ? to : to + 1;
		bit ^= runs;
	}
}

static void
write_raw(StByteWriter *w, const uint64_t *words, int n)
{
	uint8_t    *bytes;

	st_write_u8(w, ST_BITMAP_RAW);
	bytes = st_write_span(w, ((size_t) n + 7) / 8);
	if (bytes == NULL)
		return;
	memcpy(bytes, words, ((size_t) n + 7) / 8);
	if (n % 8 != 0)
		bytes[n / 8] &= (uint8_t) ((1 << (n % 8)) - 1);
}

StStatus
st_bitmap_encode(const uint64_t *words, int n,
				 uint8_t *dst, size_t cap, size_t *len)
{
	uint8_t		best[RAW_SIZE_MAX];
	size_t		best_len;
	int			nset;

	if (n < 0 || n > ST_VECTOR_SIZE)
		return ST_NOTFIT;
	nset = st_bitmap_popcount(words, n);
	if (nset == 0 || nset == n)
	{
		best[0] = nset == 0 ? ST_BITMAP_NONE : ST_BITMAP_ALL;
		best_len = 1;
	}
	else
	{
		best_len = st_bitmap_bound(n) + 1;
		/* each gets one byte less than the best so far: it fits or loses */
		for (int scheme = ST_BITMAP_RAW; scheme <= ST_BITMAP_UNSET; scheme++)
		{
			uint8_t		bytes[RAW_SIZE_MAX];
			StByteWriter w;

			st_writer_init(&w, bytes, best_len - 1);
			if (scheme == ST_BITMAP_RAW)
				write_raw(&w, words, n);
			else
				write_list(&w, words, n, scheme);
			if (w.status == ST_OK)
			{
				best_len = st_writer_len(&w);
				memcpy(best, bytes, best_len);
			}
		}
	}
	if (best_len > cap)
		return ST_NOSPACE;
	memcpy(dst, best, best_len);
	*len = best_len;
	return ST_OK;
}

/* ---- decoding ---- */

static StStatus
read_raw(StByteReader *r, int n, uint64_t *words)
{
	size_t		size = ((size_t) n + 7) / 8;
	const uint8_t *bytes = st_read_span(r, size);

	if (bytes == NULL)
		return ST_CORRUPT;
	if (n % 8 != 0 && bytes[size - 1] >> (n % 8) != 0)
		return ST_CORRUPT;
	memcpy(words, bytes, size);
	return st_reader_finish(r);
}

static StStatus
read_runs(StByteReader *r, int n, uint64_t *words)
{
	bool		bit = false;
	int			from = 0;

	while (st_reader_left(r) > 0)
	{
		uint64_t	length = st_read_varint(r);

		if (r->status != ST_OK || length >= (uint64_t) (n - from) ||
			(length == 0 && (bit || from > 0)))
			return ST_CORRUPT;
		if (bit)
			set_range(words, from, from + (int) length);
		from += (int) length;
		bit = !bit;
	}
	if (bit)
		set_range(words, from, n);
	return ST_OK;
}

static StStatus
read_gaps(StByteReader *r, int n, bool bit, uint64_t *words)
{
	int			at = 0;

	if (!bit)
		st_bitmap_fill(words, n);
	while (st_reader_left(r) > 0)
	{
		uint64_t	gap = st_read_varint(r);

		if (r->status != ST_OK || gap >= (uint64_t) (n - at))
			return ST_CORRUPT;
		at += (int) gap;
		if (bit)
			st_bitmap_set(words, at);
		else
			st_bitmap_clear(words, at);
		at++;
	}
	return ST_OK;
}

StStatus
st_bitmap_decode(const uint8_t *src, size_t len, int n, uint64_t *words)
{
	StByteReader r;

	if (n < 0 || n > ST_VECTOR_SIZE)
		return ST_CORRUPT;
	st_reader_init(&r, src, len);
	memset(words, 0, ST_BITMAP_WORDS * sizeof(uint64_t));
	switch (st_read_u8(&r))
	{
		case ST_BITMAP_NONE:
			return st_reader_finish(&r);
		case ST_BITMAP_ALL:
			st_bitmap_fill(words, n);
			return st_reader_finish(&r);
		case ST_BITMAP_RAW:
			return read_raw(&r, n, words);
		case ST_BITMAP_RUNS:
			return read_runs(&r, n, words);
		case ST_BITMAP_SET:
			return read_gaps(&r, n, true, words);
		case ST_BITMAP_UNSET:
			return read_gaps(&r, n, false, words);
		default:
			return ST_CORRUPT;
	}
}
