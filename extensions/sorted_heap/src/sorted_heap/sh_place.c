/*-------------------------------------------------------------------------
 *
 * sh_place.c
 *	  Where a row of a sorted_heap table goes.
 *
 * The zonemap tells the page whose zone covers the row's key; heap is told to
 * try that page first.  If it is full, heap looks for room as ever, but a row
 * that belongs to the end of the table begins a new page, so that rows that
 * come in order stay in order.
 *
 * Placement is a matter of speed only: the zonemap is right wherever a row
 * is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "catalog/index.h"
#include "executor/tuptable.h"
#include "storage/bufmgr.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "sh_tableam.h"
#include "st_callbacks.h"
#include "zm_heap.h"
#include "zm_insert.h"
#include "zm_tree.h"

/* The index that says where rows of a table go; invalid: none does. */
typedef struct PlaceEntry
{
	Oid			table;			/* hash key */
	Oid			index;
	BlockNumber tail;			/* where rows went whose pages were full */

	/*
	 * What is known of the last row's page, if its key is one integer.  It
	 * may be out of date: then the next row goes to a page that is not the
	 * best.
	 */
	BlockNumber block;
	int64		low;			/* keys from low to before high go there */
	int64		high;
	bool		end;
	Size		room;
} PlaceEntry;

static HTAB *places;

/* Forgets a table, or all, when something about it has changed. */
static void
forget(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	PlaceEntry *entry;

	if (OidIsValid(relid))
	{
		hash_search(places, &relid, HASH_REMOVE, NULL);
		return;
	}
	hash_seq_init(&status, places);
	while ((entry = hash_seq_search(&status)) != NULL)
		hash_search(places, &entry->table, HASH_REMOVE, NULL);
}

void
sh_place_init(void)
{
	HASHCTL		info = {.keysize = sizeof(Oid),.entrysize = sizeof(PlaceEntry)};

	places = hash_create("sorted_heap tables", 16, &info,
						 HASH_ELEM | HASH_BLOBS);
	st_callbacks_relcache(forget, (Datum) 0);
}

/* The first valid zonemap among the indexes of a table. */
static Oid
find_index(Relation heap)
{
	List	   *indexes = RelationGetIndexList(heap);
	Oid			found = InvalidOid;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_indam->aminsert == zm_insert &&
			index->rd_index->indisvalid)
			found = lfirst_oid(lc);
		index_close(index, AccessShareLock);
		if (OidIsValid(found))
			break;
	}
	list_free(indexes);
	return found;
}

/* The index whose key says where rows go, or InvalidOid. */
Oid
sh_place_index(Relation heap)
{
	Oid			table = RelationGetRelid(heap);
	PlaceEntry *entry = hash_search(places, &table, HASH_FIND, NULL);
	Oid			index;

	if (entry != NULL)
		return entry->index;

	/* Opening indexes may make the cache forget what it was just told. */
	index = find_index(heap);
	entry = hash_search(places, &table, HASH_ENTER, NULL);
	entry->index = index;
	entry->tail = InvalidBlockNumber;
	entry->block = InvalidBlockNumber;
	return index;
}

/* Key of a row: false if it would have to be fetched from the TOAST table. */
static bool
slot_key(const ZmSpace *space, TupleTableSlot *slot, Datum *values,
		 bool *nulls)
{
	for (int i = 0; i < space->ncolumns; i++)
	{
		values[i] = slot_getattr(slot, space->columns[i].heap_attno,
								 &nulls[i]);
		if (!nulls[i] && TupleDescAttr(space->desc, i)->attlen == -1 &&
			VARATT_IS_EXTERNAL(DatumGetPointer(values[i])))
			return false;
	}
	return true;
}

/*
 * The page whose zone covers a key, or InvalidBlockNumber; *end tells whether
 * it is the last zone.  Leaves a hint for the row's insertion in the index.
 */
static BlockNumber
find_page(const ZmSpace *space, const ZmTarget *target, bool *end,
		  PlaceEntry *entry)
{
	Buffer		buf = zm_descend(space, target, BUFFER_LOCK_SHARE);
	Page		page = BufferGetPage(buf);
	OffsetNumber position = zm_search(space, page, target);
	OffsetNumber zone = zm_zone_at(page, position);
	BlockNumber block = ZmBlock(ZmPageGetEntry(page, zone));

	zm_insert_hint(space->index, BufferGetBlockNumber(buf), position);
	*end = ZmPageIsRightmost(page);
	for (OffsetNumber off = zone + 1;
		 *end && off <= PageGetMaxOffsetNumber(page); off++)
		if (ZmIsZone(ZmPageGetEntry(page, off)))
			*end = false;
	entry->block = InvalidBlockNumber;
	if (target->fast && *end &&
		!IndexTupleHasNulls(ZmPageGetEntry(page, zone)))
	{
		/* Rows that come in order are worth a short cut. */
		entry->block = block;
		entry->low = target->number;
		entry->high = PG_INT64_MAX;
		entry->end = true;
		entry->room = 0;
	}
	UnlockReleaseBuffer(buf);
	return block;
}

/*
 * Whether a row fits on a page, fillfactor minded.  *known is room that is
 * known to be there, if not 0.
 */
