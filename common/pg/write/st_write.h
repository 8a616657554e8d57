/*-------------------------------------------------------------------------
 *
 * st_write.h
 *	  INSERT, and rows on their way into a row group.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_WRITE_H
#define ST_WRITE_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "postmaster/bgworker.h"

#include "st_visibility.h"

/* ------------------------------------------------------------------------
 * INSERT: st_insert.c
 * ------------------------------------------------------------------------
 */

struct BulkInsertStateData;

extern void st_tuple_insert_speculative(Relation rel, TupleTableSlot *slot,
										CommandId cid, int options,
										struct BulkInsertStateData *bistate,
										uint32 token);
extern void st_tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid,
							int options, struct BulkInsertStateData *bistate);
extern void st_multi_insert(Relation rel, TupleTableSlot **slots, int nslots,
							CommandId cid, int options,
							struct BulkInsertStateData *bistate);
extern void st_finish_bulk_insert(Relation rel, int options);

/* ------------------------------------------------------------------------
 * Pending writers: st_pending.c
 * ------------------------------------------------------------------------
 */

extern void st_pending_init(void);	/* once per backend */

/* Rows of the delta, for the option auto_compact: st_delta_growth.c */
extern void st_delta_grew(Relation rel, uint64 rows);
extern void st_delta_growth_init(void);

/*
 * Prepares the worker that is to compact rel, in a transaction; false if the
 * table is not to be compacted, or is being compacted.
 */
typedef bool (*StCompactionWanted) (Relation rel, BackgroundWorker *worker);
extern void st_on_delta_growth(StCompactionWanted wanted);

/* Locks what a unique check may read, before there is an index page lock. */
extern void st_catalog_hold(Relation rel);

/* Flushes if the row lies in a range that this backend still has pending. */
extern void st_pending_flush_row(Relation rel, uint64 row);

/* Forgets what is pending for rel's file (it is being emptied). */
extern void st_pending_discard(Relation rel);

/* Flushes rows that an earlier command left pending. */
extern void st_pending_flush_stale(Relation rel);

#endif							/* ST_WRITE_H */
