/*-------------------------------------------------------------------------
 *
 * cc_meta.c
 *	  Parses the meta of a column chunk and its dictionary.
 *
 * The counterpart of cc_chunk_write_layout(), cc_column_encode() and
 * write_dictionary().  All that later code relies on is proved here: vectors
 * lie inside of their blocks, blocks inside of the chunk, counts agree.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/memutils.h"

#include "cc_array_read.h"
#include "cc_shred_read.h"
#include "sf_bytes.h"
#include "st_bytes.h"
#include "st_compat.h"
#include "st_int.h"

/* Largest raw block: one vector of values that are below 1 GB together. */
#define MAX_BLOCK_BYTES ((uint64) 4 * 1024 * 1024 * 1024)

static void
take_int_array(StReader *r, StByteReader *b, int64 *dst, uint32 n)
{
	uint64		len = st_read_varint(b);
	const uint8 *p = st_read_span(b, len);

	if (p == NULL || st_int_decode(p, len, n, (int64_t *) dst) != ST_OK)
		cc_corrupt(r, "meta of a column chunk");
}

/* Fills chunk->blocks from the arrays of the layout. */
static void
place_blocks(StReader *r, CcChunk *chunk, const int64 *nvec, const int64 *stored)
{
	const CcFooterColumn *e = chunk->entry;
	uint64		off = 0;
	uint32		vec = 0;

	for (uint32 i = 0; i < chunk->nblocks; i++)
	{
		CcBlock    *b = &chunk->blocks[i];
		uint64		raw = 0;

		if (nvec[i] <= 0 || nvec[i] > chunk->nvectors - vec ||
			stored[i] < 0 || (uint64) stored[i] > e->blocks_len - off)
			cc_corrupt(r, "layout of a column chunk");
		b->off = e->chunk_off + e->blob_len + off;
		b->first_vector = vec;
		b->stored_len = stored[i];
		for (uint32 k = 0; k < nvec[i]; k++, vec++)
		{
			chunk->vectors[vec].block = i;
			chunk->vectors[vec].off = raw;
			raw += chunk->vectors[vec].len;
		}
		if (raw > MAX_BLOCK_BYTES || b->stored_len > raw)
			cc_corrupt(r, "layout of a column chunk");
		b->raw_len = raw;
		chunk->raw_bytes += raw;
		off += stored[i];
	}
	if (vec != chunk->nvectors || off != e->blocks_len)
		cc_corrupt(r, "layout of a column chunk");
}

static void
read_layout(StReader *r, CcChunk *chunk, StByteReader *b)
{
	int64	   *a = palloc(ST_VECTOR_SIZE * sizeof(int64));
	int64	   *nvec = palloc(ST_VECTOR_SIZE * sizeof(int64));
	uint64		nblocks;

	chunk->codec = st_read_u8(b);
	if (st_read_varint(b) != chunk->nvectors || st_codec_name(chunk->codec) == NULL)
		cc_corrupt(r, "layout of a column chunk");
	chunk->vectors = MemoryContextAllocZero(r->mcxt,
											chunk->nvectors * sizeof(CcVectorPlace));
	take_int_array(r, b, a, chunk->nvectors);
	for (uint32 i = 0; i < chunk->nvectors; i++)
	{
		if (a[i] < 0 || (uint64) a[i] > MAX_BLOCK_BYTES)
			cc_corrupt(r, "layout of a column chunk");
		chunk->vectors[i].len = a[i];
	}
	take_int_array(r, b, a, chunk->nvectors);
	for (uint32 i = 0; i < chunk->nvectors; i++)
	{
		if (a[i] < 0 || a[i] > cc_chunk_vector_rows(chunk, i))
			cc_corrupt(r, "null counts of a column chunk");
		chunk->vectors[i].nnulls = a[i];
	}
	nblocks = st_read_varint(b);
	if (nblocks > chunk->nvectors)
		cc_corrupt(r, "layout of a column chunk");
	chunk->nblocks = nblocks;
	chunk->blocks = MemoryContextAllocZero(r->mcxt, Max(1, nblocks) * sizeof(CcBlock));
	take_int_array(r, b, nvec, nblocks);
	take_int_array(r, b, a, nblocks);
	place_blocks(r, chunk, nvec, a);
	pfree(a);
	pfree(nvec);
}

/* Skips over the zones, remembering where they are. */
static void
find_zones(CcChunk *chunk, StByteReader *b)
{
	const uint8 *start = b->p;
	uint8		kind = st_read_u8(b);

	if (kind != CC_ZONE_NONE)
	{
		(void) st_read_varint(b);
		(void) st_read_span(b, st_read_varint(b));
		(void) st_read_span(b, st_read_varint(b));
		if (kind == CC_ZONE_STRING)
			(void) st_read_span(b, st_read_varint(b));
	}
	chunk->zones = start;
	chunk->zones_len = b->p - start;
}

