/*-------------------------------------------------------------------------
 *
 * st_lock.c
 *	  Who may change or lock a row of a row group (I3).
 *
 * Three things stand between a writer and a row:
 *
 * - the group's descriptor, on which every writer holds a KEY SHARE tuple
 *	 lock, so that compaction (FOR UPDATE) and writers exclude one another
 *	 (interlock of I5; remembered, so that it costs once per group);
 * - the row's tombstone: who inserted one has deleted or updated the row,
 *	 others wait for that transaction;
 * - the row's anchor, an ordinary TOAST tuple that exists once somebody
 *	 locked the row, and carries tuple locks, multixacts and waiters as any
 *	 heap tuple does.  It is inserted frozen: no anchor and an unlocked
 *	 anchor mean the same, so an abort is harmless.  A deleter of a row with
 *	 an anchor takes the anchor's exclusive lock before it makes a tombstone,
 *	 an updater that changes no key takes NO KEY UPDATE.
 *
 * Looking for tombstone and anchor and making one of them is atomic under
 * the row mutex, a heavyweight tuple lock on the virtual TID.  Nobody waits
 * for a transaction while he holds it: waiters let go and start over.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "st_store_int.h"

/* ---- interlock with compaction ---- */

typedef struct StLockedGroupKey
{
	RelFileLocator locator;
	uint64		first_row;
} StLockedGroupKey;

/* A group whose descriptor the running transaction has locked, or made. */
typedef struct StLockedGroup
{
	StLockedGroupKey key;		/* first: hash key */
	uint32		nrows;
	StGroup		group;			/* incarnation 0 */
	SubTransactionId subid;
	bool		own;			/* made by this transaction, as command cmin */
	CommandId	cmin;
} StLockedGroup;

static HTAB *locked_groups = NULL;	/* of the running transaction */
static StLockedGroup *last_locked = NULL;

static StLockedGroup *
locked_group_find(Relation rel, uint64 row)
{
	if (last_locked != NULL &&
		RelFileLocatorEquals(last_locked->key.locator,
							 st_relation_locator(rel)) &&
		row - last_locked->key.first_row < last_locked->nrows)
		return last_locked;
	return NULL;
}

bool
st_locked_group(Relation rel, uint64 row, StGroup *group)
{
	StLockedGroup *known = locked_group_find(rel, row);

	if (known == NULL)
		return false;
	*group = known->group;
	return true;
}

static StLockedGroupKey
locked_group_key(Relation rel, uint64 first_row)
{
	StLockedGroupKey key;

	memset(&key, 0, sizeof(key));
	key.locator = st_relation_locator(rel);
	key.first_row = first_row;
	return key;
}

static void
locked_group_remember(Relation rel, const StGroup *group, HeapTupleHeader header)
{
	StLockedGroupKey key = locked_group_key(rel, group->first_row);
	bool		found;

	if (locked_groups == NULL)
	{
		HASHCTL		ctl;

		ctl.keysize = sizeof(StLockedGroupKey);
		ctl.entrysize = sizeof(StLockedGroup);
		ctl.hcxt = TopTransactionContext;
		locked_groups = hash_create("locked row groups", 64, &ctl,
									HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	last_locked = hash_search(locked_groups, &key, HASH_ENTER, &found);
	if (found)
		return;
	last_locked->nrows = group->nrows;
	last_locked->group = *group;
	last_locked->subid = GetCurrentSubTransactionId();
	last_locked->own = TransactionIdIsCurrentTransactionId(group->xmin);
	last_locked->cmin = last_locked->own ? HeapTupleHeaderGetCmin(header) :
		FirstCommandId;
}

static void
not_available(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("could not obtain lock on row in relation \"%s\"",
					RelationGetRelationName(rel))));
}

/*
 * heap_lock_tuple() on a visibility tuple; errors name the table.  *tid is a
 * tuple that the caller keeps pinned.
 */
static TM_Result
lock_toast_tuple(StRowOp *op, ItemPointer tid, CommandId cid,
				 LockTupleMode mode, TM_FailureData *tmfd)
{
	LockWaitPolicy policy = op->policy == LockWaitBlock ?
		LockWaitBlock : LockWaitSkip;
	HeapTupleData tuple;
	Buffer		buffer;
	TM_Result	result;

	tuple.t_self = *tid;
	result = heap_lock_tuple(op->catalog.toast, &tuple, cid, mode, policy,
							 false, &buffer, tmfd);
	ReleaseBuffer(buffer);
	if (result == TM_WouldBlock && op->policy == LockWaitError)
		not_available(op->rel);
	return result;
}

