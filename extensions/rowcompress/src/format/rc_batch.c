/*-------------------------------------------------------------------------
 *
 * rc_batch.c
 *	  Batches of a row group: loading, and finding the parts of a piece.
 *
 * A batch is read as a whole, a few pages, or piece by piece for a fetch of
 * few columns.  A piece is looked at only when its column is asked for: null
 * bitmap, places of large values, lengths.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "rc_reader.h"
#include "sf_bytes.h"
#include "st_bitmap.h"
#include "st_bytes.h"
#include "st_compat.h"
#include "st_int.h"

/* Usual blocks of a batch's memory, and how many a reader keeps. */
#define BLOCK_BYTES ((Size) 16 * 1024)
#define MAX_FREE_BLOCKS 4

#define BLOCK_HEADER MAXALIGN(sizeof(RcBlock))

/* A block with room for size bytes, one of the usual size if that will do. */
static RcBlock *
take_block(StReader *r, Size size)
{
	Size		need = Max(BLOCK_BYTES, BLOCK_HEADER + size);
	RcBlock    *block = r->free_blocks;

	if (need == BLOCK_BYTES && block != NULL)
	{
		r->free_blocks = block->next;
		r->nfree_blocks--;
		return block;
	}
	block = MemoryContextAllocHuge(r->batch_mcxt, need);
	block->size = need;
	return block;
}

void *
rc_batch_alloc(RcBatch *batch, Size size)
{
	RcBlock    *block;
	uint8	   *p;

	size = MAXALIGN(size);
	if (size > batch->left)
	{
		block = take_block(batch->reader, size);
		block->next = batch->blocks;
		batch->blocks = block;
		batch->memory += block->size;
		p = (uint8 *) block + BLOCK_HEADER;
		if (block->size > BLOCK_BYTES)
			return p;			/* all of it */
		batch->next = p;
		batch->left = block->size - BLOCK_HEADER;
	}
	p = batch->next;
	batch->next += size;
	batch->left -= size;
	return p;
}

/*
 * Reads the directory; the pieces with it, or each when it is asked for.
 * Directories are of 16 or of 32 bits an entry (see piece_bytes()).
 */
static void
load_bytes(RcBatch *batch, bool whole)
{
	StReader   *r = batch->reader;
	uint32		len = r->batch_len[batch->batchno];
	Size		dir_len = r->natts * sizeof(uint16);

	if (len < dir_len)
		rc_corrupt(r, "directory of a batch");
	batch->bytes = rc_batch_alloc(batch, len);
	batch->whole = whole;
	if (!whole)
		len = Min(len, r->natts * sizeof(uint32));
	rc_read(r, r->batch_off[batch->batchno], len, batch->bytes);
}

RcBatch *
rc_batch_load(StReader *r, uint32 batchno, bool whole)
{
	Size		size = MAXALIGN(sizeof(RcBatch)) + r->natts * sizeof(RcPiece);
	RcBlock    *block;
	RcBatch    *batch;

	Assert(batchno < r->nbatches);
	block = take_block(r, MAXALIGN(size));
	batch = (RcBatch *) ((uint8 *) block + BLOCK_HEADER);
	memset(batch, 0, size);
	block->next = NULL;
	batch->blocks = block;
	batch->next = (uint8 *) batch + MAXALIGN(size);
	batch->left = block->size - BLOCK_HEADER - MAXALIGN(size);
	batch->memory = block->size;
	batch->reader = r;
	batch->batchno = batchno;
	batch->nrows = r->batch_first[batchno + 1] - r->batch_first[batchno];
	batch->last_row = PG_UINT32_MAX - 1;
	batch->pieces = (RcPiece *) ((uint8 *) batch + MAXALIGN(sizeof(RcBatch)));
	load_bytes(batch, whole);
	return batch;
}

void
rc_batch_free(RcBatch *batch)
{
	StReader   *r = batch->reader;
	RcBlock    *next;

	/* the batch itself is in one of them */
	for (RcBlock *block = batch->blocks; block != NULL; block = next)
	{
		next = block->next;
		if (block->size == BLOCK_BYTES && r->nfree_blocks < MAX_FREE_BLOCKS)
		{
			block->next = r->free_blocks;
			r->free_blocks = block;
			r->nfree_blocks++;
		}
		else
			pfree(block);
	}
}

void
rc_batch_read_all(RcBatch *batch)
{
	StReader   *r = batch->reader;

	if (batch->whole)
		return;
	rc_read(r, r->batch_off[batch->batchno], r->batch_len[batch->batchno], batch->bytes);
	batch->whole = true;
}

/*
 * Bytes of a column's piece.  The directory has 16-bit entries if all that
 * the batch has behind it is addressable with them.
 */
static const uint8 *
piece_bytes(RcBatch *batch, int att, Size *len)
{
	StReader   *r = batch->reader;
	Size		total = r->batch_len[batch->batchno];
	Size		dir_len = r->natts * sizeof(uint16);
	uint32		start = 0;
	uint32		end;

	if (total - dir_len <= PG_UINT16_MAX)
	{
		end = st_load_u16(batch->bytes + att * sizeof(uint16));
		if (att > 0)
			start = st_load_u16(batch->bytes + (att - 1) * sizeof(uint16));
	}
	else
	{
		dir_len = r->natts * sizeof(uint32);
		if (total < dir_len)
			rc_corrupt(r, "directory of a batch");
		end = st_load_u32(batch->bytes + att * sizeof(uint32));
		if (att > 0)
			start = st_load_u32(batch->bytes + (att - 1) * sizeof(uint32));
	}
	if (start > end || end > total - dir_len)
		rc_corrupt(r, "directory of a batch");
	*len = end - start;
	if (!batch->whole && end > start)
		rc_read(r, r->batch_off[batch->batchno] + dir_len + start, end - start,
				batch->bytes + dir_len + start);
	return batch->bytes + dir_len + start;
}

