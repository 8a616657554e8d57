/*-------------------------------------------------------------------------
 *
 * cc_inspect.c
 *	  Functions that show what a table is made of: row groups, column chunks,
 *	  totals.  Who may see what: st_inspect.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "cc_access.h"
#include "cc_stats.h"
#include "cc_vector.h"
#include "st_compat.h"
#include "st_inspect.h"
#include "st_store.h"

PG_FUNCTION_INFO_V1(cc_row_groups);
PG_FUNCTION_INFO_V1(cc_column_chunks);
PG_FUNCTION_INFO_V1(cc_table_info);

Datum
cc_row_groups(PG_FUNCTION_ARGS)
{
	return st_row_groups_function(fcinfo);
}

Datum
cc_table_info(PG_FUNCTION_ARGS)
{
	return st_table_info_function(fcinfo);
}

static void
put_chunks(ReturnSetInfo *rsinfo, Relation rel, const StGroup *group, int groupno)
{
	TupleDesc	desc = RelationGetDescr(rel);
	StReader   *reader = cc_reader_open(rel, group, CurrentMemoryContext);
	int			natts = Min(desc->natts, cc_reader_natts(reader));

	for (int i = 0; i < natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		CcChunkInfo info;
		CcZone		zone;
		bool		known;
		Datum		values[14];
		bool		nulls[14] = {0};

		CHECK_FOR_INTERRUPTS();
		if (att->attisdropped || !cc_reader_chunk_info(reader, att->attnum, &info))
			continue;
		values[0] = Int32GetDatum(groupno);
		values[1] = Int64GetDatum((int64) group->first_row);
		values[2] = Int16GetDatum(att->attnum);
		values[3] = NameGetDatum(&att->attname);
		values[4] = ObjectIdGetDatum(att->atttypid);
		values[5] = CStringGetTextDatum(info.encoding);
		values[6] = CStringGetTextDatum(info.codec);
		values[7] = Int64GetDatum((int64) info.blocks);
		values[8] = Int64GetDatum((int64) info.raw_bytes);
		values[9] = Int64GetDatum((int64) info.encoded_bytes);
		values[10] = Int64GetDatum((int64) info.nulls);
		values[11] = Int64GetDatum((int64) info.distinct);
		nulls[11] = info.distinct == 0;
		known = cc_reader_zone(reader, att->attnum, -1, &zone);
		st_show_bounds(rel, att, known ? &zone : NULL, &values[12], &nulls[12]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	cc_reader_close(reader);
}

/*
 * column_chunks(relation): row_group, first_row, attnum, column_name, type,
 * encoding, codec, blocks, raw_bytes, encoded_bytes, nulls,
 * dictionary_values, min, max.
 */
Datum
cc_column_chunks(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	StGroupList *groups;
	Relation	rel = st_open_for_inspection(PG_GETARG_OID(0), &groups);
	MemoryContext mcxt;

	InitMaterializedSRF(fcinfo, 0);
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "column chunks",
								 ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < groups->ngroups; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(mcxt);

		put_chunks(rsinfo, rel, &groups->groups[i], i + 1);
		MemoryContextSwitchTo(old);
		MemoryContextReset(mcxt);
	}
	MemoryContextDelete(mcxt);
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}
