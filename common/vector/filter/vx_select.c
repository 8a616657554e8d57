/*-------------------------------------------------------------------------
 *
 * vx_select.c
 *	  Predicates on whole vectors: from the operator and the encoding at hand
 *	  to a range of integers, scaled integers or codes, and a kernel.
 *
 * Right sides are evaluated in the order, and only as far, as a row-by-row
 * evaluation would.  A comparison with a constant becomes a range [lo, hi] of what the vector
 * holds, or the complement of one.  AND narrows the selection step by step;
 * OR collects what its arguments select from the rows not yet found.
 *
 * Nothing here calls a function of the server on a value, so rows that other
 * conditions or a security barrier hide may be looked at.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"
#include "utils/date.h"
#include "utils/datetime.h"

#include "vx_select.h"
#include "st_numeric.h"

#define INT128_MAX	((int128) (((uint128) 1 << 127) - 1))
#define INT128_MIN	(-INT128_MAX - 1)

/* Of pg_opfamily.dat, without symbols there. */
#define FLOAT_BTREE_FAM_OID		1970
#define NUMERIC_BTREE_FAM_OID	1988

/* What a comparison leaves of the integers. */
typedef struct Range
{
	bool		empty;
	bool		outside;		/* the complement of lo .. hi */
	int128		lo;
	int128		hi;
} Range;

/* Values of ANY and ALL as integers, sorted. */
typedef struct IntegerSet
{
	int			scale;
	int			n;
	int64		values[FLEXIBLE_ARRAY_MEMBER];
} IntegerSet;

static bool
is_list(const StPred *pred)
{
	return (pred->kind == ST_PRED_ANY || pred->kind == ST_PRED_ALL) &&
		(pred->strategy == BTEqualStrategyNumber ||
		 pred->strategy == ST_NOT_EQUAL_STRATEGY);
}

/*
 * The order of these types is that of the int64 that the reader makes of
 * them, if both sides have the same type (integers: any two).
 */
static bool
is_integer_comparison(const StPred *pred)
{
	switch (pred->coltype)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return pred->valtype == INT2OID || pred->valtype == INT4OID ||
				pred->valtype == INT8OID;
		default:
			return vx_is_integer_type(pred->coltype) && pred->valtype == pred->coltype;
	}
}

/* The first microsecond of the day; no time is as late as some dates are. */
static Timestamp
time_of_date(DateADT date)
{
	if (DATE_IS_NOBEGIN(date))
		return DT_NOBEGIN;
	if (DATE_IS_NOEND(date))
		return DT_NOEND;
	return Min((int128) date * USECS_PER_DAY, (int128) DT_NOEND - 1);
}

/* A time of the session's zone, as one with a zone. */
static int128
time_in_zone(Timestamp time)
{
	struct pg_tm tm;
	fsec_t		fsec;

	if (TIMESTAMP_NOT_FINITE(time) || !IS_VALID_TIMESTAMP(time) ||
		timestamp2tm(time, NULL, &tm, &fsec, NULL, NULL) != 0)
		return time;
	return (int128) time + DetermineTimeZoneOffset(&tm, session_timezone) * USECS_PER_SEC;
}

/* The day of a time, and whether that is its first microsecond. */
static int128
date_of_time(Timestamp time, bool *exact)
{
	int64		rest;

	if (TIMESTAMP_IS_NOBEGIN(time))
		return DATEVAL_NOBEGIN;
	if (TIMESTAMP_IS_NOEND(time))
		return DATEVAL_NOEND;
	rest = time % USECS_PER_DAY;
	*exact = rest == 0;
	return time / USECS_PER_DAY - (rest < 0);
}

/*
 * The constant as the column's integers are: its floor, and whether that is exact.
 * False: their order is not that of the types.  A time with a zone is not made one
 * without: some of them would be equal.
 */
static bool
integer_floor(const StPred *pred, int128 *floor, bool *exact)
{
	Oid			column = pred->coltype;

	*exact = true;
	if (is_integer_comparison(pred))
		*floor = vx_integer_of(pred->valtype, pred->value);
	else if (column == DATEOID && pred->valtype == TIMESTAMPOID)
		*floor = date_of_time(DatumGetTimestamp(pred->value), exact);
	else if (column == TIMESTAMPOID && pred->valtype == DATEOID)
		*floor = time_of_date(DatumGetDateADT(pred->value));
	else if (column == TIMESTAMPTZOID && pred->valtype == DATEOID)
		*floor = time_in_zone(time_of_date(DatumGetDateADT(pred->value)));
	else if (column == TIMESTAMPTZOID && pred->valtype == TIMESTAMPOID)
		*floor = time_in_zone(DatumGetTimestamp(pred->value));
	else
		return false;
	return true;
}

