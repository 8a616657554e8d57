/*-------------------------------------------------------------------------
 *
 * vx_agg_footer.c
 *	  Aggregates without keys, answered by what is known of a row group.
 *
 * Where every row of a row group counts - none is deleted, and its zones
 * settle all conditions - the number of rows, of nulls, the sum, the least
 * and the greatest value are known without its vectors.  Transitions that are
 * made of them take them when the first vector of the row group comes; if
 * all of the query's do, the others are not read.  A count(*) of all rows does
 * not even open the row groups.
 *
 * Where few rows are deleted, numbers and sums are those of all rows less
 * those of the deleted ones, which are taken one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "st_compat.h"
#include "vx_agg.h"
#include "vx_settings.h"

/* Taking one value out of a vector costs what decoding so many of them does. */
#define VALUE_COST 256

/* Nothing chooses among the scan's rows but its conditions. */
static bool
takes_all_rows(const VxScanState *scan)
{
	return vx_enable_footer_aggregate && scan->source->bitmap == NULL &&
		scan->filter->topn == NULL && scan->filter->joins == NIL;
}

/* Every row of the row group is this node's, and passes. */
static bool
takes_whole_group(const VxScanState *scan)
{
	const VxSource *source = scan->source;
	const VxFilter *filter = scan->filter;

	if (!takes_all_rows(scan) || source->vector_order != NULL || scan->batch->vecno != 0)
		return false;
	for (int i = 0; i < filter->nquals; i++)
		if (!filter->quals[i].passes_group)
			return false;
	return source->deleted == NULL ||
		source->ndeleted <= source->groups->groups[source->group].nrows / VALUE_COST;
}

/* Adds the sum of the column; false if it is not known, or of another scale. */
static bool
add_sum(VxAggTrans *trans, void *trans_state, StReader *reader, AttrNumber attno,
		int128 deleted)
{
	int128		sum;
	int			scale;

	if (vx_format->sum == NULL || !vx_format->sum(reader, attno, &sum, &scale))
		return false;
	sum -= deleted;
	switch (trans->kind)
	{
		case VX_TRANS_SUM_INT:
			((VxInt64State *) trans_state)->value += (int64) sum;
			return true;
		case VX_TRANS_SUM_INT8:
			((VxInt128State *) trans_state)->sum += sum;
			return true;
		default:
			if (trans->scale >= 0 && trans->scale != scale)
				return false;
			trans->scale = scale;
			((VxNumericState *) trans_state)->value += sum;
			return true;
	}
}

static bool
add_bound(const VxAggTrans *trans, VxInt64State *trans_state, const VxAggInput *input,
		  const StZone *zone)
{
	if (!zone->has_minmax || zone->max_truncated)
		return false;
	if (trans->kind == VX_TRANS_MIN_INT)
		trans_state->value = Min(trans_state->value, vx_datum_to_int(input->type, input->typlen, zone->min));
	else
		trans_state->value = Max(trans_state->value, vx_datum_to_int(input->type, input->typlen, zone->max));
	return true;
}

/* False: the transition needs vectors, whatever is known of the row group. */
static bool
may_answer(const VxAggState *state, const VxAggTrans *trans)
{
	const VxAggInput *input;

	if (trans->filter >= 0 || trans->distinct != NULL || trans->server != NULL)
		return false;
	if (trans->ninputs == 0)
		return trans->kind == VX_TRANS_COUNT;
	input = &state->inputs[trans->inputs[0]];
	if (trans->ninputs != 1 || input->attno == InvalidAttrNumber ||
		input->attno > state->desc->natts)
		return false;
	switch (trans->kind)
	{
		case VX_TRANS_COUNT:
		case VX_TRANS_SUM_INT:
		case VX_TRANS_SUM_INT8:
		case VX_TRANS_SUM_NUMERIC:
			return true;
		case VX_TRANS_MIN_INT:
		case VX_TRANS_MAX_INT:
			return state->scan->source->deleted == NULL;
		default:
			return false;
	}
}

/*
 * A participant of a parallel scan may answer for a row group only if it gets
 * all of it; it tries that where this spares the row group's vectors.
 */
static bool
gets_whole_group(VxAggState *state)
{
	VxSource   *source = state->scan->source;

	if (source->shared == NULL)
		return true;
	for (int i = 0; i < state->ntrans; i++)
		if (!may_answer(state, &state->trans[i]))
			return false;
	return vx_shared_take_rest(source);
}

