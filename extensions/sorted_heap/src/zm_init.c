/*-------------------------------------------------------------------------
 *
 * zm_init.c
 *	  Entry points of the library, and the handlers of the access methods.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/hash.h"
#include "access/nbtree.h"
#include "commands/vacuum.h"
#include "fmgr.h"
#include "utils/guc.h"
#include "utils/index_selfuncs.h"

#include "sh_tableam.h"
#include "st_compat.h"
#include "zm_build.h"
#include "zm_insert.h"
#include "zm_paths.h"
#include "zm_scan.h"
#include "zm_vacuum.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(zm_index_handler);
PG_FUNCTION_INFO_V1(zm_table_handler);

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	sh_tableam_init();
	sh_place_init();
	zm_paths_init();

	/* Last: from here on, unknown settings of ours are errors. */
	MarkGUCPrefixReserved("sorted_heap");
}

static Size
estimate_parallel_scan(ST_ESTIMATE_PARALLEL_INDEX_ARGS)
{
	return zm_parallel_size();
}

/*
 * Handler of index access method zonemap.  Strategies, costs and the order of
 * keys are a btree's.
 */
Datum
zm_index_handler(PG_FUNCTION_ARGS)
{
	static IndexAmRoutine all = {.type = T_IndexAmRoutine};
	IndexAmRoutine *routine = &all;

	routine->amstrategies = BTMaxStrategyNumber;
	routine->amsupport = BTORDER_PROC;
	st_index_am_set_ordered(routine);
	routine->amcanbackward = true;
	routine->amcanunique = true;
	routine->amcanmulticol = true;
	routine->amoptionalkey = true;
	routine->amsearcharray = true;
	routine->amsearchnulls = true;
	routine->amclusterable = true;
	routine->amcanparallel = true;
	routine->amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL;

	routine->ambuild = zm_build;
	routine->ambuildempty = zm_build_empty;
	routine->aminsert = zm_insert;
	routine->ambulkdelete = zm_bulk_delete;
	routine->amvacuumcleanup = zm_vacuum_cleanup;
	routine->amcostestimate = btcostestimate;
	routine->amoptions = hashoptions;	/* a fillfactor */
	routine->amvalidate = btvalidate;
	routine->ambeginscan = zm_begin_scan;
	routine->amrescan = zm_rescan;
	routine->amgettuple = zm_get_tuple;
	routine->amgetbitmap = zm_get_bitmap;
	routine->amendscan = zm_end_scan;
	routine->amestimateparallelscan = estimate_parallel_scan;
	routine->aminitparallelscan = zm_parallel_init;
	routine->amparallelrescan = zm_parallel_rescan;
	PG_RETURN_POINTER(st_index_am_result(routine));
}

/* Handler of table access method sorted_heap. */
Datum
zm_table_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(sh_tableam_routine());
}
