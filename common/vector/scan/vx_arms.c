/*-------------------------------------------------------------------------
 *
 * vx_arms.c
 *	  Vectors of what several plans return, one after another.
 *
 * Where an arm's plan hands out vectors, its target list is evaluated on
 * them, and no rows are made; rows of any other plan are put into vectors.  The node
 * that reads the arms may take rows out of the batch's selection: columns that it has not
 * asked for yet are made for those that are left.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"

#include "vx_arms.h"
#include "vx_expr.h"
#include "vx_producer.h"
#include "vx_row_vectors.h"
#include "vx_scan.h"

struct VxArm
{
	PlanState  *child;
	VxBatch    *batch;			/* of the node that hands out vectors, or of rows */

	PlanState  *below;			/* hands them out; NULL: rows come */
	VxExprSet  *exprs;
	VxExpr	  **programs;		/* by column */

	VxRowVectors *vectors;		/* of rows */
	bool		ended;			/* none is left */
};

/* VxRowsVector: a column of the arm at hand. */
static const VxVector *
arm_column(void *rows, AttrNumber attno)
{
	VxArms	   *arms = rows;
	const VxArm *arm = &arms->arms[arms->current];

	if (attno > arms->ncolumns)
		return &arms->number;
	if (arm->below == NULL)
		return vx_batch_vector(arm->batch, attno);
	memcpy(arm->batch->selection, arms->batch->selection,
		   (arm->batch->nrows + 63) / 64 * sizeof(uint64));
	return vx_expr_eval(arm->programs[attno - 1], arm->batch, arm->batch->selection);
}

/* ---- what an arm's columns are made of ---- */

/*
 * The first ncolumns columns of the arm's rows in terms of the columns of the node
 * below it that hands out vectors; NIL: there is none.
 */
static List *
expressions(VxArm *arm, int ncolumns)
{
	PlanState  *below = arm->child;
	List	   *exprs = NIL;

	for (int i = 0; i < ncolumns; i++)
		exprs = lappend(exprs, list_nth_node(TargetEntry, below->plan->targetlist, i)->expr);
	while (IsA(below, SubqueryScanState) && below->qual == NULL && !vx_is_bound_to_rows(below))
	{
		SubqueryScan *scan = (SubqueryScan *) below->plan;

		exprs = vx_substitute(exprs, scan->scan.scanrelid, scan->subplan->targetlist);
		if (exprs == NIL)
			return NIL;
		below = ((SubqueryScanState *) below)->subplan;
	}
	if (vx_producer(below) == NULL || vx_is_bound_to_rows(below) ||
		vx_needs_row(exprs, vx_producer(below)->varno))
		return NIL;
	arm->below = below;
	return exprs;
}

/* Programs for the expressions; false: one of them is the server's. */
static bool
compile(VxArm *arm, List *exprs)
{
	VxProducer *producer = vx_producer(arm->below);
	VxScanState *scan = vx_scan_state(arm->below);
	TupleDesc	desc = producer->desc;
	ListCell   *lc;

	arm->batch = producer->batch;
	if (scan)
	{
		exprs = (List *) vx_scan_replace_paths(scan, (Node *) exprs);
		desc = vx_path_set_desc(scan->paths);
	}
	arm->exprs = vx_exprs_create(desc, producer->varno, arm->below);
	arm->programs = palloc0(sizeof(VxExpr *) * list_length(exprs));
	foreach(lc, exprs)
	{
		VxExpr	   *program = vx_expr_compile(arm->exprs, lfirst(lc), 0);

		if (program == NULL)
			return false;
		arm->programs[foreach_current_index(lc)] = program;
	}
	return true;
}

static void
init_arm(VxArm *arm, PlanState *child, int ncolumns)
{
	List	   *exprs;
	TupleDesc	desc;

	arm->child = child;
	exprs = expressions(arm, ncolumns);
	if (exprs != NIL && compile(arm, exprs))
		return;
	arm->below = NULL;
	desc = ExecGetResultType(child);
	arm->batch = vx_batch_create(desc->natts, bms_add_range(NULL, 1, ncolumns));
	arm->vectors = vx_row_vectors_create(arm->batch, desc);
}

VxArms *
vx_arms_create(List *children, int ncolumns, bool numbered)
{
	VxArms	   *arms = palloc0(sizeof(VxArms));
	int			natts = ncolumns + (numbered ? 1 : 0);
	ListCell   *lc;

	arms->ncolumns = ncolumns;
	arms->numbered = numbered;
	arms->narms = list_length(children);
	arms->arms = palloc0(sizeof(VxArm) * (arms->narms + 1));
	foreach(lc, children)
		init_arm(&arms->arms[foreach_current_index(lc)], lfirst(lc), ncolumns);
	arms->batch = vx_batch_create(natts, natts > 0 ? bms_add_range(NULL, 1, natts) : NULL);
	arms->batch->rows = arms;
	arms->batch->rows_vector = arm_column;
	if (numbered)
	{
		arms->number.rep = VX_REP_INT64;
		arms->number.typlen = sizeof(int32);
		arms->number.u.i64 = palloc(sizeof(int64) * ST_VECTOR_SIZE);
	}
	return arms;
}

/* ---- batches ---- */

void
vx_arms_begin(VxArms *arms, int number)
{
	arms->current = number;
	arms->group++;
	arms->arm_group = 0;
	if (arms->numbered)
		for (int i = 0; i < ST_VECTOR_SIZE; i++)
			arms->number.u.i64[i] = number;
}

void
vx_arms_rescan(VxArms *arms)
{
	for (int i = 0; i < arms->narms; i++)
	{
		VxArm	   *arm = &arms->arms[i];

		arm->ended = false;
		if (arm->below)
			vx_producer_rescan_through(arm->child, arm->below);
		if (arm->exprs)
			vx_exprs_rescan(arm->exprs);
	}
}

bool
vx_arms_next(VxArms *arms)
{
	VxArm	   *arm = &arms->arms[arms->current];

	if (!(arm->below ? vx_producer_next(arm->below) :
		  vx_row_vectors_of_node(arm->vectors, arm->child, &arm->ended)))
		return false;
	if (arm->below && arms->arm_group != vx_producer(arm->below)->group)
	{
		arms->arm_group = vx_producer(arm->below)->group;
		arms->group++;
	}
	arms->number.n = arm->batch->nrows;
	vx_batch_set_rows(arms->batch, arm->batch->nrows);
	arms->batch->first_row = arms->group;
	memcpy(arms->batch->selection, arm->batch->selection,
		   (arm->batch->nrows + 63) / 64 * sizeof(uint64));
	return true;
}
