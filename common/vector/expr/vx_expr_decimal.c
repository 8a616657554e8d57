/*-------------------------------------------------------------------------
 *
 * vx_expr_decimal.c
 *	  Kernels of vector expressions for numerics held as scaled integers:
 *	  arithmetic, rounding, casts.
 *
 * Values and display scales are exactly the server's: a sum has the greater
 * of the two scales, a product their sum.  int64 is taken as long as the
 * widths of the values promise that it suffices, int128 otherwise; what does
 * not fit there, and all that are not scaled integers, is the server's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"
#include "utils/fmgroids.h"

#include "vx_expr_int.h"
#include "vx_vec.h"
#include "st_numeric.h"

/* Powers of ten that fit. */
#define MAX_POWER64		18
#define MAX_POWER128	38

/* How a value loses decimals. */
typedef enum Rounding
{
	ROUND_HALF,					/* halves away from zero */
	ROUND_TRUNC,
	ROUND_FLOOR,
	ROUND_CEIL
} Rounding;

/* ---- pairs ---- */

/* As int64_width(), of values that are those of the vector, maybe scaled. */
static int
width_of(const VxVector *v, const int64 *values)
{
	return vx_vec_kernels()->int64_width(values, v->constant ? Min(v->n, 1) : v->n);
}

/* values * 10^by as int64, if their width allows that. */
static const int64 *
scale_up64(const VxVector *v, int by, int64 *buffer)
{
	int64		factor;

	if (by == 0)
		return v->u.i64;
	if (by > MAX_POWER64)
		return NULL;
	factor = (int64) vx_power_of_ten(by);
	if (width_of(v, v->u.i64) + pg_leftmost_one_pos64(factor) + 1 > 63)
		return NULL;
	if (v->constant)
	{
		int64		value = v->u.i64[0] * factor;

		for (int i = 0; i < v->n; i++)
			buffer[i] = value;
		return buffer;
	}
	for (int i = 0; i < v->n; i++)
		buffer[i] = v->u.i64[i] * factor;
	return buffer;
}

static const int128 *
scale_up128(const VxVector *v, int by, int128 *buffer)
{
	int128		factor = vx_power_of_ten(by);

	if (v->rep == VX_REP_DECIMAL128 && by == 0)
		return v->u.i128;
	/* an int64 times a factor of up to 63 bits always fits */
	if (v->rep == VX_REP_DECIMAL64 && by <= MAX_POWER64)
	{
		for (int i = 0; i < v->n; i++)
			buffer[i] = v->u.i64[i] * factor;
		return buffer;
	}
	for (int i = 0; i < v->n; i++)
		if (!vx_vector_isnull(v, i) &&
			__builtin_mul_overflow(vx_decimal(v, i), factor, &buffer[i]))
			return NULL;
	return buffer;
}

static bool
align_floats(VxPair *pair, const VxVector *a, const VxVector *b)
{
	const VxVecKernels *k = vx_vec_kernels();

	pair->rep = VX_REP_FLOAT8;
	pair->a = a->u.f64;
	pair->b = b->u.f64;
	if (a->rep == VX_REP_FLOAT4)
	{
		k->float4_to_float8(a->u.f32, a->n, (double *) pair->a_buffer);
		pair->a = pair->a_buffer;
	}
	if (b->rep == VX_REP_FLOAT4)
	{
		k->float4_to_float8(b->u.f32, b->n, (double *) pair->b_buffer);
		pair->b = pair->b_buffer;
	}
	return true;
}

static inline bool
is_float(const VxVector *v)
{
	return v->rep == VX_REP_FLOAT8 || v->rep == VX_REP_FLOAT4;
}

