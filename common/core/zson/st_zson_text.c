/*-------------------------------------------------------------------------
 *
 * st_zson_text.c
 *	  Strings of documents that are numbers, hashes or times in disguise.
 *
 * A form is taken only if writing it back gives the same bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_format.h"

/* Shortest and longest strings that a form is looked for. */
#define MIN_DIGITS 4
#define MAX_DIGITS 19
#define MIN_HEX 8
#define MAX_HEX 254
#define UUID_LEN 36
#define SECONDS_LEN 20
#define MILLIS_LEN 24

static const char hex_digits[] = "0123456789abcdef";

/* Value of a lower-case hexadecimal digit, or 0xff. */
static const uint8_t hex_value[256] = {
#define X10 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, \
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
	X10, X10, X10,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	X10, X10,
	0xff, 10, 11, 12, 13, 14, 15, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	X10, X10, X10, X10, X10, X10, X10, X10, X10
#undef X10
};

/* n bytes from 2n digits; false if there is another character. */
static bool
hex_read(const uint8_t *s, size_t n, uint8_t *dst)
{
	unsigned	bad = 0;

	for (size_t i = 0; i < n; i++)
	{
		unsigned	high = hex_value[s[2 * i]];
		unsigned	low = hex_value[s[2 * i + 1]];

		bad |= high | low;
		dst[i] = (uint8_t) (high << 4 | low);
	}
	return bad < 16;
}

size_t
st_zs_hex_write(const uint8_t *p, size_t n, uint8_t *dst)
{
	for (size_t i = 0; i < n; i++)
	{
		dst[2 * i] = (uint8_t) hex_digits[p[i] >> 4];
		dst[2 * i + 1] = (uint8_t) hex_digits[p[i] & 15];
	}
	return 2 * n;
}

size_t
st_zs_digits_write(uint64_t v, uint8_t *dst)
{
	uint8_t		buf[20];
	size_t		n = 0;

	do
	{
		buf[n++] = (uint8_t) ('0' + v % 10);
		v /= 10;
	} while (v > 0);
	for (size_t i = 0; i < n; i++)
		dst[i] = buf[n - 1 - i];
	return n;
}

static bool
digits_read(const StStr *s, uint64_t *v)
{
	*v = 0;
	if (s->data[0] == '0')
		return false;
	for (uint32_t i = 0; i < s->len; i++)
	{
		unsigned	d = s->data[i] - '0';

		if (d > 9)
			return false;
		*v = *v * 10 + d;		/* 19 digits always fit */
	}
	return true;
}

/* Bytes of a UUID behind which a dash stands. */
#define UUID_DASH(i) ((i) == 3 || (i) == 5 || (i) == 7 || (i) == 9)

size_t
st_zs_uuid_write(const uint8_t *p, uint8_t *dst)
{
	uint8_t    *out = dst;

	for (int i = 0; i < 16; i++)
	{
		out += st_zs_hex_write(p + i, 1, out);
		if (UUID_DASH(i))
			*out++ = '-';
	}
	return (size_t) (out - dst);
}

static bool
uuid_read(const uint8_t *s, uint8_t *dst)
{
	for (int i = 0; i < 16; i++)
	{
		if (!hex_read(s, 1, dst + i))
			return false;
		s += 2;
		if (UUID_DASH(i) && *s++ != '-')
			return false;
	}
	return true;
}

/* Days from 0000-01-01 in the proleptic Gregorian calendar. */
static int64_t
days_of(int y, int m, int d)
{
	static const int before[12] = {
		0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334
	};
	bool		leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
	int64_t		days = 365 * (int64_t) y + (y + 3) / 4 - (y + 99) / 100 +
		(y + 399) / 400;

	return days + before[m - 1] + (leap && m > 2) + d - 1;
}

static void
put_number(uint8_t *dst, int width, unsigned v)
{
	while (width-- > 0)
	{
		dst[width] = (uint8_t) ('0' + v % 10);
		v /= 10;
	}
}

/*
 * The other way round, without loops: in years that begin in March, a leap
 * day is the last one (the method of "chrono-compatible low-level date
 * algorithms", H. Hinnant).
 */
static void
date_of(int64_t days, int *y, int *m, int *d)
{
	int64_t		z = days - 60 + 146097; /* from March 1st of the year -400 */
	int			era = (int) (z / 146097);
	int			in_era = (int) (z % 146097);
	int			year = (in_era - in_era / 1460 + in_era / 36524 -
						in_era / 146096) / 365;
	int			in_year = in_era - (365 * year + year / 4 - year / 100);
	int			month = (5 * in_year + 2) / 153;

	*d = in_year - (153 * month + 2) / 5 + 1;
	*m = month < 10 ? month + 3 : month - 9;
	*y = year + 400 * (era - 1) + (*m <= 2);
}

