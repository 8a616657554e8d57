/*-------------------------------------------------------------------------
 *
 * rc_inspect.c
 *	  Shows the batches of row groups.  Who may see what: st_inspect.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"

#include "rc_batch.h"
#include "st_compat.h"
#include "st_inspect.h"

PG_FUNCTION_INFO_V1(rc_batches);

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
