/*-------------------------------------------------------------------------
 *
 * st_bitpack_avx2.c
 *	  Bit packing kernels for AVX2.
 *
 *-------------------------------------------------------------------------
 */
#include "st_bitpack_tables.h"

#ifdef __x86_64__
#define ST_KERNEL_TABLE st_bitpack_kernels_avx2
#define ST_KERNEL_TARGET __attribute__((target("avx2")))
#include "st_bitpack_kernel.h"
#endif
