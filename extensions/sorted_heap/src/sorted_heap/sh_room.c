/*-------------------------------------------------------------------------
 *
 * sh_room.c
 *	  Where rows that compaction moves find room: pages without rows, taken in
 *	  the order of the table, which VACUUM has freed.
 *
 * A page that is taken is no longer offered to others by the free space map.
 * Nothing reserves it: who writes to it looks whether there is room.
 *
 * VACUUM is heap's own, run here between steps, because what one step leaves
 * is what the next one fills.  It frees nothing that a snapshot may see.
 *
 * Locks: heap pages shared, one at a time.  The caller has locked the table
 * against VACUUM, and so against truncation.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/rel.h"

#include "sh_move.h"
#include "st_compat.h"
#include "zm_vacuum.h"

/* A page with so much room is taken for empty; line pointers may be left. */
#define EMPTY_ROOM (BLCKSZ - BLCKSZ / 16)

Size
sh_page_room(Relation rel, BlockNumber block)
{
	Buffer		buf = ReadBuffer(rel, block);
	Size		room;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	room = PageGetHeapFreeSpace(BufferGetPage(buf));
	UnlockReleaseBuffer(buf);
	return room;
}

/* The next page without rows, or InvalidBlockNumber.  The map may be wrong. */
BlockNumber
sh_room_next(Relation rel, ShRoom *room)
{
	BlockNumber end = Min(room->end, RelationGetNumberOfBlocks(rel));

	while (room->next < end)
	{
		BlockNumber block = room->next++;

		CHECK_FOR_INTERRUPTS();
		if (GetRecordedFreeSpace(rel, block) < EMPTY_ROOM ||
			sh_page_room(rel, block) < EMPTY_ROOM)
			continue;
		RecordPageWithFreeSpace(rel, block, 0);
		return block;
	}
	return InvalidBlockNumber;
}

/* Pages without rows, as VACUUM has left the map. */
BlockNumber
sh_room_count(Relation rel)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber count = 0;

	for (BlockNumber block = 0; block < nblocks; block++)
	{
		CHECK_FOR_INTERRUPTS();
		count += GetRecordedFreeSpace(rel, block) >= EMPTY_ROOM;
	}
	return count;
}

/*
 * Begins a transaction that does nothing but VACUUM, as the server's does.  Its
 * snapshot may be as old as the oldest transaction of any database; what VACUUM
 * may remove is a matter of this database's alone.
 */
void
sh_room_begin(void)
{
	LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
	MyProc->statusFlags |= PROC_IN_VACUUM;
	ProcGlobal->statusFlags[MyProc->pgxactoff] = MyProc->statusFlags;
	LWLockRelease(ProcArrayLock);
}

static void
vacuum_heap(Relation rel, bool indexes, bool truncate)
{
	VacuumParams params = {0};

	params.options = VACOPT_VACUUM;
	params.freeze_min_age = -1;
	params.freeze_table_age = -1;
	params.multixact_freeze_min_age = -1;
	params.multixact_freeze_table_age = -1;
	st_vacuum_params_quiet(&params);
	params.index_cleanup = indexes ? VACOPTVALUE_ENABLED :
		VACOPTVALUE_DISABLED;
	params.truncate = truncate && st_may_truncate(rel) ?
		VACOPTVALUE_ENABLED : VACOPTVALUE_DISABLED;
	params.nworkers = -1;
	table_relation_vacuum(rel, &params, GetAccessStrategy(BAS_VACUUM));
}

/* Removes dead tuples, but not their line pointers. */
void
sh_room_prune(Relation rel)
{
	vacuum_heap(rel, false, false);
}

/*
 * VACUUM of the table and of its TOAST table, which stays locked; `last`: no
 * more rows are to be moved, as far as is known, so the table may be cut off,
 * and indexes packed.
 */
void
sh_room_reclaim(Relation rel, bool last)
{
	/* Where a commit is not on disk yet, pages cannot become all visible. */
	XLogFlush(XactLastCommitEnd);
	zm_packing = last ? ZM_PACK_ALWAYS : ZM_PACK_NEVER;
	PG_TRY();
	{
		vacuum_heap(rel, true, last);
	}
	PG_FINALLY();
	{
		zm_packing = ZM_PACK_SPARSE;
	}
	PG_END_TRY();
	if (OidIsValid(rel->rd_rel->reltoastrelid))
	{
		Relation	toast = table_open(rel->rd_rel->reltoastrelid,
									   ShareUpdateExclusiveLock);

		vacuum_heap(toast, true, last);
		table_close(toast, NoLock);
	}
}
