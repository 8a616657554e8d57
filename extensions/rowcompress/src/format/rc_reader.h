/*-------------------------------------------------------------------------
 *
 * rc_reader.h
 *	  Inside of the reader of row groups; users include rc_batch.h.
 *
 *	 rc_reader.c	open, close: footer
 *	 rc_meta.c		schemes of columns
 *	 rc_batch.c		batches: loading, pieces
 *	 rc_frame.c		values in codec frames
 *	 rc_cache.c		batches that fetches keep
 *	 rc_decode.c	vectors
 *	 rc_path.c		paths of documents
 *	 rc_point.c		single values
 *	 rc_zone_read.c	zones
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_READER_H
#define RC_READER_H

#include "postgres.h"

#include "lib/ilist.h"

#include "rc_batch.h"
#include "rc_format.h"
#include "st_bytes.h"
#include "st_codec.h"
#include "st_compat.h"
#include "st_str.h"

/* A column of the group: what its pieces share, parsed at first use. */
typedef struct RcChunk
{
	const RcFooterColumn *entry;
	SfColumnType type;			/* of the column as it is now */
	bool		scheme_read;
	StStrScheme *str;
	uint8	   *dict_bytes;		/* dictionary, not decoded yet */
	Size		dict_len;
	VxDictionary dict;			/* values: NULL until they are decoded */
	StCodecDict *codec_dict;	/* freed with the reader */
	Size		codec_dict_len;
	struct RcZones *zones;		 /* parsed at first use */
	VxVector   *missing;		/* columns that the group does not have */
	void	   *values;			/* vector of a scan: room for ST_VECTOR_SIZE */
	uint8	   *point;			/* single value */
	Size		point_cap;
} RcChunk;

/* Memory of a batch comes in blocks; the next batch has them again. */
typedef struct RcBlock
{
	struct RcBlock *next;
	Size		size;			/* of all, this header included */
} RcBlock;

struct StReader
{
	Relation	rel;
	TupleDesc	desc;			/* of the rows to return */
	StGroup		group;
	MemoryContext mcxt;			/* everything of this reader */
	MemoryContext batch_mcxt;	/* batches */
	RcBlock    *free_blocks;	/* of the usual size, for the next batch */
	int			nfree_blocks;
	int			natts;			/* of the group */
	uint32		nrows;
	uint32		nbatches;
	int			codec;
	RcFooterColumn *entries;
	uint32	   *batch_first;	/* nbatches + 1 */
	uint64	   *batch_off;
	uint32	   *batch_len;
	RcChunk   **chunks;			/* by attribute number - 1; NULL until used */
	int			nchunks;		/* of the table */
	uint64		bytes_decoded;
	uint64	   *verified;		/* pages whose checksum is known to be right */
	RcBatch   **cached;			/* by batch number; NULL until a fetch */
	RcBatch    *current;		/* of the last fetch: not to be evicted */
	RcBatch    *scanned;		/* of the last vector */
	bool		has_large;		/* large values, in any column */
	struct SfKeyZones *keys;	/* NULL until used */
	MemoryContextCallback release;
	MemoryContextCallback release_batches;
};

/* Where the parts of a piece are, and what is decoded of it. */
typedef struct RcPiece
{
	bool		located;
	uint8		encoding;		/* 0: all null */
	uint8		touched;		/* single values taken */
	int16		scale;
	const uint8 *values;		/* in the batch's bytes */
	Size		len;
	uint32	   *lens;			/* RC_ENC_FRAMES: of each value */
	uint32		nframes;
	uint32	   *frames;			/* nframes each: first value, end of the frame
								 * in values */
	uint8	  **unpacked;		/* of each frame, NULL until it is wanted */
	uint64	   *valid;			/* NULL: no nulls */
	uint32		nlarge;
	uint64		large_off;		/* in the image */
	uint32	   *large;			/* nlarge each: rows, lengths, stored lengths */
	VxVector   *v;				/* NULL: not decoded */
} RcPiece;

