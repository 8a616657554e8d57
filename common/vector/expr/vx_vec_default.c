/*-------------------------------------------------------------------------
 *
 * vx_vec_default.c
 *	  Vector kernels for any processor.
 *
 *-------------------------------------------------------------------------
 */
#include "vx_settings.h"
#include "vx_vec.h"

#define VX_VEC_TABLE vx_vec_kernels_default
#define VX_VEC_TARGET
#include "vx_vec_template.h"

#include "st_bitpack.h"

const VxVecKernels *
vx_vec_kernels(void)
{
#ifdef __x86_64__
	StIsa		isa = vx_simd == VX_SIMD_NONE ? ST_ISA_DEFAULT : st_bitpack_best_isa();

	if (isa == ST_ISA_AVX512 && vx_simd == VX_SIMD_AVX512)
		return &vx_vec_kernels_avx512;
	if (isa != ST_ISA_DEFAULT)
		return &vx_vec_kernels_avx2;
#endif
	return &vx_vec_kernels_default;
}
