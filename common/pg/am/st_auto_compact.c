/*-------------------------------------------------------------------------
 *
 * st_auto_compact.c
 *	  Option auto_compact: background workers that compact tables whose delta
 *	  has grown.
 *
 * Decides for which tables a worker may run; what it does is in
 * st_compact_worker.c.  Temporary tables have none: only their own session
 * can read them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"

#include "st_auto_compact.h"
#include "st_compact.h"
#include "st_options.h"
#include "st_store.h"

bool		st_auto_compact_enabled = true;

static const char *worker_function = NULL;

static bool
is_wanted(Relation rel)
{
	return st_auto_compact_enabled && st_options_get(rel)->auto_compact &&
		rel->rd_rel->relpersistence != RELPERSISTENCE_TEMP;
}

static void
delta_grown(Relation rel)
{
	if (is_wanted(rel) &&
		!st_compact_worker_start(rel, st_options_set()->provider, worker_function))
		ereport(DEBUG1,
				(errmsg_internal("no background worker is left to compact \"%s\"",
								 RelationGetRelationName(rel))));
}

void
st_auto_compact_worker_main(Datum main_arg)
{
	st_compact_worker_main(main_arg, is_wanted);
}

void
st_auto_compact_init(const char *worker)
{
	worker_function = worker;
	st_on_delta_grown(delta_grown);
	st_compact_on_commit(st_options_set()->provider, worker, is_wanted);
}
