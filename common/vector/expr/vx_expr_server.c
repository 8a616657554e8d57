/*-------------------------------------------------------------------------
 *
 * vx_expr_server.c
 *	  Parts of expressions that the server's own executor evaluates: once
 *	  per distinct value of a dictionary, or row by row.
 *
 * By distinct value: a part that depends on one column alone is evaluated
 * when a selected row refers to a value for the first time in a row group,
 * and never for the rest of the dictionary, which holds values of deleted
 * and hidden rows too.  Results that are not passed by value make a
 * dictionary of their own.
 *
 * Memory: memos live in a context of their own until the next row group.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "vx_expr_int.h"
#include "vx_intern.h"
#include "vx_vec.h"

void
vx_node_set_state(VxNode *node)
{
	MemoryContext oldcontext;

	if (node->state)
		return;
	oldcontext = MemoryContextSwitchTo(node->expr->set->mcxt);
	node->state = ExecInitExprWithParams((Expr *) node->clause,
										 node->expr->set->plan->state->es_param_list_info);
	MemoryContextSwitchTo(oldcontext);
}

/* The clause's value with what stands in the set's slot, in its context. */
static Datum
evaluate(VxNode *node, bool *isnull)
{
	CHECK_FOR_INTERRUPTS();
	return ExecEvalExprSwitchContext(node->state, node->expr->set->econtext, isnull);
}

/* ---- by distinct value ---- */

/* The code of a value in the memo's dictionary; a new one, if need be. */
static uint32
code_of(VxExprSet *set, VxMemo *memo, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(set->econtext->ecxt_per_tuple_memory);
	uint32		code = vx_intern(memo->images, value, true);

	MemoryContextSwitchTo(old);
	memo->dict.values = vx_intern_values(memo->images, &memo->dict.nvalues);
	return code;
}

/*
 * Of results for the source's codes, and for null: so many at most.  Who gets codes of it
 * may get more with the next batch.
 */
static void
start_dictionary(VxNode *node, VxMemo *memo, const VxDictionary *source)
{
	static uint64 last_made = 0;
	MemoryContext old = MemoryContextSwitchTo(node->expr->set->mcxt);

	/* distinct by all bytes, whatever the type */
	if (memo->images == NULL)
		memo->images = vx_intern_create(node->expr->set->mcxt, node->typlen == -1 ?
										BYTEAOID : node->type, InvalidOid, InvalidOid, true);
	else
		vx_intern_reset(memo->images);
	memo->dict.values = vx_intern_values(memo->images, &memo->dict.nvalues);
	memo->dict.made = ++last_made;
	memo->dict.capacity = vx_dict_limit(source) + 1;
	MemoryContextSwitchTo(old);
}

static Size
memo_size(VxRep rep)
{
	return rep == VX_REP_FLOAT4 || rep == VX_REP_CODE ? sizeof(uint32) : sizeof(int64);
}

/* The form in which results are remembered. */
static VxRep
memo_rep(const VxNode *node)
{
	VxRep		rep = vx_node_rep(node);

	return rep == VX_REP_DATUM ? VX_REP_CODE : rep;
}

static VxMemo *
memo_of(VxNode *node, const VxDictionary *source)
{
	VxExpr	   *expr = node->expr;
	VxMemo	   *memo = node->memo;
	uint32		nvalues = vx_dict_limit(source) + 1;

	if (memo == NULL)
	{
		memo = MemoryContextAllocZero(expr->set->mcxt, sizeof(VxMemo));
		memo->mcxt = AllocSetContextCreate(expr->set->mcxt,
										   "vector results by value",
										   ALLOCSET_DEFAULT_SIZES);
		node->memo = memo;
	}
	if (memo->source == source && memo->group == vx_batch_group(expr->batch) &&
		memo->generation == expr->set->generation)
		return memo;

	memo->source = NULL;
	MemoryContextReset(memo->mcxt);
	memo->known = MemoryContextAllocZero(memo->mcxt, nvalues);
	memo->values = MemoryContextAllocZero(memo->mcxt,
										  memo_size(memo_rep(node)) * nvalues);
	memo->any_null = false;
	memo->nknown = 0;
	memo->is_true = node->type == BOOLOID ?
		MemoryContextAllocZero(memo->mcxt, nvalues) : NULL;
	if (memo_rep(node) == VX_REP_CODE)
		start_dictionary(node, memo, source);
	memo->group = vx_batch_group(expr->batch);
	memo->generation = expr->set->generation;
	memo->source = source;
	return memo;
}

