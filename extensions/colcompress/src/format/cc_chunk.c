/*-------------------------------------------------------------------------
 *
 * cc_chunk.c
 *	  Packs the encoded vectors of a column into blocks, and blocks into
 *	  codec frames where that pays.
 *
 * A block holds whole vectors: several small ones up to CC_BLOCK_TARGET
 * bytes, or a single larger one, so that one value costs one small block.
 * A block whose stored length equals its raw length is stored as it is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "cc_column.h"
#include "sf_bytes.h"
#include "st_bytes.h"
#include "st_compat.h"

/* After so many blocks in a row that did not shrink, only try now and then. */
#define CODEC_PATIENCE 2
#define CODEC_RETRY 8

void
cc_chunk_begin(CcChunkWriter *w, StImage *img, uint32 block_target,
			   int codec, int level, StCodecCtx *ctx)
{
	memset(w, 0, sizeof(*w));
	w->img = img;
	w->block_target = block_target;
	w->codec = codec;
	w->level = level;
	w->codec_ctx = ctx;
	w->start = st_image_len(img);
}

uint8 *
cc_chunk_reserve(CcChunkWriter *w, Size n)
{
	if (w->raw_len + n > w->raw_cap)
	{
		Size		cap = Max(w->raw_len + n, 2 * w->block_target);

		if (w->raw == NULL)
			w->raw = MemoryContextAllocHuge(CurrentMemoryContext, cap);
		else
			w->raw = repalloc_huge(w->raw, cap);
		w->raw_cap = cap;
	}
	return w->raw + w->raw_len;
}

Size
cc_codec_frame(CcChunkWriter *w, const void *src, Size n)
{
	Size		cap = n - n / CC_CODEC_MIN_GAIN;
	size_t		len;

	if (w->codec == ST_CODEC_NONE || n < CC_CODEC_MIN_BYTES)
		return n;
	if (cap > w->packed_cap)
	{
		if (w->packed)
			pfree(w->packed);
		w->packed = MemoryContextAllocHuge(CurrentMemoryContext, cap);
		w->packed_cap = cap;
	}
	if (st_codec_compress(w->codec_ctx, w->codec, w->level, src, n,
						  w->packed, cap, &len) != ST_OK)
		return n;
	return len;
}

static void
close_block(CcChunkWriter *w, Size len, uint32 nvectors)
{
	Size		stored = len;

	if (w->codec_failures <= CODEC_PATIENCE || w->nblocks % CODEC_RETRY == 0)
	{
		stored = cc_codec_frame(w, w->raw, len);
		w->codec_failures = stored < len ? 0 : w->codec_failures + 1;
	}
	st_image_append(w->img, stored < len ? w->packed : w->raw, stored);
	w->block_vectors[w->nblocks] = nvectors;
	w->block_stored[w->nblocks] = stored;
	w->nblocks++;
	w->blocks_len += stored;
}

/*
 * The vector's len bytes stand at the end of the open block.  block_vectors
 * of the open block counts the vectors before it.
 */
void
cc_chunk_add_vector(CcChunkWriter *w, Size len, uint32 nnulls)
{
	if (w->raw_len > 0 && w->raw_len + len > w->block_target)
	{
		close_block(w, w->raw_len, w->block_vectors[w->nblocks]);
		memmove(w->raw, w->raw + w->raw_len, len);
		w->raw_len = 0;
	}
	w->vector_len[w->nvectors] = len;
	w->vector_nulls[w->nvectors] = nnulls;
	w->nvectors++;
	w->raw_len += len;
	w->block_vectors[w->nblocks]++;
}

void
cc_chunk_end_blocks(CcChunkWriter *w)
{
	if (w->nvectors > 0 && w->block_vectors[w->nblocks] > 0)
		close_block(w, w->raw_len, w->block_vectors[w->nblocks]);
	w->raw_len = 0;
}

void
cc_chunk_write_layout(CcChunkWriter *w, StringInfo meta)
{
	appendStringInfoChar(meta, (char) w->codec);
	sf_put_varint(meta, w->nvectors);
	sf_put_int_array(meta, w->vector_len, w->nvectors);
	sf_put_int_array(meta, w->vector_nulls, w->nvectors);
	sf_put_varint(meta, w->nblocks);
	sf_put_int_array(meta, w->block_vectors, w->nblocks);
	sf_put_int_array(meta, w->block_stored, w->nblocks);
}
