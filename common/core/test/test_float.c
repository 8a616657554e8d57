/*-------------------------------------------------------------------------
 *
 * test_float.c
 *	  Encodings of double and float vectors.
 *
 *-------------------------------------------------------------------------
 */
#include "st_float.h"
#include "st_golden.h"
#include "st_schemes.h"
#include "st_test.h"

#define FP(name) st_f64_##name
#define TEST(name) test_##name##_f64
#define FP_TYPE double
#define FP_WORD uint64_t
#define FP_NAME "f64"
#include "test_float_cases.h"

#define FP(name) st_f32_##name
#define TEST(name) test_##name##_f32
#define FP_TYPE float
#define FP_WORD uint32_t
#define FP_NAME "f32"
#include "test_float_cases.h"

int
main(void)
{
	RUN(test_columns_f64);
	RUN(test_columns_f32);
	RUN(test_hints_f64);
	RUN(test_hints_f32);
	RUN(test_mixtures_f64);
	RUN(test_mixtures_f32);
	RUN(test_edges_f64);
	RUN(test_edges_f32);
	RUN(test_hostile_f64);
	RUN(test_hostile_f32);
	RUN(test_golden_f64);
	RUN(test_golden_f32);
	return test_summary("float");
}
