/*-------------------------------------------------------------------------
 *
 * fuzz_int_encode.c
 *	  Any integer vector must come back from its encoding, at any capacity.
 *
 * Input: see st_fuzz_values.h.
 *
 *-------------------------------------------------------------------------
 */
#include "st_fuzz.h"
#include "st_fuzz_values.h"
#include "st_int.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64_t		v[ST_VECTOR_SIZE];
	int64_t		back[ST_VECTOR_SIZE];
	int			n = fuzz_values(data, size, v);
	uint8_t    *enc;
	uint8_t    *exact;
	size_t		len = 0;
	size_t		len2 = 0;

	if (n < 0)
		return 0;
	enc = malloc(st_int_bound(n));
	if (enc == NULL)
		abort();
	FUZZ_ASSERT(st_int_encode(v, n, enc, st_int_bound(n), &len) == ST_OK);
	FUZZ_ASSERT(len <= st_int_bound(n));
	exact = malloc(len);
	if (exact == NULL)
		abort();
	FUZZ_ASSERT(st_int_encode(v, n, exact, len, &len2) == ST_OK);
	FUZZ_ASSERT(len2 == len && memcmp(enc, exact, len) == 0);
	FUZZ_ASSERT(st_int_decode(exact, len, n, back) == ST_OK);
	FUZZ_ASSERT(memcmp(v, back, (size_t) n * sizeof(v[0])) == 0);

	for (int i = 0; i < n; i += n > 64 ? 97 : 1)
	{
		int64_t		one = 0;

		FUZZ_ASSERT(st_int_at(exact, len, n, i, &one) == ST_OK);
		FUZZ_ASSERT(one == v[i]);
	}
	free(exact);
	free(enc);
	return 0;
}
