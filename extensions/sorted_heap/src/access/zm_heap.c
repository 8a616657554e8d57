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
#include "utils/snapmgr.h"

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
