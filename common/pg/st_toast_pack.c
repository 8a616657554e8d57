/*-------------------------------------------------------------------------
 *
 * st_toast_pack.c
 *	  VACUUM: a TOAST relation that is mostly empty is written anew.
 *
 * The visibility tuples (st_catalog.c) come in waves: an UPDATE leaves
 * tombstones, foreign key checks leave anchors, and when compaction and VACUUM
 * have removed them, the descriptors that were written last stand at the end
 * of the TOAST relation, and its btree index keeps every page that it ever
 * had.  Both would be used again, but a table that is at rest stays larger
 * than a fresh one.
 *
 * So when a VACUUM of ours is through, TOAST relation included, and found much
 * of the two free, the TOAST relation gets the server's own VACUUM FULL: a
 * new file of what anybody sees, with xmin, xmax, and chains kept, a new
 * index, and the old files dropped at commit.
 *
 * Why so, and not by moving pages of the index in place: a move changes five
 * pages that nbtree's scans, deletions and checks know of, and serves the
 * index only.  The rewrite is a transaction like any other: an abort, a crash
 * at any point, a standby, promotion, pg_rewind and wal_consistency_checking
 * are the server's affair.  The price is a copy of what is live, and so it is
 * made only if that is little and the gain is a good part of the whole.
 *
 * Where: at the commit of the first transaction after the table and its TOAST
 * relation were vacuumed, which is that at the end of the command.  VACUUM's
 * own transactions do not do: others ignore their xid (PROC_IN_VACUUM), and so
 * would take what they write into the catalogs for aborted.  A hook for
 * commands does not either, as a session's first VACUUM is what loads this
 * library.
 *
 * Locks: ShareUpdateExclusiveLock on the table, AccessExclusiveLock on TOAST
 * relation and index; each only if nobody is in the way.  Nobody keeps the TID
 * of a visibility tuple without a lock on the TOAST relation.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/table.h"
#include "access/xact.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "st_reclaim.h"

/* Worth it: so many pages free, and this share of TOAST and its index. */
#define MIN_FREE_PAGES	16
#define MIN_FREE_SHARE	0.25

/* Pages that one VACUUM copies, at most, of all tables together. */
#define MAX_COPIED_PAGES	8192

/* Larger relations are not looked at. */
#define MAX_LOOKED_AT	131072

/* Pages of an index that are looked at. */
#define INDEX_SAMPLE	2048

/* Free space of a heap page that counts: less may not do for a value's chunk. */
#define MIN_FREE_SPACE	(BLCKSZ / 4)

/* Free space that a leaf page has from its birth. */
#define LEAF_SLACK		(BLCKSZ * (100 - BTREE_DEFAULT_FILLFACTOR) / 100)

/* Tables of which VACUUM has just been at work, in TopMemoryContext. */
static Oid *noted = NULL;
static int	nnoted = 0;
static int	maxnoted = 0;

/* The running transaction is the VACUUM of a table of ours. */
static bool vacuuming = false;

/* What a TOAST relation and its index consist of. */
typedef struct Fill
{
	double		pages;
	double		free;			/* pages' worth of free space */
} Fill;

static void
look_at_heap(Relation toast, Fill *fill)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(toast);
	double		bytes = 0;

	for (BlockNumber block = 0; block < nblocks; block++)
	{
		Size		space = GetRecordedFreeSpace(toast, block);

		CHECK_FOR_INTERRUPTS();
		if (space >= MIN_FREE_SPACE)
			bytes += space;
	}
	fill->pages += nblocks;
	fill->free += bytes / BLCKSZ;
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

/* From a sample of the pages, if there are many. */
static void
look_at_index(Relation index, Fill *fill)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	BlockNumber step = 1 + nblocks / INDEX_SAMPLE;
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
 * Is there so much free space in the relation and its only index that a copy
 * is worth it?  *index: that.
 *
 * An invalid index, left behind by a REINDEX CONCURRENTLY that failed, would
 * not be built anew, and lead to wrong tuples.  Nor while this session has the
 * relation open elsewhere.
 */
