/*-------------------------------------------------------------------------
 *
 * sf_inspect.c
 *	  column_chunks(): what columns of row groups are made of.  Who may see
 *	  what: st_inspect.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"

#include "sf_library.h"
#include "st_compat.h"

/* What comes before the numbers: st_show_column(). */
#define FIRST_NUMBER 7

static void
put_columns(ReturnSetInfo *rsinfo, Relation rel, const StGroup *group, int groupno)
{
	TupleDesc	desc = RelationGetDescr(rel);
	StReader   *reader = vx_format->store->reader_open(rel, group, CurrentMemoryContext);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		VxColumnInfo info = {0};
		StZone		zone;
		bool		known;
		Datum		values[FIRST_NUMBER + VX_COLUMN_NUMBERS + 2];
		bool		nulls[lengthof(values)] = {0};
		int			n = FIRST_NUMBER;

		CHECK_FOR_INTERRUPTS();
		if (att->attisdropped ||
			!vx_format->column_info(reader, att->attnum, &info))
			continue;
		st_show_column(group, groupno, att, info.encoding, info.codec, values);
		for (int k = 0; k < VX_COLUMN_NUMBERS; k++, n++)
		{
			values[n] = Int64GetDatum(info.numbers[k]);
			nulls[n] = info.numbers[k] < 0;
		}
		known = vx_format->zone(reader, att->attnum, -1, &zone);
		st_show_bounds(rel, att, known ? &zone : NULL, &values[n], &nulls[n]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	vx_format->store->reader_close(reader);
}

/*
 * column_chunks(relation): row_group, first_row, attnum, column_name, type,
 * encoding, codec, the format's numbers, min, max.
 */
Datum
sf_column_chunks(FunctionCallInfo fcinfo)
{
	return st_show_groups(fcinfo, put_columns);
}
