/*-------------------------------------------------------------------------
 *
 * st_scan.c
 *	  Table scans: descriptors of all kinds, and the sequential scan.
 *
 * A sequential scan returns the delta first, then the row groups, or the
 * other way round when it runs backward; the direction may change at any
 * row.  A parallel one runs forward and shares two counters: the next chunk
 * of the delta, and the row number below which groups are taken.
 *
 * Scans of other kinds (bitmap, sample, TID, ANALYZE, index build) use the
 * descriptor only; their callbacks are in st_am_*.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "st_counters.h"
#include "st_read.h"
#include "st_write.h"

typedef enum SeqPhase
{
	SEQ_START,					/* before the first row */
	SEQ_DELTA,
	SEQ_GROUPS,
	SEQ_END						/* behind the last row */
} SeqPhase;

typedef struct StSeqScan
{
	SeqPhase	phase;
	StCatalog	catalog;
	bool		catalog_open;
	StGroupList *groups;
	const StGroupList *known;	/* for dirty snapshots: all that were looked at */
	StDeltaScan *delta;
	uint32		nchunks;
	uint32		chunk;			/* current one, if phase is SEQ_DELTA */
	int64		delta_rows;		/* handed out, and not counted yet */

	/* if phase is SEQ_GROUPS */
	int			pos;			/* of groups: current one, or next to take */
	const StGroup *group;
	int64		row;			/* last one returned, -1, or nrows */
	uint64	   *deleted;
	StReader   *reader;			/* opened for the first row */
	MemoryContext group_mcxt;
	StFetch		fetch;			/* for dirty snapshots: row by row */
	Datum	   *values;
	bool	   *isnull;
	TupleTableSlot *slot;		/* the last one that was filled */
	const StScanColumns *columns;	/* what is looked at in it, or NULL */
	const StScanColumns *of_command;	/* the same of a utility command */
} StSeqScan;

static Size
parallel_offset(Relation rel)
{
	return MAXALIGN(table_block_parallelscan_estimate(rel));
}

Size
st_parallelscan_estimate(Relation rel)
{
	return parallel_offset(rel) + sizeof(StParallelScan);
}

static StParallelScan *
parallel_part(Relation rel, ParallelTableScanDesc pscan)
{
	return (StParallelScan *) ((char *) pscan + parallel_offset(rel));
}

/* Runs in the leader before workers start: they see none of its memory. */
Size
st_parallelscan_initialize(Relation rel, ParallelTableScanDesc pscan)
{
	StParallelScan *shared = parallel_part(rel, pscan);

	st_flush_pending(rel);
	table_block_parallelscan_initialize(rel, pscan);
	pg_atomic_init_u64(&shared->next_chunk, 0);
	pg_atomic_init_u64(&shared->next_row, 0);
	return st_parallelscan_estimate(rel);
}

void
st_parallelscan_reinitialize(Relation rel, ParallelTableScanDesc pscan)
{
	StParallelScan *shared = parallel_part(rel, pscan);

	table_block_parallelscan_reinitialize(rel, pscan);
	pg_atomic_write_u64(&shared->next_chunk, 0);
	pg_atomic_write_u64(&shared->next_row, 0);
}

TableScanDesc
st_scan_begin(Relation rel, Snapshot snapshot, int nkeys,
			  struct ScanKeyData *key, ParallelTableScanDesc pscan,
			  uint32 flags)
{
	StScan	   *scan = palloc0(sizeof(StScan));

	st_flush_pending_for(rel, snapshot);

	RelationIncrementReferenceCount(rel);
	scan->base.rs_rd = rel;
	scan->base.rs_snapshot = snapshot;
	scan->base.rs_nkeys = nkeys;
	scan->base.rs_flags = flags;
	scan->base.rs_parallel = pscan;
	scan->mcxt = AllocSetContextCreate(CurrentMemoryContext, "table scan",
									   ALLOCSET_SMALL_SIZES);
	if (nkeys > 0)
	{
		scan->base.rs_key = MemoryContextAlloc(scan->mcxt,
											   nkeys * sizeof(ScanKeyData));
		memcpy(scan->base.rs_key, key, nkeys * sizeof(ScanKeyData));
	}
	if (pscan != NULL)
		scan->shared = parallel_part(rel, pscan);
	return &scan->base;
}

