/*-------------------------------------------------------------------------
 *
 * st_zson_read.c
 *	  Finding one's way in a document.
 *
 * Every byte is hostile.  Values lie within their container, which is checked
 * when the container is read; a value's own bytes are checked against what is
 * in memory (ST_NOSPACE: there is more of the document) before they are
 * looked at.  Skipping a value costs one look at a table, unless it is one of
 * the long forms.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_format.h"

/*
 * Bytes of a value by its tag, tag included; 0: see st_zs_long_size().  The second
 * row is for documents with a tail.
 */
#define X16(n) n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n
#define UP16(n) n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, \
	n + 8, n + 9, n + 10, n + 11, n + 12, n + 13, n + 14, n + 15
#define VALUES_AND_STRINGS \
	X16(1), X16(1), X16(1), X16(1), X16(2), X16(2), UP16(1), UP16(17)
#define NUMBERS_AND_OTHERS \
	X16(1), X16(1), \
	1, 1, 1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 5, 9, \
	2, 3, 4, 5, 2, 3, 4, 5, 2, 3, 4, 5, 0, 0, 0, 0, \
	0, 0, 0, 0, 17, 0, 6, 7, 5, 7, 9, 11, 13, 17, 21, 33, \
	1, 1, 0, 0, 0, 0, 0, 2, 1, 1, 1, 1, 1, 1, 1, 1
const uint8_t st_zs_fixed_size[2][256] = {
	{VALUES_AND_STRINGS, UP16(1), UP16(17), NUMBERS_AND_OTHERS},
	{VALUES_AND_STRINGS, X16(0), X16(0), NUMBERS_AND_OTHERS}
};

/*
 * Status of a read that met an end: of what is in memory, or of what it may
 * read.
 */
static StStatus
beyond(const StZsonDoc *doc, const uint8_t *end)
{
	return doc->avail_end < end ? ST_NOSPACE : ST_CORRUPT;
}

/* The end of what may be looked at. */
ST_INLINE const uint8_t *
readable(const StZsonDoc *doc, const uint8_t *end)
{
	return doc->avail_end < end ? doc->avail_end : end;
}

StStatus
st_zson_open(StZsonDoc *doc, const uint8_t *data, size_t avail, size_t len)
{
	const uint8_t *p = data;
	const uint8_t *end = data + avail;
	StStatus	short_of = avail < len ? ST_NOSPACE : ST_CORRUPT;
	uint64_t	v;
	unsigned	flags;

	doc->dict = NULL;
	doc->dict_id = 0;
	doc->root_shape = 0;
	doc->repeats = doc->repeats_end = NULL;
	doc->has_tail = false;
	doc->tail_raw = doc->tail_base = doc->nblocks = 0;
	doc->ctx = NULL;
	doc->block = NULL;
	doc->block_no = -1;
	doc->fetch = NULL;
	doc->valid = NULL;
	doc->data = data;
	doc->len = len;
	doc->avail = avail;
	if (avail < 2)
		return short_of;
	flags = *p++;
	if ((flags & ZS_VERSION_MASK) == ZS_SMALL ||
		(flags & ZS_VERSION_MASK) == ZS_SMALL_REPEATS)
	{
		doc->root_shape = 1 + (flags & ~(unsigned) ZS_VERSION_MASK);
		flags = ZS_VERSION | ZS_HAS_DICT |
			((flags & ZS_VERSION_MASK) == ZS_SMALL ? 0 : ZS_HAS_REPEATS);
	}
	if ((flags & ZS_VERSION_MASK) != ZS_VERSION)
		return ST_UNSUPPORTED;
	if (flags & ZS_HAS_DICT)
	{
		if (!zs_varint(&p, end, &v))
			return short_of;
		if (v == 0 || v > UINT32_MAX)
			return ST_CORRUPT;
		doc->dict_id = (uint32_t) v;
	}
	if (flags & ZS_HAS_REPEATS)
	{
		if (!zs_varint(&p, end, &v))
			return short_of;
		if (v > ZS_MAX_REPEAT_BYTES || v > (uint64_t) (data + len - p))
			return ST_CORRUPT;
		if (v > (uint64_t) (end - p))
			return ST_NOSPACE;
		doc->repeats = p;
		doc->repeats_end = p += v;
	}
	/* no member begins where the root does */
	doc->root = doc->root_shape > 0 ? p - 1 : p;
	doc->head_end = data + len;
	doc->avail_end = end;
	if (flags & ZS_HAS_TAIL)
	{
		uint64_t	head;
		uint64_t	raw;
		uint64_t	base = 0;

		if (!zs_varint(&p, end, &head) || !zs_varint(&p, end, &raw) ||
			((flags & ZS_HAS_BASE) && !zs_varint(&p, end, &base)))
			return short_of;
		/* a cut may hold nothing of the tail, but have room for its sizes */
		if (raw > INT32_MAX || base >= ST_ZSON_BLOCK || base > raw ||
			(raw == 0 && !(flags & ZS_HAS_BASE)))
			return ST_CORRUPT;
		doc->has_tail = true;
		doc->tail_raw = (uint32_t) raw;
		doc->tail_base = (uint32_t) base;
		doc->nblocks = (uint32_t) ((raw + ST_ZSON_BLOCK - 1) / ST_ZSON_BLOCK);
		doc->dir = p;
		for (uint32_t i = 0; i < doc->nblocks; i++)
		{
			if (!zs_varint(&p, end, &v))
				return short_of;
		}
		doc->dir_end = p;
		if (head == 0 || head > len - (size_t) (p - data))
			return ST_CORRUPT;
		doc->root = p;
		doc->head_end = p + head;
		doc->tail_at = (size_t) (p - data) + head;
	}
	else if (flags & ZS_HAS_BASE)
		return ST_CORRUPT;
	if (doc->avail_end > doc->head_end)
		doc->avail_end = doc->head_end;
	return ST_OK;
}

