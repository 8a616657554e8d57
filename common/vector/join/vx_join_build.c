/*-------------------------------------------------------------------------
 *
 * vx_join_build.c
 *	  The build side of a vector hash join, and where both sides go when it has
 *	  no room in memory.
 *
 * Rows of the inner plan are added to a table in memory (vx_hash.c).  When
 * that has grown beyond hash_mem, its rows and all that come behind are
 * divided into parts by bits of their hash and go to disk; so do then all
 * rows of the probe side.  Parts are joined one by one; one that is too large
 * again is divided by the next bits.  A part whose rows all fell into one is
 * not divided any more: they are equal, and kept in memory like the server's
 * hash join keeps them.
 *
 * Rows on disk are tuples of the inner plan, and of the probe side's columns,
 * with the columns that are needed and nulls for the others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "vx_join.h"
#include "st_compat.h"

#define PART_BITS	4
#define PARTS		(1 << PART_BITS)

/* Bits of a hash are used up at this level: its rows are kept in memory. */
#define MAX_LEVEL	(64 / PART_BITS)

/* Memory of each side of a part before it goes to disk, kB. */
#define PART_MEMORY	64

/* So many rows, or bytes of their values, are added before memory is looked at. */
#define CHECK_ROWS	256
#define CHECK_BYTES	(64 * 1024)

typedef struct Part
{
	Tuplestorestate *build;		/* NULL: no rows */
	Tuplestorestate *probe;
	uint64		nbuild;
	int			level;			/* how often its rows have been divided */
} Part;

struct VxJoinSpill
{
	MemoryContext mcxt;
	Part		parts[PARTS];	/* being written */
	List	   *pending;		/* of Part, to be joined */
	Part	   *input;			/* being joined, or NULL: the plans below are */
	uint64		nparts;
	bool		used;			/* rows have gone to disk since the last reset */

	TupleTableSlot *build_write;	/* virtual */
	TupleTableSlot *build_read; /* minimal tuples */
	TupleTableSlot *probe_write;
	TupleTableSlot *probe_read;
	VxBatch    *batch;			/* of the probe side's rows from disk */
	VxRowVectors *vectors;
};

/* ---- setting up ---- */

static Expr *
without_relabel(Expr *expr)
{
	while (expr && IsA(expr, RelabelType))
		expr = ((RelabelType *) expr)->arg;
	return expr;
}

/* Column of the table that holds the key; made if it is no plain column. */
static int
key_column(VxJoinState *state, Expr *expr, TupleDesc desc, int *ncolumns)
{
	Expr	   *plain = without_relabel(expr);
	int			column;

	if (IsA(plain, Var) && ((Var *) plain)->varattno > state->nouter)
		return state->stored_of[((Var *) plain)->varattno - state->nouter - 1];
	column = (*ncolumns)++;
	TupleDescInitEntry(desc, column + 1, NULL, exprType((Node *) expr),
					   exprTypmod((Node *) expr), 0);
	state->key_states[column] = ExecInitExpr(expr, &state->css.ss.ps);
	return column;
}

void
vx_join_build_init(VxJoinState *state, const List *kinds)
{
	int			ninner = state->desc->natts - state->nouter;
	int			nkeys = state->nkeys;
	int			ncolumns = 0;
	TupleDesc	desc = CreateTemplateTupleDesc(ninner + nkeys);
	TupleDesc	stored;
	VxHashKey  *keys = palloc0(sizeof(VxHashKey) * nkeys);
	Oid		   *eqops = palloc(sizeof(Oid) * nkeys);
	ListCell   *lc;

	state->stored_of = palloc(sizeof(int16) * (ninner + 1));
	state->key_states = palloc0(sizeof(ExprState *) * (ninner + nkeys));
	for (int i = 0; i < ninner; i++)
	{
		state->stored_of[i] = -1;
		if (!bms_is_member(state->nouter + i + 1, state->needed))
			continue;
		TupleDescCopyEntry(desc, ncolumns + 1, state->desc, state->nouter + i + 1);
		state->stored_of[i] = ncolumns++;
	}
	foreach(lc, state->clauses)
	{
		OpExpr	   *clause = lfirst_node(OpExpr, lc);
		int			k = foreach_current_index(lc);
		Expr	   *inner = lsecond(clause->args);

		keys[k].kind = list_nth_int(kinds, k);
		keys[k].type = getBaseType(exprType((Node *) inner));
		keys[k].probe_type = getBaseType(exprType(linitial(clause->args)));
		keys[k].collation = clause->inputcollid;
		keys[k].column = key_column(state, inner, desc, &ncolumns);
		eqops[k] = clause->opno;
	}
	stored = CreateTemplateTupleDesc(ncolumns);
	for (int i = 1; i <= ncolumns; i++)
		TupleDescCopyEntry(stored, i, desc, i);
	TupleDescFinalize(stored);
	state->hash = vx_hash_create(stored, nkeys, keys, eqops);
	state->build_slot = ExecInitExtraTupleSlot(state->css.ss.ps.state, state->desc,
											   &TTSOpsVirtual);
	memset(state->build_slot->tts_isnull, true, sizeof(bool) * state->desc->natts);
	ExecStoreVirtualTuple(state->build_slot);
}

