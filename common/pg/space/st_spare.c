/*-------------------------------------------------------------------------
 *
 * st_spare.c
 *	  Compaction: spare row numbers of row groups at the end of the file.
 *
 * A group that is written anew gets new row numbers, and so comes last in
 * scans.  Where rows have an order (option orderby), a group must not be moved
 * to the front of the file only to save space then.  But a merge puts some of
 * its groups at the end because what it replaces is not free yet.  Those get
 * numbers for some more lives, right behind their own: nobody else's come
 * between them, and the group keeps its place among the others.
 *
 * The note of it is an entry among those of the vacuum state, made by the
 * transaction that writes the group, and deleted by the one that replaces it.
 * Numbers that are not used in the end are a gap, as others are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"

#include "st_space.h"

#define ST_SPARE_VERSION	1

/* Row of a group's entry among those of ST_VACUUM_STATE. */
#define ST_SPARE_ROW(first_row)	((first_row) + 1000)

/* A group has spare row numbers for so many moves. */
#define SPARE_LIVES	3

typedef struct StSparePayload
{
	uint16		version;
	uint16		lives;
	uint32		nrows;
	uint64		first_row;		/* of the next life */
} StSparePayload;

StaticAssertDecl(sizeof(StSparePayload) == 16, "on-disk size");

static bool
find_entry(StCatalog *cat, uint64 first_row, StSparePayload *payload,
		   ItemPointer tid)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	bool		found;

	st_catalog_scan_begin(&scan, cat, ST_VACUUM_STATE, ST_SPARE_ROW(first_row),
						  ST_SPARE_ROW(first_row), SnapshotSelf);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	found = entry != NULL && entry->len == sizeof(*payload);
	if (found)
	{
		memcpy(payload, entry->payload, sizeof(*payload));
		*tid = entry->tuple->t_self;
		found = payload->version == ST_SPARE_VERSION;
	}
	st_catalog_scan_end(&scan);
	return found;
}

static void
set_rows(StSpareRows *out, const StSparePayload *payload)
{
	out->first_row = payload->first_row;
	out->nrows = payload->nrows;
	out->lives = payload->lives;
}

/* Has the group spare row numbers?  If not, out has no rows. */
bool
st_spare_find(StCatalog *cat, uint64 first_row, StSpareRows *out)
{
	StSparePayload payload;
	ItemPointerData tid;

	memset(out, 0, sizeof(*out));
	if (!find_entry(cat, first_row, &payload, &tid) || payload.lives == 0)
		return false;
	set_rows(out, &payload);
	return out->nrows > 0;
}

/* The group is being replaced, or dropped. */
void
st_spare_forget(StCatalog *cat, uint64 first_row)
{
	StSparePayload payload;
	ItemPointerData tid;

	if (find_entry(cat, first_row, &payload, &tid))
		(void) st_catalog_delete(cat, &tid);
}

static void
add_entry(StCatalog *cat, uint64 first_row, const StSparePayload *payload)
{
	st_catalog_insert(cat, ST_VACUUM_STATE, ST_SPARE_ROW(first_row), payload,
					  sizeof(*payload), GetCurrentCommandId(true), 0, NULL);
}

/* Row numbers of a virtual block belong to one group. */
static uint32
stride(uint32 nrows)
{
	return (nrows + ST_ROWS_PER_VBLOCK - 1) / ST_ROWS_PER_VBLOCK *
		ST_ROWS_PER_VBLOCK;
}

/* For a group that was just given its numbers, the last ones so far. */
void
st_spare_reserve(StCatalog *cat, const StGroup *group)
{
	StSparePayload payload = {
		.version = ST_SPARE_VERSION, .lives = SPARE_LIVES, .nrows = group->nrows
	};

	payload.first_row = st_reserve_rows(cat->rel,
										SPARE_LIVES * stride(group->nrows));
	add_entry(cat, group->first_row, &payload);
}

/*
 * Takes the group's next set of spare row numbers; returns one of no rows if
 * none is left.  The entry is changed in place, so an abort does not bring the
 * set back: row numbers must never be used twice, because index entries of an
 * aborted step, and readers that were kept, may still refer to them.
 */
StSpareRows
st_spare_consume(StCatalog *cat, uint64 first_row)
{
	StSparePayload payload;
	ItemPointerData tid;
	StSpareRows out = {0};
	StSparePayload rest;

	if (!find_entry(cat, first_row, &payload, &tid) || payload.lives == 0)
		return out;
	rest = payload;
	rest.lives--;
	rest.first_row += stride(rest.nrows);
	if (st_catalog_overwrite(cat, ST_VACUUM_STATE, ST_SPARE_ROW(first_row),
							 &rest, sizeof(rest)))
		set_rows(&out, &payload);
	return out;
}

/* The first of the lives has become the group's own: the others are left. */
void
st_spare_used(StCatalog *cat, const StSpareRows *spare)
{
	StSparePayload payload = {
		.version = ST_SPARE_VERSION, .lives = spare->lives - 1,
		.nrows = spare->nrows,
		.first_row = spare->first_row + stride(spare->nrows)
	};

	Assert(spare->lives > 0);
	if (payload.lives > 0)
		add_entry(cat, spare->first_row, &payload);
}