/* Tags that stand for strings in the tail, if the document has one. */
#define IS_SHORT_TAIL(doc, tag) \
	((doc)->has_tail && (tag) >= ZS_FSST && (tag) < ZS_INT)
#define SHORT_TAIL_LEN(tag) ((uint32_t) ((tag) - ZS_FSST + ZS_TAIL_MIN))

size_t
st_zs_long_size(const uint8_t *p, const uint8_t *limit, bool has_tail,
				uint64_t *tail)
{
	const uint8_t *start = p;
	unsigned	tag = *p++;
	uint64_t	v = 0;
	size_t		size;

	*tail = 0;
	switch (tag)
	{
		case ZS_DECIMAL:
			if (p++ >= limit)
				return 0;
			/* FALLTHROUGH */
		case ZS_DIGITS:
			return zs_varint(&p, limit, &v) ? (size_t) (p - start) : 0;
		case ZS_NUMERIC:
		case ZS_LONG_STR:
		case ZS_LONG_FSST:
		case ZS_CODE:
			if (!zs_varint(&p, limit, &v))
				return 0;
			break;
		case ZS_ARRAY:
		case ZS_SHAPED:
		case ZS_OBJECT:
			if (!zs_varint(&p, limit, &v) ||
				(has_tail && !zs_varint(&p, limit, tail)))
				return 0;
			break;
		case ZS_HEX:
			if (p >= limit)
				return 0;
			v = *p++;
			break;
		case ZS_TAIL:
			return has_tail && zs_varint(&p, limit, tail) ?
				(size_t) (p - start) : 0;
		case ZS_TEMPLATE1:
		case ZS_TEMPLATE2:
			return st_zs_template_size(start, limit, &size) ? size : 0;
		default:
			if (!has_tail || tag < ZS_FSST || tag >= ZS_INT)
				return 0;
			*tail = SHORT_TAIL_LEN(tag);
	}
	/* what is too large stays too large */
	return (size_t) (p - start) + (v < INT32_MAX ? (size_t) v : INT32_MAX);
}

/* Moves *p and *tail behind the value at *p. */
ST_INLINE StStatus
skip_value(StZsonDoc *doc, const uint8_t **p, const uint8_t *end,
		   uint32_t *tail)
{
	uint64_t	size;

	if (st_unlikely(*p >= readable(doc, end)))
		return beyond(doc, end);
	size = st_zs_fixed_size[doc->has_tail][**p];
	if (st_unlikely(size == 0))
	{
		uint64_t	used;

		size = st_zs_long_size(*p, readable(doc, end), doc->has_tail, &used);
		if (size == 0)
			return beyond(doc, end);
		if (used > doc->tail_raw - doc->tail_base ||
			*tail > doc->tail_raw - doc->tail_base - used)
			return ST_CORRUPT;
		*tail += (uint32_t) used;
	}
	if (st_unlikely(size > (uint64_t) (end - *p)))
		return ST_CORRUPT;
	*p += size;
	return ST_OK;
}

