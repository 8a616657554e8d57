/*-------------------------------------------------------------------------
 *
 * vx_expr_branch.c
 *	  CASE, COALESCE and NULLIF in vector expressions.
 *
 * Each branch is evaluated for the rows that take it, and for no other.  The
 * result is put together of pieces: a vector and the rows that it stands
 * for.  Where one branch alone gives values, its vector is the result, with
 * other nulls, and no value is copied.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "st_compat.h"
#include "vx_expr_int.h"
#include "vx_vec.h"

typedef struct Piece
{
	const VxVector *v;
	uint64		rows[VX_SELECTION_WORDS];	/* not null */
} Piece;

/*
 * The representation of the result.  Numerics of several scales are scaled
 * integers only if the scale of each does not matter.
 */
static VxRep
common_rep(VxNode *node, const Piece *pieces, int npieces, int *scale)
{
	bool		decimals = true;
	bool		wide = false;
	bool		mixed = false;

	*scale = 0;
	if (node->type != NUMERICOID)
		return vx_node_rep(node);
	for (int i = 0; i < npieces; i++)
	{
		const VxVector *v = pieces[i].v;

		decimals &= vx_is_decimal(v);
		mixed |= v->scale != pieces[0].v->scale;
		wide |= v->rep == VX_REP_DECIMAL128;
		*scale = Max(*scale, v->scale);
	}
	if (!decimals || (mixed && !node->any_scale))
		return VX_REP_DATUM;
	/* values of another scale grow: three bits and a bit for every power of ten */
	for (int i = 0; i < npieces && mixed && !wide; i++)
		wide = pieces[i].v->scale != *scale &&
			vx_vec_kernels()->int64_width(pieces[i].v->u.i64, pieces[i].v->n) +
			(*scale - pieces[i].v->scale) * 10 / 3 + 1 >= 63;
	return wide ? VX_REP_DECIMAL128 : VX_REP_DECIMAL64;
}

/* False: a value does not fit at that scale. */
static bool
copy_decimals(VxNode *node, const Piece *piece, int scale)
{
	int128		factor = vx_power_of_ten(scale - piece->v->scale);

	if (node->out.rep == VX_REP_DECIMAL64)
	{
		/* common_rep() has seen to it that the values fit */
		int64		scaled[ST_VECTOR_SIZE];
		const int64 *values = piece->v->u.i64;

		if (factor != 1)
		{
			for (int i = 0; i < piece->v->n; i++)
				scaled[i] = (int64) ((uint64) values[i] * (uint64) factor);
			values = scaled;
		}
		vx_vec_kernels()->blend_int64(values, piece->rows, piece->v->n, node->out.u.i64);
		return true;
	}
	VX_FOREACH_ROW(row, piece->rows, VX_EXPR_WORDS(node->expr))
	{
		if (__builtin_mul_overflow(vx_decimal(piece->v, row), factor, &node->out.u.i128[row]))
			return false;
	}
	return true;
}

static bool
copy_piece(VxNode *node, const Piece *piece, int scale)
{
	const VxVector *v = piece->v;
	int			words = VX_EXPR_WORDS(node->expr);

	switch (node->out.rep)
	{
		case VX_REP_DECIMAL64:
		case VX_REP_DECIMAL128:
			return copy_decimals(node, piece, scale);
		case VX_REP_INT64:
		case VX_REP_FLOAT8:
			vx_vec_kernels()->blend_int64(v->u.i64, piece->rows, v->n, node->out.u.i64);
			break;
		case VX_REP_FLOAT4:
			VX_FOREACH_ROW(row, piece->rows, words)
				node->out.u.f32[row] = v->u.f32[row];
			break;
		default:
			VX_FOREACH_ROW(row, piece->rows, words)
				node->out.u.datum[row] = vx_expr_datum(node->expr, v, row);
			break;
	}
	return true;
}

/* Puts the pieces together; rows that are in none of them are null. */
static const VxVector *
assemble(VxNode *node, const uint64 *rows, Piece *pieces, int npieces)
{
	uint64		live[VX_SELECTION_WORDS] = {0};
	int			words = VX_EXPR_WORDS(node->expr);
	VxRep		rep;
	int			scale;

	if (npieces == 0)
		return vx_node_nulls(node);
	for (int i = 0; i < npieces; i++)
		for (int w = 0; w < words; w++)
			live[w] |= pieces[i].rows[w];

	if (npieces == 1)
	{
		node->out = *pieces[0].v;
		node->out.constant = false;
		vx_node_set_nulls(node, rows, live);
		return &node->out;
	}
	rep = common_rep(node, pieces, npieces, &scale);
	for (int i = 0; i < npieces; i++)
	{
		if (i == 0)
		{
			vx_node_begin(node, rep);
			node->out.scale = scale;
			vx_node_set_nulls(node, rows, live);
		}
		if (!copy_piece(node, &pieces[i], scale))
		{
			/* from the start, as numerics */
			rep = VX_REP_DATUM;
			i = -1;
		}
	}
	return &node->out;
}

/* Evaluates a branch for its rows; true if it has given a value. */
static bool
take_branch(VxNode *branch, const uint64 *rows, Piece *piece)
{
	int			words = VX_EXPR_WORDS(branch->expr);

	if (vx_selection_is_empty(rows, branch->expr->batch->nrows))
		return false;
	piece->v = vx_node_eval(branch, rows);
	return vx_rows_not_null(piece->rows, rows, piece->v, words);
}