/*
 * A numeric constant times 10^scale: its floor, and whether that is exact.
 * Values too large for an int128 saturate.  False for NaN and infinities,
 * or with more digits than we take.
 */
static bool
scaled_floor(Datum num, int scale, int128 *floor, bool *exact)
{
	int128		value;
	int			from;

	if (!st_numeric_to_int128(num, &value, &from))
		return false;
	*exact = true;
	for (; from < scale; from++)
	{
		int128		more;

		if (__builtin_mul_overflow(value, (int128) 10, &more))
		{
			value = value > 0 ? INT128_MAX : INT128_MIN;
			*exact = false;
			break;
		}
		value = more;
	}
	for (; from > scale; from--)
	{
		int128		rest = value % 10;

		value = value / 10;
		if (rest != 0)
			*exact = false;
		if (rest < 0)
			value--;
	}
	*floor = value;
	return true;
}

/* The range that "x OP constant" leaves, floor being the constant's floor. */
static Range
range_of(int strategy, int128 floor, bool exact)
{
	Range		r = {false, false, INT128_MIN, INT128_MAX};

	switch (strategy)
	{
		case BTLessStrategyNumber:
			r.empty = exact && floor == INT128_MIN;
			r.hi = exact && !r.empty ? floor - 1 : floor;
			break;
		case BTLessEqualStrategyNumber:
			r.hi = floor;
			break;
		case BTEqualStrategyNumber:
			r.empty = !exact;
			r.lo = r.hi = floor;
			break;
		case BTGreaterEqualStrategyNumber:
			r.empty = !exact && floor == INT128_MAX;
			r.lo = exact || r.empty ? floor : floor + 1;
			break;
		case BTGreaterStrategyNumber:
			r.empty = floor == INT128_MAX;
			r.lo = r.empty ? floor : floor + 1;
			break;
		default:
			r.empty = !exact;
			r.outside = true;
			r.lo = r.hi = floor;
			break;
	}
	return r;
}

static void
select_none(int n, uint64 *selection)
{
	memset(selection, 0, (n + 63) / 64 * sizeof(uint64));
}

static void
select_range64(const int64 *values, int n, Range r, uint64 *selection)
{
	if (r.lo > r.hi || r.lo > PG_INT64_MAX || r.hi < PG_INT64_MIN)
		r.empty = true;
	if (r.empty)
	{
		if (!r.outside)
			select_none(n, selection);
		return;
	}
	vx_select_int64(values, n,
					(int64) Max(r.lo, (int128) PG_INT64_MIN),
					(int64) Min(r.hi, (int128) PG_INT64_MAX),
					r.outside, selection);
}

static void
select_range128(const int128 *values, int n, Range r, uint64 *selection)
{
	if (!r.empty)
		vx_select_int128(values, n, r.lo, r.hi, r.outside, selection);
	else if (!r.outside)
		select_none(n, selection);
}

/*
 * The values of a list that a vector of this scale can hold, kept with the
 * predicate for the next vectors; NULL if one of them has no such form.
 */
static const IntegerSet *
integer_set(StPred *pred, bool decimal, int scale)
{
	IntegerSet *set = pred->converted;

	if (set && set->scale == scale)
		return set;
	if (set)
		pfree(set);
	pred->converted = NULL;

	set = MemoryContextAlloc(pred->values_mcxt, offsetof(IntegerSet, values) +
							 sizeof(int64) * pred->nvalues);
	set->scale = scale;
	set->n = 0;
	for (int i = 0; i < pred->nvalues; i++)
	{
		int128		value;
		bool		exact = true;

		if (!decimal)
			value = vx_integer_of(pred->valtype, pred->values[i]);
		else if (!scaled_floor(pred->values[i], scale, &value, &exact))
		{
			pfree(set);
			return NULL;
		}
		if (exact && value >= PG_INT64_MIN && value <= PG_INT64_MAX)
			set->values[set->n++] = (int64) value;
	}
	pred->converted = set;
	return set;
}

static bool
select_integer_list(StPred *pred, const VxVector *v,
					uint64 *selection)
{
	bool		outside = pred->strategy == ST_NOT_EQUAL_STRATEGY;
	const IntegerSet *set = integer_set(pred, v->rep == VX_REP_DECIMAL64,
										v->scale);

	if (set == NULL)
		return false;
	if (set->n > 0)
		vx_select_int64_set(v->u.i64, v->n, set->values, set->n, outside, selection);
	else if (!outside)
		select_none(v->n, selection);
	return true;
}

static bool
select_decimal(const StPred *pred, const VxVector *v, uint64 *selection)
{
	int128		floor;
	bool		exact;
	Range		r;

	if (pred->opfamily != NUMERIC_BTREE_FAM_OID || is_list(pred) ||
		!scaled_floor(pred->value, v->scale, &floor, &exact))
		return false;
	r = range_of(pred->strategy, floor, exact);
	if (v->rep == VX_REP_DECIMAL64)
		select_range64(v->u.i64, v->n, r, selection);
	else
		select_range128(v->u.i128, v->n, r, selection);
	return true;
}

