/*-------------------------------------------------------------------------
 *
 * st_wal.h
 *	  Every WAL record that the store makes by itself, and how maintenance
 *	  commands pace theirs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_WAL_H
#define ST_WAL_H

#include "postgres.h"

#include "access/htup.h"
#include "access/transam.h"
#include "storage/buf.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#include "utils/rel.h"

/*
 * Makes the image the contents of a page that the caller has locked
 * exclusively; logs it if wal is set.  With vmbuffer, which the caller has
 * pinned, the page becomes all-visible and all-frozen.
 */
extern void st_wal_write_page(Relation rel, Buffer buffer, const char *image,
							  bool wal, Buffer vmbuffer);

/*
 * Logs the image of a pinned page now that the first change since a checkpoint would
 * carry: many changes that are made at once later on carry less.
 */
extern void st_wal_image_ahead(Relation rel, Buffer buffer);

/*
 * Writes the first page of a new fork past the buffer pool; sets the page's
 * checksum.  The file is fsynced if the page is logged: a checkpoint may have
 * passed between the record and the write.
 */
extern void st_wal_write_first_page(SMgrRelation smgr, ForkNumber fork,
									char *image, bool wal);

/*
 * Overwrites len bytes at offset off of a page that the caller has locked
 * exclusively.  full_image: where the page may have hint bits.
 */
extern void st_wal_overwrite(Relation rel, Buffer buffer, Size off,
							 const void *data, Size len, bool full_image);

/*
 * The same within a tuple of a heap page, that stays as long as it is: len bytes
 * at to.  No new version, not undone by an abort.
 */
extern void st_wal_overwrite_tuple(Relation rel, Buffer buffer, OffsetNumber off,
								   char *to, const void *data, Size len);

/*
 * Makes xmax, a transaction or a multixact, the key share locker of a heap
 * tuple whose page the caller has locked exclusively.
 */
extern void st_wal_lock_tuple(Relation rel, Buffer buffer, OffsetNumber off,
							  TransactionId xmax, bool multi);

/*
 * Deletes a heap tuple of the running command, whose page the caller has
 * locked exclusively, and names key as the old row to logical decoding; full:
 * all of its columns and not only those of the replica identity.
 */
extern void st_wal_delete_tuple(Buffer buffer, OffsetNumber off,
								HeapTuple key, bool full);

/*
 * Tells logical decoding of rows that no heap page gets: nrows of them, one
 * behind the other as in the record of heap_multi_insert(), at most
 * ST_WAL_ROWS_BYTES.  Any page of the relation carries the record, best one
 * that is almost empty; the caller has no page of the relation locked.  xid is
 * the (sub)transaction that inserts the rows, the running one or one above it;
 * it has written WAL before.
 */
#define ST_WAL_ROWS_BYTES 64000
extern void st_wal_log_rows(Relation rel, BlockNumber blkno,
							TransactionId xid, const char *rows, uint32 len,
							int nrows);

/*
 * The same for a piece of a toasted value of the next row: a tuple as TOAST
 * relations have them, of less than 64 kB.
 */
extern void st_wal_log_toast_piece(Relation toast, BlockNumber blkno,
								   TransactionId xid, HeapTuple piece);

/*
 * Deletes a tuple without waiting, unseen by logical decoding.  False:
 * somebody has changed or locked it.
 */
extern bool st_delete_quietly(Relation rel, ItemPointer tid);

/*
 * Tells standbys to cancel queries whose snapshots may see what the
 * transaction, or an older one, removed.  No-op where no standby can follow
 * the relation.
 */
extern void st_log_snapshot_conflict(Relation rel, FullTransactionId removed_by);

/*
 * Called between any two small changes, with nothing locked but relations:
 * flushes this backend's WAL when a fair amount of it has come together.
 */
extern void st_wal_keep_up(void);

/*
 * The same for a load, which is in a hurry: only if other transactions have
 * begun to write since the last time.
 */
extern void st_wal_keep_up_beside_writers(void);

#endif							/* ST_WAL_H */
