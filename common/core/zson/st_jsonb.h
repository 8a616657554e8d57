/*-------------------------------------------------------------------------
 *
 * st_jsonb.h
 *	  PostgreSQL's jsonb as bytes: taken apart, and put together again.
 *
 * A container (object or array) is
 *
 *	 | u32 count and kind | u32 entry of each child | data of the children |
 *
 * An object's children are all its keys, ordered by length and then bytes,
 * followed by all its values.  An entry holds the child's type and its
 * length, or, for every 32nd child, the offset of its end.  Numbers (numeric
 * varlenas) and containers start at a multiple of 4, zero bytes in front of
 * them count as theirs.
 *
 * The reader accepts exactly the bytes that the server's own serialisation,
 * and the writer below, make of a value: what it walks through without an
 * error is rebuilt bit by bit by writing the same children.  Anything else,
 * however readable, is ST_CORRUPT.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_JSONB_H
#define ST_JSONB_H

#include "st_core.h"

/* The type bits of an entry, shifted down; on disk in every jsonb. */
enum StJsonbType
{
	ST_JSONB_STRING = 0,
	ST_JSONB_NUMERIC = 1,
	ST_JSONB_FALSE = 2,
	ST_JSONB_TRUE = 3,
	ST_JSONB_NULL = 4,
	ST_JSONB_CONTAINER = 5
};

#define ST_JSONB_TYPE_SHIFT 28
#define ST_JSONB_LENGTH_MASK UINT32_C(0x0fffffff)
#define ST_JSONB_HAS_OFFSET UINT32_C(0x80000000)
#define ST_JSONB_STRIDE 32		/* every such child has an offset */

/* Flags of a container's first word, above its count. */
#define ST_JSONB_COUNT_MASK UINT32_C(0x0fffffff)
#define ST_JSONB_SCALAR UINT32_C(0x10000000)
#define ST_JSONB_OBJECT UINT32_C(0x20000000)
#define ST_JSONB_ARRAY UINT32_C(0x40000000)

typedef struct StJsonb
{
	const uint8_t *entries;
	const uint8_t *data;
	uint32_t	data_len;
	uint32_t	count;			/* pairs of an object, elements of an array */
	uint32_t	nentries;
	bool		object;
} StJsonb;

/* Position of a walk over the children: child i, whose data is at off. */
typedef struct StJsonbCursor
{
	uint32_t	i;
	uint32_t	off;
} StJsonbCursor;

/* A child; data is behind the padding, a numeric's begins with its header. */
typedef struct StJsonbItem
{
	uint32_t	type;			/* StJsonbType */
	uint32_t	len;
	const uint8_t *data;
} StJsonbItem;

/* Order of an object's keys. */
ST_INLINE int
st_jsonb_compare_keys(const uint8_t *a, uint32_t alen,
					  const uint8_t *b, uint32_t blen)
{
	if (alen != blen)
		return alen < blen ? -1 : 1;
	return alen == 0 ? 0 : memcmp(a, b, alen);
}

/*
 * Opens the container of len bytes.  ST_CORRUPT: no container, or longer than
 * one may be.
 */
extern StStatus st_jsonb_open(const uint8_t *src, size_t len, StJsonb *c);

/*
 * The child at the cursor, which moves on.  ST_CORRUPT: no child is left, or
 * its bytes are not as the server writes them.  Children of children are not
 * looked at.
 */
extern StStatus st_jsonb_next(const StJsonb *c, StJsonbCursor *at,
							  StJsonbItem *item);

/* ST_OK if the cursor is behind the last child and all data is used up. */
ST_INLINE StStatus
st_jsonb_finish(const StJsonb *c, const StJsonbCursor *at)
{
	return at->i == c->nentries && at->off == c->data_len ? ST_OK : ST_CORRUPT;
}

/*
 * Cursor at the first value of an object, its keys walked over and checked:
 * strings in strictly ascending order.
 */