static VxJoinSpill *
get_spill(VxJoinState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	TupleDesc	inner = ExecGetResultType(state->inner);
	TupleDesc	outer;
	Bitmapset  *columns = NULL;
	MemoryContext old;
	VxJoinSpill *spill;

	if (state->spill)
		return state->spill;
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	outer = CreateTemplateTupleDesc(state->nouter);
	for (int i = 1; i <= state->nouter; i++)
	{
		TupleDescCopyEntry(outer, i, state->desc, i);
		if (bms_is_member(i, state->needed))
			columns = bms_add_member(columns, i);
	}
	TupleDescFinalize(outer);
	spill = palloc0(sizeof(VxJoinSpill));
	spill->mcxt = estate->es_query_cxt;
	spill->build_write = ExecInitExtraTupleSlot(estate, inner, &TTSOpsVirtual);
	spill->build_read = ExecInitExtraTupleSlot(estate, inner, &TTSOpsMinimalTuple);
	spill->probe_write = ExecInitExtraTupleSlot(estate, outer, &TTSOpsVirtual);
	spill->probe_read = ExecInitExtraTupleSlot(estate, outer, &TTSOpsMinimalTuple);
	spill->batch = vx_batch_create(state->nouter, columns);
	spill->vectors = vx_row_vectors_create(spill->batch, outer);
	MemoryContextSwitchTo(old);
	state->spill = spill;
	return spill;
}

static int
input_level(const VxJoinState *state)
{
	return state->spill && state->spill->input ? state->spill->input->level : 0;
}

/* ---- writing parts ---- */

static Part *
part_of_hash(VxJoinState *state, uint64 hash)
{
	int			level = input_level(state);

	return &state->spill->parts[(hash >> (64 - PART_BITS * (level + 1))) & (PARTS - 1)];
}

static void
write_slot(VxJoinSpill *spill, Tuplestorestate **store, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(spill->mcxt);

	if (*store == NULL)
		*store = tuplestore_begin_heap(false, false, PART_MEMORY);
	tuplestore_puttupleslot(*store, slot);
	MemoryContextSwitchTo(old);
}

static void
start_slot(TupleTableSlot *slot)
{
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
}

/* A row of the build side: columns of the table. */
static void
spill_build_row(VxJoinState *state, uint64 hash, const Datum *values, const bool *isnull)
{
	VxJoinSpill *spill = state->spill;
	TupleTableSlot *slot = spill->build_write;
	Part	   *part = part_of_hash(state, hash);

	start_slot(slot);
	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
	{
		int			column = state->stored_of[i];

		if (column < 0)
			continue;
		slot->tts_values[i] = values[column];
		slot->tts_isnull[i] = isnull[column];
	}
	ExecStoreVirtualTuple(slot);
	write_slot(spill, &part->build, slot);
	part->nbuild++;
	ExecClearTuple(slot);
}

/* The rows in memory go to disk. */
static void
spill_table(VxJoinState *state)
{
	VxHash	   *hash = state->hash;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	Datum		values[VX_HASH_MAX_COLUMNS];
	bool		isnull[VX_HASH_MAX_COLUMNS];

	get_spill(state)->used = true;
	for (uint64 i = 0; i < hash->nrows; i++)
	{
		VxHashRow  *row = vx_hash_row(hash, i);
		MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

		CHECK_FOR_INTERRUPTS();
		for (int c = 0; c < hash->ncolumns; c++)
			values[c] = vx_hash_value(hash, row, c, &isnull[c]);
		spill_build_row(state, row->hash, values, isnull);
		MemoryContextSwitchTo(old);
		ResetExprContext(econtext);
	}
	vx_hash_reset(hash);
}

static bool
keeps_unmatched(const VxJoinState *state)
{
	return state->jointype == JOIN_LEFT || state->jointype == JOIN_ANTI;
}

