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
 *	- index builds are our own, because heap's insist on heap's routine.
 *
 * The key is that of the table's first valid zonemap index; a table without
 * one is a heap.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/pg_am_d.h"
#include "executor/tuptable.h"
#include "utils/rel.h"

#include "sh_tableam.h"

static TableAmRoutine routine;
static const TableAmRoutine *heap_routine;

static void
sorted_tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid,
					int options, struct BulkInsertStateData *bistate)
{
	Oid			index = bistate == NULL ? sh_place_index(rel) : InvalidOid;
	BlockNumber wanted;

	if (OidIsValid(index))
		options = sh_place_slot(rel, index, slot, options, &wanted);
	heap_routine->tuple_insert(rel, slot, cid, options, bistate);
	if (OidIsValid(index))
		sh_place_done(rel, slot, wanted);
}

static void
sorted_tuple_insert_speculative(Relation rel, TupleTableSlot *slot,
								CommandId cid, int options,
								struct BulkInsertStateData *bistate,
								uint32 token)
{
	Oid			index = bistate == NULL ? sh_place_index(rel) : InvalidOid;
	BlockNumber wanted;

	if (OidIsValid(index))
		options = sh_place_slot(rel, index, slot, options, &wanted);
	heap_routine->tuple_insert_speculative(rel, slot, cid, options, bistate,
										   token);
	if (OidIsValid(index))
		sh_place_done(rel, slot, wanted);
}

static void
sorted_multi_insert(Relation rel, TupleTableSlot **slots, int nslots,
					CommandId cid, int options,
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

/* VACUUM FULL and CLUSTER: in key order, unless CLUSTER says another one. */
static void
sorted_copy_for_cluster(Relation old_table, Relation new_table,
						Relation old_index, bool use_sort,
						TransactionId oldest_xmin,
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
	if (index != NULL)
		order = sh_sort_order(old_table, index);
	heap_routine->relation_copy_for_cluster(old_table, new_table,
											order != NULL ? order : index,
											order != NULL || use_sort,
											oldest_xmin, xid_cutoff,
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

void
sh_tableam_init(void)
{
	heap_routine = GetHeapamTableAmRoutine();
	routine = *heap_routine;
	routine.tuple_insert = sorted_tuple_insert;
	routine.tuple_insert_speculative = sorted_tuple_insert_speculative;
	routine.multi_insert = sorted_multi_insert;
	routine.relation_copy_for_cluster = sorted_copy_for_cluster;
	routine.relation_toast_am = sorted_toast_am;
	routine.index_build_range_scan = sh_index_build_range_scan;
	routine.index_validate_scan = sh_index_validate_scan;
}

const TableAmRoutine *
sh_tableam_routine(void)
{
	return &routine;
}
