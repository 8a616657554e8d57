/*-------------------------------------------------------------------------
 *
 * vx_scan.h
 *	  The custom scan node over a table of the format.
 *
 * plan->custom_exprs holds the scan's quals, in the order in which they are
 * to be evaluated, and then what vx_paths.h says; plan->qual is empty.
 * plan->custom_plans holds the plan of a bitmap of the rows to read, if any.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_SCAN_H
#define VX_SCAN_H

#include "postgres.h"

#include "commands/explain.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"

#include "vx_path_expr.h"
#include "vx_delta.h"
#include "vx_mow.h"
#include "vx_producer.h"
#include "vx_source.h"
#include "st_scan_back.h"

typedef struct VxScanState
{
	CustomScanState css;		/* must be first */
	VxProducer	producer;

	Bitmapset  *columns;		/* attribute numbers that are decoded */
	VxPathSet  *paths;			/* path columns */
	int			noutputs;
	AttrNumber *outputs;		/* of them, what the target list refers to */
	VxFilter   *filter;
	VxBatch    *batch;
	VxSource   *source;
	StScanBack *back;			/* of a cursor that may turn round, or NULL */

	/* position in the unit that the source handed out last */
	VxSourceUnit unit;
	uint64		nbatches;		/* of row groups, so far */
	bool		virtual_slot;	/* the slot holds a virtual row of ours */
	int			word;			/* of the batch's selection */
	uint64		left;			/* its bits that are still to come */
	bool		outputs_ready;	/* decoded, or chosen to be fetched */
	bool		by_paths;		/* or taken from path columns */
	int			nfetched;		/* outputs that are fetched row by row */
	bool	   *fetched;		/* by attribute number - 1 */

	/* rows of the delta */
	VxDelta    *delta;			/* NULL until needed */
	Bitmapset  *late_columns;	/* decoded for what passed the quals only */

	/* target list over path columns; NULL projection: it has none */
	ProjectionInfo *path_projection;
	TupleTableSlot *path_slot;
	int			npath_outputs;
	AttrNumber *path_outputs;	/* what it refers to */
	bool		path_row;		/* the row at hand is in path_slot */

	VxMow	   *mow;			/* DELETE gets all rows; or NULL */

	VxSharedScan *shared;		/* leader of a parallel scan, until shutdown */
	VxScanStats workers;		/* counters of workers of earlier set-ups */
} VxScanState;

extern CustomScanMethods vx_scan_methods;

/*
 * For a node above that takes vectors instead of rows.  The next batch
 * (state->batch) with rows that pass all quals: its selection has those, and
 * at least one.  Its reader is NULL if the rows are the delta's.  False at
 * the end.  Not to be mixed with ExecProcNode().
 */
extern bool vx_scan_next_batch(VxScanState *state);

/* The node below the given one, if it is a scan of ours, or NULL. */
extern VxScanState *vx_scan_state(PlanState *ps);

/* vx_path_set_replace() for an expression over the scan, whose batch has the columns. */
extern Node *vx_scan_replace_paths(VxScanState *state, Node *node);

/* How many scans this backend has set up: tells whether a query has any. */
extern uint64 vx_scan_count(void);

/* vx_scan_parallel.c */
extern Size vx_scan_estimate_dsm(CustomScanState *node, ParallelContext *pcxt);
extern void vx_scan_initialize_dsm(CustomScanState *node, ParallelContext *pcxt,
								   void *coordinate);
extern void vx_scan_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt,
									 void *coordinate);
extern void vx_scan_initialize_worker(CustomScanState *node, shm_toc *toc,
									  void *coordinate);
extern void vx_scan_shutdown(CustomScanState *node);

/* vx_explain.c */
extern void vx_scan_explain(CustomScanState *node, List *ancestors, ExplainState *es);

/* From vx_init(). */
extern void vx_scan_init(void);

#endif							/* VX_SCAN_H */
