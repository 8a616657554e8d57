/*-------------------------------------------------------------------------
 *
 * st_wal.c
 *	  WAL of maintenance commands, written so that others need not wait for it.
 *
 * Whoever commits waits until all WAL before its own is on disk: also what a
 * compaction has written beside it, which may be as much as wal_buffers hold.
 * If a new segment file is needed, it is filled with zeros and flushed by
 * whoever needs it first, while all others wait.  So a compaction, which is in
 * no hurry, flushes what it has written little by little, and makes the next
 * segment file in time.
 *
 * Only the one after the segment that WAL is inserted into is ever made.  It
 * must not be used up, archived and removed while it is being made, which would
 * end with zeros under its name: no checkpoint that could remove it completes
 * meanwhile.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <unistd.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "storage/proc.h"

#include "st_wal.h"

/* So much WAL waits to be flushed at most. */
#define UNFLUSHED_BYTES (512 * 1024)

/*
 * A checkpoint either sees the flag, and waits before it completes, or its redo
 * position is before the position that is read here, and it removes nothing
 * after that.  An error ends the transaction, which takes the flag back.
 */
static void
make_next_segment(void)
{
	static XLogSegNo made = 0;
	XLogSegNo	next;

	Assert((MyProc->delayChkptFlags & DELAY_CHKPT_START) == 0);
	MyProc->delayChkptFlags |= DELAY_CHKPT_START;
	pg_memory_barrier();
	XLByteToSeg(GetXLogInsertRecPtr(), next, wal_segment_size);
	next++;
	if (next > made)
	{
		close(XLogFileInit(next, GetWALInsertionTimeLine()));
		made = next;
	}
	MyProc->delayChkptFlags &= ~DELAY_CHKPT_START;
}

void
st_wal_keep_up(void)
{
	static XLogRecPtr flushed = InvalidXLogRecPtr;

	if (XLogRecPtrIsInvalid(flushed))
		flushed = ProcLastRecPtr;
	if (ProcLastRecPtr < flushed + UNFLUSHED_BYTES)
		return;
	flushed = ProcLastRecPtr;
	XLogFlush(flushed);
	make_next_segment();
}