static bool
has_room(Relation heap, BlockNumber block, TupleTableSlot *slot, Size *known)
{
	Size		needed;
	Size		room;
	Buffer		buf;

	slot_getallattrs(slot);
	needed = SizeofHeapTupleHeader +
		BITMAPLEN(slot->tts_tupleDescriptor->natts) +
		heap_compute_data_size(slot->tts_tupleDescriptor, slot->tts_values,
							   slot->tts_isnull);
	/* Larger rows will have values moved to the TOAST table. */
	needed = MAXALIGN(Min(needed, TOAST_TUPLE_TARGET)) +
		RelationGetTargetPageFreeSpace(heap, HEAP_DEFAULT_FILLFACTOR);
	room = *known;
	if (room < needed)
	{
		buf = ReadBuffer(heap, block);
		LockBuffer(buf, BUFFER_LOCK_SHARE);
		room = PageGetHeapFreeSpace(BufferGetPage(buf));
		UnlockReleaseBuffer(buf);
	}
	if (room < needed)
	{
		*known = 0;
		return false;
	}
	*known = room - Min(room, needed + sizeof(ItemIdData));
	return true;
}

/* Notes where a row went. */
void
sh_place_done(Relation heap, TupleTableSlot *slot, BlockNumber wanted)
{
	Oid			table = RelationGetRelid(heap);
	BlockNumber block = ItemPointerGetBlockNumber(&slot->tts_tid);
	PlaceEntry *entry;

	if (block == wanted)
		return;
	entry = hash_search(places, &table, HASH_FIND, NULL);
	if (entry != NULL)
		entry->tail = block;
}

/*
 * Tells heap to try the row's page first.  If that is full, the row goes where
 * the last such row went, or wherever heap finds room; but a row of the last
 * zone goes to the end of the table, since a page in the middle would be out
 * of order.  Returns the options for the insertion, and in *wanted the row's
 * page.
 */
StInsertOptions
sh_place_slot(Relation heap, Oid indexoid, TupleTableSlot *slot, StInsertOptions options,
			  BlockNumber *wanted)
{
	Relation	index = index_open(indexoid, RowExclusiveLock);
	Oid			table = RelationGetRelid(heap);
	PlaceEntry	none = {.tail = InvalidBlockNumber};
	PlaceEntry *entry = hash_search(places, &table, HASH_FIND, NULL);
	ZmSpace		space;
	ZmTarget	target;
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	BlockNumber block;
	bool		end = false;

	if (entry == NULL)
		entry = &none;
	*wanted = InvalidBlockNumber;
	zm_space_init(&space, index);
	if (slot_key(&space, slot, values, nulls))
	{
		Size		unknown = 0;

		zm_target_from_values(&space, &target, values, nulls, ZM_TIE_AFTER,
							  NULL);
		if (target.fast && entry->block != InvalidBlockNumber &&
			target.number >= entry->low && target.number < entry->high &&
			zm_block_exists(heap, entry->block) &&
			has_room(heap, entry->block, slot, &entry->room))
		{
			*wanted = entry->block;
			end = entry->end;
		}
		else
		{
			block = find_page(&space, &target, &end, entry);
			if (block != InvalidBlockNumber && zm_block_exists(heap, block) &&
				has_room(heap, block, slot, entry->block == block ?
						 &entry->room : &unknown))
				*wanted = block;
			if (*wanted == InvalidBlockNumber)
				zm_insert_hint_adds();
		}
	}
	block = *wanted;
	if (block == InvalidBlockNumber && entry->tail != InvalidBlockNumber &&
		zm_block_exists(heap, entry->tail))
		block = entry->tail;
	RelationSetTargetBlock(heap, block);
	if (end)
		options |= HEAP_INSERT_SKIP_FSM;
	index_close(index, NoLock);
	return options;
}

typedef struct SortRow
{
	TupleTableSlot *slot;
	Datum	   *values;
	bool	   *nulls;
} SortRow;

static int
compare_rows(const void *a, const void *b, void *arg)
{
	const SortRow *left = a;
	const SortRow *right = b;

	return zm_compare_values(arg, left->values, left->nulls, right->values,
							 right->nulls);
}

/* Sorts the rows of a batch by the key. */
void
sh_place_sort(Relation heap, Oid indexoid, TupleTableSlot **slots, int nslots)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "sorted_heap batch",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Relation	index = index_open(indexoid, RowExclusiveLock);
	SortRow    *rows = palloc(nslots * sizeof(SortRow));
	ZmSpace		space;
	bool		sorted = true;

	zm_space_init(&space, index);
	for (int i = 0; i < nslots; i++)
	{
		rows[i].slot = slots[i];
		rows[i].values = palloc(space.ncolumns * sizeof(Datum));
		rows[i].nulls = palloc(space.ncolumns * sizeof(bool));
		for (int j = 0; j < space.ncolumns; j++)
			rows[i].values[j] = slot_getattr(slots[i],
											 space.columns[j].heap_attno,
											 &rows[i].nulls[j]);
		if (i > 0 && sorted)
			sorted = compare_rows(&rows[i - 1], &rows[i], &space) <= 0;
	}
	if (!sorted)
		qsort_arg(rows, nslots, sizeof(SortRow), compare_rows, &space);
	for (int i = 0; i < nslots; i++)
		slots[i] = rows[i].slot;
	index_close(index, NoLock);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
