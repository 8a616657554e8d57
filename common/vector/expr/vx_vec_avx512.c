/*-------------------------------------------------------------------------
 *
 * vx_vec_avx512.c
 *	  Vector kernels for AVX-512.
 *
 *-------------------------------------------------------------------------
 */
#include "vx_vec.h"

#ifdef __x86_64__
#define VX_VEC_TABLE vx_vec_kernels_avx512
#define VX_VEC_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#include "vx_vec_template.h"
#endif
