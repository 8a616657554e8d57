/*-------------------------------------------------------------------------
 *
 * rc_decode.c
 *	  All values of one column in one batch.
 *
 * Numbers are decoded into a buffer for a whole vector first, as decoders
 * ask for, and copied to one of the batch's size.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "rc_reader.h"
#include "st_compat.h"
#include "st_float.h"
#include "st_int.h"

uint32
rc_value_room(const RcColumnType *type)
{
	switch (type->kind)
	{
		case RC_KIND_FIXED:
			return 0;
		case RC_KIND_CSTRING:
			return 1;			/* the terminator of the value before */
		default:
			return VARHDRSZ;
	}
}

uint32
rc_value_align(const RcColumnType *type)
{
	if (type->kind == RC_KIND_CSTRING)
		return 1;
	return type->kind == RC_KIND_FIXED ? type->align :
		Max(type->align, sizeof(int32));
}

Datum
rc_value_datum(const RcColumnType *type, uint8 *data, uint32 len)
{
	switch (type->kind)
	{
		case RC_KIND_FIXED:
			return PointerGetDatum(data);
		case RC_KIND_CSTRING:
			data[len] = '\0';
			return PointerGetDatum(data);
		default:
			SET_VARSIZE(data - VARHDRSZ, len + VARHDRSZ);
			return PointerGetDatum(data - VARHDRSZ);
	}
}

/* As fetch_att() gives a by-value attribute of that length. */
Datum
rc_int_datum(int16 typlen, int64 v)
{
	switch (typlen)
	{
		case 1:
			return CharGetDatum((char) v);
		case 2:
			return Int16GetDatum((int16) v);
		case 4:
			return Int32GetDatum((int32) v);
		default:
			return Int64GetDatum(v);
	}
}

/* oid over a column written as int4, or the other way round. */
int64
rc_change_sign(const RcChunk *chunk, int64 v)
{
	if (chunk->entry->is_signed == chunk->type.is_signed)
		return v;
	switch (chunk->type.typlen)
	{
		case 1:
			return chunk->type.is_signed ? (int64) (int8) v : (int64) (uint8) v;
		case 4:
			return chunk->type.is_signed ? (int64) (int32) v : (int64) (uint32) v;
		default:
			return v;
	}
}

/* Copies n elements of a decoded vector into memory of the batch. */
static void
keep(RcBatch *batch, RcVector *v, const void *values, Size element)
{
	v->u.i64 = rc_batch_alloc(batch, batch->nrows * element);
	memcpy(v->u.i64, values, batch->nrows * element);
}

static void
decode_ints(RcBatch *batch, const RcChunk *chunk, RcPiece *piece)
{
	int64		v[ST_VECTOR_SIZE];

	if (st_int_decode(piece->values, piece->len, batch->nrows, (int64_t *) v) != ST_OK)
		rc_corrupt(batch->reader, "integers of a batch");
	piece->v.rep = piece->encoding == RC_ENC_INT ? RC_REP_INT64 : RC_REP_DECIMAL64;
	if (piece->encoding == RC_ENC_INT && chunk->entry->is_signed != chunk->type.is_signed)
	{
		for (uint32 i = 0; i < batch->nrows; i++)
			v[i] = rc_change_sign(chunk, v[i]);
	}
	keep(batch, &piece->v, v, sizeof(int64));
}

static void
decode_wide(RcBatch *batch, RcPiece *piece)
{
	StInt128	v[ST_VECTOR_SIZE];

	if (st_int128_decode(piece->values, piece->len, batch->nrows, v) != ST_OK)
		rc_corrupt(batch->reader, "integers of a batch");
	piece->v.rep = RC_REP_DECIMAL128;
	keep(batch, &piece->v, v, sizeof(int128));
}

static void
decode_floats(RcBatch *batch, RcPiece *piece)
{
	union
	{
		double		f64[ST_VECTOR_SIZE];
		float		f32[ST_VECTOR_SIZE];
	}			v;
	bool		wide = piece->encoding == RC_ENC_FLOAT8;
	StStatus	status;

	if (wide)
		status = st_f64_decode(piece->values, piece->len, batch->nrows, v.f64);
	else
		status = st_f32_decode(piece->values, piece->len, batch->nrows, v.f32);
	if (status != ST_OK)
		rc_corrupt(batch->reader, "floats of a batch");
	piece->v.rep = wide ? RC_REP_FLOAT8 : RC_REP_FLOAT4;
	keep(batch, &piece->v, &v, wide ? sizeof(double) : sizeof(float));
}

static void
decode_codes(RcBatch *batch, RcChunk *chunk, RcPiece *piece)
{
	uint32		v[ST_VECTOR_SIZE];
	uint32		max = 0;

	piece->v.rep = RC_REP_CODE;
	piece->v.dict = rc_chunk_dictionary(batch->reader, chunk);
	if (st_int_decode_u32(piece->values, piece->len, batch->nrows, v) != ST_OK)
		rc_corrupt(batch->reader, "codes of a batch");
	for (uint32 i = 0; i < batch->nrows; i++)
		max = Max(max, v[i]);
	if (max >= chunk->ndict)
		rc_corrupt(batch->reader, "codes of a batch");
	keep(batch, &piece->v, v, sizeof(uint32));
}

