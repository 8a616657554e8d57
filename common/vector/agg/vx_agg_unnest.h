/*-------------------------------------------------------------------------
 *
 * vx_agg_unnest.h
 *	  A plan that returns elements of arrays or documents, as vx_agg_unnest.c needs it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_AGG_UNNEST_H
#define VX_AGG_UNNEST_H

#include "postgres.h"

#include "nodes/execnodes.h"

/*
 * All of it is in terms of the columns of the node below, which hands out vectors, and
 * of one more: the element.
 */
typedef struct VxUnnestShape
{
	List	   *exprs;			/* what the rows' columns are, */
	int			ncolumns;		/* so many, and then conditions, lower ones first */
	FuncExpr   *call;			/* of its argument elements are taken */
	Var		   *element;		/* of no table until vx_unnest_set_element() */
	PlanState  *below;
} VxUnnestShape;

/*
 * Are the child's rows elements of arrays or documents?  columns: of its rows, those that are
 * wanted (-1 alone: none).  Whether the expressions can be evaluated on vectors is not
 * looked at.
 */
extern bool vx_unnest_find_shape(VxUnnestShape *shape, PlanState *child, const List *columns);

/* The element is that column of the rows. */
extern void vx_unnest_set_element(VxUnnestShape *shape, Index varno, AttrNumber attno);

#endif							/* VX_AGG_UNNEST_H */