static bool
is_worth_it(Relation toast, Oid *index, double *budget)
{
	List	   *list = RelationGetIndexList(toast);
	Relation	rel;
	Fill		fill = {0};

	if (list_length(list) != 1 || toast->rd_refcnt != 1 ||
		RelationGetNumberOfBlocks(toast) > MAX_LOOKED_AT)
		return false;
	*index = linitial_oid(list);
	list_free(list);
	if (!ConditionalLockRelationOid(*index, AccessShareLock))
		return false;
	rel = index_open(*index, NoLock);
	if (rel->rd_index->indisvalid && rel->rd_rel->relam == BTREE_AM_OID &&
		RelationGetNumberOfBlocks(rel) <= MAX_LOOKED_AT)
	{
		look_at_heap(toast, &fill);
		look_at_index(rel, &fill);
	}
	index_close(rel, AccessShareLock);

	if (fill.free < MIN_FREE_PAGES || fill.free < fill.pages * MIN_FREE_SHARE ||
		fill.pages - fill.free > *budget)
		return false;
	*budget -= fill.pages - fill.free;
	return true;
}

/* The server's VACUUM FULL of the TOAST relation, which is locked. */
static void
rewrite(Oid toast)
{
	int			save_nestlevel = NewGUCNestLevel();

	(void) set_config_option("max_parallel_maintenance_workers", "0",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	PushActiveSnapshot(GetTransactionSnapshot());
	st_vacuum_full(toast);
	PopActiveSnapshot();
	AtEOXact_GUC(false, save_nestlevel);
}

/* Locks are kept until the transaction ends, which is now. */
static void
pack(Oid relid, double *budget)
{
	Relation	rel;
	Relation	toast;
	Oid			toastid = InvalidOid;
	Oid			index;
	bool		worth_it;

	if (!ConditionalLockRelationOid(relid, ShareUpdateExclusiveLock))
		return;
	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
		return;
	if (st_relation_format(rel) != NULL)
		toastid = rel->rd_rel->reltoastrelid;
	relation_close(rel, NoLock);
	if (!OidIsValid(toastid) ||
		!ConditionalLockRelationOid(toastid, AccessShareLock))
		return;
	toast = table_open(toastid, NoLock);
	worth_it = is_worth_it(toast, &index, budget);
	table_close(toast, AccessShareLock);
	if (worth_it &&
		ConditionalLockRelationOid(toastid, AccessExclusiveLock) &&
		ConditionalLockRelationOid(index, AccessExclusiveLock))
		rewrite(toastid);
}

static void
pack_noted(void)
{
	double		budget = MAX_COPIED_PAGES;
	int			n = nnoted;

	nnoted = 0;
	for (int i = 0; i < n; i++)
		pack(noted[i], &budget);
}

static void
toast_pack_xact_callback(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			if (vacuuming)
				vacuuming = false;
			else if (nnoted > 0 &&
					 (MyProc->statusFlags & PROC_IN_VACUUM) == 0)
				pack_noted();
			break;
		case XACT_EVENT_ABORT:
			vacuuming = false;
			nnoted = 0;
			break;
		default:
			break;
	}
}

/* Called by VACUUM of a table, in its transaction. */
void
st_toast_pack_later(Relation rel, const VacuumParams *params)
{
	vacuuming = true;
	if (params->truncate == VACOPTVALUE_DISABLED ||
		params->index_cleanup == VACOPTVALUE_DISABLED ||
		!OidIsValid(rel->rd_rel->reltoastrelid))
		return;
	if (nnoted == maxnoted)
	{
		int			n = Max(16, maxnoted * 2);

		noted = noted == NULL ?
			MemoryContextAlloc(TopMemoryContext, n * sizeof(Oid)) :
			repalloc(noted, n * sizeof(Oid));
		maxnoted = n;
	}
	noted[nnoted++] = RelationGetRelid(rel);
}

void
st_toast_pack_init(void)
{
	RegisterXactCallback(toast_pack_xact_callback, NULL);
}
