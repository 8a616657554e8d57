/*-------------------------------------------------------------------------
 *
 * zm_wal.c
 *	  All WAL that zonemap and sorted_heap make by hand.
 *
 * Every record is one that any server replays without this library.  Redo of each
 * leaves the pages as the change left them, and no state between two records is
 * one that a reader or a later change has to mend.
 *
 *	what							record			pages		made by
 *	------------------------------	--------------	----------	-------------
 *	one entry added to a leaf		Btree INSERT_	leaf		zm_log_add
 *									LEAF
 *	an entry in another's place		Generic			leaf		zm_log_replace
 *	entries taken from a leaf		Generic			leaf		zm_log_delete
 *	many rows added to a leaf		Generic			leaf		zm_insert_many
 *	a leaf written anew				Generic, image	leaf		zm_log_image
 *	a split of a page				Generic, images	page, new	zm_split
 *									and difference	right; parent
 *	a split of the root				Generic, images	root, two	zm_split
 *									of three		new
 *	entries to the left neighbour	Generic, images	left; right,	zm_shrink
 *									and difference	parent
 *	the only child into the root	Generic, images	root, child	zm_shrink
 *	a page to another block			Generic, images	new, left,	zm_shrink
 *									and difference	parent, old
 *	a new index						full images		all			zm_log_index
 *	the init fork of one			full images		two			zm_log_new_page
 *	old tuples of moved rows		Generic			heap page	sh_leave
 *
 * The end of an index is cut off by RelationTruncate(), which logs that itself.
 *
 * What each promises:
 *
 * INSERT_LEAF		Redo is PageAddItem() at the offset, on a page with an nbtree
 *					special space, which a leaf has (zm_page.h).  Redo looks at the
 *					opaque data for nothing else.
 * Generic			Redo replaces the bytes that differ, and zeroes what is between
 *					pd_lower and pd_upper.  All pages of a record are locked
 *					together while it is redone.  Hint bits of heap pages that
 *					were set before may differ on a standby.
 * Generic, image	Redo replaces the page.
 *
 * Tested on 15, 17 and 18: a standby and crash recovery without the library
 * (test_standby_without_the_library), kill -9 (test_crash and
 * test_kill_beside_compaction), notes on standbys (test_notes_of_a_standby).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/nbtxlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"

#include "st_compat.h"
#include "zm_wal.h"

static bool
has_notes(Page page)
{
	for (OffsetNumber off = ZmPageFirst(page);
		 off <= PageGetMaxOffsetNumber(page); off++)
	{
		IndexTuple	itup = ZmPageGetEntry(page, off);

		if (ZmIsZone(itup) && (ZmFlags(itup) & ZM_NOTE))
			return true;
	}
	return false;
}

/* ---- changes of several pages, or of many entries ---- */

ZmChange *
zm_change_begin(Relation index)
{
	return GenericXLogStart(index);
}

/* The copy of a page for a change that moves no entry with room for a note. */
Page
zm_change_page(ZmChange *change, Buffer buf)
{
	return GenericXLogRegisterBuffer(change, buf, 0);
}

/*
 * The copy of a page for a change that moves entries on it.  It is logged as a
 * whole if any entry has room for a note.  Else only what differs would be, and
 * notes are not logged: bytes of a note here might be by chance what they become,
 * while a standby has another note there.
 */
Page
zm_change_moving(ZmChange *change, Buffer buf)
{
	return GenericXLogRegisterBuffer(change, buf,
									 has_notes(BufferGetPage(buf)) ?
									 GENERIC_XLOG_FULL_IMAGE : 0);
}

/* The copy of a page that is logged as a whole. */
Page
zm_change_all(ZmChange *change, Buffer buf)
{
	return GenericXLogRegisterBuffer(change, buf, GENERIC_XLOG_FULL_IMAGE);
}

/* The page becomes the image. */
void
zm_change_image(ZmChange *change, Buffer buf, Page image)
{
	memcpy(zm_change_all(change, buf), image, BLCKSZ);
}

/* Makes the change and logs it; or, unless `changed`, drops it. */
void
zm_change_end(ZmChange *change, bool changed)
{
	if (changed)
		GenericXLogFinish(change);
	else
		GenericXLogAbort(change);
}

/* ---- changes of one leaf, which is locked exclusively ---- */

/* Adds an entry to a leaf that has room for it. */
void
zm_log_add(Relation index, Buffer buf, IndexTuple itup, OffsetNumber off)
{
	Page		page = BufferGetPage(buf);

	START_CRIT_SECTION();
	zm_page_add(page, itup, off);
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(index))
	{
		xl_btree_insert record = {.offnum = off};
		XLogRecPtr	lsn;

		XLogBeginInsert();
		st_xlog_register_data(&record, SizeOfBtreeInsert);
		XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) itup, IndexTupleSize(itup));
		lsn = XLogInsert(RM_BTREE_ID, XLOG_BTREE_INSERT_LEAF);
		PageSetLSN(page, lsn);
	}
	END_CRIT_SECTION();
}

/* Puts an entry in the place of another one; there is room for it. */
void
zm_log_replace(Relation index, Buffer buf, OffsetNumber off, IndexTuple itup)
{
	ZmChange   *change = zm_change_begin(index);

	zm_page_replace(zm_change_moving(change, buf), off, itup);
	zm_change_end(change, true);
}

/* Takes entries from a leaf. */
void
zm_log_delete(Relation index, Buffer buf, OffsetNumber *offs, int n)
{
	ZmChange   *change = zm_change_begin(index);

	PageIndexMultiDelete(zm_change_moving(change, buf), offs, n);
	zm_change_end(change, true);
}

void
zm_log_image(Relation index, Buffer buf, Page image)
{
	ZmChange   *change = zm_change_begin(index);

	zm_change_image(change, buf, image);
	zm_change_end(change, true);
}

/* ---- new indexes ---- */

/* Logs all pages of an index that nobody else uses. */
void
zm_log_index(Relation index)
{
	if (RelationNeedsWAL(index))
		log_newpage_range(index, MAIN_FORKNUM, 0,
						  RelationGetNumberOfBlocks(index), true);
}

/* A page of an init fork, in the caller's critical section. */
void
zm_log_new_page(Buffer buf)
{
	MarkBufferDirty(buf);
	log_newpage_buffer(buf, true);
}
