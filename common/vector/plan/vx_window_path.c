/*-------------------------------------------------------------------------
 *
 * vx_window_path.c
 *	  Offers the planner windows over vectors.
 *
 * For vx_upper_paths.c.  The server has made its paths: for each window a
 * WindowAgg, above a Sort where the order below is another one.  The best of
 * them is taken as a pattern and made anew from below: windows that one sort
 * serves, and whose functions we know, become one node over vectors, which
 * sorts, too; a window that is not for us stays a WindowAgg, above a Sort of the
 * server's if it needs one.  The server's path up to there is the node's second child, which
 * runs in its place when there is no room in memory.
 *
 * Not offered: with volatile functions in the query, because what is below
 * may be read a second time then; where rows may be locked; where rows will
 * probably not fit into work_mem.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/selfuncs.h"

#include "vx_fallback.h"
#include "vx_format.h"
#include "vx_paths.h"
#include "vx_settings.h"
#include "vx_window_path_int.h"
#include "vx_window_spec.h"
#include "st_compat.h"

/* Share of cpu_operator_cost for a row and key that are sorted, */
#define VX_SORT_COST	1.0

/* for a row and function, and for a row and column that is kept. */
#define VX_FUNCTION_COST	0.5
#define VX_KEEP_COST	0.3

/* Share of cpu_tuple_cost for a row that is made. */
#define VX_MADE_COST	0.2

/* Bytes of a row beside its columns: items that are sorted, and the order. */
#define ROW_BYTES		40
#define KEY_BYTES		16

/* Wider rows take longer to write and to read than to sort, and the server writes as fast. */
#define WIDE_ROW		160

/* Rows of a partition that are looked for before the sort, at most. */
#define MAX_FIRST		64

static Plan *plan_window(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
						 List *tlist, List *clauses, List *custom_plans);

static CustomPathMethods path_methods = {
	.PlanCustomPath = plan_window,
};

/* custom_private of a path. */
typedef enum PathField
{
	PATH_KEYS,					/* expressions */
	PATH_OPERATORS,				/* of keys: lists of VxWindowKey, without the input */
	PATH_CLAUSES,				/* lists of VxWindowClause */
	PATH_FUNCTIONS,				/* WindowFuncs */
	PATH_KINDS,					/* of them: lists of VxWindowFunc, without inputs */
	PATH_QUAL,
	PATH_ROWS					/* first, distinct */
} PathField;

/* ---- the plan node ---- */

static int
add_input(List **inputs, Node *expr)
{
	ListCell   *lc;

	foreach(lc, *inputs)
		if (equal(lfirst(lc), expr))
			return foreach_current_index(lc);
	*inputs = lappend(*inputs, expr);
	return list_length(*inputs) - 1;
}

/* The second column of values that a function takes: a default, or its filter. */
static Node *
other_input(const WindowFunc *func, VxWindowKind kind)
{
	if (kind == VX_WINDOW_SHIFT)
		return list_length(func->args) > 2 ? lthird(func->args) : NULL;
	return (Node *) func->aggfilter;
}

static List *
plan_function(const WindowFunc *func, const List *kind, List **inputs)
{
	VxWindowKind which = (VxWindowKind) linitial_int(kind);
	Node	   *other = other_input(func, which);
	int			arg = -1;

	if (func->args != NIL && which != VX_WINDOW_NTILE)
		arg = add_input(inputs, vx_window_input(func));
	return list_make5_int(which, lsecond_int(kind), arg,
						  other ? add_input(inputs, other) : -1, lthird_int(kind));
}

