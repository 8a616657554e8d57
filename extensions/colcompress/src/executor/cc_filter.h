/*-------------------------------------------------------------------------
 *
 * cc_filter.h
 *	  The conditions of a scan, each run at the cheapest place that can
 *	  decide it: zones, vectors, distinct values, rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_FILTER_H
#define CC_FILTER_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "cc_path_expr.h"
#include "cc_expr.h"
#include "cc_topn.h"
#include "st_qual.h"

/* Bits of qual numbers, for EXPLAIN: quals beyond the 64th are not shown. */
typedef uint64 CcQualSet;

typedef struct CcQual
{
	Expr	   *clause;
	ExprState  *state;
	Expr	   *path_clause;	/* the clause with path columns, or NULL */
	ExprState  *path_state;
	StPred	   *pred;			/* or NULL */
	bool		cheap;			/* worth trying before all others */
	int			ncolumns;
	AttrNumber *attnos;			/* columns that the clause refers to */
	bool		compiled;		/* at first use: */
	CcExpr	   *expr;			/* the clause on whole batches, or NULL */

	/* row group at hand */
	bool		passes_group;	/* its zones say that every row passes */

	/* batch at hand */
	bool		settled;
} CcQual;

typedef struct CcFilter
{
	int			nquals;
	CcQual	   *quals;			/* in the plan's order */
	ExprContext *econtext;
	TupleTableSlot *slot;		/* the scan's: quals are evaluated on it */
	TupleTableSlot *path_slot;	/* those with path columns, or NULL */
	MemoryContext values_mcxt;	/* values of right sides, until rescan */
	CcExprSet  *exprs;
	CcTopN	   *topn;			/* ORDER BY ... LIMIT above, or NULL */
	List	   *joins;			/* CcJoinFilter of hash joins above */
	int			ndeferred;
	CcQual	  **deferred;		/* quals left for the rows of the batch */

	/* where quals ran so far */
	CcQualSet	zone_quals;
	CcQualSet	vector_quals;
	CcQualSet	row_quals;
} CcFilter;

/*
 * Makes a filter of a scan's implicitly ANDed quals; varno is the scanned
 * relation, node the plan state that owns the expressions.  Rows are put
 * into slot for quals that need one.  Path expressions get columns of paths,
 * which the batches must have (cc_path_set_attach()).
 */
extern CcFilter *cc_filter_create(List *quals, Index varno, PlanState *node,
								  TupleTableSlot *slot, CcPathSet *paths);

/* Parameters may have changed. */
extern void cc_filter_rescan(CcFilter *filter);

/* Zone tests.  False: no row of the row group, or vector, can pass. */
extern bool cc_filter_group(CcFilter *filter, StReader *reader);
extern bool cc_filter_vector(CcFilter *filter, StReader *reader, uint32 vecno);

/*
 * Runs what can be run on whole vectors and takes rows out of the batch's
 * selection.  The rows left must still pass cc_filter_row().  Both expect the
 * slot to hold a virtual row, whose values they overwrite.
 */
extern void cc_filter_batch(CcFilter *filter, CcBatch *batch);
extern bool cc_filter_row(CcFilter *filter, CcBatch *batch, int row);

/*
 * The same for a batch of the delta's rows, which no zone test has seen; rows
 * that are left stand in a slot as they are.
 */
extern void cc_filter_delta(CcFilter *filter, CcBatch *batch);
extern bool cc_filter_delta_row(CcFilter *filter, TupleTableSlot *slot);

/* All quals on a row that already stands in a slot. */
extern bool cc_filter_slot(CcFilter *filter, TupleTableSlot *slot);

extern bool cc_enable_pruning;
extern bool cc_enable_vector_filter;

#endif							/* CC_FILTER_H */
