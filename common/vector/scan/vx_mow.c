/*-------------------------------------------------------------------------
 *
 * vx_mow.c
 *	  A scan below DELETE has the rows of a vector deleted at once.
 *
 * Where DELETE stands right above the scan and deletes each row that it gets,
 * the vector's selection says what is going to be deleted.  If nobody wants to
 * see these rows, the scan has the store delete them (st_mow.c), and counts
 * them instead of handing them out.  Rows that the store leaves, because
 * somebody else has locked or deleted one, go up as ever.
 *
 * That is done only if nothing runs between the first row and the last that
 * could tell the difference, or stop in between: no RETURNING, which a caller
 * may ask for a few rows of, no row trigger, before or after (its WHEN is
 * evaluated at once), no transition table, no volatile function in conditions,
 * no subquery that may have one, and no other command within the statement.
 *
 * The link is made when the executor has set up the query; the plan does not
 * change.  EvalPlanQual sets up scans of its own, which have no link.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "executor/instrument.h"
#include "optimizer/optimizer.h"
#include "utils/rel.h"

#include "st_mow.h"
#include "vx_mow.h"
#include "vx_scan.h"
#include "vx_settings.h"

/* So many rows pay for trying again within a vector that one row has ended. */
#define WORTH_ANOTHER	64

StaticAssertDecl(ST_VECTOR_SIZE == ST_MOW_ROWS, "rows of a vector");

/* The table that DELETE takes the scan's rows for. */
static ResultRelInfo *
result_relation(ModifyTableState *mt, Relation rel)
{
	for (int i = 0; i < mt->mt_nrels; i++)
	{
		ResultRelInfo *info = &mt->resultRelInfo[i];

		if (RelationGetRelid(info->ri_RelationDesc) == RelationGetRelid(rel))
			return info;
	}
	return NULL;
}

static void
link_scan(ModifyTableState *mt, PlanState *ps)
{
	VxScanState *scan = vx_scan_state(ps);
	Relation	rel = scan->css.ss.ss_currentRelation;
	ResultRelInfo *info = result_relation(mt, rel);
	CustomScan *plan = (CustomScan *) ps->plan;
	TriggerDesc *triggers;

	if (info == NULL || scan->source == NULL || !st_mow_possible(rel) ||
		contain_volatile_functions((Node *) plan->custom_exprs) ||
		contain_volatile_functions((Node *) plan->scan.plan.targetlist))
		return;
	triggers = info->ri_TrigDesc;
	if (mt->mt_transition_capture != NULL ||
		(triggers && (triggers->trig_delete_before_row ||
					  triggers->trig_delete_instead_row ||
					  triggers->trig_delete_after_row ||
					  triggers->trig_delete_old_table)))
		return;

	scan->mow = palloc0(sizeof(VxMow));
	scan->mow->scan = ps;
	scan->mow->rel = rel;
	scan->mow->counts = mt->canSetTag;
}

void
vx_mow_link(QueryDesc *queryDesc)
{
	PlannedStmt *stmt = queryDesc->plannedstmt;
	EState	   *estate = queryDesc->estate;
	ModifyTableState *mt = (ModifyTableState *) queryDesc->planstate;
	PlanState  *child;

	if (!vx_enable_bulk_delete || queryDesc->operation != CMD_DELETE ||
		stmt->hasModifyingCTE || stmt->subplans != NIL ||
		estate->es_crosscheck_snapshot != InvalidSnapshot ||
		!IsA(mt, ModifyTableState) || mt->operation != CMD_DELETE ||
		((ModifyTable *) mt->ps.plan)->returningLists != NIL)
		return;

	child = outerPlanState(mt);
	if (vx_scan_state(child))
		link_scan(mt, child);
	else if (IsA(child, AppendState))
	{
		AppendState *append = (AppendState *) child;

		for (int i = 0; i < append->as_nplans; i++)
		{
			if (vx_scan_state(append->appendplans[i]))
				link_scan(mt, append->appendplans[i]);
		}
	}
}

void
vx_mow_batch(VxMow *mow, VxBatch *batch, const StGroup *group, int from)
{
	EState	   *estate = mow->scan->state;
	CommandId	cid = estate->es_output_cid;
	uint64		rows[ST_MOW_WORDS] = {0};
	uint64		mown[ST_MOW_WORDS];
	int			nwords = (batch->nrows + 63) / 64;
	int			selected;
	uint32		n;

	memcpy(rows + from / 64, batch->selection + from / 64,
		   (nwords - from / 64) * sizeof(uint64));
	rows[from / 64] &= ~UINT64CONST(0) << (from % 64);
	selected = vx_selection_count(rows, batch->nrows);
	n = st_mow(mow->rel, group, batch->start, batch->nrows, rows, cid, mown);

	/* behind the row that has ended it */
	mow->next = INT_MAX;
	if (n >= WORTH_ANOTHER && n < selected)
	{
		int			skipped = 0;

		VX_FOREACH_ROW(row, rows, nwords)
		{
			if ((mown[row >> 6] & (UINT64CONST(1) << (row & 63))) == 0 && skipped++ == 1)
				mow->next = row;
		}
	}
	if (n == 0)
		return;
	mow->ndeleted += n;
	for (int word = 0; word < nwords; word++)
		batch->selection[word] &= ~mown[word];
	if (mow->counts)
		estate->es_processed += n;
	if (mow->scan->instrument)
		mow->scan->instrument->tuplecount += n;
}
