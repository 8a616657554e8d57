/*-------------------------------------------------------------------------
 *
 * vx_agg_unnest.h
 *	  A plan that returns elements of arrays, as vx_agg_unnest.c needs it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_AGG_UNNEST_H
#define VX_AGG_UNNEST_H

#include "postgres.h"

#include "nodes/execnodes.h"

/*
 * All of it is in terms of the columns of the node below, which hands out vectors, and
 * of one more behind them: the element.
 */
typedef struct VxUnnestShape
{
	List	   *exprs;			/* what the rows' columns are, */
	int			ncolumns;		/* so many, and then conditions, lower ones first */
	Expr	   *array;
	Var		   *element;
	PlanState  *below;
} VxUnnestShape;

/*
 * Are the child's rows elements of arrays?  columns: of its rows, those that are
 * wanted (-1 alone: none).  Whether the expressions can be evaluated on vectors is not
 * looked at.
 */
extern bool vx_unnest_find_shape(VxUnnestShape *shape, PlanState *child, const List *columns);

#endif							/* VX_AGG_UNNEST_H */
