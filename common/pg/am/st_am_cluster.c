/*-------------------------------------------------------------------------
 *
 * st_am_cluster.c
 *	  VACUUM FULL and CLUSTER: copying a table into a new file, MVCC-safe.
 *
 * Rows are of two kinds.  A row is *settled* if everybody sees it: committed
 * before the horizon and deleted by nobody.  Settled rows, of the delta and of
 * row groups alike, go into new row groups whose descriptors are frozen, in
 * index order for CLUSTER, else in that of the option orderby.  All others
 * that somebody may still see (recently deleted, recently inserted, of the
 * running transaction) go to the new delta, in index order as well.  Heap's
 * rewrite module writes them; it keeps xmin, xmax and update chains.  A row-
 * group row is given the tuple header that it would have in a heap: xmin of
 * its descriptor, xmax of its tombstone, and the tombstone's forwarding TID as
 * t_ctid.  So no tombstone is carried over.  A group that is too young to be
 * settled becomes delta until it is compacted.
 *
 * The rewrite module writes past the end of the file that it began with, so
 * the row groups come first, in a pass of their own.  Both passes judge rows
 * with the same horizon under AccessExclusiveLock, so they agree.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/rewriteheap.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_am_d.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/combocid.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

#include "st_am.h"
#include "st_options.h"
#include "st_read.h"
#include "st_compact.h"
#include "st_space.h"

/* Writes rows into row groups of the new table. */
typedef struct GroupWriter
{
	Relation	from;			/* whose options count: the new one has none */
	Relation	to;
	const StFormat *format;
	StWriter   *writer;			/* NULL: none begun */
	uint32		nrows;
	uint32		max_rows;
	const StOrder *order;		/* in which rows come, or NULL */
	uint64		order_hash;
	MemoryContext mcxt;			/* of the group under construction */
} GroupWriter;

typedef struct ClusterCopy
{
	Relation	from;
	Relation	to;
	TransactionId oldest_xmin;
	TupleTableSlot *slot;
	StRowReader rows;
	StGroupVersions *groups;
	MemoryContext deaths_mcxt;

	GroupWriter out;
	Tuplesortstate *sort;		/* NULL: rows are written as they come */
	StOrder    *order;			/* it sorts by the option orderby, or NULL */
	TupleTableSlot *order_slot; /* rows into that sort */
	RewriteState rewrite;		/* second pass */

	Datum	   *values;
	bool	   *isnull;
	double		num_tuples;
	double		tups_vacuumed;
	double		tups_recently_dead;
} ClusterCopy;

/* ---- writing row groups ---- */

static void
group_writer_finish(GroupWriter *w)
{
	StGroup		group;
	StImage    *img;
	StDescriptorRunsPayload payload;
	Size		len;
	StCatalog	cat;

	if (w->writer == NULL)
		return;

	memset(&group, 0, sizeof(group));
	group.nrows = w->nrows;
	group.order_hash = w->order_hash;
	group.first_row = st_reserve_rows(w->to, w->nrows);
	img = st_image_create(w->mcxt);
	w->format->writer_finish(w->writer, img, &group);
	st_extent_write(w->to, img, &group, 1, 0);

	if (!st_catalog_open(&cat, w->to, RowExclusiveLock))
		elog(ERROR, "relation \"%s\" has no TOAST relation",
			 RelationGetRelationName(w->to));
	len = st_descriptor_encode(&group, true, &payload);
	st_catalog_insert(&cat, ST_DESCRIPTOR, group.first_row, &payload,
					  len, GetCurrentCommandId(true),
					  HEAP_INSERT_FROZEN, NULL);
	st_catalog_close(&cat);

	w->writer = NULL;
	MemoryContextReset(w->mcxt);
}

static void
group_writer_add(GroupWriter *w, const Datum *values, const bool *isnull)
{
	bool		computes = w->order != NULL && st_order_computes(w->order);

	if (w->writer == NULL)
	{
		w->writer = w->format->writer_create(w->from, st_options_get(w->from),
											 w->mcxt);
		if (computes)
			w->format->writer_keys(w->writer, st_order_zoned(w->order));
		w->nrows = 0;
	}
	if (computes)
		w->format->writer_add_keys(w->writer,
								   values + RelationGetNumberOfAttributes(w->from),
								   isnull + RelationGetNumberOfAttributes(w->from));
	w->format->writer_add(w->writer, values, isnull);
	w->nrows++;
	if (w->nrows >= w->max_rows || w->format->writer_full(w->writer))
		group_writer_finish(w);
}

