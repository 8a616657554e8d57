/*-------------------------------------------------------------------------
 *
 * cc_vec_default.c
 *	  Vector kernels for any processor.
 *
 *-------------------------------------------------------------------------
 */
#include "cc_vec.h"

#define CC_VEC_TABLE cc_vec_kernels_default
#define CC_VEC_TARGET
#include "cc_vec_template.h"

#include "st_bitpack.h"

const CcVecKernels *
cc_vec_kernels(void)
{
#ifdef __x86_64__
	switch (st_bitpack_best_isa())
	{
		case ST_ISA_AVX512:
			return &cc_vec_kernels_avx512;
		case ST_ISA_AVX2:
			return &cc_vec_kernels_avx2;
		default:
			break;
	}
#endif
	return &cc_vec_kernels_default;
}
