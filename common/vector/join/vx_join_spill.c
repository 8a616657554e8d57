/*-------------------------------------------------------------------------
 *
 * vx_join_spill.c
 *	  Where both sides of a vector hash join go when the build side has no room
 *	  in memory.
 *
 * Rows are divided into parts by bits of their hash and go to disk.  Parts
 * are joined one by one; one that is too large again is divided by the next
 * bits.  A part whose rows all fell into one is not divided any more: they are
 * equal, and kept in memory like the server's hash join keeps them.
 *
 * Of the hashes of the whole build side there is a Bloom filter while the probe
 * side is read: rows that meet nothing are not written.
 *
 * Rows on disk are tuples of the inner plan, and of the probe side's columns,
 * with the columns that are needed and nulls for the others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
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

/* The Bloom filter: rows of the build side for each of its words, and its share of memory. */
#define WORD_ROWS	4
#define MIN_WORDS	1024
#define MEMORY_SHARE	4

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
	bool		used;			/* rows have gone to disk since the last reset */
	uint64	   *bloom;			/* words of hashes of the build side, or NULL */
	uint64		bloom_mask;

	TupleTableSlot *build_write;	/* virtual */
	TupleTableSlot *build_read; /* minimal tuples */
	TupleTableSlot *probe_write;
	TupleTableSlot *probe_read;
	VxBatch    *batch;			/* of the probe side's rows from disk */
	VxRowVectors *vectors;
};

static VxJoinSpill *
create(VxJoinState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	TupleDesc	inner = ExecGetResultType(state->inner);
	TupleDesc	outer = CreateTemplateTupleDesc(state->nouter);
	Bitmapset  *columns = NULL;
	VxJoinSpill *spill = palloc0(sizeof(VxJoinSpill));

	for (int i = 1; i <= state->nouter; i++)
	{
		TupleDescCopyEntry(outer, i, state->desc, i);
		if (bms_is_member(i, state->needed))
			columns = bms_add_member(columns, i);
	}
	TupleDescFinalize(outer);
	spill->mcxt = estate->es_query_cxt;
	spill->build_write = ExecInitExtraTupleSlot(estate, inner, &TTSOpsVirtual);
	spill->build_read = ExecInitExtraTupleSlot(estate, inner, &TTSOpsMinimalTuple);
	spill->probe_write = ExecInitExtraTupleSlot(estate, outer, &TTSOpsVirtual);
	spill->probe_read = ExecInitExtraTupleSlot(estate, outer, &TTSOpsMinimalTuple);
	spill->batch = vx_batch_create(state->nouter, columns);
	spill->vectors = vx_row_vectors_create(spill->batch, outer);
	MemoryContextSwitchTo(old);
	return spill;
}

static int
input_level(const VxJoinState *state)
{
	return state->spill && state->spill->input ? state->spill->input->level : 0;
}

/* ---- the Bloom filter ---- */

/*
 * The table is about to be given up, so there is room.  How many rows the build
 * side has is not known yet: twice those that had room, or what was expected.
 */