size_t
st_zs_time_write(int64_t v, bool ms, uint8_t *dst)
{
	int64_t		seconds = ms ? v / 1000 : v;
	int64_t		days = seconds / 86400;
	unsigned	rest = (unsigned) (seconds % 86400);
	int			y;
	int			m;
	int			d;

	date_of(days, &y, &m, &d);
	memcpy(dst, "0000-00-00T00:00:00.000Z", MILLIS_LEN);
	put_number(dst, 4, (unsigned) y);
	put_number(dst + 5, 2, (unsigned) m);
	put_number(dst + 8, 2, (unsigned) d);
	put_number(dst + 11, 2, rest / 3600);
	put_number(dst + 14, 2, rest / 60 % 60);
	put_number(dst + 17, 2, rest % 60);
	if (ms)
		put_number(dst + 20, 3, (unsigned) (v % 1000));
	else
		dst[19] = 'Z';
	return ms ? MILLIS_LEN : SECONDS_LEN;
}

/* Number of width digits at p, -1 if there is another character. */
static int
get_number(const uint8_t *p, int width)
{
	int			v = 0;

	while (width-- > 0)
	{
		unsigned	d = *p++ - '0';

		if (d > 9)
			return -1;
		v = v * 10 + (int) d;
	}
	return v;
}

static bool
time_read(const StStr *s, bool ms, int64_t *v)
{
	const uint8_t *p = s->data;
	int			y = get_number(p, 4);
	int			mon = get_number(p + 5, 2);
	int			d = get_number(p + 8, 2);
	int			h = get_number(p + 11, 2);
	int			min = get_number(p + 14, 2);
	int			sec = get_number(p + 17, 2);
	int			frac = ms ? get_number(p + 20, 3) : 0;
	uint8_t		again[MILLIS_LEN];

	if (y < 0 || mon < 1 || mon > 12 || d < 1 || d > 31 || h < 0 || h > 23 ||
		min < 0 || min > 59 || sec < 0 || sec > 59 || frac < 0)
		return false;
	*v = days_of(y, mon, d) * 86400 + h * 3600 + min * 60 + sec;
	if (*v > ZS_MAX_SECONDS)
		return false;
	if (ms)
		*v = *v * 1000 + frac;
	return st_zs_time_write(*v, ms, again) == s->len &&
		memcmp(again, p, s->len) == 0;
}

/* payload NULL: it is in place. */
static bool
set_form(ZsForm *form, int tag, const void *payload, size_t n)
{
	form->tag = (uint8_t) tag;
	form->n = (uint8_t) n;
	if (payload != NULL)
		memcpy(form->payload, payload, n);
	return true;
}

/* 2n hexadecimal digits, by the tag of their number if it has one. */
static bool
hex_form(const uint8_t *s, size_t n, ZsForm *form)
{
	static const uint8_t usual[ZS_NHASHES] = {4, 6, 8, 10, 12, 16, 20, 32};
	int			i = 0;

	if (!hex_read(s, n, form->payload + 1))
		return false;
	while (i < ZS_NHASHES && usual[i] != n)
		i++;
	if (i < ZS_NHASHES)
	{
		memmove(form->payload, form->payload + 1, n);
		return set_form(form, ZS_HASH + i, NULL, n);
	}
	form->payload[0] = (uint8_t) n;
	return set_form(form, ZS_HEX, NULL, 1 + n);
}

bool
st_zs_form_find(const StStr *s, ZsForm *form)
{
	const uint8_t *p = s->data;
	uint32_t	len = s->len;
	int64_t		time;
	uint64_t	v;

	if (len < MIN_DIGITS || len > MAX_HEX)
		return false;
	if (len <= MAX_DIGITS && p[0] <= '9' && p[len - 1] <= '9' &&
		digits_read(s, &v))
	{
		StByteWriter w;

		st_writer_init(&w, form->payload, sizeof(form->payload));
		st_write_varint(&w, v);
		return set_form(form, ZS_DIGITS, NULL, st_writer_len(&w));
	}
	if (len == UUID_LEN && p[8] == '-' && uuid_read(p, form->payload))
		return set_form(form, ZS_UUID, NULL, 16);
	if (len == SECONDS_LEN && p[10] == 'T' && p[19] == 'Z' &&
		time_read(s, false, &time))
		return set_form(form, ZS_SECONDS, &time, 5);
	if (len == MILLIS_LEN && p[10] == 'T' && p[23] == 'Z' &&
		time_read(s, true, &time) && time < INT64_C(1) << 48)
		return set_form(form, ZS_MILLIS, &time, 6);
	return len >= MIN_HEX && len % 2 == 0 && hex_form(p, len / 2, form);
}
