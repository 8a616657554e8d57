/*-------------------------------------------------------------------------
 *
 * vx_expr.c
 *	  Sets of vector expressions: compile, evaluate, rescan.
 *
 * Memory: nodes, their buffers and the values of constants live in the set's
 * context; results that are passed by reference in the expression's arena,
 * which is emptied when the expression is evaluated again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

#include "vx_expr_int.h"
#include "vx_path_expr.h"
#include "vx_vec.h"

VxExprSet *
vx_exprs_create(TupleDesc desc, Index varno, PlanState *node)
{
	VxExprSet  *set = palloc0(sizeof(VxExprSet));

	set->mcxt = CurrentMemoryContext;
	set->desc = desc;
	set->varno = varno;
	set->plan = node;
	set->econtext = CreateExprContext(node->state);
	set->slot = ExecInitExtraTupleSlot(node->state, desc, &TTSOpsVirtual);
	memset(set->slot->tts_isnull, true, sizeof(bool) * desc->natts);
	ExecStoreVirtualTuple(set->slot);
	set->econtext->ecxt_scantuple = set->slot;
	set->constant_mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "vector constants",
											   ALLOCSET_SMALL_SIZES);
	set->generation = 1;
	return set;
}

void
vx_exprs_rescan(VxExprSet *set)
{
	set->generation++;
	MemoryContextReset(set->constant_mcxt);
}

/* Is there something that vectors do not have? */
static bool
needs_server(Node *node, void *set)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
			return ((Var *) node)->varno != ((VxExprSet *) set)->varno ||
				((Var *) node)->varlevelsup != 0 || ((Var *) node)->varattno <= 0;
		case T_Aggref:
		case T_WindowFunc:
		case T_GroupingFunc:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_SubLink:
		case T_CurrentOfExpr:
		case T_PlaceHolderVar:
			return true;
		default:
			return expression_tree_walker(node, needs_server, set);
	}
}

