/*-------------------------------------------------------------------------
 *
 * fuzz_int128_decode.c
 *	  Hostile bytes into the decoders of 128-bit integers.
 *
 * Input: u16 n modulo ST_VECTOR_SIZE + 1, encoded vector.
 *
 *-------------------------------------------------------------------------
 */
#include "st_fuzz.h"
#include "st_int.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	StInt128	v[ST_VECTOR_SIZE];
	StStatus	status;
	int			n;

	if (size < 2)
		return 0;
	n = st_load_u16(data) % (ST_VECTOR_SIZE + 1);
	data += 2;
	size -= 2;

	status = st_int128_decode(data, size, n, v);
	FUZZ_ASSERT(status == ST_OK || status == ST_CORRUPT);
	for (int i = 0; i < n; i += n > 64 ? 61 : 1)
	{
		StInt128	one = 0;
		StStatus	at = st_int128_at(data, size, n, i, &one);

		if (status == ST_OK)
			FUZZ_ASSERT(at == ST_OK && one == v[i]);
	}
	return 0;
}
