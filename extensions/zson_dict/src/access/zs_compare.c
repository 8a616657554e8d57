/*-------------------------------------------------------------------------
 *
 * zs_compare.c
 *	  Order, equality and hash of type zson: jsonb's.
 *
 * Values that were stored with different dictionaries compare by what they
 * mean.  Equal bytes are equal values; all else is compared as jsonb.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "zs_datum.h"

PG_FUNCTION_INFO_V1(zson_cmp);
PG_FUNCTION_INFO_V1(zson_eq);
PG_FUNCTION_INFO_V1(zson_ne);
PG_FUNCTION_INFO_V1(zson_lt);
PG_FUNCTION_INFO_V1(zson_le);
PG_FUNCTION_INFO_V1(zson_gt);
PG_FUNCTION_INFO_V1(zson_ge);
PG_FUNCTION_INFO_V1(zson_hash);
PG_FUNCTION_INFO_V1(zson_hash_extended);

static int
compare(FunctionCallInfo fcinfo)
{
	struct varlena *a = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0));
	struct varlena *b = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(1));
	Jsonb	   *x;
	Jsonb	   *y;
	int			result;

	if (VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
		memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0)
		result = 0;
	else
	{
		x = zs_to_jsonb(PointerGetDatum(a));
		y = zs_to_jsonb(PointerGetDatum(b));
		result = compareJsonbContainers(&x->root, &y->root);
		pfree(x);
		pfree(y);
	}
	/* index builds and sorts call this without resetting a context */
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return result;
}

Datum
zson_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare(fcinfo));
}

Datum
zson_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) == 0);
}

Datum
zson_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) != 0);
}

Datum
zson_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) < 0);
}

Datum
zson_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) <= 0);
}

Datum
zson_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) > 0);
}

Datum
zson_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) >= 0);
}

Datum
zson_hash(PG_FUNCTION_ARGS)
{
	Jsonb	   *jb = zs_to_jsonb(PG_GETARG_DATUM(0));
	Datum		result = DirectFunctionCall1(jsonb_hash, JsonbPGetDatum(jb));

	pfree(jb);
	return result;
}

Datum
zson_hash_extended(PG_FUNCTION_ARGS)
{
	Jsonb	   *jb = zs_to_jsonb(PG_GETARG_DATUM(0));
	Datum		result = DirectFunctionCall2(jsonb_hash_extended,
											 JsonbPGetDatum(jb),
											 PG_GETARG_DATUM(1));

	pfree(jb);
	return result;
}
