/*-------------------------------------------------------------------------
 *
 * zm_unique.c
 *	  Uniqueness of a zonemap's keys.
 *
 * A heap tuple is on its page before its index entry is made, and a zone may
 * cover it from the first moment on.  So two inserters of a key could see each
 * other's tuple, and each wait for the other.  Therefore a tuple of a running
 * transaction is a conflict only if it is *published*: an exact entry or a
 * mark for it exists.
 *
 * Where nothing has the key, neither an entry nor a tuple on the page of its
 * zone, zm_judge.c sees that and publishes the row under one exclusive lock on
 * the leaf.  Otherwise publication, which comes first, and the check happen under
 * a heavyweight lock on (index, hash of the key), a page lock with the hash for a
 * block number.  Before waiting for a transaction the row is withdrawn, and the
 * lock released.  Of two racers
 *
 *	- with the leaf locked, the second finds the first one's entry, and goes on
 *	  in the other way;
 *	- under the heavyweight lock, the first ignores the other's tuple, which is
 *	  not published, and the second finds what the first published, and waits;
 *	- of one each, the one with the leaf locked comes before the other one has
 *	  published, which finds its entry then, or after, and finds that.
 *
 * A mark has done its work when its row's transaction has ended; marks are
 * purged where a leaf is full.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "common/hashfn.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "st_compat.h"
#include "zm_heap.h"
#include "zm_insert.h"
#include "zm_tree.h"
#include "zm_wal.h"

struct ZmUnique
{
	const ZmSpace *space;
	bool		nulls_not_distinct;
	bool		prepared;		/* what follows is set */
	BlockNumber locked;			/* the key's hash */
	FmgrInfo   *hashes[INDEX_MAX_KEYS]; /* of the type cache; NULL: none that
										 * goes with the index' equality */
	Oid			equals[INDEX_MAX_KEYS];
};

/* A conflict that was found. */
typedef struct Conflict
{
	bool		found;
	TransactionId wait_for;		/* invalid: the row is there to stay */
	uint32		token;			/* of a speculative insertion */
} Conflict;

ZmUnique *
zm_unique_begin(const ZmSpace *space, MemoryContext context)
{
	ZmUnique   *unique = MemoryContextAllocZero(context, sizeof(ZmUnique));

	unique->space = space;
	unique->nulls_not_distinct = space->index->rd_index->indnullsnotdistinct;
	return unique;
}

/* Looks up functions: most rows need no check that would call them. */
static void
prepare(ZmUnique *unique)
{
	const ZmSpace *space = unique->space;
	Relation	index = space->index;

	if (unique->prepared)
		return;
	for (int i = 0; i < space->ncolumns; i++)
	{
		Oid			type = index->rd_opcintype[i];
		TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR |
												  TYPECACHE_HASH_PROC_FINFO);
		Oid			equal = get_opfamily_member(index->rd_opfamily[i], type,
												type, BTEqualStrategyNumber);

		unique->equals[i] = get_opcode(equal);
		/* The type's hash goes with the type's own equality only. */
		if (equal == entry->eq_opr && OidIsValid(entry->hash_proc))
			unique->hashes[i] = &entry->hash_proc_finfo;
	}
	unique->prepared = true;
}

/* Whether such a key can conflict with another one. */
bool
zm_unique_applies(const ZmUnique *unique, const bool *nulls)
{
	for (int i = 0; i < unique->space->ncolumns; i++)
		if (nulls[i] && !unique->nulls_not_distinct)
			return false;
	return true;
}

static BlockNumber
hash_key(ZmUnique *unique, Datum *values, bool *nulls)
{
	uint32		hash = 0;

	for (int i = 0; i < unique->space->ncolumns; i++)
		if (!nulls[i] && unique->hashes[i] != NULL)
			hash = hash_combine(hash, DatumGetUInt32(FunctionCall1Coll(unique->hashes[i],
																	   unique->space->columns[i].collation,
																	   values[i])));
	return hash;
}

/* Locks a key, for publication of a row with it and the check. */
void
zm_unique_lock(ZmUnique *unique, Datum *values, bool *nulls)
{
	prepare(unique);
	unique->locked = hash_key(unique, values, nulls);
	LockPage(unique->space->index, unique->locked, ExclusiveLock);
}

static void
unlock_key(ZmUnique *unique)
{
	UnlockPage(unique->space->index, unique->locked, ExclusiveLock);
}

/*
 * Finds the exact entry, or the mark, of a row.  If there is one, returns true,
 * with its leaf locked in lockmode, and its place.
 */
static bool
find_entry(const ZmSpace *space, Datum *values, bool *nulls, ItemPointer tid,
		   bool mark, int lockmode, Buffer *buf, OffsetNumber *off)
{
	ItemPointerData position = *tid;
	ZmTarget	target;
	Page		page;
	IndexTuple	itup;

	if (mark)
		position.ip_posid |= ZM_MARK;
	zm_target_from_values(space, &target, values, nulls, ZM_TIE_TID,
						  &position);
	*buf = zm_descend(space, &target, lockmode);
	page = BufferGetPage(*buf);
	*off = zm_search(space, page, &target);
	itup = ZmPageGetEntry(page, *off);
	if (!ZmIsZone(itup) && zm_compare(space, &target, itup) == 0)
		return true;
	UnlockReleaseBuffer(*buf);
	return false;
}

