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

#include "st_visibility.h"

/* A larger row is stored without a header: the sum may exceed one palloc. */
#define ST_MAX_FORMED	((Size) MaxAllocSize / 2)

/* System columns of a tuple in private memory. */
static void
set_system_columns(HeapTuple tuple, Relation rel, TransactionId xmin,
				   CommandId cmin, const ItemPointerData *tid)
{
	HeapTupleHeaderSetXmin(tuple->t_data, xmin);
	HeapTupleHeaderSetCmin(tuple->t_data, cmin);
	HeapTupleHeaderSetXmax(tuple->t_data, InvalidTransactionId);
	tuple->t_data->t_infomask |= HEAP_XMAX_INVALID;
	tuple->t_data->t_ctid = *tid;
	tuple->t_self = *tid;
	tuple->t_tableOid = RelationGetRelid(rel);
}

static HeapTuple
row_form_tuple(TupleDesc desc, Relation rel, const StGroup *group,
			   const ItemPointerData *tid, const Datum *values,
			   const bool *isnull)
{
	HeapTuple	tuple = heap_form_tuple(desc, unconstify(Datum *, values),
										unconstify(bool *, isnull));

	set_system_columns(tuple, rel, group->xmin, group->cmin, tid);
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

void
st_store_virtual_row(TupleTableSlot *slot, Relation rel, uint64 row)
{
	ExecStoreVirtualTuple(slot);
	st_tid_from_row(&slot->tts_tid, row);
	slot->tts_tableOid = RelationGetRelid(rel);
}

/*
 * A slot whose row went into a row group: its TID, and for RETURNING, if it
 * holds a tuple of its own, the system columns.
 */
void
st_stamp_row(TupleTableSlot *slot, Relation rel, uint64 row,
			 TransactionId xmin, CommandId cmin)
{
	st_tid_from_row(&slot->tts_tid, row);
	slot->tts_tableOid = RelationGetRelid(rel);

	if (TTS_IS_BUFFERTUPLE(slot) && TTS_SHOULDFREE(slot))
	{
		BufferHeapTupleTableSlot *bslot = (BufferHeapTupleTableSlot *) slot;

		Assert(!BufferIsValid(bslot->buffer));
		set_system_columns(bslot->base.tuple, rel, xmin, cmin, &slot->tts_tid);
	}
}

/*
 * The row in the slot is one that SnapshotAny sees, maybe deleted: by whom is
 * what DELETE ... RETURNING xmax shows, and an AFTER trigger's OLD.
 */
void
st_stamp_deleter(TupleTableSlot *slot, Relation rel)
{
	BufferHeapTupleTableSlot *bslot = (BufferHeapTupleTableSlot *) slot;
	uint64		row = st_row_from_tid(&slot->tts_tid);
	StCatalog	cat;
	StDeletion	deletion;
	StCatalogEntry *entry;

	if (!TTS_IS_BUFFERTUPLE(slot) || !TTS_SHOULDFREE(slot) ||
		!st_catalog_open(&cat, rel, AccessShareLock))
		return;
	entry = st_deletion_begin(&deletion, &cat, row, SnapshotSelf, ST_ASK_MOWN);
	if (entry != NULL)
	{
		HeapTupleHeader header = bslot->base.tuple->t_data;

		HeapTupleHeaderSetXmax(header,
							   HeapTupleHeaderGetRawXmin(entry->tuple->t_data));
		header->t_infomask &= ~HEAP_XMAX_INVALID;
	}
	st_deletion_end(&deletion);
	st_catalog_close(&cat);
}
