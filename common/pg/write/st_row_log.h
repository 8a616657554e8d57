/*-------------------------------------------------------------------------
 *
 * st_row_log.h
 *	  Rows of a row group under construction, as logical decoding wants them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_ROW_LOG_H
#define ST_ROW_LOG_H

#include "postgres.h"

#include "utils/rel.h"

typedef struct StRowLog StRowLog;

/* Does rel tell logical decoding of its loads? */
extern bool st_row_log_wanted(Relation rel);

/* An empty log, in mcxt. */
extern StRowLog *st_row_log_create(MemoryContext mcxt);

/*
 * Adds a row, in the transaction that inserts it.  What has come together is
 * written now and then.
 */
extern void st_row_log_add(StRowLog *log, Relation rel, const Datum *values,
						   const bool *isnull);

/*
 * Writes the rest.  owner is the transaction that inserted the rows, if the
 * running one is one of its subtransactions, else invalid.
 */
extern void st_row_log_write(StRowLog *log, Relation rel, TransactionId owner);

/* Bytes that it takes. */
extern Size st_row_log_memory(const StRowLog *log);

#endif							/* ST_ROW_LOG_H */
