/*-------------------------------------------------------------------------
 *
 * st_versions.c
 *	  Vacuum's view of row groups and their rows.
 *
 * Reads descriptors and tombstones of any age from the TOAST relation with
 * SnapshotAny and judges them by HeapTupleSatisfiesVacuum, as heap judges its
 * tuples for index builds, ANALYZE, VACUUM and CLUSTER.  Index entries that
 * were marked dead are skipped by the scan: what they point at is dead to
 * all, so this is right for visibility, but proves nothing about the use of
 * an extent (see st_am_vacuum.c for that).
 *
 * Callers hold at least AccessShareLock on the table; those who ask for rows
 * hold a lock that keeps VACUUM away, so that none is folded meanwhile.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "st_visibility.h"

/*
 * Returns what vacuum says of an entry's tuple.  Sets *xmin to its inserter
 * and *xid to the transaction that its state depends on. version may be NULL.
 */
static HTSV_Result
entry_state(StCatalogEntry *entry, TransactionId oldest_xmin,
			TransactionId *xmin, TransactionId *xid, StGroupVersion *version)
{
	HeapTupleHeader header = entry->tuple->t_data;
	HTSV_Result state;

	LockBuffer(entry->buffer, BUFFER_LOCK_SHARE);
	state = HeapTupleSatisfiesVacuum(entry->tuple, oldest_xmin,
									 entry->buffer);
	*xmin = HeapTupleHeaderGetXmin(header);
	if (state == HEAPTUPLE_DELETE_IN_PROGRESS)
		*xid = HeapTupleHeaderGetUpdateXid(header);
	else
		*xid = *xmin;
	if (version != NULL)
	{
		if (state == HEAPTUPLE_DELETE_IN_PROGRESS ||
			state == HEAPTUPLE_RECENTLY_DEAD)
			version->xmax = HeapTupleHeaderGetUpdateXid(header);
		version->aborted = state == HEAPTUPLE_DEAD &&
			HeapTupleHeaderXminInvalid(header);
	}
	LockBuffer(entry->buffer, BUFFER_LOCK_UNLOCK);
	return state;
}

/*
 * Reads the versions of descriptors first..last, appending to *out, until there
 * are `limit`; those of groups without an image (of another session, or aborted)
 * only if asked.
 */
static void
collect_versions(StCatalog *cat, uint64 first, uint64 last, int limit,
				 uint64 incarnation, bool unfinished,
				 TransactionId oldest_xmin, StGroupVersions *out,
				 MemoryContext mcxt)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	int			allocated = 0;

	st_catalog_scan_begin(&scan, cat, ST_DESCRIPTOR, first, last, SnapshotAny);
	while (out->n < limit &&
		   (entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		StGroupVersion v;

		CHECK_FOR_INTERRUPTS();
		memset(&v, 0, sizeof(v));
		v.state = entry_state(entry, oldest_xmin, &v.xmin, &v.xid, &v);
		v.tid = entry->tuple->t_self;
		v.finished = st_descriptor_decode(cat->rel, entry, &v.group);
		if ((!v.finished || v.group.nrows == 0) && !unfinished)
			continue;
		v.group.incarnation = incarnation;
		if (out->n == allocated)
		{
			allocated = Max(16, allocated * 2);
			out->v = out->v == NULL ?
				MemoryContextAlloc(mcxt, allocated * sizeof(v)) :
				repalloc(out->v, allocated * sizeof(v));
		}
		out->v[out->n++] = v;
	}
	st_catalog_scan_end(&scan);
}

static StGroupVersions *
read_versions(Relation rel, uint64 first, int limit, bool unfinished,
			  TransactionId oldest_xmin, MemoryContext mcxt)
{
	StGroupVersions *out = MemoryContextAllocZero(mcxt, sizeof(*out));
	StCatalog	cat;
	StMeta		meta;

	st_meta_read(rel, &meta);
	if (!meta.has_row_groups || !st_catalog_open(&cat, rel, AccessShareLock))
		return out;
	collect_versions(&cat, first, ST_MAX_ROW_NUMBER, limit, meta.incarnation, unfinished,
					 oldest_xmin, out, mcxt);
	st_catalog_close(&cat);
	return out;
}

