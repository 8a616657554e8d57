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
 * Tested on 15, 17 and 18: tests/test_crash.py, tests/test_replication.py and
 * tests/test_decoding.py redo each of the records, the first and the last of
 * them under wal_consistency_checking too.  Those for decoding: on 15 and 18.
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
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/nbtxlog.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xloginsert.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "replication/origin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/combocid.h"

#include "st_compat.h"
#include "st_wal.h"

/* 18: the record names messages, of which we have none (243e9b40f1b). */
#ifdef MinSizeOfHeapInplace
#define SIZE_OF_INPLACE MinSizeOfHeapInplace
#else
#define SIZE_OF_INPLACE SizeOfHeapInplace
#endif

/* A backend flushes its WAL once so much of it is waiting. */
#define UNFLUSHED_BYTES (512 * 1024)

/*
 * RM_XLOG XLOG_FPI (log_newpage_buffer): redo puts the whole page back.  The
 * page has no hole, because its pd_lower is its pd_upper.
 *
 * RM_HEAP2 XLOG_HEAP2_VISIBLE, from 19 on XLOG_HEAP2_PRUNE_VACUUM_SCAN of no
 * tuple (st_set_all_visible): redo sets both bits of the map, and
 * PD_ALL_VISIBLE of the page, which the image has.
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
		st_set_all_visible(rel, buffer, vmbuffer);
	END_CRIT_SECTION();
}

/*
 * RM_XLOG XLOG_FPI (log_newpage_buffer), of a page that stays as it is, which
 * redo puts back.  One that somebody changes meanwhile has its image from him.
 */
