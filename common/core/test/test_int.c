/*-------------------------------------------------------------------------
 *
 * test_int.c
 *	  Integer encodings: round trips, choice of scheme, single values,
 *	  hostile bytes, golden bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "st_bytes.h"
#include "st_golden.h"
#include "st_int.h"
#include "st_int_cases.h"
#include "st_schemes.h"
#include "st_test.h"

static const int sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65,
100, 511, 1000, 1022, 1023, 1024};

#define NSIZES ((int) (sizeof(sizes) / sizeof(sizes[0])))
#define BOUND_MAX (1 + 8 * ST_VECTOR_SIZE + 64)

/*
 * Encodes v, checks every promise about the result, and returns its length;
 * the bytes are left in enc, which has room for BOUND_MAX.
 */
static size_t
check_vector(const int64_t *v, int n, const char *what, uint8_t *enc)
{
	size_t		bound = st_int_bound(n);
	uint8_t    *bytes = malloc(bound);
	uint8_t    *exact;
	int64_t		back[ST_VECTOR_SIZE];
	uint32_t	back32[ST_VECTOR_SIZE];
	bool		fits32 = true;
	bool		same = true;
	size_t		len = 0;
	size_t		len2 = 0;
	StStatus	status;

	if (bytes == NULL)
		abort();
	CHECK_MSG(st_int_encode(v, n, bytes, bound, &len) == ST_OK && len <= bound,
			  "%s n=%d", what, n);
	CHECK_MSG(len <= 2 || len <= 1 + 8 * (size_t) n || n == 1, "%s n=%d: %zu bytes", what,
			  n, len);
	exact = test_exact_copy(bytes, len);
	memcpy(enc, bytes, len);
	memset(back, 0x5a, sizeof(back));
	CHECK_MSG(st_int_decode(exact, len, n, back) == ST_OK, "%s n=%d", what, n);
	CHECK_MSG(memcmp(v, back, (size_t) n * 8) == 0, "%s n=%d %s", what, n,
			  st_int_scheme_name(exact, len));

	for (int i = 0; i < n; i++)
	{
		int64_t		one = 0;

		/* the slow schemes decode it all for one value: a few will do */
		if (n > 100 && i % 13 != 0 && i != n - 1)
			continue;
		same &= st_int_at(exact, len, n, i, &one) == ST_OK && one == v[i];
		fits32 &= v[i] >= 0 && v[i] <= UINT32_MAX;
	}
	CHECK_MSG(same, "at: %s n=%d %s", what, n, st_int_scheme_name(exact, len));
	switch (exact[0])
	{
		case ST_INT_DELTA:
		case ST_INT_DELTA2:
		case ST_INT_RLE:
		case ST_INT_GCD:
			break;				/* depends on what is in them */
		default:
			CHECK_MSG(!st_int_at_decodes(exact, len), "%s n=%d", what, n);
			break;
	}

	for (int i = 0; i < n; i++)
		fits32 &= v[i] >= 0 && v[i] <= UINT32_MAX;
	status = st_int_decode_u32(exact, len, n, back32);
	CHECK_MSG(status == (fits32 ? ST_OK : ST_CORRUPT), "32 bits: %s n=%d", what,
			  n);
	same = true;
	for (int i = 0; fits32 && i < n; i++)
		same &= back32[i] == (uint32_t) v[i];
	CHECK_MSG(same, "32 bits: %s n=%d", what, n);

	/* exactly enough room, and one byte too little */
	CHECK_MSG(st_int_encode(v, n, exact, len, &len2) == ST_OK && len2 == len &&
			  memcmp(exact, bytes, len) == 0, "%s n=%d", what, n);
	free(exact);
	exact = malloc(len);
	if (exact == NULL)
		abort();
	CHECK_MSG(st_int_encode(v, n, exact, len - 1, &len2) == ST_NOSPACE,
			  "%s n=%d", what, n);
	free(exact);
	free(bytes);
	return len;
}