/* No linear expression of the argument can raise an error. */
static bool
zone_is_guarded(const VxAggTrans *trans, const VxAggInput *input, const StZone *zone)
{
	return zone->has_minmax && !zone->max_truncated &&
		vx_agg_guard_allows(trans, vx_datum_to_int(input->type, input->typlen, zone->min),
							vx_datum_to_int(input->type, input->typlen, zone->max));
}

/* False: the transition needs the row group's vectors. */
static bool
answer(VxAggState *state, VxAggTrans *trans)
{
	VxCountState *trans_state = (VxCountState *) (state->groups->states + trans->offset);
	StReader   *reader = state->batch->reader;
	const uint64 *deleted = state->scan->source->deleted;
	int128		deleted_sum = 0;
	uint32		deleted_nulls = 0;
	const VxAggInput *input;
	StZone		zone;
	bool		known;

	if (!may_answer(state, trans))
		return false;
	if (trans->ninputs == 0)
		return true;
	input = &state->inputs[trans->inputs[0]];
	if (!vx_format->zone(reader, input->attno, -1, &zone))
		return false;
	if (deleted != NULL && (zone.nnulls > 0 || trans->kind != VX_TRANS_COUNT) &&
		(vx_format->sum_rows == NULL ||
		 !vx_format->sum_rows(reader, input->attno, deleted, &deleted_sum, &deleted_nulls)))
		return false;
	if (trans->guard != NULL && zone.nnulls < zone.nrows &&
		!zone_is_guarded(trans, input, &zone))
		return false;
	switch (trans->kind)
	{
		case VX_TRANS_COUNT:
			known = true;
			break;
		case VX_TRANS_SUM_INT:
		case VX_TRANS_SUM_INT8:
		case VX_TRANS_SUM_NUMERIC:
			known = zone.nnulls < zone.nrows &&
				add_sum(trans, trans_state, reader, input->attno, deleted_sum);
			break;
		case VX_TRANS_MIN_INT:
		case VX_TRANS_MAX_INT:
			known = zone.nnulls < zone.nrows &&
				add_bound(trans, (VxInt64State *) trans_state, input, &zone);
			break;
		default:
			known = false;
			break;
	}
	if (known)
		trans_state->skipped += zone.nnulls - deleted_nulls;
	return known;
}

/* The rest of the row group is not read. */
static void
skip_group(VxAggState *state)
{
	VxSource   *source = state->scan->source;
	int64		nrows = source->groups->groups[source->group].nrows - source->ndeleted;
	NodeInstrumentation *instrument = state->scan->css.ss.ps.instrument;
	VxBatch    *batch = state->batch;
	int			counted = vx_selection_count(batch->selection, batch->nrows);

	*(int64 *) state->groups->states += nrows;
	if (instrument)
		InstrUpdateTupleCount(instrument, nrows - counted);
	source->stats->deleted_rows += source->ndeleted - (batch->nrows - counted);
	source->vecno = source->vec_end;
	source->stats->footer_groups++;
}

bool
vx_agg_footer(VxAggState *state)
{
	bool		all = true;

	if (state->groups->nkeys > 0 || state->scan == NULL || vx_spill_is_input(state))
		return false;
	if (state->batch->reader != NULL && state->footer_group == state->scan->source->nopened)
		return false;
	for (int i = 0; i < state->ntrans; i++)
		state->trans[i].from_footer = false;
	if (state->batch->reader == NULL)
	{
		state->footer_group = 0;
		return false;
	}
	state->footer_group = state->scan->source->nopened;
	if (!takes_whole_group(state->scan) || !gets_whole_group(state))
		return false;
	for (int i = 0; i < state->ntrans; i++)
	{
		state->trans[i].from_footer = answer(state, &state->trans[i]);
		all = all && state->trans[i].from_footer;
	}
	if (all)
		skip_group(state);
	return all;
}

void
vx_agg_footer_rows(VxAggState *state)
{
	VxScanState *scan = state->scan;
	int64		nrows;

	if (state->groups->nkeys > 0 || scan == NULL || vx_spill_is_input(state) ||
		!takes_all_rows(scan) || scan->filter->nquals > 0 || scan->source->shared != NULL)
		return;
	for (int i = 0; i < state->ntrans; i++)
		if (state->trans[i].ninputs > 0 || !may_answer(state, &state->trans[i]))
			return;
	nrows = vx_source_count_rows(scan->source);
	*(int64 *) state->groups->states += nrows;
	if (scan->css.ss.ps.instrument)
		InstrUpdateTupleCount(scan->css.ss.ps.instrument, nrows);
}
