/*-------------------------------------------------------------------------
 *
 * vx_paths.c
 *	  Offers the planner a custom scan of every table of the format.
 *
 * For set_rel_pathlist_hook.  A scan path, and a partial one for parallel
 * plans, stand beside the server's paths for the relation, and compete with
 * them by cost.  Queries that look at xmin and the like get no such path: a
 * vector does not know them.
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
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "nodes/extensible.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "vx_fallback.h"
#include "vx_format.h"
#include "vx_keyed.h"
#include "vx_path_use.h"
#include "vx_paths.h"
#include "vx_rel_notes.h"
#include "vx_rows_of_path.h"
#include "vx_settings.h"
#include "st_compat.h"
#include "st_scan_columns.h"
#include "st_store.h"

static Plan *plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
					   List *tlist, List *clauses, List *custom_plans);

static CustomPathMethods path_methods = {
	.PlanCustomPath = plan_scan,
};

/*
 * jsonb columns of the output of which the query looks at some places alone: a
 * list of (attribute number, places).  Rows that may be locked or changed are
 * not looked into, as others see them, too.
 */
static List *
document_parts(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *parts = NIL;
	Bitmapset  *attrs = NULL;
	int			member = -1;

	if (!vx_enable_document_parts || !vx_enable_path_columns ||
		rel->reloptkind != RELOPT_BASEREL || root->rowMarks != NIL ||
		root->parse->resultRelation == (int) rel->relid)
		return NIL;
	/* the plan's target list may be another one in the end */
	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &attrs);
	while ((member = bms_next_member(attrs, member)) >= 0)
	{
		AttrNumber	attno = member + FirstLowInvalidHeapAttributeNumber;
		List	   *places;

		if (attno <= 0)
			return NIL;
		if (getBaseType(get_atttype(planner_rt_fetch(rel->relid, root)->relid,
									attno)) == JSONBOID &&
			vx_path_query_use(root->parse, rel->relid, attno, &places))
			parts = lappend(parts, list_make2(makeInteger(attno), copyObject(places)));
	}
	return parts;
}

/*
 * May quals of this part of the query hide rows from a role?  Those of policies do,
 * and those of views that are security barriers, which are planned on their own.
 */
static bool
may_hide_rows(PlannerInfo *root)
{
	for (; root != NULL; root = root->parent_root)
	{
		ListCell   *lc;

		if (root->qual_security_level > 0)
			return true;
		foreach(lc, root->parse->rtable)
			if (lfirst_node(RangeTblEntry, lc)->security_barrier)
				return true;
	}
	return false;
}

static Plan *
plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
		  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	List	   *topn = NIL;

	cscan->scan.plan.targetlist = tlist;
	cscan->scan.scanrelid = rel->relid;
	cscan->flags = best_path->flags;
	/* last, behind security barriers */
	cscan->custom_exprs = list_concat(extract_actual_clauses(clauses, false),
									  vx_rows_of_quals(root, rel));
	if (best_path->custom_private != NIL)
	{
		/* of ORDER BY ... LIMIT: expressions, and what they mean */
		topn = lcons_int(list_length(cscan->custom_exprs),
						 list_copy(lsecond(best_path->custom_private)));
		cscan->custom_exprs = list_concat(cscan->custom_exprs,
										  copyObject(linitial(best_path->custom_private)));
	}
	cscan->custom_private = list_make4(topn, document_parts(root, rel),
									   vx_fallback_take(root, rel),
									   makeInteger(may_hide_rows(root)));
	if (custom_plans != NIL)
		/* of the server's bitmap scan: what makes the bitmap */
		cscan->custom_plans = list_make1(outerPlan(castNode(BitmapHeapScan,
															linitial(custom_plans))));
	cscan->methods = GetCustomScanMethods(vx_format->scan_name, false);
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

