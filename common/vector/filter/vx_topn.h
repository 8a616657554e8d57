/*-------------------------------------------------------------------------
 *
 * vx_topn.h
 *	  What a scan under ORDER BY ... LIMIT n needs not hand out.
 *
 * The n best first keys seen so far are remembered by their ranks: int64
 * numbers whose order follows that of the keys, though different keys may
 * have the same rank.  A row whose rank is worse than the worst of them is
 * not among the first n; neither is any row of a unit whose zone says so.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_TOPN_H
#define VX_TOPN_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "vx_batch.h"
#include "vx_expr.h"
#include "vx_key.h"
#include "vx_path_expr.h"
#include "vx_ranks.h"

typedef struct VxTopN VxTopN;

/*
 * For a scan whose plan node has the fields of vx_paths.h; NULL for any
 * other, and if the key cannot be evaluated on vectors.  Allocates in the
 * current memory context.
 */
extern VxTopN *vx_topn_create(CustomScan *plan, PlanState *node, VxExprSet *exprs,
							  VxPathSet *paths, const VxKeys *keys);

/* Path columns of the key, for vx_exprs_create() and all that knows them by number. */
extern void vx_topn_add_paths(CustomScan *plan, VxPathSet *paths);

/* Quals of a scan's plan node: what stands in custom_exprs before the key. */
extern List *vx_scan_quals(CustomScan *plan);

/* Parameters may have changed, and the scan starts over. */
extern void vx_topn_rescan(VxTopN *topn);

/*
 * The best rank that a row group (vecno -1) or vector can have: small is
 * good.  PG_INT64_MIN if nothing is known.
 */
extern int64 vx_topn_best(VxTopN *topn, StReader *reader, int64 vecno);

/* A row of this rank may be among the first ones. */
extern bool vx_topn_may_pass(const VxTopN *topn, int64 rank);

/* Between participants of a parallel scan: vx_ranks_share(). */
extern void vx_topn_share(VxTopN *topn, pg_atomic_uint64 *last);

/* The key may have zones: it is a plain column, or one of keys. */
extern bool vx_topn_has_zones(const VxTopN *topn);

/*
 * Takes rows that are certainly not among the first ones out of the batch's
 * selection.  All that are selected pass the scan's quals.
 */
extern void vx_topn_batch(VxTopN *topn, VxBatch *batch);

/* For EXPLAIN: the key, and rows taken out so far. */
extern Expr *vx_topn_key(const VxTopN *topn);
extern uint64 vx_topn_removed(const VxTopN *topn);

#endif							/* VX_TOPN_H */
