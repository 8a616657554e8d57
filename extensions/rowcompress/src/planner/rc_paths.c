/*-------------------------------------------------------------------------
 *
 * rc_paths.c
 *	  Offers the planner a custom scan of every rowcompress table.
 *
 * Owns set_rel_pathlist_hook.  A scan path, and a partial one for parallel
 * plans, stand beside the server's paths for the relation, and compete with
 * them by cost.  Queries that look at xmin and the like get no such path: a
 * batch does not know them.
 *
 * What the plan node holds: the quals in custom_exprs, in the order in which
 * the server wants them evaluated, and nothing else.  Everything that
 * depends on values happens in the executor, so a cached plan stays right.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_class_d.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/guc.h"

#include "rc_format.h"
#include "rc_paths.h"
#include "st_scan_columns.h"
#include "st_store.h"

static bool rc_enable_custom_scan = true;
static set_rel_pathlist_hook_type prev_set_rel_pathlist = NULL;

static Plan *plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
					   List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods path_methods = {
	.CustomName = RC_SCAN_NAME,
	.PlanCustomPath = plan_scan,
};

static Plan *
plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
		  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);

	cscan->scan.plan.targetlist = tlist;
	cscan->scan.scanrelid = rel->relid;
	cscan->flags = best_path->flags;
	cscan->custom_exprs = extract_actual_clauses(clauses, false);
	cscan->methods = GetCustomScanMethods(RC_SCAN_NAME, false);
	return &cscan->scan.plan;
}

/* Attributes that the scan's output and quals refer to. */
static Bitmapset *
referenced_attnos(RelOptInfo *rel, ParamPathInfo *param_info)
{
	Bitmapset  *attnos = NULL;
	ListCell   *lc;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &attnos);
	foreach(lc, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid, &attnos);
	if (param_info)
		foreach(lc, param_info->ppi_clauses)
			pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid, &attnos);
	return attnos;
}

/* The scan knows ctid and tableoid, but nothing of a tuple header. */
static bool
needs_tuple_header(const Bitmapset *attnos)
{
	for (int attno = FirstLowInvalidHeapAttributeNumber + 1; attno < 0; attno++)
		if (attno != SelfItemPointerAttributeNumber && attno != TableOidAttributeNumber &&
			bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, attnos))
			return true;
	return false;
}

/* WHERE CURRENT OF works by TID scans only. */
static bool
has_current_of(RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
		if (IsA(lfirst_node(RestrictInfo, lc)->clause, CurrentOfExpr))
			return true;
	return false;
}

static CustomPath *
make_scan_path(PlannerInfo *root, RelOptInfo *rel, Relation relation,
			   ParamPathInfo *param_info, const Bitmapset *attnos, int workers)
{
	CustomPath *cpath = makeNode(CustomPath);

	cpath->path.pathtype = T_CustomScan;
	cpath->path.parent = rel;
	cpath->path.pathtarget = rel->reltarget;
	cpath->path.param_info = param_info;
	cpath->path.parallel_aware = workers > 0;
	cpath->path.parallel_safe = rel->consider_parallel;
	cpath->path.parallel_workers = workers;
	cpath->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	if (workers == 0)
		cpath->flags |= CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	cpath->methods = &path_methods;
	rc_cost_scan(&cpath->path, root, rel, relation, attnos);
	return cpath;
}

static void
cost_plain_scans(List *paths, RelOptInfo *rel, Relation relation)
{
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *path = lfirst(lc);

		if (path->pathtype == T_SeqScan)
			rc_cost_plain_scan(path, rel, relation);
	}
}

static void
add_scan_paths(PlannerInfo *root, RelOptInfo *rel, Relation relation)
{
	Relids		required_outer = rel->lateral_relids;
	ParamPathInfo *param_info = get_baserel_parampathinfo(root, rel, required_outer);
	Bitmapset  *attnos = referenced_attnos(rel, param_info);
	CustomPath *cpath;

	if (!rc_enable_custom_scan || has_current_of(rel) || needs_tuple_header(attnos))
		return;

	cost_plain_scans(rel->pathlist, rel, relation);
	cost_plain_scans(rel->partial_pathlist, rel, relation);
	cpath = make_scan_path(root, rel, relation, param_info, attnos, 0);
	add_path(rel, &cpath->path);

	if (rel->consider_parallel && required_outer == NULL)
	{
		int			workers = compute_parallel_worker(rel, rc_heap_pages(rel, relation), -1,
													  max_parallel_workers_per_gather);

		if (workers > 0)
		{
			cpath = make_scan_path(root, rel, relation, NULL, attnos, workers);
			add_partial_path(rel, &cpath->path);
		}
	}
}

static void
set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	Relation	relation;

	if (prev_set_rel_pathlist)
		prev_set_rel_pathlist(root, rel, rti, rte);

	if (rte->rtekind != RTE_RELATION || rte->inh ||
		rte->tablesample != NULL || IS_DUMMY_REL(rel) ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW) ||
		(rel->reloptkind != RELOPT_BASEREL && rel->reloptkind != RELOPT_OTHER_MEMBER_REL))
		return;

	/* The planner holds a lock on it. */
	relation = table_open(rte->relid, NoLock);
	if (st_relation_format(relation) == &rc_format)
	{
		st_scan_columns_exact(rel);
		add_scan_paths(root, rel, relation);
	}
	table_close(relation, NoLock);
}

void
rc_paths_init(void)
{
	DefineCustomBoolVariable("rowcompress.enable_custom_scan",
							 "Enables the planner's use of scans over compressed rows.",
							 NULL,
							 &rc_enable_custom_scan,
							 true,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	prev_set_rel_pathlist = set_rel_pathlist_hook;
	set_rel_pathlist_hook = set_rel_pathlist;
}
