/*-------------------------------------------------------------------------
 *
 * zs_value.c
 *	  A value within a document, as jsonb, zson, text or numeric.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "zs_datum.h"

Jsonb *
zs_value_jsonb(ZsDoc *z, const StZsonValue *v)
{
	size_t		cap;
	size_t		len;
	Jsonb	   *result;
	StStatus	status;

	status = st_zson_image_size(&z->doc, v, &cap);
	if (status != ST_OK)
		zs_raise(&z->doc, status);
	result = MemoryContextAllocHuge(CurrentMemoryContext, cap + VARHDRSZ);
	status = st_zson_image(&z->doc, v, (uint8_t *) VARDATA(result), cap, &len);
	if (status != ST_OK)
		zs_raise(&z->doc, status);
	if (len + VARHDRSZ > MaxAllocSize)
		zs_raise(&z->doc, ST_NOTFIT);
	SET_VARSIZE(result, len + VARHDRSZ);
	return result;
}

struct varlena *
zs_value_zson(ZsDoc *z, const StZsonValue *v)
{
	size_t		cap = st_zson_cut_bound(&z->doc, v);
	size_t		len;
	struct varlena *result = palloc(cap + VARHDRSZ);
	StStatus	status;

	Assert(zs_is_here(z, v) == ST_OK);

	status = st_zson_cut(&z->doc, v, (uint8_t *) VARDATA(result), cap, &len);
	if (unlikely(status != ST_OK))
		zs_raise(&z->doc, status);
	SET_VARSIZE(result, len + VARHDRSZ);
	return result;
}

Numeric
zs_value_numeric(const StZsonValue *v)
{
	size_t		n = v->form == ST_ZSON_NUMERIC ? v->len : ST_ZSON_NUMERIC_MAX;
	struct varlena *result = palloc(n + VARHDRSZ);

	if (v->form == ST_ZSON_NUMERIC)
		memcpy(VARDATA(result), v->data, n);
	else
		n = st_zson_numeric_write(v->num, v->scale,
								  (uint8_t *) VARDATA(result));
	SET_VARSIZE(result, n + VARHDRSZ);
	return (Numeric) result;
}

StStr
zs_value_string(ZsDoc *z, const StZsonValue *v)
{
	uint8_t    *buf = NULL;
	StStr		s;
	StStatus	status;

	if (v->form != ST_ZSON_PLAIN)
		buf = palloc(st_zson_string_bound(v) + 1);
	status = st_zson_string(&z->doc, v, buf, &s);
	if (status != ST_OK)
		zs_raise(&z->doc, status);
	return s;
}

/* num * 10^-scale in digits, as numeric's output writes it. */
static text *
decimal_text(int64 num, int scale)
{
	text	   *result = palloc(VARHDRSZ + 96);
	char		digits[24];
	char	   *out = VARDATA(result);
	uint64		magnitude = num < 0 ? 0 - (uint64) num : (uint64) num;
	int			n = pg_ulltoa_n(magnitude, digits);
	int			whole = n - scale;

	if (num < 0)
		*out++ = '-';
	if (whole <= 0)
		*out++ = '0';
	else
	{
		memcpy(out, digits, whole);
		out += whole;
	}
	if (scale > 0)
	{
		*out++ = '.';
		for (int k = whole; k < 0; k++)
			*out++ = '0';
		memcpy(out, digits + Max(whole, 0), n - Max(whole, 0));
		out += n - Max(whole, 0);
	}
	SET_VARSIZE(result, out - (char *) result);
	return result;
}

static text *
string_text(ZsDoc *z, const StZsonValue *v)
{
	text	   *result = palloc(VARHDRSZ + st_zson_string_bound(v));
	uint8_t    *buf = (uint8_t *) VARDATA(result);
	StStr		s;
	StStatus	status;

	status = st_zson_string(&z->doc, v, buf, &s);
	if (unlikely(status != ST_OK))
		zs_raise(&z->doc, status);
	if (s.data != buf)
		memcpy(buf, s.data, s.len);
	SET_VARSIZE(result, VARHDRSZ + s.len);
	return result;
}

text *
zs_value_text(ZsDoc *z, const StZsonValue *v)
{
	Jsonb	   *jb;

	switch (v->kind)
	{
		case ST_ZSON_NULL:
			return NULL;
		case ST_ZSON_FALSE:
			return cstring_to_text("false");
		case ST_ZSON_TRUE:
			return cstring_to_text("true");
		case ST_ZSON_STRING:
			return string_text(z, v);
		case ST_ZSON_NUMBER:
			if (v->form != ST_ZSON_NUMERIC)
				return decimal_text(v->num, v->scale);
			return cstring_to_text(DatumGetCString(DirectFunctionCall1(numeric_out,
																	   NumericGetDatum(zs_value_numeric(v)))));
		default:
			jb = zs_value_jsonb(z, v);
			return cstring_to_text(JsonbToCString(NULL, &jb->root,
												  VARSIZE(jb)));
	}
}
