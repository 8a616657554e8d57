/*-------------------------------------------------------------------------
 *
 * rc_init.c
 *	  Entry points of the library: what the server calls when it loads it,
 *	  and the access method's handler.
 *
 * Each module has one init function; rc_hooks.c owns all hooks.  The order
 * below matters only where a comment says so.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "fmgr.h"
#include "utils/guc.h"

#include "rc_batch.h"
#include "rc_contract.h"
#include "rc_format.h"
#include "rc_hooks.h"
#include "rc_options.h"
#include "st_functions.h"
#include "st_store.h"
#include "vx_engine.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(rc_tableam_handler);

ST_STORE_FUNCTIONS(rc);

extern PGDLLEXPORT void _PG_init(void);

static StTableAm rc_tableam;

void
_PG_init(void)
{
	st_tableam_init(&rc_tableam, &rc_format);
	vx_init(&rc_contract);
	st_options_init(&rc_option_set);
	st_auto_compact_init("rc_compact_worker_main");
	rc_cache_init();
	rc_hooks_init();

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
	PG_RETURN_POINTER(st_tableam_handler(&rc_tableam));
}
