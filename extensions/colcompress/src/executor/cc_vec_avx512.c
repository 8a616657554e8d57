/*-------------------------------------------------------------------------
 *
 * cc_vec_avx512.c
 *	  Vector kernels for AVX-512.
 *
 *-------------------------------------------------------------------------
 */
#include "cc_vec.h"

#ifdef __x86_64__
#define CC_VEC_TABLE cc_vec_kernels_avx512
#define CC_VEC_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#include "cc_vec_template.h"
#endif
