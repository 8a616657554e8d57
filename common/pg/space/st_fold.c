/*-------------------------------------------------------------------------
 *
 * st_fold.c
 *	  VACUUM turns old tombstones into bits (see st_piece.c).
 *
 * Rows that are dead to everybody, whose index entries this VACUUM or an earlier
 * one has removed, lose their tombstones, and their bits are set in new versions
 * of the group's pieces.  Both are changes of tuples of the running transaction: an
 * abort or a crash at any point brings the tombstones back.  Only the
 * descriptor's note that there may be pieces stays, which is harmless.
 *
 * Nobody waits for a tombstone that is being folded, nor for a piece: all that
 * they say is true before and after.  VACUUM's lock keeps other VACUUMs and
 * compactions away, so a piece has one version that counts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

#include "st_space.h"

bool		st_fold_enabled = true;

/*
 * Old tombstones that are worth a VACUUM for their own sake: so many, and such a
 * share of the rows.
 */
#define DUE_TOMBSTONES	1000
#define DUE_SHARE		0.02

/*
 * Is the deleter older than every snapshot, and were the row's index entries
 * removed for that reason?  A frozen tombstone need not be: another VACUUM, of
 * TOAST alone, may have had a later horizon.  A frozen xid that seems to lie in
 * the future is more than two billion transactions old.
 */
static bool
is_old(const StCatalogEntry *entry, TransactionId oldest_xmin)
{
	HeapTupleHeader header = entry->tuple->t_data;
	TransactionId xmin = HeapTupleHeaderGetRawXmin(header);

	return !TransactionIdIsNormal(xmin) || TransactionIdPrecedes(xmin, oldest_xmin) ||
		(HeapTupleHeaderXminFrozen(header) &&
		 TransactionIdFollowsOrEquals(xmin, ReadNextTransactionId()));
}

/* Sets the bits of a swath's rows, which are all in one piece. */
static void
take_swath(StCatalog *cat, const StCatalogEntry *entry, StPiece *piece)
{
	StSwath		swath;

	st_swath_decode(cat->rel, entry, &swath);
	for (uint32 i = 0; i < swath.nrows; i++)
	{
		if (st_swath_has(&swath, swath.first_row + i))
			st_piece_set(piece, swath.first_row + i);
	}
}

/*
 * Deletes the old tombstones, or swaths, of a piece's rows and sets their bits.
 * Returns how many there were.
 */
static uint32
take_deletions(StCatalog *cat, StKeyBase base, StPiece *piece,
			   TransactionId oldest_xmin)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	uint32		taken = 0;

	st_catalog_scan_begin(&scan, cat, base, piece->first_row,
						  piece->first_row + piece->nrows - 1, SnapshotSelf);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		ItemPointerData tid = entry->tuple->t_self;

		st_vacuum_delay_point(false);
		if (!is_old(entry, oldest_xmin) || !st_catalog_delete(cat, &tid))
			continue;
		if (base == ST_SWATH)
			take_swath(cat, entry, piece);
		else
			st_piece_set(piece, entry->row);
		taken++;
	}
	st_catalog_scan_end(&scan);
	return taken;
}

uint32
st_fold_group(StCatalog *cat, const StGroup *group, TransactionId oldest_xmin)
{
	uint32		folded = 0;

	if (!group->folded && !st_descriptor_folded(cat, group))
		return 0;
	for (uint32 start = 0; start < group->nrows; start += ST_PIECE_ROWS)
	{
		StPiece		piece;
		uint32		taken;

		(void) st_piece_read(cat, group, group->first_row + start, SnapshotSelf,
							 &piece);
		taken = take_deletions(cat, ST_TOMBSTONE, &piece, oldest_xmin);
		taken += take_deletions(cat, ST_SWATH, &piece, oldest_xmin);
		if (taken > 0)
			st_piece_replace(cat, &piece);
		folded += taken;
	}
	return folded;
}

/*
 * How many tombstones of the group, or swaths, could be folded now?  A swath
 * costs as much as a tombstone, however many rows it has.
 */
static double
count_old(StCatalog *cat, StKeyBase base, const StGroup *group,
		  TransactionId oldest_xmin)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	double		n = 0;

	st_catalog_scan_begin(&scan, cat, base, group->first_row,
						  group->first_row + group->nrows - 1, SnapshotSelf);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		n += is_old(entry, oldest_xmin);
	}
	st_catalog_scan_end(&scan);
	return n;
}

bool
st_fold_due(Relation rel)
{
	TransactionId oldest_xmin = GetOldestNonRemovableTransactionId(rel);
	StGroupList *groups;
	StCatalog	cat;
	double		rows = 0;
	double		old = 0;

	if (!st_fold_enabled || !st_catalog_open(&cat, rel, AccessShareLock))
		return false;
	groups = st_visible_groups_in(&cat, SnapshotSelf, CurrentMemoryContext);
	for (int i = 0; i < groups->ngroups; i++)
	{
		rows += groups->groups[i].nrows;
		old += count_old(&cat, ST_TOMBSTONE, &groups->groups[i], oldest_xmin);
		old += count_old(&cat, ST_SWATH, &groups->groups[i], oldest_xmin);
	}
	st_catalog_close(&cat);
	return old >= Max(DUE_TOMBSTONES, rows * DUE_SHARE);
}
