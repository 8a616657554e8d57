/*-------------------------------------------------------------------------
 *
 * vx_expr_arith.c
 *	  Kernels of vector expressions for integers, floats, and casts between
 *	  them.
 *
 * A row whose result the server would refuse, or might refuse, is reported
 * as suspect and goes to the server's function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "utils/fmgroids.h"

#include "vx_expr_int.h"
#include "vx_vec.h"

/* An operation on integers of so many bytes. */
#define INT_OP(arith, bytes)	((arith) | (bytes) << 8)
#define OP_ARITH(op)	((op) & 0xFF)
#define OP_BYTES(op)	((op) >> 8)

static inline int64
int_max(int bytes)
{
	return bytes == 2 ? PG_INT16_MAX : bytes == 4 ? PG_INT32_MAX : PG_INT64_MAX;
}

static inline int64
int_min(int bytes)
{
	return -int_max(bytes) - 1;
}

/* + - * */
static bool
int_arith(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	const VxVecKernels *k = vx_vec_kernels();
	int			arith = OP_ARITH(node->op);
	int			bytes = OP_BYTES(node->op);
	int			n = args[0]->n;
	const int64 *a = args[0]->u.i64;
	const int64 *b = args[1]->u.i64;
	bool		fits = bytes < 8;

	if (!vx_are_int64(args, 2))
		return false;
	if (!fits && arith == VX_MUL)
		fits = k->int64_width(a, n) + k->int64_width(b, n) < 63;
	else if (!fits)
		fits = Max(k->int64_width(a, n), k->int64_width(b, n)) < 62;

	vx_node_begin(node, VX_REP_INT64);
	if (fits)
		k->arith_int64[arith] (a, b, n, int_min(bytes), int_max(bytes),
							   node->out.u.i64, suspect);
	else
		k->arith_int64_wide[arith] (a, b, n, node->out.u.i64, suspect);
	return true;
}

/* Division and modulo; op: bytes of the result. */
VX_INT_KERNEL(int_divide, 2, b == 0 || (b == -1 && a == int_min(node->op)), a / b)
VX_INT_KERNEL(int_modulo, 2, b == 0, b == -1 ? 0 : a % b)

/* op: bytes */
VX_INT_KERNEL(int_minus, 1, a == int_min(node->op), -a)
VX_INT_KERNEL(int_abs, 1, a == int_min(node->op), a < 0 ? -a : a)

VX_INT_KERNEL(int_to_bool, 1, false, a != 0)

/* To integers of op bytes; what is wide enough is taken as it stands. */
static bool
int_to_int(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	int64		lo = int_min(node->op);
	int64		hi = int_max(node->op);

	if (!vx_are_int64(args, 1))
		return false;
	node->out = *args[0];
	if (node->op == 8)
		return true;
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		if (args[0]->u.i64[row] < lo || args[0]->u.i64[row] > hi)
		{
			/* the row's value will be written: not to the argument */
			vx_node_begin(node, VX_REP_INT64);
			memcpy(node->out.u.i64, args[0]->u.i64, sizeof(int64) * ST_VECTOR_SIZE);
			VX_FOREACH_ROW(r, rows, VX_EXPR_WORDS(node->expr))
			{
				if (args[0]->u.i64[r] < lo || args[0]->u.i64[r] > hi)
					vx_rows_set(suspect, r);
			}
			return true;
		}
	}
	return true;
}

/* ---- floats ---- */

/* The vector as float8; buffer is used if it is something else. */
static const double *
as_float8(const VxVector *v, double *buffer)
{
	if (v->rep == VX_REP_FLOAT8)
		return v->u.f64;
	if (v->rep != VX_REP_FLOAT4)
		return NULL;
	vx_vec_kernels()->float4_to_float8(v->u.f32, v->n, buffer);
	return buffer;
}