/* A row of the probe side's batch. */
static void
spill_probe_row(VxJoinState *state, Part *part, int row)
{
	VxJoinSpill *spill = state->spill;
	VxBatch    *batch = state->producer.batch;
	TupleTableSlot *slot = spill->probe_write;
	int			attno = -1;

	start_slot(slot);
	while ((attno = bms_next_member(state->needed, attno)) >= 0 && attno <= state->nouter)
	{
		(void) vx_batch_vector(batch, attno);
		vx_batch_value(vx_batch_column(batch, attno), row, &slot->tts_values[attno - 1],
					   &slot->tts_isnull[attno - 1]);
	}
	ExecStoreVirtualTuple(slot);
	write_slot(spill, &part->probe, slot);
	ExecClearTuple(slot);
}

/* All of the probe side; a row that has nothing to meet is left out. */
static void
spill_probe(VxJoinState *state)
{
	while (vx_join_probe_batch(state))
	{
		uint64		keyed[VX_SELECTION_WORDS];
		MemoryContext old = MemoryContextSwitchTo(state->batch_mcxt);

		CHECK_FOR_INTERRUPTS();
		memcpy(keyed, state->rows, sizeof(keyed));
		vx_join_pass(state, state->rows);
		for (int k = 0; k < state->nkeys; k++)
			state->key_vectors[k] = vx_expr_eval(state->keys[k], state->producer.batch,
												 state->rows);
		vx_hash_of_vectors(state->hash, state->key_vectors, state->nrows, keyed,
						   state->hashes);
		VX_FOREACH_ROW(row, state->rows, (state->nrows + 63) / 64)
		{
			bool		has_key = (keyed[row >> 6] >> (row & 63)) & 1;
			Part	   *part = part_of_hash(state, has_key ? state->hashes[row] : 0);

			if (keeps_unmatched(state) || (has_key && part->nbuild > 0))
				spill_probe_row(state, part, row);
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->batch_mcxt);
	}
}

static void
free_part(Part *part)
{
	if (part->build)
		tuplestore_end(part->build);
	if (part->probe)
		tuplestore_end(part->probe);
	memset(part, 0, sizeof(*part));
}

static void
end_input(VxJoinSpill *spill)
{
	if (spill->input == NULL)
		return;
	ExecClearTuple(spill->build_read);
	ExecClearTuple(spill->probe_read);
	free_part(spill->input);
	pfree(spill->input);
	spill->input = NULL;
}

/* What was written becomes parts to be joined. */
static void
finish_parts(VxJoinState *state)
{
	VxJoinSpill *spill = state->spill;
	int			level = input_level(state);
	uint64		total = 0;
	MemoryContext old = MemoryContextSwitchTo(spill->mcxt);

	for (int i = 0; i < PARTS; i++)
		total += spill->parts[i].nbuild;
	for (int i = 0; i < PARTS; i++)
	{
		Part	   *part = &spill->parts[i];
		Part	   *done;

		if (part->probe == NULL)
		{
			free_part(part);
			continue;
		}
		part->level = part->nbuild == total ? MAX_LEVEL : level + 1;
		done = palloc(sizeof(Part));
		*done = *part;
		memset(part, 0, sizeof(*part));
		spill->pending = lcons(done, spill->pending);
		spill->nparts++;
	}
	MemoryContextSwitchTo(old);
}

/* ---- reading ---- */

static TupleTableSlot *
next_build_row(VxJoinState *state)
{
	VxJoinSpill *spill = state->spill;
	TupleTableSlot *slot;

	if (spill && spill->input)
		return spill->input->build != NULL &&
			tuplestore_gettupleslot(spill->input->build, true, false, spill->build_read) ?
			spill->build_read : NULL;
	slot = ExecProcNode(state->inner);
	if (TupIsNull(slot))
		return NULL;
	state->total_built++;
	return slot;
}

/* Columns of the table, of a row of the inner plan; keys are computed. */
static void
columns_of_row(VxJoinState *state, TupleTableSlot *slot, Datum *values, bool *isnull)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	TupleTableSlot *all = state->build_slot;
	int			ninner = state->desc->natts - state->nouter;

	slot_getallattrs(slot);
	for (int i = 0; i < ninner; i++)
	{
		int			column = state->stored_of[i];

		if (column < 0)
			continue;
		values[column] = all->tts_values[state->nouter + i] = slot->tts_values[i];
		isnull[column] = all->tts_isnull[state->nouter + i] = slot->tts_isnull[i];
	}
	econtext->ecxt_scantuple = all;
	for (int c = 0; c < state->hash->ncolumns; c++)
		if (state->key_states[c])
			values[c] = ExecEvalExpr(state->key_states[c], econtext, &isnull[c]);
}

