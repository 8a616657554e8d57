/*-------------------------------------------------------------------------
 *
 * test_float_cases.h
 *	  Tests of one floating point encoding; test_float.c includes this once
 *	  per type.
 *
 * Parameters, undefined at the end: FP(name) makes st_f64_##name, TEST(name)
 * makes test_name_f64, FP_TYPE, FP_WORD, FP_NAME "f64".
 *
 *-------------------------------------------------------------------------
 */

/* Encodes, decodes whole and one by one, compares bits. */
static size_t
TEST(roundtrip) (const FP_TYPE *v, int n, const char *scheme)
{
	size_t		cap = FP(bound) (n);
	uint8_t    *enc = malloc(cap);
	uint8_t    *copy;
	FP_TYPE    *out = malloc((size_t) (n + 1) * sizeof(FP_TYPE));
	size_t		len = 0;
	FP_TYPE		one;

	CHECK(FP(encode) (v, n, enc, cap, &len) == ST_OK);
	CHECK(len <= cap && len <= 1 + sizeof(FP_TYPE) * (size_t) (n ? n : 1));
	if (n > 0)
		CHECK(FP(encode) (v, n, enc, cap - 1, &len) == ST_NOSPACE);
	CHECK(FP(encode) (v, n, enc, cap, &len) == ST_OK);
	copy = test_exact_copy(enc, len);
	if (scheme)
		CHECK_MSG(strcmp(st_float_scheme_name (copy, len), scheme) == 0,
				  "%s instead of %s", st_float_scheme_name (copy, len), scheme);
	CHECK(FP(decode) (copy, len, n, out) == ST_OK);
	CHECK_MSG(memcmp(out, v, (size_t) n * sizeof(FP_TYPE)) == 0,
			  "n %d, %s", n, st_float_scheme_name (copy, len));
	for (int i = 0; i < n; i += 1 + n / 100)
	{
		CHECK(FP(at) (copy, len, n, i, &one) == ST_OK);
		CHECK_MSG(memcmp(&one, &v[i], sizeof(one)) == 0, "value %d of %d, %s",
				  i, n, st_float_scheme_name (copy, len));
	}
	CHECK(FP(at) (copy, len, n, n, &one) == ST_CORRUPT);
	CHECK(FP(at) (copy, len, n, -1, &one) == ST_CORRUPT);
	free(enc);
	free(copy);
	free(out);
	return len;
}

static FP_TYPE
TEST(from_bits) (FP_WORD word)
{
	FP_TYPE		v;

	memcpy(&v, &word, sizeof(v));
	return v;
}

static FP_TYPE
TEST(special) (int i)
{
	const FP_WORD sign = (FP_WORD) 1 << (8 * sizeof(FP_WORD) - 1);
	const FP_WORD inf =
	(FP_WORD) (sizeof(FP_WORD) == 8 ? UINT64_C(0x7ff0000000000000) :
			   UINT64_C(0x7f800000));
	const FP_WORD specials[] = {
		0, sign, 1, sign | 1, inf, inf | sign, inf - 1, (inf - 1) | sign,
		inf | 1, inf | 1 | sign, inf | 0x123, (FP_WORD) -1,
		inf | inf >> 1, (inf >> 1) & inf
	};

	return TEST(from_bits) (specials[i % 14]);
}

/* ---- columns ---- */

static FP_TYPE
TEST(column) (int kind, int i)
{
	static FP_TYPE walk;
	double		u = (double) (test_random() >> 12) * 0x1p-52;

	switch (kind)
	{
		case 0:
			return (FP_TYPE) (u * 999.99);
		case 1:
			return (FP_TYPE) u;
		case 2:
			return (FP_TYPE) ((double) test_random_below(99999) / 100);
		case 3:
			return (FP_TYPE) ((double) test_random_below(99999) * 0.01);
		case 4:
			return (FP_TYPE) ((double) test_random_below(1000) * 1e12);
		case 5:
			return (FP_TYPE) ((u - 0.5) * 1e-300 * 1e290);
		case 6:
			return (FP_TYPE) (float) (u * 100);
		case 7:
			walk += (FP_TYPE) ((double) test_random_below(21) / 4 - 2.5);
			return walk;
		case 8:
			return TEST(from_bits) ((FP_WORD) test_random());
		case 9:
			return TEST(special) ((int) test_random_below(14));
		case 10:				/* few exceptions among decimals */
			return test_random_below(20) == 0 ? TEST(special) (i) :
				(FP_TYPE) ((double) test_random_below(5000) / 10);
		case 11:				/* many exceptions */
			return test_random_below(3) == 0 ? (FP_TYPE) u :
				(FP_TYPE) test_random_below(50);
		case 12:				/* exceptions among real numbers */
			return test_random_below(50) == 0 ?
				TEST(from_bits) ((FP_WORD) test_random()) : (FP_TYPE) (u + 1);
		case 13:
			return (FP_TYPE) 42.5;
		case 14:				/* exceptions first */
			return i < 5 ? TEST(special) (i + 8) : (FP_TYPE) (i % 7);
		case 15:				/* negative and positive, wide exponents */
			return (FP_TYPE) ((test_random() & 1 ? -u : u) *
							  (double) (UINT64_C(1) << test_random_below(60)));
		case 16:				/* denormals */
			return TEST(from_bits) ((FP_WORD) test_random_below(100000));
		case 17:				/* left parts of few values, uniform */
			return TEST(from_bits) ((FP_WORD)
									((test_random() & 7) * 0x0101 + 0x3000)
									<< (8 * sizeof(FP_WORD) - 16) |
									(FP_WORD) (test_random() & 0xffff));
		default:
			return (FP_TYPE) ((double) (i * 1000) + 0.125);
	}
}

