/*-------------------------------------------------------------------------
 *
 * bench_float.c
 *	  Size and speed of the floating point encodings on made-up columns.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <time.h>

#include "st_float.h"
#include "st_schemes.h"
#include "st_test.h"

#define VECTORS 64
#define VALUES (VECTORS * ST_VECTOR_SIZE)

static double v64[VALUES];
static float v32[VALUES];

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec * 1e-9;
}

static double
uniform(void)
{
	return (double) (test_random() >> 12) * 0x1p-52;
}

static double
make_uniform(int i)
{
	(void) i;
	return uniform() * 999.99;
}

static double
make_unit(int i)
{
	(void) i;
	return uniform();
}

static double
make_price(int i)
{
	(void) i;
	return (double) test_random_below(99999) / 100;
}

static double
make_computed(int i)
{
	(void) i;
	return (double) test_random_below(99999) * 0.01;
}

static double
make_normal(int i)
{
	(void) i;
	return sqrt(-2 * log(uniform() + 1e-300)) * cos(6.283185307 * uniform());
}

static double
make_single(int i)
{
	(void) i;
	return (float) (uniform() * 100);
}

static double
make_integer(int i)
{
	return (double) (i * 3 + (int) test_random_below(100));
}

static double
make_walk(int i)
{
	static double last = 100;

	(void) i;
	last += (double) test_random_below(21) / 100 - 0.1;
	return round(last * 100) / 100;
}

static double
make_bits(int i)
{
	uint64_t	word = test_random();
	double		v;

	(void) i;
	memcpy(&v, &word, sizeof(v));
	return v;
}

static void
bench64(const char *name, double (*make) (int))
{
	static uint8_t enc[VECTORS][20000];
	static size_t len[VECTORS];
	static double out[ST_VECTOR_SIZE];
	size_t		total = 0;
	double		t0;
	double		encode;
	double		decode;
	double		at;
	double		sum = 0;

	for (int i = 0; i < VALUES; i++)
		v64[i] = make(i);
	t0 = now();
	for (int v = 0; v < VECTORS; v++)
	{
		if (st_f64_encode(v64 + v * ST_VECTOR_SIZE, ST_VECTOR_SIZE, enc[v],
						  sizeof(enc[v]), &len[v]) != ST_OK)
			abort();
		total += len[v];
	}
	encode = now() - t0;
	t0 = now();
	for (int k = 0; k < 10; k++)
	{
		for (int v = 0; v < VECTORS; v++)
		{
			if (st_f64_decode(enc[v], len[v], ST_VECTOR_SIZE, out) != ST_OK)
				abort();
		}
	}
	decode = (now() - t0) / 10;
	t0 = now();
	for (int i = 0; i < 10000; i++)
	{
		double		one;

		if (st_f64_at(enc[i % VECTORS], len[i % VECTORS], ST_VECTOR_SIZE,
					  (i * 37) % ST_VECTOR_SIZE, &one) != ST_OK)
			abort();
		sum += one;
	}
	at = (now() - t0) / 10000;
	printf("double %-9s %-8s %6.3f bytes, encode %5.0f MB/s, decode %6.0f "
		   "MB/s, at %5.0f ns%s\n", name, st_float_scheme_name(enc[0], len[0]),
		   (double) total / VALUES, VALUES * 8 / encode / 1e6,
		   VALUES * 8 / decode / 1e6, at * 1e9, sum == 42 ? "!" : "");
}

static void
bench32(const char *name, double (*make) (int))
{
	static uint8_t enc[VECTORS][20000];
	static size_t len[VECTORS];
	static float out[ST_VECTOR_SIZE];
	size_t		total = 0;
	double		t0;
	double		encode;
	double		decode;
	double		at;
	float		sum = 0;

	for (int i = 0; i < VALUES; i++)
		v32[i] = (float) make(i);
	t0 = now();
	for (int v = 0; v < VECTORS; v++)
	{
		if (st_f32_encode(v32 + v * ST_VECTOR_SIZE, ST_VECTOR_SIZE, enc[v],
						  sizeof(enc[v]), &len[v]) != ST_OK)
			abort();
		total += len[v];
	}
	encode = now() - t0;
	t0 = now();
	for (int k = 0; k < 10; k++)
	{
		for (int v = 0; v < VECTORS; v++)
		{
			if (st_f32_decode(enc[v], len[v], ST_VECTOR_SIZE, out) != ST_OK)
				abort();
		}
	}
	decode = (now() - t0) / 10;
	t0 = now();
	for (int i = 0; i < 10000; i++)
	{
		float		one;

		if (st_f32_at(enc[i % VECTORS], len[i % VECTORS], ST_VECTOR_SIZE,
					  (i * 37) % ST_VECTOR_SIZE, &one) != ST_OK)
			abort();
		sum += one;
	}
	at = (now() - t0) / 10000;
	printf("float  %-9s %-8s %6.3f bytes, encode %5.0f MB/s, decode %6.0f "
		   "MB/s, at %5.0f ns%s\n", name, st_float_scheme_name(enc[0], len[0]),
		   (double) total / VALUES, VALUES * 4 / encode / 1e6,
		   VALUES * 4 / decode / 1e6, at * 1e9, sum == 42 ? "!" : "");
}

int
main(void)
{
	bench64("uniform", make_uniform);
	bench64("unit", make_unit);
	bench64("price", make_price);
	bench64("computed", make_computed);
	bench64("normal", make_normal);
	bench64("single", make_single);
	bench64("integer", make_integer);
	bench64("walk", make_walk);
	bench64("bits", make_bits);
	bench32("uniform", make_uniform);
	bench32("unit", make_unit);
	bench32("price", make_price);
	bench32("computed", make_computed);
	bench32("normal", make_normal);
	bench32("integer", make_integer);
	bench32("walk", make_walk);
	return 0;
}
