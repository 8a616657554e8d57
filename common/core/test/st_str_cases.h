/*-------------------------------------------------------------------------
 *
 * st_str_cases.h
 *	  Columns of strings that the tests of string encodings are run on: a pool
 *	  of values, and functions that fill it with one kind of value each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_STR_CASES_H
#define ST_STR_CASES_H

#include "st_str.h"
#include "st_test.h"

#define POOL (4 * 1024 * 1024)

static StStr values[ST_VECTOR_SIZE];
static uint8_t pool[POOL];
static size_t pool_used;

static void
reset_values(void)
{
	pool_used = 0;
}

static void
set_value(int i, const void *bytes, size_t len)
{
	if (pool_used + len > POOL)
		abort();
	if (len > 0)
		memcpy(pool + pool_used, bytes, len);
	values[i] = (StStr) {pool + pool_used, (uint32_t) len};
	pool_used += len;
}

/* ---- columns ---- */

typedef size_t (*MakeValue) (char *p, int i);

static size_t
make_hex(char *p, int i)
{
	uint64_t	high = test_random();
	uint64_t	low = test_random();

	(void) i;
	return (size_t) sprintf(p, "%016llx%016llx", (unsigned long long) high,
							(unsigned long long) low);
}

static size_t
make_uuid(char *p, int i)
{
	uint64_t	r = test_random();
	uint64_t	node = test_random() >> 16;

	(void) i;
	return (size_t) sprintf(p, "%08x-%04x-4%03x-a%03x-%012llx", (unsigned) r,
							(unsigned) (r >> 48), (unsigned) (r >> 36 & 0xfff),
							(unsigned) (r >> 52), (unsigned long long) node);
}

static size_t
make_bits(char *p, int i)
{
	size_t		len = test_random_below(40);

	(void) i;
	for (size_t k = 0; k < len; k++)
		p[k] = "01"[test_random() & 1];
	return len;
}

static size_t
make_dna(char *p, int i)
{
	(void) i;
	for (size_t k = 0; k < 25; k++)
		p[k] = "ACGT"[test_random() & 3];
	return 25;
}

static size_t
make_octal(char *p, int i)
{
	uint64_t	r = test_random();

	(void) i;
	r >>= test_random_below(60);
	return (size_t) sprintf(p, "%llo", (unsigned long long) r);
}

static size_t
make_letters(char *p, int i)
{
	size_t		len = test_random_below(30);

	(void) i;
	for (size_t k = 0; k < len; k++)
		p[k] = (char) ('a' + test_random_below(26));
	return len;
}

static size_t
make_base64(char *p, int i)
{
	static const char chars[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t		len = test_random_below(80);

	(void) i;
	for (size_t k = 0; k < len; k++)
		p[k] = chars[test_random() & 63];
	return len;
}

static size_t
make_url(char *p, int i)
{
	unsigned	page = (unsigned) test_random_below(5000);
	unsigned	user = (unsigned) test_random_below(100000);

	(void) i;
	return (size_t) sprintf(p, "https://www.example.org/page/%u?user=%u",
							page, user);
}

static size_t
make_utf8(char *p, int i)
{
	static const char *const words[] = {
		"größe", "straße", "über", "été", "naïve", "日本語", " ", "the "
	};
	size_t		len = 0;

	(void) i;
	for (uint64_t w = test_random_below(12); w > 0; w--)
	{
		strcpy(p + len, words[test_random_below(8)]);
		len += strlen(p + len);
	}
	return len;
}

/* Zero bytes, which padding must not be confused with. */
static size_t
make_zeros(char *p, int i)
{
	size_t		len = test_random_below(20);

	(void) i;
	memset(p, 0, len);
	if (len > 3 && test_random() & 1)
		memcpy(p, "ab\0c", 4);
	return len;
}

static size_t
make_noise(char *p, int i)
{
	size_t		len = test_random_below(40);

	(void) i;
	for (size_t k = 0; k < len; k++)
		p[k] = (char) test_random();
	return len;
}

static size_t
make_empty(char *p, int i)
{
	(void) p;
	(void) i;
	return 0;
}

/* Some long among many short. */
static size_t
make_mixed(char *p, int i)
{
	size_t		len = 0;

	if (i % 100 != 7)
		return make_url(p, i);
	while (len < 3000)
		len += make_url(p + len, i);
	return len;
}

static size_t
make_long(char *p, int i)
{
	size_t		len = 0;

	(void) i;
	for (uint64_t w = 3 + test_random_below(60); w > 0; w--)
		len += make_url(p + len, i);
	return len;
}

static const struct
{
	const char *name;
	MakeValue	make;
	int			kind;			/* expected choice */
	uint32_t	max_permille;	/* of 1024 values, lengths included */
}			columns[] =
{
	{"hex", make_hex, ST_STR_ALPHABET, 505},
	{"uuid", make_uuid, ST_STR_ALPHABET, 420},
	{"bits", make_bits, ST_STR_ALPHABET, 180},
	{"dna", make_dna, ST_STR_ALPHABET, 260},
	{"octal", make_octal, ST_STR_ALPHABET, 470},
	{"letters", make_letters, ST_STR_ALPHABET, 680},
	{"base64", make_base64, ST_STR_ALPHABET, 780},
	{"url", make_url, ST_STR_FSST, 430},
	{"utf8", make_utf8, ST_STR_FSST, 420},
	{"zeros", make_zeros, -1, 1000},
	{"noise", make_noise, ST_STR_RAW, 1060},
	{"empty", make_empty, ST_STR_RAW, 0},
	{"mixed", make_mixed, ST_STR_FSST, 400},
	{"long", make_long, ST_STR_FSST, 400},
};

#define NUM_COLUMNS ((int) (sizeof(columns) / sizeof(columns[0])))

static void
make_column(MakeValue make, int n)
{
	char		buf[8192];

	reset_values();
	for (int i = 0; i < n; i++)
	{
		size_t		len = make(buf, i);

		set_value(i, buf, len);
	}
}

#endif							/* ST_STR_CASES_H */
