/*-------------------------------------------------------------------------
 *
 * bench_int.c
 *	  Micro-benchmark of the integer encodings: for each case of
 *	  st_int_cases.h the scheme, bits per value, and gigabytes of int64 (or
 *	  uint32) values per second encoded and decoded, on one full vector
 *	  that stays in cache.
 *
 *		bench_int [milliseconds per figure]
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "st_bitpack.h"
#include "st_int.h"
#include "st_int_cases.h"
#include "st_schemes.h"

static int64_t values[ST_VECTOR_SIZE];
static int64_t back[ST_VECTOR_SIZE];
static uint8_t enc[1 + 8 * ST_VECTOR_SIZE + 64];
static size_t enc_len;
static const StBitpackKernels *kernels;
static int	kernel_width;
static int	slice_ms = 50;

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec * 1e-9;
}

/* Calls per second of f, the best of three slices. */
static double
rate(void (*f) (void))
{
	double		best = 0;

	for (int slice = 0; slice < 3; slice++)
	{
		double		start = now();
		double		elapsed;
		long		calls = 0;

		do
		{
			for (int i = 0; i < 100; i++)
				f();
			calls += 100;
			elapsed = now() - start;
		} while (elapsed * 1000 < slice_ms);
		if ((double) calls / elapsed > best)
			best = (double) calls / elapsed;
	}
	return best;
}

static void
run_encode(void)
{
	if (st_int_encode(values, ST_VECTOR_SIZE, enc, sizeof(enc), &enc_len) != ST_OK)
		abort();
}

static void
run_decode(void)
{
	if (st_int_decode(enc, enc_len, ST_VECTOR_SIZE, back) != ST_OK)
		abort();
}

static void
run_decode_u32(void)
{
	if (st_int_decode_u32(enc, enc_len, ST_VECTOR_SIZE, (uint32_t *) back) != ST_OK)
		abort();
}

static void
run_at(void)
{
	if (st_int_at(enc, enc_len, ST_VECTOR_SIZE, 511, back) != ST_OK)
		abort();
}

static void
run_pack(void)
{
	kernels->pack[kernel_width] ((uint64_t *) values, 0, enc);
}

static void
run_unpack(void)
{
	kernels->unpack[kernel_width] (enc, 1000, (uint64_t *) back);
}

static void
bench_cases(void)
{
	const double gb = ST_VECTOR_SIZE * 8 / 1e9;

	printf("%-18s %-20s %8s %8s %8s %8s %8s\n", "case", "scheme",
		   "bits", "enc GB/s", "dec GB/s", "u32 GB/s", "at ns");
	for (int c = 0; c < INT_NCASES; c++)
	{
		double		encode;
		double		decode;
		bool		small;

		int_cases[c].fill(values, ST_VECTOR_SIZE);
		encode = rate(run_encode);
		decode = rate(run_decode);
		small = st_int_decode_u32(enc, enc_len, ST_VECTOR_SIZE, (uint32_t *) back) == ST_OK;
		printf("%-18s %-20s %8.2f %8.2f %8.2f %8.2f %8.1f\n",
			   int_cases[c].name, st_int_scheme_name(enc, enc_len),
			   (double) enc_len * 8 / ST_VECTOR_SIZE, encode * gb, decode * gb,
			   small ? rate(run_decode_u32) * gb / 2 : 0.0, 1e9 / rate(run_at));
	}
}

static void
bench_kernels(void)
{
	static const char *const names[] = {"default", "avx2", "avx512"};
	static const int widths[] = {1, 4, 7, 8, 13, 20, 32, 33, 48, 63};
	const double gb = ST_VECTOR_SIZE * 8 / 1e9;

	printf("\n%-10s", "GB/s");
	for (int w = 0; w < 10; w++)
		printf(" %13d", widths[w]);
	printf("   (pack / unpack by width)\n");
	for (int isa = 0; isa < ST_ISA_COUNT; isa++)
	{
		kernels = st_bitpack_kernels((StIsa) isa);
		if (kernels == NULL)
			continue;
		printf("%-10s", names[isa]);
		for (int w = 0; w < 10; w++)
		{
			kernel_width = widths[w];
			printf(" %6.1f/%6.1f", rate(run_pack) * gb, rate(run_unpack) * gb);
		}
		printf("\n");
	}
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		slice_ms = atoi(argv[1]);
	bench_cases();
	bench_kernels();
	return 0;
}
