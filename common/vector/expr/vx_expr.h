/*-------------------------------------------------------------------------
 *
 * vx_expr.h
 *	  Expressions over the columns of a scanned table, compiled once per
 *	  query and evaluated a batch at a time.
 *
 * A node makes one set, compiles its expressions into it, and evaluates each
 * of them on every batch:
 *
 *		set = vx_exprs_create(desc, varno, node);
 *		expr = vx_expr_compile(set, clause, 0);
 *		if (expr == NULL)
 *			... evaluate the clause row by row
 *		...
 *		v = vx_expr_eval(expr, batch, batch->selection);
 *
 * The result is a vector as the reader makes them, so a plain column costs
 * nothing: the column's own vector is returned.  What stands at a row that is
 * not selected is undefined, in valid[] too.
 *
 * The rule: nothing is ever evaluated for a value that no selected row has,
 * and where the server would not come to a part of the expression (the
 * branches of CASE, the right side of AND) it is not evaluated for the row.
 * So errors are the server's own, raised by the server's own functions; and
 * a function that leaks what it sees shows nobody a deleted, filtered or
 * hidden row, if the selection is what survived the quals.
 *
 * Batches: columns are taken by vx_batch_vector().  A batch that does not come
 * from a reader (rows of the delta) has its columns set, with any rep
 * but VX_REP_CODE and arrays of ST_VECTOR_SIZE values, before the first
 * evaluation.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_EXPR_H
#define VX_EXPR_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "vx_batch.h"

typedef struct VxExprSet VxExprSet;
typedef struct VxExpr VxExpr;

/*
 * The caller needs the value of numerics and their greatest display scale,
 * not the display scale of each one (sum and avg; not min, max or a key):
 * a vector whose numerics have several scales comes out at the greatest that
 * a selected row has.  Not for sums of groups, each of which has the scale of
 * its own rows.
 */
#define VX_EXPR_ANY_SCALE	0x01

/*
 * A set of expressions over rows of type desc, whose columns are Vars of varno.
 * node gives parameters and the executor's state; parts of expressions that
 * have no columns are evaluated when first needed, and again after a rescan.
 * Allocates in the current memory context, which must live as long as the
 * node.
 */
extern VxExprSet *vx_exprs_create(TupleDesc desc, Index varno, PlanState *node);

/*
 * Compiles an expression.  NULL if it has to be left to the server as a
 * whole: a volatile or set-returning function, a subquery (but for [NOT] column
 * IN by a hash table), an aggregate, a whole-row or system column.  Checks the
 * right to execute functions, as ExecInitExpr does.
 */
extern VxExpr *vx_expr_compile(VxExprSet *set, Expr *expr, int flags);

/* Columns that the expression reads: the batch must have them. */
extern const Bitmapset *vx_expr_columns(const VxExpr *expr);

/* The expression is a column and nothing else: its number, or 0. */
extern AttrNumber vx_expr_plain_column(const VxExpr *expr);

/*
 * Evaluates the expression for the selected rows of the batch.
 *
 * The vector stays valid until the same expression is evaluated again or the
 * batch moves on.  Its representation may change from batch to batch:
 *
 *		bool, integers, date, time, ...		VX_REP_INT64
 *		float8, float4						VX_REP_FLOAT8, VX_REP_FLOAT4
 *		numeric		VX_REP_DECIMAL64, VX_REP_DECIMAL128, or VX_REP_DATUM or
 *					VX_REP_CODE where a value is NaN, infinite or too long or
 *					where display scales differ
 *		others		VX_REP_CODE or VX_REP_DATUM
 *
 * Datums are never toasted by us: a function's result is as it returned it.
 * constant is set only where every row, selected or not, is the same.
 *
 * A dictionary belongs to one row group (vx_batch_group() tells which): codes
 * keep their meaning within it.  That of an expression is made as values
 * come up: nvalues grows from batch to batch.  Its values are distinct by
 * their bytes and not sorted.
 *
 * Raises whatever the server would for a selected row.
 */
extern const VxVector *vx_expr_eval(VxExpr *expr, VxBatch *batch,
									const uint64 *selection);

/*
 * Takes rows for which a boolean expression is not true out of selection, and
 * raises nothing ahead of its time: rows that only the server can decide, as it may raise an error, stay selected and
 * are set in unknown.  Returns true if there are any.  Functions without a
 * kernel are called only on distinct values of a dictionary; use it where no
 * qual that stands before this one is still to be evaluated.
 */
extern bool vx_expr_select_safely(VxExpr *expr, VxBatch *batch,
								  uint64 *selection, uint64 *unknown);

/*
 * True if vx_expr_select_safely() can be expected to decide most rows: every
 * function has a kernel, or depends on a single column that may come as a
 * dictionary.
 */
extern bool vx_expr_is_vectorised(const VxExpr *expr);

/* Parameters may have changed. */
extern void vx_exprs_rescan(VxExprSet *set);

/* Identity of the row group that the batch belongs to: its first row. */
static inline uint64
vx_batch_group(const VxBatch *batch)
{
	return batch->first_row - batch->start;
}

#endif							/* VX_EXPR_H */
