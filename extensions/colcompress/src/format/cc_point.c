/*-------------------------------------------------------------------------
 *
 * cc_point.c
 *	  Single rows out of a row group: what an index fetch needs.
 *
 * The first values of a vector are taken on their own: only its bytes are
 * read, and only those values decoded.  What a codec frame was unpacked to is
 * kept; bytes of other vectors only where there is memory to spare.  When the same
 * vector is asked again and again, it is worth decoding as a whole, and so is the
 * next one when rows are asked for in order: walking through a group row by row
 * costs what a scan costs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "cc_array_read.h"
#include "cc_shred_read.h"
#include "st_compat.h"
#include "st_float.h"
#include "st_int.h"
#include "st_numeric.h"

/* Bytes in front of the value, so that it stands aligned. */
#define POINT_ROOM MAXIMUM_ALIGNOF

/* A reader keeps at most so many bytes of blocks that it took single values of. */
#define POINT_KEPT_BYTES ((Size) 16 * 1024 * 1024)

/* Rows that follow each other, deleted ones between, are at most so far apart. */
#define STEP_ROWS 8

uint8 *
cc_point_buffer(StReader *r, CcChunk *chunk, Size len)
{
	cc_ensure(r, &chunk->point, &chunk->point_cap, POINT_ROOM + len + 1);
	/* a varlena's header starts at an aligned place, other values do */
	return chunk->point + sf_value_room(&chunk->type);
}

static Datum
point_decimal(StReader *r, CcChunk *chunk, int128 v, bool wide)
{
	cc_ensure(r, &chunk->point, &chunk->point_cap, ST_NUMERIC_MAX_BYTES);
	if (wide)
		st_numeric_write_int128(chunk->point, v, chunk->scale);
	else
		st_numeric_write_int64(chunk->point, (int64) v, chunk->scale);
	return PointerGetDatum(chunk->point);
}

static Datum
point_string(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 n, uint32 i)
{
	uint32		value_len;
	uint8	   *dst;

	if (st_str_at(chunk->scheme, src, len, n, i, NULL, 0, &value_len) != ST_OK)
		cc_corrupt(r, "strings of a vector");
	dst = cc_point_buffer(r, chunk, value_len);
	if (st_str_at(chunk->scheme, src, len, n, i, dst, value_len, &value_len) != ST_OK ||
		(chunk->type.kind == SF_KIND_FIXED && value_len != chunk->type.typlen))
		cc_corrupt(r, "strings of a vector");
	return sf_value_datum(&chunk->type, dst, value_len);
}

/* Value i of the n behind the null bitmap, on its own. */
static Datum
point_value(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 vecno,
			uint32 n, uint32 i)
{
	int64		v;
	StInt128	wide;
	double		f64;
	float		f32;

	switch (chunk->entry->encoding)
	{
		case CC_ENC_INT:
			if (st_int_at(src, len, n, i, (int64_t *) &v) != ST_OK)
				break;
			return vx_int_datum(chunk->type.typlen, v);
		case CC_ENC_DECIMAL64:
			if (st_int_at(src, len, n, i, (int64_t *) &v) != ST_OK)
				break;
			return point_decimal(r, chunk, v, false);
		case CC_ENC_DECIMAL128:
			if (st_int128_at(src, len, n, i, &wide) != ST_OK)
				break;
			return point_decimal(r, chunk, wide, true);
		case CC_ENC_FLOAT8:
			if (st_f64_at(src, len, n, i, &f64) != ST_OK)
				break;
			return Float8GetDatum(f64);
		case CC_ENC_FLOAT4:
			if (st_f32_at(src, len, n, i, &f32) != ST_OK)
				break;
			return Float4GetDatum(f32);
		case CC_ENC_DICT:
			if (st_int_at(src, len, n, i, (int64_t *) &v) != ST_OK || v < 0 ||
				v >= cc_chunk_dictionary(r, chunk)->nvalues)
				break;
			return chunk->dict->values[v];
		case CC_ENC_STR:
			return point_string(r, chunk, src, len, n, i);
		default:
			return cc_blob_value(r, chunk, src, len, vecno, n, i);
	}
	cc_corrupt(r, "values of a vector");
}

