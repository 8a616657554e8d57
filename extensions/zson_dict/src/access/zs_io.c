/*-------------------------------------------------------------------------
 *
 * zs_io.c
 *	  Type zson: text and binary input and output, which are jsonb's, and
 *	  conversion from and to jsonb.
 *
 * Neither form of input or output knows of dictionaries: a client, a dump or
 * a subscriber sees jsonb's own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "zs_datum.h"

PG_FUNCTION_INFO_V1(zson_in);
PG_FUNCTION_INFO_V1(zson_out);
PG_FUNCTION_INFO_V1(zson_recv);
PG_FUNCTION_INFO_V1(zson_send);
PG_FUNCTION_INFO_V1(zson_from_jsonb);
PG_FUNCTION_INFO_V1(zson_to_jsonb);

Datum
zson_in(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(call, 1);
	Datum		jb;

	/* from 16 on, the context is where errors go that shall not be raised */
	InitFunctionCallInfoData(*call, NULL, 1, InvalidOid, fcinfo->context, NULL);
	call->args[0].value = PG_GETARG_DATUM(0);
	call->args[0].isnull = false;
	jb = jsonb_in(call);
	if (DatumGetPointer(jb) == NULL)
		return jb;
	PG_RETURN_POINTER(zs_from_jsonb(DatumGetJsonbP(jb)));
}

Datum
zson_out(PG_FUNCTION_ARGS)
{
	Jsonb	   *jb = zs_to_jsonb(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(JsonbToCString(NULL, &jb->root, VARSIZE(jb)));
}

Datum
zson_recv(PG_FUNCTION_ARGS)
{
	Datum		jb = DirectFunctionCall1(jsonb_recv, PG_GETARG_DATUM(0));

	PG_RETURN_POINTER(zs_from_jsonb(DatumGetJsonbP(jb)));
}

Datum
zson_send(PG_FUNCTION_ARGS)
{
	Jsonb	   *jb = zs_to_jsonb(PG_GETARG_DATUM(0));

	return DirectFunctionCall1(jsonb_send, JsonbPGetDatum(jb));
}

Datum
zson_from_jsonb(PG_FUNCTION_ARGS)
{
	/* the image is read in words: a short header would shift it */
	PG_RETURN_POINTER(zs_from_jsonb(PG_GETARG_JSONB_P(0)));
}

Datum
zson_to_jsonb(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(zs_to_jsonb(PG_GETARG_DATUM(0)));
}
