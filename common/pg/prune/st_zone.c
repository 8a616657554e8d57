/*-------------------------------------------------------------------------
 *
 * st_zone.c
 *	  Tests predicates on zones: can a run of rows hold a row that passes?
 *
 * Every test starts from four facts about all values of the zone against one
 * value v: all < v, all <= v, all > v, all >= v.  A fact that is not set is
 * not known.  From there on, strings and numbers are alike.
 *
 * Reads no rows and takes no locks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"

#include "st_zone.h"

typedef struct ZoneFacts
{
	bool		all_lt;
	bool		all_le;
	bool		all_gt;
	bool		all_ge;
} ZoneFacts;

/* Every string that the zone's max allows is bytewise < v. */
static bool
max_below(const StZone *zone, StStr max, StStr v)
{
	return st_string_compare(max, v) < 0 &&
		!(zone->max_truncated && st_string_starts_with(v, max));
}

static void
string_facts(const StZone *zone, Oid type, StStr v, ZoneFacts *facts)
{
	StStr		min = st_string_bytes(zone->min, type);
	StStr		max = st_string_bytes(zone->max, type);

	facts->all_lt = max_below(zone, max, v);
	facts->all_le = facts->all_lt ||
		(!zone->max_truncated && st_string_compare(max, v) == 0);
	facts->all_gt = st_string_compare(min, v) > 0;
	facts->all_ge = facts->all_gt || st_string_compare(min, v) == 0;
}

/*
 * bpchar compares without trailing blanks, but the zone may bound values
 * that have them.  Leaving the blanks out only makes a value smaller, so
 * upper bounds hold as they are.  For lower bounds: let x be a value of the
 * zone and v the other, without blanks and without any byte below a blank.
 * If x >= v bytewise, then x either starts with v, or differs first at a
 * byte greater than v's, hence not a blank: x without blanks is still >= v.
 * x > v still means >, if x is greater than v followed by blanks.
 */
static void
bpchar_facts(const StZone *zone, StStr v, ZoneFacts *facts)
{
	StStr		min = st_string_bytes(zone->min, TEXTOID);
	uint32		common = 0;

	string_facts(zone, TEXTOID, v, facts);

	for (uint32 i = 0; i < v.len; i++)
	{
		if (v.data[i] < ' ')
		{
			facts->all_gt = facts->all_ge = false;
			return;
		}
	}
	if (st_string_starts_with(min, v))
	{
		common = v.len;
		while (common < min.len && min.data[common] == ' ')
			common++;
		facts->all_gt = common < min.len && min.data[common] > ' ';
	}
}

static void
zone_facts(StPred *pred, const StZone *zone, Datum value, ZoneFacts *facts)
{
	if (pred->string)
	{
		StStr		v;

		if (pred->opfamily == BPCHAR_BTREE_FAM_OID ||
			pred->opfamily == BPCHAR_PATTERN_BTREE_FAM_OID)
			bpchar_facts(zone, st_string_bytes(value, BPCHAROID), facts);
		else
		{
			v = st_string_bytes(value, pred->valtype == UUIDOID ? UUIDOID : TEXTOID);
			string_facts(zone, pred->valtype == UUIDOID ? UUIDOID : TEXTOID, v, facts);
		}
	}
	else
	{
		int32		min = DatumGetInt32(FunctionCall2Coll(&pred->cmp, InvalidOid,
														  zone->min, value));
		int32		max = DatumGetInt32(FunctionCall2Coll(&pred->cmp, InvalidOid,
														  zone->max, value));

		facts->all_lt = max < 0;
		facts->all_le = max <= 0;
		facts->all_gt = min > 0;
		facts->all_ge = min >= 0;
	}
}

/* The zone's bounds are in the order that the predicate's operator has. */
static bool
zone_usable(const StPred *pred, const StZone *zone)
{
	if (!zone->has_minmax)
		return false;
	/*
	 * Times that a time zone leaves out, when its clocks go forward, are taken for later ones
	 * than some that follow.
	 */
	if (pred->coltype == TIMESTAMPOID && pred->valtype == TIMESTAMPTZOID)
		return false;
	/* A uuid compares as a string, and its zone has whole values. */
	if (pred->string && pred->valtype == UUIDOID)
		return zone->opfamily == pred->opfamily;
	if (pred->string || zone->byte_order)
		return pred->string && zone->byte_order;
	return zone->opfamily == pred->opfamily;
}

static StZoneMatch
match_of(bool none, bool all)
{
	return none ? ST_ZONE_NONE : all ? ST_ZONE_ALL : ST_ZONE_SOME;
}

static StZoneMatch
test_compare(StPred *pred, const StZone *zone)
{
	ZoneFacts	f;

	zone_facts(pred, zone, pred->value, &f);
	switch (pred->strategy)
	{
		case BTLessStrategyNumber:
			return match_of(f.all_ge, f.all_lt);
		case BTLessEqualStrategyNumber:
			return match_of(f.all_gt, f.all_le);
		case BTEqualStrategyNumber:
			return match_of(f.all_lt || f.all_gt, f.all_le && f.all_ge);
		case BTGreaterEqualStrategyNumber:
			return match_of(f.all_lt, f.all_ge);
		case BTGreaterStrategyNumber:
			return match_of(f.all_le, f.all_gt);
		case ST_NOT_EQUAL_STRATEGY:
			return match_of(f.all_le && f.all_ge, f.all_lt || f.all_gt);
		default:
			return ST_ZONE_SOME;
	}
}

