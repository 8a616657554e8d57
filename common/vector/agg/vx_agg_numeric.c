/*-------------------------------------------------------------------------
 *
 * vx_agg_numeric.c
 *	  Sums, and least and greatest values, of numerics.
 *
 * Nearly all vectors of a numeric column hold 64-bit integers of one scale,
 * the column's: their sum is kept as an int128, which cannot overflow.  The
 * scale is that of the first such vector.  Values of another scale, larger
 * ones, NaN and infinities make the slow part of a group's state, an int128
 * of its own scale as long as that fits, and a numeric of the server.
 *
 * The display scale of a sum is the largest of those of its values, as in
 * the server.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "vx_agg.h"
#include "st_numeric.h"

struct VxSlowNumeric
{
	int64		count;			/* values in here */
	int128		sum;
	int			scale;			/* of sum; -1: it has no value */
	Datum		numeric;		/* sum or bound of what has no such form, or 0 */
};

/* What makes one value of two. */
static PGFunction
combiner(const VxAggTrans *trans)
{
	return trans->kind == VX_TRANS_SUM_NUMERIC ? numeric_add :
		trans->kind == VX_TRANS_MIN_NUMERIC ? numeric_smaller : numeric_larger;
}

static VxSlowNumeric *
slow_part(VxAggState *state, VxNumericState *s)
{
	if (s->slow == NULL)
	{
		s->slow = MemoryContextAllocZero(state->mcxt, sizeof(VxSlowNumeric));
		s->slow->scale = -1;
	}
	return s->slow;
}

/* Replaces the numeric by what function makes of it and another value. */
static void
combine_numeric(VxAggState *state, VxSlowNumeric *slow, PGFunction function, Datum value)
{
	Datum		result = value;
	MemoryContext old;

	if (slow->numeric != (Datum) 0)
		result = DirectFunctionCall2(function, slow->numeric, value);
	if (slow->numeric != (Datum) 0 && result == slow->numeric)
		return;

	old = MemoryContextSwitchTo(state->mcxt);
	if (slow->numeric != (Datum) 0)
		pfree(DatumGetPointer(slow->numeric));
	slow->numeric = PointerGetDatum(PG_DETOAST_DATUM_COPY(result));
	MemoryContextSwitchTo(old);
}

/* Makes value, of scale from, one of scale to; false if it does not fit. */
static bool
rescale(int128 *value, int from, int to)
{
	for (; from < to; from++)
		if (__builtin_mul_overflow(*value, (int128) 10, value))
			return false;
	return true;
}

static Datum
make_numeric(int128 value, int scale)
{
	void	   *buffer = palloc(ST_NUMERIC_MAX_BYTES);

	if (value >= PG_INT64_MIN && value <= PG_INT64_MAX)
		st_numeric_write_int64(buffer, (int64) value, scale);
	else
		st_numeric_write_int128(buffer, value, scale);
	return PointerGetDatum(buffer);
}

static void
add_scaled(VxAggState *state, VxSlowNumeric *slow, int128 value, int scale)
{
	int			common = Max(slow->scale, scale);
	int128		a = slow->scale >= 0 ? slow->sum : 0;
	int128		b = value;
	int128		sum;

	if (rescale(&a, Max(slow->scale, 0), common) && rescale(&b, scale, common) &&
		!__builtin_add_overflow(a, b, &sum))
	{
		slow->sum = sum;
		slow->scale = common;
	}
	else
		combine_numeric(state, slow, numeric_add, make_numeric(value, scale));
}

static void
add_value(VxAggState *state, VxSlowNumeric *slow, const VxVector *v, int row)
{
	int128		value;
	int			scale;
	Datum		num;

	if (vx_is_decimal(v))
	{
		add_scaled(state, slow, vx_decimal(v, row), v->scale);
		return;
	}
	num = vx_vector_datum(v, row);
	if (st_numeric_to_int128(num, &value, &scale))
		add_scaled(state, slow, value, scale);
	else
		combine_numeric(state, slow, numeric_add, num);
}

static void
advance_slowly(VxAggState *state, VxAggTrans *trans, const VxVector *v, const VxAggRows *r)
{
	VxGroups   *groups = state->groups;

	for (int i = 0; i < r->n; i++)
	{
		int			row = vx_agg_row(r, i);
		VxNumericState *s = (VxNumericState *)
			(vx_group_record(groups, vx_agg_gid(r, i)) + trans->offset);
		VxSlowNumeric *slow = slow_part(state, s);

		slow->count++;
		if (trans->kind == VX_TRANS_SUM_NUMERIC)
			add_value(state, slow, v, row);
		else
		{
			char		buffer[ST_NUMERIC_MAX_BYTES] pg_attribute_aligned(MAXIMUM_ALIGNOF);

			combine_numeric(state, slow, combiner(trans), vx_vector_datum_in(v, row, buffer));
		}
	}
}

