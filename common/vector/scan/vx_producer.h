/*-------------------------------------------------------------------------
 *
 * vx_producer.h
 *	  What a custom node that can hand out vectors shows to a node above.
 *
 * The node's state begins with VxProducerState.  A node above that takes
 * vectors asks for it when it has set the node up, reads the expressions of
 * its target list, which are in terms of columns of the batch, and then takes
 * batches.  Any other node calls ExecProcNode() and gets rows; the two are not
 * to be mixed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_PRODUCER_H
#define VX_PRODUCER_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/extensible.h"

#include "vx_batch.h"

typedef struct VxProducer
{
	/*
	 * The next batch with its selection, in which there is a row at least;
	 * false at the end.  NULL: this one hands out rows only.
	 */
	bool		(*next) (CustomScanState *node);
	Index		varno;			/* of columns in the target list */
	TupleDesc	desc;			/* of them */
	VxBatch    *batch;			/* NULL: the node is only explained */
	uint64		group;			/* tells apart what dictionaries belong to */
} VxProducer;

typedef struct VxProducerState
{
	CustomScanState css;		/* must be first */
	VxProducer	producer;
} VxProducerState;

/* Nodes with these methods are such. */
extern void vx_producer_register(const CustomExecMethods *methods);

/* NULL: the node is none. */
extern VxProducer *vx_producer(PlanState *ps);

/*
 * Rescans nodes from ps down to below, which hands out vectors, where they wait for
 * ExecProcNode() to do so: nobody calls that.
 */
extern void vx_producer_rescan_through(PlanState *ps, const PlanState *below);

/* The next batch, with what ExecProcNode() does beside; rows are counted. */
extern bool vx_producer_next(PlanState *ps);

/*
 * The columns of the batch that the target list is made of, by position in
 * it; NULL: it has something else than columns.
 */
extern AttrNumber *vx_producer_columns(PlanState *ps);

/*
 * A copy of expressions with those of a target list in place of the Vars of varno;
 * NIL: they use something else than its columns.
 */
extern List *vx_substitute(List *exprs, int varno, const List *tlist);

/* Does the node compute something for each row that vectors would call more, or less, often? */
extern bool vx_is_bound_to_rows(const PlanState *ps);

/* Do expressions use system columns or whole rows? */
extern bool vx_needs_row(List *exprs, Index varno);

#endif							/* VX_PRODUCER_H */
