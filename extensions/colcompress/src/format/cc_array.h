/*-------------------------------------------------------------------------
 *
 * cc_array.h
 *	  Arrays of objects: a jsonb column as lengths and a column of elements.
 *
 *	 chunk   = | elements | whole | blocks: null bitmaps, lengths | meta |
 *
 * The elements of all rows' arrays, one behind the other, are a jsonb column
 * of their own (*elements*), with rows and vectors of its own number; it is
 * shredded as documents are, so that a path below the array has sub-columns.
 * A scalar stands there as the document that it is in jsonb, an array of one
 * element with the flag of a scalar.  What is no array, or would not come back
 * as the same bytes, is *kept whole*, in a column that is null elsewhere.
 *
 * A vector has, behind its null bitmap, an st_int vector: the number of the
 * array's elements and 1, or 0 where it is kept whole; anything for nulls.
 *
 * In the meta, as the chunk's extra part:
 *	 | elements v | per vector: elements before it |
 *	 | a CcFooterColumn for the elements | and one for what is kept whole |
 *
 * Elements may have arrays themselves, CC_ARRAY_MAX_DEPTH levels of them.
 *
 *	 cc_array_write.c	arrays to elements
 *	 cc_array_read.c	elements to arrays
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_ARRAY_H
#define CC_ARRAY_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "cc_column.h"

/* Arrays around a column of elements, at most. */
#define CC_ARRAY_MAX_DEPTH 3

/* Elements of a chunk: as many as vectors can be counted.  More are kept whole. */
#define CC_ARRAY_MAX_ELEMENTS ((uint32) CC_MAX_VECTORS * ST_VECTOR_SIZE)

/* The columns of such a chunk.  On disk: their order in the meta. */
typedef enum CcArrayPart
{
	CC_ARRAY_ELEMENTS = 0,
	CC_ARRAY_WHOLE = 1
} CcArrayPart;

#define CC_ARRAY_PARTS 2

/* Are most values arrays, of objects for the most part?  By a sample. */
extern bool cc_array_likely(const CcColumn *col, const StStr *values);

/*
 * Encodes a jsonb column as arrays: elements, and what is kept whole, into the
 * writer's blob region, vectors of lengths, meta into extra.  Returns false,
 * with the writer as it was, if that is not smaller than limit bytes, or if the
 * elements are plain documents still, which are not read any faster.
 */
extern bool cc_array_encode(CcColumn *col, CcChunkWriter *w, const StStr *values,
							uint64 limit, StringInfo extra);

#endif							/* CC_ARRAY_H */
