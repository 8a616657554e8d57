/*-------------------------------------------------------------------------
 *
 * vx_filter.c
 *	  The conditions of a scan, each run at the cheapest place that can
 *	  decide it.
 *
 * 1. Zones of the row group: may rule it out, or settle a qual for all of it.
 * 2. Zones of the vector: likewise.
 * 3. Kernels on vectors (vx_select.c).  They call no function of the server
 *	  and cannot fail, so they may go before quals that stand before them.
 * 4. Any other qual as a vector expression (vx_expr.h), in its order, as far
 *	  as that goes without asking the server for more than distinct values:
 *	  a row whose result may be an error is left to the next step.  Never for
 *	  a value that no row surviving the earlier quals has: its errors, or a
 *	  function that leaks what it sees, would show rows that are deleted or
 *	  hidden by a security barrier.
 * 5. The rest row by row, in the plan's order, when the row is asked for: a
 *	  volatile function sees the rows that a plain scan would show it.
 *
 * Memory: right sides live until rescan; quals are evaluated in the node's
 * per-tuple context, which the caller resets.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

#include "vx_filter.h"
#include "vx_join_filter.h"
#include "vx_select.h"
#include "vx_settings.h"
#include "st_zone.h"

typedef struct ZoneSource
{
	const VxKeys *keys;
	StReader   *reader;
	int64		vecno;			/* -1: the whole row group */
	int			natts;			/* of the table */
} ZoneSource;

static inline VxQualSet
qual_bit(const VxFilter *filter, const VxQual *qual)
{
	int			i = qual - filter->quals;

	return i < 64 ? UINT64CONST(1) << i : 0;
}

/* The clause as batches see it. */
static inline Expr *
vector_clause(const VxQual *qual)
{
	return qual->path_clause ? qual->path_clause : qual->clause;
}

/*
 * Sets the columns that a clause refers to; for a whole row all of the table's,
 * and no path columns, which stand behind them.
 */
static void
set_columns(VxQual *qual, Index varno, int table_natts, int natts)
{
	Bitmapset  *attrs = NULL;
	bool		whole_row;
	int			n = 0;

	pull_varattnos((Node *) vector_clause(qual), varno, &attrs);
	whole_row = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, attrs);

	qual->attnos = palloc(sizeof(AttrNumber) * (natts + 1));
	for (AttrNumber attno = 1; attno <= natts; attno++)
		if ((whole_row && attno <= table_natts) ||
			bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, attrs))
			qual->attnos[n++] = attno;
	qual->ncolumns = n;
}

/*
 * A clause with path columns is evaluated on a slot of its own, which is not
 * of the kind that the node's expressions are compiled for.
 */
static void
init_path_clause(VxQual *qual, VxPathSet *paths, PlanState *node)
{
	Expr	   *clause = (Expr *) vx_path_set_replace_condition(paths, (Node *) qual->clause);

	if (clause == qual->clause)
		return;
	qual->path_clause = clause;
	qual->path_state = ExecInitExprWithParams(clause, node->state->es_param_list_info);
}

/* Predicates: of vectors, whose columns are those of batches, and of zones. */
static void
init_preds(VxFilter *filter, VxQual *qual, Index varno, PlanState *node)
{
	Expr	   *zoned = vx_keys_replace(filter->keys, qual->clause);

	qual->pred = st_pred_create(vector_clause(qual), varno, node, filter->values_mcxt);
	qual->cheap = qual->pred && vx_select_is_cheap(qual->pred);
	qual->zone_pred = zoned == qual->clause ? qual->pred :
		st_pred_create(zoned, varno, node, filter->values_mcxt);
}

