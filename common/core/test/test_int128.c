/*-------------------------------------------------------------------------
 *
 * test_int128.c
 *	  Encodings of 128-bit integers.
 *
 *-------------------------------------------------------------------------
 */
#include "st_golden.h"
#include "st_int.h"
#include "st_int_cases.h"
#include "st_test.h"

__extension__ typedef unsigned __int128 Uint128;

static const int sizes[] = {0, 1, 2, 3, 63, 64, 65, 200, 1023, 1024};

#define NSIZES ((int) (sizeof(sizes) / sizeof(sizes[0])))
#define BOUND_MAX (2 + 16 * ST_VECTOR_SIZE)

#define INT128_MAX ((StInt128) (~(Uint128) 0 >> 1))
#define INT128_MIN (-INT128_MAX - 1)

/*
 * The int64 cases widened: 0 as they are, 1 far from zero, 2 scaled beyond
 * 64 bits, 3 mixed with both extremes.
 */
#define NWIDENINGS 4

static void
fill_widened(int c, int widening, StInt128 *v, int n)
{
	int64_t		narrow[ST_VECTOR_SIZE];

	int_cases[c].fill(narrow, n);
	for (int i = 0; i < n; i++)
	{
		Uint128		x = (Uint128) (StInt128) narrow[i];

		if (widening == 1)
			x += (Uint128) 123456789 << 90;
		else if (widening == 2)
			x *= UINT64_C(1000000000000000000);
		else if (widening == 3 && i % 40 < 2)
			x = (Uint128) (i % 40 == 0 ? INT128_MAX : INT128_MIN);
		v[i] = (StInt128) x;
	}
}

static size_t
check_vector(const StInt128 *v, int n, const char *what)
{
	size_t		bound = st_int128_bound(n);
	uint8_t    *enc = malloc(bound);
	uint8_t    *exact;
	StInt128	back[ST_VECTOR_SIZE];
	bool		same = true;
	size_t		len = 0;
	size_t		len2 = 0;

	if (enc == NULL)
		abort();
	CHECK_MSG(st_int128_encode(v, n, enc, bound, &len) == ST_OK && len <= bound,
			  "%s n=%d", what, n);
	exact = test_exact_copy(enc, len);
	memset(back, 0x5a, sizeof(back));
	CHECK_MSG(st_int128_decode(exact, len, n, back) == ST_OK &&
			  memcmp(v, back, (size_t) n * 16) == 0, "%s n=%d", what, n);
	for (int i = 0; i < n; i++)
	{
		StInt128	one = 0;

		if (n > 100 && i % 29 != 0 && i != n - 1)
			continue;
		same &= st_int128_at(exact, len, n, i, &one) == ST_OK && one == v[i];
	}
	CHECK_MSG(same, "at: %s n=%d", what, n);
	CHECK(st_int128_encode(v, n, exact, len, &len2) == ST_OK && len2 == len);
	CHECK(st_int128_encode(v, n, exact, len - 1, &len2) == ST_NOSPACE);
	free(exact);
	free(enc);
	return len;
}

static void
test_cases(void)
{
	StInt128	v[ST_VECTOR_SIZE];

	for (int c = 0; c < INT_NCASES; c++)
		for (int widening = 0; widening < NWIDENINGS; widening++)
			for (int s = 0; s < NSIZES; s++)
			{
				fill_widened(c, widening, v, sizes[s]);
				check_vector(v, sizes[s], int_cases[c].name);
			}
}

/* Every length of the short number, both signs, as constant and minimum. */
static void
test_magnitudes(void)
{
	for (int bit = 0; bit < 128; bit++)
	{
		StInt128	power = (StInt128) ((Uint128) 1 << bit);
		StInt128	v[4] = {power, power, power, power};

		CHECK(check_vector(v, 4, "power") <= 2 + (size_t) (bit + 1) / 8 + 1);
		v[3] = (StInt128) ((Uint128) power + 1);
		check_vector(v, 4, "powers");
		v[0] = v[1] = v[2] = v[3] = (StInt128) ((Uint128) power - 1);
		check_vector(v, 4, "less");
		v[0] = v[1] = v[2] = v[3] = (StInt128) (0 - (Uint128) power);
		check_vector(v, 4, "negative");
		v[3] = 0;
		check_vector(v, 4, "negative and zero");
	}
}

