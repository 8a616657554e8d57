/*-------------------------------------------------------------------------
 *
 * st_compact_gin.c
 *	  Compaction: entries of a GIN index for many rows at once.
 *
 * A GIN gets one row's keys by way of its pending list, and writes the list's
 * metapage to WAL for each row.  For many rows it is better served as by its own
 * build: keys are collected, and each is put into the index once, with all its rows.
 *
 * Keys are collected up to a bound of memory, and again after that.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/gin_private.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "st_compact_int.h"

struct StGinEntries
{
	GinState	state;
	BuildAccumulator keys;
	Size		max_bytes;
	MemoryContext keys_mcxt;
	MemoryContext row_mcxt;		/* for keys of one row, before they are copied */
};

StGinEntries *
st_gin_begin(Relation index, Size max_bytes)
{
	StGinEntries *e = palloc0(sizeof(StGinEntries));
	MemoryContext oldcxt;

	e->max_bytes = max_bytes;
	e->keys_mcxt = AllocSetContextCreate(CurrentMemoryContext, "keys for GIN",
										 ALLOCSET_DEFAULT_SIZES);
	e->row_mcxt = AllocSetContextCreate(CurrentMemoryContext, "keys of a row for GIN",
										ALLOCSET_DEFAULT_SIZES);
	initGinState(&e->state, index);
	e->keys.ginstate = &e->state;
	oldcxt = MemoryContextSwitchTo(e->keys_mcxt);
	ginInitBA(&e->keys);
	MemoryContextSwitchTo(oldcxt);
	return e;
}

void
st_gin_flush(StGinEntries *e)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(e->keys_mcxt);
	ItemPointerData *tids;
	OffsetNumber attnum;
	Datum		key;
	GinNullCategory category;
	uint32		n;

	ginBeginBAScan(&e->keys);
	while ((tids = ginGetBAEntry(&e->keys, &attnum, &key, &category, &n)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		st_pace_rest();
		ginEntryInsert(&e->state, attnum, key, category, tids, n, NULL);
	}
	MemoryContextReset(e->keys_mcxt);
	ginInitBA(&e->keys);
	MemoryContextSwitchTo(oldcxt);
}

void
st_gin_put(StGinEntries *e, const Datum *values, const bool *isnull, ItemPointer tid)
{
	for (int i = 0; i < e->state.origTupdesc->natts; i++)
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(e->row_mcxt);
		GinNullCategory *categories;
		int32		n;
		Datum	   *keys = ginExtractEntries(&e->state, i + 1, values[i], isnull[i], &n,
											 &categories);

		MemoryContextSwitchTo(e->keys_mcxt);
		ginInsertBAEntries(&e->keys, tid, i + 1, keys, categories, n);
		MemoryContextSwitchTo(oldcxt);
		MemoryContextReset(e->row_mcxt);
	}
	if (e->keys.allocatedMemory >= e->max_bytes)
		st_gin_flush(e);
}

Size
st_gin_collected(const StGinEntries *e)
{
	return e->keys.allocatedMemory;
}

void
st_gin_end(StGinEntries *e)
{
	MemoryContextDelete(e->keys_mcxt);
	MemoryContextDelete(e->row_mcxt);
	pfree(e);
}
