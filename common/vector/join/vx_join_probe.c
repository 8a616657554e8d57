/*-------------------------------------------------------------------------
 *
 * vx_join_probe.c
 *	  The probe side of a vector hash join: from its batches to the join's.
 *
 * The keys of a batch are hashed and looked for as vectors; each row gets its
 * first candidate.  Where every row has one match at most, because no two
 * rows of the build side have one hash or because only the first match
 * counts, the node's batch has the probe side's rows and vectors as they are,
 * fewer of them selected.  Else the columns of its rows are gathered, a row for
 * each match.  In either case a column is made when it is asked for, and
 * columns of the probe side are decoded for rows that have candidates only.
 *
 * Conditions of the join run on batches of candidates, one after another and
 * each for the rows that the ones before it have left, so that they see what
 * the server would show them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "vx_join.h"

/* Vectors in which less than one row of so many is joined are not passed on. */
#define SPARSE_SHARE	4

/* ---- columns of the node's batch ---- */

static VxVector *
own_vector(VxJoinState *state, AttrNumber attno)
{
	VxVector  **v = &state->vectors[attno - 1];

	if (*v == NULL)
	{
		MemoryContext mcxt = state->producer.batch->mcxt;

		*v = MemoryContextAllocZero(mcxt, sizeof(VxVector));
		(*v)->u.i128 = MemoryContextAllocZero(mcxt, sizeof(int128) * ST_VECTOR_SIZE);
	}
	return *v;
}

static void
make_nulls(VxVector *out, Form_pg_attribute attr, int n)
{
	Oid			type = getBaseType(attr->atttypid);

	out->rep = type == NUMERICOID ? VX_REP_DECIMAL64 : vx_type_rep(type, attr->attbyval);
	out->n = n;
	out->scale = 0;
	out->constant = false;
	out->dict = NULL;
	out->typlen = attr->attlen;
	out->has_nulls = true;
	memset(out->valid, 0, sizeof(out->valid));
	memset(out->u.i64, 0, sizeof(int64) * n);
}

/* VxRowsVector: a column of the node's batch. */
static const VxVector *
make_column(void *rows, AttrNumber attno)
{
	VxJoinState *state = rows;
	int			n = state->producer.batch->nrows;
	VxVector   *v;

	if (attno > state->nouter)
	{
		v = own_vector(state, attno);
		vx_hash_gather(state->hash, state->stored_of[attno - state->nouter - 1],
					   state->build_rows, n, v);
		return v;
	}
	if (state->form == VX_JOIN_PASS)
		return vx_join_probe_vector(state, attno);
	v = own_vector(state, attno);
	if (state->form == VX_JOIN_BUILD_ONLY)
		make_nulls(v, TupleDescAttr(state->desc, attno - 1), n);
	else
		vx_vector_gather(v, vx_join_probe_vector(state, attno), state->from, n);
	return v;
}

void
vx_join_probe_init(VxJoinState *state)
{
	VxBatch    *batch = vx_batch_create(state->desc->natts, state->needed);

	batch->rows = state;
	batch->rows_vector = make_column;
	state->producer.batch = batch;
	state->vectors = palloc0(sizeof(VxVector *) * (state->desc->natts + 1));
	state->batch_mcxt = AllocSetContextCreate(CurrentMemoryContext,
											  "vector join of a batch",
											  ALLOCSET_DEFAULT_SIZES);
}

static void
start_batch(VxJoinState *state, VxJoinForm form, int n)
{
	VxBatch    *batch = state->producer.batch;

	state->form = form;
	vx_batch_set_rows(batch, n);
	batch->first_row = state->producer.group;
}

static void
select_rows(VxBatch *batch, const uint64 *selection)
{
	memcpy(batch->selection, selection, (batch->nrows + 63) / 64 * sizeof(uint64));
}

void
vx_join_pass(VxJoinState *state, const uint64 *selection)
{
	start_batch(state, VX_JOIN_PASS, state->nrows);
	select_rows(state->producer.batch, selection);
	memset(state->build_rows, 0, sizeof(VxHashRow *) * state->nrows);
}

