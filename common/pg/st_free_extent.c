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
 * never uses.
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

#include "st_reclaim.h"
#include "st_store_int.h"

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
	StCatalogScan scan;
	StCatalogEntry *entry;
	ItemPointerData tid;

	st_catalog_scan_begin(&scan, cat, ST_FREE_EXTENT, start, start,
						  SnapshotSelf);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	if (entry != NULL && decode_nblocks(cat->rel, entry) == 0)
	{
		tid = entry->tuple->t_self;
		(void) st_catalog_delete(cat, &tid);
	}
	st_catalog_scan_end(&scan);
}

/* Enters an extent.  The catalog is open with RowExclusiveLock. */
void
st_free_extent_add(StCatalog *cat, BlockNumber start, uint32 nblocks)
{
	StFreeExtentPayload payload = {0};

	delete_cut(cat, start);
	payload.version = ST_FREE_EXTENT_VERSION;
	payload.nblocks = nblocks;
	st_catalog_insert(cat, ST_FREE_EXTENT, start, &payload, sizeof(payload),
					  GetCurrentCommandId(true), 0, NULL);
}

/*
 * Is the block part of a free extent?  One that a running transaction is
 * taking counts, too.
 */
bool
st_free_extent_known(StCatalog *cat, BlockNumber block)
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

/* A usable extent. */
typedef struct UsableExtent
{
	BlockNumber start;
	uint32		nblocks;		/* 0: none */
	TransactionId freed_by;
	bool		own;			/* what this transaction left of one it took */
	ItemPointerData tid;
} UsableExtent;

/*
 * The smallest usable extent of at least nblocks, the first one of its size.
 * What the running (sub)transaction left over can be used by it, too.
 */
static void
find_best(StCatalog *cat, uint32 nblocks, TransactionId oldest_xmin,
		  UsableExtent *best)
{
	StCatalogScan scan;
	StCatalogEntry *entry;

	best->nblocks = 0;
	st_catalog_scan_begin(&scan, cat, ST_FREE_EXTENT, 0, MaxBlockNumber,
						  SnapshotSelf);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		uint32		n = decode_nblocks(cat->rel, entry);
		TransactionId xmin = HeapTupleHeaderGetXmin(entry->tuple->t_data);
		StFreeExtentPayload payload;
		bool		own;

		CHECK_FOR_INTERRUPTS();
		memcpy(&payload, entry->payload, sizeof(payload));
		own = payload.remainder != 0 && TransactionIdIsNormal(xmin) &&
			xmin == GetCurrentTransactionIdIfAny();
		if (n < nblocks || (best->nblocks > 0 && n >= best->nblocks) ||
			(!own && !TransactionIdPrecedes(xmin, oldest_xmin)))
			continue;
		best->start = (BlockNumber) entry->row;
		best->nblocks = n;
		best->freed_by = xmin;
		best->own = own;
		best->tid = entry->tuple->t_self;
	}
	st_catalog_scan_end(&scan);
}

/*
 * Into how many equal pieces, at most max_pieces, must something of nblocks
 * blocks be cut for the usable extents before block `before` to hold it?  0 if
 * more would be needed.  *total: how many blocks are free.
 */
int
st_free_extent_look(StCatalog *cat, double nblocks, BlockNumber before,
					int max_pieces, BlockNumber *total)
{
	TransactionId oldest_xmin = GetOldestNonRemovableTransactionId(cat->rel);
	uint32	   *places = palloc0((max_pieces + 1) * sizeof(uint32));
	StCatalogScan scan;
	StCatalogEntry *entry;
	int			pieces = 0;

	*total = 0;
	st_catalog_scan_begin(&scan, cat, ST_FREE_EXTENT, 0, MaxBlockNumber,
						  SnapshotSelf);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		uint32		n = decode_nblocks(cat->rel, entry);

		CHECK_FOR_INTERRUPTS();
		*total += n;
		if (entry->row >= before ||
			!TransactionIdPrecedes(HeapTupleHeaderGetXmin(entry->tuple->t_data),
								   oldest_xmin))
			continue;
		/* pieces do not come out equally long, and each has a footer */
		places[1] += n / Max(nblocks, 1);
		for (int k = 2; k <= max_pieces; k++)
			places[k] += n / (nblocks / k * 1.05 + 1);
	}
	st_catalog_scan_end(&scan);
	for (int k = max_pieces; k > 0; k--)
	{
		if (places[k] >= k)
			pieces = k;
	}
	pfree(places);
	return pieces;
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
 * Takes an extent of nblocks pages out of the directory.  False if none is
 * large enough, old enough and not being taken by somebody else, or if this
 * is no time to change tuples (parallel mode).
 */
