/*-------------------------------------------------------------------------
 *
 * zm_verify.c
 *	  zonemap_verify(index): checks a zonemap against itself and its table.
 *	  zonemap_stats(index): what a zonemap consists of.
 *
 * The structure is checked with writes shut out (SHARE lock on the table), so
 * that pages can be compared with each other; then every row that a current
 * snapshot sees is looked up, and must be found exactly once: by a zone, or by
 * an exact entry; and no exact entry may lead to a row of another key.
 *
 * Statistics read pages one after the other, so that counts of an index that is
 * being written are of no one moment.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "st_compat.h"
#include "st_progress.h"
#include "zm_heap.h"
#include "zm_insert.h"
#include "zm_tree.h"

PG_FUNCTION_INFO_V1(zm_verify);
PG_FUNCTION_INFO_V1(zm_stats);

typedef struct Verifier
{
	ZmSpace		space;
	ReturnSetInfo *result;
	MemoryContext context;		/* of one page or row */
} Verifier;

static void pg_attribute_printf(3, 4)
report(Verifier *verifier, BlockNumber block, const char *format,...)
{
	Datum		values[2];
	bool		nulls[2] = {false, false};
	char		text[256];
	va_list		arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	values[0] = Int64GetDatum(block);
	values[1] = CStringGetTextDatum(text);
	tuplestore_putvalues(verifier->result->setResult,
						 verifier->result->setDesc, values, nulls);
}

/* ---- structure ---- */

/* Order of two positions; both have keys. */
static int
compare_positions(Verifier *verifier, IndexTuple a, IndexTuple b)
{
	ZmTarget	target;

	zm_target_from_entry(&verifier->space, &target, a);
	return zm_compare(&verifier->space, &target, b);
}

/*
 * Checks one page; `low` is the position where it has to begin.  Returns a
 * copy of its image.
 */
static void
check_page(Verifier *verifier, BlockNumber block, Page page, uint32 level,
		   IndexTuple low)
{
	OffsetNumber first = ZmPageFirst(page);
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	if (ZmPageGetOpaque(page)->level != level)
		report(verifier, block, "level is %u, not %u",
			   ZmPageGetOpaque(page)->level, level);
	if (ZmPageIsLeaf(page) != (level == 0))
		report(verifier, block, "flag of leaves is wrong");
	if (last < first)
	{
		report(verifier, block, "page is empty");
		return;
	}
	if (!ZmIsZone(ZmPageGetEntry(page, first)))
		report(verifier, block, "first entry is not a zone");
	else if (compare_positions(verifier, low, ZmPageGetEntry(page, first)) != 0)
		report(verifier, block, "page does not begin where its downlink says");
	for (OffsetNumber off = first; off <= last; off++)
	{
		IndexTuple	itup = ZmPageGetEntry(page, off);

		if (level > 0 && !ZmIsZone(itup))
			report(verifier, block, "entry %u is not a downlink", off);
		if (off > first &&
			compare_positions(verifier, ZmPageGetEntry(page, off - 1), itup) > 0)
			report(verifier, block, "entry %u is before the one before it", off);
	}
	if (!ZmPageIsRightmost(page) &&
		compare_positions(verifier, ZmPageGetEntry(page, last),
						  ZmPageGetEntry(page, ZM_HIGH_KEY)) >= 0)
		report(verifier, block, "last entry is not before the high key");
}