static TM_Result check_tombstone(StRowOp *op, TransactionId *xwait);

/*
 * The row's group was compacted away: the row had been deleted before, or is
 * somewhere else now.  Nobody can change the group's tombstones any more.
 */
static TM_Result
group_gone(StRowOp *op, TransactionId xmax)
{
	TransactionId ignored;
	TM_Result	result = check_tombstone(op, &ignored);

	if (result != TM_Ok)
		return result;
	op->tmfd->ctid = op->tid;
	op->tmfd->xmax = xmax;
	op->tmfd->cmax = InvalidCommandId;
	return st_origin_of_row(&op->catalog, op->row, &op->tmfd->ctid) ?
		TM_Updated : TM_Deleted;
}

/* Locks the descriptor of the row's group, unless that was done before. */
static TM_Result
interlock(StRowOp *op)
{
	StLockedGroup *known = locked_group_find(op->rel, op->row);
	StCatalogScan scan;
	StCatalogEntry *entry;
	StGroup		group;
	TM_FailureData tmfd;
	TM_Result	result;

	if (known != NULL)
		return known->own && known->cmin >= op->cid ? TM_Invisible : TM_Ok;

	st_catalog_scan_begin(&scan, &op->catalog, ST_DESCRIPTOR,
						  op->row & ~UINT64CONST(0xffffffff), op->row,
						  SnapshotSelf);
	entry = st_catalog_scan_next(&scan, BackwardScanDirection);
	if (entry != NULL)
		st_descriptor_decode(op->rel, entry, &group);

	if (entry == NULL || op->row - group.first_row >= group.nrows)
		result = group_gone(op, InvalidTransactionId);
	else
	{
		StLockedGroupKey key = locked_group_key(op->rel, group.first_row);

		if (locked_groups != NULL &&
			(known = hash_search(locked_groups, &key, HASH_FIND, NULL)) != NULL)
		{
			last_locked = known;
			result = known->own && known->cmin >= op->cid ?
				TM_Invisible : TM_Ok;
		}
		else
		{
			ItemPointerData tid = entry->tuple->t_self;

			result = lock_toast_tuple(op, &tid, op->cid, LockTupleKeyShare,
									  &tmfd);
			if (result == TM_Ok)
				locked_group_remember(op->rel, &group, entry->tuple->t_data);
			else if (result == TM_Deleted || result == TM_Updated)
				result = group_gone(op, tmfd.xmax);
		}
	}
	st_catalog_scan_end(&scan);
	return result;
}

static void
lock_xact_callback(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE || event == XACT_EVENT_PARALLEL_COMMIT ||
		event == XACT_EVENT_PARALLEL_ABORT)
	{
		/* It lives in TopTransactionContext. */
		locked_groups = NULL;
		last_locked = NULL;
	}
}

static void
lock_subxact_callback(SubXactEvent event, SubTransactionId subid,
					  SubTransactionId parent, void *arg)
{
	HASH_SEQ_STATUS seq;
	StLockedGroup *g;

	if (locked_groups == NULL ||
		(event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB))
		return;

	last_locked = NULL;
	hash_seq_init(&seq, locked_groups);
	while ((g = hash_seq_search(&seq)) != NULL)
	{
		if (g->subid != subid)
			continue;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			g->subid = parent;
		else
			hash_search(locked_groups, &g->key, HASH_REMOVE, NULL);
	}
}

void
st_lock_forget(Relation rel)
{
	HASH_SEQ_STATUS seq;
	StLockedGroup *g;

	if (locked_groups == NULL)
		return;
	last_locked = NULL;
	hash_seq_init(&seq, locked_groups);
	while ((g = hash_seq_search(&seq)) != NULL)
	{
		if (RelFileLocatorEquals(g->key.locator, st_relation_locator(rel)))
			hash_search(locked_groups, &g->key, HASH_REMOVE, NULL);
	}
}

void
st_lock_init(void)
{
	RegisterXactCallback(lock_xact_callback, NULL);
	RegisterSubXactCallback(lock_subxact_callback, NULL);
}

