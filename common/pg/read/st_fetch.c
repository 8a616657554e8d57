/*-------------------------------------------------------------------------
 *
 * st_fetch.c
 *	  Fetching rows of row groups by virtual TID, for any kind of snapshot.
 *
 * An MVCC snapshot always sees the same, so a StFetch remembers the groups
 * that it saw, and deleted rows near those that were asked for.
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
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "st_read.h"
#include "st_write.h"

/* Lookups of single groups before all descriptors are read. */
#define ST_MISSES_BEFORE_LIST	8

/* Readers of groups that one fetch keeps pinned. */
#define ST_MAX_PINNED	64

/* Decoded rows between looks at the size of the reader. */
#define ST_ROWS_BEFORE_ACCOUNT	256

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

static void
group_release_reader(StFetch *f, StFetchGroup *g)
{
	if (g->reader == NULL)
		return;
	st_reader_release(g->reader);
	g->reader = NULL;
	f->npinned--;
}

static void
fetch_release_groups(StFetch *f)
{
	for (int i = 0; i < f->ngroups && f->npinned > 0; i++)
		group_release_reader(f, &f->groups[i]);
}

void
st_fetch_end(StFetch *f)
{
	fetch_release_reader(f);
	fetch_release_groups(f);
	if (f->catalog_open)
		st_catalog_close(&f->catalog);
	if (f->mcxt != NULL)
		MemoryContextDelete(f->mcxt);
	st_fetch_init(f, f->rel);
}

static void
fetch_memory(StFetch *f)
{
	int			natts = RelationGetNumberOfAttributes(f->rel);

	if (f->mcxt != NULL)
		return;
	f->mcxt = AllocSetContextCreate(CurrentMemoryContext, "row fetch",
									ALLOCSET_SMALL_SIZES);
	f->kept.mcxt = f->mcxt;
	f->values = MemoryContextAlloc(f->mcxt, Max(natts, 1) * sizeof(Datum));
	f->isnull = MemoryContextAlloc(f->mcxt, Max(natts, 1) * sizeof(bool));
}

/* Opens what every fetch needs.  Returns false if there are no row groups. */
static bool
fetch_open(StFetch *f)
{
	if (f->catalog_open)
		return true;
	if (!st_meta_has_row_groups(f->rel, &f->incarnation) ||
		!st_catalog_open(&f->catalog, f->rel, AccessShareLock))
		return false;
	f->catalog_open = true;
	fetch_memory(f);
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

	fetch_release_groups(f);
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
	f->piece = NULL;
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

/*
 * Groups in front of the first tombstone of the table need no probes: most
 * tables have none at all.
 */
static void
seen_no_tombstones(StFetch *f, Snapshot snapshot)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	uint64		first;

	st_catalog_scan_begin(&scan, &f->catalog, ST_TOMBSTONE, 0,
						  ST_MAX_ROW_NUMBER, snapshot);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	first = entry == NULL ? PG_UINT64_MAX : entry->row;
	st_catalog_scan_end(&scan);

	for (int i = 0; i < f->ngroups; i++)
	{
		const StGroup *group = &f->groups[i].group;

		if (group->first_row + group->nrows <= first && !group->mown)
			f->groups[i].deleted.known = ST_NEAR_NONE;
	}
}

static void
seen_load_all(StFetch *f, Snapshot snapshot)
{
	StGroupList *list = st_visible_groups(f->rel, snapshot, f->seen_mcxt);

	fetch_release_groups(f);
	f->groups = MemoryContextAllocHuge(f->seen_mcxt,
									   Max(list->ngroups, 1) * sizeof(StFetchGroup));
	memset(f->groups, 0, Max(list->ngroups, 1) * sizeof(StFetchGroup));
	for (int i = 0; i < list->ngroups; i++)
		f->groups[i].group = list->groups[i];
	f->ngroups = list->ngroups;
	f->all_groups = true;
	seen_no_tombstones(f, snapshot);
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
	fetch_release_groups(f);
	if (f->groups == NULL)
		f->groups = MemoryContextAlloc(f->seen_mcxt, sizeof(StFetchGroup));
	else
		st_deleted_near_free(&f->groups[0].deleted);
	memset(&f->groups[0], 0, sizeof(StFetchGroup));
	f->groups[0].group = group;
	f->ngroups = 1;
	return &f->groups[0];
}

