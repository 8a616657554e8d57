/*-------------------------------------------------------------------------
 *
 * st_old_rows.h
 *	  The rows that an UPDATE makes its new versions of.
 *
 * An extension calls st_old_rows_register() in its ExecutorStart hook, when the
 * plan is set up.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_OLD_ROWS_H
#define ST_OLD_ROWS_H

#include "postgres.h"

#include "executor/execdesc.h"
#include "nodes/execnodes.h"

/*
 * The row, by its number, from a scan that has it at hand: true if it is in the
 * slot, with the columns that were asked for, and stays valid until the scan
 * moves on.
 */
typedef bool (*StRowAtHand) (void *scan, uint64 row, TupleTableSlot *slot);

/*
 * The scan that finds the rows of a result relation, or NULL; *row_at_hand gets
 * rows from it.  columns: needed ones, booleans by attribute number - 1.
 * Allocates in the current memory context.
 */
typedef void *(*StFindScan) (ModifyTableState *mt, ResultRelInfo *info,
							 const bool *columns, StRowAtHand *row_at_hand);

/* Notes all UPDATEs of our tables in the query.  find may be NULL. */
extern void st_old_rows_register(QueryDesc *queryDesc, StFindScan find);

#endif							/* ST_OLD_ROWS_H */