/* vectors: the columns that a node above takes as vectors, or NULL. */
static CustomPath *
new_scan_path(RelOptInfo *rel, ParamPathInfo *param_info, int workers, PathTarget *vectors)
{
	CustomPath *cpath = makeNode(CustomPath);

	cpath->path.pathtype = T_CustomScan;
	cpath->path.parent = rel;
	cpath->path.pathtarget = vectors ? vectors : rel->reltarget;
	cpath->path.param_info = param_info;
	cpath->path.parallel_aware = workers > 0;
	cpath->path.parallel_safe = rel->consider_parallel;
	cpath->path.parallel_workers = workers;
	cpath->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	if (workers == 0)
		cpath->flags |= CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	cpath->methods = &path_methods;
	return cpath;
}

static CustomPath *
make_scan_path(PlannerInfo *root, RelOptInfo *rel, Relation relation,
			   ParamPathInfo *param_info, const Bitmapset *attnos, int workers,
			   PathTarget *vectors)
{
	CustomPath *cpath = new_scan_path(rel, param_info, workers, vectors);

	vx_cost_scan(&cpath->path, root, rel, relation, attnos, vectors != NULL);
	if (vx_index_scan(relation) == VX_INDEX_SCAN_ON && vx_prefers_index(rel))
		st_path_disable(&cpath->path);
	return cpath;
}

/*
 * The server has put the best bitmap together for a scan of its own, without
 * parameters or none.  That path is copied, because the server frees it when
 * it finds a better one, and kept in the relation's fdw_private, which the
 * server does not use for a table: nodes above ask for scans again when the relation's
 * list of paths is final.
 */
static void
keep_bitmap(RelOptInfo *rel, Relation relation)
{
	VxRelNotes *notes = vx_rel_notes(rel, true);
	BitmapHeapPath *best = NULL;
	BitmapHeapPath *own;
	ListCell   *lc;

	if (notes == NULL)
		return;
	notes->bitmap = NULL;
	/* a condition without columns becomes a node above the server's plan */
	if (!vx_enable_bitmap_vectors || !enable_bitmapscan || vx_has_pseudoconstant(rel) ||
		vx_index_scan(relation) == VX_INDEX_SCAN_OFF)
		return;
	foreach(lc, rel->pathlist)
	{
		BitmapHeapPath *path = lfirst(lc);

		if (IsA(path, BitmapHeapPath) && path->path.param_info == NULL &&
			(best == NULL || path->path.total_cost < best->path.total_cost))
			best = path;
	}
	if (best == NULL)
		return;
	own = makeNode(BitmapHeapPath);
	memcpy(own, best, sizeof(BitmapHeapPath));
	notes->bitmap = own;
}

/* A scan of the rows that an index finds, if the server has a bitmap for that. */
static CustomPath *
make_bitmap_path(PlannerInfo *root, RelOptInfo *rel, Relation relation,
				 const Bitmapset *attnos, PathTarget *vectors)
{
	VxRelNotes *notes = vx_rel_notes(rel, false);
	BitmapHeapPath *bitmap = notes != NULL ? notes->bitmap : NULL;
	CustomPath *cpath;

	if (bitmap == NULL)
		return NULL;
	cpath = new_scan_path(rel, NULL, 0, vectors);
	cpath->path.parallel_safe = bitmap->path.parallel_safe;
	cpath->custom_paths = list_make1(bitmap);
	vx_cost_bitmap_vectors(&cpath->path, root, rel, relation, attnos, vectors != NULL,
						   bitmap->bitmapqual);
	return cpath;
}

/*
 * Is there a path that costs less than any scan with vectors can?  Then there
 * is no need to reckon what that costs: short queries feel it.
 */
static bool
is_scan_too_dear(const RelOptInfo *rel)
{
	Cost		least = vx_least_scan_cost();
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (path->total_cost <= least && !st_path_is_disabled(path) &&
			path->parallel_safe >= rel->consider_parallel &&
			bms_equal(PATH_REQ_OUTER(path), rel->lateral_relids))
			return true;
	}
	return false;
}