/* Is it time to look, and are the rows too large? */
static bool
is_full(VxHash *hash)
{
	if (hash->nrows % CHECK_ROWS != 0 && hash->unseen < CHECK_BYTES)
		return false;
	hash->unseen = 0;
	return vx_hash_memory(hash) > get_hash_memory_limit();
}

/*
 * All rows of the input into memory.  True: there was no room, and they are
 * on disk.
 */
static bool
read_build(VxJoinState *state)
{
	VxHash	   *hash = state->hash;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	int			level = input_level(state);
	Datum		values[VX_HASH_MAX_COLUMNS];
	bool		isnull[VX_HASH_MAX_COLUMNS];
	bool		spilled = false;
	TupleTableSlot *slot;

	vx_hash_reset(hash);
	while ((slot = next_build_row(state)) != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		uint64		hashed;

		CHECK_FOR_INTERRUPTS();
		columns_of_row(state, slot, values, isnull);
		/* a row with a null key meets nothing */
		if (vx_hash_of_row(hash, values, isnull, &hashed))
		{
			if (spilled)
				spill_build_row(state, hashed, values, isnull);
			else
				vx_hash_add(hash, hashed, values, isnull);
		}
		MemoryContextSwitchTo(old);
		ResetExprContext(econtext);
		if (!spilled && level < MAX_LEVEL && is_full(hash))
		{
			state->peak = Max(state->peak, vx_hash_memory(hash));
			spill_table(state);
			spilled = true;
		}
	}
	if (!spilled)
		vx_hash_finish(hash);
	state->peak = Max(state->peak, vx_hash_memory(hash));
	/* what was known of the columns' dictionaries is void */
	state->producer.group++;
	return spilled;
}

bool
vx_join_build_next(VxJoinState *state)
{
	VxJoinSpill *spill = state->spill;

	for (;;)
	{
		if (!state->built)
			state->built = true;
		else if (spill == NULL)
			return false;
		else
		{
			end_input(spill);
			if (spill->pending == NIL)
				return false;
			spill->input = linitial(spill->pending);
			spill->pending = list_delete_first(spill->pending);
		}
		if (!read_build(state))
			return true;
		spill = state->spill;
		spill_probe(state);
		finish_parts(state);
	}
}

/* ---- the probe side ---- */

static bool
next_batch_from_disk(VxJoinSpill *spill)
{
	return vx_row_vectors_of_store(spill->vectors, spill->input->probe, spill->probe_read);
}

bool
vx_join_probe_batch(VxJoinState *state)
{
	VxJoinSpill *spill = state->spill;
	VxBatch    *batch;

	if (spill && spill->input)
	{
		if (!next_batch_from_disk(spill))
			return false;
		batch = spill->batch;
	}
	else
	{
		if (!vx_producer_next(state->outer))
			return false;
		batch = state->probe->batch;
		if (state->probe_group != state->probe->group)
			state->producer.group++;
		state->probe_group = state->probe->group;
		state->total_probed += vx_selection_count(batch->selection, batch->nrows);
	}
	state->nrows = batch->nrows;
	memset(state->rows, 0, sizeof(state->rows));
	memcpy(state->rows, batch->selection, (batch->nrows + 63) / 64 * sizeof(uint64));
	return true;
}

static VxBatch *
probe_batch(const VxJoinState *state)
{
	return state->spill && state->spill->input ? state->spill->batch : state->probe->batch;
}

const VxVector *
vx_join_probe_vector(VxJoinState *state, AttrNumber attno)
{
	if (state->spill && state->spill->input)
		return vx_batch_vector(state->spill->batch, attno);
	return vx_batch_vector(state->probe->batch, state->probe_columns[attno - 1]);
}

void
vx_join_probe_narrow(VxJoinState *state, const uint64 *rows)
{
	memcpy(probe_batch(state)->selection, rows, (state->nrows + 63) / 64 * sizeof(uint64));
}

/* ---- starting over ---- */

bool
vx_join_is_whole(const VxJoinState *state)
{
	return state->built && (state->spill == NULL || !state->spill->used);
}

void
vx_join_build_reset(VxJoinState *state, bool keep)
{
	VxJoinSpill *spill = state->spill;
	ListCell   *lc;

	if (!keep)
	{
		vx_hash_reset(state->hash);
		state->built = false;
	}
	if (spill == NULL)
		return;
	spill->used = false;
	end_input(spill);
	for (int i = 0; i < PARTS; i++)
		free_part(&spill->parts[i]);
	foreach(lc, spill->pending)
		free_part(lfirst(lc));
	list_free_deep(spill->pending);
	spill->pending = NIL;
}

uint64
vx_join_parts(const VxJoinState *state)
{
	return state->spill ? state->spill->nparts : 0;
}
