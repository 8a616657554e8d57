/*-------------------------------------------------------------------------
 *
 * st_descriptor.c
 *	  The descriptor of a row's group, as a snapshot sees it.
 *
 * Every fetch, lock and change of a row-group row asks for it, and it is
 * nearly always the tuple that it was the last time.  So this file remembers,
 * per backend, where descriptors were found, and looks there first.  What is
 * remembered is only a place: the tuple is read and judged anew each time.
 *
 * A tuple with the wanted key that the snapshot sees is the one that the index
 * scan would return: keys are unique among what one snapshot sees, and so are
 * the ranges of groups.  If the place holds anything else now, or the page is
 * not in memory where it was, the index is asked.  Predicate locks: an index
 * scan would lock a page of the index against later entries.  Here the tuple
 * itself is locked; whoever takes the group away deletes that tuple.
 *
 * Groups all of whose rows are deleted are remembered likewise, until VACUUM
 * drops them.  They stay so, and a backend that has read all tombstones of
 * such a group need not do it again.  It matters for a small table whose rows
 * are changed all the time: that is read more often than it is vacuumed.
 *
 * Callers hold a lock on the table and have its TOAST relation open.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/transam.h"
#include "common/hashfn.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"

#include "st_visibility.h"

/*
 * Remembered places; a power of two, and many enough that the places of a
 * table of some million rows rarely take each other's.
 */
#define ST_PLACES		512

/* Rows that share a place: about the size of a small group. */
#define ST_PLACE_ROWS	16384

typedef struct StPlace
{
	RelFileLocator toast;
	uint64		first_row;
	uint32		nrows;			/* 0: nothing is remembered */
	ItemPointerData tid;
	Buffer		buffer;			/* where the page was the last time */
} StPlace;

typedef struct StDeadGroup
{
	RelFileLocator toast;
	uint64		incarnation;
	uint64		first_row;
	TransactionId newest;		/* the last deleter; invalid: no entry */
} StDeadGroup;

static StPlace places[ST_PLACES];
static StDeadGroup dead_groups[ST_PLACES];

static uint32
place_hash(StCatalog *cat, uint64 number)
{
	uint32		file = (uint32) st_locator_number(st_relation_locator(cat->toast));

	return hash_combine(murmurhash32(file), murmurhash32((uint32) number)) &
		(ST_PLACES - 1);
}

static StPlace *
place_of(StCatalog *cat, uint64 row)
{
	return &places[place_hash(cat, row / ST_PLACE_ROWS)];
}

static void
remember_place(StCatalog *cat, uint64 row, const StGroup *group,
			   const HeapTupleData *tuple, Buffer buffer)
{
	StPlace    *place = place_of(cat, row);

	/* Temporary tables are not worth a second kind of buffers. */
	if (BufferIsLocal(buffer))
		return;
	place->toast = st_relation_locator(cat->toast);
	place->first_row = group->first_row;
	place->nrows = group->nrows;
	place->tid = tuple->t_self;
	place->buffer = buffer;
}

/*
 * Looks at the remembered place.  True: the entry is a descriptor that the
 * snapshot sees, and its page is pinned.  Its group may hold fewer rows than
 * are remembered: the rest of what a load had reserved goes to later groups.
 */
