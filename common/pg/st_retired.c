/*-------------------------------------------------------------------------
 *
 * st_retired.c
 *	  Row groups that compaction replaced: notes for VACUUM.
 *
 * The compaction deletes a group's descriptor, and once no snapshot is older
 * than that, heap may prune the tuple at any moment.  What VACUUM has to know
 * about the group (its rows, whose index entries and tombstones are to go,
 * and its extent) therefore stands in an entry of its own, which nobody but
 * VACUUM removes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "st_reclaim.h"

#define ST_RETIRED_VERSION	1

/* Notes that the running transaction has replaced the group. */
void
st_retired_add(StCatalog *cat, const StGroup *group)
{
	StRetiredPayload payload = {0};

	payload.version = ST_RETIRED_VERSION;
	payload.nrows = group->nrows;
	payload.start_block = group->start_block;
	payload.nblocks = group->nblocks;
	st_catalog_insert(cat, ST_RETIRED, group->first_row, &payload,
					  sizeof(payload), GetCurrentCommandId(true), 0, NULL);
}

static void
decode(StCatalog *cat, const StCatalogEntry *entry, StRetired *out)
{
	StRetiredPayload payload;

	if (entry->len != sizeof(payload))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("entry of retired row group " UINT64_FORMAT " of relation \"%s\" is damaged",
						entry->row, RelationGetRelationName(cat->rel))));
	memcpy(&payload, entry->payload, sizeof(payload));
	if (payload.version != ST_RETIRED_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("entry of retired row group " UINT64_FORMAT " of relation \"%s\" was written by a newer version",
						entry->row, RelationGetRelationName(cat->rel))));
	memset(out, 0, sizeof(*out));
	out->group.first_row = entry->row;
	out->group.nrows = payload.nrows;
	out->group.start_block = payload.start_block;
	out->group.nblocks = payload.nblocks;
	out->xid = HeapTupleHeaderGetXmin(entry->tuple->t_data);
	out->tid = entry->tuple->t_self;
}

/*
 * Groups that were replaced before oldest_xmin (all of them if that is
 * invalid), sorted by first_row, in the current memory context.
 */
StRetired *
st_retired_read(StCatalog *cat, TransactionId oldest_xmin, int *n)
{
	StRetired  *out = palloc(16 * sizeof(StRetired));
	int			allocated = 16;
	StCatalogScan scan;
	StCatalogEntry *entry;

	*n = 0;
	st_catalog_scan_begin(&scan, cat, ST_RETIRED, 0, ST_MAX_ROW_NUMBER,
						  SnapshotSelf);
	while ((entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (*n == allocated)
		{
			allocated *= 2;
			out = repalloc(out, allocated * sizeof(StRetired));
		}
		decode(cat, entry, &out[*n]);
		if (!TransactionIdIsValid(oldest_xmin) ||
			TransactionIdPrecedes(out[*n].xid, oldest_xmin))
			(*n)++;
	}
	st_catalog_scan_end(&scan);
	return out;
}