static bool
float8_arith(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	double		a_buffer[ST_VECTOR_SIZE];
	double		b_buffer[ST_VECTOR_SIZE];
	const double *a = as_float8(args[0], a_buffer);
	const double *b = as_float8(args[1], b_buffer);

	if (a == NULL || b == NULL)
		return false;
	vx_node_begin(node, VX_REP_FLOAT8);
	vx_vec_kernels()->arith_float8[node->op] (a, b, args[0]->n, node->out.u.f64, suspect);
	return true;
}

static bool
float4_arith(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	if (args[0]->rep != VX_REP_FLOAT4 || args[1]->rep != VX_REP_FLOAT4)
		return false;
	vx_node_begin(node, VX_REP_FLOAT4);
	vx_vec_kernels()->arith_float4[node->op] (args[0]->u.f32, args[1]->u.f32, args[0]->n,
											  node->out.u.f32, suspect);
	return true;
}

/* op: 0 minus, 1 absolute value */
static bool
float_sign(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	const VxVector *a = args[0];

	if (a->rep != VX_REP_FLOAT8 && a->rep != VX_REP_FLOAT4)
		return false;
	vx_node_begin(node, a->rep);
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		if (a->rep == VX_REP_FLOAT8)
			node->out.u.f64[row] = node->op == 0 ? -a->u.f64[row] : fabs(a->u.f64[row]);
		else
			node->out.u.f32[row] = node->op == 0 ? -a->u.f32[row] : fabsf(a->u.f32[row]);
	}
	return true;
}

static bool
to_float8(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	const VxVector *a = args[0];

	if (a->rep != VX_REP_INT64 && a->rep != VX_REP_FLOAT4)
		return false;
	vx_node_begin(node, VX_REP_FLOAT8);
	if (a->rep == VX_REP_INT64)
		vx_vec_kernels()->int64_to_float8(a->u.i64, a->n, node->out.u.f64);
	else
		vx_vec_kernels()->float4_to_float8(a->u.f32, a->n, node->out.u.f64);
	return true;
}

static bool
to_float4(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	const VxVector *a = args[0];

	if (a->rep != VX_REP_INT64 && a->rep != VX_REP_FLOAT8)
		return false;
	vx_node_begin(node, VX_REP_FLOAT4);
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		float		r = a->rep == VX_REP_INT64 ? (float) a->u.i64[row] : (float) a->u.f64[row];

		node->out.u.f32[row] = r;
		if (a->rep == VX_REP_FLOAT8 &&
			((isinf(r) && !isinf(a->u.f64[row])) || (r == 0 && a->u.f64[row] != 0)))
			vx_rows_set(suspect, row);
	}
	return true;
}

/*
 * Rounds to the nearest integer, halves to the even one.  The bounds are
 * powers of two, which a float4 and a float8 hold exactly.
 */
static bool
float_to_int(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	const VxVector *a = args[0];
	double		lo = (double) int_min(node->op);

	if (a->rep != VX_REP_FLOAT8 && a->rep != VX_REP_FLOAT4)
		return false;
	vx_node_begin(node, VX_REP_INT64);
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		double		x = rint(a->rep == VX_REP_FLOAT8 ? a->u.f64[row] : a->u.f32[row]);

		/* false for NaN too */
		if (x >= lo && x < -lo)
			node->out.u.i64[row] = (int64) x;
		else
			vx_rows_set(suspect, row);
	}
	return true;
}

