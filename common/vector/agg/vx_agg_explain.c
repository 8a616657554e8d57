/*-------------------------------------------------------------------------
 *
 * vx_agg_explain.c
 *	  What EXPLAIN shows of an aggregation over vectors.
 *
 * Always: the group keys.  VERBOSE adds the aggregates that only the server's
 * functions compute, row by row.  ANALYZE adds the memory that groups take
 * and, if it was not enough, how many rows were put on disk, in how many parts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "vx_agg.h"
#include "st_compat.h"

static List *
deparse_all(const List *exprs, List *context, bool verbose)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
		result = lappend(result, deparse_expression(lfirst(lc), context, verbose, false));
	return result;
}

void
vx_agg_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	VxAggState *state = (VxAggState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	int			nkeys = list_length(linitial(plan->custom_private));
	List	   *keys = NIL;
	List	   *by_server = NIL;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan,
												   ancestors);
	ListCell   *lc;

	foreach(lc, plan->custom_scan_tlist)
		if (foreach_current_index(lc) < nkeys)
			keys = lappend(keys, lfirst_node(TargetEntry, lc)->expr);
	for (int i = 0; i < state->ntrans; i++)
		if (state->trans[i].kind == VX_TRANS_SERVER)
			by_server = lappend(by_server, unconstify(Aggref *, state->trans[i].ref));

	if (state->mode != VX_AGG_PLAIN)
		ExplainPropertyText("Aggregation", state->mode == VX_AGG_PARTIAL ? "partial" : "final",
							es);
	if (keys != NIL)
		ExplainPropertyList("Group Key", deparse_all(keys, context, es->verbose), es);
	if (es->verbose && by_server != NIL)
		ExplainPropertyList("Row By Row", deparse_all(by_server, context, true), es);
	if (es->analyze && state->groups && keys != NIL)
	{
		uint64		rows;
		uint64		parts;

		vx_spill_counts(state, &rows, &parts);
		if (rows > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		{
			ExplainPropertyUInteger("Rows On Disk", NULL, rows, es);
			ExplainPropertyUInteger("Parts On Disk", NULL, parts, es);
		}
		ExplainPropertyUInteger("Memory", "kB",
								(MemoryContextMemAllocated(state->mcxt, true) + 1023) / 1024,
								es);
	}
}
