/*-------------------------------------------------------------------------
 *
 * cc_decode.c
 *	  Vectors out of a column chunk.
 *
 * Decodes one vector at a time into buffers of the chunk; the vector stays
 * until the next one of the same column is asked for.  Columns that the row
 * group does not have give vectors of their missing value (ALTER TABLE ADD
 * COLUMN ... DEFAULT), or of nulls.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "utils/memutils.h"

#include "cc_array_read.h"
#include "cc_shred_read.h"
#include "st_bitmap.h"
#include "st_compat.h"
#include "st_float.h"
#include "st_int.h"
#include "vx_batch.h"
#include "vx_path.h"

void
cc_take_validity(StReader *r, const CcVectorPlace *place, uint32 n,
				 const uint8 **src, Size *len, uint64 *valid)
{
	Size		bitmap_len;

	if (place->nnulls == 0)
		return;
	if (place->nnulls == n)
	{
		memset(valid, 0, VX_VALIDITY_WORDS * sizeof(uint64));
		if (*len != 0)
			cc_corrupt(r, "length of a vector");
		return;
	}
	if (*len < sizeof(uint16))
		cc_corrupt(r, "null bitmap of a vector");
	bitmap_len = st_load_u16(*src);
	if (bitmap_len > *len - sizeof(uint16) ||
		st_bitmap_decode(*src + sizeof(uint16), bitmap_len, n,
						 (uint64_t *) valid) != ST_OK ||
		st_bitmap_popcount((uint64_t *) valid, n) != n - place->nnulls)
		cc_corrupt(r, "null bitmap of a vector");
	*src += sizeof(uint16) + bitmap_len;
	*len -= sizeof(uint16) + bitmap_len;
}

void *
cc_value_buffer(StReader *r, CcChunk *chunk, Size element)
{
	if (chunk->v.u.i64 == NULL)
		chunk->v.u.i64 = MemoryContextAlloc(r->mcxt, ST_VECTOR_SIZE * element);
	return chunk->v.u.i64;
}

static void
decode_codes(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 n)
{
	uint32	   *codes = cc_value_buffer(r, chunk, sizeof(uint32));
	uint32		nvalues,
				max = 0;

	chunk->v.rep = VX_REP_CODE;
	chunk->v.dict = cc_chunk_dictionary(r, chunk);
	nvalues = chunk->v.dict->nvalues;
	if (st_int_decode_u32(src, len, n, codes) != ST_OK)
		cc_corrupt(r, "codes of a vector");
	for (uint32 i = 0; i < n; i++)
		max = Max(max, codes[i]);
	if (max >= nvalues)
		cc_corrupt(r, "codes of a vector");
}

static void
decode_strings(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 n)
{
	Datum	   *values = cc_value_buffer(r, chunk, sizeof(Datum));
	uint32		off[ST_VECTOR_SIZE];
	uint32		lens[ST_VECTOR_SIZE];
	uint32		room = sf_value_room(&chunk->type);
	uint32		align = sf_value_align(&chunk->type);
	StStatus	status = ST_NOSPACE;

	chunk->v.rep = VX_REP_DATUM;
	/* mostly the vectors before had as much; a byte is left for a terminator */
	if (chunk->arena_cap > 0)
		status = st_str_decode(chunk->scheme, src, len, n, room, align, chunk->arena,
							   chunk->arena_cap - 1, off, lens);
	if (status == ST_NOSPACE)
	{
		size_t		need;

		status = st_str_decoded_size(chunk->scheme, src, len, n, room, align, &need);
		if (status != ST_OK)
			cc_corrupt(r, "strings of a vector");
		cc_ensure(r, &chunk->arena, &chunk->arena_cap, need + 1);
		status = st_str_decode(chunk->scheme, src, len, n, room, align, chunk->arena,
							   need, off, lens);
	}
	if (status != ST_OK)
		cc_corrupt(r, "strings of a vector");
	for (uint32 i = 0; chunk->type.kind == SF_KIND_FIXED && i < n; i++)
		if (lens[i] != chunk->type.typlen && !vx_vector_isnull(&chunk->v, i))
			cc_corrupt(r, "strings of a vector");
	sf_value_datums(&chunk->type, chunk->arena, off, lens, n, values);
}