void
vx_numeric_advance(VxAggState *state, VxAggTrans *trans, const VxVector *v,
				   const VxAggRows *r)
{
	char	   *states = state->groups->states + trans->offset;
	Size		stride = state->groups->stride;

	if (v->rep == VX_REP_DECIMAL64 && trans->scale < 0)
		trans->scale = v->scale;
	if (v->rep != VX_REP_DECIMAL64 || v->scale != trans->scale)
		advance_slowly(state, trans, v, r);
	else if (trans->kind == VX_TRANS_SUM_NUMERIC)
		vx_agg_sum_int128(states, stride, r, v->u.i64);
	else if (trans->kind == VX_TRANS_MIN_NUMERIC)
		vx_agg_min_int128(states, stride, r, v->u.i64);
	else
		vx_agg_max_int128(states, stride, r, v->u.i64);
}

Datum
vx_numeric_result(VxAggState *state, VxAggTrans *trans, char *record,
				  int64 count)
{
	VxNumericState *s = (VxNumericState *) (record + trans->offset);
	VxSlowNumeric *slow = s->slow;
	PGFunction	combine = combiner(trans);
	Datum		result = (Datum) 0;

	if (slow == NULL || slow->count < count)
		result = make_numeric(s->value, trans->scale);
	if (slow && slow->scale >= 0)
	{
		Datum		sum = make_numeric(slow->sum, slow->scale);

		result = result ? DirectFunctionCall2(combine, result, sum) : sum;
	}
	if (slow && slow->numeric)
		result = result ? DirectFunctionCall2(combine, result, slow->numeric) :
			slow->numeric;
	return result;
}

/* ---- between participants of a parallel aggregation ---- */

void
vx_numeric_write(StringInfo out, const VxNumericState *s)
{
	if (s->slow == NULL)
		return;
	appendBinaryStringInfo(out, (char *) s->slow, sizeof(VxSlowNumeric));
	if (s->slow->numeric != (Datum) 0)
		appendBinaryStringInfo(out, DatumGetPointer(s->slow->numeric),
							   VARSIZE(DatumGetPointer(s->slow->numeric)));
}

/* Of count values, those that are in the fast part. */
static void
merge_fast(VxAggState *state, VxAggTrans *trans, VxNumericState *into,
		   const VxNumericState *from, int64 count, int scale)
{
	if (trans->scale < 0)
		trans->scale = scale;
	if (trans->scale != scale)
	{
		VxSlowNumeric *slow = slow_part(state, into);

		slow->count += count;
		if (trans->kind == VX_TRANS_SUM_NUMERIC)
			add_scaled(state, slow, from->value, scale);
		else
			combine_numeric(state, slow, combiner(trans), make_numeric(from->value, scale));
	}
	else if (trans->kind == VX_TRANS_SUM_NUMERIC)
		into->value += from->value;
	else if (trans->kind == VX_TRANS_MIN_NUMERIC)
		into->value = Min(into->value, from->value);
	else
		into->value = Max(into->value, from->value);
}

/*
 * Merges a state that stands for count values, its fast part of the given
 * scale.  bytes: what vx_numeric_write() wrote; returns what follows it.
 */
const char *
vx_numeric_merge(VxAggState *state, VxAggTrans *trans, VxNumericState *into,
				 const VxNumericState *from, int64 count, int scale, const char *bytes)
{
	VxSlowNumeric other;
	VxSlowNumeric *slow;

	if (from->slow == NULL)
	{
		if (count > 0)
			merge_fast(state, trans, into, from, count, scale);
		return bytes;
	}
	memcpy(&other, bytes, sizeof(other));
	bytes += sizeof(other);
	if (count > other.count)
		merge_fast(state, trans, into, from, count - other.count, scale);

	slow = slow_part(state, into);
	slow->count += other.count;
	if (other.scale >= 0)
		add_scaled(state, slow, other.sum, other.scale);
	if (other.numeric != (Datum) 0)
	{
		uint32		header;
		Size		size;
		void	   *copy;

		memcpy(&header, bytes, sizeof(header));
		size = VARSIZE(&header);
		copy = palloc(size);
		memcpy(copy, bytes, size);
		bytes += size;
		combine_numeric(state, slow, combiner(trans), PointerGetDatum(copy));
	}
	return bytes;
}