/*
 * In the server's order NaN equals NaN and is greater than everything else.
 * A bound that is NaN makes a range of nothing.
 */
static bool
select_float(const StPred *pred, const VxVector *v, uint64 *selection)
{
	int			strategy = pred->strategy;
	bool		nan = strategy == BTGreaterEqualStrategyNumber ||
		strategy == BTGreaterStrategyNumber;
	bool		outside = strategy == ST_NOT_EQUAL_STRATEGY;
	double		lo = -INFINITY;
	double		hi = INFINITY;
	double		c;

	if (pred->opfamily != FLOAT_BTREE_FAM_OID || is_list(pred))
		return false;
	c = pred->valtype == FLOAT4OID ? DatumGetFloat4(pred->value) : DatumGetFloat8(pred->value);
	if (isnan(c))
	{
		/* all numbers are less */
		nan = strategy != BTLessStrategyNumber && strategy != BTGreaterStrategyNumber && !outside;
		if (strategy != BTLessStrategyNumber && strategy != BTLessEqualStrategyNumber && !outside)
			lo = NAN;
		outside = false;
	}
	else if (strategy == BTLessStrategyNumber)
		hi = c == -INFINITY ? NAN : nextafter(c, -INFINITY);
	else if (strategy == BTLessEqualStrategyNumber)
		hi = c;
	else if (strategy == BTGreaterEqualStrategyNumber)
		lo = c;
	else if (strategy == BTGreaterStrategyNumber)
		lo = c == INFINITY ? NAN : nextafter(c, INFINITY);
	else
		lo = hi = c;
	if (v->rep == VX_REP_FLOAT8)
		vx_select_float8(v->u.f64, v->n, lo, hi, nan, outside, selection);
	else
		vx_select_float4(v->u.f32, v->n, lo, hi, nan, outside, selection);
	return true;
}

/*
 * The first code of a sorted dictionary whose value is not below the bytes;
 * with behind, the first one above all strings that start with them.
 */
