/*-------------------------------------------------------------------------
 *
 * rc_auto_compact.c
 *	  Option auto_compact: background workers that compact tables whose delta
 *	  has grown (common/pg/st_compact_worker.c).
 *
 * Owns the setting rowcompress.enable_auto_compact.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "utils/guc.h"

#include "rc_access.h"
#include "st_compact.h"
#include "st_options.h"

extern PGDLLEXPORT void rc_compact_worker_main(Datum main_arg);

static bool enable_auto_compact = true;

static bool
is_wanted(Relation rel)
{
	return enable_auto_compact && st_options_get(rel)->auto_compact &&
		rel->rd_rel->relpersistence != RELPERSISTENCE_TEMP;
}

static void
delta_grown(Relation rel)
{
	if (is_wanted(rel) &&
		!st_compact_worker_start(rel, "rowcompress", "rc_compact_worker_main"))
		ereport(DEBUG1,
				(errmsg_internal("no background worker is left to compact \"%s\"",
								 RelationGetRelationName(rel))));
}

/* Entry point of the worker. */
void
rc_compact_worker_main(Datum main_arg)
{
	st_compact_worker_main(main_arg, is_wanted);
}

void
rc_auto_compact_init(void)
{
	DefineCustomBoolVariable("rowcompress.enable_auto_compact",
							 "Lets background workers compact tables whose delta has grown.",
							 NULL,
							 &enable_auto_compact,
							 true,
							 PGC_SIGHUP, 0,
							 NULL, NULL, NULL);
	st_on_delta_grown(delta_grown);
	st_compact_on_commit("rowcompress", "rc_compact_worker_main", is_wanted);
}
