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
#include "utils/datum.h"
#include "utils/memutils.h"

#include "cc_shred_read.h"
#include "st_bitmap.h"
#include "st_compat.h"
#include "st_float.h"
#include "st_int.h"
#include "st_numeric.h"

uint32
cc_value_room(const CcChunk *chunk)
{
	switch (chunk->type.kind)
	{
		case CC_KIND_FIXED:
			return 0;
		case CC_KIND_CSTRING:
			return 1;			/* the terminator of the value before */
		default:
			return VARHDRSZ;
	}
}

uint32
cc_value_align(const CcChunk *chunk)
{
	if (chunk->type.kind == CC_KIND_CSTRING)
		return 1;
	return chunk->type.kind == CC_KIND_FIXED ? chunk->type.align :
		Max(chunk->type.align, sizeof(int32));
}

Datum
cc_value_datum(const CcChunk *chunk, uint8 *data, uint32 len)
{
	switch (chunk->type.kind)
	{
		case CC_KIND_FIXED:
			return PointerGetDatum(data);
		case CC_KIND_CSTRING:
			data[len] = '\0';
			return PointerGetDatum(data);
		default:
			SET_VARSIZE(data - VARHDRSZ, len + VARHDRSZ);
			return PointerGetDatum(data - VARHDRSZ);
	}
}

/* As fetch_att() gives a by-value attribute of that length. */
Datum
cc_int_datum(int16 typlen, int64 v)
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

Datum
cc_vector_datum(const CcVector *v, int i)
{
	char	   *buf;

	switch (v->rep)
	{
		case CC_REP_INT64:
			return cc_int_datum(v->typlen, v->u.i64[i]);
		case CC_REP_FLOAT8:
			return Float8GetDatum(v->u.f64[i]);
		case CC_REP_FLOAT4:
			return Float4GetDatum(v->u.f32[i]);
		case CC_REP_DECIMAL64:
			buf = palloc(ST_NUMERIC_MAX_BYTES);
			st_numeric_write_int64(buf, v->u.i64[i], v->scale);
			return PointerGetDatum(buf);
		case CC_REP_DECIMAL128:
			buf = palloc(ST_NUMERIC_MAX_BYTES);
			st_numeric_write_int128(buf, v->u.i128[i], v->scale);
			return PointerGetDatum(buf);
		case CC_REP_CODE:
			return v->dict->values[v->u.code[i]];
		case CC_REP_DATUM:
			break;
	}
	return v->u.datum[i];
}

