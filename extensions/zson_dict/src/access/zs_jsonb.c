/*-------------------------------------------------------------------------
 *
 * zs_jsonb.c
 *	  What is left to the server's own jsonb functions: changes (||, -, #-),
 *	  JSON path (@?, @@), keys of GIN indexes, conversion of scalars.
 *
 * The zson arguments are decoded and the server's function is called with a
 * copy of the caller's call info (a constant argument is evaluated once and
 * stays in the original), so that its caches and its errors are its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"

#include "zs_datum.h"

/* Calls a function with the first njsonb arguments as jsonb. */
static Datum
call_with_jsonb(FunctionCallInfo fcinfo, PGFunction function, int njsonb)
{
	LOCAL_FCINFO(call, 8);
	Datum		result;

	Assert(fcinfo->nargs <= 8);
	memcpy(call, fcinfo, SizeForFunctionCallInfo(fcinfo->nargs));
	for (int i = 0; i < njsonb; i++)
		call->args[i].value =
			JsonbPGetDatum(zs_to_jsonb(fcinfo->args[i].value));
	result = function(call);
	fcinfo->isnull = call->isnull;
	return result;
}

#define CALL_WITH_JSONB(name, function) \
PG_FUNCTION_INFO_V1(name); \
Datum \
name(PG_FUNCTION_ARGS) \
{ \
	return call_with_jsonb(fcinfo, function, 1); \
} \
extern int	no_such_variable

/* changes: the result is jsonb */
CALL_WITH_JSONB(zson_delete, jsonb_delete);
CALL_WITH_JSONB(zson_delete_array, jsonb_delete_array);
CALL_WITH_JSONB(zson_delete_idx, jsonb_delete_idx);
CALL_WITH_JSONB(zson_delete_path, jsonb_delete_path);

/* JSON path */
CALL_WITH_JSONB(zson_path_exists_opr, jsonb_path_exists_opr);
CALL_WITH_JSONB(zson_path_match_opr, jsonb_path_match_opr);

/* scalars */
CALL_WITH_JSONB(zson_bool, jsonb_bool);
CALL_WITH_JSONB(zson_numeric, jsonb_numeric);
CALL_WITH_JSONB(zson_int2, jsonb_int2);
CALL_WITH_JSONB(zson_int4, jsonb_int4);
CALL_WITH_JSONB(zson_int8, jsonb_int8);
CALL_WITH_JSONB(zson_float4, jsonb_float4);
CALL_WITH_JSONB(zson_float8, jsonb_float8);

/* GIN */
CALL_WITH_JSONB(zson_gin_extract, gin_extract_jsonb);
CALL_WITH_JSONB(zson_gin_extract_path, gin_extract_jsonb_path);

PG_FUNCTION_INFO_V1(zson_concat);
PG_FUNCTION_INFO_V1(zson_gin_extract_query);
PG_FUNCTION_INFO_V1(zson_gin_extract_query_path);

Datum
zson_concat(PG_FUNCTION_ARGS)
{
	return call_with_jsonb(fcinfo, jsonb_concat, 2);
}

/* Only the query of @> is zson; the strategy numbers are jsonb's. */
static int
njsonb_of_query(FunctionCallInfo fcinfo)
{
	return PG_GETARG_UINT16(2) == JsonbContainsStrategyNumber ? 1 : 0;
}

Datum
zson_gin_extract_query(PG_FUNCTION_ARGS)
{
	return call_with_jsonb(fcinfo, gin_extract_jsonb_query,
						   njsonb_of_query(fcinfo));
}

Datum
zson_gin_extract_query_path(PG_FUNCTION_ARGS)
{
	return call_with_jsonb(fcinfo, gin_extract_jsonb_query_path,
						   njsonb_of_query(fcinfo));
}