/*
 * Is the row one that VACUUM has folded?  Whoever comes from an index entry
 * need not ask: VACUUM had removed the entries before, so the snapshot does
 * not see its transaction, but the tombstone still.  A bitmap may be lossy, and
 * then leads to any row.
 */
static bool
seen_folded(StFetch *f, const StGroup *group, uint64 row, Snapshot snapshot)
{
	if (f->by_index || !group->folded)
		return false;
	if (f->piece == NULL)
		f->piece = MemoryContextAllocZero(f->seen_mcxt, sizeof(StPiece));
	if (row - f->piece->first_row >= f->piece->nrows)
		(void) st_piece_read(&f->catalog, group, row, snapshot, f->piece);
	return st_piece_has(f->piece, row);
}

/* The group of a row that the snapshot sees, else NULL. */
static StFetchGroup *
fetch_mvcc(StFetch *f, ItemPointer tid, uint64 row, Snapshot snapshot)
{
	StFetchGroup *g = seen_group(f, row, snapshot);

	if (g == NULL || st_deleted_near(&g->deleted, &f->catalog, &g->group, row, snapshot,
									 f->seen_mcxt) ||
		seen_folded(f, &g->group, row, snapshot))
		return NULL;
	PredicateLockTID(f->rel, tid, snapshot, g->group.xmin);
	return g;
}

/* ---- what other snapshots see ---- */

/*
 * Has the row been folded, before no tombstone of it was found?  If so, its
 * group's descriptor has said by then that there are pieces, but group may be
 * older.
 */
static bool
folded_since(StFetch *f, uint64 row, const StGroup *group)
{
	SnapshotData dirty;
	StGroup		now;
	bool		finished;

	InitDirtySnapshot(dirty);
	if (!group->folded &&
		st_group_lookup(&f->catalog, row, &dirty, &now, &finished) && !now.folded)
		return false;
	return st_row_folded(&f->catalog, group, row, SnapshotAny);
}

/*
 * As HeapTupleSatisfiesDirty: a row that is being inserted or deleted by
 * another transaction is visible, and snapshot->xmin or xmax names it.
 *
 * A copy that a running compaction makes is not: the row counts where it was
 * until that commits.  Nobody can miss both: old places stand before new ones
 * among equal keys of a btree, so who has found the first one dead, because the
 * compaction has committed since, comes to the other one after that.
 */
static bool
fetch_dirty(StFetch *f, uint64 row, Snapshot snapshot, StGroup *group,
			bool *finished)
{
	SnapshotData dirty;
	TransactionId inserter;
	TransactionId deleter;

	InitDirtySnapshot(dirty);
	dirty.xmin = dirty.xmax = InvalidTransactionId;
	if (!st_locked_group(f->rel, row, group) &&
		!st_group_lookup(&f->catalog, row, &dirty, group, finished))
		return false;
	if (group->copied && TransactionIdIsValid(dirty.xmin))
		return false;
	inserter = dirty.xmin;
	deleter = dirty.xmax;

	InitDirtySnapshot(dirty);
	if (st_deletion_seen(&f->catalog, row, &dirty, ST_ASK_MOWN))
	{
		if (!TransactionIdIsValid(dirty.xmin))
			return false;
		deleter = dirty.xmin;
	}
	else if (folded_since(f, row, group))
		return false;
	snapshot->xmin = inserter;
	snapshot->xmax = deleter;
	return true;
}