/*
 * All row groups of rel that have an image and whose descriptor, in whatever
 * state, is still found, sorted by first_row.  Flushes what this backend has
 * pending.  oldest_xmin: as for HeapTupleSatisfiesVacuum.  A relation whose
 * metapage says that it has no row groups reads as empty without a look at
 * the TOAST relation, which may be stale then.
 */
StGroupVersions *
st_group_versions(Relation rel, TransactionId oldest_xmin, MemoryContext mcxt)
{
	return read_versions(rel, 0, PG_INT32_MAX, false, oldest_xmin, mcxt);
}

/* The same of groups that begin at that row or behind it, the first few of them. */
StGroupVersions *
st_group_versions_from(Relation rel, uint64 row, int limit, TransactionId oldest_xmin,
					   MemoryContext mcxt)
{
	return read_versions(rel, row, limit, false, oldest_xmin, mcxt);
}

/*
 * The same, with two kinds of groups more: those without an image, whose nrows
 * is the number that they reserved, and those that VACUUM had begun to drop,
 * whose nrows is 0.
 */
StGroupVersions *
st_group_versions_all(Relation rel, TransactionId oldest_xmin,
					  MemoryContext mcxt)
{
	return read_versions(rel, 0, PG_INT32_MAX, true, oldest_xmin, mcxt);
}

/*
 * Reads the state of one group again, after a wait.  False, and the version
 * unchanged, if its descriptor is gone.
 */
bool
st_group_version_refresh(Relation rel, TransactionId oldest_xmin,
						 StGroupVersion *version)
{
	StGroupVersions out = {0};
	StCatalog	cat;
	uint64		row = version->group.first_row;
	bool		found = false;

	if (!st_catalog_open(&cat, rel, AccessShareLock))
		return false;
	collect_versions(&cat, row, row, PG_INT32_MAX, version->group.incarnation, false,
					 oldest_xmin, &out, CurrentMemoryContext);
	st_catalog_close(&cat);
	for (int i = 0; i < out.n; i++)
	{
		if (ItemPointerEquals(&out.v[i].tid, &version->tid))
		{
			*version = out.v[i];
			found = true;
		}
	}
	if (out.v != NULL)
		pfree(out.v);
	return found;
}

/* The groups alone, for st_delta_begin() and st_scan_take_group(). */
StGroupList *
st_group_versions_list(const StGroupVersions *versions)
{
	StGroupList *list = palloc(sizeof(StGroupList));

	list->ngroups = versions->n;
	list->groups = palloc(Max(versions->n, 1) * sizeof(StGroup));
	for (int i = 0; i < versions->n; i++)
		list->groups[i] = versions->v[i].group;
	return list;
}

/*
 * Sets *effect to what a tombstone in the given state makes of its row.
 * Returns false if it has none, because its transaction aborted.
 */
static bool
tombstone_effect(HTSV_Result state, TransactionId xmin,
				 TransactionId oldest_xmin, HTSV_Result *effect)
{
	switch (state)
	{
		case HEAPTUPLE_DEAD:
			return false;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			*effect = HEAPTUPLE_DELETE_IN_PROGRESS;
			return true;
		case HEAPTUPLE_LIVE:
		case HEAPTUPLE_RECENTLY_DEAD:
		case HEAPTUPLE_DELETE_IN_PROGRESS:
			/* it goes away only with its group, and the row stays deleted */
			*effect = TransactionIdPrecedes(xmin, oldest_xmin) ?
				HEAPTUPLE_DEAD : HEAPTUPLE_RECENTLY_DEAD;
			return true;
	}
	return false;
}

