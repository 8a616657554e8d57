/*-------------------------------------------------------------------------
 *
 * st_free_extent.c
 *	  The directory of free extents: entries among the visibility tuples.
 *
 * An extent becomes free in the transaction that deletes its row group's
 * descriptor, or that finds the group of an aborted one; it is taken in the
 * transaction that writes a new row group there.  As the entries are tuples,
 * an abort undoes either: what was taken is free again (its pages hold an
 * image that nobody refers to).
 *
 * An extent may be overwritten once every snapshot is newer than the entry:
 * until then somebody may still read the old group.  Standbys are told by a
 * conflict record.  Pages of free extents stay extent pages, which heap
 * does not use, unless the table goes back to heap.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

#include "st_space.h"
#include "st_wal.h"

#define ST_FREE_EXTENT_VERSION	1

static uint32
decode_nblocks(Relation rel, const StCatalogEntry *entry)
{
	StFreeExtentPayload payload;

	if (entry->len != sizeof(payload))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("free extent at block " UINT64_FORMAT " of relation \"%s\" is damaged",
						entry->row, RelationGetRelationName(rel))));
	memcpy(&payload, entry->payload, sizeof(payload));
	if (payload.version != ST_FREE_EXTENT_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("free extent at block " UINT64_FORMAT " of relation \"%s\" was written by a newer version",
						entry->row, RelationGetRelationName(rel))));
	return payload.nblocks;
}

/* An entry that was cut to nothing must not stand in the way of a new one. */
static void
delete_cut(StCatalog *cat, BlockNumber start)
{
	StFreeExtentPayload payload;
	ItemPointerData tid;

	if (st_note_read(cat, ST_FREE_EXTENT, start, &payload, sizeof(payload), &tid) &&
		payload.version == ST_FREE_EXTENT_VERSION && payload.nblocks == 0)
		(void) st_catalog_delete(cat, &tid);
}

/* Enters an extent.  The catalog is open with RowExclusiveLock. */
void
st_free_extent_add(StCatalog *cat, BlockNumber start, uint32 nblocks)
{
	StFreeExtentPayload payload = {0};

	delete_cut(cat, start);
	payload.version = ST_FREE_EXTENT_VERSION;
	payload.nblocks = nblocks;
	st_note_add(cat, ST_FREE_EXTENT, start, &payload, sizeof(payload));
}

static bool
known_now(StCatalog *cat, BlockNumber block)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	bool		found = false;

	st_catalog_scan_begin(&scan, cat, ST_FREE_EXTENT, 0, block, SnapshotSelf);
	while (!found &&
		   (entry = st_catalog_scan_next(&scan, BackwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		found = block - entry->row < decode_nblocks(cat->rel, entry);
	}
	st_catalog_scan_end(&scan);
	return found;
}

/*
 * Is the block part of a free extent?  One that a running transaction is
 * taking counts, too.  If it commits while we look, we may see neither the
 * extent nor what it has left of it: hence the second look.
 */
bool
st_free_extent_known(StCatalog *cat, BlockNumber block)
{
	return known_now(cat, block) || known_now(cat, block);
}

typedef struct FreeExtent
{
	BlockNumber start;
	uint32		nblocks;
	uint32		wanted;			/* blocks to take, or 0 */
	TransactionId freed_by;
	bool		own;			/* what this transaction left of one it took */
	ItemPointerData tid;
} FreeExtent;

/*
 * All that the snapshot sees, sorted by place.  Not, by a dirty one, what
 * another transaction is entering or taking.
 */
static FreeExtent *
read_all(StCatalog *cat, Snapshot snapshot, int *n)
{
	int			allocated = 16;
	FreeExtent *out = palloc(allocated * sizeof(FreeExtent));
	StCatalogScan scan;
	StCatalogEntry *entry;

	*n = 0;
	st_catalog_scan_begin(&scan, cat, ST_FREE_EXTENT, 0, MaxBlockNumber,
						  snapshot);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		uint32		nblocks = decode_nblocks(cat->rel, entry);
		StFreeExtentPayload payload;
		FreeExtent *e;

		CHECK_FOR_INTERRUPTS();
		if (snapshot->snapshot_type == SNAPSHOT_DIRTY &&
			(TransactionIdIsValid(snapshot->xmin) ||
			 TransactionIdIsValid(snapshot->xmax)))
			continue;
		if (*n == allocated)
		{
			allocated *= 2;
			out = repalloc(out, allocated * sizeof(FreeExtent));
		}
		e = &out[(*n)++];
		memcpy(&payload, entry->payload, sizeof(payload));
		e->start = (BlockNumber) entry->row;
		e->nblocks = nblocks;
		e->wanted = 0;
		e->freed_by = HeapTupleHeaderGetXmin(entry->tuple->t_data);
		e->own = payload.remainder != 0 &&
			TransactionIdIsNormal(e->freed_by) &&
			e->freed_by == GetCurrentTransactionIdIfAny();
		e->tid = entry->tuple->t_self;
	}
	st_catalog_scan_end(&scan);
	return out;
}

