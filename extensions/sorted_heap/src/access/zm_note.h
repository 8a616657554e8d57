/*-------------------------------------------------------------------------
 *
 * zm_note.h
 *	  Notes in zones: which heap pages are in key order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_NOTE_H
#define ZM_NOTE_H

#include "postgres.h"

#include "storage/bufpage.h"

#include "zm_key.h"

extern uint64 zm_note_for(Relation heap, Page page, BlockNumber block);
extern void zm_note_write(const ZmSpace *space, BlockNumber leaf,
						  IndexTuple zone, uint64 note, XLogRecPtr lsn);

#endif							/* ZM_NOTE_H */
