/*-------------------------------------------------------------------------
 *
 * test_bitmap.c
 *	  Bitmap encodings.
 *
 *-------------------------------------------------------------------------
 */
#include "st_bitmap.h"
#include "st_golden.h"
#include "st_schemes.h"
#include "st_test.h"

static bool
st_bitmap_get(const uint64_t *words, int i)
{
	return (words[i >> 6] >> (i & 63)) & 1;
}

static const int sizes[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 500,
1000, 1023, 1024};

#define NSIZES ((int) (sizeof(sizes) / sizeof(sizes[0])))

/* Kinds of bitmaps, with the scheme expected for 1,024 bits. */
static const char *const kinds[] = {"none", "all", "random", "one-set",
	"one-unset", "few-set", "few-unset", "one-run", "runs", "alternating",
"last-only", "first-unset"};
static const char *const schemes[] = {"none", "all", "raw", "positions",
	"positions of unset", "positions", "positions of unset", "rle", "rle", "raw",
"rle", "rle"};

#define NKINDS ((int) (sizeof(kinds) / sizeof(kinds[0])))

static bool
kind_bit(int kind, int i, int n)
{
	switch (kind)
	{
		case 0:
			return false;
		case 1:
			return true;
		case 2:
			return ((uint64_t) i * UINT64_C(0x9e3779b97f4a7c15) >> 37) & 1;
		case 3:
			return i == n / 2;
		case 4:
			return i != n / 2;
		case 5:
			return i % 101 == 17;
		case 6:
			return i % 101 != 17;
		case 7:
			return i > n / 3 && i < n / 2;
		case 8:
			return i / 40 % 2 == 0;
		case 9:
			return i % 2 == 0;
		case 10:
			return i == n - 1;
		default:
			return i != 0;
	}
}

static void
fill_kind(int kind, int n, uint64_t *words)
{
	memset(words, 0, ST_BITMAP_WORDS * 8);
	for (int i = 0; i < n; i++)
		if (kind_bit(kind, i, n))
			st_bitmap_set(words, i);
}

static void
check_bitmap(const uint64_t *words, int n, const char *scheme)
{
	uint64_t	dirty[ST_BITMAP_WORDS];
	uint64_t	back[ST_BITMAP_WORDS];
	size_t		bound = st_bitmap_bound(n);
	uint8_t    *enc = malloc(bound);
	uint8_t    *exact;
	size_t		len = 0;
	size_t		len2 = 0;
	int			count = 0;

	if (enc == NULL)
		abort();
	CHECK(st_bitmap_encode(words, n, enc, bound, &len) == ST_OK && len <= bound);
	if (scheme != NULL)
		CHECK_MSG(strcmp(st_bitmap_scheme_name(enc, len), scheme) == 0,
				  "%s, not %s", st_bitmap_scheme_name(enc, len), scheme);
	exact = test_exact_copy(enc, len);
	memset(back, 0xa5, sizeof(back));
	CHECK_MSG(st_bitmap_decode(exact, len, n, back) == ST_OK &&
			  memcmp(words, back, sizeof(back)) == 0, "n=%d %s", n,
			  st_bitmap_scheme_name(enc, len));
	for (int i = 0; i < n; i++)
		count += st_bitmap_get(words, i);
	CHECK(st_bitmap_popcount(words, n) == count);

	/* bits behind n do not matter to the encoder */
	memcpy(dirty, words, sizeof(dirty));
	for (int i = n; i < ST_VECTOR_SIZE; i++)
		st_bitmap_set(dirty, i);
	CHECK(st_bitmap_encode(dirty, n, exact, len, &len2) == ST_OK &&
		  len2 == len && memcmp(enc, exact, len) == 0);
	CHECK(st_bitmap_popcount(dirty, n) == count);
	CHECK(st_bitmap_encode(words, n, exact, len - 1, &len2) == ST_NOSPACE);
	free(exact);
	free(enc);
}

static void
test_kinds(void)
{
	uint64_t	words[ST_BITMAP_WORDS];

	for (int kind = 0; kind < NKINDS; kind++)
		for (int s = 0; s < NSIZES; s++)
		{
			fill_kind(kind, sizes[s], words);
			check_bitmap(words, sizes[s], sizes[s] == ST_VECTOR_SIZE ?
						 schemes[kind] : NULL);
		}
}

static void
test_random_bitmaps(void)
{
	for (int round = 0; round < 5000; round++)
	{
		uint64_t	words[ST_BITMAP_WORDS] = {0};
		int			n = (int) test_random_below(ST_VECTOR_SIZE + 1);
		uint64_t	every = 1 + test_random_below(200);
		bool		bit = test_random_below(2);
		bool		runs = test_random_below(2);

		for (int i = 0; i < n; i++)
		{
			bool		event = test_random_below(every) == 0;

			if (runs)
				bit ^= event;
			if (runs ? bit : bit ^ event)
				st_bitmap_set(words, i);
		}
		check_bitmap(words, n, NULL);
	}
}

static void
test_fill(void)
{
	for (int n = 0; n <= ST_VECTOR_SIZE; n++)
	{
		uint64_t	words[ST_BITMAP_WORDS];

		memset(words, 0x5a, sizeof(words));
		st_bitmap_fill(words, n);
		CHECK(st_bitmap_popcount(words, ST_VECTOR_SIZE) == n);
		CHECK(n == 0 || st_bitmap_get(words, n - 1));
		CHECK(n == ST_VECTOR_SIZE || !st_bitmap_get(words, n));
		if (n > 0)
			st_bitmap_clear(words, n - 1);
		CHECK(n == 0 || st_bitmap_popcount(words, n) == n - 1);
	}
}