#define NUM_COLUMNS 19

/* Scheme and size to expect of 1024 values, in bits per value; NULL: any. */
static const struct
{
	const char *scheme;
	double		bits64;
	double		bits32;
}			TEST(expected)[NUM_COLUMNS] =
{
	{"alprd", 54.2, 25.2}, {NULL, 53.2, 25.2}, {"alp", 17.2, 17.2},
	{"alp", 17.4, 17.4}, {"alp", 11, 11}, {NULL, 57, 28},
	{NULL, 25.7, 25.7}, {"alp", 12, 12}, {"raw", 64.1, 32.1},
	{NULL, 64.1, 32.1}, {"alp", 18, 18}, {NULL, 64.1, 32.1},
	{"alprd", 56, 27}, {"constant", 0.1, 0.1}, {"alp", 5, 5},
	{NULL, 60, 31.5}, {NULL, 48.2, 20}, {"alprd", 56, 21},
	{"alp", 2, 6},
};

static void
TEST(columns) (void)
{
	static const int ns[] = {1, 2, 3, 63, 64, 65, 127, 500, ST_VECTOR_SIZE};
	FP_TYPE		v[ST_VECTOR_SIZE];

	for (int kind = 0; kind < NUM_COLUMNS; kind++)
	{
		for (size_t k = 0; k < sizeof(ns) / sizeof(ns[0]); k++)
		{
			bool		full = ns[k] == ST_VECTOR_SIZE;
			double		bits;
			double		limit;

			for (int i = 0; i < ns[k]; i++)
				v[i] = TEST(column) (kind, i);
			bits = (double) TEST(roundtrip) (v, ns[k], full ?
											 TEST(expected)[kind].scheme :
											 NULL) * 8 / ns[k];
			limit = sizeof(FP_TYPE) == 8 ? TEST(expected)[kind].bits64 :
				TEST(expected)[kind].bits32;
			if (full)
				CHECK_MSG(bits <= limit, "%s column %d: %.2f bits", FP_NAME,
						  kind, bits);
		}
	}
}

/* Runs of vectors whose nature changes: hints never spoil a value. */
static void
TEST(hints) (void)
{
	enum {RUN_VECTORS = 40};
	static const int kinds[] = {1, 2, 8, 10, 13};
	FP_TYPE		v[ST_VECTOR_SIZE];
	FP_TYPE		back[ST_VECTOR_SIZE];
	uint8_t		enc[16 * ST_VECTOR_SIZE];
	StFloatHint hint = {0};
	size_t		len = 0;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
	{
		for (int run = 0; run < RUN_VECTORS; run++)
		{
			int			n = 1 + (int) test_random_below(ST_VECTOR_SIZE);

			for (int i = 0; i < n; i++)
				v[i] = TEST(column) (kinds[k], i);
			CHECK(FP(encode_next) (v, n, &hint, enc, sizeof(enc), &len) == ST_OK);
			CHECK(len <= FP(bound) (n));
			CHECK(FP(decode) (enc, len, n, back) == ST_OK);
			CHECK(memcmp(v, back, (size_t) n * sizeof(FP_TYPE)) == 0);
		}
		/* decimals are found again after real numbers */
		if (kinds[k] == 2)
			CHECK(strcmp(st_float_scheme_name (enc, len), "alp") == 0);
	}
}

/* Two columns in one vector, all pairs. */
static void
TEST(mixtures) (void)
{
	FP_TYPE		v[ST_VECTOR_SIZE];

	for (int a = 0; a < NUM_COLUMNS; a++)
	{
		for (int b = 0; b < NUM_COLUMNS; b++)
		{
			int			n = 1 + (int) test_random_below(300);
			uint64_t	odds = 1 + test_random_below(100);

			for (int i = 0; i < n; i++)
				v[i] = TEST(column) (test_random_below(odds) ? a : b, i);
			TEST(roundtrip) (v, n, NULL);
		}
	}
}

