/*-------------------------------------------------------------------------
 *
 * cc_vec_avx2.c
 *	  Vector kernels for AVX2.
 *
 *-------------------------------------------------------------------------
 */
#include "cc_vec.h"

#ifdef __x86_64__
#define CC_VEC_TABLE cc_vec_kernels_avx2
#define CC_VEC_TARGET __attribute__((target("avx2")))
#include "cc_vec_template.h"
#endif
