/*-------------------------------------------------------------------------
 *
 * cc_expr_compile.c
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
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "cc_expr_int.h"

/* Sets the columns that the clause refers to. */
static void
set_columns(CcNode *node)
{
	Bitmapset  *attrs = NULL;
	int			attr = -1;

	/* cc_expr.c has given all columns the number 1 as their relation's. */
	pull_varattnos(node->clause, 1, &attrs);
	node->attnos = palloc(sizeof(AttrNumber) * (bms_num_members(attrs) + 1));
	while ((attr = bms_next_member(attrs, attr)) >= 0)
		node->attnos[node->ncolumns++] = attr + FirstLowInvalidHeapAttributeNumber;
	bms_free(attrs);
}

CcNode *
cc_node_make(CcExpr *expr, Node *clause)
{
	CcNode	   *node = palloc0(sizeof(CcNode));

	node->expr = expr;
	node->clause = clause;
	node->type = getBaseType(exprType(clause));
	get_typlenbyval(node->type, &node->typlen, &node->typbyval);
	set_columns(node);
	return node;
}

/* Depends on one column, whose type may come as a dictionary. */
static void
set_memo(CcNode *node)
{
	CcExprSet  *set = node->expr->set;

	if (node->ncolumns == 1 &&
		!TupleDescAttr(set->desc, node->attnos[0] - 1)->attbyval)
		node->memo_attno = node->attnos[0];
}

CcNode *
cc_node_compile(CcExpr *expr, Node *clause)
{
	CcNode	   *node = cc_node_make(expr, clause);

	if (node->ncolumns == 0)
	{
		node->eval = cc_eval_constant;
		return node;
	}
	if (IsA(clause, Var))
	{
		node->eval = cc_eval_column;
		return node;
	}
	set_memo(node);
	node->eval = cc_eval_by_row;
	expr->vectorised = expr->vectorised && node->memo_attno != InvalidAttrNumber;
	return node;
}