/* Decimals of a decoded vector need a place for the numeric. */
static inline Datum
vector_value(StReader *r, CcChunk *chunk, const VxVector *v, uint32 i, bool *isnull)
{
	Datum		value = (Datum) 0;

	*isnull = vx_vector_isnull(v, i);
	if (*isnull || vx_vector_at(v, i, &value))
		return value;
	if (v->rep == VX_REP_DECIMAL64)
		return point_decimal(r, chunk, v->u.i64[i], false);
	if (v->rep == VX_REP_DECIMAL128)
		return point_decimal(r, chunk, v->u.i128[i], true);
	return vx_vector_datum(v, i);
}

/* ---- bytes that are read for single values ---- */

/*
 * Raw bytes of a block with a codec frame, which stay with the reader.  When
 * there are too many, those kept before are forgotten.
 */
static const uint8 *
keep_block(StReader *r, CcChunk *chunk, uint32 blockno)
{
	Size		len = chunk->blocks[blockno].raw_len;
	uint8	   *bytes;

	if (r->kept_bytes > 0 && r->kept_bytes + len > POINT_KEPT_BYTES)
	{
		MemoryContextReset(r->kept_mcxt);
		r->kept_bytes = 0;
		r->kept_epoch++;
	}
	if (r->kept_mcxt == NULL)
		r->kept_mcxt = AllocSetContextCreate(r->mcxt, "blocks of single values",
											 ALLOCSET_DEFAULT_SIZES);
	if (chunk->kept == NULL || chunk->kept_epoch != r->kept_epoch)
	{
		chunk->kept_epoch = r->kept_epoch;
		chunk->kept = MemoryContextAllocZero(r->kept_mcxt,
											 chunk->nblocks * sizeof(uint8 *));
		r->kept_bytes += chunk->nblocks * sizeof(uint8 *);
	}
	r->kept_bytes += len;
	bytes = MemoryContextAllocHuge(r->kept_mcxt, Max(len, 1));
	cc_block_read(r, chunk, blockno, bytes);
	chunk->kept[blockno] = bytes;
	return bytes;
}

static void
read_vector(StReader *r, CcChunk *chunk, uint32 vecno, uint8 *dst)
{
	const CcVectorPlace *place = &chunk->vectors[vecno];

	cc_read_image(r, chunk->blocks[place->block].off + place->off, place->len, dst);
	r->bytes_decoded += place->len;
}

/* Bytes of a vector of a block without a codec frame, alone. */
static const uint8 *
passing_vector(StReader *r, CcChunk *chunk, uint32 vecno)
{
	chunk->bytes_vector = -1;
	cc_ensure(r, &chunk->bytes, &chunk->bytes_cap, chunk->vectors[vecno].len);
	read_vector(r, chunk, vecno, chunk->bytes);
	chunk->bytes_vector = vecno;
	return chunk->bytes;
}

/* The same, for other values of the vector too if there is memory. */
static const uint8 *
spare_vector(StReader *r, CcChunk *chunk, uint32 vecno)
{
	uint8	   *bytes = st_spare_alloc(Max(chunk->vectors[vecno].len, 1));

	if (bytes == NULL)
		return passing_vector(r, chunk, vecno);
	if (chunk->spare == NULL)
		chunk->spare = MemoryContextAlloc(r->mcxt, chunk->nvectors * sizeof(uint8 *));
	if (chunk->spare_epoch != st_spare_epoch)
		memset(chunk->spare, 0, chunk->nvectors * sizeof(uint8 *));
	chunk->spare_epoch = st_spare_epoch;
	read_vector(r, chunk, vecno, bytes);
	chunk->spare[vecno] = bytes;
	return bytes;
}

static inline bool
has_codec_frame(const CcChunk *chunk, uint32 vecno)
{
	const CcBlock *b = &chunk->blocks[chunk->vectors[vecno].block];

	return b->stored_len != b->raw_len;
}

