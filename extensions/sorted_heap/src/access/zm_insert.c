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
 * Compaction brings many rows in key order: zm_insert_many() changes a copy of
 * a leaf for all that belong there, and logs that once.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/genam.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "st_compat.h"
#include "st_wal.h"
#include "zm_access.h"
#include "zm_heap.h"
#include "zm_tree.h"
#include "zm_unique.h"

/* What a row needs of the leaf where its position is. */
typedef enum Verdict
{
	COVERED,					/* nothing */
	LOOK_LEFT,					/* a zone may reach over from the left */
	FILL_HOLE,					/* the hole that begins there becomes a zone */
	START_ZONE,
	START_CLOSED,				/* a zone, and a hole where its group ends */
	ADD_EXACT,
} Verdict;

/*
 * A leaf that is being changed, locked exclusively: by itself, each change
 * logged, or in a copy that the caller logs.
 */
typedef struct LeafEdit
{
	Relation	index;
	Buffer		buf;
	Page		page;
	bool		copy;
	bool		changed;
} LeafEdit;

/* Memory of the inserts of one statement. */
typedef struct InsertState
{
	ZmSpace		space;
	ZmHeapKey	heap_key;
	MemoryContext context;
	ZmTarget	target;
	ZmUnique   *unique;			/* NULL: not unique */
	OffsetNumber position;		/* in the leaf: the last entry not after the
								 * target; for FILL_HOLE the hole */
	OffsetNumber zone;			/* of the position's group */
	OffsetNumber next;			/* the zone after it, or after all entries;
								 * see group_end() */
	bool		greatest;		/* no row has a key after the target's */
	OffsetNumber last;			/* for START_CLOSED: the group's last entry */
} InsertState;

/*
 * Where this backend's last row went, or its next one will, if that is in the
 * same index.  Only a matter of speed.
 */
static Oid	hint_index = InvalidOid;
static BlockNumber hint_leaf = InvalidBlockNumber;
static bool hint_adds;			/* the row will need an entry */

/* A leaf as this backend saw it, which it is as long as it has the LSN. */
typedef struct KnownLeaf
{
	RelFileLocator index;
	BlockNumber block;
	XLogRecPtr	lsn;			/* invalid: nothing is known */
} KnownLeaf;

/*
 * Where a row of hint_index will be in its leaf, and the zone of the group, if
 * its position is that.
 */
static struct
{
	KnownLeaf	leaf;
	OffsetNumber position;
	OffsetNumber zone;
}			seen;

/*
 * The end of a unique index as this backend left it: no published row has a key
 * after that of the last entry.  That holds as long as the leaf has the LSN,
 * because whoever publishes a row adds an entry; or its key has a null, and
 * is in nobody's way, or it was findable before, and was moved.
 */
static struct
{
	KnownLeaf	leaf;
	OffsetNumber zone;			/* the last one */
}			tail;

/* Notes a leaf and its LSN; invalid: it is not known. */
static void
know_leaf(KnownLeaf *known, Relation index, BlockNumber block, XLogRecPtr lsn)
{
	known->index = st_relation_locator(index);
	known->block = block;
	known->lsn = lsn;
}

/*
 * Tells in which leaf the next row of an index will be, after which entry, of
 * which zone's group, as long as the leaf has an LSN; invalid: not known.
 */
void
zm_insert_hint(Relation index, BlockNumber leaf, XLogRecPtr lsn,
			   OffsetNumber position, OffsetNumber zone)
{
	hint_index = RelationGetRelid(index);
	hint_leaf = leaf;
	hint_adds = false;
	know_leaf(&seen.leaf, index, leaf, lsn);
	seen.position = position;
	seen.zone = zone;
}

/* The row of which the last hint told will need an entry. */
void
zm_insert_hint_adds(void)
{
	hint_adds = true;
}

