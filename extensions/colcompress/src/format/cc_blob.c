/*-------------------------------------------------------------------------
 *
 * cc_blob.c
 *	  Large values, which stand one by one in the blob region of a chunk.
 *
 * A vector of them has their lengths and the place of the first one; from
 * these follow all places.  They are remembered for one vector, so that
 * taking values one after the other costs no more than their bytes.  Only
 * values that are asked for are read and unpacked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "cc_reader.h"
#include "sf_bytes.h"
#include "st_compat.h"
#include "st_int.h"

struct CcBlobPlaces
{
	int64		vector;			/* -1: none */
	uint32		raw[ST_VECTOR_SIZE];
	uint32		stored[ST_VECTOR_SIZE];
	uint64		off[ST_VECTOR_SIZE];	/* in the blob region */
};

/* src, len: what stands behind the null bitmap. */
static void
parse_places(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 n,
			 CcBlobPlaces *p)
{
	uint64		off;
	Size		len1;

	if (len < sizeof(uint64) + sizeof(uint16))
		cc_corrupt(r, "vector of large values");
	off = st_load_u64(src);
	len1 = st_load_u16(src + sizeof(uint64));
	src += sizeof(uint64) + sizeof(uint16);
	len -= sizeof(uint64) + sizeof(uint16);
	if (len1 > len || st_int_decode_u32(src, len1, n, p->raw) != ST_OK ||
		st_int_decode_u32(src + len1, len - len1, n, p->stored) != ST_OK ||
		off > chunk->entry->blob_len)
		cc_corrupt(r, "vector of large values");
	for (uint32 i = 0; i < n; i++)
	{
		if (p->stored[i] > p->raw[i] || p->raw[i] > MaxAllocSize - VARHDRSZ ||
			p->stored[i] > chunk->entry->blob_len - off)
			cc_corrupt(r, "vector of large values");
		p->off[i] = off;
		off += p->stored[i];
	}
}

static const CcBlobPlaces *
get_places(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 vecno,
		   uint32 n)
{
	CcBlobPlaces *p = chunk->blobs;

	if (p == NULL)
	{
		p = MemoryContextAlloc(r->mcxt, sizeof(CcBlobPlaces));
		p->vector = -1;
		chunk->blobs = p;
	}
	if (p->vector != vecno)
	{
		p->vector = -1;
		parse_places(r, chunk, src, len, n, p);
		p->vector = vecno;
	}
	return p;
}

static void
read_blob(StReader *r, CcChunk *chunk, const CcBlobPlaces *p, uint32 i, uint8 *dst)
{
	uint64		off = chunk->entry->chunk_off + p->off[i];
	uint32		raw = p->raw[i];
	uint32		stored = p->stored[i];
	uint8	   *packed;

	r->bytes_decoded += raw;
	if (stored == raw)
	{
		cc_read_image(r, off, raw, dst);
		return;
	}
	packed = MemoryContextAllocHuge(CurrentMemoryContext, stored);
	cc_read_image(r, off, stored, packed);
	if (st_codec_decompress(sf_codec_ctx_shared(), chunk->codec, packed, stored, dst, raw) != ST_OK)
		cc_corrupt(r, "codec frame of a large value");
	pfree(packed);
}

static inline bool
is_wanted(const uint64 *rows, uint32 i)
{
	return rows == NULL || (rows[i / 64] >> (i % 64)) & 1;
}

/* Room of a value behind its header, of which the start is aligned. */
static inline Size
value_size(const CcChunk *chunk, uint32 raw)
{
	return MAXALIGN(sf_value_room(&chunk->type)) + MAXALIGN(raw + 1);
}

void
cc_blob_decode(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 vecno,
			   uint32 n, const uint64 *rows)
{
	Datum	   *values = cc_value_buffer(r, chunk, sizeof(Datum));
	const CcBlobPlaces *places = get_places(r, chunk, src, len, vecno, n);
	uint32		empty_len = Max(0, chunk->type.typlen);
	Size		need = value_size(chunk, empty_len);
	uint8	   *p;
	Datum		empty;

	chunk->v.rep = VX_REP_DATUM;
	for (uint32 i = 0; i < n; i++)
		if (is_wanted(rows, i))
			need += value_size(chunk, places->raw[i]);
	cc_ensure(r, &chunk->arena, &chunk->arena_cap, need);

	/* What rows that nobody wants have: anything that can be looked at. */
	p = chunk->arena;
	memset(p, 0, value_size(chunk, empty_len));
	empty = sf_value_datum(&chunk->type, p + sf_value_room(&chunk->type),
						   chunk->type.kind == SF_KIND_FIXED ? empty_len : 0);
	p += value_size(chunk, empty_len);
	for (uint32 i = 0; i < n; i++)
	{
		uint8	   *data = p + sf_value_room(&chunk->type);

		values[i] = empty;
		if (!is_wanted(rows, i))
			continue;
		read_blob(r, chunk, places, i, data);
		values[i] = sf_value_datum(&chunk->type, data, places->raw[i]);
		p += value_size(chunk, places->raw[i]);
	}
}

Datum
cc_blob_value(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 vecno,
			  uint32 n, uint32 i)
{
	const CcBlobPlaces *places = get_places(r, chunk, src, len, vecno, n);
	uint8	   *dst = cc_point_buffer(r, chunk, places->raw[i]);

	read_blob(r, chunk, places, i, dst);
	return sf_value_datum(&chunk->type, dst, places->raw[i]);
}

bool
cc_reader_is_large(StReader *r, AttrNumber attno, uint32 vecno)
{
	return !cc_column_is_missing(r, attno) &&
		r->entries[attno - 1].encoding == CC_ENC_BLOB;
}
