/*-------------------------------------------------------------------------
 *
 * st_deleted_near.c
 *	  Which rows of a row group are deleted, for fetches of single rows.
 *
 * A fetch must not pay for deletions that it never comes near.  So a group is
 * cut into windows.  The first row that is asked for in a window is answered
 * by a probe for its own deletion.  The second one reads all deletions of
 * the window, as the MVCC snapshot sees them, into a bitmap.  So many fetches
 * of one window cost a look at a bit each, and fetches all over the group one
 * probe each.  A deletion that is read in vain costs a tenth of a search for
 * them, so windows are small; while few deletions are found, more and more
 * windows behind are read with one search.
 *
 * A snapshot for which every row of the group is deleted notes that the group
 * is dead, so that no later statement reads its tombstones.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "utils/memutils.h"

#include "st_visibility.h"

/* Rows of a window, and the windows that are read together at most. */
#define WINDOW_ROWS		256
#define MAX_AHEAD		64

/* Deletions that cost no more than a search for them. */
#define FEW_DELETIONS	12

/* What a session knows of a window's deletions. */
enum
{
	WINDOW_UNKNOWN,
	WINDOW_PROBED,				/* one row was asked for */
	WINDOW_LOADED				/* the bitmap has its deletions */
};

static uint32
window_count(const StGroup *group)
{
	return (group->nrows + WINDOW_ROWS - 1) / WINDOW_ROWS;
}

static void
begin(StDeletedNear *near, StCatalog *cat, const StGroup *group, Snapshot snapshot,
	  MemoryContext mcxt)
{
	if (!group->mown && st_group_untouched(cat, group, snapshot))
		near->known = ST_NEAR_NONE;
	else if (st_group_is_dead(cat, group, snapshot))
		near->known = ST_NEAR_ALL;
	else
	{
		near->known = ST_NEAR_SOME;
		near->windows = MemoryContextAllocZero(mcxt, window_count(group));
		near->ahead = 1;
	}
}

/* Reads the deletions of a window, and of those behind it that were not read yet. */
static void
load_windows(StDeletedNear *near, StCatalog *cat, const StGroup *group, uint32 window,
			 Snapshot snapshot, MemoryContext mcxt)
{
	uint32		end = Min(window + near->ahead, window_count(group));
	uint32		first = window * WINDOW_ROWS;
	uint32		found;

	while (window < end && near->windows[window] != WINDOW_LOADED)
		window++;
	found = st_mark_deleted(cat, group, first,
							Min(window * WINDOW_ROWS, group->nrows) - 1,
							snapshot, mcxt, &near->bitmap, &near->newest);
	for (uint32 w = first / WINDOW_ROWS; w < window; w++)
		near->windows[w] = WINDOW_LOADED;
	near->ahead = found <= FEW_DELETIONS ? Min(near->ahead * 2, MAX_AHEAD) :
		Max(near->ahead / 2, 1);
	near->ndeleted += found;
	if (near->ndeleted == group->nrows)
		st_group_note_dead(cat, group, snapshot, near->newest);
}

bool
st_deleted_near(StDeletedNear *near, StCatalog *cat, const StGroup *group, uint64 row,
				Snapshot snapshot, MemoryContext mcxt)
{
	uint32		off = (uint32) (row - group->first_row);
	uint32		window = off / WINDOW_ROWS;

	if (near->known == ST_NEAR_UNKNOWN)
		begin(near, cat, group, snapshot, mcxt);
	if (near->known != ST_NEAR_SOME)
		return near->known == ST_NEAR_ALL;
	if (near->windows[window] == WINDOW_UNKNOWN)
	{
		near->windows[window] = WINDOW_PROBED;
		return st_deletion_seen(cat, row, snapshot, st_group_mown(group));
	}
	if (near->windows[window] == WINDOW_PROBED)
		load_windows(near, cat, group, window, snapshot, mcxt);
	return near->bitmap != NULL &&
		(near->bitmap[off >> 6] & (UINT64CONST(1) << (off & 63))) != 0;
}

void
st_deleted_near_free(StDeletedNear *near)
{
	if (near->windows != NULL)
		pfree(near->windows);
	if (near->bitmap != NULL)
		pfree(near->bitmap);
	memset(near, 0, sizeof(*near));
}
