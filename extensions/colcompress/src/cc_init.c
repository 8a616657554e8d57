/*-------------------------------------------------------------------------
 *
 * cc_init.c
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

#include "cc_access.h"
#include "cc_agg.h"
#include "cc_agg_path.h"
#include "cc_format.h"
#include "cc_join_filter.h"
#include "cc_paths.h"
#include "cc_scan.h"
#include "cc_topn_path.h"
#include "st_store.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(cc_tableam_handler);

extern PGDLLEXPORT void _PG_init(void);

static StTableAm cc_tableam;

void
_PG_init(void)
{
	st_tableam_init(&cc_tableam, &cc_format);
	cc_label_init();
	cc_bitmap_scan_init();
	cc_auto_compact_init();
	cc_scan_init();
	cc_join_link_init();
	cc_paths_init();
	cc_topn_path_init();
	cc_agg_path_init();
	cc_agg_init();

	/* Last: from here on, unknown settings of ours are errors. */
	MarkGUCPrefixReserved("colcompress");
}

/*
 * Handler of access method colcompress: the table AM routine, which lives as
 * long as the backend.
 */
Datum
cc_tableam_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&cc_tableam.routine);
}
