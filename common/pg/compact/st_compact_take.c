/*-------------------------------------------------------------------------
 *
 * st_compact_take.c
 *	  Compaction: the moment in which rows change their places.
 *
 * A step copies rows, makes their index entries, and only then deletes the
 * descriptors of their groups and their tuples in the delta.  A writer goes on
 * at the old place until then, and waits for what is left of the transaction,
 * which is milliseconds.  What writers have done to the old place since it was
 * read is done to the copy here: it gets a tombstone.
 *
 * For that moment nobody may hold a lock on a group: it comes once those who do
 * have ended.  A step tries for a while, and if that is in vain it is undone.
 * Whether it would be it looks before it begins, and once more before it makes
 * index entries.
 *
 * Readers see either place, as the step's transaction has committed or not.
 * What a copy means for unique checks is told in st_fetch.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_bitutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "st_compact_int.h"
#include "st_wal.h"
#include "st_yield.h"

/*
 * For how long the groups of a step are tried to be had, and how often.  Who
 * wants to write to those that are had already waits as long.
 */
#define TAKE_MS		200
#define TAKE_NAP_US	500

bool		st_take_last = true;

bool
st_take_group(StCatalog *catalog, const StGroupVersion *v)
{
	ItemPointerData tid = v->tid;

	if (!st_catalog_delete(catalog, &tid))
		return false;
	st_retired_add(catalog, &v->group);
	return true;
}

bool
st_groups_are_free(StCatalog *catalog, const StGroupVersion *groups, int n,
				   int *held)
{
	TimestampTz start = GetCurrentTimestamp();

	for (int i = 0; i < n; i++)
	{
		*held = i;
		while (st_tuple_is_held(catalog->toast, &groups[i].tid))
		{
			CHECK_FOR_INTERRUPTS();
			if (TimestampDifferenceExceeds(start, GetCurrentTimestamp(), TAKE_MS))
				return false;
			pg_usleep(TAKE_NAP_US);
		}
	}
	return true;
}

static bool
take_in_time(StCatalog *catalog, const StGroupVersion *v, TimestampTz start)
{
	while (!st_take_group(catalog, v))
	{
		CHECK_FOR_INTERRUPTS();
		if (TimestampDifferenceExceeds(start, GetCurrentTimestamp(), TAKE_MS))
			return false;
		pg_usleep(TAKE_NAP_US);
	}
	return true;
}

/* The copy of a row that somebody has deleted or updated meanwhile. */
static void
bury_copy(StCompactSink *sink, uint64 row)
{
	StTombstonePayload payload;
	ItemPointerData tid;

	sink->buried = true;
	st_tid_from_row(&tid, row);
	st_tombstone_encode(&tid, &payload);
	st_catalog_insert(sink->catalog, ST_TOMBSTONE, row, &payload,
					  sizeof(payload), GetCurrentCommandId(true), 0, NULL);
}

/* Where is the copy of a row of a group? */
static uint64
copy_of(const StCompactSink *sink, uint64 row)
{
	StMoved		key = {.old = row};
	StMoved    *found = bsearch(&key, sink->moved + sink->ndelta,
								sink->nmoved - sink->ndelta,
								sizeof(StMoved), st_compare_rows);

	if (found == NULL)
		elog(ERROR, "row " UINT64_FORMAT " of relation \"%s\" was not copied",
			 row, RelationGetRelationName(sink->rel));
	return found->row;
}

/* Nobody can change the group's tombstones any more. */
static void
bury_copies(StCompactSink *sink, const StGroup *group, const uint64 *before)
{
	uint32		words = (group->nrows + 63) / 64;
	uint64	   *now = st_deleted_rows_in(sink->catalog, group, SnapshotSelf,
										 CurrentMemoryContext, NULL, NULL);

	for (uint32 w = 0; now != NULL && w < words; w++)
	{
		uint64		since = now[w] & ~(before == NULL ? 0 : before[w]);

		while (since != 0)
		{
			uint32		row = w * 64 + pg_rightmost_one_pos64(since);

			bury_copy(sink, copy_of(sink, group->first_row + row));
			since &= since - 1;
		}
	}
	if (now != NULL)
		pfree(now);
}

bool
st_take_groups(StCompactSink *sink, const StGroupVersion *groups, int n,
			   uint64 *const *deleted, int *held)
{
	TimestampTz start = GetCurrentTimestamp();

	for (int i = 0; i < n; i++)
	{
		*held = i;
		if (!take_in_time(sink->catalog, &groups[i], start))
			return false;
	}
	for (int i = 0; i < n; i++)
		bury_copies(sink, &groups[i].group, deleted[i]);
	return true;
}

void
st_take_delta(StCompactSink *sink)
{
	for (uint64 i = 0; i < sink->ndelta; i++)
	{
		ItemPointerData tid;

		CHECK_FOR_INTERRUPTS();
		st_yield();
		ItemPointerSet(&tid, sink->moved[i].old >> 16, sink->moved[i].old & 0xffff);
		if (st_delete_quietly(sink->rel, &tid))
			continue;
		bury_copy(sink, sink->moved[i].row);
		pgstat_count_heap_insert(sink->rel, -1);
	}
}