bool
st_free_extent_take(Relation rel, uint32 nblocks, BlockNumber *start)
{
	StCatalog	cat;
	UsableExtent best;
	bool		taken = false;

	if (IsInParallelMode() || !st_catalog_open(&cat, rel, RowExclusiveLock))
		return false;

	find_best(&cat, nblocks, GetOldestNonRemovableTransactionId(rel), &best);
	if (best.nblocks > 0 && best.own)
	{
		/*
		 * From its end, in place: a command cannot delete what it made, and an
		 * abort brings the extent back of which this is the rest.
		 */
		set_remainder(&cat, best.start, best.nblocks - nblocks);
		*start = best.start + best.nblocks - nblocks;
		taken = true;
	}
	else if (best.nblocks > 0 && st_catalog_delete(&cat, &best.tid))
	{
		*start = best.start;
		if (best.nblocks > nblocks)
		{
			st_free_extent_add(&cat, best.start + nblocks,
							   best.nblocks - nblocks);
			set_remainder(&cat, best.start + nblocks, best.nblocks - nblocks);
		}
		if (TransactionIdIsNormal(best.freed_by))
			st_log_snapshot_conflict(rel, st_full_xid(best.freed_by));
		taken = true;
	}
	st_catalog_close(&cat);
	return taken;
}

/* ---- merging neighbours ---- */

typedef struct FreeExtent
{
	BlockNumber start;
	uint32		nblocks;
	ItemPointerData tid;
} FreeExtent;

static FreeExtent *
read_all(StCatalog *cat, int *n)
{
	int			allocated = 16;
	FreeExtent *out = palloc(allocated * sizeof(FreeExtent));
	StCatalogScan scan;
	StCatalogEntry *entry;

	*n = 0;
	st_catalog_scan_begin(&scan, cat, ST_FREE_EXTENT, 0, MaxBlockNumber,
						  SnapshotSelf);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (*n == allocated)
		{
			allocated *= 2;
			out = repalloc(out, allocated * sizeof(FreeExtent));
		}
		out[*n].start = (BlockNumber) entry->row;
		out[*n].nblocks = decode_nblocks(cat->rel, entry);
		out[*n].tid = entry->tuple->t_self;
		(*n)++;
	}
	st_catalog_scan_end(&scan);
	return out;
}

/* All of them, in the current memory context. */
StExtentRange *
st_free_extent_all(StCatalog *cat, int *n)
{
	FreeExtent *extents = read_all(cat, n);
	StExtentRange *out = palloc(Max(*n, 1) * sizeof(StExtentRange));

	for (int i = 0; i < *n; i++)
	{
		out[i].start = extents[i].start;
		out[i].end = extents[i].start + extents[i].nblocks;
	}
	pfree(extents);
	return out;
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
	extents = read_all(cat, &n);
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

/* ---- the end of the file ---- */

/* Where the free extents begin that reach up to block end; else end. */
BlockNumber
st_free_extent_tail(StCatalog *cat, BlockNumber end)
{
	StCatalogScan scan;
	StCatalogEntry *entry;

	st_catalog_scan_begin(&scan, cat, ST_FREE_EXTENT, 0, MaxBlockNumber,
						  SnapshotSelf);
	while ((entry = st_catalog_scan_next(&scan, BackwardScanDirection)) != NULL)
	{
		BlockNumber start = (BlockNumber) entry->row;
		uint32		nblocks = decode_nblocks(cat->rel, entry);

		if (nblocks == 0)
			continue;
		if (start + nblocks < end)
			break;
		end = Min(end, start);
	}
	st_catalog_scan_end(&scan);
	return end;
}

/*
 * Blocks from end on are about to be cut off.  The entries are changed in
 * place: that must not be undone, as the cut cannot be.  The caller holds
 * AccessExclusiveLock on the table.
 */
void
st_free_extent_cut(StCatalog *cat, BlockNumber end)
{
	int			n;
	FreeExtent *extents = read_all(cat, &n);

	for (int i = 0; i < n; i++)
	{
		StFreeExtentPayload payload = {.version = ST_FREE_EXTENT_VERSION};

		if (extents[i].start + extents[i].nblocks <= end)
			continue;
		payload.nblocks = extents[i].start < end ? end - extents[i].start : 0;
		(void) st_catalog_overwrite(cat, ST_FREE_EXTENT, extents[i].start,
									&payload, sizeof(payload));
	}
	pfree(extents);
}