static void
take_nulls(RcBatch *batch, RcPiece *piece, StByteReader *b)
{
	uint64		words[ST_BITMAP_WORDS];
	uint16		len = st_read_u16(b);
	const uint8 *p = st_read_span(b, len);
	Size		size = (batch->nrows + 63) / 64 * sizeof(uint64);

	if (p == NULL ||
		st_bitmap_decode(p, len, batch->nrows, (uint64_t *) words) != ST_OK)
		rc_corrupt(batch->reader, "null bitmap of a batch");
	piece->valid = rc_batch_alloc(batch, size);
	memcpy(piece->valid, words, size);
}

void
rc_take_u32_array(RcBatch *batch, StByteReader *b, uint32 *dst, uint32 n)
{
	uint32		v[ST_VECTOR_SIZE];
	uint64		len = st_read_varint(b);
	const uint8 *p = st_read_span(b, len);

	if (p == NULL || st_int_decode_u32(p, len, n, v) != ST_OK)
		rc_corrupt(batch->reader, "lengths of a batch");
	memcpy(dst, v, n * sizeof(uint32));
}

static void
take_large(RcBatch *batch, RcPiece *piece, StByteReader *b)
{
	StReader   *r = batch->reader;
	uint64		off = st_read_u64(b);
	uint64		n = st_read_varint(b);
	uint64		total = 0;

	if (n == 0 || n > batch->nrows)
		rc_corrupt(r, "places of large values");
	piece->large = rc_batch_alloc(batch, 3 * n * sizeof(uint32));
	for (int i = 0; i < 3; i++)
		rc_take_u32_array(batch, b, piece->large + i * n, n);
	for (uint32 i = 0; i < n; i++)
	{
		uint32		row = piece->large[i];
		uint32		len = piece->large[n + i];
		uint32		stored = piece->large[2 * n + i];

		if (row >= batch->nrows || (i > 0 && row <= piece->large[i - 1]) ||
			stored > len || len < RC_LARGE_BYTES || len > MaxAllocSize - VARHDRSZ)
			rc_corrupt(r, "places of large values");
		total += stored;
	}
	if (off > r->group.image_len || total > r->group.image_len - off)
		rc_corrupt(r, "places of large values");
	piece->large_off = off;
	piece->nlarge = n;
}

static void
locate(RcBatch *batch, AttrNumber attno, RcPiece *piece)
{
	StReader   *r = batch->reader;
	RcChunk    *chunk = rc_chunk_open(r, attno);
	Size		len;
	const uint8 *p = piece_bytes(batch, attno - 1, &len);
	StByteReader b;
	uint8		head;
	uint8		encoding;

	piece->located = true;
	if (len == 0)
		return;					/* all null */
	st_reader_init(&b, p, len);
	head = st_read_u8(&b);
	encoding = head & RC_ENC_MASK;
	if ((head & RC_PIECE_UNUSED) || !sf_encoding_fits(chunk->type.kind, encoding) ||
		((head & RC_PIECE_LARGE) && encoding != RC_ENC_STR && encoding != RC_ENC_FRAMES))
		rc_corrupt(r, "encoding of a column");
	if (head & RC_PIECE_NULLS)
		take_nulls(batch, piece, &b);
	if (head & RC_PIECE_LARGE)
		take_large(batch, piece, &b);
	if (encoding == RC_ENC_DECIMAL64 || encoding == RC_ENC_DECIMAL128)
	{
		uint64		scale = st_read_varint(&b);

		if (scale > PG_INT16_MAX)
			rc_corrupt(r, "scale of a column");
		piece->scale = scale;
	}
	if (encoding == RC_ENC_FRAMES)
		rc_frames_locate(batch, piece, &b);
	else
	{
		piece->values = st_read_rest(&b, &len);
		piece->len = len;
		r->bytes_decoded += len;
	}
	if (b.status != ST_OK)
		rc_corrupt(r, "piece of a batch");
	piece->encoding = encoding;
}

RcPiece *
rc_batch_piece(RcBatch *batch, AttrNumber attno)
{
	RcPiece    *piece = &batch->pieces[attno - 1];

	if (!piece->located)
		locate(batch, attno, piece);
	return piece;
}

int
rc_piece_large(const RcPiece *piece, uint32 row)
{
	int			lo = 0;
	int			hi = (int) piece->nlarge - 1;

	while (lo <= hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (piece->large[mid] == row)
			return mid;
		if (piece->large[mid] < row)
			lo = mid + 1;
		else
			hi = mid - 1;
	}
	return -1;
}

Datum
rc_read_large(StReader *r, const SfColumnType *type, const RcPiece *piece, int i,
			  uint8 *dst)
{
	uint32		n = piece->nlarge;
	uint32		len = piece->large[n + i];
	uint32		stored = piece->large[2 * n + i];
	uint64		off = piece->large_off;
	uint8	   *packed;

	if (type->kind == SF_KIND_FIXED && len != type->typlen)
		rc_corrupt(r, "large value");
	for (int k = 0; k < i; k++)
		off += piece->large[2 * n + k];
	r->bytes_decoded += len;
	if (stored == len)
	{
		rc_read(r, off, len, dst);
		return sf_value_datum(type, dst, len);
	}
	packed = MemoryContextAllocHuge(CurrentMemoryContext, stored);
	rc_read(r, off, stored, packed);
	if (st_codec_decompress(sf_codec_ctx_shared(), r->codec, packed, stored, dst, len) != ST_OK)
		rc_corrupt(r, "codec frame of a large value");
	pfree(packed);
	return sf_value_datum(type, dst, len);
}
