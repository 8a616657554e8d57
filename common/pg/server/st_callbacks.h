/*-------------------------------------------------------------------------
 *
 * st_callbacks.h
 *	  Relcache invalidations, for any number of callers in one slot.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_CALLBACKS_H
#define ST_CALLBACKS_H

#include "postgres.h"

#include "utils/inval.h"

/*
 * As CacheRegisterRelcacheCallback(): function(arg, relid) is called for each
 * invalidation of a relcache entry, or of all if relid is InvalidOid, until the
 * backend ends.  All libraries of this project take one of the server's slots
 * together; FATAL (by the server) where not even that one is left.
 */
extern void st_callbacks_relcache(RelcacheCallbackFunction function, Datum arg);

#endif							/* ST_CALLBACKS_H */
