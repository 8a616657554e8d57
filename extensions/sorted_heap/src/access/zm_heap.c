/*-------------------------------------------------------------------------
 *
 * zm_heap.c
 *	  Keys of tuples on heap pages.
 *
 * A zonemap knows pages, not rows, so it reads heap pages itself.  That works
 * for heap, and for access methods that store rows as heap does.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "zm_heap.h"
#include "zm_note.h"

/*
 * Whether a relation's rows are heap tuples on heap pages, fetched by heap's
 * own code.
 */
bool
zm_is_heap(Relation heap)
{
	const TableAmRoutine *standard = GetHeapamTableAmRoutine();
	const TableAmRoutine *routine = heap->rd_tableam;

	return routine != NULL &&
		routine->index_fetch_begin == standard->index_fetch_begin &&
		routine->index_fetch_tuple == standard->index_fetch_tuple &&
		routine->scan_getnextslot == standard->scan_getnextslot;
}

/* Offset of a column in tuples without nulls, or -1 if that varies. */
static int
fixed_offset(TupleDesc desc, AttrNumber attno)
{
	int			offset = 0;

	for (int i = 0; i < attno; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		offset = att_align_nominal(offset, att->attalign);
		if (i + 1 == attno)
			return offset;
		if (att->attlen <= 0)
			return -1;
		offset += att->attlen;
	}
	return -1;
}

void
zm_heap_key_init(ZmHeapKey *key, const ZmSpace *space, Relation heap)
{
	key->space = space;
	key->desc = RelationGetDescr(heap);
	key->attno = space->columns[0].heap_attno;
	key->offset = space->fast == ZM_FAST_NONE ? -1 :
		fixed_offset(key->desc, key->attno);
}

/*
 * Key of a tuple.  False if a value of it is stored out of line or compressed
 * (the key is valid all the same).
 */
bool
zm_heap_key(const ZmHeapKey *key, HeapTuple tuple, Datum *values, bool *nulls)
{
	bool		plain = true;

	for (int i = 0; i < key->space->ncolumns; i++)
	{
		AttrNumber	attno = key->space->columns[i].heap_attno;

		values[i] = heap_getattr(tuple, attno, key->desc, &nulls[i]);
		if (!nulls[i] && TupleDescAttr(key->desc, attno - 1)->attlen == -1 &&
			VARATT_IS_EXTENDED(DatumGetPointer(values[i])) &&
			!VARATT_IS_SHORT(DatumGetPointer(values[i])))
			plain = false;
	}
	return plain;
}

/* Whether a tuple's key is in a range; "yes" if it takes detoasting to know. */
static bool
is_in_range(const ZmHeapKey *key, HeapTuple tuple, const ZmTarget *from,
			const ZmTarget *end, bool with_end)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	int64		number;
	int			result;

	if (from->fast && (end == NULL || end->fast) &&
		zm_heap_fast(key, tuple->t_data, &number))
		return number >= from->number &&
			(end == NULL || number < end->number ||
			 (with_end && number == end->number));
	if (!zm_heap_key(key, tuple, values, nulls))
		return true;
	if (zm_compare_key(key->space, from, values, nulls) > 0)
		return false;
	if (end == NULL)
		return true;
	result = zm_compare_key(key->space, end, values, nulls);
	return result > 0 || (with_end && result == 0);
}

/*
 * Whether no tuple on a heap page has a key in a range: from the first target's
 * on, and before the second's, that one itself included if `with_end`; to the
 * end if it is NULL.  Dead tuples and tuples of running transactions count.
 *
 * The caller has the index page locked, so a tuple that comes to the page
 * later finds the index as the caller leaves it.
 */
bool
zm_heap_page_lacks(const ZmHeapKey *key, Relation heap, BlockNumber block,
				   const ZmTarget *from, const ZmTarget *end, bool with_end)
{
	Buffer		buf;
	Page		page;
	bool		lacks = true;

	if (!zm_block_exists(heap, block))
		return true;
	buf = ReadBuffer(heap, block);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buf);
	for (OffsetNumber off = FirstOffsetNumber;
		 lacks && off <= PageGetMaxOffsetNumber(page); off++)
	{
		ItemId		item = PageGetItemId(page, off);
		HeapTupleData tuple;

		if (!ItemIdIsNormal(item))
			continue;
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		lacks = !is_in_range(key, &tuple, from, end, with_end);
	}
	UnlockReleaseBuffer(buf);
	return lacks;
}

/*
 * The first line pointer of a page, at least, whose integer key is not before
 * `low`, where keys up to `last` are known to be in order; the one after that
 * if there is none.
 */
OffsetNumber
zm_heap_search(const ZmHeapKey *key, Page page, OffsetNumber last, int64 low)
{
	OffsetNumber first = FirstOffsetNumber;
	OffsetNumber end = last + 1;
	int64		number;

	while (first < end)
	{
		OffsetNumber middle = (first + end) / 2;
		OffsetNumber off = middle;
		ItemId		item = PageGetItemId(page, off);

		/* Line pointers without a key are where their right neighbour is. */
		while (!ItemIdIsNormal(item) && ++off < end)
			item = PageGetItemId(page, off);
		if (off >= end)
			end = middle;
		else if (zm_heap_fast(key, (HeapTupleHeader) PageGetItem(page, item),
							  &number) && number < low)
			first = off + 1;
		else
			end = middle;
	}
	return first;
}