/* ---- one row ---- */

void
st_row_op_begin(StRowOp *op, Relation rel, ItemPointer tid, CommandId cid,
				TM_FailureData *tmfd)
{
	memset(op, 0, sizeof(*op));
	op->rel = rel;
	op->tid = *tid;
	op->row = st_row_from_tid(tid);
	op->cid = cid;
	op->tmfd = tmfd;
	tmfd->traversed = false;
	if (!st_catalog_open(&op->catalog, rel, RowExclusiveLock))
		elog(ERROR, "relation \"%s\" has no row groups",
			 RelationGetRelationName(rel));
	st_pending_flush_row(rel, op->row);
}

void
st_row_op_end(StRowOp *op)
{
	st_catalog_close(&op->catalog);
}

static void
row_mutex_lock(StRowOp *op)
{
	LockTuple(op->rel, &op->tid, ExclusiveLock);
}

void
st_row_release(StRowOp *op)
{
	UnlockTuple(op->rel, &op->tid, ExclusiveLock);
}

/*
 * Looks for a tombstone, under the row mutex.  TM_Ok: there is none.
 * TM_BeingModified: *xwait is making one.
 */
static TM_Result
check_tombstone(StRowOp *op, TransactionId *xwait)
{
	SnapshotData dirty;
	StCatalogScan scan;
	StCatalogEntry *entry;
	TM_Result	result = TM_Ok;

	InitDirtySnapshot(dirty);
	st_catalog_scan_begin(&scan, &op->catalog, ST_TOMBSTONE, op->row, op->row,
						  &dirty);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	if (entry != NULL)
	{
		TM_FailureData *tmfd = op->tmfd;

		st_tombstone_decode(op->rel, entry, &tmfd->ctid);
		op->updater = HeapTupleHeaderGetRawXmin(entry->tuple->t_data);
		tmfd->xmax = op->updater;
		tmfd->cmax = InvalidCommandId;

		if (TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(entry->tuple->t_data)))
		{
			tmfd->cmax = HeapTupleHeaderGetCmin(entry->tuple->t_data);
			result = tmfd->cmax >= op->cid ? TM_SelfModified : TM_Invisible;
		}
		else if (TransactionIdIsValid(dirty.xmin))
		{
			*xwait = dirty.xmin;
			result = TM_BeingModified;
		}
		else if (ItemPointerEquals(&tmfd->ctid, &op->tid))
			result = TM_Deleted;
		else
			result = TM_Updated;
	}
	st_catalog_scan_end(&scan);
	return result;
}

/* Waits for another deleter, as the policy says.  False: do not wait. */
static bool
wait_for(StRowOp *op, TransactionId xwait)
{
	switch (op->policy)
	{
		case LockWaitBlock:
			XactLockTableWait(xwait, op->rel, &op->tid, op->oper);
			return true;
		case LockWaitSkip:
			return st_conditional_xact_lock_wait(xwait, false);
		case LockWaitError:
			if (!st_conditional_xact_lock_wait(xwait, true))
				not_available(op->rel);
			return true;
	}
	return false;
}

/*
 * Makes the anchor and locks it, under the row mutex.  Nobody else can have
 * found it yet, so the lock is there for the taking; if it is not (VACUUM
 * may have removed the anchor), the caller looks again.
 */
static bool
insert_anchor(StRowOp *op)
{
	StAnchorPayload payload = {.version = ST_ANCHOR_VERSION};
	TM_FailureData tmfd;
	HeapTupleData tuple;
	Buffer		buffer;
	TM_Result	result;

	st_catalog_insert(&op->catalog, ST_ANCHOR, op->row, &payload,
					  sizeof(payload), op->cid, HEAP_INSERT_FROZEN,
					  &tuple.t_self);
	result = heap_lock_tuple(op->catalog.toast, &tuple, op->cid, op->mode,
							 LockWaitSkip, false, &buffer, &tmfd);
	ReleaseBuffer(buffer);
	return result == TM_Ok;
}

typedef enum AnchorState
{
	ANCHOR_NONE,				/* mutex still held */
	ANCHOR_HELD,				/* the lock was ours before, mutex still held */
	ANCHOR_LOCKED,				/* the lock is ours now, mutex released */
	ANCHOR_RETRY,				/* mutex released, look again */
	ANCHOR_WOULD_BLOCK			/* mutex released */
} AnchorState;

