/*-------------------------------------------------------------------------
 *
 * st_toast_index.c
 *	  Opens the TOAST relation, where visibility tuples are, and its indexes.
 *
 * Usually there is one index.  During a REINDEX CONCURRENTLY, and after one
 * that failed, there are more.  Then it matters which are valid (for reading)
 * and which are ready (for insertions), and the relation cache may be wrong
 * about that.  It does not read the flags of an open index of a TOAST relation
 * again: RelationReloadIndexInfo() skips what it takes for a system relation.
 * Having handled the message, it keeps the old flags even when the index is
 * closed.  The server has its indexes open for moments; we have them open as
 * long as a statement or a cursor lasts.  So unless there is only one index,
 * valid and ready, the flags are read from pg_index.  They are copied to the
 * cache when an index is opened and when it is closed, and once more before
 * the server may toast a value: its own toast_open_indexes() trusts the cache,
 * maybe while one of our cursors has the index open, or after an error has
 * closed it.
 *
 * Owns the opening, closing, creation and retirement.  What is in there is
 * the business of st_catalog.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/toasting.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "st_catalog.h"

/* A list of indexes without a valid one is read again, so many times. */
#define MAX_OPEN_TRIES		1000

/* Indexes that have been open in this transaction, with others beside. */
#define MAX_SEEN			64

static Oid	seen[MAX_SEEN];
static int	nseen = 0;

/*
 * One of them may have been open when its (sub)transaction failed: they are
 * kept, also beyond this transaction, until their flags have been set.
 */
static bool suspect = false;

/* ---- old flags in the relation cache ---- */

/*
 * Sets them to what pg_index says, as the relation cache does it with other
 * indexes that are open.
 */
static void
correct_flags(Relation index)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID,
										ObjectIdGetDatum(RelationGetRelid(index)));

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);

		index->rd_index->indisvalid = form->indisvalid;
		index->rd_index->indisready = form->indisready;
		ReleaseSysCache(tuple);
	}
}

/*
 * The index, which is locked, or NULL.  REINDEX CONCURRENTLY drops its old index
 * under a lock that shuts out none of ours, perhaps between the two looks here:
 * try_relation_open() would raise an error then.
 */
static Relation
open_if_there(Oid oid)
{
	Relation	index = SearchSysCacheExists1(RELOID, ObjectIdGetDatum(oid)) ?
		RelationIdGetRelation(oid) : NULL;

	if (index != NULL)
		pgstat_init_relation(index);
	return index;
}

static void
correct_seen(Oid oid)
{
	Relation	index;

	/*
	 * Waiting here could end in a deadlock.  An index that is still ours is
	 * locked by this session, so its lock is granted at once.
	 */
	if (!ConditionalLockRelationOid(oid, AccessShareLock))
	{
		RelationCacheInvalidateEntry(oid);
		return;
	}
	index = open_if_there(oid);
	if (index != NULL)
	{
		if (index->rd_index != NULL)
			correct_flags(index);
		relation_close(index, NoLock);
	}
	UnlockRelationOid(oid, AccessShareLock);
}

static void
correct_all_seen(void)
{
	suspect = false;
	for (int i = 0; i < nseen; i++)
		correct_seen(seen[i]);
}

void
st_catalog_correct_flags(Relation rel)
{
	if (nseen == 0)
		return;

	/*
	 * The server takes this lock later, and hears then of changes.  REINDEX
	 * CONCURRENTLY waits for it to be released before it relies on the index
	 * being ready: whatever we do not hear of now can be missed.
	 */
	if (OidIsValid(rel->rd_rel->reltoastrelid))
		LockRelationOid(rel->rd_rel->reltoastrelid, RowExclusiveLock);
	correct_all_seen();
}

static void
xact_callback(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_PARALLEL_ABORT)
		suspect = nseen > 0;
	else if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_PREPARE)
	{
		if (!suspect)
			nseen = 0;
	}
}

static void
subxact_callback(SubXactEvent event, SubTransactionId subid,
				 SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		suspect = nseen > 0;
}

void
st_toast_index_init(void)
{
	RegisterXactCallback(xact_callback, NULL);
	RegisterSubXactCallback(subxact_callback, NULL);
}

static void
remember_seen(Oid index)
{
	for (int i = 0; i < nseen; i++)
	{
		if (seen[i] == index)
			return;
	}
	/* More than a few are what failures left behind, and change no more. */
	if (nseen < MAX_SEEN)
		seen[nseen++] = index;
}

static void
close_one(Relation index, LOCKMODE release, bool others)
{
	if (others)
		correct_flags(index);
	index_close(index, release);
}

/* ---- opening ---- */

/*
 * Opens all indexes of the TOAST relation; false if none of them seems valid,
 * or one is gone.  The server's own toast_open_indexes() raises an error then.
 * But that is what one may see while REINDEX CONCURRENTLY swaps two of them,
 * looking at the new one before, at the old one after that; and if it drops
 * the old one, which the relation cache still listed.
 */
