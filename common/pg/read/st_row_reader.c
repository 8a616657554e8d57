/*-------------------------------------------------------------------------
 *
 * st_row_reader.c
 *	  Which groups a reader sees, and single rows of them into slots.
 *
 * Owns no shared state and takes no locks of its own: callers hold the
 * relation open and locked.  Memory is bounded by one open row group plus one
 * bit per row of it.  Plain scans and index fetches do not come here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/bitmapset.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "st_read.h"
#include "st_write.h"

StGroupList *
st_visible_groups(Relation rel, Snapshot snapshot, MemoryContext mcxt)
{
	StGroupList *list;
	StCatalog	cat;

	st_flush_pending_for(rel, snapshot);
	if (!st_meta_has_row_groups(rel, NULL) ||
		!st_catalog_open(&cat, rel, AccessShareLock))
		return st_visible_groups_in(NULL, snapshot, mcxt);
	list = st_visible_groups_in(&cat, snapshot, mcxt);
	st_catalog_close(&cat);
	return list;
}

/*
 * Starts reading rows of rel.  needed (natts booleans, NULL for all) must
 * live as long as the reader.  Allocates in the current memory context.
 */
void
st_row_reader_init(StRowReader *rr, Relation rel, const bool *needed)
{
	int			natts = Max(RelationGetNumberOfAttributes(rel), 1);

	rr->rel = rel;
	rr->needed = needed;
	rr->slot = NULL;
	rr->columns = NULL;
	rr->mcxt = CurrentMemoryContext;
	rr->copies = NULL;
	rr->reader = NULL;
	rr->first_row = 0;
	rr->values = palloc0(natts * sizeof(Datum));
	rr->isnull = palloc(natts * sizeof(bool));
	memset(rr->isnull, true, natts * sizeof(bool));
}

static void
open_reader(StRowReader *rr, const StGroup *group)
{
	if (rr->reader != NULL && rr->first_row == group->first_row)
		return;
	st_row_reader_end(rr);
	rr->reader = st_reader_acquire(rr->rel, group);
	rr->first_row = group->first_row;
}

/* Whoever needs only some columns needs no tuple header; NULL: none at all. */
static void
store_some(StRowReader *rr, const StGroup *group, uint32 row, const bool *needed,
		   TupleTableSlot *slot)
{
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true,
		   RelationGetNumberOfAttributes(rr->rel) * sizeof(bool));
	if (needed != NULL)
	{
		open_reader(rr, group);
		st_reader_row(rr->reader, row, needed, slot->tts_values,
					  slot->tts_isnull);
	}
	st_store_virtual_row(slot, rr->rel, group->first_row + row);
}

/*
 * A row of a scan node: other nodes may fetch rows of the same group, by the
 * same reader, while they look at it.  So values that are no words are copied.
 * The slot must not make a tuple of them: columns that nobody looks at would
 * be null in it, and compiled code believes what is declared NOT NULL.
 */
static void
store_for_node(StRowReader *rr, const StGroup *group, uint32 row, TupleTableSlot *slot)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	MemoryContext old;

	store_some(rr, group, row, rr->columns->output, slot);
	if (rr->copies == NULL)
		rr->copies = AllocSetContextCreate(rr->mcxt, "values of a row",
										   ALLOCSET_SMALL_SIZES);
	MemoryContextReset(rr->copies);
	old = MemoryContextSwitchTo(rr->copies);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(desc, i);

		if (!slot->tts_isnull[i] && !attr->attbyval)
			slot->tts_values[i] = datumCopy(slot->tts_values[i], false, attr->attlen);
	}
	MemoryContextSwitchTo(old);
}

/*
 * Stores row (0-based in the group) into slot, which is a
 * TTSOpsBufferHeapTuple one, complete with TID and, if all columns are
 * needed, system columns; columns that are not needed come as null.  The row
 * is good until the next call.  Raises DATA_CORRUPTED for a damaged group.
 */