/* Bytes of a vector, for one value of it. */
static const uint8 *
point_bytes(StReader *r, CcChunk *chunk, uint32 vecno, Size *len)
{
	const CcVectorPlace *place = &chunk->vectors[vecno];
	const uint8 *bytes = cc_bytes_at_hand(r, chunk, vecno);

	*len = place->len;
	if (bytes != NULL)
		return bytes;
	if (has_codec_frame(chunk, vecno))
		return keep_block(r, chunk, place->block) + place->off;
	return spare_vector(r, chunk, vecno);
}

/*
 * Decoding a vector costs as much as taking so many values of it one by one.
 */
static bool
worth_decoding(const StReader *r, const CcChunk *chunk)
{
	uint32		taken = Max(chunk->taken, r->walked);

	switch (chunk->entry->encoding)
	{
		case CC_ENC_STR:
		case CC_ENC_SHRED:
		case CC_ENC_ARRAY:
			return taken >= 24;
		case CC_ENC_BLOB:
			return false;
		default:
			return taken >= 8;
	}
}

static bool
is_integer_coded(const CcChunk *chunk)
{
	return chunk->entry->encoding == CC_ENC_INT ||
		chunk->entry->encoding == CC_ENC_DECIMAL64 ||
		chunk->entry->encoding == CC_ENC_DICT;
}

/* Is the value in the vector at hand? */
static bool
has_value(const CcChunk *chunk, uint32 vecno, uint32 i)
{
	return chunk->vector == vecno &&
		(!chunk->partial || (chunk->decoded[i >> 6] >> (i & 63)) & 1);
}

Datum
cc_chunk_value(StReader *r, CcChunk *chunk, uint32 vecno, uint32 i, bool *isnull)
{
	uint64		valid[VX_VALIDITY_WORDS];
	const uint8 *src;
	Size		len;
	uint32		n = cc_chunk_vector_rows(chunk, vecno);

	if (chunk->last_vector != vecno)
	{
		chunk->last_vector = vecno;
		chunk->taken = 0;
	}
	if (has_value(chunk, vecno, i) || worth_decoding(r, chunk))
	{
		const VxVector *v = chunk->partial && has_value(chunk, vecno, i) ?
			&chunk->v : cc_chunk_vector(r, chunk, vecno, NULL);

		return vector_value(r, chunk, v, i, isnull);
	}
	chunk->taken++;
	src = point_bytes(r, chunk, vecno, &len);
	*isnull = false;
	if (chunk->vectors[vecno].nnulls > 0)
	{
		cc_take_validity(r, &chunk->vectors[vecno], n, &src, &len, valid);
		*isnull = (valid[i >> 6] & (UINT64CONST(1) << (i & 63))) == 0;
		if (*isnull)
			return (Datum) 0;
	}
	if (chunk->entry->encoding == CC_ENC_SHRED)
		return cc_shred_point(r, chunk, vecno, i);
	if (chunk->entry->encoding == CC_ENC_ARRAY)
		return cc_array_point(r, chunk, src, len, vecno, i,
							  chunk->vectors[vecno].nnulls > 0 ? valid : NULL);
	if (is_integer_coded(chunk) && st_int_at_decodes(src, len))
		return vector_value(r, chunk, cc_chunk_vector(r, chunk, vecno, NULL), i, isnull);
	return point_value(r, chunk, src, len, vecno, n, i);
}

const uint8 *
cc_passing_bytes(StReader *r, CcChunk *chunk, uint32 vecno, Size *len)
{
	const uint8 *bytes = cc_bytes_at_hand(r, chunk, vecno);

	*len = chunk->vectors[vecno].len;
	if (bytes != NULL)
		return bytes;
	return has_codec_frame(chunk, vecno) ? cc_vector_bytes(r, chunk, vecno, len) :
		passing_vector(r, chunk, vecno);
}

/*
 * The integer that value i of the n of a vector is stored as, of a chunk that
 * keeps a sum; false if it is null.
 */
