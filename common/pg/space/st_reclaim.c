/*-------------------------------------------------------------------------
 *
 * st_reclaim.c
 *	  What VACUUM does about row groups (I6).
 *
 * A row is dead to all when its tombstone is older than every snapshot, or
 * its group's descriptor is gone for everybody: its transaction aborted, or a
 * compaction replaced the group, of which an entry tells (st_retired.c).  For
 * those rows:
 *
 *	1. index entries are removed, by index_bulk_delete with a callback that
 *	   knows the dead rows as bitmaps, in batches of maintenance_work_mem;
 *	2. the vacuum state remembers up to which transaction that is done, so
 *	   that the next VACUUM does not scan the indexes for the same rows;
 *	3. a group with no row left loses its descriptor, tombstones, pieces and
 *	   anchors, and its extent goes to the directory of free extents, in this
 *	   transaction; so does the extent of an aborted group;
 *	4. tombstones of other groups whose rows have no index entries any more
 *	   become bits of their pieces (st_fold.c): as many as one transaction may
 *	   lose when it is cancelled, the rest at the next VACUUM, which need not
 *	   scan the indexes again for them;
 *	5. origin maps of compactions that nobody can run into are forgotten.
 *
 * Standbys learn of 1 by a conflict record before it, and of 3 by heap's own
 * records and those of st_free_extent.c.
 *
 * VACUUM runs with PROC_IN_VACUUM set: others ignore its xmin and xid.  That
 * does not do for a transaction that writes, so the flag is cleared and a new
 * snapshot is taken before the first write.
 *
 * Locks: ShareUpdateExclusiveLock on the table, RowExclusiveLock on indexes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/xact.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "st_space.h"
#include "st_wal.h"

#define ST_VACUUM_STATE_VERSION	1

/*
 * Indexes are scanned when at least this share of the rows of row groups has
 * died since the last time (or a whole group has).
 */
#define CLEANUP_THRESHOLD	0.01

/*
 * When so many tombstones are folded the rest is left to the next VACUUM: what
 * is cancelled loses no more, and so little is done again.
 */
#define MAX_FOLDED		250000

/* Dead rows of a group. */
typedef struct DeadRows
{
	uint64		first_row;
	uint32		nrows;
	uint64	   *bits;			/* bit set = dead; NULL = all of them */
} DeadRows;

typedef struct Reclaim
{
	Relation	rel;
	TransactionId oldest_xmin;
	BufferAccessStrategy strategy;
	int			message_level;
	MemoryContext mcxt;
	MemoryContext deaths_mcxt;

	TransactionId cleaned_xid;	/* older deaths are cleaned; or invalid */

	StGroupVersions *groups;	/* replaced ones as HEAPTUPLE_DEAD, with tid and
								 * xmin of their entry */
	bool	   *whole;			/* of each: no row is left */
	uint32	   *tombstones;		/* of each that stays: those to be folded */
	bool		maps_expired;
	TransactionId newest_death; /* of rows to be removed from indexes */
	double		rows;
	double		new_deaths;
	double		to_fold;
	bool		any_whole;
	bool		scan_indexes;

	int			nindexes;
	Relation   *indexes;
	IndexBulkDeleteResult **results;

	/* current batch, sorted by first_row */
	MemoryContext batch_mcxt;
	DeadRows   *dead;
	int			ndead;
} Reclaim;

/* ---- helpers ---- */

/*
 * Reads the vacuum state; tid is that of its tuple.  False if there is none.
 * A transaction id too old to be compared with says nothing: rows are then
 * cleaned again.
 */
static bool
read_state(StCatalog *cat, TransactionId *cleaned_xid, ItemPointer tid)
{
	StVacuumStatePayload payload;
	FullTransactionId cleaned = InvalidFullTransactionId;
	bool		found = st_note_read(cat, ST_VACUUM_STATE, 0, &payload,
									 sizeof(payload), tid);

	if (found)
		cleaned = FullTransactionIdFromU64(payload.cleaned_xid);
	*cleaned_xid = InvalidTransactionId;
	if (found && U64FromFullTransactionId(ReadNextFullTransactionId()) -
		U64FromFullTransactionId(cleaned) < MaxTransactionId / 4)
		*cleaned_xid = XidFromFullTransactionId(cleaned);
	return found;
}

