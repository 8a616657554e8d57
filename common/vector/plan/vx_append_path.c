/*-------------------------------------------------------------------------
 *
 * vx_append_path.c
 *	  A source of vectors that are those of several children.
 *
 * Arms of UNION ALL, partitions, children by inheritance: the server's Append of paths
 * each of which hands out vectors, below a node that reads them one after another
 * (vx_append_node.c).  For joins, which take vectors of whatever hands them out.
 *
 * A child is a table of ours, or a subquery, as UNION ALL has them, that reads one such or an
 * Append of them, or whose plan is a join of ours.  What a child computes is computed on its vectors.  If one of
 * the children is something else, there is no such path.
 *
 * Joins ask again and again for the same relation: what has been found is kept.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "vx_format.h"
#include "vx_paths.h"
#include "vx_rel_notes.h"
#include "st_compat.h"

/* Share of cpu_tuple_cost that the server's Append counts for a row, and that we do. */
#define SERVER_ROW_COST	0.5
#define VX_ROW_COST		0.02

static Plan *plan_append(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
						 List *tlist, List *clauses, List *custom_plans);

static CustomPathMethods path_methods = {
	.PlanCustomPath = plan_append,
};

/* The children evaluate the parent's conditions. */
static Plan *
plan_append(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	Plan	   *child = linitial(custom_plans);
	ListCell   *lc;

	foreach(lc, child->targetlist)
		cscan->custom_scan_tlist =
			lappend(cscan->custom_scan_tlist,
					makeTargetEntry(copyObject(lfirst_node(TargetEntry, lc)->expr),
									foreach_current_index(lc) + 1, NULL, false));
	cscan->scan.plan.targetlist = tlist;
	cscan->custom_plans = custom_plans;
	cscan->flags = best_path->flags;
	cscan->methods = GetCustomScanMethods(vx_format->append_name, false);
	return &cscan->scan.plan;
}

/* What is asked for: columns of a relation, of all its children. */
typedef struct AppendQuery
{
	PlannerInfo *root;
	RelOptInfo *rel;
	List	   *columns;		/* Vars of it */
	List	   *children;
	const char *trouble;		/* why there is no path; NULL: nobody's matter */
} AppendQuery;

static Path *query_path(AppendQuery *query, bool partial);

/* ---- children ---- */

static PathTarget *
make_target(PlannerInfo *root, List *exprs)
{
	PathTarget *target = create_empty_pathtarget();
	ListCell   *lc;

	foreach(lc, exprs)
		add_column_to_pathtarget(target, lfirst(lc), 0);
	return set_pathtarget_cost_width(root, target);
}

/* The columns, as the child has or computes them. */
static PathTarget *
child_target(const AppendQuery *query, RelOptInfo *child)
{
	return make_target(query->root,
					   st_translate_to_child(query->root, query->columns, child));
}

static bool
is_computable(const RelOptInfo *child, List *exprs)
{
	ListCell   *lc;

	foreach(lc, exprs)
		if (!vx_is_computable(lfirst(lc), 0))
			return false;
	foreach(lc, pull_var_clause((Node *) exprs, PVC_RECURSE_PLACEHOLDERS))
		if (lfirst_node(Var, lc)->varno != child->relid ||
			lfirst_node(Var, lc)->varattno <= 0)
			return false;
	return true;
}

Path *
vx_table_vector_path(PlannerInfo *root, RelOptInfo *rel, PathTarget *target, int workers)
{
	Relation	relation;
	Path	   *path = NULL;

	/* The planner holds a lock on it. */
	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	if (st_relation_format(relation) == vx_format->store)
		path = (Path *) vx_make_vector_scan_path(root, rel, relation, target, workers);
	table_close(relation, NoLock);
	return path;
}

/* Columns that the expressions are made of, each once. */
static List *
columns_of(List *exprs)
{
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) exprs, PVC_RECURSE_PLACEHOLDERS))
		columns = list_append_unique(columns, lfirst(lc));
	return columns;
}

/* The relation's columns as vectors; NULL: it has no such path. */
static Path *
relation_path(PlannerInfo *root, RelOptInfo *rel, List *columns, bool partial)
{
	AppendQuery query = {root, rel, columns};
	List	   *quals = extract_actual_clauses(rel->baserestrictinfo, false);
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);

	if (rte->inh)
		return query_path(&query, partial);
	if (rte->rtekind != RTE_RELATION || !is_computable(rel, columns) ||
		!vx_is_safe_ahead(root, (Node *) quals) || (partial && rel->partial_pathlist == NIL))
		return NULL;
	return vx_table_vector_path(root, rel, make_target(root, columns), partial ?
								((Path *) linitial(rel->partial_pathlist))->parallel_workers : 0);
}

