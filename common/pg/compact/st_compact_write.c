/*-------------------------------------------------------------------------
 *
 * st_compact_write.c
 *	  Compaction: writing new row groups.
 *
 * Rows come in, one after another or through a sort by the option orderby, and
 * go out into row groups of the running transaction: extent and finished
 * descriptor, then, for all of a step's groups at its end, index entries for the
 * new TIDs: they cost most, and stay behind as dead ones if the step is undone.
 *
 * The entries are made without a unique check: the same key has an entry at the
 * row's old place.  Rows are copied while they count there (st_compact_take.c):
 * another inserter of the key meets them at the old place and, once that is
 * gone, at the new one (fetch_dirty() in st_fetch.c).  An exclusion constraint
 * may come to the new place first, and so may logical replication that looks for
 * a row by an index of another kind than btree.  So where there is one, the old
 * place is deleted before: who finds either place waits for us, looks again, and
 * finds the new one.
 *
 * Where the rows went is written down in the origin map at the end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "st_compact_int.h"
#include "st_compat.h"
#include "st_options.h"
#include "st_progress.h"

/* ---- groups ---- */

/* A group that was written, which has no index entries yet. */
static void
remember_group(StCompactSink *sink, const StGroup *group)
{
	if (sink->groups == sink->maxwritten)
	{
		sink->maxwritten = Max(8, sink->maxwritten * 2);
		sink->written = sink->written == NULL ?
			palloc(sink->maxwritten * sizeof(StGroup)) :
			repalloc(sink->written, sink->maxwritten * sizeof(StGroup));
	}
	sink->written[sink->groups++] = *group;
}

static void
finish_group(StCompactSink *sink, bool full)
{
	StDescriptorRunsPayload payload;
	Size		len;
	StGroup		group;
	StImage    *img;

	if (sink->writer == NULL)
		return;

	memset(&group, 0, sizeof(group));
	group.nrows = sink->nrows;
	group.first_row = st_reserve_rows(sink->rel, sink->nrows);
	group.incarnation = sink->incarnation;
	group.full = full;
	group.order_hash = sink->order_hash;
	group.copied = sink->copies;
	img = st_image_create(sink->group_mcxt);
	sink->format->writer_finish(sink->writer, img, &group);
	st_extent_write(sink->rel, img, &group, ST_MAX_RUNS, sink->before);

	len = st_descriptor_encode(&group, true, &payload);
	st_catalog_insert(sink->catalog, ST_DESCRIPTOR, group.first_row, &payload,
					  len, GetCurrentCommandId(true), 0, NULL);
	pgstat_count_heap_insert(sink->rel, group.nrows);

	sink->writer = NULL;
	MemoryContextReset(sink->group_mcxt);

	for (uint32 i = 0; i < group.nrows; i++)
		sink->moved[sink->nmoved - group.nrows + i].row = group.first_row + i;
	remember_group(sink, &group);
}

static void
remember_move(StCompactSink *sink, uint64 old)
{
	if (sink->nmoved == sink->maxmoved)
	{
		sink->maxmoved = Max(1024, sink->maxmoved * 2);
		sink->moved = sink->moved == NULL ?
			palloc_extended(sink->maxmoved * sizeof(StMoved), MCXT_ALLOC_HUGE) :
			repalloc_huge(sink->moved, sink->maxmoved * sizeof(StMoved));
	}
	sink->moved[sink->nmoved++].old = old;
}

static void
write_row(StCompactSink *sink, const Datum *values, const bool *isnull,
		  uint64 old)
{
	bool		computes = sink->order != NULL && st_order_computes(sink->order);

	if (sink->writer == NULL)
	{
		sink->writer = sink->format->writer_create(sink->rel, st_options_get(sink->rel),
												   sink->group_mcxt);
		if (computes)
			sink->format->writer_keys(sink->writer, st_order_zoned(sink->order));
		sink->nrows = 0;
	}
	/* keys stand behind the row's old place */
	if (computes)
		sink->format->writer_add_keys(sink->writer, values + sink->natts + 1,
									  isnull + sink->natts + 1);
	sink->format->writer_add(sink->writer, values, isnull);
	remember_move(sink, old);
	sink->nrows++;
	if (sink->nmoved % ST_PROGRESS_EVERY == 0)
		st_progress_set(ST_PROGRESS_WRITTEN, sink->nmoved);
	if (sink->format->writer_full(sink->writer) ||
		sink->nrows >= sink->max_rows)
		finish_group(sink, true);
}

/* ---- the sink ---- */

/* The table's row type, and the old place of a row. */
static TupleDesc
sort_descriptor(TupleDesc desc)
{
	TupleDesc	result = CreateTemplateTupleDesc(desc->natts + 1);

	for (int i = 1; i <= desc->natts; i++)
		TupleDescCopyEntry(result, i, desc, i);
	TupleDescInitEntry(result, desc->natts + 1, "old", INT8OID, -1, 0);
	TupleDescFinalize(result);
	return result;
}

