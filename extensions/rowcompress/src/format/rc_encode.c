/*-------------------------------------------------------------------------
 *
 * rc_encode.c
 *	  One batch of a column's values: a piece.
 *
 * Null positions hold a copy of their neighbour in numbers and codes, and
 * nothing in strings.  A numeric column is decided batch by batch: integers
 * of one display scale where all values fit, else the bytes.
 *
 *	 piece = | u8 encoding and flags
 *	         | u16 length, null bitmap                      (RC_PIECE_NULLS)
 *	         | u64 offset in the image of the first, then length (v) and
 *	           st_int vector of: rows, lengths, stored lengths  (.._LARGE)
 *	         | values
 *
 * Values in frames: st_int vector of their lengths, behind its own length
 * (v); number of frames (v); st_int vectors of the frames' first values and
 * stored lengths, likewise; frames.  One that is as long as its values is
 * not compressed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "rc_column.h"
#include "sf_bytes.h"
#include "st_bitmap.h"
#include "st_bytes.h"
#include "st_compat.h"
#include "st_float.h"
#include "st_int.h"
#include "st_numeric.h"
#include "st_yield.h"

uint8 *
rc_reserve(StringInfo buf, Size need)
{
	/* pieces are below RC_MAX_BATCH_ROWS * RC_LARGE_BYTES: no overflow */
	enlargeStringInfo(buf, need);
	return (uint8 *) buf->data + buf->len;
}

static inline void
commit_bytes(StringInfo buf, Size len)
{
	buf->len += len;
}

Size
rc_encode_strings(const StStrScheme *scheme, const StStr *v, uint32 n, StringInfo buf)
{
	Size		bound = st_str_bound(scheme, v, n);
	uint8	   *dst = rc_reserve(buf, bound);
	size_t		len;

	if (st_str_encode(scheme, v, n, dst, bound, &len) != ST_OK)
		elog(ERROR, "could not encode %u strings", n);
	commit_bytes(buf, len);
	return len;
}

/* The value that ends the frame which starts at first; *bytes: all of them. */
static uint32
frame_end(const StStr *v, uint32 first, uint32 n, Size limit, Size *bytes)
{
	*bytes = 0;
	while (first < n && *bytes < limit)
		*bytes += v[first++].len;
	return first;
}

/*
 * The bytes of values [first, end), one after the other: where they are if
 * they stand so already, which is how they came; else in raw.
 */
static const char *
frame_bytes(const StStr *v, uint32 first, uint32 end, Size bytes, StringInfo raw)
{
	const uint8 *next = NULL;
	const uint8 *start = NULL;
	bool		together = true;

	for (uint32 i = first; i < end && together; i++)
	{
		if (v[i].len == 0)
			continue;
		if (start == NULL)
			start = v[i].data;
		else
			together = v[i].data == next;
		next = v[i].data + v[i].len;
	}
	if (together)
		return (const char *) start;
	resetStringInfo(raw);
	enlargeStringInfo(raw, bytes);
	for (uint32 i = first; i < end; i++)
		if (v[i].len > 0)
			appendBinaryStringInfo(raw, (const char *) v[i].data, v[i].len);
	return raw->data;
}

Size
rc_encode_frames(RcCodec *codec, const StCodecDict *dict, const StStr *v, uint32 n,
				 StringInfo buf)
{
	Size		limit = dict ? RC_FRAME_BYTES : RC_FRAME_BYTES_ALONE;
	int			start = buf->len;
	int64	   *lens = palloc(3 * n * sizeof(int64));
	int64	   *firsts = lens + n;
	int64	   *stored = firsts + n;
	uint32		nframes = 0;
	StringInfoData raw;
	StringInfoData frames;

	initStringInfo(&raw);
	initStringInfo(&frames);
	for (uint32 i = 0; i < n; i++)
		lens[i] = v[i].len;
	for (uint32 first = 0; first < n;)
	{
		Size		bytes;
		uint32		end = frame_end(v, first, n, limit, &bytes);
		const char *src = frame_bytes(v, first, end, bytes, &raw);
		Size		len = rc_codec_frame(codec, dict, src, bytes);

		if (bytes > 0)
			appendBinaryStringInfo(&frames, len < bytes ? (char *) codec->packed : src, len);
		firsts[nframes] = first;
		stored[nframes++] = len;
		first = end;
	}
	sf_put_int_array(buf, lens, n);
	sf_put_varint(buf, nframes);
	sf_put_int_array(buf, firsts, nframes);
	sf_put_int_array(buf, stored, nframes);
	appendBinaryStringInfo(buf, frames.data, frames.len);
	pfree(frames.data);
	pfree(raw.data);
	pfree(lens);
	return buf->len - start;
}

