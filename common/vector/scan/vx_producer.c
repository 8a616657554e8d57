/*-------------------------------------------------------------------------
 *
 * vx_producer.c
 *	  Nodes that hand out vectors, found and asked by nodes above.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/instrument.h"

#include "st_compat.h"
#include "vx_producer.h"

#define MAX_KINDS	4

static const CustomExecMethods *kinds[MAX_KINDS];
static int	nkinds = 0;

void
vx_producer_register(const CustomExecMethods *methods)
{
	Assert(nkinds < MAX_KINDS);
	kinds[nkinds++] = methods;
}

VxProducer *
vx_producer(PlanState *ps)
{
	if (IsA(ps, CustomScanState))
		for (int i = 0; i < nkinds; i++)
			if (((CustomScanState *) ps)->methods == kinds[i] &&
				((VxProducerState *) ps)->producer.next != NULL)
				return &((VxProducerState *) ps)->producer;
	return NULL;
}

void
vx_producer_rescan_through(PlanState *ps, const PlanState *below)
{
	while (ps != below)
	{
		if (ps->chgParam != NULL)
			ExecReScan(ps);
		ps = IsA(ps, SubqueryScanState) ? ((SubqueryScanState *) ps)->subplan :
			outerPlanState(ps);
	}
}

bool
vx_producer_next(PlanState *ps)
{
	VxProducer *producer = &((VxProducerState *) ps)->producer;
	NodeInstrumentation *instrument = ps->instrument;
	bool		more;

	if (ps->chgParam != NULL)
		ExecReScan(ps);
	if (instrument)
		InstrStartNode(instrument);
	more = producer->next((CustomScanState *) ps);
	if (instrument)
		InstrStopNode(instrument, more ?
					  vx_selection_count(producer->batch->selection,
										 producer->batch->nrows) : 0);
	return more;
}

AttrNumber *
vx_producer_columns(PlanState *ps)
{
	VxProducer *producer = &((VxProducerState *) ps)->producer;
	List	   *tlist = ps->plan->targetlist;
	AttrNumber *columns = palloc(sizeof(AttrNumber) * (list_length(tlist) + 1));
	ListCell   *lc;

	foreach(lc, tlist)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(var, Var) || var->varno != producer->varno || var->varattno <= 0)
			return NULL;
		columns[foreach_current_index(lc)] = var->varattno;
	}
	return columns;
}
