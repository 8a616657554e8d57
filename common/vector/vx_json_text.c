/*-------------------------------------------------------------------------
 *
 * vx_json_text.c
 *	  Text of jsonb documents, as the type's output function prints it.
 *
 * What is nested deeply, or is not as the server writes it, the server's own
 * function prints.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "vx_json_text.h"
#include "st_numeric.h"

/* Memory that texts take at a time, at least. */
#define BLOCK_BYTES	(64 * 1024)

/* Containers within containers that are printed here. */
#define MAX_DEPTH	64

/* Digits of an int128, a sign, a point and a zero in front of it. */
#define MAX_DECIMAL	(ST_NUMERIC_MAX_SCALE + 44)

void
vx_text_grow(VxText *t, Size n)
{
	Size		cap = Max(BLOCK_BYTES, 2 * (t->len + n));

	if (t->len + n > MaxAllocSize)
		ereport(ERROR,
				errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("text of a document exceeds %d bytes", (int) MaxAllocSize));
	if (t->start == t->block && t->block != NULL)
		t->block = repalloc_huge(t->block, cap);
	else
	{
		t->block = MemoryContextAllocHuge(CurrentMemoryContext, cap);
		if (t->len > 0)
			memcpy(t->block, t->start, t->len);
	}
	t->start = t->block;
	t->cap = cap;
}

/* ---- strings ---- */

/* A byte of the eight that has an escape has its high bit set. */
static inline uint64
escapes_in(uint64 x)
{
	const uint64 ones = UINT64CONST(0x0101010101010101);
	const uint64 high = UINT64CONST(0x8080808080808080);
	uint64		quote = x ^ (ones * '"');
	uint64		slash = x ^ (ones * '\\');

	/* borrows come from bytes below, which are escapes then */
	return ((x - ones * ' ') | (quote - ones) | (slash - ones)) & ~x & high;
}

static void
append_escape(VxText *t, uint8 c)
{
	static const char hex[] = "0123456789abcdef";
	char		out[6] = {'\\', 'u', '0', '0', 0, 0};

	switch (c)
	{
		case '\b':
			vx_text_append(t, "\\b", 2);
			break;
		case '\f':
			vx_text_append(t, "\\f", 2);
			break;
		case '\n':
			vx_text_append(t, "\\n", 2);
			break;
		case '\r':
			vx_text_append(t, "\\r", 2);
			break;
		case '\t':
			vx_text_append(t, "\\t", 2);
			break;
		case '"':
			vx_text_append(t, "\\\"", 2);
			break;
		case '\\':
			vx_text_append(t, "\\\\", 2);
			break;
		default:
			out[4] = hex[c >> 4];
			out[5] = hex[c & 15];
			vx_text_append(t, out, sizeof(out));
			break;
	}
}

static inline bool
has_escape(uint8 c)
{
	return c < ' ' || c == '"' || c == '\\';
}

void
vx_text_escaped(VxText *t, const uint8 *data, Size len)
{
	const uint8 *end = data + len;

	vx_text_room(t, len);
	while (data < end)
	{
		char	   *out = t->start + t->len;
		const uint8 *from = data;

		for (; end - data >= (ssize_t) sizeof(uint64); data += sizeof(uint64))
		{
			uint64		word = st_load_u64(data);

			if (escapes_in(word) != 0)
				break;
			memcpy(out, &word, sizeof(word));
			out += sizeof(word);
		}
		for (; data < end && !has_escape(*data); data++)
			*out++ = (char) *data;
		t->len += data - from;
		if (data < end)
		{
			append_escape(t, *data++);
			vx_text_room(t, end - data);
		}
	}
}

/* ---- numbers ---- */

/* Digits of u, from the end of the buffer on downwards; returns the first one. */
static char *
digits_down(char *at, uint64 u)
{
	do
	{
		*--at = (char) ('0' + u % 10);
		u /= 10;
	} while (u != 0);
	return at;
}

/* n digits in front of at, with zeros. */
static char *
pad_down(char *at, char *digits, int n)
{
	while (at - digits < n)
		*--digits = '0';
	return digits;
}

/* Digits that end at the end of a buffer: sign and point come in. */
static void
append_digits(VxText *t, char *digits, char *end, bool negative, int scale)
{
	digits = pad_down(end, digits, scale + 1);
	vx_text_room(t, MAX_DECIMAL);
	if (negative)
		t->start[t->len++] = '-';
	vx_text_append(t, digits, end - digits - scale);
	if (scale > 0)
	{
		t->start[t->len++] = '.';
		vx_text_append(t, end - scale, scale);
	}
}

void
vx_text_decimal64(VxText *t, int64 value, int scale)
{
	char		buffer[MAX_DECIMAL];
	char	   *end = buffer + sizeof(buffer);

	append_digits(t, digits_down(end, value < 0 ? -(uint64) value : (uint64) value), end,
				  value < 0, scale);
}

