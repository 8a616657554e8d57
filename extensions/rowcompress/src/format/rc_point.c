/*-------------------------------------------------------------------------
 *
 * rc_point.c
 *	  Single values and rows: what an index fetch needs.
 *
 * The first values of a piece are taken one by one, without decoding their
 * neighbours.  A piece that is asked again and again, or row after row, is
 * worth decoding as a whole, so that walking through a group costs what a
 * scan costs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "rc_reader.h"
#include "st_compat.h"
#include "st_float.h"
#include "st_int.h"
#include "st_numeric.h"

/* Single values of a piece before it is decoded: numbers, bytes. */
#define NUMBERS_BEFORE_VECTOR	6
#define SUMS_BEFORE_VECTOR		1
#define BYTES_BEFORE_VECTOR		12

/* A fetch of fewer columns than one in this many reads only their pieces. */
#define WHOLE_SHARE 4

/* A buffer larger than this is given back when the next row is asked for. */
#define POINT_KEEP_BYTES ((Size) 1024 * 1024)

/* Memory for a value; aligned, so the value's header is. */
static uint8 *
point_buffer(StReader *r, RcChunk *chunk, Size len)
{
	Size		room = sf_value_room(&chunk->type);

	rc_ensure(r, &chunk->point, &chunk->point_cap, room + len + 1);
	return chunk->point + room;
}

static Datum
point_decimal(StReader *r, RcChunk *chunk, int128 v, int scale, bool wide)
{
	rc_ensure(r, &chunk->point, &chunk->point_cap, ST_NUMERIC_MAX_BYTES);
	if (wide)
		st_numeric_write_int128(chunk->point, v, scale);
	else
		st_numeric_write_int64(chunk->point, (int64) v, scale);
	return PointerGetDatum(chunk->point);
}

static Datum
point_large(StReader *r, RcChunk *chunk, const RcPiece *piece, int i)
{
	uint8	   *dst = point_buffer(r, chunk, piece->large[piece->nlarge + i]);

	return rc_read_large(r, &chunk->type, piece, i, dst);
}

/* Finding a string's length costs as much as finding it: most fit a guess. */
#define STRING_GUESS 256

static Datum
point_string(RcBatch *batch, RcChunk *chunk, const RcPiece *piece, uint32 row)
{
	StReader   *r = batch->reader;
	uint32		room = sf_value_room(&chunk->type);
	Size		have = Max(STRING_GUESS, chunk->point_cap - Min(room + 1, chunk->point_cap));
	uint8	   *dst = point_buffer(r, chunk, have);
	StStatus	status = ST_CORRUPT;
	uint32		len = 0;

	rc_chunk_scheme(r, chunk);
	if (chunk->str != NULL)
		status = st_str_at(chunk->str, piece->values, piece->len, batch->nrows, row,
						   dst, have, &len);
	if (status == ST_NOSPACE && len <= MaxAllocSize - VARHDRSZ)
	{
		dst = point_buffer(r, chunk, len);
		status = st_str_at(chunk->str, piece->values, piece->len, batch->nrows, row,
						   dst, len, &len);
	}
	if (status != ST_OK ||
		(chunk->type.kind == SF_KIND_FIXED && len != chunk->type.typlen))
		rc_corrupt(r, "strings of a batch");
	return sf_value_datum(&chunk->type, dst, len);
}

static Datum
point_framed(RcBatch *batch, RcChunk *chunk, AttrNumber attno, RcPiece *piece, uint32 row)
{
	StReader   *r = batch->reader;
	uint32		len;
	const uint8 *bytes = rc_frame_value(batch, attno, piece, row, &len);
	uint8	   *dst = point_buffer(r, chunk, len);

	if (chunk->type.kind == SF_KIND_FIXED && len != chunk->type.typlen)
		rc_corrupt(r, "strings of a batch");
	memcpy(dst, bytes, len);
	return sf_value_datum(&chunk->type, dst, len);
}

/* The value of a row that is neither null nor large, on its own. */
static Datum
point_value(RcBatch *batch, RcChunk *chunk, AttrNumber attno, RcPiece *piece, uint32 row)
{
	StReader   *r = batch->reader;
	const uint8 *src = piece->values;
	Size		len = piece->len;
	uint32		n = batch->nrows;
	int64		v;
	StInt128	wide;
	double		f64;
	float		f32;

	switch (piece->encoding)
	{
		case RC_ENC_INT:
			if (st_int_at(src, len, n, row, (int64_t *) &v) != ST_OK)
				break;
			if (chunk->entry->is_signed != chunk->type.is_signed)
				v = sf_change_sign(&chunk->type, v);
			return vx_int_datum(chunk->type.typlen, v);
		case RC_ENC_DECIMAL64:
			if (st_int_at(src, len, n, row, (int64_t *) &v) != ST_OK)
				break;
			return point_decimal(r, chunk, v, piece->scale, false);
		case RC_ENC_DECIMAL128:
			if (st_int128_at(src, len, n, row, &wide) != ST_OK)
				break;
			return point_decimal(r, chunk, wide, piece->scale, true);
		case RC_ENC_FLOAT8:
			if (st_f64_at(src, len, n, row, &f64) != ST_OK)
				break;
			return Float8GetDatum(f64);
		case RC_ENC_FLOAT4:
			if (st_f32_at(src, len, n, row, &f32) != ST_OK)
				break;
			return Float4GetDatum(f32);
		case RC_ENC_CODE:
			(void) rc_chunk_dictionary(r, chunk);
			if (st_int_at(src, len, n, row, (int64_t *) &v) != ST_OK || v < 0 ||
				v >= chunk->dict.nvalues)
				break;
			return chunk->dict.values[v];
		case RC_ENC_FRAMES:
			return point_framed(batch, chunk, attno, piece, row);
		default:
			return point_string(batch, chunk, piece, row);
	}
	rc_corrupt(r, "values of a batch");
}

