/*-------------------------------------------------------------------------
 *
 * vx_join_filter.h
 *	  What the build side of a hash join tells a scan on its probe side.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_JOIN_FILTER_H
#define VX_JOIN_FILTER_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "vx_batch.h"
#include "vx_hash.h"

typedef struct VxJoinFilter VxJoinFilter;

/*
 * A filter on a column of a scan: what the join's build side has in its
 * column inner, of this type, once its hash table stands.  The join drops
 * rows of the scan that find no match.  Allocates in the current context.
 */
extern VxJoinFilter *vx_join_filter_create(HashJoinState *join, AttrNumber inner,
										   Oid inner_type, VxKeyKind	kind,
										   Expr *column);

/*
 * The same of a join of vectors: what its table has as this key, once the table
 * stands.  The table must have all rows of the build side then.
 */
extern VxJoinFilter *vx_join_filter_create_for(VxHash *hash, int key, VxKeyKind kind,
											   Expr *column);

/*
 * The filter may go before the scan's quals where it takes more rows away.  Not where
 * these hide rows from a role: EXPLAIN tells how many rows a filter took.
 */
extern void vx_join_filter_may_lead(VxJoinFilter *filter);

/* The hash table may be another one. */
extern void vx_join_filters_rescan(List *filters);

/* False: no row of the row group (vecno -1) or vector can find a match. */
extern bool vx_join_filters_may_pass(List *filters, StReader *reader, int64 vecno);

/*
 * Take rows that cannot find a match out of the batch's selection, before the scan's
 * quals and behind them; group: a number that tells row groups apart, nseen: how many
 * rows the quals saw.  Return how many they took.
 */
extern uint64 vx_join_filters_first(List *filters, VxBatch *batch, uint64 group);
extern uint64 vx_join_filters_rest(List *filters, VxBatch *batch, uint64 group, int nseen);

/* For EXPLAIN. */
extern Expr *vx_join_filter_column(const VxJoinFilter *filter);

#endif							/* VX_JOIN_FILTER_H */
