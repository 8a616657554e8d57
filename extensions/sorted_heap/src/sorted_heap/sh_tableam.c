/*-------------------------------------------------------------------------
 *
 * sh_tableam.c
 *	  Table access method sorted_heap: heap, with rows put where their keys
 *	  belong.
 *
 * The routine is heap's with these differences:
 *
 *	- an inserted row goes to the page whose zone covers its key, if there is
 *	  room, and batches of rows are sorted first (sh_place.c);
 *	- VACUUM FULL writes rows in the order of the key;
 *	- while heap builds or validates an index, the table's descriptor has heap's
 *	  routine, because heap_getnext() insists on that.
 *
 * The key is that of the table's first valid zonemap index; a table without
 * one is a heap.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am_d.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "sh_tableam.h"
#include "st_callbacks.h"
#include "zm_build.h"
#include "zm_insert.h"

static TableAmRoutine routine;
static const TableAmRoutine *heap_routine;

/* The table whose descriptor has heap's routine for a while, or NULL. */
static Relation lent;

/*
 * Inserts a row where it belongs, unless a bulk insertion has a page of its own;
 * speculatively, if there is a token (which is never 0).
 */
static void
sorted_insert(Relation rel, TupleTableSlot *slot, CommandId cid, StInsertOptions options,
			  struct BulkInsertStateData *bistate, uint32 token)
{
	Oid			index = bistate == NULL ? sh_place_index(rel) : InvalidOid;
	BlockNumber wanted;

	if (OidIsValid(index))
		options = sh_place_slot(rel, index, slot, options, &wanted);
	if (token != 0)
		heap_routine->tuple_insert_speculative(rel, slot, cid, options,
											   bistate, token);
	else
		heap_routine->tuple_insert(rel, slot, cid, options, bistate);
	if (OidIsValid(index))
		sh_place_done(rel, slot, wanted);
}

static void
sorted_tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid,
					StInsertOptions options, struct BulkInsertStateData *bistate)
{
	sorted_insert(rel, slot, cid, options, bistate, 0);
}

static void
sorted_multi_insert(Relation rel, TupleTableSlot **slots, int nslots,
					CommandId cid, StInsertOptions options,
					struct BulkInsertStateData *bistate)
{
	Oid			index = nslots > 1 ? sh_place_index(rel) : InvalidOid;
	TupleTableSlot **sorted = slots;

	/* The caller's array stays as it is: only the order on pages changes. */
	if (OidIsValid(index))
	{
		sorted = palloc(nslots * sizeof(TupleTableSlot *));
		memcpy(sorted, slots, nslots * sizeof(TupleTableSlot *));
		sh_place_sort(rel, index, sorted, nslots);
	}
	heap_routine->multi_insert(rel, sorted, nslots, cid, options, bistate);
	if (sorted != slots)
		pfree(sorted);
}

/*
 * VACUUM FULL and CLUSTER: in key order, unless CLUSTER says another one.  They read
 * a table by an index or sort it, whichever they reckon is cheaper.  What is kept of
 * a table must not depend on an index of ranges, which finds no row whose type or
 * collation has come to compare otherwise: by a zonemap it is always sorted.
 */
static void
sorted_copy_for_cluster(Relation old_table, Relation new_table,
						Relation old_index, bool use_sort,
						TransactionId oldest_xmin, ST_SINCE_19(Snapshot snapshot,)
						TransactionId *xid_cutoff,
						MultiXactId *multi_cutoff, double *num_tuples,
						double *tups_vacuumed, double *tups_recently_dead)
{
	Oid			indexoid = old_index == NULL ? sh_place_index(old_table) :
		InvalidOid;
	Relation	index = old_index;
	Relation	order = NULL;

	if (OidIsValid(indexoid))
		index = index_open(indexoid, AccessShareLock);
	if (index != NULL && index->rd_indam->aminsert == zm_insert)
		order = zm_sort_order(index);
	heap_routine->relation_copy_for_cluster(old_table, new_table,
											order != NULL ? order : index,
											order != NULL || use_sort,
											oldest_xmin, ST_SINCE_19(snapshot,) xid_cutoff,
											multi_cutoff, num_tuples,
											tups_vacuumed,
											tups_recently_dead);
	if (index != old_index)
		index_close(index, NoLock);
}

static Oid
sorted_toast_am(Relation rel)
{
	return HEAP_TABLE_AM_OID;
}

/* ---- index builds ---- */

/* A descriptor that was made anew in the meantime has the table's own routine. */
static void
lend_again(Datum arg, Oid relid)
{
	if (lent != NULL)
		lent->rd_tableam = heap_routine;
}

/* Lends a table to heap; returns the one that was lent before, or NULL. */
static Relation
lend(Relation heap)
{
	Relation	before = lent;

	lent = heap;
	lend_again((Datum) 0, InvalidOid);
	return before;
}

static void
take_back(Relation before)
{
	lent->rd_tableam = &routine;
	lent = before;
	lend_again((Datum) 0, InvalidOid);
}

static double
sorted_index_build_range_scan(Relation heap, Relation index, IndexInfo *info,
							  bool allow_sync, bool anyvisible, bool progress,
							  BlockNumber start, BlockNumber nblocks,
							  IndexBuildCallback callback,
							  void *callback_state, TableScanDesc scan)
{
	Relation	before = lend(heap);
	double		rows = 0;

	PG_TRY();
	{
		rows = heap_routine->index_build_range_scan(heap, index, info,
													allow_sync, anyvisible,
													progress, start, nblocks,
													callback, callback_state,
													scan);
	}
	PG_FINALLY();
	{
		take_back(before);
	}
	PG_END_TRY();
	return rows;
}

static void
sorted_index_validate_scan(Relation heap, Relation index, IndexInfo *info,
						   Snapshot snapshot, ValidateIndexState *state)
{
	Relation	before = lend(heap);

	PG_TRY();
	{
		heap_routine->index_validate_scan(heap, index, info, snapshot, state);
	}
	PG_FINALLY();
	{
		take_back(before);
	}
	PG_END_TRY();
}

void
sh_tableam_init(void)
{
	heap_routine = GetHeapamTableAmRoutine();
	routine = *heap_routine;
	routine.tuple_insert = sorted_tuple_insert;
	routine.tuple_insert_speculative = sorted_insert;
	routine.multi_insert = sorted_multi_insert;
	routine.relation_copy_for_cluster = sorted_copy_for_cluster;
	routine.relation_toast_am = sorted_toast_am;
	routine.index_build_range_scan = sorted_index_build_range_scan;
	routine.index_validate_scan = sorted_index_validate_scan;
	st_callbacks_relcache(lend_again, (Datum) 0);
}

const TableAmRoutine *
sh_tableam_routine(void)
{
	return &routine;
}