static void
test_cases(void)
{
	uint8_t		enc[BOUND_MAX];
	int64_t		v[ST_VECTOR_SIZE];

	for (int c = 0; c < INT_NCASES; c++)
		for (int s = 0; s < NSIZES; s++)
		{
			size_t		len;

			int_cases[c].fill(v, sizes[s]);
			len = check_vector(v, sizes[s], int_cases[c].name, enc);
			if (sizes[s] == ST_VECTOR_SIZE)
				CHECK_MSG(strcmp(st_int_scheme_name(enc, len),
								 int_cases[c].scheme) == 0, "%s: %s",
						  int_cases[c].name, st_int_scheme_name(enc, len));
		}
}

static void
test_widths(void)
{
	uint8_t		enc[BOUND_MAX];
	int64_t		v[ST_VECTOR_SIZE];

	for (int width = 0; width <= 64; width++)
		for (int s = 0; s < NSIZES; s++)
		{
			uint64_t	range = width == 0 ? 0 : UINT64_MAX >> (64 - width);
			/* anywhere that does not wrap around */
			uint64_t	base = (uint64_t) INT64_MIN +
				test_random_below(UINT64_MAX - range);
			int			n = sizes[s];
			size_t		len;

			for (int i = 0; i < n; i++)
				v[i] = (int64_t) (base + (test_random() & range));
			len = check_vector(v, n, "width", enc);
			/* never more than the frame of reference needs */
			CHECK_MSG(len <= 2 + 10 + ((size_t) n * (size_t) width + 7) / 8,
					  "width=%d n=%d: %zu bytes", width, n, len);
		}
}

/* Random mixtures: what no list of cases thinks of. */
static void
test_random_vectors(void)
{
	static const uint64_t scales[] = {1, 1, 1, 2, 10, 1000, 60000000,
	UINT64_C(1) << 40, UINT64_C(0x8000000000000001)};
	uint8_t		enc[BOUND_MAX];
	int64_t		v[ST_VECTOR_SIZE];

	for (int round = 0; round < 3000; round++)
	{
		int			n = (int) (round % 2 ? ST_VECTOR_SIZE : test_random_below(ST_VECTOR_SIZE + 1));
		int			width = (int) test_random_below(65);
		int			outlier_every = 1 + (int) test_random_below(300);
		int			run = 1 + (int) (test_random_below(3) ? 0 : test_random_below(40));
		int			order = (int) test_random_below(3);
		uint64_t	scale = scales[test_random_below(9)];
		uint64_t	base = test_random() >> test_random_below(64);

		for (int i = 0; i < n; i++)
		{
			uint64_t	x = width == 0 ? 0 : test_random() >> (64 - width);

			if (test_random_below((uint64_t) outlier_every) == 1)
				x = test_random();
			v[i] = (int64_t) (base + x * scale);
			if (i % run != 0)
				v[i] = v[i - 1];
		}
		for (int o = 0; o < order; o++)
			for (int i = 1; i < n; i++)
				v[i] = (int64_t) ((uint64_t) v[i] + (uint64_t) v[i - 1]);
		check_vector(v, n, "random", enc);
	}
}

