/*-------------------------------------------------------------------------
 *
 * cc_filter.c
 *	  The conditions of a scan, each run at the cheapest place that can
 *	  decide it.
 *
 * 1. Zones of the row group: may rule it out, or settle a qual for all of it.
 * 2. Zones of the vector: likewise.
 * 3. Kernels on vectors (cc_select.c).  They call no function of the server
 *	  and cannot fail, so they may go before quals that stand before them.
 * 4. Any other qual on one dictionary-encoded column: once per distinct value
 *	  that a selected row refers to, remembered for the row group.  Never for
 *	  a value that no row surviving the earlier quals has: its errors, or a
 *	  function that leaks what it sees, would show rows that are deleted or
 *	  hidden by a security barrier.
 * 5. The rest row by row, in the plan's order, when the row is asked for: a
 *	  volatile function sees the rows that a plain scan would show it.
 *
 * Memory: right sides live until rescan, memos until the next row group;
 * quals are evaluated in the node's per-tuple context, which is reset here
 * after quals of kind 4 and by the caller for rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

#include "cc_filter.h"
#include "cc_select.h"
#include "st_zone.h"

#define MEMO_FALSE	1
#define MEMO_TRUE	2

bool		cc_enable_pruning = true;
bool		cc_enable_vector_filter = true;

typedef struct ZoneSource
{
	StReader   *reader;
	int64		vecno;			/* -1: the whole row group */
} ZoneSource;

static inline CcQualSet
qual_bit(const CcFilter *filter, const CcQual *qual)
{
	int			i = qual - filter->quals;

	return i < 64 ? UINT64CONST(1) << i : 0;
}

/* Sets the columns that a clause refers to; all of them for a whole row. */
static void
set_columns(CcQual *qual, Index varno, int natts)
{
	Bitmapset  *attrs = NULL;
	bool		whole_row;
	bool		system = false;
	int			n = 0;

	pull_varattnos((Node *) qual->clause, varno, &attrs);
	whole_row = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, attrs);
	for (int attno = FirstLowInvalidHeapAttributeNumber + 1; attno < 0; attno++)
		system |= bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, attrs);

	qual->attnos = palloc(sizeof(AttrNumber) * (natts + 1));
	for (AttrNumber attno = 1; attno <= natts; attno++)
		if (whole_row || bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, attrs))
			qual->attnos[n++] = attno;
	qual->ncolumns = n;

	if (n == 1 && !whole_row && !system &&
		!contain_volatile_functions((Node *) qual->clause) &&
		!contain_subplans((Node *) qual->clause))
		qual->memo_attno = qual->attnos[0];
}

CcFilter *
cc_filter_create(List *quals, Index varno, PlanState *node, TupleTableSlot *slot)
{
	CcFilter   *filter = palloc0(sizeof(CcFilter));
	ListCell   *lc;

	filter->nquals = list_length(quals);
	filter->quals = palloc0(sizeof(CcQual) * (filter->nquals + 1));
	filter->deferred = palloc0(sizeof(CcQual *) * (filter->nquals + 1));
	filter->econtext = node->ps_ExprContext;
	filter->slot = slot;
	filter->values_mcxt = AllocSetContextCreate(CurrentMemoryContext,
												"colcompress qual values",
												ALLOCSET_SMALL_SIZES);
	filter->group_mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "colcompress qual memos",
											   ALLOCSET_SMALL_SIZES);

	foreach(lc, quals)
	{
		CcQual	   *qual = &filter->quals[foreach_current_index(lc)];

		qual->clause = lfirst(lc);
		qual->state = ExecInitQual(list_make1(qual->clause), node);
		qual->pred = st_pred_create(qual->clause, varno, node, filter->values_mcxt);
		qual->cheap = qual->pred && cc_select_is_cheap(qual->pred);
		set_columns(qual, varno, slot->tts_tupleDescriptor->natts);
	}
	return filter;
}

void
cc_filter_rescan(CcFilter *filter)
{
	for (int i = 0; i < filter->nquals; i++)
	{
		CcQual	   *qual = &filter->quals[i];

		if (qual->pred)
			st_pred_reset(qual->pred);
		qual->memo_dict = NULL;
	}
	MemoryContextReset(filter->values_mcxt);
	MemoryContextReset(filter->group_mcxt);
}

static bool
lookup_zone(void *arg, AttrNumber attno, StZone *zone)
{
	ZoneSource *source = arg;

	return cc_reader_zone(source->reader, attno, source->vecno, zone);
}

static StZoneMatch
test_zones(CcFilter *filter, CcQual *qual, StReader *reader, int64 vecno)
{
	ZoneSource	source = {reader, vecno};
	StZoneMatch match;

	if (qual->pred == NULL || !cc_enable_pruning)
		return ST_ZONE_SOME;
	match = st_zone_test(qual->pred, lookup_zone, &source);
	if (match != ST_ZONE_SOME)
		filter->zone_quals |= qual_bit(filter, qual);
	return match;
}

bool
cc_filter_group(CcFilter *filter, StReader *reader)
{
	for (int i = 0; i < filter->nquals; i++)
		filter->quals[i].memo_dict = NULL;
	MemoryContextReset(filter->group_mcxt);

	for (int i = 0; i < filter->nquals; i++)
	{
		StZoneMatch match = test_zones(filter, &filter->quals[i], reader, -1);

		if (match == ST_ZONE_NONE)
			return false;
		filter->quals[i].passes_group = match == ST_ZONE_ALL;
	}
	return true;
}

