/*-------------------------------------------------------------------------
 *
 * st_jsonb.c
 *	  PostgreSQL's jsonb as bytes: walking through a container, and checking
 *	  that it is what the server's own serialisation would have written.
 *
 *-------------------------------------------------------------------------
 */
#include "st_jsonb.h"

/* Bytes of a numeric with a header of its own and no digits. */
#define NUMERIC_MIN_LEN 6

StStatus
st_jsonb_open(const uint8_t *src, size_t len, StJsonb *c)
{
	uint32_t	header;
	size_t		entries;

	if (len < sizeof(uint32_t) || len > ST_JSONB_LENGTH_MASK)
		return ST_CORRUPT;
	header = st_load_u32(src);
	c->count = header & ST_JSONB_COUNT_MASK;
	c->object = (header & ST_JSONB_OBJECT) != 0;
	switch (header & ~ST_JSONB_COUNT_MASK)
	{
		case ST_JSONB_OBJECT:
		case ST_JSONB_ARRAY:
			break;
		case ST_JSONB_ARRAY | ST_JSONB_SCALAR:
			if (c->count == 1)
				break;
			return ST_CORRUPT;
		default:
			return ST_CORRUPT;
	}
	entries = (size_t) c->count * (c->object ? 2 : 1);
	if (entries > (len - sizeof(uint32_t)) / sizeof(uint32_t))
		return ST_CORRUPT;
	c->nentries = (uint32_t) entries;
	c->entries = src + sizeof(uint32_t);
	c->data = c->entries + entries * sizeof(uint32_t);
	c->data_len = (uint32_t) (len - sizeof(uint32_t) -
							  entries * sizeof(uint32_t));
	return ST_OK;
}

/* A numeric with a plain 4-byte header that tells its length. */
static bool
numeric_is_plain(const StJsonbItem *item)
{
	return item->len >= NUMERIC_MIN_LEN &&
		st_load_u32(item->data) == item->len << 2;
}

StStatus
st_jsonb_next(const StJsonb *c, StJsonbCursor *at, StJsonbItem *item)
{
	uint32_t	entry;
	uint32_t	end;
	uint32_t	pad = 0;
	bool		offset = at->i % ST_JSONB_STRIDE == 0;

	if (at->i >= c->nentries)
		return ST_CORRUPT;
	entry = st_load_u32(c->entries + sizeof(uint32_t) * at->i);
	if (offset != ((entry & ST_JSONB_HAS_OFFSET) != 0))
		return ST_CORRUPT;
	end = entry & ST_JSONB_LENGTH_MASK;
	if (!offset)
		end += at->off;
	if (end < at->off || end > c->data_len)
		return ST_CORRUPT;

	item->type = (entry & ~ST_JSONB_HAS_OFFSET) >> ST_JSONB_TYPE_SHIFT;
	item->data = c->data + at->off;
	item->len = end - at->off;
	at->off = end;
	at->i++;
	switch (item->type)
	{
		case ST_JSONB_STRING:
			return ST_OK;
		case ST_JSONB_FALSE:
		case ST_JSONB_TRUE:
		case ST_JSONB_NULL:
			return item->len == 0 ? ST_OK : ST_CORRUPT;
		case ST_JSONB_NUMERIC:
		case ST_JSONB_CONTAINER:
			break;
		default:
			return ST_CORRUPT;
	}
	pad = (0 - (end - item->len)) & 3;
	if (pad > item->len)
		return ST_CORRUPT;
	for (uint32_t i = 0; i < pad; i++)
	{
		if (item->data[i] != 0)
			return ST_CORRUPT;
	}
	item->data += pad;
	item->len -= pad;
	if (item->type == ST_JSONB_NUMERIC)
		return numeric_is_plain(item) ? ST_OK : ST_CORRUPT;
	return item->len >= sizeof(uint32_t) ? ST_OK : ST_CORRUPT;
}

StStatus
st_jsonb_skip_keys(const StJsonb *c, StJsonbCursor *at)
{
	StJsonbItem before = {0, 0, NULL};

	at->i = 0;
	at->off = 0;
	if (!c->object)
		return ST_CORRUPT;
	for (uint32_t i = 0; i < c->count; i++)
	{
		StJsonbItem key;
		StStatus	status = st_jsonb_next(c, at, &key);

		if (status != ST_OK)
			return status;
		if (key.type != ST_JSONB_STRING ||
			(i > 0 && st_jsonb_compare_keys(before.data, before.len,
											key.data, key.len) >= 0))
			return ST_CORRUPT;
		before = key;
	}
	return ST_OK;
}