/*
 * The horizon of an index build for rows of row groups: those that died before
 * it get no entries.  The server's may have gone back behind that of a VACUUM.
 * Rows whose entries that one has removed are folded without another look at
 * the indexes, so they must not get new ones.
 */
TransactionId
st_not_before_vacuum(Relation rel, TransactionId horizon)
{
	TransactionId cleaned = InvalidTransactionId;
	StCatalog	cat;
	ItemPointerData tid;

	if (st_meta_has_row_groups(rel, NULL) &&
		st_catalog_open(&cat, rel, AccessShareLock))
	{
		(void) read_state(&cat, &cleaned, &tid);
		st_catalog_close(&cat);
	}
	return TransactionIdIsValid(cleaned) && TransactionIdFollows(cleaned, horizon) ?
		cleaned : horizon;
}

static void
write_state(StCatalog *cat, TransactionId cleaned_xid)
{
	StVacuumStatePayload payload = {0};
	TransactionId old;
	ItemPointerData tid;

	if (read_state(cat, &old, &tid) && !st_catalog_delete(cat, &tid))
		return;
	payload.version = ST_VACUUM_STATE_VERSION;
	payload.cleaned_xid = U64FromFullTransactionId(st_full_xid(cleaned_xid));
	st_note_add(cat, ST_VACUUM_STATE, 0, &payload, sizeof(payload));
}

/* ---- what is dead ---- */

static StRowDeaths *
read_deaths(Reclaim *r, const StGroupVersion *v)
{
	MemoryContextReset(r->deaths_mcxt);
	return st_row_deaths(r->rel, &v->group, r->oldest_xmin, r->deaths_mcxt);
}

static void
newer_death(Reclaim *r, TransactionId xid)
{
	if (!TransactionIdIsValid(r->newest_death) ||
		TransactionIdFollows(xid, r->newest_death))
		r->newest_death = xid;
}

/* Counts what a group contributes, and finds out whether it is dead whole. */
static void
count_deaths(Reclaim *r, int i)
{
	const StGroupVersion *v = &r->groups->v[i];
	StRowDeaths *deaths;
	uint32		dead = 0;
	uint32		tombstones = 0;

	if (v->state == HEAPTUPLE_DEAD)
	{
		if (!v->aborted)
			newer_death(r, v->xmin);
		r->whole[i] = true;
		r->any_whole = true;
		return;
	}
	if (v->group.dropped_rows > 0)
	{
		/* a VACUUM before us had begun to drop it */
		r->groups->v[i].group.nrows = v->group.dropped_rows;
		r->whole[i] = r->any_whole = v->state == HEAPTUPLE_LIVE;
		return;
	}
	r->rows += v->group.nrows;
	if (v->state != HEAPTUPLE_LIVE || !v->finished)
		return;

	deaths = read_deaths(r, v);
	for (uint32 d = 0; d < deaths->n; d++)
	{
		TransactionId xid = deaths->d[d].raw_xid;

		if (deaths->d[d].state != HEAPTUPLE_DEAD)
			continue;
		dead++;
		if (deaths->d[d].folded)
			continue;
		tombstones++;
		if (TransactionIdIsValid(r->cleaned_xid) &&
			TransactionIdPrecedes(xid, r->cleaned_xid))
			continue;
		r->new_deaths++;
		newer_death(r, xid);
	}
	r->whole[i] = dead == v->group.nrows;
	r->any_whole |= r->whole[i];
	if (st_fold_enabled && !r->whole[i])
	{
		r->tombstones[i] = tombstones;
		r->to_fold += tombstones;
	}
}

/*
 * Replaces dead descriptors by the entries of retired groups.  The entries are
 * complete; heap may have pruned some of the dead descriptors already.
 */