bool
vx_pair_align(VxPair *pair, const VxVector *a, const VxVector *b, int n)
{
	if (a->rep == VX_REP_INT64 && b->rep == VX_REP_INT64)
	{
		pair->rep = VX_REP_INT64;
		pair->a = a->u.i64;
		pair->b = b->u.i64;
		return true;
	}
	if (is_float(a) && is_float(b))
		return align_floats(pair, a, b);
	if (!vx_is_decimal(a) || !vx_is_decimal(b))
		return false;

	pair->scale = Max(a->scale, b->scale);
	if (a->rep == VX_REP_DECIMAL64 && b->rep == VX_REP_DECIMAL64)
	{
		pair->rep = VX_REP_INT64;
		pair->a = scale_up64(a, pair->scale - a->scale, (int64 *) pair->a_buffer);
		pair->b = scale_up64(b, pair->scale - b->scale, (int64 *) pair->b_buffer);
		if (pair->a && pair->b)
			return true;
	}
	pair->rep = VX_REP_DECIMAL128;
	pair->a = scale_up128(a, pair->scale - a->scale, pair->a_buffer);
	pair->b = scale_up128(b, pair->scale - b->scale, pair->b_buffer);
	return pair->a && pair->b;
}

/* ---- arithmetic ---- */

/* op: VX_ADD or VX_SUB */
static bool
decimal_plus(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	const VxVecKernels *k = vx_vec_kernels();
	VxPair		pair;
	int			n = args[0]->n;

	if (!vx_is_decimal(args[0]) || !vx_is_decimal(args[1]) ||
		!vx_pair_align(&pair, args[0], args[1], n))
		return false;
	if (pair.rep == VX_REP_INT64 &&
		Max(width_of(args[0], pair.a), width_of(args[1], pair.b)) < 62)
	{
		vx_node_begin(node, VX_REP_DECIMAL64);
		k->arith_int64[node->op] (pair.a, pair.b, n, PG_INT64_MIN, PG_INT64_MAX,
								  node->out.u.i64, suspect);
	}
	else
	{
		int128		a[ST_VECTOR_SIZE];
		int128		b[ST_VECTOR_SIZE];

		if (pair.rep == VX_REP_INT64)
		{
			k->int64_to_int128(pair.a, n, a);
			k->int64_to_int128(pair.b, n, b);
			pair.a = a;
			pair.b = b;
		}
		vx_node_begin(node, VX_REP_DECIMAL128);
		k->arith_int128[node->op] (pair.a, pair.b, n, node->out.u.i128, suspect);
	}
	node->out.scale = pair.scale;
	return true;
}

static bool
decimal_times(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	const VxVecKernels *k = vx_vec_kernels();
	const VxVector *a = args[0];
	const VxVector *b = args[1];
	int			n = a->n;

	if (!vx_is_decimal(a) || !vx_is_decimal(b) || a->scale + b->scale > ST_NUMERIC_MAX_SCALE)
		return false;
	if (a->rep == VX_REP_DECIMAL64 && b->rep == VX_REP_DECIMAL64 &&
		width_of(a, a->u.i64) + width_of(b, b->u.i64) < 63)
	{
		vx_node_begin(node, VX_REP_DECIMAL64);
		k->arith_int64[VX_MUL] (a->u.i64, b->u.i64, n, PG_INT64_MIN, PG_INT64_MAX,
								node->out.u.i64, suspect);
	}
	else
	{
		int128		a_buffer[ST_VECTOR_SIZE];
		int128		b_buffer[ST_VECTOR_SIZE];
		const int128 *a128 = scale_up128(a, 0, a_buffer);
		const int128 *b128 = scale_up128(b, 0, b_buffer);

		vx_node_begin(node, VX_REP_DECIMAL128);
		k->arith_int128[VX_MUL] (a128, b128, n, node->out.u.i128, suspect);
	}
	node->out.scale = a->scale + b->scale;
	return true;
}

