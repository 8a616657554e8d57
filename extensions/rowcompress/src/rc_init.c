/*-------------------------------------------------------------------------
 *
 * rc_init.c
 *	  Entry points of the library: what the server calls when it loads it,
 *	  and the access method's handler.
 *
 * Each module has one init function and owns its hooks and GUCs; the order
 * below matters only where a comment says so.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "fmgr.h"
#include "utils/guc.h"

#include "rc_access.h"
#include "rc_agg_paths.h"
#include "rc_batch.h"
#include "rc_format.h"
#include "rc_paths.h"
#include "rc_scan.h"
#include "st_store.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(rc_tableam_handler);

extern PGDLLEXPORT void _PG_init(void);

static StTableAm rc_tableam;

void
_PG_init(void)
{
	st_tableam_init(&rc_tableam, &rc_format);
	rc_label_init();
	rc_executor_start_init();
	rc_auto_compact_init();
	rc_cache_init();
	rc_scan_init();
	rc_agg_init();
	rc_paths_init();
	rc_agg_paths_init();

	/* Last: from here on, unknown settings of ours are errors. */
	MarkGUCPrefixReserved("rowcompress");
}

/*
 * Handler of access method rowcompress: the table AM routine, which lives as
 * long as the backend.
 */
Datum
rc_tableam_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&rc_tableam.routine);
}
