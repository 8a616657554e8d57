/*-------------------------------------------------------------------------
 *
 * vx_agg_input.c
 *	  Arguments, filters and keys of an aggregation as vectors.
 *
 * A plain column is the batch's own vector.  Any other expression is compiled
 * (vx_expr.h), or what cannot be is evaluated row by row, and in either case
 * for exactly those rows that pass the quals and the aggregate's
 * filter: no row that the server would not evaluate it for can raise an error
 * or be seen by a function.
 *
 * Memory: values by reference that an expression returns are copied to a
 * context that is reset before the next batch.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "vx_agg.h"
#include "st_numeric.h"

static VxRep
rep_of(Oid type, bool byval)
{
	switch (type)
	{
		case FLOAT8OID:
			return VX_REP_FLOAT8;
		case FLOAT4OID:
			return VX_REP_FLOAT4;
		default:
			return byval ? VX_REP_INT64 : VX_REP_DATUM;
	}
}

/* Columns that the expression refers to. */
static void
set_columns(VxAggInput *input, Expr *expr, Index varno)
{
	Bitmapset  *attrs = NULL;
	int			member = -1;

	pull_varattnos((Node *) expr, varno, &attrs);
	input->attnos = palloc(sizeof(AttrNumber) * (bms_num_members(attrs) + 1));
	while ((member = bms_next_member(attrs, member)) >= 0)
		input->attnos[input->ncolumns++] = member + FirstLowInvalidHeapAttributeNumber;
}

int
vx_agg_input(VxAggState *state, Expr *expr, int filter, int flags)
{
	VxScanState *scan = state->scan;
	VxAggInput *input;
	Expr	   *original;
	bool		column;

	original = expr = vx_agg_fused(state, expr);
	if (scan)
	{
		Expr	   *replaced = (Expr *) vx_path_set_replace(scan->paths, (Node *) expr);

		/* Paths that begin_agg() has not found have no columns. */
		if (scan->paths->npaths == state->npaths)
			expr = replaced;
	}
	column = IsA(expr, Var) || state->feed != NULL;

	/* A column needs no evaluation, so any filter will do. */
	if (column)
		filter = -1;
	if (exprType((Node *) expr) != NUMERICOID || column)
		flags = 0;
	for (int i = 0; i < state->ninputs; i++)
		if (state->inputs[i].filter == filter && state->inputs[i].flags == flags &&
			equal(state->inputs[i].expr, expr))
			return i;

	state->inputs = state->ninputs == 0 ? palloc(sizeof(VxAggInput)) :
		repalloc(state->inputs, sizeof(VxAggInput) * (state->ninputs + 1));
	input = &state->inputs[state->ninputs];
	memset(input, 0, sizeof(*input));
	input->expr = expr;
	input->filter = filter;
	input->flags = flags;
	input->type = getBaseType(exprType((Node *) expr));
	get_typlenbyval(input->type, &input->typlen, &input->typbyval);
	input->rep = rep_of(input->type, input->typbyval);
	input->own.u.i64 = palloc0(sizeof(int64) * ST_VECTOR_SIZE);
	if (state->feed)
		input->attno = vx_agg_feed_column(state->feed, expr);
	else if (column)
		input->attno = ((Var *) expr)->varattno;
	else if (scan == NULL)
		 /* workers evaluate it */ ;
	else if ((input->program = vx_expr_compile(state->exprs, expr, flags, NULL)) == NULL)
	{
		set_columns(input, original, ((Scan *) scan->css.ss.ps.plan)->scanrelid);
		input->state = ExecInitExpr(original, &scan->css.ss.ps);
		input->values_mcxt = AllocSetContextCreate(CurrentMemoryContext,
												   "vector aggregate input",
												   ALLOCSET_DEFAULT_SIZES);
	}
	return state->ninputs++;
}

void
vx_agg_inputs_reset(VxAggState *state)
{
	for (int i = 0; i < state->ninputs; i++)
		state->inputs[i].vector = NULL;
}

static void
store_value(VxAggInput *input, int row, Datum value)
{
	VxVector   *v = &input->own;
	MemoryContext old;

	v->valid[row / 64] |= UINT64CONST(1) << (row % 64);
	switch (input->rep)
	{
		case VX_REP_FLOAT8:
			v->u.f64[row] = DatumGetFloat8(value);
			break;
		case VX_REP_FLOAT4:
			v->u.f32[row] = DatumGetFloat4(value);
			break;
		case VX_REP_INT64:
			v->u.i64[row] = vx_datum_to_int(input->type, input->typlen, value);
			break;
		default:
			old = MemoryContextSwitchTo(input->values_mcxt);
			v->u.datum[row] = datumCopy(value, false, input->typlen);
			MemoryContextSwitchTo(old);
			break;
	}
}

