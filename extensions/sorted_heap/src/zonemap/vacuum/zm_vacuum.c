/*-------------------------------------------------------------------------
 *
 * zm_vacuum.c
 *	  VACUUM of a zonemap: exact entries of dead rows go, leaves are tightened
 *	  (zm_fold.c) and merged (zm_shrink.c).
 *
 * Pages are visited by block number.  A split during that moves entries to a
 * page at the end, which is visited later; a split never takes
 * a page that was used before.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "st_compat.h"
#include "st_wal.h"
#include "zm_page.h"
#include "zm_vacuum.h"
#include "zm_wal.h"

/* Compaction sets it for its own VACUUM (sh_room.c). */
ZmPacking	zm_packing = ZM_PACK_SPARSE;

static void
vacuum_leaf(IndexVacuumInfo *info, Buffer buf, IndexBulkDeleteResult *stats,
			IndexBulkDeleteCallback callback, void *callback_state)
{
	Page		page = BufferGetPage(buf);
	OffsetNumber dead[MaxIndexTuplesPerPage];
	int			ndead = 0;

	for (OffsetNumber off = ZmPageFirst(page);
		 off <= PageGetMaxOffsetNumber(page); off++)
	{
		IndexTuple	itup = ZmPageGetEntry(page, off);
		ItemPointerData tid;

		if (ZmIsZone(itup))
			continue;
		zm_exact_check(info->index, itup);
		tid = zm_row_tid(itup);
		if (callback(&tid, callback_state))
			dead[ndead++] = off;
	}
	if (ndead > 0)
	{
		zm_log_delete(info->index, buf, dead, ndead);
		stats->tuples_removed += ndead;
	}
}

IndexBulkDeleteResult *
zm_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			   IndexBulkDeleteCallback callback, void *callback_state)
{
	BlockNumber block = ZM_ROOT_BLOCK;
	BlockNumber nblocks;

	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	stats->estimated_count = true;
	while (block < (nblocks = RelationGetNumberOfBlocks(info->index)))
		for (; block < nblocks; block++)
		{
			Buffer		buf;
			Page		page;

			st_vacuum_delay_point(false);
			st_wal_keep_up();
			buf = ReadBufferExtended(info->index, MAIN_FORKNUM, block,
									 RBM_NORMAL, info->strategy);
			/* Scans that are not MVCC look at a TID again (zm_rows.c). */
			LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
			page = BufferGetPage(buf);
			if (!PageIsNew(page))
			{
				zm_page_check(info->index, buf);
				if (ZmPageIsLeaf(page))
					vacuum_leaf(info, buf, stats, callback, callback_state);
			}
			UnlockReleaseBuffer(buf);
		}
	return stats;
}

IndexBulkDeleteResult *
zm_vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	Relation	heap;

	if (info->analyze_only)
		return stats;
	heap = table_open(info->index->rd_index->indrelid, NoLock);
	zm_fold(info->index, heap, info->strategy);
	/* Merged leaves have zones that the second look finds needless. */
	if (zm_packing != ZM_PACK_NEVER && zm_shrink(info->index, info->strategy))
	{
		zm_fold(info->index, heap, info->strategy);
		zm_shrink(info->index, info->strategy);
	}
	table_close(heap, NoLock);
	if (stats == NULL)
	{
		stats = palloc0(sizeof(IndexBulkDeleteResult));
		stats->estimated_count = true;
	}
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	/* Rows are not counted: an entry may stand for a page of them. */
	stats->num_index_tuples = info->num_heap_tuples;
	return stats;
}
