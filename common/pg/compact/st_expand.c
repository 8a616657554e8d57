/*-------------------------------------------------------------------------
 *
 * st_expand.c
 *	  The other direction of compaction: rows of row groups go back to the
 *	  delta, for release().
 *
 * To everybody else a step is an UPDATE of some rows that changes nothing: the
 * new version is a tuple of the delta, the old row has a tombstone that
 * forwards there, and entries are made in all indexes.  So snapshots, writers
 * that come late, key locks and aborts need no thought of their own; a group
 * whose rows are all gone is VACUUM's, as any other.  Compaction's origin maps
 * would spare the tombstones, but lead to row groups only.
 *
 * A row that somebody is changing or has locked is left out; the caller comes
 * again.  The transaction is serializable, as that of a compaction is.
 *
 * Bounds: a step moves so many rows that who wants to change one of them waits for
 * some hundredths of a second, rests included.  It begins where the last one has
 * ended: it reads neither descriptors nor tombstones of what is behind it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "st_compact_int.h"
#include "st_modify.h"
#include "st_progress.h"
#include "st_wal.h"

#define STEP_ROWS	5000

/*
 * And so long, because rows that it has moved are locked while it rests (st_pace.c);
 * but so few rows are not worth a transaction.
 */
#define STEP_MS		50
#define LEAST_ROWS	32

/* And so many bytes of keys for GIN, in case rows have very many of them. */
#define STEP_KEY_BYTES	(4 * 1024 * 1024)

/* Descriptors of row groups are read so many at a time. */
#define GROUPS_AT_ONCE	16

typedef struct Expand
{
	Relation	rel;
	const StFormat *format;
	StCompactIndexes indexes;
	TupleTableSlot *slot;
	int64		moved;
	TimestampTz begun;			/* with the first row */
	StExpandPlace place;		/* row that comes next */
} Expand;

/* Has the step enough? */
static bool
is_full(const Expand *e)
{
	return e->moved >= STEP_ROWS ||
		(e->moved >= LEAST_ROWS &&
		 TimestampDifferenceExceeds(e->begun, GetCurrentTimestamp(), STEP_MS)) ||
		(e->indexes.n > 0 && st_index_collected(&e->indexes) >= STEP_KEY_BYTES);
}

/* Is the bit of the row set?  deleted may be NULL. */
static inline bool
is_deleted(const uint64 *deleted, uint32 row)
{
	return deleted != NULL &&
		(deleted[row >> 6] & (UINT64CONST(1) << (row & 63))) != 0;
}

/* Bits of those among the group's rows first..last that are deleted, or NULL. */
static uint64 *
deleted_rows(Relation rel, const StGroup *group, uint32 first, uint32 last,
			 MemoryContext mcxt)
{
	StCatalog	cat;
	uint64	   *deleted;

	if (!st_catalog_open(&cat, rel, AccessShareLock))
		return NULL;
	deleted = st_deleted_rows_among(&cat, group, first, last, SnapshotSelf, mcxt);
	st_catalog_close(&cat);
	return deleted;
}

/* Moves one row that the reader has put into the slot's arrays. */
static void
move_row(Expand *e, uint64 row)
{
	TupleDesc	desc = RelationGetDescr(e->rel);
	TM_FailureData tmfd;
	ItemPointerData tid;

	for (int i = 0; i < desc->natts; i++)
	{
		if (TupleDescAttr(desc, i)->attisdropped)
			e->slot->tts_isnull[i] = true;
	}
	ExecStoreVirtualTuple(e->slot);
	st_tid_from_row(&tid, row);
	if (st_move_to_delta(e->rel, &tid, e->slot, GetCurrentCommandId(true),
						 &tmfd) != TM_Ok)
		return;
	if (e->indexes.n > 0)
		st_index_row(&e->indexes, e->rel);
	e->moved++;
	if (e->moved % ST_PROGRESS_EVERY == 0)
		st_progress_set(ST_PROGRESS_TAKEN, e->moved);
}

/* Rows first..last of the group, until the step has enough. */
static void
expand_rows(Expand *e, const StGroup *group, StReader *reader, uint32 first, uint32 last,
			MemoryContext mcxt)
{
	MemoryContext row_mcxt = AllocSetContextCreate(mcxt, "row", ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = CurrentMemoryContext;
	uint64	   *deleted = deleted_rows(e->rel, group, first, last, mcxt);

	for (uint32 row = first; row <= last && !is_full(e); row++)
	{
		CHECK_FOR_INTERRUPTS();
		e->place.row = group->first_row + row + 1;
		if (is_deleted(deleted, row))
			continue;
		ExecClearTuple(e->slot);
		memset(e->slot->tts_isnull, true,
			   RelationGetNumberOfAttributes(e->rel) * sizeof(bool));
		e->format->reader_row(reader, row, NULL, e->slot->tts_values,
							  e->slot->tts_isnull);
		MemoryContextSwitchTo(row_mcxt);
		move_row(e, group->first_row + row);
		MemoryContextSwitchTo(oldcxt);
		MemoryContextReset(row_mcxt);
		st_wal_keep_up();
		st_pace_rest();
	}
	ExecClearTuple(e->slot);
	MemoryContextDelete(row_mcxt);
	if (deleted != NULL)
		pfree(deleted);
}

static void
expand_group(Expand *e, const StGroup *group)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "row group to be given up",
											   ALLOCSET_DEFAULT_SIZES);
	StReader   *reader = e->format->reader_open(e->rel, group, mcxt);
	uint32		first = Max(e->place.row, group->first_row) - group->first_row;

	e->place.group = group->first_row;
	if (e->moved == 0)
	{
		st_pace_rest();			/* for what has gone before */
		e->begun = GetCurrentTimestamp();
	}
	for (; first < group->nrows && !is_full(e); first += STEP_ROWS)
		expand_rows(e, group, reader, first, Min(first + STEP_ROWS, group->nrows) - 1,
					mcxt);
	e->format->reader_close(reader);
	MemoryContextDelete(mcxt);
}