void
cc_take_validity(StReader *r, const CcVectorPlace *place, uint32 n,
				 const uint8 **src, Size *len, uint64 *valid)
{
	Size		bitmap_len;

	if (place->nnulls == 0)
		return;
	if (place->nnulls == n)
	{
		memset(valid, 0, CC_VALIDITY_WORDS * sizeof(uint64));
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

/* oid over a chunk written as int4, or the other way round. */
static void
change_sign(CcChunk *chunk, uint32 n)
{
	int64	   *v = chunk->v.u.i64;
	bool		is_signed = chunk->type.is_signed;

	if (chunk->entry->is_signed == is_signed)
		return;
	for (uint32 i = 0; i < n; i++)
	{
		switch (chunk->type.typlen)
		{
			case 1:
				v[i] = is_signed ? (int64) (int8) v[i] : (int64) (uint8) v[i];
				break;
			case 4:
				v[i] = is_signed ? (int64) (int32) v[i] : (int64) (uint32) v[i];
				break;
		}
	}
}

static void
decode_codes(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 n)
{
	uint32	   *codes = cc_value_buffer(r, chunk, sizeof(uint32));
	uint32		nvalues,
				max = 0;

	chunk->v.rep = CC_REP_CODE;
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
	uint32		room = cc_value_room(chunk);
	uint32		align = cc_value_align(chunk);
	size_t		need;

	chunk->v.rep = CC_REP_DATUM;
	if (st_str_decoded_size(chunk->scheme, src, len, n, room, align, &need) != ST_OK)
		cc_corrupt(r, "strings of a vector");
	cc_ensure(r, &chunk->arena, &chunk->arena_cap, need + 1);
	if (st_str_decode(chunk->scheme, src, len, n, room, align, chunk->arena,
					  need, off, lens) != ST_OK)
		cc_corrupt(r, "strings of a vector");
	for (uint32 i = 0; i < n; i++)
	{
		if (chunk->type.kind == CC_KIND_FIXED && lens[i] != chunk->type.typlen &&
			!cc_vector_isnull(&chunk->v, i))
			cc_corrupt(r, "strings of a vector");
		values[i] = cc_value_datum(chunk, chunk->arena + off[i], lens[i]);
	}
}

/* The values behind the null bitmap. */
static void
decode_values(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 vecno,
			  uint32 n, const uint64 *rows)
{
	CcVector   *v = &chunk->v;
	StStatus	status;

	switch (chunk->entry->encoding)
	{
		case CC_ENC_INT:
		case CC_ENC_DECIMAL64:
			v->rep = chunk->entry->encoding == CC_ENC_INT ? CC_REP_INT64 : CC_REP_DECIMAL64;
			status = st_int_decode(src, len, n,
								   cc_value_buffer(r, chunk, sizeof(int64)));
			v->constant = status == ST_OK && !v->has_nulls && src[0] == ST_INT_CONSTANT;
			if (v->rep == CC_REP_INT64)
				change_sign(chunk, n);
			break;
		case CC_ENC_DECIMAL128:
			v->rep = CC_REP_DECIMAL128;
			status = st_int128_decode(src, len, n,
									  cc_value_buffer(r, chunk, sizeof(int128)));
			break;
		case CC_ENC_FLOAT8:
			v->rep = CC_REP_FLOAT8;
			status = st_f64_decode(src, len, n, cc_value_buffer(r, chunk, sizeof(double)));
			break;
		case CC_ENC_FLOAT4:
			v->rep = CC_REP_FLOAT4;
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
			v->rep = CC_REP_DATUM;
			cc_shred_decode(r, chunk, vecno, n, rows,
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
	CcVector   *v = &chunk->v;

	switch (chunk->entry->encoding)
	{
		case CC_ENC_INT:
			v->rep = CC_REP_INT64;
			break;
		case CC_ENC_DECIMAL64:
			v->rep = CC_REP_DECIMAL64;
			break;
		case CC_ENC_DECIMAL128:
			v->rep = CC_REP_DECIMAL128;
			memset(cc_value_buffer(r, chunk, sizeof(int128)), 0,
				   ST_VECTOR_SIZE * sizeof(int128));
			return;
		case CC_ENC_FLOAT8:
			v->rep = CC_REP_FLOAT8;
			break;
		case CC_ENC_FLOAT4:
			v->rep = CC_REP_FLOAT4;
			memset(cc_value_buffer(r, chunk, sizeof(float)), 0,
				   ST_VECTOR_SIZE * sizeof(float));
			return;
		case CC_ENC_DICT:
			v->rep = CC_REP_CODE;
			v->dict = cc_chunk_dictionary(r, chunk);
			memset(cc_value_buffer(r, chunk, sizeof(uint32)), 0,
				   ST_VECTOR_SIZE * sizeof(uint32));
			return;
		default:
			v->rep = CC_REP_DATUM;
			break;
	}
	memset(cc_value_buffer(r, chunk, sizeof(int64)), 0, ST_VECTOR_SIZE * sizeof(int64));
}

/* A column without a chunk: its missing value, or null, n times. */
static const CcVector *
missing_vector(StReader *r, AttrNumber attno, uint32 vecno)
{
	CcChunk    *chunk = r->chunks[attno - 1];
	CcVector   *v;

	if (chunk == NULL)
	{
		bool		isnull = true;
		Datum		value = (Datum) 0;

		chunk = MemoryContextAllocZero(r->mcxt, sizeof(CcChunk));
		cc_column_type(TupleDescAttr(r->desc, attno - 1), &chunk->type);
		v = &chunk->v;
		if (attno > r->natts)
		{
			MemoryContext old = MemoryContextSwitchTo(r->mcxt);

			value = getmissingattr(r->desc, attno, &isnull);
			if (!isnull)
				value = datumCopy(value, chunk->type.typbyval, chunk->type.typlen);
			MemoryContextSwitchTo(old);
		}
		v->rep = CC_REP_DATUM;
		v->typlen = chunk->type.typlen;
		v->has_nulls = isnull;
		v->constant = !isnull;
		v->u.datum = MemoryContextAlloc(r->mcxt, ST_VECTOR_SIZE * sizeof(Datum));
		for (int i = 0; i < ST_VECTOR_SIZE; i++)
			v->u.datum[i] = value;
		r->chunks[attno - 1] = chunk;
	}
	chunk->v.n = cc_reader_vector_rows(r, vecno);
	return &chunk->v;
}

const CcVector *
cc_reader_vector(StReader *r, AttrNumber attno, uint32 vecno)
{
	return cc_reader_vector_selected(r, attno, vecno, NULL);
}

const CcVector *
cc_reader_vector_selected(StReader *r, AttrNumber attno, uint32 vecno,
						  const uint64 *rows)
{
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
	chunk->partial = rows != NULL && (chunk->entry->encoding == CC_ENC_BLOB ||
									  chunk->entry->encoding == CC_ENC_SHRED);
	if (chunk->partial)
		memcpy(chunk->decoded, rows, (n + 63) / 64 * sizeof(uint64));
}

const CcVector *
cc_chunk_vector(StReader *r, CcChunk *chunk, uint32 vecno, const uint64 *rows)
{
	CcVector   *v = &chunk->v;
	const uint8 *src;
	Size		len;
	uint32		n = cc_reader_vector_rows(r, vecno);

	if (chunk->vector == vecno && has_rows(chunk, rows, n))
		return v;
	note_rows(chunk, vecno, n, rows);
	chunk->vector = -1;
	v->n = n;
	v->typlen = chunk->type.typlen;
	v->scale = chunk->scale;
	v->constant = false;
	v->has_nulls = chunk->vectors[vecno].nnulls > 0;
	src = cc_vector_bytes(r, chunk, vecno, &len);
	cc_take_validity(r, &chunk->vectors[vecno], n, &src, &len, v->valid);
	if (chunk->vectors[vecno].nnulls < n)
		decode_values(r, chunk, src, len, vecno, n, rows);
	else
		decode_nulls(r, chunk);
	chunk->vector = vecno;
	return v;
}