/* args: condition, result, condition, result, ..., result of ELSE */
static const VxVector *
eval_case(VxNode *node, const uint64 *rows)
{
	Piece	   *pieces = MemoryContextAlloc(node->expr->arena, sizeof(Piece) * node->nargs);
	uint64		left[VX_SELECTION_WORDS];
	int			words = VX_EXPR_WORDS(node->expr);
	int			npieces = 0;

	memcpy(left, rows, words * sizeof(uint64));
	for (int i = 0; i + 1 < node->nargs; i += 2)
	{
		VxTruth		when;

		if (vx_selection_is_empty(left, node->expr->batch->nrows))
			break;
		vx_node_truth(node->args[i], left, &when);
		for (int w = 0; w < words; w++)
			left[w] &= ~when.istrue[w];
		if (take_branch(node->args[i + 1], when.istrue, &pieces[npieces]))
			npieces++;
	}
	if (take_branch(node->args[node->nargs - 1], left, &pieces[npieces]))
		npieces++;
	return assemble(node, rows, pieces, npieces);
}

static const VxVector *
eval_coalesce(VxNode *node, const uint64 *rows)
{
	Piece	   *pieces = MemoryContextAlloc(node->expr->arena, sizeof(Piece) * node->nargs);
	uint64		left[VX_SELECTION_WORDS];
	int			words = VX_EXPR_WORDS(node->expr);
	int			npieces = 0;

	memcpy(left, rows, words * sizeof(uint64));
	for (int i = 0; i < node->nargs; i++)
	{
		if (!take_branch(node->args[i], left, &pieces[npieces]))
			continue;
		for (int w = 0; w < words; w++)
			left[w] &= ~pieces[npieces].rows[w];
		npieces++;
	}
	return assemble(node, rows, pieces, npieces);
}

/* args: the value, the other side, and their equality */
static const VxVector *
eval_nullif(VxNode *node, const uint64 *rows)
{
	const VxVector *v = vx_node_eval(node->args[0], rows);
	VxTruth		equal;
	uint64		live[VX_SELECTION_WORDS];
	uint64		both[VX_SELECTION_WORDS];
	int			words = VX_EXPR_WORDS(node->expr);

	vx_rows_not_null(live, rows, v, words);
	vx_rows_not_null(both, live, vx_node_eval(node->args[1], rows), words);
	vx_node_truth(node->args[2], both, &equal);
	for (int w = 0; w < words; w++)
		live[w] &= ~equal.istrue[w];
	node->out = *v;
	node->out.constant = false;
	vx_node_set_nulls(node, rows, live);
	return &node->out;
}

/* ---- compilation ---- */

/* Puts the argument of CASE where its conditions refer to it. */
static Node *
replace_test_value(Node *node, void *value)
{
	Node	   *constructor;

	if (node == NULL)
		return NULL;
	if (IsA(node, CaseTestExpr))
		return copyObject((Node *) value);
	if (IsA(node, CaseExpr) && ((CaseExpr *) node)->arg)
	{
		/* the conditions of this one refer to its own argument */
		CaseExpr   *inner = copyObject((CaseExpr *) node);
		ListCell   *lc;

		inner->arg = (Expr *) replace_test_value((Node *) inner->arg, value);
		inner->defresult = (Expr *) replace_test_value((Node *) inner->defresult, value);
		foreach(lc, inner->args)
		{
			CaseWhen   *when = lfirst(lc);

			when->result = (Expr *) replace_test_value((Node *) when->result, value);
		}
		return (Node *) inner;
	}
	if (IsA(node, ArrayCoerceExpr))
	{
		ArrayCoerceExpr *coerce = copyObject((ArrayCoerceExpr *) node);

		coerce->arg = (Expr *) replace_test_value((Node *) coerce->arg, value);
		return (Node *) coerce;
	}
	constructor = st_json_constructor_mutate(node, replace_test_value, value);
	if (constructor != NULL)
		return constructor;
	return expression_tree_mutator(node, replace_test_value, value);
}

static void
compile_case(VxNode *node, CaseExpr *c)
{
	List	   *args = NIL;
	ListCell   *lc;

	foreach(lc, c->args)
	{
		CaseWhen   *when = lfirst(lc);
		Node	   *condition = (Node *) when->expr;

		if (c->arg)
			condition = replace_test_value(condition, c->arg);
		args = lappend(lappend(args, condition), when->result);
	}
	args = lappend(args, c->defresult ? (Node *) c->defresult :
				   (Node *) makeNullConst(c->casetype, -1, c->casecollid));
	vx_node_compile_args(node, args);
	node->eval = eval_case;
}

bool
vx_branch_compile(VxNode *node)
{
	if (IsA(node->clause, CaseExpr))
	{
		compile_case(node, (CaseExpr *) node->clause);
		return true;
	}
	if (IsA(node->clause, CoalesceExpr))
	{
		vx_node_compile_args(node, ((CoalesceExpr *) node->clause)->args);
		node->eval = eval_coalesce;
		return true;
	}
	if (IsA(node->clause, NullIfExpr))
	{
		NullIfExpr *nullif = (NullIfExpr *) node->clause;
		OpExpr	   *equal = (OpExpr *) copyObject(nullif);

		NodeSetTag(equal, T_OpExpr);
		equal->opresulttype = BOOLOID;
		vx_node_compile_args(node, list_make3(linitial(nullif->args), lsecond(nullif->args), equal));
		node->eval = eval_nullif;
		return true;
	}
	return false;
}
