/*-------------------------------------------------------------------------
 *
 * vx_window_input.c
 *	  From what is below to rows in memory, in order.
 *
 * The input batch has the columns of the plan below, by position.  Where that
 * hands out vectors they are its own; else rows are put into vectors.  Sort
 * keys and arguments are columns of it, or expressions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "vx_window.h"

/* VxRowsVector: a column of the input. */
static const VxVector *
source_column(void *rows, AttrNumber attno)
{
	VxWindowState *state = rows;

	return vx_batch_vector(state->source->batch, state->source_columns[attno - 1]);
}

/* A column of the sorter for an expression; one is enough for equal columns. */
static int
store_column(VxWindowState *state, VxStore *stores, Expr *expr)
{
	int			n = state->nstored;
	AttrNumber	attno = IsA(expr, Var) ? ((Var *) expr)->varattno : 0;
	VxStore    *store = &stores[n];

	for (int i = 0; attno > 0 && i < n; i++)
		if (state->stored_attno[i] == attno)
			return i;
	store->type = getBaseType(exprType((Node *) expr));
	get_typlenbyval(store->type, &store->typlen, &store->byval);
	state->stored_attno[n] = attno;
	if (attno == 0 &&
		(state->stored_program[n] = vx_expr_compile(state->exprs, expr, 0)) == NULL)
		elog(ERROR, "an expression of a sort of vectors cannot be computed on them");
	return state->nstored++;
}

static VxSortKey *
init_keys(const List *keys, const List *inputs, const int *columns)
{
	VxSortKey  *result = palloc0(sizeof(VxSortKey) * (list_length(keys) + 1));
	ListCell   *lc;

	foreach(lc, keys)
	{
		VxSortKey  *key = &result[foreach_current_index(lc)];
		int			input = list_nth_oid(lfirst(lc), VX_WINDOW_KEY_INPUT);

		key->column = columns[input];
		key->sortop = list_nth_oid(lfirst(lc), VX_WINDOW_KEY_SORTOP);
		key->nulls_first = list_nth_oid(lfirst(lc), VX_WINDOW_KEY_NULLS_FIRST) != 0;
		key->collation = exprCollation(list_nth(inputs, input));
	}
	return result;
}

static void
init_windows(VxWindowState *state, const List *clauses)
{
	ListCell   *lc;

	state->nwindows = list_length(clauses);
	state->windows = palloc0(sizeof(VxWindow) * (state->nwindows + 1));
	foreach(lc, clauses)
	{
		VxWindow   *window = &state->windows[foreach_current_index(lc)];

		window->npartition = list_nth_int(lfirst(lc), VX_WINDOW_NPARTITION);
		window->npeers = list_nth_int(lfirst(lc), VX_WINDOW_NPEERS);
		window->frame = list_nth_int(lfirst(lc), VX_WINDOW_FRAME);
		window->start = list_nth_int(lfirst(lc), VX_WINDOW_START);
		window->end = list_nth_int(lfirst(lc), VX_WINDOW_END);
	}
}

static void
init_functions(VxWindowState *state, const List *functions, const int *columns)
{
	ListCell   *lc;

	state->nfunctions = list_length(functions);
	state->functions = palloc0(sizeof(VxWindowFunction) * (state->nfunctions + 1));
	foreach(lc, functions)
	{
		int			i = foreach_current_index(lc);
		VxWindowFunction *f = &state->functions[i];
		int			arg = list_nth_int(lfirst(lc), VX_WINDOW_FUNC_ARG);
		int			other = list_nth_int(lfirst(lc), VX_WINDOW_FUNC_OTHER);

		f->kind = (VxWindowKind) list_nth_int(lfirst(lc), VX_WINDOW_FUNC_KIND);
		f->window = list_nth_int(lfirst(lc), VX_WINDOW_FUNC_CLAUSE);
		f->number = list_nth_int(lfirst(lc), VX_WINDOW_FUNC_NUMBER);
		f->column = arg < 0 ? -1 : columns[arg];
		f->other = other < 0 ? -1 : columns[other];
		f->attr = TupleDescAttr(state->desc, state->ncolumns + i);
		if (f->kind >= VX_WINDOW_NTH)
			state->windows[f->window].needs_frame = true;
		if (f->kind == VX_WINDOW_SHIFT && f->other >= 0)
		{
			f->mixed = palloc0(sizeof(VxRowColumn));
			vx_row_column_init(f->mixed, f->attr);
		}
	}
}

static void
init_batch(VxWindowState *state)
{
	Bitmapset  *attnos = state->ncolumns > 0 ? bms_add_range(NULL, 1, state->ncolumns) : NULL;

	state->input = vx_batch_create(state->ncolumns, attnos);
	state->source = vx_producer(state->child);
	state->source_columns = state->source ? vx_producer_columns(state->child) : NULL;
	if (state->source_columns)
	{
		state->input->rows = state;
		state->input->rows_vector = source_column;
	}
	else
	{
		state->source = NULL;
		state->rows = vx_row_vectors_create(state->input, ExecGetResultType(state->child));
	}
}

