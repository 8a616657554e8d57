/*-------------------------------------------------------------------------
 *
 * st_compact_delta.c
 *	  Compaction: taking rows out of the delta.
 *
 * A row may be moved if the step's snapshot sees it and nobody holds a lock
 * on it.  st_delete_quietly() decides that without waiting: it refuses a tuple that
 * a running transaction locks, in whatever mode, or changes.  Mostly that comes
 * last (st_compact_take.c).  Until then the step's snapshot keeps the tuple from
 * being pruned.  Its bytes do not change.  The image of its page goes to the WAL
 * when it is copied, at the step's pace: all rows are deleted at once, and commits
 * of others would wait for the images of all pages together.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "st_compact_int.h"
#include "st_wal.h"

/* The first block from *block on that is in no extent; *pos is a cursor. */
static BlockNumber
next_delta_block(const StExtentRanges *extents, int *pos, BlockNumber block)
{
	while (*pos < extents->n && extents->v[*pos].start <= block)
	{
		block = Max(block, extents->v[*pos].end);
		(*pos)++;
	}
	return block;
}

int
st_page_tuples(Relation rel, Buffer buffer, Snapshot snapshot, bool unheld,
			   OffsetNumber *offsets)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	Page		page = BufferGetPage(buffer);
	CommandId	cid = unheld ? GetCurrentCommandId(false) : InvalidCommandId;
	int			n = 0;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!PageIsNew(page))
	{
		OffsetNumber last = PageGetMaxOffsetNumber(page);

		for (OffsetNumber off = FirstOffsetNumber; off <= last; off++)
		{
			ItemId		item = PageGetItemId(page, off);
			HeapTupleData tuple;

			if (!ItemIdIsNormal(item))
				continue;
			ItemPointerSet(&tuple.t_self, block, off);
			tuple.t_tableOid = RelationGetRelid(rel);
			tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
			tuple.t_len = ItemIdGetLength(item);
			if (HeapTupleSatisfiesVisibility(&tuple, snapshot, buffer) &&
				(!unheld ||
				 HeapTupleSatisfiesUpdate(&tuple, cid, buffer) == TM_Ok))
				offsets[n++] = off;
		}
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return n;
}

/* Pages that the job has still to look at begin and end here. */
static BlockNumber
start_block(Relation rel, const StCompactJob *job)
{
	return Max(job->next_block, st_delta_start(rel));
}

static BlockNumber
end_block(Relation rel, const StCompactJob *job)
{
	return Min(Min(job->stop_block, job->end_block), RelationGetNumberOfBlocks(rel));
}

uint64
st_delta_count(Relation rel, const StExtentRanges *extents,
			   const StCompactJob *job, uint64 limit, bool unheld)
{
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	BlockNumber nblocks = end_block(rel, job);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	uint64		count = 0;
	int			pos = 0;

	for (BlockNumber block = next_delta_block(extents, &pos, start_block(rel, job));
		 block < nblocks && count < limit;
		 block = next_delta_block(extents, &pos, block + 1))
	{
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL,
									strategy);
		count += st_page_tuples(rel, buffer, GetActiveSnapshot(), unheld, offsets);
		ReleaseBuffer(buffer);
		if (unheld)				/* in a step */
			st_pace_rest();
	}
	FreeAccessStrategy(strategy);
	return count;
}

BlockNumber
st_delta_between(const StExtentRanges *extents, BlockNumber block, BlockNumber end)
{
	BlockNumber pages = 0;

	for (int i = 0; i < extents->n && block < end; i++)
	{
		if (extents->v[i].start > block)
			pages += Min(extents->v[i].start, end) - block;
		block = Max(block, extents->v[i].end);
	}
	return pages + (block < end ? end - block : 0);
}

BlockNumber
st_delta_block(const StExtentRanges *extents, BlockNumber from, BlockNumber pages)
{
	for (int i = 0; i < extents->n; i++)
	{
		const StExtentRange *r = &extents->v[i];

		if (r->start > from)
		{
			if (pages <= r->start - from)
				break;
			pages -= r->start - from;
		}
		from = Max(from, r->end);
	}
	return from + pages;
}

BlockNumber
st_delta_pages(Relation rel, const StExtentRanges *extents,
			   const StCompactJob *job)
{
	return st_delta_between(extents, job->rest_start, job->rest_end) +
		st_delta_between(extents, Max(job->reached, st_delta_start(rel)),
						 Min(job->end_block, RelationGetNumberOfBlocks(rel)));
}

/* Bytes of a tuple, with those of the values that it points to. */
static int64
tuple_bytes(HeapTuple tuple, TupleDesc desc, const Datum *values, const bool *isnull)
{
	int64		bytes = tuple->t_len + sizeof(ItemIdData);

	if (!HeapTupleHasExternal(tuple))
		return bytes;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(desc, i);
		struct varatt_external pointer;

		if (isnull[i] || attr->attisdropped || attr->attlen != -1 ||
			!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(values[i])))
			continue;
		VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(values[i]));
		bytes += VARATT_EXTERNAL_GET_EXTSIZE(pointer);
	}
	return bytes;
}

/* Moves the rows of one page. */
static void
move_page(Relation rel, Buffer buffer, StCompactSink *sink, Datum *values,
		  bool *isnull)
{
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	BlockNumber block = BufferGetBlockNumber(buffer);
	Page		page = BufferGetPage(buffer);
	int			n = st_page_tuples(rel, buffer, GetActiveSnapshot(), sink->copies,
								   offsets);

	for (int i = 0; i < n; i++)
	{
		ItemId		item = PageGetItemId(page, offsets[i]);
		HeapTupleData tuple;

		ItemPointerSet(&tuple.t_self, block, offsets[i]);
		if (!sink->copies && !st_delete_quietly(rel, &tuple.t_self))
			continue;
		tuple.t_tableOid = RelationGetRelid(rel);
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		heap_deform_tuple(&tuple, RelationGetDescr(rel), values, isnull);
		sink->bytes_taken += tuple_bytes(&tuple, RelationGetDescr(rel), values, isnull);
		st_sink_add(sink, values, isnull, st_delta_position(&tuple.t_self));
	}
	if (n > 0 && sink->copies)
	{
		st_wal_image_ahead(rel, buffer);
		st_wal_keep_up_beside_writers();
	}
}

BlockNumber
st_delta_move(Relation rel, const StExtentRanges *extents,
			  const StCompactJob *job, uint64 limit, StCompactSink *sink)
{
	BlockNumber nblocks = end_block(rel, job);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	Datum	   *values = palloc(Max(sink->natts, 1) * sizeof(Datum));
	bool	   *isnull = palloc(Max(sink->natts, 1) * sizeof(bool));
	int			pos = 0;
	BlockNumber block = next_delta_block(extents, &pos, start_block(rel, job));

	while (block < nblocks && sink->rows < limit)
	{
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL,
									strategy);
		move_page(rel, buffer, sink, values, isnull);
		ReleaseBuffer(buffer);
		st_pace_rest();
		block = next_delta_block(extents, &pos, block + 1);
	}
	FreeAccessStrategy(strategy);
	pfree(values);
	pfree(isnull);
	return block;
}