/* column = ANY (values) and column <> ALL (values) */
static StZoneMatch
test_list(StPred *pred, const StZone *zone)
{
	bool		any = pred->kind == ST_PRED_ANY;
	int			lo = 0;
	int			hi = pred->nvalues;
	ZoneFacts	f;

	/* The first of the values that is not below the whole zone. */
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		zone_facts(pred, zone, pred->values[mid], &f);
		if (f.all_gt)
			lo = mid + 1;
		else
			hi = mid;
	}

	if (lo < pred->nvalues)
	{
		zone_facts(pred, zone, pred->values[lo], &f);
		if (f.all_le && f.all_ge)
			return any ? ST_ZONE_ALL : ST_ZONE_NONE;
		if (!f.all_lt)
			return ST_ZONE_SOME;
	}
	/* None of the values can be in the zone. */
	return any ? ST_ZONE_NONE : ST_ZONE_ALL;
}

static StZoneMatch
test_prefix(const StPred *pred, const StZone *zone)
{
	/*
	 * The zone of a bpchar may hold its values without the blanks at their
	 * end.  So the prefix is compared without its own, and a match is no proof
	 * that a value starts with all of it.
	 */
	bool		blanks = pred->coltype == BPCHAROID;
	StStr		prefix = st_string_bytes(pred->value, blanks ? BPCHAROID : TEXTOID);
	StStr		min = st_string_bytes(zone->min, TEXTOID);
	StStr		max = st_string_bytes(zone->max, TEXTOID);

	if (max_below(zone, max, prefix))
		return ST_ZONE_NONE;
	if (st_string_compare(min, prefix) > 0 && !st_string_starts_with(min, prefix))
		return ST_ZONE_NONE;
	return match_of(false, !blanks && st_string_starts_with(min, prefix) && st_string_starts_with(max, prefix));
}

/*
 * Decides by the right side alone.  Returns SOME if the zone has to be asked.
 */
static StZoneMatch
test_value(const StPred *pred)
{
	switch (pred->kind)
	{
		case ST_PRED_VALUE:
			return match_of(pred->isnull || !DatumGetBool(pred->value), true);
		case ST_PRED_COMPARE:
		case ST_PRED_PREFIX:
			return match_of(pred->isnull, false);
		case ST_PRED_ANY:
			return match_of(pred->isnull || pred->nvalues == 0, false);
		case ST_PRED_ALL:
			return match_of(pred->isnull || pred->has_null, pred->nvalues == 0);
		default:
			return ST_ZONE_SOME;
	}
}

static StZoneMatch
test_values(StPred *pred, const StZone *zone)
{
	StZoneMatch match;

	if (zone->nnulls >= zone->nrows)
		return ST_ZONE_NONE;
	if (!zone_usable(pred, zone))
		return ST_ZONE_SOME;

	if (pred->kind == ST_PRED_PREFIX)
		match = test_prefix(pred, zone);
	else if (pred->kind != ST_PRED_COMPARE &&
			 (pred->strategy == BTEqualStrategyNumber ||
			  pred->strategy == ST_NOT_EQUAL_STRATEGY))
		match = test_list(pred, zone);
	else
		match = test_compare(pred, zone);

	return match == ST_ZONE_ALL && zone->nnulls > 0 ? ST_ZONE_SOME : match;
}

static StZoneMatch
test_leaf(StPred *pred, StZoneLookup lookup, void *arg)
{
	StZoneMatch match;
	StZone		zone;

	st_pred_evaluate(pred);
	match = test_value(pred);
	if (match != ST_ZONE_SOME || pred->kind == ST_PRED_VALUE)
		return match;
	if (!lookup(arg, pred->attno, &zone))
		return ST_ZONE_SOME;

	if (pred->kind == ST_PRED_ISNULL)
		return match_of(zone.nnulls == 0, zone.nnulls >= zone.nrows);
	if (pred->kind == ST_PRED_NOTNULL)
		return match_of(zone.nnulls >= zone.nrows, zone.nnulls == 0);
	return test_values(pred, &zone);
}

/* The weakest of the arguments' matches for AND, the strongest for OR. */
static StZoneMatch
test_junction(StPred *pred, StZoneLookup lookup, void *arg)
{
	bool		conjunction = pred->kind == ST_PRED_AND;
	StZoneMatch decisive = conjunction ? ST_ZONE_NONE : ST_ZONE_ALL;
	StZoneMatch result = conjunction ? ST_ZONE_ALL : ST_ZONE_NONE;

	for (int i = 0; i < pred->nargs; i++)
	{
		StZoneMatch match = st_zone_test(pred->args[i], lookup, arg);

		if (match == decisive)
			return decisive;
		if (match == ST_ZONE_SOME)
			result = ST_ZONE_SOME;
	}
	return result;
}

StZoneMatch
st_zone_test(StPred *pred, StZoneLookup lookup, void *arg)
{
	StZoneMatch match;

	if (pred->kind == ST_PRED_AND || pred->kind == ST_PRED_OR)
		match = test_junction(pred, lookup, arg);
	else
		match = test_leaf(pred, lookup, arg);
	return match == ST_ZONE_ALL && pred->lossy ? ST_ZONE_SOME : match;
}
