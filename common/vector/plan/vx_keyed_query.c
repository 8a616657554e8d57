/*-------------------------------------------------------------------------
 *
 * vx_keyed_query.c
 *	  Which correlated subqueries may be answered out of one grouped pass.
 *
 * An aggregate without GROUP BY, correlated by equalities alone:
 *
 *		(SELECT 0.2 * avg(x) FROM t WHERE t.k = o.k AND t.y > 5)
 *
 * Before planning it is changed to
 *
 *		(SELECT 0.2 * keyed.a FROM
 *			(SELECT avg(x) AS a FROM t WHERE t.k = o.k AND t.y > 5) keyed)
 *
 * which means the same, whoever plans it.  The subquery within is a relation
 * of its own, and so vx_keyed_path.c can offer another path for it: one that
 * groups t by k once.  What is computed of the aggregates is computed as
 * before, for the rows that ask.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "vx_format.h"
#include "vx_keyed.h"
#include "st_compat.h"

/* ---- taking a query apart ---- */

/* Whose columns an expression or query refers to. */
typedef struct References
{
	int			depth;			/* of queries within the one we started at */
	bool		own;			/* of that one */
	bool		outer;			/* of those around it */
	bool		subquery;
} References;

static bool
find_references(Node *node, void *context)
{
	References *refs = context;
	int			level = -1;
	bool		stop;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		level = ((Var *) node)->varlevelsup;
	else if (IsA(node, PlaceHolderVar))
		level = ((PlaceHolderVar *) node)->phlevelsup;
	else if (IsA(node, Aggref))
		level = ((Aggref *) node)->agglevelsup;
	else if (IsA(node, GroupingFunc))
		level = ((GroupingFunc *) node)->agglevelsup;
	if (level > refs->depth)
		refs->outer = true;
	else if (level == refs->depth)
		refs->own = true;
	refs->subquery |= IsA(node, SubLink);
	if (!IsA(node, Query))
		return expression_tree_walker(node, find_references, context);
	check_stack_depth();
	refs->depth++;
	stop = query_tree_walker((Query *) node, find_references, context, 0);
	refs->depth--;
	return stop;
}

static References
references_of(Node *node)
{
	References	refs = {0};

	(void) find_references(node, &refs);
	return refs;
}

static bool
query_refers_outside(const Query *query)
{
	References	refs = {0};

	(void) query_tree_walker(unconstify(Query *, query), find_references, &refs, 0);
	return refs.outer;
}

List *
vx_keyed_conjuncts(Node *quals, List *result)
{
	ListCell   *lc;

	if (quals == NULL)
		return result;
	if (!IsA(quals, List) && !is_andclause(quals))
		return lappend(result, quals);
	foreach(lc, IsA(quals, List) ? (List *) quals : ((BoolExpr *) quals)->args)
		result = vx_keyed_conjuncts(lfirst(lc), result);
	return result;
}

/*
 * An equality between a value from outside and an expression of the rows:
 * with the value on the left.  NULL: it is none.
 */
static OpExpr *
key_clause(Node *node)
{
	OpExpr	   *clause = (OpExpr *) node;
	References	left;
	References	right;

	if (!IsA(node, OpExpr) || list_length(clause->args) != 2 ||
		!op_strict(clause->opno))
		return NULL;
	left = references_of(linitial(clause->args));
	right = references_of(lsecond(clause->args));
	if (left.subquery || right.subquery || left.own == right.own ||
		left.outer == right.outer || left.own == left.outer)
		return NULL;
	clause = copyObject(clause);
	if (left.own)
	{
		if (!OidIsValid(get_commutator(clause->opno)))
			return NULL;
		set_opfuncid(clause);
		CommuteOpExpr(clause);
	}
	if (!op_hashjoinable(clause->opno, exprType(linitial(clause->args))))
		return NULL;
	return clause;
}

