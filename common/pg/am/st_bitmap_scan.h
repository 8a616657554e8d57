/*-------------------------------------------------------------------------
 *
 * st_bitmap_scan.h
 *	  What an extension must do about the executor's bitmap heap scans.
 *
 * Servers 15 to 17 prefetch in the BitmapHeapScan node itself, and a virtual
 * block number makes that fail with "could not open file".  An extension with
 * tables of this library calls st_bitmap_disable_prefetch() on the plan state
 * in its ExecutorStart hook, after the previous hook or standard_ExecutorStart:
 *
 *		st_bitmap_disable_prefetch(queryDesc->planstate);
 *
 * EvalPlanQual starts a plan's subplans again without any hook, so those get
 * no bitmap scan of our tables in a plan that may need it: the extension calls
 * st_bitmap_forbid_in_recheck() in its get_relation_info_hook.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_BITMAP_SCAN_H
#define ST_BITMAP_SCAN_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

/*
 * Walks a plan state tree (NULL is allowed) and forbids the bitmap heap scans
 * of our tables in it to prefetch.
 */
extern void st_bitmap_disable_prefetch(PlanState *planstate);

/*
 * Keeps the planner from bitmap scans of the table in a subplan of a query
 * that changes or locks rows.  rel is of the table with that OID, on which the
 * planner holds a lock; other tables than ours are left alone.
 */
extern void st_bitmap_forbid_in_recheck(PlannerInfo *root, RelOptInfo *rel, Oid relid);

#endif							/* ST_BITMAP_SCAN_H */
