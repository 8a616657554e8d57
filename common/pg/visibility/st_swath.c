/*-------------------------------------------------------------------------
 *
 * st_swath.c
 *	  Rows of a row group that one command has deleted at once.
 *
 * A swath stands for as many tombstones as it has bits, all of one command and
 * none that forwards: a tuple with the bits of up to ST_SWATH_ROWS rows, the
 * first of which is its key.  So it is found by a scan of the keys from
 * ST_SWATH_ROWS - 1 rows before a row up to the row.  A row has a tombstone or
 * is in a swath, as seen by any one snapshot, and never both.  A swath holds
 * rows of one row group and of one piece (st_piece.c).
 *
 * That there may be swaths is noted in the group's descriptor before the first
 * is made, in place.  MVCC snapshots that see a swath were taken later, and
 * the descriptor was read with them: where it says nothing there is nothing.
 * Snapshots of other kinds look without asking, or ask the descriptor again.
 *
 * Who makes swaths, and how, is said in modify/st_mow.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/snapmgr.h"

#include "st_checksum.h"
#include "st_visibility.h"

static Size
swath_size(uint32 nwords)
{
	return offsetof(StSwathPayload, bits) + nwords * sizeof(uint64);
}

/* Of a payload whose checksum is 0. */
static uint64
swath_checksum(const StSwathPayload *payload, uint64 row)
{
	return st_checksum64(payload, swath_size(payload->nwords), row);
}

void
st_swath_decode(Relation rel, const StCatalogEntry *entry, StSwath *swath)
{
	StSwathPayload payload;
	Size		len = entry->len;
	uint64		checksum;

	if (len < swath_size(1) || len > sizeof(payload))
		len = swath_size(1);
	st_entry_check(rel, entry, len, ST_SWATH_VERSION, "swath of deleted rows");
	memcpy(&payload, entry->payload, len);
	checksum = payload.checksum;
	payload.checksum = 0;
	if (len != swath_size(payload.nwords) ||
		checksum != swath_checksum(&payload, entry->row) ||
		(payload.bits[0] & 1) == 0)
		st_entry_corrupt(rel, entry, "swath of deleted rows");
	swath->first_row = entry->row;
	swath->nrows = payload.nwords * 64;
	memset(swath->bits, 0, sizeof(swath->bits));
	memcpy(swath->bits, payload.bits, payload.nwords * sizeof(uint64));
}

void
st_swath_insert(StCatalog *cat, const StSwath *swath, CommandId cid)
{
	StSwathPayload payload = {0};

	Assert((swath->bits[0] & 1) != 0 && swath->nrows <= ST_SWATH_ROWS);
	payload.version = ST_SWATH_VERSION;
	payload.nwords = (swath->nrows + 63) / 64;
	memcpy(payload.bits, swath->bits, payload.nwords * sizeof(uint64));
	payload.checksum = swath_checksum(&payload, swath->first_row);
	st_catalog_insert(cat, ST_SWATH, swath->first_row, &payload,
					  swath_size(payload.nwords), cid, 0, NULL);
}

void
st_swath_scan_begin(StCatalogScan *scan, StCatalog *cat, uint64 first, uint64 last,
					Snapshot snapshot)
{
	uint64		low = first & ~UINT64CONST(0xffffffff);

	/* Groups cross no multiple of 2^32. */
	st_catalog_scan_begin(scan, cat, ST_SWATH,
						  Max(low + ST_SWATH_ROWS - 1, first) - (ST_SWATH_ROWS - 1),
						  last, snapshot);
}

bool
st_may_be_mown(StCatalog *cat, uint64 row)
{
	SnapshotData dirty;
	StGroup		group;
	bool		finished;

	InitDirtySnapshot(dirty);
	return !st_group_lookup(cat, row, &dirty, &group, &finished) || group.mown;
}

StCatalogEntry *
st_deletion_begin(StDeletion *d, StCatalog *cat, uint64 row, Snapshot snapshot,
				  StMown mown)
{
	StCatalogEntry *entry;
	StSwath		swath;

	d->mown = false;
	st_catalog_scan_begin(&d->scan, cat, ST_TOMBSTONE, row, row, snapshot);
	entry = st_catalog_scan_next(&d->scan, ForwardScanDirection);
	if (entry != NULL || mown == ST_NOT_MOWN ||
		(mown == ST_ASK_MOWN && !st_may_be_mown(cat, row)))
		return entry;

	st_catalog_scan_end(&d->scan);
	d->mown = true;
	st_swath_scan_begin(&d->scan, cat, row, row, snapshot);
	while ((entry = st_catalog_scan_next(&d->scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		st_swath_decode(cat->rel, entry, &swath);
		if (st_swath_has(&swath, row))
			return entry;
	}
	return NULL;
}

void
st_deletion_forward(StDeletion *d, Relation rel, uint64 row, ItemPointer forward)
{
	if (d->mown)
		st_tid_from_row(forward, row);
	else
		st_tombstone_decode(rel, &d->scan.entry, forward);
}

void
st_deletion_end(StDeletion *d)
{
	st_catalog_scan_end(&d->scan);
}

/* Sets those of the swath's bits that are among first..last of the group. */
static uint32
merge_swath(const StGroup *group, uint32 first, uint32 last, const StSwath *swath,
			uint64 *bitmap)
{
	uint32		n = 0;

	for (uint32 word = 0; word < (swath->nrows + 63) / 64; word++)
	{
		uint64		left = swath->bits[word];

		for (; left != 0; left &= left - 1)
		{
			uint64		off = swath->first_row - group->first_row + word * 64 +
				pg_rightmost_one_pos64(left);
			uint64		bit = UINT64CONST(1) << (off & 63);

			if (off < first || off > last || (bitmap[off >> 6] & bit) != 0)
				continue;
			bitmap[off >> 6] |= bit;
			n++;
		}
	}
	return n;
}

uint32
st_mark_mown(StCatalog *cat, const StGroup *group, uint32 first, uint32 last,
			 Snapshot snapshot, MemoryContext mcxt, uint64 **bitmap,
			 TransactionId *newest)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	uint32		n = 0;

	if (IsMVCCSnapshot(snapshot) && !group->mown)
		return 0;
	st_swath_scan_begin(&scan, cat, group->first_row + first,
						group->first_row + last, snapshot);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		StSwath		swath;

		CHECK_FOR_INTERRUPTS();
		if (entry->row < group->first_row)
			continue;			/* of the group before */
		st_swath_decode(cat->rel, entry, &swath);
		if (*bitmap == NULL)
			*bitmap = MemoryContextAllocZero(mcxt, st_bitmap_bytes(group));
		n += merge_swath(group, first, last, &swath, *bitmap);
		*newest = st_newer_xid(*newest, HeapTupleHeaderGetXmin(entry->tuple->t_data));
	}
	st_catalog_scan_end(&scan);
	return n;
}
