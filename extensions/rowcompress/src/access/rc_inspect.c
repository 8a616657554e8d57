/*-------------------------------------------------------------------------
 *
 * rc_inspect.c
 *	  Functions that show what a table is made of: columns of row groups,
 *	  their batches.  Who may see what: st_inspect.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "rc_batch.h"
#include "st_compat.h"
#include "st_inspect.h"

PG_FUNCTION_INFO_V1(rc_column_chunks);
PG_FUNCTION_INFO_V1(rc_batches);

static void
put_columns(ReturnSetInfo *rsinfo, Relation rel, const StGroup *group, int groupno)
{
	TupleDesc	desc = RelationGetDescr(rel);
	StReader   *reader = rc_reader_open(rel, group, CurrentMemoryContext);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		RcColumnInfo info;
		StZone		zone;
		bool		known;
		Datum		values[14];
		bool		nulls[14] = {0};

		CHECK_FOR_INTERRUPTS();
		if (att->attisdropped || !rc_reader_column_info(reader, att->attnum, &info))
			continue;
		st_show_column(group, groupno, att, info.encoding, info.codec, values);
		values[7] = Int64GetDatum((int64) info.raw_bytes);
		values[8] = Int64GetDatum((int64) info.stored_bytes);
		values[9] = Int64GetDatum((int64) info.nulls);
		values[10] = Int64GetDatum((int64) info.distinct);
		nulls[10] = info.distinct == 0;
		values[11] = Int64GetDatum((int64) info.codec_dict_bytes);
		nulls[11] = info.codec_dict_bytes == 0;
		known = rc_reader_zone(reader, att->attnum, -1, &zone);
		st_show_bounds(rel, att, known ? &zone : NULL, &values[12], &nulls[12]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	rc_reader_close(reader);
}

/*
 * column_chunks(relation): row_group, first_row, attnum, column_name, type,
 * encoding, codec, raw_bytes, stored_bytes, nulls, dictionary_values,
 * codec_dictionary_bytes, min, max.
 */
Datum
rc_column_chunks(PG_FUNCTION_ARGS)
{
	return st_show_groups(fcinfo, put_columns);
}

static void
put_batches(ReturnSetInfo *rsinfo, Relation rel, const StGroup *group, int groupno)
{
	StReader   *reader = rc_reader_open(rel, group, CurrentMemoryContext);

	for (uint32 b = 0; b < rc_reader_nbatches(reader); b++)
	{
		uint32		start = rc_reader_batch_start(reader, b);
		Datum		values[6];
		bool		nulls[6] = {0};

		CHECK_FOR_INTERRUPTS();
		values[0] = Int32GetDatum(groupno);
		values[1] = Int32GetDatum((int32) b);
		values[2] = Int64GetDatum((int64) (group->first_row + start));
		values[3] = Int32GetDatum((int32) (rc_reader_batch_start(reader, b + 1) - start));
		values[4] = Int64GetDatum((int64) rc_reader_batch_bytes(reader, b));
		values[5] = Int32GetDatum((int32) rc_reader_batch_pages(reader, b));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	rc_reader_close(reader);
}

/* batches(relation): row_group, batch, first_row, rows, bytes, pages. */
Datum
rc_batches(PG_FUNCTION_ARGS)
{
	return st_show_groups(fcinfo, put_batches);
}