/* op: 0 minus, 1 absolute value */
static bool
decimal_sign(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	const VxVector *a = args[0];
	int128		min;

	if (!vx_is_decimal(a))
		return false;
	min = a->rep == VX_REP_DECIMAL64 ? (int128) PG_INT64_MIN : (int128) 1 << 127;
	vx_node_begin(node, a->rep);
	node->out.scale = a->scale;
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		int128		v = vx_decimal(a, row);

		if (v == min)
			vx_rows_set(suspect, row);
		else if (node->op == 0 || v < 0)
			v = -v;
		if (a->rep == VX_REP_DECIMAL64)
			node->out.u.i64[row] = (int64) v;
		else
			node->out.u.i128[row] = v;
	}
	return true;
}

/* ---- rounding and casts ---- */

static inline int128
divide(int128 v, int128 by, Rounding rounding)
{
	int128		q = v / by;
	int128		rest = v % by;

	switch (rounding)
	{
		case ROUND_HALF:
			if (rest < 0)
				return -rest >= by - -rest ? q - 1 : q;
			return rest >= by - rest ? q + 1 : q;
		case ROUND_FLOOR:
			return rest < 0 ? q - 1 : q;
		case ROUND_CEIL:
			return rest > 0 ? q + 1 : q;
		default:
			return q;
	}
}

/*
 * Values with another number of decimals; |value| >= limit, unless it is
 * zero, and what does not fit are suspect.
 */
static bool
rescale(VxNode *node, const VxVector *v, int scale, Rounding rounding, int128 limit,
		const uint64 *rows, uint64 *suspect)
{
	int			by = scale - v->scale;
	int128		factor;

	if (!vx_is_decimal(v) || scale < 0 || scale > ST_NUMERIC_MAX_SCALE || by < -MAX_POWER128)
		return false;
	factor = vx_power_of_ten(by < 0 ? -by : by);
	vx_node_begin(node, by <= 0 ? v->rep : VX_REP_DECIMAL128);
	node->out.scale = scale;
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		int128		x = vx_decimal(v, row);
		bool		wrong = false;

		if (by < 0 && v->rep == VX_REP_DECIMAL64 && -by <= MAX_POWER64)
		{
			/* a division of 64 bits is many times faster */
			int64		q = (int64) x / (int64) factor;
			int64		rest = (int64) x % (int64) factor;

			if (rest != 0)
				x = divide(x, factor, rounding);
			else
				x = q;
		}
		else if (by < 0)
			x = divide(x, factor, rounding);
		else if (by > 0)
			wrong = __builtin_mul_overflow(x, factor, &x);
		if (wrong || (limit != 0 && (x >= limit || x <= -limit)))
			vx_rows_set(suspect, row);
		if (node->out.rep == VX_REP_DECIMAL64)
			node->out.u.i64[row] = (int64) x;
		else
			node->out.u.i128[row] = x;
	}
	if (node->out.rep == VX_REP_DECIMAL128 && by > 0)
	{
		/* values of money do not get long by more decimals */
		bool		narrow = true;

		VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
			narrow &= node->out.u.i128[row] == (int64) node->out.u.i128[row];
		if (narrow)
		{
			int64	   *to = node->buffer;
			const int128 *from = node->buffer;

			/* the narrow values come first: no value is overwritten early */
			for (int i = 0; i < v->n; i++)
				to[i] = (int64) from[i];
			node->out.rep = VX_REP_DECIMAL64;
		}
	}
	return true;
}

