/*-------------------------------------------------------------------------
 *
 * zs_io.c
 *	  Type zson: text and binary input and output, which are jsonb's, and
 *	  conversion from and to jsonb.
 *
 * Neither form of input or output knows of dictionaries: a client, a dump or
 * a subscriber sees jsonb's own.  Usual texts are parsed by the codec, all
 * others, and all faulty ones, by jsonb's own input function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "zs_datum.h"

/* The first byte of jsonb's binary form. */
#define JSONB_BINARY_VERSION 1

PG_FUNCTION_INFO_V1(zson_in);
PG_FUNCTION_INFO_V1(zson_out);
PG_FUNCTION_INFO_V1(zson_recv);
PG_FUNCTION_INFO_V1(zson_send);
PG_FUNCTION_INFO_V1(zson_to_text);
PG_FUNCTION_INFO_V1(zson_from_jsonb);
PG_FUNCTION_INFO_V1(zson_to_jsonb);

Datum
zson_in(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(call, 1);
	char	   *text = PG_GETARG_CSTRING(0);
	struct varlena *result = zs_from_text(text, strlen(text));
	Datum		jb;

	if (likely(result != NULL))
		PG_RETURN_POINTER(result);
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
	PG_RETURN_CSTRING(zs_to_cstring(PG_GETARG_DATUM(0)));
}

Datum
zson_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			start = buf->cursor;
	struct varlena *result = NULL;
	Datum		jb;

	if (pq_getmsgint(buf, 1) == JSONB_BINARY_VERSION)
	{
		int			len;
		char	   *text = pq_getmsgtext(buf, buf->len - buf->cursor, &len);

		result = zs_from_text(text, len);
	}
	if (likely(result != NULL))
		PG_RETURN_POINTER(result);
	buf->cursor = start;
	jb = DirectFunctionCall1(jsonb_recv, PG_GETARG_DATUM(0));
	PG_RETURN_POINTER(zs_from_jsonb(DatumGetJsonbP(jb)));
}

Datum
zson_send(PG_FUNCTION_ARGS)
{
	StringInfoData buf;
	char	   *s = zs_to_cstring(PG_GETARG_DATUM(0));

	pq_begintypsend(&buf);
	pq_sendint8(&buf, JSONB_BINARY_VERSION);
	pq_sendtext(&buf, s, strlen(s));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

Datum
zson_to_text(PG_FUNCTION_ARGS)
{
	ZsDoc		z;

	zs_open_whole(&z, PG_GETARG_DATUM(0));
	PG_RETURN_TEXT_P(zs_to_text(&z, &z.root));
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