static void
encode_ints(const int64 *v, uint32 n, StIntHint *hint, StringInfo buf)
{
	Size		bound = st_int_bound(n);
	uint8	   *dst = rc_reserve(buf, bound);
	size_t		len;

	if (st_int_encode_next((const int64_t *) v, n, hint, dst, bound, &len) != ST_OK)
		elog(ERROR, "could not encode %u integers", n);
	commit_bytes(buf, len);
}

static void
encode_floats(RcColumn *col, uint32 first, uint32 n, StringInfo buf)
{
	bool		wide = col->storage == SF_STORE_FLOAT8;
	Size		bound = wide ? st_f64_bound(n) : st_f32_bound(n);
	uint8	   *dst = rc_reserve(buf, bound);
	size_t		len;
	StStatus	status;

	if (wide)
		status = st_f64_encode_next(col->u.f64 + first, n, &col->floats, dst, bound, &len);
	else
		status = st_f32_encode_next(col->u.f32 + first, n, &col->floats, dst, bound, &len);
	if (status != ST_OK)
		elog(ERROR, "could not encode %u floats", n);
	commit_bytes(buf, len);
}

/*
 * All numerics of a batch as integers of one scale.  False if they are not
 * that.  v has room for a batch.
 */
static bool
scale_numerics(const RcColumn *col, uint32 first, uint32 n, int128 *v,
			   int *scale, bool *wide)
{
	bool		seen = false;

	*wide = false;
	for (uint32 i = 0; i < n; i++)
	{
		const StStr *s = &col->u.str[first + i];
		char		num[VARHDRSZ + ST_NUMERIC_MAX_BYTES];
		int			own;

		v[i] = i > 0 ? v[i - 1] : 0;
		if (s->data == NULL)
			continue;
		if (s->len > ST_NUMERIC_MAX_BYTES)
			return false;
		SET_VARSIZE(num, VARHDRSZ + s->len);
		memcpy(num + VARHDRSZ, s->data, s->len);
		if (!st_numeric_to_int128(PointerGetDatum(num), &v[i], &own) ||
			(seen && own != *scale))
			return false;
		if (!seen)
		{
			/* leading nulls take the first value's place */
			for (uint32 k = 0; k < i; k++)
				v[k] = v[i];
		}
		seen = true;
		*scale = own;
		*wide |= v[i] > PG_INT64_MAX || v[i] < PG_INT64_MIN;
	}
	return seen;
}

/* Returns the encoding, or 0 with nothing written. */
static int
encode_decimals(RcColumn *col, uint32 first, uint32 n, StringInfo buf)
{
	int128	   *v = palloc(n * sizeof(int128));
	int			result = 0;
	int			scale;
	bool		wide;

	if (scale_numerics(col, first, n, v, &scale, &wide))
	{
		sf_put_varint(buf, scale);
		if (wide)
		{
			Size		bound = st_int128_bound(n);
			uint8	   *dst = rc_reserve(buf, bound);
			size_t		len;

			if (st_int128_encode((StInt128 *) v, n, dst, bound, &len) != ST_OK)
				elog(ERROR, "could not encode %u integers", n);
			commit_bytes(buf, len);
			result = RC_ENC_DECIMAL128;
		}
		else
		{
			int64	   *narrow = palloc(n * sizeof(int64));

			for (uint32 i = 0; i < n; i++)
				narrow[i] = (int64) v[i];
			encode_ints(narrow, n, &col->ints, buf);
			pfree(narrow);
			result = RC_ENC_DECIMAL64;
		}
	}
	pfree(v);
	return result;
}

static void
encode_codes(RcColumn *col, const RcScheme *scheme, uint32 first, uint32 n,
			 StringInfo buf)
{
	int64	   *wide = palloc(n * sizeof(int64));

	for (uint32 i = 0; i < n; i++)
	{
		if (col->u.str[first + i].data == NULL && i > 0)
			wide[i] = wide[i - 1];
		else
			wide[i] = scheme->codes[first + i];
	}
	encode_ints(wide, n, &col->ints, buf);
	pfree(wide);
}

/* Strings that are not large; the others are empty here. */
static int
encode_small(const RcColumn *col, RcCodec *codec, const RcScheme *scheme,
			 uint32 first, uint32 n, StringInfo buf)
{
	int			encoding = scheme->framed ? RC_ENC_FRAMES : RC_ENC_STR;
	StStr	   *v = palloc(n * sizeof(StStr));

	for (uint32 i = 0; i < n; i++)
	{
		v[i] = col->u.str[first + i];
		if (v[i].len >= RC_LARGE_BYTES)
			v[i] = (StStr) {(const uint8 *) "", 0};
	}
	if (encoding == RC_ENC_FRAMES)
		rc_encode_frames(codec, scheme->trained ? scheme->trained->digested : NULL,
						 v, n, buf);
	else
		rc_encode_strings(scheme->str, v, n, buf);
	pfree(v);
	return encoding;
}