/* ---- scalars ---- */

ST_INLINE void
set_string(StZsonValue *v, int form, const uint8_t *data, uint32_t len)
{
	v->kind = ST_ZSON_STRING;
	v->form = (uint8_t) form;
	v->data = data;
	v->len = len;
}

ST_INLINE void
set_number(StZsonValue *v, int64_t num, int scale)
{
	v->kind = ST_ZSON_NUMBER;
	v->form = scale == 0 ? ST_ZSON_PLAIN : ST_ZSON_DECIMAL;
	v->num = num;
	v->scale = (uint8_t) scale;
}

/* Forms c4 to dd. */
static StStatus
long_number(const uint8_t *p, const uint8_t *next, StZsonValue *v)
{
	int			tag = *p++;
	uint64_t	n;
	int			scale;

	if (tag < ZS_NEG1)
	{
		n = zs_load_bytes(p, (unsigned) (tag - ZS_POS + 1));
		if (n > INT64_MAX)
			return ST_CORRUPT;
		set_number(v, (int64_t) n, 0);
	}
	else if (tag < ZS_DEC)
	{
		n = zs_load_bytes(p, 1u << (tag - ZS_NEG1));
		if (n > INT64_MAX)
			return ST_CORRUPT;
		set_number(v, (int64_t) ~n, 0);
	}
	else if (tag < ZS_DECIMAL)
		set_number(v, (int64_t) zs_load_bytes(p, (unsigned) (tag & 3) + 1),
				   1 + (tag - ZS_DEC) / 4);
	else if (tag == ZS_DECIMAL)
	{
		scale = *p++;
		if (!zs_varint(&p, next, &n) || scale == 0 || scale > 63)
			return ST_CORRUPT;
		set_number(v, st_zigzag_decode(n), scale);
	}
	else
	{
		zs_varint(&p, next, &n);
		if (!st_zson_numeric_valid(p, (size_t) (next - p)))
			return ST_CORRUPT;
		v->kind = ST_ZSON_NUMBER;
		v->form = ST_ZSON_NUMERIC;
		v->data = p;
		v->len = (uint32_t) (next - p);
	}
	return ST_OK;
}

static StStatus
dict_value(StZsonDoc *doc, uint32_t id, StZsonValue *v)
{
	const StZsonDict *dict = doc->dict;
	StZsonDoc	none;
	const uint8_t *start = v->start;
	const uint8_t *next = v->next;
	uint32_t	tail = v->tail;
	const uint8_t *p;
	StStatus	status;

	if (dict == NULL || id >= dict->nvalues)
		return ST_CORRUPT;
	p = dict->blob + dict->values[id];
	if (st_likely(*p >= ZS_STR && *p < ZS_FSST))
	{
		set_string(v, ST_ZSON_PLAIN, p + 1, (uint32_t) *p & 0x1f);
		return ST_OK;
	}
	if (*p >= ZS_POS && *p < ZS_LONG_STR)
		return long_number(p, dict->blob + dict->value_ends[id], v);
	memset(&none, 0, sizeof(none));
	none.avail_end = dict->blob + dict->value_ends[id];
	status = st_zs_value(&none, p, none.avail_end, 0, v);
	v->start = start;
	v->next = next;
	v->tail = tail;
	return status;
}

/* Forms c3, e0 to ef. */
static StStatus
long_string(const uint8_t *p, const uint8_t *next, StZsonValue *v)
{
	int			tag = *p++;
	uint64_t	n;

	switch (tag)
	{
		case ZS_LONG_STR:
		case ZS_LONG_FSST:
		case ZS_CODE:
			zs_varint(&p, next, &n);
			if (tag != ZS_LONG_STR && n > UINT32_MAX / 8)
				return ST_CORRUPT;
			set_string(v, tag == ZS_LONG_STR ? ST_ZSON_PLAIN :
					   tag == ZS_CODE ? ST_ZSON_CODE : ST_ZSON_FSST,
					   p, (uint32_t) (next - p));
			break;
		case ZS_HEX:
			set_string(v, ST_ZSON_HEX, p + 1, (uint32_t) (next - p - 1));
			break;
		case ZS_UUID:
			set_string(v, ST_ZSON_UUID, p, 16);
			break;
		case ZS_DIGITS:
			zs_varint(&p, next, &n);
			if (n >= UINT64_C(10000000000000000000))
				return ST_CORRUPT;
			set_string(v, ST_ZSON_DIGITS, NULL, 0);
			v->num = (int64_t) n;
			break;
		case ZS_SECONDS:
		case ZS_MILLIS:
			set_string(v, ST_ZSON_TIME, NULL, 0);
			v->scale = tag == ZS_MILLIS ? 3 : 0;
			v->num = (int64_t) zs_load_bytes(p, tag == ZS_MILLIS ? 6 : 5);
			if ((tag == ZS_MILLIS ? v->num / 1000 : v->num) > ZS_MAX_SECONDS)
				return ST_CORRUPT;
			break;
		case ZS_TAIL:
			zs_varint(&p, next, &n);
			if (n == 0)
				return ST_CORRUPT;
			set_string(v, ST_ZSON_TAIL, NULL, (uint32_t) n);
			break;
		default:
			set_string(v, ST_ZSON_HEX, p, (uint32_t) (next - p));
	}
	return ST_OK;
}

