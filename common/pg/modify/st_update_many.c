/*-------------------------------------------------------------------------
 *
 * st_update_many.c
 *	  UPDATE of many rows of row groups by one command.
 *
 * The first ST_BULK_UPDATE new versions of a command go to the delta.  All
 * others go into a row group, as the rows of a load do, and have row numbers
 * that follow one another.  So the old versions need no tombstone each: those
 * of neighbours are in one swath (st_swath.c), to which each is added when it
 * is updated, neither before nor after.  To everybody else it is a tombstone
 * of that moment: he waits for us, and finds the new version when we have
 * committed.
 *
 * Before a swath begins, its rows up to the end of their stretch are looked at
 * once, under the lock of the stretch: those that somebody has locked, deleted
 * or updated are left to st_row_acquire(), which waits.  Whoever comes later
 * and wants one of the others stops the swath before he does anything with it
 * (st_swath_stop()), and so do other commands of this transaction.  Then, and
 * where rows come in no order, each row is acquired by itself again, and has a
 * tombstone.
 *
 * Left to the delta are versions of rows that others hold key locks on, which
 * a tuple has to carry (st_lock_copy.c); all rows of a table that a foreign key
 * refers to, because its checks must not wait for an UPDATE of other columns;
 * of a table whose changes are decoded; and of serializable transactions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "commands/trigger.h"
#include "utils/rel.h"

#include "st_modify.h"
#include "st_write.h"

/* A swath of fewer rows says that the next one will not be worth it, either. */
#define WORTH_ANOTHER	4

/* So often a stretch is looked at by one command. */
#define TRIES_PER_STRETCH	8

StaticAssertDecl(ST_STRETCH_ROWS <= ST_SWATH_ROWS, "a swath ends with its stretch");

/* Rows that the running command has updated, of all tables. */
static TransactionId many_xid = InvalidTransactionId;
static CommandId many_cid = 0;
static uint32 many_rows = 0;

/* Does a foreign key of another table, or of this one, refer to the table? */
static bool
is_referenced(Relation rel)
{
	TriggerDesc *triggers = rel->trigdesc;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		if (RI_FKey_trigger_type(triggers->triggers[i].tgfoid) == RI_TRIGGER_PK)
			return true;
	}
	return false;
}

StPending *
st_many_updates(Relation rel, CommandId cid, Snapshot crosscheck)
{
	TransactionId xid;

	if (IsInParallelMode() || crosscheck != InvalidSnapshot)
		return NULL;
	xid = GetCurrentTransactionId();
	if (many_xid != xid || many_cid != cid)
	{
		many_xid = xid;
		many_cid = cid;
		many_rows = 0;
	}
	if (many_rows < ST_BULK_UPDATE)
	{
		many_rows++;
		return NULL;
	}
	if (IsolationIsSerializable() || RelationIsLogicallyLogged(rel) ||
		is_referenced(rel))
		return NULL;
	return st_pending_for_update(rel, cid);
}

static bool
is_taken(const StGrowth *g, uint64 row)
{
	uint64		i = row - g->first_row;

	return (g->taken[i >> 6] & (UINT64CONST(1) << (i & 63))) != 0;
}

bool
st_update_in_swath(StPending *pending, Relation rel, uint64 row, CommandId cid)
{
	StGrowth   *g = st_pending_updated(pending);
	Relation	toast;
	bool		added;

	if (!g->growing || row <= g->last_row || row >= g->end || is_taken(g, row) ||
		st_pending_next_row(pending, rel, cid) != g->new_row + g->nrows)
		return false;
	toast = table_open(rel->rd_rel->reltoastrelid, NoLock);
	added = st_swath_grow(toast, g, row);
	table_close(toast, NoLock);
	if (!added)
		return false;

	/* The row's group was locked when the swath began. */
	if (st_locked_group_of_row(rel, row) == NULL)
		(void) st_locked_group_find(rel, g->group_first);
	st_note_buried(rel, row, cid);
	g->row_before = row;
	return true;
}

/*
 * Rows that come in order make a swath worth it; the first of them say so.
 */
static bool
is_worth_it(StGrowth *g, uint64 row)
{
	uint64		stretch = row / ST_STRETCH_ROWS;
	bool		in_order = g->row_before / ST_STRETCH_ROWS == stretch &&
		g->row_before < row;

	if (g->tried_stretch != stretch)
		g->tries = 0;
	g->tried_stretch = stretch;
	return (in_order || g->nrows >= WORTH_ANOTHER) && g->tries++ < TRIES_PER_STRETCH;
}

/* All others are kept from the stretch. */
static bool
begin_locked(StPending *pending, StRowOp *op, const StGroup *group)
{
	StGrowth   *g = st_pending_updated(pending);
	uint64		piece = (op->row - group->first_row) / ST_PIECE_ROWS + 1;
	bool		mown = st_may_be_mown(&op->catalog, op->row);

	g->group_first = group->first_row;
	g->first_row = op->row;
	g->end = Min((op->row / ST_STRETCH_ROWS + 1) * ST_STRETCH_ROWS,
				 group->first_row + Min(group->nrows, piece * ST_PIECE_ROWS));
	memset(g->taken, 0, sizeof(g->taken));
	st_taken_rows(op, op->row, g->end - 1, mown, g->taken);
	if (is_taken(g, op->row) ||
		(!mown && !st_descriptor_mown(&op->catalog, group)))
		return false;
	st_swath_begin(&op->catalog, g, st_pending_next_row(pending, op->rel, op->cid),
				   op->cid);
	return true;
}

bool
st_update_begin_swath(StPending *pending, StRowOp *op)
{
	StGrowth   *g = st_pending_updated(pending);
	bool		worth_it = is_worth_it(g, op->row);
	StGroup		group;
	bool		begun;

	g->growing = false;
	g->row_before = op->row;
	if (!worth_it || st_lock_group(op) != TM_Ok ||
		!st_locked_group(op->rel, op->row, &group) ||
		!st_stretch_lock(op->rel, op->row))
		return false;
	begun = begin_locked(pending, op, &group);
	st_stretch_release(op->rel, op->row);
	if (begun)
		st_note_buried(op->rel, op->row, op->cid);
	return begun;
}