/* Is the row's deletion old enough for vacuum to act on it? */
static bool
row_vacuumable(StFetch *f, uint64 row, Snapshot snapshot, const StGroup *group)
{
	StDeletion	deletion;
	StCatalogEntry *entry;
	bool		result = false;

	entry = st_deletion_begin(&deletion, &f->catalog, row, SnapshotSelf, ST_ASK_MOWN);
	if (entry != NULL)
	{
		TransactionId xmin = HeapTupleHeaderGetXmin(entry->tuple->t_data);

		result = !TransactionIdIsNormal(xmin) ||
			st_is_removable_xid(snapshot->vistest, xmin);
	}
	st_deletion_end(&deletion);
	return entry != NULL ? result : folded_since(f, row, group);
}

/* For snapshots that are not MVCC ones. */
static bool
fetch_visible(StFetch *f, uint64 row, Snapshot snapshot, StGroup *group,
			  bool *finished)
{
	*finished = true;
	switch (snapshot->snapshot_type)
	{
		case SNAPSHOT_DIRTY:
			return fetch_dirty(f, row, snapshot, group, finished);
		case SNAPSHOT_SELF:
			return st_group_lookup(&f->catalog, row, snapshot, group, finished) &&
				!st_deletion_seen(&f->catalog, row, snapshot, ST_ASK_MOWN) &&
				!folded_since(f, row, group);
		case SNAPSHOT_ANY:
			return st_locked_group(f->rel, row, group) ||
				st_group_lookup(&f->catalog, row, snapshot, group, NULL);
		case SNAPSHOT_NON_VACUUMABLE:
			return st_group_lookup(&f->catalog, row, snapshot, group, NULL) &&
				!row_vacuumable(f, row, snapshot, group);
		case SNAPSHOT_MVCC:
		case SNAPSHOT_HISTORIC_MVCC:
		case SNAPSHOT_TOAST:
			break;
	}
	elog(ERROR, "unexpected snapshot type %d", (int) snapshot->snapshot_type);
	return false;
}

/* ---- values ---- */

/*
 * A group's reader stays pinned while the fetch lasts, as the rows of an
 * index scan go to and fro among groups; in bounded number and memory.
 */
static StCachedReader *
group_reader(StFetch *f, StFetchGroup *g)
{
	if (g->reader == NULL)
	{
		if (f->npinned >= ST_MAX_PINNED)
			fetch_release_groups(f);
		g->reader = st_reader_acquire(f->rel, &g->group);
		f->npinned++;
	}
	else if (f->nrows++ % ST_ROWS_BEFORE_ACCOUNT == 0 &&
			 !st_reader_account(g->reader) && f->npinned > 1)
	{
		fetch_release_groups(f);
		g->reader = st_reader_acquire(f->rel, &g->group);
		f->npinned++;
	}
	return g->reader;
}

static StCachedReader *
single_reader(StFetch *f, const StGroup *group)
{
	if (f->reader != NULL && f->reader_first_row != group->first_row)
		fetch_release_reader(f);
	if (f->reader == NULL)
	{
		f->reader = st_reader_acquire(f->rel, group);
		f->reader_first_row = group->first_row;
	}
	return f->reader;
}

void
st_keep_values(StKeptValues *kept, TupleTableSlot *slot, const bool *needed)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	Size		total = 0;
	char	   *to;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (needed[i] && !slot->tts_isnull[i] && !att->attbyval)
			total += MAXALIGN(datumGetSize(slot->tts_values[i], false, att->attlen));
	}
	if (total == 0)
		return;
	if (total > kept->size)
	{
		if (kept->bytes != NULL)
			pfree(kept->bytes);
		kept->bytes = NULL;
		kept->size = 0;
		kept->bytes = MemoryContextAllocHuge(kept->mcxt, Max(total, 1024));
		kept->size = Max(total, 1024);
	}
	to = kept->bytes;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		Size		len;

		if (!needed[i] || slot->tts_isnull[i] || att->attbyval)
			continue;
		len = datumGetSize(slot->tts_values[i], false, att->attlen);
		memcpy(to, DatumGetPointer(slot->tts_values[i]), len);
		slot->tts_values[i] = PointerGetDatum(to);
		to += MAXALIGN(len);
	}
}

