/*-------------------------------------------------------------------------
 *
 * rc_agg_paths.c
 *	  Offers the planner count, min and max of a whole table without its rows.
 *
 * Owns create_upper_paths_hook.  The query is one table without conditions,
 * groups, row-level security or sampling; its aggregates are count(*),
 * count(column), min(column) and max(column), the last two of columns whose
 * values are held as integers, by the operator that zones are ordered by.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class_d.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "rc_agg_paths.h"
#include "rc_format.h"
#include "st_compat.h"
#include "st_store.h"

/* cpu_tuple_costs of asking a row group's descriptor and footer. */
#define RC_FOOTER_COST	50

static bool rc_enable_footer_aggregates = true;
static create_upper_paths_hook_type prev_create_upper_paths = NULL;

static Plan *plan_agg(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
					  List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods path_methods = {
	.CustomName = RC_AGG_NAME,
	.PlanCustomPath = plan_agg,
};

/* Private data of the path: that of the plan, and the aggregates. */
static Plan *
plan_agg(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
		 List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	List	   *aggs = llast(best_path->custom_private);
	ListCell   *lc;

	foreach(lc, aggs)
		cscan->custom_scan_tlist = lappend(cscan->custom_scan_tlist,
										   makeTargetEntry(lfirst(lc),
														   foreach_current_index(lc) + 1,
														   NULL, false));
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.scanrelid = 0;
	cscan->flags = best_path->flags;
	cscan->custom_private = list_truncate(list_copy(best_path->custom_private), 3);
	cscan->methods = GetCustomScanMethods(RC_AGG_NAME, false);
	return &cscan->scan.plan;
}

/* min or max by the btree order that zones of the column have? */
static bool
is_extreme(Oid aggfnoid, const RcColumnType *type, RcAggKind *kind)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggfnoid));
	Oid			sortop = InvalidOid;
	int			strategy;

	if (HeapTupleIsValid(tuple))
	{
		sortop = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggsortop;
		ReleaseSysCache(tuple);
	}
	if (!OidIsValid(sortop))
		return false;
	strategy = get_op_opfamily_strategy(sortop, type->opfamily);
	if (strategy != BTLessStrategyNumber && strategy != BTGreaterStrategyNumber)
		return false;
	*kind = strategy == BTLessStrategyNumber ? RC_AGG_MIN : RC_AGG_MAX;
	return true;
}

/* Can the aggregate be had without rows? */
static bool
classify(const Aggref *agg, Index rti, Relation relation, RcAggKind *kind, AttrNumber *attno)
{
	RcColumnType type;
	Expr	   *arg;
	Var		   *var;

	*attno = 0;
	if (agg->aggfilter || agg->aggorder || agg->aggdistinct || agg->aggdirectargs ||
		agg->agglevelsup > 0)
		return false;
	if (agg->aggfnoid == F_COUNT_)
	{
		*kind = RC_AGG_COUNT_ROWS;
		return true;
	}
	if (list_length(agg->args) != 1)
		return false;
	arg = linitial_node(TargetEntry, agg->args)->expr;
	if (!IsA(arg, Var))
		return false;
	var = (Var *) arg;
	if (var->varno != rti || var->varattno <= 0 || var->varlevelsup > 0)
		return false;
	*attno = var->varattno;
	if (agg->aggfnoid == F_COUNT_ANY)
	{
		*kind = RC_AGG_COUNT;
		return true;
	}
	rc_column_type(TupleDescAttr(RelationGetDescr(relation), var->varattno - 1), &type);
	return type.kind == RC_KIND_INT && OidIsValid(type.opfamily) &&
		agg->aggtype == var->vartype &&
		type.typid == var->vartype && is_extreme(agg->aggfnoid, &type, kind);
}

/* The aggregates of the target list, each once; NIL if one needs rows. */
static List *
find_aggs(PathTarget *target, Index rti, Relation relation, List **kinds, List **attnos)
{
	List	   *aggs = NIL;
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) target->exprs,
								PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_WINDOWFUNCS |
								PVC_INCLUDE_PLACEHOLDERS))
	{
		Node	   *node = lfirst(lc);
		RcAggKind	kind;
		AttrNumber	attno;

		if (!IsA(node, Aggref) ||
			!classify((Aggref *) node, rti, relation, &kind, &attno))
			return NIL;
		if (list_member(aggs, node))
			continue;
		aggs = lappend(aggs, node);
		*kinds = lappend_int(*kinds, kind);
		*attnos = lappend_int(*attnos, attno);
	}
	return aggs;
}

static void
add_agg_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
			 Relation relation)
{
	PathTarget *target = root->upper_targets[UPPERREL_GROUP_AGG];
	List	   *kinds = NIL;
	List	   *attnos = NIL;
	List	   *aggs = find_aggs(target, input_rel->relid, relation, &kinds, &attnos);
	double		groups = ceil(input_rel->tuples / 122880);
	CustomPath *cpath;

	if (aggs == NIL)
		return;
	cpath = makeNode(CustomPath);
	cpath->path.pathtype = T_CustomScan;
	cpath->path.parent = output_rel;
	cpath->path.pathtarget = target;
	cpath->path.rows = 1;
	cpath->path.startup_cost = target->cost.startup +
		cpu_tuple_cost * RC_FOOTER_COST * (groups + 1);
	cpath->path.total_cost = cpath->path.startup_cost + cpu_tuple_cost + target->cost.per_tuple;
	cpath->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	cpath->custom_private = list_make4(kinds, attnos, 
										 list_make1_oid(RelationGetRelid(relation)), aggs);
	cpath->methods = &path_methods;
	add_path(output_rel, &cpath->path);
}

static void
create_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
				   RelOptInfo *output_rel, void *extra)
{
	const Query *parse = root->parse;
	RangeTblEntry *rte;
	Relation	relation;

	if (prev_create_upper_paths)
		prev_create_upper_paths(root, stage, input_rel, output_rel, extra);

	if (stage != UPPERREL_GROUP_AGG || !rc_enable_footer_aggregates ||
		input_rel->reloptkind != RELOPT_BASEREL || input_rel->rtekind != RTE_RELATION ||
		input_rel->baserestrictinfo != NIL || input_rel->lateral_relids != NULL ||
		IS_DUMMY_REL(input_rel) || !parse->hasAggs || parse->groupClause != NIL ||
		parse->groupingSets != NIL || parse->havingQual != NULL)
		return;
	rte = planner_rt_fetch(input_rel->relid, root);
	if (rte->inh || rte->tablesample != NULL || rte->securityQuals != NIL ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW))
		return;

	/* The planner holds a lock on it. */
	relation = table_open(rte->relid, NoLock);
	if (st_relation_format(relation) == &rc_format)
		add_agg_path(root, input_rel, output_rel, relation);
	table_close(relation, NoLock);
}

void
rc_agg_paths_init(void)
{
	DefineCustomBoolVariable("rowcompress.enable_footer_aggregates",
							 "Answers count, min and max of a whole table from the footers of its row groups.",
							 NULL,
							 &rc_enable_footer_aggregates,
							 true,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	prev_create_upper_paths = create_upper_paths_hook;
	create_upper_paths_hook = create_upper_paths;
}
