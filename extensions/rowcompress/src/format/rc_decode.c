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
#include "miscadmin.h"

#include "rc_reader.h"
#include "st_compat.h"
#include "st_float.h"
#include "st_int.h"

/*
 * Memory for a vector's elements: the batch's, or for scans the column's, which
 * has room for a whole vector, as the engine's loops ask for.
 */
static void *
make_values(RcBatch *batch, RcChunk *chunk, Size element)
{
	Size		most = chunk->type.kind == SF_KIND_NUMERIC ? sizeof(int128) : sizeof(int64);

	if (!batch->scanned)
		return rc_batch_alloc(batch, batch->nrows * element);
	if (chunk->values == NULL)
		chunk->values = MemoryContextAllocZero(batch->reader->mcxt, ST_VECTOR_SIZE * most);
	return chunk->values;
}

static void
keep(RcBatch *batch, RcChunk *chunk, VxVector *v, const void *values, Size element)
{
	v->u.i64 = make_values(batch, chunk, element);
	memcpy(v->u.i64, values, batch->nrows * element);
}

static void
decode_ints(RcBatch *batch, RcChunk *chunk, const RcPiece *piece, VxVector *v)
{
	int64		ints[ST_VECTOR_SIZE];

	if (st_int_decode(piece->values, piece->len, batch->nrows, (int64_t *) ints) != ST_OK)
		rc_corrupt(batch->reader, "integers of a batch");
	v->rep = piece->encoding == RC_ENC_INT ? VX_REP_INT64 : VX_REP_DECIMAL64;
	v->constant = !v->has_nulls && piece->values[0] == ST_INT_CONSTANT;
	if (piece->encoding == RC_ENC_INT && chunk->entry->is_signed != chunk->type.is_signed)
	{
		for (uint32 i = 0; i < batch->nrows; i++)
			ints[i] = sf_change_sign(&chunk->type, ints[i]);
	}
	keep(batch, chunk, v, ints, sizeof(int64));
}

static void
decode_wide(RcBatch *batch, RcChunk *chunk, const RcPiece *piece, VxVector *v)
{
	StInt128	wide[ST_VECTOR_SIZE];

	if (st_int128_decode(piece->values, piece->len, batch->nrows, wide) != ST_OK)
		rc_corrupt(batch->reader, "integers of a batch");
	v->rep = VX_REP_DECIMAL128;
	keep(batch, chunk, v, wide, sizeof(int128));
}

static void
decode_floats(RcBatch *batch, RcChunk *chunk, const RcPiece *piece, VxVector *v)
{
	union
	{
		double		f64[ST_VECTOR_SIZE];
		float		f32[ST_VECTOR_SIZE];
	}			floats;
	bool		wide = piece->encoding == RC_ENC_FLOAT8;
	StStatus	status;

	if (wide)
		status = st_f64_decode(piece->values, piece->len, batch->nrows, floats.f64);
	else
		status = st_f32_decode(piece->values, piece->len, batch->nrows, floats.f32);
	if (status != ST_OK)
		rc_corrupt(batch->reader, "floats of a batch");
	v->rep = wide ? VX_REP_FLOAT8 : VX_REP_FLOAT4;
	keep(batch, chunk, v, &floats, wide ? sizeof(double) : sizeof(float));
}

static void
decode_codes(RcBatch *batch, RcChunk *chunk, const RcPiece *piece, VxVector *v)
{
	uint32		codes[ST_VECTOR_SIZE];
	uint32		max = 0;

	v->rep = VX_REP_CODE;
	v->dict = rc_chunk_dictionary(batch->reader, chunk);
	if (st_int_decode_u32(piece->values, piece->len, batch->nrows, codes) != ST_OK)
		rc_corrupt(batch->reader, "codes of a batch");
	for (uint32 i = 0; i < batch->nrows; i++)
		max = Max(max, codes[i]);
	if (max >= v->dict->nvalues)
		rc_corrupt(batch->reader, "codes of a batch");
	keep(batch, chunk, v, codes, sizeof(uint32));
}

/* Values of the type's fixed length have it, but for nulls and large ones. */
static inline void
check_length(const RcBatch *batch, const RcChunk *chunk, const RcPiece *piece,
			 const VxVector *v, uint32 i, uint32 len)
{
	if (chunk->type.kind == SF_KIND_FIXED && len != chunk->type.typlen &&
		!vx_vector_isnull(v, i) && rc_piece_large(piece, i) < 0)
		rc_corrupt(batch->reader, "strings of a batch");
}

static void
decode_strings(RcBatch *batch, RcChunk *chunk, const RcPiece *piece, VxVector *v)
{
	StReader   *r = batch->reader;
	uint32		off[ST_VECTOR_SIZE];
	uint32		lens[ST_VECTOR_SIZE];
	uint32		room = sf_value_room(&chunk->type);
	uint32		align = sf_value_align(&chunk->type);
	size_t		need;
	uint8	   *arena;

	rc_chunk_scheme(r, chunk);
	if (chunk->str == NULL ||
		st_str_decoded_size(chunk->str, piece->values, piece->len, batch->nrows,
							room, align, &need) != ST_OK)
		rc_corrupt(r, "strings of a batch");
	arena = rc_batch_alloc(batch, need + 1);
	if (st_str_decode(chunk->str, piece->values, piece->len, batch->nrows, room, align,
					  arena, need, off, lens) != ST_OK)
		rc_corrupt(r, "strings of a batch");
	v->rep = VX_REP_DATUM;
	v->u.datum = make_values(batch, chunk, sizeof(Datum));
	for (uint32 i = 0; i < batch->nrows; i++)
		check_length(batch, chunk, piece, v, i, lens[i]);
	sf_value_datums(&chunk->type, arena, off, lens, batch->nrows, v->u.datum);
	for (uint32 i = 0; i < piece->nlarge; i++)
		v->u.datum[piece->large[i]] = (Datum) 0;
}