static void
read_extra(StReader *r, CcChunk *chunk, const uint8 *p, Size len)
{
	StByteReader b;

	st_reader_init(&b, p, len);
	switch (chunk->entry->encoding)
	{
		case CC_ENC_DICT:
			chunk->dict_bytes = p;
			chunk->dict_len = len;
			return;
		case CC_ENC_STR:
			len = st_read_varint(&b);
			p = st_read_span(&b, len);
			chunk->scheme = MemoryContextAlloc(r->mcxt, sizeof(StStrScheme));
			if (p == NULL || st_str_scheme_load(p, len, chunk->scheme) != ST_OK)
				cc_corrupt(r, "string scheme of a column chunk");
			break;
		case CC_ENC_BLOB:
			break;
		case CC_ENC_SHRED:
			cc_shred_open(r, chunk, &b);
			break;
		case CC_ENC_ARRAY:
			cc_array_open(r, chunk, &b);
			break;
		default:
			chunk->scale = st_read_varint(&b);
			break;
	}
	if (st_reader_finish(&b) != ST_OK)
		cc_corrupt(r, "meta of a column chunk");
}

static void
read_meta(StReader *r, CcChunk *chunk)
{
	const CcFooterColumn *e = chunk->entry;
	uint8	   *meta = MemoryContextAlloc(r->mcxt, Max(1, e->meta_len));
	uint64		end = e->chunk_off + e->blob_len + e->blocks_len;
	StByteReader b;
	uint64		len;
	const uint8 *p;

	cc_read_image(r, end, e->meta_len, meta);
	st_reader_init(&b, meta, e->meta_len);
	read_layout(r, chunk, &b);
	find_zones(chunk, &b);
	chunk->has_sum = st_read_u8(&b) == 1;
	if (chunk->has_sum && (p = st_read_span(&b, sizeof(int128))) != NULL)
		memcpy(&chunk->sum, p, sizeof(int128));
	len = st_read_varint(&b);
	p = st_read_span(&b, len);
	if (st_reader_finish(&b) != ST_OK)
		cc_corrupt(r, "meta of a column chunk");
	read_extra(r, chunk, p, len);
}

/* The kinds of the file and of today's type must agree. */
static void
check_kind(StReader *r, const CcChunk *chunk)
{
	const CcFooterColumn *e = chunk->entry;
	uint64		len = r->group.image_len;

	if (e->kind != chunk->type.kind || e->encoding > CC_MAX_ENCODING ||
		e->chunk_off > len || e->blob_len > len - e->chunk_off ||
		e->blocks_len > len - e->chunk_off - e->blob_len ||
		e->meta_len > len - e->chunk_off - e->blob_len - e->blocks_len)
		cc_corrupt(r, "footer entry of a column");
	if (e->encoding >= CC_ENC_SHRED ? chunk->type.typid != JSONBOID :
		!sf_encoding_fits(e->kind, e->encoding))
		cc_corrupt(r, "encoding of a column");
}

CcChunk *
cc_chunk_make(StReader *r, const CcFooterColumn *e, const SfColumnType *type,
			  uint32 nrows, int depth)
{
	CcChunk    *chunk = MemoryContextAllocZero(r->mcxt, sizeof(CcChunk));

	chunk->entry = e;
	chunk->block = chunk->vector = chunk->last_vector = chunk->bytes_vector = -1;
	chunk->type = *type;
	chunk->nrows = nrows;
	chunk->nvectors = (nrows + ST_VECTOR_SIZE - 1) / ST_VECTOR_SIZE;
	chunk->depth = depth;
	check_kind(r, chunk);
	read_meta(r, chunk);
	return chunk;
}

CcChunk *
cc_chunk_open(StReader *r, AttrNumber attno)
{
	SfColumnType type;

	if (cc_column_is_missing(r, attno))
		return NULL;
	if (r->chunks[attno - 1] != NULL)
		return r->chunks[attno - 1];
	sf_column_type(TupleDescAttr(r->desc, attno - 1), &type);
	r->chunks[attno - 1] = cc_chunk_make(r, &r->entries[attno - 1], &type, r->nrows, 0);
	return r->chunks[attno - 1];
}

const VxDictionary *
cc_chunk_dictionary(StReader *r, CcChunk *chunk)
{
	StByteReader b;
	uint64		n,
				raw_len,
				stored_len;
	const uint8 *stored;
	uint8	   *unpacked = NULL;
	VxDictionary *dict;

	if (chunk->dict)
		return chunk->dict;
	st_reader_init(&b, chunk->dict_bytes, chunk->dict_len);
	n = st_read_varint(&b);
	raw_len = st_read_varint(&b);
	stored_len = st_read_varint(&b);
	stored = st_read_span(&b, stored_len);
	if (st_reader_finish(&b) != ST_OK || n > chunk->nrows || stored_len > raw_len ||
		raw_len > MaxAllocSize)
		cc_corrupt(r, "dictionary of a column chunk");
	if (stored_len < raw_len)
	{
		unpacked = palloc(raw_len);
		if (st_codec_decompress(sf_codec_ctx_shared(), chunk->codec, stored, stored_len,
								unpacked, raw_len) != ST_OK)
			cc_corrupt(r, "dictionary of a column chunk");
		stored = unpacked;
	}
	dict = MemoryContextAllocZero(r->mcxt, sizeof(VxDictionary));
	dict->nvalues = n;
	dict->sorted = true;
	dict->values = MemoryContextAlloc(r->mcxt, Max(1, n) * sizeof(Datum));
	if (!sf_dictionary_decode(&chunk->type, stored, raw_len, n, dict->values, r->mcxt))
		cc_corrupt(r, "dictionary of a column chunk");
	r->bytes_decoded += raw_len;
	if (unpacked)
		pfree(unpacked);
	chunk->dict = dict;
	return dict;
}
