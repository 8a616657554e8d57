/*-------------------------------------------------------------------------
 *
 * rc_compact.c
 *	  Procedures compact() and merge(), and how far they are.
 *
 * The store does the work: common/pg/st_compact_call.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "rc_format.h"
#include "st_compact.h"

PG_FUNCTION_INFO_V1(rc_compact);
PG_FUNCTION_INFO_V1(rc_merge);
PG_FUNCTION_INFO_V1(rc_compact_progress);

Datum
rc_compact(PG_FUNCTION_ARGS)
{
	st_compact_call(fcinfo, rc_format.am_name);
	PG_RETURN_VOID();
}

Datum
rc_merge(PG_FUNCTION_ARGS)
{
	st_merge_call(fcinfo, rc_format.am_name);
	PG_RETURN_VOID();
}

Datum
rc_compact_progress(PG_FUNCTION_ARGS)
{
	st_compact_progress(fcinfo);
	return (Datum) 0;
}
