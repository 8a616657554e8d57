/*-------------------------------------------------------------------------
 *
 * st_wal.c
 *	  Every WAL record that the store makes by itself.
 *
 * All are records of the server's own resource managers: redo needs none of
 * our code, so crash recovery, a standby, pg_rewind and pg_basebackup work
 * where our library is not installed.  There, the pages are right, and nothing
 * reads them.  What else the store changes, it changes by functions of heap
 * and btree, which log it.
 *
 * Tested on 15, 17 and 18: tests/test_crash.py and tests/test_replication.py
 * redo each of the records, the latter under wal_consistency_checking too.
 *
 * Whoever commits waits until all WAL before its own is on disk: also what a
 * compaction has written beside it, which may be as much as wal_buffers hold.
 * So a compaction, which is in no hurry, flushes what it has written little by
 * little (st_wal_keep_up()).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/heapam.h"
#include "access/heapam_xlog.h"
#include "access/htup_details.h"
#include "access/nbtxlog.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "st_compat.h"
#include "st_wal.h"

/* A backend flushes its WAL once so much of it is waiting. */
#define UNFLUSHED_BYTES (512 * 1024)

/*
 * RM_XLOG XLOG_FPI (log_newpage_buffer): redo puts the whole page back.  The
 * page has no hole, because its pd_lower is its pd_upper.
 *
 * RM_HEAP2 XLOG_HEAP2_VISIBLE (visibilitymap_set): redo sets both bits of the
 * map, and PD_ALL_VISIBLE of the page, which the image has.
 */
void
st_wal_write_page(Relation rel, Buffer buffer, const char *image, bool wal,
				  Buffer vmbuffer)
{
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), image, BLCKSZ);
	MarkBufferDirty(buffer);
	if (wal)
		log_newpage_buffer(buffer, true);
	if (BufferIsValid(vmbuffer))
		visibilitymap_set(rel, BufferGetBlockNumber(buffer), buffer,
						  InvalidXLogRecPtr, vmbuffer, InvalidTransactionId,
						  VISIBILITYMAP_ALL_VISIBLE | VISIBILITYMAP_ALL_FROZEN);
	END_CRIT_SECTION();
}

/*
 * RM_XLOG XLOG_FPI (log_newpage): redo puts the whole page back.  Of an
 * unlogged relation's init fork, too: recovery copies it over the main fork.
 */
void
st_wal_write_first_page(SMgrRelation smgr, ForkNumber fork, char *image,
						bool wal)
{
	RelFileLocator locator = st_smgr_locator(smgr);

	if (wal)
		log_newpage(&locator, fork, 0, image, true);
	PageSetChecksumInplace(image, 0);
	smgrextend(smgr, fork, 0, image, true);
	if (wal)
		smgrimmedsync(smgr, fork);
}

/*
 * RM_GENERIC: redo applies the bytes that differ, or puts the whole page back.
 * Bytes that differ do for a page that nobody else writes to, the metapage.  A
 * page of the TOAST relation has hint bits, which primary and standby do not
 * share, and wal_consistency_checking compares pages of this resource manager
 * with them: so it is logged whole.
 */
void
st_wal_overwrite(Relation rel, Buffer buffer, Size off, const void *data,
				 Size len, bool full_image)
{
	GenericXLogState *state = GenericXLogStart(rel);
	Page		page = GenericXLogRegisterBuffer(state, buffer,
												 full_image ?
												 GENERIC_XLOG_FULL_IMAGE : 0);

	memcpy((char *) page + off, data, len);
	GenericXLogFinish(state);
}

/*
 * RM_HEAP XLOG_HEAP_LOCK: redo sets xmax and the lock's bits.  xmax may have
 * been an update that was rolled back, and the tuple have a link to the next
 * version: redo clears that, too.  The server's heap_lock_tuple() makes the
 * same record; it cannot lock in the name of others.
 */