bool
vx_keyed_split(const Query *query, VxKeyedQuery *result)
{
	List	   *rest = NIL;
	ListCell   *lc;

	if (query->commandType != CMD_SELECT || !query->hasAggs ||
		query->groupClause != NIL || query->groupingSets != NIL ||
		query->havingQual != NULL || query->hasWindowFuncs || query->hasTargetSRFs ||
		query->distinctClause != NIL || query->sortClause != NIL ||
		query->limitCount != NULL || query->limitOffset != NULL ||
		query->setOperations != NULL || query->cteList != NIL ||
		query->rowMarks != NIL || query->jointree->fromlist == NIL)
		return false;
	result->clauses = NIL;
	foreach(lc, vx_keyed_conjuncts(query->jointree->quals, NIL))
	{
		OpExpr	   *key = key_clause(lfirst(lc));

		if (key)
			result->clauses = lappend(result->clauses, key);
		else
			rest = lappend(rest, lfirst(lc));
	}
	if (result->clauses == NIL)
		return false;
	result->grouped = palloc(sizeof(Query));
	*result->grouped = *query;
	result->grouped->jointree = makeFromExpr(query->jointree->fromlist,
											 rest == NIL ? NULL : (Node *) make_ands_explicit(rest));
	result->grouped = copyObject(result->grouped);
	return !query_refers_outside(result->grouped);
}

/* ---- tables of ours ---- */

/* One of the children, which nobody has locked, has our access method. */
static bool
has_child_of_ours(Oid parent)
{
	ListCell   *lc;

	if (!has_subclass(parent))
		return false;
	foreach(lc, find_all_inheritors(parent, NoLock, NULL))
	{
		HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(lfirst_oid(lc)));
		Oid			am;
		char	   *name;

		if (!HeapTupleIsValid(tuple))
			continue;
		am = ((Form_pg_class) GETSTRUCT(tuple))->relam;
		ReleaseSysCache(tuple);
		name = OidIsValid(am) ? get_am_name(am) : NULL;
		if (name && strcmp(name, vx_format->store->am_name) == 0)
			return true;
	}
	return false;
}

static bool
is_table_of_ours(const RangeTblEntry *rte)
{
	return ((rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_MATVIEW) &&
			st_table_format(rte->relid) == vx_format->store) ||
		(rte->inh && has_child_of_ours(rte->relid));
}

static bool find_table(Node *node, void *context);

static bool
cte_has_table(const RangeTblEntry *rte, List *queries)
{
	Query	   *query;
	ListCell   *lc;

	/* a recursive one refers to itself */
	if (rte->self_reference || rte->ctelevelsup >= list_length(queries))
		return false;
	query = list_nth_node(Query, queries, rte->ctelevelsup);
	foreach(lc, query->cteList)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);

		if (strcmp(cte->ctename, rte->ctename) == 0)
			return IsA(cte->ctequery, Query) &&
				vx_keyed_has_table((Query *) cte->ctequery,
								   list_copy_tail(queries, rte->ctelevelsup));
	}
	return false;
}

static bool
find_table(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return vx_keyed_has_table((Query *) node, context);
	return expression_tree_walker(node, find_table, context);
}

bool
vx_keyed_has_table(const Query *query, List *outers)
{
	List	   *queries = lcons(unconstify(Query *, query), list_copy(outers));
	ListCell   *lc;

	check_stack_depth();
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if ((rte->rtekind == RTE_RELATION && is_table_of_ours(rte)) ||
			(rte->rtekind == RTE_CTE && cte_has_table(rte, queries)))
			return true;
	}
	/* subqueries and sublinks; CTEs where they are referred to */
	return query_tree_walker(unconstify(Query *, query), find_table, queries,
							 QTW_IGNORE_CTE_SUBQUERIES);
}

/* ---- changing a query ---- */

/* Aggregates become columns of the subquery. */
typedef struct Columns
{
	List	   *aggregates;
	bool		other;			/* there is something else of the rows */
} Columns;

