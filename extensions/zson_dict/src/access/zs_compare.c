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

#define RESULT_OF_COMPARE(name, return_as, condition) \
PG_FUNCTION_INFO_V1(name); \
Datum \
name(PG_FUNCTION_ARGS) \
{ \
	return_as(compare(fcinfo) condition); \
} \
extern int	no_such_variable

RESULT_OF_COMPARE(zson_cmp, PG_RETURN_INT32,);
RESULT_OF_COMPARE(zson_eq, PG_RETURN_BOOL, == 0);
RESULT_OF_COMPARE(zson_ne, PG_RETURN_BOOL, != 0);
RESULT_OF_COMPARE(zson_lt, PG_RETURN_BOOL, < 0);
RESULT_OF_COMPARE(zson_le, PG_RETURN_BOOL, <= 0);
RESULT_OF_COMPARE(zson_gt, PG_RETURN_BOOL, > 0);
RESULT_OF_COMPARE(zson_ge, PG_RETURN_BOOL, >= 0);

PG_FUNCTION_INFO_V1(zson_hash);
PG_FUNCTION_INFO_V1(zson_hash_extended);

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
