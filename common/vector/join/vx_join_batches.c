/*-------------------------------------------------------------------------
 *
 * vx_join_batches.c
 *	  The build side of a vector hash join whose plan hands out vectors itself.
 *
 * Keys are computed and hashed on a batch, and its columns are added to the
 * table without making rows of them.  Rows are made where the table has no
 * room in memory, and of batches that have large values, so that no more
 * than one of these is in memory beside the table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "vx_join.h"

struct VxJoinBatches
{
	VxProducer *source;
	AttrNumber *source_columns; /* of its batch, by column of the inner plan */
	VxBatch    *batch;			/* the same as rows of the node */
	AttrNumber *attnos;			/* by column of the table: of the source's batch, or 0 */
	VxExpr    **programs;		/* by column of the table: of what is computed */
	const VxVector **vectors;	/* by column of the table */
	const VxVector **keys;		/* by key */

	/* columns of the source's batch that are fetched value by value */
	bool		any_fetched;
	bool	   *fetched;
	Datum	   *values;
	bool	   *isnull;
};

/* VxRowsVector: a column of the build side in the node's rows. */
static const VxVector *
source_column(void *rows, AttrNumber attno)
{
	VxJoinState *state = rows;
	VxJoinBatches *b = state->batches;

	return vx_batch_vector(b->source->batch, b->source_columns[attno - state->nouter - 1]);
}

static Bitmapset *
build_columns(const VxJoinState *state)
{
	Bitmapset  *result = NULL;
	int			attno = state->nouter;

	while ((attno = bms_next_member(state->needed, attno)) >= 0)
		result = bms_add_member(result, attno);
	return result;
}

/* Programs for the keys that are no columns; false: one is the server's. */
static bool
compile_keys(VxJoinState *state, VxJoinBatches *b)
{
	for (int k = 0; k < state->nkeys; k++)
	{
		int			column = state->hash->keys[k].column;
		OpExpr	   *clause = list_nth_node(OpExpr, state->clauses, k);

		if (state->key_states[column] == NULL)
			continue;
		b->programs[column] = vx_expr_compile(state->exprs, lsecond(clause->args), 0);
		if (b->programs[column] == NULL)
			return false;
	}
	return true;
}

VxJoinBatches *
vx_join_batches_create(VxJoinState *state)
{
	VxProducer *source = vx_producer(state->inner);
	AttrNumber *source_columns = source ? vx_producer_columns(state->inner) : NULL;
	int			ncolumns = state->hash->ncolumns;
	VxJoinBatches *b;

	if (source_columns == NULL)
		return NULL;
	b = palloc0(sizeof(VxJoinBatches));
	b->source = source;
	b->source_columns = source_columns;
	b->programs = palloc0(sizeof(VxExpr *) * (ncolumns + 1));
	if (!compile_keys(state, b))
		return NULL;
	b->batch = vx_batch_create(state->desc->natts, build_columns(state));
	b->batch->rows = state;
	b->batch->rows_vector = source_column;
	b->attnos = palloc0(sizeof(AttrNumber) * (ncolumns + 1));
	for (int i = 0; i < state->desc->natts - state->nouter; i++)
		if (state->stored_of[i] >= 0)
			b->attnos[state->stored_of[i]] = source_columns[i];
	b->vectors = palloc0(sizeof(VxVector *) * (ncolumns + 1));
	b->keys = palloc0(sizeof(VxVector *) * state->nkeys);
	b->fetched = palloc0(sizeof(bool) * source->batch->natts);
	b->values = palloc0(sizeof(Datum) * source->batch->natts);
	b->isnull = palloc0(sizeof(bool) * source->batch->natts);
	return b;
}

/* ---- a batch ---- */

static bool
is_large(VxBatch *batch, AttrNumber attno)
{
	return vx_batch_is_large(batch, attno) &&
		vx_batch_column(batch, attno)->access == VX_ACCESS_NONE;
}