/* ---- judging rows ---- */

typedef enum RowFate
{
	ROW_DEAD,
	ROW_SETTLED,
	ROW_UNSETTLED
} RowFate;

/*
 * xmin is the row's inserter (frozen counts as old).
 */
static RowFate
row_fate(const ClusterCopy *c, HTSV_Result state, TransactionId xmin)
{
	if (state == HEAPTUPLE_DEAD)
		return ROW_DEAD;
	if (state == HEAPTUPLE_LIVE &&
		TransactionIdPrecedes(xmin, c->oldest_xmin))
		return ROW_SETTLED;
	return ROW_UNSETTLED;
}

/* Nobody else can have something in progress here: say so if it seems so. */
static void
check_in_progress(const ClusterCopy *c, HTSV_Result state, TransactionId xid)
{
	if ((state != HEAPTUPLE_INSERT_IN_PROGRESS &&
		 state != HEAPTUPLE_DELETE_IN_PROGRESS) ||
		TransactionIdIsCurrentTransactionId(xid))
		return;
	elog(WARNING, "concurrent %s in progress within table \"%s\"",
		 state == HEAPTUPLE_INSERT_IN_PROGRESS ? "insert" : "delete",
		 RelationGetRelationName(c->from));
}

static HTSV_Result
heap_tuple_state(const ClusterCopy *c, HeapTuple tuple, Buffer buffer,
				 TransactionId *xid)
{
	HTSV_Result state;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	state = HeapTupleSatisfiesVacuum(tuple, c->oldest_xmin, buffer);
	if (state == HEAPTUPLE_DELETE_IN_PROGRESS)
		*xid = HeapTupleHeaderGetUpdateXid(tuple->t_data);
	else
		*xid = HeapTupleHeaderGetXmin(tuple->t_data);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return state;
}

/* ---- first pass: settled rows ---- */

static void
null_dropped_columns(ClusterCopy *c, bool *isnull)
{
	TupleDesc	desc = RelationGetDescr(c->to);

	for (int i = 0; i < desc->natts; i++)
	{
		if (TupleDescAttr(desc, i)->attisdropped)
			isnull[i] = true;
	}
}

/* The slot's row into the sort by the option orderby. */
static void
put_in_order(ClusterCopy *c, TupleTableSlot *slot)
{
	TupleTableSlot *out = c->order_slot;
	int			natts = RelationGetNumberOfAttributes(c->from);

	slot_getallattrs(slot);
	ExecClearTuple(out);
	memcpy(out->tts_values, slot->tts_values, natts * sizeof(Datum));
	memcpy(out->tts_isnull, slot->tts_isnull, natts * sizeof(bool));
	null_dropped_columns(c, out->tts_isnull);
	ExecStoreVirtualTuple(out);
	st_order_put(c->order, c->sort, out);
}

/* Takes the settled row in the slot, with its values all fetched. */
static void
copy_settled(ClusterCopy *c, TupleTableSlot *slot)
{
	CHECK_FOR_INTERRUPTS();
	c->num_tuples += 1;
	if (c->order != NULL)
		put_in_order(c, slot);
	else if (c->sort != NULL)
	{
		bool		should_free;
		HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, true, &should_free);

		tuplesort_putheaptuple(c->sort, tuple);
		if (should_free)
			heap_freetuple(tuple);
	}
	else
	{
		slot_getallattrs(slot);
		null_dropped_columns(c, slot->tts_isnull);
		group_writer_add(&c->out, slot->tts_values, slot->tts_isnull);
	}
	pgstat_progress_update_param(PROGRESS_REPACK_HEAP_TUPLES_SCANNED,
								 c->num_tuples);
}

static void
copy_settled_groups(ClusterCopy *c)
{
	for (int i = 0; i < c->groups->n; i++)
	{
		StGroupVersion *v = &c->groups->v[i];
		StRowDeaths *deaths;

		if (row_fate(c, v->state, v->xmin) != ROW_SETTLED)
			continue;
		deaths = st_row_deaths(c->from, &v->group, c->oldest_xmin,
							   c->deaths_mcxt);
		for (uint32 row = 0; row < v->group.nrows; row++)
		{
			TransactionId xid;

			if (st_row_state(v, deaths, row, &xid) != HEAPTUPLE_LIVE)
				continue;
			st_row_reader_fetch(&c->rows, &v->group, row, c->slot);
			copy_settled(c, c->slot);
		}
		MemoryContextReset(c->deaths_mcxt);
	}
}