/* Sign of (key of a tuple - target); 0 also if it takes detoasting to know. */
static int
compare_tuple(const ZmHeapKey *key, HeapTuple tuple, const ZmTarget *target)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

	if (!zm_heap_key(key, tuple, values, nulls))
		return 0;
	return -zm_compare_key(key->space, target, values, nulls);
}

/*
 * The next line pointer, from one on, that has the number, or whose tuple does
 * not store its key where expected; one after the last if there is none.
 */
static pg_attribute_always_inline OffsetNumber
find_number_as(const ZmHeapKey *key, ZmFast fast, Page page, OffsetNumber off,
			   OffsetNumber last, int64 number)
{
	for (; off <= last; off++)
	{
		ItemId		item = PageGetItemId(page, off);
		HeapTupleHeader tuple;

		if (!ItemIdIsNormal(item))
			continue;
		tuple = (HeapTupleHeader) PageGetItem(page, item);
		if ((tuple->t_infomask & HEAP_HASNULL) ||
			HeapTupleHeaderGetNatts(tuple) < key->attno ||
			zm_fast_fetch(fast, (char *) tuple + tuple->t_hoff +
						  key->offset) == number)
			break;
	}
	return off;
}

/* The same for all integer types, with a loop for each size. */
static OffsetNumber
find_number(const ZmHeapKey *key, Page page, OffsetNumber off,
			OffsetNumber last, int64 number)
{
	switch (key->space->fast)
	{
		case ZM_FAST_INT64:
			return find_number_as(key, ZM_FAST_INT64, page, off, last, number);
		case ZM_FAST_INT32:
			return find_number_as(key, ZM_FAST_INT32, page, off, last, number);
		default:
			return find_number_as(key, key->space->fast, page, off, last,
								  number);
	}
}

/*
 * What tuples of a locked page, from a line pointer on, have from the target's
 * key on; `greater` asks for more than that key's.  *sorted becomes the last line
 * pointer up to which integer keys are in order, if all are looked at.
 */
static ZmOthers
look_for_others(const ZmHeapKey *key, Page page, OffsetNumber off,
				const ZmTarget *target, OffsetNumber self, bool greater,
				OffsetNumber *sorted)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	ZmOthers	others = ZM_OTHERS_NONE;
	int64		before = PG_INT64_MIN;

	*sorted = last;
	for (; off <= last; off++)
	{
		ItemId		item;
		HeapTupleData tuple;
		int64		number;
		int			result;

		/* Out of order: only what has the key is of interest. */
		if (*sorted < off && !greater && target->fast && key->offset >= 0)
		{
			off = find_number(key, page, off, last, target->number);
			if (off > last)
				break;
		}
		item = PageGetItemId(page, off);
		if (!ItemIdIsNormal(item))
			continue;
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		if (target->fast && zm_heap_fast(key, tuple.t_data, &number))
		{
			if (number < before)
				*sorted = Min(*sorted, off - 1);
			before = number;
			if (number < target->number)
				continue;
			result = number > target->number;
		}
		else
		{
			*sorted = Min(*sorted, off - 1);
			result = compare_tuple(key, &tuple, target);
		}
		if (result == 0 && off != self)
			return ZM_OTHERS_EQUAL;
		if (greater && result > 0 && others == ZM_OTHERS_NONE &&
			!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple.t_data)))
			others = ZM_OTHERS_GREATER;
	}
	return others;
}

/*
 * What the heap page of a zone has from the target's key on, beside the row
 * `self`; `greater` asks for more than that key's.  Dead tuples and tuples of
 * running transactions count.  The caller has the zone's leaf locked, see
 * zm_heap_page_lacks(), exclusively: the zone gets a note if it lacks one that
 * would help; then *noted.
 */
ZmOthers
zm_heap_page_others(const ZmHeapKey *key, Relation heap, BlockNumber block,
					const ZmTarget *target, ItemPointer self, bool greater,
					IndexTuple zone, bool *noted)
{
	bool		has_note = target->fast && (ZmFlags(zone) & ZM_NOTE);
	uint64		note = has_note ? *ZmNote(zone) : 0;
	OffsetNumber own = ItemPointerGetBlockNumber(self) == block ?
		ItemPointerGetOffsetNumber(self) : InvalidOffsetNumber;
	OffsetNumber sorted;
	Buffer		buf;
	Page		page;
	ZmOthers	others;

	*noted = false;
	if (!zm_block_exists(heap, block))
		return ZM_OTHERS_NONE;
	buf = ReadBuffer(heap, block);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buf);
	if (note != 0 && note == zm_note_for(heap, page, block,
										 zm_note_sorted(note)))
		others = look_for_others(key, page,
								 zm_heap_search(key, page,
												zm_note_sorted(note),
												target->number),
								 target, own, greater, &sorted);
	else
	{
		others = look_for_others(key, page, FirstOffsetNumber, target, own,
								 greater, &sorted);
		/* Where rows are put one by one, a note does not last. */
		note = has_note && others != ZM_OTHERS_EQUAL &&
			own == InvalidOffsetNumber &&
			sorted >= PageGetMaxOffsetNumber(page) / 4 * 3 ?
			zm_note_for(heap, page, block, sorted) : 0;
		/* the LSN not before: another backend's hint bits may move it on */
		if (note != 0 && !XLogNeedsFlush(PageGetLSN(page)))
		{
			*ZmNote(zone) = note;
			*noted = true;
		}
	}
	UnlockReleaseBuffer(buf);
	return others;
}
