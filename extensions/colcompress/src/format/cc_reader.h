/*-------------------------------------------------------------------------
 *
 * cc_reader.h
 *	  Inside of the reader of row groups; users include cc_vector.h.
 *
 *	 cc_reader.c	open, close, blocks
 *	 cc_meta.c		meta of a chunk, dictionary
 *	 cc_decode.c	vectors
 *	 cc_blob.c		large values
 *	 cc_point.c		single values
 *	 cc_zone_read.c	zones
 *	 cc_shred_read.c	shredded jsonb
 *	 cc_array_read.c	arrays of objects
 *	 cc_elements.c	their elements, without the arrays
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_READER_H
#define CC_READER_H

#include "postgres.h"

#include "cc_format.h"
#include "cc_vector.h"
#include "st_codec.h"
#include "st_compat.h"
#include "st_read.h"
#include "st_str.h"

typedef struct CcBlobPlaces CcBlobPlaces;

typedef struct CcBlock
{
	uint64		off;			/* in the image */
	uint32		first_vector;
	uint64		stored_len;
	uint64		raw_len;
} CcBlock;

typedef struct CcVectorPlace
{
	uint32		block;
	uint32		nnulls;
	uint64		off;			/* in the block */
	uint64		len;
} CcVectorPlace;

/* A column chunk: its meta, parsed, and what is decoded of it at present. */
typedef struct CcChunk
{
	const CcFooterColumn *entry;
	SfColumnType type;			/* of the column as it is now */
	uint32		nrows;			/* of elements, where it is of elements of arrays */
	uint32		nvectors;
	int			depth;			/* arrays around it */
	int			scale;
	int			codec;
	CcVectorPlace *vectors;
	CcBlock    *blocks;
	uint32		nblocks;
	uint64		raw_bytes;

	const uint8 *zones;			/* bytes of the meta */
	Size		zones_len;
	struct SfZones *zone_arrays;	/* parsed at first use */
	bool		has_sum;
	int128		sum;

	StStrScheme *scheme;		/* CC_ENC_STR */
	struct CcShred *shred;		/* CC_ENC_SHRED */
	struct CcArray *array;		/* CC_ENC_ARRAY */
	const uint8 *dict_bytes;	/* CC_ENC_DICT, loaded at first use */
	Size		dict_len;
	VxDictionary *dict;

	/* block at hand */
	int64		block;			/* -1: none */
	uint8	   *block_data;
	Size		block_cap;

	/* vector at hand */
	int64		vector;			/* -1: none */
	VxVector	v;
	bool		partial;		/* of some rows only: */
	uint64		decoded[VX_VALIDITY_WORDS]; /* these */
	uint8	   *arena;
	Size		arena_cap;
	CcBlobPlaces *blobs; /* CC_ENC_BLOB: where values lie, or NULL */

	/* single values */
	int64		last_vector;	/* that a single value was taken of */
	uint32		taken;			/* one after the other */
	uint8	   *point;
	Size		point_cap;
	int64		bytes_vector;	/* whose bytes are at hand, of a block without a
								 * codec frame, or -1 */
	uint8	   *bytes;
	Size		bytes_cap;
	uint64		spare_epoch;	/* st_spare_epoch, when spare was filled */
	const uint8 **spare;		/* bytes of such vectors that are there as long as
								 * nobody needs the memory, or NULL */
	uint64		kept_epoch;		/* of the reader, when kept was made */
	const uint8 **kept;			/* by block with a codec frame: raw bytes, or NULL */
} CcChunk;

struct StReader
{
	Relation	rel;
	TupleDesc	desc;			/* of the rows to return */
	StGroup		group;
	MemoryContext mcxt;			/* everything of this reader */
	int			natts;			/* of the group */
	uint32		nrows;
	uint32		nvectors;
	CcFooterColumn *entries;
	CcChunk   **chunks;			/* by attribute number - 1; NULL until used */
	int			nchunks;		/* of the table */
	uint64		bytes_decoded;
	uint64	   *verified;		/* pages whose checksum was right */
	struct SfKeyZones *keys;	/* NULL until used */
	MemoryContext kept_mcxt;	/* blocks that single values were taken of */
	Size		kept_bytes;
	uint64		kept_epoch;		/* how often they were forgotten */
	uint32		last_row;		/* that was asked for, */
	uint32		walked;			/* and how many in order before it */

	/* of elements of arrays (cc_elements.c), with nrows and nvectors alone: */
	struct StReader *of;		/* the row group's */
	CcChunk    *elements;
};

pg_noreturn extern void cc_corrupt(const StReader *r, const char *what);