VxFilter *
vx_filter_create(List *quals, Relation rel, Index varno, PlanState *node,
				 TupleTableSlot *slot, VxPathSet *paths)
{
	VxFilter   *filter = palloc0(sizeof(VxFilter));
	TupleDesc	desc;
	ListCell   *lc;

	filter->nquals = list_length(quals);
	filter->quals = palloc0(sizeof(VxQual) * (filter->nquals + 1));
	filter->deferred = palloc0(sizeof(VxQual *) * (filter->nquals + 1));
	filter->econtext = node->ps_ExprContext;
	filter->slot = slot;
	filter->keys = vx_keys_create(rel, varno);
	filter->values_mcxt = AllocSetContextCreate(CurrentMemoryContext,
												"vector qual values",
												ALLOCSET_SMALL_SIZES);
	foreach(lc, quals)
	{
		VxQual	   *qual = &filter->quals[foreach_current_index(lc)];

		qual->clause = lfirst(lc);
		qual->state = ExecInitQual(list_make1(qual->clause), node);
		init_path_clause(qual, paths, node);
		init_preds(filter, qual, varno, node);
	}
	desc = vx_path_set_desc(paths);
	for (int i = 0; i < filter->nquals; i++)
		set_columns(&filter->quals[i], varno, slot->tts_tupleDescriptor->natts,
					desc->natts);
	filter->exprs = vx_exprs_create(desc, varno, node);
	filter->path_slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	memset(filter->path_slot->tts_isnull, true, desc->natts);
	ExecStoreVirtualTuple(filter->path_slot);
	return filter;
}

void
vx_filter_rescan(VxFilter *filter)
{
	for (int i = 0; i < filter->nquals; i++)
	{
		VxQual	   *qual = &filter->quals[i];

		if (qual->pred)
			st_pred_reset(qual->pred);
		if (qual->zone_pred)
			st_pred_reset(qual->zone_pred);
	}
	MemoryContextReset(filter->values_mcxt);
	vx_exprs_rescan(filter->exprs);
	if (filter->topn)
		vx_topn_rescan(filter->topn);
	vx_join_filters_rescan(filter->joins);
}

static bool
lookup_zone(void *arg, AttrNumber attno, StZone *zone)
{
	ZoneSource *source = arg;

	if (attno > source->natts && attno < VX_FIRST_KEY)
		return false;			/* a path column */
	return vx_keys_zone(source->keys, source->reader, attno, source->vecno, zone);
}

static StZoneMatch
test_zones(VxFilter *filter, VxQual *qual, StReader *reader, int64 vecno)
{
	ZoneSource	source = {
		filter->keys, reader, vecno, filter->slot->tts_tupleDescriptor->natts
	};
	StZoneMatch match;

	if (qual->zone_pred == NULL || !vx_enable_pruning)
		return ST_ZONE_SOME;
	match = st_zone_test(qual->zone_pred, lookup_zone, &source);
	if (match != ST_ZONE_SOME)
		filter->zone_quals |= qual_bit(filter, qual);
	return match;
}

/* False: no row of the unit is among the first ones that are asked for. */
static bool
passes_topn(VxFilter *filter, StReader *reader, int64 vecno)
{
	return filter->topn == NULL || !vx_enable_pruning ||
		vx_topn_may_pass(filter->topn, vx_topn_best(filter->topn, reader, vecno));
}

/* False: no row of the unit finds a match in a join above. */
static bool
passes_joins(VxFilter *filter, StReader *reader, int64 vecno)
{
	return filter->joins == NIL || !vx_enable_pruning ||
		vx_join_filters_may_pass(filter->joins, reader, vecno);
}

bool
vx_filter_group(VxFilter *filter, StReader *reader)
{
	for (int i = 0; i < filter->nquals; i++)
	{
		StZoneMatch match = test_zones(filter, &filter->quals[i], reader, -1);

		if (match == ST_ZONE_NONE)
			return false;
		filter->quals[i].passes_group = match == ST_ZONE_ALL;
	}
	return passes_topn(filter, reader, -1) && passes_joins(filter, reader, -1);
}

bool
vx_filter_vector(VxFilter *filter, StReader *reader, uint32 vecno)
{
	for (int i = 0; i < filter->nquals; i++)
	{
		VxQual	   *qual = &filter->quals[i];
		StZoneMatch match;

		qual->settled = qual->passes_group;
		if (qual->settled)
			continue;
		match = test_zones(filter, qual, reader, vecno);
		if (match == ST_ZONE_NONE)
			return false;
		qual->settled = match == ST_ZONE_ALL;
	}
	return passes_topn(filter, reader, vecno) && passes_joins(filter, reader, vecno);
}

static bool
select_by_kernel(VxFilter *filter, VxQual *qual, VxBatch *batch)
{
	if (qual->pred == NULL || !vx_select(qual->pred, batch, batch->selection))
		return false;
	filter->vector_quals |= qual_bit(filter, qual);
	qual->settled = true;
	return true;
}

