/*-------------------------------------------------------------------------
 *
 * st_retired.c
 *	  Row groups that compaction replaced: notes for VACUUM.
 *
 * A compaction deletes a group's descriptor.  Once no snapshot is older than
 * that, heap may prune the tuple at any moment.  So a step leaves an entry for
 * VACUUM, which nobody else removes.  It names the group's rows, whose index
 * entries and tombstones have to go, and its extent.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

#include "st_space.h"

#define ST_RETIRED_VERSION	2

/* Notes that the running transaction has replaced the group. */
void
st_retired_add(StCatalog *cat, const StGroup *group)
{
	StRetiredRunsPayload payload = {0};

	payload.base.version = group->nruns > 0 ? ST_RETIRED_VERSION : 1;
	payload.base.nrows = group->nrows;
	payload.base.start_block = group->start_block;
	payload.base.nblocks = group->nblocks;
	if (group->nruns > 0)
		st_runs_encode(group, &payload.runs);
	st_note_add(cat, ST_RETIRED, group->first_row, &payload,
				group->nruns > 0 ? sizeof(payload) : sizeof(payload.base));
}

static void
corrupt(StCatalog *cat, const StCatalogEntry *entry)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("entry of retired row group " UINT64_FORMAT " of relation \"%s\" is damaged",
					entry->row, RelationGetRelationName(cat->rel))));
}

/*
 * The group, its rows and its extent, as a descriptor that is dead; xmin and
 * tid are those of the entry.
 */
static void
decode(StCatalog *cat, const StCatalogEntry *entry, StGroupVersion *out)
{
	StRetiredRunsPayload whole;
	StRetiredPayload payload;

	if (entry->len < sizeof(payload))
		corrupt(cat, entry);
	memcpy(&payload, entry->payload, sizeof(payload));
	if (payload.version > ST_RETIRED_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("entry of retired row group " UINT64_FORMAT " of relation \"%s\" was written by a newer version",
						entry->row, RelationGetRelationName(cat->rel))));
	if (payload.version == 0 ||
		entry->len != (payload.version == 1 ? sizeof(payload) : sizeof(whole)))
		corrupt(cat, entry);
	memset(out, 0, sizeof(*out));
	out->group.first_row = entry->row;
	out->group.nrows = payload.nrows;
	out->group.start_block = payload.start_block;
	out->group.nblocks = payload.nblocks;
	if (payload.version > 1)
	{
		memcpy(&whole, entry->payload, sizeof(whole));
		if (!st_runs_decode(&whole.runs, &out->group))
			corrupt(cat, entry);
	}
	out->state = HEAPTUPLE_DEAD;
	out->finished = true;
	out->xmin = HeapTupleHeaderGetXmin(entry->tuple->t_data);
	out->tid = entry->tuple->t_self;
}

/* Do the pages still hold this part of the group's image? */
static bool
run_is_of(Relation rel, const StGroup *group, const StExtentRange *run,
		  uint32 pageno)
{
	Buffer		buffer;
	StExtentPageHeader *header;
	bool		result;

	if (run->end > RelationGetNumberOfBlocks(rel))
		return false;
	buffer = ReadBuffer(rel, run->start);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	header = st_extent_header(BufferGetPage(buffer));
	result = header != NULL && header->first_row == group->first_row &&
		header->npages == group->nblocks && header->pageno == pageno;
	UnlockReleaseBuffer(buffer);
	return result;
}

/*
 * Enters the extents of a dead group into the directory of free ones.  Leaves
 * out those that have been cut off (st_truncate.c) and those that are free
 * already: an aborted group's extent may have been entered before, and a group
 * whose descriptor could not be deleted was an orphan meanwhile.  The
 * directory is asked first: who takes an extent out of it meanwhile, and
 * commits, has written the pages.
 */
void
st_free_extents_of(StCatalog *cat, const StGroup *group)
{
	StExtentRange runs[ST_MAX_RUNS];
	int			n = st_group_extents(group, runs);
	uint32		pageno = 0;

	for (int i = 0; i < n; i++)
	{
		if (!st_free_extent_known(cat, runs[i].start) &&
			run_is_of(cat->rel, group, &runs[i], pageno))
			st_free_extent_add(cat, runs[i].start,
							   runs[i].end - runs[i].start);
		pageno += runs[i].end - runs[i].start;
	}
}

/*
 * Groups that were replaced before oldest_xmin (all of them if that is
 * invalid), sorted by first_row, in the current memory context.
 */
StGroupVersions *
st_retired_read(StCatalog *cat, TransactionId oldest_xmin)
{
	StGroupVersions *out = palloc(sizeof(StGroupVersions));
	int			allocated = 16;
	StCatalogScan scan;
	StCatalogEntry *entry;

	out->n = 0;
	out->v = palloc(allocated * sizeof(StGroupVersion));
	st_catalog_scan_begin(&scan, cat, ST_RETIRED, 0, ST_MAX_ROW_NUMBER,
						  SnapshotSelf);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (out->n == allocated)
		{
			allocated *= 2;
			out->v = repalloc_huge(out->v, allocated * sizeof(StGroupVersion));
		}
		decode(cat, entry, &out->v[out->n]);
		if (!TransactionIdIsValid(oldest_xmin) ||
			TransactionIdPrecedes(out->v[out->n].xmin, oldest_xmin))
			out->n++;
	}
	st_catalog_scan_end(&scan);
	return out;
}

/*
 * Between two steps of a compaction: what nobody can see any more makes room
 * for the next one.  Index entries, tombstones and anchors of such a group
 * are left to VACUUM, and so is the entry, without the extents from now on.
 * An index entry that leads to a row of it finds no descriptor: a dead row.
 *
 * As any free extent, these can be taken once every snapshot is newer than
 * this transaction.  True: something was changed.
 */
bool
st_retired_release(StCatalog *cat)
{
	StGroupVersions *retired = st_retired_read(cat, GetOldestNonRemovableTransactionId(cat->rel));
	bool		any = false;

	for (int i = 0; i < retired->n; i++)
	{
		StGroupVersion *v = &retired->v[i];
		StGroup		rest = {.first_row = v->group.first_row, .nrows = v->group.nrows};

		CHECK_FOR_INTERRUPTS();
		if (v->group.nblocks == 0 || !st_catalog_delete(cat, &v->tid))
			continue;
		st_free_extents_of(cat, &v->group);
		st_retired_add(cat, &rest);
		any = true;
	}
	if (any)
		st_free_extent_coalesce(cat);
	return any;
}
