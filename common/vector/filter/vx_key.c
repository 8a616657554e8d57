/*-------------------------------------------------------------------------
 *
 * vx_key.c
 *	  Expressions of a table's option orderby, of which its row groups may
 *	  have zones.
 *
 * A condition's expression is one of them if it is equal after what the
 * planner does to conditions; whether a row group has zones of it is asked of
 * each one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteManip.h"

#include "vx_key.h"
#include "st_compat.h"

typedef struct Replacement
{
	const VxKeys *keys;
	bool		found;
} Replacement;

VxKeys *
vx_keys_create(Relation rel, Index varno)
{
	VxKeys	   *keys = palloc0(sizeof(VxKeys));
	List	   *exprs = st_options_order_exprs(rel);
	ListCell   *lc;

	keys->varno = varno;
	keys->keys = palloc(Max(1, list_length(exprs)) * sizeof(StOrderExpr));
	foreach(lc, exprs)
	{
		StOrderExpr *key = &keys->keys[keys->n++];

		*key = *(const StOrderExpr *) lfirst(lc);
		key->expr = copyObject(key->expr);
		ChangeVarNodes((Node *) key->expr, 1, varno, 0);
	}
	return keys;
}

AttrNumber
vx_keys_find(const VxKeys *keys, const Expr *expr)
{
	for (int i = 0; i < keys->n; i++)
	{
		if (equal(keys->keys[i].expr, expr))
			return VX_FIRST_KEY + i;
	}
	return InvalidAttrNumber;
}

static Node *
replace(Node *node, void *arg)
{
	Replacement *replacement = arg;
	AttrNumber	attno;

	if (node == NULL)
		return NULL;
	attno = vx_keys_find(replacement->keys, (Expr *) node);
	if (attno == InvalidAttrNumber)
		return expression_tree_mutator(node, replace, arg);
	replacement->found = true;
	return (Node *) makeVar(replacement->keys->varno, attno, exprType(node),
							exprTypmod(node), exprCollation(node), 0);
}

Expr *
vx_keys_replace(const VxKeys *keys, Expr *clause)
{
	Replacement replacement = {.keys = keys};
	Expr	   *result;

	if (keys->n == 0)
		return clause;
	result = (Expr *) replace((Node *) clause, &replacement);
	return replacement.found ? result : clause;
}
