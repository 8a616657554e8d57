/*-------------------------------------------------------------------------
 *
 * vx_window_spec.c
 *	  Which window functions and frames the vector engine knows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "st_compat.h"
#include "vx_agg_spec.h"
#include "vx_keyed.h"
#include "vx_vector.h"
#include "vx_window_spec.h"

static const struct
{
	Oid			fnoid;
	VxWindowKind kind;
	int			number;
}			known[] =
{
	{F_ROW_NUMBER, VX_WINDOW_ROW_NUMBER, 0},
	{F_RANK_, VX_WINDOW_RANK, 0},
	{F_DENSE_RANK_, VX_WINDOW_DENSE_RANK, 0},
	{F_PERCENT_RANK_, VX_WINDOW_PERCENT_RANK, 0},
	{F_CUME_DIST_, VX_WINDOW_CUME_DIST, 0},
	{F_NTILE, VX_WINDOW_NTILE, 0},
	{F_LAG_ANYELEMENT, VX_WINDOW_SHIFT, -1},
	{F_LAG_ANYELEMENT_INT4, VX_WINDOW_SHIFT, -1},
	{F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE, VX_WINDOW_SHIFT, -1},
	{F_LEAD_ANYELEMENT, VX_WINDOW_SHIFT, 1},
	{F_LEAD_ANYELEMENT_INT4, VX_WINDOW_SHIFT, 1},
	{F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE, VX_WINDOW_SHIFT, 1},
	{F_FIRST_VALUE, VX_WINDOW_NTH, 1},
	{F_LAST_VALUE, VX_WINDOW_NTH, -1},
	{F_NTH_VALUE, VX_WINDOW_NTH, 0},
};

/* A positive constant that is the n-th argument. */
static bool
positive_argument(const WindowFunc *func, int n, bool or_negative, int *number)
{
	const Const *value = list_nth(func->args, n);

	if (!IsA(value, Const) || value->consttype != INT4OID || value->constisnull)
		return false;
	*number = DatumGetInt32(value->constvalue);
	return *number > 0 ||
		(or_negative && *number > -PG_INT32_MAX);
}

static bool
resolve_window_function(const WindowFunc *func, const WindowClause *clause,
						VxWindowKind *kind, int *number)
{
	int			offset = 1;
	int			i = 0;

	while (i < lengthof(known) && known[i].fnoid != func->winfnoid)
		i++;
	if (i == lengthof(known) || func->aggfilter != NULL || st_window_treats_nulls(func))
		return false;
	*kind = known[i].kind;
	*number = known[i].number;
	switch (*kind)
	{
		case VX_WINDOW_NTILE:
			return positive_argument(func, 0, false, number);
		case VX_WINDOW_SHIFT:
			if (list_length(func->args) > 1 && !positive_argument(func, 1, true, &offset))
				return false;
			*number *= offset;
			return true;
		case VX_WINDOW_NTH:
			if (clause->frameOptions & FRAMEOPTION_EXCLUSION)
				return false;
			return func->winfnoid != F_NTH_VALUE ||
				positive_argument(func, 1, false, number);
		default:
			return true;
	}
}