/* True if the group has no chunk for the column: all null, dropped, or new. */
static inline bool
cc_column_is_missing(const StReader *r, AttrNumber attno)
{
	Assert(attno > 0 && attno <= r->nchunks);
	return attno > r->natts ||
		r->entries[attno - 1].kind == SF_KIND_ABSENT ||
		r->entries[attno - 1].encoding == CC_ENC_NULLS;
}

/* The chunk with its meta parsed; NULL if the column is missing. */
extern CcChunk *cc_chunk_open(StReader *r, AttrNumber attno);

/* A chunk of so many rows by its entry; checks what it parses. */
extern CcChunk *cc_chunk_make(StReader *r, const CcFooterColumn *e,
							  const SfColumnType *type, uint32 nrows, int depth);

static inline uint32
cc_chunk_vector_rows(const CcChunk *chunk, uint32 vecno)
{
	Assert(vecno < chunk->nvectors);
	return Min(ST_VECTOR_SIZE, chunk->nrows - vecno * ST_VECTOR_SIZE);
}

/* A vector (see cc_reader_vector_selected()), and a single value, of a chunk. */
extern const VxVector *cc_chunk_vector(StReader *r, CcChunk *chunk, uint32 vecno,
									   const uint64 *rows);
extern Datum cc_chunk_value(StReader *r, CcChunk *chunk, uint32 vecno, uint32 i,
							bool *isnull);

/* Bytes of a vector, its block loaded. */
extern const uint8 *cc_vector_bytes(StReader *r, CcChunk *chunk, uint32 vecno, Size *len);

/*
 * The same where vectors next to it are not wanted: of a block without a codec
 * frame the vector's bytes alone are read.
 */
extern const uint8 *cc_passing_bytes(StReader *r, CcChunk *chunk, uint32 vecno, Size *len);

/*
 * Bytes of a vector that need not be read: of the block at hand, or left by
 * single values.  Else NULL.
 */
static inline const uint8 *
cc_bytes_at_hand(const StReader *r, const CcChunk *chunk, uint32 vecno)
{
	const CcVectorPlace *place = &chunk->vectors[vecno];

	if (chunk->block == place->block)
		return chunk->block_data + place->off;
	if (chunk->bytes_vector == vecno)
		return chunk->bytes;
	if (chunk->spare != NULL && chunk->spare_epoch == st_spare_epoch &&
		chunk->spare[vecno] != NULL)
		return chunk->spare[vecno];
	/* Sub-columns have chunks that nobody lists: they notice for themselves. */
	if (chunk->kept == NULL || chunk->kept_epoch != r->kept_epoch ||
		chunk->kept[place->block] == NULL)
		return NULL;
	return chunk->kept[place->block] + place->off;
}

/* Raw bytes of a block, read and unpacked to a buffer of its raw length. */
extern void cc_block_read(StReader *r, const CcChunk *chunk, uint32 blockno, uint8 *dst);

/* Copies bytes of the image, verifying each page once in the reader's life. */
extern void cc_read_image(StReader *r, uint64 off, Size len, void *dst);

/* Splits the null bitmap off a vector's bytes; valid has room for 16 words. */
extern void cc_take_validity(StReader *r, const CcVectorPlace *place, uint32 n,
							 const uint8 **src, Size *len, uint64 *valid);

/* Makes *buf at least need bytes large; contents are not kept. */
extern void cc_ensure(StReader *r, uint8 **buf, Size *cap, Size need);

extern const VxDictionary *cc_chunk_dictionary(StReader *r, CcChunk *chunk);

/* Room for a vector's values of the given size. */
extern void *cc_value_buffer(StReader *r, CcChunk *chunk, Size element);

/* Room for a single value of len bytes, with what it needs in front. */
extern uint8 *cc_point_buffer(StReader *r, CcChunk *chunk, Size len);

/*
 * Large values: those of a vector in the given rows (NULL: all), and a single
 * one.  src, len: what the vector has behind its null bitmap.
 */
extern void cc_blob_decode(StReader *r, CcChunk *chunk, const uint8 *src, Size len,
						   uint32 vecno, uint32 n, const uint64 *rows);
extern Datum cc_blob_value(StReader *r, CcChunk *chunk, const uint8 *src, Size len,
						   uint32 vecno, uint32 n, uint32 i);

/* What is known of a chunk by its entry; chunk is NULL if it is all null. */
extern void cc_chunk_describe(StReader *r, const CcFooterColumn *entry,
							  CcChunk *chunk, CcChunkInfo *info);

#endif							/* CC_READER_H */