/* Reads a page into memory of the caller. */
static bool
read_image(Verifier *verifier, BlockNumber block, Page image)
{
	Relation	index = verifier->space.index;
	Buffer		buf;

	CHECK_FOR_INTERRUPTS();
	if (block >= RelationGetNumberOfBlocks(index))
	{
		report(verifier, block, "link to a block after the end");
		return false;
	}
	buf = zm_read_page(index, block, BUFFER_LOCK_SHARE);
	memcpy(image, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	return true;
}

/* Checks the pages below a page, and that they are linked in order. */
static void
check_below(Verifier *verifier, BlockNumber block, Page page,
			BlockNumber right_of_last)
{
	uint32		level = ZmPageGetOpaque(page)->level;
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	Page		child = palloc(BLCKSZ);

	check_stack_depth();
	for (OffsetNumber off = ZmPageFirst(page); off <= last; off++)
	{
		IndexTuple	downlink = ZmPageGetEntry(page, off);
		BlockNumber right = off < last ?
			ZmBlock(ZmPageGetEntry(page, off + 1)) : right_of_last;

		if (!read_image(verifier, ZmBlock(downlink), child))
			continue;
		check_page(verifier, ZmBlock(downlink), child, level - 1, downlink);
		if (right != P_NEW && ZmPageGetOpaque(child)->right != right)
			report(verifier, ZmBlock(downlink),
				   "right link is %u, not %u",
				   ZmPageGetOpaque(child)->right, right);
		if (level > 1)
		{
			BlockNumber next = InvalidBlockNumber;

			/* The first child of the right neighbour */
			if (ZmPageGetOpaque(child)->right != InvalidBlockNumber)
			{
				Page		neighbour = palloc(BLCKSZ);

				if (read_image(verifier, ZmPageGetOpaque(child)->right,
							   neighbour))
					next = ZmBlock(ZmPageGetEntry(neighbour,
												  ZmPageFirst(neighbour)));
				pfree(neighbour);
			}
			check_below(verifier, ZmBlock(downlink), child, next);
		}
	}
	pfree(child);
}

static void
check_structure(Verifier *verifier)
{
	Page		root = palloc(BLCKSZ);
	IndexTupleData none = {.t_info = MAXALIGN(sizeof(none)) |
	INDEX_AM_RESERVED_BIT};

	ItemPointerSet(&none.t_tid, InvalidBlockNumber, ZM_NO_KEY);
	if (!read_image(verifier, ZM_ROOT_BLOCK, root))
		return;
	check_page(verifier, ZM_ROOT_BLOCK, root, ZmPageGetOpaque(root)->level,
			   &none);
	if (!ZmPageIsLeaf(root))
		check_below(verifier, ZM_ROOT_BLOCK, root, InvalidBlockNumber);
	pfree(root);
}

/* ---- rows ---- */

/* How often a row is found: zones (any number counts as one) and entries. */
static void
count_row(Verifier *verifier, ZmTarget *target, ItemPointer tid, int *zones,
		  int *entries)
{
	const ZmSpace *space = &verifier->space;
	Buffer		buf;

	*zones = *entries = 0;
	target->tie = ZM_TIE_BEFORE;
	buf = zm_descend(space, target, BUFFER_LOCK_SHARE);
	for (;;)
	{
		Page		page = BufferGetPage(buf);
		OffsetNumber off = zm_zone_at(page, zm_search(space, page, target));
		bool		covered = zm_block_covers(space, page, target,
											  ItemPointerGetBlockNumber(tid));
		BlockNumber right;

		for (; off <= PageGetMaxOffsetNumber(page); off++)
		{
			IndexTuple	itup = ZmPageGetEntry(page, off);

			if (ZmIsZone(itup))
			{
				if (ZmBlock(itup) == ItemPointerGetBlockNumber(tid) &&
					zm_zone_covers(space, page, off, target))
					covered = true;
			}
			else if (!ZmIsMark(itup) &&
					 ItemPointerEquals(&itup->t_tid, tid) && !covered &&
					 zm_compare_entry_key(space, target, itup) == 0 &&
					 !(*zones > 0 && zm_left_may_cover(space, page, itup)))
				(*entries)++;
		}
		*zones += covered;
		right = ZmPageGetOpaque(page)->right;
		if (ZmPageIsRightmost(page) ||
			zm_compare_entry_key(space, target,
								 ZmPageGetEntry(page, ZM_HIGH_KEY)) < 0)
			break;
		UnlockReleaseBuffer(buf);
		buf = zm_read_page(space->index, right, BUFFER_LOCK_SHARE);
	}
	UnlockReleaseBuffer(buf);
}

/* First tuple of the HOT chain of a tuple. */
static void
root_of(Relation heap, ItemPointer tid)
{
	OffsetNumber roots[MaxHeapTuplesPerPage];
	Buffer		buf = ReadBuffer(heap, ItemPointerGetBlockNumber(tid));

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	heap_get_root_tuples(BufferGetPage(buf), roots);
	UnlockReleaseBuffer(buf);
	ItemPointerSetOffsetNumber(tid,
							   roots[ItemPointerGetOffsetNumber(tid) - 1]);
}

static void
check_rows(Verifier *verifier, Relation heap)
{
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	TableScanDesc scan = st_table_beginscan(heap, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	MemoryContext old = MemoryContextSwitchTo(verifier->context);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];
		ItemPointerData tid = slot->tts_tid;
		ZmTarget	target;
		int			zones;
		int			entries;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(verifier->context);
		for (int i = 0; i < verifier->space.ncolumns; i++)
			values[i] = slot_getattr(slot,
									 verifier->space.columns[i].heap_attno,
									 &nulls[i]);
		root_of(heap, &tid);
		zm_target_from_values(&verifier->space, &target, values, nulls,
							  ZM_TIE_BEFORE, NULL);
		count_row(verifier, &target, &tid, &zones, &entries);
		if (zones + entries != 1)
			report(verifier, ItemPointerGetBlockNumber(&tid),
				   "row (%u,%u) of the table is found by %d zones and %d entries",
				   ItemPointerGetBlockNumber(&tid),
				   ItemPointerGetOffsetNumber(&tid), zones, entries);
	}
	MemoryContextSwitchTo(old);
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
}

