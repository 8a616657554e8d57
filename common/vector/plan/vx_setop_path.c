/*-------------------------------------------------------------------------
 *
 * vx_setop_path.c
 *	  Offers the planner UNION, INTERSECT and EXCEPT over vectors.
 *
 * For vx_upper_paths.c.  The arms, whatever plans they are, become children of one
 * node of aggregation, which groups their rows by all columns; of INTERSECT and
 * EXCEPT it counts rows by arm (vx_agg_setop.c).  UNION ALL is the server's Append.
 *
 * The server calls the hook for a relation that has paths already, and no
 * input.  Which operation that is follows from the arms that it stands for.
 * Its columns are Vars of relation 0, which nobody but the server's own nodes
 * can name.  So our node has columns of the first arm in their place, and an Append
 * of it alone stands between: setrefs.c has the nodes above refer to the Append,
 * and then takes it away, as it does any Append with one child.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "vx_agg_path_int.h"
#include "vx_paths.h"
#include "vx_settings.h"
#include "st_compat.h"

/* A null is a bit of a word for each column. */
#define MAX_COLUMNS	63

/* The leaves of a tree of operations, by range table index. */
static Relids
leaves(Node *node, Relids found)
{
	SetOperationStmt *op = (SetOperationStmt *) node;

	check_stack_depth();
	if (IsA(node, RangeTblRef))
		return bms_add_member(found, ((RangeTblRef *) node)->rtindex);
	return leaves(op->rarg, leaves(op->larg, found));
}

/* The parser numbers leaves from left to right. */
static int
first_leaf(Node *node)
{
	while (IsA(node, SetOperationStmt))
		node = ((SetOperationStmt *) node)->larg;
	return castNode(RangeTblRef, node)->rtindex;
}

static int
last_leaf(Node *node)
{
	while (IsA(node, SetOperationStmt))
		node = ((SetOperationStmt *) node)->rarg;
	return castNode(RangeTblRef, node)->rtindex;
}

/* The operation whose result the relation is, or NULL. */
static SetOperationStmt *
operation_of(Node *node, Relids relids)
{
	int			first = bms_next_member(relids, -1);
	int			last = bms_prev_member(relids, -1);

	while (IsA(node, SetOperationStmt))
	{
		SetOperationStmt *op = (SetOperationStmt *) node;

		if (last <= last_leaf(op->larg))
			node = op->larg;
		else if (first >= first_leaf(op->rarg))
			node = op->rarg;
		else
			return bms_equal(leaves(node, NULL), relids) ? op : NULL;
	}
	return NULL;
}

/* As the server does in plan_union_children(): arms of arms that are UNIONs, too. */
static bool
is_same_union(const SetOperationStmt *top, const SetOperationStmt *op)
{
	return top->op == SETOP_UNION && op->op == SETOP_UNION &&
		equal(op->colTypes, top->colTypes) && equal(op->colCollations, top->colCollations);
}

static List *
collect_arms(PlannerInfo *root, const SetOperationStmt *top, Node *node, List *arms)
{
	SetOperationStmt *op = (SetOperationStmt *) node;

	if (IsA(node, RangeTblRef))
		return lappend(arms, root->simple_rel_array[((RangeTblRef *) node)->rtindex]);
	if (op != top && !is_same_union(top, op))
		return lappend(arms, fetch_upper_rel(root, UPPERREL_SETOP, leaves(node, NULL)));
	arms = collect_arms(root, top, op->larg, arms);
	return collect_arms(root, top, op->rarg, arms);
}

/* As the server estimates it, for a leaf. */
static double
count_groups(const RelOptInfo *arm)
{
	PlannerInfo *root = arm->subroot;
	double		rows = arm->cheapest_total_path->rows;
	Query	   *query;

	if (root == NULL)
		return rows;
	query = root->parse;
	if (query->groupClause || query->groupingSets || query->distinctClause ||
		root->hasHavingQual || query->hasAggs)
		return rows;
	return estimate_num_groups(root, get_tlist_exprs(query->targetList, false), rows,
							   NULL, NULL);
}

static bool
has_table_of_ours(PlannerInfo *root, Relids relids)
{
	int			relid = -1;

	while ((relid = bms_next_member(relids, relid)) >= 0)
		if (vx_query_has_table(root->simple_rel_array[relid]->subroot))
			return true;
	return false;
}

/* Columns as those of a leaf, which has as many, of the operation's types. */
static List *
columns_of_leaf(const SetOperationStmt *op, Index leaf)
{
	List	   *columns = NIL;
	ListCell   *lc1;
	ListCell   *lc2;

	forboth(lc1, op->colTypes, lc2, op->colCollations)
		columns = lappend(columns, makeVar(leaf, foreach_current_index(lc1) + 1,
										   lfirst_oid(lc1), -1, lfirst_oid(lc2), 0));
	return columns;
}

static bool
is_supported(const SetOperationStmt *op, List *columns, VxAggQuery *query)
{
	ListCell   *lc;

	if (op->groupClauses == NIL || list_length(op->groupClauses) > MAX_COLUMNS ||
		vx_has_records((Node *) columns))
		return false;
	foreach(lc, op->groupClauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Oid			left;
		Oid			right;

		if (!clause->hashable || !get_op_hash_functions(clause->eqop, &left, &right))
			return false;
		query->eqops = lappend_oid(query->eqops, clause->eqop);
	}
	query->keys = columns;
	return true;
}

