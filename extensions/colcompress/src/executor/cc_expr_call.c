/*-------------------------------------------------------------------------
 *
 * cc_expr_call.c
 *	  Function calls and operators in vector expressions.
 *
 * A function with a kernel runs on whole vectors; rows that the kernel finds
 * suspect, and all rows of functions without one, go through the function
 * manager one by one.  All arguments of all rows are evaluated first, as the
 * server does for a row, and a strict function sees no null.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "pgstat.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "cc_expr_int.h"

/* No kernel takes more. */
#define MAX_KERNEL_ARGS 3

static const CcKernelEntry *const kernel_tables[] = {
	cc_arith_kernels, cc_decimal_kernels, cc_time_kernels, cc_text_kernels
};

/* ---- the function manager ---- */

static Datum
keep_result(CcNode *node, Datum value)
{
	MemoryContext oldcontext;

	if (node->typbyval)
		return value;
	oldcontext = MemoryContextSwitchTo(node->expr->arena);
	if (node->typlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	else
		value = datumCopy(value, false, node->typlen);
	MemoryContextSwitchTo(oldcontext);
	return value;
}

/*
 * The scaled integers that a kernel put into out become numerics, so that
 * others may stand beside them.
 */
static void
spread_decimals(CcNode *node, const uint64 *rows)
{
	CcVector	v = node->out;
	Datum		values[ST_VECTOR_SIZE];
	int			words = CC_EXPR_WORDS(node->expr);

	CC_FOREACH_ROW(row, rows, words)
		values[row] = cc_expr_datum(node->expr, &v, row);
	cc_node_begin(node, CC_REP_DATUM);
	CC_FOREACH_ROW(row, rows, words)
		node->out.u.datum[row] = values[row];
}

Datum
cc_call_row(CcNode *node, const CcVector *const *args, int row, bool *isnull)
{
	FunctionCallInfo fcinfo = node->fcinfo;
	ExprContext *econtext = node->expr->set->econtext;
	MemoryContext oldcontext;
	Datum		value;

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < node->nargs; i++)
	{
		fcinfo->args[i].isnull = cc_vector_isnull(args[i], row);
		fcinfo->args[i].value = fcinfo->args[i].isnull ? (Datum) 0 :
			cc_expr_datum(node->expr, args[i], row);
	}
	oldcontext = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	fcinfo->isnull = false;
	value = FunctionCallInvoke(fcinfo);
	MemoryContextSwitchTo(oldcontext);
	*isnull = fcinfo->isnull;
	return value;
}

static void
call_rows(CcNode *node, const CcVector *const *args, const uint64 *rows)
{
	int			words = CC_EXPR_WORDS(node->expr);

	CC_FOREACH_ROW(row, rows, words)
	{
		bool		isnull;
		Datum		value = cc_call_row(node, args, row, &isnull);

		cc_node_put(node, row, isnull ? (Datum) 0 : keep_result(node, value), isnull);
		ResetExprContext(node->expr->set->econtext);
	}
}

/* ---- evaluation ---- */

void
cc_node_set_nulls(CcNode *node, const uint64 *rows, const uint64 *live)
{
	int			words = CC_EXPR_WORDS(node->expr);

	node->out.has_nulls = memcmp(rows, live, words * sizeof(uint64)) != 0;
	if (node->out.has_nulls)
		for (int w = 0; w < words; w++)
			node->out.valid[w] = ~rows[w] | live[w];
}

/* The rows that only the server can decide. */
static const CcVector *
finish_by_server(CcNode *node, const CcVector *const *args, const uint64 *rows,
				 const uint64 *live, const uint64 *left)
{
	CcExpr	   *expr = node->expr;
	int			words = CC_EXPR_WORDS(expr);

	if (!expr->safely)
	{
		call_rows(node, args, left);
		return node->type == NUMERICOID ? cc_node_numerics(node, live) : &node->out;
	}
	for (int w = 0; w < words; w++)
		expr->unknown[w] |= left[w];
	CC_FOREACH_ROW(row, left, words)
		cc_node_put(node, row, (Datum) 0, true);
	return &node->out;
}