static bool
open_indexes(StCatalog *cat)
{
	List	   *list = RelationGetIndexList(cat->toast);
	int			n = list_length(list);
	ListCell   *lc;
	bool		gone = false;

	cat->index = NULL;
	cat->nindexes = 0;
	cat->indexes = palloc(Max(n, 1) * (sizeof(Relation) + sizeof(bool)));
	cat->ready = (bool *) (cat->indexes + Max(n, 1));
	cat->all_valid = true;
	foreach(lc, list)
	{
		Relation	index;

		if (n > 1)
			remember_seen(lfirst_oid(lc));
		LockRelationOid(lfirst_oid(lc), cat->lockmode);
		index = open_if_there(lfirst_oid(lc));
		if (index != NULL)
		{
			cat->indexes[cat->nindexes++] = index;
			continue;
		}
		UnlockRelationOid(lfirst_oid(lc), cat->lockmode);
		gone = true;
	}
	list_free(list);
	for (int i = 0; i < cat->nindexes; i++)
	{
		Form_pg_index flags = cat->indexes[i]->rd_index;

		if (n > 1 || !flags->indisvalid || !flags->indisready)
			correct_flags(cat->indexes[i]);
		cat->ready[i] = flags->indisready;
		cat->all_valid &= flags->indisvalid;
		if (flags->indisvalid && cat->index == NULL)
			cat->index = cat->indexes[i];
	}
	return cat->index != NULL && !gone;
}

/* Locks of writers stay until the transaction ends. */
static void
close_indexes(StCatalog *cat)
{
	LOCKMODE	release = cat->lockmode == AccessShareLock ?
		AccessShareLock : NoLock;

	for (int i = 0; i < cat->nindexes; i++)
		close_one(cat->indexes[i], release, cat->nindexes > 1);
	pfree(cat->indexes);
}

bool
st_catalog_open(StCatalog *cat, Relation rel, LOCKMODE lockmode)
{
	int			tries = 0;

	if (!OidIsValid(rel->rd_rel->reltoastrelid))
		return false;

	if (suspect)
		correct_all_seen();
	cat->rel = rel;
	cat->lockmode = lockmode;
	cat->toast = table_open(rel->rd_rel->reltoastrelid, lockmode);
	while (!open_indexes(cat))
	{
		close_indexes(cat);
		if (++tries == MAX_OPEN_TRIES)
			ereport(ERROR,
					(errcode(ERRCODE_INDEX_CORRUPTED),
					 errmsg("the TOAST relation of \"%s\" has no valid index",
							RelationGetRelationName(rel)),
					 errhint("REINDEX TABLE builds it anew.")));
		if (tries > 3)
			pg_usleep(1000L);
		AcceptInvalidationMessages();
		InvalidateSystemCaches();
	}
	return true;
}

void
st_catalog_close(StCatalog *cat)
{
	close_indexes(cat);
	table_close(cat->toast, cat->lockmode == AccessShareLock ?
				AccessShareLock : NoLock);
	cat->toast = NULL;
}

/* ---- tables made and emptied ---- */

/*
 * A table gets its TOAST relation when it is made.  It lacks one only while
 * ALTER TABLE rewrites a table of another access method that needed none;
 * then the new, still invisible table is locked exclusively.
 */
bool
st_catalog_ensure(Relation rel)
{
	if (OidIsValid(rel->rd_rel->reltoastrelid))
		return true;
	if (IsInParallelMode() ||
		!CheckRelationLockedByMe(rel, AccessExclusiveLock, false))
		return false;

	NewHeapCreateToastTable(RelationGetRelid(rel), (Datum) 0,
							AccessExclusiveLock, InvalidOid);
	CommandCounterIncrement();
	return OidIsValid(rel->rd_rel->reltoastrelid);
}

/*
 * Called when the table gets a new file, under AccessExclusiveLock.  An
 * invalid index of the TOAST relation, left behind by a REINDEX CONCURRENTLY
 * that failed, is not made anew: TRUNCATE rebuilds only valid ones, VACUUM
 * FULL and CLUSTER swap the file of the valid one alone.  So it keeps entries
 * of the old file.  Our keys and the TIDs come again in the new one: an old
 * entry would look like a duplicate, and VACUUM would never find it.  Nothing
 * is inserted into that index any more; it waits to be dropped, as before.
 */
void
st_catalog_retire_indexes(Relation rel)
{
	Relation	toast;
	List	   *list;
	ListCell   *lc;

	if (!OidIsValid(rel->rd_rel->reltoastrelid))
		return;
	toast = table_open(rel->rd_rel->reltoastrelid, AccessExclusiveLock);
	list = RelationGetIndexList(toast);
	foreach(lc, list)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessExclusiveLock);
		bool		valid;

		correct_flags(index);
		valid = index->rd_index->indisvalid;
		index_close(index, NoLock);
		if (valid)
			continue;
		index_set_state_flags(lfirst_oid(lc), INDEX_DROP_SET_DEAD);
		CacheInvalidateRelcache(toast);
	}
	list_free(list);
	table_close(toast, NoLock);
}
