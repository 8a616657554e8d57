/*-------------------------------------------------------------------------
 *
 * cc_topn.h
 *	  What a scan under ORDER BY ... LIMIT n needs not hand out.
 *
 * The n best first keys seen so far are remembered by their ranks: int64
 * numbers whose order follows that of the keys, though different keys may
 * have the same rank.  A row whose rank is worse than the worst of them is
 * not among the first n; neither is any row of a unit whose zone says so.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_TOPN_H
#define CC_TOPN_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "cc_batch.h"
#include "cc_expr.h"

typedef struct CcTopN CcTopN;

/*
 * For a scan whose plan node has the fields of cc_topn_path.h; NULL for any
 * other, and if the key cannot be evaluated on vectors.  Allocates in the
 * current memory context.
 */
extern CcTopN *cc_topn_create(CustomScan *plan, PlanState *node, CcExprSet *exprs);

/* Quals of a scan's plan node: what stands in custom_exprs before the key. */
extern List *cc_scan_quals(CustomScan *plan);

/* Parameters may have changed, and the scan starts over. */
extern void cc_topn_rescan(CcTopN *topn);

/*
 * The best rank that a row group (vecno -1) or vector can have: small is
 * good.  PG_INT64_MIN if nothing is known.
 */
extern int64 cc_topn_best(CcTopN *topn, StReader *reader, int64 vecno);

/* A row of this rank may be among the first ones. */
extern bool cc_topn_may_pass(const CcTopN *topn, int64 rank);

/* The key's zones tell something: it is a plain column. */
extern bool cc_topn_has_zones(const CcTopN *topn);

/*
 * Takes rows that are certainly not among the first ones out of the batch's
 * selection.  All that are selected pass the scan's quals.
 */
extern void cc_topn_batch(CcTopN *topn, CcBatch *batch);

/* For EXPLAIN: the key, and rows taken out so far. */
extern Expr *cc_topn_key(const CcTopN *topn);
extern uint64 cc_topn_removed(const CcTopN *topn);

#endif							/* CC_TOPN_H */