/* ---- conditions ---- */

static void
run_on_rows(VxJoinState *state, ExprState *qual, uint64 *selection)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;

	VX_FOREACH_ROW(row, selection, (state->producer.batch->nrows + 63) / 64)
	{
		CHECK_FOR_INTERRUPTS();
		econtext->ecxt_scantuple = vx_batch_fill_slot(state->producer.batch, row,
													  state->css.ss.ss_ScanTupleSlot);
		if (!ExecQual(qual, econtext))
			vx_rows_clear(selection, row);
		ResetExprContext(econtext);
	}
}

/* Takes rows of the node's batch that do not pass out of its selection. */
static void
run_quals(VxJoinState *state, const VxJoinQual *quals, int n)
{
	VxBatch    *batch = state->producer.batch;
	int			nwords = (batch->nrows + 63) / 64;

	for (int i = 0; i < n; i++)
	{
		const VxVector *v;

		if (vx_selection_is_empty(batch->selection, batch->nrows))
			return;
		if (quals[i].program == NULL)
		{
			run_on_rows(state, quals[i].state, batch->selection);
			continue;
		}
		v = vx_expr_eval(quals[i].program, batch, batch->selection);
		for (int w = 0; v->has_nulls && w < nwords; w++)
			batch->selection[w] &= v->valid[w];
		VX_FOREACH_ROW(row, batch->selection, nwords)
			if (v->u.i64[row] == 0)
				vx_rows_clear(batch->selection, row);
	}
}

/* ---- candidates ---- */

/* The candidate, or the next one behind it, whose keys are the row's. */
static inline VxHashRow *
same_keys(VxJoinState *state, VxHashRow *candidate, int row)
{
	if (state->hash->exact)
		return candidate;
	while (candidate && !vx_hash_keys_equal(state->hash, candidate, state->key_vectors, row))
		candidate = candidate->next;
	return candidate;
}

static bool
first_match_counts(const VxJoinState *state)
{
	return (state->jointype == JOIN_SEMI || state->jointype == JOIN_ANTI) && !state->turned;
}

/* A batch of the probe side stands: which of its rows have candidates? */
static void
begin_probe(VxJoinState *state)
{
	int			nwords = (state->nrows + 63) / 64;

	vx_join_pass(state, state->rows);
	memcpy(state->pending, state->rows, sizeof(state->pending));
	memset(state->matched, 0, sizeof(state->matched));
	state->step = VX_JOIN_MATCHES;
	if (state->hash->nrows == 0)
		memset(state->pending, 0, sizeof(state->pending));
	else
	{
		for (int k = 0; k < state->nkeys; k++)
			state->key_vectors[k] = vx_expr_eval(state->keys[k], state->producer.batch,
												 state->rows);
		vx_hash_of_vectors(state->hash, state->key_vectors, true, state->nrows,
						   state->pending, state->hashes);
		vx_hash_find(state->hash, state->hashes, state->pending, state->nrows,
					 state->candidates);
		VX_FOREACH_ROW(row, state->pending, nwords)
		{
			state->candidates[row] = same_keys(state, state->candidates[row], row);
			if (state->candidates[row] == NULL)
				vx_rows_clear(state->pending, row);
		}
	}
	state->stats->unmatched += vx_selection_count(state->rows, state->nrows) -
		vx_selection_count(state->pending, state->nrows);
	if (!vx_join_keeps_probe(state))
		vx_join_probe_narrow(state, state->pending);
}

/*
 * Rows of the build side that the node's batch has: of RIGHT, FULL they need not come
 * again; of turned joins they are those that match.
 */
static void
mark_build_rows(VxJoinState *state)
{
	VxBatch    *batch = state->producer.batch;

	if (vx_join_keeps_build(state))
		VX_FOREACH_ROW(i, batch->selection, (batch->nrows + 63) / 64)
			state->build_rows[i]->nulls |= VX_HASH_MATCHED;
}