/* ---- containers ---- */

/*
 * Reads what stands before the values of a container with members. p is behind
 * n, which is its shape or the number of its members; v->end is the end of the
 * members.
 */
static StStatus
members(StZsonDoc *doc, int tag, uint64_t n, const uint8_t *p, StZsonValue *v)
{
	const uint8_t *limit = readable(doc, v->end);
	uint64_t	keys = 0;
	uint64_t	nstrides;

	v->kind = tag == ZS_ARRAY ? ST_ZSON_ARRAY : ST_ZSON_OBJECT;
	v->form = tag == ZS_OBJECT ? ST_ZSON_FREE : ST_ZSON_SHAPE;
	v->shape = NULL;
	v->strides = NULL;
	if (tag == ZS_SHAPED)
	{
		if (doc->dict == NULL || n >= doc->dict->nshapes)
			return ST_CORRUPT;
		v->shape = &doc->dict->shapes[n];
		n = v->shape->nkeys;
	}
	v->stride_size = doc->has_tail ? 8 : 4;
	if (tag == ZS_OBJECT)
	{
		if (!zs_varint(&p, limit, &keys))
			return beyond(doc, v->end);
		v->stride_size += 4;
	}
	if (n == 0 || n > (uint64_t) (v->end - p))
		return ST_CORRUPT;
	v->count = (uint32_t) n;
	nstrides = (n - 1) / ST_ZSON_STRIDE;
	if (nstrides > 0)
	{
		uint64_t	bytes = nstrides * v->stride_size;

		if (bytes > (uint64_t) (v->end - p))
			return ST_CORRUPT;
		v->strides = p;
		p += bytes;
	}
	if (keys > (uint64_t) (v->end - p))
		return ST_CORRUPT;
	v->keys = p;
	v->keys_end = v->values = p + keys;
	if ((uint64_t) (v->end - v->values) < n)
		return ST_CORRUPT;
	/* keys and strides are looked at without more ado */
	if (v->values > doc->avail_end)
		return ST_NOSPACE;
	return ST_OK;
}

/* A container with members, p behind its sizes. */
static StStatus
container(StZsonDoc *doc, int tag, const uint8_t *p, StZsonValue *v)
{
	uint64_t	n;

	if (!zs_varint(&p, readable(doc, v->end), &n))
		return beyond(doc, v->end);
	return members(doc, tag, n, p, v);
}

/* A nested container whose size has been checked. */
static StStatus
nested(StZsonDoc *doc, const uint8_t *p, StZsonValue *v)
{
	int			tag = *p++;
	uint64_t	n;

	v->end = v->next;
	zs_varint(&p, v->next, &n);
	if (doc->has_tail)
	{
		/* the first size counts from behind both */
		zs_varint(&p, v->next, &n);
	}
	return container(doc, tag, p, v);
}

