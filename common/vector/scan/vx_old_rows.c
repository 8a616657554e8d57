/*-------------------------------------------------------------------------
 *
 * vx_old_rows.c
 *	  A scan below UPDATE has the rows that it found at hand.
 *
 * UPDATE asks for each row by its TID, while the scan that has found it still
 * stands on its vector.  So the columns that it wants are decoded out of the
 * same reader, once for all rows of the vector that the scan has selected.
 *
 * Not so where few of them are selected, or values are large: these are
 * fetched one by one, and not by this reader.  The row that the scan has handed
 * up refers to what the reader has fetched for it, or to what it has found at a
 * path of a document: such columns are not decoded behind its back.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

#include "vx_old_rows.h"
#include "vx_scan.h"

/* Fewer selected rows than one in this many are not worth decoding. */
#define VX_SPARSE_SHARE 32

typedef struct VxOldRows
{
	VxScanState *scan;
	VxBatch    *batch;			/* the scan's rows with the columns of UPDATE */
	uint64		nbatches;		/* of the scan, when it was begun */
	bool		decoded;
} VxOldRows;

static bool
may_decode(const VxScanState *scan, AttrNumber attno)
{
	const VxBatch *batch = scan->batch;

	for (int i = 0; i < batch->npaths; i++)
	{
		if (batch->paths[i]->attno == attno)
			return false;
	}
	return !(scan->outputs_ready && scan->nfetched > 0 && scan->fetched[attno - 1]) &&
		!vx_batch_is_large(batch, attno);
}

static bool
wants_vectors(const VxOldRows *old, const VxBatch *from)
{
	if (vx_selection_count(from->selection, from->nrows) * VX_SPARSE_SHARE < from->nrows)
		return false;
	for (int i = 0; i < old->batch->ncolumns; i++)
	{
		if (!may_decode(old->scan, old->batch->columns[i].attno))
			return false;
	}
	return true;
}

/* The scan has moved on to another vector. */
static void
begin_vector(VxOldRows *old)
{
	VxSource   *source = old->scan->source;
	const VxBatch *from = old->scan->batch;
	VxBatch    *batch = old->batch;

	old->nbatches = old->scan->nbatches;
	old->decoded = false;
	if (!wants_vectors(old, from))
		return;
	vx_batch_set(batch, from->reader, &source->groups->groups[source->group], from->vecno);
	memcpy(batch->selection, from->selection, (from->nrows + 63) / 64 * sizeof(uint64));
	for (int i = 0; i < batch->ncolumns; i++)
		vx_batch_decode(batch, &batch->columns[i]);
	old->decoded = true;
}

static bool
row_at_hand(void *arg, uint64 row, TupleTableSlot *slot)
{
	VxOldRows  *old = arg;
	const VxBatch *from = old->scan->batch;
	VxBatch    *batch = old->batch;
	uint64		i = row - from->first_row;

	if (old->scan->unit != VX_SOURCE_BATCH || i >= (uint64) from->nrows)
		return false;
	if (old->nbatches != old->scan->nbatches)
		begin_vector(old);
	if (!old->decoded || !vx_rows_isset(batch->selection, i))
		return false;
	(void) vx_batch_fill_slot(batch, i, slot);
	st_tid_from_row(&slot->tts_tid, row);
	slot->tts_tableOid = RelationGetRelid(old->scan->css.ss.ss_currentRelation);
	return true;
}

/* The scan of a range table entry, if its rows go up one by one. */
typedef struct FindScan
{
	Index		rti;
	VxScanState *scan;
} FindScan;

static bool
find_scan(PlanState *ps, void *arg)
{
	FindScan   *find = arg;
	VxScanState *scan = vx_scan_state(ps);

	if (scan != NULL && ((Scan *) ps->plan)->scanrelid == find->rti)
		find->scan = scan;
	else if (IsA(ps, CustomScanState))
		return false;
	return find->scan != NULL || planstate_tree_walker(ps, find_scan, arg);
}

void *
vx_old_rows_scan(ModifyTableState *mt, ResultRelInfo *info, const bool *columns,
				 StRowAtHand *get)
{
	FindScan	find = {.rti = info->ri_RangeTableIndex};
	TupleDesc	desc = RelationGetDescr(info->ri_RelationDesc);
	Bitmapset  *attnos = NULL;
	VxOldRows  *old;

	(void) find_scan(outerPlanState(mt), &find);
	if (find.scan == NULL || find.scan->source == NULL)
		return NULL;
	for (int i = 0; i < desc->natts; i++)
	{
		if (columns[i])
			attnos = bms_add_member(attnos, i + 1);
	}
	old = palloc0(sizeof(VxOldRows));
	old->scan = find.scan;
	old->batch = vx_batch_create(desc->natts, attnos);
	*get = row_at_hand;
	return old;
}
