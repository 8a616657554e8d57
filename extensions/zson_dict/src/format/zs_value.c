/*-------------------------------------------------------------------------
 *
 * zs_value.c
 *	  A value within a document, as jsonb, zson, text or numeric.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "zs_datum.h"
#include "zs_dict.h"

Jsonb *
zs_value_jsonb(ZsDoc *z, const StZsonValue *v)
{
	size_t		n = v->next - v->start;
	/* room that most likely suffices */
	size_t		cap = 256 + 8 * n + 16 * Min(n, 1024) + 2 * (Size) v->tail_len;
	size_t		len;
	Jsonb	   *result;
	StStatus	status;

	for (;; cap *= 2)
	{
		result = MemoryContextAllocHuge(CurrentMemoryContext, cap + VARHDRSZ);
		status = st_zson_image(&z->doc, v, (uint8_t *) VARDATA(result), cap,
							   &len);
		/* a bound of a string's length is up to eight times its bytes */
		if (status != ST_NOSPACE || cap > 16 * MaxAllocSize)
			break;
		CHECK_FOR_INTERRUPTS();
		pfree(result);
	}
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

struct varlena *
zs_quick_zson(const ZsSpot *spot)
{
	struct varlena *result;
	size_t		len;

	result = palloc(VARHDRSZ + ST_ZSON_QUICK_CUT(&spot->doc, spot->n));
	len = st_zson_quick_cut(&spot->doc, spot->data, spot->p, spot->n,
							(uint8_t *) VARDATA(result));
	SET_VARSIZE(result, VARHDRSZ + len);
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

bool
zs_value_equals(ZsDoc *z, const StZsonValue *v, const StStr *other)
{
	StStr		s = {v->data, v->len};
	bool		result;

	if (st_zson_string_bound(v) < other->len)
		return false;
	if (v->form != ST_ZSON_PLAIN)
		s = zs_value_string(z, v);
	result = s.len == other->len && memcmp(s.data, other->data, s.len) == 0;
	if (v->form != ST_ZSON_PLAIN)
		pfree((void *) s.data);
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
	switch (v->kind)
	{
		case ST_ZSON_NULL:
			return NULL;
		case ST_ZSON_STRING:
			return string_text(z, v);
		case ST_ZSON_NUMBER:
			if (v->form != ST_ZSON_NUMERIC)
				return zs_decimal_text(v->num, v->scale);
			pg_fallthrough;
		default:
			return zs_to_text(z, v);
	}
}

text *
zs_quick_text(const ZsSpot *spot)
{
	const StZsonDict *dict;
	text	   *result;
	StZsonValue v;
	ZsDoc		z;
	StStr		s;
	int64		num;

	if (!ST_ZSON_IS_SHORT_STRING(spot->p) &&
		st_zson_quick_integer(NULL, spot->p, &num))
		return zs_decimal_text(num, 0);
	dict = zs_dict_read(spot->doc.dict_id);
	if (!st_zson_quick_string(dict, spot->p, &s))
	{
		if (st_zson_quick_integer(dict, spot->p, &num))
			return zs_decimal_text(num, 0);
		if (st_zson_quick_value(&z.doc, dict, spot->p, spot->n, &v) != ST_OK ||
			(v.kind != ST_ZSON_STRING && v.kind != ST_ZSON_NUMBER))
			return NULL;
		z.doc.valid = zs_text_valid;
		return zs_value_text(&z, &v);
	}
	result = palloc(VARHDRSZ + s.len);
	memcpy(VARDATA(result), s.data, s.len);
	SET_VARSIZE(result, VARHDRSZ + s.len);
	return result;
}
