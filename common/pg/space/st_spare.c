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

#include "st_space.h"

#define ST_SPARE_VERSION	1

/* Row of a group's entry among those of ST_VACUUM_STATE. */
#define ST_SPARE_ROW(first_row)	((first_row) + 1000)

/* A group has spare row numbers for so many moves. */
#define SPARE_LIVES	3

/* The group's entry. */
static bool
find_entry(StCatalog *cat, uint64 first_row, StSpareRows *out, ItemPointer tid)
{
	return st_note_read(cat, ST_VACUUM_STATE, ST_SPARE_ROW(first_row), out,
						sizeof(*out), tid) &&
		out->version == ST_SPARE_VERSION;
}

/* Has the group spare row numbers? */
bool
st_spare_find(StCatalog *cat, uint64 first_row, StSpareRows *out)
{
	ItemPointerData tid;

	return find_entry(cat, first_row, out, &tid) && out->lives > 0 &&
		out->nrows > 0;
}

/* The group is being replaced, or dropped. */
void
st_spare_forget(StCatalog *cat, uint64 first_row)
{
	StSpareRows spare;
	ItemPointerData tid;

	if (find_entry(cat, first_row, &spare, &tid))
		(void) st_catalog_delete(cat, &tid);
}

/* Row numbers of a virtual block belong to one group. */
static uint32
stride(uint32 nrows)
{
	return (nrows + ST_ROWS_PER_VBLOCK - 1) / ST_ROWS_PER_VBLOCK *
		ST_ROWS_PER_VBLOCK;
}

/* What is left when the next life has begun. */
static StSpareRows
rest_of(const StSpareRows *spare)
{
	StSpareRows rest = *spare;

	Assert(rest.lives > 0);
	rest.lives--;
	rest.first_row += stride(rest.nrows);
	return rest;
}

/* For a group that was just given its numbers, the last ones so far. */
void
st_spare_reserve(StCatalog *cat, const StGroup *group)
{
	StSpareRows spare = {
		.version = ST_SPARE_VERSION, .lives = SPARE_LIVES, .nrows = group->nrows
	};

	spare.first_row = st_reserve_rows(cat->rel,
									  SPARE_LIVES * stride(group->nrows));
	st_note_add(cat, ST_VACUUM_STATE, ST_SPARE_ROW(group->first_row), &spare,
				sizeof(spare));
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
	static const StSpareRows none = {0};
	StSpareRows spare;
	StSpareRows rest;

	if (!st_spare_find(cat, first_row, &spare))
		return none;
	rest = rest_of(&spare);
	return st_catalog_overwrite(cat, ST_VACUUM_STATE, ST_SPARE_ROW(first_row),
								&rest, sizeof(rest)) ? spare : none;
}

/* The first of the lives has become the group's own: the others are left. */
void
st_spare_used(StCatalog *cat, const StSpareRows *spare)
{
	StSpareRows rest = rest_of(spare);

	if (rest.lives > 0)
		st_note_add(cat, ST_VACUUM_STATE, ST_SPARE_ROW(spare->first_row), &rest,
					sizeof(rest));
}