StStatus
st_zs_value(StZsonDoc *doc, const uint8_t *p, const uint8_t *end, uint32_t tail,
		 StZsonValue *v)
{
	uint32_t	tail_end = tail;
	StStatus	status;
	int			tag;

	v->start = v->next = p;
	status = skip_value(doc, &v->next, end, &tail_end);
	if (status != ST_OK)
		return status;
	v->tail = tail;
	v->tail_len = tail_end - tail;
	tag = *p;
	if (zs_is_container(tag))
		return nested(doc, p, v);
	if (v->next > doc->avail_end)
		return ST_NOSPACE;
	if (tag > ZS_OBJECT)
		return tag < ZS_REPEAT ? st_zs_template(doc, v) : st_zs_repeat(doc, v);
	if (tag < ZS_VALUE2)
		return dict_value(doc, (uint32_t) tag, v);
	if (tag < ZS_STR)
		return dict_value(doc, 64 + ((uint32_t) (tag & 0x1f) << 8 | p[1]), v);
	if (tag < ZS_FSST)
		set_string(v, ST_ZSON_PLAIN, p + 1, (uint32_t) tag & 0x1f);
	else if (IS_SHORT_TAIL(doc, tag))
		set_string(v, ST_ZSON_TAIL, NULL, SHORT_TAIL_LEN(tag));
	else if (tag < ZS_INT)
		set_string(v, ST_ZSON_FSST, p + 1, (uint32_t) tag & 0x1f);
	else if (tag < ZS_NULL)
		set_number(v, tag & 0x1f, 0);
	else if (tag == ZS_NULL)
		v->kind = ST_ZSON_NULL;
	else if (tag == ZS_FALSE)
		v->kind = ST_ZSON_FALSE;
	else if (tag == ZS_TRUE)
		v->kind = ST_ZSON_TRUE;
	else if (tag == ZS_CODE)
		return long_string(p, v->next, v);
	else if (tag < ZS_LONG_STR)
		return long_number(p, v->next, v);
	else if (tag < ZS_EMPTY_ARRAY)
		return long_string(p, v->next, v);
	else
	{
		v->kind = tag == ZS_EMPTY_ARRAY ? ST_ZSON_ARRAY : ST_ZSON_OBJECT;
		v->form = ST_ZSON_SHAPE;
		v->shape = NULL;
		v->count = 0;
		v->end = v->values = v->next;
	}
	return ST_OK;
}

StStatus
st_zson_root(StZsonDoc *doc, StZsonValue *v)
{
	const uint8_t *p = doc->root;
	StStatus	status;
	int			tag;

	if (doc->avail_end <= p)
		return doc->head_end > p ? ST_NOSPACE : ST_CORRUPT;
	v->start = p;
	v->next = v->end = doc->head_end;
	v->tail = 0;
	v->tail_len = doc->tail_raw - doc->tail_base;
	if (doc->root_shape > 0)
		return members(doc, ZS_SHAPED, doc->root_shape - 1, p + 1, v);
	tag = *p;
	if (zs_is_container(tag))
		return container(doc, tag, p + 1, v);
	status = st_zs_value(doc, p, doc->head_end, 0, v);
	if (status == ST_OK && v->next != doc->head_end)
		return ST_CORRUPT;
	return status;
}

void
st_zson_begin(const StZsonValue *v, StZsonCursor *c)
{
	c->of = v;
	c->i = 0;
	c->p = v->values;
	c->key = v->keys;
	c->tail = v->tail;
}

/* Moves to the stride before member i, if that is ahead. */
static StStatus
jump(StZsonCursor *c, uint32_t i)
{
	const StZsonValue *v = c->of;
	uint32_t	k = i / ST_ZSON_STRIDE;
	const uint8_t *entry;

	if (v->strides == NULL || k == 0 || c->i >= k * ST_ZSON_STRIDE)
		return ST_OK;
	entry = v->strides + (size_t) (k - 1) * v->stride_size;
	if (st_load_u32(entry) > (size_t) (v->end - v->values))
		return ST_CORRUPT;
	c->i = k * ST_ZSON_STRIDE;
	c->p = v->values + st_load_u32(entry);
	if (v->stride_size == 8 + 4 * (v->form == ST_ZSON_FREE))
	{
		if (st_load_u32(entry + 4) > v->tail_len)
			return ST_CORRUPT;
		c->tail = v->tail + st_load_u32(entry + 4);
	}
	return ST_OK;
}

StStatus
st_zs_key(const StZsonDoc *doc, const StZsonValue *v, const uint8_t **p,
		  int *id, StStr *key)
{
	uint64_t	k;

	if (!zs_varint(p, v->keys_end, &k))
		return ST_CORRUPT;
	if (k & 1)
	{
		if (doc->dict == NULL || k >> 1 >= doc->dict->nkeys)
			return ST_CORRUPT;
		*id = (int) (k >> 1);
		*key = doc->dict->keys[*id];
		return ST_OK;
	}
	k >>= 1;
	if (k > (uint64_t) (v->keys_end - *p))
		return ST_CORRUPT;
	*id = -1;
	*key = (StStr) {*p, (uint32_t) k};
	*p += k;
	return ST_OK;
}

