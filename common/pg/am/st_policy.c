/*-------------------------------------------------------------------------
 *
 * st_policy.c
 *	  Policies of partitioned tables: what they say, and how old partitions are.
 *
 * A policy is a few options of the partitioned table (ST_OPTION_POLICY), so it is
 * in the security label: it goes with the table through renames, dumps and
 * DROP, and nobody but the owner can set it.
 *
 * The age of a partition counts from the upper bound of its range.
 *
 * What follows from that, and when, is for SQL (policies.sql.in); what is done,
 * for st_policy_run.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/partition.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "partitioning/partbounds.h"
#include "partitioning/partdesc.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "st_compat.h"
#include "st_options.h"
#include "st_policy.h"

/*
 * Bounds beyond are none, in days from 2000: the year 100000, and 4000 BC.  With
 * the longest interval that a policy may have (st_options_text.c) they make
 * times that the server has.
 */
#define MAX_DAY	(98000 * INT64CONST(365))
#define MIN_DAY	(-6000 * INT64CONST(365))

Datum
st_policy_setting_function(FunctionCallInfo fcinfo)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	char	   *text = st_options_policy_text(PG_GETARG_OID(0), name);

	if (text == NULL)
		PG_RETURN_NULL();
	return DirectFunctionCall3(interval_in, CStringGetDatum(text),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* The bound as timestamptz, in the session's time zone; false if it is none. */
static bool
bound_time(Oid type, Datum bound, Datum *time)
{
	int64		day = type == DATEOID ? DatumGetDateADT(bound) :
		DatumGetTimestamp(bound) / USECS_PER_DAY;

	if (day < MIN_DAY || day > MAX_DAY)
		return false;			/* infinity, too */
	if (type == DATEOID)
		*time = DirectFunctionCall1(date_timestamptz, bound);
	else if (type == TIMESTAMPOID)
		*time = DirectFunctionCall1(timestamp_timestamptz, bound);
	else
		*time = bound;
	return true;
}

/* Is it partitioned by range, first of all of a time?  Then of which type? */
static bool
is_by_time(Relation rel, Oid *type)
{
	PartitionKey key;

	if (rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return false;
	key = RelationGetPartitionKey(rel);
	*type = getBaseType(key->parttypid[0]);
	return key->strategy == PARTITION_STRATEGY_RANGE &&
		(*type == DATEOID || *type == TIMESTAMPOID || *type == TIMESTAMPTZOID);
}

/*
 * The end of a range that more columns than the first bound.  Unless it ends
 * with all of their values, it has rows with the bound's own value of the first
 * column: a day more; nobody knows how much, if that is an expression.
 */
static bool
widen(Relation rel, Oid type, PartitionRangeDatumKind *kinds, Datum *bound)
{
	PartitionKey key = RelationGetPartitionKey(rel);

	if (key->partnatts == 1 || kinds[1] == PARTITION_RANGE_DATUM_MINVALUE)
		return true;
	if (key->partattrs[0] == 0)
		return false;
	if (type == DATEOID && !DATE_NOT_FINITE(DatumGetDateADT(*bound)))
		*bound = DateADTGetDatum(DatumGetDateADT(*bound) + 1);
	return true;
}

static void
put_ranges(ReturnSetInfo *rsinfo, Relation rel, Oid type, PartitionDesc desc)
{
	PartitionBoundInfo bounds = desc->boundinfo;

	for (int i = 0; desc->nparts > 0 && i < bounds->ndatums; i++)
	{
		int			partition = bounds->indexes[i]; /* which has this upper bound */
		Datum		bound;
		Datum		values[2];
		bool		nulls[2] = {0};

		if (partition < 0 || bounds->kind[i][0] != PARTITION_RANGE_DATUM_VALUE)
			continue;
		bound = bounds->datums[i][0];
		if (!widen(rel, type, bounds->kind[i], &bound) ||
			!bound_time(type, bound, &values[1]))
			continue;
		values[0] = ObjectIdGetDatum(desc->oids[partition]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

/*
 * Expressions of a partition key are simplified when they are first looked at,
 * which runs functions: as the owner of the table, and what settings they
 * change are as before when times are computed.
 */
Datum
st_policy_ranges_function(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	bool		complain = PG_GETARG_BOOL(1);
	Oid			save_userid;
	int			save_sec_context;
	int			save_nestlevel;
	PartitionDesc desc = NULL;
	Oid			type;

	InitMaterializedSRF(fcinfo, 0);
	if (rel == NULL)
		return (Datum) 0;
	GetUserIdAndSecContext(&save_userid, &save_sec_context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   save_sec_context | SECURITY_RESTRICTED_OPERATION);
	save_nestlevel = NewGUCNestLevel();
	st_restrict_search_path();
	if (is_by_time(rel, &type))
		desc = RelationGetPartitionDesc(rel, true);
	AtEOXact_GUC(false, save_nestlevel);
	SetUserIdAndSecContext(save_userid, save_sec_context);
	if (desc != NULL)
		put_ranges(rsinfo, rel, type, desc);
	else if (complain)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not partitioned by ranges of time",
						RelationGetRelationName(rel)),
				 errdetail("A policy is for a table that is partitioned by RANGE, of date, timestamp or timestamptz.")));
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}
