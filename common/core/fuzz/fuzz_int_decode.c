/*-------------------------------------------------------------------------
 *
 * fuzz_int_decode.c
 *	  Hostile bytes into the integer decoders, which must agree.
 *
 * Input: u16 n modulo ST_VECTOR_SIZE + 1, encoded vector.
 *
 *-------------------------------------------------------------------------
 */
#include "st_fuzz.h"
#include "st_schemes.h"
#include "st_int.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64_t		v[ST_VECTOR_SIZE];
	uint32_t	v32[ST_VECTOR_SIZE];
	bool		fits32 = true;
	StStatus	status;
	StStatus	status32;
	int			n;

	if (size < 2)
		return 0;
	n = st_load_u16(data) % (ST_VECTOR_SIZE + 1);
	data += 2;
	size -= 2;

	(void) st_int_scheme_name(data, size);
	status = st_int_decode(data, size, n, v);
	status32 = st_int_decode_u32(data, size, n, v32);
	FUZZ_ASSERT(status == ST_OK || status == ST_CORRUPT);

	for (int i = 0; i < n; i += n > 64 ? 61 : 1)
	{
		int64_t		one = 0;
		StStatus	at = st_int_at(data, size, n, i, &one);

		if (status == ST_OK)
			FUZZ_ASSERT(at == ST_OK && one == v[i]);
	}
	for (int i = 0; status == ST_OK && i < n; i++)
		fits32 &= v[i] >= 0 && v[i] <= UINT32_MAX;
	if (status == ST_OK && fits32)
	{
		FUZZ_ASSERT(status32 == ST_OK);
		for (int i = 0; i < n; i++)
			FUZZ_ASSERT(v32[i] == (uint64_t) v[i]);
	}
	else
		FUZZ_ASSERT(status32 == ST_CORRUPT);
	return 0;
}
