/*-------------------------------------------------------------------------
 *
 * st_untouched.c
 *	  Row groups that no row was ever deleted from.
 *
 * Every fetch asks whether its row has a tombstone, and nearly always none of
 * the whole group has.  Entries of the tombstones of a group would stand side
 * by side in the index of the TOAST relation.  This file remembers, per
 * backend, on which leaf page that place is, and looks at the page again each
 * time, which costs a tenth of a search from the root.
 *
 * What is remembered is a hint.  The page itself proves that the place is on
 * it and empty: an entry before the place, or no page to the left; a high key
 * behind the place, or no page to the right; and nothing between.
 *
 * For MVCC snapshots: a tombstone that such a snapshot sees has been in the
 * index since before it was taken.  Not for serializable transactions, whose
 * probes leave predicate locks.
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

#include "st_visibility.h"

/* Remembered groups; a power of two. */
#define ST_UNTOUCHED		256

/* Searches for a group that are left out after one that was of no use. */
#define ST_LOOKS_LEFT_OUT	32

typedef struct StUntouched
{
	RelFileLocator index;
	uint64		first_row;
	uint32		nrows;			/* 0: nothing is remembered */
	uint32		left_out;		/* searches that are still left out */
	BlockNumber block;			/* or invalid */
	Buffer		buffer;			/* where the page was the last time */
} StUntouched;

static StUntouched untouched[ST_UNTOUCHED];

/* Key of an entry of the index, as its tuples have it. */
typedef struct EntryKey
{
	Oid			chunk_id;
	int32		chunk_seq;
} EntryKey;

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

static EntryKey
tombstone_key(uint64 row)
{
	Datum		values[2];
	EntryKey	key;

	st_catalog_key(ST_TOMBSTONE, row, values);
	key.chunk_id = DatumGetObjectId(values[0]);
	key.chunk_seq = DatumGetInt32(values[1]);
	return key;
}

/* Of an entry, or of a high key that may lack its second column. */
static int
compare(Relation index, Page page, OffsetNumber off, const EntryKey *key)
{
	IndexTuple	itup = (IndexTuple) PageGetItem(page, PageGetItemId(page, off));
	int			natts = BTreeTupleGetNAtts(itup, index);
	const EntryKey *entry = (const EntryKey *) ((char *) itup + sizeof(IndexTupleData));

	if (natts < 1)
		return -1;
	if (entry->chunk_id != key->chunk_id)
		return entry->chunk_id < key->chunk_id ? -1 : 1;
	if (natts < 2)
		return -1;
	return entry->chunk_seq < key->chunk_seq ? -1 :
		entry->chunk_seq > key->chunk_seq;
}

/* Is the place of the group's tombstones on this page, which is locked, and empty? */
static bool
place_is_empty(Relation index, Page page, const StGroup *group)
{
	BTPageOpaque opaque = BTPageGetOpaque(page);
	EntryKey	first = tombstone_key(group->first_row);
	EntryKey	last = tombstone_key(group->first_row + group->nrows - 1);
	OffsetNumber low;
	OffsetNumber high;

	if (PageIsNew(page) || !P_ISLEAF(opaque) || P_IGNORE(opaque) ||
		(!P_RIGHTMOST(opaque) && compare(index, page, P_HIKEY, &last) <= 0))
		return false;

	/* the first entry that is not below the first key */
	low = P_FIRSTDATAKEY(opaque);
	high = OffsetNumberNext(PageGetMaxOffsetNumber(page));
	while (low < high)
	{
		OffsetNumber mid = low + (high - low) / 2;

		if (compare(index, page, mid, &first) < 0)
			low = OffsetNumberNext(mid);
		else
			high = mid;
	}
	if (low == P_FIRSTDATAKEY(opaque) && !P_LEFTMOST(opaque))
		return false;			/* the place may begin on the page before */
	return low > PageGetMaxOffsetNumber(page) ||
		compare(index, page, low, &last) > 0;
}

/* Is it so on the page that is remembered, if that is in memory? */
static bool
look_again(StCatalog *cat, const StUntouched *u, const StGroup *group,
		   Snapshot snapshot)
{
	bool		empty;

	if (!BlockNumberIsValid(u->block) ||
		!ReadRecentBuffer(u->index, MAIN_FORKNUM, u->block, u->buffer))
		return false;
	LockBuffer(u->buffer, BUFFER_LOCK_SHARE);
	st_test_for_old_snapshot(snapshot, cat->toast, BufferGetPage(u->buffer));
	empty = place_is_empty(cat->index, BufferGetPage(u->buffer), group);
	UnlockReleaseBuffer(u->buffer);
	return empty;
}

/* Searches for the page, and remembers it. */
static bool
search(StCatalog *cat, const StGroup *group, Snapshot snapshot, StUntouched *u)
{
	Relation	index = cat->index;
	BTScanInsert key = _bt_mkscankey(index, NULL);
	Datum		values[2];
	Buffer		buffer;
	bool		empty = false;

	st_catalog_key(ST_TOMBSTONE, group->first_row, values);
	key->keysz = lengthof(values);
	for (int i = 0; i < lengthof(values); i++)
	{
		key->scankeys[i].sk_argument = values[i];
		key->scankeys[i].sk_flags &= ~SK_ISNULL;
	}
	key->anynullkeys = false;

	st_bt_search(index, cat->toast, key, &buffer);
	u->block = InvalidBlockNumber;
	if (BufferIsValid(buffer))
	{
		st_test_for_old_snapshot(snapshot, cat->toast, BufferGetPage(buffer));
		empty = place_is_empty(index, BufferGetPage(buffer), group);
		u->block = BufferGetBlockNumber(buffer);
		u->buffer = buffer;
		_bt_relbuf(index, buffer);
	}
	pfree(key);
	return empty;
}

bool
st_group_untouched(StCatalog *cat, const StGroup *group, Snapshot snapshot)
{
	RelFileLocator index = st_relation_locator(cat->index);
	StUntouched *u = untouched_of(&index, group);
	bool		empty;

	if (snapshot->snapshot_type != SNAPSHOT_MVCC || IsolationIsSerializable() ||
		RelationUsesLocalBuffers(cat->index))
		return false;
	if (!same_group(u, &index, group))
	{
		memset(u, 0, sizeof(*u));
		u->index = index;
		u->first_row = group->first_row;
		u->nrows = group->nrows;
		u->block = InvalidBlockNumber;
	}
	else if (look_again(cat, u, group, snapshot))
		return true;
	else if (u->left_out > 0)
	{
		u->left_out--;
		return false;
	}
	empty = search(cat, group, snapshot, u);
	if (!empty)
	{
		u->block = InvalidBlockNumber;
		u->left_out = ST_LOOKS_LEFT_OUT;
	}
	return empty;
}