static void
take_retired(Reclaim *r, const StGroupVersions *retired)
{
	StGroupVersions *groups = r->groups;
	StGroupVersion *all = palloc_extended((groups->n + retired->n + 1) *
										  sizeof(StGroupVersion),
										  MCXT_ALLOC_HUGE);
	int			n = 0;

	for (int i = 0; i < groups->n; i++)
	{
		if (groups->v[i].state != HEAPTUPLE_DEAD || groups->v[i].aborted)
			all[n++] = groups->v[i];
	}
	for (int i = 0; i < retired->n; i++)
		all[n++] = retired->v[i];
	if (retired->n > 0)
		qsort(all, n, sizeof(StGroupVersion), st_compare_rows);
	groups->v = all;
	groups->n = n;
}

static void
find_dead(Reclaim *r)
{
	StCatalog	cat;
	ItemPointerData tid;
	StGroupVersions none = {0};
	StGroupVersions *retired = &none;

	if (st_catalog_open(&cat, r->rel, AccessShareLock))
	{
		(void) read_state(&cat, &r->cleaned_xid, &tid);
		retired = st_retired_read(&cat, r->oldest_xmin);
		r->maps_expired = st_origin_expired(&cat, r->oldest_xmin);
		st_catalog_close(&cat);
	}
	r->groups = st_group_versions_all(r->rel, r->oldest_xmin, r->mcxt);
	take_retired(r, retired);
	r->whole = palloc0(Max(r->groups->n, 1) * sizeof(bool));
	r->tombstones = palloc0(Max(r->groups->n, 1) * sizeof(uint32));
	for (int i = 0; i < r->groups->n; i++)
	{
		st_vacuum_delay_point(false);
		count_deaths(r, i);
	}
}

/* ---- index entries ---- */

/* IndexBulkDeleteCallback */
static bool
is_dead(ItemPointer tid, void *state)
{
	Reclaim    *r = state;
	uint64		row;
	int			lo = 0;
	int			hi = r->ndead;

	if (!st_tid_is_virtual(tid))
		return false;
	row = st_row_from_tid(tid);
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		const DeadRows *d = &r->dead[mid];
		uint64		off = row - d->first_row;

		if (row < d->first_row)
			hi = mid;
		else if (off >= d->nrows)
			lo = mid + 1;
		else
			return d->bits == NULL ||
				(d->bits[off >> 6] & (UINT64CONST(1) << (off & 63))) != 0;
	}
	return false;
}

static void
init_info(Reclaim *r, Relation index, IndexVacuumInfo *info)
{
	memset(info, 0, sizeof(*info));
	info->index = index;
	st_index_vacuum_info_set_heap(info, r->rel);
	info->estimated_count = true;
	info->message_level = r->message_level;
	info->num_heap_tuples = r->rel->rd_rel->reltuples;
	info->strategy = r->strategy;
}

/* Removes the entries of the batch's rows from every index. */
static void
clean_batch(Reclaim *r)
{
	if (r->ndead == 0)
		return;
	for (int i = 0; i < r->nindexes; i++)
	{
		IndexVacuumInfo info;
		MemoryContext oldcxt = MemoryContextSwitchTo(r->mcxt);

		init_info(r, r->indexes[i], &info);
		r->results[i] = index_bulk_delete(&info, r->results[i], is_dead, r);
		MemoryContextSwitchTo(oldcxt);
	}
	MemoryContextReset(r->batch_mcxt);
	r->ndead = 0;
	r->dead = NULL;
}

static void
batch_add(Reclaim *r, int i)
{
	const StGroupVersion *v = &r->groups->v[i];
	DeadRows   *d = &r->dead[r->ndead];

	d->first_row = v->group.first_row;
	d->nrows = v->group.nrows;
	d->bits = NULL;
	if (!r->whole[i])
	{
		StRowDeaths *deaths;
		bool		any = false;

		if (v->state != HEAPTUPLE_LIVE || !v->finished)
			return;
		deaths = read_deaths(r, v);
		for (uint32 k = 0; k < deaths->n; k++)
		{
			uint32		row = deaths->d[k].row;

			if (deaths->d[k].state != HEAPTUPLE_DEAD)
				continue;
			if (!any)
				d->bits = MemoryContextAllocZero(r->batch_mcxt,
												 (d->nrows + 63) / 64 *
												 sizeof(uint64));
			any = true;
			d->bits[row >> 6] |= UINT64CONST(1) << (row & 63);
		}
		if (!any)
			return;
	}
	r->ndead++;
}

