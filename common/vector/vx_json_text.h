/*-------------------------------------------------------------------------
 *
 * vx_json_text.h
 *	  Text of jsonb documents, as the type's output function prints it.
 *
 * Texts of a vector stand one behind the other in blocks of memory, from
 * the current context; one that is finished stays where it is.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_JSON_TEXT_H
#define VX_JSON_TEXT_H

#include "postgres.h"

#include "st_compat.h"
#include "st_jsonb.h"

/* All zero at first. */
typedef struct VxText
{
	char	   *block;
	char	   *start;			/* of the text at hand: its header */
	Size		len;			/* of it so far, with the header */
	Size		cap;			/* room for it */
} VxText;

/* Room for n more bytes; an error if it would be no value any more. */
extern void vx_text_grow(VxText *t, Size n);

static inline void
vx_text_room(VxText *t, Size n)
{
	if (unlikely(n > t->cap - t->len))
		vx_text_grow(t, n);
}

static inline void
vx_text_begin(VxText *t)
{
	t->len = 0;
	vx_text_room(t, VARHDRSZ);
	t->len = VARHDRSZ;
}

/* The text that was begun. */
static inline Datum
vx_text_finish(VxText *t)
{
	char	   *text = t->start;
	Size		used = Min(MAXALIGN(t->len), t->cap);

	SET_VARSIZE(text, t->len);
	t->start += used;
	t->cap -= used;
	t->len = 0;
	return PointerGetDatum(text);
}

static inline void
vx_text_append(VxText *t, const void *data, Size len)
{
	vx_text_room(t, len);
	memcpy(t->start + t->len, data, len);
	t->len += len;
}

/* A string's characters, with escapes but without quotes. */
extern void vx_text_escaped(VxText *t, const uint8 *data, Size len);

/* value * 10^-scale */
extern void vx_text_decimal64(VxText *t, int64 value, int scale);
extern void vx_text_decimal128(VxText *t, int128 value, int scale);

/* A numeric, with a plain header. */
extern void vx_text_numeric(VxText *t, const void *num);

/*
 * A value, or a document: the len bytes of its root.  They need not be
 * aligned.
 */
extern void vx_text_item(VxText *t, const StJsonbItem *item);
extern void vx_text_container(VxText *t, const uint8 *data, uint32 len);

#endif							/* VX_JSON_TEXT_H */