static void
add_scan_paths(PlannerInfo *root, RelOptInfo *rel, Relation relation)
{
	Relids		required_outer = rel->lateral_relids;
	ParamPathInfo *param_info = get_baserel_parampathinfo(root, rel, required_outer);
	Bitmapset  *attnos = referenced_attnos(rel, param_info);
	CustomPath *cpath;

	vx_cost_index_paths(root, rel, relation, attnos);
	keep_bitmap(rel, relation);
	if (!vx_enable_custom_scan || has_current_of(rel) || needs_tuple_header(attnos))
		return;

	if (!is_scan_too_dear(rel))
	{
		cpath = make_scan_path(root, rel, relation, param_info, attnos, 0, NULL);
		add_path(rel, &cpath->path);
		cpath = make_bitmap_path(root, rel, relation, attnos, NULL);
		if (cpath && required_outer == NULL)
			add_path(rel, &cpath->path);
	}

	if (rel->consider_parallel && required_outer == NULL)
	{
		int			workers = compute_parallel_worker(rel, vx_heap_pages(rel, relation), -1,
													  max_parallel_workers_per_gather);

		if (workers > 0)
		{
			int			busy = vx_busy_workers(workers);

			cpath = make_scan_path(root, rel, relation, NULL, attnos, workers, NULL);
			if (busy < workers)
			{
				CustomPath *fewer = make_scan_path(root, rel, relation, NULL, attnos, busy, NULL);

				/* workers that cost nothing do no harm */
				if (fewer->path.total_cost < cpath->path.total_cost)
					cpath = fewer;
			}
			add_partial_path(rel, &cpath->path);
		}
	}
}

/*
 * A table or materialized view, or a sample of one.  Not a parent by itself:
 * TimescaleDB, which scans the children of its hypertables in its own way, asks
 * for them as ONLY does.
 */
static bool
is_table(RelOptInfo *rel, RangeTblEntry *rte)
{
	return rte->rtekind == RTE_RELATION && !rte->inh && !IS_DUMMY_REL(rel) &&
		(rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_MATVIEW) &&
		(rel->reloptkind == RELOPT_OTHER_MEMBER_REL ||
		 (rel->reloptkind == RELOPT_BASEREL && !has_subclass(rte->relid)));
}

/* One whose rows are all to be read. */
static bool
is_plain_table(RelOptInfo *rel, RangeTblEntry *rte)
{
	return is_table(rel, rte) && rte->tablesample == NULL;
}

bool
vx_has_pseudoconstant(RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
		if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
			return true;
	return false;
}

static bool is_table_of_ours(PlannerInfo *root, Index relid);

/*
 * A subquery that only filters and projects rows of ours, a security barrier, or
 * computes windows over them.
 */
static bool
is_subquery_of_ours(const RelOptInfo *rel)
{
	PlannerInfo *root = rel ? rel->subroot : NULL;

	if (root == NULL || root->parse->hasAggs || root->parse->groupClause != NIL ||
		root->parse->distinctClause != NIL || root->parse->setOperations != NULL ||
		root->parse->limitCount != NULL)
		return false;
	for (int relid = 1; relid < root->simple_rel_array_size; relid++)
		if (root->simple_rel_array[relid] != NULL &&
			root->simple_rel_array[relid]->reloptkind == RELOPT_BASEREL &&
			is_table_of_ours(root, relid))
			return true;
	return false;
}

static bool
is_table_of_ours(PlannerInfo *root, Index relid)
{
	RangeTblEntry *rte = planner_rt_fetch(relid, root);
	ListCell   *lc;

	check_stack_depth();
	if (rte->inh)
	{
		foreach(lc, root->append_rel_list)
		{
			AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);

			if (appinfo->parent_relid == relid &&
				is_table_of_ours(root, appinfo->child_relid))
				return true;
		}
		return false;
	}
	if (rte->rtekind == RTE_SUBQUERY)
		return is_subquery_of_ours(root->simple_rel_array[relid]);
	if (rte->rtekind != RTE_RELATION ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW))
		return false;
	return st_table_format(rte->relid) == vx_format->store;
}