static bool
slot_is_settled(ClusterCopy *c, TupleTableSlot *slot)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, NULL);
	Buffer		buffer = ((BufferHeapTupleTableSlot *) slot)->buffer;
	TransactionId xid;
	HTSV_Result state = heap_tuple_state(c, tuple, buffer, &xid);

	return row_fate(c, state, HeapTupleHeaderGetXmin(tuple->t_data)) ==
		ROW_SETTLED;
}

/* Calls back for every tuple of the delta, dead ones included. */
static void
scan_delta(ClusterCopy *c, void (*visit) (ClusterCopy *, TupleTableSlot *))
{
	StGroupList *list = st_group_versions_list(c->groups);
	StDeltaScan *delta = st_delta_begin(c->from, SnapshotAny, list);
	uint32		nchunks = st_delta_nchunks(delta);

	pgstat_progress_update_param(PROGRESS_REPACK_TOTAL_HEAP_BLKS,
								 RelationGetNumberOfBlocks(c->from));
	for (uint32 chunk = 0; chunk < nchunks; chunk++)
	{
		st_delta_set_chunk(delta, chunk);
		while (st_delta_next(delta, c->slot))
		{
			BlockNumber block = ItemPointerGetBlockNumber(&c->slot->tts_tid);

			CHECK_FOR_INTERRUPTS();
			pgstat_progress_update_param(PROGRESS_REPACK_HEAP_BLKS_SCANNED,
										 block + 1);
			visit(c, c->slot);
		}
	}
	ExecClearTuple(c->slot);
	st_delta_end(delta);
}

static void
visit_settled(ClusterCopy *c, TupleTableSlot *slot)
{
	if (slot_is_settled(c, slot))
		copy_settled(c, slot);
}

/* The same for a row of a row group, by its number. */
static bool
row_is_settled(ClusterCopy *c, uint64 row)
{
	int			lo = 0;
	int			hi = c->groups->n;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		StGroupVersion *v = &c->groups->v[mid];
		HTSV_Result state;
		TransactionId xid;

		if (row < v->group.first_row)
			hi = mid;
		else if (row >= v->group.first_row + v->group.nrows)
			lo = mid + 1;
		else if (row_fate(c, v->state, v->xmin) != ROW_SETTLED)
			return false;
		else
		{
			state = st_row_state(v, st_row_deaths_of(c->from, &v->group, row, 1,
													 c->oldest_xmin,
													 c->deaths_mcxt),
								 (uint32) (row - v->group.first_row), &xid);
			MemoryContextReset(c->deaths_mcxt);
			return state == HEAPTUPLE_LIVE;
		}
	}
	return false;
}

/*
 * Settled rows in the order of an index that cannot be sorted by.  SnapshotAny
 * shows the rows that are not settled, too.  Those of row groups are not even read: the pages
 * of a group that is gone may be another one's.
 */
static void
copy_settled_by_index(ClusterCopy *c, Relation index)
{
	IndexScanDesc scan = st_index_beginscan(c->from, index, SnapshotAny);

	index_rescan(scan, NULL, 0, NULL, 0);
	while (scan->xs_heap_continue || index_getnext_tid(scan, ForwardScanDirection))
	{
		bool		virtual = st_tid_is_virtual(&scan->xs_heaptid);

		CHECK_FOR_INTERRUPTS();
		if (virtual && !row_is_settled(c, st_row_from_tid(&scan->xs_heaptid)))
			continue;
		if (!index_fetch_heap(scan, c->slot))
			continue;
		if (scan->xs_recheck)
			elog(ERROR, "CLUSTER does not support lossy index conditions");
		if (virtual || slot_is_settled(c, c->slot))
			copy_settled(c, c->slot);
	}
	ExecClearTuple(c->slot);
	index_endscan(scan);
}

