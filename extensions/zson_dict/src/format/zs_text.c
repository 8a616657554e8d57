/*-------------------------------------------------------------------------
 *
 * zs_text.c
 *	  A value within a document as jsonb's text.
 *
 * Written straight from the stored bytes, in one pass, as the server's jsonb
 * output would write it: ", " and ": " between members, escapes of its own
 * escape_json().  Strings are decoded at the end of the buffer; only those
 * with characters to escape are copied once more.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "st_bytes.h"
#include "zs_datum.h"
#include "zs_dict.h"

/* Room for n bytes more, and the end of the string. */
static inline char *
reserve(StringInfo out, Size n)
{
	if (unlikely(n >= (Size) (out->maxlen - out->len)))
	{
		if (n >= MaxAllocSize)
			zs_raise(NULL, ST_NOTFIT);
		enlargeStringInfo(out, (int) n);
	}
	return out->data + out->len;
}

static inline void
put(StringInfo out, const char *s, Size n)
{
	memcpy(reserve(out, n), s, n);
	out->len += n;
}

static void
put_escaped(StringInfo out, const char *s, Size n)
{
	static const char hex[] = "0123456789abcdef";
	Size		at = 0;

	while (at < n)
	{
		Size		run = st_zson_plain_bytes((const uint8 *) s + at, n - at);
		char	   *p;
		unsigned char c;

		put(out, s + at, run);
		at += run;
		if (at == n)
			break;
		c = (unsigned char) s[at++];
		p = reserve(out, 6);
		*p++ = '\\';
		switch (c)
		{
			case '"':
			case '\\':
				*p++ = (char) c;
				break;
			case '\b':
				*p++ = 'b';
				break;
			case '\f':
				*p++ = 'f';
				break;
			case '\n':
				*p++ = 'n';
				break;
			case '\r':
				*p++ = 'r';
				break;
			case '\t':
				*p++ = 't';
				break;
			default:
				memcpy(p, "u00", 3);
				p[3] = hex[c >> 4];
				p[4] = hex[c & 15];
				p += 5;
		}
		out->len = (int) (p - out->data);
	}
}

/* A key of an object, and what follows it. */
static void
put_key(StringInfo out, const StStr *key)
{
	char	   *p = reserve(out, key->len + 4);

	*p = '"';
	if (st_zson_plain_bytes(key->data, key->len) == key->len)
	{
		memcpy(p + 1, key->data, key->len);
		memcpy(p + 1 + key->len, "\": ", 3);
		out->len += key->len + 4;
		return;
	}
	out->len++;
	put_escaped(out, (const char *) key->data, key->len);
	put(out, "\": ", 3);
}

static void
put_string(StringInfo out, ZsDoc *z, const StZsonValue *v)
{
	Size		bound = st_zson_string_bound(v);
	char	   *p = reserve(out, bound + 2);
	StStatus	status;
	StStr		s;

	*p++ = '"';
	status = st_zson_string(&z->doc, v, (uint8 *) p, &s);
	if (unlikely(status != ST_OK))
		zs_raise(&z->doc, status);
	if (likely(st_zson_plain_bytes(s.data, s.len) == s.len))
	{
		if (s.data != (const uint8 *) p)
			memcpy(p, s.data, s.len);
		p[s.len] = '"';
		out->len += s.len + 2;
		return;
	}
	if (s.data == (const uint8 *) p)
		s.data = memcpy(palloc(s.len), s.data, s.len);
	out->len++;
	put_escaped(out, (const char *) s.data, s.len);
	put(out, "\"", 1);
}

/* The longest decimal: a sign, a zero, a point and 63 digits behind it. */
#define MAX_DECIMAL 96

/*
 * num * 10^-scale in digits, as numeric's output writes it; returns the end
 * of them.
 */
static char *
write_decimal(char *p, int64 num, int scale)
{
	char		digits[24];
	uint64		magnitude = num < 0 ? 0 - (uint64) num : (uint64) num;
	int			n = pg_ulltoa_n(magnitude, digits);
	int			whole = n - scale;

	if (num < 0)
		*p++ = '-';
	if (whole <= 0)
		*p++ = '0';
	else
	{
		memcpy(p, digits, whole);
		p += whole;
	}
	if (scale > 0)
	{
		*p++ = '.';
		for (int k = whole; k < 0; k++)
			*p++ = '0';
		memcpy(p, digits + Max(whole, 0), n - Max(whole, 0));
		p += n - Max(whole, 0);
	}
	return p;
}

text *
zs_decimal_text(int64 num, int scale)
{
	char		buf[MAX_DECIMAL];
	Size		n = write_decimal(buf, num, scale) - buf;
	text	   *result = palloc(VARHDRSZ + n);

	memcpy(VARDATA(result), buf, n);
	SET_VARSIZE(result, VARHDRSZ + n);
	return result;
}

