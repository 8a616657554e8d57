/*-------------------------------------------------------------------------
 *
 * st_am_analyze.c
 *	  Sampling rows for ANALYZE.
 *
 * The server picks blocks and takes all rows of each.  A page of an extent
 * stands for its share of the row group's rows: page k of n for the rows from
 * nrows*k/n to nrows*(k+1)/n.  So every row, wherever it is stored, is offered
 * with the same probability.  To offer every row of every extent would decode
 * the whole table.  So each row is offered with a probability, the same for
 * the delta and for row groups.  It is chosen so that a multiple of the sample
 * that the statistics targets ask for remains.
 *
 * The totals are exact for row groups.  The server multiplies the live rows
 * that we report by total blocks / sampled blocks.  We know both numbers at
 * every block.  So we report what makes that product the exact number of rows
 * in row groups, plus the estimate for the delta alone.
 *
 * Locks: as for ANALYZE of heap (ShareUpdateExclusiveLock, a share lock on the
 * current heap page between two calls).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_attribute.h"
#include "commands/vacuum.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "st_am.h"
#include "st_read.h"

/* Rows kept per row that the statistics targets ask for. */
#define SAMPLE_SURPLUS 2.0

/* The server samples this many rows, and as many blocks, per target point. */
#define ROWS_PER_TARGET 300.0

typedef struct AnalyzeScan
{
	StScan	   *scan;
	TableScanDesc heap;
	BlockNumber nblocks;		/* of the main fork */
	TransactionId oldest_xmin;

	StGroupVersions *groups;	/* not dead to all */
	struct AnalyzeExtent *extents;	/* of them, sorted */
	int			nextents;
	BlockNumber extent_blocks;
	double		group_live;		/* rows in all groups */
	double		group_dead;
	double		keep;			/* probability to keep a row offered */

	double		blocks_seen;
	double		heap_blocks_seen;
	double		heap_live;		/* rows seen in the delta */
	double		heap_dead;

	/* the current block */
	bool		heap_done;
	int			group;			/* whose extent the block is of, or -1 */
	uint32		row;			/* next row to look at */
	uint32		row_end;

	int			deaths_of;		/* group that deaths is of, or -1 */
	StRowDeaths *deaths;
	MemoryContext deaths_mcxt;
	StRowReader rows;
} AnalyzeScan;

/* ---- preparation ---- */

/* Pages of a row group, in a row. */
typedef struct AnalyzeExtent
{
	StExtentRange range;
	uint32		first_page;		/* of the group's image */
	int			group;
} AnalyzeExtent;

/*
 * Does ANALYZE count a row in this state as live?  As heap: what others have
 * in progress has not happened, what this transaction did has.
 */
static bool
counts_as_live(HTSV_Result state, TransactionId xid)
{
	switch (state)
	{
		case HEAPTUPLE_LIVE:
			return true;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			return TransactionIdIsCurrentTransactionId(xid);
		case HEAPTUPLE_DELETE_IN_PROGRESS:
			return !TransactionIdIsCurrentTransactionId(xid);
		default:
			return false;
	}
}

/* Adds a group's rows to the totals. */
static void
count_group(AnalyzeScan *a, const StGroupVersion *v)
{
	StRowDeaths *deaths;
	double		dead = 0;

	if (!counts_as_live(v->state, v->xid))
	{
		if (v->state != HEAPTUPLE_INSERT_IN_PROGRESS)
			a->group_dead += v->group.nrows;
		return;
	}
	deaths = st_row_deaths(a->scan->base.rs_rd, &v->group, a->oldest_xmin,
						   a->deaths_mcxt);
	for (uint32 i = 0; i < deaths->n; i++)
	{
		if (!counts_as_live(deaths->d[i].state, deaths->d[i].xid))
			dead++;
	}
	a->group_live += v->group.nrows - dead;
	a->group_dead += dead;
	MemoryContextReset(a->deaths_mcxt);
}

static void
list_extents(AnalyzeScan *a)
{
	const StGroupVersions *g = a->groups;
	uint64		nranges = 1;

	for (int i = 0; i < g->n; i++)
		nranges += Max(1, g->v[i].group.nruns);
	a->extents = palloc_extended(nranges * sizeof(AnalyzeExtent),
								 MCXT_ALLOC_HUGE);
	for (int i = 0; i < g->n; i++)
	{
		StExtentRange runs[ST_MAX_RUNS];
		int			n = st_group_extents(&g->v[i].group, runs);
		uint32		page = 0;

		for (int k = 0; k < n; k++)
		{
			AnalyzeExtent *e = &a->extents[a->nextents++];

			e->range = runs[k];
			e->first_page = page;
			e->group = i;
			page += runs[k].end - runs[k].start;
		}
	}
	if (a->nextents > 1)
		qsort(a->extents, a->nextents, sizeof(AnalyzeExtent),
			  st_compare_ranges);
}

