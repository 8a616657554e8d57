/*-------------------------------------------------------------------------
 *
 * vx_filter.h
 *	  The conditions of a scan, each run at the cheapest place that can
 *	  decide it: zones, vectors, distinct values, rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_FILTER_H
#define VX_FILTER_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "vx_path_expr.h"
#include "vx_expr.h"
#include "vx_key.h"
#include "vx_topn.h"
#include "st_qual.h"

/* Bits of qual numbers, for EXPLAIN: quals beyond the 64th are not shown. */
typedef uint64 VxQualSet;

typedef struct VxQual
{
	Expr	   *clause;
	ExprState  *state;
	Expr	   *path_clause;	/* the clause with path columns, or NULL */
	ExprState  *path_state;
	StPred	   *pred;			/* or NULL */
	StPred	   *zone_pred;		/* the same for zones, which expressions have, too */
	bool		cheap;			/* worth trying before all others */
	int			ncolumns;
	AttrNumber *attnos;			/* columns that the clause refers to */
	bool		compiled;		/* at first use: */
	VxExpr	   *expr;			/* the clause on whole batches, or NULL */

	/* row group at hand */
	bool		passes_group;	/* its zones say that every row passes */

	/* batch at hand */
	bool		settled;
} VxQual;

typedef struct VxFilter
{
	int			nquals;
	VxQual	   *quals;			/* in the plan's order */
	ExprContext *econtext;
	TupleTableSlot *slot;		/* the scan's: quals are evaluated on it */
	TupleTableSlot *path_slot;	/* those with path columns, or NULL */
	MemoryContext values_mcxt;	/* values of right sides, until rescan */
	VxExprSet  *exprs;
	VxKeys	   *keys;			/* expressions that have zones */
	VxTopN	   *topn;			/* ORDER BY ... LIMIT above, or NULL */
	List	   *joins;			/* VxJoinFilter of hash joins above */
	int			ndeferred;
	VxQual	  **deferred;		/* quals left for the rows of the batch */

	/* where quals ran so far */
	VxQualSet	zone_quals;
	VxQualSet	vector_quals;
	VxQualSet	row_quals;
} VxFilter;

/*
 * Makes a filter of a scan's implicitly ANDed quals; varno is the scanned
 * relation rel, node the plan state that owns the expressions.  Rows are put
 * into slot for quals that need one.  Path expressions get columns of paths,
 * which the batches must have (vx_path_set_attach()).
 */
extern VxFilter *vx_filter_create(List *quals, Relation rel, Index varno,
								  PlanState *node, TupleTableSlot *slot,
								  VxPathSet *paths);

/* Parameters may have changed. */
extern void vx_filter_rescan(VxFilter *filter);

/* Zone tests.  False: no row of the row group, or vector, can pass. */
extern bool vx_filter_group(VxFilter *filter, StReader *reader);
extern bool vx_filter_vector(VxFilter *filter, StReader *reader, uint32 vecno);

/*
 * Runs what can be run on whole vectors and takes rows out of the batch's
 * selection.  The rows left must still pass vx_filter_row().  Both expect the
 * slot to hold a virtual row, whose values they overwrite.
 */
extern void vx_filter_batch(VxFilter *filter, VxBatch *batch);
extern bool vx_filter_row(VxFilter *filter, VxBatch *batch, int row);

/*
 * The same for a batch of the delta's rows, which no zone test has seen; rows
 * that are left stand in a slot as they are.
 */
extern void vx_filter_delta(VxFilter *filter, VxBatch *batch);
extern bool vx_filter_delta_row(VxFilter *filter, TupleTableSlot *slot);

/* All quals on a row that already stands in a slot. */
extern bool vx_filter_slot(VxFilter *filter, TupleTableSlot *slot);

#endif							/* VX_FILTER_H */
