/*-------------------------------------------------------------------------
 *
 * st_float.c
 *	  Vectors of double and of float: see st_float.h, and
 *	  st_float_template.h for the code.
 *
 *-------------------------------------------------------------------------
 */
#include <limits.h>

#include "st_float.h"

#include "st_bitpack.h"
#include "st_bytes.h"
#include "st_float_internal.h"
#include "st_hint.h"
#include "st_int.h"

#define FP(name) st_f64_##name
#define FP_TYPE double
#define FP_WORD uint64_t
#define FP_WORD_BITS 64
#define FP_UNPACK st_bitunpack
#define FP_ALP_VALUES st_alp_values
#include "st_float_template.h"

#define FP(name) st_f32_##name
#define FP_TYPE float
#define FP_WORD uint32_t
#define FP_WORD_BITS 32
#define FP_UNPACK st_bitunpack32
#define FP_ALP_VALUES st_alp_values32
#include "st_float_template.h"