static void
load_groups(AnalyzeScan *a)
{
	Relation	rel = a->scan->base.rs_rd;
	StGroupVersions *g;
	int			kept = 0;

	st_flush_pending(rel);
	g = st_group_versions(rel, a->oldest_xmin, a->scan->mcxt);

	for (int i = 0; i < g->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (g->v[i].state == HEAPTUPLE_DEAD)
			continue;
		g->v[kept++] = g->v[i];
		a->extent_blocks += g->v[i].group.nblocks;
		count_group(a, &g->v[i]);
	}
	g->n = kept;
	a->groups = g;
	list_extents(a);
}

/* The highest statistics target of the table's columns. */
static int
statistics_target(Relation rel)
{
	int			target = default_statistics_target;

	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
	{
		HeapTuple	tuple = SearchSysCache2(ATTNUM,
											ObjectIdGetDatum(RelationGetRelid(rel)),
											Int16GetDatum(i + 1));
		bool		isnull;
		Datum		value;

		if (!HeapTupleIsValid(tuple))
			continue;
		value = SysCacheGetAttr(ATTNUM, tuple,
								Anum_pg_attribute_attstattarget, &isnull);

		/* 2 or 4 bytes wide, depending on the server; at most 10000 */
		if (!isnull)
			target = Max(target, DatumGetInt16(value));
		ReleaseSysCache(tuple);
	}
	return target;
}

static void
choose_keep(AnalyzeScan *a)
{
	double		wanted = ROWS_PER_TARGET *
		statistics_target(a->scan->base.rs_rd);
	double		sampled_blocks = Min(wanted, (double) a->nblocks);

	a->keep = 1.0;
	if (a->group_live > 0 && sampled_blocks > 0)
		a->keep = Min(1.0, SAMPLE_SURPLUS * wanted * a->nblocks /
					  (sampled_blocks * a->group_live));
}

static void
analyze_end(StScan *scan)
{
	AnalyzeScan *a = scan->am_state;

	st_row_reader_end(&a->rows);
}

/*
 * Counts the rows of all groups.  Done before the first page is locked, so
 * with a horizon of our own, which may be younger than the server's.
 */
static void
analyze_begin(StScan *scan)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(scan->mcxt);
	AnalyzeScan *a = palloc0(sizeof(AnalyzeScan));

	a->scan = scan;
	a->heap = st_scan_inner(scan);
	a->nblocks = RelationGetNumberOfBlocks(scan->base.rs_rd);
	a->deaths_of = -1;
	a->deaths_mcxt = AllocSetContextCreate(scan->mcxt, "deleted rows",
										   ALLOCSET_SMALL_SIZES);
	a->oldest_xmin = GetOldestNonRemovableTransactionId(scan->base.rs_rd);
	st_row_reader_init(&a->rows, scan->base.rs_rd, NULL);
	load_groups(a);
	choose_keep(a);
	scan->am_state = a;
	scan->am_end = analyze_end;
	MemoryContextSwitchTo(oldcxt);
}

/* ---- blocks ---- */

/* Finds whose extent a block is of; NULL: it is a page of the delta. */
static const AnalyzeExtent *
find_extent(const AnalyzeScan *a, BlockNumber block)
{
	int			lo = 0;
	int			hi = a->nextents;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (a->extents[mid].range.end <= block)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < a->nextents && a->extents[lo].range.start <= block)
		return &a->extents[lo];
	return NULL;
}

/* Rows to skip until the next one that is kept. */
static uint32
random_gap(double keep)
{
	double		gap;

	if (keep >= 1.0)
		return 0;
	gap = floor(log(1.0 - pg_prng_double(&pg_global_prng_state)) /
				log(1.0 - keep));
	return gap > PG_UINT32_MAX / 2 ? PG_UINT32_MAX / 2 : (uint32) gap;
}

/*
 * Both shapes of scan_analyze_next_block end here, after heap has read and
 * locked the page: on a page of an extent heap will find no tuples.
 */
static void
enter_block(StScan *scan)
{
	AnalyzeScan *a = scan->am_state;

	a->blocks_seen++;
	a->heap_done = false;
	a->group = -1;
}