static bool
find_at_place(StCatalog *cat, uint64 row, Snapshot snapshot,
			  HeapTuple tuple, StCatalogEntry *entry)
{
	StPlace    *place = place_of(cat, row);
	BlockNumber block = ItemPointerGetBlockNumberNoCheck(&place->tid);
	OffsetNumber off = ItemPointerGetOffsetNumberNoCheck(&place->tid);
	bool		visible = false;
	Page		page;

	if (row - place->first_row >= place->nrows ||
		!RelFileLocatorEquals(place->toast, st_relation_locator(cat->toast)) ||
		!ReadRecentBuffer(place->toast, MAIN_FORKNUM, block, place->buffer))
		return false;

	LockBuffer(place->buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(place->buffer);
	st_test_for_old_snapshot(snapshot, cat->toast, page);
	if (off <= PageGetMaxOffsetNumber(page) &&
		ItemIdIsNormal(PageGetItemId(page, off)))
	{
		ItemId		item = PageGetItemId(page, off);

		tuple->t_self = place->tid;
		tuple->t_tableOid = RelationGetRelid(cat->toast);
		tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple->t_len = ItemIdGetLength(item);
		visible = st_catalog_entry_is(cat, tuple, ST_DESCRIPTOR,
									  place->first_row) &&
			HeapTupleSatisfiesVisibility(tuple, snapshot, place->buffer);
	}
	if (visible)
	{
		HeapCheckForSerializableConflictOut(true, cat->toast, tuple,
											place->buffer, snapshot);
		PredicateLockTID(cat->toast, &tuple->t_self, snapshot,
						 HeapTupleHeaderGetXmin(tuple->t_data));
	}
	LockBuffer(place->buffer, BUFFER_LOCK_UNLOCK);
	if (!visible)
	{
		ReleaseBuffer(place->buffer);
		return false;
	}
	st_catalog_entry_fill(cat, tuple, ST_DESCRIPTOR, place->buffer, entry);
	return true;
}

bool
st_descriptor_find(StCatalog *cat, uint64 row, Snapshot snapshot,
				   StGroup *group, bool *finished, HeapTuple tuple,
				   Buffer *buffer)
{
	StCatalogEntry at_place;
	StCatalogScan scan;
	StCatalogEntry *entry;

	if (find_at_place(cat, row, snapshot, tuple, &at_place))
	{
		*finished = st_descriptor_decode(cat->rel, &at_place, group);
		*buffer = at_place.buffer;
		if (row - group->first_row < group->nrows)
			return true;
		ReleaseBuffer(*buffer);
	}

	/* Ranges of groups are disjoint and cross no multiple of 2^32. */
	st_catalog_scan_begin(&scan, cat, ST_DESCRIPTOR,
						  row & ~UINT64CONST(0xffffffff), row, snapshot);
	entry = st_catalog_scan_next(&scan, BackwardScanDirection);
	if (entry != NULL)
		*finished = st_descriptor_decode(cat->rel, entry, group);
	if (entry == NULL || row - group->first_row >= group->nrows)
	{
		st_catalog_scan_end(&scan);
		return false;
	}
	*buffer = st_catalog_scan_end_pinned(&scan, tuple);
	remember_place(cat, row, group, tuple, *buffer);
	return true;
}

static StDeadGroup *
dead_group_of(StCatalog *cat, const StGroup *group)
{
	return &dead_groups[place_hash(cat, group->first_row / ST_ROWS_PER_VBLOCK)];
}

/*
 * A deleter before the snapshot's xmin has ended for every later snapshot,
 * too.  Nor was he concurrent to the snapshot: a serializable transaction has
 * no conflict with him.
 */
static bool
has_ended(TransactionId xid, Snapshot snapshot)
{
	return snapshot->snapshot_type == SNAPSHOT_MVCC &&
		TransactionIdIsNormal(xid) &&
		TransactionIdPrecedes(xid, snapshot->xmin);
}

void
st_group_note_dead(StCatalog *cat, const StGroup *group, Snapshot snapshot,
				   TransactionId newest)
{
	StDeadGroup *dead = dead_group_of(cat, group);

	if (!has_ended(newest, snapshot))
		return;
	dead->toast = st_relation_locator(cat->toast);
	dead->incarnation = group->incarnation;
	dead->first_row = group->first_row;
	dead->newest = newest;
}

bool
st_group_is_dead(StCatalog *cat, const StGroup *group, Snapshot snapshot)
{
	StDeadGroup *dead = dead_group_of(cat, group);

	return has_ended(dead->newest, snapshot) &&
		dead->first_row == group->first_row &&
		dead->incarnation == group->incarnation &&
		RelFileLocatorEquals(dead->toast, st_relation_locator(cat->toast));
}