static Plan *
plan_window(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	List	   *private = best_path->custom_private;
	Plan	   *below = linitial(custom_plans);
	List	   *columns = NIL;
	List	   *inputs = NIL;
	List	   *keys = NIL;
	List	   *functions = NIL;
	ListCell   *lc1;
	ListCell   *lc2;

	forboth(lc1, list_nth(private, PATH_KEYS), lc2, list_nth(private, PATH_OPERATORS))
		keys = lappend(keys, lcons_oid(add_input(&inputs, lfirst(lc1)),
									   list_copy(lfirst(lc2))));
	forboth(lc1, list_nth(private, PATH_FUNCTIONS), lc2, list_nth(private, PATH_KINDS))
		functions = lappend(functions, plan_function(lfirst(lc1), lfirst(lc2), &inputs));
	foreach(lc1, below->targetlist)
		columns = lappend(columns, lfirst_node(TargetEntry, lc1)->expr);
	columns = list_concat(columns, list_nth(private, PATH_FUNCTIONS));
	foreach(lc1, columns)
		cscan->custom_scan_tlist = lappend(cscan->custom_scan_tlist,
										   makeTargetEntry(copyObject(lfirst(lc1)),
														   foreach_current_index(lc1) + 1,
														   NULL, false));
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = list_nth(private, PATH_QUAL);
	cscan->custom_exprs = inputs;
	cscan->custom_plans = custom_plans;
	cscan->custom_private =
		list_make4(list_make4_int(list_length(below->targetlist), list_length(inputs),
								  linitial_int(list_nth(private, PATH_ROWS)),
								  lsecond_int(list_nth(private, PATH_ROWS))),
				   keys, list_nth(private, PATH_CLAUSES), functions);
	cscan->flags = best_path->flags;
	cscan->methods = GetCustomScanMethods(vx_format->window_name, false);
	return &cscan->scan.plan;
}

/* ---- what can be served ---- */

static List *
functions_of(const WindowAggPath *path)
{
	List	   *result = NIL;
	List	   *vars = pull_var_clause((Node *) list_concat_copy(path->path.pathtarget->exprs,
																 path->qual),
									   PVC_INCLUDE_WINDOWFUNCS | PVC_INCLUDE_AGGREGATES |
									   PVC_INCLUDE_PLACEHOLDERS);
	ListCell   *lc;

	foreach(lc, vars)
	{
		WindowFunc *func = lfirst(lc);

		if (IsA(func, WindowFunc) && func->winref == path->winclause->winref)
			result = list_append_unique(result, func);
	}
	foreach(lc, st_window_run_condition(path))
	{
		List	   *found = pull_var_clause(lfirst(lc), PVC_INCLUDE_WINDOWFUNCS |
											PVC_INCLUDE_AGGREGATES |
											PVC_INCLUDE_PLACEHOLDERS);
		ListCell   *lc2;

		foreach(lc2, found)
			if (IsA(lfirst(lc2), WindowFunc))
				result = list_append_unique(result, lfirst(lc2));
	}
	return result;
}

/* A window's keys: those of its partitions, then of its order, each once. */
static List *
keys_of(const WindowClause *clause, int *npartition)
{
	List	   *keys = NIL;
	ListCell   *lc;

	*npartition = list_length(clause->partitionClause);
	foreach(lc, list_concat_copy(clause->partitionClause, clause->orderClause))
	{
		SortGroupClause *key = lfirst_node(SortGroupClause, lc);
		ListCell   *lc2;
		bool		known = false;

		foreach(lc2, keys)
			known |= lfirst_node(SortGroupClause, lc2)->tleSortGroupRef ==
				key->tleSortGroupRef;
		if (!known)
			keys = lappend(keys, key);
	}
	return keys;
}

List *
vx_sort_longer_keys(List *a, List *b)
{
	ListCell   *lc1;
	ListCell   *lc2;

	forboth(lc1, a, lc2, b)
	{
		SortGroupClause *left = lfirst_node(SortGroupClause, lc1);
		SortGroupClause *right = lfirst_node(SortGroupClause, lc2);

		if (left->tleSortGroupRef != right->tleSortGroupRef ||
			left->sortop != right->sortop || left->nulls_first != right->nulls_first)
			return NULL;
	}
	return list_length(a) >= list_length(b) ? a : b;
}

/* Adds a window's functions; false: one of them is not for us. */
static bool
add_functions(PlannerInfo *root, VxSortQuery *stack, const WindowAggPath *path)
{
	ListCell   *lc;
	int			window = list_length(stack->clauses);

	foreach(lc, functions_of(path))
	{
		WindowFunc *func = lfirst_node(WindowFunc, lc);
		ListCell   *arg;
		VxWindowKind kind;
		int			number;

		bool		known = vx_window_resolve(func, path->winclause, &kind, &number);

		foreach(arg, func->args)
			known &= vx_is_computable(lfirst(arg), 0);
		if (!known || !vx_window_may_compute_all(func, path) ||
			(func->aggfilter &&
			 (!vx_is_computable((Node *) func->aggfilter, 0) ||
			  (func->args != NIL && !vx_is_computable(vx_window_input(func), 0)))))
		{
			vx_fallback(root, root->all_baserels,
						psprintf("window function %s with such arguments",
								 format_procedure(func->winfnoid)));
			return false;
		}
		stack->functions = lappend(stack->functions, func);
		stack->kinds = lappend(stack->kinds, list_make3_int(kind, window, number));
	}
	return true;
}

