/*-------------------------------------------------------------------------
 *
 * cc_agg_spec.c
 *	  Which aggregates the vector engine knows, and how it computes each.
 *
 * Aggregates of the server with a kernel of ours stand in a table.  Any other
 * ordinary aggregate is computed by its own transition function, row by row
 * but out of vectors, so one of them does not keep the rest of a query from
 * its kernels.  What needs its input sorted or distinct is left to the
 * server.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/syscache.h"

#include "cc_agg_spec.h"

static const struct
{
	Oid			fnoid;
	CcTransKind trans;
	bool		average;
}			known[] =
{
	{F_COUNT_, CC_TRANS_COUNT, false},
	{F_COUNT_ANY, CC_TRANS_COUNT, false},
	{F_SUM_INT2, CC_TRANS_SUM_INT, false},
	{F_SUM_INT4, CC_TRANS_SUM_INT, false},
	{F_SUM_INT8, CC_TRANS_SUM_INT8, false},
	{F_SUM_NUMERIC, CC_TRANS_SUM_NUMERIC, false},
	{F_SUM_FLOAT4, CC_TRANS_SUM_FLOAT4, false},
	{F_SUM_FLOAT8, CC_TRANS_SUM_FLOAT8, false},
	{F_AVG_INT2, CC_TRANS_SUM_INT, true},
	{F_AVG_INT4, CC_TRANS_SUM_INT, true},
	{F_AVG_INT8, CC_TRANS_SUM_INT8, true},
	{F_AVG_NUMERIC, CC_TRANS_SUM_NUMERIC, true},
	{F_AVG_FLOAT4, CC_TRANS_SUM_FLOAT8, true},
	{F_AVG_FLOAT8, CC_TRANS_SUM_FLOAT8, true},
	{F_MIN_INT2, CC_TRANS_MIN_INT, false},
	{F_MIN_INT4, CC_TRANS_MIN_INT, false},
	{F_MIN_INT8, CC_TRANS_MIN_INT, false},
	{F_MIN_OID, CC_TRANS_MIN_INT, false},
	{F_MIN_DATE, CC_TRANS_MIN_INT, false},
	{F_MIN_TIME, CC_TRANS_MIN_INT, false},
	{F_MIN_MONEY, CC_TRANS_MIN_INT, false},
	{F_MIN_TIMESTAMP, CC_TRANS_MIN_INT, false},
	{F_MIN_TIMESTAMPTZ, CC_TRANS_MIN_INT, false},
	{F_MIN_FLOAT4, CC_TRANS_MIN_FLOAT, false},
	{F_MIN_FLOAT8, CC_TRANS_MIN_FLOAT, false},
	{F_MIN_NUMERIC, CC_TRANS_MIN_NUMERIC, false},
	{F_MAX_INT2, CC_TRANS_MAX_INT, false},
	{F_MAX_INT4, CC_TRANS_MAX_INT, false},
	{F_MAX_INT8, CC_TRANS_MAX_INT, false},
	{F_MAX_OID, CC_TRANS_MAX_INT, false},
	{F_MAX_DATE, CC_TRANS_MAX_INT, false},
	{F_MAX_TIME, CC_TRANS_MAX_INT, false},
	{F_MAX_MONEY, CC_TRANS_MAX_INT, false},
	{F_MAX_TIMESTAMP, CC_TRANS_MAX_INT, false},
	{F_MAX_TIMESTAMPTZ, CC_TRANS_MAX_INT, false},
	{F_MAX_FLOAT4, CC_TRANS_MAX_FLOAT, false},
	{F_MAX_FLOAT8, CC_TRANS_MAX_FLOAT, false},
	{F_MAX_NUMERIC, CC_TRANS_MAX_NUMERIC, false},
	{F_BOOL_AND, CC_TRANS_BOOL_AND, false},
	{F_EVERY, CC_TRANS_BOOL_AND, false},
	{F_BOOL_OR, CC_TRANS_BOOL_OR, false},
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

bool
cc_agg_resolve(const Aggref *agg, CcAggSpec *spec)
{
	if (agg->aggkind != AGGKIND_NORMAL || agg->aggorder != NIL ||
		agg->aggdistinct != NIL || agg->aggvariadic ||
		agg->aggsplit != AGGSPLIT_SIMPLE || agg->agglevelsup != 0)
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
	spec->trans = CC_TRANS_SERVER;
	spec->average = false;
	return has_plain_transition(agg);
}

bool
cc_is_integer_key(Oid type, Oid eqop)
{
	if (eqop >= FirstNormalObjectId)
		return false;
	switch (getBaseType(type))
	{
		case BOOLOID:
		case CHAROID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case CASHOID:
			return true;
		default:
			return false;
	}
}

bool
cc_is_bytes_key(Oid type, Oid eqop, Oid collation)
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
