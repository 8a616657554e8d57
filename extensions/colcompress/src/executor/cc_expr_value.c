/*-------------------------------------------------------------------------
 *
 * cc_expr_value.c
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
#include "utils/datum.h"
#include "utils/memutils.h"

#include "cc_expr_int.h"
#include "cc_vec.h"
#include "st_numeric.h"

CcRep
cc_node_rep(const CcNode *node)
{
	if (node->type == FLOAT8OID && node->typbyval)
		return CC_REP_FLOAT8;
	if (node->type == FLOAT4OID)
		return CC_REP_FLOAT4;
	return node->typbyval ? CC_REP_INT64 : CC_REP_DATUM;
}

static Size
rep_size(CcRep rep)
{
	switch (rep)
	{
		case CC_REP_DECIMAL128:
			return sizeof(int128);
		case CC_REP_CODE:
			return sizeof(uint32);
		case CC_REP_FLOAT4:
			return sizeof(float);
		default:
			return sizeof(int64);
	}
}

void
cc_node_begin(CcNode *node, CcRep rep)
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

const CcVector *
cc_node_nulls(CcNode *node)
{
	cc_node_begin(node, cc_node_rep(node));
	node->out.has_nulls = true;
	memset(node->out.valid, 0, sizeof(node->out.valid));
	return &node->out;
}

int64
cc_datum_to_int(Oid type, int16 typlen, Datum value)
{
	switch (typlen)
	{
		case 1:
			return type == BOOLOID || type == CHAROID ?
				(int64) (uint8) value : (int64) (int8) value;
		case 2:
			return (int16) value;
		case 4:
			return type == OIDOID ? (int64) (uint32) value : (int64) (int32) value;
		default:
			return (int64) value;
	}
}

void
cc_node_put(CcNode *node, int row, Datum value, bool isnull)
{
	CcVector   *v = &node->out;

	if (isnull)
	{
		if (!v->has_nulls)
			memset(v->valid, 0xFF, sizeof(v->valid));
		v->has_nulls = true;
		cc_rows_clear(v->valid, row);
		return;
	}
	switch (v->rep)
	{
		case CC_REP_INT64:
			v->u.i64[row] = cc_datum_to_int(node->type, node->typlen, value);
			break;
		case CC_REP_FLOAT8:
			v->u.f64[row] = DatumGetFloat8(value);
			break;
		case CC_REP_FLOAT4:
			v->u.f32[row] = DatumGetFloat4(value);
			break;
		default:
			v->u.datum[row] = value;
			break;
	}
}

Datum
cc_expr_datum(CcExpr *expr, const CcVector *v, int row)
{
	char	   *buf;

	switch (v->rep)
	{
		case CC_REP_DECIMAL64:
			buf = MemoryContextAlloc(expr->arena, ST_NUMERIC_MAX_BYTES);
			st_numeric_write_int64(buf, v->u.i64[row], v->scale);
			return PointerGetDatum(buf);
		case CC_REP_DECIMAL128:
			buf = MemoryContextAlloc(expr->arena, ST_NUMERIC_MAX_BYTES);
			st_numeric_write_int128(buf, v->u.i128[row], v->scale);
			return PointerGetDatum(buf);
		default:
			return cc_vector_datum(v, row);
	}
}

/* ---- numerics ---- */

/* Multiplies the rows' values up to one scale; false if one gets too large. */
static bool
scale_up(int128 *values, const uint8 *scales, const uint64 *rows, int words, int scale)
{
	CC_FOREACH_ROW(row, rows, words)
	{
		for (int s = scales[row]; s < scale; s++)
			if (__builtin_mul_overflow(values[row], (int128) 10, &values[row]))
				return false;
	}
	return true;
}

