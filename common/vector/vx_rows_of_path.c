/*-------------------------------------------------------------------------
 *
 * vx_rows_of_path.c
 *	  Rows whose documents have nothing for a function that returns rows.
 *
 * "FROM t, jsonb_array_elements(doc->'a') e" runs the function once per row
 * of t, and a FunctionScan costs its start for each, though it returns
 * nothing where the path is missing.  The scan of t knows that from the
 * sub-columns: conditions that follow from the join are added to it,
 *
 *		doc->'a' IS NOT NULL					(the function is strict)
 *		jsonb_path_exists(doc, path, vars, true) IS NOT FALSE
 *
 * They hold for every row that the join returns, and for every row for which
 * the function raises an error, and raise none themselves.  The join must be
 * an inner one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "vx_rows_of_path.h"
#include "vx_settings.h"

/* Is the value at a constant path of a column of the relation? */
static bool
is_path_of(Node *node, Index relid)
{
	OpExpr	   *op = (OpExpr *) node;

	if (!IsA(node, OpExpr) || list_length(op->args) != 2 ||
		!IsA(lsecond(op->args), Const))
		return false;
	switch (get_opcode(op->opno))
	{
		case F_JSONB_OBJECT_FIELD:
		case F_JSONB_ARRAY_ELEMENT:
		case F_JSONB_EXTRACT_PATH:
			break;
		default:
			return false;
	}
	node = linitial(op->args);
	if (IsA(node, Var))
		return ((Var *) node)->varno == (int) relid && ((Var *) node)->varlevelsup == 0 &&
			((Var *) node)->varattno > 0;
	return is_path_of(node, relid);
}

/* Is no join one that keeps rows without a partner, or asks for none? */
static bool
is_inner(PlannerInfo *root, Index relid)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		SpecialJoinInfo *join = lfirst(lc);

		if (bms_is_member(relid, join->syn_righthand) ||
			(join->jointype == JOIN_FULL && bms_is_member(relid, join->syn_lefthand)))
			return false;
	}
	return true;
}

/*
 * jsonb_path_query() returns a row if jsonb_path_exists() is true.  Where that
 * raises what it cannot keep silent about, the function would: it is the next
 * to be called, for nothing else is joined.
 */
static Node *
path_query_qual(PlannerInfo *root, FuncExpr *func, Index relid)
{
	Var		   *document = linitial(func->args);
	BooleanTest *test;
	ListCell   *lc;

	if (list_length(func->args) != 4 || !IsA(document, Var) ||
		document->varno != (int) relid || document->varlevelsup != 0 ||
		document->varattno <= 0 || bms_num_members(root->all_baserels) != 2)
		return NULL;
	for_each_from(lc, func->args, 1)
	{
		if (!IsA(lfirst(lc), Const) || ((Const *) lfirst(lc))->constisnull)
			return NULL;
	}
	test = makeNode(BooleanTest);
	test->arg = (Expr *) makeFuncExpr(F_JSONB_PATH_EXISTS, BOOLOID,
									  list_make4(copyObject(document),
												 copyObject(lsecond(func->args)),
												 copyObject(lthird(func->args)),
												 makeBoolConst(true, false)),
									  InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	test->booltesttype = IS_NOT_FALSE;
	test->location = -1;
	return (Node *) test;
}

/* What follows for the relation's rows from the join with the function; NULL: nothing. */
static Node *
function_qual(PlannerInfo *root, Index relid, Index function)
{
	RangeTblEntry *rte = planner_rt_fetch(function, root);
	FuncExpr   *func;
	NullTest   *test;

	if (rte->rtekind != RTE_FUNCTION || list_length(rte->functions) != 1)
		return NULL;
	func = (FuncExpr *) linitial_node(RangeTblFunction, rte->functions)->funcexpr;
	if (!IsA(func, FuncExpr) || !func->funcretset || func->args == NIL ||
		!func_strict(func->funcid) || !is_inner(root, function))
		return NULL;
	if (func->funcid == F_JSONB_PATH_QUERY)
		return path_query_qual(root, func, relid);
	if (!is_path_of(linitial(func->args), relid))
		return NULL;
	test = makeNode(NullTest);
	test->arg = copyObject(linitial(func->args));
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	return (Node *) test;
}

List *
vx_rows_of_quals(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *quals = NIL;

	if (!vx_enable_document_parts || !vx_enable_path_columns ||
		rel->reloptkind != RELOPT_BASEREL || root->rowMarks != NIL ||
		root->parse->resultRelation == (int) rel->relid || !is_inner(root, rel->relid))
		return NIL;
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *other = root->simple_rel_array[i];
		Node	   *qual = NULL;

		if (other != NULL && other->reloptkind == RELOPT_BASEREL)
			qual = function_qual(root, rel->relid, i);
		if (qual != NULL)
			quals = lappend(quals, qual);
	}
	return quals;
}