/* The values behind the null bitmap. */
static void
decode_values(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 vecno,
			  uint32 n, const uint64 *rows)
{
	VxVector   *v = &chunk->v;
	StStatus	status;

	switch (chunk->entry->encoding)
	{
		case CC_ENC_INT:
		case CC_ENC_DECIMAL64:
			v->rep = chunk->entry->encoding == CC_ENC_INT ? VX_REP_INT64 : VX_REP_DECIMAL64;
			status = st_int_decode(src, len, n,
								   cc_value_buffer(r, chunk, sizeof(int64)));
			v->constant = status == ST_OK && !v->has_nulls && src[0] == ST_INT_CONSTANT;
			if (v->rep == VX_REP_INT64 && chunk->entry->is_signed != chunk->type.is_signed)
			{
				for (uint32 i = 0; i < n; i++)
					v->u.i64[i] = sf_change_sign(&chunk->type, v->u.i64[i]);
			}
			break;
		case CC_ENC_DECIMAL128:
			v->rep = VX_REP_DECIMAL128;
			status = st_int128_decode(src, len, n,
									  cc_value_buffer(r, chunk, sizeof(int128)));
			break;
		case CC_ENC_FLOAT8:
			v->rep = VX_REP_FLOAT8;
			status = st_f64_decode(src, len, n, cc_value_buffer(r, chunk, sizeof(double)));
			break;
		case CC_ENC_FLOAT4:
			v->rep = VX_REP_FLOAT4;
			status = st_f32_decode(src, len, n, cc_value_buffer(r, chunk, sizeof(float)));
			break;
		case CC_ENC_DICT:
			decode_codes(r, chunk, src, len, n);
			return;
		case CC_ENC_STR:
			decode_strings(r, chunk, src, len, n);
			return;
		case CC_ENC_SHRED:
			if (len != 0)
				cc_corrupt(r, "length of a vector");
			v->rep = VX_REP_DATUM;
			cc_shred_decode(r, chunk, vecno, n, rows,
							cc_value_buffer(r, chunk, sizeof(Datum)));
			return;
		case CC_ENC_ARRAY:
			v->rep = VX_REP_DATUM;
			cc_array_decode(r, chunk, src, len, vecno, rows,
							cc_value_buffer(r, chunk, sizeof(Datum)));
			return;
		default:
			cc_blob_decode(r, chunk, src, len, vecno, n, rows);
			return;
	}
	if (status != ST_OK)
		cc_corrupt(r, "values of a vector");
}

/* A vector of nulls in a chunk that has values elsewhere. */
static void
decode_nulls(StReader *r, CcChunk *chunk)
{
	static const struct
	{
		VxRep		rep;
		Size		size;		/* of an element */
	}			forms[] = {
		[CC_ENC_INT] = {VX_REP_INT64, sizeof(int64)},
		[CC_ENC_FLOAT8] = {VX_REP_FLOAT8, sizeof(double)},
		[CC_ENC_FLOAT4] = {VX_REP_FLOAT4, sizeof(float)},
		[CC_ENC_DECIMAL64] = {VX_REP_DECIMAL64, sizeof(int64)},
		[CC_ENC_DECIMAL128] = {VX_REP_DECIMAL128, sizeof(int128)},
		[CC_ENC_DICT] = {VX_REP_CODE, sizeof(uint32)}
	};
	uint8		encoding = chunk->entry->encoding;
	Size		size = sizeof(Datum);

	chunk->v.rep = VX_REP_DATUM;
	if (encoding < lengthof(forms))
	{
		chunk->v.rep = forms[encoding].rep;
		size = forms[encoding].size;
	}
	if (encoding == CC_ENC_DICT)
		chunk->v.dict = cc_chunk_dictionary(r, chunk);
	memset(cc_value_buffer(r, chunk, size), 0, ST_VECTOR_SIZE * size);
}

