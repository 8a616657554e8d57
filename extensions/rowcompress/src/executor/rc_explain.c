/*-------------------------------------------------------------------------
 *
 * rc_explain.c
 *	  What EXPLAIN shows of a rowcompress scan.
 *
 * Always: the quals (as "Filter", like any scan's) and those of them that
 * zones can decide.  VERBOSE adds the columns that are decoded.  ANALYZE adds
 * the counters, over all loops and workers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "rc_scan.h"
#include "st_compat.h"

/* All quals, or those with a predicate, as one expression. */
static void
explain_quals(const char *label, const RcScanState *state, bool zoned,
			  List *ancestors, ExplainState *es)
{
	const PlanState *ps = &state->css.ss.ps;
	List	   *clauses = NIL;
	List	   *context;

	for (int i = 0; i < state->quals->nquals; i++)
	{
		const RcQual *qual = &state->quals->quals[i];

		if (!zoned || (qual->pred != NULL && rc_enable_pruning))
			clauses = lappend(clauses, qual->clause);
	}
	if (clauses == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, ps->plan, ancestors);
	ExplainPropertyText(label,
						deparse_expression((Node *) make_ands_explicit(clauses), context,
										   es->verbose, false),
						es);
}

static void
explain_columns(const RcScanState *state, ExplainState *es)
{
	TupleDesc	desc = RelationGetDescr(state->css.ss.ss_currentRelation);
	List	   *names = NIL;
	int			attno = -1;

	while ((attno = bms_next_member(state->columns, attno)) >= 0)
		names = lappend(names, NameStr(TupleDescAttr(desc, attno - 1)->attname));
	if (names != NIL || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyList("Columns", names, es);
}

/* In text, counters that are 0 are left out. */
static void
explain_counter(const char *label, const char *unit, uint64 value, ExplainState *es)
{
	if (value > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyUInteger(label, unit, value, es);
}

static void
explain_analyze(RcScanState *state, ExplainState *es)
{
	RcScanStats stats = state->workers;

	rc_source_count(state->source);
	rc_stats_add(&stats, &state->source->own_stats);
	if (state->shared)
		rc_shared_stats(state->shared, &stats);

	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		appendStringInfoSpaces(es->str, es->indent * 2);
		appendStringInfo(es->str, "Row Groups: total=" UINT64_FORMAT " pruned=" UINT64_FORMAT
						 " read=" UINT64_FORMAT "\n",
						 stats.groups_total, stats.groups_pruned, stats.groups_read);
		appendStringInfoSpaces(es->str, es->indent * 2);
		appendStringInfo(es->str, "Batches: pruned=" UINT64_FORMAT " read=" UINT64_FORMAT "\n",
						 stats.batches_pruned, stats.batches_read);
	}
	else
	{
		ExplainPropertyUInteger("Row Groups", NULL, stats.groups_total, es);
		ExplainPropertyUInteger("Row Groups Pruned", NULL, stats.groups_pruned, es);
		ExplainPropertyUInteger("Row Groups Read", NULL, stats.groups_read, es);
		ExplainPropertyUInteger("Batches Pruned", NULL, stats.batches_pruned, es);
		ExplainPropertyUInteger("Batches Read", NULL, stats.batches_read, es);
	}
	explain_counter("Deleted Rows Skipped", NULL, stats.deleted_rows, es);
	explain_counter("Delta Rows", NULL, stats.delta_rows, es);
	if (es->verbose)
		ExplainPropertyUInteger("Decoded", "kB", (stats.bytes_decoded + 1023) / 1024, es);
}

void
rc_scan_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	RcScanState *state = (RcScanState *) node;
	Instrumentation *instrument = node->ss.ps.instrument;

	explain_quals("Filter", state, false, ancestors, es);
	if (es->analyze && instrument && instrument->nloops > 0 && state->quals->nquals > 0 &&
		(instrument->nfiltered1 > 0 || es->format != EXPLAIN_FORMAT_TEXT))
		ExplainPropertyFloat("Rows Removed by Filter", NULL,
							 instrument->nfiltered1 / instrument->nloops, 0, es);
	explain_quals("Zone Filter", state, true, ancestors, es);
	if (es->verbose)
		explain_columns(state, es);
	if (es->analyze && state->source)
		explain_analyze(state, es);
}
