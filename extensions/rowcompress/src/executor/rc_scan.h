/*-------------------------------------------------------------------------
 *
 * rc_scan.h
 *	  The custom scan node over a rowcompress table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_SCAN_H
#define RC_SCAN_H

#include "postgres.h"

#include "access/parallel.h"
#include "commands/explain.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"

#include "rc_source.h"
#include "st_scan_back.h"

/* A column of the batch at hand. */
typedef struct RcScanColumn
{
	const RcVector *vector;		/* decoded, or NULL */
	uint32		touched;		/* single values taken */
	int64		row;			/* of the batch, that the slot has; -1: none */
} RcScanColumn;

typedef struct RcScanState
{
	CustomScanState css;		/* must be first */

	Bitmapset  *columns;		/* attribute numbers that are decoded */
	int			noutputs;
	AttrNumber *outputs;		/* of them, what the target list refers to */
	RcQuals    *quals;
	RcSource   *source;

	/* position in the unit that the source handed out last */
	RcSourceUnit unit;
	bool		virtual_slot;	/* the slot holds a virtual row of ours */
	int			word;			/* of the batch's selection */
	uint64		left;			/* its bits that are still to come */
	RcScanColumn *cols;			/* by attribute number - 1 */
	int			nopen;			/* quals left for rows, in their order */
	RcQual	  **open;

	StScanBack *back;			/* cursors that may go backwards, else NULL */
	RcSharedScan *shared;		/* leader of a parallel scan, until shutdown */
	RcScanStats workers;		/* counters of workers of earlier set-ups */
} RcScanState;

extern const CustomScanMethods rc_scan_methods;

/* rc_scan_parallel.c */
extern Size rc_scan_estimate_dsm(CustomScanState *node, ParallelContext *pcxt);
extern void rc_scan_initialize_dsm(CustomScanState *node, ParallelContext *pcxt,
								   void *coordinate);
extern void rc_scan_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt,
									 void *coordinate);
extern void rc_scan_initialize_worker(CustomScanState *node, shm_toc *toc,
									  void *coordinate);
extern void rc_scan_shutdown(CustomScanState *node);

/* rc_explain.c */
extern void rc_scan_explain(CustomScanState *node, List *ancestors, ExplainState *es);

/* Registers the node and the executor's settings; from _PG_init. */
extern void rc_scan_init(void);

/* rc_agg.c: registers the node of aggregates without rows; from _PG_init. */
extern void rc_agg_init(void);

#endif							/* RC_SCAN_H */