/* Each pending row with its candidate. */
static void
pass_candidates(VxJoinState *state)
{
	vx_join_pass(state, state->pending);
	VX_FOREACH_ROW(row, state->pending, (state->nrows + 63) / 64)
		state->build_rows[row] = state->candidates[row];
	run_quals(state, state->joinquals, state->njoinquals);
	mark_build_rows(state);
}

/*
 * SEMI, ANTI: which rows match?  Candidates are tried until one does, and that
 * one stays the row's.
 */
static void
find_first_matches(VxJoinState *state)
{
	int			nwords = (state->nrows + 63) / 64;

	if (state->njoinquals == 0)
	{
		memcpy(state->matched, state->pending, sizeof(state->matched));
		return;
	}
	while (!vx_selection_is_empty(state->pending, state->nrows))
	{
		CHECK_FOR_INTERRUPTS();
		pass_candidates(state);
		for (int w = 0; w < nwords; w++)
		{
			state->matched[w] |= state->producer.batch->selection[w];
			state->pending[w] &= ~state->matched[w];
		}
		VX_FOREACH_ROW(row, state->pending, nwords)
		{
			state->candidates[row] = same_keys(state, state->candidates[row]->next, row);
			if (state->candidates[row] == NULL)
				vx_rows_clear(state->pending, row);
		}
	}
}

/*
 * SEMI: a key of the build side may be asked for above, in place of the one
 * that it equals.
 */
static void
pass_first_matches(VxJoinState *state)
{
	vx_join_pass(state, state->matched);
	VX_FOREACH_ROW(row, state->matched, (state->nrows + 63) / 64)
		state->build_rows[row] = state->candidates[row];
}

/* Pairs of rows and candidates, as many as there is room for; false: none left. */
static bool
gather_candidates(VxJoinState *state)
{
	int			n = 0;

	VX_FOREACH_ROW(row, state->pending, (state->nrows + 63) / 64)
	{
		while (state->candidates[row] != NULL && n < ST_VECTOR_SIZE)
		{
			state->from[n] = row;
			state->build_rows[n++] = state->candidates[row];
			state->candidates[row] = same_keys(state, state->candidates[row]->next, row);
		}
		if (state->candidates[row] == NULL)
			vx_rows_clear(state->pending, row);
	}
	if (n == 0)
		return false;
	start_batch(state, VX_JOIN_GATHER, n);
	run_quals(state, state->joinquals, state->njoinquals);
	mark_build_rows(state);
	VX_FOREACH_ROW(i, state->producer.batch->selection, (n + 63) / 64)
		vx_rows_set(state->matched, state->from[i]);
	return true;
}

/* Rows that have found nothing, with nulls. */
static void
pass_unmatched(VxJoinState *state)
{
	uint64		rows[VX_SELECTION_WORDS];

	for (int w = 0; w < VX_SELECTION_WORDS; w++)
		rows[w] = state->rows[w] & ~state->matched[w];
	vx_join_pass(state, rows);
}

/* LEFT, FULL, one match at most: all rows, those without one with nulls. */
static void
pass_all(VxJoinState *state)
{
	VxBatch    *batch = state->producer.batch;

	pass_candidates(state);
	memset(state->matched, 0, sizeof(state->matched));
	memcpy(state->matched, batch->selection, (state->nrows + 63) / 64 * sizeof(uint64));
	/* columns that a condition has asked for are made again */
	start_batch(state, VX_JOIN_PASS, state->nrows);
	select_rows(batch, state->rows);
	VX_FOREACH_ROW(row, state->pending, (state->nrows + 63) / 64)
		if ((state->matched[row >> 6] & (UINT64CONST(1) << (row & 63))) == 0)
			state->build_rows[row] = NULL;
}

/* So few candidates that columns are better gathered than passed on. */
static bool
is_sparse(const VxJoinState *state)
{
	return !vx_join_keeps_probe(state) &&
		vx_selection_count(state->pending, state->nrows) * SPARSE_SHARE < state->nrows;
}

