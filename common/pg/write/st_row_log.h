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

#include "executor/tuptable.h"
#include "utils/rel.h"

typedef struct StRowLog StRowLog;

/* Does rel tell logical decoding of its loads? */
extern bool st_row_log_wanted(Relation rel);

/*
 * An empty log, in mcxt, of rows that the transaction xid inserts.  It has
 * written WAL already.
 */
extern StRowLog *st_row_log_create(MemoryContext mcxt, TransactionId xid);

/* Adds a row, all of whose values are there.  Writes now and then. */
extern void st_row_log_add(StRowLog *log, Relation rel, TupleTableSlot *slot);

/* Writes the rest, in the transaction or in one of its subtransactions. */
extern void st_row_log_write(StRowLog *log, Relation rel);

/* Nothing is left to write. */
extern bool st_row_log_is_empty(const StRowLog *log);

/* Bytes that it takes. */
extern Size st_row_log_memory(const StRowLog *log);

#endif							/* ST_ROW_LOG_H */
