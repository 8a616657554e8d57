/*-------------------------------------------------------------------------
 *
 * zm_fold.h
 *	  Tightening of leaves: exact entries to zones, empty zones to holes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_FOLD_H
#define ZM_FOLD_H

#include "postgres.h"

#include "zm_heap.h"

/* Fewer exact entries than this in a row become no zone: they are smaller. */
#define ZM_FEWEST_ENTRIES 2

extern void zm_fold(Relation index, Relation heap,
					BufferAccessStrategy strategy);

#endif							/* ZM_FOLD_H */
