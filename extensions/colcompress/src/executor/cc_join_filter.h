/*-------------------------------------------------------------------------
 *
 * cc_join_filter.h
 *	  What the build side of a hash join tells a scan on its probe side.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_JOIN_FILTER_H
#define CC_JOIN_FILTER_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "cc_batch.h"

typedef struct CcJoinFilter CcJoinFilter;

/* How keys of both sides are compared. */
typedef enum CcJoinKeyKind
{
	CC_JOIN_KEY_INT,			/* as the int64 that vectors hold */
	CC_JOIN_KEY_BYTES			/* byte by byte; bpchar without trailing blanks */
} CcJoinKeyKind;

/*
 * A filter on a column of a scan: what the join's build side has in its
 * column inner, of this type, once its hash table stands.  The join drops
 * rows of the scan that find no match.  Allocates in the current context.
 */
extern CcJoinFilter *cc_join_filter_create(HashJoinState *join, AttrNumber inner,
										   Oid inner_type, CcJoinKeyKind kind,
										   Expr *column);

/* The hash table may be another one. */
extern void cc_join_filters_rescan(List *filters);

/* False: no row of the row group (vecno -1) or vector can find a match. */
extern bool cc_join_filters_may_pass(List *filters, StReader *reader, int64 vecno);

/*
 * Takes rows that cannot find a match out of the batch's selection; group: a
 * number that tells row groups apart.  Returns how many.
 */
extern uint64 cc_join_filters_batch(List *filters, CcBatch *batch, uint64 group);

/* For EXPLAIN. */
extern Expr *cc_join_filter_column(const CcJoinFilter *filter);

/* cc_join_link.c: installs the hook and the setting; from _PG_init. */
extern void cc_join_link_init(void);

#endif							/* CC_JOIN_FILTER_H */