extern StStatus st_jsonb_skip_keys(const StJsonb *c, StJsonbCursor *at);

/*
 * Where a key stood in the object that was searched last.  Objects of one
 * shape begin with the same bytes, up to the entries of their values: where
 * these are equal and the key's bytes are in their place, the key is found
 * without a search.  All zero at first; belongs to one key.
 */
#define ST_JSONB_HINT_KEYS 32

typedef struct StJsonbHint
{
	uint32_t	count;			/* pairs of the object; 0: no hint */
	uint32_t	index;			/* the key is this one, */
	uint32_t	off;			/* and its bytes are here */
	uint32_t	keys_len;		/* bytes of all keys */
	uint8_t		head[(1 + ST_JSONB_HINT_KEYS) * sizeof(uint32_t)];
} StJsonbHint;

/*
 * Finds the key where the hint says.  Values up to its own have no offsets,
 * and its own is a string, as most are; else a search is to tell.
 */
ST_INLINE bool
st_jsonb_find_by_hint(const uint8_t *src, size_t len, StStr key,
					  const StJsonbHint *hint, StJsonbItem *item)
{
	size_t		head = sizeof(uint32_t) * (1 + (size_t) hint->count);
	size_t		start = head + sizeof(uint32_t) * (size_t) hint->count;
	size_t		off = start + hint->keys_len;
	const uint8_t *entry = src + head;
	size_t		i = 0;

	if (hint->count == 0 || len < off || len > ST_JSONB_LENGTH_MASK)
		return false;
	for (; i + sizeof(uint64_t) <= head; i += sizeof(uint64_t))
		if (st_load_u64(src + i) != st_load_u64(hint->head + i))
			return false;
	if ((i < head && st_load_u32(src + i) != st_load_u32(hint->head + i)) ||
		(key.len > 0 && memcmp(src + start + hint->off, key.data, key.len) != 0))
		return false;
	if (item == NULL)
		return true;
	for (const uint8_t *own = entry + sizeof(uint32_t) * hint->index; entry < own;
		 entry += sizeof(uint32_t))
	{
		if (st_load_u32(entry) & ST_JSONB_HAS_OFFSET)
			return false;
		off += st_load_u32(entry) & ST_JSONB_LENGTH_MASK;
	}
	*item = (StJsonbItem) {ST_JSONB_STRING, st_load_u32(entry), src + off};
	return item->len <= ST_JSONB_LENGTH_MASK && off <= len && item->len <= len - off;
}

/* The same for any key and value, which sets the hint. */
extern StStatus st_jsonb_search(const uint8_t *src, size_t len, StStr key,
								StJsonbHint *hint, StJsonbItem *item);

/*
 * The value of a key in the object of len bytes; item may be NULL, if it
 * only matters whether there is one.  ST_NOTFIT: it has no such key.
 * ST_CORRUPT: as st_jsonb_open(), or st_jsonb_next() of what was looked
 * at; or the container is no object.
 */
ST_INLINE StStatus
st_jsonb_find(const uint8_t *src, size_t len, StStr key, StJsonbHint *hint,
			  StJsonbItem *item)
{
	return st_jsonb_find_by_hint(src, len, key, hint, item) ? ST_OK :
		st_jsonb_search(src, len, key, hint, item);
}

/* The whole container and all below, to the given depth, is canonical. */
extern StStatus st_jsonb_check(const uint8_t *src, size_t len, int max_depth);

/* ---- writer ---- */

/*
 * Writes into buf, the start of which counts as aligned.  The status is
 * sticky: ST_NOSPACE, or ST_NOTFIT for more bytes than a container may have.
 */
typedef struct StJsonbWriter
{
	uint8_t    *buf;
	size_t		len;
	size_t		cap;
	StStatus	status;
} StJsonbWriter;

/* A container being written. */
typedef struct StJsonbBuild
{
	size_t		start;			/* padding included */
	size_t		entries;
	size_t		data;
	uint32_t	next;			/* entry to be written next */
	uint32_t	nentries;
} StJsonbBuild;

