/*-------------------------------------------------------------------------
 *
 * st_swath.c
 *	  Rows of a row group that one command has deleted or updated.
 *
 * A swath stands for as many tombstones as it has bits, all of one command: a
 * tuple with the bits of up to ST_SWATH_ROWS rows, the first of which is its
 * key.  Its rows were all deleted, or all updated; their new versions then have
 * row numbers that follow one another as the rows do.  The swaths of a row are
 * found by a scan of the keys from ST_SWATH_ROWS - 1 rows before it up to the
 * row.  A row has a tombstone or is in a swath, as seen by any one snapshot, and
 * never both.  A swath holds rows of one row group and of one piece (st_piece.c).
 *
 * That there may be swaths is noted in the group's descriptor before the first
 * is made, in place.  MVCC snapshots that see a swath were taken later, and
 * the descriptor was read with them: where it says nothing there is nothing.
 * Snapshots of other kinds look without asking, or ask the descriptor again.
 *
 * Deleted rows are found together and make a swath that stays as it is.
 * Updated ones come one by one; their swath grows, in place, as long as its
 * command runs.  Nobody but that command sees it until then, and of what it has
 * at any moment all is true.  Whoever wants a row that is not in it yet has to
 * stop it (st_swath_stop()): he sets a flag, under the lock of the page, and
 * who adds rows looks at the flag under the same lock.
 *
 * Who makes swaths, and when, is said in modify/st_mow.c and
 * modify/st_update_many.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

#include "st_checksum.h"
#include "st_visibility.h"
#include "st_wal.h"

static Size
swath_size(uint32 nwords)
{
	return offsetof(StSwathPayload, bits) + nwords * sizeof(uint64);
}

static Size
payload_size(const StSwathPayload *payload)
{
	return swath_size(payload->nwords + (payload->version == 1 ? 0 : 1));
}

/* Of a payload whose checksum is 0. */
static uint64
swath_checksum(const StSwathPayload *payload, uint64 row)
{
	return st_checksum64(payload, payload_size(payload), row);
}

static void
sign(StSwathPayload *payload, uint64 row)
{
	payload->checksum = 0;
	payload->checksum = swath_checksum(payload, row);
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

	/* It may grow at this very moment. */
	LockBuffer(entry->buffer, BUFFER_LOCK_SHARE);
	memcpy(&payload, entry->payload, len);
	LockBuffer(entry->buffer, BUFFER_LOCK_UNLOCK);
	checksum = payload.checksum;
	payload.checksum = 0;
	if (payload.nwords > ST_SWATH_WORDS || len != payload_size(&payload) ||
		checksum != swath_checksum(&payload, entry->row) ||
		(payload.bits[0] & 1) == 0)
		st_entry_corrupt(rel, entry, "swath of deleted rows");
	swath->first_row = entry->row;
	swath->nrows = payload.nwords * 64;
	swath->updated = payload.version > 1;
	swath->new_row = swath->updated ? payload.bits[payload.nwords] : 0;
	memset(swath->bits, 0, sizeof(swath->bits));
	memcpy(swath->bits, payload.bits, payload.nwords * sizeof(uint64));
}

void
st_swath_forward(const StSwath *swath, uint64 row, ItemPointer forward)
{
	uint32		off = (uint32) (row - swath->first_row);
	uint64		before = 0;

	Assert(st_swath_has(swath, row));
	if (!swath->updated)
	{
		st_tid_from_row(forward, row);
		return;
	}
	for (uint32 word = 0; word < off >> 6; word++)
		before += pg_popcount64(swath->bits[word]);
	before += pg_popcount64(swath->bits[off >> 6] & ((UINT64CONST(1) << (off & 63)) - 1));
	st_tid_from_row(forward, swath->new_row + before);
}

void
st_swath_insert(StCatalog *cat, const StSwath *swath, CommandId cid)
{
	StSwathPayload payload = {0};

	Assert((swath->bits[0] & 1) != 0 && swath->nrows <= ST_SWATH_ROWS);
	payload.version = 1;
	payload.nwords = (swath->nrows + 63) / 64;
	memcpy(payload.bits, swath->bits, payload.nwords * sizeof(uint64));
	sign(&payload, swath->first_row);
	st_catalog_insert(cat, ST_SWATH, swath->first_row, &payload,
					  payload_size(&payload), cid, 0, NULL);
}

