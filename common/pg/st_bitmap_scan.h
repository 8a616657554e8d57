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
 *-------------------------------------------------------------------------
 */
#ifndef ST_BITMAP_SCAN_H
#define ST_BITMAP_SCAN_H

#include "postgres.h"

#include "nodes/execnodes.h"

/*
 * Walks a plan state tree (NULL is allowed) and forbids the bitmap heap scans
 * of our tables in it to prefetch.
 */
extern void st_bitmap_disable_prefetch(PlanState *planstate);

#endif							/* ST_BITMAP_SCAN_H */
