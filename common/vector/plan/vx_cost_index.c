/*-------------------------------------------------------------------------
 *
 * vx_cost_index.c
 *	  What the server's index and bitmap scans of a table of vectors cost.
 *
 * The server reckons with whole rows that lie side by side in pages.  Here a
 * fetch touches the pages of the columns that are needed and no others, a
 * share of the table, and then pays for taking each value out of its vector.
 * So the paths are costed again by the server's own functions, over that
 * share of the pages, and the values' cost is added.  What row groups have to
 * be read first stays in memory between fetches; the sequential scan reads it
 * as ours does.
 *
 * Option index_scan changes no cost: it disables paths as the server's
 * settings enable_* do, so that a plan is found whatever they say.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"

#include "vx_format.h"
#include "vx_paths.h"
#include "st_compat.h"
#include "st_core.h"
#include "st_zone_cost.h"

/* Share of seq_page_cost for a page of an index that is scanned again and again. */
#define VX_REPEATED_PAGE_COST	0.5

/* Rows of the other side of a semijoin that differ: what it is joined to. */
static double
semijoin_rows(PlannerInfo *root, Index inner, Index outer, double rows)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		SpecialJoinInfo *sj = lfirst_node(SpecialJoinInfo, lc);

		if (sj->jointype == JOIN_SEMI &&
			bms_is_member(inner, sj->syn_lefthand) &&
			bms_is_member(outer, sj->syn_righthand))
			rows = Min(rows, estimate_num_groups(root, sj->semi_rhs_exprs, rows,
												 NULL, NULL));
	}
	return rows;
}

/* How often a path with parameters runs: once per row of the smallest rel. */
static double
loop_count(PlannerInfo *root, RelOptInfo *rel, const Path *path)
{
	double		loops = 0;
	int			outer = -1;

	if (path->param_info == NULL)
		return 1.0;
	while ((outer = bms_next_member(path->param_info->ppi_req_outer, outer)) >= 0)
	{
		RelOptInfo *outer_rel;
		double		rows;

		if (outer >= root->simple_rel_array_size ||
			(outer_rel = root->simple_rel_array[outer]) == NULL ||
			outer_rel->rows <= 0)
			continue;
		rows = semijoin_rows(root, rel->relid, outer, outer_rel->rows);
		if (loops == 0 || rows < loops)
			loops = rows;
	}
	return loops > 0 ? loops : 1.0;
}

/* What a fetched row costs, and more if its vectors are not at hand. */
typedef struct FetchCost
{
	Cost		row;
	Cost		far;
} FetchCost;

/* Adds what the values of the fetched rows cost, some of which are far from the one before. */
static void
add_value_cost(Path *path, double fetched, double nfar, const FetchCost *cost)
{
	Cost		all = fetched * cost->row + nfar * cost->far;

	path->total_cost += path->parallel_workers > 0 ? all / vx_parallel_divisor(path) : all;
}

/* Of the rows that an index scan fetches, those that do not follow the one before. */
static double
far_rows(PlannerInfo *root, RelOptInfo *rel, Relation relation, const IndexPath *path,
		 double fetched, double loops)
{
	AttrNumber	attno = path->indexinfo->indexkeys[0];
	double		correlation = 0;

	if (attno > 0)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(relation), attno - 1);

		correlation = st_squared_correlation(root, makeVar(rel->relid, attno, att->atttypid,
														   att->atttypmod, att->attcollation,
														   0));
	}
	return Max(fetched * (1 - correlation), loops > 1 ? 1 : 0);
}

/*
 * Of a scan that is repeated.  The server reckons a jump of the disk for each
 * page of the index until all of them have been read once; they are in memory
 * when the second row is looked for, or soon are.
 */
static void
cost_repeated(PlannerInfo *root, IndexPath *path, double loops)
{
	double		saved = random_page_cost;

	PG_TRY();
	{
		random_page_cost = Min(saved, VX_REPEATED_PAGE_COST * seq_page_cost);
		cost_index(path, root, loops, false);
	}
	PG_FINALLY();
	{
		random_page_cost = saved;
	}
	PG_END_TRY();
}

