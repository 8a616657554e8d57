/*-------------------------------------------------------------------------
 *
 * st_lock_group.c
 *	  The interlock of writers with compaction (I5).
 *
 * Every transaction that locks, updates or deletes a row of a row group holds
 * a KEY SHARE tuple lock on the group's descriptor; compaction, which takes a
 * group away by deleting its descriptor, excludes them and is excluded.  The
 * groups locked so are remembered for the transaction (and forgotten with the
 * subtransaction that locked them), so that it costs once per group.
 *
 * With a group are remembered the rows of it that the transaction has deleted
 * or updated: a few by number, more in a bitmap, which saves looking for
 * tombstones of one's own (an UPDATE's unique check meets the entry of the very
 * row it replaces).  After the abort of a subtransaction nobody knows any more:
 * they are forgotten.
 *
 * Nobody holds a pin of the TOAST relation's index while he waits here, only
 * that of the descriptor's own page: VACUUM need not wait for him.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "st_lock_int.h"
#include "st_store_int.h"

/* Changed rows of a group that are kept by number. */
#define ST_FEW_BURIED	8

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
	StGroup		group;
	uint32		nfew;			/* changed rows, if there is no bitmap */
	uint32		few[ST_FEW_BURIED];
	uint64	   *buried;			/* bitmap of them */
	CommandId	last_cid;		/* of the latest of them */
	bool		forgotten;		/* there may be others */
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

static inline void
set_bit(uint64 *bitmap, uint32 off)
{
	bitmap[off >> 6] |= UINT64CONST(1) << (off & 63);
}

void
st_note_buried(Relation rel, uint64 row, CommandId cid)
{
	StLockedGroup *known = locked_group_find(rel, row);
	uint32		off;

	if (known == NULL)
		return;
	off = row - known->key.first_row;
	known->last_cid = Max(known->last_cid, cid);
	if (known->buried == NULL && known->nfew < ST_FEW_BURIED)
	{
		known->few[known->nfew++] = off;
		return;
	}
	if (known->buried == NULL)
	{
		known->buried = MemoryContextAllocZero(TopTransactionContext,
											   (known->nrows + 63) / 64 * sizeof(uint64));
		for (uint32 i = 0; i < known->nfew; i++)
			set_bit(known->buried, known->few[i]);
	}
	set_bit(known->buried, off);
}

static bool
is_buried(const StLockedGroup *known, uint32 off)
{
	if (known->buried != NULL)
		return (known->buried[off >> 6] & (UINT64CONST(1) << (off & 63))) != 0;
	for (uint32 i = 0; i < known->nfew; i++)
	{
		if (known->few[i] == off)
			return true;
	}
	return false;
}

StBuried
st_row_buried(Relation rel, uint64 row)
{
	StLockedGroup *known = locked_group_find(rel, row);

	/* Who changes a row locks its group first. */
	if (locked_groups == NULL)
		return ST_NOT_BURIED;
	if (known == NULL)
		return ST_BURIED_UNKNOWN;
	if (is_buried(known, row - known->key.first_row))
		return ST_BURIED;
	return known->forgotten ? ST_BURIED_UNKNOWN : ST_NOT_BURIED;
}

bool
st_row_buried_before(Relation rel, uint64 row, Snapshot snapshot)
{
	StLockedGroup *known = locked_group_find(rel, row);

	return known != NULL && snapshot->snapshot_type == SNAPSHOT_MVCC &&
		known->last_cid < snapshot->curcid &&
		is_buried(known, row - known->key.first_row);
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
	(void) st_meta_has_row_groups(rel, &last_locked->group.incarnation);
	last_locked->nfew = 0;
	last_locked->buried = NULL;
	last_locked->last_cid = FirstCommandId;
	last_locked->forgotten = false;
	last_locked->subid = GetCurrentSubTransactionId();
	last_locked->own = TransactionIdIsCurrentTransactionId(group->xmin);
	last_locked->cmin = last_locked->own ? HeapTupleHeaderGetCmin(header) :
		FirstCommandId;
}

/*
 * The row's group was compacted away: the row had been deleted before, or is
 * somewhere else now.  Nobody can change the group's tombstones any more.
 */
static TM_Result
group_gone(StRowOp *op, TransactionId xmax)
{
	TransactionId ignored;
	TM_Result	result = st_row_tombstone(op, &ignored);

	if (result != TM_Ok)
		return result;
	op->tmfd->ctid = op->tid;
	op->tmfd->xmax = xmax;
	op->tmfd->cmax = InvalidCommandId;
	return st_origin_of_row(&op->catalog, op->row, &op->tmfd->ctid) ?
		TM_Updated : TM_Deleted;
}

/* What the lock of a remembered group means for the command. */
static TM_Result
known_group(const StRowOp *op, const StLockedGroup *known)
{
	return known->own && known->cmin >= op->cid ? TM_Invisible : TM_Ok;
}

/*
 * Locks a descriptor that the caller has found, and keeps pinned.  TM_Deleted
 * and TM_Updated mean that the group is gone.
 */
static TM_Result
lock_descriptor(StRowOp *op, HeapTuple descriptor, const StGroup *group)
{
	StLockedGroupKey key = locked_group_key(op->rel, group->first_row);
	StLockedGroup *known = NULL;
	TM_FailureData tmfd;
	TM_Result	result;

	if (locked_groups != NULL)
		known = hash_search(locked_groups, &key, HASH_FIND, NULL);
	if (known != NULL)
	{
		last_locked = known;
		return known_group(op, known);
	}

	result = st_lock_toast_tuple(op, &descriptor->t_self, op->cid,
								 LockTupleKeyShare, &tmfd);
	if (result == TM_Ok)
		locked_group_remember(op->rel, group, descriptor->t_data);
	else if (result == TM_Deleted || result == TM_Updated)
		result = group_gone(op, tmfd.xmax);
	return result;
}

TM_Result
st_lock_group(StRowOp *op)
{
	StLockedGroup *known = locked_group_find(op->rel, op->row);
	HeapTupleData descriptor;
	Buffer		buffer;
	StGroup		group;
	bool		finished;
	TM_Result	result;

	if (known != NULL)
		return known_group(op, known);
	if (!st_descriptor_find(&op->catalog, op->row, SnapshotSelf, &group,
							&finished, &descriptor, &buffer))
		return group_gone(op, InvalidTransactionId);

	result = lock_descriptor(op, &descriptor, &group);
	ReleaseBuffer(buffer);
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
		if (event == SUBXACT_EVENT_ABORT_SUB &&
			(g->buried != NULL || g->nfew > 0))
		{
			if (g->buried != NULL)
				pfree(g->buried);
			g->buried = NULL;
			g->nfew = 0;
			g->forgotten = true;
		}
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
