/*-------------------------------------------------------------------------
 *
 * vx_unique_keys.c
 *	  Tells the planner that a join by the columns of a unique index finds
 *	  one row.
 *
 * It multiplies the selectivities of equalities as if they had nothing to do
 * with each other.  For the two columns of a key that leaves a row in
 * thousands of those that come, and what is joined next is joined by a loop
 * over an index.  For foreign keys the planner knows better.  So a unique index
 * of several columns, all of which the query compares with columns of one
 * other table, is entered among the foreign keys of the query, as if one
 * referred to it.  Nothing but estimates comes of that.
 *
 * Where each side has such an index, that of the larger one counts: no more
 * rows can match than the smaller one has.  Of SEMI and ANTI joins the planner
 * would conclude that every row has a match, which an index does not say.
 *
 * Equalities are looked for as the query has them: those that only follow
 * from others are not seen.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "optimizer/planmain.h"
#include "utils/float.h"
#include "utils/lsyscache.h"

#include "vx_format.h"
#include "vx_paths.h"
#include "vx_settings.h"

/* Conditions of the query's joins, but SEMI and ANTI ones, and of its WHERE. */
static List *
add_quals(List *quals, Node *node)
{
	if (node == NULL)
		return quals;
	if (IsA(node, FromExpr))
	{
		ListCell   *lc;

		foreach(lc, ((FromExpr *) node)->fromlist)
			quals = add_quals(quals, lfirst(lc));
		return add_quals(quals, ((FromExpr *) node)->quals);
	}
	if (IsA(node, JoinExpr))
	{
		const JoinExpr *join = (const JoinExpr *) node;

		quals = add_quals(quals, join->larg);
		quals = add_quals(quals, join->rarg);
		/*
		 * A join without a number was a sublink.  It is INNER here if it finds at
		 * most one row and the planner, as 17.12 does, begins again because of that.
		 */
		if (join->rtindex == 0 || join->jointype == JOIN_ANTI)
			return quals;
		return add_quals(quals, join->quals);
	}
	if (IsA(node, List))
		return list_concat(quals, (List *) node);
	return IsA(node, OpExpr) ? lappend(quals, node) : quals;
}

/*
 * The column of a table that an equality, one that the index column knows,
 * compares with that column; in *eqop the operator with the index's column
 * on the left.
 */
static const Var *
compared_with(const IndexOptInfo *index, int column, Node *clause, Oid *eqop)
{
	const OpExpr *op = (const OpExpr *) clause;
	const Var  *left;
	const Var  *right;

	if (!IsA(clause, OpExpr) || list_length(op->args) != 2 ||
		!IsA(linitial(op->args), Var) || !IsA(lsecond(op->args), Var) ||
		get_op_opfamily_strategy(op->opno, index->opfamily[column]) != BTEqualStrategyNumber)
		return NULL;
	left = linitial(op->args);
	right = lsecond(op->args);
	*eqop = op->opno;
	if (left->varno != index->rel->relid || left->varattno != index->indexkeys[column])
	{
		const Var  *turned = left;

		left = right;
		right = turned;
		*eqop = get_commutator(op->opno);
	}
	return OidIsValid(*eqop) && left->varno == index->rel->relid && left->varlevelsup == 0 &&
		left->varattno == index->indexkeys[column] && right->varlevelsup == 0 &&
		right->varattno > 0 && right->varno != left->varno ? right : NULL;
}

/* Of a table that the hook has seen before; else more than any has. */
static double
known_rows(PlannerInfo *root, Index rti)
{
	const RelOptInfo *rel = root->simple_rel_array[rti];

	return rel != NULL ? rel->tuples : get_float8_infinity();
}

/* Adds what the quals say of the index and another table, if that is all columns. */
static void
enter_key(PlannerInfo *root, const IndexOptInfo *index, Index other, List *quals)
{
	ForeignKeyOptInfo *key = makeNode(ForeignKeyOptInfo);

	key->con_relid = other;
	key->ref_relid = index->rel->relid;
	key->nkeys = index->nkeycolumns;
	for (int i = 0; i < index->nkeycolumns; i++)
	{
		ListCell   *lc;

		foreach(lc, quals)
		{
			const Var  *column = compared_with(index, i, lfirst(lc), &key->conpfeqop[i]);

			if (column != NULL && column->varno == other)
			{
				key->conkey[i] = column->varattno;
				key->confkey[i] = index->indexkeys[i];
				break;
			}
		}
		if (lc == NULL)
			return;
	}
	/* the first one that knows a condition counts */
	if (known_rows(root, other) < index->rel->tuples)
		root->fkey_list = lcons(key, root->fkey_list);
	else
		root->fkey_list = lappend(root->fkey_list, key);
}

static bool
is_key(const IndexOptInfo *index)
{
	if (!index->unique || !index->immediate || index->indpred != NIL ||
		index->nkeycolumns < 2)
		return false;
	for (int i = 0; i < index->nkeycolumns; i++)
		if (index->indexkeys[i] <= 0)
			return false;
	return true;
}

void
vx_note_unique_keys(PlannerInfo *root, RelOptInfo *rel, Oid relid)
{
	List	   *quals = NIL;
	ListCell   *lc;

	if (!vx_enable_robust_joins || rel->reloptkind != RELOPT_BASEREL)
		return;
	foreach(lc, rel->indexlist)
	{
		const IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		Bitmapset  *others = NULL;
		ListCell   *qual;
		int			other = -1;

		if (!is_key(index))
			continue;
		if (quals == NIL && st_table_format(relid) == vx_format->store)
			quals = add_quals(NIL, (Node *) root->parse->jointree);
		if (quals == NIL)
			return;
		foreach(qual, quals)
		{
			Oid			eqop;
			const Var  *column = compared_with(index, 0, lfirst(qual), &eqop);

			if (column != NULL)
				others = bms_add_member(others, column->varno);
		}
		while ((other = bms_next_member(others, other)) >= 0)
			enter_key(root, index, other, quals);
	}
}
