/*-------------------------------------------------------------------------
 *
 * vx_agg_trans.c
 *	  States of groups: where they stand, how a batch advances them, and the
 *	  result at the end.
 *
 * A group's record starts with the number of its rows; the state of every
 * transition follows.  A state counts the rows that it did not use (nulls,
 * and those its filter took away), so that the number of those it used need
 * not be kept where all rows count.
 *
 * Results are those of the server: sums of integers and numerics are exact,
 * averages of them are divided by the server's numeric_div(), an overflow of
 * a float sum is the same error.  Float sums differ from the server's in the
 * last digits, because values are not added in the same order.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "vx_agg.h"
#include "st_numeric.h"

/*
 * Rows of one group that follow one another: if there are so many on average,
 * they are reduced to one value before the group's state is touched.
 */
#define LONG_RUN	128

/* Rows that count for a transition: a part of the batch's. */
typedef struct RowBuffer
{
	VxAggRows	part;
	uint16		rows[ST_VECTOR_SIZE];
	uint32		gids[ST_VECTOR_SIZE];
} RowBuffer;

/*
 * Of a sum's values only the greatest display scale matters: that of the
 * group's own values, so not where a batch has rows of many groups.
 */
static int
input_flags(const VxAggState *state, VxTransKind kind)
{
	const CustomScan *plan = (const CustomScan *) state->css.ss.ps.plan;

	return kind == VX_TRANS_SUM_NUMERIC && linitial(plan->custom_private) == NIL ?
		VX_EXPR_ANY_SCALE : 0;
}

static bool
same_transition(VxAggState *state, const VxAggTrans *trans, const Aggref *ref,
				VxTransKind kind, int filter)
{
	if (trans->kind != kind || trans->filter != filter ||
		trans->ninputs != list_length(ref->args))
		return false;
	for (int i = 0; i < trans->ninputs; i++)
	{
		TargetEntry *tle = list_nth_node(TargetEntry, ref->args, i);

		if (trans->inputs[i] != vx_agg_input(state, tle->expr, filter, input_flags(state, kind)))
			return false;
	}
	if (ref->aggdistinct != NIL || trans->distinct != NULL)
		return equal(ref->aggdistinct, trans->ref->aggdistinct);
	/* sum(int8) and avg(int8) share; two of the server's must be the same. */
	return kind != VX_TRANS_SERVER || ref->aggfnoid == trans->ref->aggfnoid;
}

int
vx_agg_trans(VxAggState *state, const Aggref *ref, const VxAggSpec *spec)
{
	VxAggTrans *trans;
	int			filter = ref->aggfilter ? vx_agg_input(state, ref->aggfilter, -1, 0) : -1;
	ListCell   *lc;

	for (int i = 0; i < state->ntrans; i++)
		if (same_transition(state, &state->trans[i], ref, spec->trans, filter))
			return i;

	trans = &state->trans[state->ntrans];
	trans->kind = spec->trans;
	trans->ref = ref;
	trans->filter = filter;
	trans->scale = -1;
	trans->inputs = palloc(sizeof(int) * (list_length(ref->args) + 1));
	foreach(lc, ref->args)
		trans->inputs[trans->ninputs++] =
			vx_agg_input(state, lfirst_node(TargetEntry, lc)->expr, filter,
						 input_flags(state, spec->trans));
	if (trans->kind == VX_TRANS_SERVER)
		trans->server = vx_server_agg_create(state, ref);
	if (ref->aggdistinct != NIL)
		trans->distinct = vx_distinct_create(state, trans->inputs[0],
											 linitial_node(SortGroupClause,
														   ref->aggdistinct)->eqop);
	return state->ntrans++;
}

typedef void FloatKernel(char *states, Size stride, const VxAggRows *r,
						 const double *values);

