/*-------------------------------------------------------------------------
 *
 * rc_meta.c
 *	  What the pieces of a column share: kind, dictionary, string scheme,
 *	  dictionary of the codec.
 *
 * The counterpart of rc_scheme.c.  Read when a piece first needs it, decoded
 * dictionary included, and kept until the reader is closed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "rc_reader.h"
#include "sf_bytes.h"
#include "st_bytes.h"
#include "st_compat.h"

/* The kinds of the file and of today's type must agree. */
static void
check_entry(StReader *r, const RcChunk *chunk)
{
	const RcFooterColumn *e = chunk->entry;
	uint64		len = r->group.image_len;

	if (e->kind != chunk->type.kind || e->nnulls > r->nrows ||
		e->meta_off > len || e->zones_len > len - e->meta_off ||
		e->scheme_len > len - e->meta_off - e->zones_len)
		rc_corrupt(r, "footer entry of a column");
}

RcChunk *
rc_chunk_open(StReader *r, AttrNumber attno)
{
	RcChunk    *chunk = r->chunks[attno - 1];

	if (chunk != NULL)
		return chunk;
	chunk = MemoryContextAllocZero(r->mcxt, sizeof(RcChunk));
	sf_column_type(TupleDescAttr(r->desc, attno - 1), &chunk->type);
	if (!rc_column_is_missing(r, attno))
	{
		chunk->entry = &r->entries[attno - 1];
		check_entry(r, chunk);
	}
	r->chunks[attno - 1] = chunk;
	return chunk;
}

/* Dictionary bytes, out of their frame. */
static void
read_dictionary(StReader *r, RcChunk *chunk, StByteReader *b)
{
	uint64		n = st_read_varint(b);
	uint64		raw_len = st_read_varint(b);
	uint64		stored_len = st_read_varint(b);
	const uint8 *stored = st_read_span(b, stored_len);

	if (stored == NULL || n == 0 || n > r->nrows || stored_len > raw_len ||
		raw_len > MaxAllocSize)
		rc_corrupt(r, "dictionary of a column");
	chunk->dict.nvalues = n;
	chunk->dict.sorted = true;
	chunk->dict_len = raw_len;
	chunk->dict_bytes = MemoryContextAlloc(r->mcxt, raw_len);
	if (stored_len == raw_len)
		memcpy(chunk->dict_bytes, stored, raw_len);
	else if (st_codec_decompress(sf_codec_ctx_shared(), r->codec, stored, stored_len,
								 chunk->dict_bytes, raw_len) != ST_OK)
		rc_corrupt(r, "dictionary of a column");
}

static void
read_str_scheme(StReader *r, RcChunk *chunk, StByteReader *b)
{
	uint64		len = st_read_varint(b);
	const uint8 *p = st_read_span(b, len);

	chunk->str = MemoryContextAlloc(r->mcxt, sizeof(StStrScheme));
	if (p == NULL || st_str_scheme_load(p, len, chunk->str) != ST_OK)
		rc_corrupt(r, "string scheme of a column");
}

static void
read_codec_dict(StReader *r, RcChunk *chunk, StByteReader *b)
{
	uint64		len = st_read_varint(b);
	const uint8 *p = st_read_span(b, len);

	if (p == NULL || len == 0 || r->codec == ST_CODEC_NONE)
		rc_corrupt(r, "codec dictionary of a column");
	chunk->codec_dict_len = len;
	chunk->codec_dict = st_codec_dict_create(r->codec, 0, ST_CODEC_UNPACK, p, len);
	if (chunk->codec_dict == NULL)
		rc_corrupt(r, "codec dictionary of a column");
}

void
rc_chunk_scheme(StReader *r, RcChunk *chunk)
{
	const RcFooterColumn *e = chunk->entry;
	uint8	   *bytes;
	StByteReader b;
	uint8		parts;

	if (chunk->scheme_read)
		return;
	if (e->scheme_len == 0)
		rc_corrupt(r, "meta of a column");
	bytes = MemoryContextAllocHuge(CurrentMemoryContext, e->scheme_len);
	rc_read(r, e->meta_off + e->zones_len, e->scheme_len, bytes);
	st_reader_init(&b, bytes, e->scheme_len);
	parts = st_read_u8(&b);
	if ((parts & ~RC_SCHEME_ALL) != 0)
		rc_corrupt(r, "meta of a column");
	if (parts & RC_SCHEME_DICT)
		read_dictionary(r, chunk, &b);
	if (parts & RC_SCHEME_STR)
		read_str_scheme(r, chunk, &b);
	if (parts & RC_SCHEME_CODEC_DICT)
		read_codec_dict(r, chunk, &b);
	if (st_reader_finish(&b) != ST_OK)
		rc_corrupt(r, "meta of a column");
	pfree(bytes);
	chunk->scheme_read = true;
}

const VxDictionary *
rc_chunk_dictionary(StReader *r, RcChunk *chunk)
{
	Datum	   *values;

	if (chunk->dict.values != NULL)
		return &chunk->dict;
	rc_chunk_scheme(r, chunk);
	if (chunk->dict_bytes == NULL)
		rc_corrupt(r, "meta of a column");
	values = MemoryContextAlloc(r->mcxt, chunk->dict.nvalues * sizeof(Datum));
	if (!sf_dictionary_decode(&chunk->type, chunk->dict_bytes, chunk->dict_len,
							  chunk->dict.nvalues, values, r->mcxt))
		rc_corrupt(r, "dictionary of a column");
	pfree(chunk->dict_bytes);
	chunk->dict_bytes = NULL;
	chunk->dict.values = values;
	return &chunk->dict;
}

const VxVector *
rc_missing_vector(StReader *r, AttrNumber attno, uint32 n)
{
	RcChunk    *chunk = rc_chunk_open(r, attno);

	if (chunk->missing == NULL)
		chunk->missing = sf_missing_vector(r->desc, attno, attno > r->natts, r->mcxt);
	chunk->missing->n = n;
	return chunk->missing;
}

bool
rc_reader_column_info(StReader *r, AttrNumber attno, VxColumnInfo *info)
{
	const RcFooterColumn *entry;
	RcChunk    *chunk;

	if (attno > r->natts || r->entries[attno - 1].kind == SF_KIND_ABSENT)
		return false;
	entry = &r->entries[attno - 1];
	chunk = rc_chunk_open(r, attno);
	info->codec = "none";
	info->numbers[0] = entry->raw_bytes;
	info->numbers[1] = entry->stored_bytes;
	info->numbers[2] = entry->nnulls;
	info->numbers[3] = info->numbers[4] = -1;
	if (entry->nnulls == r->nrows)
		info->encoding = "nulls";
	else if (entry->kind == SF_KIND_INT)
		info->encoding = "integer";
	else if (entry->kind == SF_KIND_FLOAT8 || entry->kind == SF_KIND_FLOAT4)
		info->encoding = "float";
	if (info->encoding != NULL)
		return true;
	rc_chunk_scheme(r, chunk);
	if (chunk->codec_dict_len > 0)
		info->numbers[4] = chunk->codec_dict_len;
	if (chunk->dict.nvalues > 0)
	{
		info->encoding = "dictionary";
		info->numbers[3] = chunk->dict.nvalues;
	}
	else if (entry->kind == SF_KIND_NUMERIC)
		info->encoding = "decimal";
	else if (chunk->str == NULL)
		rc_corrupt(r, "meta of a column");
	else
	{
		info->encoding = st_str_scheme_name(chunk->str);
		if (chunk->str->kind == ST_STR_RAW || chunk->codec_dict)
			info->codec = st_codec_name(r->codec);
	}
	return true;
}
