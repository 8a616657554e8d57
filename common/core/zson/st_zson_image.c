/*-------------------------------------------------------------------------
 *
 * st_zson_image.c
 *	  From a document's value to jsonb's binary image.
 *
 * The image is written in one pass: entries of a container are reserved,
 * keys and values are appended, and each entry is set when its value's end is
 * known.  Offsets stand at every 32nd entry, lengths at the others, as the
 * server itself does it.
 *
 * The image's size is not known beforehand.  st_zson_image_size() walks the
 * value for an upper bound; both walks read the same bytes, so that what the
 * first one accepted fits.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_format.h"

/* Longest varlena of the server. */
#define MAX_IMAGE 0x0fffffff

/* ---- size ---- */

typedef struct Sizer
{
	StZsonDoc  *doc;
	uint64_t	size;
	int			depth;
} Sizer;

static StStatus
measure(Sizer *s, const StZsonValue *v)
{
	StZsonCursor c;
	bool		object = v->kind == ST_ZSON_OBJECT;

	switch (v->kind)
	{
		case ST_ZSON_STRING:
			s->size += st_zson_string_bound(v);
			break;
		case ST_ZSON_NUMBER:
			s->size += 3 + 4 + (v->form == ST_ZSON_NUMERIC ? v->len :
								ST_ZSON_NUMERIC_MAX);
			break;
		case ST_ZSON_ARRAY:
		case ST_ZSON_OBJECT:
			s->size += 3 + 4 + (uint64_t) v->count * (object ? 8 : 4);
			if (v->count == 0)
				break;
			if (!s->doc->enter(++s->depth))
				return ST_NOTFIT;
			st_zson_begin(v, &c);
			while (c.i < v->count)
			{
				StZsonValue member;
				StStr		key = {NULL, 0};
				StStatus	status;

				status = st_zson_next(s->doc, &c, object ? &key : NULL,
									  &member);
				if (status == ST_OK)
				{
					s->size += key.len;
					if (s->size > 8 * (uint64_t) MAX_IMAGE)
						return ST_CORRUPT;
					status = measure(s, &member);
				}
				if (status != ST_OK)
					return status;
			}
			if (c.p != v->end)
				return ST_CORRUPT;
			s->depth--;
			break;
		default:
			break;
	}
	return ST_OK;
}

StStatus
st_zson_image_size(StZsonDoc *doc, const StZsonValue *v, size_t *size)
{
	Sizer		s = {.doc = doc,.size = 8 + 8};
	StStatus	status = measure(&s, v);

	*size = s.size;
	return status;
}

/* ---- image ---- */

typedef struct Writer
{
	StZsonDoc  *doc;
	uint8_t    *start;
	uint8_t    *p;
	uint8_t    *end;
	int			depth;
} Writer;

static StStatus write_value(Writer *w, const StZsonValue *v, uint32_t *type);

/* Zeros up to the next multiple of 4. */
static bool
align(Writer *w)
{
	while ((w->p - w->start) % 4 != 0)
	{
		if (w->p >= w->end)
			return false;
		*w->p++ = 0;
	}
	return true;
}

static StStatus
write_string(Writer *w, const StZsonValue *v)
{
	StStr		s;
	StStatus	status;

	if (st_zson_string_bound(v) > (size_t) (w->end - w->p))
		return ST_CORRUPT;
	status = st_zson_string(w->doc, v, w->p, &s);
	if (status != ST_OK)
		return status;
	if (s.len == 0)
		return ST_OK;
	if (s.data != w->p)
		memcpy(w->p, s.data, s.len);
	w->p += s.len;
	return ST_OK;
}

static StStatus
write_number(Writer *w, const StZsonValue *v)
{
	size_t		n = v->form == ST_ZSON_NUMERIC ? v->len : ST_ZSON_NUMERIC_MAX;

	if (!align(w) || (size_t) (w->end - w->p) < n + 4)
		return ST_CORRUPT;
	if (v->form == ST_ZSON_NUMERIC)
		memcpy(w->p + 4, v->data, n);
	else
		n = st_zson_numeric_write(v->num, v->scale, w->p + 4);
	st_store_u32(w->p, (uint32_t) (n + 4) << 2);
	w->p += n + 4;
	return ST_OK;
}

/* The entry of child i, whose bytes end at w->p; data is the first's start. */
static StStatus
set_entry(Writer *w, uint8_t *entries, uint32_t i, uint32_t type,
		  const uint8_t *data, const uint8_t *from)
{
	size_t		total = (size_t) (w->p - data);

	if (total > JE_LEN)
		return ST_NOTFIT;
	if (i % JB_STRIDE == 0)
		st_store_u32(entries + 4 * (size_t) i,
					 type | JE_HAS_OFF | (uint32_t) total);
	else
		st_store_u32(entries + 4 * (size_t) i,
					 type | (uint32_t) (w->p - from));
	return ST_OK;
}

