/*-------------------------------------------------------------------------
 *
 * st_tableam.c
 *	  The table access method: heapam's routine with the store's overrides.
 *
 * What is not overridden works on the delta and needs no knowledge of row
 * groups (speculative insertion, TOAST access).  This file holds the small
 * callbacks and assembles the routine; the others are in the files that
 * their names say.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "catalog/pg_am_d.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/snapmgr.h"

#include "st_am.h"
#include "st_lock.h"
#include "st_zone_cost.h"
#include "st_modify.h"
#include "st_read.h"
#include "st_space.h"
#include "st_write.h"

bool		st_store_in_use = false;

/*
 * Everybody who is about to read the relation asks for slots first, also
 * those whose work is then done by parallel workers, to whom rows in this
 * backend's memory are invisible.  So rows of earlier commands are flushed
 * here; those of the running command stay (its own inserts use slots, too).
 */
static const TupleTableSlotOps *
st_slot_callbacks(Relation rel)
{
	if (InterruptHoldoffCount == 0)
		st_pending_flush_stale(rel);
	return &TTSOpsBufferHeapTuple;
}

/* ---- index fetch ---- */

typedef struct StIndexFetch
{
	IndexFetchTableData base;
	IndexFetchTableData *heap;
	StFetch		rows;
} StIndexFetch;

static struct IndexFetchTableData *
st_index_fetch_begin(Relation rel ST_SINCE_19(, uint32 flags))
{
	StIndexFetch *fetch = palloc(sizeof(StIndexFetch));

	memset(&fetch->base, 0, sizeof(fetch->base));
	fetch->base.rel = rel;
	fetch->heap = st_heapam()->index_fetch_begin(rel ST_SINCE_19(, flags));
	st_fetch_init(&fetch->rows, rel);
	fetch->rows.by_index = true;
	return &fetch->base;
}

/*
 * Resets heap's part only.  A rescan has the same snapshot, so what is known
 * of row groups stays true.
 */
static void
st_index_fetch_reset(struct IndexFetchTableData *data)
{
	st_heapam()->index_fetch_reset(((StIndexFetch *) data)->heap);
}

static void
st_index_fetch_end(struct IndexFetchTableData *data)
{
	StIndexFetch *fetch = (StIndexFetch *) data;

	st_heapam()->index_fetch_end(fetch->heap);
	st_fetch_end(&fetch->rows);
	pfree(fetch);
}

/*
 * all_dead is never set for row-group rows: their index entries are removed
 * by VACUUM.
 */
static bool
st_index_fetch_tuple(struct IndexFetchTableData *data, ItemPointer tid,
					 Snapshot snapshot, TupleTableSlot *slot,
					 bool *call_again, bool *all_dead)
{
	StIndexFetch *fetch = (StIndexFetch *) data;

	if (!st_tid_is_virtual(tid))
		return st_heapam()->index_fetch_tuple(fetch->heap, tid, snapshot,
											  slot, call_again, all_dead);
	*call_again = false;
	if (all_dead != NULL)
		*all_dead = false;
	return st_fetch_row(&fetch->rows, tid, snapshot, slot);
}

/* ---- single rows ---- */

static bool
st_tuple_fetch_row_version(Relation rel, ItemPointer tid, Snapshot snapshot,
						   TupleTableSlot *slot)
{
	StFetch		fetch;
	bool		found;

	if (!st_tid_is_virtual(tid))
		return st_heapam()->tuple_fetch_row_version(rel, tid, snapshot, slot);
	if (snapshot == SnapshotAny && st_old_row_fetch(rel, st_row_from_tid(tid), slot))
		return true;

	st_fetch_init(&fetch, rel);
	found = st_fetch_row(&fetch, tid, snapshot, slot);
	st_fetch_end(&fetch);
	if (found && snapshot == SnapshotAny &&
		st_row_buried(rel, st_row_from_tid(tid)) != ST_NOT_BURIED)
		st_stamp_deleter(slot, rel);
	return found;
}

static bool
row_is_seen(Relation rel, ItemPointer tid, Snapshot snapshot)
{
	StFetch		fetch;
	bool		seen;

	st_fetch_init(&fetch, rel);
	seen = st_fetch_row(&fetch, tid, snapshot, NULL);
	st_fetch_end(&fetch);
	return seen;
}

static bool
st_tuple_satisfies_snapshot(Relation rel, TupleTableSlot *slot,
							Snapshot snapshot)
{
	if (!st_tid_is_virtual(&slot->tts_tid))
		return st_heapam()->tuple_satisfies_snapshot(rel, slot, snapshot);
	return row_is_seen(rel, &slot->tts_tid, snapshot);
}

static bool
st_tuple_tid_valid(TableScanDesc scan, ItemPointer tid)
{
	if (st_tid_is_virtual(tid))
		return ItemPointerGetOffsetNumberNoCheck(tid) != InvalidOffsetNumber &&
			ItemPointerGetOffsetNumberNoCheck(tid) <= ST_ROWS_PER_VBLOCK;
	return st_heapam()->tuple_tid_valid(st_scan_inner((StScan *) scan), tid);
}