static void
put_number(StringInfo out, const StZsonValue *v)
{
	Numeric		numeric;
	char	   *s;

	if (likely(v->form != ST_ZSON_NUMERIC))
	{
		char	   *p = reserve(out, MAX_DECIMAL);

		out->len = (int) (write_decimal(p, v->num, v->scale) - out->data);
		return;
	}
	numeric = zs_value_numeric(v);
	s = DatumGetCString(DirectFunctionCall1(numeric_out,
											NumericGetDatum(numeric)));
	put(out, s, strlen(s));
	pfree(s);
	pfree(numeric);
}

static void
put_container(StringInfo out, ZsDoc *z, const StZsonValue *v)
{
	bool		object = v->kind == ST_ZSON_OBJECT;
	StStr		before = {NULL, 0};
	StZsonCursor c;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	put(out, object ? "{" : "[", 1);
	st_zson_begin(v, &c);
	while (c.i < v->count)
	{
		StZsonValue member;
		StStr		key;
		StStatus	status;

		if (c.i > 0)
			put(out, ", ", 2);
		status = st_zson_next(&z->doc, &c, object ? &key : NULL, &member);
		if (unlikely(status != ST_OK))
			zs_raise(&z->doc, status);
		if (object)
		{
			/* a shape's order was checked when the dictionary was loaded */
			if (v->form == ST_ZSON_FREE && c.i > 1 &&
				st_zson_key_compare(&before, &key) >= 0)
				zs_raise(&z->doc, ST_CORRUPT);
			before = key;
			put_key(out, &key);
		}
		zs_append_value(out, z, &member);
	}
	if (v->count > 0 &&
		(c.p != v->end || (v->form == ST_ZSON_FREE && object &&
						   c.key != v->keys_end)))
		zs_raise(&z->doc, ST_CORRUPT);
	put(out, object ? "}" : "]", 1);
}

void
zs_append_value(StringInfo out, ZsDoc *z, const StZsonValue *v)
{
	switch (v->kind)
	{
		case ST_ZSON_NULL:
			put(out, "null", 4);
			break;
		case ST_ZSON_FALSE:
			put(out, "false", 5);
			break;
		case ST_ZSON_TRUE:
			put(out, "true", 4);
			break;
		case ST_ZSON_STRING:
			put_string(out, z, v);
			break;
		case ST_ZSON_NUMBER:
			put_number(out, v);
			break;
		default:
			put_container(out, z, v);
	}
}

/* A buffer that most likely suffices; its first bytes are the caller's. */
static void
init_buffer(StringInfo out, const ZsDoc *z, const StZsonValue *v, int before)
{
	Size		guess = 64 + 5 * (Size) (v->next - v->start) +
		(Size) v->tail_len + (Size) v->tail_len / 2;

	out->maxlen = (int) Min(guess, MaxAllocSize / 2);
	out->data = palloc(out->maxlen);
	out->len = before;
	out->cursor = 0;
}

/*
 * A string that is a document, as -> makes them, in quotes; NULL if it takes
 * more than copying its bytes.
 */
static char *
quick_string(Datum value)
{
	struct varlena *v = (struct varlena *) DatumGetPointer(value);
	uint32		dict_id;
	const uint8 *p;
	StStr		s;
	char	   *result;

	if (VARATT_IS_EXTERNAL(v) || VARATT_IS_COMPRESSED(v))
		return NULL;
	p = st_zson_quick_scalar((const uint8 *) VARDATA_ANY(v),
							 VARSIZE_ANY_EXHDR(v), &dict_id);
	if (p == NULL || !st_zson_quick_string(zs_dict_read(dict_id), p, &s) ||
		st_zson_plain_bytes(s.data, s.len) != s.len)
		return NULL;
	result = palloc(s.len + 3);
	result[0] = '"';
	memcpy(result + 1, s.data, s.len);
	memcpy(result + 1 + s.len, "\"", 2);
	return result;
}

char *
zs_to_cstring(Datum value)
{
	StringInfoData out;
	char	   *quick;
	ZsDoc		z;

	if ((quick = quick_string(value)) != NULL)
		return quick;
	zs_open_whole(&z, value);
	init_buffer(&out, &z, &z.root, 0);
	zs_append_value(&out, &z, &z.root);
	out.data[out.len] = '\0';
	return out.data;
}

text *
zs_to_text(ZsDoc *z, const StZsonValue *v)
{
	StringInfoData out;

	init_buffer(&out, z, v, VARHDRSZ);
	zs_append_value(&out, z, v);
	SET_VARSIZE(out.data, out.len);
	return (text *) out.data;
}
