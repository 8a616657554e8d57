/*-------------------------------------------------------------------------
 *
 * vx_shared_chunks.c
 *	  See vx_shared_chunks.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "vx_shared_chunks.h"

void
vx_shared_chunk_put(const PlanState *ps, dsa_pointer_atomic *list, dsa_pointer chunk)
{
	VxSharedChunk *c = vx_shared_chunk(ps, chunk);

	c->next = dsa_pointer_atomic_read(list);
	while (!dsa_pointer_atomic_compare_exchange(list, &c->next, chunk))
		;
}

void
vx_shared_chunks_free(const PlanState *ps, dsa_pointer_atomic *list)
{
	dsa_pointer chunk = dsa_pointer_atomic_read(list);

	while (DsaPointerIsValid(chunk))
	{
		dsa_pointer next = ((VxSharedChunk *) vx_shared_chunk(ps, chunk))->next;

		dsa_free(ps->state->es_query_dsa, chunk);
		chunk = next;
	}
	dsa_pointer_atomic_write(list, InvalidDsaPointer);
}