/* The next sorted row, into the values; false at the end. */
static bool
next_sorted(ClusterCopy *c, TupleTableSlot *sorted)
{
	HeapTuple	tuple;

	if (c->order != NULL)
	{
		int			natts = sorted->tts_tupleDescriptor->natts;

		if (!tuplesort_gettupleslot(c->sort, true, false, sorted, NULL))
			return false;
		slot_getallattrs(sorted);
		memcpy(c->values, sorted->tts_values,
			   natts * sizeof(Datum));
		memcpy(c->isnull, sorted->tts_isnull,
			   natts * sizeof(bool));
		return true;
	}
	tuple = tuplesort_getheaptuple(c->sort, true);
	if (tuple == NULL)
		return false;
	heap_deform_tuple(tuple, RelationGetDescr(c->from), c->values, c->isnull);
	return true;
}

/* Writes what was sorted. */
static void
write_sorted(ClusterCopy *c)
{
	TupleDesc	desc = c->order == NULL ? RelationGetDescr(c->from) :
		c->order_slot->tts_tupleDescriptor;
	TupleTableSlot *sorted = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	double		written = 0;

	pgstat_progress_update_param(PROGRESS_REPACK_PHASE,
								 PROGRESS_REPACK_PHASE_SORT_TUPLES);
	tuplesort_performsort(c->sort);
	pgstat_progress_update_param(PROGRESS_REPACK_PHASE,
								 PROGRESS_REPACK_PHASE_WRITE_NEW_HEAP);
	while (next_sorted(c, sorted))
	{
		CHECK_FOR_INTERRUPTS();
		null_dropped_columns(c, c->isnull);
		group_writer_add(&c->out, c->values, c->isnull);
		pgstat_progress_update_param(PROGRESS_REPACK_HEAP_TUPLES_INSERTED,
									 ++written);
	}
	ExecDropSingleTupleTableSlot(sorted);
	tuplesort_end(c->sort);
	c->sort = NULL;
	if (c->order != NULL)
		ExecDropSingleTupleTableSlot(c->order_slot);
	st_order_end(c->order);
	c->order = NULL;
	c->out.order = NULL;
}

static bool
sorts_by_index(Relation index, bool use_sort)
{
	return index != NULL &&
		(use_sort || index->rd_rel->relam == BTREE_AM_OID);
}

static Tuplesortstate *
begin_index_sort(ClusterCopy *c, Relation index)
{
	return tuplesort_begin_cluster(RelationGetDescr(c->from), index,
								   maintenance_work_mem, NULL, TUPLESORT_NONE);
}

static void
begin_order_sort(ClusterCopy *c)
{
	TupleDesc	desc;

	c->order = st_order_begin(c->from);
	c->out.order = c->order;
	c->out.order_hash = st_order_hash(c->order);
	if (c->order == NULL)
		return;
	desc = st_order_descriptor(c->order, RelationGetDescr(c->from));
	c->sort = st_order_sort(c->order, desc);
	c->order_slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
}

static void
copy_all_settled(ClusterCopy *c, Relation index, bool use_sort)
{
	bool		sort = sorts_by_index(index, use_sort);

	pgstat_progress_update_param(PROGRESS_REPACK_PHASE,
								 index != NULL && !sort ?
								 PROGRESS_REPACK_PHASE_INDEX_SCAN_HEAP :
								 PROGRESS_REPACK_PHASE_SEQ_SCAN_HEAP);
	if (index != NULL && !sort)
		copy_settled_by_index(c, index);
	else
	{
		if (sort)
			c->sort = begin_index_sort(c, index);
		else
			begin_order_sort(c);
		copy_settled_groups(c);
		scan_delta(c, visit_settled);
		if (c->sort != NULL)
			write_sorted(c);
	}
	group_writer_finish(&c->out);
}

/* ---- second pass: everything else that somebody may see ---- */

static void
rewrite_tuple(ClusterCopy *c, HeapTuple old)
{
	HeapTuple	copy;

	CHECK_FOR_INTERRUPTS();
	heap_deform_tuple(old, RelationGetDescr(c->from), c->values, c->isnull);
	null_dropped_columns(c, c->isnull);
	copy = heap_form_tuple(RelationGetDescr(c->to), c->values, c->isnull);
	rewrite_heap_tuple(c->rewrite, old, copy);
	heap_freetuple(copy);
	c->num_tuples += 1;
}

