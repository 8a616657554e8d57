/*-------------------------------------------------------------------------
 *
 * st_toast_pack.c
 *	  merge: a TOAST relation that is mostly empty is written anew.
 *
 * The visibility tuples (st_catalog.c) come in waves: an UPDATE leaves
 * tombstones, foreign key checks leave anchors, and when compaction and VACUUM
 * have removed them, the descriptors that were written last stand at the end
 * of the TOAST relation, and its btree index keeps every page that it ever
 * had.  Both would be used again, but a table that is at rest stays larger
 * than a fresh one.
 *
 * If much of the two is free, the TOAST relation gets the server's own VACUUM
 * FULL, in the end of a merge or of a worker that compacts the table.  That
 * writes what anybody sees to a new file, with xmin, xmax and chains kept,
 * builds a new index, and drops the old files at commit.
 *
 * Why so, and not by moving pages of the index in place: a move changes five
 * pages that nbtree's scans, deletions and checks know of, and serves the
 * index only.  The rewrite is a transaction like any other: an abort, a crash
 * at any point, a standby, promotion, pg_rewind and wal_consistency_checking
 * are the server's affair.  The price is a copy of what is live, and so it is
 * made only if that is little and the gain is a good part of the whole.
 *
 * VACUUM does not do it: an error, as of a full disk, would undo what else
 * VACUUM has done in the same transaction.
 *
 * Locks: ShareUpdateExclusiveLock on the table, AccessExclusiveLock on TOAST
 * relation and index; the latter only if nobody is in the way.  Nobody keeps
 * the TID of a visibility tuple without a lock on the TOAST relation.
 *
 * Standbys: the server's VACUUM FULL freezes and drops tuples without a word
 * to snapshots there that are older, and would show them rows of later
 * transactions.  So it is said here which ones conflict.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"

#include "st_compact.h"
#include "st_space.h"
#include "st_wal.h"

/* Worth it: so many pages free, and this share of TOAST and its index. */
#define MIN_FREE_PAGES	16
#define MIN_FREE_SHARE	0.25

/* Pages that are copied at most. */
#define MAX_COPIED_PAGES	8192

/* Pages of each of the two that are looked at. */
#define SAMPLE_PAGES	1024

/* Free space of a heap page that counts: less may not do for a value's chunk. */
#define MIN_FREE_SPACE	(BLCKSZ / 4)

/* Free space that a leaf page has from its birth. */
#define LEAF_SLACK		(BLCKSZ * (100 - BTREE_DEFAULT_FILLFACTOR) / 100)

/* The first chunk_id of values that are toasted. */
#define FIRST_VALUE		((Oid) FirstGenbkiObjectId)

/* Pages of a TOAST relation and its index, and how many of them are free. */
typedef struct Fill
{
	double		pages;
	double		free;			/* pages' worth of free space */
} Fill;

/* Both from a sample of the pages, if there are many. */
static void
look_at_heap(Relation toast, Fill *fill)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(toast);
	BlockNumber step = 1 + nblocks / SAMPLE_PAGES;
	double		bytes = 0;

	for (BlockNumber block = 0; block < nblocks; block += step)
	{
		Size		space = GetRecordedFreeSpace(toast, block);

		CHECK_FOR_INTERRUPTS();
		if (space >= MIN_FREE_SPACE)
			bytes += space;
	}
	fill->pages += nblocks;
	fill->free += bytes * step / BLCKSZ;
}

/* Free space of a page of a btree that a new one would not have. */
static Size
index_page_space(Relation index, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(index, block);
	Page		page;
	Size		space;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	if (PageIsNew(page) || P_IGNORE(BTPageGetOpaque(page)))
		space = BLCKSZ;
	else if (P_RIGHTMOST(BTPageGetOpaque(page)))
		space = 0;				/* every tree has such pages */
	else
		space = PageGetFreeSpace(page);
	UnlockReleaseBuffer(buffer);
	return space > LEAF_SLACK ? space - LEAF_SLACK : 0;
}

static void
look_at_index(Relation index, Fill *fill)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	BlockNumber step = 1 + nblocks / SAMPLE_PAGES;
	double		bytes = 0;

	for (BlockNumber block = BTREE_METAPAGE + 1; block < nblocks; block += step)
	{
		CHECK_FOR_INTERRUPTS();
		bytes += index_page_space(index, block);
	}
	fill->pages += nblocks;
	fill->free += bytes * step / BLCKSZ;
}

/*
 * The only index of the relation, open, or NULL if there is anything wrong
 * with it.  One that is invalid, left behind by a REINDEX CONCURRENTLY that
 * failed, would not be built anew, and lead to wrong tuples.
 */
static Relation
open_only_index(Relation toast)
{
	List	   *list = RelationGetIndexList(toast);
	Oid			index = list_length(list) == 1 ? linitial_oid(list) : InvalidOid;
	Relation	rel;

	list_free(list);
	if (!OidIsValid(index) ||
		!ConditionalLockRelationOid(index, AccessShareLock))
		return NULL;
	rel = index_open(index, NoLock);
	if (rel->rd_index->indisvalid && rel->rd_rel->relam == BTREE_AM_OID)
		return rel;
	index_close(rel, AccessShareLock);
	return NULL;
}

