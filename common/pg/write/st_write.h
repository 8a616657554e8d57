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
										CommandId cid, StInsertOptions options,
										struct BulkInsertStateData *bistate,
										uint32 token);
extern void st_tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid,
							StInsertOptions options, struct BulkInsertStateData *bistate);
extern void st_multi_insert(Relation rel, TupleTableSlot **slots, int nslots,
							CommandId cid, StInsertOptions options,
							struct BulkInsertStateData *bistate);
extern void st_finish_bulk_insert(Relation rel, StInsertOptions options);

/* ------------------------------------------------------------------------
 * Pending writers: st_pending.c
 * ------------------------------------------------------------------------
 */

extern void st_pending_init(void);	/* once per backend */

/*
 * Rows of one command that go to the delta before a row group is begun: a
 * small write costs what a heap write costs (I4).
 */
#ifndef ST_BULK_THRESHOLD		/* tests compile with another one */
#define ST_BULK_THRESHOLD	1000
#endif

typedef struct StPending StPending;

/*
 * The state of the running command's inserts into rel, or NULL if its rows
 * must all go to the delta.
 */
extern StPending *st_pending_get(Relation rel, CommandId cid);

/*
 * How many of nrows more rows belong into the delta.  Counts them.  The
 * others are to be given to st_pending_add().
 */
extern int	st_pending_delta_share(StPending *pending, Relation rel, int nrows,
								   CommandId cid, StInsertOptions options);

/* Adds a row to the group under construction; sets its virtual TID. */
extern void st_pending_add(StPending *pending, Relation rel,
						   TupleTableSlot *slot, CommandId cid, StInsertOptions options);

/*
 * The same for new versions of rows that a command updates: many more than go
 * to the delta at first.  NULL: this one is to go there, too.
 */
#ifndef ST_BULK_UPDATE
#define ST_BULK_UPDATE	2000
#endif

extern StPending *st_pending_for_update(Relation rel, CommandId cid);

/* What the command has changed last; all zeros when it begins. */
extern StGrowth *st_pending_updated(StPending *pending);

/* The row number that the next version gets, and adding it. */
extern uint64 st_pending_next_row(StPending *pending, Relation rel, CommandId cid);
extern void st_pending_add_version(StPending *pending, Relation rel,
								   TupleTableSlot *slot, CommandId cid);

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

/* Is the row pending, and the snapshot one that will not see it? */
extern bool st_pending_hides_row(Relation rel, uint64 row, Snapshot snapshot);

/* st_flush_pending() for who is going to read with the snapshot. */
extern void st_flush_pending_for(Relation rel, Snapshot snapshot);

/* Forgets what is pending for rel's file (it is being emptied). */
extern void st_pending_discard(Relation rel);

/* Flushes rows that an earlier command left pending. */
extern void st_pending_flush_stale(Relation rel);

#endif							/* ST_WRITE_H */
