/*-------------------------------------------------------------------------
 *
 * st_zson_template.c
 *	  Strings that are made of others: templates of the dictionary with what
 *	  fills their holes, and strings that a document repeats.
 *
 * An address like https://api.github.com/users/{}/followers is the number of
 * its template and the name; the name, which stands in a dozen addresses of
 * the same document, is one byte in each of them.
 *
 * Neither nests: what fills a hole is no template, and a repeated string is
 * neither a template nor another one.  So a string's length is bounded by its
 * bytes and the dictionary's, times a constant.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_format.h"

/* ---- dictionary ---- */

/*
 *		u8 flags	bit 0: documents have repeated strings; bit 1: there is a
 *					code
 *		code		128 bytes: its lengths, 4 bits each
 *		templates	count v; each: u8 holes, holes + 1 parts: bytes v, bytes
 *		keys		count v; each: number of the key v, u8 template;
 *					sorted by key, then in the order in which they are tried
 */
#define FLAG_REPEATS 1u
#define FLAG_CODE 2u

/* Limits of what writing has to try for one string. */
#define MAX_TEMPLATE 1024		/* bytes of its parts */
#define MAX_PER_KEY 64

static void
read_template(StByteReader *r, StZsonTemplate *t)
{
	uint32_t	bytes = 0;

	t->nholes = st_read_u8(r);
	if (t->nholes < 1 || t->nholes > 2)
	{
		st_reader_fail(r);
		return;
	}
	for (uint32_t i = 0; i <= t->nholes; i++)
	{
		t->parts[i] = st_read_sized(r);
		bytes += t->parts[i].len;
	}
	/* two holes with nothing between them could be filled in many ways */
	if (bytes < ST_ZSON_TEMPLATE_MIN || bytes > MAX_TEMPLATE ||
		(t->nholes == 2 && t->parts[1].len == 0))
		st_reader_fail(r);
}

StStatus
st_zs_templates_load(StZsonDict *dict, StByteReader *r, StZsonAlloc alloc,
					 void *arg)
{
	uint64_t	n;
	unsigned	flags = st_read_u8(r);

	if (flags & ~(FLAG_REPEATS | FLAG_CODE))
		return ST_CORRUPT;
	dict->find_repeats = (flags & FLAG_REPEATS) != 0;
	if (flags & FLAG_CODE)
	{
		const uint8_t *packed = st_read_span(r, ZS_CODE_LENGTHS);
		StStatus	status = packed == NULL ? ST_CORRUPT :
			st_zs_code_load(dict, packed, alloc, arg);

		if (status != ST_OK)
			return status;
	}
	n = st_read_varint(r);
	if (n > ST_ZSON_MAX_TEMPLATES || n > st_reader_left(r))
		return ST_CORRUPT;
	dict->templates = alloc(arg, (n + 1) * sizeof(StZsonTemplate));
	if (dict->templates == NULL)
		return ST_NOMEM;
	dict->ntemplates = (uint32_t) n;
	for (uint32_t i = 0; i < n && r->status == ST_OK; i++)
		read_template(r, &dict->templates[i]);
	n = st_read_varint(r);
	if (r->status != ST_OK || n > ST_ZSON_MAX_KEY_TEMPLATES ||
		n > st_reader_left(r))
		return ST_CORRUPT;
	dict->key_templates = alloc(arg, (n + 1) * sizeof(StZsonKeyTemplate));
	if (dict->key_templates == NULL)
		return ST_NOMEM;
	dict->nkey_templates = (uint32_t) n;
	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t	key = st_read_varint(r);
		unsigned	number = st_read_u8(r);

		if (key >= dict->nkeys || number >= dict->ntemplates ||
			(i > 0 && key < dict->key_templates[i - 1].key) ||
			(i >= MAX_PER_KEY &&
			 key == dict->key_templates[i - MAX_PER_KEY].key))
			return ST_CORRUPT;
		dict->key_templates[i] = (StZsonKeyTemplate) {(uint16_t) key,
		(uint16_t) number};
	}
	return r->status;
}

StStatus
st_zs_templates_prepare(StZsonDict *dict, StZsonAlloc alloc, void *arg)
{
	uint32_t	at = 0;

	if (dict->code_table != NULL &&
		st_zs_code_prepare(dict, alloc, arg) != ST_OK)
		return ST_NOMEM;
	if (dict->nkey_templates == 0)
		return ST_OK;
	dict->first_template = alloc(arg, (dict->nkeys + 1) * sizeof(uint16_t));
	if (dict->first_template == NULL)
		return ST_NOMEM;
	for (uint32_t key = 0; key <= dict->nkeys; key++)
	{
		while (at < dict->nkey_templates && dict->key_templates[at].key < key)
			at++;
		dict->first_template[key] = (uint16_t) at;
	}
	return ST_OK;
}

