/*-------------------------------------------------------------------------
 *
 * vx_cost_order.c
 *	  What zones of the expressions in orderby are expected to spare a scan.
 *
 * No statistics tell how an expression is correlated with the order of the
 * rows, but a sorted row group does: rows that are alike in all items in front
 * stand in the order of the next one.  Conditions on an item leave of each row
 * group what they select, and a vector at least, if those in front are each
 * compared with one value.  Of row groups that are not sorted, and of the delta,
 * nothing is spared.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "st_options.h"
#include "st_store.h"
#include "vx_paths.h"
#include "vx_rel_notes.h"
#include "st_compat.h"
#include "st_zone_cost.h"

/* Conditions on one item of the order. */
typedef struct ItemConditions
{
	List	   *clauses;		/* RestrictInfos */
	double		values;			/* that the narrowest is with */
	bool		one_value;		/* one is an equality */
} ItemConditions;

/* The item as it stands in conditions on the relation; NULL: it has no zones. */
static Node *
order_item(RelOptInfo *rel, Relation relation, const StOrderBy *order, List *exprs, int i)
{
	AttrNumber	attno = order->columns[i].attno;
	ListCell   *lc;

	if (attno > 0)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(relation), attno - 1);

		return (Node *) makeVar(rel->relid, attno, att->atttypid, att->atttypmod,
								att->attcollation, 0);
	}
	foreach(lc, exprs)
	{
		const StOrderExpr *key = lfirst(lc);
		Node	   *expr;

		if (key->position != i)
			continue;
		expr = copyObject((Node *) key->expr);
		ChangeVarNodes(expr, 1, rel->relid, 0);
		return strip_implicit_coercions(expr);
	}
	return NULL;
}

/* Does a clause compare the item with what is known beforehand? */
static bool
is_about(Node *clause, Node *item)
{
	Node	   *left;
	Node	   *right;

	if (!st_zone_comparison(clause, &left, &right))
		return false;
	return (equal(left, item) && !contain_var_clause(right)) ||
		(equal(right, item) && !contain_var_clause(left));
}

static ItemConditions
conditions_on(PlannerInfo *root, RelOptInfo *rel, Node *item)
{
	ItemConditions found = {NIL, PG_INT32_MAX, false};
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		Node	   *clause = (Node *) lfirst_node(RestrictInfo, lc)->clause;

		if (!is_about(clause, item))
			continue;
		found.clauses = lappend(found.clauses, lfirst(lc));
		found.values = Min(found.values, st_zone_compared_values(root, clause));
		found.one_value |= IsA(clause, OpExpr) &&
			get_oprrest(((OpExpr *) clause)->opno) == F_EQSEL;
	}
	return found;
}

/* Share of the rows that stand in sorted row groups. */
static double
sorted_share(RelOptInfo *rel, Relation relation)
{
	VxRelNotes *notes = vx_rel_notes(rel, false);
	StGroupList *list;
	double		rows = 0;

	if (!ActiveSnapshotSet())
		return 0;
	if (notes != NULL && notes->sorted_share >= 0)
		return notes->sorted_share;
	list = st_visible_groups(relation, GetActiveSnapshot(), CurrentMemoryContext);
	for (int i = 0; i < list->ngroups; i++)
	{
		/* of which order it is, the scan will see */
		if (list->groups[i].order_hash != 0)
			rows += list->groups[i].nrows;
	}
	rows = Min(1.0, rows / Max(1.0, rel->tuples));
	if (notes != NULL)
		notes->sorted_share = rows;
	return rows;
}

double
vx_order_read_share(PlannerInfo *root, RelOptInfo *rel, Relation relation,
					double zone_rows, int *ntested)
{
	const StOptions *options = st_options_get(relation);
	StOrderBy	order = options->orderby;
	double		zones = Max(1.0, ceil(rel->tuples / zone_rows));
	double		groups = ceil(rel->tuples / options->row_group_rows);
	List	   *exprs = rel->baserestrictinfo != NIL ? st_options_order_exprs(relation) : NIL;
	List	   *clauses = NIL;
	double		share = 1.0;
	double		sorted;

	for (int i = 0; i < order.ncolumns && exprs != NIL; i++)
	{
		Node	   *item = order_item(rel, relation, &order, exprs, i);
		ItemConditions on = {NIL};

		if (item != NULL)
			on = conditions_on(root, rel, item);
		if (on.clauses == NIL)
			break;
		clauses = list_concat(clauses, on.clauses);
		/* of columns the server's statistics tell more */
		if (!IsA(item, Var))
		{
			share = Max(clauselist_selectivity(root, clauses, 0, JOIN_INNER, NULL),
						on.values * groups / zones);
			(*ntested)++;
		}
		if (!on.one_value)
			break;
	}
	if (share >= 1.0)
		return 1.0;
	sorted = sorted_share(rel, relation);
	return sorted * share + (1.0 - sorted);
}
