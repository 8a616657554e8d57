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

#include "zm_key.h"

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

/* ---- zm_unique.c ---- */

typedef struct ZmUnique ZmUnique;

extern ZmUnique *zm_unique_begin(const ZmSpace *space, MemoryContext context);
extern bool zm_unique_applies(const ZmUnique *unique, const bool *nulls);
extern void zm_unique_lock(ZmUnique *unique, Datum *values, bool *nulls);
extern bool zm_unique_check(ZmUnique *unique, Relation heap, Datum *values,
							bool *nulls, ItemPointer tid,
							IndexUniqueCheck check, bool *is_unique);
extern bool zm_unique_is_settled(Relation heap, ItemPointer tid);
extern bool zm_unique_purge(const ZmSpace *space, Relation heap,
							const ZmTarget *target);

#endif							/* ZM_INSERT_H */
