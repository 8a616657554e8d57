/*-------------------------------------------------------------------------
 *
 * st_bitpack_default.c
 *	  Bit packing kernels for whatever the compiler targets.
 *
 *-------------------------------------------------------------------------
 */
#include "st_bitpack_tables.h"

#define ST_KERNEL_TABLE st_bitpack_kernels_default
#define ST_KERNEL_TARGET
#include "st_bitpack_kernel.h"
