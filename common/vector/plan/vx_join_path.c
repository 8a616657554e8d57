/*-------------------------------------------------------------------------
 *
 * vx_join_path.c
 *	  Offers the planner hash joins whose probe side hands out vectors.
 *
 * For set_join_pathlist_hook, which is called for either order of two
 * relations.  The probe side is a table of ours, the best such join of its
 * relations, or an Append of what hands out vectors (vx_append_path.c); of full joins
 * it may be any plan.  The build side is any plan, and best hands out vectors, too.  At
 * least one equality must be hashable; what else the join says are conditions
 * on its rows.
 *
 * Of SEMI and ANTI joins the hook knows one order: the side whose rows come
 * out is the probe side.  Where that is the smaller one the join is better
 * turned: its rows go into the table, and those that the other side meets are
 * marked.
 *
 * In a parallel plan the probe side is partial: the participants' scan, or
 * such a join of theirs.  Each participant has a table of the whole build side.  It
 * runs the build side's plan by itself; or the plan is partial, too, and its rows
 * go through shared memory to all.  Costs say which.  Not so right, full and turned
 * joins: every participant would return the build side's rows without a match.
 *
 * Columns in expressions above an outer join are marked as such (from 16
 * on).  The node's scan tuple has its columns as they are above it, and its
 * own conditions are changed to that; nobody evaluates the mark.
 *
 * Not offered: with volatile functions, and with functions that may tell what they
 * see where rows above may be left unasked for; where rows may be locked or changed, so that EvalPlanQual would
 * ask for single rows; with LATERAL references; where the probe side is to
 * give whole rows, system columns or values that are no columns; for columns of
 * type record.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "vx_agg_path_int.h"
#include "vx_fallback.h"
#include "vx_format.h"
#include "vx_join_spec.h"
#include "vx_paths.h"
#include "vx_rel_notes.h"
#include "vx_settings.h"
#include "st_compat.h"

/* Share of cpu_operator_cost for a key that is hashed and looked for. */
#define VX_PROBE_COST	0.3

/* Share of cpu_tuple_cost for a row of the build side that comes as vectors. */
#define VX_BUILD_ROW_COST	0.3

/*
 * Share of the build side's cost for each participant more that runs it, too:
 * tables made at the same time share caches, and processors that others want.
 */
#define VX_BUILD_AGAIN_COST	0.25

/*
 * What it costs to divide the build side: to meet; and, as shares of what putting a row
 * into the table costs, for a row and for a column of it that is given to the others,
 * and as much for one that is taken.
 */
#define VX_MEETING_COST			10.0
#define VX_SHARED_ROW_COST		0.8
#define VX_SHARED_COLUMN_COST	0.25

/* Share of a condition's cost when it runs on vectors. */
#define VX_QUAL_COST	0.5

/* Share of cpu_tuple_cost for a row that comes out as vectors, and by column. */
#define VX_ROW_COST		0.05
#define VX_COLUMN_COST	0.02

/* The same where rows are made. */
#define VX_MADE_ROW_COST	0.15
#define VX_MADE_COLUMN_COST	0.07

static Plan *plan_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
					   List *tlist, List *clauses, List *custom_plans);

static CustomPathMethods path_methods = {
	.PlanCustomPath = plan_join,
};

/* custom_private of a path. */
typedef enum PathField
{
	PATH_KEYS,					/* OpExprs, the probe side on the left */
	PATH_KINDS,					/* of them: VxKeyKind */
	PATH_CONDITIONS,			/* of the join, beside */
	PATH_FILTERS,				/* on its result */
	PATH_TYPE,					/* list of the JoinType, is it turned, is the build shared, and
								 * does its cost have that of rows? */
	PATH_ABOVE					/* columns that are needed above */
} PathField;

/* What the hook is asked about. */
typedef struct JoinQuery
{
	RelOptInfo *joinrel;
	RelOptInfo *outer;			/* the probe side */
	RelOptInfo *inner;
	JoinType	type;
	bool		turned;			/* SEMI, ANTI: the build side's rows come out */
	List	   *keys;
	List	   *kinds;
	List	   *conditions;
	List	   *filters;
	List	   *rinfos;			/* of the keys */
} JoinQuery;

