/*-------------------------------------------------------------------------
 *
 * cc_uint8.h
 *	  colcompress.uint8: unsigned integers of 64 bits.
 *
 * A Datum holds the 64 bits.  Vectors hold them as int64, as they stand; see
 * cc_uint8_expr.c for how they are compared there.
 *
 *	 cc_uint8.c			input, output, casts, hashing
 *	 cc_uint8_ops.c		comparison and arithmetic, with int2, int4 and int8 too
 *	 cc_uint8_agg.c		sum and avg
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_UINT8_H
#define CC_UINT8_H

#include "postgres.h"

#include "fmgr.h"

#define DatumGetUint8(d)		((uint64) (d))
#define Uint8GetDatum(v)		((Datum) (v))
#define PG_GETARG_UINT8(n)		DatumGetUint8(PG_GETARG_DATUM(n))
#define PG_RETURN_UINT8(v)		return Uint8GetDatum(v)

StaticAssertDecl(sizeof(Datum) == sizeof(uint64), "uint8 is passed by value");

/* The value as uint8; raises NUMERIC_VALUE_OUT_OF_RANGE. */
extern uint64 cc_uint8_check(int128 value);

/*
 * Functions that have kernels, by their addresses: the OIDs are the
 * catalog's.  Comparisons in the order <, <=, =, >=, >, <>; arithmetic
 * +, -, *.  The types are those of the arguments; 0 is uint8.
 */
typedef struct CcUint8Function
{
	PGFunction	function;
	bool		compares;
	int			op;				/* place in the order above */
	int			left_bytes;		/* 0, 2, 4, 8 */
	int			right_bytes;
} CcUint8Function;

/* NULL if the function is none of them. */
extern const CcUint8Function *cc_uint8_function(PGFunction function);

/* cc_uint8_expr.c: the kernel of a function of uint8 (VxFormat.set_kernel). */
struct VxNode;
extern void cc_uint8_set_kernel(struct VxNode *node);

#endif							/* CC_UINT8_H */
