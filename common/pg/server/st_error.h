/*-------------------------------------------------------------------------
 *
 * st_error.h
 *	  From the status of a plain C routine to an error of the server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_ERROR_H
#define ST_ERROR_H

#include "postgres.h"

#include "storage/block.h"
#include "utils/rel.h"

#include "st_compat.h"
#include "st_core.h"

/*
 * Raises the error that a status other than ST_OK stands for.  what says
 * which part was read or written ("footer", "column \"a\""); block and
 * offset (bytes from the block's start, may exceed a block) say where in the
 * relation's main fork, InvalidBlockNumber where that is not known.
 * ST_CORRUPT is DATA_CORRUPTED, ST_UNSUPPORTED is FEATURE_NOT_SUPPORTED,
 * ST_NOMEM is OUT_OF_MEMORY; the others cannot happen and are INTERNAL_ERROR.
 */
pg_noreturn extern void st_raise_status(StStatus status, Relation rel, BlockNumber block,
										uint64 offset, const char *what);

/* schema.relation, quoted for SQL; palloc'd. */
extern char *st_qualified_name(Oid relid);

/*
 * Runs step(arg) in a subtransaction, with mcxt as the current context.  NULL,
 * or the error that it raised, copied to mcxt, with all undone that it did.
 */
typedef void (*StTryStep) (void *arg);
extern ErrorData *st_try(StTryStep step, void *arg, MemoryContext mcxt);

#endif							/* ST_ERROR_H */
