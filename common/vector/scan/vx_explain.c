/*-------------------------------------------------------------------------
 *
 * vx_explain.c
 *	  What EXPLAIN shows of a colcompress scan.
 *
 * Always: the quals (as "Filter", like any scan's) and those of them that
 * zones can decide.  VERBOSE adds the columns that are decoded, and what of
 * documents is looked at alone.  ANALYZE adds
 * the counters, over all loops and workers, and with VERBOSE where each qual
 * ran.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "vx_join_filter.h"
#include "vx_paths.h"
#include "vx_scan.h"
#include "vx_settings.h"
#include "st_compat.h"

/* Quals of the set as one expression, in the plan's order. */
static void
explain_quals(const char *label, const VxScanState *state, VxQualSet set,
			  List *ancestors, ExplainState *es)
{
	const PlanState *ps = &state->css.ss.ps;
	List	   *quals = NIL;
	List	   *context;

	for (int i = 0; i < state->filter->nquals && i < 64; i++)
		if (set & (UINT64CONST(1) << i))
			quals = lappend(quals, state->filter->quals[i].clause);
	if (quals == NIL)
		return;

	context = set_deparse_context_plan(es->deparse_cxt, ps->plan, ancestors);
	ExplainPropertyText(label,
						deparse_expression((Node *) make_ands_explicit(quals), context,
										   es->verbose, false),
						es);
}

/* In text, counters that are 0 are left out. */
static void
explain_counter(const char *label, const char *unit, uint64 value, ExplainState *es)
{
	if (value > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyUInteger(label, unit, value, es);
}

static void
explain_topn(const VxScanState *state, List *ancestors, ExplainState *es)
{
	const VxTopN *topn = state->filter->topn;
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   state->css.ss.ps.plan, ancestors);

	ExplainPropertyText("Top N Key",
						deparse_expression((Node *) vx_topn_key(topn), context,
										   es->verbose, false),
						es);
	if (es->analyze)
		explain_counter("Rows Beyond Top N", NULL, vx_topn_removed(topn), es);
}

/* Columns whose values the build sides of hash joins above filter. */
static void
explain_joins(const VxScanState *state, List *ancestors, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   state->css.ss.ps.plan, ancestors);
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, state->filter->joins)
		columns = lappend(columns, deparse_expression((Node *) vx_join_filter_column(lfirst(lc)),
													  context, es->verbose, false));
	ExplainPropertyList("Hash Join Filter", columns, es);
}

static void
explain_columns(const VxScanState *state, ExplainState *es)
{
	TupleDesc	desc = RelationGetDescr(state->css.ss.ss_currentRelation);
	List	   *names = NIL;
	int			attno = -1;

	while ((attno = bms_next_member(state->columns, attno)) >= 0)
		names = lappend(names, NameStr(TupleDescAttr(desc, attno - 1)->attname));
	if (names != NIL || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyList("Columns", names, es);
	names = vx_path_set_describe(state->paths);
	if (names != NIL)
		ExplainPropertyList("Document Parts", names, es);
}

/* Of the whole query, where it was planned with the setting on. */
static void
explain_fallback(const VxScanState *state, ExplainState *es)
{
	CustomScan *plan = (CustomScan *) state->css.ss.ps.plan;
	List	   *reasons = NIL;
	ListCell   *lc;

	foreach(lc, list_nth(plan->custom_private, VX_SCAN_FALLBACK))
		reasons = lappend(reasons, strVal(lfirst(lc)));
	if (reasons != NIL)
		ExplainPropertyList("Not In Vectors", reasons, es);
}

/* total: -1 if it is not known. */
static void
explain_counts(const char *label, int64 total, uint64 pruned, uint64 read,
			   ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		appendStringInfoSpaces(es->str, es->indent * 2);
		appendStringInfo(es->str, "%s:", label);
		if (total >= 0)
			appendStringInfo(es->str, " total=" INT64_FORMAT, total);
		appendStringInfo(es->str, " pruned=" UINT64_FORMAT " read=" UINT64_FORMAT "\n",
						 pruned, read);
		return;
	}
	ExplainOpenGroup(label, label, true, es);
	if (total >= 0)
		ExplainPropertyInteger("Total", NULL, total, es);
	ExplainPropertyUInteger("Pruned", NULL, pruned, es);
	ExplainPropertyUInteger("Read", NULL, read, es);
	ExplainCloseGroup(label, label, true, es);
}

static void
explain_analyze(VxScanState *state, List *ancestors, ExplainState *es)
{
	VxScanStats stats = state->workers;

	vx_source_count(state->source);
	vx_stats_add(&stats, &state->source->own_stats);
	if (state->shared)
		vx_shared_stats(state->shared, &stats);

	if (es->verbose)
	{
		explain_quals("Decided By Zones", state, stats.zone_quals, ancestors, es);
		explain_quals("Run On Vectors", state, stats.vector_quals, ancestors, es);
		explain_quals("Run On Rows", state, stats.row_quals, ancestors, es);
	}
	explain_counts("Row Groups", stats.groups_total, stats.groups_pruned,
				   stats.groups_read, es);
	explain_counts(vx_format->vectors_name,
				   vx_format->group_vectors ? (int64) stats.vectors_total : -1,
				   stats.vectors_pruned, stats.vectors_read, es);
	explain_counter("Row Groups From Footers", NULL, stats.footer_groups, es);
	if (state->source->bitmap)
		explain_counter("Rows From Bitmap", NULL, stats.bitmap_rows, es);
	explain_counter("Deleted Rows Skipped", NULL, stats.deleted_rows, es);
	explain_counter("Delta Rows", NULL, stats.delta_rows, es);
	if (state->mow)
		explain_counter("Rows Deleted at Once", NULL, state->mow->ndeleted, es);
	explain_counter("Rows Removed by Hash Join Filter", NULL, stats.join_removed, es);
	if (es->verbose)
		ExplainPropertyUInteger("Decoded", "kB", (stats.bytes_decoded + 1023) / 1024, es);
}

void
vx_scan_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	VxScanState *state = (VxScanState *) node;
	NodeInstrumentation *instrument = node->ss.ps.instrument;
	VxQualSet	zone_quals = 0;

	for (int i = 0; i < state->filter->nquals && i < 64; i++)
		if (state->filter->quals[i].zone_pred && vx_enable_pruning)
			zone_quals |= UINT64CONST(1) << i;

	explain_quals("Filter", state, ~UINT64CONST(0), ancestors, es);
	if (es->analyze && instrument && instrument->nloops > 0 && state->filter->nquals > 0 &&
		(instrument->nfiltered1 > 0 || es->format != EXPLAIN_FORMAT_TEXT))
		ExplainPropertyFloat("Rows Removed by Filter", NULL,
							 instrument->nfiltered1 / instrument->nloops, 0, es);
	explain_quals("Zone Filter", state, zone_quals, ancestors, es);
	if (state->filter->topn)
		explain_topn(state, ancestors, es);
	if (state->filter->joins)
		explain_joins(state, ancestors, es);
	if (es->verbose)
	{
		explain_columns(state, es);
		explain_fallback(state, es);
	}
	if (es->analyze && state->source)
		explain_analyze(state, ancestors, es);
}
