/*-------------------------------------------------------------------------
 *
 * vx_engine.h
 *	  The vector engine as an extension sees it.
 *
 * When a library is loaded, sf_library.c calls vx_init() with its format,
 * registers the custom scan nodes (vx_scan_methods, vx_agg_methods, vx_join_methods,
 * vx_setop_methods, vx_lookup_methods, vx_window_methods) and the
 * settings (vx_settings.h), and calls these from hooks:
 *
 *		vx_keyed_prepare()			planner_hook, before the planner
 *		vx_set_rel_pathlist()		set_rel_pathlist_hook
 *		vx_set_join_pathlist()		set_join_pathlist_hook
 *		vx_create_upper_paths()		create_upper_paths_hook
 *		vx_executor_start()			ExecutorStart_hook
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_ENGINE_H
#define VX_ENGINE_H

#include "postgres.h"

#include "vx_agg.h"
#include "vx_append.h"
#include "vx_format.h"
#include "vx_join.h"
#include "vx_join_link.h"
#include "vx_fallback.h"
#include "vx_keyed.h"
#include "vx_lookup.h"
#include "vx_paths.h"
#include "vx_scan.h"
#include "vx_settings.h"
#include "vx_window.h"

extern void vx_init(const VxFormat *format);

/*
 * Calls the hook that was there, or the server's own.  Before that, pending
 * row groups are written if the plan may start parallel workers; behind it,
 * hash joins are linked to the scans below, the executor's bitmap heap scans of
 * our tables are kept from prefetching blocks of virtual TIDs
 * (st_bitmap_scan.h), and the columns that index scans need are noted
 * (st_scan_columns.h).  Runs in the leader and in parallel workers.
 */
extern void vx_executor_start(QueryDesc *queryDesc, int eflags,
							  ExecutorStart_hook_type prev);

#endif							/* VX_ENGINE_H */