TableScanDesc
st_scan_inner(StScan *scan)
{
	if (scan->inner == NULL)
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(scan->mcxt);

		/* The snapshot is unregistered by the outer scan. */
		scan->inner = heap_beginscan(scan->base.rs_rd, scan->base.rs_snapshot,
									 0, NULL, scan->base.rs_parallel,
									 scan->base.rs_flags & ~SO_TEMP_SNAPSHOT);
		MemoryContextSwitchTo(oldcxt);
	}
	return scan->inner;
}

const StGroup *
st_scan_take_group(StScan *scan, const StGroupList *groups, int *pos)
{
	if (scan->shared == NULL)
		return *pos < groups->ngroups ? &groups->groups[(*pos)++] : NULL;

	for (;;)
	{
		uint64		taken = pg_atomic_read_u64(&scan->shared->next_row);
		const StGroup *group;

		while (*pos < groups->ngroups &&
			   groups->groups[*pos].first_row < taken)
			(*pos)++;
		if (*pos == groups->ngroups)
			return NULL;
		group = &groups->groups[*pos];
		if (pg_atomic_compare_exchange_u64(&scan->shared->next_row, &taken,
										   group->first_row + 1))
		{
			(*pos)++;
			return group;
		}
	}
}

/* ---- row groups of a sequential scan ---- */

static void
seq_close_group(StScan *scan)
{
	StSeqScan  *seq = scan->seq;

	if (seq->reader != NULL)
		st_relation_format(scan->base.rs_rd)->reader_close(seq->reader);
	seq->reader = NULL;
	seq->deleted = NULL;
	seq->group = NULL;
	MemoryContextReset(seq->group_mcxt);
}

/* Opens a group, positioned before its first or behind its last row. */
static void
seq_open_group(StScan *scan, const StGroup *group, ScanDirection direction)
{
	StSeqScan  *seq = scan->seq;
	Snapshot	snapshot = scan->base.rs_snapshot;

	seq_close_group(scan);
	st_count(scan->base.rs_rd, ST_COUNT_GROUPS_READ, 1);
	seq->group = group;
	seq->row = ScanDirectionIsBackward(direction) ? (int64) group->nrows : -1;
	if (snapshot->snapshot_type != SNAPSHOT_ANY &&
		snapshot->snapshot_type != SNAPSHOT_DIRTY)
		seq->deleted = st_deleted_rows_in(&seq->catalog, group, snapshot,
										  seq->group_mcxt, NULL, NULL);
}

static bool
open_catalog(StSeqScan *seq, Relation rel)
{
	if (!seq->catalog_open)
		seq->catalog_open = st_meta_has_row_groups(rel, NULL) &&
			st_catalog_open(&seq->catalog, rel, AccessShareLock);
	return seq->catalog_open;
}

/*
 * A dirty snapshot sees what others commit while it looks.  A compaction that
 * does so takes rows away that the scan has not come to, and puts them into
 * groups that its list does not have.  So at the end it asks for groups that
 * have come since.  Rows only move to groups of larger numbers: whoever has
 * found a row gone comes to it after that.
 */
static bool
seq_newer_groups(StScan *scan)
{
	StSeqScan  *seq = scan->seq;
	MemoryContext oldcxt;
	StGroupList *all;
	int			k = 0;

	if (scan->base.rs_snapshot->snapshot_type != SNAPSHOT_DIRTY ||
		!open_catalog(seq, scan->base.rs_rd))
		return false;
	oldcxt = MemoryContextSwitchTo(scan->mcxt);
	all = st_visible_groups_in(&seq->catalog, scan->base.rs_snapshot, scan->mcxt);
	seq->groups = palloc(sizeof(StGroupList));
	seq->groups->ngroups = 0;
	seq->groups->groups = palloc_extended(Max(all->ngroups, 1) * sizeof(StGroup),
										  MCXT_ALLOC_HUGE);
	MemoryContextSwitchTo(oldcxt);
	for (int i = 0; i < all->ngroups; i++)
	{
		while (k < seq->known->ngroups &&
			   seq->known->groups[k].first_row < all->groups[i].first_row)
			k++;
		if (k == seq->known->ngroups ||
			seq->known->groups[k].first_row != all->groups[i].first_row)
			seq->groups->groups[seq->groups->ngroups++] = all->groups[i];
	}
	seq->known = all;
	seq->pos = 0;
	return seq->groups->ngroups > 0;
}