#ifdef ST_HAVE_ANALYZE_STREAM
/* TableAmRoutine.scan_analyze_next_block */
bool
st_am_scan_analyze_next_block(TableScanDesc sscan, ReadStream *stream)
{
	StScan	   *scan = (StScan *) sscan;

	if (scan->am_state == NULL)
		analyze_begin(scan);
	if (!st_heapam()->scan_analyze_next_block(st_scan_inner(scan), stream))
		return false;
	enter_block(scan);
	return true;
}
#else
/* TableAmRoutine.scan_analyze_next_block */
bool
st_am_scan_analyze_next_block(TableScanDesc sscan, BlockNumber block,
							  BufferAccessStrategy strategy)
{
	StScan	   *scan = (StScan *) sscan;

	if (scan->am_state == NULL)
		analyze_begin(scan);
	if (!st_heapam()->scan_analyze_next_block(st_scan_inner(scan), block,
											  strategy))
		return false;
	enter_block(scan);
	return true;
}
#endif

/* ---- tuples ---- */

/* The delta's page is done: find the share of a row group, if any. */
static void
enter_group(AnalyzeScan *a)
{
	BlockNumber block = ((HeapScanDesc) a->heap)->rs_cblock;
	const AnalyzeExtent *e = find_extent(a, block);
	const StGroup *g;
	BlockNumber page;

	a->heap_done = true;
	a->group = e == NULL ? -1 : e->group;
	if (e == NULL)
	{
		a->heap_blocks_seen++;
		return;
	}

	g = &a->groups->v[a->group].group;
	page = block - e->range.start + e->first_page;
	a->row = (uint32) ((uint64) g->nrows * page / g->nblocks);
	a->row_end = (uint32) ((uint64) g->nrows * (page + 1) / g->nblocks);
	if (a->deaths_of != a->group)
	{
		MemoryContextReset(a->deaths_mcxt);
		a->deaths = st_row_deaths(a->scan->base.rs_rd, g, a->oldest_xmin,
								  a->deaths_mcxt);
		a->deaths_of = a->group;
	}
}

/* The next row kept of the current share of a row group. */
static bool
next_group_row(AnalyzeScan *a, TupleTableSlot *slot)
{
	const StGroupVersion *v = &a->groups->v[a->group];

	for (;;)
	{
		uint64		row = (uint64) a->row + random_gap(a->keep);
		HTSV_Result state;
		TransactionId xid;

		CHECK_FOR_INTERRUPTS();
		if (row >= a->row_end)
			break;
		a->row = (uint32) row + 1;
		state = st_row_state(v, a->deaths, (uint32) row, &xid);
		if (!counts_as_live(state, xid))
			continue;
		st_row_reader_fetch(&a->rows, &v->group, (uint32) row, slot);
		return true;
	}
	a->row = a->row_end;
	a->group = -1;
	return false;
}

/*
 * Returns the number of live rows to report up to this block.  It makes the
 * server's formula, (rows reported / blocks sampled) * blocks, come to the
 * rows of the whole table if this block is the last.
 */
static double
rows_to_report(const AnalyzeScan *a, double group_rows, double heap_rows)
{
	double		heap_blocks = (double) a->nblocks - a->extent_blocks;
	double		total = group_rows;

	if (a->heap_blocks_seen > 0 && heap_blocks > 0)
		total += heap_rows / a->heap_blocks_seen * heap_blocks;
	return total * a->blocks_seen / Max(a->nblocks, 1);
}

/* TableAmRoutine.scan_analyze_next_tuple */
bool
st_am_scan_analyze_next_tuple(TableScanDesc sscan, ST_UNTIL_18(TransactionId oldest_xmin,)
							  double *liverows, double *deadrows,
							  TupleTableSlot *slot)
{
	AnalyzeScan *a = ((StScan *) sscan)->am_state;

	while (!a->heap_done)
	{
		if (!st_heapam()->scan_analyze_next_tuple(a->heap, ST_UNTIL_18(oldest_xmin,)
												  &a->heap_live,
												  &a->heap_dead, slot))
			enter_group(a);
		else if (a->keep >= 1.0 ||
				 pg_prng_double(&pg_global_prng_state) < a->keep)
			return true;
	}
	if (a->group >= 0 && next_group_row(a, slot))
		return true;

	*liverows = rows_to_report(a, a->group_live, a->heap_live);
	*deadrows = rows_to_report(a, a->group_dead, a->heap_dead);
	ExecClearTuple(slot);
	return false;
}
