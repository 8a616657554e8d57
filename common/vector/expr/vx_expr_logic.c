/*-------------------------------------------------------------------------
 *
 * vx_expr_logic.c
 *	  AND, OR, NOT and tests in vector expressions, in three-valued logic.
 *
 * An argument of AND is evaluated for the rows where no argument before it
 * is false, one of OR where none is true: as the server does it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "vx_expr_int.h"

/* Longer lists are left to the server, which has a hash table for them. */
#define MAX_LIST	32

/* AND goes on with rows that are not false yet, OR with those that are not true. */
static void
truth_of_several(VxNode *node, const uint64 *rows, VxTruth *truth, bool is_and)
{
	uint64		left[VX_SELECTION_WORDS];
	int			words = VX_EXPR_WORDS(node->expr);

	memcpy(left, rows, words * sizeof(uint64));
	for (int i = 0; i < node->nargs; i++)
	{
		VxTruth		arg;

		vx_node_truth(node->args[i], left, &arg);
		for (int w = 0; w < words; w++)
		{
			truth->isnull[w] |= arg.isnull[w];
			left[w] &= is_and ? arg.istrue[w] | arg.isnull[w] : ~arg.istrue[w];
		}
	}
	for (int w = 0; w < words; w++)
	{
		truth->isnull[w] &= left[w];
		truth->istrue[w] = is_and ? left[w] & ~truth->isnull[w] : rows[w] & ~left[w];
	}
}

static void
truth_of_and(VxNode *node, const uint64 *rows, VxTruth *truth)
{
	truth_of_several(node, rows, truth, true);
}

static void
truth_of_or(VxNode *node, const uint64 *rows, VxTruth *truth)
{
	truth_of_several(node, rows, truth, false);
}

static void
truth_of_not(VxNode *node, const uint64 *rows, VxTruth *truth)
{
	VxTruth		arg;

	vx_node_truth(node->args[0], rows, &arg);
	for (int w = 0; w < VX_EXPR_WORDS(node->expr); w++)
	{
		truth->isnull[w] = arg.isnull[w];
		truth->istrue[w] = rows[w] & ~arg.istrue[w] & ~arg.isnull[w];
	}
}

/* What is not known is not null, and not anything else. */
static void
drop_unknown(VxNode *node, VxTruth *truth)
{
	if (node->expr->safely)
		for (int w = 0; w < VX_EXPR_WORDS(node->expr); w++)
		{
			truth->isnull[w] |= truth->istrue[w] & node->expr->unknown[w];
			truth->istrue[w] &= ~node->expr->unknown[w];
		}
}

static void
truth_of_null_test(VxNode *node, const uint64 *rows, VxTruth *truth)
{
	const VxVector *v = vx_node_eval(node->args[0], rows);
	uint64		live[VX_SELECTION_WORDS];
	int			words = VX_EXPR_WORDS(node->expr);

	vx_rows_not_null(live, rows, v, words);
	for (int w = 0; w < words; w++)
		truth->istrue[w] = node->kind == IS_NULL ? rows[w] & ~live[w] : live[w];
	drop_unknown(node, truth);
}

static void
truth_of_boolean_test(VxNode *node, const uint64 *rows, VxTruth *truth)
{
	BoolTestType test = node->kind;
	VxTruth		arg;

	vx_node_truth(node->args[0], rows, &arg);
	for (int w = 0; w < VX_EXPR_WORDS(node->expr); w++)
	{
		uint64		is = test == IS_TRUE || test == IS_NOT_TRUE ? arg.istrue[w] :
			test == IS_UNKNOWN || test == IS_NOT_UNKNOWN ? arg.isnull[w] :
			rows[w] & ~arg.istrue[w] & ~arg.isnull[w];
		bool		negated = test == IS_NOT_TRUE || test == IS_NOT_FALSE ||
			test == IS_NOT_UNKNOWN;

		truth->istrue[w] = negated ? rows[w] & ~is : is;
	}
	drop_unknown(node, truth);
}

/* ---- IS DISTINCT FROM, IN ---- */

/* args: the two sides, and their equality */
static void
truth_of_distinct(VxNode *node, const uint64 *rows, VxTruth *truth)
{
	VxTruth		equal;
	uint64		a[VX_SELECTION_WORDS];
	uint64		b[VX_SELECTION_WORDS];
	uint64		both[VX_SELECTION_WORDS];
	int			words = VX_EXPR_WORDS(node->expr);

	vx_rows_not_null(a, rows, vx_node_eval(node->args[0], rows), words);
	vx_rows_not_null(b, rows, vx_node_eval(node->args[1], rows), words);
	for (int w = 0; w < words; w++)
		both[w] = a[w] & b[w];
	vx_node_truth(node->args[2], both, &equal);
	for (int w = 0; w < words; w++)
	{
		truth->istrue[w] = (a[w] ^ b[w]) | (both[w] & ~equal.istrue[w] & ~equal.isnull[w]);
		truth->isnull[w] = equal.isnull[w];
	}
	drop_unknown(node, truth);
}