void
st_zs_templates_build(const StZsonParts *parts, StByteWriter *w)
{
	st_write_u8(w, (parts->find_repeats ? FLAG_REPEATS : 0) |
				(parts->code_lengths != NULL ? FLAG_CODE : 0));
	if (parts->code_lengths != NULL)
		st_zs_code_build(parts->code_lengths, w);
	st_write_varint(w, parts->ntemplates);
	for (uint32_t i = 0; i < parts->ntemplates; i++)
	{
		const StZsonTemplate *t = &parts->templates[i];

		st_write_u8(w, (uint8_t) t->nholes);
		for (uint32_t k = 0; k <= t->nholes; k++)
			st_write_sized(w, t->parts[k].data, t->parts[k].len);
	}
	st_write_varint(w, parts->nkey_templates);
	for (uint32_t i = 0; i < parts->nkey_templates; i++)
	{
		st_write_varint(w, parts->key_templates[i].key);
		st_write_u8(w, (uint8_t) parts->key_templates[i].number);
	}
}

/* ---- matching ---- */

/*
 * Finds part in the len bytes at p, behind the first byte.  NULL if it is not
 * there.
 */
static const uint8_t *
find_part(const uint8_t *p, size_t len, const StStr *part)
{
	for (size_t i = 1; i + part->len < len; i++)
	{
		const uint8_t *at = memchr(p + i, part->data[0],
								   len - part->len - i);

		if (at == NULL)
			return NULL;
		if (memcmp(at, part->data, part->len) == 0)
			return at;
		i = (size_t) (at - p);
	}
	return NULL;
}

bool
st_zson_template_match(const StZsonTemplate *t, const StStr *s, StStr fill[2])
{
	const StStr *first = &t->parts[0];
	const StStr *last = &t->parts[t->nholes];
	const uint8_t *middle = s->data + first->len;
	const uint8_t *at;
	size_t		len;

	/* what does not fit into the holes is no use */
	if (s->len <= first->len + last->len ||
		s->len > (uint64_t) first->len + last->len +
		(t->nholes == 2 ? t->parts[1].len : 0) + t->nholes * ZS_MAX_PART ||
		memcmp(s->data, first->data, first->len) != 0 ||
		memcmp(s->data + s->len - last->len, last->data, last->len) != 0)
		return false;
	len = s->len - first->len - last->len;
	fill[0] = (StStr) {middle, (uint32_t) len};
	if (t->nholes == 1)
		return true;
	at = find_part(middle, len, &t->parts[1]);
	if (at == NULL)
		return false;
	fill[0] = (StStr) {middle, (uint32_t) (at - middle)};
	at += t->parts[1].len;
	fill[1] = (StStr) {at, (uint32_t) (middle + len - at)};
	return fill[0].len <= ZS_MAX_PART && fill[1].len <= ZS_MAX_PART;
}

int
st_zson_template_find(const StZsonDict *dict, int key, const StStr *s,
					  StStr fill[2])
{
	if (key < 0 || dict->first_template == NULL)
		return -1;
	for (uint32_t i = dict->first_template[key];
		 i < dict->first_template[key + 1]; i++)
	{
		unsigned	number = dict->key_templates[i].number;

		if (st_zson_template_match(&dict->templates[number], s, fill))
			return (int) number;
	}
	return -1;
}

/* ---- reading ---- */

/*
 * Bytes of a string as in a document without a tail; 0: it is none, or longer
 * than any that is written as a part of others.
 */
static size_t
string_size(const uint8_t *p, const uint8_t *limit)
{
	size_t		n;
	uint64_t	tail;

	if (p >= limit)
		return 0;
	n = st_zs_fixed_size[0][*p];
	if (n == 0 && (*p == ZS_CODE || (*p >= ZS_LONG_STR && *p <= ZS_DIGITS)))
		n = st_zs_long_size(p, limit, false, &tail);
	return n <= (size_t) (limit - p) && n <= ZS_MAX_PART_ENCODED ? n : 0;
}