static void
decode_strings(RcBatch *batch, RcChunk *chunk, RcPiece *piece)
{
	StReader   *r = batch->reader;
	uint32		off[ST_VECTOR_SIZE];
	uint32		lens[ST_VECTOR_SIZE];
	uint32		room = rc_value_room(&chunk->type);
	uint32		align = rc_value_align(&chunk->type);
	size_t		need;
	Datum	   *values;

	rc_chunk_scheme(r, chunk);
	if (chunk->str == NULL ||
		st_str_decoded_size(chunk->str, piece->values, piece->len, batch->nrows,
							room, align, &need) != ST_OK)
		rc_corrupt(r, "strings of a batch");
	piece->arena = rc_batch_alloc(batch, need + 1);
	if (st_str_decode(chunk->str, piece->values, piece->len, batch->nrows, room, align,
					  piece->arena, need, off, lens) != ST_OK)
		rc_corrupt(r, "strings of a batch");
	piece->v.rep = RC_REP_DATUM;
	piece->v.nlarge = piece->nlarge;
	piece->v.u.datum = values = rc_batch_alloc(batch, batch->nrows * sizeof(Datum));
	for (uint32 i = 0; i < batch->nrows; i++)
	{
		if (chunk->type.kind == RC_KIND_FIXED && lens[i] != chunk->type.typlen &&
			!rc_vector_isnull(&piece->v, i) && rc_piece_large(piece, i) < 0)
			rc_corrupt(r, "strings of a batch");
		values[i] = rc_value_datum(&chunk->type, piece->arena + off[i], lens[i]);
	}
	for (uint32 i = 0; i < piece->nlarge; i++)
		values[piece->large[i]] = (Datum) 0;
}

static void
decode_frames(RcBatch *batch, RcChunk *chunk, RcPiece *piece, AttrNumber attno)
{
	Size		room = rc_value_room(&chunk->type);
	Size		align = Max(rc_value_align(&chunk->type), sizeof(int32));
	Size		total = rc_frames_length(batch->reader, piece, 0, batch->nrows);
	Datum	   *values;
	uint8	   *p;

	/* a value's header, itself, its terminator, and what aligns the next */
	total += batch->nrows * (room + 1 + align);
	piece->arena = p = rc_batch_alloc(batch, total);
	piece->v.rep = RC_REP_DATUM;
	piece->v.nlarge = piece->nlarge;
	piece->v.u.datum = values = rc_batch_alloc(batch, batch->nrows * sizeof(Datum));
	for (uint32 frame = 0; frame < piece->nframes; frame++)
	{
		uint32		first;
		uint32		last;
		const uint8 *bytes = rc_frame_bytes(batch, attno, piece, frame, &first, &last);

		for (uint32 i = first; i < last; i++)
		{
			uint32		len = piece->lens[i];

			if (chunk->type.kind == RC_KIND_FIXED && len != chunk->type.typlen &&
				!rc_vector_isnull(&piece->v, i) && rc_piece_large(piece, i) < 0)
				rc_corrupt(batch->reader, "strings of a batch");
			memcpy(p + room, bytes, len);
			bytes += len;
			values[i] = rc_value_datum(&chunk->type, p + room, len);
			p += TYPEALIGN(align, room + len + 1);
		}
	}
	for (uint32 i = 0; i < piece->nlarge; i++)
		values[piece->large[i]] = (Datum) 0;
}

/* A batch of nulls in a column that has values elsewhere. */
static void
decode_nulls(RcBatch *batch, RcPiece *piece)
{
	Size		words = (batch->nrows + 63) / 64 * sizeof(uint64);

	piece->valid = rc_batch_alloc(batch, words);
	memset(piece->valid, 0, words);
	piece->v.rep = RC_REP_DATUM;
	piece->v.u.datum = rc_batch_alloc(batch, batch->nrows * sizeof(Datum));
	memset(piece->v.u.datum, 0, batch->nrows * sizeof(Datum));
}

const RcVector *
rc_batch_vector(RcBatch *batch, AttrNumber attno)
{
	StReader   *r = batch->reader;
	RcPiece    *piece;
	RcChunk    *chunk;

	if (rc_column_is_missing(r, attno))
		return rc_missing_vector(r, attno);
	piece = rc_batch_piece(batch, attno);
	if (piece->decoded)
		return &piece->v;
	chunk = rc_chunk_open(r, attno);
	piece->v.typlen = chunk->type.typlen;
	piece->v.scale = piece->scale;
	piece->v.valid = piece->valid;
	switch (piece->encoding)
	{
		case 0:
			decode_nulls(batch, piece);
			piece->v.valid = piece->valid;
			break;
		case RC_ENC_INT:
		case RC_ENC_DECIMAL64:
			decode_ints(batch, chunk, piece);
			break;
		case RC_ENC_DECIMAL128:
			decode_wide(batch, piece);
			break;
		case RC_ENC_FLOAT8:
		case RC_ENC_FLOAT4:
			decode_floats(batch, piece);
			break;
		case RC_ENC_CODE:
			decode_codes(batch, chunk, piece);
			break;
		case RC_ENC_FRAMES:
			decode_frames(batch, chunk, piece, attno);
			break;
		default:
			decode_strings(batch, chunk, piece);
			break;
	}
	piece->decoded = true;
	return &piece->v;
}
