/*-------------------------------------------------------------------------
 *
 * st_mow.h
 *	  DELETE of many rows of a row group at once, for a scan that knows which
 *	  rows are to be deleted, and that nobody wants to see them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_MOW_H
#define ST_MOW_H

#include "postgres.h"

#include "st_store.h"

/* Rows that one call can delete: those of a vector. */
#define ST_MOW_ROWS		1024
#define ST_MOW_WORDS	(ST_MOW_ROWS / 64)

/*
 * Fewer are left to tuple_delete: a fetch looks at every swath that may have
 * its row, and of tombstones at its own alone.
 */
#define ST_MOW_LEAST	16

/*
 * May rows of the table be deleted so, as far as the table and the transaction
 * go?  Not if somebody has to be told of each row.
 */
extern bool st_mow_possible(Relation rel);

/*
 * Deletes rows of the group as command cid, without waiting for anybody.
 * selection: bits of the nrows rows from row start of the group on.  Sets the
 * bits of those that were deleted in mown, and returns how many these are: none
 * that comes behind one that somebody else has locked or deleted, and maybe
 * none at all.
 */
extern uint32 st_mow(Relation rel, const StGroup *group, uint32 start, uint32 nrows,
					 const uint64 *selection, CommandId cid, uint64 *mown);

#endif							/* ST_MOW_H */
