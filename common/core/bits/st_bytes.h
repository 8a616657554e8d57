/*-------------------------------------------------------------------------
 *
 * st_bytes.h
 *	  Bounds-checked reader and writer over byte buffers.
 *
 * Both keep a sticky status: after the first failure every further call is
 * harmless (loads give 0, stores do nothing), so that a parser reads all its
 * fields first and looks at the status once.  Neither owns the buffer.
 *
 *		StByteReader r;
 *		st_reader_init(&r, src, len);
 *		n = st_read_varint(&r);
 *		p = st_read_span(&r, n);
 *		if (st_reader_finish(&r) != ST_OK)
 *			return ST_CORRUPT;
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_BYTES_H
#define ST_BYTES_H

#include "st_core.h"

/* Longest LEB128 varint of a uint64: ten groups of seven bits. */
#define ST_VARINT_MAX 10

typedef struct StByteReader
{
	const uint8_t *p;			/* next byte */
	const uint8_t *end;
	StStatus	status;			/* ST_OK or ST_CORRUPT */
} StByteReader;

typedef struct StByteWriter
{
	uint8_t    *start;
	uint8_t    *p;				/* next byte */
	uint8_t    *end;
	StStatus	status;			/* ST_OK or ST_NOSPACE */
} StByteWriter;

/* ---- reader ---- */

ST_INLINE void
st_reader_init(StByteReader *r, const void *src, size_t len)
{
	r->p = (const uint8_t *) src;
	r->end = r->p + len;
	r->status = ST_OK;
}

/* Bytes not read yet. */
ST_INLINE size_t
st_reader_left(const StByteReader *r)
{
	return (size_t) (r->end - r->p);
}

/* Marks the input as damaged: for callers that find a field implausible. */
ST_INLINE void
st_reader_fail(StByteReader *r)
{
	r->status = ST_CORRUPT;
	r->p = r->end;
}

/* A pointer to the next len bytes, which are skipped; NULL on failure. */
ST_INLINE const uint8_t *
st_read_span(StByteReader *r, uint64_t len)
{
	const uint8_t *p = r->p;

	if (st_unlikely(r->status != ST_OK || len > st_reader_left(r)))
	{
		st_reader_fail(r);
		return NULL;
	}
	r->p += len;
	return p;
}

/* Everything that is left; never fails by itself. */
ST_INLINE const uint8_t *
st_read_rest(StByteReader *r, size_t *len)
{
	*len = st_reader_left(r);
	return st_read_span(r, *len);
}

ST_INLINE uint8_t
st_read_u8(StByteReader *r)
{
	const uint8_t *p = st_read_span(r, 1);

	return p ? *p : 0;
}

#define ST_DEFINE_READ(name, type) \
	ST_INLINE type st_read_##name(StByteReader *r) \
	{ \
		const uint8_t *p = st_read_span(r, sizeof(type)); \
		return p ? st_load_##name(p) : 0; \
	}

ST_DEFINE_READ(u16, uint16_t)
ST_DEFINE_READ(u32, uint32_t)
ST_DEFINE_READ(u64, uint64_t)
ST_DEFINE_READ(i64, int64_t)
ST_DEFINE_READ(f32, float)
ST_DEFINE_READ(f64, double)

/*
 * LEB128: seven bits per byte, low first, top bit = more.  Fails if the
 * value does not fit uint64 or if it is longer than needed (an encoder
 * writes one form only, so that damage shows).
 */
ST_INLINE uint64_t
st_read_varint(StByteReader *r)
{
	uint64_t	value = 0;

	for (int shift = 0; shift < 7 * ST_VARINT_MAX; shift += 7)
	{
		uint8_t		byte = st_read_u8(r);

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t) (byte & 0x7f) << shift;
		if (byte < 0x80)
		{
			if (byte == 0 && shift > 0)
				break;
			return value;
		}
	}
	st_reader_fail(r);
	return 0;
}