/* Keys stand together before the values. */
static StStatus
write_keys(Writer *w, const StZsonValue *v, uint8_t *entries,
		   const uint8_t *data)
{
	const uint8_t *p = v->keys;
	StStr		before = {NULL, 0};

	for (uint32_t i = 0; i < v->count; i++)
	{
		const uint8_t *from = w->p;
		StStr		key;
		StStatus	status;

		if (v->form == ST_ZSON_FREE)
		{
			uint64_t	k;

			if (!zs_varint(&p, v->keys_end, &k))
				return ST_CORRUPT;
			if (k & 1)
			{
				if (w->doc->dict == NULL || k >> 1 >= w->doc->dict->nkeys)
					return ST_CORRUPT;
				key = w->doc->dict->keys[k >> 1];
			}
			else
			{
				if (k >> 1 > (uint64_t) (v->keys_end - p))
					return ST_CORRUPT;
				key = (StStr) {p, (uint32_t) (k >> 1)};
				p += key.len;
				if (!st_zs_text_valid(w->doc, key.data, key.len))
					return ST_CORRUPT;
			}
		}
		else
			key = w->doc->dict->keys[v->shape->keys[i]];
		/* a shape's order was checked when the dictionary was loaded */
		if (v->form == ST_ZSON_FREE && i > 0 &&
			st_zson_key_compare(&before, &key) >= 0)
			return ST_CORRUPT;
		before = key;
		if (key.len > (size_t) (w->end - w->p))
			return ST_CORRUPT;
		if (key.len > 0)
			memcpy(w->p, key.data, key.len);
		w->p += key.len;
		status = set_entry(w, entries, i, JE_STRING, data, from);
		if (status != ST_OK)
			return status;
	}
	return v->form == ST_ZSON_FREE && p != v->keys_end ? ST_CORRUPT : ST_OK;
}

static StStatus
write_container(Writer *w, const StZsonValue *v)
{
	bool		object = v->kind == ST_ZSON_OBJECT;
	size_t		nentries = (size_t) v->count * (object ? 2 : 1);
	StZsonCursor c;
	uint8_t    *entries;
	const uint8_t *data;
	StStatus	status = ST_OK;

	if (!align(w) || (size_t) (w->end - w->p) < 4 + 4 * nentries)
		return ST_CORRUPT;
	st_store_u32(w->p, v->count | (object ? JB_OBJECT : JB_ARRAY));
	entries = w->p + 4;
	w->p = entries + 4 * nentries;
	data = w->p;
	if (v->count == 0)
		return ST_OK;
	if (!w->doc->enter(++w->depth))
		return ST_NOTFIT;
	if (object)
		status = write_keys(w, v, entries, data);
	st_zson_begin(v, &c);
	while (status == ST_OK && c.i < v->count)
	{
		uint32_t	i = c.i + (object ? v->count : 0);
		const uint8_t *from = w->p;
		StZsonValue member;
		uint32_t	type = 0;

		status = st_zson_next(w->doc, &c, NULL, &member);
		if (status == ST_OK)
			status = write_value(w, &member, &type);
		if (status == ST_OK)
			status = set_entry(w, entries, i, type, data, from);
	}
	w->depth--;
	if (status == ST_OK && c.p != v->end)
		return ST_CORRUPT;
	return status;
}

static StStatus
write_value(Writer *w, const StZsonValue *v, uint32_t *type)
{
	switch (v->kind)
	{
		case ST_ZSON_NULL:
			*type = JE_NULL;
			return ST_OK;
		case ST_ZSON_FALSE:
			*type = JE_FALSE;
			return ST_OK;
		case ST_ZSON_TRUE:
			*type = JE_TRUE;
			return ST_OK;
		case ST_ZSON_STRING:
			*type = JE_STRING;
			return write_string(w, v);
		case ST_ZSON_NUMBER:
			*type = JE_NUMERIC;
			return write_number(w, v);
		default:
			*type = JE_CONTAINER;
			return write_container(w, v);
	}
}

StStatus
st_zson_image(StZsonDoc *doc, const StZsonValue *v, uint8_t *dst, size_t cap,
			  size_t *size)
{
	Writer		w = {.doc = doc,.start = dst,.p = dst,.end = dst + cap};
	uint32_t	type;
	StStatus	status;

	if (v->kind == ST_ZSON_ARRAY || v->kind == ST_ZSON_OBJECT)
		status = write_value(&w, v, &type);
	else
	{
		if (cap < 8)
			return ST_NOSPACE;
		st_store_u32(dst, 1 | JB_SCALAR | JB_ARRAY);
		w.p = dst + 8;
		status = write_value(&w, v, &type);
		if (status == ST_OK)
			status = set_entry(&w, dst + 4, 0, type, dst + 8, dst + 8);
	}
	*size = (size_t) (w.p - dst);
	return status;
}
