/*-------------------------------------------------------------------------
 *
 * cc_init.c
 *	  Entry points of the library: what the server calls when it loads it,
 *	  and the access method's handler.
 *
 * Each module has one init function; cc_hooks.c owns all hooks.  The order
 * below matters only where a comment says so.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "fmgr.h"
#include "utils/guc.h"

#include "cc_hooks.h"
#include "cc_contract.h"
#include "cc_format.h"
#include "cc_options.h"
#include "st_functions.h"
#include "st_store.h"
#include "vx_engine.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(cc_tableam_handler);

ST_STORE_FUNCTIONS(cc);

extern PGDLLEXPORT void _PG_init(void);

static StTableAm cc_tableam;

void
_PG_init(void)
{
	st_tableam_init(&cc_tableam, &cc_format);
	st_options_init(&cc_option_set);
	st_auto_compact_init("cc_compact_worker_main");
	vx_init(&cc_contract);
	cc_hooks_init();

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
	PG_RETURN_POINTER(st_tableam_handler(&cc_tableam));
}
