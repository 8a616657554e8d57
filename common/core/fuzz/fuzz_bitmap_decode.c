/*-------------------------------------------------------------------------
 *
 * fuzz_bitmap_decode.c
 *	  Hostile bytes into the bitmap decoder; what it accepts must survive
 *	  another round.
 *
 * Input: u16 n modulo ST_VECTOR_SIZE + 1, encoded bitmap.
 *
 *-------------------------------------------------------------------------
 */
#include "st_bitmap.h"
#include "st_fuzz.h"
#include "st_schemes.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t	words[ST_BITMAP_WORDS];
	uint64_t	back[ST_BITMAP_WORDS];
	uint8_t		enc[1 + ST_VECTOR_SIZE / 8];
	size_t		len = 0;
	int			n;

	if (size < 2)
		return 0;
	n = st_load_u16(data) % (ST_VECTOR_SIZE + 1);
	data += 2;
	size -= 2;

	(void) st_bitmap_scheme_name(data, size);
	if (st_bitmap_decode(data, size, n, words) != ST_OK)
		return 0;
	/* nothing behind n */
	FUZZ_ASSERT(st_bitmap_popcount(words, ST_VECTOR_SIZE) ==
				st_bitmap_popcount(words, n));
	FUZZ_ASSERT(st_bitmap_encode(words, n, enc, st_bitmap_bound(n), &len) == ST_OK);
	FUZZ_ASSERT(len <= size);
	FUZZ_ASSERT(st_bitmap_decode(enc, len, n, back) == ST_OK);
	FUZZ_ASSERT(memcmp(words, back, sizeof(words)) == 0);
	return 0;
}
