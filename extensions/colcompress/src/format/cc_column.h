/*-------------------------------------------------------------------------
 *
 * cc_column.h
 *	  Values of one column of a row group under construction, and the chunk
 *	  that they become.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_COLUMN_H
#define CC_COLUMN_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "cc_format.h"
#include "st_codec.h"

/*
 * Values of a column in row order, in one context.  At null positions the
 * arrays repeat the value before (0 at the start), which costs encodings
 * nothing; byte values are empty there.
 */
typedef struct CcColumn
{
	SfColumnType type;
	SfStorage	storage;
	bool		has_scale;		/* numeric: scale was set by a first value */
	int			scale;
	uint32		nrows;
	uint32		capacity;		/* rows that the arrays have room for */
	uint32		nnulls;
	uint64	   *valid;			/* bitmap, one bit a row */
	union
	{
		void	   *any;
		int64	   *i64;
		int128	   *i128;
		double	   *f64;
		float	   *f32;
		uint64	   *end;		/* BYTES: value i is arena[end[i-1] .. end[i]) */
	}			u;
	uint8	   *arena;
	uint64		arena_cap;
	StStr	   *strings;		/* while encoding, or borrowed: BYTES, */
	uint64		nbytes;			/* all of theirs, */
	uint32	   *codes;			/* codes by sorted dictionary, */
	StStr	   *entries;		/* if that was taken */
	uint32		nentries;
	uint32		block_target;	/* bytes of a block of several vectors */
	bool		is_leaf;		/* jsonb: is not shredded */
	int			depth;			/* jsonb: arrays around it (cc_array.h) */
	bool		has_arrays;		/* once encoded: there is CC_ENC_ARRAY in it */
	MemoryContext mcxt;
} CcColumn;

extern void cc_column_init(CcColumn *col, Form_pg_attribute att, MemoryContext mcxt);
extern void cc_column_add(CcColumn *col, Datum value, bool isnull);
extern Size cc_column_memory(const CcColumn *col);

/* Nulls up to the given row, which is the next one then. */
extern void cc_column_add_nulls(CcColumn *col, uint32 row);

/* A varlena's bytes without their header. */
extern void cc_column_add_bytes(CcColumn *col, const void *data, Size len);

/* A numeric with a plain header, at any address. */
extern void cc_column_add_numeric(CcColumn *col, const void *data, Size len);

/*
 * All values of a column of bytes at once, none of them null.  The bytes are the
 * caller's, and stay where they are until the column is encoded; the array of
 * values becomes the column's.
 */
extern void cc_column_borrow(CcColumn *col, StStr *values, uint32 n);

/* Frees the buffered values. */
extern void cc_column_free(CcColumn *col);

static inline bool
cc_column_isnull(const CcColumn *col, uint32 row)
{
	return (col->valid[row >> 6] & (UINT64CONST(1) << (row & 63))) == 0;
}

/* The bytes of row (storage BYTES); data is NULL for a null. */
static inline StStr
cc_column_bytes(const CcColumn *col, uint32 row)
{
	uint64		start = row == 0 ? 0 : col->u.end[row - 1];
	StStr		s;

	s.len = (uint32) (col->u.end[row] - start);
	if (cc_column_isnull(col, row))
		s.data = NULL;
	else
		s.data = s.len > 0 ? col->arena + start : (const uint8 *) "";
	return s;
}

/*
 * Chunk writer: takes encoded vectors, packs them into blocks, puts codec
 * frames around those where it pays, and writes the meta at the end.
 */
typedef struct CcChunkWriter
{
	StImage    *img;
	uint32		block_target;	/* of the column */
	int			codec;			/* of the table's options */
	int			level;
	StCodecCtx *codec_ctx;
	uint64		start;			/* offset of the chunk in the image */
	uint64		blob_len;
	uint64		blocks_len;
	uint32		nvectors;
	uint32		nblocks;
	int64		vector_len[CC_MAX_VECTORS];
	int64		vector_nulls[CC_MAX_VECTORS];
	int64		block_vectors[CC_MAX_VECTORS];
	int64		block_stored[CC_MAX_VECTORS];
	uint8	   *raw;			/* open block */
	Size		raw_len;
	Size		raw_cap;
	uint8	   *packed;			/* room for a codec frame */
	Size		packed_cap;
	uint32		codec_failures; /* blocks in a row that did not shrink */
} CcChunkWriter;

extern void cc_chunk_begin(CcChunkWriter *w, StImage *img, uint32 block_target,
						   int codec, int level, StCodecCtx *ctx);

/* Room for at least n more bytes of the open block; closes it when full. */
extern uint8 *cc_chunk_reserve(CcChunkWriter *w, Size n);
extern void cc_chunk_add_vector(CcChunkWriter *w, Size len, uint32 nnulls);
extern void cc_chunk_end_blocks(CcChunkWriter *w);
extern void cc_chunk_write_layout(CcChunkWriter *w, StringInfo meta);

/*
 * Compresses n bytes of src into *dst (grown as needed).  Returns the number
 * of bytes, or n with *dst untouched when the gain is too small.
 */
extern Size cc_codec_frame(CcChunkWriter *w, const void *src, Size n);

/* Zones of all vectors, appended to the meta. */
extern void cc_zone_write(const CcColumn *col, StringInfo meta);

/* Encodes the whole column: chunk and meta go to img, entry is filled. */
extern void cc_column_encode(CcColumn *col, StImage *img, int codec, int level,
							 StCodecCtx *ctx, CcFooterColumn *entry);

/* Encoders of cc_encode_bytes.c, called by cc_column_encode. */
extern CcEncoding cc_encode_bytes(CcColumn *col, CcChunkWriter *w, StringInfo extra);
extern Size cc_put_validity(const CcColumn *col, uint32 first, uint32 n,
							uint32 *nnulls, uint8 *dst);

/* Bytes of the null bitmap in front of a vector's values, at most. */
#define CC_VALIDITY_BOUND (2 + ST_VECTOR_SIZE / 8 + 64)

#endif							/* CC_COLUMN_H */