void
vx_window_input_init(VxWindowState *state)
{
	const CustomScan *plan = (const CustomScan *) state->css.ss.ps.plan;
	const List *fields = linitial(plan->custom_private);
	const List *keys = lsecond(plan->custom_private);
	int			ninputs = list_nth_int(fields, VX_WINDOW_NINPUTS);
	int			most = state->ncolumns + ninputs + 1;
	VxStore    *stores = palloc0(sizeof(VxStore) * most);
	int		   *columns = palloc(sizeof(int) * (ninputs + 1));
	int			member = -1;
	VxSortKey  *sort_keys;

	init_batch(state);
	state->exprs = vx_exprs_create(state->desc, INDEX_VAR, &state->css.ss.ps);
	state->stored_attno = palloc0(sizeof(AttrNumber) * most);
	state->stored_program = palloc0(sizeof(VxExpr *) * most);
	state->stored_vectors = palloc0(sizeof(VxVector *) * most);
	state->column_of = palloc(sizeof(int16) * (state->ncolumns + 1));
	memset(state->column_of, 0xFF, sizeof(int16) * (state->ncolumns + 1));
	for (int i = 0; i < ninputs; i++)
		columns[i] = store_column(state, stores, list_nth(plan->custom_exprs, i));
	while ((member = bms_next_member(state->needed, member)) >= 0 &&
		   member <= state->ncolumns)
	{
		Form_pg_attribute attr = TupleDescAttr(state->desc, member - 1);
		Var			var = {.xpr.type = T_Var, .varno = INDEX_VAR,
			.varattno = (AttrNumber) member, .vartype = attr->atttypid,
			.vartypmod = attr->atttypmod, .varcollid = attr->attcollation
		};

		state->column_of[member - 1] = (int16) store_column(state, stores, (Expr *) &var);
	}
	init_windows(state, lthird(plan->custom_private));
	init_functions(state, lfourth(plan->custom_private), columns);
	sort_keys = init_keys(keys, plan->custom_exprs, columns);
	state->sorter = vx_sorter_create(state->nstored, stores, list_length(keys), sort_keys,
									 (Size) work_mem * 1024,
									 (Size) state->nfunctions * VX_WINDOW_RESULT_BYTES);
	state->ndistinct = list_nth_int(fields, VX_WINDOW_DISTINCT);
	if (list_nth_int(fields, VX_WINDOW_FIRST) > 0)
		state->first = vx_first_create(state->sorter, state->ndistinct > 0 ? state->ndistinct :
									   state->windows[0].npartition,
									   list_nth_int(fields, VX_WINDOW_FIRST));
}

/* ---- rows ---- */

/* The next batch of the input, with its selection. */
static bool
next_input(VxWindowState *state)
{
	VxBatch    *from;

	if (state->source == NULL)
		return vx_row_vectors_of_node(state->rows, state->child, &state->ended);
	if (!vx_producer_next(state->child))
		return false;
	from = state->source->batch;
	vx_batch_set_rows(state->input, from->nrows);
	state->input->first_row = state->source->group;
	memcpy(state->input->selection, from->selection,
		   (from->nrows + 63) / 64 * sizeof(uint64));
	return true;
}

static const VxVector *
stored_vector(VxWindowState *state, int column)
{
	AttrNumber	attno = state->stored_attno[column];

	if (attno > 0)
		return vx_batch_vector(state->input, attno);
	return vx_expr_eval(state->stored_program[column], state->input, state->input->selection);
}

/* Rows that are certainly not wanted leave the selection. */
static int
drop_rows(VxWindowState *state, uint16 *rows, int n, uint64 group)
{
	int			left;

	for (int c = 0; c < state->nstored; c++)
		if (vx_first_uses(state->first, c))
			state->stored_vectors[c] = stored_vector(state, c);
	left = vx_first_select(state->first, state->stored_vectors, rows, n, group);
	state->total_dropped += n - left;
	memset(state->input->selection, 0, sizeof(uint64) * VX_SELECTION_WORDS);
	for (int i = 0; i < left; i++)
		vx_rows_set(state->input->selection, rows[i]);
	if (state->source)
		memcpy(state->source->batch->selection, state->input->selection,
			   (state->input->nrows + 63) / 64 * sizeof(uint64));
	return left;
}

static bool
add_batch(VxWindowState *state)
{
	uint16		rows[ST_VECTOR_SIZE];
	int			n = vx_selection_rows(state->input->selection, state->input->nrows, rows);
	uint64		group = state->source ? state->source->group : 0;

	state->total_in += n;
	state->batches++;
	if (state->first)
		n = drop_rows(state, rows, n, group);
	if (n == 0)
		return true;
	for (int c = 0; c < state->nstored; c++)
		state->stored_vectors[c] = stored_vector(state, c);
	return vx_sorter_add(state->sorter, state->stored_vectors, rows, n, group) ||
		(vx_parts_put(state) &&
		 vx_sorter_add(state->sorter, state->stored_vectors, rows, n, group));
}

bool
vx_window_read(VxWindowState *state)
{
	while (next_input(state))
	{
		MemoryContext old = MemoryContextSwitchTo(state->batch_mcxt);
		bool		added = add_batch(state);

		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->batch_mcxt);
		if (!added)
			return false;
	}
	if (state->parts)
		return vx_parts_end(state);
	state->peak = Max(state->peak, MemoryContextMemAllocated(state->sorter->mcxt, true));
	vx_sorter_sort(state->sorter);
	state->peak = Max(state->peak, state->sorter->peak);
	return true;
}
