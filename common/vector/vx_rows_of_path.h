/*-------------------------------------------------------------------------
 *
 * vx_rows_of_path.h
 *	  Rows whose documents have nothing for a function that returns rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_ROWS_OF_PATH_H
#define VX_ROWS_OF_PATH_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Conditions on the relation's rows that follow from inner joins with
 * functions that return rows of its documents; they raise no error that the
 * query would not.
 */
extern List *vx_rows_of_quals(PlannerInfo *root, RelOptInfo *rel);

#endif							/* VX_ROWS_OF_PATH_H */
