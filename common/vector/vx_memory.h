/*-------------------------------------------------------------------------
 *
 * vx_memory.h
 *	  Memory for tables that are looked into at random.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_MEMORY_H
#define VX_MEMORY_H

#include "postgres.h"

/* A chunk of the context, of any size, for pfree(); zeroed if asked for. */
extern void *vx_table_alloc(MemoryContext mcxt, Size bytes, bool zero);

/* The chunk with more bytes; what is new is undefined. */
extern void *vx_table_grow(void *table, Size bytes);

#endif							/* VX_MEMORY_H */