void
vx_text_decimal128(VxText *t, int128 value, int scale)
{
	const uint64 unit = UINT64CONST(10000000000000000000);
	char		buffer[MAX_DECIMAL];
	char	   *end = buffer + sizeof(buffer);
	char	   *at = end;
	uint128		u = value < 0 ? -(uint128) value : (uint128) value;

	while (u >= unit)
	{
		at = pad_down(at, digits_down(at, (uint64) (u % unit)), 19);
		u /= unit;
	}
	append_digits(t, digits_down(at, (uint64) u), end, value < 0, scale);
}

void
vx_text_numeric(VxText *t, const void *num)
{
	int128		value;
	int			scale;
	char	   *text;

	if (st_numeric_to_int128(PointerGetDatum(num), &value, &scale))
	{
		if (value == (int64) value)
			vx_text_decimal64(t, (int64) value, scale);
		else
			vx_text_decimal128(t, value, scale);
		return;
	}
	text = DatumGetCString(DirectFunctionCall1(numeric_out, PointerGetDatum(num)));
	vx_text_append(t, text, strlen(text));
	pfree(text);
}

/* ---- values ---- */

static bool append_container(VxText *t, const uint8 *data, uint32 len, int depth);

/* An aligned copy. */
static void *
aligned(const StJsonbItem *item)
{
	return memcpy(palloc(item->len), item->data, item->len);
}

static void
append_numeric(VxText *t, const StJsonbItem *item)
{
	union
	{
		int32		align;
		char		bytes[ST_NUMERIC_MAX_BYTES];
	}			small;
	void	   *large;

	if (item->len <= sizeof(small))
	{
		memcpy(small.bytes, item->data, item->len);
		vx_text_numeric(t, small.bytes);
		return;
	}
	large = aligned(item);
	vx_text_numeric(t, large);
	pfree(large);
}

static void
append_string(VxText *t, const StJsonbItem *item)
{
	vx_text_append(t, "\"", 1);
	vx_text_escaped(t, item->data, item->len);
	vx_text_append(t, "\"", 1);
}

static bool
append_item(VxText *t, const StJsonbItem *item, int depth)
{
	switch (item->type)
	{
		case ST_JSONB_STRING:
			append_string(t, item);
			return true;
		case ST_JSONB_NUMERIC:
			append_numeric(t, item);
			return true;
		case ST_JSONB_FALSE:
			vx_text_append(t, "false", 5);
			return true;
		case ST_JSONB_TRUE:
			vx_text_append(t, "true", 4);
			return true;
		case ST_JSONB_NULL:
			vx_text_append(t, "null", 4);
			return true;
		default:
			return append_container(t, item->data, item->len, depth);
	}
}

static bool
append_object(VxText *t, const StJsonb *c, int depth)
{
	StJsonbCursor keys = {0, 0};
	StJsonbCursor values;

	if (st_jsonb_skip_keys(c, &values) != ST_OK)
		return false;
	vx_text_append(t, "{", 1);
	for (uint32 i = 0; i < c->count; i++)
	{
		StJsonbItem key,
					value;

		if (st_jsonb_next(c, &keys, &key) != ST_OK ||
			st_jsonb_next(c, &values, &value) != ST_OK)
			return false;
		if (i > 0)
			vx_text_append(t, ", ", 2);
		append_string(t, &key);
		vx_text_append(t, ": ", 2);
		if (!append_item(t, &value, depth))
			return false;
	}
	vx_text_append(t, "}", 1);
	return true;
}

/* scalar: the array is that of a document that is none. */
static bool
append_array(VxText *t, const StJsonb *c, bool scalar, int depth)
{
	StJsonbCursor at = {0, 0};

	if (!scalar)
		vx_text_append(t, "[", 1);
	for (uint32 i = 0; i < c->count; i++)
	{
		StJsonbItem item;

		if (i > 0)
			vx_text_append(t, ", ", 2);
		if (st_jsonb_next(c, &at, &item) != ST_OK || !append_item(t, &item, depth))
			return false;
	}
	if (!scalar)
		vx_text_append(t, "]", 1);
	return true;
}

/* False, with anything appended: the server is to print it. */
static bool
append_container(VxText *t, const uint8 *data, uint32 len, int depth)
{
	StJsonb		c;

	if (depth == MAX_DEPTH || st_jsonb_open(data, len, &c) != ST_OK)
		return false;
	if (c.object)
		return append_object(t, &c, depth + 1);
	return append_array(t, &c, (st_load_u32(data) & ST_JSONB_SCALAR) != 0, depth + 1);
}

void
vx_text_container(VxText *t, const uint8 *data, uint32 len)
{
	StJsonbItem item = {ST_JSONB_CONTAINER, len, data};

	vx_text_item(t, &item);
}

void
vx_text_item(VxText *t, const StJsonbItem *item)
{
	Size		before = t->len;
	void	   *container;
	char	   *text;

	if (append_item(t, item, 0))
		return;
	t->len = before;
	container = aligned(item);
	text = JsonbToCString(NULL, container, item->len);
	vx_text_append(t, text, strlen(text));
	pfree(text);
	pfree(container);
}