/*
 * Goes to the next group in scan direction.  Returns false behind the last,
 * with seq->pos telling on which side.
 */
static bool
seq_next_group(StScan *scan, ScanDirection direction)
{
	StSeqScan  *seq = scan->seq;
	const StGroup *group;

	if (scan->shared != NULL)
	{
		group = st_scan_take_group(scan, seq->groups, &seq->pos);
		if (group == NULL)
			return false;
		seq_open_group(scan, group, direction);
		return true;
	}

	seq->pos += ScanDirectionIsBackward(direction) ? -1 : 1;
	if (seq->pos < 0 ||
		(seq->pos >= seq->groups->ngroups && !seq_newer_groups(scan)))
		return false;
	seq_open_group(scan, &seq->groups->groups[seq->pos], direction);
	return true;
}

/* The next row that the bitmap does not rule out; false behind the last. */
static bool
seq_next_row(StScan *scan, ScanDirection direction)
{
	StSeqScan  *seq = scan->seq;
	int64		step = ScanDirectionIsBackward(direction) ? -1 : 1;

	if (seq->group == NULL)
		return false;
	for (;;)
	{
		seq->row += step;
		if (seq->row < 0 || seq->row >= seq->group->nrows)
		{
			seq_close_group(scan);
			return false;
		}
		if (seq->deleted == NULL ||
			(seq->deleted[seq->row >> 6] & (UINT64CONST(1) << (seq->row & 63))) == 0)
			return true;
		if ((seq->row & 1023) == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/*
 * A dirty snapshot says of each row who is inserting or deleting it, so each
 * is asked for on its own.
 */
static bool
seq_dirty_fetch(StScan *scan, ScanDirection direction, TupleTableSlot *slot)
{
	StSeqScan  *seq = scan->seq;
	ItemPointerData tid;

	while (seq_next_row(scan, direction))
	{
		MemoryContext oldcxt = CurrentMemoryContext;
		bool		found;

		CHECK_FOR_INTERRUPTS();
		st_tid_from_row(&tid, seq->group->first_row + seq->row);
		if (!seq->fetch.catalog_open)
			MemoryContextSwitchTo(scan->mcxt);	/* it lives as long as the scan */
		found = st_fetch_row(&seq->fetch, &tid, scan->base.rs_snapshot, slot);
		MemoryContextSwitchTo(oldcxt);
		if (found)
			return true;
	}
	return false;
}

/*
 * The row without a header, with those of its columns that somebody looks at.
 * They are the reader's, and stay until it is asked for the next row.
 */
static void
seq_store_virtual(StSeqScan *seq, Relation rel, TupleTableSlot *slot)
{
	const bool *needed = seq->columns->output;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true,
		   slot->tts_tupleDescriptor->natts * sizeof(bool));
	if (needed != NULL)
		st_relation_format(rel)->reader_row(seq->reader, seq->row, needed,
											slot->tts_values, slot->tts_isnull);
	st_store_virtual_row(slot, rel, seq->group->first_row + seq->row);
}

static bool
seq_group_fetch(StScan *scan, ScanDirection direction, TupleTableSlot *slot)
{
	StSeqScan  *seq = scan->seq;
	Relation	rel = scan->base.rs_rd;

	if (scan->base.rs_snapshot->snapshot_type == SNAPSHOT_DIRTY)
		return seq_dirty_fetch(scan, direction, slot);
	if (!seq_next_row(scan, direction))
		return false;

	pgstat_count_heap_getnext(rel);
	if (seq->slot != slot)
	{
		seq->slot = slot;
		seq->columns = st_scan_columns_of(slot);
		if (seq->columns == NULL)
			seq->columns = seq->of_command;
	}
	if (seq->columns != NULL && seq->columns->output == NULL)
	{
		seq_store_virtual(seq, rel, slot);
		return true;
	}
	if (seq->reader == NULL)
	{
		seq->reader = st_relation_format(rel)->reader_open(rel, seq->group,
														   seq->group_mcxt);
		/* ALTER TABLE reads rows of the old type, see st_store.h */
		if (slot->tts_tupleDescriptor != RelationGetDescr(rel))
			st_relation_format(rel)->reader_describe(seq->reader,
													 slot->tts_tupleDescriptor);
	}
	if (seq->columns != NULL)
	{
		seq_store_virtual(seq, rel, slot);
		return true;
	}
	st_relation_format(rel)->reader_row(seq->reader, seq->row, NULL,
										seq->values, seq->isnull);
	st_store_row(slot, rel, seq->group, seq->row, seq->values, seq->isnull);
	return true;
}

/* ---- the delta of a sequential scan ---- */

/* For the view stats. */
static void
count_delta_rows(StScan *scan)
{
	if (scan->seq->delta_rows > 0)
		st_count(scan->base.rs_rd, ST_COUNT_DELTA_ROWS, scan->seq->delta_rows);
	scan->seq->delta_rows = 0;
}

/* Goes to the next chunk in scan direction, or returns false. */
static bool
seq_next_chunk(StScan *scan, ScanDirection direction)
{
	StSeqScan  *seq = scan->seq;

	count_delta_rows(scan);
	if (scan->shared != NULL)
		seq->chunk = pg_atomic_fetch_add_u64(&scan->shared->next_chunk, 1);
	else if (ScanDirectionIsBackward(direction))
	{
		if (seq->chunk == 0)
			return false;
		seq->chunk--;
	}
	else
		seq->chunk++;

	if (seq->chunk >= seq->nchunks)
		return false;
	st_delta_set_chunk(seq->delta, seq->chunk);
	return true;
}

/* ---- the whole ---- */

static void
seq_begin(StScan *scan)
{
	Relation	rel = scan->base.rs_rd;
	int			natts = RelationGetNumberOfAttributes(rel);
	MemoryContext oldcxt = MemoryContextSwitchTo(scan->mcxt);
	StSeqScan  *seq = palloc0(sizeof(StSeqScan));

	st_flush_pending_for(rel, scan->base.rs_snapshot);
	seq->groups = st_visible_groups_in(open_catalog(seq, rel) ? &seq->catalog : NULL,
									   scan->base.rs_snapshot, scan->mcxt);
	seq->known = seq->groups;
	seq->delta = st_delta_begin(rel, scan->base.rs_snapshot, seq->groups);
	seq->nchunks = st_delta_nchunks(seq->delta);
	seq->group_mcxt = AllocSetContextCreate(scan->mcxt, "row group",
											ALLOCSET_DEFAULT_SIZES);
	st_fetch_init(&seq->fetch, rel);
	seq->values = palloc(Max(natts, 1) * sizeof(Datum));
	seq->isnull = palloc(Max(natts, 1) * sizeof(bool));
	seq->of_command = st_utility_scan_columns(rel, scan->mcxt);
	scan->seq = seq;
	MemoryContextSwitchTo(oldcxt);
}

static void
seq_end(StScan *scan)
{
	if (scan->seq == NULL)
		return;
	seq_close_group(scan);
	count_delta_rows(scan);
	st_fetch_end(&scan->seq->fetch);
	if (scan->seq->catalog_open)
		st_catalog_close(&scan->seq->catalog);
	st_delta_end(scan->seq->delta);
	scan->seq = NULL;
}

/* Enters the delta from one of its ends. */
static void
seq_enter_delta(StScan *scan, ScanDirection direction)
{
	StSeqScan  *seq = scan->seq;

	seq->phase = SEQ_DELTA;
	/* the next step goes to chunk 0 or nchunks - 1 */
	seq->chunk = ScanDirectionIsBackward(direction) ? seq->nchunks : (uint32) -1;
}

static void
seq_enter_groups(StScan *scan, ScanDirection direction)
{
	StSeqScan  *seq = scan->seq;

	seq->phase = SEQ_GROUPS;
	if (scan->shared != NULL)
		seq->pos = 0;
	else
		seq->pos = ScanDirectionIsBackward(direction) ? seq->groups->ngroups : -1;
	seq->group = NULL;
}

static bool
seq_fetch(StScan *scan, ScanDirection direction, TupleTableSlot *slot)
{
	bool		backward = ScanDirectionIsBackward(direction);
	StSeqScan  *seq = scan->seq;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		switch (seq->phase)
		{
			case SEQ_START:
				if (backward)
					return false;
				seq_enter_delta(scan, direction);
				break;
			case SEQ_DELTA:
				if (seq->chunk < seq->nchunks &&
					st_delta_fetch(seq->delta, direction, slot))
				{
					seq->delta_rows++;
					return true;
				}
				if (seq_next_chunk(scan, direction))
					break;
				if (backward)
					seq->phase = SEQ_START;
				else
					seq_enter_groups(scan, direction);
				break;
			case SEQ_GROUPS:
				if (seq_group_fetch(scan, direction, slot))
					return true;
				if (seq_next_group(scan, direction))
					break;
				if (backward)
					seq_enter_delta(scan, direction);
				else
					seq->phase = SEQ_END;
				break;
			case SEQ_END:
				if (!backward)
					return false;
				seq_enter_groups(scan, direction);
				break;
		}
	}
}

static bool
keys_match(StScan *scan, TupleTableSlot *slot)
{
	for (int i = 0; i < scan->base.rs_nkeys; i++)
	{
		ScanKey		key = &scan->base.rs_key[i];
		bool		isnull;
		Datum		value = slot_getattr(slot, key->sk_attno, &isnull);

		if (isnull || (key->sk_flags & SK_ISNULL) != 0 ||
			!DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation,
											value, key->sk_argument)))
			return false;
	}
	return true;
}

