/*-------------------------------------------------------------------------
 *
 * vx_keyed_asked.c
 *	  The keys that a correlated aggregate can be asked for.
 *
 * A grouped pass makes groups of all keys, where the query around may ask for few:
 *
 *		SELECT ... FROM o, p WHERE o.k = p.k AND p.y = 7
 *			AND o.x < (SELECT avg(x) FROM t WHERE t.k = o.k)
 *
 * Rows that come out of it have a key of SELECT k FROM p WHERE p.y = 7: what the table of
 * the key, or one that has a column equal to it, is restricted to by itself.  The node
 * runs that first, and groups the rows with such keys.
 *
 * The plan may ask before it has joined, so for other keys, too: the node finds that
 * out, and groups them all.  So what stands here need not be exact.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"

#include "vx_join_spec.h"
#include "vx_keyed.h"
#include "st_compat.h"

/* All conditions that rows of the query meet, but for some within FULL joins. */
static List *
all_quals(Node *node, List *result)
{
	JoinExpr   *join = (JoinExpr *) node;
	ListCell   *lc;

	if (IsA(node, FromExpr))
	{
		foreach(lc, ((FromExpr *) node)->fromlist)
			result = all_quals(lfirst(lc), result);
		return vx_keyed_conjuncts(((FromExpr *) node)->quals, result);
	}
	if (!IsA(node, JoinExpr) || join->jointype == JOIN_FULL || join->jointype == JOIN_RIGHT)
		return result;
	result = all_quals(join->larg, result);
	if (join->jointype != JOIN_INNER && join->jointype != JOIN_SEMI)
		return result;
	result = all_quals(join->rarg, result);
	return vx_keyed_conjuncts(join->quals, result);
}

/* A column of the query itself. */
static Var *
own_column(Node *node)
{
	return IsA(node, Var) && ((Var *) node)->varlevelsup == 0 && ((Var *) node)->varattno > 0 ?
		(Var *) node : NULL;
}

/* What the condition says is equal to the column, of the same type; or NULL. */
static Var *
equal_column(Node *qual, const Var *column)
{
	OpExpr	   *op = (OpExpr *) qual;
	Var		   *left;
	Var		   *right;

	if (!IsA(qual, OpExpr) || list_length(op->args) != 2)
		return NULL;
	left = own_column(linitial(op->args));
	right = own_column(lsecond(op->args));
	if (left == NULL || right == NULL || left->vartype != right->vartype ||
		left->varcollid != right->varcollid || !op_mergejoinable(op->opno, left->vartype))
		return NULL;
	if (left->varno == column->varno && left->varattno == column->varattno)
		return right;
	return right->varno == column->varno && right->varattno == column->varattno ? left : NULL;
}

/* Anything else than plain columns of that table. */
static bool
has_other(Node *node, void *varno)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
			return own_column(node) == NULL || ((Var *) node)->varno != *(int *) varno ||
				st_var_is_nulled((Var *) node);
		case T_Param:
			return ((Param *) node)->paramkind != PARAM_EXTERN;
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_PlaceHolderVar:
			return true;
		default:
			return expression_tree_walker(node, has_other, varno);
	}
}

/* The conditions that are on the table alone, and can be computed at any time. */
static List *
quals_of_table(List *quals, int varno)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, quals)
		if (!has_other(lfirst(lc), &varno) && contain_var_clause(lfirst(lc)) &&
			vx_keyed_is_safe(lfirst(lc)))
			result = lappend(result, copyObject(lfirst(lc)));
	return result;
}

/* SELECT column FROM its table WHERE what the query says of it; or NULL. */
static Query *
query_of_column(const Query *around, const Var *column, List *quals)
{
	RangeTblEntry *rte = rt_fetch(column->varno, around->rtable);
	Query	   *query = makeNode(Query);
	RangeTblRef *ref = makeNode(RangeTblRef);
	Var		   *var;

	if (rte->rtekind != RTE_RELATION || rte->tablesample != NULL || rte->securityQuals != NIL)
		return NULL;
	quals = quals_of_table(quals, column->varno);
	if (quals == NIL)
		return NULL;
	ChangeVarNodes((Node *) quals, column->varno, 1, 0);
	query->commandType = CMD_SELECT;
	query->querySource = around->querySource;
	query->canSetTag = true;
	st_copy_range_table_entry(query, around, rte);
	ref->rtindex = 1;
	query->jointree = makeFromExpr(list_make1(ref), (Node *) make_ands_explicit(quals));
	var = makeVar(1, column->varattno, column->vartype, column->vartypmod, column->varcollid, 0);
	query->targetList = list_make1(makeTargetEntry((Expr *) var, 1, pstrdup("k"), false));
	return query;
}

Query *
vx_keyed_asked(const Query *around, const VxKeyedQuery *keyed, int *key)
{
	List	   *quals = all_quals((Node *) around->jointree, NIL);
	ListCell   *lc1;
	ListCell   *lc2;

	foreach(lc1, keyed->clauses)
	{
		OpExpr	   *clause = lfirst_node(OpExpr, lc1);
		Var		   *column = linitial(clause->args);
		Query	   *query;
		VxKeyKind	kind;

		*key = foreach_current_index(lc1);
		/* the subquery is one of the query that is asked by the one around */
		if (!IsA(column, Var) || column->varlevelsup != 2 || column->varattno <= 0 ||
			!vx_join_key_kind(clause->opno, clause->inputcollid, column->vartype,
							  exprType(lsecond(clause->args)), &kind))
			continue;
		query = query_of_column(around, column, quals);
		foreach(lc2, quals)
		{
			Var		   *equal = query ? NULL : equal_column(lfirst(lc2), column);

			if (equal)
				query = query_of_column(around, equal, quals);
		}
		if (query)
			return query;
	}
	return NULL;
}