static void
begin_sort(StCompactSink *sink)
{
	TupleDesc	desc = st_order_descriptor(sink->order,
										   sort_descriptor(RelationGetDescr(sink->rel)));

	sink->sort = st_order_sort(sink->order, desc);
	sink->put_slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	sink->sort_slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
}

void
st_sink_begin(StCompactSink *sink, Relation rel, StCatalog *catalog,
			  uint64 incarnation)
{
	memset(sink, 0, sizeof(*sink));
	sink->rel = rel;
	sink->catalog = catalog;
	sink->format = st_relation_format(rel);
	sink->incarnation = incarnation;
	sink->max_rows = st_options_get(rel)->row_group_rows;
	sink->before = MaxBlockNumber;
	sink->natts = RelationGetNumberOfAttributes(rel);
	sink->group_mcxt = AllocSetContextCreate(CurrentMemoryContext,
											 "compacted row group",
											 ALLOCSET_DEFAULT_SIZES);
	sink->order = st_order_begin(rel);
	if (sink->order != NULL)
		begin_sort(sink);
	sink->order_hash = st_order_hash(sink->order);
	st_indexes_open(&sink->indexes, rel);
	sink->copies = st_take_last && !sink->indexes.no_order;
	st_pace_allow(sink->copies);
}

static void
sort_row(StCompactSink *sink, const Datum *values, const bool *isnull,
		 uint64 old)
{
	TupleTableSlot *slot = sink->put_slot;

	ExecClearTuple(slot);
	memcpy(slot->tts_values, values, sink->natts * sizeof(Datum));
	memcpy(slot->tts_isnull, isnull, sink->natts * sizeof(bool));
	slot->tts_values[sink->natts] = Int64GetDatum((int64) old);
	slot->tts_isnull[sink->natts] = false;
	ExecStoreVirtualTuple(slot);
	st_order_put(sink->order, sink->sort, slot);
}

void
st_sink_add(StCompactSink *sink, Datum *values, bool *isnull, uint64 old)
{
	TupleDesc	desc = RelationGetDescr(sink->rel);

	for (int i = 0; i < sink->natts; i++)
	{
		if (TupleDescAttr(desc, i)->attisdropped)
			isnull[i] = true;
	}
	sink->rows++;
	if (sink->rows % ST_PROGRESS_EVERY == 0)
		st_progress_set(ST_PROGRESS_TAKEN, sink->rows);
	if (sink->sort != NULL)
		sort_row(sink, values, isnull, old);
	else
		write_row(sink, values, isnull, old);
}

static void
write_sorted(StCompactSink *sink)
{
	TupleTableSlot *slot = sink->sort_slot;

	tuplesort_performsort(sink->sort);
	while (tuplesort_gettupleslot(sink->sort, true, false, slot, NULL))
	{
		CHECK_FOR_INTERRUPTS();
		st_pace_rest();
		slot_getallattrs(slot);
		write_row(sink, slot->tts_values, slot->tts_isnull,
				  (uint64) DatumGetInt64(slot->tts_values[sink->natts]));
	}
	ExecDropSingleTupleTableSlot(slot);
	ExecDropSingleTupleTableSlot(sink->put_slot);
	tuplesort_end(sink->sort);
	st_order_end(sink->order);
	sink->sort = NULL;
	sink->order = NULL;
}

/*
 * Rows of the delta sort before those of groups.  Each group has a map of its
 * own, as its chunks must not reach over rows of another one.
 */
static void
write_origins(StCompactSink *sink, const StGroupVersion *groups, int ngroups)
{
	uint64		i = 0;

	if (sink->nmoved > 1)
		qsort(sink->moved, sink->nmoved, sizeof(StMoved), st_compare_rows);
	while (i < sink->nmoved && (sink->moved[i].old & ST_OLD_IS_ROW) == 0)
		i++;
	sink->ndelta = i;
	st_origin_add_delta(sink->catalog, sink->moved, i);

	for (int g = 0; g < ngroups; g++)
	{
		uint64		end = groups[g].group.first_row + groups[g].group.nrows;
		uint64		first = i;

		while (i < sink->nmoved &&
			   (sink->moved[i].old & ~ST_OLD_IS_ROW) < end)
			sink->moved[i++].old &= ~ST_OLD_IS_ROW;
		if (i > first)
			st_origin_add_rows(sink->catalog, sink->moved + first, i - first);
	}
	Assert(i == sink->nmoved);
}

void
st_sink_write(StCompactSink *sink)
{
	if (sink->sort != NULL)
		write_sorted(sink);
	finish_group(sink, false);
}

void
st_sink_link(StCompactSink *sink, const StGroupVersion *groups, int ngroups)
{
	st_index_groups(&sink->indexes, sink->rel, sink->written, sink->groups);
	write_origins(sink, groups, ngroups);
}

void
st_sink_end(StCompactSink *sink)
{
	st_pace_allow(true);
	st_indexes_close(&sink->indexes);
	if (sink->moved != NULL)
		pfree(sink->moved);
	sink->moved = NULL;
	MemoryContextDelete(sink->group_mcxt);
}