/* numeric(precision, scale) */
static bool
decimal_typmod(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	int64		typmod;
	int			precision;
	int			scale;

	if (args[1]->rep != VX_REP_INT64 || !args[1]->constant || !vx_is_decimal(args[0]))
		return false;
	typmod = args[1]->u.i64[0];
	if (typmod < VARHDRSZ)
	{
		node->out = *args[0];
		return true;
	}
	precision = ((typmod - VARHDRSZ) >> 16) & 0xffff;
	scale = (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
	if (scale < 0)
		return false;
	return rescale(node, args[0], scale, ROUND_HALF,
				   precision <= MAX_POWER128 ? vx_power_of_ten(precision) : 0, rows, suspect);
}

/* round, trunc (numeric, integer); op: Rounding */
static bool
decimal_round(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	if (args[1]->rep != VX_REP_INT64 || !args[1]->constant ||
		args[1]->u.i64[0] < 0 || args[1]->u.i64[0] > ST_NUMERIC_MAX_SCALE)
		return false;
	return rescale(node, args[0], (int) args[1]->u.i64[0], node->op, 0, rows, suspect);
}

/* ceil, floor */
static bool
decimal_to_whole(VxNode *node, const VxVector *const *args, const uint64 *rows,
				 uint64 *suspect)
{
	return rescale(node, args[0], 0, node->op, 0, rows, suspect);
}

static bool
int_to_decimal(VxNode *node, const VxVector *const *args, const uint64 *rows,
			   uint64 *suspect)
{
	if (args[0]->rep != VX_REP_INT64)
		return false;
	node->out = *args[0];
	node->out.rep = VX_REP_DECIMAL64;
	node->out.scale = 0;
	return true;
}

/* op: bytes of the integer */
static bool
decimal_to_int(VxNode *node, const VxVector *const *args, const uint64 *rows,
			   uint64 *suspect)
{
	const VxVector *v = args[0];
	int128		limit = (int128) 1 << (node->op * 8 - 1);
	int128		factor;

	if (!vx_is_decimal(v))
		return false;
	factor = vx_power_of_ten(v->scale);
	vx_node_begin(node, VX_REP_INT64);
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		int128		x = vx_decimal(v, row);

		if (v->scale > 0)
			x = divide(x, factor, ROUND_HALF);
		node->out.u.i64[row] = (int64) x;
		if (x < -limit || x >= limit)
			vx_rows_set(suspect, row);
	}
	return true;
}

/*
 * Numbers that a double holds exactly, divided by such a number, are rounded
 * once, as the server's conversion by way of the digits is.
 */
static bool
decimal_to_float8(VxNode *node, const VxVector *const *args, const uint64 *rows,
				  uint64 *suspect)
{
	const VxVector *v = args[0];
	const int128 limit = (int128) 1 << 53;
	double		factor;

	if (!vx_is_decimal(v) || v->scale > 22)
		return false;
	factor = (double) vx_power_of_ten(v->scale);
	vx_node_begin(node, VX_REP_FLOAT8);
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		int128		x = vx_decimal(v, row);

		if (x > limit || x < -limit)
			vx_rows_set(suspect, row);
		else
			node->out.u.f64[row] = (double) (int64) x / factor;
	}
	return true;
}

const VxKernelEntry vx_decimal_kernels[] = {
	{F_NUMERIC_ADD, decimal_plus, VX_ADD},
	{F_NUMERIC_SUB, decimal_plus, VX_SUB},
	{F_NUMERIC_MUL, decimal_times, 0},
	{F_NUMERIC_UMINUS, decimal_sign, 0},
	{F_NUMERIC_ABS, decimal_sign, 1},
	{F_ABS_NUMERIC, decimal_sign, 1},
	{F_NUMERIC_NUMERIC_INT4, decimal_typmod, 0},
	{F_ROUND_NUMERIC_INT4, decimal_round, ROUND_HALF},
	{F_TRUNC_NUMERIC_INT4, decimal_round, ROUND_TRUNC},
	{F_CEIL_NUMERIC, decimal_to_whole, ROUND_CEIL},
	{F_CEILING_NUMERIC, decimal_to_whole, ROUND_CEIL},
	{F_FLOOR_NUMERIC, decimal_to_whole, ROUND_FLOOR},
	{F_NUMERIC_INT2, int_to_decimal, 0},
	{F_NUMERIC_INT4, int_to_decimal, 0},
	{F_NUMERIC_INT8, int_to_decimal, 0},
	{F_INT2_NUMERIC, decimal_to_int, 2},
	{F_INT4_NUMERIC, decimal_to_int, 4},
	{F_INT8_NUMERIC, decimal_to_int, 8},
	{F_FLOAT8_NUMERIC, decimal_to_float8, 0},
	{InvalidOid, NULL, 0}
};