/* Hashes of the selected rows; those that meet nothing leave the selection. */
static void
hash_rows(VxJoinState *state, uint64 *rows, uint64 *hashes)
{
	VxJoinBatches *b = state->batches;
	int			nwords = (b->batch->nrows + 63) / 64;
	uint64		keyed[VX_SELECTION_WORDS];

	for (int k = 0; k < state->nkeys; k++)
	{
		int			column = state->hash->keys[k].column;

		b->vectors[column] = b->programs[column] ?
			vx_expr_eval(b->programs[column], b->batch, rows) :
			vx_batch_vector(b->source->batch, b->attnos[column]);
		b->keys[k] = b->vectors[column];
	}
	memcpy(keyed, rows, sizeof(uint64) * nwords);
	vx_hash_of_vectors(state->hash, b->keys, false, b->batch->nrows, keyed, hashes);
	for (int w = 0; w < nwords; w++)
	{
		uint64		loose = rows[w] & ~keyed[w];

		if (!vx_join_keeps_build(state))
			rows[w] = keyed[w];
		else
			for (; loose != 0; loose &= loose - 1)
				hashes[w * 64 + __builtin_ctzll(loose)] = vx_join_spread(state);
	}
}

/* Columns that are not keys; large values stay where they are. */
static void
take_columns(VxJoinState *state)
{
	VxJoinBatches *b = state->batches;
	VxBatch    *source = b->source->batch;

	b->any_fetched = false;
	for (int c = 0; c < state->hash->ncolumns; c++)
	{
		AttrNumber	attno = b->attnos[c];

		if (attno == 0)
			continue;
		b->fetched[attno - 1] = is_large(source, attno);
		b->any_fetched |= b->fetched[attno - 1];
		b->vectors[c] = b->fetched[attno - 1] ? NULL : vx_batch_vector(source, attno);
	}
}

/* Columns of the table, of a row of the batch. */
static void
columns_of_row(VxJoinState *state, int row, Datum *values, bool *isnull)
{
	VxJoinBatches *b = state->batches;
	VxBatch    *source = b->source->batch;

	if (b->any_fetched)
		vx_format->store->reader_row(source->reader, source->start + row, b->fetched,
									 b->values, b->isnull);
	for (int c = 0; c < state->hash->ncolumns; c++)
	{
		const VxVector *v = b->vectors[c];

		isnull[c] = v ? vx_vector_isnull(v, row) : b->isnull[b->attnos[c] - 1];
		if (isnull[c])
			values[c] = (Datum) 0;
		else
			values[c] = v ? vx_vector_datum(v, row) : b->values[b->attnos[c] - 1];
	}
}

static void
add_rows_of_word(VxJoinState *state, int w, uint64 word, const uint64 *hashes)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	Datum		values[VX_HASH_MAX_COLUMNS];
	bool		isnull[VX_HASH_MAX_COLUMNS];

	for (; word != 0; word &= word - 1)
	{
		int			row = w * 64 + __builtin_ctzll(word);
		MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

		CHECK_FOR_INTERRUPTS();
		columns_of_row(state, row, values, isnull);
		vx_join_add_row(state, hashes[row], values, isnull);
		MemoryContextSwitchTo(old);
		ResetExprContext(econtext);
		vx_join_look_at_memory(state);
	}
}

static void
add_batch(VxJoinState *state)
{
	VxJoinBatches *b = state->batches;
	VxBatch    *source = b->source->batch;
	uint64	   *rows = b->batch->selection;
	uint64		hashes[ST_VECTOR_SIZE];

	state->stats->built += vx_selection_count(source->selection, source->nrows);
	vx_batch_set_rows(b->batch, source->nrows);
	b->batch->first_row = b->source->group;
	memcpy(rows, source->selection, (source->nrows + 63) / 64 * sizeof(uint64));
	hash_rows(state, rows, hashes);
	memcpy(source->selection, rows, (source->nrows + 63) / 64 * sizeof(uint64));
	take_columns(state);
	for (int w = 0; w < (source->nrows + 63) / 64; w++)
	{
		if (rows[w] == 0)
			continue;
		if (state->overflown || b->any_fetched)
		{
			add_rows_of_word(state, w, rows[w], hashes);
			continue;
		}
		vx_hash_add_vectors(state->into, b->vectors, b->source->group, hashes, w, rows[w]);
		vx_join_look_at_memory(state);
	}
}

void
vx_join_read_batches(VxJoinState *state)
{
	while (vx_producer_next(state->inner))
	{
		MemoryContext old = MemoryContextSwitchTo(state->batch_mcxt);

		CHECK_FOR_INTERRUPTS();
		add_batch(state);
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->batch_mcxt);
	}
}
