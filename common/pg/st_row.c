/*-------------------------------------------------------------------------
 *
 * st_row.c
 *	  Storing rows of row groups into slots of the table.
 *
 * Heap's functions need slots of TTSOpsBufferHeapTuple, and whoever asks for
 * xmin or cmin needs a tuple header: so a row becomes a heap tuple in the
 * slot's memory, without a buffer.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "executor/tuptable.h"
#include "utils/memutils.h"

#include "st_store_int.h"

/* A larger row is stored without a header: the sum may exceed one palloc. */
#define ST_MAX_FORMED	((Size) MaxAllocSize / 2)

static HeapTuple
row_form_tuple(TupleDesc desc, Relation rel, const StGroup *group,
			   const ItemPointerData *tid, const Datum *values,
			   const bool *isnull)
{
	HeapTuple	tuple = heap_form_tuple(desc, unconstify(Datum *, values),
										unconstify(bool *, isnull));

	HeapTupleHeaderSetXmin(tuple->t_data, group->xmin);
	HeapTupleHeaderSetCmin(tuple->t_data, group->cmin);
	HeapTupleHeaderSetXmax(tuple->t_data, InvalidTransactionId);
	tuple->t_data->t_infomask |= HEAP_XMAX_INVALID;
	tuple->t_data->t_ctid = *tid;
	tuple->t_self = *tid;
	tuple->t_tableOid = RelationGetRelid(rel);
	return tuple;
}

void
st_store_row(TupleTableSlot *slot, Relation rel, const StGroup *group,
			 uint32 row, const Datum *values, const bool *isnull)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	ItemPointerData tid;

	st_tid_from_row(&tid, group->first_row + row);
	ExecClearTuple(slot);

	if (TTS_IS_BUFFERTUPLE(slot) &&
		heap_compute_data_size(desc, unconstify(Datum *, values),
							   unconstify(bool *, isnull)) < ST_MAX_FORMED)
	{
		BufferHeapTupleTableSlot *bslot = (BufferHeapTupleTableSlot *) slot;
		MemoryContext oldcxt = MemoryContextSwitchTo(slot->tts_mcxt);

		bslot->base.tuple = row_form_tuple(desc, rel, group, &tid, values,
										   isnull);
		bslot->base.off = 0;
		bslot->buffer = InvalidBuffer;
		MemoryContextSwitchTo(oldcxt);
		slot->tts_flags &= ~TTS_FLAG_EMPTY;
		slot->tts_flags |= TTS_FLAG_SHOULDFREE;
	}
	else
	{
		memcpy(slot->tts_values, values, desc->natts * sizeof(Datum));
		memcpy(slot->tts_isnull, isnull, desc->natts * sizeof(bool));
		ExecStoreVirtualTuple(slot);
	}
	slot->tts_tid = tid;
	slot->tts_tableOid = RelationGetRelid(rel);
}
