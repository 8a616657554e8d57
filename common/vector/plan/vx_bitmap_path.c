/*-------------------------------------------------------------------------
 *
 * vx_bitmap_path.c
 *	  Bitmaps of indexes that say which rows of vectors a scan reads.
 *
 * The server has put the best bitmap together for a scan of its own.  That
 * path is copied, because the server frees it when it finds a better one, and
 * kept in the relation's fdw_private, which means nothing for a table: nodes
 * above ask for scans again when the relation's list of paths is final.
 *
 * The plan of the whole bitmap scan is made by the server, and of it no more
 * is used than what makes the bitmap: our scan tests all conditions itself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "utils/guc.h"

#include "vx_bitmap_path.h"
#include "vx_format.h"
#include "vx_paths.h"
#include "vx_settings.h"

void
vx_bitmap_keep(RelOptInfo *rel, Relation relation)
{
	BitmapHeapPath *best = NULL;
	BitmapHeapPath *own;
	ListCell   *lc;

	rel->fdw_private = NULL;
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
	rel->fdw_private = own;
}

BitmapHeapPath *
vx_bitmap_kept(const RelOptInfo *rel)
{
	return rel->fdw_private;
}

Plan *
vx_bitmap_plan(Plan *plan)
{
	if (!IsA(plan, BitmapHeapScan))
		elog(ERROR, "unexpected plan node type %d below a scan of vectors",
			 (int) nodeTag(plan));
	return outerPlan(plan);
}