/*
 * Looks for the anchor, under the row mutex, and locks it.  Locking may
 * wait, so the mutex is released first and the caller has to look at the
 * tombstone again.
 */
static AnchorState
lock_anchor(StRowOp *op, bool have_lock)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	TM_FailureData tmfd;
	ItemPointerData tid;
	TM_Result	result;

	st_catalog_scan_begin(&scan, &op->catalog, ST_ANCHOR, op->row, op->row,
						  SnapshotSelf);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	if (entry == NULL || have_lock)
	{
		st_catalog_scan_end(&scan);
		return entry == NULL ? ANCHOR_NONE : ANCHOR_HELD;
	}

	st_row_release(op);
	if (op->new_row != NULL)
		op->mode = st_update_lock_mode(op->rel, &op->tid, op->new_row);
	tid = entry->tuple->t_self; /* pinned by the scan: cannot be pruned */
	result = lock_toast_tuple(op, &tid, op->cid, op->mode, &tmfd);
	st_catalog_scan_end(&scan);
	return result == TM_WouldBlock ? ANCHOR_WOULD_BLOCK :
		result == TM_Ok ? ANCHOR_LOCKED : ANCHOR_RETRY;
}

/*
 * FOR KEY SHARE meets an UPDATE in progress, under the row mutex.  If that
 * changes no key, the two get along: the lock is taken on the new version,
 * and on the anchor in case the update is rolled back.  False: wait.
 */
static bool
lock_beside_update(StRowOp *op)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	TM_FailureData tmfd;
	bool		locked;

	if (op->mode != LockTupleKeyShare || !op->keep_lock ||
		!st_update_keeps_key(op, &op->tmfd->ctid))
		return false;

	st_catalog_scan_begin(&scan, &op->catalog, ST_ANCHOR, op->row, op->row,
						  SnapshotSelf);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	if (entry == NULL)
		locked = insert_anchor(op);
	else
	{
		HeapTupleData tuple;
		Buffer		buffer;

		tuple.t_self = entry->tuple->t_self;
		locked = heap_lock_tuple(op->catalog.toast, &tuple, op->cid, op->mode,
								 LockWaitSkip, false, &buffer, &tmfd) == TM_Ok;
		ReleaseBuffer(buffer);
	}
	st_catalog_scan_end(&scan);
	return locked && st_add_key_lock(op, &op->tmfd->ctid);
}

TM_Result
st_row_acquire(StRowOp *op)
{
	bool		have_lock = false;
	TM_Result	result = interlock(op);

	if (result != TM_Ok)
		return result;

	for (;;)
	{
		TransactionId xwait = InvalidTransactionId;

		CHECK_FOR_INTERRUPTS();
		row_mutex_lock(op);
		result = check_tombstone(op, &xwait);
		if (result == TM_BeingModified && lock_beside_update(op))
			return TM_Ok;
		if (result != TM_Ok)
		{
			st_row_release(op);
			if (result != TM_BeingModified)
				return result;
			if (!wait_for(op, xwait))
				return TM_WouldBlock;
			continue;
		}

		switch (lock_anchor(op, have_lock))
		{
			case ANCHOR_NONE:
				if (!op->keep_lock || insert_anchor(op))
					return TM_Ok;
				st_row_release(op);
				have_lock = false;
				break;
			case ANCHOR_HELD:
				return TM_Ok;
			case ANCHOR_LOCKED:
				have_lock = true;
				break;
			case ANCHOR_RETRY:
				break;
			case ANCHOR_WOULD_BLOCK:
				return TM_WouldBlock;
		}
	}
}

/* ---- the table AM's tuple_lock ---- */

/*
 * Did compaction move the version at the end of a chain of the delta?  *tid
 * is a version whose latest one heap has found deleted; prior is who must
 * have inserted it, or invalid.  The page of a version stays pinned while we
 * look at it.
 */
