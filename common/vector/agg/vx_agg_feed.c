/*-------------------------------------------------------------------------
 *
 * vx_agg_feed.c
 *	  Vectors of the rows of any plan, for the node that aggregates them.
 *
 * Below a partial node of a partition of another access method, above a join,
 * and wherever else rows come one by one.  The plan below computes keys,
 * arguments and filters; here they only change their form.
 *
 * What the planner takes for rows (of a join, or of a view that is a security
 * barrier) may come from a node that hands out vectors: then its target list
 * tells what the operands are, and no rows are made.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "vx_agg.h"
#include "vx_row_vectors.h"

struct VxAggFeed
{
	PlanState  *child;
	List	   *operands;
	List	   *columns;
	VxBatch    *batch;
	VxRowVectors *vectors;
	bool		done;
};

VxAggFeed *
vx_agg_feed_create(VxAggState *state, PlanState *child, List *operands, List *columns)
{
	VxAggFeed  *feed = palloc0(sizeof(VxAggFeed));
	TupleDesc	desc = ExecGetResultType(child);
	Bitmapset  *attnos = NULL;

	if (linitial_int(columns) < 0)
		Assert(operands == NIL);
	else if (list_length(operands) != list_length(columns))
		elog(ERROR, "aggregation over rows has %d operands in %d columns",
			 list_length(operands), list_length(columns));
	else
		attnos = bms_add_range(NULL, 1, desc->natts);
	feed->child = child;
	feed->operands = operands;
	feed->columns = columns;
	feed->batch = vx_batch_create(desc->natts, attnos);
	feed->vectors = vx_row_vectors_create(feed->batch, desc);
	state->batch = feed->batch;
	state->desc = desc;
	return feed;
}

bool
vx_agg_feed_next(VxAggFeed *feed)
{
	return vx_row_vectors_of_node(feed->vectors, feed->child, &feed->done);
}

void
vx_agg_feed_rescan(VxAggFeed *feed)
{
	feed->done = false;
}

AttrNumber
vx_agg_feed_column(const VxAggFeed *feed, const Expr *expr)
{
	ListCell   *lc1;
	ListCell   *lc2;

	forboth(lc1, feed->operands, lc2, feed->columns)
		if (equal(lfirst(lc1), expr))
			return lfirst_int(lc2) + 1;
	elog(ERROR, "aggregation over rows lacks an operand");
	return InvalidAttrNumber;
}

/* What column n of the node's rows is, in terms of the scan's columns; or NULL. */
static Expr *
scan_expr(const PlanState *child, int n)
{
	Expr	   *expr = list_nth_node(TargetEntry, child->plan->targetlist, n)->expr;
	const PlanState *below;

	if (!IsA(child, SubqueryScanState))
		return expr;
	below = ((const SubqueryScanState *) child)->subplan;
	if (!IsA(expr, Var) || ((Var *) expr)->varattno <= 0)
		return NULL;
	return scan_expr(below, ((Var *) expr)->varattno - 1);
}

PlanState *
vx_agg_fuse(VxAggState *state, PlanState *child, List *operands, List *columns)
{
	PlanState  *below = child;
	VxProducer *producer;
	List	   *fused = NIL;
	ListCell   *lc;

	while (IsA(below, SubqueryScanState) && below->qual == NULL)
		below = ((SubqueryScanState *) below)->subplan;
	producer = vx_producer(below);
	if (producer == NULL || vx_is_bound_to_rows(below))
		return NULL;
	foreach(lc, columns)
	{
		Expr	   *expr = lfirst_int(lc) < 0 ? NULL : scan_expr(child, lfirst_int(lc));

		if (expr == NULL && lfirst_int(lc) >= 0)
			return NULL;
		if (expr)
			fused = lappend(fused, expr);
	}
	if (vx_needs_row(fused, producer->varno))
		return NULL;
	state->operands = operands;
	state->fused = fused;
	return below;
}

Expr *
vx_agg_fused(const VxAggState *state, Expr *operand)
{
	ListCell   *lc1;
	ListCell   *lc2;

	forboth(lc1, state->operands, lc2, state->fused)
		if (equal(lfirst(lc1), operand))
			return lfirst(lc2);
	return operand;
}
