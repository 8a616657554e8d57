/*-------------------------------------------------------------------------
 *
 * vx_join_build.c
 *	  The build side of a vector hash join: its rows in a table in memory.
 *
 * Rows of the inner plan are added to a table (vx_hash.c): out of vectors, if
 * it hands out such (vx_join_batches.c), else one by one.  When the table has
 * grown beyond hash_mem, its rows, all that come behind, and all rows of the
 * probe side go to disk in parts, which are joined one by one
 * (vx_join_spill.c).  Where the participants of a parallel plan divide the build
 * side, what is read here goes to the others first, and all rows come from there
 * (vx_join_share.c).
 *
 * Where rows of the build side without a match come out in the end, those
 * with a null key are in the table, too.  Nothing finds them.  On their way to
 * disk they are spread over the parts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "vx_join.h"
#include "st_compat.h"

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
	state->hash = state->into = vx_hash_create(stored, nkeys, keys, eqops);
	if (state->shares_build)
		state->collected = vx_hash_create(stored, nkeys, keys, eqops);
	state->build_slot = ExecInitExtraTupleSlot(state->css.ss.ps.state, state->desc,
											   &TTSOpsVirtual);
	memset(state->build_slot->tts_isnull, true, sizeof(bool) * state->desc->natts);
	ExecStoreVirtualTuple(state->build_slot);
	state->batches = vx_join_batches_create(state);
}

/* ---- reading rows ---- */

static TupleTableSlot *
next_build_row(VxJoinState *state)
{
	TupleTableSlot *slot;

	if (vx_join_from_disk(state))
		return vx_join_spilled_row(state);
	slot = ExecProcNode(state->inner);
	if (TupIsNull(slot))
		return NULL;
	state->stats->built++;
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

static void
read_rows(VxJoinState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	Datum		values[VX_HASH_MAX_COLUMNS];
	bool		isnull[VX_HASH_MAX_COLUMNS];
	TupleTableSlot *slot;

	while ((slot = next_build_row(state)) != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		uint64		hashed;

		CHECK_FOR_INTERRUPTS();
		columns_of_row(state, slot, values, isnull);
		/* a row with a null key meets nothing */
		if (vx_hash_of_row(state->hash, values, isnull, &hashed))
			vx_join_add_row(state, hashed, values, isnull);
		else if (vx_join_keeps_build(state))
			vx_join_add_row(state, vx_join_spread(state), values, isnull);
		MemoryContextSwitchTo(old);
		ResetExprContext(econtext);
		vx_join_look_at_memory(state);
	}
}

/* Rows that the inner plan hands out to this process. */
static void
read_plan(VxJoinState *state)
{
	if (state->batches)
		vx_join_read_batches(state);
	else
		read_rows(state);
}

static void
read_shares(VxJoinState *state)
{
	if (vx_join_share_begin(state))
	{
		read_plan(state);
		vx_join_share_end(state);
	}
	vx_join_read_shares(state);
}

/* All rows of the input into memory.  False: there was no room, and they are on disk. */
static bool
read_build(VxJoinState *state)
{
	VxHash	   *hash = state->hash;

	vx_hash_reset(hash);
	state->overflown = false;
	state->looked_at = 0;
	state->build_shown = false;
	if (vx_join_from_disk(state))
		read_rows(state);
	else if (state->share)
		read_shares(state);
	else
		read_plan(state);
	if (!state->overflown)
		vx_hash_finish(hash);
	state->stats->peak = Max(state->stats->peak, vx_hash_memory(hash));
	/* what was known of the columns' dictionaries is void */
	state->producer.group++;
	return !state->overflown;
}

/*
 * Rows of the probe side's batch with a key that the build side may have.  The
 * others are done with, before their columns are decoded.
 */
static void
leave_out_unmatched(VxJoinState *state, uint64 *keyed)
{
	vx_join_spill_filter(state, keyed);
	state->stats->unmatched += vx_selection_count(state->rows, state->nrows) -
		vx_selection_count(keyed, state->nrows);
	memcpy(state->rows, keyed, sizeof(state->rows));
	vx_join_probe_narrow(state, keyed);
}

/* The build side is on disk; so is what the probe side has for it then. */
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
		vx_hash_of_vectors(state->hash, state->key_vectors, true, state->nrows, keyed,
						   state->hashes);
		if (!vx_join_keeps_probe(state))
			leave_out_unmatched(state, keyed);
		VX_FOREACH_ROW(row, state->rows, (state->nrows + 63) / 64)
			vx_join_spill_probe(state, vx_rows_isset(keyed, row) ? state->hashes[row] : 0, row);
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->batch_mcxt);
	}
}

bool
vx_join_build_next(VxJoinState *state)
{
	for (;;)
	{
		if (!state->built)
			state->built = true;
		else if (!vx_join_spill_next(state))
			return false;
		if (read_build(state))
			return true;
		spill_probe(state);
		vx_join_spill_finish(state);
	}
}

/* ---- the probe side ---- */

bool
vx_join_probe_batch(VxJoinState *state)
{
	VxBatch    *batch;

	if (vx_join_from_disk(state))
	{
		batch = vx_join_spilled_batch(state);
		if (batch == NULL)
			return false;
	}
	else
	{
		VxArms	   *arms = state->probe_arms;
		uint64		group;

		if (!(arms ? vx_arms_next(arms) : vx_producer_next(state->outer)))
			return false;
		batch = arms ? arms->batch : state->probe->batch;
		group = arms ? arms->group : state->probe->group;
		if (state->probe_group != group)
			state->producer.group++;
		state->probe_group = group;
		state->stats->probed += vx_selection_count(batch->selection, batch->nrows);
	}
	state->probe_batch = batch;
	state->nrows = batch->nrows;
	memset(state->rows, 0, sizeof(state->rows));
	memcpy(state->rows, batch->selection, (batch->nrows + 63) / 64 * sizeof(uint64));
	return true;
}

const VxVector *
vx_join_probe_vector(VxJoinState *state, AttrNumber attno)
{
	return vx_batch_vector(state->probe_batch, vx_join_from_disk(state) ? attno :
						   state->probe_columns[attno - 1]);
}

void
vx_join_probe_narrow(VxJoinState *state, const uint64 *rows)
{
	memcpy(state->probe_batch->selection, rows, (state->nrows + 63) / 64 * sizeof(uint64));
}

/* ---- starting over ---- */

bool
vx_join_is_whole(const VxJoinState *state)
{
	return state->built && !vx_join_spill_is_used(state);
}

void
vx_join_build_reset(VxJoinState *state, bool keep)
{
	VxHash	   *hash = state->hash;

	state->build_shown = false;
	vx_join_spill_reset(state);
	if (!keep)
	{
		vx_hash_reset(hash);
		state->built = false;
	}
	else if (vx_join_keeps_build(state))
		for (uint64 i = 0; i < hash->nrows; i++)
		{
			if (i % ST_VECTOR_SIZE == 0)
				CHECK_FOR_INTERRUPTS();
			vx_hash_row(hash, i)->nulls &= ~VX_HASH_MATCHED;
		}
}