void
st_swath_begin(StCatalog *cat, StGrowth *g, uint64 new_row, CommandId cid)
{
	StSwathPayload *payload = &g->payload;

	Assert(g->end > g->first_row && g->end - g->first_row <= ST_SWATH_ROWS);
	memset(payload, 0, sizeof(*payload));
	payload->version = 2;
	payload->nwords = (g->end - g->first_row + 63) / 64;
	payload->bits[0] = 1;
	payload->bits[payload->nwords] = new_row;
	sign(payload, g->first_row);
	st_catalog_insert(cat, ST_SWATH, g->first_row, payload, payload_size(payload),
					  cid, 0, &g->tid);
	g->growing = true;
	g->last_row = g->first_row;
	g->new_row = new_row;
	g->nrows = 1;
}

/* The payload of a swath's tuple is its end. */
static char *
payload_on_page(Page page, OffsetNumber off, const StSwathPayload *payload)
{
	ItemId		item = PageGetItemId(page, off);

	return (char *) PageGetItem(page, item) + ItemIdGetLength(item) -
		payload_size(payload);
}

bool
st_swath_grow(Relation toast, StGrowth *g, uint64 row)
{
	StSwathPayload *payload = &g->payload;
	OffsetNumber off = ItemPointerGetOffsetNumber(&g->tid);
	Buffer		buffer = ReadBuffer(toast, ItemPointerGetBlockNumber(&g->tid));
	StSwathPayload *on_page;
	StSwathPayload now;

	Assert(row > g->last_row && row < g->end);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	on_page = (StSwathPayload *) payload_on_page(BufferGetPage(buffer), off, payload);
	memcpy(&now, on_page, offsetof(StSwathPayload, bits));
	g->growing = (now.flags & ST_SWATH_STOPPED) == 0;
	if (g->growing)
	{
		uint64		i = row - g->first_row;

		payload->bits[i >> 6] |= UINT64CONST(1) << (i & 63);
		sign(payload, g->first_row);
		st_wal_overwrite_tuple(toast, buffer, off, (char *) on_page, payload,
							   payload_size(payload));
		g->last_row = row;
		g->nrows++;
	}
	UnlockReleaseBuffer(buffer);
	return g->growing;
}

/*
 * Read again is also a swath whose transaction has ended: it may have grown
 * between the first look at it and that.
 */
void
st_swath_stop(StCatalog *cat, const StCatalogEntry *entry, StSwath *swath)
{
	if (!swath->updated)
		return;
	if (TransactionIdIsInProgress(HeapTupleHeaderGetRawXmin(entry->tuple->t_data)))
	{
		StSwathPayload payload;

		LockBuffer(entry->buffer, BUFFER_LOCK_EXCLUSIVE);
		memcpy(&payload, entry->payload, entry->len);
		if ((payload.flags & ST_SWATH_STOPPED) == 0)
		{
			payload.flags |= ST_SWATH_STOPPED;
			sign(&payload, entry->row);
			st_wal_overwrite_tuple(cat->toast, entry->buffer,
								   ItemPointerGetOffsetNumber(&entry->tuple->t_self),
								   unconstify(char *, entry->payload), &payload,
								   entry->len);
		}
		LockBuffer(entry->buffer, BUFFER_LOCK_UNLOCK);
	}
	st_swath_decode(cat->rel, entry, swath);
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

static StCatalogEntry *
find_deletion(StDeletion *d, StCatalog *cat, uint64 row, Snapshot snapshot,
			  StMown mown, bool for_change)
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
		if (for_change && !st_swath_has(&swath, row) &&
			row - swath.first_row < swath.nrows)
			st_swath_stop(cat, entry, &swath);
		if (st_swath_has(&swath, row))
			return entry;
	}
	return NULL;
}

StCatalogEntry *
st_deletion_begin(StDeletion *d, StCatalog *cat, uint64 row, Snapshot snapshot,
				  StMown mown)
{
	return find_deletion(d, cat, row, snapshot, mown, false);
}

StCatalogEntry *
st_deletion_begin_for_change(StDeletion *d, StCatalog *cat, uint64 row,
							 Snapshot snapshot)
{
	return find_deletion(d, cat, row, snapshot, ST_ASK_MOWN, true);
}

void
st_deletion_forward(StDeletion *d, Relation rel, uint64 row, ItemPointer forward)
{
	StSwath		swath;

	if (d->mown)
	{
		st_swath_decode(rel, &d->scan.entry, &swath);
		st_swath_forward(&swath, row, forward);
	}
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