VxExpr *
vx_expr_compile(VxExprSet *set, Expr *clause, int flags)
{
	MemoryContext oldcontext;
	Node	   *node = (Node *) clause;
	VxExpr	   *expr;

	bool		subplan = vx_subplan_is_known(set, node);

	if ((!subplan && needs_server(node, set)) || expression_returns_set(node) ||
		contain_volatile_functions(node))
		return NULL;
	oldcontext = MemoryContextSwitchTo(set->mcxt);
	expr = palloc0(sizeof(VxExpr));
	expr->set = set;
	expr->flags = flags;
	expr->vectorised = true;
	expr->root = vx_node_compile(expr, copyObject(node));
	if (flags & VX_EXPR_ANY_SCALE)
		vx_node_allow_any_scale(expr->root);

	/* Checks rights, as a side effect, of all functions; a subplan's has a node to it. */
	if (!subplan)
		vx_node_set_state(expr->root);
	for (int i = 0; i < expr->root->ncolumns; i++)
		expr->columns = bms_add_member(expr->columns, expr->root->attnos[i]);
	expr->arena = AllocSetContextCreate(set->mcxt, "vector expression",
										ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(oldcontext);
	return expr;
}

const Bitmapset *
vx_expr_columns(const VxExpr *expr)
{
	return expr->columns;
}

AttrNumber
vx_expr_plain_column(const VxExpr *expr)
{
	return expr->root->eval == vx_eval_column ? expr->root->attnos[0] : InvalidAttrNumber;
}

bool
vx_expr_is_vectorised(const VxExpr *expr)
{
	return expr->vectorised;
}

/* ---- nodes ---- */

/* Without rows that nobody knows anything of any more. */
static const uint64 *
rows_at_stake(const VxExpr *expr, const uint64 *rows, uint64 *buffer)
{
	if (!expr->safely)
		return rows;
	for (int w = 0; w < VX_EXPR_WORDS(expr); w++)
		buffer[w] = rows[w] & ~expr->unknown[w];
	return buffer;
}

/*
 * Is there a cast to a number in the node, which needs no text of the path column?
 * Asked once for the column: below, the answer is mostly the same, and else costs time.
 */
static bool
is_of_numbers(VxNode *node, const uint64 *rows)
{
	VxExpr	   *expr = node->expr;

	if (node->number == NULL || expr->numbers == node->memo_attno)
		return node->number != NULL;
	if (vx_path_column_numbers(expr->batch, node->memo_attno, node->number->type, rows) == NULL)
		return false;
	expr->numbers = node->memo_attno;
	return true;
}

/* The dictionary-encoded column that is all that the node depends on. */
static const VxVector *
memo_column(VxNode *node, const uint64 *rows)
{
	const VxVector *v;

	if (node->memo_attno == InvalidAttrNumber || is_of_numbers(node, rows))
		return NULL;
	v = vx_batch_vector(node->expr->batch, node->memo_attno);
	return v->rep == VX_REP_CODE ? v : NULL;
}

/* A vector of nulls that is not the node's own. */
static const VxVector *
no_rows(VxNode *node)
{
	VxExprSet  *set = node->expr->set;
	VxVector   *v = &set->no_rows;

	if (v->u.i64 == NULL)
		v->u.i64 = MemoryContextAllocZero(set->mcxt, sizeof(int128) * ST_VECTOR_SIZE);
	v->rep = vx_node_rep(node);
	v->n = node->expr->batch->nrows;
	v->has_nulls = true;
	v->typlen = node->typlen;
	return v;
}

const VxVector *
vx_node_eval(VxNode *node, const uint64 *rows)
{
	VxExpr	   *expr = node->expr;
	uint64		buffer[VX_SELECTION_WORDS];
	const VxVector *column;
	VxTruth		truth;

	rows = rows_at_stake(expr, rows, buffer);
	/* a constant's vector is made once, and stays */
	if (vx_selection_is_empty(rows, expr->batch->nrows))
		return node->eval == vx_eval_constant ? no_rows(node) : vx_node_nulls(node);
	if (node->path_number)
	{
		column = vx_path_column_numbers(expr->batch, node->memo_attno, node->type,
										rows);
		if (column)
			return column;
	}
	column = memo_column(node, rows);
	if (column)
		return vx_eval_by_value(node, column, rows);
	if (node->eval)
		return node->eval(node, rows);

	memset(&truth, 0, sizeof(truth));
	node->truth(node, rows, &truth);
	vx_node_begin(node, VX_REP_INT64);
	vx_vec_kernels()->bits_to_int64(truth.istrue, expr->batch->nrows, node->out.u.i64);
	for (int w = 0; w < VX_EXPR_WORDS(expr); w++)
	{
		node->out.valid[w] = ~truth.isnull[w];
		node->out.has_nulls |= truth.isnull[w] != 0;
	}
	return &node->out;
}

void
vx_node_truth(VxNode *node, const uint64 *rows, VxTruth *truth)
{
	VxExpr	   *expr = node->expr;
	uint64		buffer[VX_SELECTION_WORDS];
	const VxVector *v;

	memset(truth, 0, sizeof(*truth));
	rows = rows_at_stake(expr, rows, buffer);
	if (vx_selection_is_empty(rows, expr->batch->nrows))
		return;
	v = node->type == BOOLOID ? memo_column(node, rows) : NULL;
	if (v)
	{
		vx_truth_by_value(node, v, rows, truth);
		return;
	}
	if (node->truth)
	{
		node->truth(node, rows, truth);
		return;
	}

	v = vx_node_eval(node, rows);
	Assert(v->rep == VX_REP_INT64);
	vx_rows_not_null(truth->istrue, rows, v, VX_EXPR_WORDS(expr));
	for (int w = 0; w < VX_EXPR_WORDS(expr); w++)
		truth->isnull[w] = rows[w] & ~truth->istrue[w];
	vx_vec_kernels()->int64_to_bits(v->u.i64, expr->batch->nrows, truth->istrue);
}

/* ---- expressions ---- */

static void
begin(VxExpr *expr, VxBatch *batch, bool safely)
{
	expr->batch = batch;
	expr->safely = safely;
	expr->numbers = InvalidAttrNumber;
	if (safely)
		memset(expr->unknown, 0, sizeof(expr->unknown));
	MemoryContextReset(expr->arena);
}

const VxVector *
vx_expr_eval(VxExpr *expr, VxBatch *batch, const uint64 *selection)
{
	begin(expr, batch, false);
	return vx_node_eval(expr->root, selection);
}

bool
vx_expr_select_safely(VxExpr *expr, VxBatch *batch, uint64 *selection, uint64 *unknown)
{
	VxTruth		truth;
	uint64		any = 0;

	begin(expr, batch, true);
	vx_node_truth(expr->root, selection, &truth);
	for (int w = 0; w < VX_EXPR_WORDS(expr); w++)
	{
		unknown[w] = expr->unknown[w] & selection[w];
		selection[w] = (truth.istrue[w] & selection[w]) | unknown[w];
		any |= unknown[w];
	}
	return any != 0;
}