/*
 * Cursor at child i, given where a child before it begins: i steps back to
 * the last one that has an offset.
 */
static StJsonbCursor
cursor_at(const StJsonb *c, uint32_t i, StJsonbCursor before)
{
	StJsonbCursor at = {i, 0};

	while (i > before.i)
	{
		uint32_t	entry = st_load_u32(c->entries + sizeof(uint32_t) * --i);

		at.off += entry & ST_JSONB_LENGTH_MASK;
		if (entry & ST_JSONB_HAS_OFFSET)
			return at;
	}
	at.off += before.off;
	return at;
}

static void
set_hint(StJsonbHint *hint, const uint8_t *src, uint32_t count, uint32_t index,
		 uint32_t off, uint32_t end, uint32_t keys_len)
{
	hint->count = count <= ST_JSONB_HINT_KEYS && end <= keys_len ? count : 0;
	hint->index = index;
	hint->off = off;
	hint->keys_len = keys_len;
	memcpy(hint->head, src, sizeof(uint32_t) * (1 + hint->count));
}

StStatus
st_jsonb_search(const uint8_t *src, size_t len, StStr key, StJsonbHint *hint,
				StJsonbItem *item)
{
	static const StJsonbCursor start = {0, 0};
	StJsonb		c;
	StJsonbCursor at;
	uint32_t	lo = 0;
	uint32_t	hi;

	if (st_jsonb_open(src, len, &c) != ST_OK || !c.object)
		return ST_CORRUPT;
	hi = c.count;
	while (lo < hi)
	{
		uint32_t	mid = lo + (hi - lo) / 2;
		StJsonbItem child;
		uint32_t	off;
		int			order;

		at = cursor_at(&c, mid, start);
		off = at.off;
		if (st_jsonb_next(&c, &at, &child) != ST_OK || child.type != ST_JSONB_STRING)
			return ST_CORRUPT;
		order = st_jsonb_compare_keys(child.data, child.len, key.data, key.len);
		if (order < 0)
			lo = mid + 1;
		else if (order > 0)
			hi = mid;
		else
		{
			at = cursor_at(&c, c.count, at);
			set_hint(hint, src, c.count, mid, off, off + key.len, at.off);
			at = cursor_at(&c, c.count + mid, at);
			return item ? st_jsonb_next(&c, &at, item) : ST_OK;
		}
	}
	return ST_NOTFIT;
}

StStatus
st_jsonb_check(const uint8_t *src, size_t len, int max_depth)
{
	StJsonb		c;
	StJsonbCursor at = {0, 0};
	StStatus	status = st_jsonb_open(src, len, &c);

	if (status != ST_OK || max_depth <= 0)
		return status != ST_OK ? status : ST_NOTFIT;
	if (c.object && (status = st_jsonb_skip_keys(&c, &at)) != ST_OK)
		return status;
	while (at.i < c.nentries)
	{
		StJsonbItem item;

		status = st_jsonb_next(&c, &at, &item);
		if (status == ST_OK && item.type == ST_JSONB_CONTAINER)
			status = st_jsonb_check(item.data, item.len, max_depth - 1);
		if (status != ST_OK)
			return status;
	}
	return st_jsonb_finish(&c, &at);
}

void
st_jsonb_begin(StJsonbWriter *w, StJsonbBuild *b, uint32_t kind, uint32_t count)
{
	size_t		head;

	b->start = w->len;
	st_jsonb_pad(w);
	b->entries = w->len + sizeof(uint32_t);
	b->nentries = kind & ST_JSONB_OBJECT ? 2 * count : count;
	head = sizeof(uint32_t) * (1 + (size_t) b->nentries);
	b->data = w->len + head;
	b->next = 0;
	if (count > ST_JSONB_COUNT_MASK / 2 && w->status == ST_OK)
		w->status = ST_NOTFIT;
	if (!st_jsonb_room(w, head))
		return;
	st_store_u32(w->buf + w->len, count | kind);
	w->len += head;
}
