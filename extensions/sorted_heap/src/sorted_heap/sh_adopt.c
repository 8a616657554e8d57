/*-------------------------------------------------------------------------
 *
 * sh_adopt.c
 *	  adopt() and release(): heap to sorted_heap and back, where the table is.
 *
 * Pages of both are the same, and indexes, zonemaps included, point at both
 * alike.  So only the catalogs change, in the caller's transaction: a rollback
 * undoes it.
 *
 * Lock: AccessExclusiveLock until the transaction ends, taken in short turns
 * (st_switch_lock.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_am_d.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "sh_tableam.h"
#include "st_switch.h"

#define AM_NAME "sorted_heap"

PG_FUNCTION_INFO_V1(sh_adopt);
PG_FUNCTION_INFO_V1(sh_release);

static bool
is_sorted_heap(Relation rel)
{
	return rel->rd_tableam == sh_tableam_routine();
}

static void
check_adoptable(Relation rel, const char *am_name)
{
	if (is_sorted_heap(rel))
		return;
	st_check_kind(rel, am_name);
	st_check_extension(rel);
}

static void
check_releasable(Relation rel, const char *am_name)
{
	if (!is_sorted_heap(rel) && rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a %s table",
						RelationGetRelationName(rel), am_name)));
}

/* adopt(relation, patience) */
Datum
sh_adopt(PG_FUNCTION_ARGS)
{
	Relation	rel;

	PreventCommandIfReadOnly("adopt");
	PreventCommandDuringRecovery("adopt");
	PreventCommandIfParallelMode("adopt");
	rel = st_switch_open(PG_GETARG_OID(0), PG_GETARG_INTERVAL_P(1),
						 check_adoptable, AM_NAME);
	if (is_sorted_heap(rel))
		ereport(NOTICE,
				(errmsg("\"%s\" is a %s table already",
						RelationGetRelationName(rel), AM_NAME)));
	else
		st_switch_am(rel, get_table_am_oid(AM_NAME, false));
	relation_close(rel, NoLock);
	PG_RETURN_VOID();
}

/* release(relation, patience), a procedure */
Datum
sh_release(PG_FUNCTION_ARGS)
{
	Relation	rel;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("arguments must not be null")));
	PreventCommandIfReadOnly("release");
	PreventCommandDuringRecovery("release");
	PreventCommandIfParallelMode("release");
	rel = st_switch_open(PG_GETARG_OID(0), PG_GETARG_INTERVAL_P(1),
						 check_releasable, AM_NAME);
	if (is_sorted_heap(rel))
		st_switch_am(rel, HEAP_TABLE_AM_OID);
	else
		ereport(NOTICE,
				(errmsg("\"%s\" is a heap table already",
						RelationGetRelationName(rel))));
	relation_close(rel, NoLock);
	PG_RETURN_VOID();
}
