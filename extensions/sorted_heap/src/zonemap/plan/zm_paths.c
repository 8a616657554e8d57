/*-------------------------------------------------------------------------
 *
 * zm_paths.c
 *	  Offers a scan of whole heap pages beside each index scan of a zonemap.
 *
 * The path has the index path below it and takes everything from it: order,
 * parameters, row estimate, conditions.  It saves what an index scan pays for
 * going through the access method's interface, and back to the heap, for every
 * row; so it is not offered where few rows are expected.
 *
 * Owns set_rel_pathlist_hook and sorted_heap.enable_page_scan.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/transam.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/guc.h"

#include "zm_paths.h"
#include "zm_scan.h"

/* An index scan begins faster than a page scan. */
#define FEWEST_ROWS 8

static bool enable_page_scan = true;
static set_rel_pathlist_hook_type next_hook;

/*
 * The plan: the index scan goes below the custom scan, which evaluates its
 * filter and never runs it.
 */
static Plan *
plan_page_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
			   List *tlist, List *clauses, List *plans)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *below = linitial(plans);
	IndexScan  *index_scan;

	/* Conditions without columns are tested above us, not below as well. */
	if (IsA(below, Result))
		below = outerPlan(below);
	index_scan = castNode(IndexScan, below);
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = index_scan->scan.plan.qual;
	scan->scan.scanrelid = rel->relid;
	scan->flags = path->flags;
	scan->custom_plans = list_make1(index_scan);
	scan->methods = &zm_page_scan_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {
	.CustomName = "ZonemapScan",
	.PlanCustomPath = plan_page_scan,
};

static bool
is_zonemap(const IndexOptInfo *index)
{
	const IndexAmRoutine *routine;

	if (index->relam < FirstNormalObjectId)
		return false;
	routine = GetIndexAmRoutineByAmId(index->relam, true);
	return routine != NULL && routine->amgettuple == zm_get_tuple;
}

/* What an index scan spends per row in the interface between it and us. */
static Cost
saved_cost(IndexPath *path)
{
	Cost		per_row = 0.9 * cpu_index_tuple_cost +
		cpu_operator_cost * list_length(path->indexclauses);
	Cost		run = path->path.total_cost - path->path.startup_cost;

	return Min(per_row * path->path.rows, run * 0.5);
}

static Path *
make_path(RelOptInfo *rel, IndexPath *index_path)
{
	CustomPath *path = makeNode(CustomPath);

	path->path = index_path->path;
	path->path.type = T_CustomPath;
	path->path.pathtype = T_CustomScan;
	path->path.total_cost -= saved_cost(index_path);
	path->flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN |
		CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(index_path);
	path->methods = &path_methods;
	return &path->path;
}

/*
 * A scan of the same pages by several processes.  The server would reckon with
 * the size of the index, which is small however large the table is.
 */
static Path *
make_partial_path(RelOptInfo *rel, IndexPath *index_path)
{
	double		pages = rel->pages * index_path->indexselectivity;
	Path	   *path;
	Cost		cpu;
	double		divisor;
	int			workers = compute_parallel_worker(rel, pages, -1,
												  max_parallel_workers_per_gather);

	if (workers <= 0)
		return NULL;
	path = make_path(rel, index_path);
	path->parallel_aware = true;
	path->parallel_workers = workers;
	/* as the server's own parallel scans: the leader helps a little */
	divisor = workers;
	if (parallel_leader_participation)
		divisor += Max(1.0 - 0.3 * workers, 0);
	cpu = clamp_row_est(rel->tuples * index_path->indexselectivity) *
		(cpu_tuple_cost + rel->baserestrictcost.per_tuple);
	cpu = Min(cpu, path->total_cost - path->startup_cost);
	path->total_cost -= cpu - cpu / divisor;
	path->rows = clamp_row_est(path->rows / divisor);
	return path;
}

static void
add_partial_scans(RelOptInfo *rel, List *index_paths)
{
	ListCell   *lc;

	if (!rel->consider_parallel || rel->lateral_relids != NULL)
		return;
	foreach(lc, index_paths)
	{
		Path	   *path = lfirst(lc);

		if (path->param_info == NULL && path->parallel_safe)
		{
			path = make_partial_path(rel, lfirst(lc));
			if (path != NULL)
				add_partial_path(rel, path);
		}
	}
}

static void
add_page_scans(PlannerInfo *root, RelOptInfo *rel, Index rti,
			   RangeTblEntry *rte)
{
	List	   *found = NIL;
	ListCell   *lc;

	if (next_hook != NULL)
		next_hook(root, rel, rti, rte);
	if (!enable_page_scan || rte->rtekind != RTE_RELATION)
		return;
	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (IsA(path, IndexPath) && path->pathtype == T_IndexScan &&
			!path->parallel_aware && path->rows >= FEWEST_ROWS &&
			is_zonemap(((IndexPath *) path)->indexinfo))
			found = lappend(found, path);
	}
	if (found == NIL)
		return;
	add_partial_scans(rel, found);
	/* add_path() may free what it finds worse, but never an IndexPath. */
	foreach(lc, found)
		add_path(rel, make_path(rel, lfirst(lc)));
}

void
zm_paths_init(void)
{
	RegisterCustomScanMethods(&zm_page_scan_methods);
	DefineCustomBoolVariable("sorted_heap.enable_page_scan",
							 "Lets the planner use scans of whole heap pages by a zonemap.",
							 "Off: rows come one by one through the index access method.",
							 &enable_page_scan, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	next_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_page_scans;
}