static void
make_bloom(VxJoinState *state)
{
	VxJoinSpill *spill = state->spill;
	double		rows = Max(2.0 * state->hash->nrows, state->inner->plan->plan_rows);
	uint64		most = get_hash_memory_limit() / MEMORY_SHARE / sizeof(uint64);
	uint64		words = MIN_WORDS;

	while (words < rows / WORD_ROWS && words * 2 <= most)
		words *= 2;
	spill->bloom = MemoryContextAllocExtended(spill->mcxt, words * sizeof(uint64),
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	spill->bloom_mask = words - 1;
}

/* Two bits of one word, by bits of the hash that the parts do not take. */
static inline uint64
bloom_bits(uint64 hash)
{
	return (UINT64CONST(1) << (hash & 63)) | (UINT64CONST(1) << ((hash >> 6) & 63));
}

static inline uint64 *
bloom_word(const VxJoinSpill *spill, uint64 hash)
{
	return &spill->bloom[(hash >> 12) & spill->bloom_mask];
}

static void
free_bloom(VxJoinSpill *spill)
{
	if (spill->bloom)
		pfree(spill->bloom);
	spill->bloom = NULL;
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

/* A row of the build side, by columns of the table. */
static void
spill_row(VxJoinState *state, uint64 hash, const Datum *values, const bool *isnull)
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
	if (spill->bloom)
		*bloom_word(spill, hash) |= bloom_bits(hash);
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

	if (state->spill == NULL)
		state->spill = create(state);
	state->spill->used = true;
	/* rows of a part have passed the filter of all */
	if (state->spill->input == NULL && !vx_join_keeps_probe(state))
		make_bloom(state);
	for (uint64 i = 0; i < hash->nrows; i++)
	{
		VxHashRow  *row = vx_hash_row(hash, i);
		MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

		CHECK_FOR_INTERRUPTS();
		for (int c = 0; c < hash->ncolumns; c++)
			values[c] = vx_hash_value(hash, row, c, &isnull[c]);
		spill_row(state, row->hash, values, isnull);
		MemoryContextSwitchTo(old);
		ResetExprContext(econtext);
	}
	vx_hash_reset(hash);
}

/* ---- rows of the build side ---- */

uint64
vx_join_spread(VxJoinState *state)
{
	return ++state->nspread * UINT64CONST(0x9e3779b97f4a7c15);
}

void
vx_join_look_at_memory(VxJoinState *state)
{
	VxHash	   *hash = state->into;
	Size		used;

	if (state->overflown ||
		(hash->nrows < state->looked_at + CHECK_ROWS && hash->unseen < CHECK_BYTES))
		return;
	hash->unseen = 0;
	state->looked_at = hash->nrows;
	if (hash == state->collected)
	{
		vx_join_share_look(state);
		return;
	}
	if (input_level(state) >= MAX_LEVEL)
		return;
	used = vx_hash_memory(hash);
	if (used <= get_hash_memory_limit())
		return;
	state->stats->peak = Max(state->stats->peak, used);
	spill_table(state);
	state->overflown = true;
}

void
vx_join_add_row(VxJoinState *state, uint64 hashed, const Datum *values, const bool *isnull)
{
	if (state->overflown)
		spill_row(state, hashed, values, isnull);
	else
		vx_hash_add(state->into, hashed, values, isnull);
}

/* A row of the probe side's batch. */
static void
write_probe_row(VxJoinState *state, Part *part, int row)
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

void
vx_join_spill_filter(VxJoinState *state, uint64 *rows)
{
	const VxJoinSpill *spill = state->spill;
	int			nwords = (state->nrows + 63) / 64;

	if (spill->bloom)
		VX_FOREACH_ROW(row, rows, nwords)
			__builtin_prefetch(bloom_word(spill, state->hashes[row]));
	VX_FOREACH_ROW(row, rows, nwords)
	{
		uint64		hash = state->hashes[row];

		if (part_of_hash(state, hash)->nbuild == 0 ||
			(spill->bloom && (bloom_bits(hash) & ~*bloom_word(spill, hash)) != 0))
			vx_rows_clear(rows, row);
	}
}

void
vx_join_spill_probe(VxJoinState *state, uint64 hash, int row)
{
	write_probe_row(state, part_of_hash(state, hash), row);
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

void
vx_join_spill_finish(VxJoinState *state)
{
	VxJoinSpill *spill = state->spill;
	int			level = input_level(state);
	uint64		total = 0;
	MemoryContext old = MemoryContextSwitchTo(spill->mcxt);

	free_bloom(spill);
	for (int i = 0; i < PARTS; i++)
		total += spill->parts[i].nbuild;
	for (int i = 0; i < PARTS; i++)
	{
		Part	   *part = &spill->parts[i];
		Part	   *done;

		if (part->probe == NULL && (part->nbuild == 0 || !vx_join_keeps_build(state)))
		{
			free_part(part);
			continue;
		}
		part->level = part->nbuild == total ? MAX_LEVEL : level + 1;
		done = palloc(sizeof(Part));
		*done = *part;
		memset(part, 0, sizeof(*part));
		spill->pending = lcons(done, spill->pending);
		state->stats->parts++;
	}
	MemoryContextSwitchTo(old);
}

/* ---- reading them ---- */

bool
vx_join_spill_next(VxJoinState *state)
{
	VxJoinSpill *spill = state->spill;

	if (spill == NULL)
		return false;
	end_input(spill);
	if (spill->pending == NIL)
		return false;
	spill->input = linitial(spill->pending);
	spill->pending = list_delete_first(spill->pending);
	return true;
}

bool
vx_join_from_disk(const VxJoinState *state)
{
	return state->spill && state->spill->input;
}

TupleTableSlot *
vx_join_spilled_row(VxJoinState *state)
{
	VxJoinSpill *spill = state->spill;

	return spill->input->build != NULL &&
		tuplestore_gettupleslot(spill->input->build, true, false, spill->build_read) ?
		spill->build_read : NULL;
}

VxBatch *
vx_join_spilled_batch(VxJoinState *state)
{
	VxJoinSpill *spill = state->spill;

	return spill->input->probe != NULL &&
		vx_row_vectors_of_store(spill->vectors, spill->input->probe, spill->probe_read) ?
		spill->batch : NULL;
}

/* ---- starting over ---- */

bool
vx_join_spill_is_used(const VxJoinState *state)
{
	return state->spill && state->spill->used;
}

void
vx_join_spill_reset(VxJoinState *state)
{
	VxJoinSpill *spill = state->spill;
	ListCell   *lc;

	if (spill == NULL)
		return;
	spill->used = false;
	free_bloom(spill);
	end_input(spill);
	for (int i = 0; i < PARTS; i++)
		free_part(&spill->parts[i]);
	foreach(lc, spill->pending)
		free_part(lfirst(lc));
	list_free_deep(spill->pending);
	spill->pending = NIL;
}