bool
vx_sort_set_keys(PlannerInfo *root, VxSortQuery *query, List *keys)
{
	ListCell   *lc;

	query->keys = keys;
	query->key_exprs = NIL;
	if (list_length(keys) > VX_SORT_MAX_KEYS)
		return false;
	foreach(lc, keys)
	{
		SortGroupClause *key = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(key, root->processed_tlist);

		if (!OidIsValid(key->sortop) || !vx_is_computable(expr, 0))
			return false;
		query->key_exprs = lappend(query->key_exprs, expr);
	}
	return true;
}

/*
 * Adds a window to those of one sort.  False, with nothing changed that
 * matters: it is to be left to the server, or needs another sort.
 */
static bool
push_window(PlannerInfo *root, VxSortQuery *stack, const WindowAggPath *path)
{
	WindowClause *clause = path->winclause;
	VxSortQuery next = *stack;
	int			npartition;
	int			start;
	int			end;
	List	   *keys = keys_of(clause, &npartition);

	next.functions = list_copy(stack->functions);
	next.kinds = list_copy(stack->kinds);
	next.keys = stack->clauses == NIL ? keys : vx_sort_longer_keys(keys, stack->keys);
	if ((next.keys == NIL && keys != NIL) || (stack->clauses != NIL && list_length(next.keys) > list_length(stack->keys)) ||
		!add_functions(root, &next, path))
		return false;
	if (!vx_window_frame_is_supported(clause, &start, &end))
	{
		vx_fallback(root, root->all_baserels, "window with such a frame");
		return false;
	}
	if (!vx_sort_set_keys(root, &next, next.keys))
		return false;
	next.clauses = lappend(list_copy(stack->clauses),
						   list_make5_int(npartition, list_length(keys), clause->frameOptions,
										  start, end));
	if (path->topwindow)
		next.qual = list_concat_copy(path->qual, st_window_run_condition(path));
	next.server = unconstify(Path *, &path->path);
	next.pathkeys = path->path.pathkeys;
	*stack = next;
	return true;
}

/* ---- the first rows of each partition ---- */

/* The clause lets so many values of the function in front through; 0: who knows. */
static int64
limit_of(const OpExpr *clause, const WindowFunc **func)
{
	const Const *value;
	int64		limit;

	if (!IsA(clause, OpExpr) || list_length(clause->args) != 2 ||
		!IsA(linitial(clause->args), WindowFunc) || !IsA(lsecond(clause->args), Const))
		return 0;
	*func = linitial(clause->args);
	value = lsecond(clause->args);
	if (value->constisnull)
		return 0;
	if (value->consttype == INT8OID)
		limit = DatumGetInt64(value->constvalue);
	else if (value->consttype == INT4OID)
		limit = DatumGetInt32(value->constvalue);
	else
		return 0;
	switch (get_op_opfamily_strategy(clause->opno, INTEGER_BTREE_FAM_OID))
	{
		case BTLessStrategyNumber:
			return limit - 1;
		case BTLessEqualStrategyNumber:
		case BTEqualStrategyNumber:
			return limit;
		default:
			return 0;
	}
}

/* All functions of the window depend on rows in front alone, and one is limited. */
static int
first_rows(const VxSortQuery *stack)
{
	int64		best = 0;
	ListCell   *lc;

	if (list_length(stack->clauses) != 1)
		return 0;
	foreach(lc, stack->qual)
	{
		const WindowFunc *func;
		int64		limit = limit_of(lfirst(lc), &func);
		int			at = 0;

		if (limit < 1 || limit > MAX_FIRST)
			continue;
		while (at < list_length(stack->functions) &&
			   !equal(list_nth(stack->functions, at), func))
			at++;
		if (at < list_length(stack->functions) && (best == 0 || limit < best))
			best = limit;
	}
	foreach(lc, stack->kinds)
	{
		VxWindowKind kind = (VxWindowKind) linitial_int(lfirst(lc));

		if (kind != VX_WINDOW_ROW_NUMBER && kind != VX_WINDOW_RANK &&
			!(kind == VX_WINDOW_DENSE_RANK && best == 1))
			return 0;
	}
	return (int) best;
}

