/*-------------------------------------------------------------------------
 *
 * vx_producer.c
 *	  Nodes that hand out vectors, found and asked by nodes above.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "st_compat.h"
#include "vx_producer.h"

#define MAX_KINDS	8

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

/* System columns and whole rows are no vectors. */
bool
vx_needs_row(List *exprs, Index varno)
{
	Bitmapset  *attrs = NULL;
	int			first;

	pull_varattnos((Node *) exprs, varno, &attrs);
	first = bms_next_member(attrs, -1);
	return first >= 0 && first + FirstLowInvalidHeapAttributeNumber <= 0;
}

typedef struct Substitution
{
	int			varno;
	const List *tlist;			/* its columns */
	bool		failed;
} Substitution;

static Node *
substitute(Node *node, void *context)
{
	Substitution *s = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == s->varno)
	{
		AttrNumber	attno = ((Var *) node)->varattno;

		if (attno > 0 && attno <= list_length(s->tlist))
			return copyObject((Node *) list_nth_node(TargetEntry, s->tlist, attno - 1)->expr);
		s->failed = true;
		return node;
	}
	return expression_tree_mutator(node, substitute, context);
}

List *
vx_substitute(List *exprs, int varno, const List *tlist)
{
	Substitution s = {varno, tlist, false};

	exprs = (List *) substitute((Node *) exprs, &s);
	return s.failed ? NIL : exprs;
}

bool
vx_is_bound_to_rows(const PlanState *ps)
{
	return contain_volatile_functions((Node *) ps->plan->targetlist) ||
		contain_subplans((Node *) ps->plan->targetlist);
}
