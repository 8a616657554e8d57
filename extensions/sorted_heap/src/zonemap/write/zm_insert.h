/*-------------------------------------------------------------------------
 *
 * zm_insert.h
 *	  Rows entered into a zonemap.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_INSERT_H
#define ZM_INSERT_H

#include "postgres.h"

#include "access/genam.h"
#include "access/itup.h"
#include "nodes/execnodes.h"

/* zm_insert.c */
extern bool zm_insert(Relation index, Datum *values, bool *nulls,
					  ItemPointer tid, Relation heap, IndexUniqueCheck check,
					  bool unchanged, IndexInfo *info);
extern void zm_insert_hint(Relation index, BlockNumber leaf,
						   OffsetNumber position);
extern void zm_insert_hint_adds(void);

/* zm_insert_many.c */
extern void zm_insert_many(Relation index, Relation heap, IndexInfo *info,
						   IndexTuple *entries, int n);

#endif							/* ZM_INSERT_H */
