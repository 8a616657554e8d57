/*-------------------------------------------------------------------------
 *
 * st_alp.c
 *	  ALP's arithmetic: from integers to floating point numbers.
 *
 * The paper multiplies twice, by 10^f and by 10^-e, and searches both.  Here
 * the integer is divided by 10^k: division is rounded correctly, so that any
 * decimal of up to 15 digits comes back just as its text would be read, with
 * the smallest k and no exceptions.  It costs a cycle or two per value.
 * Numbers that were computed as d * 0.01 differ from d / 100 in the last bit
 * every few values; they have a mode of their own, and so have multiples of
 * powers of ten and of two.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "st_float_internal.h"

#include "st_bitpack.h"

static const double power10[ST_ALP_MAX_DECIMAL + 1] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
};

static const double power10_negative[ST_ALP_MAX_DECIMAL + 1] = {
	1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11,
	1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17, 1e-18, 1e-19, 1e-20, 1e-21,
	1e-22
};

bool
st_alp_param(int mode, int k, StAlpParam *param)
{
	if (k < 0 ||
		k > (mode == ST_ALP_BINARY ? ST_ALP_MAX_BINARY : ST_ALP_MAX_DECIMAL))
		return false;
	param->mode = mode;
	param->k = k;
	param->divide = mode == ST_ALP_DIVIDE && k > 0;
	switch (mode)
	{
		case ST_ALP_DIVIDE:
			param->constant = param->scale = power10[k];
			return true;
		case ST_ALP_FRACTION:
			param->constant = power10_negative[k];
			param->scale = power10[k];
			return true;
		case ST_ALP_MULTIPLE:
			param->constant = power10[k];
			param->scale = power10_negative[k];
			return true;
		case ST_ALP_BINARY:
			param->constant = ldexp(1.0, -k);
			param->scale = ldexp(1.0, k);
			return true;
		default:
			return false;
	}
}

/* The same loops for each result type and instruction set. */
#define DEFINE_VALUES(name, type, attributes) \
attributes static void \
name(const StAlpParam *param, const int64_t *d, int n, type *dst) \
{ \
	double		constant = param->constant; \
	if (param->divide) \
	{ \
		for (int i = 0; i < n; i++) \
			dst[i] = (type) ((double) d[i] / constant); \
	} \
	else \
	{ \
		for (int i = 0; i < n; i++) \
			dst[i] = (type) ((double) d[i] * constant); \
	} \
}

DEFINE_VALUES(values_default, double,)
DEFINE_VALUES(values32_default, float,)

#ifdef __x86_64__
/* AVX-512 DQ is the first to convert 64-bit integers in vectors. */
#define TARGET_AVX512 \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
DEFINE_VALUES(values_avx512, double, TARGET_AVX512)
DEFINE_VALUES(values32_avx512, float, TARGET_AVX512)
#endif

void
st_alp_values(const StAlpParam *param, const int64_t *d, int n, double *dst)
{
#ifdef __x86_64__
	if (st_bitpack_best_isa() >= ST_ISA_AVX512)
	{
		values_avx512(param, d, n, dst);
		return;
	}
#endif
	values_default(param, d, n, dst);
}

void
st_alp_values32(const StAlpParam *param, const int64_t *d, int n, float *dst)
{
#ifdef __x86_64__
	if (st_bitpack_best_isa() >= ST_ISA_AVX512)
	{
		values32_avx512(param, d, n, dst);
		return;
	}
#endif
	values32_default(param, d, n, dst);
}
