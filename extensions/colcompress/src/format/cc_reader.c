/*-------------------------------------------------------------------------
 *
 * cc_reader.c
 *	  Opens row groups, loads blocks.
 *
 * A reader owns a memory context below the caller's: footer, metas, and per
 * column one block, one vector and one single value.  So its memory is
 * bounded by the columns that were asked for.  It reads through
 * st_read_image(), which checks every page; what it parses it treats as
 * hostile all the same.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "cc_array_read.h"
#include "cc_shred_read.h"
#include "sf_bytes.h"
#include "st_checksum.h"
#include "st_compat.h"
#include "st_file.h"

void
cc_corrupt(const StReader *r, const char *what)
{
	sf_corrupt(r->rel, &r->group, what);
}

void
cc_ensure(StReader *r, uint8 **buf, Size *cap, Size need)
{
	sf_ensure(r->mcxt, buf, cap, need, 1024);
}

static void
read_footer(StReader *r)
{
	const StGroup *g = &r->group;
	CcFooterHeader h;
	Size		len;

	sf_check_version(r->rel, g, g->format_version, CC_FORMAT_VERSION);
	if (g->footer_len < sizeof(h) || g->footer_len > g->image_len ||
		g->footer_off > g->image_len - g->footer_len)
		cc_corrupt(r, "footer's place");
	st_read_image(r->rel, g, g->footer_off, sizeof(h), &h);
	if (h.magic != CC_FOOTER_MAGIC)
		cc_corrupt(r, "footer");
	sf_check_version(r->rel, g, h.version, CC_FORMAT_VERSION);
	len = h.natts * sizeof(CcFooterColumn);
	if (h.vector_size != ST_VECTOR_SIZE || h.nrows != g->nrows ||
		h.nrows == 0 || h.nrows > SF_MAX_ROWS ||
		h.natts > MaxAttrNumber || g->footer_len != sizeof(h) + len)
		cc_corrupt(r, "footer");
	r->natts = h.natts;
	r->nrows = h.nrows;
	r->nvectors = (h.nrows + ST_VECTOR_SIZE - 1) / ST_VECTOR_SIZE;
	r->entries = MemoryContextAllocZero(r->mcxt, Max(1, len));
	if (len > 0)
		st_read_image(r->rel, g, g->footer_off + sizeof(h), len, r->entries);
	if (st_checksum64(r->entries, len, CC_FOOTER_MAGIC) != h.checksum)
		cc_corrupt(r, "footer");
}

StReader *
cc_reader_open(Relation rel, const StGroup *group, MemoryContext mcxt)
{
	MemoryContext own = AllocSetContextCreate(mcxt, "colcompress reader",
											  ALLOCSET_SMALL_SIZES);
	StReader   *r = MemoryContextAllocZero(own, sizeof(StReader));

	r->mcxt = own;
	r->rel = rel;
	r->desc = RelationGetDescr(rel);
	r->group = *group;
	read_footer(r);
	r->nchunks = RelationGetDescr(rel)->natts;
	r->chunks = MemoryContextAllocZero(own, Max(1, r->nchunks) * sizeof(CcChunk *));
	return r;
}

void
cc_reader_attach(StReader *r, Relation rel)
{
	r->rel = rel;
	r->desc = RelationGetDescr(rel);
}

void
cc_reader_describe(StReader *r, TupleDesc desc)
{
	Assert(desc->natts <= r->nchunks);
	r->desc = desc;
}

void
cc_reader_close(StReader *r)
{
	MemoryContextDelete(r->mcxt);
}

/* Decoded once more, a vector of some rows takes the memory it had. */
static void
forget_rows(CcChunk *chunk)
{
	if (chunk == NULL)
		return;
	if (chunk->partial)
		chunk->vector = -1;
	for (int i = 0; chunk->shred != NULL && i <= chunk->shred->tree->nleaves; i++)
		forget_rows(chunk->shred->chunks[i]);
	for (int i = 0; chunk->array != NULL && i < CC_ARRAY_PARTS; i++)
		forget_rows(chunk->array->chunks[i]);
	if (chunk->array != NULL && chunk->array->reader != NULL)
		forget_rows(chunk->array->reader->elements);
}

void
cc_reader_rescan(StReader *r)
{
	for (int i = 0; i < r->nchunks; i++)
		forget_rows(r->chunks[i]);
}

uint32
cc_reader_nvectors(const StReader *r)
{
	return r->nvectors;
}

uint32
cc_reader_vector_rows(const StReader *r, uint32 vecno)
{
	Assert(vecno < r->nvectors);
	return Min(ST_VECTOR_SIZE, r->nrows - vecno * ST_VECTOR_SIZE);
}

uint32
cc_reader_vector_start(const StReader *r, uint32 vecno)
{
	return Min(vecno * ST_VECTOR_SIZE, r->nrows);
}

uint64
cc_reader_bytes_decoded(const StReader *r)
{
	return r->bytes_decoded;
}

