/*-------------------------------------------------------------------------
 *
 * st_zson_image.c
 *	  From a document's value to jsonb's binary image.
 *
 * The image is written in one pass, as the server itself would write it.  Its
 * size is not known beforehand: who has too little room tries again with more.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_format.h"

typedef struct Writer
{
	StZsonDoc  *doc;
	StJsonbWriter out;
	int			depth;
} Writer;

static StStatus write_value(Writer *w, StJsonbBuild *b, const StZsonValue *v);

static StStatus
write_string(Writer *w, const StZsonValue *v)
{
	uint8_t    *to = w->out.buf + w->out.len;
	StStr		s;
	StStatus	status;

	if (!st_jsonb_room(&w->out, st_zson_string_bound(v)))
		return w->out.status;
	status = st_zson_string(w->doc, v, to, &s);
	if (status != ST_OK)
		return status;
	if (s.len > 0 && s.data != to)
		memcpy(to, s.data, s.len);
	w->out.len += s.len;
	return ST_OK;
}

static StStatus
write_number(Writer *w, const StZsonValue *v)
{
	size_t		n = v->form == ST_ZSON_NUMERIC ? v->len : ST_ZSON_NUMERIC_MAX;
	uint8_t    *to;

	st_jsonb_pad(&w->out);
	if (!st_jsonb_room(&w->out, n + 4))
		return w->out.status;
	to = w->out.buf + w->out.len;
	if (v->form == ST_ZSON_NUMERIC)
		memcpy(to + 4, v->data, n);
	else
		n = st_zson_numeric_write(v->num, v->scale, to + 4);
	st_store_u32(to, (uint32_t) (n + 4) << 2);
	w->out.len += n + 4;
	return ST_OK;
}

static StStatus
write_keys(Writer *w, StJsonbBuild *b, const StZsonValue *v)
{
	const uint8_t *p = v->keys;
	StStr		before = {NULL, 0};

	for (uint32_t i = 0; i < v->count; i++)
	{
		StStr		key;
		int			id;

		if (v->form == ST_ZSON_FREE)
		{
			/* a shape's order was checked when the dictionary was loaded */
			if (st_zs_key(w->doc, v, &p, &id, &key) != ST_OK ||
				(id < 0 && !st_zs_text_valid(w->doc, key.data, key.len)) ||
				(i > 0 && st_zson_key_compare(&before, &key) >= 0))
				return ST_CORRUPT;
			before = key;
		}
		else
			key = w->doc->dict->keys[v->shape->keys[i]];
		st_jsonb_put(&w->out, b, ST_JSONB_STRING, key.data, key.len);
	}
	return v->form == ST_ZSON_FREE && p != v->keys_end ? ST_CORRUPT : ST_OK;
}

static StStatus
write_container(Writer *w, const StZsonValue *v)
{
	bool		object = v->kind == ST_ZSON_OBJECT;
	StJsonbBuild b;
	StZsonCursor c;
	StStatus	status;

	st_jsonb_begin(&w->out, &b, object ? ST_JSONB_OBJECT : ST_JSONB_ARRAY,
				   v->count);
	status = w->out.status;
	if (v->count == 0 || status != ST_OK)
		return status;
	if (!w->doc->enter(++w->depth))
		return ST_NOTFIT;
	if (object)
		status = write_keys(w, &b, v);
	st_zson_begin(v, &c);
	while (status == ST_OK && c.i < v->count)
	{
		StZsonValue member;

		status = st_zson_next(w->doc, &c, NULL, &member);
		if (status == ST_OK)
			status = write_value(w, &b, &member);
	}
	w->depth--;
	return status == ST_OK && c.p != v->end ? ST_CORRUPT : status;
}

/* Writes the value as the next child. */
static StStatus
write_value(Writer *w, StJsonbBuild *b, const StZsonValue *v)
{
	static const uint8_t types[] = {
		[ST_ZSON_NULL] = ST_JSONB_NULL,
		[ST_ZSON_STRING] = ST_JSONB_STRING,
		[ST_ZSON_NUMBER] = ST_JSONB_NUMERIC,
		[ST_ZSON_FALSE] = ST_JSONB_FALSE,
		[ST_ZSON_TRUE] = ST_JSONB_TRUE,
		[ST_ZSON_ARRAY] = ST_JSONB_CONTAINER,
		[ST_ZSON_OBJECT] = ST_JSONB_CONTAINER
	};
	size_t		from = w->out.len;
	StStatus	status = ST_OK;

	if (v->kind == ST_ZSON_STRING)
		status = write_string(w, v);
	else if (v->kind == ST_ZSON_NUMBER)
		status = write_number(w, v);
	else if (v->kind >= ST_ZSON_ARRAY)
		status = write_container(w, v);
	if (status != ST_OK)
		return status;
	st_jsonb_entry(&w->out, b, types[v->kind], from);
	return w->out.status;
}

StStatus
st_zson_image(StZsonDoc *doc, const StZsonValue *v, uint8_t *dst, size_t cap,
			  size_t *size)
{
	Writer		w = {.doc = doc};
	StJsonbBuild b;
	StStatus	status;

	st_jsonb_writer_init(&w.out, dst, cap);
	if (v->kind >= ST_ZSON_ARRAY)
		status = write_container(&w, v);
	else
	{
		st_jsonb_begin(&w.out, &b, ST_JSONB_ARRAY | ST_JSONB_SCALAR, 1);
		status = write_value(&w, &b, v);
	}
	*size = w.out.len;
	return status;
}
