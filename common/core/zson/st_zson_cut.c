/*-------------------------------------------------------------------------
 *
 * st_zson_cut.c
 *	  A value of a document as a document of its own.
 *
 * The value's bytes are copied as they are; only the sizes before a root go.
 * Of the tail it takes along the blocks that it uses, still compressed, and
 * notes where in them its first string begins.  With a container that may
 * have some go all of the document's repeated strings.  A string of the tail,
 * one of a template and a repeated one become strings in place.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_format.h"

/* Header, dictionary, sizes of head and tail, base. */
#define MAX_HEADER 32

/* Bytes of a block's size in the directory. */
#define MAX_DIR_ENTRY 2

/* Blocks of the tail that the value uses: first and number. */
static void
used_blocks(const StZsonDoc *doc, const StZsonValue *v, uint32_t *first,
			uint32_t *n)
{
	size_t		from = (size_t) doc->tail_base + v->tail;
	size_t		to = from + v->tail_len;

	*first = (uint32_t) (from / ST_ZSON_BLOCK);
	*n = v->tail_len == 0 ? 0 :
		(uint32_t) ((to - 1) / ST_ZSON_BLOCK) - *first + 1;
}

size_t
st_zson_cut_bound(const StZsonDoc *doc, const StZsonValue *v)
{
	uint32_t	first;
	uint32_t	n;

	used_blocks(doc, v, &first, &n);
	return (size_t) (v->next - v->start) + MAX_HEADER +
		(v->kind < ST_ZSON_ARRAY ? ZS_MAX_PART_ENCODED :
		 (size_t) (doc->repeats_end - doc->repeats)) +
		(v->kind == ST_ZSON_STRING ? st_zson_string_bound(v) + 8 :
		 (size_t) n * (ST_ZSON_BLOCK + MAX_DIR_ENTRY));
}

static void
write_header(StByteWriter *w, const StZsonDoc *doc, int flags)
{
	if (doc->dict_id != 0)
		flags |= ZS_HAS_DICT;
	st_write_u8(w, (uint8_t) (ZS_VERSION | flags));
	if (doc->dict_id != 0)
		st_write_varint(w, doc->dict_id);
	if (flags & ZS_HAS_REPEATS)
		st_write_sized(w, doc->repeats,
					   (size_t) (doc->repeats_end - doc->repeats));
}

/*
 * Returns the flags for the header of a container that is cut out.  The
 * repeated strings are copied too if any of its bytes could refer to one;
 * bytes of UTF-8 text cannot.
 */
static int
container_flags(const StZsonDoc *doc, const StZsonValue *v)
{
	if (doc->repeats != NULL)
	{
		for (const uint8_t *p = v->start; p < v->next; p++)
		{
			if (*p >= ZS_REPEAT)
				return ZS_HAS_REPEATS;
		}
	}
	return 0;
}

/* A nested container's bytes without the sizes, which a root has not. */
static StStr
root_bytes(const StZsonDoc *doc, const StZsonValue *v)
{
	const uint8_t *p = v->start + 1;
	uint64_t	n;

	zs_varint(&p, v->next, &n);
	if (doc->has_tail)
		zs_varint(&p, v->next, &n);
	return (StStr) {p, (uint32_t) (v->next - p)};
}

/* Copies the n blocks of the tail from the first one, and their sizes. */
static StStatus
copy_blocks(StZsonDoc *doc, uint32_t first, uint32_t n, StByteWriter *dir,
			StByteWriter *out)
{
	const uint8_t *p = doc->dir;
	size_t		at = doc->tail_at;

	for (uint32_t i = 0; i < first + n; i++)
	{
		const uint8_t *packed = doc->data + at;
		uint64_t	size;

		if (!zs_varint(&p, doc->dir_end, &size) || at > doc->len ||
			size > doc->len - at || size > ST_ZSON_BLOCK)
			return ST_CORRUPT;
		if (i >= first)
		{
			if (at + size > doc->avail)
			{
				if (doc->fetch == NULL)
					return ST_NOSPACE;
				packed = doc->fetch(doc->fetch_arg, at, size);
			}
			st_write_varint(dir, size);
			st_write_bytes(out, packed, size);
		}
		at += size;
	}
	return ST_OK;
}