bool
vx_has_table(PlannerInfo *root, RelOptInfo *rel)
{
	int			relid = -1;

	/* from 16 on, outer joins have numbers, too */
	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
		if (root->simple_rel_array[relid] != NULL && is_table_of_ours(root, relid))
			return true;
	return false;
}

bool
vx_query_has_table(PlannerInfo *root)
{
	check_stack_depth();
	for (int relid = 1; root && relid < root->simple_rel_array_size; relid++)
		if (root->simple_rel_array[relid] != NULL &&
			(is_table_of_ours(root, relid) ||
			 vx_query_has_table(root->simple_rel_array[relid]->subroot)))
			return true;
	return false;
}

static bool
has_record(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->vartype == RECORDOID)
		return true;
	return expression_tree_walker(node, has_record, context);
}

bool
vx_has_records(Node *exprs)
{
	return has_record(exprs, NULL);
}

CustomPath *
vx_make_vector_scan_path(PlannerInfo *root, RelOptInfo *rel, Relation relation,
						 PathTarget *target, int workers)
{
	Bitmapset  *attnos = NULL;
	CustomPath *scan;
	CustomPath *bitmap;
	ListCell   *lc;

	if (!vx_enable_custom_scan || has_current_of(rel) ||
		!is_plain_table(rel, planner_rt_fetch(rel->relid, root)) ||
		rel->lateral_relids != NULL || vx_has_pseudoconstant(rel))
		return NULL;
	pull_varattnos((Node *) target->exprs, rel->relid, &attnos);
	foreach(lc, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid, &attnos);
	if (needs_tuple_header(attnos))
		return NULL;

	scan = make_scan_path(root, rel, relation, NULL, attnos, workers, target);
	bitmap = workers == 0 ? make_bitmap_path(root, rel, relation, attnos, target) : NULL;
	if (bitmap && compare_path_costs(&bitmap->path, &scan->path, TOTAL_COST) < 0)
		return bitmap;
	return scan;
}

bool
vx_is_computable(Node *expr, Index relid)
{
	List	   *vars;
	ListCell   *lc;

	if (contain_volatile_functions(expr) || contain_subplans(expr) ||
		expression_returns_set(expr))
		return false;
	if (relid == 0)
		return true;
	vars = pull_var_clause(expr, PVC_INCLUDE_PLACEHOLDERS);
	foreach(lc, vars)
	{
		Var		   *var = lfirst(lc);

		if (!IsA(var, Var) || var->varno != relid || var->varattno <= 0)
			return false;
	}
	return true;
}

bool
vx_collect_children(PlannerInfo *root, RelOptInfo *parent, List **children)
{
	ListCell   *lc;

	check_stack_depth();
	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);
		RelOptInfo *child;

		if (appinfo->parent_relid != parent->relid)
			continue;
		child = find_base_rel(root, appinfo->child_relid);
		if (IS_DUMMY_REL(child))
			continue;
		if (planner_rt_fetch(child->relid, root)->inh)
		{
			if (!vx_collect_children(root, child, children))
				return false;
			continue;
		}
		if (vx_has_pseudoconstant(child) || child->lateral_relids != NULL ||
			child->cheapest_total_path == NULL)
			return false;
		*children = lappend(*children, child);
	}
	return true;
}

void
vx_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	Relation	relation;

	if (rte->rtekind == RTE_SUBQUERY)
		vx_keyed_set_paths(root, rel, rti, rte);
	if (!is_table(rel, rte))
		return;

	/* The planner holds a lock on it. */
	relation = table_open(rte->relid, NoLock);
	if (st_relation_format(relation) == vx_format->store)
	{
		st_scan_columns_exact(rel);
		if (is_plain_table(rel, rte))
			add_scan_paths(root, rel, relation);
	}
	table_close(relation, NoLock);
}

void
vx_paths_init(void)
{
	path_methods.CustomName = vx_format->scan_name;
}
