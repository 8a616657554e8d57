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
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <unistd.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "miscadmin.h"

#include "st_wal.h"

/* So much WAL waits to be flushed at most. */
#define UNFLUSHED_BYTES (512 * 1024)

void
st_wal_keep_up(void)
{
	static XLogRecPtr flushed = InvalidXLogRecPtr;
	static XLogSegNo made = 0;
	XLogSegNo	segment;

	if (ProcLastRecPtr < flushed + UNFLUSHED_BYTES)
		return;
	flushed = ProcLastRecPtr;
	XLogFlush(flushed);
	XLByteToSeg(flushed, segment, wal_segment_size);
	segment++;
	if (segment <= made)
		return;
	close(XLogFileInit(segment, GetWALInsertionTimeLine()));
	made = segment;
}
