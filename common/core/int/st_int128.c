/*-------------------------------------------------------------------------
 *
 * st_int128.c
 *	  Encodings of 128-bit integer vectors.
 *
 *		constant	| 1 | value s |
 *		raw			| 2 | n * 16 bytes |
 *		halves		| 3 | min s | length v of low | low halves | high halves |
 *
 * v = LEB128 varint; s = a byte that counts 0 to 16 bytes, then these, the
 * low ones of the number, the rest repeating their top bit.  The halves of
 * v - min, modulo 2^128, are integer vectors of st_int.h.  So decimals whose
 * spread fits 63 bits cost what int64 values cost, wherever they lie.
 *
 *-------------------------------------------------------------------------
 */
#include "st_bytes.h"
#include "st_int.h"

__extension__ typedef unsigned __int128 Uint128;

enum
{
	INT128_CONSTANT = 1,
	INT128_RAW = 2,
	INT128_HALVES = 3
};

#define VALUE_BYTES ((int) sizeof(StInt128))

/* Room for an int64 vector of any size. */
#define HALF_BOUND (1 + 8 * ST_VECTOR_SIZE + ST_VARINT_MAX)

size_t
st_int128_bound(int n)
{
	return 2 + (size_t) VALUE_BYTES * (size_t) (n > 1 ? n : 1);
}

/* ---- one number in as few bytes as its sign allows ---- */

static void
write_short(StByteWriter *w, StInt128 v)
{
	int			nbytes = v != 0;

	/* the top bit of what is written must be the sign */
	while (nbytes > 0 && nbytes < VALUE_BYTES &&
		   v >> (8 * nbytes - 1) != -(v < 0))
		nbytes++;
	st_write_u8(w, (uint8_t) nbytes);
	st_write_bytes(w, &v, (size_t) nbytes);
}

static StInt128
read_short(StByteReader *r)
{
	int			nbytes = st_read_u8(r);
	const uint8_t *bytes;
	StInt128	v = 0;

	if (nbytes > VALUE_BYTES)
		st_reader_fail(r);
	bytes = st_read_span(r, (uint64_t) nbytes);
	if (bytes == NULL || nbytes == 0)
		return 0;
	if (bytes[nbytes - 1] & 0x80)
		v = -1;
	memcpy(&v, bytes, (size_t) nbytes);
	return v;
}

/* ---- encoding ---- */

static void
write_halves(StByteWriter *w, const StInt128 *v, int n, StInt128 min)
{
	int64_t		half[ST_VECTOR_SIZE];
	uint8_t		bytes[HALF_BOUND];
	size_t		len = 0;
	StStatus	status;

	st_write_u8(w, INT128_HALVES);
	write_short(w, min);
	for (int i = 0; i < n; i++)
		half[i] = (int64_t) (uint64_t) ((Uint128) v[i] - (Uint128) min);
	status = st_int_encode(half, n, bytes, sizeof(bytes), &len);
	if (status == ST_OK)
	{
		st_write_sized(w, bytes, len);
		for (int i = 0; i < n; i++)
			half[i] = (int64_t) (((Uint128) v[i] - (Uint128) min) >> 64);
		status = st_int_encode(half, n, bytes, sizeof(bytes), &len);
		st_write_bytes(w, bytes, len);
	}
	if (status != ST_OK)
		w->status = status;
}

StStatus
st_int128_encode(const StInt128 *v, int n,
				 uint8_t *dst, size_t cap, size_t *len)
{
	size_t		raw_size = 1 + (size_t) n * VALUE_BYTES;
	StInt128	min = n > 0 ? v[0] : 0;
	StInt128	max = min;
	StByteWriter w;

	if (n < 0 || n > ST_VECTOR_SIZE)
		return ST_NOTFIT;
	for (int i = 1; i < n; i++)
	{
		min = v[i] < min ? v[i] : min;
		max = v[i] > max ? v[i] : max;
	}

	/* halves that take as much as raw do not fit */
	st_writer_init(&w, dst, cap < raw_size - 1 || min == max ? cap : raw_size - 1);
	if (min == max)
	{
		st_write_u8(&w, INT128_CONSTANT);
		write_short(&w, min);
	}
	else
	{
		write_halves(&w, v, n, min);
		if (w.status != ST_OK)
		{
			st_writer_init(&w, dst, cap);
			st_write_u8(&w, INT128_RAW);
			st_write_bytes(&w, v, (size_t) n * VALUE_BYTES);
		}
	}
	*len = st_writer_len(&w);
	return w.status;
}