static void
clean_indexes(Reclaim *r)
{
	Size		limit = (Size) maintenance_work_mem * 1024;

	r->results = palloc0(r->nindexes * sizeof(IndexBulkDeleteResult *));
	for (int i = 0; i < r->groups->n; i++)
	{
		st_vacuum_delay_point(false);
		if (r->dead == NULL)
			r->dead = MemoryContextAllocHuge(r->batch_mcxt,
											 (r->groups->n - i) *
											 sizeof(DeadRows));
		batch_add(r, i);
		if (MemoryContextMemAllocated(r->batch_mcxt, false) > limit)
			clean_batch(r);
	}
	clean_batch(r);

	for (int i = 0; i < r->nindexes; i++)
	{
		IndexVacuumInfo info;
		IndexBulkDeleteResult *result;

		init_info(r, r->indexes[i], &info);
		result = index_vacuum_cleanup(&info, r->results[i]);
		if (result != NULL && !result->estimated_count)
			st_update_relstats(r->indexes[i], result->num_pages,
							   result->num_index_tuples, 0, 0);
	}
}

/* ---- groups with no row left ---- */

/*
 * From here on this transaction writes, so others must no longer ignore it.
 * They ignored the xmin of its old snapshot; a new one replaces that.
 */
void
st_vacuum_begin_writing(void)
{
	if ((MyProc->statusFlags & PROC_IN_VACUUM) == 0)
		return;					/* done before */
	PopActiveSnapshot();
	LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
	MyProc->statusFlags &= ~PROC_IN_VACUUM;
	ProcGlobal->statusFlags[MyProc->pgxactoff] = MyProc->statusFlags;
	LWLockRelease(ProcArrayLock);
	PushActiveSnapshot(GetTransactionSnapshot());
}

static void
delete_entries(StCatalog *cat, StKeyBase base, const StGroup *group)
{
	StCatalogScan scan;
	StCatalogEntry *entry;

	st_catalog_scan_begin(&scan, cat, base, group->first_row,
						  group->first_row + group->nrows - 1, SnapshotSelf);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		ItemPointerData tid = entry->tuple->t_self;

		st_vacuum_delay_point(false);
		(void) st_catalog_delete(cat, &tid);
	}
	st_catalog_scan_end(&scan);
}

/*
 * Drops a group that nobody sees.  The descriptor of an aborted one is left
 * to heap; its extent may be in use by another group since, which its pages
 * tell.  One that somebody still locks is left to the next VACUUM.
 */
static void
drop_group(Reclaim *r, StCatalog *cat, const StGroupVersion *v)
{
	ItemPointerData tid = v->tid;

	if (v->aborted)
	{
		if (v->finished)
			st_free_extents_of(cat, &v->group);
		return;
	}
	if (v->state == HEAPTUPLE_LIVE)
		st_descriptor_drop(cat, &v->group);
	if (!st_catalog_delete(cat, &tid))
		return;
	delete_entries(cat, ST_TOMBSTONE, &v->group);
	delete_entries(cat, ST_SWATH, &v->group);
	delete_entries(cat, ST_PIECE, &v->group);
	delete_entries(cat, ST_ANCHOR, &v->group);
	st_free_extents_of(cat, &v->group);
}

/*
 * Folds what no index has an entry for: by our own horizon if this VACUUM has
 * removed the entries, else by that of the one that did.
 */
static void
fold_groups(Reclaim *r, StCatalog *cat)
{
	TransactionId horizon = r->scan_indexes ? r->oldest_xmin : r->cleaned_xid;
	uint64		folded = 0;

	if (!TransactionIdIsValid(horizon))
		return;
	for (int i = 0; i < r->groups->n && folded < MAX_FOLDED; i++)
	{
		if (r->tombstones[i] > 0)
			folded += st_fold_group(cat, &r->groups->v[i].group, horizon);
	}
}

