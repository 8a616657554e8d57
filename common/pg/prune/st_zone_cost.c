/*-------------------------------------------------------------------------
 *
 * st_zone_cost.c
 *	  What zones are expected to spare a scan.
 *
 * A column that is correlated with the order of the rows lets a condition on
 * it skip nearly all that it does not select, an uncorrelated one lets it
 * skip nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "st_compat.h"
#include "st_zone_cost.h"

/* The operator compares, so that zones may decide it. */
static bool
is_comparison(Oid opno)
{
	switch (get_oprrest(opno))
	{
		case F_EQSEL:
		case F_SCALARLTSEL:
		case F_SCALARLESEL:
		case F_SCALARGTSEL:
		case F_SCALARGESEL:
		case F_LIKESEL:
			return true;
		default:
			return false;
	}
}

bool
st_zone_comparison(Node *clause, Node **left, Node **right)
{
	List	   *args;

	if (IsA(clause, OpExpr) && is_comparison(((OpExpr *) clause)->opno))
		args = ((OpExpr *) clause)->args;
	else if (IsA(clause, ScalarArrayOpExpr) &&
			 is_comparison(((ScalarArrayOpExpr *) clause)->opno))
		args = ((ScalarArrayOpExpr *) clause)->args;
	else
		return false;
	if (list_length(args) != 2)
		return false;
	*left = strip_implicit_coercions(linitial(args));
	*right = strip_implicit_coercions(lsecond(args));
	return true;
}

/* The column that a comparison with something else is about, or NULL. */
static Var *
compared_column(Node *clause, Index relid)
{
	Node	   *left;
	Node	   *right;
	Node	   *column;
	Node	   *other;

	if (!st_zone_comparison(clause, &left, &right))
		return NULL;
	column = IsA(left, Var) ? left : right;
	other = IsA(left, Var) ? right : left;
	if (!IsA(column, Var) || ((Var *) column)->varno != relid ||
		((Var *) column)->varattno <= 0 || contain_var_clause(other))
		return NULL;
	return (Var *) column;
}

double
st_zone_compared_values(PlannerInfo *root, Node *clause)
{
	if (IsA(clause, ScalarArrayOpExpr) && ((ScalarArrayOpExpr *) clause)->useOr)
		return st_estimate_array_length(root,
										lsecond(((ScalarArrayOpExpr *) clause)->args));
	return 1.0;
}

double
st_zone_read_share(PlannerInfo *root, RelOptInfo *rel, double zone_rows, int *ntested)
{
	double		share = 1.0;
	double		zones = Max(1.0, ceil(rel->tuples / zone_rows));
	Bitmapset  *seen = NULL;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		Var		   *column = compared_column((Node *) lfirst_node(RestrictInfo, lc)->clause,
											 rel->relid);
		List	   *clauses = NIL;
		double		correlation;
		double		selectivity;
		double		values = PG_INT32_MAX;
		ListCell   *lc2;

		if (column == NULL || bms_is_member(column->varattno, seen))
			continue;
		seen = bms_add_member(seen, column->varattno);
		correlation = st_squared_correlation(root, column);
		if (correlation == 0)
			continue;

		foreach(lc2, rel->baserestrictinfo)
		{
			Var		   *other = compared_column((Node *) lfirst_node(RestrictInfo, lc2)->clause,
												rel->relid);

			if (other && other->varattno == column->varattno)
			{
				clauses = lappend(clauses, lfirst(lc2));
				values = Min(values, st_zone_compared_values(root, (Node *)
															 lfirst_node(RestrictInfo, lc2)->clause));
			}
		}
		selectivity = clauselist_selectivity(root, clauses, 0, JOIN_INNER, NULL);
		selectivity = Max(selectivity, Min(1.0, values / zones));
		share = Min(share, selectivity + (1.0 - correlation) * (1.0 - selectivity));
	}
	*ntested = bms_num_members(seen);
	return share;
}
