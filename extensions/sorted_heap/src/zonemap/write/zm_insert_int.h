/*-------------------------------------------------------------------------
 *
 * zm_insert_int.h
 *	  What the parts of insertion into a zonemap share: zm_judge.c,
 *	  zm_insert.c, zm_insert_many.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_INSERT_INT_H
#define ZM_INSERT_INT_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "zm_heap.h"
#include "zm_insert.h"
#include "zm_tree.h"
#include "zm_wal.h"

/* What a row needs of the leaf where its position is. */
typedef enum ZmVerdict
{
	ZM_COVERED,					/* nothing */
	ZM_LOOK_LEFT,				/* a zone may reach over from the left */
	ZM_FILL_HOLE,				/* the hole that begins there becomes a zone */
	ZM_START_ZONE,
	ZM_START_CLOSED,			/* a zone, and a hole where its group ends */
	ZM_ADD_EXACT,
} ZmVerdict;

/*
 * A leaf that is being changed, locked exclusively: by itself, each change
 * logged, or in a copy that the caller logs.
 */
typedef struct ZmLeafEdit
{
	Relation	index;
	Buffer		buf;
	Page		page;
	bool		copy;
	bool		changed;
} ZmLeafEdit;

/* Memory of the inserts of one statement. */
typedef struct ZmInsertState
{
	ZmSpace		space;
	ZmHeapKey	heap_key;
	MemoryContext context;
	ZmTarget	target;
	ZmUnique   *unique;			/* NULL: not unique */
	OffsetNumber position;		/* in the leaf: the last entry not after the
								 * target; for ZM_FILL_HOLE the hole */
	OffsetNumber zone;			/* of the position's group */
	OffsetNumber next;			/* the zone after it, or after all entries;
								 * see group_end() */
	OffsetNumber last;			/* for ZM_START_CLOSED: the group's last entry */
} ZmInsertState;

/* zm_judge.c */
extern ZmVerdict zm_judge(ZmInsertState *state, Relation heap, Page page,
						  ItemPointer tid, bool looked_left, bool exclusive);
extern bool zm_is_alone(ZmInsertState *state, Relation heap, Page page,
						ItemPointer tid);
extern void zm_note_seen(OffsetNumber position);

/* zm_insert.c */
extern ZmInsertState *zm_insert_state(Relation index, Relation heap,
									  IndexInfo *info);
extern void zm_put_entry(ZmLeafEdit *edit, IndexTuple itup, OffsetNumber off);
extern Size zm_add_entry(ZmInsertState *state, ZmLeafEdit *edit,
						 ZmVerdict *need, Datum *values, bool *nulls,
						 ItemPointer tid);
extern bool zm_publish(ZmInsertState *state, Relation heap, Datum *values,
					   bool *nulls, ItemPointer tid, bool mark, bool alone);

#endif							/* ZM_INSERT_INT_H */