static uint32
dict_lower_bound(const VxDictionary *dict, Oid type, StStr bytes, bool behind)
{
	uint32		lo = 0;
	uint32		hi = dict->nvalues;

	while (lo < hi)
	{
		uint32		mid = lo + (hi - lo) / 2;
		StStr		s = st_string_bytes(dict->values[mid], type);
		int			d;

		if (behind)
			s.len = Min(s.len, bytes.len);
		d = st_string_compare(s, bytes);
		if (d < 0 || (behind && d == 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool
is_blank_padded(const StPred *pred)
{
	return pred->kind != ST_PRED_PREFIX &&
		(pred->opfamily == BPCHAR_BTREE_FAM_OID ||
		 pred->opfamily == BPCHAR_PATTERN_BTREE_FAM_OID);
}

/* Strings of a sorted dictionary: a range of codes. */
static bool
select_code(const StPred *pred, const VxVector *v, uint64 *selection)
{
	Oid			type = pred->coltype == UUIDOID ? UUIDOID : TEXTOID;
	StStr		bytes;
	uint32		lo;				/* first code that is not less */
	uint32		hi;				/* first code that is greater */
	bool		outside = false;

	if (!pred->string || !v->dict->sorted || is_blank_padded(pred) || is_list(pred))
		return false;

	bytes = st_string_bytes(pred->value, type);
	lo = dict_lower_bound(v->dict, type, bytes, false);
	if (pred->kind == ST_PRED_PREFIX)
		hi = dict_lower_bound(v->dict, type, bytes, true);
	else
	{
		hi = lo;
		if (lo < v->dict->nvalues &&
			st_string_compare(st_string_bytes(v->dict->values[lo], type), bytes) == 0)
			hi++;
		switch (pred->strategy)
		{
			case BTLessStrategyNumber:
				hi = lo;
				lo = 0;
				break;
			case BTLessEqualStrategyNumber:
				lo = 0;
				break;
			case BTGreaterEqualStrategyNumber:
				hi = v->dict->nvalues;
				break;
			case BTGreaterStrategyNumber:
				lo = hi;
				hi = v->dict->nvalues;
				break;
			case ST_NOT_EQUAL_STRATEGY:
				outside = true;
				break;
			default:
				break;
		}
	}

	if (lo < hi)
		vx_select_code(v->u.code, v->n, lo, hi - 1, outside, selection);
	else if (!outside)
		select_none(v->n, selection);
	return true;
}

static bool
select_values(StPred *pred, const VxVector *v,
			  uint64 *selection)
{
	int128		floor;
	bool		exact;

	switch (v->rep)
	{
		case VX_REP_INT64:
			if (is_list(pred))
				return is_integer_comparison(pred) && select_integer_list(pred, v, selection);
			if (!integer_floor(pred, &floor, &exact))
				return false;
			select_range64(v->u.i64, v->n, range_of(pred->strategy, floor, exact), selection);
			return true;
		case VX_REP_DECIMAL64:
			if (is_list(pred) && pred->opfamily == NUMERIC_BTREE_FAM_OID)
				return select_integer_list(pred, v, selection);
			return select_decimal(pred, v, selection);
		case VX_REP_DECIMAL128:
			return select_decimal(pred, v, selection);
		case VX_REP_FLOAT8:
		case VX_REP_FLOAT4:
			return select_float(pred, v, selection);
		case VX_REP_CODE:
			return select_code(pred, v, selection);
		default:
			return false;
	}
}

static void
select_nulls(const VxVector *v, bool want_nulls, uint64 *selection)
{
	if (!v->has_nulls)
	{
		if (want_nulls)
			select_none(v->n, selection);
		return;
	}
	for (int i = 0; i < (v->n + 63) / 64; i++)
		selection[i] &= want_nulls ? ~v->valid[i] : v->valid[i];
}

static bool
select_leaf(StPred *pred, VxBatch *batch, uint64 *selection)
{
	bool		list = pred->kind == ST_PRED_ANY || pred->kind == ST_PRED_ALL;
	const VxVector *v;

	st_pred_evaluate(pred);
	if (pred->lossy)
		return false;

	/* The right side alone may decide. */
	if (pred->kind == ST_PRED_VALUE)
	{
		if (pred->isnull || !DatumGetBool(pred->value))
			select_none(batch->nrows, selection);
		return true;
	}
	if (list && !pred->isnull && pred->nvalues == 0 && !pred->has_null)
	{
		if (pred->kind == ST_PRED_ANY)
			select_none(batch->nrows, selection);
		return true;
	}
	if (pred->kind != ST_PRED_ISNULL && pred->kind != ST_PRED_NOTNULL &&
		(pred->isnull || (pred->kind == ST_PRED_ALL && pred->has_null) ||
		 (list && pred->nvalues == 0)))
	{
		select_none(batch->nrows, selection);
		return true;
	}

	v = vx_batch_vector(batch, pred->attno);
	if (pred->kind == ST_PRED_ISNULL || pred->kind == ST_PRED_NOTNULL)
	{
		select_nulls(v, pred->kind == ST_PRED_ISNULL, selection);
		return true;
	}

	/* The operators are strict; and values of nulls are not to be read. */
	select_nulls(v, false, selection);
	return select_values(pred, v, selection);
}

static bool select_node(StPred *pred, VxBatch *batch, uint64 *selection);

static bool
select_or(StPred *pred, VxBatch *batch, uint64 *selection)
{
	int			nwords = (batch->nrows + 63) / 64;
	uint64		found[VX_SELECTION_WORDS] = {0};

	for (int i = 0; i < pred->nargs; i++)
	{
		uint64		rest[VX_SELECTION_WORDS];

		for (int w = 0; w < nwords; w++)
			rest[w] = selection[w] & ~found[w];
		if (vx_selection_is_empty(rest, batch->nrows))
			break;
		if (!select_node(pred->args[i], batch, rest))
			return false;
		for (int w = 0; w < nwords; w++)
			found[w] |= rest[w];
	}
	memcpy(selection, found, nwords * sizeof(uint64));
	return true;
}

static bool
select_and(StPred *pred, VxBatch *batch, uint64 *selection)
{
	if (pred->lossy)
		return false;
	for (int i = 0; i < pred->nargs; i++)
	{
		if (vx_selection_is_empty(selection, batch->nrows))
			break;
		if (!select_node(pred->args[i], batch, selection))
			return false;
	}
	return true;
}

static bool
select_node(StPred *pred, VxBatch *batch, uint64 *selection)
{
	if (pred->kind == ST_PRED_OR)
		return select_or(pred, batch, selection);
	if (pred->kind == ST_PRED_AND)
		return select_and(pred, batch, selection);
	return select_leaf(pred, batch, selection);
}

bool
vx_select(StPred *pred, VxBatch *batch, uint64 *selection)
{
	uint64		result[VX_SELECTION_WORDS];

	memcpy(result, selection, sizeof(result));
	if (!select_node(pred, batch, result))
		return false;
	memcpy(selection, result, sizeof(result));
	return true;
}

bool
vx_select_is_cheap(const StPred *pred)
{
	for (int i = 0; i < pred->nargs; i++)
		if (!vx_select_is_cheap(pred->args[i]))
			return false;
	return pred->attno == InvalidAttrNumber || vx_is_number_type(pred->coltype);
}