/* True if that settled the qual; if not, it is still to run on what is left. */
static bool
select_by_expression(VxFilter *filter, VxQual *qual, VxBatch *batch)
{
	uint64		unknown[VX_SELECTION_WORDS];

	if (!qual->compiled)
		qual->expr = vx_expr_compile(filter->exprs, vector_clause(qual), 0);
	qual->compiled = true;
	if (qual->expr == NULL || !vx_expr_is_vectorised(qual->expr))
		return false;
	qual->settled = !vx_expr_select_safely(qual->expr, batch, batch->selection, unknown);
	if (qual->settled)
		filter->vector_quals |= qual_bit(filter, qual);
	return qual->settled;
}

static void
run_quals(VxFilter *filter, VxBatch *batch)
{
	for (int i = 0; i < filter->nquals && vx_enable_vector_filter; i++)
	{
		VxQual	   *qual = &filter->quals[i];

		if (qual->settled || !qual->cheap)
			continue;
		if (vx_selection_is_empty(batch->selection, batch->nrows))
			return;
		select_by_kernel(filter, qual, batch);
	}

	for (int i = 0; i < filter->nquals; i++)
	{
		VxQual	   *qual = &filter->quals[i];

		if (qual->settled)
			continue;
		if (vx_selection_is_empty(batch->selection, batch->nrows))
			return;
		if (vx_enable_vector_filter && !qual->cheap &&
			select_by_kernel(filter, qual, batch))
			continue;
		/* Quals that were deferred come first: they decide what this one sees. */
		if (vx_enable_vector_filter && filter->ndeferred == 0 &&
			select_by_expression(filter, qual, batch))
			continue;
		filter->deferred[filter->ndeferred++] = qual;
	}
}

void
vx_filter_batch(VxFilter *filter, VxBatch *batch)
{
	filter->ndeferred = 0;
	if (filter->nquals > 0)
		run_quals(filter, batch);
	/* rows that may yet fail a qual do not count among the first ones */
	if (filter->topn && filter->ndeferred == 0)
		vx_topn_batch(filter->topn, batch);
}

/* The qual's result for what stands in its slot. */
static inline bool
row_passes(VxFilter *filter, VxQual *qual)
{
	Datum		result;
	bool		isnull;

	if (qual->path_clause == NULL)
		return ExecQual(qual->state, filter->econtext);
	result = ExecEvalExprSwitchContext(qual->path_state, filter->econtext, &isnull);
	return !isnull && DatumGetBool(result);
}

bool
vx_filter_row(VxFilter *filter, VxBatch *batch, int row)
{
	for (int i = 0; i < filter->ndeferred; i++)
	{
		VxQual	   *qual = filter->deferred[i];
		TupleTableSlot *slot = qual->path_clause ? filter->path_slot : filter->slot;

		filter->row_quals |= qual_bit(filter, qual);
		for (int c = 0; c < qual->ncolumns; c++)
		{
			AttrNumber	attno = qual->attnos[c];

			vx_batch_row_value(batch, attno, row, &slot->tts_values[attno - 1],
							   &slot->tts_isnull[attno - 1]);
		}
		filter->econtext->ecxt_scantuple = slot;
		if (!row_passes(filter, qual))
			return false;
	}
	return true;
}

void
vx_filter_delta(VxFilter *filter, VxBatch *batch)
{
	for (int i = 0; i < filter->nquals; i++)
		filter->quals[i].settled = false;
	vx_filter_batch(filter, batch);
}

bool
vx_filter_delta_row(VxFilter *filter, TupleTableSlot *slot)
{
	filter->econtext->ecxt_scantuple = slot;
	for (int i = 0; i < filter->ndeferred; i++)
	{
		filter->row_quals |= qual_bit(filter, filter->deferred[i]);
		if (!ExecQual(filter->deferred[i]->state, filter->econtext))
			return false;
	}
	return true;
}

bool
vx_filter_slot(VxFilter *filter, TupleTableSlot *slot)
{
	filter->econtext->ecxt_scantuple = slot;
	for (int i = 0; i < filter->nquals; i++)
		if (!ExecQual(filter->quals[i].state, filter->econtext))
			return false;
	return true;
}
