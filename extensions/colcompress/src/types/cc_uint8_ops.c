/*-------------------------------------------------------------------------
 *
 * cc_uint8_ops.c
 *	  Comparison and arithmetic of colcompress.uint8, also with int2, int4
 *	  and int8 on either side.
 *
 * Every function is made from one template: both sides become an int128,
 * which holds all of them, and the result of arithmetic is checked.  So
 * uint8 - int4 is right whatever the signs are, and a result below zero or
 * above 2^64 - 1 is an error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"
#include "utils/sortsupport.h"

#include "cc_uint8.h"

#define GET_uint8(n)	((int128) PG_GETARG_UINT8(n))
#define GET_int2(n)		((int128) PG_GETARG_INT16(n))
#define GET_int4(n)		((int128) PG_GETARG_INT32(n))
#define GET_int8(n)		((int128) PG_GETARG_INT64(n))

#define BYTES_uint8		0
#define BYTES_int2		2
#define BYTES_int4		4
#define BYTES_int8		8

#define COMPARE(left, name, right, op) \
	PG_FUNCTION_INFO_V1(cc_##left##_##name##_##right); \
	Datum \
	cc_##left##_##name##_##right(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_BOOL(GET_##left(0) op GET_##right(1)); \
	}

/* A product may leave int128, but not if one side has 64 bits. */
#define ARITHMETIC(left, name, right, op) \
	PG_FUNCTION_INFO_V1(cc_##left##_##name##_##right); \
	Datum \
	cc_##left##_##name##_##right(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_UINT8(cc_uint8_check(op(GET_##left(0), GET_##right(1)))); \
	}

#define ALL_OPERATORS(left, right) \
	COMPARE(left, lt, right, <) \
	COMPARE(left, le, right, <=) \
	COMPARE(left, eq, right, ==) \
	COMPARE(left, ge, right, >=) \
	COMPARE(left, gt, right, >) \
	COMPARE(left, ne, right, !=) \
	PG_FUNCTION_INFO_V1(cc_##left##_cmp_##right); \
	Datum \
	cc_##left##_cmp_##right(PG_FUNCTION_ARGS) \
	{ \
		int128		a = GET_##left(0); \
		int128		b = GET_##right(1); \
		PG_RETURN_INT32(a < b ? -1 : a > b); \
	} \
	ARITHMETIC(left, pl, right, add) \
	ARITHMETIC(left, mi, right, subtract) \
	ARITHMETIC(left, mul, right, multiply) \
	ARITHMETIC(left, div, right, divide) \
	ARITHMETIC(left, mod, right, modulo)

uint64
cc_uint8_check(int128 value)
{
	if (value < 0 || value > (int128) PG_UINT64_MAX)
		ereport(ERROR,
				errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				errmsg("uint8 out of range"));
	return (uint64) value;
}

static inline int128
add(int128 a, int128 b)
{
	return a + b;
}

static inline int128
subtract(int128 a, int128 b)
{
	return a - b;
}

static inline int128
multiply(int128 a, int128 b)
{
	int128		result;

	/* 2^64 * 2^64: out of range in any case */
	if (__builtin_mul_overflow(a, b, &result))
		return -1;
	return result;
}

static void
check_divisor(int128 b)
{
	if (b == 0)
		ereport(ERROR,
				errcode(ERRCODE_DIVISION_BY_ZERO),
				errmsg("division by zero"));
}

static inline int128
divide(int128 a, int128 b)
{
	check_divisor(b);
	return a / b;
}

static inline int128
modulo(int128 a, int128 b)
{
	check_divisor(b);
	return a % b;
}

ALL_OPERATORS(uint8, uint8)
ALL_OPERATORS(uint8, int2)
ALL_OPERATORS(uint8, int4)
ALL_OPERATORS(uint8, int8)
ALL_OPERATORS(int2, uint8)
ALL_OPERATORS(int4, uint8)
ALL_OPERATORS(int8, uint8)

/* ---- which of them have kernels ---- */

#define FUNCTIONS(left, right) \
	{cc_##left##_lt_##right, true, 0, BYTES_##left, BYTES_##right}, \
	{cc_##left##_le_##right, true, 1, BYTES_##left, BYTES_##right}, \
	{cc_##left##_eq_##right, true, 2, BYTES_##left, BYTES_##right}, \
	{cc_##left##_ge_##right, true, 3, BYTES_##left, BYTES_##right}, \
	{cc_##left##_gt_##right, true, 4, BYTES_##left, BYTES_##right}, \
	{cc_##left##_ne_##right, true, 5, BYTES_##left, BYTES_##right}, \
	{cc_##left##_pl_##right, false, 0, BYTES_##left, BYTES_##right}, \
	{cc_##left##_mi_##right, false, 1, BYTES_##left, BYTES_##right}, \
	{cc_##left##_mul_##right, false, 2, BYTES_##left, BYTES_##right}

static const CcUint8Function functions[] = {
	FUNCTIONS(uint8, uint8),
	FUNCTIONS(uint8, int2),
	FUNCTIONS(uint8, int4),
	FUNCTIONS(uint8, int8),
	FUNCTIONS(int2, uint8),
	FUNCTIONS(int4, uint8),
	FUNCTIONS(int8, uint8)
};

const CcUint8Function *
cc_uint8_function(PGFunction function)
{
	for (int i = 0; i < lengthof(functions); i++)
		if (functions[i].function == function)
			return &functions[i];
	return NULL;
}

/* ---- bits ---- */

#define BITWISE(name, expression) \
	PG_FUNCTION_INFO_V1(cc_uint8_##name); \
	Datum \
	cc_uint8_##name(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_UINT8(expression); \
	}

BITWISE(and, PG_GETARG_UINT8(0) & PG_GETARG_UINT8(1))
BITWISE(or, PG_GETARG_UINT8(0) | PG_GETARG_UINT8(1))
BITWISE(xor, PG_GETARG_UINT8(0) ^ PG_GETARG_UINT8(1))
BITWISE(not, ~PG_GETARG_UINT8(0))
BITWISE(shl, PG_GETARG_UINT8(0) << (PG_GETARG_INT32(1) & 63))
BITWISE(shr, PG_GETARG_UINT8(0) >> (PG_GETARG_INT32(1) & 63))
BITWISE(larger, Max(PG_GETARG_UINT8(0), PG_GETARG_UINT8(1)))
BITWISE(smaller, Min(PG_GETARG_UINT8(0), PG_GETARG_UINT8(1)))

/* ---- sorting ---- */

PG_FUNCTION_INFO_V1(cc_uint8_sortsupport);

static int
compare_datums(Datum x, Datum y, SortSupport ssup)
{
	uint64		a = DatumGetUint8(x);
	uint64		b = DatumGetUint8(y);

	return a < b ? -1 : a > b;
}

Datum
cc_uint8_sortsupport(PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);

	ssup->comparator = compare_datums;
	PG_RETURN_VOID();
}
