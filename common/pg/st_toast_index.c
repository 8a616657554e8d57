/*-------------------------------------------------------------------------
 *
 * st_toast_index.c
 *	  Opens the TOAST relation, where visibility tuples are, and its indexes.
 *
 * There is one index, but for the time of a REINDEX CONCURRENTLY, and what
 * one that failed has left behind.  Then it matters which of them are valid
 * (for reading) and which are ready (to be inserted into), and the relation
 * cache cannot be trusted with it: it does not read the flags of an index of
 * a TOAST relation again while that is open (RelationReloadIndexInfo() skips
 * what it takes for a system relation), and having handled the message, it
 * keeps the old flags when the index is closed.  The server has its indexes
 * open for moments; we, as long as a statement lasts.  So the flags come from
 * pg_index unless there is but one index, valid and ready; and an index whose
 * flags in the cache are old is thrown out of it when it is closed, for the
 * sake of the server's own toast_open_indexes(), which believes in them.  One
 * that an error has closed is thrown out before anything is inserted again.
 *
 * Owns the opening, closing, creation and retirement.  What is in there is
 * the business of st_catalog.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/toasting.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "st_store_int.h"

/* How often a list of indexes is read in which none is valid. */
#define MAX_OPEN_TRIES		1000

/* Indexes that have been open in this transaction, with others beside. */
#define MAX_SEEN			16

static Oid	seen[MAX_SEEN];
static int	nseen = 0;

/* One of them may have been open when its (sub)transaction failed. */
static bool suspect = false;

typedef struct IndexFlags
{
	bool		valid;
	bool		ready;
} IndexFlags;

static IndexFlags
cached_flags(Relation index)
{
	IndexFlags	flags = {
		.valid = index->rd_index->indisvalid,
		.ready = index->rd_index->indisready,
	};

	return flags;
}

/* What pg_index says. */
static IndexFlags
true_flags(Relation index)
{
	IndexFlags	flags = {0};
	HeapTuple	tuple = SearchSysCache1(INDEXRELID,
										ObjectIdGetDatum(RelationGetRelid(index)));

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);

		flags.valid = form->indisvalid;
		flags.ready = form->indisready;
		ReleaseSysCache(tuple);
	}
	return flags;
}

/* ---- old flags in the relation cache ---- */

void
st_catalog_forget_old(void)
{
	if (!suspect)
		return;
	suspect = false;
	for (int i = 0; i < nseen; i++)
		RelationCacheInvalidateEntry(seen[i]);
}

static void
xact_callback(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_PARALLEL_ABORT)
		suspect = nseen > 0;
	else if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_PREPARE)
		nseen = 0;
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
	Oid			oid = RelationGetRelid(index);
	bool		old = false;

	if (others)
	{
		IndexFlags	cached = cached_flags(index);
		IndexFlags	now = true_flags(index);

		old = cached.valid != now.valid || cached.ready != now.ready;
	}
	index_close(index, release);
	if (old)
		RelationCacheInvalidateEntry(oid);
}

/* ---- opening ---- */

/*
 * Opens all indexes of the TOAST relation; false if none of them seems valid.
 * The server's own toast_open_indexes() raises an error then.  But that is
 * what one may see while REINDEX CONCURRENTLY swaps two of them, looking at
 * the new one before, at the old one after that.
 */
static bool
open_indexes(StCatalog *cat)
{
	List	   *list = RelationGetIndexList(cat->toast);
	int			n = list_length(list);
	ListCell   *lc;

	cat->index = NULL;
	cat->nindexes = 0;
	cat->indexes = palloc(Max(n, 1) * (sizeof(Relation) + sizeof(bool)));
	cat->ready = (bool *) (cat->indexes + Max(n, 1));
	cat->all_valid = true;
	foreach(lc, list)
	{
		if (n > 1)
			remember_seen(lfirst_oid(lc));
		cat->indexes[cat->nindexes++] = index_open(lfirst_oid(lc),
												   cat->lockmode);
	}
	list_free(list);
	for (int i = 0; i < n; i++)
	{
		IndexFlags	flags = cached_flags(cat->indexes[i]);

		if (n > 1 || !flags.valid || !flags.ready)
			flags = true_flags(cat->indexes[i]);
		cat->ready[i] = flags.ready;
		cat->all_valid &= flags.valid;
		if (flags.valid && cat->index == NULL)
			cat->index = cat->indexes[i];
	}
	return cat->index != NULL;
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

	st_catalog_forget_old();
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
		bool		valid = true_flags(index).valid;

		index_close(index, NoLock);
		if (valid)
			continue;
		index_set_state_flags(lfirst_oid(lc), INDEX_DROP_SET_DEAD);
		CacheInvalidateRelcache(toast);
	}
	list_free(list);
	table_close(toast, NoLock);
}
