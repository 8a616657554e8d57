/*-------------------------------------------------------------------------
 *
 * st_own_changes.c
 *	  What the running transaction has locked and deleted in row groups.
 *
 * The groups whose descriptor it has locked (st_lock_group.c) are remembered
 * for the transaction, and forgotten with the subtransaction that locked them:
 * the lock is taken once per group.
 *
 * Each group is remembered with those of its rows that the transaction has
 * deleted or updated, a few by number, more in a bitmap.  That saves looking
 * for tombstones of one's own: an UPDATE's unique check meets the entry of the
 * very row that it replaces.  After the abort of a subtransaction that changed
 * any, nobody knows any more: all are forgotten.
 *
 * Neither looks at groups of other subtransactions: ten thousand of them may
 * follow a command that has locked a thousand groups.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "lib/ilist.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "st_visibility.h"

/* Changed rows of a group that are kept by number. */
#define ST_FEW_BURIED	8

typedef struct StLockedGroupKey
{
	RelFileLocator locator;
	uint64		first_row;
} StLockedGroupKey;

struct StLockedGroup
{
	StLockedGroupKey key;		/* first: hash key */
	dlist_node	node;			/* in by_subid */
	uint32		nrows;
	StGroup		group;
	uint32		nfew;			/* changed rows, if there is no bitmap */
	uint32		few[ST_FEW_BURIED];
	uint64	   *buried;			/* bitmap of them */
	CommandId	last_cid;		/* of the latest of them */
	bool		forgotten;		/* there may be others */
	uint64		aborts;			/* that are taken into account */
	SubTransactionId subid;
	bool		own;			/* made by this transaction, as command cmin */
	CommandId	cmin;
};

static HTAB *locked_groups = NULL;	/* of the running transaction */
static StLockedGroup *last_locked = NULL;

/* The same; those of the running subtransaction come first. */
static dlist_head by_subid = DLIST_STATIC_INIT(by_subid);

/* Subtransactions that changed rows and were rolled back. */
static uint64 aborts = 0;

/* The newest one that changed rows; its numbers ascend. */
static SubTransactionId last_changed_in = InvalidSubTransactionId;

StLockedGroup *
st_locked_group_of_row(Relation rel, uint64 row)
{
	if (last_locked != NULL &&
		RelFileLocatorEquals(last_locked->key.locator,
							 st_relation_locator(rel)) &&
		row - last_locked->key.first_row < last_locked->nrows)
		return last_locked;
	return NULL;
}

bool
st_locked_group(Relation rel, uint64 row, StGroup *group)
{
	StLockedGroup *known = st_locked_group_of_row(rel, row);

	if (known == NULL)
		return false;
	*group = known->group;
	return true;
}

static inline void
set_bit(uint64 *bitmap, uint32 off)
{
	bitmap[off >> 6] |= UINT64CONST(1) << (off & 63);
}

void
st_note_buried(Relation rel, uint64 row, CommandId cid)
{
	StLockedGroup *known = st_locked_group_of_row(rel, row);
	uint32		off;

	if (known == NULL)
		return;
	off = row - known->key.first_row;
	last_changed_in = Max(last_changed_in, GetCurrentSubTransactionId());
	known->last_cid = Max(known->last_cid, cid);
	if (known->buried == NULL && known->nfew < ST_FEW_BURIED)
	{
		known->few[known->nfew++] = off;
		return;
	}
	if (known->buried == NULL)
	{
		known->buried = MemoryContextAllocZero(TopTransactionContext,
											   (known->nrows + 63) / 64 * sizeof(uint64));
		for (uint32 i = 0; i < known->nfew; i++)
			set_bit(known->buried, known->few[i]);
	}
	set_bit(known->buried, off);
}

void
st_note_mown(Relation rel, const StSwath *swath, CommandId cid)
{
	for (uint32 i = 0; i < swath->nrows; i++)
	{
		if ((swath->bits[i >> 6] & (UINT64CONST(1) << (i & 63))) != 0)
			st_note_buried(rel, swath->first_row + i, cid);
	}
}

static bool
is_buried(const StLockedGroup *known, uint32 off)
{
	if (known->buried != NULL)
		return (known->buried[off >> 6] & (UINT64CONST(1) << (off & 63))) != 0;
	for (uint32 i = 0; i < known->nfew; i++)
	{
		if (known->few[i] == off)
			return true;
	}
	return false;
}

StBuried
st_row_buried(Relation rel, uint64 row)
{
	StLockedGroup *known = st_locked_group_of_row(rel, row);

	/* A writer locks the row's group first. */
	if (locked_groups == NULL)
		return ST_NOT_BURIED;
	if (known == NULL)
		return ST_BURIED_UNKNOWN;
	if (is_buried(known, row - known->key.first_row))
		return ST_BURIED;
	return known->forgotten ? ST_BURIED_UNKNOWN : ST_NOT_BURIED;
}