ST_INLINE void
st_jsonb_writer_init(StJsonbWriter *w, uint8_t *buf, size_t cap)
{
	w->buf = buf;
	w->len = 0;
	w->cap = cap;
	w->status = ST_OK;
}

/* Room for n more bytes. */
ST_INLINE bool
st_jsonb_room(StJsonbWriter *w, size_t n)
{
	if (st_likely(w->status == ST_OK && n <= w->cap - w->len))
		return true;
	if (w->status == ST_OK)
		w->status = ST_NOSPACE;
	return false;
}

/* Zero bytes up to the next multiple of 4. */
ST_INLINE void
st_jsonb_pad(StJsonbWriter *w)
{
	size_t		pad = (0 - w->len) & 3;

	if (pad == 0 || !st_jsonb_room(w, pad))
		return;
	memset(w->buf + w->len, 0, pad);
	w->len += pad;
}

/*
 * Begins a container of that kind (flags of its first word).  Of an object,
 * count is the number of pairs, and all its keys follow, in order, then its
 * values; of an array, the elements.
 */
extern void st_jsonb_begin(StJsonbWriter *w, StJsonbBuild *b, uint32_t kind,
						   uint32_t count);

/*
 * Begins an object with the first block_len bytes of an object that has the
 * same keys (its entries may hold anything for the values).  Its values
 * follow.
 */
ST_INLINE void
st_jsonb_begin_block(StJsonbWriter *w, StJsonbBuild *b, uint32_t npairs,
					 const uint8_t *block, size_t block_len)
{
	b->start = w->len;
	st_jsonb_pad(w);
	b->entries = w->len + sizeof(uint32_t);
	b->nentries = 2 * npairs;
	b->data = b->entries + sizeof(uint32_t) * b->nentries;
	b->next = npairs;
	if (!st_jsonb_room(w, block_len))
		return;
	memcpy(w->buf + w->len, block, block_len);
	w->len += block_len;
}

/* The entry of the child that stands in [from, w->len). */
ST_INLINE void
st_jsonb_entry(StJsonbWriter *w, StJsonbBuild *b, uint32_t type, size_t from)
{
	size_t		len;

	if (w->status != ST_OK)
		return;
	len = w->len - (b->next % ST_JSONB_STRIDE == 0 ? b->data : from);
	if (st_unlikely(w->len - b->start > ST_JSONB_LENGTH_MASK ||
					b->next >= b->nentries))
	{
		w->status = ST_NOTFIT;
		return;
	}
	st_store_u32(w->buf + b->entries + sizeof(uint32_t) * b->next,
				 (uint32_t) len | type << ST_JSONB_TYPE_SHIFT |
				 (b->next % ST_JSONB_STRIDE == 0 ? ST_JSONB_HAS_OFFSET : 0));
	b->next++;
}

/* A key, or a value of any type; data of containers and numerics is aligned. */
ST_INLINE void
st_jsonb_put(StJsonbWriter *w, StJsonbBuild *b, uint32_t type,
			 const uint8_t *data, uint32_t len)
{
	size_t		from = w->len;

	if (type == ST_JSONB_NUMERIC || type == ST_JSONB_CONTAINER)
		st_jsonb_pad(w);
	if (!st_jsonb_room(w, len))
		return;
	if (len > 0)
		memcpy(w->buf + w->len, data, len);
	w->len += len;
	st_jsonb_entry(w, b, type, from);
}

/* The object child is complete; it is the next value of b. */
ST_INLINE void
st_jsonb_put_child(StJsonbWriter *w, StJsonbBuild *b, const StJsonbBuild *child)
{
	if (child->next != child->nentries && w->status == ST_OK)
		w->status = ST_NOTFIT;
	st_jsonb_entry(w, b, ST_JSONB_CONTAINER, child->start);
}

#endif							/* ST_JSONB_H */