const CcVector *
cc_numerics_as_decimals(CcNode *node, const CcVector *v, const uint64 *rows,
						bool any_scale)
{
	int			words = CC_EXPR_WORDS(node->expr);
	uint64		live[CC_SELECTION_WORDS];
	int128		values[ST_VECTOR_SIZE];
	uint8		scales[ST_VECTOR_SIZE];
	int			min_scale = ST_NUMERIC_MAX_SCALE;
	int			max_scale = 0;
	bool		wide = false;
	uint64		valid[CC_SELECTION_WORDS];
	bool		has_nulls = v->has_nulls;

	if (v->rep == CC_REP_DECIMAL64 || v->rep == CC_REP_DECIMAL128)
		return v;
	if (!cc_rows_not_null(live, rows, v, words))
		return NULL;
	if (has_nulls)
		memcpy(valid, v->valid, sizeof(valid));

	CC_FOREACH_ROW(row, live, words)
	{
		struct varlena *num = (struct varlena *) DatumGetPointer(cc_vector_datum(v, row));
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
	CC_FOREACH_ROW(row, live, words)
		wide |= values[row] != (int64) values[row];

	cc_node_begin(node, wide ? CC_REP_DECIMAL128 : CC_REP_DECIMAL64);
	node->out.scale = max_scale;
	node->out.has_nulls = has_nulls;
	if (has_nulls)
		memcpy(node->out.valid, valid, sizeof(valid));
	CC_FOREACH_ROW(row, live, words)
	{
		if (wide)
			node->out.u.i128[row] = values[row];
		else
			node->out.u.i64[row] = (int64) values[row];
	}
	return &node->out;
}

const CcVector *
cc_node_numerics(CcNode *node, const uint64 *rows)
{
	CcVector	v = node->out;
	const CcVector *decimals = cc_numerics_as_decimals(node, &v, rows, node->any_scale);

	return decimals ? decimals : &node->out;
}

/* ---- leaves ---- */

const CcVector *
cc_eval_column(CcNode *node, const uint64 *rows)
{
	const CcVector *v = cc_batch_vector(node->expr->batch, node->attnos[0]);
	const CcVector *decimals;

	if (node->type == NUMERICOID)
	{
		decimals = cc_numerics_as_decimals(node, v, rows, node->any_scale);
		return decimals ? decimals : v;
	}
	if (v->rep != CC_REP_DATUM || !node->typbyval)
		return v;

	cc_node_begin(node, cc_node_rep(node));
	CC_FOREACH_ROW(row, rows, CC_EXPR_WORDS(node->expr))
	{
		bool		isnull = cc_vector_isnull(v, row);

		cc_node_put(node, row, isnull ? (Datum) 0 : v->u.datum[row], isnull);
	}
	return &node->out;
}

/* Copies what stands in the first row to all others. */
static void
fill(CcVector *v)
{
	Size		size = rep_size(v->rep);
	char	   *p = (char *) v->u.i64;

	for (int i = 1; i < ST_VECTOR_SIZE; i++)
		memcpy(p + i * size, p, size);
}

static void
make_constant(CcNode *node)
{
	CcExprSet  *set = node->expr->set;
	MemoryContext oldcontext;
	Datum		value;
	bool		isnull;
	uint64		first[CC_SELECTION_WORDS] = {1};

	if (node->state == NULL)
	{
		oldcontext = MemoryContextSwitchTo(set->mcxt);
		node->state = ExecInitExprWithParams((Expr *) node->clause,
											 set->plan->state->es_param_list_info);
		MemoryContextSwitchTo(oldcontext);
	}
	value = ExecEvalExprSwitchContext(node->state, set->econtext, &isnull);
	if (isnull)
		cc_node_nulls(node);
	else
	{
		if (!node->typbyval)
		{
			oldcontext = MemoryContextSwitchTo(set->constant_mcxt);
			if (node->typlen == -1)
				value = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
			else
				value = datumCopy(value, false, node->typlen);
			MemoryContextSwitchTo(oldcontext);
		}
		cc_node_begin(node, cc_node_rep(node));
		cc_node_put(node, 0, value, false);
		if (node->type == NUMERICOID)
		{
			CcVector	v = node->out;
			Datum		one = value;

			v.u.datum = &one;
			cc_numerics_as_decimals(node, &v, first, false);
		}
		fill(&node->out);
		node->out.constant = true;
	}
	ResetExprContext(set->econtext);
	node->generation = set->generation;
}

const CcVector *
cc_eval_constant(CcNode *node, const uint64 *rows)
{
	if (node->generation != node->expr->set->generation)
		make_constant(node);
	node->out.n = node->expr->batch->nrows;
	return &node->out;
}