static void
test_sizes(void)
{
	uint8_t		enc[BOUND_MAX];
	int64_t		v[ST_VECTOR_SIZE];

	fill_constant(v, ST_VECTOR_SIZE);
	CHECK(check_vector(v, ST_VECTOR_SIZE, "constant", enc) == 2);
	fill_sequence(v, ST_VECTOR_SIZE);
	CHECK(check_vector(v, ST_VECTOR_SIZE, "sequence", enc) <= 6);
	fill_flags(v, ST_VECTOR_SIZE);
	CHECK(check_vector(v, ST_VECTOR_SIZE, "flags", enc) == 3 + 128);
	fill_small_range(v, ST_VECTOR_SIZE);
	CHECK(check_vector(v, ST_VECTOR_SIZE, "range", enc) <= 12 + 7 * 128);
	/* 11 outliers among values of four bits */
	fill_outliers_high(v, ST_VECTOR_SIZE);
	CHECK(check_vector(v, ST_VECTOR_SIZE, "outliers", enc) <= 4 * 128 + 60);
	/* constant second differences: parameters only */
	for (int i = 0; i < ST_VECTOR_SIZE; i++)
		v[i] = (int64_t) i * i * 3 - 1000;
	CHECK(check_vector(v, ST_VECTOR_SIZE, "squares", enc) <= 10);
	/* a divisor below zero: ten bits each, a small offset */
	for (int i = 0; i < ST_VECTOR_SIZE; i++)
		v[i] = -(int64_t) test_random_below(1024) * 1000000 + 7;
	CHECK(check_vector(v, ST_VECTOR_SIZE, "negative", enc) <= 10 * 128 + 10);
	/* two bits for each of four values */
	fill_status_codes(v, ST_VECTOR_SIZE);
	CHECK(check_vector(v, ST_VECTOR_SIZE, "codes", enc) <= 2 * 128 + 20);
	/* five bits for each of twenty 64-bit values */
	fill_few_ids(v, ST_VECTOR_SIZE);
	CHECK(check_vector(v, ST_VECTOR_SIZE, "ids", enc) <= 5 * 128 + 20 * 8 + 20);
	/* 21 runs of 17-bit values */
	fill_runs(v, ST_VECTOR_SIZE);
	CHECK(check_vector(v, ST_VECTOR_SIZE, "runs", enc) <= 21 * 17 / 8 + 30);
}

static void
test_arguments(void)
{
	int64_t		v[ST_VECTOR_SIZE] = {0};
	uint8_t		enc[BOUND_MAX];
	size_t		len = 0;
	int64_t		one;

	CHECK(st_int_encode(v, -1, enc, sizeof(enc), &len) == ST_NOTFIT);
	CHECK(st_int_encode(v, ST_VECTOR_SIZE + 1, enc, sizeof(enc), &len) == ST_NOTFIT);
	CHECK(st_int_encode(v, 5, enc, 0, &len) == ST_NOSPACE);
	CHECK(st_int_encode(v, 5, enc, sizeof(enc), &len) == ST_OK);
	CHECK(st_int_decode(enc, len, -1, v) == ST_CORRUPT);
	CHECK(st_int_decode(enc, len, ST_VECTOR_SIZE + 1, v) == ST_CORRUPT);
	CHECK(st_int_decode_u32(enc, len, -1, (uint32_t *) v) == ST_CORRUPT);
	CHECK(st_int_at(enc, len, 5, 5, &one) == ST_CORRUPT);
	CHECK(st_int_at(enc, len, 5, -1, &one) == ST_CORRUPT);
	CHECK(strcmp(st_int_scheme_name(enc, 0), "unknown") == 0);
	for (int byte = 0; byte < 256; byte++)
	{
		enc[0] = (uint8_t) byte;
		CHECK(st_int_scheme_name(enc, 1) != NULL);
	}
	enc[0] = 99;
	CHECK(strcmp(st_int_scheme_name(enc, 5), "unknown") == 0);
}

/* ---- hostile bytes ---- */

static StStatus
decode_hostile(const uint8_t *src, size_t len, void *arg)
{
	int			n = *(int *) arg;
	int64_t    *v = malloc(ST_VECTOR_SIZE * sizeof(int64_t));
	uint32_t   *v32 = malloc(ST_VECTOR_SIZE * sizeof(uint32_t));
	int64_t		one;
	StStatus	status;

	if (v == NULL || v32 == NULL)
		abort();
	status = st_int_decode(src, len, n, v);
	(void) st_int_decode_u32(src, len, n, v32);
	(void) st_int_at(src, len, n, 0, &one);
	(void) st_int_at(src, len, n, n - 1, &one);
	(void) st_int_scheme_name(src, len);
	free(v);
	free(v32);
	return status;
}

