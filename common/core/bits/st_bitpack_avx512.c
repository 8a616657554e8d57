/*-------------------------------------------------------------------------
 *
 * st_bitpack_avx512.c
 *	  Bit packing kernels for AVX-512 (F, BW, DQ, VL).
 *
 *-------------------------------------------------------------------------
 */
#include "st_bitpack_tables.h"

#ifdef __x86_64__
#define ST_KERNEL_TABLE st_bitpack_kernels_avx512
#define ST_KERNEL_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#include "st_bitpack_kernel.h"
#endif
