/*-------------------------------------------------------------------------
 *
 * vx_keyed_path.c
 *	  Offers a node that answers a correlated aggregate out of one grouped pass.
 *
 * For set_rel_pathlist_hook, of a subquery that vx_keyed_query.c has made, or
 * somebody wrote like that: the only relation of its query.  The server has
 * planned it as it is, to be run once for each row that asks.  Beside it, the
 * same query without the correlation, grouped by its keys, is planned as one
 * more subquery of the range table.  The node has both plans below, and a third one
 * where only some keys can be asked for (vx_keyed_asked.c).
 *
 * The planner is far from knowing how many rows will ask.  So the node counts
 * them: it runs the server's plan until that has cost as much as the
 * grouped one is expected to, and goes over to that then.  Whatever the
 * number, it takes no more than twice the time of the better way.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/inherit.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/subselect.h"
#include "optimizer/tlist.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"

#include "vx_format.h"
#include "vx_hash.h"
#include "vx_join_spec.h"
#include "vx_keyed.h"
#include "vx_settings.h"
#include "st_compat.h"

/* Calls in place of which the rows are grouped at once: there will be more. */
#define FEW_CALLS		4

/* Keys that can be asked for are looked for first where there are so many times more. */
#define FEW_ASKED		4

/* So many calls are expected to share the grouped pass. */
#define SHARED_BY		100

static Plan *plan_lookup(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
						 List *tlist, List *clauses, List *custom_plans);

static CustomPathMethods path_methods = {
	.PlanCustomPath = plan_lookup,
};

/* custom_private of a path. */
typedef enum PathField
{
	PATH_CLAUSES,				/* OpExprs, a column of the grouped rows on the right */
	PATH_KINDS,					/* of them: VxKeyKind */
	PATH_FIELDS					/* VX_KEYED_CALLS, VX_KEYED_ASKED */
} PathField;

static Plan *
plan_lookup(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	List	   *private = best_path->custom_private;
	Plan	   *grouped = lsecond(custom_plans);
	int			nresults = list_length(((Plan *) linitial(custom_plans))->targetlist);
	ListCell   *lc;

	foreach(lc, grouped->targetlist)
	{
		int			at = foreach_current_index(lc);
		TargetEntry *entry = at < nresults ?
			list_nth(((Plan *) linitial(custom_plans))->targetlist, at) : lfirst(lc);

		cscan->custom_scan_tlist = lappend(cscan->custom_scan_tlist,
										   makeTargetEntry(copyObject(entry->expr), at + 1,
														   NULL, false));
	}
	cscan->scan.plan.targetlist = tlist;
	cscan->custom_exprs = list_nth(private, PATH_CLAUSES);
	cscan->custom_plans = custom_plans;
	cscan->custom_private = list_make2(lcons_int(nresults, list_nth(private, PATH_FIELDS)),
									   list_nth(private, PATH_KINDS));
	cscan->flags = best_path->flags;
	cscan->methods = GetCustomScanMethods(vx_format->lookup_name, false);
	return &cscan->scan.plan;
}

/* ---- the grouped query ---- */

/* Both operators are equalities of one family: equal groups are equal for the key. */
static bool
is_same_equality(Oid a, Oid b)
{
	List	   *families = get_mergejoin_opfamilies(a);
	ListCell   *lc;

	foreach(lc, get_mergejoin_opfamilies(b))
		if (list_member_oid(families, lfirst_oid(lc)))
			return true;
	return a == b;
}

/* Grouping tells values apart where the clause does. */
static bool
is_same_collation(Oid clause, Oid rows)
{
	return clause == rows || !OidIsValid(clause) ||
		(OidIsValid(rows) && get_collation_isdeterministic(clause) &&
		 get_collation_isdeterministic(rows));
}

/* GROUP BY an expression of the rows; false: it cannot serve as a key. */
static bool
add_key(Query *query, const OpExpr *clause, List **kinds)
{
	Node	   *outer = linitial(clause->args);
	Node	   *rows = lsecond(clause->args);
	SortGroupClause *group = makeNode(SortGroupClause);
	TargetEntry *entry;
	VxKeyKind	kind = VX_KEY_SERVER;
	Oid			left;
	Oid			right;

	get_sort_group_operators(exprType(rows), false, true, false, &group->sortop, &group->eqop,
							 NULL, &group->hashable);
	if (!group->hashable || !is_same_equality(group->eqop, clause->opno) ||
		!is_same_collation(clause->inputcollid, exprCollation(rows)))
		return false;
	if (!vx_join_key_kind(clause->opno, clause->inputcollid, exprType(outer), exprType(rows),
						  &kind) &&
		!get_op_hash_functions(clause->opno, &left, &right))
		return false;
	entry = makeTargetEntry((Expr *) copyObject(rows), list_length(query->targetList) + 1,
							psprintf("k%d", list_length(query->groupClause) + 1), false);
	entry->ressortgroupref = group->tleSortGroupRef = list_length(query->groupClause) + 1;
	query->targetList = lappend(query->targetList, entry);
	query->groupClause = lappend(query->groupClause, group);
	*kinds = lappend_int(*kinds, kind);
	return true;
}