static void
test_sizes(void)
{
	StInt128	v[ST_VECTOR_SIZE];
	int64_t		narrow[ST_VECTOR_SIZE];
	uint8_t		enc[BOUND_MAX];
	size_t		len = 0;

	/* what fits int64 costs little more than int64 */
	fill_small_range(narrow, ST_VECTOR_SIZE);
	CHECK(st_int_encode(narrow, ST_VECTOR_SIZE, enc, sizeof(enc), &len) == ST_OK);
	for (int i = 0; i < ST_VECTOR_SIZE; i++)
		v[i] = narrow[i];
	CHECK(check_vector(v, ST_VECTOR_SIZE, "narrow") <= len + 10);

	/* noise is stored as it is */
	for (int i = 0; i < ST_VECTOR_SIZE; i++)
		v[i] = (StInt128) ((Uint128) test_random() << 64 | test_random());
	CHECK(check_vector(v, ST_VECTOR_SIZE, "noise") == 1 + 16 * ST_VECTOR_SIZE);
}

static StStatus
decode_hostile(const uint8_t *src, size_t len, void *arg)
{
	int			n = *(int *) arg;
	StInt128   *v = malloc(ST_VECTOR_SIZE * sizeof(StInt128));
	StInt128	one;
	StStatus	status;

	if (v == NULL)
		abort();
	status = st_int128_decode(src, len, n, v);
	(void) st_int128_at(src, len, n, 0, &one);
	(void) st_int128_at(src, len, n, n - 1, &one);
	free(v);
	return status;
}

static void
test_hostile_bytes(void)
{
	StInt128	v[ST_VECTOR_SIZE];
	uint8_t		enc[BOUND_MAX];

	for (int c = 0; c < INT_NCASES; c += 3)
		for (int widening = 0; widening < NWIDENINGS; widening++)
		{
			int			n = widening == 0 ? ST_VECTOR_SIZE : 50;
			size_t		len = 0;

			fill_widened(c, widening, v, n);
			CHECK(st_int128_encode(v, n, enc, sizeof(enc), &len) == ST_OK);
			if (len < 2500)
				test_hostile(enc, len, true, decode_hostile, &n);
		}
}

static void
test_arguments(void)
{
	StInt128	v[ST_VECTOR_SIZE] = {1, 2};
	uint8_t		enc[BOUND_MAX];
	uint8_t		long_constant[18] = {1, 17};
	size_t		len = 0;

	CHECK(st_int128_encode(v, -1, enc, sizeof(enc), &len) == ST_NOTFIT);
	CHECK(st_int128_encode(v, ST_VECTOR_SIZE + 1, enc, sizeof(enc), &len) == ST_NOTFIT);
	CHECK(st_int128_encode(v, 2, enc, 0, &len) == ST_NOSPACE);
	CHECK(st_int128_decode(enc, 0, 1, v) == ST_CORRUPT);
	CHECK(st_int128_decode(long_constant, 18, 1, v) == ST_CORRUPT);
	CHECK(st_int128_decode(long_constant, 18, -1, v) == ST_CORRUPT);
	CHECK(st_int128_at(long_constant, 18, 1, 1, v) == ST_CORRUPT);
	long_constant[0] = 77;
	CHECK(st_int128_decode(long_constant, 18, 1, v) == ST_CORRUPT);
	CHECK(st_int128_at(long_constant, 18, 1, 0, v) == ST_CORRUPT);
}

static StStatus
golden_decode(const uint8_t *src, size_t len, uint32_t n,
			  uint8_t *out, size_t cap, size_t *outlen)
{
	StInt128	v[ST_VECTOR_SIZE];
	StStatus	status = st_int128_decode(src, len, (int) n, v);

	*outlen = n * sizeof(StInt128);
	if (status == ST_OK && *outlen <= cap)
		memcpy(out, v, *outlen);
	return status;
}

static void
test_golden(void)
{
	static const int golden_cases[] = {0, 2, 5, 6, 15};

	for (int g = 0; g < 5; g++)
		for (int widening = 0; widening < NWIDENINGS; widening++)
		{
			int			c = golden_cases[g];
			StInt128	v[100];
			uint8_t		enc[BOUND_MAX];
			char		name[100];
			size_t		len = 0;

			fill_widened(c, widening, v, 100);
			CHECK(st_int128_encode(v, 100, enc, sizeof(enc), &len) == ST_OK);
			snprintf(name, sizeof(name), "int128-%s-%d-v1", int_cases[c].name,
					 widening);
			golden_check(name, 100, v, sizeof(v), enc, len, golden_decode);
		}
}

int
main(void)
{
	RUN(test_cases);
	RUN(test_magnitudes);
	RUN(test_sizes);
	RUN(test_hostile_bytes);
	RUN(test_arguments);
	RUN(test_golden);
	return test_summary("int128");
}
