/*-------------------------------------------------------------------------
 *
 * zm_unique.h
 *	  Uniqueness of a zonemap's keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_UNIQUE_H
#define ZM_UNIQUE_H

#include "postgres.h"

#include "access/genam.h"

#include "zm_key.h"

typedef struct ZmUnique ZmUnique;

extern ZmUnique *zm_unique_begin(const ZmSpace *space, MemoryContext context);
extern bool zm_unique_applies(const ZmUnique *unique, const bool *nulls);
extern void zm_unique_lock(ZmUnique *unique, Datum *values, bool *nulls);
extern bool zm_unique_check(ZmUnique *unique, Relation heap, Datum *values,
							bool *nulls, ItemPointer tid,
							IndexUniqueCheck check, bool *is_unique);
extern bool zm_unique_is_settled(Relation heap, ItemPointer tid);
extern bool zm_unique_purge(const ZmSpace *space, Relation heap,
							const ZmTarget *target);

#endif							/* ZM_UNIQUE_H */