/* The results that are asked for, and behind them the keys. */
static bool
group_by_keys(const RelOptInfo *rel, VxKeyedQuery *keyed, List **kinds)
{
	Query	   *query = keyed->grouped;
	List	   *results = NIL;
	ListCell   *lc;

	foreach(lc, rel->reltarget->exprs)
	{
		Var		   *var = lfirst(lc);
		TargetEntry *entry;

		if (!IsA(var, Var) || var->varattno <= 0)
			return false;
		entry = flatCopyTargetEntry(list_nth(query->targetList, var->varattno - 1));
		entry->resno = list_length(results) + 1;
		results = lappend(results, entry);
	}
	query->targetList = results;
	foreach(lc, keyed->clauses)
		if (!add_key(query, lfirst(lc), kinds))
			return false;
	return list_length(query->targetList) < VX_HASH_MAX_COLUMNS;
}

/* ---- the relation of its rows ---- */

/*
 * One more relation of the query, as children of a table become such.  Nothing
 * joins to it; it is below our node only.
 */
static RelOptInfo *
add_relation(PlannerInfo *root, Query *query, const char *name)
{
	RangeTblEntry *rte = vx_keyed_entry(query, name);
	RelOptInfo *rel;
	Index		rti;
	ListCell   *lc;

	root->parse->rtable = lappend(root->parse->rtable, rte);
	rti = list_length(root->parse->rtable);
	if (rti >= (Index) root->simple_rel_array_size)
		expand_planner_arrays(root, rti + 1 - root->simple_rel_array_size);
	root->simple_rte_array[rti] = rte;
	rel = build_simple_rel(root, rti, NULL);
	rel->reloptkind = RELOPT_OTHER_MEMBER_REL;
	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		add_column_to_pathtarget(rel->reltarget,
								 (Expr *) makeVar(rti, entry->resno,
												  exprType((Node *) entry->expr),
												  exprTypmod((Node *) entry->expr),
												  exprCollation((Node *) entry->expr), 0), 0);
	}
	return rel;
}

/*
 * The best plan of the query as one more relation, maybe a parallel one; NULL: it has no
 * rows, for sure.
 */
static Path *
plan_relation(PlannerInfo *root, Query *query, const char *name, bool parallel)
{
	RelOptInfo *rel = add_relation(root, query, name);
	bool		parallel_ok = root->glob->parallelModeOK;
	RelOptInfo *final;
	Path	   *path;

	Assert(root->plan_params == NIL);
	root->glob->parallelModeOK = parallel_ok && parallel;
	rel->subroot = st_subquery_planner(root->glob, copyObject(query), root, 0.0);
	root->glob->parallelModeOK = parallel_ok;
	rel->subplan_params = root->plan_params;
	root->plan_params = NIL;
	final = fetch_upper_rel(rel->subroot, UPPERREL_FINAL, NULL);
	if (IS_DUMMY_REL(final))
		return NULL;
	rel->consider_parallel = final->consider_parallel;
	set_subquery_size_estimates(root, rel);
	path = final->cheapest_total_path;
	return (Path *) st_create_subqueryscan_path(root, rel, path);
}

/* ---- the path ---- */

/* Values from outside as parameters, and columns of the grouped rows. */
static List *
lookup_clauses(PlannerInfo *root, const VxKeyedQuery *keyed, const Path *grouped)
{
	List	   *columns = grouped->parent->reltarget->exprs;
	int			nresults = list_length(columns) - list_length(keyed->clauses);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, keyed->clauses)
	{
		OpExpr	   *clause = copyObject(lfirst_node(OpExpr, lc));
		Node	   *outer = linitial(clause->args);

		IncrementVarSublevelsUp(outer, -1, 1);
		outer = eval_const_expressions(root, outer);
		linitial(clause->args) = SS_replace_correlation_vars(root, outer);
		lsecond(clause->args) = copyObject(list_nth(columns,
													nresults + foreach_current_index(lc)));
		result = lappend(result, clause);
	}
	return result;
}

/* Of groups that have no room in memory: they are sorted, written and read. */
static Cost
disk_cost(const Path *grouped)
{
	double		bytes = offsetof(VxHashRow, values) + 2 * sizeof(VxHashSlot) +
		sizeof(Datum) * list_length(grouped->pathtarget->exprs) + grouped->pathtarget->width;

	if (grouped->rows * bytes <= (double) get_hash_memory_limit())
		return 0;
	return grouped->rows * (cpu_tuple_cost + 2 * cpu_operator_cost * log2(grouped->rows)) +
		2 * seq_page_cost * grouped->rows * (grouped->pathtarget->width + 24) / BLCKSZ;
}