/*
 * The rows of a group that somebody deleted or is deleting, in mcxt.
 */
StRowDeaths *
st_row_deaths(Relation rel, const StGroup *group, TransactionId oldest_xmin,
			  MemoryContext mcxt)
{
	return st_row_deaths_of(rel, group, group->first_row, group->nrows,
							oldest_xmin, mcxt);
}

static StRowDeath
folded_death(const StGroup *group, uint32 row)
{
	StRowDeath	death = {
		.row = row,
		.state = HEAPTUPLE_DEAD,
		.xid = FrozenTransactionId,
		.raw_xid = FrozenTransactionId,
		.folded = true
	};

	st_tid_from_row(&death.forward, group->first_row + row);
	return death;
}

/*
 * Merges deaths that pieces tell of into the list.  A row that has a tombstone
 * as well, because a fold was rolled back, is in it already.
 */
static void
add_folded(StCatalog *cat, const StGroup *group, uint32 first, uint32 last,
		   StRowDeaths *out, MemoryContext mcxt)
{
	uint64	   *bitmap = NULL;
	TransactionId newest = InvalidTransactionId;
	uint32		nfolded = st_mark_folded(cat, group, first, last, SnapshotAny,
										 mcxt, &bitmap, &newest);
	StRowDeath *merged;
	uint32		n = 0;
	uint32		next = 0;

	if (nfolded == 0)
		return;
	merged = MemoryContextAllocHuge(mcxt, ((Size) out->n + nfolded) * sizeof(StRowDeath));
	for (uint32 row = first; row <= last; row++)
	{
		if (next < out->n && out->d[next].row == row)
			merged[n++] = out->d[next++];
		else if ((bitmap[row >> 6] & (UINT64CONST(1) << (row & 63))) != 0)
			merged[n++] = folded_death(group, row);
	}
	pfree(bitmap);
	if (out->d != NULL)
		pfree(out->d);
	out->d = merged;
	out->n = n;
}

static void
append_death(StRowDeaths *out, uint32 *allocated, const StRowDeath *death,
			 MemoryContext mcxt)
{
	if (out->n == *allocated)
	{
		*allocated = Max(64, *allocated * 2);
		out->d = out->d == NULL ?
			MemoryContextAlloc(mcxt, *allocated * sizeof(*death)) :
			repalloc_huge(out->d, *allocated * sizeof(*death));
	}
	out->d[out->n++] = *death;
}

/* What the tuple of a tombstone or swath makes of its rows; false: nothing. */
static bool
judge_deletion(StCatalogEntry *entry, TransactionId oldest_xmin, StRowDeath *death)
{
	TransactionId ignored;
	HTSV_Result state = entry_state(entry, oldest_xmin, &death->xid, &ignored, NULL);

	if (!tombstone_effect(state, death->xid, oldest_xmin, &death->state))
		return false;
	death->folded = false;
	death->raw_xid = HeapTupleHeaderGetRawXmin(entry->tuple->t_data);
	death->cid = HeapTupleHeaderGetRawCommandId(entry->tuple->t_data);
	return true;
}

static int
compare_deaths(const void *a, const void *b)
{
	uint32		x = ((const StRowDeath *) a)->row;
	uint32		y = ((const StRowDeath *) b)->row;

	return x < y ? -1 : x > y;
}

/*
 * Adds the deaths of rows first..last of the group that are in swaths.  A row
 * has one death at a time.  A second is found only where its deleter was rolled
 * back between the look for tombstones and this one, and somebody else has mown
 * it since.  Writers go on meanwhile beside VACUUM and ANALYZE alone, which act
 * on deaths that are older than every snapshot: neither of the two is, as both
 * deleters ran after the horizon was taken.  So any of them will do.
 */
