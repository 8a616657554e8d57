/*-------------------------------------------------------------------------
 *
 * vx_agg_spec.c
 *	  Which aggregates the vector engine knows, and how it computes each.
 *
 * Aggregates of the server with a kernel of ours stand in a table.  Any other
 * ordinary aggregate is computed by its own transition function, row by row
 * but out of vectors, so one of them does not keep the rest of a query from
 * its kernels.  What needs its input sorted is left to the server, but for
 * percentiles and the mode of numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "vx_agg_spec.h"
#include "vx_vector.h"
#include "st_compat.h"

static const struct
{
	Oid			fnoid;
	VxTransKind trans;
	bool		average;
}			known[] =
{
	{F_COUNT_, VX_TRANS_COUNT, false},
	{F_COUNT_ANY, VX_TRANS_COUNT, false},
	{F_SUM_INT2, VX_TRANS_SUM_INT, false},
	{F_SUM_INT4, VX_TRANS_SUM_INT, false},
	{F_SUM_INT8, VX_TRANS_SUM_INT8, false},
	{F_SUM_NUMERIC, VX_TRANS_SUM_NUMERIC, false},
	{F_SUM_FLOAT4, VX_TRANS_SUM_FLOAT4, false},
	{F_SUM_FLOAT8, VX_TRANS_SUM_FLOAT8, false},
	{F_AVG_INT2, VX_TRANS_SUM_INT, true},
	{F_AVG_INT4, VX_TRANS_SUM_INT, true},
	{F_AVG_INT8, VX_TRANS_SUM_INT8, true},
	{F_AVG_NUMERIC, VX_TRANS_SUM_NUMERIC, true},
	{F_AVG_FLOAT4, VX_TRANS_SUM_FLOAT8, true},
	{F_AVG_FLOAT8, VX_TRANS_SUM_FLOAT8, true},
	{F_MIN_INT2, VX_TRANS_MIN_INT, false},
	{F_MIN_INT4, VX_TRANS_MIN_INT, false},
	{F_MIN_INT8, VX_TRANS_MIN_INT, false},
	{F_MIN_OID, VX_TRANS_MIN_INT, false},
	{F_MIN_DATE, VX_TRANS_MIN_INT, false},
	{F_MIN_TIME, VX_TRANS_MIN_INT, false},
	{F_MIN_MONEY, VX_TRANS_MIN_INT, false},
	{F_MIN_TIMESTAMP, VX_TRANS_MIN_INT, false},
	{F_MIN_TIMESTAMPTZ, VX_TRANS_MIN_INT, false},
	{F_MIN_FLOAT4, VX_TRANS_MIN_FLOAT, false},
	{F_MIN_FLOAT8, VX_TRANS_MIN_FLOAT, false},
	{F_MIN_NUMERIC, VX_TRANS_MIN_NUMERIC, false},
	{F_MAX_INT2, VX_TRANS_MAX_INT, false},
	{F_MAX_INT4, VX_TRANS_MAX_INT, false},
	{F_MAX_INT8, VX_TRANS_MAX_INT, false},
	{F_MAX_OID, VX_TRANS_MAX_INT, false},
	{F_MAX_DATE, VX_TRANS_MAX_INT, false},
	{F_MAX_TIME, VX_TRANS_MAX_INT, false},
	{F_MAX_MONEY, VX_TRANS_MAX_INT, false},
	{F_MAX_TIMESTAMP, VX_TRANS_MAX_INT, false},
	{F_MAX_TIMESTAMPTZ, VX_TRANS_MAX_INT, false},
	{F_MAX_FLOAT4, VX_TRANS_MAX_FLOAT, false},
	{F_MAX_FLOAT8, VX_TRANS_MAX_FLOAT, false},
	{F_MAX_NUMERIC, VX_TRANS_MAX_NUMERIC, false},
	{F_BOOL_AND, VX_TRANS_MIN_INT, false},
	{F_EVERY, VX_TRANS_MIN_INT, false},
	{F_BOOL_OR, VX_TRANS_MAX_INT, false},
};

/* The server's transition function can be called row by row. */
static bool
has_plain_transition(const Aggref *agg)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(agg->aggfnoid));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggkind == AGGKIND_NORMAL;
	ReleaseSysCache(tuple);
	return result;
}