static void
find_columns(StFetch *f, TupleTableSlot *slot)
{
	if (slot == f->slot)
		return;
	f->slot = slot;
	f->columns = st_scan_columns_of(slot);
}

/*
 * Fills a slot whose scan has said what it needs.  g: of a group that an MVCC
 * snapshot saw, else NULL.
 */
static void
store_needed(StFetch *f, StFetchGroup *g, const StGroup *group, uint64 row,
			 TupleTableSlot *slot)
{
	const bool *needed = f->recheck ? f->columns->recheck : f->columns->output;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true,
		   slot->tts_tupleDescriptor->natts * sizeof(bool));
	if (needed != NULL)
	{
		st_reader_row(g != NULL ? group_reader(f, g) : single_reader(f, group),
					  row - group->first_row, needed, slot->tts_values,
					  slot->tts_isnull);
		st_keep_values(&f->kept, slot, needed);
	}
	st_store_virtual_row(slot, f->rel, row);
}

static void
store_all(StFetch *f, StCachedReader *reader, const StGroup *group,
		  uint64 row, TupleTableSlot *slot)
{
	if (reader == NULL)
		memset(f->isnull, true,
			   RelationGetNumberOfAttributes(f->rel) * sizeof(bool));
	else
		st_reader_row(reader, row - group->first_row, NULL, f->values,
					  f->isnull);
	st_store_row(slot, f->rel, group, row - group->first_row, f->values,
				 f->isnull);
}

static bool
fetch_seen(StFetch *f, ItemPointer tid, uint64 row, Snapshot snapshot,
		   TupleTableSlot *slot)
{
	StFetchGroup *g = fetch_mvcc(f, tid, row, snapshot);

	if (g == NULL)
		return false;
	if (slot == NULL)
		return true;
	find_columns(f, slot);
	g->group.incarnation = f->incarnation;
	if (f->columns != NULL)
		store_needed(f, g, &g->group, row, slot);
	else
		store_all(f, group_reader(f, g), &g->group, row, slot);
	return true;
}

/* A row that a snapshot saw which is no MVCC one. */
static void
store_found(StFetch *f, const StGroup *group, bool finished, uint64 row,
			TupleTableSlot *slot)
{
	find_columns(f, slot);
	if (f->columns != NULL && finished)
		store_needed(f, NULL, group, row, slot);
	else
		store_all(f, finished ? single_reader(f, group) : NULL, group, row,
				  slot);
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
	{
		if (st_pending_hides_row(f->rel, row, snapshot))
			return false;
		st_pending_flush_row(f->rel, row);
	}

	if (snapshot->snapshot_type == SNAPSHOT_DIRTY)
	{
		snapshot->xmin = snapshot->xmax = InvalidTransactionId;
		snapshot->speculativeToken = 0;
		if (st_row_buried(f->rel, row) == ST_BURIED)
			return false;
	}
	else if (snapshot->snapshot_type == SNAPSHOT_ANY && slot != NULL &&
			 st_locked_group(f->rel, row, &group))
	{
		/* The row that a statement is about to change, or has changed. */
		fetch_memory(f);
		store_found(f, &group, true, row, slot);
		return true;
	}
	if (st_row_buried_before(f->rel, row, snapshot))
		return false;
	if (!fetch_open(f))
		return false;
	if (IsMVCCSnapshot(snapshot))
		return fetch_seen(f, tid, row, snapshot, slot);

	if (!fetch_visible(f, row, snapshot, &group, &finished))
		return false;
	group.incarnation = f->incarnation;
	if (slot != NULL)
		store_found(f, &group, finished, row, slot);
	return true;
}
