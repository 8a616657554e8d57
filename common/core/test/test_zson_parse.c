/*-------------------------------------------------------------------------
 *
 * test_zson_parse.c
 *	  JSON text to images: what is taken, what is left to the server, and
 *	  the image's bytes.
 *
 * That the images are the server's own is tested with the server, against
 * jsonb's text.
 *
 *-------------------------------------------------------------------------
 */
#include "st_test.h"

#include <stdlib.h>

#include "st_jsonb.h"
#include "st_zson.h"

/* Parses a copy without a byte behind it, so that sanitizers see its end. */
static StStatus
parse(const char *text, uint8_t *image, size_t *len)
{
	size_t		n = strlen(text);
	size_t		cap = st_zson_parse_bound(n);
	uint8_t    *copy = malloc(n ? n : 1);
	void	   *work = malloc(cap);
	const uint8_t *at;
	StStatus	status;

	memcpy(copy, text, n);
	status = st_zson_parse(copy, n, work, cap, &at, len);
	if (status == ST_OK)
	{
		CHECK(st_jsonb_check(at, *len, 100) == ST_OK);
		memcpy(image, at, *len);
	}
	free(copy);
	free(work);
	return status;
}

static void
test_taken(void)
{
	static const char *const taken[] = {
		"{}", "[]", " [ ] ", "[1]", "[0.50,-1,999999999999999999]",
		"{\"a\":{\"b\":[null,true,false]}}", "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]",
		"\t{\"x\" : \"\xc3\xa4\" }\n", "[[[[[]]]]]", "[\"0123456\\n789\"]"
	};
	static const char *const left[] = {
		"", " ", "1", "\"a\"", "null", "[1e5]", "[-0]", "[01]", "[1.]", "[.5]",
		"[-]", "[1234567890123456789]", "[12345678901234567890123]",
		"[\"\\u0041\"]", "[\"\\x\"]", "[\"a]", "[\"a\\", "[\"\n\"]", "[1,]",
		"[,1]", "[1 2]", "[tru]", "[truex]", "{\"a\"}", "{\"a\":}", "{1:2}",
		"{\"a\":1,}", "[1]x", "[1", "{", "[1.2.3]", "[1}", "{\"a\" 1}"
	};
	uint8_t		image[4096];
	size_t		len;

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		CHECK_MSG(parse(taken[i], image, &len) == ST_OK, "%s", taken[i]);
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		CHECK_MSG(parse(left[i], image, &len) == ST_NOTFIT, "%s", left[i]);
}

/* Keys by length, the last of equal ones, numbers aligned. */
static void
test_image(void)
{
	static const char text[] =
		"{\"bb\":1,\"a\":\"x\",\"c\":2.5,\"a\":\"yy\",\"bb\":[true]}";
	static const uint32_t entries[] = {
		0x20000003,
		0x80000001, 1, 2,		/* a, c, bb */
		/* what aligns a value belongs to it */
		2, 0x10000000 | (2 + 10), 0x50000000 | (2 + 8)
	};
	uint8_t		expected[28 + 4 + 2 + 2 + 10 + 2 + 8] = {0};
	uint8_t		image[4096];
	uint8_t    *p = expected;
	size_t		len;

	memcpy(p, entries, sizeof(entries));
	p += sizeof(entries);
	memcpy(p, "acbbyy", 6);
	p += 8;
	st_store_u32(p, 10 << 2);
	st_store_u16(p + 4, 0x8000 | 1 << 7);
	st_store_u16(p + 6, 2);
	st_store_u16(p + 8, 5000);
	p += 12;
	st_store_u32(p, 0x40000001);
	st_store_u32(p + 4, 0xb0000000);
	p += 8;
	CHECK(parse(text, image, &len) == ST_OK);
	CHECK(len == (size_t) (p - expected));
	CHECK(memcmp(image, expected, len) == 0);
}

/* The deepest that is taken, and work space that is too small. */
static void
test_limits(void)
{
	char		text[200];
	uint8_t		image[4096];
	size_t		len;
	const uint8_t *at;
	uint64_t	work[200];

	for (int depth = 1; depth <= 70; depth++)
	{
		memset(text, '[', (size_t) depth);
		memset(text + depth, ']', (size_t) depth);
		text[2 * depth] = '\0';
		CHECK(parse(text, image, &len) == (depth <= 64 ? ST_OK : ST_NOTFIT));
	}
	CHECK(st_zson_parse_bound(100) > sizeof(work));
	CHECK(st_zson_parse((const uint8_t *) text, 100, work, sizeof(work), &at,
						&len) == ST_NOTFIT);
}

/* Objects of many keys, in any order, some of them twice. */
static void
test_many_keys(void)
{
	char	   *text = malloc(100000);
	uint8_t    *image = malloc(400000);
	StJsonb		c;
	size_t		len;

	for (unsigned n = 1; n < 400; n += 7)
	{
		size_t		used = 0;

		text[used++] = '{';
		for (unsigned i = 0; i < n; i++)
			used += (size_t) sprintf(text + used, "%s\"k%u\":%u",
									 i ? "," : "", i * 7919 % n % 100, i);
		text[used++] = '}';
		text[used] = '\0';
		CHECK(parse(text, image, &len) == ST_OK);
		CHECK(st_jsonb_open(image, len, &c) == ST_OK &&
			  c.count == (n < 100 ? n : 100));
	}
	free(text);
	free(image);
}

int
main(void)
{
	RUN(test_taken);
	RUN(test_image);
	RUN(test_limits);
	RUN(test_many_keys);
	return test_summary("zson_parse");
}