/* Of each transition: its state, and where that is all, the kernel that advances it. */
static const struct
{
	Size		size;
	const void *initial;		/* state of no rows; NULL: zeros */
	VxAggInt64Kernel *ints;
	FloatKernel *floats;
}			kinds[] = {
	[VX_TRANS_COUNT] = {sizeof(VxCountState)},
	[VX_TRANS_SUM_INT] = {sizeof(VxInt64State), NULL, vx_agg_sum_int64},
	[VX_TRANS_MIN_INT] = {sizeof(VxInt64State), &(VxInt64State) {0, PG_INT64_MAX}, vx_agg_min_int64},
	[VX_TRANS_MAX_INT] = {sizeof(VxInt64State), &(VxInt64State) {0, PG_INT64_MIN}, vx_agg_max_int64},
	[VX_TRANS_SUM_INT8] = {sizeof(VxInt128State), NULL, vx_agg_sum_int128},
	[VX_TRANS_SUM_NUMERIC] = {sizeof(VxNumericState)},
	[VX_TRANS_MIN_NUMERIC] = {sizeof(VxNumericState), &(VxNumericState) {0, PG_INT64_MAX}},
	[VX_TRANS_MAX_NUMERIC] = {sizeof(VxNumericState), &(VxNumericState) {0, PG_INT64_MIN}},
	[VX_TRANS_SUM_FLOAT4] = {sizeof(VxFloat4State), &(VxFloat4State) {0, -0.0f}},
	[VX_TRANS_SUM_FLOAT8] = {sizeof(VxFloatState), &(VxFloatState) {0, -0.0}},
	[VX_TRANS_MIN_FLOAT] = {sizeof(VxFloatState), &(VxFloatState) {0, NAN}, NULL, vx_agg_min_float8},
	[VX_TRANS_MAX_FLOAT] = {sizeof(VxFloatState), &(VxFloatState) {0, -INFINITY}, NULL, vx_agg_max_float8},
	[VX_TRANS_ORDERED] = {sizeof(VxOrderedState)},
	[VX_TRANS_SERVER] = {sizeof(VxServerState)}
};

Size
vx_agg_layout(VxAggState *state)
{
	Size		size = sizeof(int64);

	for (int i = 0; i < state->ntrans; i++)
	{
		state->trans[i].offset = size;
		Assert(kinds[state->trans[i].kind].size > 0);
		size += MAXALIGN(kinds[state->trans[i].kind].size);
	}
	return size;
}

/* Fills the record of a new group. */
static void
make_initial(VxAggState *state, char *record)
{
	for (int i = 0; i < state->ntrans; i++)
	{
		VxAggTrans *trans = &state->trans[i];

		if (kinds[trans->kind].initial != NULL)
			memcpy(record + trans->offset, kinds[trans->kind].initial, kinds[trans->kind].size);
		else if (trans->kind == VX_TRANS_SERVER)
			vx_server_agg_initial(trans->server, (VxServerState *) (record + trans->offset));
	}
}

void
vx_agg_start(VxAggState *state)
{
	VxGroups   *groups = state->groups;

	MemoryContextReset(state->mcxt);
	for (int i = 0; i < state->ntrans; i++)
	{
		state->trans[i].scale = -1;
		state->trans[i].from_footer = false;
		if (state->trans[i].distinct)
			vx_distinct_reset(state, state->trans[i].distinct);
		if (state->trans[i].server)
			vx_server_agg_reset(state->trans[i].server);
	}
	make_initial(state, groups->initial);
	vx_groups_reset(groups);
	if (groups->nkeys == 0)
		vx_groups_add_only(groups);
	state->filled = false;
	state->footer_group = 0;
	state->next = 0;
}

/* ---- a batch ---- */

/* All rows, for DISTINCT to leave some out. */
static void
copy_rows(const VxAggRows *all, RowBuffer *buffer)
{
	for (int i = 0; i < all->n; i++)
	{
		buffer->rows[i] = vx_agg_row(all, i);
		buffer->gids[i] = vx_agg_gid(all, i);
	}
}

/* Rows that pass the filter and whose argument is not null; how many. */
static int
passing_rows(VxAggState *state, VxAggTrans *trans, const VxVector *v,
			 const VxAggRows *all, RowBuffer *buffer)
{
	VxGroups   *groups = state->groups;
	char	   *states = groups->states + trans->offset;
	uint64		pass[VX_SELECTION_WORDS];
	int			n = 0;

	vx_agg_selection(state, trans->filter, pass);
	if (v && v->has_nulls)
		for (int w = 0; w < (v->n + 63) / 64; w++)
			pass[w] &= v->valid[w];
	for (int i = 0; i < all->n; i++)
	{
		int			row = vx_agg_row(all, i);
		uint32		gid = vx_agg_gid(all, i);

		if (pass[row / 64] & (UINT64CONST(1) << (row % 64)))
		{
			buffer->rows[n] = row;
			buffer->gids[n++] = gid;
		}
		else
			((VxCountState *) (states + (Size) gid * groups->stride))->skipped++;
	}
	return n;
}

/*
 * Rows that count: those that pass the filter and whose argument (v, or NULL)
 * is not null.  The others are counted as skipped.
 */