StStatus
st_zson_next(StZsonDoc *doc, StZsonCursor *c, StStr *key, StZsonValue *v)
{
	const StZsonValue *of = c->of;
	StStatus	status;
	int			id;

	if (key != NULL && of->form == ST_ZSON_FREE)
	{
		status = st_zs_key(doc, of, &c->key, &id, key);
		if (status != ST_OK)
			return status;
		if (id < 0 && !st_zs_text_valid(doc, key->data, key->len))
			return ST_CORRUPT;
	}
	else if (key != NULL)
		*key = doc->dict->keys[of->shape->keys[c->i]];
	status = st_zs_value(doc, c->p, of->end, c->tail, v);
	if (status != ST_OK)
		return status;
	c->p = v->next;
	c->tail = v->tail + v->tail_len;
	c->i++;
	return ST_OK;
}

StStatus
st_zson_at(StZsonDoc *doc, const StZsonValue *of, uint32_t i, StZsonValue *v)
{
	StZsonCursor c;
	const uint8_t *sizes;
	const uint8_t *limit;
	StStatus	status;

	st_zson_begin(of, &c);
	if (of->strides != NULL)
	{
		status = jump(&c, i);
		if (status != ST_OK)
			return status;
	}
	/* members of a fixed size: one look at a table each */
	sizes = st_zs_fixed_size[doc->has_tail];
	limit = readable(doc, of->end);
	for (; c.i < i; c.i++)
	{
		unsigned	size = c.p < limit ? sizes[*c.p] : 0;

		if (st_likely(size != 0))
		{
			c.p += size;
			continue;
		}
		status = skip_value(doc, &c.p, of->end, &c.tail);
		if (status != ST_OK)
			return status;
	}
	if (c.p > of->end)
		return ST_CORRUPT;
	return st_zs_value(doc, c.p, of->end, c.tail, v);
}

/* Place of a key among those of an object without a shape, -1 if not there. */
static StStatus
find_free(StZsonDoc *doc, const StZsonValue *of, const StStr *key, int key_id,
		  int64_t *found)
{
	const uint8_t *p = of->keys;
	uint32_t	i = 0;
	uint32_t	low = 0;
	uint32_t	high = (of->count - 1) / ST_ZSON_STRIDE;

	*found = -1;
	/* the last stride whose first key is not behind the key */
	while (low < high)
	{
		uint32_t	mid = (low + high + 1) / 2;
		const uint8_t *entry = of->strides + (size_t) (mid - 1) * of->stride_size;
		uint32_t	at = st_load_u32(entry + of->stride_size - 4);
		const uint8_t *q = of->keys + at;
		StStr		first;
		int			id;

		if (at > (size_t) (of->keys_end - of->keys) ||
			st_zs_key(doc, of, &q, &id, &first) != ST_OK)
			return ST_CORRUPT;
		if (st_zson_key_compare(&first, key) <= 0)
		{
			low = mid;
			i = mid * ST_ZSON_STRIDE;
			p = of->keys + at;
		}
		else
			high = mid - 1;
	}
	for (; i < of->count; i++)
	{
		StStr		k;
		int			id;
		StStatus	status = st_zs_key(doc, of, &p, &id, &k);

		if (status != ST_OK)
			return status;
		if (k.len > key->len)
			break;
		if (id >= 0 ? id == key_id :
			key_id < 0 && k.len == key->len &&
			memcmp(k.data, key->data, k.len) == 0)
		{
			*found = i;
			break;
		}
	}
	return ST_OK;
}

StStatus
st_zson_find(StZsonDoc *doc, const StZsonValue *of, const StStr *key,
			 int key_id, bool *found, StZsonValue *v)
{
	int64_t		i = -1;
	StStatus	status;

	*found = false;
	if (of->count == 0)
		return ST_OK;
	if (of->form == ST_ZSON_SHAPE)
	{
		const uint16_t *keys = of->shape->keys;
		uint32_t	n = of->shape->nkeys;

		if (key_id < 0)
			return ST_OK;
		for (uint32_t k = 0; k < n; k++)
		{
			if (keys[k] == key_id)
			{
				i = k;
				break;
			}
		}
	}
	else
	{
		status = find_free(doc, of, key, key_id, &i);
		if (status != ST_OK)
			return status;
	}
	*found = i >= 0;
	if (i < 0 || v == NULL)
		return ST_OK;
	return st_zson_at(doc, of, (uint32_t) i, v);
}