static void
cost_index_path(PlannerInfo *root, RelOptInfo *rel, Relation relation, IndexPath *path,
				BlockNumber whole, const FetchCost *cost)
{
	bool		index_only = path->path.pathtype == T_IndexOnlyScan;
	double		loops = loop_count(root, rel, &path->path);
	double		fetched;

	/* Rows are asked for their visibility alone: that is in memory. */
	if (index_only)
		rel->pages = 1;

	/*
	 * Over as many pages as the server has reckoned with, the costs are as
	 * they were.  A partial path keeps its workers, and their cost is shared.
	 */
	if (loops > 1)
		cost_repeated(root, path, loops);
	else if (rel->pages != whole)
		cost_index(path, root, loops, false);
	if (index_only)
		return;
	fetched = clamp_row_est(path->indexselectivity * rel->tuples);
	add_value_cost(&path->path, fetched,
				   far_rows(root, rel, relation, path, fetched, loops), cost);
}

static void
cost_bitmap_path(PlannerInfo *root, RelOptInfo *rel, BitmapHeapPath *path,
				 const FetchCost *cost)
{
	Cost		index_cost;
	Selectivity selectivity;
	double		fetched;

	cost_bitmap_heap_scan(&path->path, root, rel, path->path.param_info,
						  path->bitmapqual, loop_count(root, rel, &path->path));
	cost_bitmap_tree_node(path->bitmapqual, &index_cost, &selectivity);
	fetched = clamp_row_est(selectivity * rel->tuples);
	/* in the order of vectors */
	add_value_cost(&path->path, fetched, Min(fetched, rel->tuples / ST_VECTOR_SIZE), cost);
}

static bool
is_index_path(const Path *path)
{
	return IsA(path, IndexPath) || IsA(path, BitmapHeapPath);
}

static int
cheaper_path(const ListCell *a, const ListCell *b)
{
	return compare_path_costs(lfirst(a), lfirst(b), TOTAL_COST);
}

static void
cost_paths(PlannerInfo *root, RelOptInfo *rel, List *paths, Relation relation,
		   double pages, const FetchCost *cost, bool disable)
{
	BlockNumber whole = rel->pages;
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *path = lfirst(lc);

		rel->pages = pages;
		if (path->pathtype == T_SeqScan)
			path->total_cost += vx_plain_scan_cost(rel, relation) /
				(path->parallel_workers > 0 ? vx_parallel_divisor(path) : 1.0);
		else if (vx_format->costs.fetch > 0 && IsA(path, IndexPath))
			cost_index_path(root, rel, relation, (IndexPath *) path, whole, cost);
		else if (vx_format->costs.fetch > 0 && IsA(path, BitmapHeapPath))
			cost_bitmap_path(root, rel, (BitmapHeapPath *) path, cost);
		if (disable && is_index_path(path))
			st_path_disable(path);
	}
	rel->pages = whole;
	list_sort(paths, cheaper_path);
}

bool
vx_prefers_index(const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (!is_index_path(path) ||
			!bms_equal(PATH_REQ_OUTER(path), rel->lateral_relids))
			continue;
		if (IsA(path, BitmapHeapPath))
			path = ((BitmapHeapPath *) path)->bitmapqual;
		if (!IsA(path, IndexPath) || ((IndexPath *) path)->indexclauses != NIL)
			return true;
	}
	return false;
}

/*
 * The server has thrown away index paths that cost more than its sequential
 * scan: look for them without it.  Other paths, by TID say, stay.
 */
static void
find_index_paths(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *paths = rel->pathlist;
	List	   *partial_paths = rel->partial_pathlist;
	ListCell   *lc;

	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	create_index_paths(root, rel);
	if (!vx_prefers_index(rel))
	{
		rel->pathlist = paths;
		rel->partial_pathlist = partial_paths;
		return;
	}
	foreach(lc, paths)
	{
		Path	   *path = lfirst(lc);

		if (path->pathtype != T_SeqScan && !is_index_path(path))
			add_path(rel, path);
	}
}

/*
 * attnos: columns that the relation's output and conditions refer to, offset
 * by FirstLowInvalidHeapAttributeNumber.
 */
void
vx_cost_index_paths(PlannerInfo *root, RelOptInfo *rel, Relation relation,
					const Bitmapset *attnos)
{
	VxColumnsNeeded needed;
	double		pages;
	FetchCost	cost;
	VxIndexScan option = vx_index_scan(relation);

	cost.row = vx_row_fetch_cost(rel, relation, attnos, &cost.far);
	vx_columns_needed(rel, relation, attnos, &needed);
	pages = Max(1.0, ceil(rel->pages * needed.share));
	if (option == VX_INDEX_SCAN_ON)
		find_index_paths(root, rel);
	cost_paths(root, rel, rel->pathlist, relation, pages, &cost,
			   option == VX_INDEX_SCAN_OFF);
	cost_paths(root, rel, rel->partial_pathlist, relation, pages, &cost,
			   option == VX_INDEX_SCAN_OFF);
}
