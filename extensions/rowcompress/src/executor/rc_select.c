/*-------------------------------------------------------------------------
 *
 * rc_select.c
 *	  Comparisons of a column's numbers with one value, a batch at a time.
 *
 * Covers columns that are held as int64 under operator families whose order
 * is that of the integers: int2, int4, int8, oid, date and timestamps against
 * their own kind, and floats against floats.  Everything else is left to
 * rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type_d.h"
#include "utils/date.h"
#include "utils/timestamp.h"

#include "rc_quals.h"

/* The right side as the number that the column's values are compared with. */
static bool
value_as_int(const StPred *pred, int64 *value)
{
	switch (pred->valtype)
	{
		case INT2OID:
			*value = DatumGetInt16(pred->value);
			break;
		case INT4OID:
			*value = DatumGetInt32(pred->value);
			break;
		case INT8OID:
			*value = DatumGetInt64(pred->value);
			break;
		case OIDOID:
			*value = DatumGetObjectId(pred->value);
			return pred->coltype == OIDOID;
		case DATEOID:
			*value = DatumGetDateADT(pred->value);
			return pred->coltype == DATEOID;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			*value = DatumGetTimestamp(pred->value);
			return pred->coltype == pred->valtype;
		default:
			return false;
	}
	return pred->coltype == INT2OID || pred->coltype == INT4OID || pred->coltype == INT8OID;
}

/* As the server orders floats: NaN equals itself and is above all else. */
static inline bool
float_less(double a, double b)
{
	return isnan(b) ? !isnan(a) : a < b;
}

#define LESS(a, b) ((a) < (b))

#define DEFINE_SELECT(name, type, less) \
static void \
name(int strategy, const type *v, type value, uint32 nrows, uint64 *selection) \
{ \
	for (uint32 base = 0; base < nrows; base += 64) \
	{ \
		uint32		n = Min(64, nrows - base); \
		uint64		lt = 0; \
		uint64		gt = 0; \
		uint64		keep; \
\
		for (uint32 i = 0; i < n; i++) \
		{ \
			lt |= (uint64) less(v[base + i], value) << i; \
			gt |= (uint64) less(value, v[base + i]) << i; \
		} \
		switch (strategy) \
		{ \
			case BTLessStrategyNumber: \
				keep = lt; \
				break; \
			case BTLessEqualStrategyNumber: \
				keep = ~gt; \
				break; \
			case BTEqualStrategyNumber: \
				keep = ~(lt | gt); \
				break; \
			case BTGreaterEqualStrategyNumber: \
				keep = ~lt; \
				break; \
			case BTGreaterStrategyNumber: \
				keep = gt; \
				break; \
			default: \
				keep = lt | gt; \
				break; \
		} \
		selection[base / 64] &= keep; \
	} \
}

DEFINE_SELECT(select_ints, int64, LESS)
DEFINE_SELECT(select_doubles, double, float_less)

static void
remove_nulls(const RcVector *v, uint32 nrows, uint64 *selection)
{
	for (uint32 i = 0; i < (nrows + 63) / 64 && v->valid != NULL; i++)
		selection[i] &= v->valid[i];
}

bool
rc_select(StPred *pred, const RcVector *v, uint32 nrows, uint64 *selection)
{
	int64		value;

	st_pred_evaluate(pred);
	if (pred->isnull)
	{
		memset(selection, 0, (nrows + 63) / 64 * sizeof(uint64));
		return true;
	}
	if (v->rep == RC_REP_INT64 && value_as_int(pred, &value))
		select_ints(pred->strategy, v->u.i64, value, nrows, selection);
	else if (v->rep == RC_REP_FLOAT8 && pred->coltype == FLOAT8OID &&
			 pred->valtype == FLOAT8OID)
		select_doubles(pred->strategy, v->u.f64, DatumGetFloat8(pred->value), nrows,
					   selection);
	else
		return false;
	remove_nulls(v, nrows, selection);
	return true;
}
