/*-------------------------------------------------------------------------
 *
 * vx_shared_chunks.h
 *	  Lists of chunks in memory that the participants of a parallel plan share.
 *
 * A list begins with a dsa_pointer_atomic, which the caller initializes to
 * InvalidDsaPointer.  Any participant may put a chunk in front at any time; reading
 * and freeing a list begins when nobody does so any more.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_SHARED_CHUNKS_H
#define VX_SHARED_CHUNKS_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "utils/dsa.h"

/* What a chunk begins with. */
typedef struct VxSharedChunk
{
	dsa_pointer next;			/* or invalid */
} VxSharedChunk;

/* Its place in this process; there is one area in each participant. */
static inline void *
vx_shared_chunk(const PlanState *ps, dsa_pointer chunk)
{
	return dsa_get_address(ps->state->es_query_dsa, chunk);
}

/* The chunk has been filled: others may read what it has. */
extern void vx_shared_chunk_put(const PlanState *ps, dsa_pointer_atomic *list,
								dsa_pointer chunk);

/* All of a list, which is empty then. */
extern void vx_shared_chunks_free(const PlanState *ps, dsa_pointer_atomic *list);

#endif							/* VX_SHARED_CHUNKS_H */