/*
 * What the node puts out.  Up to 17 the relation has one more column, the number
 * of the arm, which no node above looks at.
 */
static PathTarget *
make_target(RelOptInfo *rel, List *columns)
{
	PathTarget *target = create_empty_pathtarget();
	ListCell   *lc;

	foreach(lc, columns)
		add_column_to_pathtarget(target, lfirst(lc), 0);
	for_each_from(lc, rel->reltarget->exprs, list_length(columns))
	{
		Node	   *expr = lfirst(lc);

		add_column_to_pathtarget(target, (Expr *)
								 makeConst(exprType(expr), -1, exprCollation(expr),
										   get_typlen(exprType(expr)), (Datum) 0, false,
										   get_typbyval(exprType(expr))), 0);
	}
	target->width = rel->reltarget->width;
	return target;
}

/*
 * As an aggregation of what all arms return.  But for rows that come out the server
 * reckons nothing in a set operation, and they cost here what they cost there.
 */
static void
cost_path(PlannerInfo *root, CustomPath *path, const VxAggQuery *query, double ngroups,
		  double nresults)
{
	List	   *arms = path->custom_paths;
	Path		all = {.type = T_Path};
	ListCell   *lc;

	foreach(lc, arms)
	{
		all.rows += ((Path *) lfirst(lc))->rows;
		all.total_cost += ((Path *) lfirst(lc))->total_cost;
		st_path_inherit_disabled(&all, lfirst(lc), &all);
	}
	path->custom_paths = list_make1(&all);
	vx_agg_cost_path(root, path, query, all.rows, ngroups);
	path->custom_paths = arms;
	path->path.startup_cost += VX_AGG_FEED_COST * cpu_tuple_cost *
		list_length(query->keys) * all.rows;
	path->path.total_cost = path->path.startup_cost;
	path->path.rows = nresults;
}

/*
 * The server's path may be that of one arm (19, if the other has no rows): what a
 * projection of ours should have is not known then.
 */
static bool
has_own_columns(const PathTarget *target)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) target->exprs, 0))
		if (lfirst_node(Var, lc)->varno != 0)
			return false;
	return true;
}

static void
add_path_of(PlannerInfo *root, RelOptInfo *rel, const SetOperationStmt *op, List *arms,
			VxAggQuery *query)
{
	PathTarget *server = ((Path *) linitial(rel->pathlist))->pathtarget;
	RelOptInfo *first = linitial(arms);
	RelOptInfo *second = lsecond(arms);
	double		ngroups = 0;
	double		nresults;
	CustomPath *cpath;
	Path	   *path;
	ListCell   *lc;

	/* as the server does: INTERSECT has the smaller table */
	if (op->op == SETOP_INTERSECT && count_groups(first) > count_groups(second))
	{
		arms = list_make2(second, first);
		first = second;
	}
	foreach(lc, arms)
		if (op->op == SETOP_UNION || foreach_current_index(lc) == 0)
			ngroups += count_groups(lfirst(lc));
	nresults = ngroups;
	if (op->all)
		nresults = first->cheapest_total_path->rows;
	if (op->all && op->op == SETOP_INTERSECT)
		nresults = Min(nresults, second->cheapest_total_path->rows);
	query->setop = op->op == SETOP_UNION ? VX_AGG_UNION :
		VX_AGG_SETOP + (op->op == SETOP_INTERSECT ?
						(op->all ? SETOPCMD_INTERSECT_ALL : SETOPCMD_INTERSECT) :
						(op->all ? SETOPCMD_EXCEPT_ALL : SETOPCMD_EXCEPT));
	query->target = make_target(rel, query->keys);

	cpath = vx_agg_make_path(rel, query->target, query, VX_AGG_PLAIN, NIL, NULL);
	cpath->custom_paths = NIL;
	cpath->path.parallel_safe = rel->consider_parallel;
	foreach(lc, arms)
	{
		Path	   *arm = ((RelOptInfo *) lfirst(lc))->cheapest_total_path;

		cpath->custom_paths = lappend(cpath->custom_paths, arm);
		cpath->path.parallel_safe &= arm->parallel_safe;
	}
	cost_path(root, cpath, query, ngroups, nresults);
	path = (Path *) st_create_append_path(root, rel, list_make1(cpath), NIL, 0);
	/* the server has put a projection above its paths: types, number of the arm */
	if (!equal(server->exprs, rel->reltarget->exprs))
		path = (Path *) create_projection_path(root, rel, path, server);
	add_path(rel, path);
}

void
vx_setop_add_paths(PlannerInfo *root, RelOptInfo *rel)
{
	VxAggQuery	query = {0};
	SetOperationStmt *op;
	List	   *columns;

	if (!vx_enable_vector_aggregate || root->hasRecursion || rel->pathlist == NIL ||
		rel->reloptkind != RELOPT_UPPER_REL || IS_DUMMY_REL(rel) ||
		!has_table_of_ours(root, rel->relids))
		return;
	op = operation_of(root->parse->setOperations, rel->relids);
	if (op == NULL || (op->op == SETOP_UNION && op->all))
		return;
	columns = columns_of_leaf(op, bms_next_member(rel->relids, -1));
	if (has_own_columns(((Path *) linitial(rel->pathlist))->pathtarget) &&
		is_supported(op, columns, &query))
		add_path_of(root, rel, op, collect_arms(root, op, (Node *) op, NIL), &query);
}
