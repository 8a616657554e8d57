/*-------------------------------------------------------------------------
 *
 * rc_agg.c
 *	  The custom node that answers count, min and max of a whole table from
 *	  what footers know.
 *
 * A row group that nobody deleted from is answered by its descriptor and the
 * zones in its footer; one with deleted rows by its rows, unless only rows
 * are counted.  The delta is read.  min and max are of columns that are held
 * as integers: equal ones look alike, so it does not matter which is found
 * first.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "rc_agg_paths.h"
#include "rc_scan.h"
#include "st_bitmap.h"
#include "st_compat.h"

typedef struct RcAgg
{
	RcAggKind	kind;
	AttrNumber	attno;
	int16		typlen;
	bool		is_signed;
	int64		count;			/* or number of values seen */
	int64		value;
} RcAgg;

typedef struct RcAggState
{
	CustomScanState css;		/* must be first */
	Relation	rel;
	RcSource   *source;
	RcQuals    *quals;			/* none */
	TupleTableSlot *delta_slot;
	bool		only_rows;
	bool		done;
	int			naggs;
	RcAgg	   *aggs;
	uint64		groups_by_footer;
	uint64		groups_read;
} RcAggState;

static Node *create_agg_state(CustomScan *cscan);
static void begin_agg(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_agg(CustomScanState *node);
static void end_agg(CustomScanState *node);
static void rescan_agg(CustomScanState *node);
static void explain_agg(CustomScanState *node, List *ancestors, ExplainState *es);

static const CustomScanMethods agg_methods = {
	.CustomName = RC_AGG_NAME,
	.CreateCustomScanState = create_agg_state,
};

static const CustomExecMethods exec_methods = {
	.CustomName = RC_AGG_NAME,
	.BeginCustomScan = begin_agg,
	.ExecCustomScan = exec_agg,
	.EndCustomScan = end_agg,
	.ReScanCustomScan = rescan_agg,
	.ExplainCustomScan = explain_agg,
};

static Node *
create_agg_state(CustomScan *cscan)
{
	RcAggState *state = (RcAggState *) newNode(sizeof(RcAggState), T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

static void
begin_agg(CustomScanState *node, EState *estate, int eflags)
{
	RcAggState *state = (RcAggState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	List	   *kinds = linitial(plan->custom_private);
	List	   *attnos = lsecond(plan->custom_private);
	/* locked by whoever locked the range table; its index may have moved */
	Relation	rel = table_open(linitial_oid(lthird(plan->custom_private)), AccessShareLock);
	ListCell   *k;
	ListCell   *a;

	state->rel = rel;
	state->naggs = list_length(kinds);
	state->aggs = palloc0(sizeof(RcAgg) * Max(1, state->naggs));
	state->only_rows = true;
	forboth(k, kinds, a, attnos)
	{
		RcAgg	   *agg = &state->aggs[foreach_current_index(k)];

		agg->kind = lfirst_int(k);
		agg->attno = lfirst_int(a);
		if (agg->kind != RC_AGG_COUNT_ROWS)
		{
			RcColumnType type;

			rc_column_type(TupleDescAttr(RelationGetDescr(rel), agg->attno - 1), &type);
			agg->typlen = type.typlen;
			agg->is_signed = type.is_signed;
			state->only_rows = false;
		}
	}
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	state->quals = rc_quals_create(NIL, 0, &node->ss.ps, RelationGetNumberOfAttributes(rel));
	state->source = rc_source_create(rel, estate->es_snapshot, state->quals);
	state->delta_slot = table_slot_create(rel, &estate->es_tupleTable);
}

static inline void
add_value(RcAgg *agg, int64 value)
{
	if (agg->count++ == 0 ||
		(agg->kind == RC_AGG_MIN ? value < agg->value : value > agg->value))
		agg->value = value;
}

static int64
int_of_datum(const RcAgg *agg, Datum value)
{
	switch (agg->typlen)
	{
		case 1:
			return agg->is_signed ? (int8) DatumGetChar(value) :
				(uint8) DatumGetChar(value);
		case 2:
			return DatumGetInt16(value);
		case 4:
			return agg->is_signed ? (int64) DatumGetInt32(value) :
				(int64) DatumGetUInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/* One row's value, or null. */
static inline void
add_datum(RcAgg *agg, Datum value, bool isnull)
{
	if (agg->kind == RC_AGG_COUNT_ROWS)
		agg->count++;
	else if (isnull)
		return;
	else if (agg->kind == RC_AGG_COUNT)
		agg->count++;
	else
		add_value(agg, int_of_datum(agg, value));
}

/* The group as its footer tells it; false if that does not tell enough. */
static bool
add_footer(RcAggState *state, StReader *reader, uint64 nrows)
{
	for (int pass = 0; pass < 2; pass++)
	{
		for (int i = 0; i < state->naggs; i++)
		{
			RcAgg	   *agg = &state->aggs[i];
			StZone		zone;

			if (agg->kind == RC_AGG_COUNT_ROWS)
			{
				agg->count += pass * nrows;
				continue;
			}
			if (!rc_reader_zone(reader, agg->attno, -1, &zone))
				return false;	/* added later, with a default */
			if (agg->kind != RC_AGG_COUNT && zone.nnulls < nrows && !zone.has_minmax)
				return false;
			if (pass == 0 || zone.nnulls == nrows)
				continue;
			if (agg->kind == RC_AGG_COUNT)
				agg->count += nrows - zone.nnulls;
			else
				add_value(agg, int_of_datum(agg, agg->kind == RC_AGG_MIN ? zone.min : zone.max));
		}
	}
	return true;
}

static void
add_batch(RcAggState *state, RcBatch *batch, uint32 start, uint32 nrows,
		  const uint64 *deleted)
{
	for (int i = 0; i < state->naggs; i++)
	{
		RcAgg	   *agg = &state->aggs[i];
		const RcVector *v = NULL;

		if (agg->kind != RC_AGG_COUNT_ROWS)
			v = rc_batch_vector(batch, agg->attno);
		for (uint32 row = 0; row < nrows; row++)
		{
			bool		isnull = v != NULL && rc_vector_isnull(v, row);

			if (deleted != NULL && st_bitmap_get((const uint64_t *) deleted, start + row))
				continue;
			add_datum(agg, v == NULL || isnull || agg->kind == RC_AGG_COUNT ? (Datum) 0 :
					  rc_vector_value(batch, agg->attno, v, row), isnull);
		}
	}
}

static void
add_group(RcAggState *state, uint32 groupno)
{
	RcSource   *source = state->source;
	const StGroup *group = &source->groups->groups[groupno];
	uint32		ndeleted = 0;
	uint64	   *deleted;

	CHECK_FOR_INTERRUPTS();
	if (source->deletions == NULL)
		source->deletions = st_deletions_create(source->rel, source->snapshot,
												source->groups->ngroups, source->mcxt);
	deleted = st_deletions_of(source->deletions, group, source->mcxt, &ndeleted);
	if (state->only_rows)
	{
		for (int i = 0; i < state->naggs; i++)
			state->aggs[i].count += (int64) group->nrows - ndeleted;
		state->groups_by_footer++;
	}
	else
	{
		rc_source_enter(source, groupno);
		if (ndeleted == 0 && add_footer(state, source->reader, group->nrows))
			state->groups_by_footer++;
		else
		{
			state->groups_read++;
			for (uint32 b = 0; b < rc_reader_nbatches(source->reader); b++)
			{
				uint32		start = rc_reader_batch_start(source->reader, b);
				RcBatch    *batch = rc_batch_load(source->reader, b, true);

				CHECK_FOR_INTERRUPTS();
				add_batch(state, batch, start,
						  rc_reader_batch_start(source->reader, b + 1) - start, deleted);
				rc_batch_free(batch);
			}
		}
	}
	if (deleted != NULL)
		pfree(deleted);
}

static void
add_delta(RcAggState *state)
{
	RcSource   *source = state->source;
	TupleTableSlot *slot = state->delta_slot;

	for (uint32 chunk = 0; chunk < source->ndelta; chunk++)
	{
		st_delta_set_chunk(source->delta, chunk);
		while (rc_source_delta_row(source, slot))
		{
			CHECK_FOR_INTERRUPTS();
			for (int i = 0; i < state->naggs; i++)
			{
				RcAgg	   *agg = &state->aggs[i];
				bool		isnull = false;
				Datum		value = (Datum) 0;

				if (agg->kind != RC_AGG_COUNT_ROWS)
					value = slot_getattr(slot, agg->attno, &isnull);
				add_datum(agg, value, isnull);
			}
		}
	}
	ExecClearTuple(slot);
}

static TupleTableSlot *
exec_agg(CustomScanState *node)
{
	RcAggState *state = (RcAggState *) node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;

	if (state->done)
		return NULL;
	state->done = true;
	rc_source_start(state->source);
	for (int i = 0; i < state->source->groups->ngroups; i++)
		add_group(state, i);
	add_delta(state);

	ExecClearTuple(slot);
	for (int i = 0; i < state->naggs; i++)
	{
		const RcAgg *agg = &state->aggs[i];
		bool		counts = agg->kind == RC_AGG_COUNT_ROWS || agg->kind == RC_AGG_COUNT;

		slot->tts_isnull[i] = !counts && agg->count == 0;
		slot->tts_values[i] = counts ? Int64GetDatum(agg->count) :
			rc_int_datum(agg->typlen, agg->value);
	}
	ExecStoreVirtualTuple(slot);
	if (node->ss.ps.ps_ProjInfo == NULL)
		return slot;
	ResetExprContext(econtext);
	econtext->ecxt_scantuple = slot;
	return ExecProject(node->ss.ps.ps_ProjInfo);
}

static void
rescan_agg(CustomScanState *node)
{
	RcAggState *state = (RcAggState *) node;

	state->done = false;
	for (int i = 0; i < state->naggs; i++)
		state->aggs[i].count = state->aggs[i].value = 0;
	rc_source_rescan(state->source);
}

static void
end_agg(CustomScanState *node)
{
	RcAggState *state = (RcAggState *) node;

	if (state->source)
		rc_source_end(state->source);
	table_close(state->rel, NoLock);
}

static void
explain_agg(CustomScanState *node, List *ancestors, ExplainState *es)
{
	RcAggState *state = (RcAggState *) node;

	ExplainPropertyText("Table", RelationGetRelationName(state->rel), es);
	if (!es->analyze || state->source == NULL)
		return;
	ExplainPropertyUInteger("Row Groups By Footer", NULL, state->groups_by_footer, es);
	ExplainPropertyUInteger("Row Groups Read", NULL, state->groups_read, es);
	ExplainPropertyUInteger("Delta Rows", NULL, state->source->own_stats.delta_rows, es);
}

void
rc_agg_init(void)
{
	RegisterCustomScanMethods(&agg_methods);
}
