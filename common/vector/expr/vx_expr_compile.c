/*-------------------------------------------------------------------------
 *
 * vx_expr_compile.c
 *	  From the server's expression tree to nodes of a vector expression.
 *
 * Every part that no file here knows becomes a node that the server
 * evaluates row by row, for itself alone: its neighbours stay vectors.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "vx_expr_int.h"
#include "vx_path_expr.h"
#include "vx_settings.h"

/* Expressions within expressions that are taken apart. */
#define MAX_DEPTH	200

/* Sets the columns that the clause refers to. */
static void
set_columns(VxNode *node)
{
	Bitmapset  *attrs = NULL;
	int			attr = -1;

	pull_varattnos(node->clause, node->expr->set->varno, &attrs);
	node->attnos = palloc(sizeof(AttrNumber) * (bms_num_members(attrs) + 1));
	while ((attr = bms_next_member(attrs, attr)) >= 0)
		node->attnos[node->ncolumns++] = attr + FirstLowInvalidHeapAttributeNumber;
	bms_free(attrs);
}

VxNode *
vx_node_make(VxExpr *expr, Node *clause)
{
	VxNode	   *node = palloc0(sizeof(VxNode));

	node->expr = expr;
	node->clause = clause;
	node->type = getBaseType(exprType(clause));
	get_typlenbyval(node->type, &node->typlen, &node->typbyval);
	set_columns(node);
	return node;
}

/* Depends on one column, whose type may come as a dictionary. */
static void
set_memo(VxNode *node)
{
	VxExprSet  *set = node->expr->set;

	if (node->ncolumns == 1 &&
		!TupleDescAttr(set->desc, node->attnos[0] - 1)->attbyval)
		node->memo_attno = node->attnos[0];
}

/* The conversion leaves the value as vectors hold it. */
static bool
is_relabelling(const VxNode *node, const VxNode *arg)
{
	if (node->typlen != arg->typlen || node->typbyval != arg->typbyval)
		return false;
	if (!node->typbyval)
		return node->typlen != -1 || (node->type == NUMERICOID) == (arg->type == NUMERICOID);
	/* vectors hold some types without a sign */
	return (node->type == OIDOID) == (arg->type == OIDOID) &&
		(node->type == BOOLOID || node->type == CHAROID) ==
		(arg->type == BOOLOID || arg->type == CHAROID) &&
		(node->type == FLOAT4OID) == (arg->type == FLOAT4OID) &&
		(node->type == FLOAT8OID) == (arg->type == FLOAT8OID);
}

static const VxVector *
eval_relabelled(VxNode *node, const uint64 *rows)
{
	return vx_node_eval(node->args[0], rows);
}

static bool
compile_relabelling(VxNode *node, Node *arg)
{
	node->args = palloc(sizeof(VxNode *));
	node->args[0] = vx_node_compile(node->expr, arg);
	node->nargs = 1;
	node->eval = eval_relabelled;
	return is_relabelling(node, node->args[0]);
}

static bool
compile_call(VxNode *node, Node *clause)
{
	switch (nodeTag(clause))
	{
		case T_FuncExpr:
			{
				FuncExpr   *f = (FuncExpr *) clause;

				return !f->funcvariadic &&
					vx_call_compile(node, f->funcid, f->args, f->inputcollid);
			}
		case T_OpExpr:
			{
				OpExpr	   *op = (OpExpr *) clause;

				set_opfuncid(op);
				if (!vx_call_compile(node, op->opfuncid, op->args, op->inputcollid))
					return false;
				if (list_length(op->args) == 2 && op->opresulttype == BOOLOID)
					vx_compare_set(node, op->opno);
				return true;
			}
		default:
			return false;
	}
}

void
vx_node_allow_any_scale(VxNode *node)
{
	node->any_scale = true;
	if (node->nargs == 0)
		return;					/* the server's as a whole */
	if (IsA(node->clause, CaseExpr))
	{
		for (int i = 1; i < node->nargs; i += 2)
			vx_node_allow_any_scale(node->args[i]);
		vx_node_allow_any_scale(node->args[node->nargs - 1]);
	}
	else if (IsA(node->clause, CoalesceExpr))
	{
		for (int i = 0; i < node->nargs; i++)
			vx_node_allow_any_scale(node->args[i]);
	}
}

/* A part that has to be asked of the server for every row, as a rule. */
static bool
needs_server(const VxNode *node)
{
	if (node->eval == vx_eval_by_row)
		return true;
	return node->flinfo != NULL && node->truth == NULL && node->kernel == NULL &&
		(node->cache == NULL || !vx_time_is_known(node->flinfo->fn_oid));
}

/* The way to the values of a node that is neither a column nor a constant. */
static void
compile_parts(VxNode *node)
{
	Node	   *clause = node->clause;

	/* evaluation recurses; the server's does not */
	if (!vx_enable_vector_expressions || node->expr->depth > MAX_DEPTH ||
		!((IsA(clause, RelabelType) &&
		   compile_relabelling(node, (Node *) ((RelabelType *) clause)->arg)) ||
		  compile_call(node, clause) || vx_iso_compile(node) || vx_logic_compile(node) || vx_branch_compile(node) ||
		  vx_subplan_compile(node)))
	{
		node->eval = vx_eval_by_row;
		node->truth = NULL;
	}
}

/* A cast of the node's one column to a number, among the nodes below. */
static void
find_number(VxNode *node)
{
	if (node->memo_attno == InvalidAttrNumber || node->eval == vx_eval_by_row)
		return;
	for (int i = 0; i < node->nargs; i++)
	{
		const VxNode *arg = node->args[i];

		if (arg->path_number || arg->number != NULL)
			node->number = arg->path_number ? arg : arg->number;
	}
}

VxNode *
vx_node_compile(VxExpr *expr, Node *clause)
{
	VxNode	   *node = vx_node_make(expr, clause);
	bool		vectorised = expr->vectorised;

	if (node->ncolumns == 0)
	{
		node->eval = vx_eval_constant;
		return node;
	}
	if (IsA(clause, Var))
	{
		node->eval = vx_eval_column;
		return node;
	}
	/* what has a subplan cannot be asked of the server by distinct value */
	if (!contain_subplans(clause))
		set_memo(node);
	node->path_number = node->memo_attno != InvalidAttrNumber && vx_is_path_number(clause);
	expr->depth++;
	compile_parts(node);
	expr->depth--;
	find_number(node);
	if (needs_server(node))
		expr->vectorised = false;
	/* where its column has a dictionary, nothing below it matters */
	if (node->memo_attno != InvalidAttrNumber)
		expr->vectorised = vectorised;
	return node;
}

void
vx_node_compile_args(VxNode *node, List *clauses)
{
	ListCell   *lc;

	node->nargs = list_length(clauses);
	node->args = palloc(sizeof(VxNode *) * (node->nargs + 1));
	foreach(lc, clauses)
		node->args[foreach_current_index(lc)] = vx_node_compile(node->expr, lfirst(lc));
}
