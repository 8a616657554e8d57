/*-------------------------------------------------------------------------
 *
 * zs_counter.h
 *	  Counts byte strings: how often each occurs, in how many documents.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZS_COUNTER_H
#define ZS_COUNTER_H

#include "postgres.h"

#include "st_core.h"

typedef struct ZsCount
{
	StStr		s;				/* a copy */
	uint32		count;
	uint32		ndocs;			/* documents it occurs in */
	uint32		last_doc;
	uint32		id;				/* the caller's */
} ZsCount;

typedef struct ZsCounter
{
	MemoryContext context;
	uint32		mask;
	uint32	   *table;			/* number of an entry + 1, 0: free */
	ZsCount    *entries;
	uint32		n;
	uint32		cap;
	Size		bytes;			/* of the strings */
	Size		max_bytes;
} ZsCounter;

/* In the current memory context. */
extern void zs_counter_init(ZsCounter *c, Size max_bytes);

/* Counts one more; NULL if it is new and there is no room for it. */
extern ZsCount *zs_counter_add(ZsCounter *c, const void *data, uint32 len,
							   uint32 doc);

/* The entry of a string, or NULL. */
extern const ZsCount *zs_counter_find(ZsCounter *c, const void *data,
									  uint32 len);

#endif							/* ZS_COUNTER_H */
