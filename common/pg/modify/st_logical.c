/*-------------------------------------------------------------------------
 *
 * st_logical.c
 *	  Logical decoding of deleted row-group rows (I7).
 *
 * Tombstones mean nothing to a decoder.  So a deletion of a row-group row
 * also emits heap's own delete record with the old key, on a dummy tuple of
 * the delta that no snapshot ever sees: inserted by this (sub)transaction
 * without being decoded, and deleted by the same command.  An UPDATE reaches
 * subscribers as DELETE and INSERT.
 *
 * A dummy is never shared between subtransactions: an abort of the deleter
 * would bring it to life.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "executor/tuptable.h"
#include "storage/bufmgr.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"

#include "st_modify.h"
#include "st_read.h"
#include "st_wal.h"

/* A record of more than 1020 MB would fail where no error is allowed. */
#define ST_MAX_OLD_TUPLE ((Size) 1000 * 1024 * 1024)

/*
 * The old key of a row: columns of the replica identity, others null.
 */
static HeapTuple
form_old_key(Relation rel, ItemPointer tid, bool full, Bitmapset *attrs)
{
	TupleDesc	desc = RelationGetDescr(rel);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc,
													&TTSOpsBufferHeapTuple);
	StFetch		fetch;
	HeapTuple	key;

	st_fetch_init(&fetch, rel);
	if (!st_fetch_row(&fetch, tid, SnapshotSelf, slot))
		elog(ERROR, "row (%u,%u) of relation \"%s\" is gone",
			 ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid),
			 RelationGetRelationName(rel));

	slot_getallattrs(slot);
	if (full)
		key = heap_form_tuple(desc, slot->tts_values, slot->tts_isnull);
	else
	{
		Datum	   *values = palloc0(desc->natts * sizeof(Datum));
		bool	   *isnull = palloc(desc->natts * sizeof(bool));

		for (int i = 0; i < desc->natts; i++)
		{
			isnull[i] = slot->tts_isnull[i] ||
				!bms_is_member(i + 1 - FirstLowInvalidHeapAttributeNumber,
							   attrs);
			if (!isnull[i])
				values[i] = slot->tts_values[i];
		}
		key = heap_form_tuple(desc, values, isnull);
		pfree(values);
		pfree(isnull);
	}

	ExecDropSingleTupleTableSlot(slot);
	st_fetch_end(&fetch);
	return key;
}

/* Inserts the dummy tuple; returns its place. */
static ItemPointerData
insert_dummy(Relation rel, CommandId cid)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Datum	   *values = palloc0(Max(desc->natts, 1) * sizeof(Datum));
	bool	   *isnull = palloc(Max(desc->natts, 1) * sizeof(bool));
	HeapTuple	dummy;
	ItemPointerData tid;

	memset(isnull, true, desc->natts * sizeof(bool));
	dummy = heap_form_tuple(desc, values, isnull);
	heap_insert(rel, dummy, cid, HEAP_INSERT_NO_LOGICAL, NULL);
	tid = dummy->t_self;
	heap_freetuple(dummy);
	pfree(values);
	pfree(isnull);
	return tid;
}

/* Deletes the dummy in the name of the row. */
static void
delete_dummy(Relation rel, ItemPointer tid, HeapTuple key, bool full)
{
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	st_wal_delete_tuple(buffer, ItemPointerGetOffsetNumber(tid), key, full);
	UnlockReleaseBuffer(buffer);
}

/*
 * All null, inserted and deleted by one (sub)transaction.  A row of a user
 * can look so, too; nobody but that transaction could ever see it.
 */
bool
st_is_logical_dummy(HeapTuple tuple)
{
	HeapTupleHeader header = tuple->t_data;
	uint16		infomask = header->t_infomask;

	return tuple->t_len == header->t_hoff && (infomask & HEAP_HASNULL) != 0 &&
		(infomask & (HEAP_XMAX_INVALID | HEAP_XMAX_IS_MULTI)) == 0 &&
		!HEAP_XMAX_IS_LOCKED_ONLY(infomask) &&
		!HeapTupleHeaderIsHotUpdated(header) &&
		!HeapTupleHeaderIsHeapOnly(header) &&
		HeapTupleHeaderGetRawXmin(header) == HeapTupleHeaderGetRawXmax(header);
}

void
st_logical_delete(Relation rel, ItemPointer tid, CommandId cid)
{
	bool		full = rel->rd_rel->relreplident == REPLICA_IDENTITY_FULL;
	Bitmapset  *attrs = NULL;
	ItemPointerData dummy;
	HeapTuple	key;

	if (!RelationIsLogicallyLogged(rel) ||
		rel->rd_rel->relreplident == REPLICA_IDENTITY_NOTHING)
		return;
	if (!full)
	{
		attrs = RelationGetIndexAttrBitmap(rel,
										   INDEX_ATTR_BITMAP_IDENTITY_KEY);
		if (bms_is_empty(attrs))
			return;
	}

	key = form_old_key(rel, tid, full, attrs);
	if (key->t_len > ST_MAX_OLD_TUPLE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("old row of %u bytes of relation \"%s\" does not fit into a WAL record",
						key->t_len, RelationGetRelationName(rel)),
				 errhint("Choose a narrower replica identity.")));
	dummy = insert_dummy(rel, cid);
	delete_dummy(rel, &dummy, key, full);
	heap_freetuple(key);
	bms_free(attrs);
}