/* The keys that can be asked for, if they are few beside those of all groups; or NULL. */
static Path *
asked_path(PlannerInfo *root, const VxKeyedQuery *keyed, const Path *grouped, int *key)
{
	Query	   *query = vx_keyed_asked(root->parent_root->parse, keyed, key);
	Path	   *path = query ? plan_relation(root, query, "asked", true) : NULL;

	return path && path->rows < grouped->rows / FEW_ASKED &&
		path->total_cost < grouped->total_cost ? path : NULL;
}

/*
 * Calls after which the server's plan will have cost as much as all groups.  Each of the
 * keys that can be asked for mostly is.
 */
static int
calls_before(const Path *server, const Path *grouped, const Path *asked)
{
	double		calls = (grouped->total_cost + disk_cost(grouped)) /
		Max(server->total_cost, cpu_operator_cost);

	return calls < Max(FEW_CALLS, asked ? asked->rows : 0) ? 0 :
		(int) Min(calls, (double) PG_INT32_MAX);
}

static void
cost_lookup(Path *path, const Path *server, const Path *grouped)
{
	Cost		shared = grouped->total_cost / SHARED_BY + cpu_tuple_cost;

	path->rows = 1;
	path->startup_cost = Min(server->startup_cost, shared);
	path->total_cost = Min(server->total_cost, shared);
	st_path_inherit_disabled(path, server, NULL);
}

static Path *
lookup_path(PlannerInfo *root, RelOptInfo *rel, const VxKeyedQuery *keyed, List *kinds,
			Path *server, Path *grouped)
{
	CustomPath *cpath = makeNode(CustomPath);
	int			key = -1;
	Path	   *asked = asked_path(root, keyed, grouped, &key);

	/* the keys asked for are a filter of the scan, which workers know nothing of */
	if (asked && root->glob->parallelModeOK && !grouped->parallel_safe)
	{
		Path	   *serial = plan_relation(root, keyed->grouped, "grouped", false);

		grouped = serial ? serial : grouped;
	}
	cpath->path.pathtype = T_CustomScan;
	cpath->path.parent = rel;
	cpath->path.pathtarget = rel->reltarget;
	cpath->path.parallel_safe = rel->consider_parallel && server->parallel_safe &&
		grouped->parallel_safe && (asked == NULL || asked->parallel_safe);
	cpath->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	cpath->methods = &path_methods;
	cpath->custom_paths = list_make2(server, grouped);
	if (asked)
		cpath->custom_paths = lappend(cpath->custom_paths, asked);
	cpath->custom_private = list_make3(lookup_clauses(root, keyed, grouped), kinds,
									   list_make2_int(calls_before(server, grouped, asked),
													  asked ? key : -1));
	cost_lookup(&cpath->path, server, grouped);
	return &cpath->path;
}

/* The subquery is all that its query reads, and is read as it is. */
static bool
stands_alone(PlannerInfo *root, const RelOptInfo *rel)
{
	const Query *parse = root->parse;

	return root->parent_root != NULL && rel->reloptkind == RELOPT_BASEREL &&
		parse->commandType == CMD_SELECT && list_length(parse->rtable) == 1 &&
		parse->jointree->quals == NULL && !parse->hasAggs && parse->groupClause == NIL &&
		!parse->hasWindowFuncs && parse->setOperations == NULL && parse->rowMarks == NIL &&
		root->rowMarks == NIL && rel->baserestrictinfo == NIL && rel->lateral_relids == NULL;
}

static Path *
cheapest_path(const RelOptInfo *rel)
{
	Path	   *best = NULL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (path->param_info == NULL &&
			(best == NULL || compare_path_costs(path, best, TOTAL_COST) < 0))
			best = path;
	}
	return best && IsA(best, SubqueryScanPath) ? best : NULL;
}

static List *
outer_queries(PlannerInfo *root)
{
	List	   *result = NIL;

	for (; root != NULL; root = root->parent_root)
		result = lappend(result, root->parse);
	return result;
}

void
vx_keyed_set_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	VxKeyedQuery keyed;
	List	   *kinds = NIL;
	Path	   *server;
	Path	   *grouped;

	if (!vx_enable_keyed_subqueries || IS_DUMMY_REL(rel) || !stands_alone(root, rel))
		return;
	server = cheapest_path(rel);
	if (server == NULL || !vx_keyed_split(rte->subquery, &keyed) ||
		!vx_keyed_has_table(keyed.grouped, outer_queries(root)) ||
		!group_by_keys(rel, &keyed, &kinds) || !vx_keyed_is_safe(keyed.grouped) ||
		!vx_keyed_is_safe(keyed.clauses))
		return;
	grouped = plan_relation(root, keyed.grouped, "grouped", true);
	if (grouped == NULL)
		return;
	rel->pathlist = list_make1(lookup_path(root, rel, &keyed, kinds, server, grouped));
}

void
vx_keyed_path_init(void)
{
	path_methods.CustomName = vx_format->lookup_name;
}