static bool
stored_integer(StReader *r, CcChunk *chunk, uint32 vecno, const uint8 *src, Size len,
			   uint32 i, int128 *value)
{
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	StInt128	wide;
	int64		v;

	if (chunk->vectors[vecno].nnulls > 0)
	{
		uint64		valid[VX_VALIDITY_WORDS];

		cc_take_validity(r, &chunk->vectors[vecno], n, &src, &len, valid);
		if ((valid[i >> 6] & (UINT64CONST(1) << (i & 63))) == 0)
			return false;
	}
	if (chunk->entry->encoding == CC_ENC_DECIMAL128)
	{
		if (st_int128_at(src, len, n, i, &wide) != ST_OK)
			cc_corrupt(r, "values of a vector");
		*value = wide;
		return true;
	}
	if (st_int_at(src, len, n, i, (int64_t *) &v) != ST_OK)
		cc_corrupt(r, "values of a vector");
	*value = v;
	return true;
}

bool
cc_reader_sum_rows(StReader *r, AttrNumber attno, const uint64 *rows, int128 *sum,
				   uint32 *nnulls)
{
	int			scale;
	CcChunk    *chunk;
	uint32		vecno = CC_MAX_VECTORS;
	const uint8 *src = NULL;
	Size		len = 0;

	*nnulls = 0;
	if (!cc_reader_sum(r, attno, sum, &scale))
		return false;
	*sum = 0;
	chunk = cc_chunk_open(r, attno);
	if (chunk->entry->encoding != CC_ENC_INT && chunk->entry->encoding != CC_ENC_DECIMAL64 &&
		chunk->entry->encoding != CC_ENC_DECIMAL128)
		return false;
	for (uint32 w = 0; w < (r->nrows + 63) / 64; w++)
	{
		for (uint64 left = rows[w]; left != 0; left &= left - 1)
		{
			uint32		row = w * 64 + __builtin_ctzll(left);
			int128		value;

			if (row / ST_VECTOR_SIZE != vecno)
			{
				CHECK_FOR_INTERRUPTS();
				vecno = row / ST_VECTOR_SIZE;
				src = cc_passing_bytes(r, chunk, vecno, &len);
			}
			if (stored_integer(r, chunk, vecno, src, len, row % ST_VECTOR_SIZE, &value))
				*sum += value;
			else
				(*nnulls)++;
		}
	}
	return true;
}

static Datum
fetch_value(StReader *r, AttrNumber attno, uint32 vecno, uint32 i, bool *isnull)
{
	CcChunk    *chunk = cc_chunk_open(r, attno);
	const VxVector *v;

	if (chunk != NULL)
		return cc_chunk_value(r, chunk, vecno, i, isnull);
	v = cc_reader_vector(r, attno, vecno);
	*isnull = vx_vector_isnull(v, i);
	return *isnull ? (Datum) 0 : vx_vector_datum(v, i);
}

void
cc_reader_row(StReader *r, uint32 row, const bool *needed, Datum *values,
			  bool *isnull)
{
	TupleDesc	desc = r->desc;
	uint32		vecno = row / ST_VECTOR_SIZE;

	if (row >= r->nrows)
		cc_corrupt(r, "row asked for");
	if (row != r->last_row)
		r->walked = row > r->last_row && row - r->last_row <= STEP_ROWS ? r->walked + 1 : 0;
	r->last_row = row;
	for (int a = 0; a < desc->natts; a++)
	{
		CcChunk    *chunk = r->chunks[a];

		if (needed != NULL && !needed[a])
			continue;
		if (TupleDescAttr(desc, a)->attisdropped)
		{
			values[a] = (Datum) 0;
			isnull[a] = true;
			continue;
		}
		if (chunk != NULL && chunk->vector == vecno && !chunk->partial)
		{
			values[a] = vector_value(r, chunk, &chunk->v, row % ST_VECTOR_SIZE, &isnull[a]);
			continue;
		}
		values[a] = fetch_value(r, a + 1, vecno, row % ST_VECTOR_SIZE, &isnull[a]);
		if (isnull[a])
			values[a] = (Datum) 0;
	}
}
