/*-------------------------------------------------------------------------
 *
 * st_old_rows.c
 *	  The rows that an UPDATE makes its new versions of.
 *
 * UPDATE fetches each row that it has found once more, by its TID, for the
 * columns that it does not set: projecting the new version is all that it does
 * with that row, unless RETURNING shows it (18).  So only those columns are
 * decoded, no tuple is formed of them, and nothing is set up for each row.
 *
 * A row of a row group never changes, and no row number is used twice.  So
 * where the row comes from is no question of visibility: from the scan that
 * has just found it, if that has its vector at hand, and decodes it for all
 * selected rows at once; or else from the reader that was used last, or that of
 * the row group whose rows this transaction is changing.  All other rows take
 * the way that any row takes that is fetched by its TID (st_fetch.c).
 *
 * The executor makes the slot for these rows when it needs it first.  So what
 * is noted when a plan is set up is the result relation, and each call looks
 * whose slot it was given.  A note lives as long as the query's memory.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "lib/ilist.h"
#include "utils/memutils.h"

#include "st_compat.h"
#include "st_old_rows.h"
#include "st_read.h"
#include "st_scan_columns.h"
#include "st_write.h"

/* Bytes of a row after which the size of its reader is looked at. */
#define ST_LARGE_ROW	(64 * 1024)

typedef struct OldRows
{
	dlist_node	node;			/* in updates */
	ResultRelInfo *info;
	bool	   *columns;		/* by attribute number - 1 */
	void	   *scan;			/* or NULL */
	StRowAtHand row_at_hand;
	StKeptValues kept;
	MemoryContextCallback callback;
} OldRows;

/* Of all running queries; the one that was asked last comes first. */
static dlist_head updates = DLIST_STATIC_INIT(updates);

static void
forget_update(void *arg)
{
	dlist_delete(&((OldRows *) arg)->node);
}

/* The columns that the new version takes from the old one, or NULL: none. */
static bool *
columns_kept(TupleDesc desc, List *updated)
{
	bool	   *columns = palloc0(sizeof(bool) * Max(desc->natts, 1));
	bool		any = false;
	ListCell   *lc;

	for (int i = 0; i < desc->natts; i++)
		columns[i] = !TupleDescAttr(desc, i)->attisdropped;
	foreach(lc, updated)
		columns[lfirst_int(lc) - 1] = false;
	for (int i = 0; i < desc->natts; i++)
		any = any || columns[i];
	return any ? columns : NULL;
}

static void
register_table(ModifyTableState *mt, ResultRelInfo *info, List *updated, StFindScan find)
{
	OldRows    *old = palloc0(sizeof(OldRows));

	old->info = info;
	old->kept.mcxt = CurrentMemoryContext;
	old->columns = columns_kept(RelationGetDescr(info->ri_RelationDesc), updated);
	if (find != NULL && old->columns != NULL)
		old->scan = find(mt, info, old->columns, &old->row_at_hand);
	dlist_push_head(&updates, &old->node);
	old->callback.func = forget_update;
	old->callback.arg = old;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &old->callback);
}

static void
register_node(PlanState *ps, StFindScan find)
{
	ModifyTableState *mt = (ModifyTableState *) ps;

	if (ps == NULL || !IsA(ps, ModifyTableState) || mt->operation != CMD_UPDATE ||
		((ModifyTable *) ps->plan)->returningLists != NIL)
		return;
	for (int i = 0; i < mt->mt_nrels; i++)
	{
		ResultRelInfo *info = &mt->resultRelInfo[i];

		if (info->ri_RelationDesc->rd_rel->relkind == RELKIND_RELATION &&
			st_relation_format(info->ri_RelationDesc) != NULL)
			register_table(mt, info, list_nth(st_update_columns(mt), i), find);
	}
}

void
st_old_rows_register(QueryDesc *queryDesc, StFindScan find)
{
	EState	   *estate = queryDesc->estate;
	MemoryContext old;
	ListCell   *lc;

	if (!st_partial_rows_enabled || (estate->es_top_eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0)
		return;
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	register_node(queryDesc->planstate, find);
	foreach(lc, estate->es_auxmodifytables)
	{
		if (lfirst(lc) != queryDesc->planstate)
			register_node(lfirst(lc), find);
	}
	MemoryContextSwitchTo(old);
}

static OldRows *
update_of_slot(TupleTableSlot *slot)
{
	dlist_iter	iter;

	dlist_foreach(iter, &updates)
	{
		OldRows    *old = dlist_container(OldRows, node, iter.cur);

		if (old->info->ri_oldTupleSlot == slot)
		{
			dlist_move_head(&updates, &old->node);
			return old;
		}
	}
	return NULL;
}

static StCachedReader *
reader_of_row(Relation rel, uint64 row, uint64 *first_row)
{
	StCachedReader *reader = st_reader_acquire_last(rel, row, first_row);
	StGroup		group;

	if (reader != NULL || !st_locked_group(rel, row, &group))
		return reader;
	*first_row = group.first_row;
	return st_reader_acquire(rel, &group);
}

bool
st_old_row_fetch(Relation rel, uint64 row, TupleTableSlot *slot)
{
	OldRows    *old = update_of_slot(slot);
	StCachedReader *reader;
	uint64		first_row;

	if (old == NULL)
		return false;
	if (old->scan != NULL && old->row_at_hand(old->scan, row, slot))
		return true;

	st_pending_flush_row(rel, row);
	reader = reader_of_row(rel, row, &first_row);
	if (reader == NULL)
		return false;
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	if (old->columns != NULL)
	{
		st_reader_row(reader, row - first_row, old->columns, slot->tts_values,
					  slot->tts_isnull);
		st_keep_values(&old->kept, slot, old->columns);
	}
	/* a reader of large values grows with each */
	if (old->kept.size > ST_LARGE_ROW)
		st_reader_release(reader);
	else
		st_reader_release_soon(reader);
	st_store_virtual_row(slot, rel, row);
	return true;
}