void
st_row_reader_fetch(StRowReader *rr, const StGroup *group, uint32 row,
					TupleTableSlot *slot)
{
	if (rr->needed != NULL)
	{
		store_some(rr, group, row, rr->needed, slot);
		return;
	}
	if (rr->slot != slot)
	{
		rr->slot = slot;
		rr->columns = st_scan_columns_of(slot);
	}
	if (rr->columns != NULL)
	{
		store_for_node(rr, group, row, slot);
		return;
	}
	open_reader(rr, group);
	st_reader_row(rr->reader, row, NULL, rr->values, rr->isnull);
	st_store_row(slot, rr->rel, group, row, rr->values, rr->isnull);
}

/* Gives the open row group back; the reader may be used again. */
void
st_row_reader_end(StRowReader *rr)
{
	if (rr->reader != NULL)
		st_reader_release(rr->reader);
	rr->reader = NULL;
}

/*
 * Columns that an index's keys, expressions and predicate refer to, as natts
 * booleans, or NULL when a whole-row reference asks for all.
 */
bool *
st_index_needed_columns(Relation rel, const IndexInfo *info)
{
	int			natts = RelationGetNumberOfAttributes(rel);
	bool	   *needed = palloc0(sizeof(bool) * Max(natts, 1));
	Bitmapset  *attrs = NULL;
	int			member = -1;

	for (int i = 0; i < info->ii_NumIndexAttrs; i++)
	{
		if (info->ii_IndexAttrNumbers[i] > 0)
			needed[info->ii_IndexAttrNumbers[i] - 1] = true;
	}

	pull_varattnos((Node *) info->ii_Expressions, 1, &attrs);
	pull_varattnos((Node *) info->ii_Predicate, 1, &attrs);
	while ((member = bms_next_member(attrs, member)) >= 0)
	{
		AttrNumber	attno = member + FirstLowInvalidHeapAttributeNumber;

		if (attno == InvalidAttrNumber)
			return NULL;
		if (attno > 0)
			needed[attno - 1] = true;
	}
	bms_free(attrs);
	return needed;
}

/*
 * A cursor over the row groups that an MVCC snapshot sees.  Rows that this
 * backend has pending are flushed first.
 */
StRowCursor *
st_row_cursor_begin(Relation rel, Snapshot snapshot, const bool *needed)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "row group cursor",
											   ALLOCSET_SMALL_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(mcxt);
	StRowCursor *cursor = palloc0(sizeof(StRowCursor));

	cursor->mcxt = mcxt;
	cursor->snapshot = snapshot;
	cursor->groups = st_visible_groups(rel, snapshot, mcxt);
	cursor->current = -1;
	cursor->bitmap_mcxt = AllocSetContextCreate(mcxt, "deleted rows",
												ALLOCSET_SMALL_SIZES);
	st_row_reader_init(&cursor->rows, rel, needed);
	MemoryContextSwitchTo(oldcxt);
	return cursor;
}

/*
 * The index of the group that holds the row number, or else of the first
 * group behind it (ngroups if there is none).
 */
int
st_row_cursor_group(const StRowCursor *cursor, uint64 row)
{
	int			lo = 0;
	int			hi = cursor->groups->ngroups;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		const StGroup *g = &cursor->groups->groups[mid];

		if (g->first_row + g->nrows <= row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Does the snapshot see no tombstone of this row (0-based in the group)? */
bool
st_row_cursor_visible(StRowCursor *cursor, int group, uint32 row)
{
	if (cursor->current != group)
	{
		cursor->current = -1;
		MemoryContextReset(cursor->bitmap_mcxt);
		cursor->deleted = st_deleted_rows(cursor->rows.rel,
										  &cursor->groups->groups[group],
										  cursor->snapshot,
										  cursor->bitmap_mcxt, NULL);
		cursor->current = group;
	}
	return cursor->deleted == NULL ||
		(cursor->deleted[row >> 6] & (UINT64CONST(1) << (row & 63))) == 0;
}

void
st_row_cursor_store(StRowCursor *cursor, int group, uint32 row,
					TupleTableSlot *slot)
{
	st_row_reader_fetch(&cursor->rows, &cursor->groups->groups[group], row,
						slot);
}

void
st_row_cursor_end(StRowCursor *cursor)
{
	st_row_reader_end(&cursor->rows);
	MemoryContextDelete(cursor->mcxt);
}
