/*-------------------------------------------------------------------------
 *
 * zm_insert.c
 *	  A new row in a zonemap.
 *
 * Most rows are covered by their page's zone already and change nothing.  A
 * row that is the first of its heap page may start a zone; any other row gets
 * an exact entry.  src/README tells why each is safe (I11).
 *
 * In a unique index a covered row gets a mark besides: see zm_unique.c.  Most
 * rows have a key that nothing in the leaf or on the page of its zone has: that
 * is seen, and the row published, with the leaf locked exclusively once.
 *
 * Compaction brings many rows in key order: see zm_insert_many.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "zm_insert.h"
#include "zm_insert_int.h"

/*
 * Where this backend's last row went, or its next one will, if that is in the
 * same index.  Only a matter of speed.
 */
static Oid	hint_index = InvalidOid;
static BlockNumber hint_leaf = InvalidBlockNumber;
static bool hint_adds;			/* the row will need an entry */

/*
 * Tells in which leaf the next row of an index will be, after which entry.  Both
 * are tried before they are searched for.
 */
void
zm_insert_hint(Relation index, BlockNumber leaf, OffsetNumber position)
{
	hint_index = RelationGetRelid(index);
	hint_leaf = leaf;
	hint_adds = false;
	zm_note_seen(position);
}

/* The row of which the last hint told will need an entry. */
void
zm_insert_hint_adds(void)
{
	hint_adds = true;
}

ZmInsertState *
zm_insert_state(Relation index, Relation heap, IndexInfo *info)
{
	ZmInsertState *state = info->ii_AmCache;

	if (state == NULL)
	{
		state = MemoryContextAlloc(info->ii_Context, sizeof(ZmInsertState));
		zm_space_init(&state->space, index);
		zm_heap_key_init(&state->heap_key, &state->space, heap);
		state->context = AllocSetContextCreate(info->ii_Context,
											   "zonemap insert",
											   ALLOCSET_DEFAULT_SIZES);
		state->unique = index->rd_index->indisunique ?
			zm_unique_begin(&state->space, info->ii_Context) : NULL;
		info->ii_AmCache = state;
	}
	return state;
}

void
zm_put_entry(ZmLeafEdit *edit, IndexTuple itup, OffsetNumber off)
{
	if (edit->copy)
		zm_page_add(edit->page, itup, off);
	else
		zm_log_add(edit->index, edit->buf, itup, off);
	edit->changed = true;
}

/* Makes the hole at off a zone of a heap page.  Returns bytes that are missing. */
static Size
fill_hole(const ZmSpace *space, ZmLeafEdit *edit, OffsetNumber off,
		  BlockNumber block)
{
	IndexTuple	zone = zm_fill_hole(space, ZmPageGetEntry(edit->page, off),
									block);

	if (PageGetExactFreeSpace(edit->page) < MAXALIGN(IndexTupleSize(zone)))
		return IndexTupleSize(zone);
	if (edit->copy)
		zm_page_replace(edit->page, off, zone);
	else
		zm_log_replace(edit->index, edit->buf, off, zone);
	edit->changed = true;
	return 0;
}

/*
 * Adds the entry that the verdict asks for.  Returns the bytes that are
 * missing, 0 if it was added.  A leaf may have no room for two that are large
 * however it is split: then the verdict becomes ZM_ADD_EXACT.
 */
Size
zm_add_entry(ZmInsertState *state, ZmLeafEdit *edit, ZmVerdict *need,
			 Datum *values, bool *nulls, ItemPointer tid)
{
	ZmVerdict	verdict = *need;
	Relation	index = edit->index;
	Page		page = edit->page;
	OffsetNumber after = state->position;
	IndexTuple	itup;
	Size		missing;

	if (verdict == ZM_FILL_HOLE)
		return fill_hole(&state->space, edit, after,
						 ItemPointerGetBlockNumber(tid));
	itup = zm_form_exact(index, values, nulls, tid);
	if (verdict == ZM_START_ZONE || verdict == ZM_START_CLOSED)
	{
		ZmTarget	position = state->target;

		itup = zm_begin_zone(&state->space, itup,
							 ItemPointerGetBlockNumber(tid));
		position.tie = ZM_TIE_BEFORE;
		after = zm_search(&state->space, page, &position);
	}
	else if (verdict == ZM_COVERED)
	{
		ZmTarget	position = state->target;

		/* The row is alone with its key, so its mark belongs beside it. */
		itup->t_tid.ip_posid |= ZM_MARK;
		position.tid = itup->t_tid;
		after = zm_search(&state->space, page, &position);
	}
	missing = MAXALIGN(IndexTupleSize(itup));
	if (verdict == ZM_START_CLOSED)
	{
		IndexTuple	hole = zm_close_zone(ZmPageGetEntry(page, state->last));

		missing += MAXALIGN(IndexTupleSize(hole)) + sizeof(ItemIdData);
		if (missing > ZM_MAX_ENTRY)
		{
			*need = ZM_ADD_EXACT;
			return zm_add_entry(state, edit, need, values, nulls, tid);
		}
		/* It is in a hole, so it changes nothing by itself. */
		if (PageGetFreeSpace(page) >= missing)
			zm_put_entry(edit, hole, state->last + 1);
		else
			return missing;
	}
	else if (PageGetFreeSpace(page) < missing)
		return missing;
	zm_put_entry(edit, itup, after + 1);
	return 0;
}

/*
 * Adds the mark of a row that is covered.  Where entries with one key fill more than a leaf,
 * it belongs to a leaf further right than the row, whose position is before it.
 */