static void
add_mown(StCatalog *cat, const StGroup *group, uint64 first, uint64 last,
		 TransactionId oldest_xmin, StRowDeaths *out, uint32 *allocated,
		 MemoryContext mcxt)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	bool		any = false;
	uint32		n = 0;

	st_swath_scan_begin(&scan, cat, first, last, SnapshotAny);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		StRowDeath	death;
		StSwath		swath;

		CHECK_FOR_INTERRUPTS();
		if (entry->row < group->first_row || !judge_deletion(entry, oldest_xmin, &death))
			continue;
		st_swath_decode(cat->rel, entry, &swath);
		for (uint64 row = Max(first, swath.first_row);
			 row <= Min(last, swath.first_row + swath.nrows - 1); row++)
		{
			if (!st_swath_has(&swath, row))
				continue;
			death.row = (uint32) (row - group->first_row);
			st_swath_forward(&swath, row, &death.forward);
			append_death(out, allocated, &death, mcxt);
			any = true;
		}
	}
	st_catalog_scan_end(&scan);
	if (!any)
		return;
	qsort(out->d, out->n, sizeof(StRowDeath), compare_deaths);
	for (uint32 i = 0; i < out->n; i++)
	{
		if (n == 0 || out->d[n - 1].row != out->d[i].row)
			out->d[n++] = out->d[i];
	}
	out->n = n;
}

/* The same for row numbers first .. first + nrows - 1 of the group alone. */
StRowDeaths *
st_row_deaths_of(Relation rel, const StGroup *group, uint64 first,
				 uint32 nrows, TransactionId oldest_xmin, MemoryContext mcxt)
{
	StRowDeaths *out = MemoryContextAllocZero(mcxt, sizeof(*out));
	StCatalog	cat;
	StCatalogScan scan;
	StCatalogEntry *entry;
	uint32		allocated = 0;

	if (!st_catalog_open(&cat, rel, AccessShareLock))
		return out;
	st_catalog_scan_begin(&scan, &cat, ST_TOMBSTONE, first, first + nrows - 1,
						  SnapshotAny);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		StRowDeath	death;

		CHECK_FOR_INTERRUPTS();
		if (!judge_deletion(entry, oldest_xmin, &death))
			continue;
		death.row = (uint32) (entry->row - group->first_row);
		if (out->n > 0 && out->d[out->n - 1].row == death.row)
			continue;
		st_tombstone_decode(rel, entry, &death.forward);
		append_death(out, &allocated, &death, mcxt);
	}
	st_catalog_scan_end(&scan);
	add_mown(&cat, group, first, first + nrows - 1, oldest_xmin, out, &allocated, mcxt);
	if (group->folded)
		add_folded(&cat, group, (uint32) (first - group->first_row),
				   (uint32) (first - group->first_row) + nrows - 1, out, mcxt);
	st_catalog_close(&cat);
	return out;
}

/* The death of one row, or NULL.  Rows are asked for in ascending order. */
const StRowDeath *
st_row_death(StRowDeaths *deaths, uint32 row)
{
	while (deaths->next < deaths->n && deaths->d[deaths->next].row < row)
		deaths->next++;
	if (deaths->next < deaths->n && deaths->d[deaths->next].row == row)
		return &deaths->d[deaths->next];
	return NULL;
}

/*
 * The state of a row, as HeapTupleSatisfiesVacuum would tell it of a heap
 * tuple, and who inserts or deletes it when that is in progress.  Rows are
 * asked for in ascending order.
 */
HTSV_Result
st_row_state(const StGroupVersion *version, StRowDeaths *deaths, uint32 row,
			 TransactionId *xid)
{
	const StRowDeath *death = st_row_death(deaths, row);

	*xid = version->xid;
	if (death == NULL || version->state == HEAPTUPLE_DEAD ||
		(version->state == HEAPTUPLE_RECENTLY_DEAD &&
		 death->state != HEAPTUPLE_DEAD))
		return version->state;

	/*
	 * The row's own death counts, also while its group goes.  A row inserted
	 * and deleted by the same running transaction is being deleted.
	 */
	*xid = death->xid;
	return death->state;
}
