/*-------------------------------------------------------------------------
 *
 * fuzz_bitmap_encode.c
 *	  Any bitmap must come back from its encoding.
 *
 * Input: u16 n modulo ST_VECTOR_SIZE + 1, length of runs, bits (repeated if
 * too few).
 *
 *-------------------------------------------------------------------------
 */
#include "st_bitmap.h"
#include "st_fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t	words[ST_BITMAP_WORDS] = {0};
	uint64_t	back[ST_BITMAP_WORDS];
	uint8_t    *enc;
	uint8_t    *exact;
	size_t		len = 0;
	size_t		run;
	int			n;

	if (size < 4)
		return 0;
	n = st_load_u16(data) % (ST_VECTOR_SIZE + 1);
	run = data[2] % 64 + 1;
	data += 3;
	size -= 3;
	for (int i = 0; i < n; i++)
	{
		size_t		bit = (size_t) i / run % (size * 8);

		if (data[bit / 8] >> (bit % 8) & 1)
			st_bitmap_set(words, i);
	}

	enc = malloc(st_bitmap_bound(n));
	if (enc == NULL)
		abort();
	FUZZ_ASSERT(st_bitmap_encode(words, n, enc, st_bitmap_bound(n), &len) == ST_OK);
	exact = malloc(len);
	if (exact == NULL)
		abort();
	memcpy(exact, enc, len);
	FUZZ_ASSERT(st_bitmap_decode(exact, len, n, back) == ST_OK);
	FUZZ_ASSERT(memcmp(words, back, sizeof(words)) == 0);
	free(exact);
	free(enc);
	return 0;
}
