/*-------------------------------------------------------------------------
 *
 * vx_linear.h
 *	  Integer expressions that are a multiple of another one, plus a constant.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_LINEAR_H
#define VX_LINEAR_H

#include "postgres.h"

#include "nodes/primnodes.h"

/*
 * factor * base + offset.  While base is within lo .. hi (none at all if
 * lo > hi), no step of the expression leaves its type.
 */
typedef struct VxLinear
{
	Expr	   *base;			/* of type int2, int4 or int8 */
	int64		factor;
	int64		offset;
	int64		lo;
	int64		hi;
} VxLinear;

/*
 * Takes sums, differences and products with constants, changes of sign and
 * casts between integers apart.  False if the expression is no integer, or
 * nothing of this kind.
 */
extern bool vx_linear_resolve(Expr *expr, VxLinear *linear);

#endif							/* VX_LINEAR_H */
