/*-------------------------------------------------------------------------
 *
 * st_test.h
 *	  A small harness for the unit tests of common/core.
 *
 * A test program is one file test_<topic>.c:
 *
 *		static void test_something(void) { CHECK(1 + 1 == 2); }
 *		int main(void) { RUN(test_something); return test_summary("topic"); }
 *
 * A failed CHECK prints its place and goes on; the test function counts as
 * failed.  The last line is "<topic>: N passed, N failed", and the program's
 * exit status says the same.  Random data comes from test_random(), seeded
 * by the environment variable ST_TEST_SEED (default 1, printed on failure).
 * Programs run from the directory common/core.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_TEST_H
#define ST_TEST_H

#include <stdio.h>
#include <stdlib.h>

#include "st_core.h"

static int	test_npassed;
static int	test_nfailed;
static int	test_nbad;			/* failed checks of the running test */
static uint64_t test_rng;

#define TEST_UNUSED __attribute__((unused))

static TEST_UNUSED uint64_t
test_seed(void)
{
	const char *s = getenv("ST_TEST_SEED");

	return s ? strtoull(s, NULL, 10) : 1;
}

/* 64 random bits (splitmix64). */
static TEST_UNUSED uint64_t
test_random(void)
{
	uint64_t	z = (test_rng += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Uniform enough in 0 .. limit - 1. */
static TEST_UNUSED uint64_t
test_random_below(uint64_t limit)
{
	return limit ? test_random() % limit : 0;
}

/* printf-style explanation is shown when cond does not hold. */
#define CHECK_MSG(cond, ...) \
	do \
	{ \
		if (!(cond) && test_nbad++ < 10) \
		{ \
			fprintf(stderr, "%s:%d: check failed: %s: ", \
					__FILE__, __LINE__, #cond); \
			fprintf(stderr, __VA_ARGS__); \
			fputc('\n', stderr); \
		} \
	} while (0)

#define CHECK(cond) CHECK_MSG(cond, "in %s", __func__)

#define RUN(function) test_run(#function, function)

static TEST_UNUSED void
test_run(const char *name, void (*function) (void))
{
	test_nbad = 0;
	test_rng = test_seed();
	function();
	if (test_nbad == 0)
		test_npassed++;
	else
	{
		test_nfailed++;
		fprintf(stderr, "%s failed: %d checks, ST_TEST_SEED=%llu\n", name,
				test_nbad, (unsigned long long) test_seed());
	}
}

static TEST_UNUSED int
test_summary(const char *topic)
{
	printf("%s: %d passed, %d failed\n", topic, test_npassed, test_nfailed);
	return test_nfailed > 0;
}

/*
 * A copy in a heap block of exactly len bytes: under the address sanitizer a
 * read past the end is an error.  The caller frees it.
 */
static TEST_UNUSED uint8_t *
test_exact_copy(const void *src, size_t len)
{
	uint8_t    *copy = malloc(len ? len : 1);

	if (copy == NULL)
		abort();
	if (len > 0)
		memcpy(copy, src, len);
	return copy;
}

/*
 * Hostile neighbours of an encoding: decode() is called for src cut at every
 * length, with every byte replaced in several ways, and with bytes appended,
 * each in a block of exactly its size.  decode() must come back; what it
 * returns is its own business, except that a cut or extended input which it
 * reports as success makes the test fail if strict is set.
 */
static TEST_UNUSED void
test_hostile(const uint8_t *src, size_t len, bool strict,
			 StStatus (*decode) (const uint8_t *src, size_t len, void *arg),
			 void *arg)
{
	static const uint8_t masks[] = {0x01, 0x02, 0x10, 0x7f, 0x80, 0xff};

	for (size_t cut = 0; cut < len; cut++)
	{
		uint8_t    *copy = test_exact_copy(src, cut);
		StStatus	status = decode(copy, cut, arg);

		CHECK_MSG(!strict || status != ST_OK, "cut at %zu of %zu", cut, len);
		free(copy);
	}
	for (size_t i = 0; i < len; i++)
	{
		uint8_t    *copy = test_exact_copy(src, len);

		for (size_t m = 0; m < sizeof(masks); m++)
		{
			copy[i] = src[i] ^ masks[m];
			(void) decode(copy, len, arg);
		}
		free(copy);
	}
	for (size_t extra = 1; extra <= 16; extra++)
	{
		uint8_t    *copy = malloc(len + extra);
		StStatus	status;

		if (copy == NULL)
			abort();
		memcpy(copy, src, len);
		memset(copy + len, (int) (extra & 1) * 0xff, extra);
		status = decode(copy, len + extra, arg);
		CHECK_MSG(!strict || status != ST_OK, "%zu bytes appended", extra);
		free(copy);
	}
}

#endif							/* ST_TEST_H */
