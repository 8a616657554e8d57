/*-------------------------------------------------------------------------
 *
 * test_float_left.c
 *	  Left parts of ALP-RD: plans, both forms of codes, and the two ways of
 *	  expanding bit planes.  Includes the source for its static functions.
 *
 *-------------------------------------------------------------------------
 */
#include "st_float_left.c"
#include "st_test.h"

static void
test_deposit(void)
{
	CHECK(deposit_generic(0x5, 0xf0) == 0x50);
	CHECK(deposit_generic(UINT64_MAX, 0) == 0);
	CHECK(deposit_generic(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
	CHECK(deposit_generic(1, UINT64_C(1) << 63) == UINT64_C(1) << 63);
#ifdef __x86_64__
	for (int k = 0; __builtin_cpu_supports("bmi2") && k < 200; k++)
	{
		uint8_t		stream[PLANES_BYTES];
		uint64_t	generic[MAX_PLANES][WORDS];
		uint64_t	bmi2[MAX_PLANES][WORDS];
		int			n = 1 + (int) test_random_below(ST_VECTOR_SIZE);
		int			nplanes = 1 + (int) test_random_below(MAX_PLANES);

		for (size_t i = 0; i < sizeof(stream); i++)
			stream[i] = (uint8_t) test_random();
		CHECK(expand_planes_generic(stream, n, nplanes, generic) ==
			  expand_planes_bmi2(stream, n, nplanes, bmi2));
		for (int p = 0; p < nplanes; p++)
			CHECK(memcmp(generic[p], bmi2[p],
						 (size_t) ((n + 63) / 64) * 8) == 0);
	}
#endif
}

/* Plans, encodes, decodes; the estimate must be close to what is written. */
static void
check_left(const uint16_t *left, int n, bool unary, int bits)
{
	uint16_t	top[ST_VECTOR_SIZE];
	uint16_t	dict[ST_LEFT_MAX_CODES];
	uint16_t	cut[ST_VECTOR_SIZE];
	uint8_t		code[ST_VECTOR_SIZE];
	uint8_t		buf[4 * ST_VECTOR_SIZE + 100];
	StLeftPlan	plan;
	StLeftExceptions except = {0};
	StByteWriter w;
	StByteReader r;
	double		written;
	double		estimate;

	memcpy(top, left, (size_t) n * sizeof(top[0]));
	st_left_plan(top, n, 40, &plan);
	CHECK_MSG(plan.bits == bits, "%d bits", plan.bits);
	CHECK_MSG(plan.unary == unary, "%d entries", plan.ndict);
	for (int i = 0; i < n; i++)
		cut[i] = (uint16_t) (left[i] >> (16 - plan.bits));
	st_writer_init(&w, buf, sizeof(buf));
	st_left_encode(&plan, cut, n, &w);
	CHECK(w.status == ST_OK);
	written = 8.0 * (double) st_writer_len(&w);
	estimate = (double) plan.total_bits - (double) n * (40 - plan.bits);
	CHECK_MSG(written > estimate - 200 && written < estimate + 200,
			  "%.0f bits for %.0f", written, estimate);

	st_reader_init(&r, buf, st_writer_len(&w));
	CHECK(st_left_decode(&r, n, dict, code, &except) == ST_OK);
	for (int i = 0; i < n; i++)
	{
		int			k = st_exception_find(except.position, except.n, i);
		uint16_t	one = 0;

		CHECK((k < 0 ? dict[code[i]] : st_load_u16(except.value + 2 * k)) ==
			  cut[i]);
		st_reader_init(&r, buf, st_writer_len(&w));
		CHECK(st_left_at(&r, n, i, &one) == ST_OK && one == cut[i]);
	}
}

static void
test_plans(void)
{
	uint16_t	left[ST_VECTOR_SIZE];

	/* exponents that halve in frequency, random bits below */
	for (int i = 0; i < ST_VECTOR_SIZE; i++)
		left[i] = (uint16_t) ((1000 - __builtin_ctzll(test_random() |
													  UINT64_C(1) << 40)) << 4 |
							  (test_random() & 15));
	check_left(left, ST_VECTOR_SIZE, true, 12);
	/* eight values, equally likely */
	for (int i = 0; i < ST_VECTOR_SIZE; i++)
		left[i] = (uint16_t) ((test_random() & 7) * 0x1111);
	check_left(left, ST_VECTOR_SIZE, false, 16);
	/* one value */
	for (int i = 0; i < ST_VECTOR_SIZE; i++)
		left[i] = 0xabcd;
	check_left(left, ST_VECTOR_SIZE, false, 16);
	/* one value and exceptions */
	for (int i = 0; i < ST_VECTOR_SIZE; i += 50)
		left[i] = (uint16_t) test_random();
	check_left(left, ST_VECTOR_SIZE, false, 16);
	/* nothing to gain */
	for (int i = 0; i < ST_VECTOR_SIZE; i++)
		left[i] = (uint16_t) test_random();
	check_left(left, ST_VECTOR_SIZE, false, 0);
}

static void
test_exceptions(void)
{
	static const uint8_t ascending[] = {1, 0, 7, 0, 0, 1};
	static const uint8_t twice[] = {1, 0, 1, 0};

	CHECK(st_exceptions_valid(ascending, 3, 257));
	CHECK(!st_exceptions_valid(ascending, 3, 256));
	CHECK(st_exceptions_valid(ascending, 0, 0));
	CHECK(!st_exceptions_valid(twice, 2, 100));
	CHECK(st_exception_find(ascending, 3, 256) == 2);
	CHECK(st_exception_find(ascending, 3, 1) == 0);
	CHECK(st_exception_find(ascending, 3, 2) == -1);
	CHECK(st_exception_find(ascending, 0, 2) == -1);
}

int
main(void)
{
	RUN(test_deposit);
	RUN(test_plans);
	RUN(test_exceptions);
	return test_summary("float_left");
}