bool
st_zs_template_size(const uint8_t *p, const uint8_t *limit, size_t *size)
{
	const uint8_t *start = p;
	unsigned	nholes;

	if (p >= limit || (*p != ZS_TEMPLATE1 && *p != ZS_TEMPLATE2) ||
		limit - p < 3)
		return false;
	nholes = *p - ZS_TEMPLATE1 + 1u;
	p += 2;
	for (unsigned i = 0; i < nholes; i++)
	{
		size_t		n = string_size(p, limit);

		if (n == 0)
			return false;
		p += n;
	}
	*size = (size_t) (p - start);
	return true;
}

/*
 * The string at *p, which moves behind it.  repeats: it may be a repeated
 * one, or a value of the dictionary.
 */
static StStatus
read_fill(const StZsonDoc *of, const uint8_t **p, const uint8_t *end,
		  bool repeats, StZsonValue *v)
{
	StZsonDoc	plain;
	size_t		n = string_size(*p, end);
	StStatus	status;

	if (n == 0 || **p == ZS_TEMPLATE1 || **p == ZS_TEMPLATE2 ||
		(!repeats && !zs_is_plain_string(**p)))
		return ST_CORRUPT;
	memset(&plain, 0, sizeof(plain));
	plain.dict = of->dict;
	plain.repeats = of->repeats;
	plain.repeats_end = of->repeats_end;
	plain.avail_end = *p + n;
	status = st_zs_value(&plain, *p, *p + n, 0, v);
	if (status == ST_OK && v->kind != ST_ZSON_STRING)
		return ST_CORRUPT;
	*p += n;
	return status;
}

StStatus
st_zs_template(StZsonDoc *doc, StZsonValue *v)
{
	const uint8_t *p = v->start;
	unsigned	nholes = *p - ZS_TEMPLATE1 + 1u;
	unsigned	number = p[1];
	const StZsonTemplate *t;
	uint64_t	bound = 0;

	if (doc->dict == NULL || number >= doc->dict->ntemplates)
		return ST_CORRUPT;
	t = &doc->dict->templates[number];
	if (t->nholes != nholes)
		return ST_CORRUPT;
	v->kind = ST_ZSON_STRING;
	v->form = ST_ZSON_TEMPLATE;
	v->num = (int64_t) number;
	v->data = p += 2;
	for (unsigned i = 0; i <= nholes; i++)
	{
		StZsonValue fill;
		StStatus	status;

		bound += t->parts[i].len;
		if (i == nholes)
			break;
		status = read_fill(doc, &p, v->next, true, &fill);
		if (status != ST_OK)
			return status;
		bound += st_zson_string_bound(&fill);
	}
	if (bound > INT32_MAX)
		return ST_CORRUPT;
	v->len = (uint32_t) bound;
	return ST_OK;
}

StStatus
st_zs_template_string(StZsonDoc *doc, const StZsonValue *v, uint8_t *buf,
					  StStr *out)
{
	const StZsonTemplate *t = &doc->dict->templates[v->num];
	const uint8_t *p = v->data;
	uint8_t    *to = buf;

	for (unsigned i = 0; i <= t->nholes; i++)
	{
		StZsonValue fill;
		StStr		s;
		StStatus	status;

		if (t->parts[i].len > 0)
			memcpy(to, t->parts[i].data, t->parts[i].len);
		to += t->parts[i].len;
		if (i == t->nholes)
			break;
		status = read_fill(doc, &p, v->next, true, &fill);
		if (status == ST_OK)
			status = st_zs_string(doc, &fill, to, &s);
		if (status != ST_OK)
			return status;
		if (s.data != to)
			memcpy(to, s.data, s.len);
		to += s.len;
	}
	*out = (StStr) {buf, (uint32_t) (to - buf)};
	return ST_OK;
}

bool
st_zs_repeat_bytes(const uint8_t *repeats, const uint8_t *end, unsigned number,
				   const uint8_t **p, size_t *n)
{
	if (repeats == NULL || number >= ZS_MAX_REPEATS)
		return false;
	for (;;)
	{
		*n = string_size(repeats, end);
		if (*n == 0)
			return false;
		if (number-- == 0)
			break;
		repeats += *n;
	}
	*p = repeats;
	return zs_is_plain_string(*repeats);
}

StStatus
st_zs_repeat(StZsonDoc *doc, StZsonValue *v)
{
	const uint8_t *start = v->start;
	const uint8_t *next = v->next;
	uint32_t	tail = v->tail;
	const uint8_t *p;
	size_t		n;
	StStatus	status;

	if (!st_zs_repeat_bytes(doc->repeats, doc->repeats_end,
							zs_repeat_number(start), &p, &n))
		return ST_CORRUPT;
	status = read_fill(doc, &p, p + n, false, v);
	v->start = start;
	v->next = next;
	v->tail = tail;
	return status;
}