/* How its build side is read. */
typedef struct BuildSide
{
	Path	   *path;
	Cost		cost;			/* until its rows are in the table, but for the keys */
	Cost		row_cost;		/* of this, to put one there */
	bool		shared;			/* participants divide its rows */
} BuildSide;

/* ---- the plan node ---- */

/* The same column or placeholder, marked or not by outer joins. */
static bool
is_same_column(Node *a, Node *b)
{
	if (nodeTag(a) != nodeTag(b))
		return false;
	if (IsA(a, Var))
		return ((Var *) a)->varno == ((Var *) b)->varno &&
			((Var *) a)->varattno == ((Var *) b)->varattno;
	if (IsA(a, PlaceHolderVar))
		return ((PlaceHolderVar *) a)->phid == ((PlaceHolderVar *) b)->phid;
	return equal(a, b);
}

static Node *
find_column(List *exprs, Node *column)
{
	ListCell   *lc;

	foreach(lc, exprs)
		if (is_same_column(lfirst(lc), column))
			return lfirst(lc);
	return NULL;
}

/* A child's columns, as they are above the join where that needs them. */
static List *
add_columns(List *columns, Plan *child, List *above)
{
	ListCell   *lc;

	foreach(lc, child->targetlist)
	{
		Node	   *expr = (Node *) lfirst_node(TargetEntry, lc)->expr;
		Node	   *known = find_column(above, expr);

		columns = lappend(columns, copyObject(known ? known : expr));
	}
	return columns;
}

/* Columns of the expression become those of the list. */
static Node *
use_columns(Node *node, void *columns)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) || IsA(node, PlaceHolderVar))
	{
		Node	   *known = find_column(columns, node);

		if (known)
			return copyObject(known);
	}
	return expression_tree_mutator(node, use_columns, columns);
}

static Plan *
plan_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
		  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	List	   *private = best_path->custom_private;
	Plan	   *outer = linitial(custom_plans);
	Plan	   *inner = lsecond(custom_plans);
	List	   *above = list_nth(private, PATH_ABOVE);
	List	   *type = list_nth(private, PATH_TYPE);
	List	   *columns = add_columns(add_columns(NIL, outer, above), inner, above);
	List	   *exprs = list_concat_copy(list_nth(private, PATH_KEYS),
										 list_nth(private, PATH_CONDITIONS));
	ListCell   *lc;

	foreach(lc, columns)
		cscan->custom_scan_tlist = lappend(cscan->custom_scan_tlist,
										   makeTargetEntry(lfirst(lc),
														   foreach_current_index(lc) + 1,
														   NULL, false));
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = (List *) use_columns(list_nth(private, PATH_FILTERS), columns);
	cscan->custom_exprs = (List *) use_columns((Node *) exprs, columns);
	cscan->custom_plans = custom_plans;
	cscan->custom_private = list_make2(list_make5_int(linitial_int(type), lsecond_int(type),
													  list_length(outer->targetlist),
													  list_length(list_nth(private,
																		   PATH_KEYS)),
													  lthird_int(type)),
									   list_nth(private, PATH_KINDS));
	cscan->flags = best_path->flags;
	cscan->methods = GetCustomScanMethods(vx_format->join_name, false);
	return &cscan->scan.plan;
}

/* ---- what can be joined ---- */

/* All that comes from below are columns that vectors have. */
static bool
has_columns_only(const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->reltarget->exprs)
		if (!IsA(lfirst(lc), Var) || ((Var *) lfirst(lc))->varattno <= 0)
			return false;
	return true;
}

/* A placeholder of the expression that does not come from below. */
static bool
needs_placeholder(Node *node, void *query)
{
	if (node == NULL)
		return false;
	if (IsA(node, PlaceHolderVar))
		return find_column(((JoinQuery *) query)->outer->reltarget->exprs, node) == NULL &&
			find_column(((JoinQuery *) query)->inner->reltarget->exprs, node) == NULL;
	return expression_tree_walker(node, needs_placeholder, query);
}