/* Is there so much free space in the two that a copy is worth it? */
static bool
is_worth_it(Relation toast)
{
	Relation	index = open_only_index(toast);
	Fill		fill = {0};

	if (index == NULL)
		return false;
	if (toast->rd_refcnt == 1)	/* this session has it not open elsewhere */
	{
		look_at_heap(toast, &fill);
		look_at_index(index, &fill);
	}
	index_close(index, AccessShareLock);
	return fill.free >= MIN_FREE_PAGES &&
		fill.free >= fill.pages * MIN_FREE_SHARE &&
		fill.pages - fill.free <= MAX_COPIED_PAGES;
}

/* A transaction whose traces the rewrite removes, unless an older one is known. */
static void
consider(TransactionId xid, TransactionId oldest_xmin, TransactionId *newest)
{
	if (TransactionIdIsNormal(xid) && TransactionIdPrecedes(xid, oldest_xmin) &&
		(!TransactionIdIsValid(*newest) || TransactionIdFollows(xid, *newest)) &&
		TransactionIdDidCommit(xid))
		*newest = xid;
}

/*
 * The last transaction that snapshots older than oldest_xmin, of standbys,
 * could not tell any more after the rewrite; or invalid.  That is one that
 * made a descriptor or a tombstone, which will be frozen, or ended one or a
 * toasted value, which will be dropped.  What else we keep there matters to
 * writers alone.
 */
static TransactionId
newest_change(Relation toast, TransactionId oldest_xmin)
{
	TableScanDesc scan = st_table_beginscan(toast, SnapshotAny, 0, NULL);
	TransactionId newest = InvalidTransactionId;
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		HeapTupleHeader header = tuple->t_data;
		Oid			chunk_id = *(Oid *) GETSTRUCT(tuple);

		CHECK_FOR_INTERRUPTS();
		if (chunk_id >= ST_ANCHOR && chunk_id < FIRST_VALUE)
			continue;
		if (chunk_id < ST_ANCHOR && !HeapTupleHeaderXminInvalid(header))
			consider(HeapTupleHeaderGetXmin(header), oldest_xmin, &newest);
		if ((header->t_infomask & HEAP_XMAX_INVALID) == 0 &&
			!HeapTupleHeaderIsOnlyLocked(header))
			consider(HeapTupleHeaderGetUpdateXid(header), oldest_xmin, &newest);
	}
	table_endscan(scan);
	return newest;
}

/*
 * The rewrite asks again what nobody can see, and may have got a later answer
 * than we: the relation's new relfrozenxid.
 */
static TransactionId
conflict_horizon(Relation toast, TransactionId newest, TransactionId oldest_xmin)
{
	TransactionId frozen = toast->rd_rel->relfrozenxid;

	if (TransactionIdFollows(frozen, oldest_xmin))
	{
		newest = frozen;
		TransactionIdRetreat(newest);
	}
	return newest;
}

/* The server's VACUUM FULL of the TOAST relation, which is locked. */
static void
rewrite(Oid toastid)
{
	Relation	toast = table_open(toastid, NoLock);
	bool		standbys = RelationNeedsWAL(toast) && XLogStandbyInfoActive();
	TransactionId oldest_xmin = GetOldestNonRemovableTransactionId(toast);
	TransactionId newest = InvalidTransactionId;

	if (standbys)
		newest = newest_change(toast, oldest_xmin);
	table_close(toast, NoLock);

	st_vacuum_full(toastid);

	/* Nobody there reads the new file before this transaction's commit. */
	toast = table_open(toastid, NoLock);
	newest = conflict_horizon(toast, newest, oldest_xmin);
	if (standbys && TransactionIdIsNormal(newest))
		st_log_snapshot_conflict(toast, st_full_xid(newest));
	table_close(toast, NoLock);
}

/*
 * Locks what a rewrite needs, and looks again at the index: there may be
 * another one since.  The locks are kept until the transaction ends.
 */
static bool
lock_for_rewrite(Oid toastid)
{
	Relation	toast;
	Relation	index;
	bool		locked = false;

	if (!ConditionalLockRelationOid(toastid, AccessExclusiveLock))
		return false;
	toast = table_open(toastid, NoLock);
	index = open_only_index(toast);
	if (index != NULL)
	{
		locked = ConditionalLockRelation(index, AccessExclusiveLock);
		index_close(index, AccessShareLock);
	}
	table_close(toast, locked ? NoLock : AccessExclusiveLock);
	return locked;
}

bool
st_toast_wastes(Relation rel, StCompactJob *job)
{
	Oid			toastid = rel->rd_rel->reltoastrelid;
	Relation	toast;
	bool		result;

	if (!OidIsValid(toastid) ||
		!ConditionalLockRelationOid(toastid, AccessShareLock))
		return false;
	toast = table_open(toastid, NoLock);
	result = is_worth_it(toast);
	table_close(toast, AccessShareLock);
	return result;
}

bool
st_toast_pack(Relation rel, StCompactJob *job)
{
	Assert(CheckRelationLockedByMe(rel, ShareUpdateExclusiveLock, true));
	if (!st_toast_wastes(rel, job) ||
		!lock_for_rewrite(rel->rd_rel->reltoastrelid))
		return false;
	rewrite(rel->rd_rel->reltoastrelid);
	return true;
}