static const CcVector *
run_kernel(CcNode *node, const CcVector *const *args, const uint64 *rows,
		   const uint64 *live)
{
	uint64		suspect[CC_SELECTION_WORDS] = {0};
	uint64		sure[CC_SELECTION_WORDS];
	uint64		any = 0;
	int			words = CC_EXPR_WORDS(node->expr);

	if (!node->kernel(node, args, live, suspect))
		return NULL;
	node->out.constant = false;
	node->out.typlen = node->typlen;
	for (int w = 0; w < words; w++)
	{
		suspect[w] &= live[w];
		sure[w] = live[w] & ~suspect[w];
		any |= suspect[w];
	}
	if (likely(any == 0))
	{
		cc_node_set_nulls(node, rows, live);
		return &node->out;
	}
	if (node->type == NUMERICOID && !node->expr->safely)
		spread_decimals(node, sure);
	cc_node_set_nulls(node, rows, live);
	return finish_by_server(node, args, rows, live, suspect);
}

static const CcVector *
eval_call(CcNode *node, const uint64 *rows)
{
	const CcVector *args[FUNC_MAX_ARGS];
	uint64		live[CC_SELECTION_WORDS];
	int			words = CC_EXPR_WORDS(node->expr);
	const CcVector *result;

	memcpy(live, rows, words * sizeof(uint64));
	for (int i = 0; i < node->nargs; i++)
	{
		args[i] = cc_node_eval(node->args[i], rows);
		if (node->flinfo->fn_strict)
			cc_rows_not_null(live, live, args[i], words);
	}
	/* rows that an argument could not decide are not to be called for */
	if (node->expr->safely)
		for (int w = 0; w < words; w++)
			live[w] &= ~node->expr->unknown[w];
	if (cc_selection_is_empty(live, node->expr->batch->nrows))
		return cc_node_nulls(node);

	if (node->kernel)
	{
		result = run_kernel(node, args, rows, live);
		if (result)
			return result;
	}
	if (node->cache && cc_cache_allowed(node))
		return cc_cache_eval(node, args, rows, live);
	cc_node_begin(node, cc_node_rep(node));
	cc_node_set_nulls(node, rows, live);
	return finish_by_server(node, args, rows, live, live);
}

/* ---- compilation ---- */

static void
find_kernel(CcNode *node, Oid funcid)
{
	if (!node->flinfo->fn_strict || node->nargs > MAX_KERNEL_ARGS)
		return;
	for (int t = 0; t < lengthof(kernel_tables); t++)
	{
		for (const CcKernelEntry *e = kernel_tables[t]; OidIsValid(e->funcid); e++)
		{
			if (e->funcid == funcid)
			{
				node->kernel = e->kernel;
				node->op = e->op;
				return;
			}
		}
	}
	cc_uint8_set_kernel(node);
}

bool
cc_call_compile(CcNode *node, Oid funcid, List *args, Oid collation)
{
	ListCell   *lc;

	if (list_length(args) > FUNC_MAX_ARGS || !cc_enable_vector_expressions)
		return false;
	node->flinfo = palloc0(sizeof(FmgrInfo));
	fmgr_info(funcid, node->flinfo);
	fmgr_info_set_expr(node->clause, node->flinfo);
	/* Functions whose calls are counted are counted by the server only. */
	if (node->flinfo->fn_retset || pgstat_track_functions > node->flinfo->fn_stats)
		return false;

	node->nargs = list_length(args);
	node->args = palloc(sizeof(CcNode *) * (node->nargs + 1));
	node->fcinfo = palloc0(SizeForFunctionCallInfo(node->nargs));
	InitFunctionCallInfoData(*node->fcinfo, node->flinfo, node->nargs, collation, NULL, NULL);
	foreach(lc, args)
		node->args[foreach_current_index(lc)] = cc_node_compile(node->expr, lfirst(lc));
	node->eval = eval_call;

	find_kernel(node, funcid);
	if (node->kernel == NULL)
		cc_cache_set(node, funcid);
	return true;
}
