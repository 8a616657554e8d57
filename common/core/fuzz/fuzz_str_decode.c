/*-------------------------------------------------------------------------
 *
 * fuzz_str_decode.c
 *	  Hostile bytes into the string decoders, which must agree.
 *
 * Input: u16 n modulo ST_VECTOR_SIZE + 1, u16 length of the scheme, saved
 * scheme, encoded vector.
 *
 *-------------------------------------------------------------------------
 */
#include "st_fuzz.h"
#include "st_str.h"

static void
compare_at(const StStrScheme *scheme, const uint8_t *data, size_t size, int n,
		   int i, const uint8_t *expected, uint32_t len)
{
	uint32_t	outlen = 0;
	uint8_t    *out = malloc(len ? len : 1);

	if (out == NULL)
		abort();
	FUZZ_ASSERT(st_str_at(scheme, data, size, n, i, out, len,
						  &outlen) == ST_OK);
	FUZZ_ASSERT(outlen == len && memcmp(out, expected, len) == 0);
	free(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	StStrScheme scheme;
	StStatus	status;
	size_t		schemelen;
	size_t		arenasize = 0;
	uint32_t	off[ST_VECTOR_SIZE];
	uint32_t	lens[ST_VECTOR_SIZE];
	uint8_t    *arena;
	int			n;

	if (size < 4)
		return 0;
	n = st_load_u16(data) % (ST_VECTOR_SIZE + 1);
	schemelen = st_load_u16(data + 2);
	data += 4;
	size -= 4;
	if (schemelen > size ||
		st_str_scheme_load(data, schemelen, &scheme) != ST_OK)
		return 0;
	data += schemelen;
	size -= schemelen;

	status = st_str_decoded_size(&scheme, data, size, n, 4, 8, &arenasize);
	FUZZ_ASSERT(status == ST_OK || status == ST_CORRUPT);
	if (status != ST_OK)
	{
		uint8_t		none;

		for (int i = 0; i < n; i += 1 + n / 8)
			FUZZ_ASSERT(st_str_at(&scheme, data, size, n, i, &none, 0,
								  lens) != ST_OK);
		return 0;
	}
	/* the README's promise: memory is bounded by the input */
	FUZZ_ASSERT(arenasize <= 8 * size + 80 * ((size_t) n + 1));
	arena = malloc(arenasize);
	if (arena == NULL)
		abort();
	status = st_str_decode(&scheme, data, size, n, 4, 8, arena, arenasize,
						   off, lens);
	FUZZ_ASSERT(status == ST_OK || status == ST_CORRUPT);
	for (int i = 0; i < n; i += 1 + n / 16)
	{
		if (status == ST_OK)
			compare_at(&scheme, data, size, n, i, arena + off[i], lens[i]);
		else
			(void) st_str_at(&scheme, data, size, n, i, arena, arenasize,
							 lens);
	}
	free(arena);
	return 0;
}