static StStatus
decode_hostile(const uint8_t *src, size_t len, void *arg)
{
	uint64_t   *words = malloc(ST_BITMAP_WORDS * 8);
	StStatus	status;

	if (words == NULL)
		abort();
	(void) st_bitmap_scheme_name(src, len);
	status = st_bitmap_decode(src, len, *(int *) arg, words);
	if (status == ST_OK)
		CHECK(st_bitmap_popcount(words, *(int *) arg) ==
			  st_bitmap_popcount(words, ST_VECTOR_SIZE));
	free(words);
	return status;
}

static void
test_hostile_bytes(void)
{
	uint64_t	words[ST_BITMAP_WORDS];
	uint8_t		enc[256];

	for (int kind = 0; kind < NKINDS; kind++)
		for (int s = 0; s < NSIZES; s++)
		{
			int			n = sizes[s];
			size_t		len = 0;
			bool		listed;

			fill_kind(kind, n, words);
			CHECK(st_bitmap_encode(words, n, enc, sizeof(enc), &len) == ST_OK);
			/* a list may be cut where it is still a list */
			listed = enc[0] >= ST_BITMAP_RUNS;
			test_hostile(enc, len, !listed, decode_hostile, &n);
		}
}

static void
test_corrupt(void)
{
	static const uint8_t empty_run[] = {ST_BITMAP_RUNS, 3, 0, 2};
	static const uint8_t two_empty[] = {ST_BITMAP_RUNS, 0, 0};
	static const uint8_t long_run[] = {ST_BITMAP_RUNS, 10};
	static const uint8_t far_gap[] = {ST_BITMAP_SET, 3, 6};
	static const uint8_t dirty_raw[] = {ST_BITMAP_RAW, 0xff, 0xff};
	static const uint8_t unknown[] = {77};
	uint64_t	words[ST_BITMAP_WORDS];
	uint8_t		enc[256];
	size_t		len;

	CHECK(st_bitmap_decode(empty_run, 4, 10, words) == ST_CORRUPT);
	CHECK(st_bitmap_decode(two_empty, 3, 10, words) == ST_CORRUPT);
	CHECK(st_bitmap_decode(long_run, 2, 10, words) == ST_CORRUPT);
	CHECK(st_bitmap_decode(long_run, 2, 11, words) == ST_OK &&
		  words[0] == 1 << 10);
	CHECK(st_bitmap_decode(far_gap, 3, 10, words) == ST_CORRUPT);
	CHECK(st_bitmap_decode(far_gap, 3, 11, words) == ST_OK &&
		  words[0] == (1 << 10 | 1 << 3));
	CHECK(st_bitmap_decode(dirty_raw, 3, 15, words) == ST_CORRUPT);
	CHECK(st_bitmap_decode(dirty_raw, 3, 16, words) == ST_OK);
	CHECK(st_bitmap_decode(unknown, 1, 1, words) == ST_CORRUPT);
	CHECK(st_bitmap_decode(unknown, 0, 1, words) == ST_CORRUPT);
	CHECK(st_bitmap_decode(dirty_raw, 3, -1, words) == ST_CORRUPT);
	CHECK(st_bitmap_decode(dirty_raw, 3, ST_VECTOR_SIZE + 1, words) == ST_CORRUPT);
	CHECK(st_bitmap_encode(words, -1, enc, sizeof(enc), &len) == ST_NOTFIT);
	CHECK(st_bitmap_encode(words, ST_VECTOR_SIZE + 1, enc, sizeof(enc), &len) == ST_NOTFIT);
	CHECK(strcmp(st_bitmap_scheme_name(unknown, 1), "unknown") == 0);
	CHECK(strcmp(st_bitmap_scheme_name(unknown, 0), "unknown") == 0);
}

static StStatus
golden_decode(const uint8_t *src, size_t len, uint32_t n,
			  uint8_t *out, size_t cap, size_t *outlen)
{
	uint64_t	words[ST_BITMAP_WORDS];
	StStatus	status = st_bitmap_decode(src, len, (int) n, words);

	*outlen = sizeof(words);
	if (status == ST_OK && *outlen <= cap)
		memcpy(out, words, *outlen);
	return status;
}

static void
test_golden(void)
{
	for (int kind = 0; kind < NKINDS; kind++)
		for (int n = 1000; n <= ST_VECTOR_SIZE; n += 24)
		{
			uint64_t	words[ST_BITMAP_WORDS];
			uint8_t		enc[256];
			char		name[100];
			size_t		len = 0;

			fill_kind(kind, n, words);
			CHECK(st_bitmap_encode(words, n, enc, sizeof(enc), &len) == ST_OK);
			snprintf(name, sizeof(name), "bitmap-%s-%d-v1", kinds[kind], n);
			golden_check(name, (uint32_t) n, words, sizeof(words), enc, len,
						 golden_decode);
		}
}

int
main(void)
{
	RUN(test_kinds);
	RUN(test_random_bitmaps);
	RUN(test_fill);
	RUN(test_hostile_bytes);
	RUN(test_corrupt);
	RUN(test_golden);
	return test_summary("bitmap");
}