/* ---- decoding ---- */

/* Splits the rest of r, behind the scheme byte, into min and the halves. */
static StStatus
read_halves(StByteReader *r, StInt128 *min, StByteReader *low,
			StByteReader *high)
{
	const uint8_t *low_bytes;
	const uint8_t *high_bytes;
	uint64_t	low_len;
	size_t		high_len;

	*min = read_short(r);
	low_len = st_read_varint(r);
	low_bytes = st_read_span(r, low_len);
	high_bytes = st_read_rest(r, &high_len);
	if (low_bytes == NULL || high_bytes == NULL)
		return ST_CORRUPT;
	st_reader_init(low, low_bytes, low_len);
	st_reader_init(high, high_bytes, high_len);
	return ST_OK;
}

static StStatus
decode_halves(StByteReader *r, int n, StInt128 *dst)
{
	int64_t		half[ST_VECTOR_SIZE];
	StInt128	min;
	StByteReader low;
	StByteReader high;
	StStatus	status;

	if (read_halves(r, &min, &low, &high) != ST_OK)
		return ST_CORRUPT;
	status = st_int_decode(low.p, st_reader_left(&low), n, half);
	if (status != ST_OK)
		return status;
	for (int i = 0; i < n; i++)
		dst[i] = (StInt128) ((Uint128) min + (uint64_t) half[i]);
	status = st_int_decode(high.p, st_reader_left(&high), n, half);
	if (status != ST_OK)
		return status;
	for (int i = 0; i < n; i++)
		dst[i] = (StInt128) ((Uint128) dst[i] +
							 ((Uint128) (uint64_t) half[i] << 64));
	return ST_OK;
}

StStatus
st_int128_decode(const uint8_t *src, size_t len, int n, StInt128 *dst)
{
	const uint8_t *raw;
	StInt128	value;
	StByteReader r;

	if (n < 0 || n > ST_VECTOR_SIZE)
		return ST_CORRUPT;
	st_reader_init(&r, src, len);
	switch (st_read_u8(&r))
	{
		case INT128_CONSTANT:
			value = read_short(&r);
			for (int i = 0; i < n; i++)
				dst[i] = value;
			return st_reader_finish(&r);
		case INT128_RAW:
			raw = st_read_span(&r, (uint64_t) n * VALUE_BYTES);
			if (raw == NULL)
				return ST_CORRUPT;
			memcpy(dst, raw, (size_t) n * VALUE_BYTES);
			return st_reader_finish(&r);
		case INT128_HALVES:
			return decode_halves(&r, n, dst);
		default:
			return ST_CORRUPT;
	}
}

StStatus
st_int128_at(const uint8_t *src, size_t len, int n, int i, StInt128 *out)
{
	StInt128	all[ST_VECTOR_SIZE];
	StByteReader r;
	StByteReader low;
	StByteReader high;
	StInt128	min;
	int64_t		low_half;
	int64_t		high_half;
	StStatus	status;

	if (n < 0 || n > ST_VECTOR_SIZE || i < 0 || i >= n)
		return ST_CORRUPT;
	st_reader_init(&r, src, len);
	if (st_read_u8(&r) != INT128_HALVES)
	{
		status = st_int128_decode(src, len, n, all);
		if (status == ST_OK)
			*out = all[i];
		return status;
	}
	if (read_halves(&r, &min, &low, &high) != ST_OK)
		return ST_CORRUPT;
	status = st_int_at(low.p, st_reader_left(&low), n, i, &low_half);
	if (status == ST_OK)
		status = st_int_at(high.p, st_reader_left(&high), n, i, &high_half);
	if (status == ST_OK)
		*out = (StInt128) ((Uint128) min + (uint64_t) low_half +
						   ((Uint128) (uint64_t) high_half << 64));
	return status;
}
