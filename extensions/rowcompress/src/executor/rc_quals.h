/*-------------------------------------------------------------------------
 *
 * rc_quals.h
 *	  Conditions of a scan: on zones, on whole batches, on rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_QUALS_H
#define RC_QUALS_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "rc_batch.h"
#include "st_qual.h"
#include "st_zone.h"

extern bool rc_enable_pruning;
extern bool rc_enable_vector_filter;

typedef struct RcQual
{
	Expr	   *clause;
	ExprState  *state;
	StPred	   *pred;			/* NULL: zones and vectors know nothing of it */
	int			ncolumns;
	AttrNumber *attnos;			/* that it looks at */
	bool		settled_group;	/* all rows of the row group pass */
	bool		settled;		/* all rows of the batch that are left pass */
} RcQual;

typedef struct RcQuals
{
	int			nquals;
	RcQual	   *quals;
	ExprContext *econtext;
	MemoryContext values_mcxt;	/* right sides, until rescan */
} RcQuals;

/* A bit per row of a batch. */
typedef uint64 RcSelection[RC_MAX_BATCH_ROWS / 64];

extern RcQuals *rc_quals_create(List *clauses, Index varno, PlanState *node, int natts);

/* Right sides have changed. */
extern void rc_quals_rescan(RcQuals *quals);

/* False if zones of the group, or of a batch of it, rule out all rows. */
extern bool rc_quals_group(RcQuals *quals, StReader *reader);
extern bool rc_quals_batch(RcQuals *quals, StReader *reader, uint32 batchno);

/* Takes rows out of the selection that quals which run on vectors refuse. */
extern void rc_quals_select(RcQuals *quals, RcBatch *batch, uint32 nrows,
							uint64 *selection);

/* All quals on a row that stands in a slot. */
extern bool rc_quals_slot(RcQuals *quals, TupleTableSlot *slot);

/* rc_select.c: true if the predicate was run on the whole vector. */
extern bool rc_select(StPred *pred, const RcVector *v, uint32 nrows, uint64 *selection);

#endif							/* RC_QUALS_H */
