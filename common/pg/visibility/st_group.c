/*-------------------------------------------------------------------------
 *
 * st_group.c
 *	  Row groups and deleted rows as a snapshot sees them (I1).
 *
 * A row is visible iff the descriptor of its group is visible to the
 * snapshot and neither a tombstone of it nor its bit in a swath (st_swath.c) or
 * in a piece (st_piece.c) is.  All are heap tuples, so any kind of snapshot works, and a serializable
 * transaction's predicate locks and conflict checks happen in heap and btree
 * while we look.
 *
 * The metapage is asked first: while it says that there are no row groups,
 * the TOAST relation may be one that a truncation has not emptied yet, and
 * must not be read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "st_visibility.h"

/*
 * A transaction finishes its groups before it commits and before it reads, so
 * no MVCC snapshot sees an unfinished one.
 */
static void
check_finished(Relation rel, const StGroup *group, bool finished,
			   Snapshot snapshot)
{
	if (!finished && IsMVCCSnapshot(snapshot))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("row group " UINT64_FORMAT " of relation \"%s\" was never written",
						group->first_row, RelationGetRelationName(rel))));
}

bool
st_group_lookup(StCatalog *cat, uint64 row, Snapshot snapshot, StGroup *group,
				bool *finished)
{
	HeapTupleData tuple;
	Buffer		buffer;
	bool		complete = false;
	bool		found = st_descriptor_find(cat, row, snapshot, group,
										   &complete, &tuple, &buffer);

	if (found)
	{
		ReleaseBuffer(buffer);
		check_finished(cat->rel, group, complete, snapshot);
	}

	if (finished != NULL)
		*finished = complete;
	else
		found = found && complete;
	return found;
}

static void
group_list_add(StGroupList *list, int *maxgroups, const StGroup *group)
{
	if (list->ngroups == *maxgroups)
	{
		*maxgroups *= 2;
		list->groups = repalloc_huge(list->groups,
									 *maxgroups * sizeof(StGroup));
	}
	list->groups[list->ngroups++] = *group;
}

/*
 * The row groups visible to the snapshot, sorted by first_row, allocated in
 * mcxt.  A group without an image is one that a running (or failed)
 * transaction is still filling: no snapshot but SnapshotAny or a dirty one
 * shows it, and it is left out.
 */
StGroupList *
st_visible_groups_in(StCatalog *cat, Snapshot snapshot, MemoryContext mcxt)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(mcxt);
	StGroupList *list = palloc(sizeof(StGroupList));
	StCatalogScan scan;
	StCatalogEntry *entry;
	uint64		incarnation;
	int			maxgroups = 4;

	list->ngroups = 0;
	list->groups = palloc(maxgroups * sizeof(StGroup));
	MemoryContextSwitchTo(oldcxt);
	if (cat == NULL || !st_meta_has_row_groups(cat->rel, &incarnation))
		return list;

	st_catalog_scan_begin(&scan, cat, ST_DESCRIPTOR, 0, ST_MAX_ROW_NUMBER,
						  snapshot);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		StGroup		group;

		CHECK_FOR_INTERRUPTS();
		if (!st_descriptor_decode(cat->rel, entry, &group))
		{
			check_finished(cat->rel, &group, false, snapshot);
			continue;
		}
		if (group.nrows == 0)
			continue;
		group.incarnation = incarnation;
		group_list_add(list, &maxgroups, &group);
	}
	st_catalog_scan_end(&scan);
	return list;
}

uint32
st_mark_deleted(StCatalog *cat, const StGroup *group, uint32 first, uint32 last,
				Snapshot snapshot, MemoryContext mcxt, uint64 **bitmap,
				TransactionId *newest)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	uint32		n = 0;

	st_catalog_scan_begin(&scan, cat, ST_TOMBSTONE, group->first_row + first,
						  group->first_row + last, snapshot);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		uint64		row = entry->row - group->first_row;

		CHECK_FOR_INTERRUPTS();
		if (*bitmap == NULL)
			*bitmap = MemoryContextAllocZero(mcxt, st_bitmap_bytes(group));
		(*bitmap)[row >> 6] |= UINT64CONST(1) << (row & 63);
		n++;
		*newest = st_newer_xid(*newest, HeapTupleHeaderGetXmin(entry->tuple->t_data));
	}
	st_catalog_scan_end(&scan);
	return n + st_mark_mown(cat, group, first, last, snapshot, mcxt, bitmap, newest);
}

