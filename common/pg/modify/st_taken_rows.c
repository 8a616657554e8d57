/*-------------------------------------------------------------------------
 *
 * st_taken_rows.c
 *	  Which rows of a stretch are not free: deleted, updated or locked by
 *	  somebody, whether he has committed or not.
 *
 * For those who change many rows at once (st_mow.c, st_update_many.c).  The
 * locks of the rows' stretches keep others from making tombstones, anchors and
 * swaths meanwhile, but not from adding rows to a swath that is there: it is
 * stopped.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

#include "st_modify.h"

static inline void
set_bit(uint64 *bits, uint64 i)
{
	bits[i >> 6] |= UINT64CONST(1) << (i & 63);
}

/*
 * Nobody holds a lock on the anchor.  Who is about to take one finds the row
 * deleted when he has it: he looks again then (st_row_acquire()).
 */
static bool
is_unlocked(const StRowOp *op, StCatalogEntry *entry)
{
	TM_Result	result;

	LockBuffer(entry->buffer, BUFFER_LOCK_SHARE);
	result = HeapTupleSatisfiesUpdate(entry->tuple, op->cid, entry->buffer);
	LockBuffer(entry->buffer, BUFFER_LOCK_UNLOCK);
	return result == TM_Ok;
}

static void
add_entries(StRowOp *op, StKeyBase base, uint64 first, uint64 last, uint64 *taken)
{
	SnapshotData dirty;
	StCatalogScan scan;
	StCatalogEntry *entry;

	InitDirtySnapshot(dirty);
	st_catalog_scan_begin(&scan, &op->catalog, base, first, last, &dirty);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		if (base != ST_ANCHOR || TransactionIdIsValid(dirty.xmin) ||
			!is_unlocked(op, entry))
			set_bit(taken, entry->row - first);
	}
	st_catalog_scan_end(&scan);
}

static void
add_swaths(StRowOp *op, uint64 first, uint64 last, uint64 *taken)
{
	SnapshotData dirty;
	StCatalogScan scan;
	StCatalogEntry *entry;

	InitDirtySnapshot(dirty);
	st_swath_scan_begin(&scan, &op->catalog, first, last, &dirty);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		StSwath		swath;

		st_swath_decode(op->rel, entry, &swath);
		if (swath.first_row + swath.nrows <= first)
			continue;
		st_swath_stop(&op->catalog, entry, &swath);
		for (uint64 row = Max(first, swath.first_row);
			 row <= Min(last, swath.first_row + swath.nrows - 1); row++)
		{
			if (st_swath_has(&swath, row))
				set_bit(taken, row - first);
		}
	}
	st_catalog_scan_end(&scan);
}

void
st_taken_rows(StRowOp *op, uint64 first, uint64 last, bool mown, uint64 *taken)
{
	Assert(last - first < ST_TAKEN_WORDS * 64);
	add_entries(op, ST_TOMBSTONE, first, last, taken);
	add_entries(op, ST_ANCHOR, first, last, taken);
	if (mown)
		add_swaths(op, first, last, taken);
}
