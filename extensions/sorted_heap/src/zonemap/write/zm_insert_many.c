/*-------------------------------------------------------------------------
 *
 * zm_insert_many.c
 *	  Many rows in key order in a zonemap, for compaction.
 *
 * A copy of a leaf is changed for all rows that belong there, and logged once.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "st_wal.h"
#include "zm_insert.h"
#include "zm_insert_int.h"

/* What holds for the rows after one, as long as they belong to its group. */
typedef struct Repeat
{
	bool		valid;
	ZmVerdict	verdict;
	BlockNumber block;			/* their heap page */
	IndexTuple	bound;			/* where the group ends; NULL: nowhere */
} Repeat;

/*
 * Whether a row needs what the one before it, `before`, needed; if so, sets
 * position.
 */
static bool
is_repeated(ZmInsertState *state, const Repeat *repeat, Page page,
			IndexTuple before, ItemPointer tid)
{
	const ZmSpace *space = &state->space;
	OffsetNumber next = state->position + 1;

	if (!repeat->valid || repeat->block != ItemPointerGetBlockNumber(tid) ||
		ItemPointerGetOffsetNumber(tid) == FirstOffsetNumber ||
		zm_compare(space, &state->target, before) < 0 ||
		(repeat->bound != NULL &&
		 zm_compare_entry_key(space, &state->target, repeat->bound) >= 0))
		return false;
	if (repeat->verdict != ZM_COVERED &&
		(next > PageGetMaxOffsetNumber(page) ||
		 zm_compare(space, &state->target, ZmPageGetEntry(page, next)) >= 0))
		state->position = zm_search(space, page, &state->target);
	return true;
}

/*
 * Notes what holds for rows after this one.  Not where its key is that of its
 * zone, and not in holes: there a zone may begin at any row.
 */
static void
note_repeat(ZmInsertState *state, Repeat *repeat, Page page, ZmVerdict verdict,
			ItemPointer tid)
{
	OffsetNumber zone = zm_zone_at(page, state->position);
	IndexTuple	itup = ZmPageGetEntry(page, zone);

	repeat->valid = false;
	repeat->verdict = verdict;
	repeat->block = ItemPointerGetBlockNumber(tid);
	if (zm_is_hole(itup) ||
		(verdict == ZM_COVERED && ZmBlock(itup) != repeat->block) ||
		(verdict != ZM_COVERED && verdict != ZM_ADD_EXACT) ||
		zm_compare_entry_key(&state->space, &state->target, itup) <= 0)
		return;
	repeat->bound = zm_bound_at(page, zm_zone_after(page, zone));
	repeat->valid = true;
}

/*
 * Changes the copy of a leaf for as many of the rows as possible; returns how
 * many.  *missing tells bytes that the next one lacks, 0 if it is not for lack
 * of room that it has to be looked at by itself.
 */
static int
change_leaf(ZmInsertState *state, Relation heap, ZmLeafEdit *edit,
			IndexTuple *entries, int n, Size *missing)
{
	const ZmSpace *space = &state->space;
	Page		page = edit->page;
	Repeat		repeat = {false};
	int			i;

	*missing = 0;
	for (i = 0; i < n; i++)
	{
		ItemPointer tid = &entries[i]->t_tid;
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];
		ZmVerdict	verdict;
		bool		repeated;

		zm_target_from_entry(space, &state->target, entries[i]);
		if (!zm_page_holds(space, page, &state->target))
			break;
		repeated = i > 0 && is_repeated(state, &repeat, page, entries[i - 1],
										tid);
		verdict = repeated ? repeat.verdict :
			zm_judge(state, heap, page, tid, false, true);
		if (verdict == ZM_LOOK_LEFT)
			break;
		if (verdict == ZM_ADD_EXACT)
		{
			*missing = MAXALIGN(IndexTupleSize(entries[i]));
			if (PageGetFreeSpace(page) < *missing)
				break;
			zm_put_entry(edit, entries[i], ++state->position);
			*missing = 0;
		}
		else if (verdict != ZM_COVERED)
		{
			index_deform_tuple(entries[i], space->desc, values, nulls);
			*missing = zm_add_entry(state, edit, &verdict, values, nulls, tid);
			if (*missing > 0)
				break;
			/* The next row finds itself covered, and asks anew. */
			repeat.valid = false;
			continue;
		}
		if (!repeated)
			note_repeat(state, &repeat, page, verdict, tid);
	}
	return i;
}

/* Whether a hole of a leaf could become longer: see fill_hole(). */
static bool
may_move(Page page)
{
	for (OffsetNumber off = ZmPageFirst(page);
		 off <= PageGetMaxOffsetNumber(page); off++)
	{
		IndexTuple	itup = ZmPageGetEntry(page, off);

		if (ZmIsZone(itup) && zm_is_hole(itup))
			return true;
	}
	return false;
}

/*
 * Makes rows findable whose exact entries are given, best in key order.  Rows
 * of a unique index have been checked where they come from.
 */
void
zm_insert_many(Relation index, Relation heap, IndexInfo *info,
			   IndexTuple *entries, int n)
{
	ZmInsertState *state = n > 0 ? zm_insert_state(index, heap, info) : NULL;
	MemoryContext old = n > 0 ? MemoryContextSwitchTo(state->context) : NULL;
	BlockNumber leaf = InvalidBlockNumber;
	int			i = 0;

	while (i < n)
	{
		ZmLeafEdit	edit = {.index = index,.copy = true};
		ZmChange   *change;
		Size		missing;
		int			done;

		CHECK_FOR_INTERRUPTS();
		st_wal_keep_up();
		MemoryContextReset(state->context);
		zm_target_from_entry(&state->space, &state->target, entries[i]);
		edit.buf = zm_descend_near(&state->space, &state->target,
								   BUFFER_LOCK_EXCLUSIVE, &leaf);
		change = zm_change_begin(index);
		edit.page = may_move(BufferGetPage(edit.buf)) ?
			zm_change_moving(change, edit.buf) :
			zm_change_page(change, edit.buf);
		done = change_leaf(state, heap, &edit, entries + i, n - i, &missing);
		zm_change_end(change, edit.changed);
		UnlockReleaseBuffer(edit.buf);
		i += done;
		if (missing > 0)
		{
			ZmIncoming	incoming = {entries + i, n - i};

			zm_target_from_entry(&state->space, &state->target, entries[i]);
			zm_split(&state->space, &state->target, missing, &incoming);
		}
		else if (done == 0)
		{
			Datum		values[INDEX_MAX_KEYS];
			bool		nulls[INDEX_MAX_KEYS];

			index_deform_tuple(entries[i], state->space.desc, values, nulls);
			zm_publish(state, heap, values, nulls, &entries[i]->t_tid, false,
					   false);
			i++;
		}
	}
	if (n > 0)
	{
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->context);
	}
}