static bool
resolve_aggregate(const WindowFunc *func, const WindowClause *clause, VxWindowKind *kind)
{
	Oid			type = func->args == NIL ? InvalidOid :
		getBaseType(exprType(linitial(func->args)));

	switch (func->winfnoid)
	{
		case F_COUNT_:
		case F_COUNT_ANY:
			*kind = VX_WINDOW_COUNT;
			return true;
		case F_SUM_INT2:
		case F_SUM_INT4:
			*kind = VX_WINDOW_SUM_INT;
			return true;
		case F_SUM_INT8:
		case F_SUM_NUMERIC:
			*kind = VX_WINDOW_SUM_NUMERIC;
			return true;
		case F_SUM_FLOAT8:
			*kind = VX_WINDOW_SUM_FLOAT8;
			/* a float that was added cannot be taken away exactly */
			return (clause->frameOptions & FRAMEOPTION_START_UNBOUNDED_PRECEDING) != 0 &&
				(clause->frameOptions & FRAMEOPTION_EXCLUSION) == 0;
		case F_AVG_INT2:
		case F_AVG_INT4:
		case F_AVG_INT8:
		case F_AVG_NUMERIC:
			*kind = VX_WINDOW_AVG;
			return true;
		default:
			break;
	}
	if ((clause->frameOptions & FRAMEOPTION_EXCLUSION) || !vx_is_number_type(type))
		return false;
	{
		Aggref		agg = {.xpr.type = T_Aggref, .aggfnoid = func->winfnoid,
			.aggkind = AGGKIND_NORMAL, .aggsplit = AGGSPLIT_SIMPLE
		};
		VxAggSpec	spec;

		if (!vx_agg_resolve(&agg, &spec) || type == BOOLOID)
			return false;
		switch (spec.trans)
		{
			case VX_TRANS_MIN_INT:
			case VX_TRANS_MIN_FLOAT:
			case VX_TRANS_MIN_NUMERIC:
				*kind = VX_WINDOW_MIN;
				return true;
			case VX_TRANS_MAX_INT:
			case VX_TRANS_MAX_FLOAT:
			case VX_TRANS_MAX_NUMERIC:
				*kind = VX_WINDOW_MAX;
				return true;
			default:
				return false;
		}
	}
}

bool
vx_window_resolve(const WindowFunc *func, const WindowClause *clause, VxWindowKind *kind,
				  int *number)
{
	*number = 0;
	return func->winagg ? resolve_aggregate(func, clause, kind) :
		resolve_window_function(func, clause, kind, number);
}

/* A constant, and none that is an error. */
static bool
frame_offset(const Node *offset, int *number)
{
	const Const *value = (const Const *) offset;

	*number = 0;
	if (offset == NULL)
		return true;
	if (!IsA(offset, Const) || value->consttype != INT8OID || value->constisnull ||
		DatumGetInt64(value->constvalue) < 0 || DatumGetInt64(value->constvalue) > PG_INT32_MAX)
		return false;
	*number = (int) DatumGetInt64(value->constvalue);
	return true;
}

/* RANGE with an offset asks the type's own in_range() function. */
bool
vx_window_frame_is_supported(const WindowClause *clause, int *start, int *end)
{
	if ((clause->frameOptions & FRAMEOPTION_RANGE) &&
		(clause->startOffset != NULL || clause->endOffset != NULL))
		return false;
	return frame_offset(clause->startOffset, start) && frame_offset(clause->endOffset, end);
}

/* ---- arguments ---- */

Node *
vx_window_input(const WindowFunc *func)
{
	Node	   *arg = linitial(func->args);
	CaseExpr   *filtered;
	CaseWhen   *when;

	if (func->aggfilter == NULL || vx_keyed_is_safe(arg))
		return arg;
	when = makeNode(CaseWhen);
	when->expr = func->aggfilter;
	when->result = (Expr *) arg;
	when->location = -1;
	filtered = makeNode(CaseExpr);
	filtered->casetype = exprType(arg);
	filtered->casecollid = exprCollation(arg);
	filtered->args = list_make1(when);
	filtered->defresult = (Expr *) makeNullConst(filtered->casetype, -1,
												 filtered->casecollid);
	filtered->location = -1;
	return (Node *) filtered;
}

/* The expression, with columns for what is computed below the window. */
static Node *
computed_below(Node *node, void *below)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref) || IsA(node, PlaceHolderVar) ||
		list_member(((PathTarget *) below)->exprs, node))
		return (Node *) makeVar(1, 1, exprType(node), exprTypmod(node), exprCollation(node), 0);
	return expression_tree_mutator(node, computed_below, below);
}

bool
vx_window_may_compute_all(const WindowFunc *func, const WindowAggPath *path)
{
	int			absent = FRAMEOPTION_EXCLUDE_CURRENT_ROW | FRAMEOPTION_EXCLUDE_GROUP |
		FRAMEOPTION_START_OFFSET_FOLLOWING | FRAMEOPTION_END_OFFSET_PRECEDING;
	PathTarget *below = path->subpath->pathtarget;

	return (func->winagg && (path->winclause->frameOptions & absent) == 0 &&
			st_window_run_condition(path) == NIL) ||
		(vx_keyed_is_safe(computed_below((Node *) func->args, below)) &&
		 vx_keyed_is_safe(computed_below((Node *) func->aggfilter, below)));
}
