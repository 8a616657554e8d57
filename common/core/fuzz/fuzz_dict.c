/*-------------------------------------------------------------------------
 *
 * fuzz_dict.c
 *	  Dictionaries of any strings: order, codes, limit.
 *
 * Input: u8 limit of entries, then strings: u8 length (255: null), bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "st_dict_cases.h"
#include "st_fuzz.h"

#define MAX_N 512

static StStatus
build(const StStr *v, size_t n, size_t limit, uint32_t *codes, StStr *entries,
	  size_t *nentries)
{
	size_t		worklen = st_dict_worksize(n);
	void	   *work = malloc(worklen);
	StStatus	status;

	if (work == NULL)
		abort();
	status = st_dict_build(v, n, limit, work, worklen, codes, entries,
						   nentries);
	free(work);
	return status;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	StStr		v[MAX_N] = {{NULL, 0}};
	StStr		entries[MAX_N];
	uint32_t	codes[MAX_N];
	size_t		nentries = 0;
	size_t		limit;
	size_t		n = 0;

	if (size < 1)
		return 0;
	limit = *data++;
	size--;
	while (size > 0 && n < MAX_N)
	{
		size_t		len = *data++;

		size--;
		if (len == 255)
		{
			v[n++] = (StStr) {NULL, 0};
			continue;
		}
		len = len < size ? len : size;
		v[n++] = (StStr) {data, (uint32_t) len};
		data += len;
		size -= len;
	}

	FUZZ_ASSERT(build(v, n, MAX_N, codes, entries, &nentries) == ST_OK);
	for (size_t i = 0; i < n; i++)
	{
		bool		found;

		if (v[i].data == NULL)
		{
			FUZZ_ASSERT(codes[i] == 0);
			continue;
		}
		FUZZ_ASSERT(codes[i] < nentries);
		FUZZ_ASSERT(st_str_compare(&entries[codes[i]], &v[i]) == 0);
		FUZZ_ASSERT(st_dict_search(entries, nentries, &v[i],
								   &found) == codes[i] && found);
	}
	for (size_t e = 1; e < nentries; e++)
		FUZZ_ASSERT(st_str_compare(&entries[e - 1], &entries[e]) < 0);
	if (limit < nentries)
		FUZZ_ASSERT(build(v, n, limit, codes, entries,
						  &nentries) == ST_NOTFIT);
	return 0;
}
