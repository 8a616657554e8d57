/*-------------------------------------------------------------------------
 *
 * st_scan_back.c
 *	  Custom scans that can run backwards, for cursors.
 *
 * Vectors are walked forwards only.  So a tuplestore keeps the TIDs of the
 * rows that were returned; it goes to disk when work_mem is full.  A row that
 * is wanted again is fetched by its TID with the cursor's snapshot.  Its
 * conditions were true and are not evaluated again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/tupdesc.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"

#include "st_compat.h"
#include "st_scan_back.h"

struct StScanBack
{
	Tuplestorestate *tids;
	TupleDesc	desc;			/* one int8 */
	TupleTableSlot *slot;
	bool		at_end;			/* of the scan itself */
};

StScanBack *
st_scan_back_create(void)
{
	StScanBack *back = palloc0(sizeof(StScanBack));

	back->tids = tuplestore_begin_heap(true, false, work_mem);
	back->desc = CreateTemplateTupleDesc(1);
	TupleDescInitEntry(back->desc, 1, "tid", INT8OID, -1, 0);
	TupleDescFinalize(back->desc);
	back->slot = MakeSingleTupleTableSlot(back->desc, &TTSOpsMinimalTuple);
	return back;
}

static void
keep_tid(StScanBack *back, const ItemPointerData *tid)
{
	Datum		value = Int64GetDatum(((int64) ItemPointerGetBlockNumberNoCheck(tid) << 16) |
									  ItemPointerGetOffsetNumberNoCheck(tid));
	bool		isnull = false;

	tuplestore_putvalues(back->tids, back->desc, &value, &isnull);
}

/* Fills the scan slot with the row whose TID stands in back->slot. */
static TupleTableSlot *
fetch_again(StScanBack *back, ScanState *node)
{
	bool		isnull;
	int64		value = DatumGetInt64(slot_getattr(back->slot, 1, &isnull));
	ItemPointerData tid;

	ItemPointerSet(&tid, (BlockNumber) (value >> 16), (OffsetNumber) (value & 0xffff));
	if (!table_tuple_fetch_row_version(node->ss_currentRelation, &tid,
									   node->ps.state->es_snapshot,
									   node->ss_ScanTupleSlot))
		elog(ERROR, "row (%u,%u) of a cursor is gone",
			 ItemPointerGetBlockNumberNoCheck(&tid),
			 ItemPointerGetOffsetNumberNoCheck(&tid));
	return node->ss_ScanTupleSlot;
}

TupleTableSlot *
st_scan_back_next(StScanBack *back, ScanState *node,
				  TupleTableSlot *(*next) (ScanState *node), bool *again)
{
	bool		forward = ScanDirectionIsForward(node->ps.state->es_direction);
	bool		behind_last = tuplestore_ateof(back->tids);
	TupleTableSlot *slot;

	/*
	 * The tuplestore stands behind the row returned last: turning round means
	 * to step over that, unless the scan had already run off its end.
	 */
	*again = true;
	if (!forward && behind_last)
	{
		if (!back->at_end && !tuplestore_advance(back->tids, false))
			return NULL;
		behind_last = false;
	}
	if (!behind_last)
	{
		if (tuplestore_gettupleslot(back->tids, forward, false, back->slot))
			return fetch_again(back, node);
		if (!forward)
			return NULL;
	}
	*again = false;
	if (back->at_end)
		return NULL;
	slot = next(node);
	if (TupIsNull(slot))
	{
		back->at_end = true;
		return NULL;
	}
	keep_tid(back, &slot->tts_tid);
	return slot;
}

void
st_scan_back_rescan(StScanBack *back)
{
	tuplestore_clear(back->tids);
	back->at_end = false;
}

void
st_scan_back_end(StScanBack *back)
{
	tuplestore_end(back->tids);
	ExecDropSingleTupleTableSlot(back->slot);
}
