/*-------------------------------------------------------------------------
 *
 * fuzz_float_decode.c
 *	  Hostile bytes into the double and float decoders, which must agree.
 *
 * Input: u16 n modulo ST_VECTOR_SIZE + 1, encoded vector.
 *
 *-------------------------------------------------------------------------
 */
#include "st_float.h"
#include "st_fuzz.h"
#include "st_schemes.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	double		v64[ST_VECTOR_SIZE];
	float		v32[ST_VECTOR_SIZE];
	StStatus	status64;
	StStatus	status32;
	int			n;

	if (size < 2)
		return 0;
	n = st_load_u16(data) % (ST_VECTOR_SIZE + 1);
	data += 2;
	size -= 2;

	(void) st_float_scheme_name(data, size);
	status64 = st_f64_decode(data, size, n, v64);
	status32 = st_f32_decode(data, size, n, v32);
	FUZZ_ASSERT(status64 == ST_OK || status64 == ST_CORRUPT);
	FUZZ_ASSERT(status32 == ST_OK || status32 == ST_CORRUPT);
	for (int i = 0; i < n; i += n > 64 ? 61 : 1)
	{
		double		one64 = 0;
		float		one32 = 0;
		StStatus	at64 = st_f64_at(data, size, n, i, &one64);
		StStatus	at32 = st_f32_at(data, size, n, i, &one32);

		if (status64 == ST_OK)
			FUZZ_ASSERT(at64 == ST_OK &&
						memcmp(&one64, &v64[i], sizeof(one64)) == 0);
		if (status32 == ST_OK)
			FUZZ_ASSERT(at32 == ST_OK &&
						memcmp(&one32, &v32[i], sizeof(one32)) == 0);
	}
	return 0;
}