/* A column without a chunk: its missing value, or null, n times. */
static const VxVector *
missing_vector(StReader *r, AttrNumber attno, uint32 vecno)
{
	CcChunk    *chunk = r->chunks[attno - 1];

	if (chunk == NULL)
	{
		chunk = MemoryContextAllocZero(r->mcxt, sizeof(CcChunk));
		chunk->vector = -1;
		sf_column_type(TupleDescAttr(r->desc, attno - 1), &chunk->type);
		chunk->v = *sf_missing_vector(r->desc, attno, attno > r->natts, r->mcxt);
		r->chunks[attno - 1] = chunk;
	}
	chunk->v.n = cc_reader_vector_rows(r, vecno);
	return &chunk->v;
}

const VxVector *
cc_reader_vector(StReader *r, AttrNumber attno, uint32 vecno)
{
	return cc_reader_vector_selected(r, attno, vecno, NULL);
}

const VxVector *
cc_reader_vector_selected(StReader *r, AttrNumber attno, uint32 vecno,
						  const uint64 *rows)
{
	if (r->elements != NULL)
		return cc_chunk_vector(r->of, r->elements, vecno, rows);
	if (cc_column_is_missing(r, attno))
		return missing_vector(r, attno, vecno);
	return cc_chunk_vector(r, cc_chunk_open(r, attno), vecno, rows);
}

/* Has the vector at hand values in all these rows? */
static bool
has_rows(const CcChunk *chunk, const uint64 *rows, uint32 n)
{
	if (!chunk->partial)
		return true;
	if (rows == NULL)
		return false;
	for (uint32 w = 0; w < (n + 63) / 64; w++)
		if (rows[w] & ~chunk->decoded[w])
			return false;
	return true;
}

/*
 * Values of some rows only, where each costs much: remembers which.  When the
 * same vector is asked for again with more rows, values that were handed out
 * stay where they are until the reader is closed.
 */
static void
note_rows(CcChunk *chunk, uint32 vecno, uint32 n, const uint64 *rows)
{
	if (chunk->vector == vecno)
	{
		chunk->arena = NULL;
		chunk->arena_cap = 0;
	}
	chunk->partial = rows != NULL && chunk->entry->encoding >= CC_ENC_BLOB;
	if (chunk->partial)
		memcpy(chunk->decoded, rows, (n + 63) / 64 * sizeof(uint64));
}

/* So few that vectors next to it may well have none. */
static bool
few_rows(const uint64 *rows, uint32 n)
{
	return rows != NULL && vx_selection_count(rows, n) <= VX_SPARSE_ROWS;
}

const VxVector *
cc_chunk_vector(StReader *r, CcChunk *chunk, uint32 vecno, const uint64 *rows)
{
	VxVector   *v = &chunk->v;
	const uint8 *src;
	Size		len;
	uint32		n = cc_chunk_vector_rows(chunk, vecno);

	if (chunk->vector == vecno && has_rows(chunk, rows, n))
		return v;
	note_rows(chunk, vecno, n, rows);
	chunk->vector = -1;
	v->n = n;
	v->typlen = chunk->type.typlen;
	v->scale = chunk->scale;
	v->constant = false;
	v->has_nulls = chunk->vectors[vecno].nnulls > 0;
	src = few_rows(rows, n) ? cc_passing_bytes(r, chunk, vecno, &len) :
		cc_vector_bytes(r, chunk, vecno, &len);
	cc_take_validity(r, &chunk->vectors[vecno], n, &src, &len, v->valid);
	if (chunk->vectors[vecno].nnulls < n)
		decode_values(r, chunk, src, len, vecno, n, rows);
	else
		decode_nulls(r, chunk);
	chunk->vector = vecno;
	return v;
}