bool
st_row_buried_before(Relation rel, uint64 row, Snapshot snapshot)
{
	StLockedGroup *known = st_locked_group_of_row(rel, row);

	return known != NULL && snapshot->snapshot_type == SNAPSHOT_MVCC &&
		known->last_cid < snapshot->curcid &&
		is_buried(known, row - known->key.first_row);
}

static StLockedGroupKey
locked_group_key(Relation rel, uint64 first_row)
{
	StLockedGroupKey key;

	memset(&key, 0, sizeof(key));
	key.locator = st_relation_locator(rel);
	key.first_row = first_row;
	return key;
}

/* Makes it the last one, and has it forget what aborts have undone. */
static void
set_last_locked(StLockedGroup *g)
{
	last_locked = g;
	if (g->aborts != aborts && (g->buried != NULL || g->nfew > 0))
	{
		if (g->buried != NULL)
			pfree(g->buried);
		g->buried = NULL;
		g->nfew = 0;
		g->forgotten = true;
	}
	g->aborts = aborts;
}

StLockedGroup *
st_locked_group_find(Relation rel, uint64 first_row)
{
	StLockedGroupKey key = locked_group_key(rel, first_row);
	StLockedGroup *known = NULL;

	if (locked_groups != NULL)
		known = hash_search(locked_groups, &key, HASH_FIND, NULL);
	if (known != NULL)
		set_last_locked(known);
	return known;
}

bool
st_locked_group_is_new(const StLockedGroup *known, CommandId cid)
{
	return known->own && known->cmin >= cid;
}

void
st_locked_group_add(Relation rel, const StGroup *group,
					HeapTupleHeader descriptor)
{
	StLockedGroupKey key = locked_group_key(rel, group->first_row);
	uint64		incarnation = group->incarnation;
	StLockedGroup *g;
	bool		found;

	if (locked_groups == NULL)
	{
		HASHCTL		ctl;

		ctl.keysize = sizeof(StLockedGroupKey);
		ctl.entrysize = sizeof(StLockedGroup);
		ctl.hcxt = TopTransactionContext;
		locked_groups = hash_create("locked row groups", 64, &ctl,
									HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	(void) st_meta_has_row_groups(rel, &incarnation);
	g = hash_search(locked_groups, &key, HASH_ENTER, &found);
	if (!found)
	{
		memset((char *) g + sizeof(g->key), 0, sizeof(*g) - sizeof(g->key));
		dlist_push_head(&by_subid, &g->node);
		g->nrows = group->nrows;
		g->group = *group;
		g->group.incarnation = incarnation;
		g->last_cid = FirstCommandId;
		g->subid = GetCurrentSubTransactionId();
		g->own = TransactionIdIsCurrentTransactionId(group->xmin);
		g->cmin = g->own ? HeapTupleHeaderGetCmin(descriptor) : FirstCommandId;
	}
	set_last_locked(g);
}

static void
forget_group(StLockedGroup *g)
{
	if (g->buried != NULL)
		pfree(g->buried);
	dlist_delete(&g->node);
	hash_search(locked_groups, &g->key, HASH_REMOVE, NULL);
}

static void
own_xact_callback(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE || event == XACT_EVENT_PARALLEL_COMMIT ||
		event == XACT_EVENT_PARALLEL_ABORT)
	{
		/* It lives in TopTransactionContext. */
		locked_groups = NULL;
		last_locked = NULL;
		dlist_init(&by_subid);
		last_changed_in = InvalidSubTransactionId;
	}
}

static void
own_subxact_callback(SubXactEvent event, SubTransactionId subid,
					  SubTransactionId parent, void *arg)
{
	dlist_mutable_iter iter;

	if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	last_locked = NULL;
	/* Newer ones are its own subtransactions. */
	if (event == SUBXACT_EVENT_ABORT_SUB && last_changed_in >= subid)
		aborts++;

	dlist_foreach_modify(iter, &by_subid)
	{
		StLockedGroup *g = dlist_container(StLockedGroup, node, iter.cur);

		if (g->subid != subid)
			break;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			g->subid = parent;
		else
			forget_group(g);
	}
}

void
st_own_changes_forget(Relation rel)
{
	HASH_SEQ_STATUS seq;
	StLockedGroup *g;

	if (locked_groups == NULL)
		return;
	last_locked = NULL;
	hash_seq_init(&seq, locked_groups);
	while ((g = hash_seq_search(&seq)) != NULL)
	{
		if (RelFileLocatorEquals(g->key.locator, st_relation_locator(rel)))
			forget_group(g);
	}
}

void
st_own_changes_init(void)
{
	RegisterXactCallback(own_xact_callback, NULL);
	RegisterSubXactCallback(own_subxact_callback, NULL);
}