/* ---- paths ---- */

/* Columns that the node takes of a scan. */
static PathTarget *
scan_target(PlannerInfo *root, const VxSortQuery *stack)
{
	PathTarget *target = create_empty_pathtarget();
	List	   *exprs = list_concat_copy(stack->server->pathtarget->exprs, stack->key_exprs);

	exprs = list_concat(exprs, stack->functions);
	add_new_columns_to_pathtarget(target,
								  pull_var_clause((Node *) exprs, PVC_RECURSE_WINDOWFUNCS |
												  PVC_RECURSE_AGGREGATES |
												  PVC_INCLUDE_PLACEHOLDERS));
	return set_pathtarget_cost_width(root, target);
}

/* The scan of a table of ours that hands out vectors, if that is cheaper. */
static Path *
vector_path(PlannerInfo *root, const VxSortQuery *stack, Path *below)
{
	RelOptInfo *rel = below->parent;
	RangeTblEntry *rte;
	Relation	relation;
	Path	   *path = NULL;

	if (!IS_SIMPLE_REL(rel))
		return below;
	rte = planner_rt_fetch(rel->relid, root);
	if (rte->rtekind != RTE_RELATION || rte->inh)
		return below;
	/* The planner holds a lock on it. */
	relation = table_open(rte->relid, NoLock);
	if (st_relation_format(relation) == vx_format->store)
		path = (Path *) vx_make_vector_scan_path(root, rel, relation,
												 scan_target(root, stack), 0);
	table_close(relation, NoLock);
	return path && path->total_cost <= below->total_cost ? path : below;
}

/* Rows that are kept. */
static double
kept_rows(PlannerInfo *root, const VxSortQuery *stack, double rows)
{
	int			npartition = stack->distinct;
	double		first;

	if (stack->first == 0)
		return rows;
	if (stack->clauses != NIL)
		npartition = list_nth_int(linitial(stack->clauses), VX_WINDOW_NPARTITION);
	first = stack->first;
	if (npartition > 0)
		first *= estimate_num_groups(root, list_copy_head(stack->key_exprs, npartition), rows,
									 NULL, NULL);
	return first >= rows ? rows : clamp_row_est(first * (1 + log(rows / first)));
}

static double
row_bytes(const VxSortQuery *stack, const PathTarget *target)
{
	double		bytes = ROW_BYTES + KEY_BYTES * list_length(stack->keys) +
		VX_WINDOW_RESULT_BYTES * list_length(stack->functions);
	ListCell   *lc;

	foreach(lc, target->exprs)
	{
		Oid			type = exprType(lfirst(lc));

		/* arrays grow by halves */
		bytes += 1.25 * sizeof(Datum);
		if (get_typlen(type) < 0 && type != NUMERICOID)
			bytes += get_typavgwidth(type, exprTypmod(lfirst(lc)));
	}
	return bytes;
}

/*
 * May few of a sort's rows be asked for?  So they may where the query around has a limit, or
 * this one a limit that is not known.
 */
static bool
may_end_early(PlannerInfo *root, const VxSortQuery *stack, double rows)
{
	double		wanted = root->tuple_fraction < 1 ? root->tuple_fraction * rows :
		root->tuple_fraction;

	return stack->clauses == NIL && stack->distinct == 0 &&
		((root->parse->limitCount && vx_topn_limit(root) <= 0) ||
		 (wanted > 0 && wanted < rows * VX_FEW_WANTED));
}

/* Of rows that have no room in memory: may they be sorted in parts of ranges of a key? */
static bool
fits_in_parts(PlannerInfo *root, const VxSortQuery *stack, double rows, double bytes, int width)
{
	double		memory = work_mem * 1024.0;
	double		nvalues;
	ListCell   *lc;

	if (stack->key_exprs == NIL || may_end_early(root, stack, rows) || bytes > memory * VX_MAX_PARTS / 4)
		return false;
	foreach(lc, stack->clauses)
		if (list_nth_int(lfirst(lc), VX_WINDOW_NPARTITION) == 0)
			return false;
	if (stack->clauses == NIL && stack->distinct == 0 && width > WIDE_ROW &&
		!vx_is_number_type(getBaseType(exprType(linitial(stack->key_exprs)))))
		return false;
	return bytes * vx_most_common_share(root, linitial(stack->key_exprs), 1.0, &nvalues) <
		memory / 2 && bytes / nvalues < memory / 2;
}