/* Values of the expression's columns at a row, in the scan's slot. */
static TupleTableSlot *
fill_slot(VxAggState *state, const VxAggInput *input, int row)
{
	VxBatch    *batch = state->batch;
	TupleTableSlot *slot = vx_scan_row_slot(state->scan, row);

	for (int c = 0; c < input->ncolumns; c++)
	{
		AttrNumber	attno = input->attnos[c];
		VxBatchColumn *column;

		(void) vx_batch_vector(batch, attno);
		column = vx_batch_column(batch, attno);
		vx_batch_value(column, row, &slot->tts_values[attno - 1],
					   &slot->tts_isnull[attno - 1]);
	}
	return slot;
}

static void
evaluate_rows(VxAggState *state, VxAggInput *input)
{
	VxBatch    *batch = state->batch;
	ExprContext *econtext = state->econtext;
	uint64		selection[VX_SELECTION_WORDS];

	vx_agg_selection(state, input->filter, selection);
	MemoryContextReset(input->values_mcxt);
	input->own.rep = input->rep;
	input->own.n = batch->nrows;
	input->own.typlen = input->typlen;
	input->own.has_nulls = false;
	memset(input->own.valid, 0, sizeof(input->own.valid));

	for (int w = 0; w < (batch->nrows + 63) / 64; w++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint64 left = selection[w]; left != 0; left &= left - 1)
		{
			int			row = w * 64 + __builtin_ctzll(left);
			bool		isnull;
			Datum		value;

			econtext->ecxt_scantuple = fill_slot(state, input, row);
			value = ExecEvalExprSwitchContext(input->state, econtext, &isnull);
			if (isnull)
				input->own.has_nulls = true;
			else
				store_value(input, row, value);
			ResetExprContext(econtext);
		}
	}
	input->vector = &input->own;
}

/*
 * A column that the row group does not have comes as Datums of its missing
 * value: give it the form that vectors of its type have.
 */
static const VxVector *
typed_vector(VxAggInput *input, const VxVector *v, const uint64 *selection)
{
	VxVector   *own = &input->own;

	if (v->rep != VX_REP_DATUM || !input->typbyval)
		return v;
	own->n = v->n;
	own->rep = input->rep;
	own->typlen = input->typlen;
	own->has_nulls = v->has_nulls;
	memset(own->valid, 0, sizeof(own->valid));
	for (int i = 0; i < v->n; i++)
		if ((selection[i / 64] & (UINT64CONST(1) << (i % 64))) && !vx_vector_isnull(v, i))
			store_value(input, i, v->u.datum[i]);
	return own;
}

static void
evaluate_program(VxAggState *state, VxAggInput *input)
{
	uint64		selection[VX_SELECTION_WORDS];

	vx_agg_selection(state, input->filter, selection);
	input->vector = typed_vector(input, vx_expr_eval(input->program, state->batch,
													 selection), selection);
}

const VxVector *
vx_agg_vector(VxAggState *state, int number)
{
	VxAggInput *input = &state->inputs[number];
	VxBatch    *batch = state->batch;

	if (input->vector == NULL)
	{
		if (input->attno != InvalidAttrNumber)
			input->vector = typed_vector(input, vx_batch_vector(batch, input->attno),
										 batch->selection);
		else if (input->program)
			evaluate_program(state, input);
		else
			evaluate_rows(state, input);
	}
	return input->vector;
}

void
vx_agg_selection(VxAggState *state, int filter, uint64 *result)
{
	VxBatch    *batch = state->batch;
	int			nwords = (batch->nrows + 63) / 64;
	const VxVector *v;

	memcpy(result, batch->selection, nwords * sizeof(uint64));
	if (filter < 0)
		return;
	v = vx_agg_vector(state, filter);
	for (int w = 0; w < nwords; w++)
	{
		if (v->has_nulls)
			result[w] &= v->valid[w];
		for (uint64 left = result[w]; left != 0; left &= left - 1)
		{
			int			bit = __builtin_ctzll(left);

			if (v->u.i64[w * 64 + bit] == 0)
				result[w] &= ~(UINT64CONST(1) << bit);
		}
	}
}

Datum
vx_agg_datum(const VxVector *v, int row, void *buffer)
{
	switch (v->rep)
	{
		case VX_REP_DECIMAL64:
			st_numeric_write_int64(buffer, v->u.i64[row], v->scale);
			return PointerGetDatum(buffer);
		case VX_REP_DECIMAL128:
			st_numeric_write_int128(buffer, v->u.i128[row], v->scale);
			return PointerGetDatum(buffer);
		case VX_REP_FLOAT4:
			return Float4GetDatum(v->u.f32[row]);
		case VX_REP_CODE:
			return v->dict->values[v->u.code[row]];
		case VX_REP_INT64:
		case VX_REP_FLOAT8:
		case VX_REP_DATUM:
			break;
	}
	return v->u.datum[row];
}
