/*-------------------------------------------------------------------------
 *
 * st_piece.c
 *	  Old deletions of a row group as bitmaps.
 *
 * A tombstone costs a reader a tuple per row.  Once its deleter is older than
 * every snapshot, all it still says is a bit.  VACUUM folds such tombstones
 * (st_fold.c): one transaction deletes them and inserts a new version of the
 * piece, a bitmap of ST_PIECE_ROWS rows of the group.  So an MVCC snapshot sees
 * either the tombstones or their bits.  That there may be pieces is noted in
 * the group's descriptor before the first is made, in place: an MVCC snapshot
 * that sees a piece was taken later, and so was the descriptor read.
 *
 * Snapshots of other kinds see what happens while they look.  So they ask for
 * the tombstone first, whatever a descriptor that was read before says of
 * pieces, and then for all versions of the piece: a bit is only ever set for a
 * row that is dead to everybody, so it is true in every version, also of a
 * transaction that was rolled back.
 *
 * Index entries of the rows are gone before they are folded.  So whoever
 * reaches a row through an entry need not ask (st_fetch.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/snapmgr.h"

#include "st_checksum.h"
#include "st_visibility.h"

/* Bytes of a piece on disk. */
static Size
piece_size(uint32 nrows)
{
	return offsetof(StPiecePayload, bits) + (nrows + 63) / 64 * sizeof(uint64);
}

/* Of a payload whose checksum is 0. */
static uint64
piece_checksum(const StPiecePayload *payload, uint64 first_row)
{
	return st_checksum64(payload, piece_size(payload->nrows), first_row);
}

/* The piece that a row of the group is in, without its bits. */
static void
place_piece(const StGroup *group, uint64 row, StPiece *piece)
{
	uint32		start = (uint32) (row - group->first_row) / ST_PIECE_ROWS * ST_PIECE_ROWS;

	piece->first_row = group->first_row + start;
	piece->nrows = Min(ST_PIECE_ROWS, group->nrows - start);
	memset(piece->bits, 0, sizeof(piece->bits));
}

/* Sets the bits of a version of the piece that an entry holds. */
static void
add_version(StCatalog *cat, const StCatalogEntry *entry, StPiece *piece)
{
	StPiecePayload payload;
	uint64		checksum;
	Size		size = piece_size(piece->nrows);

	st_entry_check(cat->rel, entry, size, ST_PIECE_VERSION, "bitmap of deleted rows");
	memcpy(&payload, entry->payload, size);
	checksum = payload.checksum;
	payload.checksum = 0;
	if (entry->row != piece->first_row || payload.nrows != piece->nrows ||
		checksum != piece_checksum(&payload, piece->first_row))
		st_entry_corrupt(cat->rel, entry, "bitmap of deleted rows");
	for (uint32 i = 0; i < (piece->nrows + 63) / 64; i++)
		piece->bits[i] |= payload.bits[i];
}

/* Other kinds of snapshots than MVCC ones are shown all versions. */
static Snapshot
piece_snapshot(Snapshot snapshot)
{
	return IsMVCCSnapshot(snapshot) ? snapshot : SnapshotAny;
}

bool
st_piece_read(StCatalog *cat, const StGroup *group, uint64 row, Snapshot snapshot,
			  StPiece *piece)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	bool		found = false;

	place_piece(group, row, piece);
	st_catalog_scan_begin(&scan, cat, ST_PIECE, piece->first_row,
						  piece->first_row, piece_snapshot(snapshot));
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		add_version(cat, entry, piece);
		found = true;
	}
	st_catalog_scan_end(&scan);
	return found;
}

bool
st_row_folded(StCatalog *cat, const StGroup *group, uint64 row, Snapshot snapshot)
{
	StPiece		piece;

	return st_piece_read(cat, group, row, snapshot, &piece) &&
		st_piece_has(&piece, row);
}

/* Adds a piece's bits to those of its group.  Returns how many are new. */
static uint32
merge_piece(const StGroup *group, const StPiece *piece, uint64 *bitmap)
{
	uint64	   *words = bitmap + (piece->first_row - group->first_row) / 64;
	uint32		n = 0;

	for (uint32 i = 0; i < (piece->nrows + 63) / 64; i++)
	{
		n += pg_popcount64(piece->bits[i] & ~words[i]);
		words[i] |= piece->bits[i];
	}
	return n;
}

uint32
st_mark_folded(StCatalog *cat, const StGroup *group, uint32 first, uint32 last,
			   Snapshot snapshot, MemoryContext mcxt, uint64 **bitmap,
			   TransactionId *newest)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	uint32		n = 0;

	st_catalog_scan_begin(&scan, cat, ST_PIECE,
						  group->first_row + first / ST_PIECE_ROWS * ST_PIECE_ROWS,
						  group->first_row + last, piece_snapshot(snapshot));
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		StPiece		piece;

		CHECK_FOR_INTERRUPTS();
		place_piece(group, entry->row, &piece);
		add_version(cat, entry, &piece);
		if (*bitmap == NULL)
			*bitmap = MemoryContextAllocZero(mcxt, st_bitmap_bytes(group));
		n += merge_piece(group, &piece, *bitmap);
		*newest = st_newer_xid(*newest, HeapTupleHeaderGetXmin(entry->tuple->t_data));
	}
	st_catalog_scan_end(&scan);
	return n;
}

/* Deletes the version of the piece that counts, if there is one. */
static void
delete_piece(StCatalog *cat, const StPiece *piece)
{
	StCatalogScan scan;
	StCatalogEntry *entry;

	st_catalog_scan_begin(&scan, cat, ST_PIECE, piece->first_row,
						  piece->first_row, SnapshotSelf);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	if (entry != NULL)
	{
		ItemPointerData tid = entry->tuple->t_self;

		if (!st_catalog_delete(cat, &tid))
			elog(ERROR, "bitmap of deleted rows of row " UINT64_FORMAT " of relation \"%s\" is being changed",
				 piece->first_row, RelationGetRelationName(cat->rel));
	}
	st_catalog_scan_end(&scan);
}

void
st_piece_replace(StCatalog *cat, const StPiece *piece)
{
	StPiecePayload payload = {0};
	uint32		nwords = (piece->nrows + 63) / 64;

	payload.version = ST_PIECE_VERSION;
	payload.nrows = piece->nrows;
	payload.ndeleted = (uint32) pg_popcount((const char *) piece->bits,
											nwords * sizeof(uint64));
	memcpy(payload.bits, piece->bits, nwords * sizeof(uint64));
	payload.checksum = piece_checksum(&payload, piece->first_row);

	delete_piece(cat, piece);
	st_catalog_insert(cat, ST_PIECE, piece->first_row, &payload,
					  piece_size(piece->nrows), GetCurrentCommandId(true), 0, NULL);
}
