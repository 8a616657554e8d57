/*-------------------------------------------------------------------------
 *
 * st_bitpack_tables.h
 *	  The kernel tables, one per instruction set; private to st_bitpack*.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_BITPACK_TABLES_H
#define ST_BITPACK_TABLES_H

#include "st_bitpack.h"

extern const StBitpackKernels st_bitpack_kernels_default;
#ifdef __x86_64__
extern const StBitpackKernels st_bitpack_kernels_avx2;
extern const StBitpackKernels st_bitpack_kernels_avx512;
#endif

#endif							/* ST_BITPACK_TABLES_H */