void
cc_read_image(StReader *r, uint64 off, Size len, void *dst)
{
	if (r->verified == NULL)
		r->verified = MemoryContextAllocZero(r->mcxt, (r->group.nblocks / 64 + 1) *
											 sizeof(uint64));
	st_read_image_verified(r->rel, &r->group, off, len, dst, r->verified);
}

void
cc_block_read(StReader *r, const CcChunk *chunk, uint32 blockno, uint8 *dst)
{
	const CcBlock *b = &chunk->blocks[blockno];

	if (b->stored_len == b->raw_len)
		cc_read_image(r, b->off, b->raw_len, dst);
	else
	{
		uint8	   *packed = MemoryContextAllocHuge(CurrentMemoryContext, b->stored_len);

		cc_read_image(r, b->off, b->stored_len, packed);
		if (st_codec_decompress(sf_codec_ctx_shared(), chunk->codec, packed, b->stored_len,
								dst, b->raw_len) != ST_OK)
			cc_corrupt(r, "codec frame of a block");
		pfree(packed);
	}
	r->bytes_decoded += b->raw_len;
}

static void
load_block(StReader *r, CcChunk *chunk, uint32 blockno)
{
	const CcBlock *b = &chunk->blocks[blockno];

	chunk->block = -1;
	cc_ensure(r, &chunk->block_data, &chunk->block_cap, b->raw_len);
	cc_block_read(r, chunk, blockno, chunk->block_data);
	chunk->block = blockno;
}

const uint8 *
cc_vector_bytes(StReader *r, CcChunk *chunk, uint32 vecno, Size *len)
{
	const CcVectorPlace *place = &chunk->vectors[vecno];
	const uint8 *bytes = cc_bytes_at_hand(r, chunk, vecno);

	*len = place->len;
	if (bytes != NULL)
		return bytes;
	load_block(r, chunk, place->block);
	return chunk->block_data + place->off;
}

static const char *
encoding_name(StReader *r, const CcChunk *chunk, uint8 encoding)
{
	static const char *const names[] = {
		[CC_ENC_NULLS] = "nulls",
		[CC_ENC_INT] = "integer",
		[CC_ENC_FLOAT8] = "float",
		[CC_ENC_FLOAT4] = "float",
		[CC_ENC_DECIMAL64] = "scaled integer",
		[CC_ENC_DECIMAL128] = "scaled 128-bit integer",
		[CC_ENC_DICT] = "dictionary",
		[CC_ENC_STR] = NULL,
		[CC_ENC_BLOB] = "large values",
		[CC_ENC_SHRED] = "shredded",
		[CC_ENC_ARRAY] = "arrays"
	};

	return encoding == CC_ENC_STR ? st_str_scheme_name(chunk->scheme) : names[encoding];
}

bool
cc_reader_column_info(StReader *r, AttrNumber attno, VxColumnInfo *info)
{
	CcChunkInfo chunk;

	if (attno > r->natts || r->entries[attno - 1].kind == SF_KIND_ABSENT)
		return false;
	cc_chunk_describe(r, &r->entries[attno - 1], cc_chunk_open(r, attno), &chunk);
	info->encoding = chunk.encoding;
	info->codec = chunk.codec;
	info->numbers[0] = chunk.blocks;
	info->numbers[1] = chunk.raw_bytes;
	info->numbers[2] = chunk.encoded_bytes;
	info->numbers[3] = chunk.nulls;
	info->numbers[4] = chunk.distinct > 0 ? (int64) chunk.distinct : -1;
	return true;
}

bool
cc_reader_sum(StReader *r, AttrNumber attno, int128 *sum, int *scale)
{
	CcChunk    *chunk;

	if (attno > r->natts || r->entries[attno - 1].kind == SF_KIND_ABSENT)
		return false;
	chunk = cc_chunk_open(r, attno);
	/* oid became int4 without a rewrite */
	if (chunk == NULL || !chunk->has_sum ||
		(chunk->type.kind == SF_KIND_INT && chunk->entry->is_signed != chunk->type.is_signed))
		return false;
	*sum = chunk->sum;
	*scale = chunk->scale;
	return true;
}

void
cc_chunk_describe(StReader *r, const CcFooterColumn *entry, CcChunk *chunk,
				  CcChunkInfo *info)
{
	memset(info, 0, sizeof(*info));
	info->encoding = encoding_name(r, chunk, entry->encoding);
	info->codec = "none";
	info->nulls = entry->nnulls;
	info->encoded_bytes = entry->blob_len + entry->blocks_len + entry->meta_len;
	if (chunk == NULL)
		return;
	info->blocks = chunk->nblocks;
	info->raw_bytes = chunk->raw_bytes + entry->blob_len;
	if (chunk->raw_bytes > entry->blocks_len || entry->blob_len > 0)
		info->codec = st_codec_name(chunk->codec);
	if (entry->encoding == CC_ENC_DICT)
		info->distinct = cc_chunk_dictionary(r, chunk)->nvalues;
}