/* Groups from the place on, some at a time, until the step has enough. */
static void
expand_groups(Expand *e)
{
	StGroupVersions *versions;

	do
	{
		versions = st_group_versions_from(e->rel, e->place.group, GROUPS_AT_ONCE,
										  RecentXmin, CurrentMemoryContext);
		for (int i = 0; i < versions->n && !is_full(e); i++)
		{
			const StGroupVersion *v = &versions->v[i];

			if (v->state == HEAPTUPLE_LIVE && v->finished)
				expand_group(e, &v->group);
			/* the next ones may be other versions of the last one's descriptor */
			if (!is_full(e))
				e->place.group = v->group.first_row +
					(i + 1 < versions->n || versions->v[0].group.first_row == v->group.first_row);
		}
	} while (versions->n == GROUPS_AT_ONCE && !is_full(e));
}

/* Index expressions are computed from our slot, not from that of a group. */
static TupleTableSlot *
use_slot(Expand *e, TupleTableSlot *slot)
{
	TupleTableSlot *before = e->indexes.slot;

	if (e->indexes.estate != NULL)
		GetPerTupleExprContext(e->indexes.estate)->ecxt_scantuple = slot;
	e->indexes.slot = slot;
	return before;
}

bool
st_expand_step(Relation rel, StCompactJob *job, StExpandPlace *place)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "expansion",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(mcxt);
	TupleTableSlot *before;
	Expand		e = {.rel = rel,.format = st_relation_format(rel),.place = *place};
	bool		more;

	Assert(CheckRelationLockedByMe(rel, ShareUpdateExclusiveLock, true));
	st_flush_pending(rel);
	e.slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsVirtual);
	st_indexes_open(&e.indexes, rel);
	before = use_slot(&e, e.slot);
	expand_groups(&e);
	more = e.moved > 0 || place->row > 0;
	*place = is_full(&e) ? e.place : (StExpandPlace) {0};
	st_pace_allow(false);
	st_index_finish(&e.indexes, rel);
	st_pace_allow(true);
	(void) use_slot(&e, before);
	st_indexes_close(&e.indexes);
	ExecDropSingleTupleTableSlot(e.slot);
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(mcxt);
	job->delta_rows += e.moved;
	st_progress_set_many(2, (const int[]) {ST_PROGRESS_DELTA_ROWS, ST_PROGRESS_TAKEN},
						 (const int64[]) {job->delta_rows, 0});
	return more;
}

int64
st_expand_rows(Relation rel)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "expansion",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext group_mcxt = AllocSetContextCreate(mcxt, "row group to be given up",
													 ALLOCSET_DEFAULT_SIZES);
	StGroupVersions *versions;
	int64		rows = 0;
	StCatalog	cat;

	st_flush_pending(rel);
	versions = st_group_versions(rel, RecentXmin, mcxt);
	if (st_catalog_open(&cat, rel, AccessShareLock))
	{
		for (int i = 0; i < versions->n; i++)
		{
			const StGroupVersion *v = &versions->v[i];
			uint32		ndeleted;

			CHECK_FOR_INTERRUPTS();
			if (v->state != HEAPTUPLE_LIVE || !v->finished)
				continue;
			(void) st_deleted_rows_in(&cat, &v->group, SnapshotSelf, group_mcxt, &ndeleted,
									  NULL);
			rows += v->group.nrows - ndeleted;
			MemoryContextReset(group_mcxt);
		}
		st_catalog_close(&cat);
	}
	MemoryContextDelete(mcxt);
	return rows;
}

/* Has any group a row that is not deleted, or may it still get one? */
bool
st_expand_left(Relation rel, StCompactJob *job)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "expansion",
											   ALLOCSET_DEFAULT_SIZES);
	StGroupVersions *versions;
	bool		left = false;

	st_flush_pending(rel);
	versions = st_group_versions_all(rel, RecentXmin, mcxt);
	for (int i = 0; i < versions->n && !left; i++)
	{
		const StGroupVersion *v = &versions->v[i];
		uint64	   *deleted;

		CHECK_FOR_INTERRUPTS();
		if (v->state == HEAPTUPLE_INSERT_IN_PROGRESS)
			left = true;
		/* one that VACUUM has begun to drop has no rows */
		if (v->state != HEAPTUPLE_LIVE || !v->finished || v->group.nrows == 0)
			continue;
		deleted = deleted_rows(rel, &v->group, 0, v->group.nrows - 1, mcxt);
		for (uint32 row = 0; row < v->group.nrows && !left; row++)
			left = !is_deleted(deleted, row);
	}
	MemoryContextDelete(mcxt);
	return left;
}