/*
 * Where the row went that the snapshot does not see here, or sees deleted: its next version,
 * or the place that compaction gave it.
 */
static bool
next_place(Relation rel, ItemPointer tid, Snapshot snapshot)
{
	uint64		row = st_row_from_tid(tid);
	ItemPointerData next = *tid;
	StCatalog	cat;
	StDeletion	deletion;
	bool		deleted;

	if (!st_catalog_open(&cat, rel, AccessShareLock))
		return false;
	deleted = st_deletion_begin(&deletion, &cat, row, snapshot, ST_ASK_MOWN) != NULL;
	if (deleted)
		st_deletion_forward(&deletion, rel, row, &next);
	st_deletion_end(&deletion);
	if (!deleted)
		(void) st_origin_of_row(&cat, row, &next);
	st_catalog_close(&cat);
	if (ItemPointerEquals(&next, tid) || ItemPointerIndicatesMovedPartitions(&next))
		return false;
	*tid = next;
	return true;
}

/* The same of a row of the delta, where heap has found no later version. */
static bool
next_place_of_delta(Relation rel, ItemPointer tid, Snapshot snapshot)
{
	HeapTupleData tuple = {.t_self = *tid};
	TM_FailureData tmfd;
	Buffer		buffer;

	if (heap_fetch(rel, snapshot, &tuple, &buffer, false))
	{
		ReleaseBuffer(buffer);
		return false;
	}
	if (st_deleted_or_moved(rel, tid, InvalidTransactionId, &tmfd) != TM_Updated)
		return false;
	*tid = tmfd.ctid;
	return true;
}

/*
 * Follows a row to the latest version that the scan's snapshot sees: for WHERE CURRENT OF,
 * whose cursor may have an older snapshot, and for currtid().
 */
static void
st_tuple_get_latest_tid(TableScanDesc scan, ItemPointer tid)
{
	Relation	rel = scan->rs_rd;
	bool		found = false;

	while (!found)
	{
		CHECK_FOR_INTERRUPTS();
		if (st_tid_is_virtual(tid))
			found = row_is_seen(rel, tid, scan->rs_snapshot) ||
				!next_place(rel, tid, scan->rs_snapshot);
		else
		{
			st_heapam()->tuple_get_latest_tid(st_scan_inner((StScan *) scan), tid);
			found = !next_place_of_delta(rel, tid, scan->rs_snapshot);
		}
	}
}

/*
 * Tells an index which entries it may delete.  Heap decides about rows of the
 * delta; entries of row groups stay until VACUUM.
 */
static TransactionId
st_index_delete_tuples(Relation rel, TM_IndexDeleteOp *delstate)
{
	int			n = 0;

	for (int i = 0; i < delstate->ndeltids; i++)
	{
		if (!st_tid_is_virtual(&delstate->deltids[i].tid))
			delstate->deltids[n++] = delstate->deltids[i];
	}
	delstate->ndeltids = n;
	if (n == 0)
		return InvalidTransactionId;
	return st_heapam()->index_delete_tuples(rel, delstate);
}

/* ---- relation files ---- */

static void
st_relation_set_new_filelocator(Relation rel, const RelFileLocator *locator,
								char persistence, TransactionId *freeze_xid,
								MultiXactId *minmulti)
{
	/* A rollback brings the old file back, with what is pending for it. */
	st_flush_pending(rel);
	st_catalog_retire_indexes(rel);
	st_heapam()->relation_set_new_filelocator(rel, locator, persistence,
											  freeze_xid, minmulti);
	st_meta_create_file(locator, persistence, st_relation_format(rel)->am_name);
}

static void
st_relation_nontransactional_truncate(Relation rel)
{
	st_pending_discard(rel);
	st_own_changes_forget(rel);
	st_meta_forget(rel);
	st_heapam()->relation_nontransactional_truncate(rel);
	st_meta_create(rel);
}

static void
st_relation_copy_data(Relation rel, const RelFileLocator *locator)
{
	st_flush_pending(rel);
	st_heapam()->relation_copy_data(rel, locator);
}

static Oid
st_relation_toast_am(Relation rel)
{
	return HEAP_TABLE_AM_OID;
}

/* ---- sizes ---- */

/*
 * A table that outgrew the size at its last VACUUM or ANALYZE by this factor
 * is no more believed to have its old density.
 */
#define GROWTH_TRUSTED 1.1

/*
 * The planner's estimate of pages and rows.  It reads the metapage and nothing
 * else, so that planning takes as long for a thousand row groups as for one.
 *
 * As long as the table is about as large as VACUUM or ANALYZE found it, its
 * pages are assumed to hold as many rows each as then.  Pages of the delta
 * and of row groups differ in that by a factor of ten to a hundred, so a
 * table that grew is judged by its row numbers instead: as many were ever
 * given to rows of row groups.  That counts deleted rows until the next
 * VACUUM, and is far nearer than any density.
 *
 * Index-only scans find no visibility map bit for a virtual TID, so with row
 * groups no share of the pages counts as all-visible.
 */