static void
write_results(Reclaim *r)
{
	StCatalog	cat;

	if (!st_catalog_open(&cat, r->rel, RowExclusiveLock))
		return;
	st_vacuum_begin_writing();
	if (r->scan_indexes)
		write_state(&cat, r->oldest_xmin);
	for (int i = 0; i < r->groups->n; i++)
	{
		if (r->whole[i])
			drop_group(r, &cat, &r->groups->v[i]);
	}
	fold_groups(r, &cat);
	if (r->maps_expired)
		st_origin_expire(&cat, r->oldest_xmin);
	st_catalog_close(&cat);
}

/* ---- the whole ---- */

/* Are so many rows worth a look at all indexes, or a fold? */
static bool
are_enough(const Reclaim *r, const VacuumParams *params, double rows)
{
	return rows > 0 && (params->index_cleanup == VACOPTVALUE_ENABLED ||
						rows >= r->rows * CLEANUP_THRESHOLD);
}

/* Is there anything to write?  Decides whether the indexes are to be scanned. */
static bool
worth_it(Reclaim *r, const VacuumParams *params)
{
	r->scan_indexes = r->any_whole || are_enough(r, params, r->new_deaths);
	return r->scan_indexes || r->maps_expired ||
		are_enough(r, params, r->to_fold - r->new_deaths);
}

/*
 * Reclaims what rows and groups that are dead to all occupy.  Called by
 * VACUUM after heap's part; afterwards the transaction may have written.
 * True: extents may have become free, neighbours of which are to be made one
 * (st_reclaim_coalesce()).  From *settled on pages may be those of writers that
 * are still at work.
 */
bool
st_reclaim(Relation rel, const VacuumParams *params, TransactionId oldest_xmin,
		   BufferAccessStrategy strategy, BlockNumber *settled)
{
	Reclaim		r = {0};
	StMeta		meta;
	MemoryContext oldcxt;
	bool		written;

	*settled = RelationGetNumberOfBlocks(rel);
	st_meta_read(rel, &meta);
	if (!meta.has_row_groups ||
		params->index_cleanup == VACOPTVALUE_DISABLED)
		return false;

	r.mcxt = AllocSetContextCreate(CurrentMemoryContext, "reclaim",
								   ALLOCSET_DEFAULT_SIZES);
	oldcxt = MemoryContextSwitchTo(r.mcxt);
	r.deaths_mcxt = AllocSetContextCreate(r.mcxt, "deleted rows",
										  ALLOCSET_SMALL_SIZES);
	r.batch_mcxt = AllocSetContextCreate(r.mcxt, "dead rows of a batch",
										 ALLOCSET_DEFAULT_SIZES);
	r.rel = rel;
	r.oldest_xmin = oldest_xmin;
	r.strategy = strategy;
	r.message_level = (params->options & VACOPT_VERBOSE) != 0 ? INFO : DEBUG2;

	find_dead(&r);
	written = worth_it(&r, params);
	if (r.scan_indexes)
	{
		if (TransactionIdIsNormal(r.newest_death))
			st_log_snapshot_conflict(rel, st_full_xid(r.newest_death));
		vac_open_indexes(rel, RowExclusiveLock, &r.nindexes, &r.indexes);
		if (r.nindexes > 0)
			clean_indexes(&r);
		vac_close_indexes(r.nindexes, r.indexes, NoLock);
	}
	if (written)
		write_results(&r);
	*settled = st_free_orphans(rel, oldest_xmin, strategy);
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(r.mcxt);
	return written;
}

/*
 * Makes one free extent of neighbours.  Call it only after the end of the file
 * has been cut off.  Otherwise an abort after the cut would bring back the
 * entries of the parts.  The cut has not seen those, and their pages are gone.
 */
void
st_reclaim_coalesce(Relation rel)
{
	StCatalog	cat;

	if (!st_catalog_open(&cat, rel, RowExclusiveLock))
		return;
	st_free_extent_coalesce(&cat);
	st_catalog_close(&cat);
}
