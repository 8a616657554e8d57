/*-------------------------------------------------------------------------
 *
 * zm_note.c
 *	  Notes: how far heap pages have their line pointers in key order.
 *
 * A reader that finds all keys of a heap page in the order of their line
 * pointers, or all but some at the end, as merge() leaves it, notes that and
 * the page's LSN in its zone, as one sets a hint bit: with the leaf locked
 * shared, and not logged.  As long as the page's LSN is that one,
 * nothing was put on the page, removed or moved, and later readers may search
 * that part in halves (I13).  A note that is lost or out of date costs time alone.
 * Only readers with an MVCC snapshot use notes; unique checks do not.
 *
 * Why the LSN says enough:
 *	- all changes of line pointers and keys are logged, with a new LSN; where
 *	  they are not (unlogged and temporary tables, while WAL is skipped), no
 *	  notes are made or believed; what such changes do to pages that were
 *	  copied into a new file with their LSN is told by the file's number;
 *	- the LSN was flushed before it is noted, so no crash can give it to
 *	  another change of the page;
 *	- a note is a hash of LSN, file, block and the last line pointer in order,
 *	  and that line pointer: logged changes of the leaf carry parts of notes to
 *	  standbys, and a mixture of two is no note of anything.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "st_compat.h"
#include "zm_heap.h"

/*
 * The note for a page in this state, with keys in order up to a line pointer;
 * 0: there is none.
 */
uint64
zm_note_for(Relation heap, Page page, BlockNumber block, OffsetNumber sorted)
{
	uint64		lsn = PageGetLSN(page);
	uint64		file = st_locator_number(st_relation_locator(heap));

	if (!RelationNeedsWAL(heap) || XLogRecPtrIsInvalid(lsn))
		return 0;
	if (sorted == InvalidOffsetNumber)
		return 0;
	/* the finaliser of MurmurHash3 */
	lsn ^= (uint64) block << 40 ^ (uint64) sorted << 53 ^
		file * UINT64CONST(0x9e3779b97f4a7c15);
	lsn ^= lsn >> 33;
	lsn *= UINT64CONST(0xff51afd7ed558ccd);
	lsn ^= lsn >> 33;
	lsn *= UINT64CONST(0xc4ceb9fe1a85ec53);
	lsn ^= lsn >> 33;
	return (lsn & ~(uint64) ZM_NOTE_SORTED) | sorted;
}

/*
 * Writes a note into a zone, of which the caller has a copy, of a leaf; if the
 * zone is still there, and the LSN is on disk.
 */
void
zm_note_write(const ZmSpace *space, BlockNumber leaf, IndexTuple zone,
			  uint64 note, XLogRecPtr lsn)
{
	ZmTarget	position;
	Buffer		buf;
	Page		page;
	IndexTuple	itup;

	if (!(ZmFlags(zone) & ZM_NOTE) || XLogNeedsFlush(lsn))
		return;
	zm_target_from_entry(space, &position, zone);
	buf = zm_read_page(space->index, leaf, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buf);
	/* The root may have become an inner page. */
	if (ZmPageIsLeaf(page))
	{
		itup = ZmPageGetEntry(page, zm_search(space, page, &position));
		if (ZmIsZone(itup) && ZmBlock(itup) == ZmBlock(zone) &&
			(ZmFlags(itup) & ZM_NOTE) &&
			zm_compare(space, &position, itup) == 0)
		{
			*ZmNote(itup) = note;
			MarkBufferDirtyHint(buf, true);
		}
	}
	UnlockReleaseBuffer(buf);
}