bool
cc_filter_vector(CcFilter *filter, StReader *reader, uint32 vecno)
{
	for (int i = 0; i < filter->nquals; i++)
	{
		CcQual	   *qual = &filter->quals[i];
		StZoneMatch match;

		qual->settled = qual->passes_group;
		if (qual->settled)
			continue;
		match = test_zones(filter, qual, reader, vecno);
		if (match == ST_ZONE_NONE)
			return false;
		qual->settled = match == ST_ZONE_ALL;
	}
	return true;
}

/* The qual's result for one value of its only column. */
static bool
evaluate_memo(CcFilter *filter, CcQual *qual, Datum value, bool isnull)
{
	TupleTableSlot *slot = filter->slot;
	bool		result;

	CHECK_FOR_INTERRUPTS();
	slot->tts_values[qual->memo_attno - 1] = value;
	slot->tts_isnull[qual->memo_attno - 1] = isnull;
	filter->econtext->ecxt_scantuple = slot;
	result = ExecQual(qual->state, filter->econtext);
	ResetExprContext(filter->econtext);
	return result;
}

static inline bool
memo_passes(CcFilter *filter, CcQual *qual, const CcVector *v, int row)
{
	uint8	   *memo = &qual->memo_null;
	bool		isnull = cc_vector_isnull(v, row);

	if (!isnull)
		memo = &qual->memo[v->u.code[row]];
	if (*memo == 0)
	{
		Datum		value = isnull ? (Datum) 0 : v->dict->values[v->u.code[row]];

		*memo = evaluate_memo(filter, qual, value, isnull) ? MEMO_TRUE : MEMO_FALSE;
	}
	return *memo == MEMO_TRUE;
}

/* The qual's column in the batch, if results by distinct value can be kept. */
static const CcVector *
memo_vector(CcFilter *filter, CcQual *qual, CcBatch *batch)
{
	const CcVector *v;

	if (qual->memo_attno == InvalidAttrNumber)
		return NULL;
	v = cc_batch_vector(batch, qual->memo_attno);
	if (v->rep != CC_REP_CODE)
		return NULL;
	if (qual->memo_dict != v->dict)
	{
		qual->memo_dict = v->dict;
		qual->memo = MemoryContextAllocZero(filter->group_mcxt, v->dict->nvalues + 1);
		qual->memo_null = 0;
	}
	return v;
}

static bool
select_by_memo(CcFilter *filter, CcQual *qual, CcBatch *batch)
{
	const CcVector *v = memo_vector(filter, qual, batch);

	if (v == NULL)
		return false;
	for (int w = 0; w < (batch->nrows + 63) / 64; w++)
	{
		uint64		word = batch->selection[w];

		for (uint64 left = word; left != 0; left &= left - 1)
		{
			int			bit = __builtin_ctzll(left);

			if (!memo_passes(filter, qual, v, w * 64 + bit))
				word &= ~(UINT64CONST(1) << bit);
		}
		batch->selection[w] = word;
	}
	return true;
}

static bool
select_by_kernel(CcFilter *filter, CcQual *qual, CcBatch *batch)
{
	if (qual->pred == NULL || !cc_select(qual->pred, batch, batch->selection))
		return false;
	filter->vector_quals |= qual_bit(filter, qual);
	qual->settled = true;
	return true;
}

void
cc_filter_batch(CcFilter *filter, CcBatch *batch)
{
	filter->ndeferred = 0;
	if (filter->nquals == 0)
		return;

	for (int i = 0; i < filter->nquals && cc_enable_vector_filter; i++)
	{
		CcQual	   *qual = &filter->quals[i];

		if (qual->settled || !qual->cheap)
			continue;
		if (cc_selection_is_empty(batch->selection, batch->nrows))
			return;
		select_by_kernel(filter, qual, batch);
	}

	for (int i = 0; i < filter->nquals; i++)
	{
		CcQual	   *qual = &filter->quals[i];

		if (qual->settled)
			continue;
		if (cc_selection_is_empty(batch->selection, batch->nrows))
			return;
		if (cc_enable_vector_filter && !qual->cheap &&
			select_by_kernel(filter, qual, batch))
			continue;
		/* Quals that were deferred come first: they decide what this one sees. */
		if (cc_enable_vector_filter && filter->ndeferred == 0 &&
			select_by_memo(filter, qual, batch))
		{
			filter->vector_quals |= qual_bit(filter, qual);
			qual->settled = true;
			continue;
		}
		filter->deferred[filter->ndeferred++] = qual;
	}
}

bool
cc_filter_row(CcFilter *filter, CcBatch *batch, int row)
{
	for (int i = 0; i < filter->ndeferred; i++)
	{
		CcQual	   *qual = filter->deferred[i];
		TupleTableSlot *slot = filter->slot;

		filter->row_quals |= qual_bit(filter, qual);
		for (int c = 0; c < qual->ncolumns; c++)
		{
			AttrNumber	attno = qual->attnos[c];
			CcBatchColumn *column = cc_batch_column(batch, attno);

			if (column->access == CC_ACCESS_NONE)
				cc_batch_decode(batch, column);
			cc_batch_value(column, row, &slot->tts_values[attno - 1],
						   &slot->tts_isnull[attno - 1]);
		}
		filter->econtext->ecxt_scantuple = slot;
		if (!ExecQual(qual->state, filter->econtext))
			return false;
	}
	return true;
}

bool
cc_filter_slot(CcFilter *filter, TupleTableSlot *slot)
{
	filter->econtext->ecxt_scantuple = slot;
	for (int i = 0; i < filter->nquals; i++)
		if (!ExecQual(filter->quals[i].state, filter->econtext))
			return false;
	return true;
}
