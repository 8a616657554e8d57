/*-------------------------------------------------------------------------
 *
 * zm_note.h
 *	  Notes in zones: how far heap pages are in key order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_NOTE_H
#define ZM_NOTE_H

#include "postgres.h"

#include "access/htup_details.h"
#include "storage/bufpage.h"

#include "zm_key.h"

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

#endif							/* ZM_NOTE_H */