void
st_wal_image_ahead(Relation rel, Buffer buffer)
{
	if (!RelationNeedsWAL(rel) || !XLogCheckBufferNeedsBackup(buffer))
		return;
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (XLogCheckBufferNeedsBackup(buffer))
	{
		START_CRIT_SECTION();
		MarkBufferDirty(buffer);
		log_newpage_buffer(buffer, true);
		END_CRIT_SECTION();
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
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
	PageSetChecksum(image, 0);
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
 * RM_HEAP XLOG_HEAP_INPLACE: redo puts all of the tuple behind its header.
 * Before 18, logical decoding would take the transaction for one that has
 * changed catalogs, so callers do this where nothing is decoded.
 */
void
st_wal_overwrite_tuple(Relation rel, Buffer buffer, OffsetNumber off, char *to,
					   const void *data, Size len)
{
	Page		page = BufferGetPage(buffer);
	ItemId		item = PageGetItemId(page, off);
	HeapTupleHeader header = (HeapTupleHeader) PageGetItem(page, item);

	Assert(to >= (char *) header + header->t_hoff &&
		   to + len <= (char *) header + ItemIdGetLength(item));
	START_CRIT_SECTION();
	memcpy(to, data, len);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(rel))
	{
		xl_heap_inplace record;
		XLogRecPtr	lsn;

		memset(&record, 0, sizeof(record));
		record.offnum = off;
		XLogBeginInsert();
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		st_xlog_register_data(&record, SIZE_OF_INPLACE);
		XLogRegisterBufData(0, (char *) header + header->t_hoff,
							ItemIdGetLength(item) - header->t_hoff);
		lsn = XLogInsert(RM_HEAP_ID, XLOG_HEAP_INPLACE);
		PageSetLSN(page, lsn);
	}
	END_CRIT_SECTION();
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

/* ---- rows that logical decoding sees, and deletions that it does not ---- */

/*
 * The part of a page that is left out of its image, because redo fills it with
 * zeros: what heap leaves free, or the end of a page of ours that is empty.
 */
static void
find_hole(Page page, uint32 *start, uint32 *end)
{
	PageHeader	header = (PageHeader) page;

	*start = header->pd_lower;
	*end = header->pd_upper;
	if (*start >= SizeOfPageHeaderData && *start < *end && *end <= BLCKSZ)
		return;
	*start = *end = BLCKSZ;
	while (*start > SizeOfPageHeaderData && ((char *) page)[*start - 1] == 0)
		(*start)--;
}

/*
 * A record of a page, with data for logical decoding: redo puts the page back
 * as it is, and does not look at the data (BLK_RESTORED).  The record's
 * transaction is xid.
 *
 * It is put together as XLogRecordAssemble() does it, which could only name
 * the running subtransaction, and would log all of the page.  xid has written
 * before, so decoding knows whose subtransaction it is.
 */
static XLogRecPtr
insert_page_with_data(TransactionId xid, RmgrId rmid, uint8 info, Relation rel,
					  Buffer buffer, const void *header, uint32 header_len,
					  const char *data, uint32 len)
{
	union
	{
		XLogRecord	record;
		char		bytes[SizeOfXLogRecord + MaxSizeOfXLogRecordBlockHeader +
						  1 + sizeof(ReplOriginId) + SizeOfXLogRecordDataHeaderLong];
	}			all = {{0}};
	char	   *scratch = all.bytes;
	XLogRecord	record = {0};
	XLogRecordBlockHeader block = {0};
	XLogRecordBlockImageHeader image = {0};
	RelFileLocator locator = st_relation_locator(rel);
	BlockNumber blkno = BufferGetBlockNumber(buffer);
	char	   *page = (char *) BufferGetPage(buffer);
	char	   *to = scratch + SizeOfXLogRecord;
	ReplOriginId origin = st_session_origin();
	XLogRecData rdata[5];
	uint32		start;
	uint32		end;
	XLogRecPtr	lsn;

#define PUT(from, size) \
	do { memcpy(to, from, size); to += (size); } while (0)

	find_hole(page, &start, &end);
	block.fork_flags = MAIN_FORKNUM | BKPBLOCK_HAS_IMAGE | BKPBLOCK_HAS_DATA;
	block.data_length = len;
	image.length = BLCKSZ - (end - start);
	image.hole_offset = start < end ? start : 0;
	image.bimg_info = BKPIMAGE_APPLY | (start < end ? BKPIMAGE_HAS_HOLE : 0);
	PUT(&block, SizeOfXLogRecordBlockHeader);
	PUT(&image, SizeOfXLogRecordBlockImageHeader);
	PUT(&locator, sizeof(locator));
	PUT(&blkno, sizeof(blkno));
	if (origin != InvalidReplOriginId)
	{
		*to++ = (char) XLR_BLOCK_ID_ORIGIN;
		PUT(&origin, sizeof(origin));
	}
	*to++ = (char) XLR_BLOCK_ID_DATA_LONG;
	PUT(&header_len, sizeof(header_len));
#undef PUT

	rdata[0] = (XLogRecData) {&rdata[1], scratch, to - scratch};
	rdata[1] = (XLogRecData) {&rdata[2], page, start};
	rdata[2] = (XLogRecData) {&rdata[3], page + end, BLCKSZ - end};
	rdata[3] = (XLogRecData) {&rdata[4], unconstify(char *, data), len};
	rdata[4] = (XLogRecData) {NULL, unconstify(void *, header), header_len};

	record.xl_xid = xid;
	record.xl_rmid = rmid;
	record.xl_info = info;
	INIT_CRC32C(record.xl_crc);
	COMP_CRC32C(record.xl_crc, scratch + SizeOfXLogRecord,
				rdata[0].len - SizeOfXLogRecord);
	record.xl_tot_len = rdata[0].len;
	for (int i = 1; i < lengthof(rdata); i++)
	{
		COMP_CRC32C(record.xl_crc, rdata[i].data, rdata[i].len);
		record.xl_tot_len += rdata[i].len;
	}
	memcpy(scratch, &record, SizeOfXLogRecord);

	/* It says no when full_page_writes has just been switched on. */
	do
		lsn = XLogInsertRecord(rdata, InvalidXLogRecPtr, XLOG_INCLUDE_ORIGIN,
							   1, ST_SINCE_19(BLCKSZ - (end - start),) false);
	while (XLogRecPtrIsInvalid(lsn));
	return lsn;
}

/* Locks a block, and logs it with data for logical decoding. */
static void
log_page_with_data(Relation rel, BlockNumber blkno, TransactionId xid,
				   RmgrId rmid, uint8 info, const void *header,
				   uint32 header_len, const char *data, uint32 len)
{
	Buffer		buffer = ReadBuffer(rel, blkno);
	XLogRecPtr	lsn;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	/* A crash may have left it so; with an LSN it must be a page. */
	if (PageIsNew(BufferGetPage(buffer)))
		PageInit(BufferGetPage(buffer), BLCKSZ, 0);
	MarkBufferDirty(buffer);
	lsn = insert_page_with_data(xid, rmid, info, rel, buffer, header,
								header_len, data, len);
	PageSetLSN(BufferGetPage(buffer), lsn);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/*
 * RM_HEAP2 XLOG_HEAP2_MULTI_INSERT: redo puts the whole page back and inserts
 * no tuple.  Logical decoding takes the rows from the data of the block.  The
 * offsets are looked at by pg_waldump alone.
 */
void
st_wal_log_rows(Relation rel, BlockNumber blkno, TransactionId xid,
				const char *rows, uint32 len, int nrows)
{
	static union
	{
		xl_heap_multi_insert record;
		char		bytes[SizeOfHeapMultiInsert +
						  ST_WAL_ROWS_BYTES / SizeOfMultiInsertTuple * sizeof(OffsetNumber)];
	}			header;

	Assert(len <= ST_WAL_ROWS_BYTES && nrows <= ST_WAL_ROWS_BYTES / SizeOfMultiInsertTuple);
	header.record.flags = XLH_INSERT_CONTAINS_NEW_TUPLE | XLH_INSERT_LAST_IN_MULTI;
	header.record.ntuples = nrows;
	for (int i = 0; i < nrows; i++)
		header.record.offsets[i] = FirstOffsetNumber + i;
	log_page_with_data(rel, blkno, xid, RM_HEAP2_ID, XLOG_HEAP2_MULTI_INSERT,
					   &header, SizeOfHeapMultiInsert + nrows * sizeof(OffsetNumber),
					   rows, len);
}

/*
 * RM_HEAP XLOG_HEAP_INSERT: redo puts the whole page back and inserts no
 * tuple.  Logical decoding keeps the piece until the row that names its value
 * comes.
 */
void
st_wal_log_toast_piece(Relation toast, BlockNumber blkno, TransactionId xid,
					   HeapTuple piece)
{
	xl_heap_insert record = {.offnum = FirstOffsetNumber};
	xl_heap_header header;
	uint32		len = piece->t_len - SizeofHeapTupleHeader;
	char	   *data = palloc(SizeOfHeapHeader + len);

	Assert(SizeOfHeapHeader + len <= PG_UINT16_MAX);
	record.flags = XLH_INSERT_CONTAINS_NEW_TUPLE | XLH_INSERT_ON_TOAST_RELATION;
	header.t_infomask2 = piece->t_data->t_infomask2;
	header.t_infomask = piece->t_data->t_infomask;
	header.t_hoff = piece->t_data->t_hoff;
	memcpy(data, &header, SizeOfHeapHeader);
	memcpy(data + SizeOfHeapHeader,
		   (char *) piece->t_data + SizeofHeapTupleHeader, len);
	log_page_with_data(toast, blkno, xid, RM_HEAP_ID, XLOG_HEAP_INSERT,
					   &record, SizeOfHeapInsert, data, SizeOfHeapHeader + len);
	pfree(data);
}

/*
 * RM_HEAP2 XLOG_HEAP2_MULTI_INSERT of no tuple: redo makes the page not
 * all-visible, in the map, too.  Logical decoding passes it by: it says that
 * it has no tuples.  The page is locked; vmbuffer is its page of the map.
 */
static void
clear_all_visible(Relation rel, Buffer buffer, Buffer vmbuffer)
{
	xl_heap_multi_insert record = {.flags = XLH_INSERT_ALL_VISIBLE_CLEARED};
	XLogRecPtr	lsn;

	PageClearAllVisible(BufferGetPage(buffer));
	MarkBufferDirty(buffer);
	visibilitymap_clear(rel, BufferGetBlockNumber(buffer), vmbuffer,
						VISIBILITYMAP_VALID_BITS);
	LockBuffer(vmbuffer, BUFFER_LOCK_EXCLUSIVE);
	MarkBufferDirty(vmbuffer);
	XLogBeginInsert();
	st_xlog_register_data(&record, SizeOfHeapMultiInsert);
	XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
	XLogRegisterBuffer(1, vmbuffer, 0);
	lsn = XLogInsert(RM_HEAP2_ID, XLOG_HEAP2_MULTI_INSERT);
	PageSetLSN(BufferGetPage(buffer), lsn);
	PageSetLSN(BufferGetPage(vmbuffer), lsn);
	LockBuffer(vmbuffer, BUFFER_LOCK_UNLOCK);
}

/*
 * RM_HEAP XLOG_HEAP_LOCK, with the bits of a deletion: redo sets xmax and the
 * bits, which is all that a deletion does to a tuple that has no link to a
 * next version, but for the hint that the page can be pruned.  Logical
 * decoding passes by whatever locks.  The page is locked.
 */
static void
delete_as_lock(Relation rel, Buffer buffer, HeapTuple tuple, CommandId cid,
			   bool iscombo)
{
	TransactionId xid = GetCurrentTransactionId();
	HeapTupleHeader header = tuple->t_data;
	Page		page = BufferGetPage(buffer);
	OffsetNumber off = ItemPointerGetOffsetNumber(&tuple->t_self);
	xl_heap_lock record;
	XLogRecPtr	lsn;

	PageSetPrunable(page, xid);
	header->t_infomask &= ~(HEAP_XMAX_BITS | HEAP_MOVED);
	header->t_infomask2 |= HEAP_KEYS_UPDATED;
	HeapTupleHeaderSetXmax(header, xid);
	HeapTupleHeaderSetCmax(header, cid, iscombo);
	MarkBufferDirty(buffer);

	memset(&record, 0, sizeof(record));
	memcpy(&record, &xid, sizeof(xid));
	record.offnum = off;
	record.infobits_set = XLHL_KEYS_UPDATED;
	XLogBeginInsert();
	XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
	st_xlog_register_data(&record, SizeOfHeapLock);
	lsn = XLogInsert(RM_HEAP_ID, XLOG_HEAP_LOCK);
	PageSetLSN(page, lsn);
}

/* The page locked, and its page of the map pinned if it is all-visible. */
static Buffer
lock_page_and_map(Relation rel, BlockNumber blkno, Buffer *vmbuffer)
{
	Buffer		buffer = ReadBuffer(rel, blkno);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	while (PageIsAllVisible(BufferGetPage(buffer)) && !BufferIsValid(*vmbuffer))
	{
		/* It may have to be read. */
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		visibilitymap_pin(rel, blkno, vmbuffer);
		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	}
	return buffer;
}

/* heap_delete() without waiting, by records that say nothing of a deletion. */
static bool
delete_unseen(Relation rel, ItemPointer tid)
{
	CommandId	cid = GetCurrentCommandId(true);
	TransactionId xid = GetCurrentTransactionId();
	BlockNumber blkno = ItemPointerGetBlockNumber(tid);
	OffsetNumber off = ItemPointerGetOffsetNumber(tid);
	Buffer		vmbuffer = InvalidBuffer;
	Buffer		buffer = lock_page_and_map(rel, blkno, &vmbuffer);
	Page		page = BufferGetPage(buffer);
	HeapTupleData tuple;
	bool		iscombo;
	bool		deleted;

	Assert(!IsInParallelMode());
	Assert(ItemIdIsNormal(PageGetItemId(page, off)));
	tuple.t_self = *tid;
	tuple.t_tableOid = RelationGetRelid(rel);
	tuple.t_data = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, off));
	tuple.t_len = ItemIdGetLength(PageGetItemId(page, off));
	deleted = HeapTupleSatisfiesUpdate(&tuple, cid, buffer) == TM_Ok;
	if (deleted)
	{
		CheckForSerializableConflictIn(rel, tid, blkno);
		HeapTupleHeaderAdjustCmax(tuple.t_data, &cid, &iscombo);
		MultiXactIdSetOldestMember();

		START_CRIT_SECTION();
		if (PageIsAllVisible(page))
			clear_all_visible(rel, buffer, vmbuffer);
		/* Of an update that was rolled back: a lock takes the link away. */
		if ((tuple.t_data->t_infomask2 & HEAP_HOT_UPDATED) != 0 ||
			!ItemPointerEquals(&tuple.t_data->t_ctid, tid))
			st_wal_lock_tuple(rel, buffer, off, xid, false);
		delete_as_lock(rel, buffer, &tuple, cid, iscombo);
		END_CRIT_SECTION();
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (BufferIsValid(vmbuffer))
		ReleaseBuffer(vmbuffer);
	if (deleted)
	{
		if (HeapTupleHasExternal(&tuple))
			heap_toast_delete(rel, &tuple, false);
		pgstat_count_heap_delete(rel);
	}
	ReleaseBuffer(buffer);
	return deleted;
}

bool
st_delete_quietly(Relation rel, ItemPointer tid)
{
	/* What plugins read as a catalog needs heap's own records. */
	if (RelationIsLogicallyLogged(rel) &&
		!RelationIsAccessibleInLogicalDecoding(rel))
		return delete_unseen(rel, tid);
	return st_heap_delete(rel, tid) == TM_Ok;
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

/* Up to where this backend has seen its WAL flushed, or let it be. */
static XLogRecPtr kept_up = InvalidXLogRecPtr;

/* Is so much waiting that it is worth a flush? */
static bool
is_behind(void)
{
	if (XLogRecPtrIsInvalid(kept_up))
		kept_up = ProcLastRecPtr;
	return ProcLastRecPtr >= kept_up + UNFLUSHED_BYTES;
}

void
st_wal_keep_up(void)
{
	if (!is_behind())
		return;
	kept_up = ProcLastRecPtr;
	XLogFlush(kept_up);
}

void
st_wal_keep_up_beside_writers(void)
{
	static FullTransactionId seen;
	FullTransactionId next;

	if (!is_behind())
		return;
	next = ReadNextFullTransactionId();
	if (FullTransactionIdEquals(next, seen))
		kept_up = ProcLastRecPtr;
	seen = next;
	st_wal_keep_up();
}
