/*-------------------------------------------------------------------------
 *
 * vx_keyed_safe.c
 *	  What may be computed for rows that nobody asks for.
 *
 * A grouped pass looks at rows of all keys, where the server would look at
 * those of the keys that it is asked about.  So nothing may be seen of that:
 * no function is volatile, and none raises an error that depends on a row.
 * Leakproof functions raise none, nor do comparisons of ordinary types,
 * sums and products of numerics, and LIKE with a plain pattern.  Expressions
 * without columns fail for any row or for none.  The same is asked of arguments of window
 * functions (vx_window_spec.c).
 *
 * Sums and products of numerics, and sums and averages of floats, have a range
 * that they can leave.  That is taken to not happen (docs/limits.md).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "vx_agg_spec.h"
#include "vx_keyed.h"

static bool may_fail(Node *node, void *context);

static bool
has_column(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Var) || IsA(node, PlaceHolderVar) || IsA(node, SubLink) ||
		expression_tree_walker(node, has_column, context);
}

/* Values of the type can be compared, whatever they are. */
static bool
is_ordinary_type(Oid type)
{
	switch (TypeCategory(getBaseType(type)))
	{
		case TYPCATEGORY_NUMERIC:
		case TYPCATEGORY_STRING:
		case TYPCATEGORY_DATETIME:
		case TYPCATEGORY_TIMESPAN:
		case TYPCATEGORY_BOOLEAN:
			return true;
		default:
			return type == UUIDOID || type == BYTEAOID;
	}
}

static bool
is_comparison(Oid operator, List *args)
{
	if (operator >= FirstNormalObjectId || list_length(args) != 2 ||
		!is_ordinary_type(exprType(linitial(args))))
		return false;
	switch (get_oprrest(operator))
	{
		case F_EQSEL:
		case F_NEQSEL:
		case F_SCALARLTSEL:
		case F_SCALARLESEL:
		case F_SCALARGTSEL:
		case F_SCALARGESEL:
			return true;
		default:
			return false;
	}
}

/* An escape at the end of a pattern is an error; so are some collations. */
static bool
is_plain_like(Oid function, List *args, Oid collation)
{
	Const	   *pattern = llast(args);

	if (function != F_TEXTLIKE && function != F_TEXTNLIKE && function != F_BPCHARLIKE &&
		function != F_BPCHARNLIKE)
		return false;
	if (IsA(pattern, RelabelType))
		pattern = (Const *) ((RelabelType *) pattern)->arg;
	return IsA(pattern, Const) && pattern->consttype == TEXTOID &&
		get_collation_isdeterministic(collation) &&
		(pattern->constisnull || strchr(TextDatumGetCString(pattern->constvalue), '\\') == NULL);
}

static bool
function_is_safe(Oid function)
{
	switch (function)
	{
		case F_NUMERIC_ADD:
		case F_NUMERIC_SUB:
		case F_NUMERIC_MUL:
		case F_NUMERIC_UMINUS:
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
			return true;
		default:
			return get_func_leakproof(function);
	}
}

static bool
operator_is_safe(Oid operator, List *args, Oid collation)
{
	return function_is_safe(get_opcode(operator)) || is_comparison(operator, args) ||
		is_plain_like(get_opcode(operator), args, collation);
}

/* min() or max() of values that can be compared. */
static bool
is_extremum(const Aggref *agg)
{
	HeapTuple	tuple;
	bool		result;

	if (agg->aggfnoid >= FirstNormalObjectId || list_length(agg->args) != 1 ||
		agg->aggdistinct != NIL ||
		!is_ordinary_type(exprType((Node *) linitial_node(TargetEntry, agg->args)->expr)))
		return false;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(agg->aggfnoid));
	if (!HeapTupleIsValid(tuple))
		return false;
	result = OidIsValid(((Form_pg_aggregate) GETSTRUCT(tuple))->aggsortop);
	ReleaseSysCache(tuple);
	return result;
}

/* Neither fails, but for sums out of range, nor depends on the order of its rows. */
static bool
aggregate_is_safe(const Aggref *agg)
{
	VxAggSpec	spec;

	if (agg->aggkind != AGGKIND_NORMAL)
		return false;
	return is_extremum(agg) ||
		(vx_agg_resolve(agg, &spec) && spec.trans != VX_TRANS_SERVER);
}

/* Of a node that calls functions: do these fail? */
static bool
calls_fail(Node *node)
{
	switch (nodeTag(node))
	{
		case T_FuncExpr:
			return !function_is_safe(((FuncExpr *) node)->funcid);
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			return !operator_is_safe(((OpExpr *) node)->opno, ((OpExpr *) node)->args,
									 ((OpExpr *) node)->inputcollid);
		case T_ScalarArrayOpExpr:
			return !operator_is_safe(((ScalarArrayOpExpr *) node)->opno,
									 ((ScalarArrayOpExpr *) node)->args,
									 ((ScalarArrayOpExpr *) node)->inputcollid);
		default:
			return true;
	}
}

/* What rows are read from. */
static bool
query_may_fail(Query *query, void *context)
{
	ListCell   *lc;

	if (query->commandType != CMD_SELECT || query->rowMarks != NIL ||
		query->hasModifyingCTE || query->hasTargetSRFs)
		return true;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->tablesample != NULL || rte->rtekind == RTE_TABLEFUNC ||
			rte->rtekind == RTE_NAMEDTUPLESTORE)
			return true;
	}
	return query_tree_walker(query, may_fail, context, 0);
}

/* What a condition asks a subquery, without the error that it gives too many rows. */
static bool
sublink_may_fail(SubLink *sublink, void *context)
{
	if (sublink->subLinkType != EXISTS_SUBLINK && sublink->subLinkType != ANY_SUBLINK)
		return true;
	return may_fail(sublink->testexpr, context) || may_fail(sublink->subselect, context);
}

static bool
may_fail(Node *node, void *context)
{
	if (node == NULL)
		return false;
	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_Query:
			return query_may_fail((Query *) node, context);
		case T_SubLink:
			return sublink_may_fail((SubLink *) node, context);
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
			if (has_column(node, NULL) && calls_fail(node))
				return true;
			break;
		case T_Aggref:
			if (!aggregate_is_safe((Aggref *) node))
				return true;
			break;
		case T_Var:
		case T_Const:
		case T_Param:
		case T_BoolExpr:
		case T_RelabelType:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_SQLValueFunction:
		case T_List:
		case T_TargetEntry:
		case T_FromExpr:
		case T_JoinExpr:
		case T_RangeTblRef:
		case T_RangeTblFunction:
		case T_SetOperationStmt:
		case T_SortGroupClause:
		case T_CommonTableExpr:
			break;
		default:
			return has_column(node, NULL);
	}
	return expression_tree_walker(node, may_fail, context);
}

bool
vx_keyed_is_safe(void *node)
{
	return !contain_volatile_functions(node) && !may_fail(node, NULL);
}
