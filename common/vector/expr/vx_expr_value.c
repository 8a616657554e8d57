/*-------------------------------------------------------------------------
 *
 * vx_expr_value.c
 *	  Values of vector expressions: columns, constants, and how a Datum gets
 *	  into a vector and out of it.
 *
 * All reps that a type may come in are brought to one form here, so that a
 * kernel has to know no more than one or two: types passed by value are
 * always arrays of int64 or floats, numerics are scaled integers wherever
 * they can be.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "utils/memutils.h"

#include "vx_expr_int.h"
#include "vx_vec.h"
#include "st_numeric.h"

static Size
rep_size(VxRep rep)
{
	switch (rep)
	{
		case VX_REP_DECIMAL128:
			return sizeof(int128);
		case VX_REP_CODE:
			return sizeof(uint32);
		case VX_REP_FLOAT4:
			return sizeof(float);
		default:
			return sizeof(int64);
	}
}

void
vx_node_begin(VxNode *node, VxRep rep)
{
	Size		size = rep_size(rep) * ST_VECTOR_SIZE;

	if (node->buffer_size < size)
	{
		if (node->buffer)
			pfree(node->buffer);
		node->buffer = NULL;
		node->buffer_size = 0;
		/* kernels read whole vectors, also where nothing was put */
		node->buffer = MemoryContextAllocZero(node->expr->set->mcxt, size);
		node->buffer_size = size;
	}
	node->out.rep = rep;
	node->out.n = node->expr->batch->nrows;
	node->out.has_nulls = false;
	node->out.scale = 0;
	node->out.constant = false;
	node->out.u.i64 = node->buffer;
	node->out.dict = NULL;
	node->out.typlen = node->typlen;
}

const VxVector *
vx_node_nulls(VxNode *node)
{
	vx_node_begin(node, vx_node_rep(node));
	node->out.has_nulls = true;
	memset(node->out.valid, 0, sizeof(node->out.valid));
	return &node->out;
}

void
vx_node_put(VxNode *node, int row, Datum value, bool isnull)
{
	VxVector   *v = &node->out;

	if (isnull)
	{
		if (!v->has_nulls)
			memset(v->valid, 0xFF, sizeof(v->valid));
		v->has_nulls = true;
		vx_rows_clear(v->valid, row);
		return;
	}
	vx_vector_put(v, node->type, row, value);
}

Datum
vx_expr_datum(VxExpr *expr, const VxVector *v, int row)
{
	return vx_vector_datum_in(v, row, vx_is_decimal(v) ?
							  MemoryContextAlloc(expr->arena, ST_NUMERIC_MAX_BYTES) : NULL);
}

/* ---- numerics ---- */

/* Multiplies the rows' values up to one scale; false if one gets too large. */
static bool
scale_up(int128 *values, const uint8 *scales, const uint64 *rows, int words, int scale)
{
	VX_FOREACH_ROW(row, rows, words)
	{
		for (int s = scales[row]; s < scale; s++)
			if (__builtin_mul_overflow(values[row], (int128) 10, &values[row]))
				return false;
	}
	return true;
}

const VxVector *
vx_numerics_as_decimals(VxNode *node, const VxVector *v, const uint64 *rows,
						bool any_scale)
{
	int			words = VX_EXPR_WORDS(node->expr);
	uint64		live[VX_SELECTION_WORDS];
	int128		values[ST_VECTOR_SIZE];
	uint8		scales[ST_VECTOR_SIZE];
	int			min_scale = ST_NUMERIC_MAX_SCALE;
	int			max_scale = 0;
	bool		wide = false;
	uint64		valid[VX_SELECTION_WORDS];
	bool		has_nulls = v->has_nulls;

	if (vx_is_decimal(v))
		return v;
	if (!vx_rows_not_null(live, rows, v, words))
		return NULL;
	if (has_nulls)
		memcpy(valid, v->valid, sizeof(valid));

	VX_FOREACH_ROW(row, live, words)
	{
		struct varlena *num = (struct varlena *) DatumGetPointer(vx_vector_datum(v, row));
		int			scale;

		if (VARATT_IS_EXTENDED(num) && !VARATT_IS_SHORT(num))
			return NULL;
		if (!st_numeric_to_int128(PointerGetDatum(num), &values[row], &scale))
			return NULL;
		scales[row] = scale;
		min_scale = Min(min_scale, scale);
		max_scale = Max(max_scale, scale);
		if (!any_scale && min_scale != max_scale)
			return NULL;
	}
	if (min_scale != max_scale && !scale_up(values, scales, live, words, max_scale))
		return NULL;
	VX_FOREACH_ROW(row, live, words)
		wide |= values[row] != (int64) values[row];

	vx_node_begin(node, wide ? VX_REP_DECIMAL128 : VX_REP_DECIMAL64);
	node->out.scale = max_scale;
	node->out.has_nulls = has_nulls;
	if (has_nulls)
		memcpy(node->out.valid, valid, sizeof(valid));
	VX_FOREACH_ROW(row, live, words)
	{
		if (wide)
			node->out.u.i128[row] = values[row];
		else
			node->out.u.i64[row] = (int64) values[row];
	}
	return &node->out;
}

const VxVector *
vx_node_numerics(VxNode *node, const uint64 *rows)
{
	VxVector	v = node->out;
	const VxVector *decimals = vx_numerics_as_decimals(node, &v, rows, node->any_scale);

	return decimals ? decimals : &node->out;
}

/* ---- leaves ---- */

const VxVector *
vx_eval_column(VxNode *node, const uint64 *rows)
{
	const VxVector *v = vx_batch_vector(node->expr->batch, node->attnos[0]);
	const VxVector *decimals;

	if (node->type == NUMERICOID)
	{
		decimals = vx_numerics_as_decimals(node, v, rows, node->any_scale);
		return decimals ? decimals : v;
	}
	return v;
}

/* Copies what stands in the first row to all others. */
static void
fill(VxVector *v)
{
	Size		size = rep_size(v->rep);
	char	   *p = (char *) v->u.i64;

	for (int i = 1; i < ST_VECTOR_SIZE; i++)
		memcpy(p + i * size, p, size);
}

static void
make_constant(VxNode *node)
{
	VxExprSet  *set = node->expr->set;
	Datum		value;
	bool		isnull;
	uint64		first[VX_SELECTION_WORDS] = {1};

	vx_node_set_state(node);
	value = ExecEvalExprSwitchContext(node->state, set->econtext, &isnull);
	if (isnull)
		vx_node_nulls(node);
	else
	{
		value = vx_node_keep(node, value, set->constant_mcxt);
		vx_node_begin(node, vx_node_rep(node));
		vx_node_put(node, 0, value, false);
		if (node->type == NUMERICOID)
		{
			VxVector	v = node->out;
			Datum		one = value;

			v.u.datum = &one;
			vx_numerics_as_decimals(node, &v, first, false);
		}
		fill(&node->out);
		node->out.constant = true;
	}
	ResetExprContext(set->econtext);
	node->generation = set->generation;
}

const VxVector *
vx_eval_constant(VxNode *node, const uint64 *rows)
{
	if (node->generation != node->expr->set->generation)
		make_constant(node);
	node->out.n = node->expr->batch->nrows;
	return &node->out;
}