static void
test_hostile_bytes(void)
{
	static const int hostile_sizes[] = {0, 1, 3, 65, 200, 1024};
	int64_t		v[ST_VECTOR_SIZE];
	uint8_t		enc[BOUND_MAX];

	for (int c = 0; c < INT_NCASES; c++)
		for (int s = 0; s < 6; s++)
		{
			int			n = hostile_sizes[s];
			size_t		len = 0;

			int_cases[c].fill(v, n);
			CHECK(st_int_encode(v, n, enc, sizeof(enc), &len) == ST_OK);
			/* long payloads are all alike: cuts and flips at 2 kB will do */
			if (len > 2048)
				continue;
			test_hostile(enc, len, true, decode_hostile, &n);
			/* another count than was encoded */
			n = n == 0 ? 1 : n - 1;
			(void) decode_hostile(enc, len, &n);
		}
}

/* Damage that must be noticed, one by one. */
static void
test_corrupt(void)
{
	/* dictionary in dictionary, delta in delta, gcd in gcd, rle in rle, rle in delta */
	static const uint8_t nested[][6] = {
		{ST_INT_DICT, 1, 2, ST_INT_DICT, 0, 0},
		{ST_INT_DELTA, 0, ST_INT_DELTA, 0, ST_INT_CONSTANT, 0},
		{ST_INT_GCD, 2, 0, ST_INT_GCD, 2, 0},
		{ST_INT_RLE, 1, 2, ST_INT_RLE, 0, 0},
		{ST_INT_DELTA, 0, ST_INT_RLE, 0, 0, 0}
	};
	/* two runs of 4 and 0, of 2 and 9, of 1 and 1: for n = 4 */
	static const uint8_t zero_run[] = {ST_INT_RLE, 2, 2, ST_INT_CONSTANT, 2,
	ST_INT_FOR, 3, 0, 0x04};
	static const uint8_t long_run[] = {ST_INT_RLE, 2, 2, ST_INT_CONSTANT, 2,
	ST_INT_FOR, 4, 0, 0x92};
	static const uint8_t short_runs[] = {ST_INT_RLE, 2, 2, ST_INT_CONSTANT, 2,
	ST_INT_CONSTANT, 2};
	/* exceptions: position 5 of 4, and positions 1, 1 */
	static const uint8_t beyond[] = {ST_INT_PFOR, 0, 2, 0, 1, 0x07, 0x01};
	static const uint8_t twice[] = {ST_INT_PFOR, 0, 2, 0, 2, 0x05, 0x05};
	/* dictionary of one value, codes 0 and 1; and of more values than n */
	static const uint8_t no_value[] = {ST_INT_DICT, 1, 2, ST_INT_CONSTANT, 2,
	ST_INT_FOR, 1, 0, 0x02};
	static const uint8_t too_many[] = {ST_INT_DICT, 3, 2, ST_INT_CONSTANT, 2,
	ST_INT_FOR, 1, 0, 0x02};
	static const uint8_t wide[] = {ST_INT_FOR, 65, 0};
	static const uint8_t xwide[] = {ST_INT_PFOR, 33, 32, 0, 0};
	int64_t		v[ST_VECTOR_SIZE];

	for (int i = 0; i < 5; i++)
		CHECK(st_int_decode(nested[i], 6, 1, v) == ST_CORRUPT);
	CHECK(st_int_decode(zero_run, sizeof(zero_run), 4, v) == ST_CORRUPT);
	CHECK(st_int_decode(long_run, sizeof(long_run), 4, v) == ST_CORRUPT);
	CHECK(st_int_decode(short_runs, sizeof(short_runs), 4, v) == ST_CORRUPT);
	CHECK(st_int_decode(short_runs, sizeof(short_runs), 2, v) == ST_OK);
	CHECK(st_int_decode(beyond, sizeof(beyond), 7, v) == ST_CORRUPT);
	CHECK(st_int_decode(beyond, sizeof(beyond), 8, v) == ST_OK && v[7] == 1);
	CHECK(st_int_decode(twice, sizeof(twice), 4, v) == ST_CORRUPT);
	CHECK(st_int_decode(no_value, sizeof(no_value), 2, v) == ST_CORRUPT);
	CHECK(st_int_at(no_value, sizeof(no_value), 2, 0, v) == ST_OK && v[0] == 1);
	CHECK(st_int_at(no_value, sizeof(no_value), 2, 1, v) == ST_CORRUPT);
	CHECK(st_int_decode(too_many, sizeof(too_many), 2, v) == ST_CORRUPT);
	CHECK(st_int_decode(too_many, sizeof(too_many), 3, v) == ST_OK);
	CHECK(st_int_decode(wide, sizeof(wide), 0, v) == ST_CORRUPT);
	CHECK(st_int_decode(xwide, sizeof(xwide), 0, v) == ST_CORRUPT);
}