/* ---- choosing ---- */

/* Pieces of extents that are worth a run of a group's pages: of a small group less. */
#define MIN_RUN_BLOCKS	16
#define MIN_RUN_SHARE	0.25

/* Largest first, of equal ones the first of the file. */
static int
compare_usable(const void *a, const void *b)
{
	const FreeExtent *x = a;
	const FreeExtent *y = b;

	if (x->nblocks != y->nblocks)
		return x->nblocks > y->nblocks ? -1 : 1;
	return x->start < y->start ? -1 : 1;
}

/*
 * The usable extents before block `before`, largest first.  What the running
 * (sub)transaction left over can be used by it, too.  Not those that another
 * one is taking: if it is idle, who tries again and again gets no further.
 * *total: how many blocks are free, usable or not.
 */
static FreeExtent *
read_usable(StCatalog *cat, BlockNumber before, int *n, BlockNumber *total)
{
	TransactionId oldest_xmin = GetOldestNonRemovableTransactionId(cat->rel);
	SnapshotData dirty;
	FreeExtent *out;
	int			nall;

	InitDirtySnapshot(dirty);
	out = read_all(cat, &dirty, &nall);
	*n = 0;
	*total = 0;
	for (int i = 0; i < nall; i++)
	{
		*total += out[i].nblocks;
		if (out[i].nblocks > 0 && out[i].start + out[i].nblocks <= before &&
			(out[i].own || TransactionIdPrecedes(out[i].freed_by, oldest_xmin)))
			out[(*n)++] = out[i];
	}
	if (*n > 1)
		qsort(out, *n, sizeof(FreeExtent), compare_usable);
	return out;
}

/* Where in the extent take_one() puts so many blocks. */
static BlockNumber
place_in(const FreeExtent *e, uint32 nblocks)
{
	return e->own ? e->start + e->nblocks - nblocks : e->start;
}

/*
 * Chooses extents for nblocks blocks from a list that is sorted largest first.
 * Takes the first place of the file that is large enough; for a load, which needs one
 * run, the smallest such extent.  If there is none, takes the largest, and looks for the
 * rest in the same way, up to max_runs extents in all.  Sets what is wanted of each,
 * returns for how many blocks there was no place.
 */
static uint32
choose_runs(FreeExtent *extents, int n, uint32 nblocks, int max_runs)
{
	int			first = 0;
	double		least = Min(MIN_RUN_BLOCKS, nblocks * MIN_RUN_SHARE);

	for (int i = 0; i < n; i++)
		extents[i].wanted = 0;
	for (int run = 0; run < max_runs && nblocks > 0 && first < n; run++)
	{
		int			fit = first;

		if (extents[first].nblocks < nblocks)
		{
			if (run == max_runs - 1 || extents[first].nblocks < least)
				break;
			extents[first].wanted = extents[first].nblocks;
			nblocks -= extents[first++].nblocks;
			continue;
		}
		for (int i = first + 1; i < n && extents[i].nblocks >= nblocks; i++)
		{
			if (max_runs == 1 ? extents[i].nblocks < extents[fit].nblocks :
				place_in(&extents[i], nblocks) < place_in(&extents[fit], nblocks))
				fit = i;
		}
		extents[fit].wanted = nblocks;
		nblocks = 0;
	}
	return nblocks;
}

struct StFreeSpace
{
	int			n;
	FreeExtent *extents;		/* largest first */
	BlockNumber total;
};

/* In the current memory context. */
StFreeSpace *
st_free_space_read(StCatalog *cat)
{
	StFreeSpace *space = palloc(sizeof(StFreeSpace));

	space->extents = read_usable(cat, MaxBlockNumber, &space->n,
								 &space->total);
	return space;
}

/* Returns the number of free blocks, whether they may be used now or not. */
BlockNumber
st_free_space_total(const StFreeSpace *space)
{
	return space->total;
}

/*
 * And of those that may be used now, before block `before`, in pieces that are worth a
 * run of pages.
 */
