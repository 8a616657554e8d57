/*-------------------------------------------------------------------------
 *
 * cc_array_read.h
 *	  Chunks of arrays (cc_array.h), for the rest of the reader.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_ARRAY_READ_H
#define CC_ARRAY_READ_H

#include "cc_array.h"
#include "cc_reader.h"
#include "st_bytes.h"

/* The length of an array that is kept whole, or of none. */
#define CC_ARRAY_NOT_SPLIT PG_UINT32_MAX

/* Where the arrays of a vector's rows begin among the elements. */
typedef struct CcArrayPlaces
{
	int64		vector;			/* -1: none */
	uint32		start[ST_VECTOR_SIZE];
	uint32		length[ST_VECTOR_SIZE];
} CcArrayPlaces;

typedef struct CcArray
{
	uint32		nelements;
	uint32	   *before;			/* elements before a vector; of one more */
	CcFooterColumn entries[CC_ARRAY_PARTS];
	CcChunk    *chunks[CC_ARRAY_PARTS]; /* NULL until opened */
	CcArrayPlaces places;
	uint64		valid[VX_VALIDITY_WORDS];	/* of a vector that is not decoded */
	VxVector	types;			/* cc_array_types(), with room for its values */
	VxVector	parts;			/* cc_array_parts(), likewise, */
	uint8	   *parts_arena;	/* and its arrays */
	Size		parts_cap;
	StReader   *reader;			/* of elements (cc_elements.c); NULL until used */
} CcArray;

/* Parses what the meta of such a chunk has; from cc_chunk_make(). */
extern void cc_array_open(StReader *r, CcChunk *chunk, StByteReader *b);

/*
 * The chunk of a part; NULL: it has nothing.  Putting arrays together moves it from
 * vector to vector: who hands out vectors of elements makes one for himself.
 */
extern CcChunk *cc_array_chunk(StReader *r, CcChunk *chunk, CcArrayPart part);
extern CcChunk *cc_array_chunk_make(StReader *r, CcChunk *chunk, CcArrayPart part);

/*
 * Where the arrays of some rows of a vector have their elements, by row; of a
 * null the length is 0.  False: one of them is kept whole.
 */
extern bool cc_array_places(StReader *r, CcChunk *chunk, uint32 vecno, const uint64 *rows,
							uint32 *start, uint32 *length);

/*
 * A vector of empty arrays in place of the selected rows' arrays, unless they are
 * kept whole; NULL if it is all null.  Valid until the next one.
 */
extern const VxVector *cc_array_types(StReader *r, CcChunk *chunk, uint32 vecno,
									  const uint64 *rows);

/*
 * A vector of arrays of other elements in place of the selected rows' arrays, unless
 * they are kept whole; NULL if it is all null.  Valid until the next one.  The
 * elements are those that the function gives for a vector of elements.
 */
typedef const VxVector *(*CcElementVector) (StReader *r, CcChunk *elements, uint32 vecno,
											const uint64 *selection, void *arg);

extern const VxVector *cc_array_parts(StReader *r, CcChunk *chunk, uint32 vecno,
									  const uint64 *rows, CcElementVector vector, void *arg);

/*
 * Arrays of a vector's rows (NULL: all), and of one row, that are not null.
 * src, len: what the vector has behind its null bitmap; valid: that bitmap, or
 * NULL if no row is null.
 */
extern void cc_array_decode(StReader *r, CcChunk *chunk, const uint8 *src, Size len,
							uint32 vecno, const uint64 *rows, Datum *values);
extern Datum cc_array_point(StReader *r, CcChunk *chunk, const uint8 *src, Size len,
							uint32 vecno, uint32 i, const uint64 *valid);

#endif							/* CC_ARRAY_READ_H */
