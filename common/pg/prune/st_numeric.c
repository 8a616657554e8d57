/*-------------------------------------------------------------------------
 *
 * st_numeric.c
 *	  numeric values as scaled integers and back, byte for byte.
 *
 * numeric's on-disk form is private to the server's numeric.c, but fixed:
 * pg_upgrade carries it from version to version.  It is, behind the varlena
 * header,
 *
 *	 short:  | 1 0 sign(1) dscale(6) weight(7, signed) | digits ...
 *	 long:   | 0 sign(1) dscale(14) | int16 weight     | digits ...
 *	 other:  | 1 1 ...                                 |  NaN, infinities
 *
 * digits are int16, base 10,000, most significant first, the first of them
 * weighing 10000^weight.  Leading and trailing zero digits are stripped;
 * zero has no digits, weight 0 and no sign.  The short form is taken
 * whenever dscale <= 63 and -64 <= weight <= 63.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "st_compat.h"
#include "st_numeric.h"

#define NUM_SIGN_MASK		0xC000
#define NUM_SHORT			0x8000
#define NUM_SPECIAL			0xC000
#define NUM_NEG				0x4000
#define NUM_DSCALE_MASK		0x3FFF
#define NUM_SHORT_NEG		0x2000
#define NUM_SHORT_DSCALE_SHIFT	7
#define NUM_SHORT_DSCALE_MASK	0x1F80
#define NUM_SHORT_WEIGHT_SIGN	0x0040
#define NUM_SHORT_WEIGHT_MASK	0x003F

#define NUM_BASE			10000
#define NUM_BASE_DIGITS		4

/* Base digits of an int128 with up to ST_NUMERIC_MAX_SCALE decimals. */
#define MAX_BASE_DIGITS		24

static const int pow10_small[NUM_BASE_DIGITS] = {1, 10, 100, 1000};

bool
st_numeric_to_int128(Datum num, int128 *value, int *scale)
{
	struct varlena *v = (struct varlena *) DatumGetPointer(num);
	const char *p = VARDATA_ANY(v);
	int			len = VARSIZE_ANY_EXHDR(v);
	uint16		header;
	bool		negative;
	int			dscale,
				weight,
				ndigits,
				frac;
	int128		acc = 0;

	memcpy(&header, p, sizeof(header));
	if ((header & NUM_SIGN_MASK) == NUM_SPECIAL)
		return false;
	if (header & NUM_SHORT)
	{
		negative = (header & NUM_SHORT_NEG) != 0;
		dscale = (header & NUM_SHORT_DSCALE_MASK) >> NUM_SHORT_DSCALE_SHIFT;
		weight = header & NUM_SHORT_WEIGHT_MASK;
		if (header & NUM_SHORT_WEIGHT_SIGN)
			weight |= ~NUM_SHORT_WEIGHT_MASK;
		p += sizeof(uint16);
		len -= sizeof(uint16);
	}
	else
	{
		int16		w;

		negative = (header & NUM_SIGN_MASK) == NUM_NEG;
		dscale = header & NUM_DSCALE_MASK;
		memcpy(&w, p + sizeof(uint16), sizeof(w));
		weight = w;
		p += 2 * sizeof(uint16);
		len -= 2 * sizeof(uint16);
	}
	ndigits = len / (int) sizeof(int16);
	frac = (dscale + NUM_BASE_DIGITS - 1) / NUM_BASE_DIGITS;
	if (dscale > ST_NUMERIC_MAX_SCALE || weight > 9 ||
		ndigits - 1 - weight > frac)
		return false;

	/* digit i of the number weighs 10000^i, from weight down to -frac */
	for (int i = Max(weight, -1); i >= -frac; i--)
	{
		int			at = weight - i;
		int16		digit = 0;

		if (at >= 0 && at < ndigits)
			memcpy(&digit, p + at * sizeof(int16), sizeof(digit));
		if (__builtin_mul_overflow(acc, (int128) NUM_BASE, &acc) ||
			__builtin_add_overflow(acc, (int128) digit, &acc))
			return false;
	}
	if (dscale % NUM_BASE_DIGITS != 0)
	{
		int			drop = pow10_small[NUM_BASE_DIGITS - dscale % NUM_BASE_DIGITS];

		if (acc % drop != 0)
			return false;
		acc /= drop;
	}
	*value = negative ? -acc : acc;
	*scale = dscale;
	return true;
}

/*
 * Stores header and digits.  digits[0 .. n-1] are least significant first,
 * the first one weighing 10000^lowest.
 */
static Size
write_numeric(char *buf, const int16 *digits, int n, int lowest,
			  bool negative, int scale)
{
	int			first = 0,
				weight,
				hdr;
	char	   *p = buf + VARHDRSZ;

	while (n > 0 && digits[n - 1] == 0)
		n--;
	while (first < n && digits[first] == 0)
		first++;
	weight = (n > 0) ? lowest + n - 1 : 0;
	if (n == 0)
		negative = false;

	/* int128 with up to 38 decimals: always within the short form's limits */
	hdr = NUM_SHORT | (negative ? NUM_SHORT_NEG : 0) |
		(scale << NUM_SHORT_DSCALE_SHIFT) |
		(weight < 0 ? NUM_SHORT_WEIGHT_SIGN : 0) |
		(weight & NUM_SHORT_WEIGHT_MASK);
	*(uint16 *) p = (uint16) hdr;
	p += sizeof(uint16);
	for (int i = n - 1; i >= first; i--)
	{
		*(int16 *) p = digits[i];
		p += sizeof(int16);
	}
	SET_VARSIZE(buf, p - buf);
	return p - buf;
}

/*
 * Splits the magnitude u (an unsigned variable of any width, used up) into
 * base digits, least significant first; the lowest one holds what is left of
 * the decimals when scale is no multiple of four.
 */
#define SPLIT_DIGITS(u, scale, digits, n) \
	do { \
		int			partial = (scale) % NUM_BASE_DIGITS; \
\
		if (partial != 0) \
		{ \
			int			unit = pow10_small[partial]; \
\
			(digits)[(n)++] = (int16) ((u) % unit) * \
				pow10_small[NUM_BASE_DIGITS - partial]; \
			(u) /= unit; \
		} \
		for (; (u) != 0; (u) /= NUM_BASE) \
			(digits)[(n)++] = (int16) ((u) % NUM_BASE); \
	} while (0)

/* Weight of the lowest base digit. */
#define LOWEST_WEIGHT(scale) \
	(-(((scale) + NUM_BASE_DIGITS - 1) / NUM_BASE_DIGITS))

Size
st_numeric_write_int64(void *buf, int64 value, int scale)
{
	int16		digits[MAX_BASE_DIGITS];
	int			n = 0;
	uint64		u = value < 0 ? -(uint64) value : (uint64) value;

	SPLIT_DIGITS(u, scale, digits, n);
	return write_numeric(buf, digits, n, LOWEST_WEIGHT(scale), value < 0, scale);
}

Size
st_numeric_write_int128(void *buf, int128 value, int scale)
{
	int16		digits[MAX_BASE_DIGITS];
	int			n = 0;
	uint128		u = value < 0 ? -(uint128) value : (uint128) value;

	SPLIT_DIGITS(u, scale, digits, n);
	return write_numeric(buf, digits, n, LOWEST_WEIGHT(scale), value < 0, scale);
}