Datum
rc_vector_value(RcBatch *batch, AttrNumber attno, const VxVector *v, uint32 row)
{
	StReader   *r = batch->reader;

	if (v->rep == VX_REP_DECIMAL64)
		return point_decimal(r, rc_chunk_open(r, attno), v->u.i64[row], v->scale, false);
	if (v->rep == VX_REP_DECIMAL128)
		return point_decimal(r, rc_chunk_open(r, attno), v->u.i128[row], v->scale, true);
	if (v->rep == VX_REP_DATUM && !rc_column_is_missing(r, attno))
	{
		const RcPiece *piece = rc_batch_piece(batch, attno);
		int			i = rc_piece_large(piece, row);

		if (i >= 0)
			return point_large(r, rc_chunk_open(r, attno), piece, i);
	}
	return vx_vector_datum(v, row);
}

/* nlarge: of the vector's values are that many not in it. */
static inline Datum
decoded_value(RcBatch *batch, AttrNumber attno, const VxVector *v, uint32 nlarge, uint32 row,
			  bool *isnull)
{
	Datum		value = (Datum) 0;

	*isnull = vx_vector_isnull(v, row);
	if (*isnull || (nlarge == 0 && vx_vector_at(v, row, &value)))
		return value;
	return rc_vector_value(batch, attno, v, row);
}

/* The value of a located piece. */
static inline Datum
piece_value(RcBatch *batch, AttrNumber attno, RcPiece *piece, uint32 row, bool *isnull)
{
	/* it was opened when the piece was located */
	RcChunk    *chunk = batch->reader->chunks[attno - 1];
	int			large;

	if (piece->v != NULL)
		return decoded_value(batch, attno, piece->v, piece->nlarge, row, isnull);
	*isnull = piece->encoding == 0 ||
		(piece->valid != NULL &&
		 (piece->valid[row >> 6] & (UINT64CONST(1) << (row & 63))) == 0);
	if (*isnull)
		return (Datum) 0;
	if (piece->nlarge > 0 && (large = rc_piece_large(piece, row)) >= 0)
		return point_large(batch->reader, chunk, piece, large);
	return point_value(batch, chunk, attno, piece, row);
}

/* Gives back the memory of a huge value that nobody looks at any more. */
static pg_noinline void
release_point(RcChunk *chunk)
{
	pfree(chunk->point);
	chunk->point = NULL;
	chunk->point_cap = 0;
}

/* Is the piece worth decoding, now that one more value of it is wanted? */
static bool
decode_now(RcPiece *piece)
{
	int			touched = ++piece->touched;

	switch (piece->encoding)
	{
		case RC_ENC_INT:
		case RC_ENC_DECIMAL64:
		case RC_ENC_CODE:
			/* differences that are added up for one value are, for others, too */
			return touched > NUMBERS_BEFORE_VECTOR ||
				(touched > SUMS_BEFORE_VECTOR &&
				 st_int_at_decodes(piece->values, piece->len));
		case RC_ENC_FLOAT8:
		case RC_ENC_FLOAT4:
		case RC_ENC_DECIMAL128:
			return touched > NUMBERS_BEFORE_VECTOR;
		default:
			return touched > BYTES_BEFORE_VECTOR;
	}
}

/* Does the fetch want so much of a batch that it is read at once? */
static bool
wants_whole(const StReader *r, const bool *needed)
{
	int			n = 0;

	for (int a = 0; needed != NULL && a < r->desc->natts; a++)
		n += needed[a];
	return needed == NULL || n * WHOLE_SHARE > r->natts;
}

/* That of the scan at hand, or one of the cache. */
static RcBatch *
find_batch(StReader *r, uint32 row, const bool *needed)
{
	RcBatch    *batch = r->scanned;

	if (batch != NULL && row >= r->batch_first[batch->batchno] &&
		row < r->batch_first[batch->batchno + 1])
		return batch;
	return rc_cache_get(r, rc_reader_batch_of_row(r, row), wants_whole(r, needed));
}

void
rc_reader_row(StReader *r, uint32 row, const bool *needed, Datum *values,
			  bool *isnull)
{
	TupleDesc	desc = r->desc;
	RcBatch    *batch = r->current;
	bool		sequential;

	if (row >= r->nrows)
		rc_corrupt(r, "row asked for");
	if (batch == NULL || row < r->batch_first[batch->batchno] ||
		row >= r->batch_first[batch->batchno + 1])
		batch = find_batch(r, row, needed);
	row -= r->batch_first[batch->batchno];
	sequential = row == batch->last_row + 1;
	batch->last_row = row;

	for (int a = 0; a < desc->natts; a++)
	{
		RcChunk    *chunk = r->chunks[a];
		RcPiece    *piece;

		if (needed != NULL && !needed[a])
			continue;
		if (chunk != NULL && chunk->point_cap > POINT_KEEP_BYTES)
			release_point(chunk);
		if (TupleDescAttr(desc, a)->attisdropped)
		{
			values[a] = (Datum) 0;
			isnull[a] = true;
			continue;
		}
		if (rc_column_is_missing(r, a + 1))
		{
			values[a] = decoded_value(batch, a + 1,
									  rc_missing_vector(r, a + 1, batch->nrows), 0, row,
									  &isnull[a]);
			continue;
		}
		piece = rc_batch_piece(batch, a + 1);
		if (piece->v == NULL && (sequential || decode_now(piece)))
			(void) rc_batch_vector(batch, a + 1);
		values[a] = piece_value(batch, a + 1, piece, row, &isnull[a]);
	}
}