/* INNER, LEFT, RIGHT, FULL */
static void
make_matches(VxJoinState *state)
{
	if (!state->hash->unique || is_sparse(state))
	{
		if (!gather_candidates(state))
		{
			state->step = VX_JOIN_UNMATCHED;
			vx_batch_set_rows(state->producer.batch, 0);
		}
		return;
	}
	state->step = VX_JOIN_NEXT_BATCH;
	if (vx_join_keeps_probe(state))
		pass_all(state);
	else
		pass_candidates(state);
}

/*
 * The build side's next rows that have met nothing; of a turned SEMI join those that
 * have met something.
 */
static void
make_build_rows(VxJoinState *state)
{
	VxHash	   *hash = state->hash;
	uint64		wanted = state->jointype == JOIN_SEMI ? VX_HASH_MATCHED : 0;
	int			n = 0;

	while (state->next_row < hash->nrows && n < ST_VECTOR_SIZE)
	{
		VxHashRow  *row = vx_hash_row(hash, state->next_row++);

		if (state->next_row % ST_VECTOR_SIZE == 0)
			CHECK_FOR_INTERRUPTS();
		if ((row->nulls & VX_HASH_MATCHED) == wanted)
			state->build_rows[n++] = row;
	}
	start_batch(state, VX_JOIN_BUILD_ONLY, n);
	if (n == 0)
		state->step = VX_JOIN_NEXT_BATCH;
}

/* What comes next of the probe side's batch: the node's batch, maybe with no row. */
static void
make_batch(VxJoinState *state)
{
	if (first_match_counts(state))
	{
		find_first_matches(state);
		state->step = VX_JOIN_NEXT_BATCH;
		if (state->jointype == JOIN_ANTI)
			pass_unmatched(state);
		else
			pass_first_matches(state);
	}
	else if (state->step == VX_JOIN_MATCHES)
	{
		make_matches(state);
		/* the rows of the build side are marked, and come at the end */
		if (state->turned)
			vx_batch_set_rows(state->producer.batch, 0);
	}
	else if (state->step == VX_JOIN_BUILD_ROWS)
		make_build_rows(state);
	else
	{
		state->step = VX_JOIN_NEXT_BATCH;
		if (vx_join_keeps_probe(state))
			pass_unmatched(state);
	}
}

/*
 * Goes on to the probe side's next batch, of the next part if this one has none
 * left; before that to rows of the build side.  False: there is nothing more.
 */
static bool
next_input(VxJoinState *state)
{
	if (!state->built && !vx_join_build_next(state))
		return false;
	do
	{
		/* nothing to meet: nobody need look at the probe side */
		if (!state->build_shown && (state->hash->nrows > 0 || vx_join_keeps_probe(state)) &&
			vx_join_probe_batch(state))
		{
			state->step = VX_JOIN_BEGIN;
			return true;
		}
		if (vx_join_keeps_build(state) && !state->build_shown)
		{
			state->build_shown = true;
			state->next_row = 0;
			state->step = VX_JOIN_BUILD_ROWS;
			return true;
		}
	} while (vx_join_build_next(state));
	return false;
}

bool
vx_join_next_batch(CustomScanState *node)
{
	VxJoinState *state = (VxJoinState *) node;
	VxBatch    *batch = state->producer.batch;

	for (;;)
	{
		MemoryContext old;
		int			before;
		int			after;

		CHECK_FOR_INTERRUPTS();
		if (state->step == VX_JOIN_NEXT_BATCH && (state->done || !next_input(state)))
		{
			MemoryContextReset(state->batch_mcxt);
			state->done = true;
			vx_batch_set_rows(batch, 0);
			return false;
		}
		if (state->step == VX_JOIN_BEGIN || state->step == VX_JOIN_BUILD_ROWS)
			MemoryContextReset(state->batch_mcxt);
		old = MemoryContextSwitchTo(state->batch_mcxt);
		if (state->step == VX_JOIN_BEGIN)
			begin_probe(state);
		make_batch(state);
		before = vx_selection_count(batch->selection, batch->nrows);
		run_quals(state, state->filters, state->nfilters);
		MemoryContextSwitchTo(old);
		after = vx_selection_count(batch->selection, batch->nrows);
		InstrCountFiltered1(node, before - after);
		if (after > 0)
			return true;
	}
}