/* ---- golden bytes ---- */

static StStatus
golden_decode(const uint8_t *src, size_t len, uint32_t n,
			  uint8_t *out, size_t cap, size_t *outlen)
{
	int64_t		v[ST_VECTOR_SIZE];
	StStatus	status = st_int_decode(src, len, (int) n, v);

	*outlen = n * sizeof(int64_t);
	if (status == ST_OK && *outlen <= cap)
		memcpy(out, v, *outlen);
	return status;
}

static void
golden_case(const IntCase *c, int n)
{
	int64_t		v[ST_VECTOR_SIZE];
	uint8_t		enc[BOUND_MAX];
	char		name[100];
	size_t		len = 0;

	c->fill(v, n);
	CHECK(st_int_encode(v, n, enc, sizeof(enc), &len) == ST_OK);
	snprintf(name, sizeof(name), "int-%s-%d-v1", c->name, n);
	golden_check(name, (uint32_t) n, v, (size_t) n * 8, enc, len,
				 golden_decode);
}

static void
test_golden(void)
{
	for (int c = 0; c < INT_NCASES; c++)
	{
		golden_case(&int_cases[c], 100);
		golden_case(&int_cases[c], ST_VECTOR_SIZE);
	}
}

/*
 * A run of vectors whose nature changes: hints never spoil a value, and cost
 * nothing but for the vectors that are passed over after a change.
 */
static void
test_hints(void)
{
	enum {RUN_VECTORS = 60};
	static const int64_t few[] = {3, 1000000007, 987654321988, -5};
	int64_t		v[ST_VECTOR_SIZE];
	int64_t		back[ST_VECTOR_SIZE];
	uint8_t		plain[16 * ST_VECTOR_SIZE];
	uint8_t		hinted[16 * ST_VECTOR_SIZE];
	StIntHint	hint = {0};
	int			larger = 0;

	for (int k = 0; k < RUN_VECTORS; k++)
	{
		size_t		len;
		size_t		hinted_len;

		for (int i = 0; i < ST_VECTOR_SIZE; i++)
		{
			int64_t		at = (int64_t) k * ST_VECTOR_SIZE + i;

			v[i] = k < 25 ? (int64_t) test_random_below(1000000) :
				k < 40 ? at * 1000003 + (int64_t) test_random_below(3) :
				few[test_random_below(4)];
		}
		CHECK(st_int_encode(v, ST_VECTOR_SIZE, plain, sizeof(plain), &len) == ST_OK);
		CHECK(st_int_encode_next(v, ST_VECTOR_SIZE, &hint, hinted, sizeof(hinted),
								 &hinted_len) == ST_OK);
		CHECK(hinted_len >= len && hinted_len <= st_int_bound(ST_VECTOR_SIZE));
		larger += hinted_len > len;
		CHECK(st_int_decode(hinted, hinted_len, ST_VECTOR_SIZE, back) == ST_OK);
		CHECK(memcmp(v, back, sizeof(v)) == 0);
	}
	CHECK_MSG(larger <= 30, "%d vectors are larger", larger);
	/* differences pay, and then a dictionary: no try is waited for any more */
	CHECK(hint.skip_dictionary == 0);
}

int
main(void)
{
	RUN(test_cases);
	RUN(test_widths);
	RUN(test_random_vectors);
	RUN(test_sizes);
	RUN(test_hints);
	RUN(test_arguments);
	RUN(test_hostile_bytes);
	RUN(test_corrupt);
	RUN(test_golden);
	return test_summary("int");
}