static const VxVector *
eval_given(VxNode *node, const uint64 *rows)
{
	return node->given;
}

/*
 * scalar OP ANY (list) as an OR, scalar OP ALL (list) as an AND of
 * comparisons.  args[0] is the scalar, given[] stands for it in the others.
 */
static void
truth_of_list(VxNode *node, const uint64 *rows, VxTruth *truth)
{
	const VxVector *v = vx_node_eval(node->args[0], rows);
	VxNode		rest = *node;

	for (int i = 1; i < node->nargs; i++)
		node->args[i]->args[0]->given = v;
	rest.args++;
	rest.nargs--;
	if (node->kind)
		truth_of_or(&rest, rows, truth);
	else
		truth_of_and(&rest, rows, truth);
}

static VxNode *
compile_comparison(VxNode *node, ScalarArrayOpExpr *list, Datum value, bool isnull,
				   Oid elemtype, int16 typlen, bool typbyval)
{
	OpExpr	   *op = makeNode(OpExpr);
	VxNode	   *comparison;

	op->opno = list->opno;
	op->opfuncid = list->opfuncid;
	op->opresulttype = BOOLOID;
	op->inputcollid = list->inputcollid;
	op->args = list_make2(linitial(list->args),
						  makeConst(elemtype, -1, exprCollation(lsecond(list->args)),
									typlen, value, isnull, typbyval));
	op->location = -1;
	comparison = vx_node_make(node->expr, (Node *) op);
	if (!vx_call_compile(comparison, op->opfuncid, op->args, op->inputcollid) ||
		!vx_compare_set(comparison, op->opno))
		return NULL;
	comparison->args[0]->eval = eval_given;
	comparison->args[0]->truth = NULL;
	comparison->args[0]->memo_attno = InvalidAttrNumber;
	return comparison;
}

static bool
compile_list(VxNode *node)
{
	ScalarArrayOpExpr *list = (ScalarArrayOpExpr *) node->clause;
	Const	   *array = lsecond(list->args);
	ArrayType  *a;
	Oid			elemtype;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	bool	   *nulls;
	int			nvalues;

	if (!IsA(array, Const) || array->constisnull)
		return false;
	a = DatumGetArrayTypeP(array->constvalue);
	elemtype = ARR_ELEMTYPE(a);
	get_typlenbyvalalign(elemtype, &typlen, &typbyval, &typalign);
	deconstruct_array(a, elemtype, typlen, typbyval, typalign, &values, &nulls, &nvalues);
	if (nvalues == 0 || nvalues > MAX_LIST)
		return false;

	node->args = palloc(sizeof(VxNode *) * (nvalues + 1));
	for (int i = 0; i < nvalues; i++)
	{
		node->args[i + 1] = compile_comparison(node, list, values[i], nulls[i],
											   elemtype, typlen, typbyval);
		if (node->args[i + 1] == NULL)
			return false;
	}
	node->args[0] = vx_node_compile(node->expr, linitial(list->args));
	node->nargs = nvalues + 1;
	node->kind = list->useOr;
	node->truth = truth_of_list;
	return true;
}

bool
vx_logic_compile(VxNode *node)
{
	if (IsA(node->clause, BoolExpr))
	{
		BoolExpr   *b = (BoolExpr *) node->clause;

		vx_node_compile_args(node, b->args);
		node->truth = b->boolop == AND_EXPR ? truth_of_and :
			b->boolop == OR_EXPR ? truth_of_or : truth_of_not;
		return true;
	}
	if (IsA(node->clause, NullTest))
	{
		NullTest   *test = (NullTest *) node->clause;

		if (test->argisrow)
			return false;
		vx_node_compile_args(node, list_make1(test->arg));
		node->kind = test->nulltesttype;
		node->truth = truth_of_null_test;
		return true;
	}
	if (IsA(node->clause, BooleanTest))
	{
		BooleanTest *test = (BooleanTest *) node->clause;

		vx_node_compile_args(node, list_make1(test->arg));
		node->kind = test->booltesttype;
		node->truth = truth_of_boolean_test;
		return true;
	}
	if (IsA(node->clause, DistinctExpr))
	{
		DistinctExpr *distinct = (DistinctExpr *) node->clause;
		OpExpr	   *equal = (OpExpr *) copyObject(distinct);

		NodeSetTag(equal, T_OpExpr);
		vx_node_compile_args(node, list_make3(linitial(distinct->args), lsecond(distinct->args), equal));
		node->truth = truth_of_distinct;
		return true;
	}
	if (IsA(node->clause, ScalarArrayOpExpr))
		return compile_list(node);
	return false;
}