void
st_wal_lock_tuple(Relation rel, Buffer buffer, OffsetNumber off,
				  TransactionId xmax, bool multi)
{
	Page		page = BufferGetPage(buffer);
	HeapTupleHeader header = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, off));

	START_CRIT_SECTION();
	header->t_infomask &= ~(HEAP_XMAX_BITS | HEAP_MOVED);
	header->t_infomask |= HEAP_XMAX_LOCK_ONLY | HEAP_XMAX_KEYSHR_LOCK |
		(multi ? HEAP_XMAX_IS_MULTI : 0);
	header->t_infomask2 &= ~(HEAP_KEYS_UPDATED | HEAP_HOT_UPDATED);
	HeapTupleHeaderSetXmax(header, xmax);
	ItemPointerSet(&header->t_ctid, BufferGetBlockNumber(buffer), off);
	MarkBufferDirty(buffer);

	if (RelationNeedsWAL(rel))
	{
		xl_heap_lock record;
		XLogRecPtr	lsn;

		memset(&record, 0, sizeof(record));
		/* its first field, which versions name differently */
		memcpy(&record, &xmax, sizeof(xmax));
		record.offnum = off;
		record.infobits_set = XLHL_XMAX_LOCK_ONLY | XLHL_XMAX_KEYSHR_LOCK |
			(multi ? XLHL_XMAX_IS_MULTI : 0);

		XLogBeginInsert();
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		st_xlog_register_data(&record, SizeOfHeapLock);
		lsn = XLogInsert(RM_HEAP_ID, XLOG_HEAP_LOCK);
		PageSetLSN(page, lsn);
	}
	END_CRIT_SECTION();
}

/*
 * RM_HEAP XLOG_HEAP_DELETE: redo sets xmax and KEYS_UPDATED.  Logical decoding
 * takes the old row from the record's data and does not look at the tuple, so
 * the row may be another one than the tuple: one of a row group, which has no
 * tuple (st_logical.c).  cmin and cmax are equal without a combo command id:
 * the tuple is dead to every command.
 */
void
st_wal_delete_tuple(Buffer buffer, OffsetNumber off, HeapTuple key, bool full)
{
	TransactionId xid = GetCurrentTransactionId();
	Page		page = BufferGetPage(buffer);
	HeapTupleHeader header = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, off));
	xl_heap_delete record;
	xl_heap_header key_header;
	XLogRecPtr	lsn;

	memset(&record, 0, sizeof(record));
	record.xmax = xid;
	record.offnum = off;
	record.infobits_set = XLHL_KEYS_UPDATED;
	record.flags = full ? XLH_DELETE_CONTAINS_OLD_TUPLE :
		XLH_DELETE_CONTAINS_OLD_KEY;
	key_header.t_infomask2 = key->t_data->t_infomask2;
	key_header.t_infomask = key->t_data->t_infomask;
	key_header.t_hoff = key->t_data->t_hoff;

	START_CRIT_SECTION();
	PageSetPrunable(page, xid);
	header->t_infomask &= ~(HEAP_XMAX_BITS | HEAP_MOVED);
	header->t_infomask2 &= ~HEAP_KEYS_UPDATED;
	header->t_infomask2 |= HEAP_KEYS_UPDATED;
	HeapTupleHeaderSetXmax(header, xid);
	MarkBufferDirty(buffer);

	XLogBeginInsert();
	XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
	st_xlog_register_data(&record, SizeOfHeapDelete);
	st_xlog_register_data(&key_header, SizeOfHeapHeader);
	st_xlog_register_data((char *) key->t_data + SizeofHeapTupleHeader,
						  key->t_len - SizeofHeapTupleHeader);
	XLogSetRecordFlags(XLOG_INCLUDE_ORIGIN);
	lsn = XLogInsert(RM_HEAP_ID, XLOG_HEAP_DELETE);
	PageSetLSN(page, lsn);
	END_CRIT_SECTION();
}

bool
st_delete_quietly(Relation rel, ItemPointer tid)
{
	char		identity = rel->rd_rel->relreplident;
	TM_FailureData failure;
	TM_Result	result;

	rel->rd_rel->relreplident = REPLICA_IDENTITY_NOTHING;
	PG_TRY();
	{
		result = heap_delete(rel, tid, GetCurrentCommandId(true),
							 InvalidSnapshot, false, &failure, false);
	}
	PG_FINALLY();
	{
		rel->rd_rel->relreplident = identity;
	}
	PG_END_TRY();
	return result == TM_Ok;
}

/*
 * RM_BTREE XLOG_BTREE_REUSE_PAGE: redo touches no page.  On a standby it
 * cancels queries whose snapshots are older.
 */
void
st_log_snapshot_conflict(Relation rel, FullTransactionId removed_by)
{
	xl_btree_reuse_page record;

	if (!RelationNeedsWAL(rel) || !XLogStandbyInfoActive())
		return;
	st_fill_reuse_page(&record, rel, removed_by);
	XLogBeginInsert();
	st_xlog_register_data(&record, SizeOfBtreeReusePage);
	(void) XLogInsert(RM_BTREE_ID, XLOG_BTREE_REUSE_PAGE);
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
}
