/*-------------------------------------------------------------------------
 *
 * vx_vector_bytes.h
 *	  Vectors as bytes, for shared memory and files.
 *
 * Nothing in them is a pointer, but for a size all is MAXALIGNed: values by
 * reference are offsets from the start of the bytes, which may stand anywhere
 * when they are read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_VECTOR_BYTES_H
#define VX_VECTOR_BYTES_H

#include "postgres.h"

#include "storage/buffile.h"

#include "vx_vector.h"

/* Bytes that grow. */
typedef struct VxBytes
{
	MemoryContext mcxt;
	char	   *data;			/* NULL: none yet */
	Size		used;
	Size		capacity;
	Datum		values[ST_VECTOR_SIZE]; /* of a dictionary */
} VxBytes;

/* Room at the end; returns its offset. */
extern Size vx_bytes_room(VxBytes *b, Size size);
extern Size vx_bytes_add(VxBytes *b, const void *data, Size size);

/*
 * Adds a vector's values.  Of nulls, values by reference are zero.  Codes of the
 * vector become numbers of the values that it has.
 */
extern void vx_bytes_add_vector(VxBytes *b, VxVector *v);

/* The next piece of the bytes at *at. */
static inline void *
vx_bytes_take(char **at, Size size)
{
	void	   *result = *at;

	*at += MAXALIGN(size);
	return result;
}

/*
 * A vector of n values, which stay in the bytes that begin at start; what else it
 * needs is in the current memory context.  number: tells its dictionary from others.
 */
extern void vx_bytes_take_vector(char *start, char **at, int n, int16 typlen, uint64 number,
								 VxVector *v);

/* So many bytes of a temporary file, or an error. */
extern void vx_read_exactly(BufFile *file, void *bytes, Size size);

#endif							/* VX_VECTOR_BYTES_H */