static void
decode_frames(RcBatch *batch, RcChunk *chunk, RcPiece *piece, AttrNumber attno,
			  VxVector *v)
{
	Size		room = sf_value_room(&chunk->type);
	Size		align = Max(sf_value_align(&chunk->type), sizeof(int32));
	Size		total = rc_frames_length(batch->reader, piece, 0, batch->nrows);
	uint8	   *p;

	/* a value's header, itself, its terminator, and what aligns the next */
	total += batch->nrows * (room + 1 + align);
	p = rc_batch_alloc(batch, total);
	v->rep = VX_REP_DATUM;
	v->u.datum = make_values(batch, chunk, sizeof(Datum));
	for (uint32 frame = 0; frame < piece->nframes; frame++)
	{
		uint32		first;
		uint32		last;
		const uint8 *bytes = rc_frame_bytes(batch, attno, piece, frame, &first, &last);

		for (uint32 i = first; i < last; i++)
		{
			uint32		len = piece->lens[i];

			check_length(batch, chunk, piece, v, i, len);
			memcpy(p + room, bytes, len);
			bytes += len;
			v->u.datum[i] = sf_value_datum(&chunk->type, p + room, len);
			p += TYPEALIGN(align, room + len + 1);
		}
	}
	for (uint32 i = 0; i < piece->nlarge; i++)
		v->u.datum[piece->large[i]] = (Datum) 0;
}

/*
 * A batch of nulls in a column that has values elsewhere: as these are, so
 * that a column's vectors in a row group are alike.
 */
static void
decode_nulls(RcBatch *batch, RcChunk *chunk, VxVector *v)
{
	v->has_nulls = true;
	switch (chunk->type.kind)
	{
		case SF_KIND_INT:
			v->rep = VX_REP_INT64;
			break;
		case SF_KIND_FLOAT8:
			v->rep = VX_REP_FLOAT8;
			break;
		case SF_KIND_FLOAT4:
			v->rep = VX_REP_FLOAT4;
			break;
		default:
			rc_chunk_scheme(batch->reader, chunk);
			v->rep = chunk->dict.nvalues > 0 ? VX_REP_CODE : VX_REP_DATUM;
			if (v->rep == VX_REP_CODE)
				v->dict = rc_chunk_dictionary(batch->reader, chunk);
			break;
	}
	v->u.i64 = make_values(batch, chunk, sizeof(int64));
	memset(v->u.i64, 0, batch->nrows * sizeof(int64));
}

static VxVector *
decode(RcBatch *batch, AttrNumber attno, RcPiece *piece)
{
	RcChunk    *chunk = rc_chunk_open(batch->reader, attno);
	VxVector   *v = rc_batch_alloc(batch, sizeof(VxVector));

	memset(v, 0, sizeof(VxVector));
	v->n = batch->nrows;
	v->typlen = chunk->type.typlen;
	v->scale = piece->scale;
	v->has_nulls = piece->valid != NULL;
	if (v->has_nulls)
		memcpy(v->valid, piece->valid, (batch->nrows + 63) / 64 * sizeof(uint64));
	switch (piece->encoding)
	{
		case 0:
			decode_nulls(batch, chunk, v);
			break;
		case RC_ENC_INT:
		case RC_ENC_DECIMAL64:
			decode_ints(batch, chunk, piece, v);
			break;
		case RC_ENC_DECIMAL128:
			decode_wide(batch, chunk, piece, v);
			break;
		case RC_ENC_FLOAT8:
		case RC_ENC_FLOAT4:
			decode_floats(batch, chunk, piece, v);
			break;
		case RC_ENC_CODE:
			decode_codes(batch, chunk, piece, v);
			break;
		case RC_ENC_FRAMES:
			decode_frames(batch, chunk, piece, attno, v);
			break;
		default:
			decode_strings(batch, chunk, piece, v);
			break;
	}
	return v;
}

const VxVector *
rc_batch_vector(RcBatch *batch, AttrNumber attno)
{
	RcPiece    *piece;

	if (rc_column_is_missing(batch->reader, attno))
		return rc_missing_vector(batch->reader, attno, batch->nrows);
	piece = rc_batch_piece(batch, attno);
	if (piece->v == NULL)
		piece->v = decode(batch, attno, piece);
	return piece->v;
}

const VxVector *
rc_batch_vector_selected(RcBatch *batch, AttrNumber attno, const uint64 *rows)
{
	const VxVector *v = rc_batch_vector(batch, attno);
	StReader   *r = batch->reader;
	const RcPiece *piece;

	if (v->rep != VX_REP_DATUM || rc_column_is_missing(r, attno))
		return v;
	piece = rc_batch_piece(batch, attno);
	for (uint32 i = 0; i < piece->nlarge; i++)
	{
		uint32		row = piece->large[i];
		const SfColumnType *type = &rc_chunk_open(r, attno)->type;
		Size		room = sf_value_room(type);
		uint8	   *dst;

		if (v->u.datum[row] != (Datum) 0 ||
			(rows[row >> 6] & (UINT64CONST(1) << (row & 63))) == 0)
			continue;
		CHECK_FOR_INTERRUPTS();
		dst = rc_batch_alloc(batch, room + piece->large[piece->nlarge + i] + 1);
		v->u.datum[row] = rc_read_large(r, type, piece, i, dst + room);
	}
	return v;
}