static Node *
use_columns(Node *node, void *context)
{
	Columns    *columns = context;
	ListCell   *lc;
	int			attno = 0;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Aggref))
	{
		columns->other |= IsA(node, SubLink) || IsA(node, GroupingFunc) ||
			(IsA(node, Var) && ((Var *) node)->varlevelsup == 0);
		return expression_tree_mutator(node, use_columns, context);
	}
	if (((Aggref *) node)->agglevelsup > 0)
	{
		columns->other = true;
		return node;
	}
	foreach(lc, columns->aggregates)
		if (equal(lfirst(lc), node))
			attno = foreach_current_index(lc) + 1;
	if (attno == 0)
	{
		columns->aggregates = lappend(columns->aggregates, node);
		attno = list_length(columns->aggregates);
	}
	return (Node *) makeVar(1, attno, exprType(node), exprTypmod(node), exprCollation(node), 0);
}

RangeTblEntry *
vx_keyed_entry(Query *query, const char *name)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	ListCell   *lc;

	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = query;
	rte->eref = makeAlias(name, NIL);
	rte->inFromCl = true;
	foreach(lc, query->targetList)
		rte->eref->colnames = lappend(rte->eref->colnames,
									  makeString(pstrdup(lfirst_node(TargetEntry, lc)->resname)));
	return rte;
}

static List *
make_targets(List *exprs)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
		result = lappend(result, makeTargetEntry(lfirst(lc), foreach_current_index(lc) + 1,
												 psprintf("a%d", foreach_current_index(lc) + 1),
												 false));
	return result;
}

/* The query over its aggregates; NULL: nothing to be changed. */
static Query *
put_into_subquery(const Query *query)
{
	Query	   *inner = copyObject(unconstify(Query *, query));
	Query	   *outer = makeNode(Query);
	RangeTblRef *ref = makeNode(RangeTblRef);
	Columns		columns = {0};

	outer->commandType = CMD_SELECT;
	outer->querySource = query->querySource;
	outer->canSetTag = query->canSetTag;
	outer->stmt_location = query->stmt_location;
	outer->stmt_len = query->stmt_len;
	outer->targetList = (List *) use_columns((Node *) inner->targetList, &columns);
	if (columns.other || columns.aggregates == NIL)
		return NULL;
	inner->targetList = make_targets(columns.aggregates);
	IncrementVarSublevelsUp((Node *) inner, 1, 1);
	outer->rtable = list_make1(vx_keyed_entry(inner, "keyed"));
	ref->rtindex = 1;
	outer->jointree = makeFromExpr(list_make1(ref), NULL);
	return outer;
}

/* context: queries around the node, the nearest first. */
static bool
prepare_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	check_stack_depth();
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, prepare_walker,
								 lcons(node, list_copy(context)), 0);
	if (IsA(node, SubLink) && ((SubLink *) node)->subLinkType == EXPR_SUBLINK)
	{
		SubLink    *sublink = (SubLink *) node;
		Query	   *query = castNode(Query, sublink->subselect);
		VxKeyedQuery split;

		if (vx_keyed_split(query, &split) && vx_keyed_has_table(query, context))
		{
			Query	   *changed = put_into_subquery(query);

			if (changed)
				sublink->subselect = (Node *) changed;
		}
	}
	return expression_tree_walker(node, prepare_walker, context);
}

/* Most queries have nothing to look into. */
static bool
has_subqueries(const Query *query)
{
	ListCell   *lc;

	if (query->hasSubLinks || query->cteList != NIL)
		return true;
	foreach(lc, query->rtable)
		if (lfirst_node(RangeTblEntry, lc)->rtekind == RTE_SUBQUERY)
			return true;
	return false;
}

void
vx_keyed_prepare(Query *parse)
{
	if (has_subqueries(parse))
		(void) prepare_walker((Node *) parse, NIL);
}