/* Zigzag: small magnitudes of either sign become small unsigned numbers. */
ST_INLINE uint64_t
st_zigzag_encode(int64_t v)
{
	return ((uint64_t) v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}

ST_INLINE int64_t
st_zigzag_decode(uint64_t u)
{
	return (int64_t) ((u >> 1) ^ (0 - (u & 1)));
}

ST_INLINE int64_t
st_read_zigzag(StByteReader *r)
{
	return st_zigzag_decode(st_read_varint(r));
}

/* Bytes behind their length; data NULL on failure. */
ST_INLINE StStr
st_read_sized(StByteReader *r)
{
	uint64_t	len = st_read_varint(r);
	const uint8_t *data = st_read_span(r, len);

	return (StStr) {data, data ? (uint32_t) len : 0};
}

/* Status at the end: also ST_CORRUPT if bytes are left over. */
ST_INLINE StStatus
st_reader_finish(const StByteReader *r)
{
	return r->p == r->end ? r->status : ST_CORRUPT;
}

/* ---- writer ---- */

ST_INLINE void
st_writer_init(StByteWriter *w, void *dst, size_t cap)
{
	w->start = w->p = (uint8_t *) dst;
	w->end = w->p + cap;
	w->status = ST_OK;
}

/* Bytes written so far; meaningful while the status is ST_OK. */
ST_INLINE size_t
st_writer_len(const StByteWriter *w)
{
	return (size_t) (w->p - w->start);
}

/* Room left. */
ST_INLINE size_t
st_writer_left(const StByteWriter *w)
{
	return (size_t) (w->end - w->p);
}

/* Reserves len bytes and returns them to be filled; NULL on failure. */
ST_INLINE uint8_t *
st_write_span(StByteWriter *w, uint64_t len)
{
	uint8_t    *p = w->p;

	if (st_unlikely(w->status != ST_OK || len > st_writer_left(w)))
	{
		w->status = ST_NOSPACE;
		w->end = w->p;
		return NULL;
	}
	w->p += len;
	return p;
}

ST_INLINE void
st_write_bytes(StByteWriter *w, const void *src, size_t len)
{
	uint8_t    *p = st_write_span(w, len);

	if (p && len > 0)
		memcpy(p, src, len);
}

ST_INLINE void
st_write_u8(StByteWriter *w, uint8_t v)
{
	uint8_t    *p = st_write_span(w, 1);

	if (p)
		*p = v;
}

#define ST_DEFINE_WRITE(name, type) \
	ST_INLINE void st_write_##name(StByteWriter *w, type v) \
	{ \
		uint8_t    *p = st_write_span(w, sizeof(type)); \
		if (p) \
			st_store_##name(p, v); \
	}

ST_DEFINE_WRITE(u16, uint16_t)
ST_DEFINE_WRITE(u32, uint32_t)
ST_DEFINE_WRITE(u64, uint64_t)
ST_DEFINE_WRITE(i64, int64_t)
ST_DEFINE_WRITE(f32, float)
ST_DEFINE_WRITE(f64, double)

/* Bytes that st_write_varint will write. */
ST_INLINE int
st_varint_size(uint64_t v)
{
	return (70 - __builtin_clzll(v | 1)) / 7;
}

ST_INLINE void
st_write_varint(StByteWriter *w, uint64_t v)
{
	while (v >= 0x80)
	{
		st_write_u8(w, (uint8_t) (v | 0x80));
		v >>= 7;
	}
	st_write_u8(w, (uint8_t) v);
}

ST_INLINE void
st_write_zigzag(StByteWriter *w, int64_t v)
{
	st_write_varint(w, st_zigzag_encode(v));
}

/* Bytes behind their length, a varint. */
ST_INLINE void
st_write_sized(StByteWriter *w, const void *src, size_t len)
{
	st_write_varint(w, len);
	st_write_bytes(w, src, len);
}

#endif							/* ST_BYTES_H */
