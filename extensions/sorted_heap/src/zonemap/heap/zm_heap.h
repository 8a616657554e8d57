/*-------------------------------------------------------------------------
 *
 * zm_heap.h
 *	  Heap pages as a zonemap reads them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_HEAP_H
#define ZM_HEAP_H

#include "postgres.h"

#include "access/htup_details.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "zm_key.h"

/* Where the kernel for integer-like keys finds them in a tuple without nulls. */
typedef struct ZmHeapKey
{
	const ZmSpace *space;
	TupleDesc	desc;			/* of the heap */
	AttrNumber	attno;			/* of the only column */
	int			offset;			/* of it in a tuple without nulls, or -1 */
} ZmHeapKey;

extern bool zm_is_heap(Relation heap);
extern void zm_heap_key_init(ZmHeapKey *key, const ZmSpace *space,
							 Relation heap);
extern bool zm_heap_key(const ZmHeapKey *key, HeapTuple tuple,
						Datum *values, bool *nulls);
extern OffsetNumber zm_heap_search(const ZmHeapKey *key, Page page,
								   OffsetNumber last, int64 low);
extern bool zm_heap_page_lacks(const ZmHeapKey *key, Relation heap,
							   BlockNumber block, const ZmTarget *from,
							   const ZmTarget *end, bool with_end,
							   const ItemPointerData *self);

/*
 * Whether the heap has such a block.  The number of blocks that smgr
 * remembers is what the heap had at least since this backend locked it: a
 * truncation closes smgr's file in every backend.
 */
static inline bool
zm_block_exists(Relation heap, BlockNumber block)
{
	BlockNumber known = RelationGetSmgr(heap)->smgr_cached_nblocks[MAIN_FORKNUM];

	if (known != InvalidBlockNumber && block < known)
		return true;
	return block < smgrnblocks(RelationGetSmgr(heap), MAIN_FORKNUM);
}

/* The key's number, if the tuple stores it where expected. */
static inline bool
zm_heap_fast(const ZmHeapKey *key, HeapTupleHeader tuple, int64 *number)
{
	if (key->offset < 0 || (tuple->t_infomask & HEAP_HASNULL) ||
		HeapTupleHeaderGetNatts(tuple) < key->attno)
		return false;
	*number = zm_fast_fetch(key->space->fast,
							(char *) tuple + tuple->t_hoff + key->offset);
	return true;
}

/* ---- notes: how far a page is in key order (zm_note.c) ---- */

/* Bits of a note: the last line pointer up to which keys are in order. */
#define ZM_NOTE_SORTED 0x07FF

StaticAssertDecl(MaxHeapTuplesPerPage <= ZM_NOTE_SORTED,
				 "notes have room for a line pointer's number");

static inline OffsetNumber
zm_note_sorted(uint64 note)
{
	return note & ZM_NOTE_SORTED;
}

extern uint64 zm_note_for(Relation heap, Page page, BlockNumber block,
						  OffsetNumber sorted);
extern void zm_note_write(const ZmSpace *space, BlockNumber leaf,
						  IndexTuple zone, uint64 note, XLogRecPtr lsn);

#endif							/* ZM_HEAP_H */
