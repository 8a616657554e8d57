/*-------------------------------------------------------------------------
 *
 * test_dict.c
 *	  Sorted dictionaries, against a naive one.
 *
 *-------------------------------------------------------------------------
 */
#include "st_dict_cases.h"
#include "st_test.h"

#define MAX_N 130000

static StStr values[MAX_N];
static uint32_t codes[MAX_N];
static StStr entries[MAX_N];
static uint8_t pool[MAX_N * 8];

static StStr
str(const char *s)
{
	StStr		r = {(const uint8_t *) s, (uint32_t) strlen(s)};

	return r;
}

/* Builds in memory of exactly the size asked for. */
static StStatus
build(size_t n, size_t max_entries, size_t *nentries)
{
	size_t		worklen = st_dict_worksize(n);
	void	   *work = malloc(worklen);
	StStatus	status;

	memset(work, 0xee, worklen);
	status = st_dict_build(values, n, max_entries, work, worklen, codes,
						   entries, nentries);
	CHECK(st_dict_build(values, n, max_entries, work, worklen - 1, codes,
						entries, &n) == ST_NOSPACE);
	free(work);
	return status;
}

/* Every value is its code's entry, entries ascend and are all used. */
static void
check_result(size_t n, size_t nentries)
{
	uint8_t    *used = calloc(nentries + 1, 1);

	for (size_t i = 0; i < n; i++)
	{
		if (values[i].data == NULL)
		{
			CHECK(codes[i] == 0);
			continue;
		}
		CHECK(codes[i] < nentries);
		CHECK(st_str_compare(&values[i], &entries[codes[i]]) == 0);
		used[codes[i]] = 1;
	}
	for (size_t e = 0; e < nentries; e++)
	{
		CHECK(used[e]);
		CHECK(e == 0 || st_str_compare(&entries[e - 1], &entries[e]) < 0);
	}
	free(used);
}

static void
test_order(void)
{
	static const uint8_t zero[] = {'a', 0};
	static const uint8_t high[] = {0xff, 1};
	size_t		n = 0;
	size_t		nentries;

	values[n++] = str("b");
	values[n++] = (StStr) {high, 2};
	values[n++] = str("");
	values[n++] = (StStr) {NULL, 0};
	values[n++] = str("abcdefghij");
	values[n++] = str("a");
	values[n++] = (StStr) {zero, 2};
	values[n++] = str("abcdefgh");
	values[n++] = str("abcdefghi");
	values[n++] = str("b");
	values[n++] = (StStr) {zero, 1};
	CHECK(build(n, 100, &nentries) == ST_OK);
	check_result(n, nentries);
	CHECK(nentries == 8);
	CHECK(entries[0].len == 0);
	CHECK(entries[1].len == 1 && entries[2].len == 2);
	CHECK(codes[1] == 7 && codes[0] == 6 && codes[5] == codes[10]);
}

static void
test_edges(void)
{
	size_t		nentries = 7;

	CHECK(build(0, 10, &nentries) == ST_OK && nentries == 0);
	values[0] = (StStr) {NULL, 0};
	values[1] = (StStr) {NULL, 5};
	CHECK(build(2, 10, &nentries) == ST_OK && nentries == 0);
	CHECK(build(2, 0, &nentries) == ST_OK && nentries == 0);
	values[0] = str("x");
	CHECK(build(2, 0, &nentries) == ST_NOTFIT);
	CHECK(build(2, 1, &nentries) == ST_OK && nentries == 1);
	check_result(2, 1);
}

/* Limits are exact: as many as there are fit, one less does not. */
static void
test_limit(void)
{
	size_t		nentries;

	for (int i = 0; i < 5000; i++)
	{
		int			len = sprintf((char *) pool + i * 8, "%d", i % 1000);

		values[i] = (StStr) {pool + i * 8, (uint32_t) len};
	}
	CHECK(build(5000, 1000, &nentries) == ST_OK && nentries == 1000);
	check_result(5000, nentries);
	CHECK(build(5000, 999, &nentries) == ST_NOTFIT);
	CHECK(build(5000, MAX_N, &nentries) == ST_OK && nentries == 1000);
}

static void
test_random_sets(void)
{
	static const size_t ns[] = {1, 2, 3, 1000, 122880};

	for (size_t k = 0; k < sizeof(ns) / sizeof(ns[0]); k++)
	{
		size_t		n = ns[k];
		uint64_t	domain = 1 + test_random_below(2 * n);
		size_t		nentries;

		for (size_t i = 0; i < n; i++)
		{
			uint64_t	x = test_random_below(domain);
			uint8_t    *p = pool + i * 8;

			/* bytes in memory order make prefixes of each other likely */
			st_store_u64(p, x * x);
			values[i] = (StStr) {p, (uint32_t) (x % 9)};
			if (test_random_below(20) == 0)
				values[i].data = NULL;
		}
		CHECK(build(n, n, &nentries) == ST_OK);
		check_result(n, nentries);
	}
}

static void
test_search(void)
{
	StStr		sorted[] = {str(""), str("b"), str("bb"), str("d")};
	StStr		key = str("bb");
	bool		found;

	CHECK(st_dict_search(sorted, 4, &key, &found) == 2 && found);
	key = str("");
	CHECK(st_dict_search(sorted, 4, &key, &found) == 0 && found);
	key = str("a");
	CHECK(st_dict_search(sorted, 4, &key, &found) == 1 && !found);
	key = str("c");
	CHECK(st_dict_search(sorted, 4, &key, &found) == 3 && !found);
	key = str("e");
	CHECK(st_dict_search(sorted, 4, &key, &found) == 4 && !found);
	CHECK(st_dict_search(sorted, 0, &key, &found) == 0 && !found);
}

int
main(void)
{
	RUN(test_order);
	RUN(test_edges);
	RUN(test_limit);
	RUN(test_random_sets);
	RUN(test_search);
	return test_summary("dict");
}