Path *
vx_sort_make_path(PlannerInfo *root, RelOptInfo *rel, VxSortQuery *stack, Path *below)
{
	Path	   *pattern = stack->server;
	CustomPath *cpath = makeNode(CustomPath);
	List	   *operators = NIL;
	double		kept;
	double		bytes;
	bool		on_disk;
	Cost		sort;
	ListCell   *lc;

	below = vector_path(root, stack, below);
	if (stack->clauses != NIL)
		stack->first = first_rows(stack);
	kept = kept_rows(root, stack, below->rows);
	bytes = kept * row_bytes(stack, below->pathtarget);
	on_disk = bytes > work_mem * 1024.0;
	if (on_disk && !fits_in_parts(root, stack, kept, bytes, below->pathtarget->width))
		return NULL;
	foreach(lc, stack->keys)
	{
		SortGroupClause *key = lfirst_node(SortGroupClause, lc);

		operators = lappend(operators, list_make2_oid(key->sortop, key->nulls_first));
	}
	cpath->path.pathtype = T_CustomScan;
	cpath->path.parent = rel;
	cpath->path.pathtarget = pattern->pathtarget;
	cpath->path.pathkeys = stack->pathkeys;
	cpath->path.rows = pattern->rows;
	/* as the server's Sort, and unlike its WindowAgg and Unique */
	if (stack->clauses == NIL && stack->distinct == 0)
		cpath->flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	cpath->methods = &path_methods;
	cpath->custom_paths = list_make2(below, pattern);
	cpath->custom_private = list_make5(stack->key_exprs, operators, stack->clauses,
									   stack->functions, stack->kinds);
	cpath->custom_private = lappend(cpath->custom_private, stack->qual);
	cpath->custom_private = lappend(cpath->custom_private, list_make2_int(stack->first, stack->distinct));

	sort = kept * cpu_operator_cost *
		(VX_SORT_COST * list_length(stack->keys) +
		 VX_FUNCTION_COST * list_length(stack->functions) +
		 VX_KEEP_COST * list_length(below->pathtarget->exprs));
	if (stack->first > 0)
		sort += below->rows * cpu_operator_cost * VX_SORT_COST;
	/* sorted once more, written and read */
	if (on_disk)
		sort += kept * cpu_operator_cost * VX_SORT_COST * list_length(stack->keys) +
			2 * seq_page_cost * bytes / BLCKSZ;
	cpath->path.startup_cost = below->total_cost + sort + pattern->pathtarget->cost.startup;
	cpath->path.total_cost = cpath->path.startup_cost +
		pattern->rows * (VX_MADE_COST * cpu_tuple_cost + pattern->pathtarget->cost.per_tuple);
	st_path_inherit_disabled(&cpath->path, below, NULL);
	return &cpath->path;
}

/* The server's window above another path. */
static Path *
server_window(PlannerInfo *root, RelOptInfo *rel, const WindowAggPath *pattern, Path *below)
{
	WindowAggPath *path = makeNode(WindowAggPath);
	Path	   *input = pattern->subpath;

	if (IsA(input, SortPath) || IsA(input, IncrementalSortPath))
	{
		below = (Path *) create_sort_path(root, rel, below, input->pathkeys, -1.0);
	}
	*path = *pattern;
	path->subpath = below;
	path->path.startup_cost += below->startup_cost - input->startup_cost;
	path->path.total_cost += below->total_cost - input->total_cost;
	return &path->path;
}

static bool
is_sorted_here(const WindowAggPath *path)
{
	return IsA(path->subpath, SortPath) || IsA(path->subpath, IncrementalSortPath);
}

/* What the lowest window of a path reads, below the sort. */
static Path *
path_below(const WindowAggPath *path)
{
	Path	   *below = path->subpath;

	if (IsA(below, IncrementalSortPath))
		return ((IncrementalSortPath *) below)->spath.subpath;
	return IsA(below, SortPath) ? ((SortPath *) below)->subpath : below;
}

/*
 * Windows of a path, the lowest first.  The topmost one is a copy: the
 * planner frees a path when it finds a better one.
 */