/* Remembers the result for a code; the one behind the last stands for null. */
static void
memo_fill(VxNode *node, VxMemo *memo, uint32 code)
{
	VxExprSet  *set = node->expr->set;
	AttrNumber	attno = node->memo_attno;
	bool		of_null = code == vx_dict_limit(memo->source);
	Datum		value;
	bool		isnull;

	set->slot->tts_values[attno - 1] = of_null ? (Datum) 0 : memo->source->values[code];
	set->slot->tts_isnull[attno - 1] = of_null;
	value = evaluate(node, &isnull);
	if (!isnull)
	{
		switch (memo_rep(node))
		{
			case VX_REP_INT64:
				((int64 *) memo->values)[code] = vx_datum_to_int(node->type, node->typlen, value);
				break;
			case VX_REP_FLOAT8:
				((double *) memo->values)[code] = DatumGetFloat8(value);
				break;
			case VX_REP_FLOAT4:
				((float *) memo->values)[code] = DatumGetFloat4(value);
				break;
			default:
				((uint32 *) memo->values)[code] = code_of(set, memo, value);
				break;
		}
	}
	ResetExprContext(set->econtext);
	memo->known[code] = isnull ? VX_MEMO_NULL : VX_MEMO_VALUE;
	memo->any_null |= isnull;
	if (!of_null)
		memo->nknown++;
	if (memo->is_true)
		memo->is_true[code] = !isnull && DatumGetBool(value);
}

/* ---- by distinct value, with a kernel ---- */

/* Is the argument the column itself? */
static bool
is_column(const VxNode *node)
{
	return node->eval == vx_eval_column ||
		(IsA(node->clause, RelabelType) && node->nargs == 1 && node->eval != vx_eval_by_row &&
		 is_column(node->args[0]));
}

/* A kernel whose arguments are the column and constants; the column's place, or -1. */
static int
kernel_argument(const VxNode *node)
{
	int			column = -1;

	if (node->kernel == NULL || (node->type != BOOLOID && node->type != INT4OID && node->typlen != -1) ||
		node->type == NUMERICOID)
		return -1;
	for (int i = 0; i < node->nargs; i++)
	{
		if (vx_node_is_constant(node->args[i]))
			continue;
		if (column >= 0 || !is_column(node->args[i]))
			return -1;
		column = i;
	}
	return column;
}

/* The kernel's result for the value with that code. */
static void
memo_take(VxNode *node, VxMemo *memo, uint32 code, int row)
{
	if (memo_rep(node) == VX_REP_INT64)
	{
		((int64 *) memo->values)[code] = node->out.u.i64[row];
		if (memo->is_true)
			memo->is_true[code] = node->out.u.i64[row] != 0;
	}
	else
		((uint32 *) memo->values)[code] = code_of(node->expr->set, memo, node->out.u.datum[row]);
	memo->known[code] = VX_MEMO_VALUE;
	memo->nknown++;
}

/*
 * Has the kernel compute the results for n codes, values of which stand in a
 * vector as rows would; what it leaves is the server's.
 */
static void
memo_fill_by_kernel(VxNode *node, VxMemo *memo, const uint32 *codes, int n)
{
	const VxVector *args[FUNC_MAX_ARGS];
	Datum		datums[ST_VECTOR_SIZE];
	uint64		rows[VX_SELECTION_WORDS] = {0};
	uint64		suspect[VX_SELECTION_WORDS] = {0};
	VxVector	values = {.rep = VX_REP_DATUM, .n = n, .typlen = -1, .u.datum = datums};
	int			column = kernel_argument(node);
	bool		done = column >= 0 && n > 0;

	for (int i = 0; i < n; i++)
	{
		datums[i] = memo->source->values[codes[i]];
		vx_rows_set(rows, i);
	}
	for (int i = 0; done && i < node->nargs; i++)
	{
		args[i] = i == column ? &values : vx_eval_constant(node->args[i], rows);
		done = !args[i]->has_nulls;
	}
	done = done && node->kernel(node, args, rows, suspect);
	for (int i = 0; i < n; i++)
	{
		if (done && !vx_rows_isset(suspect, i))
			memo_take(node, memo, codes[i], i);
	}
	for (int i = 0; i < n; i++)
	{
		if (memo->known[codes[i]] == VX_MEMO_PENDING)
			memo_fill(node, memo, codes[i]);
	}
}

/* Makes everything known that the rows refer to. */
static void
memo_fill_rows(VxNode *node, VxMemo *memo, const uint32 *codes, const uint64 *rows)
{
	uint32		of_null = vx_dict_limit(memo->source);
	uint32		unknown[ST_VECTOR_SIZE];
	int			n = 0;

	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		uint32		code = codes[row];

		if (likely(memo->known[code] != VX_MEMO_UNKNOWN))
			continue;
		if (code == of_null)
			memo_fill(node, memo, code);
		else
		{
			memo->known[code] = VX_MEMO_PENDING;
			unknown[n++] = code;
		}
	}
	memo_fill_by_kernel(node, memo, unknown, n);
}