BlockNumber
st_free_space_usable(const StFreeSpace *space, BlockNumber before)
{
	BlockNumber usable = 0;

	for (int i = 0; i < space->n; i++)
	{
		const FreeExtent *e = &space->extents[i];

		if (e->nblocks >= MIN_RUN_BLOCKS && (uint64) e->start + e->nblocks <= before)
			usable += e->nblocks;
	}
	return usable;
}

/*
 * Returns by how many blocks the file would grow: those of a compacted group
 * of nblocks blocks that find no free extent before block `before`.
 */
BlockNumber
st_free_space_missing(const StFreeSpace *space, BlockNumber nblocks,
					  BlockNumber before)
{
	FreeExtent *extents = palloc(Max(space->n, 1) * sizeof(FreeExtent));
	int			n = 0;
	BlockNumber missing;

	for (int i = 0; i < space->n; i++)
	{
		const FreeExtent *e = &space->extents[i];

		if ((uint64) e->start + e->nblocks <= before)
			extents[n++] = *e;
	}
	missing = choose_runs(extents, n, nblocks, ST_MAX_RUNS);
	pfree(extents);
	return missing;
}

/* Marks an entry of this transaction as a rest, or shortens it, in place. */
static void
set_remainder(StCatalog *cat, BlockNumber start, uint32 nblocks)
{
	StFreeExtentPayload payload = {
		.version = ST_FREE_EXTENT_VERSION, .remainder = 1, .nblocks = nblocks
	};

	(void) st_catalog_overwrite(cat, ST_FREE_EXTENT, start, &payload,
								sizeof(payload));
}

/*
 * Takes what is wanted of an extent out of the directory.  False if somebody
 * else is taking it.
 */
static bool
take_one(StCatalog *cat, FreeExtent *e, StExtentRange *run)
{
	run->start = place_in(e, e->wanted);
	if (e->own)
	{
		/*
		 * Takes blocks from the end of an extent, in place.  The command may
		 * have made the entry itself, and cannot delete what it made.  An
		 * abort brings back the whole extent, not this rest.
		 */
		set_remainder(cat, e->start, e->nblocks - e->wanted);
	}
	else if (!st_catalog_delete(cat, &e->tid))
		return false;
	else
	{
		if (e->nblocks > e->wanted)
		{
			st_free_extent_add(cat, e->start + e->wanted,
							   e->nblocks - e->wanted);
			set_remainder(cat, e->start + e->wanted, e->nblocks - e->wanted);
		}
		if (TransactionIdIsNormal(e->freed_by))
			st_log_snapshot_conflict(cat->rel, st_full_xid(e->freed_by));
	}
	run->end = run->start + e->wanted;
	return true;
}

/*
 * Takes extents of together at most nblocks pages out of the directory, before
 * block `before`.  Returns how many, sorted.  If max_runs is 1, one of
 * nblocks or none; else up to max_runs, or up to max_runs - 1 which the caller
 * completes at the end of the file.  None if this is no time to change tuples
 * (parallel mode).
 */
int
st_free_extent_take(Relation rel, uint32 nblocks, int max_runs,
					BlockNumber before, StExtentRange *runs)
{
	StCatalog	cat;
	FreeExtent *extents;
	BlockNumber total;
	Snapshot	snapshot;
	int			n;
	int			nruns = 0;

	if (IsInParallelMode() || !st_catalog_open(&cat, rel, RowExclusiveLock))
		return 0;

	/* before a commit there is none: nobody may prune what we are to delete */
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	extents = read_usable(&cat, before, &n, &total);
	(void) choose_runs(extents, n, nblocks, max_runs);
	for (int i = 0; i < n; i++)
	{
		if (extents[i].wanted > 0 &&
			take_one(&cat, &extents[i], &runs[nruns]))
			nruns++;
	}
	if (nruns > 1)
		qsort(runs, nruns, sizeof(StExtentRange), st_compare_ranges);
	pfree(extents);
	UnregisterSnapshot(snapshot);
	st_catalog_close(&cat);
	return nruns;
}

/* ---- merging neighbours ---- */

/*
 * All that the snapshot sees, sorted, in the current memory context.  Not
 * entries of which nothing is left: those may lie where a group is now.
 */
StExtentRange *
st_free_extent_all(StCatalog *cat, Snapshot snapshot, int *n)
{
	int			nextents;
	FreeExtent *extents = read_all(cat, snapshot, &nextents);
	StExtentRange *out = palloc(Max(nextents, 1) * sizeof(StExtentRange));

	*n = 0;
	for (int i = 0; i < nextents; i++)
	{
		if (extents[i].nblocks == 0)
			continue;
		out[*n].start = extents[i].start;
		out[(*n)++].end = extents[i].start + extents[i].nblocks;
	}
	pfree(extents);
	return out;
}