struct RcBatch
{
	dlist_node	lru;			/* batches of rc_cache.c */
	StReader   *reader;
	uint32		batchno;
	uint32		nrows;
	uint32		last_row;		/* of the last fetch */
	Size		memory;
	Size		counted;		/* of memory, by the cache */
	RcBlock    *blocks;			/* all memory of the batch, */
	uint8	   *next;			/* and what is free of the last usual one */
	Size		left;
	bool		whole;			/* all bytes are there */
	bool		scanned;		/* vectors are in memory of their columns */
	uint8	   *bytes;			/* directory and pieces */
	RcPiece    *pieces;			/* of the group's columns */
};

pg_noreturn extern void rc_corrupt(const StReader *r, const char *what);

/* Makes *buf at least need bytes large; contents are not kept. */
extern void rc_ensure(StReader *r, uint8 **buf, Size *cap, Size need);

/* Bytes [off, off + len) of the image; each page is checked once. */
extern void rc_read(StReader *r, uint64 off, Size len, void *dst);

/* True if the group has no values of the column: all null, dropped, or new. */
static inline bool
rc_column_is_missing(const StReader *r, AttrNumber attno)
{
	Assert(attno > 0 && attno <= r->nchunks);
	return attno > r->natts ||
		r->entries[attno - 1].kind == SF_KIND_ABSENT ||
		r->entries[attno - 1].nnulls == r->nrows;
}

/* The column; its kind is checked against today's type. */
extern RcChunk *rc_chunk_open(StReader *r, AttrNumber attno);

/* Reads the scheme part of the column's meta, once. */
extern void rc_chunk_scheme(StReader *r, RcChunk *chunk);

/* The dictionary, decoded at first use. */
extern const VxDictionary *rc_chunk_dictionary(StReader *r, RcChunk *chunk);

/* The vector of n rows of a column that the group does not have. */
extern const VxVector *rc_missing_vector(StReader *r, AttrNumber attno, uint32 n);

/* Reads what is not there yet of a batch's bytes. */
extern void rc_batch_read_all(RcBatch *batch);

/* Allocates for a batch, freed with it; aligned as palloc() would. */
extern void *rc_batch_alloc(RcBatch *batch, Size size);

/* Decodes an array of at most a vector, behind its length, into dst. */
extern void rc_take_u32_array(RcBatch *batch, StByteReader *b, uint32 *dst, uint32 n);

/* Reads what stands in front of the frames of a piece. */
extern void rc_frames_locate(RcBatch *batch, RcPiece *piece, StByteReader *b);

/* Finds the parts of a column's piece. */
extern RcPiece *rc_batch_piece(RcBatch *batch, AttrNumber attno);

/* Proves the lengths of the values from first to before last; their sum. */
extern uint32 rc_frames_length(const StReader *r, const RcPiece *piece, uint32 first,
							   uint32 last);

/*
 * Bytes of the values of a frame, unpacked, and which these are: first to
 * before last.
 */
extern const uint8 *rc_frame_bytes(RcBatch *batch, AttrNumber attno, RcPiece *piece,
								   uint32 frame, uint32 *first, uint32 *last);

/* Bytes of a value of RC_ENC_FRAMES, its frame unpacked. */
extern const uint8 *rc_frame_value(RcBatch *batch, AttrNumber attno, RcPiece *piece,
								   uint32 row, uint32 *len);

/* Index of a row among the large values of a piece, or -1. */
extern int	rc_piece_large(const RcPiece *piece, uint32 row);

/* Makes large value i of a piece at dst, room bytes in front being free. */
extern Datum rc_read_large(StReader *r, const SfColumnType *type, const RcPiece *piece,
						   int i, uint8 *dst);

/* rc_cache.c */
extern RcBatch *rc_cache_get(StReader *r, uint32 batchno, bool whole);
extern void rc_cache_forget(StReader *r);

#endif							/* RC_READER_H */
