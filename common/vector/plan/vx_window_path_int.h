/*-------------------------------------------------------------------------
 *
 * vx_window_path_int.h
 *	  Shared by what offers paths to the node that sorts vectors.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_WINDOW_PATH_INT_H
#define VX_WINDOW_PATH_INT_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* What one sort serves. */
/* If less than this share of the rows is wanted, TopN finds them without sorting all. */
#define VX_FEW_WANTED	0.05

typedef struct VxSortQuery
{
	List	   *keys;			/* SortGroupClauses */
	List	   *key_exprs;
	List	   *clauses;		/* of windows: lists of VxWindowClause */
	List	   *functions;		/* WindowFuncs */
	List	   *kinds;			/* of them: lists of VxWindowFunc, without inputs */
	List	   *qual;
	int			first;			/* of each partition; 0: all rows */
	int			distinct;		/* DISTINCT ON: keys in front; or 0 */
	Path	   *server;			/* the server's path for the same; not freed by it */
	List	   *pathkeys;
} VxSortQuery;

/* Sets the keys' expressions; false: they are not for us. */
extern bool vx_sort_set_keys(PlannerInfo *root, VxSortQuery *query, List *keys);

/* One list is the start of the other; returns the longer one, or NULL. */
extern List *vx_sort_longer_keys(List *a, List *b);

/* May what is below be read twice, and is a table of ours among it? */
extern bool vx_sort_is_offered(PlannerInfo *root);

/* The node above a path.  NULL: its rows will not fit into memory. */
extern Path *vx_sort_make_path(PlannerInfo *root, RelOptInfo *rel, VxSortQuery *query,
							   Path *below);

#endif							/* VX_WINDOW_PATH_INT_H */
