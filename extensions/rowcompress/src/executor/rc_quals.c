/*-------------------------------------------------------------------------
 *
 * rc_quals.c
 *	  The conditions of a scan, each run at the cheapest place that can
 *	  decide it.
 *
 * 1. Zones of the row group: may rule it out, or settle a qual for all of it.
 * 2. Zones of the batch: likewise.
 * 3. Loops over a column's numbers (rc_select.c).  They call no function of
 *	  the server and cannot fail, so they may go before quals that stand
 *	  before them, whatever those protect.
 * 4. The rest row by row, in the plan's order, when the row is asked for: a
 *	  function that fails, leaks or is volatile sees the rows that a plain
 *	  scan would show it.
 *
 * Memory: right sides live until rescan; quals are evaluated in the node's
 * per-tuple context, which the caller resets.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

#include "rc_quals.h"

bool		rc_enable_pruning = true;
bool		rc_enable_vector_filter = true;

typedef struct ZoneSource
{
	StReader   *reader;
	int64		batchno;		/* -1: the whole row group */
} ZoneSource;

/* Sets the columns that a clause refers to; all of them for a whole row. */
static void
set_columns(RcQual *qual, Index varno, int natts)
{
	Bitmapset  *attrs = NULL;
	bool		whole_row;

	pull_varattnos((Node *) qual->clause, varno, &attrs);
	whole_row = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, attrs);
	qual->attnos = palloc(sizeof(AttrNumber) * (natts + 1));
	for (AttrNumber attno = 1; attno <= natts; attno++)
		if (whole_row || bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, attrs))
			qual->attnos[qual->ncolumns++] = attno;
}

RcQuals *
rc_quals_create(List *clauses, Index varno, PlanState *node, int natts)
{
	RcQuals    *quals = palloc0(sizeof(RcQuals));
	ListCell   *lc;

	quals->nquals = list_length(clauses);
	quals->quals = palloc0(sizeof(RcQual) * (quals->nquals + 1));
	quals->econtext = node->ps_ExprContext;
	quals->values_mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "rowcompress qual values",
											   ALLOCSET_SMALL_SIZES);
	foreach(lc, clauses)
	{
		RcQual	   *qual = &quals->quals[foreach_current_index(lc)];

		qual->clause = lfirst(lc);
		qual->state = ExecInitQual(list_make1(qual->clause), node);
		qual->pred = st_pred_create(qual->clause, varno, node, quals->values_mcxt);
		set_columns(qual, varno, natts);
	}
	return quals;
}

void
rc_quals_rescan(RcQuals *quals)
{
	for (int i = 0; i < quals->nquals; i++)
		if (quals->quals[i].pred)
			st_pred_reset(quals->quals[i].pred);
	MemoryContextReset(quals->values_mcxt);
}

static bool
lookup_zone(void *arg, AttrNumber attno, StZone *zone)
{
	ZoneSource *source = arg;

	return rc_reader_zone(source->reader, attno, source->batchno, zone);
}

static StZoneMatch
test_zones(RcQual *qual, StReader *reader, int64 batchno)
{
	ZoneSource	source = {reader, batchno};

	if (qual->pred == NULL || !rc_enable_pruning)
		return ST_ZONE_SOME;
	return st_zone_test(qual->pred, lookup_zone, &source);
}

bool
rc_quals_group(RcQuals *quals, StReader *reader)
{
	for (int i = 0; i < quals->nquals; i++)
	{
		RcQual	   *qual = &quals->quals[i];
		StZoneMatch match = test_zones(qual, reader, -1);

		if (match == ST_ZONE_NONE)
			return false;
		qual->settled_group = match == ST_ZONE_ALL;
	}
	return true;
}

bool
rc_quals_batch(RcQuals *quals, StReader *reader, uint32 batchno)
{
	for (int i = 0; i < quals->nquals; i++)
	{
		RcQual	   *qual = &quals->quals[i];
		StZoneMatch match;

		qual->settled = qual->settled_group;
		if (qual->settled)
			continue;
		match = test_zones(qual, reader, batchno);
		if (match == ST_ZONE_NONE)
			return false;
		qual->settled = match == ST_ZONE_ALL;
	}
	return true;
}

void
rc_quals_select(RcQuals *quals, RcBatch *batch, uint32 nrows, uint64 *selection)
{
	for (int i = 0; i < quals->nquals && rc_enable_vector_filter; i++)
	{
		RcQual	   *qual = &quals->quals[i];

		if (qual->settled || qual->pred == NULL || qual->pred->lossy ||
			qual->pred->kind != ST_PRED_COMPARE || qual->pred->string)
			continue;
		qual->settled = rc_select(qual->pred, rc_batch_vector(batch, qual->pred->attno),
								  nrows, selection);
	}
}

bool
rc_quals_slot(RcQuals *quals, TupleTableSlot *slot)
{
	quals->econtext->ecxt_scantuple = slot;
	for (int i = 0; i < quals->nquals; i++)
		if (!ExecQual(quals->quals[i].state, quals->econtext))
			return false;
	return true;
}
