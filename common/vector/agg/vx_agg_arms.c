/*-------------------------------------------------------------------------
 *
 * vx_agg_arms.c
 *	  Vectors of what several plans return, for the node that aggregates them.
 *
 * The arms of a set operation.  They are read one after another; the batch that
 * the node sees has the columns of the operation, and behind them the number of
 * the arm.  Where an arm's plan hands out vectors, its target list is evaluated on
 * them, and no rows are made; rows of any other plan are put into vectors.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "vx_agg.h"
#include "vx_row_vectors.h"
#include "st_compat.h"

typedef struct Arm
{
	PlanState  *child;
	VxBatch    *batch;			/* of the node that hands out vectors, or of rows */

	PlanState  *below;			/* hands them out; NULL: rows come */
	VxExprSet  *exprs;
	VxExpr	  **programs;		/* by column */

	VxRowVectors *vectors;		/* of rows */
	bool		ended;			/* none is left */
} Arm;

struct VxAggArms
{
	int			ncolumns;
	VxBatch    *batch;
	VxVector	number;			/* of the arm at hand */
	int			narms;
	Arm		   *arms;
	int			current;
	VxProducer	producer;		/* what dictionaries belong to */
	uint64		group;			/* the same of the arm's own producer */
};

/* VxRowsVector: a column of the arm at hand. */
static const VxVector *
arm_column(void *rows, AttrNumber attno)
{
	VxAggArms  *arms = rows;
	const Arm  *arm = &arms->arms[arms->current];

	if (attno > arms->ncolumns)
		return &arms->number;
	if (arm->below)
		return vx_expr_eval(arm->programs[attno - 1], arm->batch, arm->batch->selection);
	return vx_batch_vector(arm->batch, attno);
}

/* ---- what an arm's columns are made of ---- */

/*
 * The first ncolumns columns of the arm's rows in terms of the columns of the node
 * below it that hands out vectors; NIL: there is none.
 */
static List *
expressions(Arm *arm, int ncolumns)
{
	PlanState  *below = arm->child;
	List	   *exprs = NIL;

	for (int i = 0; i < ncolumns; i++)
		exprs = lappend(exprs, list_nth_node(TargetEntry, below->plan->targetlist, i)->expr);
	while (IsA(below, SubqueryScanState) && below->qual == NULL && !vx_agg_is_bound_to_rows(below))
	{
		SubqueryScan *scan = (SubqueryScan *) below->plan;

		exprs = vx_agg_substitute(exprs, scan->scan.scanrelid, scan->subplan->targetlist);
		if (exprs == NIL)
			return NIL;
		below = ((SubqueryScanState *) below)->subplan;
	}
	if (vx_producer(below) == NULL || vx_agg_is_bound_to_rows(below) ||
		vx_agg_needs_row(exprs, vx_producer(below)->varno))
		return NIL;
	arm->below = below;
	return exprs;
}

/* Programs for the expressions; false: one of them is the server's. */
static bool
compile(Arm *arm, List *exprs)
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
init_arm(Arm *arm, PlanState *child, int ncolumns)
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

/* The keys, and the number of the arm behind them. */
static TupleDesc
make_desc(const List *keys)
{
	int			ncolumns = list_length(keys);
	TupleDesc	desc = CreateTemplateTupleDesc(ncolumns + 1);
	ListCell   *lc;

	foreach(lc, keys)
	{
		AttrNumber	attno = foreach_current_index(lc) + 1;

		TupleDescInitEntry(desc, attno, NULL, exprType(lfirst(lc)), exprTypmod(lfirst(lc)), 0);
		TupleDescInitEntryCollation(desc, attno, exprCollation(lfirst(lc)));
	}
	TupleDescInitEntry(desc, ncolumns + 1, NULL, INT4OID, -1, 0);
	TupleDescFinalize(desc);
	return desc;
}

VxAggArms *
vx_agg_arms_create(VxAggState *state, List *children, List *keys)
{
	VxAggArms  *arms = palloc0(sizeof(VxAggArms));
	ListCell   *lc;

	arms->ncolumns = list_length(keys);
	arms->narms = list_length(children);
	arms->arms = palloc0(sizeof(Arm) * arms->narms);
	foreach(lc, children)
		init_arm(&arms->arms[foreach_current_index(lc)], lfirst(lc), arms->ncolumns);
	arms->batch = vx_batch_create(arms->ncolumns + 1,
								  bms_add_range(NULL, 1, arms->ncolumns + 1));
	arms->batch->rows = arms;
	arms->batch->rows_vector = arm_column;
	arms->number.rep = VX_REP_INT64;
	arms->number.typlen = sizeof(int32);
	arms->number.u.i64 = palloc(sizeof(int64) * ST_VECTOR_SIZE);
	vx_agg_arms_rescan(arms);

	state->batch = arms->batch;
	state->desc = make_desc(keys);
	state->producer = &arms->producer;
	state->operands = keys;
	foreach(lc, keys)
		state->fused = lappend(state->fused,
							   makeVar(INDEX_VAR, foreach_current_index(lc) + 1,
									   exprType(lfirst(lc)), exprTypmod(lfirst(lc)),
									   exprCollation(lfirst(lc)), 0));
	return arms;
}

/* ---- batches ---- */

int
vx_agg_arms_current(const VxAggArms *arms)
{
	return arms->current;
}

/* The arm at hand is that of this number. */
static void
begin_arm(VxAggArms *arms, int number)
{
	arms->current = number;
	arms->producer.group++;
	arms->group = 0;
	for (int i = 0; i < ST_VECTOR_SIZE; i++)
		arms->number.u.i64[i] = number;
}

void
vx_agg_arms_rescan(VxAggArms *arms)
{
	for (int i = 0; i < arms->narms; i++)
	{
		arms->arms[i].ended = false;
		if (arms->arms[i].below)
			vx_producer_rescan_through(arms->arms[i].child, arms->arms[i].below);
		if (arms->arms[i].exprs)
			vx_exprs_rescan(arms->arms[i].exprs);
	}
	begin_arm(arms, 0);
}

static bool
next_of_arm(Arm *arm)
{
	return arm->below ? vx_producer_next(arm->below) :
		vx_row_vectors_of_node(arm->vectors, arm->child, &arm->ended);
}

bool
vx_agg_arms_next(VxAggArms *arms, const VxAggState *state)
{
	Arm		   *arm = &arms->arms[arms->current];

	while (!next_of_arm(arm))
	{
		if (arms->current + 1 == arms->narms ||
			(state->setop && vx_agg_setop_is_empty(state)))
			return false;
		begin_arm(arms, arms->current + 1);
		arm++;
	}
	if (arm->below && arms->group != vx_producer(arm->below)->group)
	{
		arms->group = vx_producer(arm->below)->group;
		arms->producer.group++;
	}
	arms->number.n = arm->batch->nrows;
	vx_batch_set_rows(arms->batch, arm->batch->nrows);
	memcpy(arms->batch->selection, arm->batch->selection,
		   (arm->batch->nrows + 63) / 64 * sizeof(uint64));
	return true;
}
