/*-------------------------------------------------------------------------
 *
 * fuzz_float_encode.c
 *	  Any bits as doubles and as floats: they come back.
 *
 * Input: u8 kind, values.  Kind 0: words as they are.  Else: 16-bit integers
 * divided by 10^(kind % 8), or multiplied by that power of 1/2 if kind is
 * odd: data that ALP likes.
 *
 *-------------------------------------------------------------------------
 */
#include "st_float.h"
#include "st_fuzz.h"

static int
make_values(const uint8_t *data, size_t size, int kind, double *v)
{
	int			n = 0;
	double		unit = 1;

	for (int k = 0; k < kind % 8; k++)
		unit *= kind & 1 ? 2 : 10;
	for (; kind != 0 && size >= 2 && n < ST_VECTOR_SIZE; data += 2, size -= 2)
		v[n++] = (double) (int16_t) st_load_u16(data) / unit;
	for (; kind == 0 && size >= 8 && n < ST_VECTOR_SIZE; data += 8, size -= 8)
		v[n++] = st_load_f64(data);
	return n;
}

static void
check64(const double *v, int n)
{
	uint8_t    *enc = malloc(st_f64_bound(n));
	double	   *out = malloc((size_t) (n + 1) * sizeof(double));
	size_t		len = 0;

	if (enc == NULL || out == NULL)
		abort();
	FUZZ_ASSERT(st_f64_encode(v, n, enc, st_f64_bound(n), &len) == ST_OK);
	FUZZ_ASSERT(st_f64_decode(enc, len, n, out) == ST_OK);
	FUZZ_ASSERT(memcmp(out, v, (size_t) n * sizeof(double)) == 0);
	for (int i = 0; i < n; i += 1 + n / 16)
	{
		FUZZ_ASSERT(st_f64_at(enc, len, n, i, out) == ST_OK);
		FUZZ_ASSERT(memcmp(out, &v[i], sizeof(double)) == 0);
	}
	free(enc);
	free(out);
}

static void
check32(const float *v, int n)
{
	uint8_t    *enc = malloc(st_f32_bound(n));
	float	   *out = malloc((size_t) (n + 1) * sizeof(float));
	size_t		len = 0;

	if (enc == NULL || out == NULL)
		abort();
	FUZZ_ASSERT(st_f32_encode(v, n, enc, st_f32_bound(n), &len) == ST_OK);
	FUZZ_ASSERT(st_f32_decode(enc, len, n, out) == ST_OK);
	FUZZ_ASSERT(memcmp(out, v, (size_t) n * sizeof(float)) == 0);
	for (int i = 0; i < n; i += 1 + n / 16)
	{
		FUZZ_ASSERT(st_f32_at(enc, len, n, i, out) == ST_OK);
		FUZZ_ASSERT(memcmp(out, &v[i], sizeof(float)) == 0);
	}
	free(enc);
	free(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	double		v64[ST_VECTOR_SIZE];
	float		v32[ST_VECTOR_SIZE];
	int			kind;
	int			n;

	if (size < 1)
		return 0;
	kind = data[0];
	data++;
	size--;
	n = make_values(data, size, kind, v64);
	check64(v64, n);
	if (kind == 0)
	{
		n = (int) (size / 4 < ST_VECTOR_SIZE ? size / 4 : ST_VECTOR_SIZE);
		memcpy(v32, data, (size_t) n * 4);
	}
	else
	{
		for (int i = 0; i < n; i++)
			v32[i] = (float) v64[i];
	}
	check32(v32, n);
	return 0;
}
