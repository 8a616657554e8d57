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

int			cc_simd = CC_SIMD_AVX512;

const CcVecKernels *
cc_vec_kernels(void)
{
#ifdef __x86_64__
	StIsa		isa = cc_simd == CC_SIMD_NONE ? ST_ISA_DEFAULT : st_bitpack_best_isa();

	if (isa == ST_ISA_AVX512 && cc_simd == CC_SIMD_AVX512)
		return &cc_vec_kernels_avx512;
	if (isa != ST_ISA_DEFAULT)
		return &cc_vec_kernels_avx2;
#endif
	return &cc_vec_kernels_default;
}