#define INT_KERNELS(types, bytes) \
	{F_INT##types##PL, int_arith, INT_OP(VX_ADD, bytes)}, \
	{F_INT##types##MI, int_arith, INT_OP(VX_SUB, bytes)}, \
	{F_INT##types##MUL, int_arith, INT_OP(VX_MUL, bytes)}, \
	{F_INT##types##DIV, int_divide, bytes}

#define FLOAT_KERNELS(types, kernel) \
	{F_FLOAT##types##PL, kernel, VX_ADD}, \
	{F_FLOAT##types##MI, kernel, VX_SUB}, \
	{F_FLOAT##types##MUL, kernel, VX_MUL}, \
	{F_FLOAT##types##DIV, kernel, VX_DIV}

const VxKernelEntry vx_arith_kernels[] = {
	INT_KERNELS(2, 2),
	INT_KERNELS(4, 4),
	INT_KERNELS(8, 8),
	INT_KERNELS(24, 4),
	INT_KERNELS(42, 4),
	INT_KERNELS(28, 8),
	INT_KERNELS(82, 8),
	INT_KERNELS(48, 8),
	INT_KERNELS(84, 8),
	{F_INT2MOD, int_modulo, 0},
	{F_INT4MOD, int_modulo, 0},
	{F_INT8MOD, int_modulo, 0},
	{F_MOD_INT2_INT2, int_modulo, 0},
	{F_MOD_INT4_INT4, int_modulo, 0},
	{F_MOD_INT8_INT8, int_modulo, 0},
	{F_INT2UM, int_minus, 2},
	{F_INT4UM, int_minus, 4},
	{F_INT8UM, int_minus, 8},
	{F_INT2ABS, int_abs, 2},
	{F_INT4ABS, int_abs, 4},
	{F_INT8ABS, int_abs, 8},
	{F_ABS_INT2, int_abs, 2},
	{F_ABS_INT4, int_abs, 4},
	{F_ABS_INT8, int_abs, 8},
	{F_INT8_INT4, int_to_int, 8},
	{F_INT8_INT2, int_to_int, 8},
	{F_INT4_INT2, int_to_int, 8},
	{F_INT4_BOOL, int_to_int, 8},
	{F_INT8_OID, int_to_int, 8},
	{F_INT4_INT8, int_to_int, 4},
	{F_INT2_INT8, int_to_int, 2},
	{F_INT2_INT4, int_to_int, 2},
	{F_BOOL_INT4, int_to_bool, 0},
	FLOAT_KERNELS(8, float8_arith),
	FLOAT_KERNELS(48, float8_arith),
	FLOAT_KERNELS(84, float8_arith),
	FLOAT_KERNELS(4, float4_arith),
	{F_FLOAT8UM, float_sign, 0},
	{F_FLOAT4UM, float_sign, 0},
	{F_FLOAT8ABS, float_sign, 1},
	{F_FLOAT4ABS, float_sign, 1},
	{F_ABS_FLOAT8, float_sign, 1},
	{F_ABS_FLOAT4, float_sign, 1},
	{F_FLOAT8_INT2, to_float8, 0},
	{F_FLOAT8_INT4, to_float8, 0},
	{F_FLOAT8_INT8, to_float8, 0},
	{F_FLOAT8_FLOAT4, to_float8, 0},
	{F_FLOAT4_INT2, to_float4, 0},
	{F_FLOAT4_INT4, to_float4, 0},
	{F_FLOAT4_INT8, to_float4, 0},
	{F_FLOAT4_FLOAT8, to_float4, 0},
	{F_INT2_FLOAT8, float_to_int, 2},
	{F_INT4_FLOAT8, float_to_int, 4},
	{F_INT8_FLOAT8, float_to_int, 8},
	{F_INT2_FLOAT4, float_to_int, 2},
	{F_INT4_FLOAT4, float_to_int, 4},
	{F_INT8_FLOAT4, float_to_int, 8},
	{InvalidOid, NULL, 0}
};

static const VxKernelEntry *
find_entry(Oid funcid)
{
	const VxKernelEntry *e = vx_arith_kernels;

	while (OidIsValid(e->funcid) && e->funcid != funcid)
		e++;
	return e;
}

bool
vx_is_int_arith(Oid funcid, VxArith *arith)
{
	const VxKernelEntry *e = find_entry(funcid);

	*arith = OP_ARITH(e->op);
	return e->kernel == int_arith;
}

int
vx_int_sign(Oid funcid)
{
	VxKernel	kernel = find_entry(funcid)->kernel;

	return kernel == int_to_int ? 1 : kernel == int_minus ? -1 : 0;
}