/* It reads a relation, and does nothing else. */
static bool
is_scan(const Path *path)
{
	return IS_SIMPLE_REL(path->parent) &&
		(IsA(path, Path) || IsA(path, IndexPath) || IsA(path, BitmapHeapPath) ||
		 IsA(path, CustomPath) || IsA(path, AppendPath));
}

/* A path of a subquery, or one that does the same and hands out vectors; NULL: there is none. */
static Path *
path_in_subquery(PlannerInfo *root, Path *path, bool partial)
{
	List	   *exprs = path->pathtarget->exprs;
	Path	   *below = path;

	if (contain_volatile_functions((Node *) exprs) || contain_subplans((Node *) exprs) ||
		expression_returns_set((Node *) exprs))
		return NULL;
	while (IsA(below, ProjectionPath))
		below = ((ProjectionPath *) below)->subpath;
	if (vx_is_join_path(below))
		return path;
	if (!is_scan(below))
		return NULL;
	/* its target is that of the query by now */
	below = relation_path(root, below->parent, columns_of(exprs), partial);
	return below ? (Path *) create_projection_path(root, path->parent, below,
												   path->pathtarget) : NULL;
}

/* The best of the child's paths whose plan hands out vectors. */
static Path *
subquery_path(PlannerInfo *root, const RelOptInfo *child, PathTarget *target, bool partial)
{
	List	   *paths = partial ? child->partial_pathlist : child->pathlist;
	SubqueryScanPath *best = NULL;
	ListCell   *lc;

	/* what runs ahead in there is not known here */
	if (child->baserestrictinfo != NIL || vx_may_stop_early(root))
		return NULL;
	foreach(lc, paths)
	{
		SubqueryScanPath *path = lfirst(lc);
		Path	   *below;

		if (!IsA(path, SubqueryScanPath) || path->path.param_info != NULL)
			continue;
		below = path_in_subquery(child->subroot, path->subpath, partial);
		if (below == NULL || (best && path->path.total_cost >= best->path.total_cost))
			continue;
		best = makeNode(SubqueryScanPath);
		memcpy(best, path, sizeof(SubqueryScanPath));
		best->subpath = below;
		best->path.pathtarget = target;
		best->path.startup_cost += below->startup_cost - path->subpath->startup_cost;
		best->path.total_cost += below->total_cost - path->subpath->total_cost;
	}
	return (Path *) best;
}

/* The child's path, maybe one that participants share; NULL: it has none. */
static Path *
child_path(const AppendQuery *query, RelOptInfo *child, bool partial)
{
	PathTarget *target = child_target(query, child);
	int			workers = 0;

	if (partial && child->partial_pathlist == NIL)
		return NULL;
	if (partial)
		workers = ((Path *) linitial(child->partial_pathlist))->parallel_workers;
	switch (planner_rt_fetch(child->relid, query->root)->rtekind)
	{
		case RTE_RELATION:
			return vx_table_vector_path(query->root, child, target, workers);
		case RTE_SUBQUERY:
			return subquery_path(query->root, child, target, partial);
		default:
			return NULL;
	}
}

static const char *
name_of(PlannerInfo *root, const RelOptInfo *rel)
{
	return planner_rt_fetch(rel->relid, root)->eref->aliasname;
}

/* What keeps the child from handing out vectors, but for its paths; NULL: nothing. */
static const char *
trouble_of_columns(const AppendQuery *query, RelOptInfo *child)
{
	List	   *exprs = child_target(query, child)->exprs;
	List	   *quals = extract_actual_clauses(child->baserestrictinfo, false);

	if (!is_computable(child, exprs))
		return psprintf("%s has columns that vectors cannot have",
						name_of(query->root, query->rel));
	if (!vx_is_safe_ahead(query->root, (Node *) exprs) ||
		!vx_is_safe_ahead(query->root, (Node *) quals))
		return psprintf("%s has what is volatile, or may tell what it sees",
						name_of(query->root, query->rel));
	return NULL;
}

/* The child has no path. */
static const char *
trouble_of_paths(const AppendQuery *query, const RelOptInfo *child)
{
	RangeTblEntry *rte = planner_rt_fetch(child->relid, query->root);
	const char *name = name_of(query->root, query->rel);

	if (rte->rtekind != RTE_RELATION)
		return psprintf("a subquery of %s hands out no vectors", name);
	return psprintf("table %s of %s hands out no vectors", get_rel_name(rte->relid), name);
}

/* ---- paths ---- */

