/*-------------------------------------------------------------------------
 *
 * st_inspect.c
 *	  What SQL functions that look into a table have in common, and those
 *	  that show what the store knows: row groups, totals.
 *
 * They see what the caller's snapshot sees.  Counts and sizes are for whoever
 * may read any column of the table, or has the rights of pg_stat_scan_tables.
 * Least and greatest values are data: only with SELECT on the column, and
 * never when row-level security applies to the caller.
 *
 * Lock: AccessShareLock until the end of the statement.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "st_compat.h"
#include "st_file.h"
#include "st_inspect.h"
#include "st_options.h"

Relation
st_open_table(Oid relid)
{
	Relation	rel = relation_open(relid, AccessShareLock);

	if (st_relation_format(rel) == NULL)
		st_error_not_ours(rel, st_options_set()->provider);
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	return rel;
}

void
st_check_may_inspect(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	Oid			userid = GetUserId();

	if (pg_class_aclcheck(relid, userid, ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck_all(relid, userid, ACL_SELECT,
								  ACLMASK_ANY) == ACLCHECK_OK ||
		has_privs_of_role(userid, ROLE_PG_STAT_SCAN_TABLES))
		return;
	aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(rel->rd_rel->relkind),
				   RelationGetRelationName(rel));
}

Relation
st_open_for_inspection(Oid relid, StGroupList **groups)
{
	Relation	rel = st_open_table(relid);

	st_check_may_inspect(rel);
	*groups = st_visible_groups(rel, GetActiveSnapshot(), CurrentMemoryContext);
	return rel;
}

Datum
st_show_groups(FunctionCallInfo fcinfo, StPutGroup put)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	StGroupList *groups;
	Relation	rel = st_open_for_inspection(PG_GETARG_OID(0), &groups);
	MemoryContext mcxt;

	InitMaterializedSRF(fcinfo, 0);
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "row group",
								 ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < groups->ngroups; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(mcxt);

		put(rsinfo, rel, &groups->groups[i], i + 1);
		MemoryContextSwitchTo(old);
		MemoryContextReset(mcxt);
	}
	MemoryContextDelete(mcxt);
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}

void
st_show_column(const StGroup *group, int groupno, Form_pg_attribute att,
			   const char *encoding, const char *codec, Datum *values)
{
	values[0] = Int32GetDatum(groupno);
	values[1] = Int64GetDatum((int64) group->first_row);
	values[2] = Int16GetDatum(att->attnum);
	values[3] = NameGetDatum(&att->attname);
	values[4] = ObjectIdGetDatum(att->atttypid);
	values[5] = CStringGetTextDatum(encoding);
	values[6] = CStringGetTextDatum(codec);
}

static uint32
count_deleted(Relation rel, const StGroup *group)
{
	uint32		ndeleted;
	uint64	   *deleted;

	deleted = st_deleted_rows(rel, group, GetActiveSnapshot(),
							  CurrentMemoryContext, &ndeleted);
	if (deleted == NULL)
		return 0;
	pfree(deleted);
	return ndeleted;
}

Datum
st_row_groups_function(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	StGroupList *groups;
	Relation	rel = st_open_for_inspection(PG_GETARG_OID(0), &groups);

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < groups->ngroups; i++)
	{
		const StGroup *group = &groups->groups[i];
		Datum		values[9];
		bool		nulls[9] = {0};

		CHECK_FOR_INTERRUPTS();
		values[0] = Int32GetDatum(i + 1);
		values[1] = Int64GetDatum((int64) group->first_row);
		values[2] = Int64GetDatum((int64) group->nrows);
		values[3] = Int64GetDatum((int64) count_deleted(rel, group));
		values[4] = Int64GetDatum((int64) group->start_block);
		values[5] = Int64GetDatum((int64) group->nblocks);
		values[6] = Int64GetDatum((int64) group->image_len);
		values[7] = Int64GetDatum((int64) group->footer_len);
		values[8] = Int32GetDatum((int32) group->format_version);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}

bool
st_may_see_values(Relation rel, AttrNumber attno)
{
	Oid			relid = RelationGetRelid(rel);

	if (check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
		return false;
	return pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck(relid, attno, GetUserId(),
							  ACL_SELECT) == ACLCHECK_OK;
}

/*
 * A bound as text.  Bounds of strings are prefixes of bytes, which may end
 * inside of a character.
 */
static Datum
bound_text(Datum value, Oid output, bool is_prefix)
{
	char	   *text = OidOutputFunctionCall(output, value);
	int			len = strlen(text);

	if (is_prefix)
		len = pg_mbcliplen(text, len, len);
	return PointerGetDatum(cstring_to_text_with_len(text, len));
}

void
st_show_bounds(Relation rel, Form_pg_attribute att, const StZone *zone,
			   Datum *values, bool *nulls)
{
	Oid			output;
	bool		isvarlena;

	nulls[0] = nulls[1] = true;
	if (zone == NULL || !zone->has_minmax || !st_may_see_values(rel, att->attnum))
		return;
	getTypeOutputInfo(att->atttypid, &output, &isvarlena);
	values[0] = bound_text(zone->min, output, zone->byte_order);
	values[1] = bound_text(zone->max, output, zone->byte_order);
	nulls[0] = nulls[1] = false;
}

Datum
st_table_info_function(FunctionCallInfo fcinfo)
{
	StGroupList *groups;
	Relation	rel = st_open_for_inspection(PG_GETARG_OID(0), &groups);
	int64		nblocks = RelationGetNumberOfBlocks(rel);
	int64		extent_blocks = 0;
	int64		rows = 0;
	int64		deleted = 0;
	TupleDesc	desc;
	Datum		values[6];
	bool		nulls[6] = {0};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	for (int i = 0; i < groups->ngroups; i++)
	{
		CHECK_FOR_INTERRUPTS();
		extent_blocks += groups->groups[i].nblocks;
		rows += groups->groups[i].nrows;
		deleted += count_deleted(rel, &groups->groups[i]);
	}
	values[0] = Int64GetDatum((int64) groups->ngroups);
	values[1] = Int64GetDatum(rows);
	values[2] = Int64GetDatum(deleted);
	values[3] = Int64GetDatum(extent_blocks * BLCKSZ);
	values[4] = Int64GetDatum(Max(nblocks - 1 - extent_blocks, 0) * BLCKSZ);
	values[5] = Int64GetDatum(nblocks * BLCKSZ);
	relation_close(rel, AccessShareLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

List *
st_problem_add(List *problems, int64 part, const char *fmt,...)
{
	StProblem  *problem = palloc(sizeof(StProblem));
	StringInfoData buf;

	initStringInfo(&buf);
	for (;;)
	{
		va_list		args;
		int			needed;

		va_start(args, fmt);
		needed = appendStringInfoVA(&buf, fmt, args);
		va_end(args);
		if (needed == 0)
			break;
		enlargeStringInfo(&buf, needed);
	}
	problem->part = part;
	problem->message = buf.data;
	return lappend(problems, problem);
}
