/*-------------------------------------------------------------------------
 *
 * vx_engine.c
 *	  The vector engine gets its format.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "st_bitmap_scan.h"
#include "st_scan_columns.h"
#include "vx_engine.h"
#include "vx_mow.h"
#include "vx_old_rows.h"

const VxFormat *vx_format = NULL;

void
vx_init(const VxFormat *format)
{
	vx_format = format;
	vx_scan_init();
	vx_agg_init();
	vx_paths_init();
	vx_agg_path_init();
	vx_append_init();
	vx_append_path_init();
	vx_join_init();
	vx_join_path_init();
	vx_lookup_init();
	vx_keyed_path_init();
	vx_window_init();
	vx_window_path_init();
}

void
vx_executor_start(QueryDesc *queryDesc, int eflags, ExecutorStart_hook_type prev)
{
	uint64		nscans = vx_scan_count();

	if (queryDesc->plannedstmt->parallelModeNeeded)
		st_flush_all_pending();
	if (prev)
		prev(queryDesc, eflags);
	else
		standard_ExecutorStart(queryDesc, eflags);
	if (vx_scan_count() != nscans)
	{
		vx_link_joins(queryDesc);
		vx_mow_link(queryDesc);
	}
	if (!st_plan_is_ours(queryDesc->estate))
		return;
	st_bitmap_disable_prefetch(queryDesc->planstate);
	st_scan_columns_register(queryDesc->planstate);
	st_old_rows_register(queryDesc, vx_old_rows_scan);
}