static void
st_relation_estimate_size(Relation rel, int32 *attr_widths,
						  BlockNumber *pages, double *tuples,
						  double *allvisfrac)
{
	BlockNumber relpages = (BlockNumber) rel->rd_rel->relpages;
	StMeta		meta;
	bool		grown;

	table_block_relation_estimate_size(rel, attr_widths, pages, tuples,
									   allvisfrac,
									   MAXALIGN(SizeofHeapTupleHeader) +
									   sizeof(ItemIdData),
									   BLCKSZ - SizeOfPageHeaderData);
	if (!st_meta_has_row_groups(rel, NULL))
		return;

	*allvisfrac = 0;
	grown = *pages > relpages * GROWTH_TRUSTED;
	if (!grown && rel->rd_rel->reltuples >= 0)
		return;
	st_meta_read(rel, &meta);
	if (rel->rd_rel->reltuples < 0)
		*tuples = (double) meta.next_row;
	else
		*tuples = Max(*tuples, (double) meta.next_row);
}

/*
 * Prepares a table access method that keeps its row groups in the given
 * format.  Call once, from _PG_init.
 */
void
st_tableam_init(StTableAm *am, const StFormat *format)
{
	TableAmRoutine *r = &am->routine;

	*r = *st_heapam();
	am->format = format;

	r->slot_callbacks = st_slot_callbacks;

	r->scan_begin = st_scan_begin;
	r->scan_end = st_scan_end;
	r->scan_rescan = st_scan_rescan;
	r->scan_getnextslot = st_scan_getnextslot;
	r->scan_set_tidrange = st_am_scan_set_tidrange;
	r->scan_getnextslot_tidrange = st_am_scan_getnextslot_tidrange;
	r->parallelscan_estimate = st_parallelscan_estimate;
	r->parallelscan_initialize = st_parallelscan_initialize;
	r->parallelscan_reinitialize = st_parallelscan_reinitialize;

	r->index_fetch_begin = st_index_fetch_begin;
	r->index_fetch_reset = st_index_fetch_reset;
	r->index_fetch_end = st_index_fetch_end;
	r->index_fetch_tuple = st_index_fetch_tuple;

	r->tuple_fetch_row_version = st_tuple_fetch_row_version;
	r->tuple_tid_valid = st_tuple_tid_valid;
	r->tuple_get_latest_tid = st_tuple_get_latest_tid;
	r->tuple_satisfies_snapshot = st_tuple_satisfies_snapshot;
	r->index_delete_tuples = st_index_delete_tuples;

	r->tuple_insert = st_tuple_insert;
	r->tuple_insert_speculative = st_tuple_insert_speculative;
	r->multi_insert = st_multi_insert;
	r->tuple_delete = st_tuple_delete;
	r->tuple_update = st_tuple_update;
	r->tuple_lock = st_tuple_lock;
	r->finish_bulk_insert = st_finish_bulk_insert;

	r->relation_set_new_filelocator = st_relation_set_new_filelocator;
	r->relation_nontransactional_truncate = st_relation_nontransactional_truncate;
	r->relation_copy_data = st_relation_copy_data;
	r->relation_copy_for_cluster = st_am_relation_copy_for_cluster;
	r->relation_vacuum = st_am_relation_vacuum;
	r->scan_analyze_next_block = st_am_scan_analyze_next_block;
	r->scan_analyze_next_tuple = st_am_scan_analyze_next_tuple;
	r->index_build_range_scan = st_am_index_build_range_scan;
	r->index_validate_scan = st_am_index_validate_scan;

	r->relation_needs_toast_table = st_relation_needs_toast_table;
	r->relation_toast_am = st_relation_toast_am;
	r->relation_estimate_size = st_relation_estimate_size;

#ifndef ST_HAVE_BITMAP_STREAM
	r->scan_bitmap_next_block = st_am_scan_bitmap_next_block;
#endif
	r->scan_bitmap_next_tuple = st_am_scan_bitmap_next_tuple;
	r->scan_sample_next_block = st_am_scan_sample_next_block;
	r->scan_sample_next_tuple = st_am_scan_sample_next_tuple;
}

const TableAmRoutine *
st_tableam_handler(StTableAm *am)
{
	if (!st_store_in_use)
	{
		st_pending_init();
		st_delta_growth_init();
		st_reader_cache_init();
		st_own_changes_init();
		st_toast_index_init();
		st_place_init();
		st_column_stats_init();
		st_store_in_use = true;
	}
	return &am->routine;
}

/* Every relation that a node of a plan scans or changes stands in es_relations. */
bool
st_plan_is_ours(const EState *estate)
{
	for (Index i = 0; i < estate->es_range_table_size; i++)
	{
		Relation	rel = estate->es_relations[i];

		if (rel != NULL && st_relation_format(rel) != NULL)
			return true;
	}
	return false;
}
