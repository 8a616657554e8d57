/*-------------------------------------------------------------------------
 *
 * vx_topn_path.c
 *	  ORDER BY ... LIMIT over one table, or over several below an Append.
 *
 * The server's Sort stays, and so do its order, its ties and its collations;
 * but the scan below it knows the first sort key and the limit, and hands
 * out no row that is certainly not among the first ones.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/table.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "vx_paths.h"
#include "vx_settings.h"
#include "vx_vector.h"
#include "st_compat.h"
#include "st_zone_cost.h"

/* The type's own order is one that the executor's ranks follow. */
static bool
has_ranks(Node *key, Oid sortop, bool *descending)
{
	Oid			type = getBaseType(exprType(key));
	Oid			opfamily;
	Oid			opcintype;

	if (!st_is_ordering_op(sortop, &opfamily, &opcintype, descending))
		return false;
	if (vx_is_number_type(type))
		return opcintype == type && opfamily < FirstNormalObjectId;
	switch (type)
	{
		case BYTEAOID:
		case UUIDOID:
			return opcintype == type && opfamily < FirstNormalObjectId;
		case TEXTOID:
		case VARCHAROID:
			return opfamily == TEXT_PATTERN_BTREE_FAM_OID ||
				(opfamily == TEXT_BTREE_FAM_OID &&
				 OidIsValid(exprCollation(key)) && st_collation_is_c(exprCollation(key)));
		default:
			return false;
	}
}

/* A value that is known when the scan starts. */
static bool
is_limit(Node *expr)
{
	return expr == NULL || IsA(expr, Const) || IsA(expr, Param);
}

static Node *
limit_or_null(Node *expr)
{
	return expr ? expr : (Node *) makeNullConst(INT8OID, -1, InvalidOid);
}

List *
vx_topn_limits(PlannerInfo *root)
{
	return list_make2(limit_or_null(root->parse->limitCount),
					  limit_or_null(root->parse->limitOffset));
}

/* The server's root->limit_tuples is for queries without groups alone. */
double
vx_topn_limit(PlannerInfo *root)
{
	double		sum = 0;
	ListCell   *lc;

	foreach(lc, vx_topn_limits(root))
	{
		Const	   *value = lfirst(lc);

		if (!IsA(value, Const))
			return -1;
		if (!value->constisnull)
			sum += DatumGetInt64(value->constvalue);
		else if (foreach_current_index(lc) == 0)
			return -1;
	}
	return Max(sum, 1);
}

/* Of the rows that pass the conditions, so many are wanted. */
static double
bound_rows(PlannerInfo *root, double rows)
{
	double		limit = vx_topn_limit(root);

	return Max(1, limit > 0 ? limit : rows * 0.1);
}

/*
 * Of rows in random order, as many come out as the bound is improved: those
 * in the first bound of them, and then less and less often.
 */
static double
rows_handed_out(PlannerInfo *root, double rows)
{
	double		bound = bound_rows(root, rows);

	if (bound >= rows)
		return rows;
	return clamp_row_est(bound * (1 + log(rows / bound)));
}

Node *
vx_topn_first_key(PlannerInfo *root, SortGroupClause **clause, bool *descending)
{
	Query	   *parse = root->parse;
	Node	   *key;

	if (!vx_enable_topn || parse->limitCount == NULL || parse->rowMarks != NIL ||
		parse->hasTargetSRFs || root->sort_pathkeys == NIL ||
		!is_limit(parse->limitCount) || !is_limit(parse->limitOffset))
		return NULL;
	*clause = linitial_node(SortGroupClause, parse->sortClause);
	key = get_sortgroupclause_expr(*clause, root->processed_tlist);
	if (contain_volatile_functions(key) || contain_subplans(key) ||
		!has_ranks(key, (*clause)->sortop, descending))
		return NULL;
	return key;
}

/*
 * Share of the vectors that are read: where the key follows the order of the
 * rows, those with the best keys come first, and when the limit is met the
 * zones of the others rule them out.
 */
static double
vectors_read(PlannerInfo *root, RelOptInfo *rel, Node *key)
{
	double		found = Max(rel->rows, 1);
	double		least;

	if (!IsA(key, Var) || !vx_enable_pruning || rel->tuples <= 0)
		return 1.0;
	/* of the rows that pass, the bound; and a vector more */
	least = bound_rows(root, found) / found + ST_VECTOR_SIZE / rel->tuples;
	least = Min(least, 1.0);
	return least + (1.0 - st_squared_correlation(root, (Var *) key)) * (1.0 - least);
}

/*
 * A scan that knows key and limit, or NULL; with workers, one for each of
 * them, which share what they know.
 */
