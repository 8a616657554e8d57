/*-------------------------------------------------------------------------
 *
 * st_meta_place.c
 *	  Where the metapage of an adopted heap table is: a visibility tuple.
 *
 * Block 0 of such a table has rows, so the metapage is elsewhere, and the
 * table's TOAST relation names its block.  The tuple is inserted by the
 * transaction that adopts the table, and so goes if that is rolled back.  It
 * is read as of now and not by a snapshot: an older snapshot reads the table
 * as what it is now.
 *
 * Once the metapage is at block 0, the tuple says nothing any more, because
 * that is asked first (st_meta.c): a rewrite or an abort may leave it behind.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"
#include "access/xact.h"
#include "utils/snapmgr.h"

#include "st_visibility.h"

/* Row of the entry among those of ST_VACUUM_STATE. */
#define ST_PLACE_ROW		3
#define ST_PLACE_VERSION	1

typedef struct StPlacePayload
{
	uint16		version;
	uint16		unused;
	BlockNumber block;
} StPlacePayload;

StaticAssertDecl(sizeof(StPlacePayload) == 8, "on-disk size");

/* Finds the entry; its TID may be NULL. */
static bool
find_place(StCatalog *cat, StPlacePayload *payload, ItemPointer tid)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	bool		found;

	st_catalog_scan_begin(&scan, cat, ST_VACUUM_STATE, ST_PLACE_ROW,
						  ST_PLACE_ROW, SnapshotSelf);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	found = entry != NULL && entry->len == sizeof(*payload);
	if (found)
		memcpy(payload, entry->payload, sizeof(*payload));
	if (found && tid != NULL)
		*tid = entry->tuple->t_self;
	st_catalog_scan_end(&scan);
	return found;
}

/* What st_meta.c asks when block 0 is no metapage. */
static BlockNumber
place_of(Relation rel)
{
	StPlacePayload payload;
	StCatalog	cat;
	bool		found;

	if (!st_catalog_open(&cat, rel, AccessShareLock))
		return InvalidBlockNumber;
	found = find_place(&cat, &payload, NULL);
	st_catalog_close(&cat);
	if (!found)
		return InvalidBlockNumber;
	if (payload.version > ST_PLACE_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("relation \"%s\" was written by a newer version",
						RelationGetRelationName(rel)),
				 errdetail("The entry that names its metapage has version %u, this build reads up to %u.",
						   payload.version, ST_PLACE_VERSION)));
	return payload.block;
}

void
st_place_init(void)
{
	st_meta_place_init(place_of);
}

void
st_place_set(StCatalog *cat, BlockNumber block)
{
	StPlacePayload payload = {.version = ST_PLACE_VERSION, .block = block};

	st_catalog_insert(cat, ST_VACUUM_STATE, ST_PLACE_ROW, &payload,
					  sizeof(payload), GetCurrentCommandId(true), 0, NULL);
}

void
st_place_overwrite(StCatalog *cat, BlockNumber block)
{
	StPlacePayload payload = {.version = ST_PLACE_VERSION, .block = block};

	if (!st_catalog_overwrite(cat, ST_VACUUM_STATE, ST_PLACE_ROW, &payload,
							  sizeof(payload)))
		elog(ERROR, "the entry that names the metapage of relation \"%s\" is missing",
			 RelationGetRelationName(cat->rel));
}

void
st_place_clear(StCatalog *cat)
{
	StPlacePayload payload;
	ItemPointerData tid;

	if (find_place(cat, &payload, &tid))
		(void) st_catalog_delete(cat, &tid);
}

/*
 * A table that was released, or whose adoption was rolled back, may have dead
 * entries until its TOAST relation is vacuumed, and those who read by other
 * snapshots than MVCC ones find them.  So no row number is used again.
 */
uint64
st_used_rows_end(StCatalog *cat)
{
	static const StKeyBase bases[] = {
		ST_DESCRIPTOR, ST_SWATH, ST_TOMBSTONE, ST_PIECE, ST_RETIRED,
		ST_ORIGIN_ROWS, ST_ORIGIN_DELTA
	};
	uint64		end = 0;

	for (int i = 0; i < lengthof(bases); i++)
	{
		StCatalogScan scan;
		StCatalogEntry *entry;
		StGroup		group = {0};

		st_catalog_scan_begin(&scan, cat, bases[i], 0, ST_MAX_ROW_NUMBER,
							  SnapshotAny);
		scan.scan->iscan->ignore_killed_tuples = false;
		entry = st_catalog_scan_next(&scan, BackwardScanDirection);
		if (entry != NULL && bases[i] == ST_DESCRIPTOR)
			(void) st_descriptor_decode(cat->rel, entry, &group);
		if (entry != NULL)
			end = Max(end, entry->row + Max(group.nrows, ST_PIECE_ROWS));
		st_catalog_scan_end(&scan);
	}
	return end;
}
