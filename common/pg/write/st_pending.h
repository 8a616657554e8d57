/*-------------------------------------------------------------------------
 *
 * st_pending.h
 *	  Rows on their way into a row group, as st_insert.c sees them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_PENDING_H
#define ST_PENDING_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "utils/rel.h"

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
								   CommandId cid, int options);

/* Adds a row to the group under construction; sets its virtual TID. */
extern void st_pending_add(StPending *pending, Relation rel,
						   TupleTableSlot *slot, CommandId cid, int options);

#endif							/* ST_PENDING_H */
