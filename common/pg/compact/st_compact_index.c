/*-------------------------------------------------------------------------
 *
 * st_compact_index.c
 *	  Compaction: index entries of rows that have moved.
 *
 * Rows come in the order of their new places.  What is made of them for a btree
 * is sorted by its keys first, over all rows of a step: so one entry goes next
 * to the one before, to pages that are in the processor's caches, and pages are
 * split from left to right.  Keys for a GIN are collected (st_compact_gin.c).
 * Entries of other indexes are made at once: hash and GiST have no such order.
 *
 * The entries are made without a unique check: the same key has an entry at the
 * row's old place.  Whether another inserter of the key may meet the new one
 * first says no_order (st_compact_write.c).
 *
 * Memory is bounded by maintenance_work_mem, whatever the number of indexes; what
 * is more goes to disk, or into the GIN.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "catalog/index.h"
#include "catalog/pg_am_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "st_compact_int.h"

/* GiST's function that says which operator is equality, from PostgreSQL 17 on. */
#define GIST_EQUALITY_PROC	12

/* With less memory the keys of a row would go into a GIN by themselves. */
#define MIN_GIN_KB	1024

/* Columns that any of the indexes needs; NULL for all. */
static bool *
needed_columns(Relation rel, const StCompactIndexes *ix)
{
	int			natts = RelationGetNumberOfAttributes(rel);
	bool	   *all = palloc0(Max(natts, 1) * sizeof(bool));

	for (int i = 0; i < ix->n; i++)
	{
		bool	   *one = st_index_needed_columns(rel, ix->infos[i]);

		if (one == NULL)
			return NULL;
		for (int a = 0; a < natts; a++)
			all[a] |= one[a];
		pfree(one);
	}
	return all;
}

/*
 * Do equal keys stand in the order of their TIDs?  Not in a btree from before
 * PostgreSQL 12, which pg_upgrade has brought here.
 */
static bool
has_order(Relation index)
{
	bool		heapkeyspace;
	bool		allequalimage;

	if (index->rd_rel->relam != BTREE_AM_OID)
		return false;
	_bt_metaversion(index, &heapkeyspace, &allequalimage);
	return heapkeyspace;
}

/*
 * May logical replication look for a row by this index, with a dirty snapshot?
 * It does where the publisher has REPLICA IDENTITY FULL, by indexes that know
 * equality: btree, hash, and operator classes of GiST that say so.
 */
static bool
finds_equal_rows(Relation index, const IndexInfo *info)
{
	if (info->ii_Predicate != NIL || info->ii_IndexAttrNumbers[0] == 0)
		return false;
	return index->rd_rel->relam == BTREE_AM_OID || index->rd_rel->relam == HASH_AM_OID ||
		(index->rd_rel->relam == GIST_AM_OID &&
		 index->rd_indam->amsupport >= GIST_EQUALITY_PROC &&
		 OidIsValid(index_getprocid(index, 1, GIST_EQUALITY_PROC)));
}

/* What collects the entries of an index has its part of maintenance_work_mem. */
static void
begin_collecting(StCompactIndexes *ix, Relation rel)
{
	int			n = 0;

	ix->sorts = palloc0(Max(ix->n, 1) * sizeof(Tuplesortstate *));
	ix->gins = palloc0(Max(ix->n, 1) * sizeof(StGinEntries *));
	for (int i = 0; i < ix->n; i++)
	{
		Oid			am = ix->relations[i]->rd_rel->relam;

		n += am == BTREE_AM_OID || am == GIN_AM_OID;
	}
	for (int i = 0; i < ix->n; i++)
	{
		Relation	index = ix->relations[i];

		if (index->rd_rel->relam == BTREE_AM_OID)
			ix->sorts[i] = tuplesort_begin_index_btree(rel, index, false, false,
													   maintenance_work_mem / n, NULL,
													   TUPLESORT_NONE);
		if (index->rd_rel->relam == GIN_AM_OID)
			ix->gins[i] = st_gin_begin(index, Max(maintenance_work_mem / n, MIN_GIN_KB) *
									   (Size) 1024);
	}
}

void
st_indexes_open(StCompactIndexes *ix, Relation rel)
{
	List	   *list = RelationGetIndexList(rel);
	ListCell   *lc;

	memset(ix, 0, sizeof(*ix));
	if (list == NIL)
		return;
	ix->relations = palloc(list_length(list) * sizeof(Relation));
	ix->infos = palloc(list_length(list) * sizeof(IndexInfo *));
	ix->estate = CreateExecutorState();
	foreach(lc, list)
	{
		Relation	index = index_open(lfirst_oid(lc), RowExclusiveLock);
		IndexInfo  *info = BuildIndexInfo(index);

		if (!info->ii_ReadyForInserts)
		{
			index_close(index, NoLock);
			continue;
		}
		info->ii_PredicateState = info->ii_Predicate == NIL ? NULL :
			ExecPrepareQual(info->ii_Predicate, ix->estate);
		ix->no_order |= info->ii_ExclusionOps != NULL ||
			((info->ii_Unique || finds_equal_rows(index, info)) && !has_order(index));
		ix->relations[ix->n] = index;
		ix->infos[ix->n++] = info;
	}
	list_free(list);
	ix->slot = table_slot_create(rel, NULL);
	GetPerTupleExprContext(ix->estate)->ecxt_scantuple = ix->slot;
	ix->needed = needed_columns(rel, ix);
	begin_collecting(ix, rel);
}