/* Whether an exact entry or a mark for the row exists. */
static bool
is_published(const ZmSpace *space, Datum *values, bool *nulls,
			 ItemPointer tid)
{
	Buffer		buf;
	OffsetNumber off;

	for (int mark = 0; mark <= 1; mark++)
		if (find_entry(space, values, nulls, tid, mark, BUFFER_LOCK_SHARE,
					   &buf, &off))
		{
			UnlockReleaseBuffer(buf);
			return true;
		}
	return false;
}

/* Takes back what publication added, a zone of the row's page aside. */
static void
withdraw(const ZmSpace *space, Datum *values, bool *nulls, ItemPointer tid)
{
	Buffer		buf;
	OffsetNumber off;

	for (int mark = 0; mark <= 1; mark++)
		if (find_entry(space, values, nulls, tid, mark, BUFFER_LOCK_EXCLUSIVE,
					   &buf, &off))
		{
			zm_log_delete(space->index, buf, &off, 1);
			UnlockReleaseBuffer(buf);
		}
}

static void
init_keys(ZmUnique *unique, Datum *values, bool *nulls, ScanKeyData *keys)
{
	for (int i = 0; i < unique->space->ncolumns; i++)
		ScanKeyEntryInitialize(&keys[i],
							   nulls[i] ? SK_ISNULL | SK_SEARCHNULL : 0,
							   i + 1, nulls[i] ? InvalidStrategy :
							   BTEqualStrategyNumber, InvalidOid,
							   unique->space->columns[i].collation,
							   nulls[i] ? InvalidOid : unique->equals[i],
							   values[i]);
}

/* Whether the row that the scan has fetched has the key, if that is in doubt. */
static bool
recheck(ZmUnique *unique, IndexScanDesc scan, TupleTableSlot *slot,
		Datum *values, bool *nulls)
{
	Datum		row_values[INDEX_MAX_KEYS];
	bool		row_nulls[INDEX_MAX_KEYS];

	if (!scan->xs_recheck)
		return true;
	for (int i = 0; i < unique->space->ncolumns; i++)
		row_values[i] = slot_getattr(slot,
									 unique->space->columns[i].heap_attno,
									 &row_nulls[i]);
	return zm_compare_values(unique->space, values, nulls, row_values,
							 row_nulls) == 0;
}

/*
 * Looks for another row with the key.  *died: one was there when `start` was
 * taken, and is not any more.
 */