static bool
find_moved(Relation rel, const ItemPointerData *tid, TransactionId prior,
		   ItemPointer now)
{
	HeapTupleData tuple;

	tuple.t_self = *tid;
	for (;;)
	{
		ItemPointerData next;
		Buffer		buffer;
		HeapTupleHeader header;
		TransactionId xmax;
		bool		found;

		CHECK_FOR_INTERRUPTS();
		found = heap_fetch(rel, SnapshotAny, &tuple, &buffer, false);
		if (!found)
			return false;
		header = tuple.t_data;
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		next = header->t_ctid;
		xmax = HeapTupleHeaderGetUpdateXid(header);
		found = (header->t_infomask & HEAP_XMAX_INVALID) == 0 &&
			!HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask) &&
			(!TransactionIdIsValid(prior) ||
			 HeapTupleHeaderGetRawXmin(header) == prior);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		ReleaseBuffer(buffer);

		if (!found || ItemPointerIndicatesMovedPartitions(&next))
			return false;
		if (ItemPointerEquals(&next, &tuple.t_self))
			return st_origin_of_tid(rel, &tuple.t_self, xmax, now);
		tuple.t_self = next;
		prior = xmax;
	}
}

/*
 * The row that heap found deleted at *tid: is it somewhere else?  Then
 * TM_Updated, with its place in tmfd->ctid.
 */
TM_Result
st_deleted_or_moved(Relation rel, const ItemPointerData *tid,
					TransactionId prior, TM_FailureData *tmfd)
{
	return find_moved(rel, tid, prior, &tmfd->ctid) ? TM_Updated : TM_Deleted;
}

/*
 * Goes on to the latest version, from the one that a tombstone forwards to.
 * From there on it is the chain of t_ctids that heapam walks, with the same
 * rules: a tuple belongs to the chain only if who changed the version before
 * inserted it (else the line pointer was reused); what this command itself
 * changed is TM_SelfModified.  The page of the tuple stays pinned until it is
 * locked, so that it is not pruned.  TM_Updated: compaction has moved the
 * latest version to tmfd->ctid, in a row group.
 */
static TM_Result
lock_next_version(StRowOp *op, ItemPointer tid, Snapshot snapshot,
				  TupleTableSlot *slot, uint8 flags)
{
	TM_FailureData *tmfd = op->tmfd;
	ItemPointerData next = tmfd->ctid;
	TransactionId prior = op->updater;

	for (;;)
	{
		SnapshotData dirty;
		HeapTupleData tuple;
		HeapTupleHeader header;
		Buffer		buffer;
		TM_Result	result = TM_Deleted;
		bool		live;

		CHECK_FOR_INTERRUPTS();
		if (ItemPointerIndicatesMovedPartitions(&next))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("tuple to be locked was already moved to another partition due to concurrent update")));

		InitDirtySnapshot(dirty);
		tuple.t_self = next;
		live = heap_fetch(op->rel, &dirty, &tuple, &buffer, true);
		header = tuple.t_data;
		if (header == NULL)
			return TM_Deleted;

		if (HeapTupleHeaderGetRawXmin(header) != prior)
			live = false;
		else if (live && TransactionIdIsValid(dirty.xmax))
		{
			ReleaseBuffer(buffer);
			if (!wait_for(op, dirty.xmax))
				return TM_WouldBlock;
			continue;
		}
		else if (live && TransactionIdIsCurrentTransactionId(prior) &&
				 HeapTupleHeaderGetCmin(header) >= op->cid)
		{
			tmfd->xmax = prior;
			tmfd->cmax = HeapTupleHeaderGetCmin(header);
			result = TM_SelfModified;
		}
		else if (live)
		{
			*tid = next;
			result = st_heapam()->tuple_lock(op->rel, tid, snapshot, slot,
											 op->cid, op->mode, op->policy,
											 flags, tmfd);
			if (result == TM_Deleted)
				result = st_deleted_or_moved(op->rel, &next, prior, tmfd);
		}
		else if (!ItemPointerEquals(&tuple.t_self, &header->t_ctid))
		{
			next = header->t_ctid;
			prior = HeapTupleHeaderGetUpdateXid(header);
			ReleaseBuffer(buffer);
			continue;
		}
		else
			result = st_deleted_or_moved(op->rel, &next, prior, tmfd);
		ReleaseBuffer(buffer);
		return result;
	}
}

/*
 * Fills the slot with the row.  A deleter does not matter: we hold a lock, or
 * the caller asks who made the row.
 */
