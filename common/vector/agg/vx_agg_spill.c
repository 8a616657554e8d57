/*-------------------------------------------------------------------------
 *
 * vx_agg_spill.c
 *	  Rows for whose groups there is no memory.
 *
 * When groups have filled the memory that a hash table may take, no new ones
 * are made: rows of groups that there are go on being aggregated, the others
 * are written to disk, divided into parts by the hash of their keys.  When
 * the groups in memory have been returned, one part after another is read
 * back and aggregated in the same way; it may be divided again, by other bits
 * of the hash.  So every group is complete when it is returned.
 *
 * What is written are the columns that keys and aggregates are computed from.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#include "vx_agg.h"
#include "vx_row_vectors.h"
#include "st_compat.h"

#define PART_BITS	4
#define PARTS		(1 << PART_BITS)

/* Bits of a hash are used up at this level: its rows are kept in memory. */
#define MAX_LEVEL	(64 / PART_BITS)

/* Memory of a part before it goes to disk, kB. */
#define PART_MEMORY	128

typedef struct Part
{
	Tuplestorestate *rows;
	int			level;			/* how often its rows have been divided */
} Part;

struct VxSpill
{
	MemoryContext mcxt;
	Bitmapset  *columns;		/* that are written */
	TupleTableSlot *write_slot;
	TupleTableSlot *read_slot;
	VxRowVectors *vectors;

	Tuplestorestate *parts[PARTS];	/* being written, or NULL */
	List	   *pending;		/* of Part, to be read */
	Part	   *input;			/* being read, or NULL: the scan is */
	uint64		nrows;
	uint64		nparts;
};

/* Instead of path columns, those of the documents. */
static Bitmapset *
stored_columns(const VxBatch *batch, Bitmapset *columns)
{
	Bitmapset  *stored = NULL;
	int			attno = -1;

	while ((attno = bms_next_member(columns, attno)) >= 0)
		stored = bms_add_member(stored, attno <= batch->natts ? attno :
								batch->paths[attno - batch->natts - 1]->attno);
	return stored;
}

static Bitmapset *
needed_columns(VxAggState *state)
{
	Bitmapset  *columns = NULL;

	for (int i = 0; i < state->ninputs; i++)
	{
		VxAggInput *input = &state->inputs[i];

		if (input->attno != InvalidAttrNumber)
			columns = bms_add_member(columns, input->attno);
		else
			columns = bms_add_members(columns, vx_expr_columns(input->program));
	}
	return stored_columns(state->batch, columns);
}

static VxSpill *
get_spill(VxAggState *state)
{
	TupleDesc	desc = state->desc;
	EState	   *estate = state->css.ss.ps.state;
	MemoryContext old;
	VxSpill    *spill;

	if (state->spill)
		return state->spill;
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	spill = palloc0(sizeof(VxSpill));
	spill->mcxt = estate->es_query_cxt;
	spill->columns = needed_columns(state);
	spill->write_slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	spill->read_slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
	spill->vectors = vx_row_vectors_create(state->batch, desc);
	MemoryContextSwitchTo(old);
	state->spill = spill;
	return spill;
}

Size
vx_groups_memory(const VxAggState *state)
{
	Size		used = MemoryContextMemAllocated(state->mcxt, true) +
		MemoryContextMemAllocated(state->keys_mcxt, true);

	for (int i = 0; i < state->ntrans; i++)
		if (state->trans[i].server)
			used += vx_server_agg_memory(state->trans[i].server);
	return used;
}

bool
vx_spill_is_due(VxAggState *state)
{
	return vx_groups_memory(state) > get_hash_memory_limit() &&
		(!vx_spill_is_input(state) || state->spill->input->level < MAX_LEVEL);
}

void
vx_spill_row(VxAggState *state, int row, uint64 hash)
{
	VxSpill    *spill = get_spill(state);
	VxBatch    *batch = state->batch;
	TupleTableSlot *slot = spill->write_slot;
	int			level = spill->input ? spill->input->level : 0;
	int			part = (hash >> (64 - PART_BITS * (level + 1))) & (PARTS - 1);
	int			attno = -1;
	MemoryContext old = MemoryContextSwitchTo(spill->mcxt);

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	while ((attno = bms_next_member(spill->columns, attno)) >= 0)
	{
		(void) vx_batch_vector(batch, attno);
		vx_batch_value(vx_batch_column(batch, attno), row,
					   &slot->tts_values[attno - 1], &slot->tts_isnull[attno - 1]);
	}
	ExecStoreVirtualTuple(slot);
	if (spill->parts[part] == NULL)
		spill->parts[part] = tuplestore_begin_heap(false, false, PART_MEMORY);
	tuplestore_puttupleslot(spill->parts[part], slot);
	spill->nrows++;
	ExecClearTuple(slot);
	MemoryContextSwitchTo(old);
}

static void
end_input(VxSpill *spill)
{
	if (spill->input == NULL)
		return;
	ExecClearTuple(spill->read_slot);
	tuplestore_end(spill->input->rows);
	pfree(spill->input);
	spill->input = NULL;
}

/* What was written becomes parts to be read. */
static void
finish_parts(VxSpill *spill)
{
	int			level = spill->input ? spill->input->level : 0;
	MemoryContext old = MemoryContextSwitchTo(spill->mcxt);

	for (int i = 0; i < PARTS; i++)
	{
		Part	   *part;

		if (spill->parts[i] == NULL)
			continue;
		part = palloc(sizeof(Part));
		part->rows = spill->parts[i];
		part->level = level + 1;
		spill->pending = lcons(part, spill->pending);
		spill->parts[i] = NULL;
		spill->nparts++;
	}
	MemoryContextSwitchTo(old);
}

bool
vx_spill_next(VxAggState *state)
{
	VxSpill    *spill = state->spill;

	if (spill == NULL)
		return false;
	finish_parts(spill);
	end_input(spill);
	if (spill->pending == NIL)
		return false;
	spill->input = linitial(spill->pending);
	spill->pending = list_delete_first(spill->pending);
	return true;
}

bool
vx_spill_next_batch(VxAggState *state)
{
	VxSpill    *spill = state->spill;

	return vx_row_vectors_of_store(spill->vectors, spill->input->rows, spill->read_slot);
}

bool
vx_spill_is_input(const VxAggState *state)
{
	return state->spill && state->spill->input;
}

void
vx_spill_reset(VxAggState *state)
{
	VxSpill    *spill = state->spill;
	ListCell   *lc;

	if (spill == NULL)
		return;
	end_input(spill);
	for (int i = 0; i < PARTS; i++)
	{
		if (spill->parts[i])
			tuplestore_end(spill->parts[i]);
		spill->parts[i] = NULL;
	}
	foreach(lc, spill->pending)
		tuplestore_end(((Part *) lfirst(lc))->rows);
	list_free_deep(spill->pending);
	spill->pending = NIL;
}

void
vx_spill_counts(const VxAggState *state, uint64 *rows, uint64 *parts)
{
	*rows = state->spill ? state->spill->nrows : 0;
	*parts = state->spill ? state->spill->nparts : 0;
}
