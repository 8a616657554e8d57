/*-------------------------------------------------------------------------
 *
 * vx_expr_call.c
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
#include "utils/memutils.h"

#include "vx_expr_int.h"
#include "vx_settings.h"

/* No kernel takes more. */
#define MAX_KERNEL_ARGS 4

static const VxKernelEntry *const kernel_tables[] = {
	vx_arith_kernels, vx_decimal_kernels, vx_time_kernels, vx_text_kernels,
	vx_regex_kernels
};

/* ---- the function manager ---- */

/*
 * The scaled integers that a kernel put into out become numerics, so that
 * others may stand beside them.
 */
static void
spread_decimals(VxNode *node, const uint64 *rows)
{
	VxVector	v = node->out;
	Datum		values[ST_VECTOR_SIZE];
	int			words = VX_EXPR_WORDS(node->expr);

	VX_FOREACH_ROW(row, rows, words)
		values[row] = vx_expr_datum(node->expr, &v, row);
	vx_node_begin(node, VX_REP_DATUM);
	VX_FOREACH_ROW(row, rows, words)
		node->out.u.datum[row] = values[row];
}

Datum
vx_call_row(VxNode *node, const VxVector *const *args, int row, bool *isnull)
{
	FunctionCallInfo fcinfo = node->fcinfo;
	ExprContext *econtext = node->expr->set->econtext;
	MemoryContext oldcontext;
	Datum		value;

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < node->nargs; i++)
	{
		fcinfo->args[i].isnull = vx_vector_isnull(args[i], row);
		fcinfo->args[i].value = fcinfo->args[i].isnull ? (Datum) 0 :
			vx_expr_datum(node->expr, args[i], row);
	}
	oldcontext = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	fcinfo->isnull = false;
	value = FunctionCallInvoke(fcinfo);
	MemoryContextSwitchTo(oldcontext);
	*isnull = fcinfo->isnull;
	return value;
}

static void
call_rows(VxNode *node, const VxVector *const *args, const uint64 *rows)
{
	int			words = VX_EXPR_WORDS(node->expr);

	VX_FOREACH_ROW(row, rows, words)
	{
		bool		isnull;
		Datum		value = vx_call_row(node, args, row, &isnull);

		vx_node_put(node, row, isnull ? (Datum) 0 :
					vx_node_keep(node, value, node->expr->arena), isnull);
		ResetExprContext(node->expr->set->econtext);
	}
}

/* ---- evaluation ---- */

void
vx_node_set_nulls(VxNode *node, const uint64 *rows, const uint64 *live)
{
	int			words = VX_EXPR_WORDS(node->expr);

	node->out.has_nulls = memcmp(rows, live, words * sizeof(uint64)) != 0;
	if (node->out.has_nulls)
		for (int w = 0; w < words; w++)
			node->out.valid[w] = ~rows[w] | live[w];
}

/* The rows that only the server can decide. */
static const VxVector *
finish_by_server(VxNode *node, const VxVector *const *args, const uint64 *rows,
				 const uint64 *live, const uint64 *left)
{
	VxExpr	   *expr = node->expr;
	int			words = VX_EXPR_WORDS(expr);

	if (!expr->safely)
	{
		call_rows(node, args, left);
		return node->type == NUMERICOID ? vx_node_numerics(node, live) : &node->out;
	}
	for (int w = 0; w < words; w++)
		expr->unknown[w] |= left[w];
	VX_FOREACH_ROW(row, left, words)
		vx_node_put(node, row, (Datum) 0, true);
	return &node->out;
}

static const VxVector *
run_kernel(VxNode *node, const VxVector *const *args, const uint64 *rows,
		   const uint64 *live)
{
	uint64		suspect[VX_SELECTION_WORDS] = {0};
	uint64		sure[VX_SELECTION_WORDS];
	uint64		any = 0;
	int			words = VX_EXPR_WORDS(node->expr);

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
		vx_node_set_nulls(node, rows, live);
		return &node->out;
	}
	if (node->type == NUMERICOID && !node->expr->safely)
		spread_decimals(node, sure);
	vx_node_set_nulls(node, rows, live);
	return finish_by_server(node, args, rows, live, suspect);
}

static const VxVector *
eval_call(VxNode *node, const uint64 *rows)
{
	const VxVector *args[FUNC_MAX_ARGS];
	uint64		live[VX_SELECTION_WORDS];
	int			words = VX_EXPR_WORDS(node->expr);
	const VxVector *result;

	memcpy(live, rows, words * sizeof(uint64));
	for (int i = 0; i < node->nargs; i++)
	{
		args[i] = vx_node_eval(node->args[i], rows);
		if (node->flinfo->fn_strict)
			vx_rows_not_null(live, live, args[i], words);
	}
	/* rows that an argument could not decide are not to be called for */
	if (node->expr->safely)
		for (int w = 0; w < words; w++)
			live[w] &= ~node->expr->unknown[w];
	if (vx_selection_is_empty(live, node->expr->batch->nrows))
		return vx_node_nulls(node);

	if (node->kernel)
	{
		result = run_kernel(node, args, rows, live);
		if (result)
			return result;
	}
	if (node->cache && vx_cache_allowed(node))
		return vx_cache_eval(node, args, rows, live);
	vx_node_begin(node, vx_node_rep(node));
	vx_node_set_nulls(node, rows, live);
	return finish_by_server(node, args, rows, live, live);
}

/* ---- compilation ---- */

static void
find_kernel(VxNode *node, Oid funcid)
{
	if (!node->flinfo->fn_strict || node->nargs > MAX_KERNEL_ARGS)
		return;
	for (int t = 0; t < lengthof(kernel_tables); t++)
	{
		for (const VxKernelEntry *e = kernel_tables[t]; OidIsValid(e->funcid); e++)
		{
			if (e->funcid == funcid)
			{
				node->kernel = e->kernel;
				node->op = e->op;
				return;
			}
		}
	}
	if (vx_format->set_kernel)
		vx_format->set_kernel(node);
}

bool
vx_call_compile(VxNode *node, Oid funcid, List *args, Oid collation)
{
	ListCell   *lc;

	if (list_length(args) > FUNC_MAX_ARGS || !vx_enable_vector_expressions)
		return false;
	node->flinfo = palloc0(sizeof(FmgrInfo));
	fmgr_info(funcid, node->flinfo);
	fmgr_info_set_expr(node->clause, node->flinfo);
	/* Functions whose calls are counted are counted by the server only. */
	if (node->flinfo->fn_retset || pgstat_track_functions > node->flinfo->fn_stats)
		return false;

	node->nargs = list_length(args);
	node->args = palloc(sizeof(VxNode *) * (node->nargs + 1));
	node->fcinfo = palloc0(SizeForFunctionCallInfo(node->nargs));
	InitFunctionCallInfoData(*node->fcinfo, node->flinfo, node->nargs, collation, NULL, NULL);
	foreach(lc, args)
		node->args[foreach_current_index(lc)] = vx_node_compile(node->expr, lfirst(lc));
	node->eval = eval_call;

	find_kernel(node, funcid);
	if (node->kernel == NULL)
		vx_cache_set(node, funcid);
	return true;
}