bool
st_scan_getnextslot(TableScanDesc sscan, ScanDirection direction,
					TupleTableSlot *slot)
{
	StScan	   *scan = (StScan *) sscan;

	if (scan->seq == NULL)
	{
		seq_begin(scan);
		/* Heap, too, starts a backward scan at the end. */
		if (ScanDirectionIsBackward(direction))
			scan->seq->phase = SEQ_END;
	}

	while (seq_fetch(scan, direction, slot))
	{
		if (keys_match(scan, slot))
			return true;
	}
	ExecClearTuple(slot);
	return false;
}

void
st_scan_rescan(TableScanDesc sscan, struct ScanKeyData *key, bool set_params,
			   bool allow_strat, bool allow_sync, bool allow_pagemode)
{
	StScan	   *scan = (StScan *) sscan;

	if (key != NULL && scan->base.rs_nkeys > 0)
		memcpy(scan->base.rs_key, key,
			   scan->base.rs_nkeys * sizeof(ScanKeyData));
	if (scan->am_rescan != NULL)
		scan->am_rescan(scan);
	if (scan->seq != NULL)
	{
		seq_close_group(scan);
		scan->seq->phase = SEQ_START;
	}
	if (scan->inner != NULL)
		heap_rescan(scan->inner, NULL, set_params, allow_strat, allow_sync,
					allow_pagemode);
}

void
st_scan_end(TableScanDesc sscan)
{
	StScan	   *scan = (StScan *) sscan;

	if (scan->am_end != NULL)
		scan->am_end(scan);
	seq_end(scan);
	if (scan->inner != NULL)
		heap_endscan(scan->inner);
	if ((scan->base.rs_flags & SO_TEMP_SNAPSHOT) != 0)
		UnregisterSnapshot(scan->base.rs_snapshot);
	RelationDecrementReferenceCount(scan->base.rs_rd);
	MemoryContextDelete(scan->mcxt);
	pfree(scan);
}