/* A container of a document with a tail: sizes and strides speak of it. */
static StStatus
cut_with_tail(StZsonDoc *doc, const StZsonValue *v, StByteWriter *w,
			  size_t *outlen)
{
	StStr		root = root_bytes(doc, v);
	size_t		base = (size_t) doc->tail_base + v->tail;
	uint32_t	first;
	uint32_t	n;
	size_t		raw;
	size_t		room;
	StByteWriter dir;
	uint8_t    *start;
	StStatus	status;

	used_blocks(doc, v, &first, &n);
	raw = (first + n == doc->nblocks ? doc->tail_raw :
		   (size_t) (first + n) * ST_ZSON_BLOCK) -
		(size_t) first * ST_ZSON_BLOCK;
	if (n == 0)
		raw = base = 0;
	write_header(w, doc, ZS_HAS_TAIL | ZS_HAS_BASE | container_flags(doc, v));
	st_write_varint(w, root.len + 1);
	st_write_varint(w, raw);
	st_write_varint(w, base % ST_ZSON_BLOCK);
	/* the directory may turn out shorter: what follows moves then */
	room = (size_t) n * MAX_DIR_ENTRY;
	st_writer_init(&dir, w->p, room);
	st_write_span(w, room);
	start = w->p;
	st_write_u8(w, *v->start);
	st_write_bytes(w, root.data, root.len);
	status = copy_blocks(doc, first, n, &dir, w);
	if (status != ST_OK)
		return status;
	if (w->status != ST_OK || dir.status != ST_OK)
		return ST_NOSPACE;
	memmove(dir.p, start, (size_t) (w->p - start));
	*outlen = (size_t) (w->p - w->start) - (size_t) (start - dir.p);
	return ST_OK;
}

/* A string that is not in place. */
static StStatus
cut_string(StZsonDoc *doc, const StZsonValue *v, StByteWriter *w,
		   size_t *outlen)
{
	size_t		bound = st_zson_string_bound(v);
	StStr		s;
	StStatus	status;

	write_header(w, doc, 0);
	if (st_writer_left(w) < bound + 8)
		return ST_NOSPACE;
	/* at the end of the room first; the encoded string ends there at most */
	status = st_zson_string(doc, v, w->end - bound, &s);
	if (status != ST_OK)
		return status;
	st_zs_put_plain_head(w, s.len);
	memmove(w->p, s.data, s.len);
	*outlen = (size_t) (w->p - w->start) + s.len;
	return w->status;
}

StStatus
st_zson_cut(StZsonDoc *doc, const StZsonValue *v, uint8_t *dst, size_t cap,
			size_t *outlen)
{
	bool		members = zs_is_container(*v->start);
	const uint8_t *p = v->start;
	size_t		n = (size_t) (v->next - v->start);
	StByteWriter w;

	if (v->start == doc->root && (members || doc->root_shape > 0))
	{
		/* the document as it is */
		if (cap < doc->len)
			return ST_NOSPACE;
		if (doc->avail < doc->len)
			return ST_NOSPACE;
		memcpy(dst, doc->data, doc->len);
		*outlen = doc->len;
		return ST_OK;
	}
	if (members && v->next > doc->avail_end)
		return ST_NOSPACE;
	st_writer_init(&w, dst, cap);
	if (members && doc->has_tail)
		return cut_with_tail(doc, v, &w, outlen);
	if (v->kind == ST_ZSON_STRING &&
		(v->form == ST_ZSON_TAIL || v->form == ST_ZSON_TEMPLATE))
		return cut_string(doc, v, &w, outlen);
	if (*p >= ZS_REPEAT &&
		!st_zs_repeat_bytes(doc->repeats, doc->repeats_end,
							zs_repeat_number(p), &p, &n))
		return ST_CORRUPT;
	write_header(&w, doc, members ? container_flags(doc, v) : 0);
	if (members)
	{
		StStr		root = root_bytes(doc, v);

		st_write_u8(&w, *v->start);
		st_write_bytes(&w, root.data, root.len);
	}
	else
		st_write_bytes(&w, p, n);
	*outlen = st_writer_len(&w);
	return w.status;
}
