/*-------------------------------------------------------------------------
 *
 * rc_executor_start.c
 *	  Hooks of planner and executor: keep the executor's bitmap heap scans of our tables
 *	  from prefetching blocks of virtual TIDs (see st_bitmap_scan.h), note
 *	  which columns index scans need (st_scan_columns.h), and write pending
 *	  row groups before a plan starts parallel workers.
 *
 * Runs in the leader and in parallel workers.  Plans without a table of ours
 * are walked and left alone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "optimizer/plancat.h"

#include "rc_access.h"
#include "st_bitmap_scan.h"
#include "st_compat.h"
#include "st_scan_columns.h"
#include "st_store.h"

static ExecutorStart_hook_type prev_executor_start = NULL;
static get_relation_info_hook_type prev_get_relation_info = NULL;

static void
executor_start(QueryDesc *queryDesc, int eflags)
{
	if (queryDesc->plannedstmt->parallelModeNeeded)
		st_flush_all_pending();
	if (prev_executor_start)
		prev_executor_start(queryDesc, eflags);
	else
		standard_ExecutorStart(queryDesc, eflags);
	st_bitmap_disable_prefetch(queryDesc->planstate);
	st_scan_columns_register(queryDesc->planstate);
}

static void
relation_info(PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel)
{
	if (prev_get_relation_info)
		prev_get_relation_info(root, relid, inhparent, rel);
	st_bitmap_forbid_in_recheck(root, rel, relid);
}

void
rc_executor_start_init(void)
{
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = executor_start;
	prev_get_relation_info = get_relation_info_hook;
	get_relation_info_hook = relation_info;
}