static const VxAggRows *
counting_rows(VxAggState *state, VxAggTrans *trans, const VxVector *v,
			  const VxAggRows *all, RowBuffer *buffer)
{
	bool		all_pass = trans->filter < 0 && (v == NULL || !v->has_nulls);
	VxAggRows  *part = &buffer->part;

	if (all_pass && trans->distinct == NULL)
		return all;
	part->n = all->n;
	if (all_pass)
		copy_rows(all, buffer);
	else
		part->n = passing_rows(state, trans, v, all, buffer);
	if (trans->distinct)
		part->n = vx_distinct_filter(state, trans, v, buffer->rows, buffer->gids, part->n);
	part->rows = buffer->rows;
	part->selection = NULL;
	part->gids = all->gids ? buffer->gids : NULL;
	part->only = all->only;
	part->ngroups = all->ngroups;
	return part;
}

/* Values as doubles, in buffer if they are not already. */
static const double *
double_values(const VxVector *v, double *buffer)
{
	if (v->rep == VX_REP_FLOAT8)
		return v->u.f64;
	Assert(v->rep == VX_REP_FLOAT4);
	for (int i = 0; i < v->n; i++)
		buffer[i] = v->u.f32[i];
	return buffer;
}

/* Infinities and NaN among the values: as the server's float8pl(). */
#define SUM_SPECIAL(name, type, state_type) \
static void \
name(char *states, Size stride, const VxAggRows *r, const type *values) \
{ \
	for (int i = 0; i < r->n; i++) \
	{ \
		state_type *s = (state_type *) (states + (Size) vx_agg_gid(r, i) * stride); \
		type		x = values[vx_agg_row(r, i)]; \
		type		sum = s->value + x; \
		if (isinf(sum) && !isinf(s->value) && !isinf(x)) \
			float_overflow_error(); \
		s->special |= !isfinite(x); \
		s->value = sum; \
	} \
}

SUM_SPECIAL(sum_special8, double, VxFloatState)
SUM_SPECIAL(sum_special4, float, VxFloat4State)

static void
advance_floats(const VxAggTrans *trans, char *states, Size stride, const VxVector *v,
			   const VxAggRows *r)
{
	double		buffer[ST_VECTOR_SIZE];

	if (trans->kind == VX_TRANS_SUM_FLOAT4)
	{
		if (vx_agg_all_finite4(v->u.f32, r))
			vx_agg_sum_float4(states, stride, r, v->u.f32);
		else
			sum_special4(states, stride, r, v->u.f32);
		return;
	}
	if (kinds[trans->kind].floats != NULL)
		kinds[trans->kind].floats(states, stride, r, double_values(v, buffer));
	else
	{
		const double *values = double_values(v, buffer);

		if (r->gids == NULL && vx_agg_sum_finite8(states, stride, r, values))
			return;
		if (r->gids != NULL && vx_agg_all_finite8(values, r))
			vx_agg_sum_float8(states, stride, r, values);
		else
			sum_special8(states, stride, r, values);
	}
}

static void
advance(VxAggState *state, VxAggTrans *trans, const VxAggRows *all)
{
	VxGroups   *groups = state->groups;
	char	   *states = groups->states + trans->offset;
	Size		stride = groups->stride;
	RowBuffer	buffer;
	const VxAggRows *r;
	const VxVector *v;

	if (trans->kind == VX_TRANS_SERVER)
	{
		vx_server_agg_advance(state, trans, counting_rows(state, trans, NULL, all, &buffer));
		return;
	}
	v = trans->ninputs > 0 ? vx_agg_vector(state, trans->inputs[0]) : NULL;
	r = counting_rows(state, trans, v, all, &buffer);
	if (r->n == 0 || v == NULL)
		return;

	if (kinds[trans->kind].ints != NULL)
	{
		kinds[trans->kind].ints(states, stride, r, v->u.i64);
		return;
	}
	switch (trans->kind)
	{
		case VX_TRANS_COUNT:
			break;
		case VX_TRANS_SUM_NUMERIC:
		case VX_TRANS_MIN_NUMERIC:
		case VX_TRANS_MAX_NUMERIC:
			vx_numeric_advance(state, trans, v, r);
			break;
		case VX_TRANS_ORDERED:
			vx_ordered_advance(state, trans, v, r);
			break;
		default:
			advance_floats(trans, states, stride, v, r);
			break;
	}
}

