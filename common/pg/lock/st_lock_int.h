/*-------------------------------------------------------------------------
 *
 * st_lock_int.h
 *	  What the files of row locks (st_lock*.c) share with one another.  The
 *	  other rooms call what st_lock.h declares.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_LOCK_INT_H
#define ST_LOCK_INT_H

#include "st_lock.h"

/*
 * Looks for a tombstone of the row.  TM_Ok: there is none.  TM_BeingModified:
 * *xwait is making one.
 */
extern TM_Result st_row_tombstone(StRowOp *op, TransactionId *xwait);

/* Waits for another deleter, as the policy says.  False: do not wait. */
extern bool st_row_wait(StRowOp *op, TransactionId xwait);

/*
 * heap_lock_tuple() on a visibility tuple whose page the caller has pinned,
 * as op's command and with its policy; errors name the table.
 */
extern TM_Result st_lock_toast_tuple(StRowOp *op, ItemPointer tid,
									 CommandId cid, LockTupleMode mode,
									 TM_FailureData *tmfd);

#endif							/* ST_LOCK_INT_H */