/* All rows of the group. */
static uint64 *
full_bitmap(const StGroup *group, MemoryContext mcxt)
{
	uint64	   *bitmap = MemoryContextAlloc(mcxt, st_bitmap_bytes(group));

	memset(bitmap, 0xff, st_bitmap_bytes(group));
	if (group->nrows % 64 != 0)
		bitmap[group->nrows / 64] = (UINT64CONST(1) << (group->nrows % 64)) - 1;
	return bitmap;
}

/* As st_mark_deleted(), and those of which pieces tell. */
static uint32
mark_all_deleted(StCatalog *cat, const StGroup *group, uint32 first, uint32 last,
				 Snapshot snapshot, MemoryContext mcxt, uint64 **bitmap,
				 TransactionId *newest, uint32 *tombstones)
{
	*tombstones = st_mark_deleted(cat, group, first, last, snapshot, mcxt, bitmap,
								  newest);
	if (!group->folded && IsMVCCSnapshot(snapshot))
		return *tombstones;
	return *tombstones + st_mark_folded(cat, group, first, last, snapshot, mcxt, bitmap,
										newest);
}

uint64 *
st_deleted_rows_among(StCatalog *cat, const StGroup *group, uint32 first, uint32 last,
					  Snapshot snapshot, MemoryContext mcxt)
{
	uint64	   *bitmap = NULL;
	TransactionId newest = InvalidTransactionId;
	uint32		tombstones;

	if (st_group_is_dead(cat, group, snapshot))
		return full_bitmap(group, mcxt);
	(void) mark_all_deleted(cat, group, first, last, snapshot, mcxt, &bitmap, &newest,
							&tombstones);
	return bitmap;
}

uint64 *
st_deleted_rows_in(StCatalog *cat, const StGroup *group, Snapshot snapshot,
				   MemoryContext mcxt, uint32 *ndeleted, uint32 *ntombstones)
{
	uint64	   *bitmap = NULL;
	TransactionId newest = InvalidTransactionId;
	uint32		tombstones = 0;
	uint32		n;

	if (st_group_is_dead(cat, group, snapshot))
	{
		bitmap = full_bitmap(group, mcxt);
		n = group->nrows;
	}
	else
	{
		n = mark_all_deleted(cat, group, 0, group->nrows - 1, snapshot, mcxt, &bitmap,
							 &newest, &tombstones);
		if (n == group->nrows)
			st_group_note_dead(cat, group, snapshot, newest);
	}
	if (ndeleted != NULL)
		*ndeleted = n;
	if (ntombstones != NULL)
		*ntombstones = tombstones;
	return bitmap;
}

uint64 *
st_deleted_rows(Relation rel, const StGroup *group, Snapshot snapshot,
				MemoryContext mcxt, uint32 *ndeleted)
{
	StCatalog	cat;
	uint64	   *bitmap;

	if (ndeleted != NULL)
		*ndeleted = 0;
	if (!st_catalog_open(&cat, rel, AccessShareLock))
		return NULL;
	bitmap = st_deleted_rows_in(&cat, group, snapshot, mcxt, ndeleted, NULL);
	st_catalog_close(&cat);
	return bitmap;
}

bool
st_deletion_seen(StCatalog *cat, uint64 row, Snapshot snapshot, StMown mown)
{
	StDeletion	deletion;
	bool		seen = st_deletion_begin(&deletion, cat, row, snapshot, mown) != NULL;

	st_deletion_end(&deletion);
	return seen;
}
