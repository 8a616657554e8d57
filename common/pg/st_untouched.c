/*-------------------------------------------------------------------------
 *
 * st_untouched.c
 *	  Row groups that no row was ever deleted from.
 *
 * Every fetch asks whether its row has a tombstone, and nearly always none of
 * the whole group has.  Entries of the tombstones of a group would stand side
 * by side in the index of the TOAST relation.  If that place is on one leaf
 * page and holds nothing, it stays empty as long as the page does not change:
 * whoever inserts an entry there, or moves the place to another page, changes
 * the page and its LSN.  So this file remembers, per backend, page and LSN.
 *
 * For MVCC snapshots: a tombstone that such a snapshot sees has been in the
 * index since before it was taken.  Not for serializable transactions, whose
 * probes leave predicate locks, nor for indexes that are not WAL-logged.
 *
 * Callers hold a lock on the table and have its TOAST relation open.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "st_store_int.h"

/* Remembered groups; a power of two. */
#define ST_UNTOUCHED		256

/* Looks at a group that are left out after one that was of no use. */
#define ST_LOOKS_LEFT_OUT	32

typedef struct StUntouched
{
	RelFileLocator index;
	uint64		first_row;
	uint32		nrows;			/* 0: nothing is remembered */
	uint32		left_out;		/* looks that are still left out */
	BlockNumber block;
	Buffer		buffer;			/* where the page was the last time */
	XLogRecPtr	lsn;			/* invalid: there are tombstones */
	bool		used;
} StUntouched;

static StUntouched untouched[ST_UNTOUCHED];

static StUntouched *
untouched_of(const RelFileLocator *index, const StGroup *group)
{
	uint32		hash = hash_combine(murmurhash32((uint32) st_locator_number(*index)),
									murmurhash32((uint32) group->first_row));

	return &untouched[hash & (ST_UNTOUCHED - 1)];
}

static bool
same_group(const StUntouched *u, const RelFileLocator *index, const StGroup *group)
{
	return u->nrows == group->nrows && u->first_row == group->first_row &&
		RelFileLocatorEquals(u->index, *index);
}

/* Is the page in memory, and as it was? */
static bool
page_unchanged(const StUntouched *u, Relation toast, Snapshot snapshot)
{
	bool		same;

	if (XLogRecPtrIsInvalid(u->lsn) ||
		!ReadRecentBuffer(u->index, MAIN_FORKNUM, u->block, u->buffer))
		return false;
	same = BufferGetLSNAtomic(u->buffer) == u->lsn;
	st_test_for_old_snapshot(snapshot, toast, BufferGetPage(u->buffer));
	ReleaseBuffer(u->buffer);
	return same;
}

/* The key of a row's tombstone, to compare entries with. */
static BTScanInsert
tombstone_key(Relation index, uint64 row)
{
	BTScanInsert key = _bt_mkscankey(index, NULL);
	Datum		values[2];

	st_catalog_key(ST_TOMBSTONE, row, values);
	key->keysz = lengthof(values);
	for (int i = 0; i < lengthof(values); i++)
	{
		key->scankeys[i].sk_argument = values[i];
		key->scankeys[i].sk_flags &= ~SK_ISNULL;
	}
	key->anynullkeys = false;
	return key;
}

/*
 * Is there room for entries of these keys on this page alone, and is none of
 * them there?  The page is the one that the first key belongs on.
 */
static bool
place_is_empty(Relation index, Page page, BTScanInsert first, BTScanInsert last)
{
	BTPageOpaque opaque = BTPageGetOpaque(page);
	OffsetNumber low = P_FIRSTDATAKEY(opaque);
	OffsetNumber high = OffsetNumberNext(PageGetMaxOffsetNumber(page));

	if (!P_RIGHTMOST(opaque) && _bt_compare(index, last, page, P_HIKEY) >= 0)
		return false;
	/* the first entry that is not below the first key */
	while (low < high)
	{
		OffsetNumber mid = low + (high - low) / 2;

		if (_bt_compare(index, first, page, mid) > 0)
			low = OffsetNumberNext(mid);
		else
			high = mid;
	}
	return low > PageGetMaxOffsetNumber(page) ||
		_bt_compare(index, last, page, low) < 0;
}

/* Looks at the index; remembers the page if the place is empty. */
static void
look(StCatalog *cat, const StGroup *group, Snapshot snapshot, StUntouched *u)
{
	Relation	index = cat->index;
	BTScanInsert first = tombstone_key(index, group->first_row);
	BTScanInsert last = tombstone_key(index, group->first_row + group->nrows - 1);
	Buffer		buffer;

	_bt_freestack(st_bt_search(index, cat->toast, first, &buffer));
	u->lsn = InvalidXLogRecPtr;
	if (BufferIsValid(buffer))
	{
		st_test_for_old_snapshot(snapshot, cat->toast, BufferGetPage(buffer));
		if (place_is_empty(index, BufferGetPage(buffer), first, last))
			u->lsn = BufferGetLSNAtomic(buffer);
		u->block = BufferGetBlockNumber(buffer);
		u->buffer = buffer;
		_bt_relbuf(index, buffer);
	}
	pfree(first);
	pfree(last);
}

bool
st_group_untouched(StCatalog *cat, const StGroup *group, Snapshot snapshot)
{
	RelFileLocator index = st_relation_locator(cat->index);
	StUntouched *u = untouched_of(&index, group);

	if (snapshot->snapshot_type != SNAPSHOT_MVCC || IsolationIsSerializable() ||
		!RelationNeedsWAL(cat->index))
		return false;
	if (!same_group(u, &index, group))
	{
		memset(u, 0, sizeof(*u));
		u->index = index;
		u->first_row = group->first_row;
		u->nrows = group->nrows;
	}
	else if (page_unchanged(u, cat->toast, snapshot))
	{
		u->used = true;
		return true;
	}
	else if (u->left_out > 0)
	{
		u->left_out--;
		return false;
	}
	look(cat, group, snapshot, u);
	if (XLogRecPtrIsInvalid(u->lsn) || !u->used)
		u->left_out = ST_LOOKS_LEFT_OUT;
	u->used = false;
	return !XLogRecPtrIsInvalid(u->lsn);
}