/* CLUSTER brings them into order, too: the sort keeps their headers. */
static void
copy_unsettled(ClusterCopy *c, HeapTuple tuple)
{
	if (c->sort != NULL)
		tuplesort_putheaptuple(c->sort, tuple);
	else
		rewrite_tuple(c, tuple);
}

static void
write_sorted_unsettled(ClusterCopy *c)
{
	HeapTuple	tuple;

	tuplesort_performsort(c->sort);
	while ((tuple = tuplesort_getheaptuple(c->sort, true)) != NULL)
		rewrite_tuple(c, tuple);
	tuplesort_end(c->sort);
	c->sort = NULL;
}

static void
visit_unsettled(ClusterCopy *c, TupleTableSlot *slot)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, NULL);
	Buffer		buffer = ((BufferHeapTupleTableSlot *) slot)->buffer;
	TransactionId xid;
	HTSV_Result state = heap_tuple_state(c, tuple, buffer, &xid);

	switch (row_fate(c, state, HeapTupleHeaderGetXmin(tuple->t_data)))
	{
		case ROW_SETTLED:
			break;
		case ROW_DEAD:
			c->tups_vacuumed += 1;
			/* it may be what an unresolved chain leads to */
			if (rewrite_heap_dead_tuple(c->rewrite, tuple))
			{
				c->tups_vacuumed += 1;
				c->tups_recently_dead -= 1;
			}
			break;
		case ROW_UNSETTLED:
			check_in_progress(c, state, xid);
			if (state == HEAPTUPLE_RECENTLY_DEAD ||
				state == HEAPTUPLE_DELETE_IN_PROGRESS)
				c->tups_recently_dead += 1;
			copy_unsettled(c, tuple);
			break;
	}
}

/*
 * Gives the tuple of a row-group row the header that heap would have given
 * it.  death is its tombstone, or NULL.
 *
 * An inserter that all snapshots see is frozen: its xid may be older than the
 * table's relfrozenxid, as that of the TOAST relation, where the descriptor is,
 * advances by itself.
 */
static void
set_header(const ClusterCopy *c, HeapTuple tuple,
		   const StGroupVersion *version, const StRowDeath *death)
{
	HeapTupleHeader header = tuple->t_data;

	header->t_infomask &= ~(HEAP_XACT_MASK);
	header->t_infomask2 &= ~(HEAP2_XACT_MASK);
	HeapTupleHeaderSetXmin(header, version->xmin);
	if (TransactionIdPrecedes(version->xmin, c->oldest_xmin))
		header->t_infomask |= HEAP_XMIN_FROZEN;
	HeapTupleHeaderSetCmin(header, version->group.cmin);
	header->t_ctid = tuple->t_self;
	if (death == NULL && TransactionIdIsValid(version->xmax))
	{
		/* compaction moved the row: its new place is copied as well */
		HeapTupleHeaderSetXmax(header, version->xmax);
		header->t_infomask2 |= HEAP_KEYS_UPDATED;
		return;
	}
	if (death == NULL)
	{
		HeapTupleHeaderSetXmax(header, InvalidTransactionId);
		header->t_infomask |= HEAP_XMAX_INVALID;
		return;
	}

	if (TransactionIdIsCurrentTransactionId(death->xid))
	{
		CommandId	cmax = death->cid;
		bool		iscombo = false;

		HeapTupleHeaderAdjustCmax(header, &cmax, &iscombo);
		HeapTupleHeaderSetXmax(header, death->xid);
		HeapTupleHeaderSetCmax(header, cmax, iscombo);
	}
	else
		HeapTupleHeaderSetXmax(header, death->xid);
	header->t_infomask2 |= HEAP_KEYS_UPDATED;
	header->t_ctid = death->forward;
}

static void
copy_unsettled_row(ClusterCopy *c, StGroupVersion *v, uint32 row,
				   const StRowDeath *death, HTSV_Result state)
{
	HeapTuple	tuple;

	st_row_reader_fetch(&c->rows, &v->group, row, c->slot);
	tuple = ExecCopySlotHeapTuple(c->slot);
	tuple->t_self = c->slot->tts_tid;
	set_header(c, tuple, v, death);
	if (state == HEAPTUPLE_RECENTLY_DEAD ||
		state == HEAPTUPLE_DELETE_IN_PROGRESS)
		c->tups_recently_dead += 1;
	copy_unsettled(c, tuple);
	heap_freetuple(tuple);
}