/*
 * The memo of the column's dictionary, in which everything that the rows
 * refer to is known, and the rows' codes: of all rows, so that loops need not
 * look at the selection.  Null has the code behind the last.
 */
static VxMemo *
memo_for(VxNode *node, const VxVector *column, const uint64 *rows, const uint32 **codes,
		 uint32 *buffer)
{
	VxMemo	   *memo = memo_of(node, column->dict);
	uint32		of_null = vx_dict_limit(column->dict);

	vx_node_set_state(node);
	*codes = column->u.code;
	if (column->has_nulls)
	{
		for (int i = 0; i < column->n; i++)
			buffer[i] = vx_vector_isnull(column, i) ? of_null : column->u.code[i];
		*codes = buffer;
	}
	if (memo->nknown < column->dict->nvalues ||
		(column->has_nulls && memo->known[of_null] == VX_MEMO_UNKNOWN))
		memo_fill_rows(node, memo, *codes, rows);
	return memo;
}

const VxVector *
vx_eval_by_value(VxNode *node, const VxVector *column, const uint64 *rows)
{
	uint32		buffer[ST_VECTOR_SIZE];
	const uint32 *codes;
	VxMemo	   *memo = memo_for(node, column, rows, &codes, buffer);
	int			n = column->n;

	vx_node_begin(node, memo_rep(node));
	switch (node->out.rep)
	{
		case VX_REP_CODE:
			for (int i = 0; i < n; i++)
				node->out.u.code[i] = ((const uint32 *) memo->values)[codes[i]];
			node->out.dict = &memo->dict;
			break;
		case VX_REP_FLOAT4:
			for (int i = 0; i < n; i++)
				node->out.u.f32[i] = ((const float *) memo->values)[codes[i]];
			break;
		default:
			vx_vec_kernels()->gather_int64(memo->values, codes, n, node->out.u.i64);
			break;
	}
	if (memo->any_null)
		VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
		{
			if (memo->known[codes[row]] == VX_MEMO_NULL)
				vx_node_put(node, row, (Datum) 0, true);
		}
	return node->type == NUMERICOID ? vx_node_numerics(node, rows) : &node->out;
}

void
vx_truth_by_value(VxNode *node, const VxVector *column, const uint64 *rows, VxTruth *truth)
{
	uint32		buffer[ST_VECTOR_SIZE];
	const uint32 *codes;
	VxMemo	   *memo = memo_for(node, column, rows, &codes, buffer);

	vx_vec_kernels()->gather_bits(memo->is_true, codes, column->n, truth->istrue);
	for (int w = 0; w < VX_EXPR_WORDS(node->expr); w++)
		truth->istrue[w] &= rows[w];
	if (memo->any_null)
		VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
		{
			if (memo->known[codes[row]] == VX_MEMO_NULL)
				vx_rows_set(truth->isnull, row);
		}
}

/* ---- row by row ---- */

Datum
vx_node_keep(VxNode *node, Datum value, MemoryContext mcxt)
{
	MemoryContext oldcontext;

	if (node->typbyval)
		return value;
	oldcontext = MemoryContextSwitchTo(mcxt);
	if (node->typlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	else
		value = datumCopy(value, false, node->typlen);
	MemoryContextSwitchTo(oldcontext);
	return value;
}

const VxVector *
vx_eval_by_row(VxNode *node, const uint64 *rows)
{
	VxExpr	   *expr = node->expr;
	TupleTableSlot *slot = expr->set->slot;
	int			words = VX_EXPR_WORDS(expr);

	if (expr->safely)
	{
		for (int w = 0; w < words; w++)
			expr->unknown[w] |= rows[w];
		return vx_node_nulls(node);
	}
	vx_node_set_state(node);
	for (int c = 0; c < node->ncolumns; c++)
		vx_batch_vector(expr->batch, node->attnos[c]);

	vx_node_begin(node, vx_node_rep(node));
	VX_FOREACH_ROW(row, rows, words)
	{
		Datum		value;
		bool		isnull;

		for (int c = 0; c < node->ncolumns; c++)
		{
			AttrNumber	attno = node->attnos[c];

			vx_batch_value(vx_batch_column(expr->batch, attno), row,
						   &slot->tts_values[attno - 1], &slot->tts_isnull[attno - 1]);
		}
		value = evaluate(node, &isnull);
		vx_node_put(node, row, isnull ? (Datum) 0 : vx_node_keep(node, value, expr->arena),
					isnull);
		ResetExprContext(expr->set->econtext);
	}
	return node->type == NUMERICOID ? vx_node_numerics(node, rows) : &node->out;
}
