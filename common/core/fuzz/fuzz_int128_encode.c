/*-------------------------------------------------------------------------
 *
 * fuzz_int128_encode.c
 *	  Any vector of 128-bit integers must come back from its encoding.
 *
 * Input: bits by which a factor is shifted, addend's top byte, then as in
 * st_fuzz_values.h: values are v * (1 + 2^shift) + addend.
 *
 *-------------------------------------------------------------------------
 */
#include "st_fuzz.h"
#include "st_fuzz_values.h"
#include "st_int.h"

__extension__ typedef unsigned __int128 Uint128;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64_t		narrow[ST_VECTOR_SIZE];
	StInt128	v[ST_VECTOR_SIZE];
	StInt128	back[ST_VECTOR_SIZE];
	Uint128		factor;
	Uint128		addend;
	uint8_t    *enc;
	uint8_t    *exact;
	size_t		len = 0;
	int			n;

	if (size < 2)
		return 0;
	factor = 1 + ((Uint128) 1 << data[0] % 128);
	addend = (Uint128) data[1] << 120;
	n = fuzz_values(data + 2, size - 2, narrow);
	if (n < 0)
		return 0;
	for (int i = 0; i < n; i++)
		v[i] = (StInt128) ((Uint128) narrow[i] * factor + addend);

	enc = malloc(st_int128_bound(n));
	if (enc == NULL)
		abort();
	FUZZ_ASSERT(st_int128_encode(v, n, enc, st_int128_bound(n), &len) == ST_OK);
	FUZZ_ASSERT(len <= st_int128_bound(n));
	exact = malloc(len);
	if (exact == NULL)
		abort();
	memcpy(exact, enc, len);
	FUZZ_ASSERT(st_int128_decode(exact, len, n, back) == ST_OK);
	FUZZ_ASSERT(memcmp(v, back, (size_t) n * sizeof(v[0])) == 0);
	for (int i = 0; i < n; i += n > 64 ? 97 : 1)
	{
		StInt128	one = 0;

		FUZZ_ASSERT(st_int128_at(exact, len, n, i, &one) == ST_OK);
		FUZZ_ASSERT(one == v[i]);
	}
	free(exact);
	free(enc);
	return 0;
}