static void
add_mark(ZmInsertState *state, Relation heap, Datum *values, bool *nulls,
		 ItemPointer tid)
{
	const ZmSpace *space = &state->space;
	IndexTuple	mark = zm_form_exact(space->index, values, nulls, tid);
	Size		size = MAXALIGN(IndexTupleSize(mark));
	ZmTarget	position = state->target;

	mark->t_tid.ip_posid |= ZM_MARK;
	position.tid = mark->t_tid;
	for (;;)
	{
		Buffer		buf = zm_descend(space, &position, BUFFER_LOCK_EXCLUSIVE);
		Page		page = BufferGetPage(buf);
		bool		fits = PageGetFreeSpace(page) >= size;

		if (fits)
			zm_log_add(space->index, buf, mark,
					   zm_search(space, page, &position) + 1);
		UnlockReleaseBuffer(buf);
		if (fits)
			return;
		if (!zm_unique_purge(space, heap, &position))
			zm_split(space, &position, size, NULL);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Makes the row findable: afterwards its key is covered, or in an entry; if
 * `mark`, in an entry at any rate, though that may be a mark.
 *
 * If `alone`, only if it is certain that no other row has the key; otherwise
 * returns false, and the row is not published yet.
 */
bool
zm_publish(ZmInsertState *state, Relation heap, Datum *values, bool *nulls,
		   ItemPointer tid, bool mark, bool alone)
{
	int			lockmode;
	bool		looked_left = false;
	bool		left_covers = false;

	if (hint_index != RelationGetRelid(state->space.index))
		zm_insert_hint(state->space.index, InvalidBlockNumber,
					   InvalidOffsetNumber);
	lockmode = mark || alone || hint_adds ? BUFFER_LOCK_EXCLUSIVE :
		BUFFER_LOCK_SHARE;
	zm_target_from_values(&state->space, &state->target, values, nulls,
						  ZM_TIE_TID, tid);
	for (;;)
	{
		Buffer		buf = zm_descend_near(&state->space, &state->target,
										  lockmode, &hint_leaf);
		Page		page = BufferGetPage(buf);
		ZmVerdict	verdict = zm_judge(state, heap, page, tid, looked_left,
									   lockmode == BUFFER_LOCK_EXCLUSIVE);
		Size		missing = 0;
		bool		done = false;

		if (alone && (verdict == ZM_LOOK_LEFT ||
					  !zm_is_alone(state, heap, page, tid)))
		{
			UnlockReleaseBuffer(buf);
			return false;
		}
		if (left_covers)
			verdict = ZM_COVERED;
		if (verdict == ZM_COVERED && !(mark && alone))
		{
			UnlockReleaseBuffer(buf);
			/* The row's tuple is there, so nothing takes the coverage away. */
			if (mark)
				add_mark(state, heap, values, nulls, tid);
			hint_adds = false;
			return true;
		}
		if (verdict != ZM_LOOK_LEFT && lockmode == BUFFER_LOCK_EXCLUSIVE)
		{
			ZmLeafEdit	edit = {state->space.index, buf, page};

			missing = zm_add_entry(state, &edit, &verdict, values, nulls, tid);
			/* A mark comes beside what covers the row now. */
			done = missing == 0 &&
				(verdict == ZM_ADD_EXACT || verdict == ZM_COVERED || !mark);
		}
		UnlockReleaseBuffer(buf);
		if (done)
		{
			hint_adds = verdict != ZM_COVERED;
			return true;
		}
		if (verdict == ZM_LOOK_LEFT)
		{
			left_covers = zm_left_covers(&state->space, &state->target,
										 ItemPointerGetBlockNumber(tid));
			looked_left = true;
		}
		else if (missing > 0)
		{
			if (state->unique == NULL ||
				!zm_unique_purge(&state->space, heap, &state->target))
				zm_split(&state->space, &state->target, missing, NULL);
		}
		else
			lockmode = BUFFER_LOCK_EXCLUSIVE;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Inserts a row of a unique index that may not be alone with its key.  It is
 * published before the check, and not any more while it waits for others.
 * Returns false if a deferred check has to follow.
 */
static bool
insert_checked(ZmInsertState *state, Relation heap, Datum *values, bool *nulls,
			   ItemPointer tid, IndexUniqueCheck check, bool mark)
{
	bool		unique;

	do
	{
		zm_unique_lock(state->unique, values, nulls);
		if (check != UNIQUE_CHECK_EXISTING)
			zm_publish(state, heap, values, nulls, tid, mark, false);
	} while (!zm_unique_check(state->unique, heap, values, nulls, tid, check,
							  &unique));
	return unique;
}

bool
zm_insert(Relation index, Datum *values, bool *nulls, ItemPointer tid,
		  Relation heap, IndexUniqueCheck check, bool unchanged,
		  IndexInfo *info)
{
	ZmInsertState *state = zm_insert_state(index, heap, info);
	MemoryContext old = MemoryContextSwitchTo(state->context);
	Datum		flat[INDEX_MAX_KEYS];
	bool		mark = heap->rd_createSubid == InvalidSubTransactionId;
	bool		unique = true;

	if (state->space.toastable)
	{
		/* Fetch what is stored out of line before pages are locked. */
		IndexTuple	itup = zm_form_exact(index, values, nulls, tid);

		for (int i = 0; i < state->space.ncolumns; i++)
			flat[i] = index_getattr(itup, i + 1, state->space.desc,
									&nulls[i]);
		values = flat;
	}
	if (check == UNIQUE_CHECK_NO || state->unique == NULL ||
		!zm_unique_applies(state->unique, nulls))
		zm_publish(state, heap, values, nulls, tid, false, false);
	else if (check == UNIQUE_CHECK_EXISTING ||
			 !zm_publish(state, heap, values, nulls, tid, mark, true))
		unique = insert_checked(state, heap, values, nulls, tid, check, mark);
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->context);
	return unique;
}