static InsertState *
get_state(Relation index, Relation heap, IndexInfo *info)
{
	InsertState *state = info->ii_AmCache;

	if (state == NULL)
	{
		state = MemoryContextAlloc(info->ii_Context, sizeof(InsertState));
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

/* Whether a leaf is as it was when it was noted. */
static bool
is_known(const KnownLeaf *known, const InsertState *state, Buffer buf)
{
	return RelFileLocatorEquals(known->index,
								st_relation_locator(state->space.index)) &&
		known->block == BufferGetBlockNumber(buf) &&
		!XLogRecPtrIsInvalid(known->lsn) &&
		known->lsn == PageGetLSN(BufferGetPage(buf));
}

/* The zone after the position's group, or one more than there are entries. */
static OffsetNumber
group_end(InsertState *state, Page page)
{
	if (state->next == InvalidOffsetNumber)
		state->next = zm_zone_after(page, state->position);
	return state->next;
}

/*
 * Whether what comes after the position's group keeps a zone that reaches to it
 * from having the group's last key as well.  Where it does not, a leaf may end,
 * or may have ended when a scan copied it, and an exact entry of that key would
 * count twice, or not at all.
 */
static bool
ends_clean(InsertState *state, Page page)
{
	OffsetNumber next = group_end(state, page);

	if (next <= PageGetMaxOffsetNumber(page))
		return zm_is_clean(ZmPageGetEntry(page, next));
	return ZmPageIsRightmost(page) ||
		zm_is_clean(ZmPageGetEntry(page, ZM_HIGH_KEY));
}

/*
 * Whether the zone at off is a hole that may become a zone for the row: one of
 * its key, or right after it.  Its range touches nothing on the left if it is
 * fenced.
 */
static bool
may_fill(InsertState *state, Page page, OffsetNumber off)
{
	IndexTuple	itup = ZmPageGetEntry(page, off);

	return ZmBlock(itup) == InvalidBlockNumber &&
		(ZmFlags(itup) & ZM_FENCED) &&
		(state->position == off ||
		 zm_compare_entry_key(&state->space, &state->target, itup) == 0) &&
		ends_clean(state, page);
}

/*
 * Where no zone may begin, it may in a hole if another hole begins after the
 * group's last entry, state->last, and that is before what comes after the
 * group.
 */
static bool
may_start_closed(InsertState *state, Page page)
{
	const ZmSpace *space = &state->space;
	const ZmTarget *target = &state->target;
	OffsetNumber zone = state->zone;
	OffsetNumber last = group_end(state, page) - 1;
	IndexTuple	next;
	ZmTarget	end;

	if (ZmBlock(ZmPageGetEntry(page, zone)) != InvalidBlockNumber ||
		zm_compare_entry_key(space, target, ZmPageGetEntry(page, zone)) == 0)
		return false;
	state->last = last;
	if (last == zone ||
		zm_compare_entry_key(space, target, ZmPageGetEntry(page, last)) >= 0)
		return false;
	next = ZmPageGetEntry(page, last < PageGetMaxOffsetNumber(page) ?
						  last + 1 : ZM_HIGH_KEY);
	zm_target_from_entry(space, &end, ZmPageGetEntry(page, last));
	return zm_compare_entry_key(space, &end, next) < 0;
}

/* Whether the target's position is at an entry, if there is such a one. */
static bool
is_at(const InsertState *state, Page page, OffsetNumber off)
{
	OffsetNumber max = PageGetMaxOffsetNumber(page);

	return off >= ZmPageFirst(page) && off <= max &&
		zm_compare(&state->space, &state->target,
				   ZmPageGetEntry(page, off)) >= 0 &&
		(off == max || zm_compare(&state->space, &state->target,
								  ZmPageGetEntry(page, off + 1)) < 0);
}

/* Finds the target's position in a leaf, and its group. */
static void
locate(InsertState *state, Buffer buf, Page page)
{
	OffsetNumber max = PageGetMaxOffsetNumber(page);

	state->position = is_at(state, page, seen.position) ? seen.position :
		zm_search(&state->space, page, &state->target);
	state->next = state->position == max ? max + 1 : InvalidOffsetNumber;
	if (BufferIsValid(buf) && state->position == max &&
		is_known(&tail.leaf, state, buf))
		state->zone = tail.zone;
	else if (BufferIsValid(buf) && state->position == seen.position &&
			 is_known(&seen.leaf, state, buf))
		state->zone = seen.zone;
	else
		state->zone = zm_zone_at(page, state->position);
}

/* What a row needs of a leaf.  buf is invalid if the page is a copy. */
static Verdict
judge(InsertState *state, Relation heap, Buffer buf, Page page,
	  ItemPointer tid, bool looked_left, bool exclusive)
{
	const ZmSpace *space = &state->space;
	const ZmTarget *target = &state->target;
	OffsetNumber first = ZmPageFirst(page);
	OffsetNumber zone;
	IndexTuple	itup;
	bool		touches;

	locate(state, buf, page);
	zone = state->zone;
	itup = ZmPageGetEntry(page, zone);
	touches = !(ZmFlags(itup) & ZM_FENCED) &&
		zm_compare_entry_key(space, target, itup) == 0;
	if ((touches || ZmBlock(itup) == ItemPointerGetBlockNumber(tid)) &&
		zm_block_covers_at(space, page, target, ItemPointerGetBlockNumber(tid),
						   zone, group_end(state, page)))
		return COVERED;
	if (may_fill(state, page, zone))
	{
		state->position = zone;
		return FILL_HOLE;
	}
	if (!looked_left && zm_zone_at(page, first) == first &&
		!(ZmFlags(ZmPageGetEntry(page, first)) & (ZM_FENCED | ZM_NO_KEY)) &&
		zm_compare_entry_key(space, target, ZmPageGetEntry(page, first)) == 0)
		return LOOK_LEFT;
	if (ZmBlock(itup) != InvalidBlockNumber &&
		ItemPointerGetOffsetNumber(tid) != FirstOffsetNumber)
		return ADD_EXACT;
	if (zm_compare_entry_key(space, target, itup) == 0 ||
		!ends_clean(state, page))
		return may_start_closed(state, page) ? START_CLOSED : ADD_EXACT;
	if (ZmBlock(itup) == InvalidBlockNumber)
		return START_ZONE;
	/* Reading the heap page would be in vain without the lock. */
	if (!exclusive)
		return START_ZONE;
	return zm_heap_page_lacks(&state->heap_key, heap, ZmBlock(itup), target,
							  NULL, false) ? START_ZONE : ADD_EXACT;
}

/* Whether the key is covered in the leaf where its first position is. */
static bool
covered_on_the_left(InsertState *state, ItemPointer tid)
{
	Buffer		buf;
	bool		covered;

	state->target.tie = ZM_TIE_BEFORE;
	buf = zm_descend(&state->space, &state->target, BUFFER_LOCK_SHARE);
	covered = zm_block_covers(&state->space, BufferGetPage(buf),
							  &state->target, ItemPointerGetBlockNumber(tid));
	UnlockReleaseBuffer(buf);
	state->target.tie = ZM_TIE_TID;
	return covered;
}

static void
put_entry(LeafEdit *edit, IndexTuple itup, OffsetNumber off)
{
	if (edit->copy)
		zm_page_add(edit->page, itup, off);
	else
		zm_add_logged(edit->index, edit->buf, itup, off);
	edit->changed = true;
}

/* Makes the hole at off a zone of a heap page, with room for a note if `note`. */
static Size
fill_hole(LeafEdit *edit, OffsetNumber off, BlockNumber block, bool note)
{
	IndexTuple	zone = zm_copy_as(ZmPageGetEntry(edit->page, off), block);
	GenericXLogState *state = NULL;
	Page		page = edit->page;
	bool		done;

	if (note)
		zone = zm_add_note(zone);
	if (PageGetExactFreeSpace(page) < MAXALIGN(IndexTupleSize(zone)))
		return IndexTupleSize(zone);
	if (!edit->copy)
	{
		state = GenericXLogStart(edit->index);
		page = zm_register_moving(state, edit->buf);
	}
	done = PageIndexTupleOverwrite(page, off, (Item) zone,
								   IndexTupleSize(zone));
	if (!done)
		elog(ERROR, "failed to replace an entry of a zonemap page");
	if (!edit->copy)
		GenericXLogFinish(state);
	edit->changed = true;
	return 0;
}

/* Whether a hole of a leaf could become longer: see fill_hole(). */
static bool
may_move(Page page)
{
	for (OffsetNumber off = ZmPageFirst(page);
		 off <= PageGetMaxOffsetNumber(page); off++)
	{
		IndexTuple	itup = ZmPageGetEntry(page, off);

		if (ZmIsZone(itup) && ZmBlock(itup) == InvalidBlockNumber)
			return true;
	}
	return false;
}

/*
 * Adds the entry that the verdict asks for.  Returns the bytes that are
 * missing, 0 if it was added.  A leaf may have no room for two that are large
 * however it is split: then the verdict becomes ADD_EXACT.
 */
static Size
add_entry(InsertState *state, LeafEdit *edit, Verdict *need, Datum *values,
		  bool *nulls, ItemPointer tid)
{
	Verdict		verdict = *need;
	Relation	index = edit->index;
	Page		page = edit->page;
	OffsetNumber after = state->position;
	IndexTuple	itup;
	Size		missing;

	if (verdict == FILL_HOLE)
		return fill_hole(edit, after, ItemPointerGetBlockNumber(tid),
						 state->space.fast != ZM_FAST_NONE);
	if (verdict == START_ZONE || verdict == START_CLOSED)
	{
		ZmTarget	position = state->target;

		itup = zm_form_zone(index, values, nulls,
							ItemPointerGetBlockNumber(tid), ZM_FENCED, NULL);
		if (state->space.fast != ZM_FAST_NONE)
			itup = zm_add_note(itup);
		position.tie = ZM_TIE_BEFORE;
		after = zm_search(&state->space, page, &position);
	}
	else
	{
		itup = zm_form_exact(index, values, nulls, tid);
		if (verdict == COVERED)
		{
			ZmTarget	position = state->target;

			itup->t_tid.ip_posid |= ZM_MARK;
			position.tid = itup->t_tid;
			after = zm_search(&state->space, page, &position);
		}
	}
	missing = MAXALIGN(IndexTupleSize(itup));
	if (verdict == START_CLOSED)
	{
		IndexTuple	hole = zm_form_close(ZmPageGetEntry(page, state->last));

		missing += MAXALIGN(IndexTupleSize(hole)) + sizeof(ItemIdData);
		if (missing > ZM_MAX_ENTRY)
		{
			*need = ADD_EXACT;
			return add_entry(state, edit, need, values, nulls, tid);
		}
		/* It is in a hole, so it changes nothing by itself. */
		if (PageGetFreeSpace(page) >= missing)
			put_entry(edit, hole, state->last + 1);
		else
			return missing;
	}
	else if (PageGetFreeSpace(page) < missing)
		return missing;
	put_entry(edit, itup, after + 1);
	return 0;
}

/* Whether an entry, or high key, has the target's key. */
static bool
has_key(const InsertState *state, IndexTuple itup)
{
	return zm_compare_entry_key(&state->space, &state->target, itup) == 0;
}

/*
 * Whether it is certain that no other row has the target's key, as far as rows
 * are published.  All entries with it would be in this leaf, which is locked
 * exclusively, beside each other, and one zone, that of the position, covers it.
 * Sets state->greatest if it is certain as well that none has a greater key.
 */
static bool
is_alone(InsertState *state, Relation heap, Buffer buf, ItemPointer tid)
{
	Page		page = BufferGetPage(buf);
	OffsetNumber max = PageGetMaxOffsetNumber(page);
	bool		end = ZmPageIsRightmost(page) && state->position == max;
	IndexTuple	at = ZmPageGetEntry(page, state->position);
	IndexTuple	zone = ZmPageGetEntry(page, state->zone);
	ZmOthers	others = ZM_OTHERS_NONE;
	bool		noted = false;

	state->greatest = false;
	/* A fenced zone: nothing before it has the key. */
	if (has_key(state, at))
	{
		if (!ZmIsZone(at) || !(ZmFlags(at) & ZM_FENCED))
			return false;
	}
	else if (state->position == max &&
			 is_known(&tail.leaf, state, buf))
	{
		state->greatest = true;
		return true;
	}
	if (!end && has_key(state, ZmPageGetEntry(page, state->position < max ?
											  state->position + 1 :
											  ZM_HIGH_KEY)))
		return false;
	if (ZmBlock(zone) != InvalidBlockNumber)
		others = zm_heap_page_others(&state->heap_key, heap, ZmBlock(zone),
									 &state->target, tid, end, zone, &noted);
	if (noted)
		MarkBufferDirtyHint(buf, true);
	/*
	 * Rows of this transaction that come later in the page have entries if
	 * they are published, unless the index was made after them.
	 */
	state->greatest = end && others == ZM_OTHERS_NONE &&
		!st_has_new_storage(state->space.index);
	return others != ZM_OTHERS_EQUAL;
}

/* Notes how a leaf to which an entry was added is left. */
static void
note_tail(const InsertState *state, Buffer buf)
{
	Relation	index = state->space.index;
	Page		page = BufferGetPage(buf);

	know_leaf(&tail.leaf, index, BufferGetBlockNumber(buf),
			  state->greatest && RelationNeedsWAL(index) ?
			  PageGetLSN(page) : InvalidXLogRecPtr);
	tail.zone = state->zone;
}

/*
 * Makes the row findable: afterwards its key is covered, or in an entry; if
 * `mark`, in an entry at any rate, though that may be a mark.
 *
 * If `alone`, only if it is certain that no other row has the key; otherwise
 * returns false, and the row is not published yet.
 */
static bool
publish(InsertState *state, Relation heap, Datum *values, bool *nulls,
		ItemPointer tid, bool mark, bool alone)
{
	int			lockmode;
	bool		looked_left = false;
	bool		left_covers = false;

	if (hint_index != RelationGetRelid(state->space.index))
		zm_insert_hint(state->space.index, InvalidBlockNumber,
					   InvalidXLogRecPtr, InvalidOffsetNumber,
					   InvalidOffsetNumber);
	lockmode = mark || alone || hint_adds ? BUFFER_LOCK_EXCLUSIVE :
		BUFFER_LOCK_SHARE;
	zm_target_from_values(&state->space, &state->target, values, nulls,
						  ZM_TIE_TID, tid);
	for (;;)
	{
		Buffer		buf = zm_descend_near(&state->space, &state->target,
										  lockmode, &hint_leaf);
		Verdict		verdict = judge(state, heap, buf, BufferGetPage(buf), tid,
									looked_left,
									lockmode == BUFFER_LOCK_EXCLUSIVE);
		Size		missing = 0;
		bool		done = false;

		if (alone && (verdict == LOOK_LEFT ||
					  !is_alone(state, heap, buf, tid)))
		{
			UnlockReleaseBuffer(buf);
			return false;
		}
		if (left_covers)
			verdict = COVERED;
		if (verdict == COVERED && !mark)
			done = true;
		else if (verdict != LOOK_LEFT && lockmode == BUFFER_LOCK_EXCLUSIVE)
		{
			LeafEdit	edit = {state->space.index, buf, BufferGetPage(buf)};

			missing = add_entry(state, &edit, &verdict, values, nulls, tid);
			/* A mark comes beside what covers the row now. */
			done = missing == 0 &&
				(verdict == ADD_EXACT || verdict == COVERED || !mark);
			if (done && alone && mark)
				note_tail(state, buf);
		}
		UnlockReleaseBuffer(buf);
		if (done)
		{
			hint_adds = verdict != COVERED;
			return true;
		}
		if (verdict == LOOK_LEFT)
		{
			left_covers = covered_on_the_left(state, tid);
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
insert_checked(InsertState *state, Relation heap, Datum *values, bool *nulls,
			   ItemPointer tid, IndexUniqueCheck check, bool mark)
{
	bool		unique;

	do
	{
		zm_unique_lock(state->unique, values, nulls);
		if (check != UNIQUE_CHECK_EXISTING)
			publish(state, heap, values, nulls, tid, mark, false);
	} while (!zm_unique_check(state->unique, heap, values, nulls, tid, check,
							  &unique));
	return unique;
}

bool
zm_insert(Relation index, Datum *values, bool *nulls, ItemPointer tid,
		  Relation heap, IndexUniqueCheck check, bool unchanged,
		  IndexInfo *info)
{
	InsertState *state = get_state(index, heap, info);
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
		publish(state, heap, values, nulls, tid, false, false);
	else if (check == UNIQUE_CHECK_EXISTING ||
			 !publish(state, heap, values, nulls, tid, mark, true))
		unique = insert_checked(state, heap, values, nulls, tid, check, mark);
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->context);
	return unique;
}

/* ---- many rows in key order ---- */

/* What holds for the rows after one, as long as they belong to its group. */
typedef struct Repeat
{
	bool		valid;
	Verdict		verdict;
	BlockNumber block;			/* their heap page */
	IndexTuple	bound;			/* where the group ends; NULL: nowhere */
} Repeat;

/*
 * Whether a row needs what the one before it, `before`, needed; if so, sets
 * position.
 */
static bool
is_repeated(InsertState *state, const Repeat *repeat, Page page,
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
	if (repeat->verdict != COVERED &&
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
note_repeat(InsertState *state, Repeat *repeat, Page page, Verdict verdict,
			ItemPointer tid)
{
	OffsetNumber zone = zm_zone_at(page, state->position);
	IndexTuple	itup = ZmPageGetEntry(page, zone);

	repeat->valid = false;
	repeat->verdict = verdict;
	repeat->block = ItemPointerGetBlockNumber(tid);
	if (ZmBlock(itup) == InvalidBlockNumber ||
		(verdict == COVERED && ZmBlock(itup) != repeat->block) ||
		(verdict != COVERED && verdict != ADD_EXACT) ||
		zm_compare_entry_key(&state->space, &state->target, itup) <= 0)
		return;
	repeat->bound = ZmPageIsRightmost(page) ? NULL :
		ZmPageGetEntry(page, ZM_HIGH_KEY);
	while (++zone <= PageGetMaxOffsetNumber(page))
		if (ZmIsZone(ZmPageGetEntry(page, zone)))
		{
			repeat->bound = ZmPageGetEntry(page, zone);
			break;
		}
	repeat->valid = true;
}

/* Whether the target's position is in the leaf. */
static bool
belongs(const ZmSpace *space, Page page, const ZmTarget *target)
{
	return zm_compare(space, target,
					  ZmPageGetEntry(page, ZmPageFirst(page))) >= 0 &&
		(ZmPageIsRightmost(page) ||
		 zm_compare(space, target, ZmPageGetEntry(page, ZM_HIGH_KEY)) < 0);
}

/*
 * Changes the copy of a leaf for as many of the rows as possible; returns how
 * many.  *missing tells bytes that the next one lacks, 0 if it is not for lack
 * of room that it has to be looked at by itself.
 */
static int
change_leaf(InsertState *state, Relation heap, LeafEdit *edit,
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
		Verdict		verdict;
		bool		repeated;

		zm_target_from_entry(space, &state->target, entries[i]);
		if (!belongs(space, page, &state->target))
			break;
		repeated = i > 0 && is_repeated(state, &repeat, page, entries[i - 1],
										tid);
		verdict = repeated ? repeat.verdict :
			judge(state, heap, InvalidBuffer, page, tid, false, true);
		if (verdict == LOOK_LEFT)
			break;
		if (verdict == ADD_EXACT)
		{
			*missing = MAXALIGN(IndexTupleSize(entries[i]));
			if (PageGetFreeSpace(page) < *missing)
				break;
			put_entry(edit, entries[i], ++state->position);
			*missing = 0;
		}
		else if (verdict != COVERED)
		{
			index_deform_tuple(entries[i], space->desc, values, nulls);
			*missing = add_entry(state, edit, &verdict, values, nulls, tid);
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

/*
 * Makes rows findable whose exact entries are given, best in key order.  Rows
 * of a unique index have been checked where they come from.
 */
void
zm_insert_many(Relation index, Relation heap, IndexInfo *info,
			   IndexTuple *entries, int n)
{
	InsertState *state = n > 0 ? get_state(index, heap, info) : NULL;
	MemoryContext old = n > 0 ? MemoryContextSwitchTo(state->context) : NULL;
	BlockNumber leaf = InvalidBlockNumber;
	int			i = 0;

	while (i < n)
	{
		LeafEdit	edit = {.index = index,.copy = true};
		GenericXLogState *xlog;
		Size		missing;
		int			done;

		CHECK_FOR_INTERRUPTS();
		st_wal_keep_up();
		MemoryContextReset(state->context);
		zm_target_from_entry(&state->space, &state->target, entries[i]);
		edit.buf = zm_descend_near(&state->space, &state->target,
								   BUFFER_LOCK_EXCLUSIVE, &leaf);
		xlog = GenericXLogStart(index);
		edit.page = may_move(BufferGetPage(edit.buf)) ?
			zm_register_moving(xlog, edit.buf) :
			GenericXLogRegisterBuffer(xlog, edit.buf, 0);
		done = change_leaf(state, heap, &edit, entries + i, n - i, &missing);
		if (edit.changed)
			GenericXLogFinish(xlog);
		else
			GenericXLogAbort(xlog);
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
			publish(state, heap, values, nulls, &entries[i]->t_tid, false,
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
