/*-------------------------------------------------------------------------
 *
 * zm_parallel.c
 *	  Scans of a zonemap by several processes, which divide the groups.
 *
 * Shared memory holds a cursor: the copy of a leaf and the group that was
 * handed out last.  A process takes it under a lock, steps to the next group,
 * puts it back, and reads the rows of that group on its own.  So only pages
 * that survive the conditions are divided, and each process returns rows in
 * the order of the index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/lwlock.h"

#include "st_compat.h"
#include "zm_scan.h"
#include "zm_scan_int.h"

struct ZmShared
{
	LWLock		lock;			/* of all that follows */
	ZmPlace		place;
	int			range;
	OffsetNumber zone;
	BlockNumber leaf_block;
	uint32		generation;		/* of the leaf; 0: none yet */
	int64		pages;			/* what processes that are done have counted */
	int64		exact;
	union
	{
		char		data[ZM_COPY_SIZE];
		double		force_align_d;
		int64		force_align_i64;
	}			leaf;
};

Size
zm_parallel_size(void)
{
	return sizeof(ZmShared);
}

void
zm_parallel_init(void *target)
{
	ZmShared   *shared = target;

	memset(shared, 0, offsetof(ZmShared, leaf));
	LWLockInitialize(&shared->lock, LWTRANCHE_PARALLEL_APPEND);
	shared->place = ZM_PLACE_NONE;
}

void
zm_parallel_restart(ZmShared *shared)
{
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	shared->place = ZM_PLACE_NONE;
	LWLockRelease(&shared->lock);
}

/* amparallelrescan */
void
zm_parallel_rescan(IndexScanDesc scan)
{
	zm_parallel_restart(st_parallel_index_state(scan->parallel_scan));
}

/* Lets a scan divide its groups with others. */
void
zm_scan_share(IndexScanDesc scan, ZmShared *shared)
{
	ZmScan	   *state = scan->opaque;

	state->cursor.shared = shared;
	state->cursor.generation = 0;
}

/*
 * Adds what this process has counted to what others have, and takes the sum
 * as the scan's counts.
 */
void
zm_scan_share_counts(IndexScanDesc scan)
{
	ZmScan	   *state = scan->opaque;
	ZmShared   *shared = state->cursor.shared;

	if (shared == NULL)
		return;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	shared->pages += state->pages;
	shared->exact += state->exact;
	state->pages = shared->pages;
	state->exact = shared->exact;
	LWLockRelease(&shared->lock);
	state->cursor.shared = NULL;
}

static void
copy_leaf(char *to, Page from)
{
	PageHeader	header = (PageHeader) from;

	memcpy(to, from, header->pd_lower);
	memcpy(to + header->pd_upper, from + header->pd_upper,
		   ZM_COPY_SIZE - header->pd_upper);
}

/* Goes to the next group that nobody has; false at the end. */
bool
zm_parallel_step(ZmCursor *cursor, bool forward)
{
	ZmShared   *shared = cursor->shared;
	bool		found;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	cursor->place = shared->place;
	if (cursor->place == ZM_PLACE_GROUP)
	{
		if (cursor->generation != shared->generation)
		{
			copy_leaf(zm_cursor_whole(cursor), shared->leaf.data);
			cursor->leaf = cursor->whole;
			cursor->leaf_block = shared->leaf_block;
			cursor->generation = shared->generation;
		}
		cursor->zone = shared->zone;
		if (cursor->quals.current != shared->range)
			zm_quals_range(&cursor->quals, shared->range);
	}
	cursor->fresh = false;
	found = forward ? zm_cursor_next(cursor) : zm_cursor_previous(cursor);
	shared->place = cursor->place;
	shared->zone = cursor->zone;
	shared->range = cursor->quals.current;
	if (found && cursor->fresh)
	{
		copy_leaf(shared->leaf.data, cursor->leaf);
		shared->leaf_block = cursor->leaf_block;
		cursor->generation = ++shared->generation;
	}
	LWLockRelease(&shared->lock);
	return found;
}
