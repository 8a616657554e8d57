/*-------------------------------------------------------------------------
 *
 * zm_insert.c
 *	  A new row in a zonemap.
 *
 * Most rows are covered by their page's zone already and change nothing.  A
 * row that is the first of its heap page may start a zone; any other row gets
 * an exact entry.  src/README tells why each is safe (I11).
 *
 * In a unique index a covered row gets a mark besides: see zm_unique.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "zm_access.h"
#include "zm_heap.h"
#include "zm_tree.h"
#include "zm_unique.h"

/* What a row needs of the leaf where its position is. */
typedef enum Verdict
{
	COVERED,					/* nothing */
	LOOK_LEFT,					/* a zone may reach over from the left */
	START_ZONE,
	START_CLOSED,				/* a zone, and a hole where its group ends */
	ADD_EXACT,
} Verdict;

/* Memory of the inserts of one statement. */
typedef struct InsertState
{
	ZmSpace		space;
	ZmHeapKey	heap_key;
	MemoryContext context;
	ZmTarget	target;
	ZmUnique   *unique;			/* NULL: not unique */
	OffsetNumber position;		/* in the leaf: the last entry not after the
								 * target */
	OffsetNumber last;			/* for START_CLOSED: the group's last entry */
} InsertState;

/*
 * Where this backend's last row went, or its next one will, if that is in the
 * same index.  Only a matter of speed.
 */
static Oid	hint_index = InvalidOid;
static BlockNumber hint_leaf = InvalidBlockNumber;
static bool hint_adds;			/* the row will need an entry */

/* Tells in which leaf the next row of an index will be. */
void
zm_insert_hint(Relation index, BlockNumber leaf, bool adds)
{
	hint_index = RelationGetRelid(index);
	hint_leaf = leaf;
	hint_adds = adds;
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

/*
 * Whether a zone may begin at the key in the group of a zone.  Not where what
 * comes after the group may have its last key too: there a leaf may end, or may
 * have ended when a scan copied it, and an exact entry of that key would count
 * twice, or not at all.
 */
static bool
may_start_zone(const ZmSpace *space, Page page, OffsetNumber zone,
			   const ZmTarget *target)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	if (zm_compare_entry_key(space, target, ZmPageGetEntry(page, zone)) == 0)
		return false;
	while (++zone <= last)
		if (ZmIsZone(ZmPageGetEntry(page, zone)))
			return zm_is_clean(ZmPageGetEntry(page, zone));
	return ZmPageIsRightmost(page) ||
		zm_is_clean(ZmPageGetEntry(page, ZM_HIGH_KEY));
}

/*
 * Where no zone may begin, it may in a hole if another hole begins after the
 * group's last entry, *last, and that is before what comes after the group.
 */
static bool
may_start_closed(const ZmSpace *space, Page page, OffsetNumber zone,
				 const ZmTarget *target, OffsetNumber *last)
{
	IndexTuple	next;
	ZmTarget	end;

	if (ZmBlock(ZmPageGetEntry(page, zone)) != InvalidBlockNumber ||
		zm_compare_entry_key(space, target, ZmPageGetEntry(page, zone)) == 0)
		return false;
	*last = zone;
	while (*last < PageGetMaxOffsetNumber(page) &&
		   !ZmIsZone(ZmPageGetEntry(page, *last + 1)))
		(*last)++;
	if (*last == zone ||
		zm_compare_entry_key(space, target, ZmPageGetEntry(page, *last)) >= 0)
		return false;
	next = ZmPageGetEntry(page, *last < PageGetMaxOffsetNumber(page) ?
						  *last + 1 : ZM_HIGH_KEY);
	zm_target_from_entry(space, &end, ZmPageGetEntry(page, *last));
	return zm_compare_entry_key(space, &end, next) < 0;
}

