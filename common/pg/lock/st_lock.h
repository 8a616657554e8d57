/*-------------------------------------------------------------------------
 *
 * st_lock.h
 *	  Row locks and waiting (I3), and the interlock with compaction (I5).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_LOCK_H
#define ST_LOCK_H

#include "postgres.h"

#include "access/tableam.h"
#include "nodes/lockoptions.h"
#include "storage/lmgr.h"

#include "st_visibility.h"

/* ------------------------------------------------------------------------
 * Row locks: st_lock.c, st_lock_group.c, st_lock_tuple.c
 * ------------------------------------------------------------------------
 */

/* The wish to lock, delete or update one row of a row group. */
typedef struct StRowOp
{
	Relation	rel;
	StCatalog	catalog;		/* RowExclusiveLock */
	ItemPointerData tid;
	uint64		row;
	CommandId	cid;
	LockTupleMode mode;
	LockWaitPolicy policy;
	XLTW_Oper	oper;
	bool		keep_lock;		/* leave an anchor: the row is to stay */
	TupleTableSlot *new_row;	/* UPDATE: mode depends on it, see st_lock.c */
	TM_FailureData *tmfd;
	TransactionId updater;		/* raw xmin of the tombstone that was met */
	bool		changed;		/* TM_Updated: by an UPDATE, not by a compaction */
} StRowOp;

extern void st_row_op_begin(StRowOp *op, Relation rel, ItemPointer tid,
							CommandId cid, TM_FailureData *tmfd);
extern void st_row_op_end(StRowOp *op);

/*
 * Acquires the row for op->mode.  TM_Ok: nobody else can change the row, and
 * the row mutex is held until st_row_release().  Otherwise tmfd is filled as
 * heap does it, and no mutex is held.
 */
extern TM_Result st_row_acquire(StRowOp *op);
extern void st_row_release(StRowOp *op);

/*
 * Locks the descriptor of the row's group for the transaction, unless that
 * was done before.  Not TM_Ok: the group is gone, op->tmfd says where the row
 * is; or the running command made the group.
 */
extern TM_Result st_lock_group(StRowOp *op);

/*
 * A stretch: rows whose number / ST_STRETCH_ROWS is the same.  Who has a row
 * mutex shares the lock of its stretch; who has that alone keeps all others
 * from these rows, and neither waits while he does.  False: somebody has it.
 */
#define ST_STRETCH_ROWS	1024

extern bool st_stretch_lock(Relation rel, uint64 row);
extern void st_stretch_release(Relation rel, uint64 row);

/*
 * Key locks of others hold on the new version, too; are there any?  The row is
 * acquired.  (st_lock_copy.c)
 */
extern void st_copy_key_locks(StRowOp *op, ItemPointer new_tid);
extern bool st_has_key_locks(StRowOp *op);

/*
 * Under the row mutex, about an UPDATE in progress (op->updater) that made
 * the version at new_tid: does it leave the key alone, and KEY SHARE of this
 * transaction on that version.  False: rather wait for it.
 */
extern bool st_update_keeps_key(StRowOp *op, ItemPointer new_tid);
extern bool st_add_key_lock(StRowOp *op, ItemPointer new_tid);

/*
 * The lock that heap_update() would ask for: NO KEY UPDATE unless a column
 * of a unique key changes.
 */
extern LockTupleMode st_update_lock_mode(Relation rel, ItemPointer otid,
										 TupleTableSlot *new_row);

/*
 * Heap says that the row at *tid, inserted by prior if that is valid, is
 * deleted.  TM_Updated if compaction has moved it to tmfd->ctid.
 */
extern TM_Result st_deleted_or_moved(Relation rel, const ItemPointerData *tid,
									 TransactionId prior, TM_FailureData *tmfd);

extern TM_Result st_tuple_lock(Relation rel, ItemPointer tid, Snapshot snapshot,
							   TupleTableSlot *slot, CommandId cid,
							   LockTupleMode mode, LockWaitPolicy policy,
							   uint8 flags, TM_FailureData *tmfd);

#endif							/* ST_LOCK_H */