/* ---- entries ---- */

/*
 * Checks an exact entry: a scan takes the row that it finds at the TID, and does not
 * look at its key.  Those of dead rows lead nowhere.
 */
static void
check_entry(Verifier *verifier, Relation heap, Snapshot snapshot,
			BlockNumber block, IndexTuple itup)
{
	ItemPointerData tid = itup->t_tid;
	BlockNumber heap_block = ItemPointerGetBlockNumber(&tid);
	OffsetNumber off = ItemPointerGetOffsetNumber(&tid);
	ZmTarget	target;
	ZmHeapKey	key;
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	HeapTupleData tuple;
	Buffer		buf;
	bool		found;

	if (!zm_block_exists(heap, heap_block))
	{
		report(verifier, block, "entry of row (%u,%u), which is after the table's end",
			   heap_block, off);
		return;
	}
	buf = ReadBuffer(heap, heap_block);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	found = heap_hot_search_buffer(&tid, heap, buf, snapshot, &tuple, NULL,
								   true);
	LockBuffer(buf, BUFFER_LOCK_UNLOCK);
	if (found)
	{
		zm_heap_key_init(&key, &verifier->space, heap);
		zm_target_from_entry(&verifier->space, &target, itup);
		(void) zm_heap_key(&key, &tuple, values, nulls);
		if (zm_compare_key(&verifier->space, &target, values, nulls) != 0)
			report(verifier, block, "entry of row (%u,%u), which has another key",
				   heap_block, off);
	}
	ReleaseBuffer(buf);
}

/* Checks all exact entries, whatever pages they are on. */
static void
check_entries(Verifier *verifier, Relation heap)
{
	Relation	index = verifier->space.index;
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	MemoryContext old = MemoryContextSwitchTo(verifier->context);

	for (BlockNumber block = ZM_ROOT_BLOCK; block < nblocks; block++)
	{
		PGAlignedBlock image;
		Buffer		buf = ReadBuffer(index, block);

		LockBuffer(buf, BUFFER_LOCK_SHARE);
		memcpy(image.data, BufferGetPage(buf), BLCKSZ);
		if (!PageIsNew(image.data))
			zm_page_check(index, buf);
		UnlockReleaseBuffer(buf);
		if (PageIsNew(image.data) || !ZmPageIsLeaf(image.data))
			continue;
		MemoryContextReset(verifier->context);
		for (OffsetNumber off = ZmPageFirst(image.data);
			 off <= PageGetMaxOffsetNumber(image.data); off++)
		{
			IndexTuple	itup = ZmPageGetEntry(image.data, off);

			CHECK_FOR_INTERRUPTS();
			if (ZmIsZone(itup))
				continue;
			zm_exact_check(index, itup);
			if (!ZmIsMark(itup))
				check_entry(verifier, heap, snapshot, block, itup);
		}
	}
	MemoryContextSwitchTo(old);
	UnregisterSnapshot(snapshot);
}