static Conflict
look_for_conflict(ZmUnique *unique, Relation heap, Datum *values, bool *nulls,
				  ItemPointer tid, Snapshot start, bool *died)
{
	Conflict	conflict = {false};
	ScanKeyData keys[INDEX_MAX_KEYS];
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	SnapshotData dirty;
	IndexScanDesc scan;

	InitDirtySnapshot(dirty);
	init_keys(unique, values, nulls, keys);
	scan = st_index_beginscan_keys(heap, unique->space->index, &dirty,
								   unique->space->ncolumns);
	index_rescan(scan, keys, unique->space->ncolumns, NULL, 0);
	while (!conflict.found)
	{
		ItemPointer next = index_getnext_tid(scan, ForwardScanDirection);
		ItemPointerData root;

		if (next == NULL)
			break;
		root = *next;
		if (ItemPointerEquals(&root, tid))
			continue;
		if (!index_fetch_heap(scan, slot))
		{
			ItemPointerData gone = root;

			*died |= table_index_fetch_tuple_check(heap, &gone, start, NULL);
			continue;
		}
		if (!recheck(unique, scan, slot, values, nulls))
			continue;
		/* What publishes a row is removed only after its transaction's end. */
		if (TransactionIdIsValid(dirty.xmin) &&
			ItemPointerEquals(&root, &slot->tts_tid) &&
			!is_published(unique->space, values, nulls, &root) &&
			TransactionIdIsInProgress(dirty.xmin))
			continue;
		conflict.found = true;
		conflict.wait_for = TransactionIdIsValid(dirty.xmin) ? dirty.xmin :
			dirty.xmax;
		conflict.token = TransactionIdIsValid(dirty.xmin) ?
			dirty.speculativeToken : 0;
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	return conflict;
}

/*
 * Looks for another row with the key until nothing that was there when a look
 * began has died during it.
 *
 * A row that compaction moves has two places for a moment.  A look may come to
 * the new tuple before the move commits, which looks like a row whose own check is
 * still to come, and to the old tuple after.  Then it has met no row, though one
 * was there all the time.  But it has met the tuple that its first snapshot sees,
 * dead: that snapshot keeps it from being removed.  Rows that this transaction
 * has deleted do not count, those of the running command included.
 */
static Conflict
find_conflict(ZmUnique *unique, Relation heap, Datum *values, bool *nulls,
			  ItemPointer tid)
{
	Conflict	conflict;
	bool		died;

	do
	{
		Snapshot	start = RegisterSnapshot(GetLatestSnapshot());

		CHECK_FOR_INTERRUPTS();
		start->curcid = InvalidCommandId;	/* after all commands */
		died = false;
		conflict = look_for_conflict(unique, heap, values, nulls, tid, start,
									 &died);
		UnregisterSnapshot(start);
	} while (!conflict.found && died);
	return conflict;
}

pg_noreturn static void
complain(ZmUnique *unique, Relation heap, Datum *values, bool *nulls)
{
	Relation	index = unique->space->index;
	char	   *key = BuildIndexValueDescription(index, values, nulls);

	ereport(ERROR,
			errcode(ERRCODE_UNIQUE_VIOLATION),
			errmsg("duplicate key value violates unique constraint \"%s\"",
				   RelationGetRelationName(index)),
			key ? errdetail("Key %s already exists.", key) : 0,
			errtableconstraint(heap, RelationGetRelationName(index)));
}

/*
 * Checks that no other row has the key of a row that is published, and unlocks
 * the key.  Raises unique_violation if there is one, or sets *is_unique to false
 * in mode UNIQUE_CHECK_PARTIAL.  Returns false after waiting for a transaction
 * that might have taken its row back: then the key has to be locked, the row
 * published and the check made again.
 */
bool
zm_unique_check(ZmUnique *unique, Relation heap, Datum *values, bool *nulls,
				ItemPointer tid, IndexUniqueCheck check, bool *is_unique)
{
	Conflict	conflict = find_conflict(unique, heap, values, nulls, tid);
	bool		waits = TransactionIdIsValid(conflict.wait_for);
	ItemPointerData self = *tid;

	*is_unique = !conflict.found;
	/* CREATE INDEX CONCURRENTLY may index a row that has died since. */
	if (conflict.found && !waits && check == UNIQUE_CHECK_YES &&
		!table_index_fetch_tuple_check(heap, &self, SnapshotSelf, NULL))
		*is_unique = true;
	if (*is_unique || check == UNIQUE_CHECK_PARTIAL)
	{
		unlock_key(unique);
		return true;
	}
	if (check != UNIQUE_CHECK_EXISTING)
		withdraw(unique->space, values, nulls, tid);
	if (!waits)
		complain(unique, heap, values, nulls);
	unlock_key(unique);
	if (conflict.token != 0)
		SpeculativeInsertionWait(conflict.wait_for, conflict.token);
	else
		XactLockTableWait(conflict.wait_for, heap, tid, XLTW_InsertIndex);
	return false;
}

/* Whether the transaction that inserted a row has ended. */
bool
zm_unique_is_settled(Relation heap, ItemPointer tid)
{
	Buffer		buf;
	Page		page;
	OffsetNumber off = ItemPointerGetOffsetNumber(tid);
	bool		settled = true;

	if (!zm_block_exists(heap, ItemPointerGetBlockNumber(tid)))
		return true;
	buf = ReadBuffer(heap, ItemPointerGetBlockNumber(tid));
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buf);
	if (off <= PageGetMaxOffsetNumber(page) &&
		ItemIdIsNormal(PageGetItemId(page, off)))
	{
		HeapTupleHeader tuple = (HeapTupleHeader)
			PageGetItem(page, PageGetItemId(page, off));

		settled = HeapTupleHeaderXminCommitted(tuple) ||
			HeapTupleHeaderXminInvalid(tuple) ||
			!(TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(tuple)) ||
			  TransactionIdIsInProgress(HeapTupleHeaderGetRawXmin(tuple)));
	}
	UnlockReleaseBuffer(buf);
	return settled;
}

/*
 * Removes marks that have done their work from the leaf of a position.
 * Returns whether there were any.
 */
bool
zm_unique_purge(const ZmSpace *space, Relation heap, const ZmTarget *target)
{
	Buffer		buf = zm_descend(space, target, BUFFER_LOCK_EXCLUSIVE);
	Page		page = BufferGetPage(buf);
	OffsetNumber done[MaxIndexTuplesPerPage];
	int			ndone = 0;

	for (OffsetNumber off = ZmPageFirst(page);
		 off <= PageGetMaxOffsetNumber(page); off++)
	{
		IndexTuple	itup = ZmPageGetEntry(page, off);
		ItemPointerData tid;

		if (!ZmIsMark(itup))
			continue;
		tid = zm_row_tid(itup);
		if (zm_unique_is_settled(heap, &tid))
			done[ndone++] = off;
	}
	if (ndone > 0)
		zm_log_delete(space->index, buf, done, ndone);
	UnlockReleaseBuffer(buf);
	return ndone > 0;
}
