/*-------------------------------------------------------------------------
 *
 * vx_agg_arms.c
 *	  The arms of a set operation, for the node that aggregates them.
 *
 * They are read one after another (vx_arms.c); the batch that the node sees has
 * the columns of the operation, and behind them the number of the arm.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "vx_agg.h"
#include "vx_arms.h"
#include "st_compat.h"

struct VxAggArms
{
	VxArms	   *arms;
	VxProducer	producer;		/* what dictionaries belong to */
};

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
	VxAggArms  *result = palloc0(sizeof(VxAggArms));
	ListCell   *lc;

	result->arms = vx_arms_create(children, list_length(keys), true);
	vx_agg_arms_rescan(result);

	state->batch = result->arms->batch;
	state->desc = make_desc(keys);
	state->producer = &result->producer;
	state->operands = keys;
	foreach(lc, keys)
		state->fused = lappend(state->fused,
							   makeVar(INDEX_VAR, foreach_current_index(lc) + 1,
									   exprType(lfirst(lc)), exprTypmod(lfirst(lc)),
									   exprCollation(lfirst(lc)), 0));
	return result;
}

int
vx_agg_arms_current(const VxAggArms *arms)
{
	return arms->arms->current;
}

void
vx_agg_arms_rescan(VxAggArms *arms)
{
	vx_arms_rescan(arms->arms);
	vx_arms_begin(arms->arms, 0);
}

bool
vx_agg_arms_next(VxAggArms *arms, const VxAggState *state)
{
	while (!vx_arms_next(arms->arms))
	{
		if (arms->arms->current + 1 == arms->arms->narms ||
			(state->setop && vx_agg_setop_is_empty(state)))
			return false;
		vx_arms_begin(arms->arms, arms->arms->current + 1);
	}
	arms->producer.group = arms->arms->group;
	return true;
}