static void
copy_unsettled_groups(ClusterCopy *c)
{
	for (int i = 0; i < c->groups->n; i++)
	{
		StGroupVersion *v = &c->groups->v[i];
		bool		settled;
		StRowDeaths *deaths;

		if (v->state == HEAPTUPLE_DEAD)
		{
			c->tups_vacuumed += v->group.nrows;
			continue;
		}
		settled = row_fate(c, v->state, v->xmin) == ROW_SETTLED;
		deaths = st_row_deaths(c->from, &v->group, c->oldest_xmin,
							   c->deaths_mcxt);
		for (uint32 row = 0; row < v->group.nrows; row++)
		{
			TransactionId xid;
			HTSV_Result state = st_row_state(v, deaths, row, &xid);

			CHECK_FOR_INTERRUPTS();
			if (state == HEAPTUPLE_DEAD)
				c->tups_vacuumed += 1;
			else if (!settled || state != HEAPTUPLE_LIVE)
			{
				check_in_progress(c, state, xid);
				copy_unsettled_row(c, v, row, st_row_death(deaths, row),
								   state);
			}
		}
		MemoryContextReset(c->deaths_mcxt);
	}
}

static void
copy_all_unsettled(ClusterCopy *c, Relation index, bool use_sort)
{
	if (sorts_by_index(index, use_sort))
		c->sort = begin_index_sort(c, index);
	copy_unsettled_groups(c);
	scan_delta(c, visit_unsettled);
	if (c->sort != NULL)
		write_sorted_unsettled(c);
}

/* ---- the whole ---- */

static void
cluster_begin(ClusterCopy *c, Relation from, Relation to,
			  TransactionId oldest_xmin)
{
	int			natts = Max(RelationGetNumberOfAttributes(from), 1);

	memset(c, 0, sizeof(*c));
	c->from = from;
	c->to = to;
	c->oldest_xmin = oldest_xmin;
	c->slot = table_slot_create(from, NULL);
	/* with what an order computes */
	c->values = palloc((natts + ST_MAX_ORDERBY) * sizeof(Datum));
	c->isnull = palloc((natts + ST_MAX_ORDERBY) * sizeof(bool));
	c->deaths_mcxt = AllocSetContextCreate(CurrentMemoryContext,
										   "deleted rows",
										   ALLOCSET_SMALL_SIZES);
	st_flush_pending(from);
	c->groups = st_group_versions(from, oldest_xmin, CurrentMemoryContext);
	st_row_reader_init(&c->rows, from, NULL);

	c->out.from = from;
	c->out.to = to;
	c->out.format = st_relation_format(from);
	c->out.max_rows = st_options_get(from)->row_group_rows;
	c->out.mcxt = AllocSetContextCreate(CurrentMemoryContext,
										"row group of the new table",
										ALLOCSET_DEFAULT_SIZES);
}

/* TableAmRoutine.relation_copy_for_cluster */
void
st_am_relation_copy_for_cluster(Relation from, Relation to, Relation index,
								bool use_sort, TransactionId oldest_xmin,
								ST_SINCE_19(Snapshot snapshot,)
								TransactionId *xid_cutoff,
								MultiXactId *multi_cutoff,
								double *num_tuples, double *tups_vacuumed,
								double *tups_recently_dead)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "table rewrite",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(mcxt);
	ClusterCopy c;

	/* With a snapshot: REPACK (CONCURRENTLY), which the server allows heap alone. */
	Assert(ST_SINCE_19(snapshot == NULL) ST_UNTIL_18(true));

	/* from keeps its TOAST relation, which is given the file of to's */
	st_catalog_retire_indexes(from);
	cluster_begin(&c, from, to, oldest_xmin);
	copy_all_settled(&c, index, use_sort);

	c.rewrite = begin_heap_rewrite(from, to, oldest_xmin, *xid_cutoff,
								   *multi_cutoff);
	copy_all_unsettled(&c, index, use_sort);
	end_heap_rewrite(c.rewrite);

	st_row_reader_end(&c.rows);
	ExecDropSingleTupleTableSlot(c.slot);
	*num_tuples += c.num_tuples;
	*tups_vacuumed += c.tups_vacuumed;
	*tups_recently_dead += c.tups_recently_dead;
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(mcxt);
}
