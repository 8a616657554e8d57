/*-------------------------------------------------------------------------
 *
 * st_fetch.c
 *	  Fetching rows of row groups by virtual TID, for any kind of snapshot.
 *
 * An MVCC snapshot always sees the same, so a StFetch remembers the groups
 * that it saw, and for groups that are asked often a bitmap of deleted rows.
 * Other snapshots are asked anew each time.
 *
 * A dirty snapshot may meet a row that another backend still keeps in
 * memory (its descriptor is provisional).  Its values are unknown here; it is
 * reported as in progress with all columns null, which is enough for a
 * unique check to wait.  (Exclusion constraints look at values: relations
 * with one never have pending rows.)
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "st_store_int.h"

/* Single probes in a group before its tombstones are read as a whole. */
#define ST_PROBES_BEFORE_BITMAP	4

/* Lookups of single groups before all descriptors are read. */
#define ST_MISSES_BEFORE_LIST	8

void
st_fetch_init(StFetch *f, Relation rel)
{
	memset(f, 0, sizeof(*f));
	f->rel = rel;
}

static void
fetch_release_reader(StFetch *f)
{
	if (f->reader != NULL)
		st_reader_release(f->reader);
	f->reader = NULL;
}

void
st_fetch_end(StFetch *f)
{
	fetch_release_reader(f);
	if (f->catalog_open)
		st_catalog_close(&f->catalog);
	if (f->mcxt != NULL)
		MemoryContextDelete(f->mcxt);
	st_fetch_init(f, f->rel);
}

/* Opens what every fetch needs.  Returns false if there are no row groups. */
static bool
fetch_open(StFetch *f)
{
	StMeta		meta;
	int			natts = RelationGetNumberOfAttributes(f->rel);

	if (f->catalog_open)
		return true;

	st_meta_read(f->rel, &meta);
	if (!meta.has_row_groups ||
		!st_catalog_open(&f->catalog, f->rel, AccessShareLock))
		return false;
	f->catalog_open = true;
	f->incarnation = meta.incarnation;
	f->mcxt = AllocSetContextCreate(CurrentMemoryContext, "row fetch",
									ALLOCSET_SMALL_SIZES);
	f->values = MemoryContextAlloc(f->mcxt, Max(natts, 1) * sizeof(Datum));
	f->isnull = MemoryContextAlloc(f->mcxt, Max(natts, 1) * sizeof(bool));
	return true;
}

/* ---- what MVCC snapshots see ---- */

/* Forgets what another snapshot saw. */
static void
seen_begin(StFetch *f, Snapshot snapshot)
{
	if (f->snapshot == snapshot && f->snap_xmin == snapshot->xmin &&
		f->snap_xmax == snapshot->xmax &&
		f->snap_curcid == snapshot->curcid)
		return;

	if (f->seen_mcxt == NULL)
		f->seen_mcxt = AllocSetContextCreate(f->mcxt, "seen row groups",
											 ALLOCSET_SMALL_SIZES);
	else
		MemoryContextReset(f->seen_mcxt);
	f->snapshot = snapshot;
	f->snap_xmin = snapshot->xmin;
	f->snap_xmax = snapshot->xmax;
	f->snap_curcid = snapshot->curcid;
	f->groups = NULL;
	f->ngroups = 0;
	f->all_groups = false;
	f->misses = 0;
	f->current = 0;
}

static inline bool
group_holds(const StFetchGroup *g, uint64 row)
{
	return row - g->group.first_row < g->group.nrows;
}

/* The group of a row among all groups, or NULL. */
static StFetchGroup *
seen_search(StFetch *f, uint64 row)
{
	int			lo = 0;
	int			hi = f->ngroups - 1;

	while (lo <= hi)
	{
		int			mid = lo + (hi - lo) / 2;
		StFetchGroup *g = &f->groups[mid];

		if (group_holds(g, row))
		{
			f->current = mid;
			return g;
		}
		if (row < g->group.first_row)
			hi = mid - 1;
		else
			lo = mid + 1;
	}
	return NULL;
}

static void
seen_load_all(StFetch *f, Snapshot snapshot)
{
	StGroupList *list = st_visible_groups(f->rel, snapshot, f->seen_mcxt);

	f->groups = MemoryContextAllocHuge(f->seen_mcxt,
									   Max(list->ngroups, 1) * sizeof(StFetchGroup));
	memset(f->groups, 0, Max(list->ngroups, 1) * sizeof(StFetchGroup));
	for (int i = 0; i < list->ngroups; i++)
		f->groups[i].group = list->groups[i];
	f->ngroups = list->ngroups;
	f->all_groups = true;
}

/* The group of a row as the MVCC snapshot sees it, or NULL. */
static StFetchGroup *
seen_group(StFetch *f, uint64 row, Snapshot snapshot)
{
	StGroup		group;

	seen_begin(f, snapshot);
	if (f->current < f->ngroups && group_holds(&f->groups[f->current], row))
		return &f->groups[f->current];
	if (!f->all_groups && f->misses++ >= ST_MISSES_BEFORE_LIST)
		seen_load_all(f, snapshot);
	if (f->all_groups)
		return seen_search(f, row);

	if (!st_group_lookup(&f->catalog, row, snapshot, &group, NULL))
		return NULL;
	group.incarnation = f->incarnation;
	if (f->groups == NULL)
		f->groups = MemoryContextAlloc(f->seen_mcxt, sizeof(StFetchGroup));
	else if (f->groups[0].deleted != NULL)
		pfree(f->groups[0].deleted);
	memset(&f->groups[0], 0, sizeof(StFetchGroup));
	f->groups[0].group = group;
	f->ngroups = 1;
	return &f->groups[0];
}