static Verdict
judge(InsertState *state, Relation heap, Page page, ItemPointer tid,
	  bool looked_left, bool exclusive)
{
	const ZmSpace *space = &state->space;
	const ZmTarget *target = &state->target;
	OffsetNumber first = ZmPageFirst(page);
	OffsetNumber zone;
	IndexTuple	itup;

	state->position = zm_search(space, page, target);
	zone = zm_zone_at(page, state->position);
	if (zm_block_covers_at(space, page, target,
						   ItemPointerGetBlockNumber(tid), zone))
		return COVERED;
	itup = ZmPageGetEntry(page, zone);
	if (!looked_left && zm_zone_at(page, first) == first &&
		!(ZmFlags(ZmPageGetEntry(page, first)) & (ZM_FENCED | ZM_NO_KEY)) &&
		zm_compare_entry_key(space, target, ZmPageGetEntry(page, first)) == 0)
		return LOOK_LEFT;
	if (!may_start_zone(space, page, zone, target))
		return may_start_closed(space, page, zone, target, &state->last) ?
			START_CLOSED : ADD_EXACT;
	if (ZmBlock(itup) == InvalidBlockNumber)
		return START_ZONE;
	if (ItemPointerGetOffsetNumber(tid) != FirstOffsetNumber)
		return ADD_EXACT;
	/* Reading the heap page would be in vain without the lock. */
	if (!exclusive)
		return START_ZONE;
	return zm_heap_page_below(&state->heap_key, heap, ZmBlock(itup), target) ?
		START_ZONE : ADD_EXACT;
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

/*
 * Adds the entry that the verdict asks for to a locked leaf.  Returns the
 * bytes that are missing, 0 if it was added.
 */
static Size
add_entry(InsertState *state, Buffer buf, Verdict verdict, Datum *values,
		  bool *nulls, ItemPointer tid)
{
	Relation	index = state->space.index;
	Page		page = BufferGetPage(buf);
	OffsetNumber after = state->position;
	IndexTuple	itup;
	Size		missing;

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
		/* It is in a hole, so it changes nothing by itself. */
		if (PageGetFreeSpace(page) >= missing)
			zm_add_logged(index, buf, hole, state->last + 1);
		else
			return missing;
	}
	else if (PageGetFreeSpace(page) < missing)
		return missing;
	zm_add_logged(index, buf, itup, after + 1);
	return 0;
}

/*
 * Makes the row findable: afterwards its key is covered, or in an entry; if
 * `mark`, in an entry at any rate, though that may be a mark.
 */
static void
publish(InsertState *state, Relation heap, Datum *values, bool *nulls,
		ItemPointer tid, bool mark)
{
	int			lockmode;
	bool		looked_left = false;
	bool		left_covers = false;

	if (hint_index != RelationGetRelid(state->space.index))
		zm_insert_hint(state->space.index, InvalidBlockNumber, false);
	lockmode = mark || hint_adds ? BUFFER_LOCK_EXCLUSIVE : BUFFER_LOCK_SHARE;
	zm_target_from_values(&state->space, &state->target, values, nulls,
						  ZM_TIE_TID, tid);
	for (;;)
	{
		Buffer		buf = zm_descend_near(&state->space, &state->target,
										  lockmode, &hint_leaf);
		Verdict		verdict = judge(state, heap, BufferGetPage(buf), tid,
									looked_left,
									lockmode == BUFFER_LOCK_EXCLUSIVE);
		Size		missing = 0;
		bool		done = false;

		if (left_covers)
			verdict = COVERED;
		if (verdict == COVERED && !mark)
			done = true;
		else if (verdict != LOOK_LEFT && lockmode == BUFFER_LOCK_EXCLUSIVE)
		{
			missing = add_entry(state, buf, verdict, values, nulls, tid);
			done = missing == 0 &&
				((verdict != START_ZONE && verdict != START_CLOSED) || !mark);
		}
		UnlockReleaseBuffer(buf);
		if (done)
		{
			hint_adds = verdict != COVERED;
			return;
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
				zm_split(&state->space, &state->target, missing);
		}
		else
			lockmode = BUFFER_LOCK_EXCLUSIVE;
		CHECK_FOR_INTERRUPTS();
	}
}

bool
zm_insert(Relation index, Datum *values, bool *nulls, ItemPointer tid,
		  Relation heap, IndexUniqueCheck check, bool unchanged,
		  IndexInfo *info)
{
	InsertState *state = get_state(index, heap, info);
	MemoryContext old = MemoryContextSwitchTo(state->context);
	Datum		flat[INDEX_MAX_KEYS];
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
		publish(state, heap, values, nulls, tid, false);
	else
	{
		/* Released early only in order to wait, and by an error. */
		unique = zm_unique_check(state->unique, heap, values, nulls, tid,
								 check);
		if (check != UNIQUE_CHECK_EXISTING)
			publish(state, heap, values, nulls, tid,
					heap->rd_createSubid == InvalidSubTransactionId);
		zm_unique_unlock(state->unique);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->context);
	return unique;
}