static Path *
make_path(const AppendQuery *query, AppendPath *append)
{
	CustomPath *cpath = makeNode(CustomPath);

	append->path.pathtarget = make_target(query->root, query->columns);
	cpath->path.pathtype = T_CustomScan;
	cpath->path.parent = query->rel;
	cpath->path.pathtarget = append->path.pathtarget;
	cpath->path.rows = append->path.rows;
	cpath->path.startup_cost = append->path.startup_cost;
	cpath->path.total_cost = append->path.total_cost +
		(VX_ROW_COST - SERVER_ROW_COST) * cpu_tuple_cost * append->path.rows;
	cpath->path.total_cost = Max(cpath->path.total_cost, cpath->path.startup_cost);
	cpath->path.parallel_safe = append->path.parallel_safe;
	cpath->path.parallel_workers = append->path.parallel_workers;
	st_path_inherit_disabled(&cpath->path, &append->path, &append->path);
	cpath->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	cpath->methods = &path_methods;
	cpath->custom_paths = list_make1(append);
	return &cpath->path;
}

static Path *
serial_path(AppendQuery *query)
{
	List	   *subpaths = NIL;
	ListCell   *lc;

	foreach(lc, query->children)
	{
		RelOptInfo *child = lfirst(lc);
		Path	   *path;

		query->trouble = trouble_of_columns(query, child);
		if (query->trouble)
			return NULL;
		path = child_path(query, child, false);
		if (path == NULL)
		{
			query->trouble = trouble_of_paths(query, child);
			return NULL;
		}
		subpaths = lappend(subpaths, path);
	}
	return make_path(query, st_create_append_path(query->root, query->rel, subpaths, NIL, 0));
}

/*
 * Participants take children, and share what is in one, by a parallel Append.  There is a
 * serial path.
 */
static Path *
partial_path(const AppendQuery *query)
{
	RelOptInfo *rel = query->rel;
	List	   *subpaths = NIL;
	List	   *partial_subpaths = NIL;
	int			workers = 0;
	AppendPath *append;
	ListCell   *lc;

	if (!rel->consider_parallel || !enable_parallel_append || rel->partial_pathlist == NIL)
		return NULL;
	foreach(lc, query->children)
	{
		Path	   *path = child_path(query, lfirst(lc), true);

		if (path)
		{
			partial_subpaths = lappend(partial_subpaths, path);
			workers = Max(workers, path->parallel_workers);
			continue;
		}
		path = child_path(query, lfirst(lc), false);
		if (path == NULL || !path->parallel_safe)
			return NULL;
		subpaths = lappend(subpaths, path);
	}
	workers = Max(workers, ((Path *) linitial(rel->partial_pathlist))->parallel_workers);
	append = st_create_append_path(query->root, rel, subpaths, partial_subpaths, workers);
	/* scans of children leave that to who has all of them: vx_cost_scan() */
	append->path.startup_cost += vx_workers_cost(workers);
	append->path.total_cost += vx_workers_cost(workers);
	return make_path(query, append);
}

static Path *
query_path(AppendQuery *query, bool partial)
{
	PlannerInfo *root = query->root;
	RelOptInfo *rel = query->rel;
	Path	   *path;

	check_stack_depth();
	query->children = NIL;
	if (rel->reloptkind != RELOPT_BASEREL || IS_DUMMY_REL(rel) ||
		rel->lateral_relids != NULL || !vx_has_table(root, rel))
		return NULL;
	if (vx_has_pseudoconstant(rel) || !vx_collect_children(root, rel, &query->children))
	{
		query->trouble = psprintf("a child of %s is left to the server", name_of(root, rel));
		return NULL;
	}
	if (query->children == NIL)
		return NULL;
	path = serial_path(query);
	return path && partial ? partial_path(query) : path;
}

Path *
vx_append_vector_path(PlannerInfo *root, RelOptInfo *rel, bool partial)
{
	MemoryContext old;
	VxRelNotes *notes;

	/* a foreign table's wrapper looks into what is kept */
	if (rel->fdwroutine != NULL)
		return NULL;
	/* GEQO has contexts of its own, of joins that it tries */
	old = MemoryContextSwitchTo(root->planner_cxt);
	notes = vx_rel_notes(rel, true);
	/* NULL: another extension keeps something there */
	if (notes && !notes->append_known[partial])
	{
		AppendQuery query = {root, rel, rel->reltarget->exprs};

		notes->append_known[partial] = true;
		notes->append[partial] = query_path(&query, partial);
		if (query.trouble)
			notes->append_trouble = query.trouble;
	}
	MemoryContextSwitchTo(old);
	return notes ? notes->append[partial] : NULL;
}

const char *
vx_append_trouble(PlannerInfo *root, RelOptInfo *rel)
{
	VxRelNotes *notes = vx_rel_notes(rel, false);

	return notes ? notes->append_trouble : NULL;
}

void
vx_append_path_init(void)
{
	path_methods.CustomName = vx_format->append_name;
}
