/*-------------------------------------------------------------------------
 *
 * st_zson_number.c
 *	  Numbers of documents: from the server's numeric to an integer with a
 *	  scale, and back byte for byte.
 *
 * A numeric's payload is a header of 2 bytes (short) or 4 (long) and digits
 * of base 10,000, two bytes each, without zeros at either end:
 *
 *		short		1 0 sign:1 scale:6 weight:7 (two's complement)
 *		long		sign:2 scale:14, weight i16
 *		special		1 1 ... (NaN, infinities: not in JSON)
 *
 * The weight is that of the first digit.  Whatever would not come back as the
 * same bytes keeps its payload.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_format.h"

#define BASE 10000
#define MAX_SCALE 63			/* of the short header */

typedef struct Numeric
{
	bool		negative;
	int			scale;
	int			weight;
	size_t		ndigits;
	const uint8_t *digits;
	bool		is_short;
} Numeric;

static bool
parse(const uint8_t *p, size_t len, Numeric *n)
{
	unsigned	header;

	if (len < 2 || len % 2 != 0)
		return false;
	header = st_load_u16(p);
	n->is_short = (header & 0xc000) == 0x8000;
	if (n->is_short)
	{
		n->negative = (header & 0x2000) != 0;
		n->scale = (header >> 7) & 0x3f;
		n->weight = (int) (header & 0x3f) - (int) (header & 0x40);
		n->digits = p + 2;
		n->ndigits = (len - 2) / 2;
		return true;
	}
	if ((header & 0xc000) == 0xc000 || len < 4)
		return false;
	n->negative = (header & 0xc000) != 0;
	n->scale = header & 0x3fff;
	n->weight = (int16_t) st_load_u16(p + 2);
	n->digits = p + 4;
	n->ndigits = (len - 4) / 2;
	return true;
}

bool
st_zson_numeric_valid(const uint8_t *p, size_t len)
{
	Numeric		n;
	unsigned	last;

	if (!parse(p, len, &n))
		return false;
	for (size_t i = 0; i < n.ndigits; i++)
	{
		if (st_load_u16(n.digits + 2 * i) >= BASE)
			return false;
	}
	/* what make_result() and the parser keep to */
	if (n.ndigits == 0)
		return n.weight == 0 && !n.negative;
	last = st_load_u16(n.digits + 2 * (n.ndigits - 1));
	if (st_load_u16(n.digits) == 0 || last == 0)
		return false;
	/* no digit stands behind the scale, where no output would show it */
	for (int drop = 4 * ((int) n.ndigits - 1 - n.weight) - n.scale; drop > 0;
		 drop--)
	{
		if (last % 10 != 0)
			return false;
		last /= 10;
	}
	return last != 0;
}

/* m * 10^e exactly; false if that is no int64. */
static bool
scale_by(int64_t *m, int e)
{
	while (e > 0)
	{
		if (__builtin_mul_overflow(*m, 10, m))
			return false;
		e--;
	}
	while (e < 0)
	{
		if (*m % 10 != 0)
			return false;
		*m /= 10;
		e++;
	}
	return true;
}

bool
st_zson_numeric_read(const uint8_t *p, size_t len, int64_t *num, int *scale)
{
	Numeric		n;
	int64_t		m = 0;
	uint8_t		again[ST_ZSON_NUMERIC_MAX];

	if (!parse(p, len, &n) || !n.is_short || n.ndigits > 10)
		return false;
	for (size_t i = 0; i < n.ndigits; i++)
	{
		/* digits beyond the scale are zeros of the last one */
		if (n.scale < 4 * ((int) i - n.weight) &&
			i + 1 == n.ndigits)
		{
			int			drop = 4 * ((int) i - n.weight) - n.scale;
			int64_t		d = st_load_u16(n.digits + 2 * i);

			if (drop >= 4 || !scale_by(&d, -drop))
				return false;
			for (int k = drop; k < 4; k++)
			{
				if (__builtin_mul_overflow(m, 10, &m))
					return false;
			}
			if (__builtin_add_overflow(m, d, &m))
				return false;
			goto done;
		}
		if (__builtin_mul_overflow(m, BASE, &m) ||
			__builtin_add_overflow(m, st_load_u16(n.digits + 2 * i), &m))
			return false;
	}
	if (m != 0 &&
		!scale_by(&m, 4 * (n.weight - (int) n.ndigits + 1) + n.scale))
		return false;
done:
	*num = n.negative ? -m : m;
	*scale = n.scale;
	return st_zson_numeric_write(*num, *scale, again) == len &&
		memcmp(again, p, len) == 0;
}