static void
advance_all(VxAggState *state, const VxAggRows *r)
{
	VxGroups   *groups = state->groups;

	vx_agg_count_rows(groups->states, groups->stride, r);
	for (int i = 0; i < state->ntrans; i++)
		if (!state->trans[i].from_footer)
			advance(state, &state->trans[i], r);
}

/* Where rows come in the order of their keys: one run of equal groups after another. */
static void
advance_runs(VxAggState *state, const VxAggRows *all, const uint16 *rows)
{
	const uint32 *gids = all->gids;

	for (int start = 0; start < all->n;)
	{
		VxAggRows	run = {.rows = rows + start, .only = gids[start]};

		while (start + run.n < all->n && gids[start + run.n] == run.only)
			run.n++;
		if (run.n == all->n)
			run.rows = all->rows;
		advance_all(state, &run);
		start += run.n;
	}
}

void
vx_agg_advance(VxAggState *state, const uint16 *rows, int n, bool all)
{
	VxGroups   *groups = state->groups;
	VxAggRows	r = {.n = n, .rows = all ? NULL : rows};

	vx_agg_check_guards(state, rows, n);
	if (groups->nkeys > 0)
	{
		r.gids = groups->gids;
		r.ngroups = groups->ngroups;
	}
	else if (!all)
		r.selection = state->batch->selection;
	if (r.gids && n >= LONG_RUN && vx_agg_count_changes(r.gids, n) < n / LONG_RUN)
		advance_runs(state, &r, rows);
	else
		advance_all(state, &r);
}

/* ---- results ---- */

static Datum
numeric_of_int128(int128 value)
{
	void	   *buffer = palloc(ST_NUMERIC_MAX_BYTES);

	st_numeric_write_int128(buffer, value, 0);
	return PointerGetDatum(buffer);
}

static Datum
average_of(Datum sum, int64 count)
{
	return DirectFunctionCall2(numeric_div, sum,
							   NumericGetDatum(int64_to_numeric(count)));
}

static Datum
int_result(const VxAggOutput *output, int128 sum, int64 count)
{
	sum = sum * output->factor + (int128) output->offset * count;
	if (output->type == INT8OID)
		return Int64GetDatum((int64) sum);
	return output->spec.average ? average_of(numeric_of_int128(sum), count) :
		numeric_of_int128(sum);
}

static Datum
float_result(const VxAggTrans *trans, const VxAggOutput *output, void *s, int64 count)
{
	bool		single = trans->kind == VX_TRANS_SUM_FLOAT4;
	double		value = single ? ((VxFloat4State *) s)->value : ((VxFloatState *) s)->value;
	bool		special = single ? ((VxFloat4State *) s)->special : ((VxFloatState *) s)->special;

	if ((single || trans->kind == VX_TRANS_SUM_FLOAT8) && !isfinite(value) && !special)
		float_overflow_error();
	if (output->spec.average)
		value /= count;
	return output->type == FLOAT4OID ? Float4GetDatum((float4) value) : Float8GetDatum(value);
}

Datum
vx_agg_result(VxAggState *state, int number, uint32 gid, bool *isnull)
{
	const VxAggOutput *output = &state->outputs[number];
	VxAggTrans *trans = &state->trans[output->trans];
	char	   *record = vx_group_record(state->groups, gid);
	void	   *s = record + trans->offset;
	int64		count = *(int64 *) record - ((VxCountState *) s)->skipped;
	Datum		sum;

	*isnull = false;
	if (trans->kind == VX_TRANS_SERVER)
		return vx_server_agg_result(state, trans, s, isnull);
	if (trans->kind == VX_TRANS_ORDERED)
		return vx_ordered_result(state, output, s, isnull);
	if (trans->kind == VX_TRANS_COUNT)
		return Int64GetDatum(count);
	if (count == 0)
	{
		*isnull = true;
		return (Datum) 0;
	}
	switch (trans->kind)
	{
		case VX_TRANS_SUM_INT:
			return int_result(output, ((VxInt64State *) s)->value, count);
		case VX_TRANS_SUM_INT8:
			return int_result(output, ((VxInt128State *) s)->sum, count);
		case VX_TRANS_MIN_INT:
		case VX_TRANS_MAX_INT:
			return (Datum) ((VxInt64State *) s)->value;
		case VX_TRANS_SUM_NUMERIC:
		case VX_TRANS_MIN_NUMERIC:
		case VX_TRANS_MAX_NUMERIC:
			sum = vx_numeric_result(state, trans, record, count);
			return output->spec.average ? average_of(sum, count) : sum;
		default:
			return float_result(trans, output, s, count);
	}
}