static List *
windows_of(Path *path)
{
	List	   *windows = NIL;
	WindowAggPath *top = makeNode(WindowAggPath);

	*top = *(WindowAggPath *) path;
	path = &top->path;
	while (IsA(path, WindowAggPath))
	{
		windows = lcons(path, windows);
		path = path_below((WindowAggPath *) path);
	}
	return windows;
}

/* The path made anew with nodes of ours; NULL: there would be none. */
static Path *
convert(PlannerInfo *root, RelOptInfo *rel, List *windows)
{
	Path	   *result = path_below(linitial(windows));
	bool		any = false;
	int			i = 0;

	while (i < list_length(windows))
	{
		const WindowAggPath *window = list_nth(windows, i);
		VxSortQuery stack = {0};
		Path	   *ours = NULL;

		/* in an order that is there already, the server has nothing to sort */
		if (is_sorted_here(window) || (i == 0 && window->path.pathkeys == NIL))
		{
			int			n = i;

			while (n < list_length(windows) &&
				   (n == i || !is_sorted_here(list_nth(windows, n))) &&
				   push_window(root, &stack, list_nth(windows, n)))
				n++;
			ours = n > i ? vx_sort_make_path(root, rel, &stack, result) : NULL;
			if (ours)
				i = n;
		}
		any |= ours != NULL;
		result = ours ? ours : server_window(root, rel, list_nth(windows, i++), result);
	}
	return any ? result : NULL;
}

/* Some table of ours is read, here or in a subquery that passes its rows on. */
static bool
reads_ours(PlannerInfo *root)
{
	for (int relid = 1; relid < root->simple_rel_array_size; relid++)
	{
		RelOptInfo *rel = root->simple_rel_array[relid];

		if (rel && rel->reloptkind == RELOPT_BASEREL && vx_has_table(root, rel))
			return true;
	}
	return false;
}

/* Some expression has a plan of its own, which two plans would share. */
static bool
has_subplans(PlannerInfo *root)
{
	if (contain_subplans((Node *) root->processed_tlist) ||
		contain_subplans(root->parse->havingQual))
		return true;
	for (int relid = 1; relid < root->simple_rel_array_size; relid++)
	{
		RelOptInfo *rel = root->simple_rel_array[relid];

		if (rel && (contain_subplans((Node *) extract_actual_clauses(rel->baserestrictinfo,
																	 false)) ||
					contain_subplans((Node *) extract_actual_clauses(rel->joininfo, false))))
			return true;
	}
	return false;
}

/*
 * The same paths may become plans twice.  Not so paths of grouping sets, and of min()
 * and max() by index, which the planner makes plans of once; and plans that
 * expressions, or a whole subquery, have beside.
 */
static bool
may_plan_twice(PlannerInfo *root)
{
	check_stack_depth();
	if (root->parse->groupingSets != NIL ||
		(root->parse->hasAggs && root->parse->groupClause == NIL) || has_subplans(root))
		return false;
	for (int relid = 1; relid < root->simple_rel_array_size; relid++)
	{
		RelOptInfo *rel = root->simple_rel_array[relid];

		if (rel && rel->subroot &&
			(rel->subroot->init_plans != NIL || !may_plan_twice(rel->subroot)))
			return false;
	}
	return true;
}

bool
vx_sort_is_offered(PlannerInfo *root)
{
	return vx_enable_vector_sort && enable_sort && root->parse->rowMarks == NIL &&
		!root->parse->hasTargetSRFs && !root->parse->hasModifyingCTE &&
		root->parse->setOperations == NULL && reads_ours(root) && !contain_volatile_functions((Node *) root->parse) &&
		may_plan_twice(root);
}

void
vx_window_add_paths(PlannerInfo *root, RelOptInfo *window_rel)
{
	Path	   *best = NULL;
	Path	   *path;
	ListCell   *lc;

	if (!vx_sort_is_offered(root))
		return;
	foreach(lc, window_rel->pathlist)
	{
		path = lfirst(lc);
		if (IsA(path, WindowAggPath) && path->param_info == NULL &&
			(best == NULL || path->total_cost < best->total_cost))
			best = path;
	}
	if (best == NULL)
		return;
	path = convert(root, window_rel, windows_of(best));
	if (path)
		add_path(window_rel, path);
}

void
vx_window_path_init(void)
{
	path_methods.CustomName = vx_format->window_name;
}