size_t
st_zson_numeric_write(int64_t num, int scale, uint8_t *dst)
{
	unsigned __int128 v;
	uint16_t	digits[16];
	int			n = 0;
	int			first = 0;
	int			fraction = (scale + 3) / 4; /* digits behind the point */
	int			weight;
	unsigned	header;

	v = num < 0 ? (unsigned __int128) 0 - (unsigned __int128) num :
		(unsigned __int128) num;
	for (int k = scale; k < 4 * fraction; k++)
		v *= 10;
	for (; v > UINT64_MAX; v /= BASE)
		digits[n++] = (uint16_t) (v % BASE);
	for (uint64_t low = (uint64_t) v; low > 0; low /= BASE)
		digits[n++] = (uint16_t) (low % BASE);
	while (first < n && digits[first] == 0)
		first++;
	weight = n == 0 ? 0 : n - fraction - 1;
	header = 0x8000 | (unsigned) scale << 7 |
		(num < 0 ? 0x2000 : 0) | ((unsigned) weight & 0x7f);
	st_store_u16(dst, (uint16_t) header);
	for (int i = n - 1; i >= first; i--)
		st_store_u16(dst + 2 * (n - i), digits[i]);
	return 2 + 2 * (size_t) (n - first);
}

/* Bytes of a number, at least one. */
static unsigned
byte_width(uint64_t v)
{
	return (unsigned) (71 - __builtin_clzll(v | 1)) / 8;
}

static void
write_low_bytes(StByteWriter *w, uint64_t v, unsigned n)
{
	st_write_bytes(w, &v, n);
}

static void
write_integer(StByteWriter *w, int64_t num)
{
	if (num >= 0 && num < 32)
		st_write_u8(w, (uint8_t) (ZS_INT + num));
	else if (num >= 0)
	{
		unsigned	n = byte_width((uint64_t) num);

		st_write_u8(w, (uint8_t) (ZS_POS + n - 1));
		write_low_bytes(w, (uint64_t) num, n);
	}
	else
	{
		uint64_t	v = ~(uint64_t) num;
		unsigned	n = byte_width(v);
		int			k = n <= 1 ? 0 : n <= 2 ? 1 : n <= 4 ? 2 : 3;

		st_write_u8(w, (uint8_t) (ZS_NEG1 + k));
		write_low_bytes(w, v, 1u << k);
	}
}

/* The one form of each number. */
static void
write_number(StByteWriter *w, int64_t num, int scale)
{
	if (scale == 0)
		write_integer(w, num);
	else if (scale <= 3 && num >= 0 && (uint64_t) num <= UINT32_MAX)
	{
		unsigned	n = byte_width((uint64_t) num);

		st_write_u8(w, (uint8_t) (ZS_DEC + 4 * (scale - 1) + n - 1));
		write_low_bytes(w, (uint64_t) num, n);
	}
	else
	{
		st_write_u8(w, ZS_DECIMAL);
		st_write_u8(w, (uint8_t) scale);
		st_write_zigzag(w, num);
	}
}

bool
st_zs_put_numeric(StByteWriter *w, const uint8_t *numeric, size_t len)
{
	int64_t		num;
	int			scale;

	if (st_zson_numeric_read(numeric, len, &num, &scale))
		write_number(w, num, scale);
	else if (st_zson_numeric_valid(numeric, len))
	{
		st_write_u8(w, ZS_NUMERIC);
		st_write_sized(w, numeric, len);
	}
	else
		return false;
	return true;
}

StStatus
st_zson_encode_number(const uint8_t *numeric, size_t len,
					  uint8_t *dst, size_t cap, size_t *outlen)
{
	StByteWriter w;

	st_writer_init(&w, dst, cap);
	if (!st_zs_put_numeric(&w, numeric, len))
		return ST_NOTFIT;
	*outlen = st_writer_len(&w);
	return w.status;
}