static void
TEST(edges) (void)
{
	FP_TYPE		v[ST_VECTOR_SIZE + 1] = {0};
	uint8_t		buf[16 * ST_VECTOR_SIZE];
	size_t		len;

	TEST(roundtrip) (v, 0, "raw");
	for (int k = 0; k < 14; k++)
	{
		for (int i = 0; i < 100; i++)
			v[i] = TEST(special) (k);
		CHECK(TEST(roundtrip) (v, 100, "constant") == 1 + sizeof(FP_TYPE));
	}
	/* 0 and -0 are equal, but not the same */
	v[50] = TEST(special) (0);
	v[51] = TEST(special) (1);
	TEST(roundtrip) (v + 50, 2, NULL);
	CHECK(FP(encode) (v, -1, buf, sizeof(buf), &len) == ST_NOTFIT);
	CHECK(FP(encode) (v, ST_VECTOR_SIZE + 1, buf, sizeof(buf),
					  &len) == ST_NOTFIT);
	CHECK(strcmp(st_float_scheme_name (buf, 0), "corrupt") == 0);
	buf[0] = 77;
	CHECK(strcmp(st_float_scheme_name (buf, 1), "corrupt") == 0);
	CHECK(FP(decode) (buf, 1, 0, v) == ST_CORRUPT);
}

/* ---- hostile bytes ---- */

static StStatus
TEST(hostile_decode) (const uint8_t *src, size_t len, void *arg)
{
	int			n = *(const int *) arg;
	FP_TYPE    *out = malloc((size_t) n * sizeof(FP_TYPE));
	StStatus	status = FP(decode) (src, len, n, out);

	for (int i = 0; i < n; i += 1 + n / 10)
		(void) FP(at) (src, len, n, i, out);
	free(out);
	return status;
}

static void
TEST(hostile) (void)
{
	FP_TYPE		v[ST_VECTOR_SIZE];
	uint8_t		enc[16 * ST_VECTOR_SIZE];
	size_t		len;

	for (int kind = 0; kind < NUM_COLUMNS; kind++)
	{
		int			n = 70;

		for (int i = 0; i < ST_VECTOR_SIZE; i++)
			v[i] = TEST(column) (kind, i);
		CHECK(FP(encode) (v, n, enc, sizeof(enc), &len) == ST_OK);
		test_hostile(enc, len, true, TEST(hostile_decode), &n);
	}
	/* headers of full vectors */
	for (int kind = 0; kind < NUM_COLUMNS; kind++)
	{
		int			n = ST_VECTOR_SIZE;

		for (int i = 0; i < n; i++)
			v[i] = TEST(column) (kind, i);
		CHECK(FP(encode) (v, n, enc, sizeof(enc), &len) == ST_OK);
		for (int round = 0; round < 100; round++)
		{
			uint8_t    *copy = test_exact_copy(enc, len);

			copy[test_random_below(len < 80 ? len : 80)] =
				(uint8_t) test_random();
			copy[test_random_below(len)] = (uint8_t) test_random();
			(void) TEST(hostile_decode) (copy, len, &n);
			free(copy);
		}
	}
}

/* ---- golden bytes ---- */

static StStatus
TEST(golden_decode) (const uint8_t *src, size_t len, uint32_t n,
					 uint8_t *out, size_t cap, size_t *outlen)
{
	FP_TYPE		v[ST_VECTOR_SIZE];
	StStatus	status = FP(decode) (src, len, (int) n, v);

	*outlen = n * sizeof(FP_TYPE);
	if (*outlen > cap)
		return ST_NOSPACE;
	memcpy(out, v, *outlen);
	return status;
}

static void
TEST(golden) (void)
{
	static const struct
	{
		const char *name;
		int			kind;
		int			n;
	}			cases[] =
	{
		{"decimal", 2, 100}, {"fraction", 3, 100}, {"multiple", 4, 60},
		{"binary", 7, 100}, {"exceptions", 10, 100}, {"unary", 1, 200},
		{"fixed", 17, 100}, {"outliers", 12, 300}, {"signs", 5, 100},
		{"raw", 8, 20}, {"constant", 13, 50}
	};
	uint8_t		enc[16 * ST_VECTOR_SIZE];
	FP_TYPE		v[ST_VECTOR_SIZE];
	size_t		len;

	test_rng = 1;				/* whatever ST_TEST_SEED is */
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
	{
		char		name[64];

		for (int i = 0; i < cases[c].n; i++)
			v[i] = cases[c].kind == 7 ?
				(FP_TYPE) ((double) test_random_below(4000) / 64) :
				TEST(column) (cases[c].kind, i);
		CHECK(FP(encode) (v, cases[c].n, enc, sizeof(enc), &len) == ST_OK);
		snprintf(name, sizeof(name), "%s-%s-v1", FP_NAME, cases[c].name);
		golden_check(name, (uint32_t) cases[c].n, v,
					 (size_t) cases[c].n * sizeof(FP_TYPE), enc, len,
					 TEST(golden_decode));
	}
}

#undef NUM_COLUMNS
#undef FP
#undef TEST
#undef FP_TYPE
#undef FP_WORD
#undef FP_NAME
