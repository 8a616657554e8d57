/*-------------------------------------------------------------------------
 *
 * cc_agg_input.c
 *	  Arguments, filters and keys of an aggregation as vectors.
 *
 * A plain column is the batch's own vector.  Any other expression is compiled
 * (cc_expr.h), or what cannot be is evaluated row by row, and in either case
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

#include "cc_agg.h"
#include "st_numeric.h"

static CcRep
rep_of(Oid type, bool byval)
{
	switch (type)
	{
		case FLOAT8OID:
			return CC_REP_FLOAT8;
		case FLOAT4OID:
			return CC_REP_FLOAT4;
		default:
			return byval ? CC_REP_INT64 : CC_REP_DATUM;
	}
}

/* Columns that the expression refers to. */
static void
set_columns(CcAggInput *input, Expr *expr, Index varno)
{
	Bitmapset  *attrs = NULL;
	int			member = -1;

	pull_varattnos((Node *) expr, varno, &attrs);
	input->attnos = palloc(sizeof(AttrNumber) * (bms_num_members(attrs) + 1));
	while ((member = bms_next_member(attrs, member)) >= 0)
		input->attnos[input->ncolumns++] = member + FirstLowInvalidHeapAttributeNumber;
}

int
cc_agg_input(CcAggState *state, Expr *expr, int filter, int flags)
{
	CcScanState *scan = state->scan;
	CcAggInput *input;
	Expr	   *original;
	bool		column;

	original = expr = cc_agg_fused(state, expr);
	if (scan)
	{
		Expr	   *replaced = (Expr *) cc_path_set_replace(scan->paths, (Node *) expr);

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

	state->inputs = state->ninputs == 0 ? palloc(sizeof(CcAggInput)) :
		repalloc(state->inputs, sizeof(CcAggInput) * (state->ninputs + 1));
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
		input->attno = cc_agg_feed_column(state->feed, expr);
	else if (column)
		input->attno = ((Var *) expr)->varattno;
	else if (scan == NULL)
		 /* workers evaluate it */ ;
	else if ((input->program = cc_expr_compile(state->exprs, expr, flags, NULL)) == NULL)
	{
		set_columns(input, original, ((Scan *) scan->css.ss.ps.plan)->scanrelid);
		input->state = ExecInitExpr(original, &scan->css.ss.ps);
		input->values_mcxt = AllocSetContextCreate(CurrentMemoryContext,
												   "colcompress aggregate input",
												   ALLOCSET_DEFAULT_SIZES);
	}
	return state->ninputs++;
}

void
cc_agg_inputs_reset(CcAggState *state)
{
	for (int i = 0; i < state->ninputs; i++)
		state->inputs[i].vector = NULL;
}

/* Sign-extended, or not, as vectors of columns hold it. */
int64
cc_agg_integer(const CcAggInput *input, Datum value)
{
	switch (input->typlen)
	{
		case 1:
			return (uint8) DatumGetChar(value);
		case 2:
			return DatumGetInt16(value);
		case 4:
			return input->type == OIDOID ? (int64) DatumGetObjectId(value) :
				(int64) DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

static void
store_value(CcAggInput *input, int row, Datum value)
{
	CcVector   *v = &input->own;
	MemoryContext old;

	v->valid[row / 64] |= UINT64CONST(1) << (row % 64);
	switch (input->rep)
	{
		case CC_REP_FLOAT8:
			v->u.f64[row] = DatumGetFloat8(value);
			break;
		case CC_REP_FLOAT4:
			v->u.f32[row] = DatumGetFloat4(value);
			break;
		case CC_REP_INT64:
			v->u.i64[row] = cc_agg_integer(input, value);
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
fill_slot(CcAggState *state, const CcAggInput *input, int row)
{
	CcBatch    *batch = state->batch;
	TupleTableSlot *slot = cc_scan_row_slot(state->scan, row);

	for (int c = 0; c < input->ncolumns; c++)
	{
		AttrNumber	attno = input->attnos[c];
		CcBatchColumn *column;

		(void) cc_batch_vector(batch, attno);
		column = cc_batch_column(batch, attno);
		cc_batch_value(column, row, &slot->tts_values[attno - 1],
					   &slot->tts_isnull[attno - 1]);
	}
	return slot;
}

static void
evaluate_rows(CcAggState *state, CcAggInput *input)
{
	CcBatch    *batch = state->batch;
	ExprContext *econtext = state->econtext;
	uint64		selection[CC_SELECTION_WORDS];

	cc_agg_selection(state, input->filter, selection);
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
static const CcVector *
typed_vector(CcAggInput *input, const CcVector *v, const uint64 *selection)
{
	CcVector   *own = &input->own;

	if (v->rep != CC_REP_DATUM || !input->typbyval)
		return v;
	own->n = v->n;
	own->rep = input->rep;
	own->typlen = input->typlen;
	own->has_nulls = v->has_nulls;
	memset(own->valid, 0, sizeof(own->valid));
	for (int i = 0; i < v->n; i++)
		if ((selection[i / 64] & (UINT64CONST(1) << (i % 64))) && !cc_vector_isnull(v, i))
			store_value(input, i, v->u.datum[i]);
	return own;
}

static void
evaluate_program(CcAggState *state, CcAggInput *input)
{
	uint64		selection[CC_SELECTION_WORDS];

	cc_agg_selection(state, input->filter, selection);
	input->vector = typed_vector(input, cc_expr_eval(input->program, state->batch,
													 selection), selection);
}

const CcVector *
cc_agg_vector(CcAggState *state, int number)
{
	CcAggInput *input = &state->inputs[number];
	CcBatch    *batch = state->batch;

	if (input->vector == NULL)
	{
		if (input->attno != InvalidAttrNumber)
			input->vector = typed_vector(input, cc_batch_vector(batch, input->attno),
										 batch->selection);
		else if (input->program)
			evaluate_program(state, input);
		else
			evaluate_rows(state, input);
	}
	return input->vector;
}

void
cc_agg_selection(CcAggState *state, int filter, uint64 *result)
{
	CcBatch    *batch = state->batch;
	int			nwords = (batch->nrows + 63) / 64;
	const CcVector *v;

	memcpy(result, batch->selection, nwords * sizeof(uint64));
	if (filter < 0)
		return;
	v = cc_agg_vector(state, filter);
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
cc_agg_datum(const CcVector *v, int row, void *buffer)
{
	switch (v->rep)
	{
		case CC_REP_DECIMAL64:
			st_numeric_write_int64(buffer, v->u.i64[row], v->scale);
			return PointerGetDatum(buffer);
		case CC_REP_DECIMAL128:
			st_numeric_write_int128(buffer, v->u.i128[row], v->scale);
			return PointerGetDatum(buffer);
		case CC_REP_FLOAT4:
			return Float4GetDatum(v->u.f32[row]);
		case CC_REP_CODE:
			return v->dict->values[v->u.code[row]];
		case CC_REP_INT64:
		case CC_REP_FLOAT8:
		case CC_REP_DATUM:
			break;
	}
	return v->u.datum[row];
}
