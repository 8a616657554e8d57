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
#include "utils/rel.h"

#include "zm_heap.h"

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
		/* a pointer out of line passes for a short value, too */
		if (!nulls[i] && TupleDescAttr(key->desc, attno - 1)->attlen == -1 &&
			(VARATT_IS_EXTERNAL(DatumGetPointer(values[i])) ||
			 VARATT_IS_COMPRESSED(DatumGetPointer(values[i]))))
			plain = false;
	}
	return plain;
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

/* Whether a tuple's key is in a range; "yes" if it takes detoasting to know. */
static bool
is_in_range(const ZmHeapKey *key, HeapTuple tuple, const ZmTarget *from,
			const ZmTarget *end, bool with_end)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	int			result;

	if (!zm_heap_key(key, tuple, values, nulls))
		return true;
	result = zm_compare_key(key->space, from, values, nulls);
	if (result > 0)
		return false;
	if (end == NULL)
		return true;
	if (end != from)
		result = zm_compare_key(key->space, end, values, nulls);
	return result > 0 || (with_end && result == 0);
}

/*
 * The next line pointer, from one on, whose number is in a range, or whose tuple
 * does not store its key where expected; one after the last if there is none.
 */
static pg_attribute_always_inline OffsetNumber
find_number_as(const ZmHeapKey *key, ZmFast fast, Page page, OffsetNumber off,
			   OffsetNumber last, int64 low, int64 high)
{
	for (; off <= last; off++)
	{
		ItemId		item = PageGetItemId(page, off);
		HeapTupleHeader tuple;
		int64		number;

		if (!ItemIdIsNormal(item))
			continue;
		tuple = (HeapTupleHeader) PageGetItem(page, item);
		if ((tuple->t_infomask & HEAP_HASNULL) ||
			HeapTupleHeaderGetNatts(tuple) < key->attno)
			break;
		number = zm_fast_fetch(fast, (char *) tuple + tuple->t_hoff +
							   key->offset);
		if (number >= low && number <= high)
			break;
	}
	return off;
}

/* The same for all integer types, with a loop for each size. */
static OffsetNumber
find_number(const ZmHeapKey *key, Page page, OffsetNumber off,
			OffsetNumber last, int64 low, int64 high)
{
	switch (key->space->fast)
	{
		case ZM_FAST_INT64:
			return find_number_as(key, ZM_FAST_INT64, page, off, last, low,
								  high);
		case ZM_FAST_INT32:
			return find_number_as(key, ZM_FAST_INT32, page, off, last, low,
								  high);
		default:
			return find_number_as(key, key->space->fast, page, off, last, low,
								  high);
	}
}

/*
 * Whether no tuple on a heap page, the row `self` aside if there is one, has a key
 * in a range: from the first target's on, and before the second's, that one itself
 * included if `with_end`; to the end if it is NULL.  Dead tuples and tuples of
 * running transactions count, and so do those whose key takes detoasting to know.
 * Every tuple is looked at: uniqueness depends on nothing that was noted before.
 *
 * The caller has the index page locked, so a tuple that comes to the page
 * later finds the index as the caller leaves it.
 */
bool
zm_heap_page_lacks(const ZmHeapKey *key, Relation heap, BlockNumber block,
				   const ZmTarget *from, const ZmTarget *end, bool with_end,
				   const ItemPointerData *self)
{
	OffsetNumber own = self != NULL &&
		ItemPointerGetBlockNumber(self) == block ?
		ItemPointerGetOffsetNumber(self) : InvalidOffsetNumber;
	bool		fast = from->fast && (end == NULL || end->fast) &&
		key->offset >= 0;
	OffsetNumber last;
	Buffer		buf;
	Page		page;
	bool		lacks = true;

	if (!zm_block_exists(heap, block))
		return true;
	buf = ReadBuffer(heap, block);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buf);
	last = PageGetMaxOffsetNumber(page);
	for (OffsetNumber off = FirstOffsetNumber; lacks && off <= last; off++)
	{
		ItemId		item;
		HeapTupleData tuple;

		/* the range's last number too, whatever `with_end`: it is compared below */
		if (fast)
			off = find_number(key, page, off, last, from->number,
							  end != NULL ? end->number : PG_INT64_MAX);
		if (off > last)
			break;
		item = PageGetItemId(page, off);
		if (off == own || !ItemIdIsNormal(item))
			continue;
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		lacks = !is_in_range(key, &tuple, from, end, with_end);
	}
	UnlockReleaseBuffer(buf);
	return lacks;
}
