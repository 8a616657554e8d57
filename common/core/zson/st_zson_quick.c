/*-------------------------------------------------------------------------
 *
 * st_zson_quick.c
 *	  The short way to a member of a document's root.
 *
 * Most documents are small objects with a shape, in memory, and are asked for
 * one key, the same for all.  Whoever remembers where a key stands in a shape
 * needs only the header, the shape's number, and one look at a table for each
 * member before it.  Whatever is not that plain is refused here and read by
 * st_zson_read.c, which also says what is damaged.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_format.h"

_Static_assert(ST_ZSON_QUICK_KEYS <= ST_ZSON_STRIDE,
			   "strides would stand before the values");

/* Blocks of a tail whose sizes are worth skipping here. */
#define MAX_BLOCKS 4

/* A varint of one or two bytes: enough for everything small. */
ST_INLINE bool
short_varint(const uint8_t **p, const uint8_t *end, uint32_t *v)
{
	if (st_unlikely(end - *p < 2))
		return false;
	*v = *(*p)++;
	if (*v < 0x80)
		return true;
	if (**p >= 0x80 || **p == 0)
		return false;
	*v = (*v & 0x7f) | (uint32_t) *(*p)++ << 7;
	return true;
}

/* Past the repeated strings. */
static bool
skip_repeats(const uint8_t **p, const uint8_t *end, StZsonQuick *q)
{
	uint32_t	n;

	if (!short_varint(p, end, &n) || n > (size_t) (end - *p))
		return false;
	q->repeats = *p;
	q->repeats_end = *p += n;
	return true;
}

/* Past the directory of the tail: *p is at the root, *end behind it. */
static bool
skip_directory(const uint8_t **p, const uint8_t **end, bool has_base)
{
	const uint8_t *q = *p;
	uint64_t	head;
	uint64_t	raw;
	uint64_t	v;

	if (!zs_varint(&q, *end, &head) || !zs_varint(&q, *end, &raw) ||
		(has_base && !zs_varint(&q, *end, &v)) ||
		raw > MAX_BLOCKS * ST_ZSON_BLOCK)
		return false;
	for (uint64_t at = 0; at < raw; at += ST_ZSON_BLOCK)
	{
		if (!zs_varint(&q, *end, &v))
			return false;
	}
	if (head < 2 || head > (uint64_t) (*end - q))
		return false;
	*p = q;
	*end = q + head;
	return true;
}

bool
st_zson_quick_open(const uint8_t *data, size_t len, StZsonQuick *q)
{
	const uint8_t *p = data + 1;
	const uint8_t *end = data + len;
	unsigned	flags;

	if (len < 4)
		return false;
	flags = *data;
	q->repeats = q->repeats_end = NULL;
	if ((flags & ZS_VERSION_MASK) == ZS_SMALL ||
		(flags & ZS_VERSION_MASK) == ZS_SMALL_REPEATS)
	{
		if (!short_varint(&p, end, &q->dict_id) || q->dict_id == 0)
			return false;
		q->header = (uint32_t) (p - data);
		if ((flags & ZS_VERSION_MASK) == ZS_SMALL_REPEATS &&
			!skip_repeats(&p, end, q))
			return false;
		q->has_tail = false;
		q->shape = flags & ~(unsigned) ZS_VERSION_MASK;
		q->values = p;
		q->end = end;
		return true;
	}
	if ((flags & ~(unsigned) (ZS_HAS_TAIL | ZS_HAS_BASE | ZS_HAS_REPEATS)) !=
		(ZS_VERSION | ZS_HAS_DICT) ||
		!short_varint(&p, end, &q->dict_id) || q->dict_id == 0)
		return false;
	q->header = (uint32_t) (p - data);
	if ((flags & ZS_HAS_REPEATS) && !skip_repeats(&p, end, q))
		return false;
	q->has_tail = (flags & ZS_HAS_TAIL) != 0;
	if (flags & (ZS_HAS_TAIL | ZS_HAS_BASE) &&
		!(q->has_tail && skip_directory(&p, &end, flags & ZS_HAS_BASE)))
		return false;
	if (end - p < 3 || *p++ != ZS_SHAPED ||
		!short_varint(&p, end, &q->shape))
		return false;
	q->values = p;
	q->end = end;
	return true;
}