/* Deletes the entries of which nothing is left; returns how many are kept. */
static int
delete_empty(StCatalog *cat, FreeExtent *extents, int n)
{
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		if (extents[i].nblocks > 0)
			extents[kept++] = extents[i];
		else
			(void) st_catalog_delete(cat, &extents[i].tid);
	}
	return kept;
}

/*
 * Makes one extent of neighbours.  It counts as freed now, which is later
 * than its parts were: nobody takes it too early.  An entry that somebody is
 * taking at this moment stays as it is.
 */
void
st_free_extent_coalesce(StCatalog *cat)
{
	FreeExtent *extents;
	int			n;
	int			i = 0;

	/* Entries that this command made cannot be deleted by it. */
	CommandCounterIncrement();
	extents = read_all(cat, SnapshotSelf, &n);
	n = delete_empty(cat, extents, n);
	while (i < n)
	{
		BlockNumber start = extents[i].start;
		BlockNumber end = start + extents[i].nblocks;
		int			last = i;

		while (last + 1 < n && extents[last + 1].start == end)
			end += extents[++last].nblocks;
		if (last > i && st_catalog_delete(cat, &extents[i].tid))
		{
			end = start + extents[i].nblocks;
			while (i < last && st_catalog_delete(cat, &extents[i + 1].tid))
				end += extents[++i].nblocks;
			st_free_extent_add(cat, start, end - start);
		}
		i++;
	}
	pfree(extents);
}

/* The later one of two transactions, of which a frozen one is none. */
static TransactionId
newer_xid(TransactionId a, TransactionId b)
{
	if (!TransactionIdIsNormal(b))
		return a;
	return !TransactionIdIsValid(a) || TransactionIdFollows(b, a) ? b : a;
}

/* ---- a table that goes back to heap ---- */

/*
 * Takes those out of the directory which every snapshot sees as free; returns them,
 * sorted, in the current memory context.  An extent that another transaction is
 * taking stays.  Standbys are told, as of one that is taken.
 */
StExtentRange *
st_free_extent_take_all(StCatalog *cat, TransactionId oldest_xmin, int *n)
{
	int			nall;
	FreeExtent *extents = read_all(cat, SnapshotSelf, &nall);
	StExtentRange *out = palloc(Max(nall, 1) * sizeof(StExtentRange));
	TransactionId newest = InvalidTransactionId;

	*n = 0;
	for (int i = 0; i < nall; i++)
	{
		FreeExtent *e = &extents[i];

		if (e->nblocks == 0 || !TransactionIdPrecedes(e->freed_by, oldest_xmin) ||
			!st_catalog_delete(cat, &e->tid))
			continue;
		out[*n].start = e->start;
		out[(*n)++].end = e->start + e->nblocks;
		newest = newer_xid(newest, e->freed_by);
	}
	if (TransactionIdIsValid(newest))
		st_log_snapshot_conflict(cat->rel, st_full_xid(newest));
	pfree(extents);
	return out;
}

/* ---- the end of the file ---- */

/*
 * Blocks from end on are about to be cut off.  The entries are changed in
 * place: that must not be undone, as the cut cannot be.  Standbys are told, as
 * of an extent that is taken; of what this transaction has freed they know
 * already (st_reclaim.c).  The caller holds AccessExclusiveLock on the table.
 */
void
st_free_extent_cut(StCatalog *cat, BlockNumber end)
{
	int			n;
	FreeExtent *extents = read_all(cat, SnapshotSelf, &n);
	TransactionId newest = InvalidTransactionId;

	for (int i = 0; i < n; i++)
	{
		StFreeExtentPayload payload = {.version = ST_FREE_EXTENT_VERSION};
		TransactionId xid = extents[i].freed_by;

		if (extents[i].nblocks == 0 ||
			extents[i].start + extents[i].nblocks <= end)
			continue;
		if (!TransactionIdIsCurrentTransactionId(xid))
			newest = newer_xid(newest, xid);
		payload.nblocks = extents[i].start < end ? end - extents[i].start : 0;
		(void) st_catalog_overwrite(cat, ST_FREE_EXTENT, extents[i].start,
									&payload, sizeof(payload));
	}
	if (TransactionIdIsValid(newest))
		st_log_snapshot_conflict(cat->rel, st_full_xid(newest));
	pfree(extents);
}