void
st_indexes_close(StCompactIndexes *ix)
{
	for (int i = 0; i < ix->n; i++)
	{
		if (ix->sorts[i] != NULL)
			tuplesort_end(ix->sorts[i]);
		if (ix->gins[i] != NULL)
			st_gin_end(ix->gins[i]);
		index_close(ix->relations[i], NoLock);
	}
	if (ix->slot != NULL)
		ExecDropSingleTupleTableSlot(ix->slot);
	if (ix->estate != NULL)
		FreeExecutorState(ix->estate);
}

/* An entry of the index. */
static void
insert_entry(StCompactIndexes *ix, int i, Relation rel, Datum *values, bool *isnull,
			 ItemPointer tid)
{
	(void) index_insert(ix->relations[i], values, isnull, tid, rel, UNIQUE_CHECK_NO,
						false, ix->infos[i]);
}

void
st_index_row(StCompactIndexes *ix, Relation rel)
{
	ExprContext *econtext = GetPerTupleExprContext(ix->estate);

	ResetPerTupleExprContext(ix->estate);
	for (int i = 0; i < ix->n; i++)
	{
		IndexInfo  *info = ix->infos[i];
		Datum		values[INDEX_MAX_KEYS];
		bool		isnull[INDEX_MAX_KEYS];
		MemoryContext oldcxt;

		if (info->ii_PredicateState != NULL &&
			!ExecQual(info->ii_PredicateState, econtext))
			continue;
		oldcxt = MemoryContextSwitchTo(GetPerTupleMemoryContext(ix->estate));
		FormIndexDatum(info, ix->slot, ix->estate, values, isnull);
		if (ix->sorts[i] != NULL)
			tuplesort_putindextuplevalues(ix->sorts[i], ix->relations[i],
										  &ix->slot->tts_tid, values, isnull);
		else if (ix->gins[i] != NULL)
			st_gin_put(ix->gins[i], values, isnull, &ix->slot->tts_tid);
		else
			insert_entry(ix, i, rel, values, isnull, &ix->slot->tts_tid);
		MemoryContextSwitchTo(oldcxt);
	}
}

Size
st_index_collected(const StCompactIndexes *ix)
{
	Size		bytes = 0;

	for (int i = 0; i < ix->n; i++)
	{
		if (ix->gins[i] != NULL)
			bytes += st_gin_collected(ix->gins[i]);
	}
	return bytes;
}

/* Makes the entries that wait in the sort of an index. */
static void
insert_sorted(StCompactIndexes *ix, int i, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(ix->relations[i]);
	IndexTuple	entry;

	tuplesort_performsort(ix->sorts[i]);
	while ((entry = tuplesort_getindextuple(ix->sorts[i], true)) != NULL)
	{
		Datum		values[INDEX_MAX_KEYS];
		bool		isnull[INDEX_MAX_KEYS];
		MemoryContext oldcxt;

		CHECK_FOR_INTERRUPTS();
		st_pace_rest();
		ResetPerTupleExprContext(ix->estate);
		oldcxt = MemoryContextSwitchTo(GetPerTupleMemoryContext(ix->estate));
		index_deform_tuple(entry, desc, values, isnull);
		insert_entry(ix, i, rel, values, isnull, &entry->t_tid);
		MemoryContextSwitchTo(oldcxt);
	}
	tuplesort_end(ix->sorts[i]);
	ix->sorts[i] = NULL;
}

void
st_index_finish(StCompactIndexes *ix, Relation rel)
{
	for (int i = 0; i < ix->n; i++)
	{
		if (ix->sorts[i] != NULL)
			insert_sorted(ix, i, rel);
		if (ix->gins[i] != NULL)
			st_gin_flush(ix->gins[i]);
	}
}

void
st_index_groups(StCompactIndexes *ix, Relation rel, const StGroup *groups, uint32 n)
{
	StRowReader rows;

	if (ix->n == 0)
		return;
	st_row_reader_init(&rows, rel, ix->needed);
	for (uint32 i = 0; i < n; i++)
	{
		for (uint32 row = 0; row < groups[i].nrows; row++)
		{
			CHECK_FOR_INTERRUPTS();
			st_pace_rest();
			st_row_reader_fetch(&rows, &groups[i], row, ix->slot);
			st_index_row(ix, rel);
		}
	}
	ExecClearTuple(ix->slot);
	st_row_reader_end(&rows);
	st_index_finish(ix, rel);
}