static Path *
make_topn_scan(PlannerInfo *root, RelOptInfo *rel, Relation relation, PathTarget *target,
			   Node *key, bool descending, bool nulls_first, int workers)
{
	CustomPath *scan = vx_make_vector_scan_path(root, rel, relation, target, workers);
	Cost		groups;
	double		rows;

	if (scan == NULL)
		return NULL;
	/* row groups are all looked into, to find their order */
	groups = Min(vx_group_cost(rel, relation, 1),
				 scan->path.total_cost - scan->path.startup_cost);
	scan->path.total_cost -= (scan->path.total_cost - scan->path.startup_cost - groups) *
		(1.0 - vectors_read(root, rel, key));
	scan->custom_private = list_make2(lcons(key, vx_topn_limits(root)),
									  list_make2_int(descending, nulls_first));
	rows = rows_handed_out(root, scan->path.rows);
	scan->path.total_cost -= (scan->path.rows - rows) *
		Min(cpu_tuple_cost * 0.1, (scan->path.total_cost - scan->path.startup_cost) * 0.5 /
			Max(scan->path.rows, 1));
	scan->path.rows = rows;
	return &scan->path;
}

void
vx_topn_add_sorted_path(PlannerInfo *root, RelOptInfo *ordered_rel, Path *path)
{
	PathTarget *target = root->upper_targets[UPPERREL_ORDERED];

	path = (Path *) create_sort_path(root, ordered_rel, path, root->sort_pathkeys,
									 vx_topn_limit(root));
	if (path->pathtarget != target)
		path = apply_projection_to_path(root, ordered_rel, path, target);
	add_path(ordered_rel, path);
}

/*
 * Each participant sorts what its share of the scan hands out.  The server
 * offers the same over its own partial paths, which know no limit.
 */
static void
add_parallel_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel,
				  Relation relation, Node *key, bool descending, bool nulls_first)
{
	PathTarget *target = root->upper_targets[UPPERREL_ORDERED];
	Query	   *parse = root->parse;
	Path	   *path;
	double		rows;
	int			workers;

	if (!ordered_rel->consider_parallel || input_rel->partial_pathlist == NIL ||
		!is_parallel_safe(root, key) || !is_parallel_safe(root, parse->limitCount) ||
		!is_parallel_safe(root, parse->limitOffset))
		return;
	workers = ((Path *) linitial(input_rel->partial_pathlist))->parallel_workers;
	if (workers == 0)
		return;
	path = make_topn_scan(root, input_rel, relation, input_rel->reltarget, key, descending,
						  nulls_first, workers);
	if (path == NULL || !path->parallel_safe)
		return;
	rows = path->rows * workers;
	path = (Path *) create_sort_path(root, ordered_rel, path, root->sort_pathkeys,
									 vx_topn_limit(root));
	path = (Path *) create_gather_merge_path(root, ordered_rel, path, path->pathtarget,
											 root->sort_pathkeys, NULL, &rows);
	if (path->pathtarget != target)
		path = apply_projection_to_path(root, ordered_rel, path, target);
	add_path(ordered_rel, path);
}

void
vx_topn_add_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel,
				 Relation relation)
{
	SortGroupClause *clause;
	bool		descending;
	Node	   *key = vx_topn_first_key(root, &clause, &descending);
	Path	   *scan;

	if (key == NULL || !contain_var_clause(key))
		return;
	scan = make_topn_scan(root, input_rel, relation, input_rel->reltarget, key, descending,
						  clause->nulls_first, 0);
	if (scan == NULL)
		return;
	vx_topn_add_sorted_path(root, ordered_rel, scan);
	add_parallel_path(root, input_rel, ordered_rel, relation, key, descending,
					  clause->nulls_first);
}

/* The child's first rows, or if it is none of ours, all of its rows. */
static Path *
child_path(PlannerInfo *root, RelOptInfo *child, PathTarget *parent_target, Node *key,
		   SortGroupClause *clause)
{
	PathTarget *target = copy_pathtarget(parent_target);
	Path	   *path = NULL;
	bool		descending;

	target->exprs = st_translate_to_child(root, target->exprs, child);
	key = linitial(st_translate_to_child(root, list_make1(key), child));
	if (planner_rt_fetch(child->relid, root)->rtekind == RTE_RELATION &&
		vx_has_table(root, child) && vx_is_computable(key, child->relid) &&
		contain_var_clause(key) && has_ranks(key, clause->sortop, &descending))
	{
		Relation	relation = table_open(planner_rt_fetch(child->relid, root)->relid,
										  NoLock);

		path = make_topn_scan(root, child, relation, target, key, descending,
							  clause->nulls_first, 0);
		table_close(relation, NoLock);
	}
	if (path == NULL && child->cheapest_total_path->param_info == NULL)
		path = (Path *) create_projection_path(root, child, child->cheapest_total_path,
											   target);
	return path;
}

void
vx_topn_add_append_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel)
{
	SortGroupClause *clause;
	bool		descending;
	Node	   *key = vx_topn_first_key(root, &clause, &descending);
	List	   *children = NIL;
	List	   *subpaths = NIL;
	ListCell   *lc;

	if (key == NULL || !contain_var_clause(key) ||
		!vx_collect_children(root, input_rel, &children) || children == NIL)
		return;
	foreach(lc, children)
	{
		Path	   *path = child_path(root, lfirst(lc), input_rel->reltarget, key, clause);

		if (path == NULL)
			return;
		subpaths = lappend(subpaths, path);
	}
	vx_topn_add_sorted_path(root, ordered_rel, (Path *)
					st_create_append_path(root, input_rel, subpaths, NIL, 0));
}
