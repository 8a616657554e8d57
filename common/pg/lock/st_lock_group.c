/*-------------------------------------------------------------------------
 *
 * st_lock_group.c
 *	  The interlock of writers with compaction (I5).
 *
 * Every transaction that locks, updates or deletes a row of a row group holds
 * a KEY SHARE tuple lock on the group's descriptor; compaction, which takes a
 * group away by deleting its descriptor, excludes them and is excluded.  The
 * groups locked so are remembered (st_own_changes.c): it costs once per group.
 *
 * Nobody holds a pin of the TOAST relation's index while he waits here, only
 * that of the descriptor's own page: VACUUM need not wait for him.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "utils/snapmgr.h"

#include "st_lock_int.h"

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
	return st_locked_group_is_new(known, op->cid) ? TM_Invisible : TM_Ok;
}

/*
 * Locks a descriptor that the caller has found, and keeps pinned.  TM_Deleted
 * and TM_Updated mean that the group is gone.
 */
static TM_Result
lock_descriptor(StRowOp *op, HeapTuple descriptor, const StGroup *group)
{
	StLockedGroup *known = st_locked_group_find(op->rel, group->first_row);
	TM_FailureData tmfd;
	TM_Result	result;

	if (known != NULL)
		return known_group(op, known);

	result = st_lock_toast_tuple(op, &descriptor->t_self, op->cid,
								 LockTupleKeyShare, &tmfd);
	if (result == TM_Ok)
		st_locked_group_add(op->rel, group, descriptor->t_data);
	else if (result == TM_Deleted || result == TM_Updated)
		result = group_gone(op, tmfd.xmax);
	return result;
}

TM_Result
st_lock_group(StRowOp *op)
{
	StLockedGroup *known = st_locked_group_of_row(op->rel, op->row);
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