static void
fetch_locked(StRowOp *op, TupleTableSlot *slot)
{
	StFetch		fetch;

	st_fetch_init(&fetch, op->rel);
	if (st_fetch_row(&fetch, &op->tid, SnapshotAny, slot))
		ExecMaterializeSlot(slot);	/* its values may be the fetch's */
	else
		elog(ERROR, "locked row (%u,%u) of relation \"%s\" is gone",
			 ItemPointerGetBlockNumber(&op->tid),
			 ItemPointerGetOffsetNumber(&op->tid),
			 RelationGetRelationName(op->rel));
	st_fetch_end(&fetch);
}

/*
 * The same for a row of a row group.  TM_Updated, with FIND_LAST_VERSION:
 * the row is at tmfd->ctid now, a virtual TID.
 */
static TM_Result
lock_row(Relation rel, ItemPointer tid, Snapshot snapshot,
		 TupleTableSlot *slot, CommandId cid, LockTupleMode mode,
		 LockWaitPolicy policy, uint8 flags, TM_FailureData *tmfd)
{
	StRowOp		op;
	TM_Result	result;

	st_row_op_begin(&op, rel, tid, cid, tmfd);
	op.mode = mode;
	op.policy = policy;
	op.oper = XLTW_Lock;
	op.keep_lock = true;

	result = st_row_acquire(&op);
	if (result == TM_Ok)
	{
		st_row_release(&op);
		fetch_locked(&op, slot);
	}
	else if (result == TM_Invisible)
		fetch_locked(&op, slot);	/* ON CONFLICT asks who made it */
	else if (result == TM_Updated &&
			 (flags & TUPLE_LOCK_FLAG_FIND_LAST_VERSION) != 0 &&
			 !st_tid_is_virtual(&tmfd->ctid))
	{
		result = lock_next_version(&op, tid, snapshot, slot, flags);
		tmfd->traversed = true;
	}
	st_row_op_end(&op);
	return result;
}

/*
 * Goes on to where compaction has moved a row, and again as often as it was
 * moved since: *tid is a place where it is no more, tmfd->ctid the next one.
 */
static TM_Result
lock_moved(Relation rel, ItemPointer tid, Snapshot snapshot,
		   TupleTableSlot *slot, CommandId cid, LockTupleMode mode,
		   LockWaitPolicy policy, uint8 flags, TM_FailureData *tmfd)
{
	TM_Result	result = TM_Updated;

	while (result == TM_Updated && st_tid_is_virtual(&tmfd->ctid))
	{
		CHECK_FOR_INTERRUPTS();
		*tid = tmfd->ctid;
		result = lock_row(rel, tid, snapshot, slot, cid, mode, policy, flags,
						  tmfd);
	}
	return result;
}

/*
 * Whose snapshot is kept for the transaction may not go on to a newer
 * version; but a row that was only moved is still the same, and may be locked
 * where it is.  (A change is refused, see st_tuple_update().)
 */
TM_Result
st_tuple_lock(Relation rel, ItemPointer tid, Snapshot snapshot,
			  TupleTableSlot *slot, CommandId cid, LockTupleMode mode,
			  LockWaitPolicy policy, uint8 flags, TM_FailureData *tmfd)
{
	ItemPointerData start = *tid;
	TM_Result	result;

	if (st_tid_is_virtual(tid))
		result = lock_row(rel, tid, snapshot, slot, cid, mode, policy, flags,
						  tmfd);
	else
	{
		result = st_heapam()->tuple_lock(rel, tid, snapshot, slot, cid, mode,
										 policy, flags, tmfd);
		if (result == TM_Deleted)
			result = st_deleted_or_moved(rel, &start, InvalidTransactionId,
										 tmfd);
	}

	if (result != TM_Updated || !st_tid_is_virtual(&tmfd->ctid))
		return result;
	if ((flags & TUPLE_LOCK_FLAG_FIND_LAST_VERSION) != 0)
	{
		result = lock_moved(rel, tid, snapshot, slot, cid, mode, policy, flags,
							tmfd);
		tmfd->traversed = true;
	}
	else if (IsolationUsesXactSnapshot())
	{
		ItemPointerData now;

		result = lock_moved(rel, &now, snapshot, slot, cid, mode, policy,
							flags, tmfd);
		if (result == TM_Ok)
			slot->tts_tid = start;
	}
	return result;
}