/* Opens a zonemap, and its table. */
static Relation
open_zonemap(Oid oid, Relation *heap)
{
	Oid			heapoid = IndexGetRelation(oid, true);
	Relation	index;

	if (!OidIsValid(heapoid))
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not an index",
					   get_rel_name(oid) ? get_rel_name(oid) : "?"));
	*heap = table_open(heapoid, AccessShareLock);
	index = index_open(oid, AccessShareLock);
	if (index->rd_rel->relkind != RELKIND_INDEX ||
		index->rd_indam->aminsert != zm_insert)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("index \"%s\" is not a zonemap",
					   RelationGetRelationName(index)));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot access temporary tables of other sessions"));
	return index;
}

/* zonemap_verify(index regclass) returns setof (block bigint, problem text) */
Datum
zm_verify(PG_FUNCTION_ARGS)
{
	Relation	heap;
	Relation	index = open_zonemap(PG_GETARG_OID(0), &heap);
	Verifier   *verifier = palloc0(sizeof(Verifier));

	if (!st_can_maintain(heap))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE,
					   RelationGetRelationName(heap));
	/* Writers wait, so only now. */
	LockRelationOid(RelationGetRelid(heap), ShareLock);

	InitMaterializedSRF(fcinfo, 0);
	verifier->result = (ReturnSetInfo *) fcinfo->resultinfo;
	verifier->context = AllocSetContextCreate(CurrentMemoryContext,
											  "zonemap verify",
											  ALLOCSET_DEFAULT_SIZES);
	zm_space_init(&verifier->space, index);
	st_progress_begin(ST_COMMAND_VERIFY, get_table_am_oid("sorted_heap", false),
					  RelationGetRelid(index));
	st_progress_phase(ST_PHASE_READ_INDEXES, -1, -1);
	check_structure(verifier);
	if (index->rd_index->indisvalid)
	{
		check_rows(verifier, heap);
		check_entries(verifier, heap);
	}
	st_progress_end(ST_COMMAND_VERIFY);
	index_close(index, NoLock);
	table_close(heap, NoLock);
	return (Datum) 0;
}

/* ---- statistics ---- */

typedef struct Counts
{
	uint32		levels;
	int64		leaves;
	int64		zones;
	int64		holes;
	int64		exact;
	int64		marks;
} Counts;

static void
count_page(Page page, Counts *counts)
{
	counts->levels = Max(counts->levels, ZmPageGetOpaque(page)->level + 1);
	if (!ZmPageIsLeaf(page))
		return;
	counts->leaves++;
	for (OffsetNumber off = ZmPageFirst(page);
		 off <= PageGetMaxOffsetNumber(page); off++)
	{
		IndexTuple	itup = ZmPageGetEntry(page, off);

		if (ZmIsMark(itup))
			counts->marks++;
		else if (!ZmIsZone(itup))
			counts->exact++;
		else if (ZmBlock(itup) == InvalidBlockNumber)
			counts->holes++;
		else
			counts->zones++;
	}
}

/* zonemap_stats(index regclass) returns a row of counts */
Datum
zm_stats(PG_FUNCTION_ARGS)
{
	Relation	heap;
	Relation	index = open_zonemap(PG_GETARG_OID(0), &heap);
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	Counts		counts = {0};
	TupleDesc	desc;
	Datum		values[7];
	bool		nulls[7] = {0};

	if (pg_class_aclcheck(RelationGetRelid(heap), GetUserId(),
						  ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE,
					   RelationGetRelationName(heap));
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	for (BlockNumber block = ZM_ROOT_BLOCK; block < nblocks; block++)
	{
		Buffer		buf = ReadBuffer(index, block);

		CHECK_FOR_INTERRUPTS();
		LockBuffer(buf, BUFFER_LOCK_SHARE);
		if (!PageIsNew(BufferGetPage(buf)))
		{
			zm_page_check(index, buf);
			count_page(BufferGetPage(buf), &counts);
		}
		UnlockReleaseBuffer(buf);
	}
	index_close(index, AccessShareLock);
	table_close(heap, AccessShareLock);

	values[0] = Int32GetDatum(counts.levels);
	values[1] = Int64GetDatum(nblocks);
	values[2] = Int64GetDatum(counts.leaves);
	values[3] = Int64GetDatum(counts.zones);
	values[4] = Int64GetDatum(counts.holes);
	values[5] = Int64GetDatum(counts.exact);
	values[6] = Int64GetDatum(counts.marks);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