static bool
seen_deleted(StFetch *f, StFetchGroup *g, uint64 row, Snapshot snapshot)
{
	uint64		off = row - g->group.first_row;

	if (!g->bitmap_loaded && g->probes++ < ST_PROBES_BEFORE_BITMAP)
		return st_tombstone_seen(&f->catalog, row, snapshot);
	if (!g->bitmap_loaded)
	{
		g->deleted = st_deleted_rows_in(&f->catalog, &g->group, snapshot,
										f->seen_mcxt, NULL);
		g->bitmap_loaded = true;
	}
	return g->deleted != NULL &&
		(g->deleted[off >> 6] & (UINT64CONST(1) << (off & 63))) != 0;
}

static bool
fetch_mvcc(StFetch *f, ItemPointer tid, uint64 row, Snapshot snapshot,
		   StGroup *group)
{
	StFetchGroup *g = seen_group(f, row, snapshot);

	if (g == NULL || seen_deleted(f, g, row, snapshot))
		return false;
	PredicateLockTID(f->rel, tid, snapshot, g->group.xmin);
	*group = g->group;
	return true;
}

/* ---- what other snapshots see ---- */

/*
 * As HeapTupleSatisfiesDirty: a row that is being inserted or deleted by
 * another transaction is visible, and snapshot->xmin or xmax names it.
 */
static bool
fetch_dirty(StFetch *f, uint64 row, Snapshot snapshot, StGroup *group,
			bool *finished)
{
	SnapshotData dirty;
	TransactionId inserter;
	TransactionId deleter;

	InitDirtySnapshot(dirty);
	if (!st_group_lookup(&f->catalog, row, &dirty, group, finished))
		return false;
	inserter = dirty.xmin;
	deleter = dirty.xmax;

	InitDirtySnapshot(dirty);
	if (st_tombstone_seen(&f->catalog, row, &dirty))
	{
		if (!TransactionIdIsValid(dirty.xmin))
			return false;
		deleter = dirty.xmin;
	}
	snapshot->xmin = inserter;
	snapshot->xmax = deleter;
	return true;
}

/* Is the row's tombstone old enough for vacuum to act on it? */
static bool
row_vacuumable(StFetch *f, uint64 row, Snapshot snapshot)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	bool		result = false;

	st_catalog_scan_begin(&scan, &f->catalog, ST_TOMBSTONE, row, row,
						  SnapshotSelf);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	if (entry != NULL)
	{
		TransactionId xmin = HeapTupleHeaderGetXmin(entry->tuple->t_data);

		result = !TransactionIdIsNormal(xmin) ||
			GlobalVisTestIsRemovableXid(snapshot->vistest, xmin);
	}
	st_catalog_scan_end(&scan);
	return result;
}

static bool
fetch_visible(StFetch *f, ItemPointer tid, uint64 row, Snapshot snapshot,
			  StGroup *group, bool *finished)
{
	*finished = true;
	switch (snapshot->snapshot_type)
	{
		case SNAPSHOT_MVCC:
		case SNAPSHOT_HISTORIC_MVCC:
			return fetch_mvcc(f, tid, row, snapshot, group);
		case SNAPSHOT_DIRTY:
			return fetch_dirty(f, row, snapshot, group, finished);
		case SNAPSHOT_SELF:
			return st_group_lookup(&f->catalog, row, snapshot, group, finished) &&
				!st_tombstone_seen(&f->catalog, row, snapshot);
		case SNAPSHOT_ANY:
			return st_group_lookup(&f->catalog, row, snapshot, group, NULL);
		case SNAPSHOT_NON_VACUUMABLE:
			return st_group_lookup(&f->catalog, row, snapshot, group, NULL) &&
				!row_vacuumable(f, row, snapshot);
		case SNAPSHOT_TOAST:
			break;
	}
	elog(ERROR, "unexpected snapshot type %d", (int) snapshot->snapshot_type);
	return false;
}

static void
fetch_store(StFetch *f, const StGroup *group, uint64 row, bool finished,
			TupleTableSlot *slot)
{
	if (!finished)
		memset(f->isnull, true,
			   RelationGetNumberOfAttributes(f->rel) * sizeof(bool));
	else
	{
		if (f->reader != NULL && f->reader_first_row != group->first_row)
			fetch_release_reader(f);
		if (f->reader == NULL)
		{
			f->reader = st_reader_acquire(f->rel, group);
			f->reader_first_row = group->first_row;
		}
		st_reader_row(f->reader, row - group->first_row, NULL, f->values,
					  f->isnull);
	}
	st_store_row(slot, f->rel, group, row - group->first_row, f->values,
				 f->isnull);
}

bool
st_fetch_row(StFetch *f, ItemPointer tid, Snapshot snapshot,
			 TupleTableSlot *slot)
{
	uint64		row = st_row_from_tid(tid);
	StGroup		group;
	bool		finished;

	/*
	 * A unique check comes while the index holds a page lock: no time to
	 * write a row group.  It is content with a provisional one.
	 */
	if (InterruptHoldoffCount == 0)
		st_pending_flush_row(f->rel, row);

	if (snapshot->snapshot_type == SNAPSHOT_DIRTY)
	{
		snapshot->xmin = snapshot->xmax = InvalidTransactionId;
		snapshot->speculativeToken = 0;
	}
	if (!fetch_open(f) ||
		!fetch_visible(f, tid, row, snapshot, &group, &finished))
		return false;
	group.incarnation = f->incarnation;
	if (slot != NULL)
		fetch_store(f, &group, row, finished, slot);
	return true;
}