/* Values of the type are ordered as the numbers that vectors hold. */
static bool
is_ordered_as_number(Oid type)
{
	type = getBaseType(type);
	return type == FLOAT4OID || type == FLOAT8OID || type == INT2OID ||
		type == INT4OID || type == INT8OID || type == DATEOID || type == TIMEOID ||
		type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

/* Percentiles and the mode of numbers, in the order of their type. */
static bool
resolve_ordered(const Aggref *agg, VxAggSpec *spec)
{
	SortGroupClause *order;
	Oid			opfamily;
	Oid			opcintype;

	switch (agg->aggfnoid)
	{
		case F_PERCENTILE_DISC_FLOAT8_ANYELEMENT:
			spec->ordered = VX_ORDERED_DISC;
			break;
		case F_PERCENTILE_CONT_FLOAT8_FLOAT8:
			spec->ordered = VX_ORDERED_CONT;
			break;
		case F_MODE:
			spec->ordered = VX_ORDERED_MODE;
			break;
		default:
			return false;
	}
	if (agg->aggdistinct != NIL || list_length(agg->args) != 1 ||
		list_length(agg->aggorder) != 1 ||
		!is_ordered_as_number(exprType((Node *) linitial_node(TargetEntry, agg->args)->expr)))
		return false;
	order = linitial_node(SortGroupClause, agg->aggorder);
	if (order->sortop >= FirstNormalObjectId ||
		!st_is_ordering_op(order->sortop, &opfamily, &opcintype, &spec->descending))
		return false;
	spec->trans = VX_TRANS_ORDERED;
	spec->average = false;
	return true;
}

/*
 * A kernel takes values in any order, so DISTINCT needs no sorting.  Results
 * of other functions may depend on it.
 */
static bool
distinct_is_supported(const Aggref *agg)
{
	return list_length(agg->aggdistinct) == 1 && list_length(agg->args) == 1 &&
		linitial_node(SortGroupClause, agg->aggdistinct)->hashable;
}

bool
vx_agg_resolve(const Aggref *agg, VxAggSpec *spec)
{
	memset(spec, 0, sizeof(*spec));
	if (agg->aggvariadic || agg->aggsplit != AGGSPLIT_SIMPLE || agg->agglevelsup != 0)
		return false;
	if (agg->aggkind == AGGKIND_ORDERED_SET)
		return resolve_ordered(agg, spec);
	/* The order that DISTINCT brings along matters to no kernel. */
	if (agg->aggkind != AGGKIND_NORMAL ||
		(agg->aggorder != NIL && agg->aggdistinct == NIL) ||
		(agg->aggdistinct != NIL && !distinct_is_supported(agg)))
		return false;

	for (int i = 0; i < lengthof(known); i++)
	{
		if (known[i].fnoid == agg->aggfnoid)
		{
			spec->trans = known[i].trans;
			spec->average = known[i].average;
			return true;
		}
	}
	spec->trans = VX_TRANS_SERVER;
	spec->average = false;
	return agg->aggdistinct == NIL && has_plain_transition(agg);
}

bool
vx_agg_server_combines(const Aggref *agg)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(agg->aggfnoid));
	bool		result = HeapTupleIsValid(tuple) && agg->aggtranstype != INTERNALOID &&
		OidIsValid(((Form_pg_aggregate) GETSTRUCT(tuple))->aggcombinefn);

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return result;
}

List *
vx_agg_operands(List *keys, List *aggregates)
{
	List	   *operands = list_copy(keys);
	ListCell   *lc1;
	ListCell   *lc2;

	foreach(lc1, aggregates)
	{
		Aggref	   *agg = lfirst_node(Aggref, lc1);

		foreach(lc2, agg->args)
			operands = lappend(operands, lfirst_node(TargetEntry, lc2)->expr);
		if (agg->aggfilter)
			operands = lappend(operands, agg->aggfilter);
	}
	return operands;
}

bool
vx_is_integer_key(Oid type, Oid eqop)
{
	return eqop < FirstNormalObjectId && vx_is_integer_type(getBaseType(type));
}

bool
vx_is_bytes_key(Oid type, Oid eqop, Oid collation)
{
	if (eqop >= FirstNormalObjectId)
		return false;
	switch (getBaseType(type))
	{
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			return OidIsValid(collation) && get_collation_isdeterministic(collation);
		case BYTEAOID:
			return true;
		default:
			return false;
	}
}
