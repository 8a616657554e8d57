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

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "vx_agg.h"

int
vx_agg_input(VxAggState *state, Expr *expr, int filter, int flags)
{
	VxScanState *scan = state->scan;
	VxAggInput *input;
	bool		column;

	expr = vx_agg_fused(state, expr);
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
	if (state->feed)
		input->attno = vx_agg_feed_column(state->feed, expr);
	else if (column)
		input->attno = ((Var *) expr)->varattno;
	/* states of partial nodes need none */
	else if (state->exprs && (input->program = vx_expr_compile(state->exprs, expr, flags)) == NULL)
		elog(ERROR, "an operand of an aggregation over vectors cannot be computed on them");
	return state->ninputs++;
}

void
vx_agg_inputs_reset(VxAggState *state)
{
	for (int i = 0; i < state->ninputs; i++)
		state->inputs[i].vector = NULL;
}

const VxVector *
vx_agg_vector(VxAggState *state, int number)
{
	VxAggInput *input = &state->inputs[number];
	uint64		selection[VX_SELECTION_WORDS];

	if (input->vector != NULL)
		return input->vector;
	if (input->attno != InvalidAttrNumber)
		input->vector = vx_batch_vector(state->batch, input->attno);
	else
	{
		vx_agg_selection(state, input->filter, selection);
		input->vector = vx_expr_eval(input->program, state->batch, selection);
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
	for (int w = 0; w < nwords && v->has_nulls; w++)
		result[w] &= v->valid[w];
	VX_FOREACH_ROW(row, result, nwords)
	{
		if (v->u.i64[row] == 0)
			vx_rows_clear(result, row);
	}
}

/* ---- values between participants ---- */

/* Strings stand as they are, aligned; anything else as the server serializes it. */
void
vx_state_value_write(StringInfo out, Datum value, const VxAggInput *input)
{
	Size		size = input->typlen == -1 ? VARSIZE_ANY(DatumGetPointer(value)) :
		datumEstimateSpace(value, false, input->typbyval, input->typlen);
	char	   *p;

	enlargeStringInfo(out, INTALIGN(size));
	p = out->data + out->len;
	if (input->typlen == -1)
		memcpy(p, DatumGetPointer(value), size);
	else
		datumSerialize(value, false, input->typbyval, input->typlen, &p);
	out->len += INTALIGN(size);
}

const char *
vx_state_value_read(const VxAggInput *input, const char *p, Datum *value)
{
	char	   *at = unconstify(char *, p);
	bool		isnull;

	if (input->typlen != -1)
	{
		*value = datumRestore(&at, &isnull);
		return p + INTALIGN(at - p);
	}
	*value = PointerGetDatum(p);
	return p + INTALIGN(VARSIZE_ANY(p));
}
