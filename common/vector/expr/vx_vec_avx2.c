/*-------------------------------------------------------------------------
 *
 * vx_vec_avx2.c
 *	  Vector kernels for AVX2.
 *
 *-------------------------------------------------------------------------
 */
#include "vx_vec.h"

#ifdef __x86_64__
#define VX_VEC_TABLE vx_vec_kernels_avx2
#define VX_VEC_TARGET __attribute__((target("avx2")))
#include "vx_vec_template.h"
#endif
