/*-------------------------------------------------------------------------
 *
 * vx_sort_path.c
 *	  Offers the planner sorts of vectors: for ORDER BY, and DISTINCT ON.
 *
 * For vx_upper_paths.c.  The server's own path for the same, a Sort, or a Unique above
 * one, is the node's second child, which runs in its place when there is no
 * room in memory.
 *
 * Not offered: with a LIMIT that leaves few of the rows, for which TopN is
 * the better way; and as said in vx_window_path.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "st_compat.h"
#include "vx_paths.h"
#include "vx_window_path_int.h"

/* The Sort of a path whose rows are the ones in order, and nothing else. */
static SortPath *
sort_of(Path *path)
{
	if (IsA(path, ProjectionPath))
		path = ((ProjectionPath *) path)->subpath;
	if (IsA(path, StUniquePath))
		path = ((StUniquePath *) path)->subpath;
	return IsA(path, SortPath) ? (SortPath *) path : NULL;
}

/* The planner frees a path when it finds a better one. */
static Path *
copy_path(const Path *path)
{
	Size		size = IsA(path, ProjectionPath) ? sizeof(ProjectionPath) :
		IsA(path, StUniquePath) ? sizeof(StUniquePath) : sizeof(SortPath);

	return memcpy(palloc(size), path, size);
}

static bool
is_distinct(const Path *path)
{
	return IsA(path, StUniquePath) ||
		(IsA(path, ProjectionPath) &&
		 IsA(((const ProjectionPath *) path)->subpath, StUniquePath));
}

/* The server's cheapest path of that kind. */
static Path *
cheapest(const RelOptInfo *rel, bool distinct)
{
	Path	   *best = NULL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (is_distinct(path) == distinct && sort_of(path) != NULL &&
			(best == NULL || path->total_cost < best->total_cost))
			best = path;
	}
	return best;
}

static void
add_path_of(PlannerInfo *root, RelOptInfo *rel, VxSortQuery *query, List *keys)
{
	Path	   *server = cheapest(rel, query->distinct > 0);
	Path	   *path;

	if (server == NULL || !vx_sort_set_keys(root, query, keys))
		return;
	query->server = copy_path(server);
	path = vx_sort_make_path(root, rel, query, sort_of(server)->subpath);
	if (path)
		add_path(rel, path);
}

void
vx_sort_add_paths(PlannerInfo *root, RelOptInfo *ordered_rel)
{
	VxSortQuery query = {0};
	double		limit = root->parse->limitCount ? vx_topn_limit(root) : -1;

	if (!vx_sort_is_offered(root) || root->sort_pathkeys == NIL)
		return;
	for (int i = 0; limit > 0 && i < list_length(ordered_rel->pathlist); i++)
	{
		SortPath   *sort = sort_of(list_nth(ordered_rel->pathlist, i));

		if (sort && limit < sort->subpath->rows * VX_FEW_WANTED)
			return;
	}
	query.pathkeys = root->sort_pathkeys;
	add_path_of(root, ordered_rel, &query, root->parse->sortClause);
}

void
vx_distinct_on_add_paths(PlannerInfo *root, RelOptInfo *distinct_rel)
{
	VxSortQuery query = {0};
	List	   *distinct = root->parse->distinctClause;
	List	   *keys = vx_sort_longer_keys(distinct, root->parse->sortClause);

	if (!root->parse->hasDistinctOn || keys == NIL || !vx_sort_is_offered(root))
		return;
	query.distinct = list_length(distinct);
	query.first = list_length(keys) > query.distinct ? 1 : 0;
	query.pathkeys = make_pathkeys_for_sortclauses(root, keys, root->processed_tlist);
	add_path_of(root, distinct_rel, &query, keys);
}
