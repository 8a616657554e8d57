/*-------------------------------------------------------------------------
 *
 * vx_agg_ordered.c
 *	  Percentiles and the mode: aggregates that need all values of a group.
 *
 * Values are kept as 64-bit integers that are ordered like them: integers,
 * dates and times as they are, floats by their bits turned so that negative
 * ones come first and NaN last.  The k-th of them is found by counting how
 * many values fall into each of some thousand ranges, and going on with the
 * one that holds it: a few passes over ever fewer values, whatever their
 * order and distribution.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/float.h"
#include "utils/lsyscache.h"

#include "vx_agg.h"

#define RANGE_BITS	11
#define INITIAL_VALUES	8

/* ---- floats as integers ---- */

static inline double
double_of_ordered(int64 v)
{
	int64		bits = v ^ ((v >> 63) & PG_INT64_MAX);
	double		x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* ---- a batch ---- */

static void
append_value(VxAggState *state, VxOrderedState *s, int64 value)
{
	if (s->n == s->capacity)
	{
		s->capacity = s->capacity == 0 ? INITIAL_VALUES : s->capacity * 2;
		if (s->values == NULL)
			s->values = MemoryContextAlloc(state->mcxt, sizeof(int64) * s->capacity);
		else
			s->values = repalloc_huge(s->values, sizeof(int64) * s->capacity);
	}
	s->values[s->n++] = value;
}

void
vx_ordered_advance(VxAggState *state, VxAggTrans *trans, const VxVector *v,
				   const VxAggRows *r)
{
	char	   *states = state->groups->states + trans->offset;
	Size		stride = state->groups->stride;

	for (int i = 0; i < r->n; i++)
	{
		int			row = vx_agg_row(r, i);
		int64		value = v->rep == VX_REP_INT64 ? v->u.i64[row] :
			vx_rank_of_float8(v->rep == VX_REP_FLOAT8 ? v->u.f64[row] : v->u.f32[row]);

		append_value(state, (VxOrderedState *) (states + (Size) vx_agg_gid(r, i) * stride),
					 value);
	}
}

/* ---- between participants of a parallel aggregation ---- */

void
vx_ordered_write(StringInfo out, const VxOrderedState *s)
{
	appendBinaryStringInfo(out, (char *) s->values, s->n * sizeof(int64));
}

const char *
vx_ordered_merge(VxAggState *state, VxOrderedState *into, const VxOrderedState *from,
				 const char *p)
{
	into->skipped += from->skipped;
	for (int64 i = 0; i < from->n; i++, p += sizeof(int64))
	{
		int64		value;

		memcpy(&value, p, sizeof(value));
		append_value(state, into, value);
	}
	return p;
}

/* ---- results ---- */

/* The k-th value, 0 being the least. */
static int64
select_value(const int64 *values, int64 n, int64 k)
{
	int64	   *rest = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int64) * n);
	int64		min = values[0];
	int64		max = values[0];
	int			width;

	for (int64 i = 1; i < n; i++)
	{
		min = Min(min, values[i]);
		max = Max(max, values[i]);
	}
	for (width = 0; width < 64 && ((uint64) max - (uint64) min) >> width != 0;)
		width++;

	while (width > 0)
	{
		int			shift = Max(width - RANGE_BITS, 0);
		int64		counts[1 << RANGE_BITS] = {0};
		int64		range = 0;
		int64		m = 0;

		CHECK_FOR_INTERRUPTS();
		for (int64 i = 0; i < n; i++)
			counts[((uint64) values[i] - (uint64) min) >> shift]++;
		while (k >= counts[range])
			k -= counts[range++];
		for (int64 i = 0; i < n; i++)
		{
			rest[m] = values[i];
			m += ((uint64) values[i] - (uint64) min) >> shift == range;
		}
		min = (int64) ((uint64) min + ((uint64) range << shift));
		values = rest;
		n = m;
		width = shift;
	}
	pfree(rest);
	return min;
}

/* The most frequent value; of several, the one that comes first in the order. */
static int64
most_frequent(VxOrderedState *s, bool descending)
{
	int64		best = 0;
	int64		best_count = 0;
	int64		count = 0;

	qsort(s->values, s->n, sizeof(int64), vx_compare_int64);
	for (int64 i = 0; i < s->n; i++)
	{
		int64		at = descending ? s->n - 1 - i : i;
		int64		before = descending ? at + 1 : at - 1;

		count = i > 0 && s->values[at] == s->values[before] ? count + 1 : 1;
		if (count > best_count)
		{
			best = s->values[at];
			best_count = count;
		}
	}
	return best;
}

/* The k-th value in the aggregate's order. */
static int64
value_at(const VxOrderedState *s, bool descending, int64 k)
{
	return select_value(s->values, s->n, descending ? s->n - 1 - k : k);
}

static Datum
continuous_percentile(const VxOrderedState *s, bool descending, double fraction)
{
	double		place = fraction * (s->n - 1);
	int64		first = (int64) floor(place);
	int64		second = (int64) ceil(place);
	double		lo = double_of_ordered(value_at(s, descending, first));
	double		hi;

	if (first == second)
		return Float8GetDatum(lo);
	hi = double_of_ordered(value_at(s, descending, second));
	return Float8GetDatum(lo + (place - first) * (hi - lo));
}

static Datum
value_datum(Oid type, int64 value)
{
	switch (getBaseType(type))
	{
		case FLOAT8OID:
			return Float8GetDatum(double_of_ordered(value));
		case FLOAT4OID:
			return Float4GetDatum((float4) double_of_ordered(value));
		default:
			return (Datum) value;
	}
}

Datum
vx_ordered_result(VxAggState *state, const VxAggOutput *output, void *agg_state,
				  bool *isnull)
{
	VxOrderedState *s = agg_state;
	bool		descending = output->spec.descending;
	double		fraction = 0;
	int64		k;

	*isnull = true;
	if (output->spec.ordered != VX_ORDERED_MODE)
	{
		bool		fraction_isnull;
		Datum		value = ExecEvalExpr(output->direct, state->css.ss.ps.ps_ExprContext,
										 &fraction_isnull);

		if (fraction_isnull)
			return (Datum) 0;
		fraction = DatumGetFloat8(value);
		if (fraction < 0 || fraction > 1 || isnan(fraction))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("percentile value %g is not between 0 and 1", fraction)));
	}
	if (s->n == 0)
		return (Datum) 0;
	*isnull = false;

	switch (output->spec.ordered)
	{
		case VX_ORDERED_MODE:
			return value_datum(output->type, most_frequent(s, descending));
		case VX_ORDERED_CONT:
			return continuous_percentile(s, descending, fraction);
		case VX_ORDERED_DISC:
			break;
	}
	k = (int64) ceil(fraction * s->n);
	return value_datum(output->type, value_at(s, descending, Max(k - 1, 0)));
}