const uint8_t *
st_zson_quick_scalar(const uint8_t *data, size_t len, uint32_t *dict_id)
{
	const uint8_t *p = data + 1;

	if (len < 3 || *data != (ZS_VERSION | ZS_HAS_DICT) ||
		!short_varint(&p, data + len, dict_id) || *dict_id == 0 ||
		p == data + len || *p >= ZS_ARRAY ||
		st_zs_fixed_size[0][*p] != (size_t) (data + len - p))
		return NULL;
	return p;
}

bool
st_zson_quick_at(const StZsonQuick *q, uint32_t i, uint32_t nkeys,
				 const uint8_t **p, uint32_t *n)
{
	const uint8_t *sizes = st_zs_fixed_size[q->has_tail];
	const uint8_t *at = q->values;
	const uint8_t *end = q->end;
	size_t		size;
	uint64_t	tail;

	if (st_unlikely(nkeys > (size_t) (end - at)))
		return false;
	for (;;)
	{
		if (st_unlikely(at >= end))
			return false;
		size = sizes[*at];
		if (st_unlikely(size == 0))
		{
			/* one of the tail cannot stand alone, nor can a container */
			if (i == 0 && (q->has_tail || *at >= ZS_ARRAY))
				return false;
			size = st_zs_long_size(at, end, q->has_tail, &tail);
		}
		if (st_unlikely(size == 0 || size > (size_t) (end - at)))
			return false;
		if (i-- == 0)
			break;
		at += size;
	}
	if (st_unlikely(*at >= ZS_REPEAT) &&
		!st_zs_repeat_bytes(q->repeats, q->repeats_end, zs_repeat_number(at),
							&at, &size))
		return false;
	*p = at;
	*n = (uint32_t) size;
	return true;
}

size_t
st_zson_quick_cut(const StZsonQuick *q, const uint8_t *data, const uint8_t *p,
				  uint32_t n, uint8_t *dst)
{
	memcpy(dst, data, q->header);
	*dst = ZS_VERSION | ZS_HAS_DICT;
	memcpy(dst + q->header, p, n);
	return q->header + n;
}

/*
 * Returns the value's bytes: at p, or in the dictionary.  NULL if the
 * dictionary lacks it.
 */
static inline const uint8_t *
look_up(const StZsonDict *dict, const uint8_t *p)
{
	uint32_t	id;

	if (*p >= ZS_STR)
		return p;
	id = *p < ZS_VALUE2 ? *p : 64 + ((uint32_t) (*p & 0x1f) << 8 | p[1]);
	if (dict == NULL || id >= dict->nvalues)
		return NULL;
	return dict->blob + dict->values[id];
}

bool
st_zson_quick_string(const StZsonDict *dict, const uint8_t *p, StStr *s)
{
	p = look_up(dict, p);
	if (p == NULL || *p < ZS_STR || *p >= ZS_FSST)
		return false;
	*s = (StStr) {p + 1, (uint32_t) *p & 0x1f};
	return st_zs_plain_ascii(s->data, s->len);
}

bool
st_zson_quick_integer(const StZsonDict *dict, const uint8_t *p, int64_t *num)
{
	unsigned	tag;
	uint64_t	v = 0;

	p = look_up(dict, p);
	if (p == NULL)
		return false;
	tag = *p;
	if (tag >= ZS_INT && tag < ZS_NULL)
		v = tag & 0x1f;
	else if (tag >= ZS_POS && tag < ZS_NEG1)
	{
		for (unsigned i = tag - ZS_POS + 1; i > 0; i--)
			v = v << 8 | p[i];
	}
	else
		return false;
	*num = (int64_t) v;
	return v <= INT64_MAX;
}

StStatus
st_zson_quick_value(StZsonDoc *doc, const StZsonDict *dict, const uint8_t *p,
					uint32_t n, StZsonValue *v)
{
	memset(doc, 0, sizeof(*doc));
	doc->dict = dict;
	doc->avail_end = p + n;
	return st_zs_value(doc, p, p + n, 0, v);
}
