/*-------------------------------------------------------------------------
 *
 * vx_linear.c
 *	  Integer expressions that are a multiple of another one, plus a constant.
 *
 * The server checks every step for an overflow of its type.  Each check is a
 * range of the innermost expression, since every step is monotone in it, and
 * what is left of all ranges is where the server raises nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"

#include "vx_expr_int.h"
#include "vx_linear.h"
#include "vx_vec.h"

/* Bounds of factors and offsets: products of two have room in an int128. */
#define MAX_CONSTANT	(INT64CONST(1) << 62)

static int64
type_max(Oid type)
{
	switch (type)
	{
		case INT2OID:
			return PG_INT16_MAX;
		case INT4OID:
			return PG_INT32_MAX;
		case INT8OID:
			return PG_INT64_MAX;
		default:
			return 0;			/* no integer */
	}
}

static int128
divide_down(int128 a, int128 b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int128
divide_up(int128 a, int128 b)
{
	return -divide_down(-a, b);
}

/* A step's result is factor * base + offset, and has to fit its type. */
static bool
set_step(VxLinear *linear, Oid type, int128 factor, int128 offset)
{
	int128		max = type_max(type);
	int128		lo = -max - 1 - offset;
	int128		hi = max - offset;

	if (factor >= MAX_CONSTANT || factor <= -MAX_CONSTANT ||
		offset >= MAX_CONSTANT || offset <= -MAX_CONSTANT)
		return false;
	linear->factor = factor;
	linear->offset = offset;
	if (factor == 0)
		return lo <= 0 && hi >= 0;
	if (factor < 0)
	{
		int128		swap = -lo;

		factor = -factor;
		lo = -hi;
		hi = swap;
	}
	lo = divide_up(lo, factor);
	hi = divide_down(hi, factor);
	linear->lo = Max(linear->lo, lo);
	linear->hi = Min(linear->hi, hi);
	return true;
}

static bool
is_constant(const Node *node, int128 *value)
{
	const Const *constant = (const Const *) node;

	if (!IsA(node, Const) || constant->constisnull || type_max(constant->consttype) == 0)
		return false;
	*value = vx_integer_of(constant->consttype, constant->constvalue);
	return true;
}

static bool resolve(Node *node, VxLinear *linear, int depth);

/* One operand is a constant, the other linear. */
static bool
resolve_arith(const Node *node, Oid funcid, List *args, VxLinear *linear, int depth)
{
	VxArith		arith;
	int128		c;
	bool		first;			/* the constant is the first operand */

	if (list_length(args) != 2 || !vx_is_int_arith(funcid, &arith))
		return false;
	first = is_constant(linitial(args), &c);
	if ((!first && !is_constant(lsecond(args), &c)) ||
		!resolve(first ? lsecond(args) : linitial(args), linear, depth))
		return false;
	switch (arith)
	{
		case VX_ADD:
			return set_step(linear, exprType(node), linear->factor, linear->offset + c);
		case VX_SUB:
			return first ?
				set_step(linear, exprType(node), -linear->factor, c - linear->offset) :
				set_step(linear, exprType(node), linear->factor, linear->offset - c);
		default:
			return set_step(linear, exprType(node), linear->factor * c, linear->offset * c);
	}
}

/* A cast, or a change of sign. */
static bool
resolve_unary(const Node *node, Oid funcid, List *args, VxLinear *linear, int depth)
{
	int			sign = vx_int_sign(funcid);

	return list_length(args) == 1 && sign != 0 &&
		type_max(exprType(linitial(args))) != 0 &&
		resolve(linitial(args), linear, depth) &&
		set_step(linear, exprType(node), sign * (int128) linear->factor,
				 sign * (int128) linear->offset);
}

static bool
resolve_call(const Node *node, Oid funcid, List *args, VxLinear *linear, int depth)
{
	return resolve_arith(node, funcid, args, linear, depth) ||
		resolve_unary(node, funcid, args, linear, depth);
}

/* What is nothing else is the base. */
static bool
resolve(Node *node, VxLinear *linear, int depth)
{
	int64		max = type_max(exprType(node));

	if (max == 0 || depth > 100)
		return false;
	if (IsA(node, OpExpr) &&
		resolve_call(node, ((OpExpr *) node)->opfuncid, ((OpExpr *) node)->args, linear, depth + 1))
		return true;
	if (IsA(node, FuncExpr) &&
		resolve_call(node, ((FuncExpr *) node)->funcid, ((FuncExpr *) node)->args, linear, depth + 1))
		return true;
	linear->base = (Expr *) node;
	linear->factor = 1;
	linear->offset = 0;
	linear->lo = -max - 1;
	linear->hi = max;
	return true;
}

bool
vx_linear_resolve(Expr *expr, VxLinear *linear)
{
	return resolve((Node *) expr, linear, 0) && linear->base != expr;
}