static int
encode_values(RcColumn *col, RcCodec *codec, const RcScheme *scheme,
			  uint32 first, uint32 n, StringInfo buf)
{
	int			encoding;

	switch (col->storage)
	{
		case SF_STORE_INT64:
			encode_ints(col->u.i64 + first, n, &col->ints, buf);
			return RC_ENC_INT;
		case SF_STORE_FLOAT8:
			encode_floats(col, first, n, buf);
			return RC_ENC_FLOAT8;
		case SF_STORE_FLOAT4:
			encode_floats(col, first, n, buf);
			return RC_ENC_FLOAT4;
		default:
			break;
	}
	if (scheme->dictionary)
	{
		encode_codes(col, scheme, first, n, buf);
		return RC_ENC_CODE;
	}
	if (col->type.kind == SF_KIND_NUMERIC &&
		(encoding = encode_decimals(col, first, n, buf)) != 0)
		return encoding;
	return encode_small(col, codec, scheme, first, n, buf);
}

/*
 * Places of large values, which are to stand in the image one after the other
 * from *offset on; moves that behind them.  False if there is none.
 */
static bool
put_places(const RcColumn *col, uint32 first, uint32 n, uint64 *offset, StringInfo buf)
{
	uint64		start = *offset;
	int64	   *rows;
	int64	   *lens;
	int64	   *stored;
	int			nlarge = 0;

	if (col->storage != SF_STORE_BYTES || col->nlarge == 0)
		return false;
	rows = palloc(3 * n * sizeof(int64));
	lens = rows + n;
	stored = lens + n;
	for (uint32 i = 0; i < n; i++)
	{
		const StStr *s = &col->u.str[first + i];

		if (s->data == NULL || s->len < RC_LARGE_BYTES)
			continue;
		rows[nlarge] = i;
		lens[nlarge] = s->len;
		stored[nlarge] = ((const RcLarge *) s->data)->stored;
		*offset += stored[nlarge++];
	}
	if (nlarge > 0)
	{
		appendBinaryStringInfo(buf, (char *) &start, sizeof(start));
		sf_put_varint(buf, nlarge);
		sf_put_int_array(buf, rows, nlarge);
		sf_put_int_array(buf, lens, nlarge);
		sf_put_int_array(buf, stored, nlarge);
	}
	pfree(rows);
	return nlarge > 0;
}

void
rc_large_write(RcColumn *col, uint32 first, uint32 n, StImage *img)
{
	if (col->storage != SF_STORE_BYTES || col->nlarge == 0)
		return;
	for (uint32 i = first; i < first + n; i++)
	{
		StStr	   *s = &col->u.str[i];
		RcLarge    *large = (RcLarge *) unconstify(uint8 *, s->data);

		if (s->data == NULL || s->len < RC_LARGE_BYTES)
			continue;
		CHECK_FOR_INTERRUPTS();
		st_yield();
		st_image_append(img, large->data, large->stored);
		pfree(large);
		/* its length alone tells that it was there */
		s->data = (const uint8 *) "";
	}
}

static bool
put_nulls(const RcColumn *col, uint32 first, uint32 n, StringInfo buf, uint32 *nnulls)
{
	uint64		words[ST_BITMAP_WORDS];
	uint8		bytes[ST_VECTOR_SIZE / 8 + 64];
	uint16		len16;
	size_t		len;

	*nnulls = 0;
	if (col->nnulls == 0)
		return false;
	*nnulls = rc_column_validity(col, first, n, words);
	if (*nnulls == 0 || *nnulls == n)
		return false;
	if (st_bitmap_encode((uint64_t *) words, n, bytes, sizeof(bytes), &len) != ST_OK)
		elog(ERROR, "could not encode a null bitmap");
	len16 = (uint16) len;
	appendBinaryStringInfo(buf, (char *) &len16, sizeof(len16));
	appendBinaryStringInfo(buf, (char *) bytes, len);
	return true;
}

void
rc_piece_encode(RcColumn *col, RcCodec *codec, const RcScheme *scheme,
				uint32 first, uint32 n, uint64 *large_off, StringInfo buf)
{
	int			start = buf->len;
	int			flags = 0;
	uint32		nnulls;

	if (col->storage == SF_STORE_NONE)
		return;
	appendStringInfoChar(buf, 0);
	if (put_nulls(col, first, n, buf, &nnulls))
		flags |= RC_PIECE_NULLS;
	if (nnulls == n)
	{
		buf->len = start;
		return;
	}
	if (put_places(col, first, n, large_off, buf))
		flags |= RC_PIECE_LARGE;

	flags |= encode_values(col, codec, scheme, first, n, buf);
	buf->data[start] = (char) flags;
}