/* The clause with the probe side on the left; NULL: not a key. */
static OpExpr *
key_clause(const JoinQuery *query, const RestrictInfo *rinfo)
{
	OpExpr	   *clause = (OpExpr *) rinfo->clause;
	OpExpr	   *turned;

	if (!rinfo->can_join || !OidIsValid(rinfo->hashjoinoperator) || !IsA(clause, OpExpr) ||
		!op_strict(clause->opno))
		return NULL;
	if (bms_is_subset(rinfo->left_relids, query->outer->relids) &&
		bms_is_subset(rinfo->right_relids, query->inner->relids))
		return clause;
	if (!bms_is_subset(rinfo->left_relids, query->inner->relids) ||
		!bms_is_subset(rinfo->right_relids, query->outer->relids) ||
		!OidIsValid(get_commutator(clause->opno)))
		return NULL;
	turned = copyObject(clause);
	CommuteOpExpr(turned);
	return turned;
}

/* Its value stands in vectors as those of its own type do. */
static bool
keeps_type(Node *expr)
{
	Oid			type;

	if (!IsA(expr, RelabelType))
		return true;
	type = getBaseType(exprType(expr));
	while (IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	return getBaseType(exprType(expr)) == type;
}

/* Both sides are computed by themselves: the probe side's on vectors. */
static bool
is_key(const OpExpr *clause, int *kind)
{
	Node	   *outer = linitial(clause->args);
	Node	   *inner = lsecond(clause->args);
	VxKeyKind	found = VX_KEY_SERVER;
	Oid			left;
	Oid			right;

	if (!vx_is_computable(outer, 0) || contain_volatile_functions(inner) ||
		contain_subplans(inner))
		return false;
	if (!vx_join_key_kind(clause->opno, clause->inputcollid, exprType(outer),
						  exprType(inner), &found) ||
		(found == VX_KEY_INT && !(keeps_type(outer) && keeps_type(inner))))
	{
		found = VX_KEY_SERVER;
		if (!get_op_hash_functions(clause->opno, &left, &right))
			return false;
	}
	*kind = found;
	return true;
}

/* The server's order of conditions: by security level, then by cost. */
static void
order_of(PlannerInfo *root, RestrictInfo *rinfo, Index *level, Cost *cost)
{
	QualCost	qual_cost;

	cost_qual_eval_node(&qual_cost, (Node *) rinfo, root);
	*cost = qual_cost.per_tuple;
	*level = rinfo->leakproof && *cost < 10 * cpu_operator_cost ? 0 : rinfo->security_level;
}

static List *
insert_in_order(PlannerInfo *root, List *rinfos, RestrictInfo *rinfo)
{
	int			at = list_length(rinfos);
	Index		level;
	Cost		cost;

	order_of(root, rinfo, &level, &cost);
	for (; at > 0; at--)
	{
		Index		other_level;
		Cost		other_cost;

		order_of(root, list_nth_node(RestrictInfo, rinfos, at - 1), &other_level,
				 &other_cost);
		if (other_level < level || (other_level == level && other_cost <= cost))
			break;
	}
	return list_insert_nth(rinfos, at, rinfo);
}

/* Takes the clauses apart; false: there is one that is not for us, or no key. */
static bool
sort_clauses(PlannerInfo *root, JoinQuery *query, List *restrictlist)
{
	List	   *conditions = NIL;
	List	   *filters = NIL;
	ListCell   *lc;

	foreach(lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		bool		above = IS_OUTER_JOIN(query->type) &&
			RINFO_IS_PUSHED_DOWN(rinfo, query->joinrel->relids);
		OpExpr	   *key = above ? NULL : key_clause(query, rinfo);
		int			kind;

		if (rinfo->pseudoconstant || needs_placeholder((Node *) rinfo->clause, query))
			return false;
		if (key && list_length(query->keys) < VX_HASH_MAX_COLUMNS / 2 && is_key(key, &kind))
		{
			query->keys = lappend(query->keys, key);
			query->kinds = lappend_int(query->kinds, kind);
			query->rinfos = lappend(query->rinfos, rinfo);
		}
		else if (above)
			filters = insert_in_order(root, filters, rinfo);
		else
			conditions = insert_in_order(root, conditions, rinfo);
	}
	query->conditions = extract_actual_clauses(conditions, false);
	query->filters = extract_actual_clauses(filters, false);
	return query->keys != NIL;
}

bool
vx_may_stop_early(PlannerInfo *root)
{
	Query	   *parse = root->parse;

	return root->tuple_fraction > 0 && parse->groupClause == NIL &&
		parse->groupingSets == NIL && !parse->hasAggs && parse->sortClause == NIL &&
		parse->distinctClause == NIL && !parse->hasWindowFuncs;
}

bool
vx_is_safe_ahead(PlannerInfo *root, Node *exprs)
{
	return !contain_volatile_functions(exprs) &&
		!(vx_may_stop_early(root) && contain_leaked_vars(exprs));
}

/* The same of RestrictInfos, which know whether they are volatile. */
static bool
are_safe_ahead(PlannerInfo *root, List *rinfos)
{
	return !contain_volatile_functions((Node *) rinfos) &&
		!(vx_may_stop_early(root) &&
		  contain_leaked_vars((Node *) extract_actual_clauses(rinfos, false)));
}

static bool
all_safe_ahead(PlannerInfo *root, const JoinQuery *query, List *restrictlist)
{
	int			relid = -1;

	if (!are_safe_ahead(root, restrictlist))
		return false;
	while ((relid = bms_next_member(query->outer->relids, relid)) >= 0)
	{
		RelOptInfo *rel = root->simple_rel_array[relid];

		/* from 16 on, outer joins have numbers, too */
		if (rel && !are_safe_ahead(root, rel->baserestrictinfo))
			return false;
	}
	return true;
}

static bool
is_known_type(JoinType type)
{
	switch (type)
	{
		case JOIN_INNER:
		case JOIN_LEFT:
		case JOIN_RIGHT:
		case JOIN_FULL:
		case JOIN_SEMI:
		case JOIN_ANTI:
			return true;
		default:
			return false;
	}
}

/* Why the two sides are not to be joined by us; NULL: they may be. */
static const char *
trouble_of_sides(PlannerInfo *root, const JoinQuery *query)
{
	if ((root->parse->commandType != CMD_SELECT && root->parse->commandType != CMD_INSERT) ||
		root->rowMarks != NIL)
		return "rows may be locked or changed";
	if (query->joinrel->lateral_relids != NULL || query->inner->lateral_relids != NULL ||
		query->outer->lateral_relids != NULL)
		return "LATERAL references";
	if (list_length(query->inner->reltarget->exprs) >= VX_HASH_MAX_COLUMNS / 2)
		return "too many columns";
	if (!has_columns_only(query->outer) ||
		vx_has_records((Node *) query->outer->reltarget->exprs) ||
		vx_has_records((Node *) query->inner->reltarget->exprs) ||
		needs_placeholder((Node *) query->joinrel->reltarget->exprs,
						  unconstify(JoinQuery *, query)))
		return "columns that are none of the tables', or have no vectors";
	return NULL;
}

/* ---- the two sides ---- */

/* A table of ours, or a subquery above such. */
static bool
reads_ours(PlannerInfo *root, RelOptInfo *rel)
{
	int			relid = -1;

	if (vx_has_table(root, rel))
		return true;
	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
		if (root->simple_rel_array[relid] != NULL &&
			vx_query_has_table(root->simple_rel_array[relid]->subroot))
			return true;
	return false;
}

/* The path, maybe below a projection, if it is one of ours; or NULL. */
static const Path *
join_path(const Path *path)
{
	while (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	return IsA(path, CustomPath) && ((const CustomPath *) path)->methods == &path_methods &&
		path->param_info == NULL ? path : NULL;
}

bool
vx_is_join_path(const Path *path)
{
	return join_path(path) != NULL;
}

/* What making rows of the join's vectors costs, if it is in the path's cost. */
static Cost
made_rows_cost(const Path *path)
{
	List	   *type = list_nth(((const CustomPath *) path)->custom_private, PATH_TYPE);

	return !lfourth_int(type) ? 0 : cpu_tuple_cost * path->rows *
		(VX_MADE_ROW_COST + VX_MADE_COLUMN_COST * list_length(path->pathtarget->exprs));
}

/* Aggregation right above takes the vectors of all joins together. */
static bool
makes_rows(PlannerInfo *root, const RelOptInfo *joinrel)
{
	return !(vx_enable_vector_aggregate &&
			 (root->parse->hasAggs || root->parse->groupClause != NIL) &&
			 bms_equal(joinrel->relids, st_all_query_rels(root)));
}

Path *
vx_join_vector_path(List *paths, Cost *cost)
{
	Path	   *best = NULL;
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *path = lfirst(lc);

		if (join_path(path) && (best == NULL || path->total_cost < best->total_cost))
			best = path;
	}
	if (best)
		*cost = best->total_cost - made_rows_cost(join_path(best));
	return best;
}

/* A scan of a table of ours, made once: every join that is tried asks for it. */
static Path *
table_path(PlannerInfo *root, RelOptInfo *rel, bool partial)
{
	int			workers = partial ?
		((Path *) linitial(rel->partial_pathlist))->parallel_workers : 0;
	/* GEQO has contexts of its own, of joins that it tries */
	MemoryContext old = MemoryContextSwitchTo(root->planner_cxt);
	VxRelNotes *notes = vx_rel_notes(rel, false);
	Path	   *path = notes ? notes->scan[partial] : NULL;

	if (path == NULL)
	{
		path = vx_table_vector_path(root, rel, rel->reltarget, workers);
		notes = path ? vx_rel_notes(rel, true) : NULL;
		if (notes)
			notes->scan[partial] = path;
	}
	MemoryContextSwitchTo(old);
	return path;
}

/*
 * A path that hands out vectors of the relation's columns, to all participants
 * of a parallel plan if it is to be partial, and what it costs so; or NULL.
 */
static Path *
vector_path(PlannerInfo *root, RelOptInfo *rel, bool partial, Cost *cost)
{
	RangeTblEntry *rte;
	Path	   *path = NULL;

	if (partial && rel->partial_pathlist == NIL)
		return NULL;
	if (IS_JOIN_REL(rel))
		return vx_join_vector_path(partial ? rel->partial_pathlist : rel->pathlist, cost);
	if (!IS_SIMPLE_REL(rel))
		return NULL;
	rte = planner_rt_fetch(rel->relid, root);
	if (rte->inh)
		path = vx_append_vector_path(root, rel, partial);
	else if (rte->rtekind == RTE_RELATION)
		path = table_path(root, rel, partial);
	if (path)
		*cost = path->total_cost;
	return path;
}

/* What is below may be read ahead of the rows that are asked for. */
static bool
can_be_read_ahead(PlannerInfo *root, const RelOptInfo *rel)
{
	int			relid = -1;

	if (vx_may_stop_early(root))
		return false;
	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
	{
		RelOptInfo *base = root->simple_rel_array[relid];

		if (base == NULL)
			continue;
		if (base->subroot ? contain_volatile_functions((Node *) base->subroot->parse) :
			base->rtekind != RTE_RELATION)
			return false;
	}
	return true;
}

/*
 * Full joins of aggregations and the like: where neither side hands out vectors, and rows of
 * ours are read below, rows of any plan are put into vectors.  NULL: not so.
 */
static Path *
row_path(PlannerInfo *root, const JoinQuery *query, Cost *cost)
{
	Path	   *path = query->outer->cheapest_total_path;
	Cost		other;

	if (query->type != JOIN_FULL || path == NULL || path->param_info != NULL ||
		!(reads_ours(root, query->outer) || reads_ours(root, query->inner)) ||
		!can_be_read_ahead(root, query->outer) ||
		vector_path(root, query->inner, false, &other) != NULL)
		return NULL;
	*cost = path->total_cost + VX_AGG_FEED_COST * cpu_tuple_cost *
		list_length(path->pathtarget->exprs) * path->rows;
	return path;
}

/*
 * The build side by this path, or by one that hands out vectors, if that is cheaper;
 * partial: by all participants together; safe: by any of them.
 */
static BuildSide
build_by(PlannerInfo *root, RelOptInfo *rel, Path *path, bool partial, bool safe)
{
	Cost		row_cost = VX_BUILD_ROW_COST * cpu_tuple_cost;
	BuildSide	side = {path, 0, cpu_tuple_cost, partial};
	Path	   *vectors;
	Cost		cost;

	side.cost = path->total_cost + side.row_cost * path->rows;
	vectors = has_columns_only(rel) ? vector_path(root, rel, partial, &cost) : NULL;
	if (vectors == NULL || (safe && !vectors->parallel_safe))
		return side;
	cost += row_cost * vectors->rows;
	return cost <= side.cost ? (BuildSide) {vectors, cost, row_cost, partial} : side;
}

/* Of a serial join; false: there is no plan. */
static bool
serial_build(PlannerInfo *root, RelOptInfo *rel, BuildSide *side)
{
	Path	   *path = rel->cheapest_total_path;

	if (path == NULL || path->param_info != NULL)
		return false;
	*side = build_by(root, rel, path, false, false);
	return true;
}

/* Each participant reads all rows. */
static bool
repeated_build(PlannerInfo *root, RelOptInfo *rel, double divisor, BuildSide *side)
{
	Path	   *path = get_cheapest_parallel_safe_total_inner(rel->pathlist);

	if (path == NULL || path->param_info != NULL)
		return false;
	*side = build_by(root, rel, path, false, true);
	side->cost *= 1 + VX_BUILD_AGAIN_COST * (divisor - 1);
	return true;
}

/* They divide the rows. */
static bool
shared_build(PlannerInfo *root, RelOptInfo *rel, double divisor, BuildSide *side)
{
	double		given = rel->rows / divisor;
	double		taken = rel->rows * (1 + VX_BUILD_AGAIN_COST * (divisor - 1));
	int			ncolumns = list_length(rel->reltarget->exprs);
	Path	   *path;

	if (rel->partial_pathlist == NIL)
		return false;
	path = linitial(rel->partial_pathlist);
	if (!path->parallel_safe || path->param_info != NULL)
		return false;
	*side = build_by(root, rel, path, true, true);
	side->cost += VX_MEETING_COST + side->row_cost * (given + taken) *
		(VX_SHARED_ROW_COST + VX_SHARED_COLUMN_COST * ncolumns);
	return true;
}

/* Of a join of these participants, or with a divisor of 0 of a serial one. */
static bool
choose_build(PlannerInfo *root, RelOptInfo *rel, double divisor, BuildSide *side)
{
	BuildSide	shared;

	if (divisor == 0)
		return serial_build(root, rel, side);
	if (!repeated_build(root, rel, divisor, side))
		return shared_build(root, rel, divisor, side);
	if (shared_build(root, rel, divisor, &shared) && shared.cost < side->cost)
		*side = shared;
	return true;
}

/* ---- cost ---- */

/* Rows that the keys alone let through. */
static double
candidate_rows(PlannerInfo *root, const JoinQuery *query, const Path *outer)
{
	double		rows = outer->rows * query->inner->rows *
		clauselist_selectivity(root, query->rinfos, 0, JOIN_INNER, NULL);

	/* one that matches is mostly found at once, where one is enough */
	if ((query->type == JOIN_SEMI || query->type == JOIN_ANTI) && !query->turned)
		rows = Min(rows, outer->rows);
	return clamp_row_est(rows);
}

static Cost
cost_of_quals(PlannerInfo *root, List *quals, double rows)
{
	QualCost	cost;

	cost_qual_eval(&cost, quals, root);
	return cost.startup + VX_QUAL_COST * cost.per_tuple * rows;
}

/* As the server does for a hash table that has no room in memory. */
static Cost
spill_cost(const Path *outer, const PathTarget *inner, double inner_rows)
{
	double		bytes = inner_rows * (MAXALIGN(inner->width) + 64);
	double		pages = 0;

	if (bytes <= (double) get_hash_memory_limit())
		return 0;
	pages += ceil(inner_rows * (inner->width + 24) / BLCKSZ);
	pages += ceil(outer->rows * (outer->pathtarget->width + 24) / BLCKSZ);
	return seq_page_cost * 2 * pages + cpu_tuple_cost * (inner_rows + outer->rows);
}

static void
cost_join(PlannerInfo *root, Path *path, const JoinQuery *query, Path *outer,
		  Cost outer_cost, const BuildSide *side)
{
	double		inner_rows = side->shared ? query->inner->rows : side->path->rows;
	int			nkeys = list_length(query->keys);
	double		candidates = candidate_rows(root, query, outer);
	Cost		build = side->cost + inner_rows * cpu_operator_cost * nkeys;
	Cost		probe = outer_cost;
	Cost		out = 0;

	probe += VX_PROBE_COST * cpu_operator_cost * nkeys * outer->rows;
	probe += cost_of_quals(root, query->conditions, candidates);
	probe += spill_cost(outer, side->path->pathtarget, inner_rows);
	out += cpu_tuple_cost * path->rows *
		(VX_ROW_COST + VX_COLUMN_COST * list_length(path->pathtarget->exprs));
	out += cost_of_quals(root, query->filters, path->rows);
	out += made_rows_cost(path) + path->pathtarget->cost.per_tuple * path->rows;
	path->startup_cost = build + path->pathtarget->cost.startup;
	/* the first row of a turned join comes behind the probe side's last */
	if (query->turned)
		path->startup_cost += probe;
	path->total_cost = build + probe + out + path->pathtarget->cost.startup;
	st_path_inherit_disabled(path, outer, side->path);
}

/* ---- the hook ---- */

/* NULL: there is no plan for the build side. */
static Path *
make_join(PlannerInfo *root, const JoinQuery *query, Path *outer, Cost outer_cost)
{
	bool		partial = outer->parallel_workers > 0;
	double		divisor = partial ? vx_parallel_divisor(outer) : 0;
	RelOptInfo *joinrel = query->joinrel;
	CustomPath *cpath;
	BuildSide	side;

	if (!choose_build(root, query->inner, divisor, &side))
		return NULL;
	cpath = makeNode(CustomPath);
	cpath->path.pathtype = T_CustomScan;
	cpath->path.parent = joinrel;
	cpath->path.pathtarget = joinrel->reltarget;
	cpath->path.rows = joinrel->rows;
	cpath->path.parallel_safe = joinrel->consider_parallel && outer->parallel_safe &&
		side.path->parallel_safe;
	if (partial)
	{
		cpath->path.parallel_aware = true;
		cpath->path.parallel_workers = outer->parallel_workers;
		cpath->path.rows = clamp_row_est(joinrel->rows / divisor);
	}
	cpath->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	cpath->methods = &path_methods;
	cpath->custom_paths = list_make2(outer, side.path);
	cpath->custom_private = list_make5(query->keys, query->kinds, query->conditions,
									   query->filters,
									   list_make4_int(query->type, query->turned, side.shared,
													  makes_rows(root, joinrel)));
	/* the relation's target may be replaced by what the query puts out */
	cpath->custom_private = lappend(cpath->custom_private, joinrel->reltarget->exprs);
	cost_join(root, &cpath->path, query, outer, outer_cost, &side);
	return &cpath->path;
}

static bool
may_be_partial(const JoinQuery *query)
{
	return query->joinrel->consider_parallel && query->type != JOIN_RIGHT &&
		query->type != JOIN_FULL && !query->turned;
}

/*
 * Of a turned join's probe side there are nulls above it.  A SEMI join must not
 * be asked for a key of it then, in place of the one that it equals.
 */
static bool
can_be_turned(PlannerInfo *root, const JoinQuery *query)
{
	return query->type == JOIN_ANTI ||
		!bms_overlap(pull_varnos(root, (Node *) query->joinrel->reltarget->exprs),
					 query->outer->relids);
}

static void
note_trouble(PlannerInfo *root, const JoinQuery *query, const char *trouble)
{
	Relids		relids = query->joinrel->relids;

	if (vx_explain_fallback)
		vx_fallback(root, relids, psprintf("join of %s: %s", vx_fallback_names(root, relids),
										   trouble));
}

/* The side that would be the probe side has rows of ours, and cannot be that. */
static void
note_probe_side(PlannerInfo *root, const JoinQuery *query, const char *trouble)
{
	Relids		relids = query->joinrel->relids;

	if (trouble)
		vx_fallback_of_side(root, relids,
							psprintf("join of %s: %s", vx_fallback_names(root, relids),
									 trouble));
}

/* No vectors come from it: why? */
static const char *
trouble_of_probe_side(PlannerInfo *root, RelOptInfo *rel)
{
	if (!IS_SIMPLE_REL(rel))
		return NULL;
	if (planner_rt_fetch(rel->relid, root)->inh)
		return vx_append_trouble(root, rel);
	return vx_query_has_table(rel->subroot) ?
		psprintf("%s hands out no vectors", vx_fallback_names(root, rel->relids)) : NULL;
}

static void
offer_join(PlannerInfo *root, JoinQuery *query, List *restrictlist)
{
	Path	   *outer;
	Path	   *partial = NULL;
	Path	   *path;
	Cost		outer_cost;
	Cost		partial_cost;
	const char *trouble;

	if (!is_known_type(query->type))
		return;
	trouble = trouble_of_sides(root, query);
	if (trouble)
	{
		if (vx_explain_fallback && vx_has_table(root, query->outer))
			note_probe_side(root, query, trouble);
		return;
	}
	if (query->turned && !can_be_turned(root, query))
		return;
	outer = vector_path(root, query->outer, false, &outer_cost);
	if (outer == NULL)
		outer = row_path(root, query, &outer_cost);
	if (may_be_partial(query))
		partial = vector_path(root, query->outer, true, &partial_cost);
	if (outer == NULL && partial == NULL)
	{
		if (vx_explain_fallback)
			note_probe_side(root, query, trouble_of_probe_side(root, query->outer));
		return;
	}
	if (!sort_clauses(root, query, restrictlist))
	{
		note_trouble(root, query, "no equality of both sides that can be hashed");
		return;
	}
	if (!all_safe_ahead(root, query, restrictlist))
	{
		note_trouble(root, query, "conditions that are volatile, or may tell what they see");
		return;
	}
	path = outer ? make_join(root, query, outer, outer_cost) : NULL;
	if (path)
		add_path(query->joinrel, path);
	path = partial ? make_join(root, query, partial, partial_cost) : NULL;
	if (path)
		add_partial_path(query->joinrel, path);
}

void
vx_set_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
					 RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	JoinQuery	query = {joinrel, outerrel, innerrel, jointype};
	JoinQuery	turned = {joinrel, innerrel, outerrel, jointype, true};

	vx_join_weigh_loops(root, joinrel, outerrel, innerrel, jointype, extra);
	if (!vx_enable_vector_join || !enable_hashjoin)
		return;
	offer_join(root, &query, extra->restrictlist);
	if (jointype == JOIN_SEMI || jointype == JOIN_ANTI)
		offer_join(root, &turned, extra->restrictlist);
}

void
vx_join_path_init(void)
{
	path_methods.CustomName = vx_format->join_name;
}
